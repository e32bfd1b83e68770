//! Counts verdicts by defect.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use prospector_agent::plan::{Finding, Verification, verification::Code};
use serde::Serialize;

use super::defect::Defect;
use crate::table::Table;

/// The output of `planner bench wordings`.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The number of catalogs.
    pub catalogs: usize,
    /// The number of queries.
    pub queries: usize,
    /// Correct plans.
    pub right: Tally,
    /// Defective plans with a structural defect, by defect.
    pub structural: BTreeMap<Defect, Tally>,
    /// Defective plans with a semantic defect, by defect.
    pub semantic: BTreeMap<Defect, Tally>,
    /// The verdicts on all plans.
    pub each: Vec<Verdict>,
}

/// The number of plans, and their outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// The number of plans.
    pub plans: usize,
    /// The plans that failed.
    pub failed: usize,
    /// The plans that did not fail, and have warnings.
    pub warned: usize,
    /// The other plans.
    pub neither: usize,
}

/// The verdict on one plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The id of the query.
    pub query: String,
    /// The defect of the plan, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defect: Option<Defect>,
    /// The outcome.
    pub outcome: Outcome,
    /// The codes of the failures, otherwise of the warnings, without duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
}

/// The outcome of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Verification failed.
    Failed,
    /// Verification passed with warnings.
    Warned,
    /// Verification passed without warnings.
    Neither,
}

impl Verdict {
    /// Creates the verdict on a plan of a query.
    pub(super) fn new(query: &str, defect: Option<Defect>, found: &Verification) -> Self {
        // A disallowed call does not indicate whether the plan is correct.
        let warnings: Vec<&Finding> = found.warnings.iter().filter(|one| one.code != Code::NotExecutable).collect();
        let (outcome, findings) = match (found.failed.is_empty(), warnings.is_empty()) {
            (false, _) => (Outcome::Failed, found.failed.iter().collect()),
            (true, true) => (Outcome::Neither, warnings),
            (true, false) => (Outcome::Warned, warnings),
        };
        let mut codes: Vec<String> = Vec::new();
        for finding in findings {
            let code = finding.code.to_string();
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        Verdict { query: query.to_owned(), defect, outcome, codes }
    }

    /// Renders the plan and its findings as one line.
    fn describe(&self) -> String {
        let plan = match self.defect {
            Some(defect) => format!("{}: {defect}", self.query),
            None => self.query.clone(),
        };
        match self.outcome {
            Outcome::Failed => format!("- {plan}: failed ({})", self.codes.join(", ")),
            Outcome::Warned => format!("- {plan}: warned ({})", self.codes.join(", ")),
            Outcome::Neither => format!("- {plan}"),
        }
    }
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        self.plans += 1;
        match outcome {
            Outcome::Failed => self.failed += 1,
            Outcome::Warned => self.warned += 1,
            Outcome::Neither => self.neither += 1,
        }
    }

    /// Adds up tallies.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Tally>) -> Tally {
        all.into_iter().fold(Tally::default(), |sum, one| Tally {
            plans: sum.plans + one.plans,
            failed: sum.failed + one.failed,
            warned: sum.warned + one.warned,
            neither: sum.neither + one.neither,
        })
    }

    /// Returns the share of `some` of the plans, 0 to 1; 0 without plans.
    pub fn share(&self, some: usize) -> f64 {
        if self.plans == 0 { 0.0 } else { some as f64 / self.plans as f64 }
    }

    /// Renders a table row.
    fn row(&self, name: &str) -> Vec<String> {
        let caught = 100.0 * self.share(self.failed + self.warned);
        let counts = [self.plans, self.failed, self.warned, self.neither].map(|count| count.to_string());
        [name.to_owned()].into_iter().chain(counts).chain([format!("{caught:.1}")]).collect()
    }
}

impl Report {
    /// Counts a verdict.
    pub(super) fn add(&mut self, verdict: Verdict) {
        let tally = match verdict.defect {
            None => &mut self.right,
            Some(defect) if defect.is_structural() => self.structural.entry(defect).or_default(),
            Some(defect) => self.semantic.entry(defect).or_default(),
        };
        tally.add(verdict.outcome);
        self.each.push(verdict);
    }

    /// Renders the report as Markdown.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} queries over {} catalogs\n\nCorrect plans:\n\n{}",
            self.queries,
            self.catalogs,
            table([("right", &self.right)])
        );
        self.list(&mut text, |one| one.defect.is_none() && one.outcome != Outcome::Neither);
        for (name, tallies) in [("structural", &self.structural), ("semantic", &self.semantic)] {
            let sum = Tally::sum(tallies.values());
            let rows = tallies.iter().map(|(defect, tally)| (defect.as_str(), tally));
            let _ = write!(text, "\nDefective plans, {name} defects:\n\n{}", table(rows.chain([("all", &sum)])));
        }
        let is_missed =
            |one: &Verdict| one.outcome == Outcome::Neither && one.defect.is_some_and(Defect::is_structural);
        if self.each.iter().any(is_missed) {
            text += "\nUndetected structural defects:\n";
            self.list(&mut text, is_missed);
        }
        text
    }

    /// Lists verdicts.
    fn list(&self, text: &mut String, is_listed: impl Fn(&Verdict) -> bool) {
        let lines: Vec<String> = self.each.iter().filter(|one| is_listed(one)).map(Verdict::describe).collect();
        if !lines.is_empty() {
            let _ = write!(text, "\n{}\n", lines.join("\n"));
        }
    }
}

/// Renders a table of counts.
fn table<'a>(rows: impl IntoIterator<Item = (&'a str, &'a Tally)>) -> String {
    let mut table = Table::new(["plans", "n", "failed", "warned", "neither", "caught %"]);
    for (name, tally) in rows {
        table.row(tally.row(name));
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(query: &str, defect: Option<Defect>, failed: &[Code], warnings: &[Code]) -> Verdict {
        let findings = |codes: &[Code]| codes.iter().map(|code| Finding::new("plan", *code, "x")).collect();
        let found = Verification { failed: findings(failed), warnings: findings(warnings), ..Verification::default() };
        Verdict::new(query, defect, &found)
    }

    #[test]
    fn counts_outcomes_and_lists_what_should_not_be() {
        let mut report = Report::default();
        report.add(verdict("a", None, &[], &[]));
        report.add(verdict("b", None, &[], &[Code::NotVerified, Code::NotVerified]));
        report.add(verdict("a", Some(Defect::FanOut), &[], &[]));
        report.add(verdict("b", Some(Defect::UnknownColumn), &[Code::UnknownColumn], &[Code::NotVerified]));
        report.add(verdict("b", Some(Defect::WrongFilter), &[], &[]));
        assert_eq!(report.right, Tally { plans: 2, failed: 0, warned: 1, neither: 1 });
        let structural = Tally::sum(report.structural.values());
        assert_eq!(structural, Tally { plans: 2, failed: 1, warned: 0, neither: 1 });
        assert_eq!(structural.share(structural.failed), 0.5);
        assert_eq!(report.each[1].codes, ["not_verified"]);
        assert_eq!(report.each[3].codes, ["unknown_column"]);
        let text = report.table();
        for line in ["- b: warned (not_verified)", "- a: fan_out", "Defective plans, semantic defects"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("- b: wrong_filter"), "{text}");
    }
}
