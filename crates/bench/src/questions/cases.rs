//! A user's own questions, with what is expected of their answers: read from a file, asked of a model, judged, reported.

mod add;
mod coverage;
mod file;
mod judge;
mod junit;
mod report;
mod run;

pub use add::append;
pub use coverage::Coverage;
pub use file::{Case, CaseLimits, Cases, Expected, read};
pub use report::{CaseResult, Comparison, Report, RunResult, Status};
pub use run::Tester;
