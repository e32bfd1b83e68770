//! Renders answers to a list of questions as a self-contained HTML page: text, charts, rows, queries, traced figures,
//! and changes since the last report.
//!
//! ```
//! use prospector_report::{Report, read_questions};
//!
//! let (questions, problems) = read_questions("title: Weekly\nquestions:\n- How many customers are there?\n", "weekly.yaml")?;
//! assert!(problems.is_empty() && questions.asked[0].question == "How many customers are there?");
//!
//! let answered = prospector_agent::ask::Answered { answer: "There are **720** [Q1].".into(), ..Default::default() };
//! let report = Report::new(questions, vec![answered], None);
//! assert!(report.html().contains("There are <strong>720</strong> [Q1]."));
//! # Ok::<(), prospector_report::ReportError>(())
//! ```
//!
//! Questions are not asked here; the caller provides the answers.

mod changes;
mod error;
mod html;
mod markdown;
mod questions;
mod store;

pub use changes::Change;
pub use error::ReportError;
pub use html::{Report, Section};
pub use questions::{Questions, ReportQuestion, read_questions};
pub use store::{Snapshot, Store};
