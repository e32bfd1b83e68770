//! Answers to a list of questions as one page of HTML that needs nothing else: words, charts, rows, queries, what was traced,
//! and what changed since the last report.
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
//! What it is not: it asks nobody; answers are given to it.

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
