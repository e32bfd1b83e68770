//! Whether a plan makes sense for its question, beside whether its names exist: what the question names is covered, what a
//! definition needs is there, conditions and periods are said, joins connect, nothing is written or used that was not asked
//! for. Every check is a small function over the question, the plan and what its names mean; no model is asked.

mod arguments;
mod conditions;
mod coverage;
mod currencies;
mod definitions;
mod emphasis;
mod fields;
mod metrics;
mod needless;
mod negations;
mod periods;
mod queries;
pub mod question;
mod seasons;
mod structure;
mod view;
mod vocabulary;
mod weekends;

use serde::{Deserialize, Serialize};

use super::Draft;
use crate::meaning::Meanings;
use view::PlanView;

/// So many findings are told.
const MAX_FINDINGS: usize = 20;

/// What is wrong with the sense of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SenseCode {
    /// Something that the question names is in nothing that the plan uses.
    NotCovered,
    /// A source of the plan has no part in the answer.
    NotNeeded,
    /// A definition stands in the plan that the question does not need.
    DefinitionNotNeeded,
    /// What a definition speaks of is not in the plan.
    DefinitionNotMet,
    /// A condition of the question or of a definition is not said.
    MissingCondition,
    /// The period of the question is not said.
    MissingPeriod,
    /// A condition is about another period than the question.
    WrongPeriod,
    /// The table holds nothing of the period.
    OutsideData,
    /// The question asks for groups that the plan does not make.
    MissingGroup,
    /// The plan does not compute what the question asks for.
    WrongMeasure,
    /// Tables of one step are not connected.
    NotJoined,
    /// A column of a structured field is not one of the step's tables.
    UnknownColumn,
    /// A value, or an aggregation, does not fit the column.
    WrongValue,
    /// An operation changes something, and the question asks for no change.
    Writes,
    /// The question asks for a change, and the plan makes none.
    NoChange,
    /// There are no steps, and what the question names is there.
    Declined,
}

impl SenseCode {
    /// Whether only words tell it: what the question calls one thing may be called another by whoever made the plan.
    pub fn is_doubt(self) -> bool {
        match self {
            SenseCode::NotCovered
            | SenseCode::NotNeeded
            | SenseCode::DefinitionNotNeeded
            | SenseCode::MissingCondition
            | SenseCode::MissingGroup
            | SenseCode::WrongMeasure
            | SenseCode::NotJoined => true,
            SenseCode::DefinitionNotMet
            | SenseCode::MissingPeriod
            | SenseCode::WrongPeriod
            | SenseCode::OutsideData
            | SenseCode::UnknownColumn
            | SenseCode::WrongValue
            | SenseCode::Writes
            | SenseCode::NoChange
            | SenseCode::Declined => false,
        }
    }
}

/// One thing that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseFinding {
    /// The number of the step; none for the plan as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What is wrong, for programs.
    pub code: SenseCode,
    /// What is wrong and what to do, in a sentence.
    pub message: String,
    /// Names that would help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// Whether a plan makes sense for its question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sense {
    /// Whether nothing was found.
    pub ok: bool,
    /// How many things were checked; 0 where it is not known what the names mean.
    pub checked: usize,
    /// The words of the question that nothing in the plan covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// What was found, at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<SenseFinding>,
    /// What only words tell, and whoever made the plan was told and has considered: it stands against nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<SenseFinding>,
}

impl Sense {
    /// Takes what only words tell for considered, as far as it is among what was told.
    pub(super) fn accept(&mut self, is_told: impl Fn(&SenseFinding) -> bool) {
        let findings = std::mem::take(&mut self.findings);
        let (doubts, findings) = findings.into_iter().partition(|one| one.code.is_doubt() && is_told(one));
        self.doubts.extend::<Vec<_>>(doubts);
        self.findings = findings;
        self.ok = self.findings.is_empty();
    }
}

impl Default for Sense {
    /// Nothing was checked.
    fn default() -> Self {
        Sense { ok: true, checked: 0, not_covered: Vec::new(), findings: Vec::new(), doubts: Vec::new() }
    }
}

/// What the checks write into.
#[derive(Default)]
struct Report {
    checked: usize,
    not_covered: Vec<String>,
    findings: Vec<SenseFinding>,
}

impl Report {
    /// Counts a check, and keeps what it found.
    fn check(&mut self, found: Option<SenseFinding>) {
        self.checked += 1;
        if let Some(found) = found.filter(|found| !self.findings.contains(found)) {
            self.findings.push(found);
        }
    }
}

impl SenseFinding {
    fn new(code: SenseCode, step: Option<u32>, message: impl Into<String>) -> Self {
        SenseFinding { step, code, message: message.into(), nearest: Vec::new() }
    }

    fn near(self, nearest: Vec<String>) -> Self {
        SenseFinding { nearest, ..self }
    }
}

/// Checks whether a plan makes sense for a question. Names that do not exist are passed over: [`verify`](super::verify) is for
/// them. Of an empty question only the plan itself is checked.
pub fn check_sense(question: &str, draft: &Draft, meanings: &dyn Meanings) -> Sense {
    let expanded = metrics::expand(draft, meanings);
    let draft = expanded.as_ref().unwrap_or(draft);
    let with_queries = queries::expand(draft, meanings);
    let draft = with_queries.as_ref().unwrap_or(draft);
    let view = PlanView::new(question, draft, meanings);
    let mut report = Report::default();
    if draft.plan.steps.is_empty() {
        coverage::check_declined(&view, &mut report);
    } else {
        fields::check(&view, &mut report);
        arguments::check(&view, &mut report);
        structure::check(&view, &mut report);
        if !view.question.words.is_empty() {
            coverage::check(&view, &mut report);
            negations::check(&view, &mut report);
            weekends::check(&view, &mut report);
            seasons::check(&view, &mut report);
            definitions::check(&view, &mut report);
            conditions::check(&view, &mut report);
            periods::check(&view, &mut report);
            needless::check(&view, &mut report);
        }
    }
    let Report { checked, mut not_covered, mut findings } = report;
    findings.truncate(MAX_FINDINGS);
    not_covered.truncate(MAX_FINDINGS);
    Sense { ok: findings.is_empty(), checked, not_covered, findings, doubts: Vec::new() }
}
