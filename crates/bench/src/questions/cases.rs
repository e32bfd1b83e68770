//! Regression tests of a user's own questions: parsed from a file, run with a model, judged, and reported.

mod add;
mod coverage;
mod file;
mod judge;
mod junit;
mod report;
mod run;

pub use add::append;
pub use coverage::Coverage;
pub use file::{Case, CaseLimits, Expected, read};
pub use report::{CaseResult, Comparison, Report, RunResult, Status};
pub use run::Tester;
