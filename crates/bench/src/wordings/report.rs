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
    /// The number of wordings of all queries. A verdict does not depend on the wording: each plan is verified once and counts once
    /// per wording of its query.
    pub wordings: usize,
    /// Shares of all cases, a plan in one wording each.
    pub rates: Rates,
    /// Correct plans.
    pub right: Tally,
    /// Defective plans with a structural defect, by defect.
    pub structural: BTreeMap<Defect, Tally>,
    /// Defective plans with a semantic defect, by defect.
    pub semantic: BTreeMap<Defect, Tally>,
    /// The verdicts on all plans.
    pub each: Vec<Verdict>,
}

/// Shares between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rates {
    /// Correct plans that failed.
    pub right_failed: f64,
    /// Correct plans with warnings.
    pub right_warned: f64,
    /// Structural defects that failed or caused warnings.
    pub structural_caught: f64,
    /// Semantic defects that failed or caused warnings.
    pub semantic_caught: f64,
}

/// The number of plans, and the outcomes of their cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// The number of plans.
    pub plans: usize,
    /// The number of plans, each counted once per wording.
    pub cases: usize,
    /// The cases that failed.
    pub failed: usize,
    /// The cases that did not fail, and have warnings.
    pub warned: usize,
    /// The other cases.
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
    fn add(&mut self, outcome: Outcome, wordings: usize) {
        self.plans += 1;
        self.cases += wordings;
        match outcome {
            Outcome::Failed => self.failed += wordings,
            Outcome::Warned => self.warned += wordings,
            Outcome::Neither => self.neither += wordings,
        }
    }

    fn sum<'a>(all: impl IntoIterator<Item = &'a Tally>) -> Tally {
        all.into_iter().fold(Tally::default(), |sum, one| Tally {
            plans: sum.plans + one.plans,
            cases: sum.cases + one.cases,
            failed: sum.failed + one.failed,
            warned: sum.warned + one.warned,
            neither: sum.neither + one.neither,
        })
    }

    /// Returns the share of `some` among the cases; 0 without cases.
    fn share(&self, some: usize) -> f64 {
        if self.cases == 0 { 0.0 } else { some as f64 / self.cases as f64 }
    }

    /// Renders a table row.
    fn row(&self, name: &str) -> Vec<String> {
        let caught = 100.0 * self.share(self.failed + self.warned);
        let counts = [self.plans, self.cases, self.failed, self.warned, self.neither].map(|count| count.to_string());
        [name.to_owned()].into_iter().chain(counts).chain([format!("{caught:.1}")]).collect()
    }
}

impl Report {
    /// Counts a verdict, once per wording.
    pub(super) fn add(&mut self, verdict: Verdict, wordings: usize) {
        let tally = match verdict.defect {
            None => &mut self.right,
            Some(defect) if defect.is_structural() => self.structural.entry(defect).or_default(),
            Some(defect) => self.semantic.entry(defect).or_default(),
        };
        tally.add(verdict.outcome, wordings);
        self.each.push(verdict);
    }

    /// Computes the shares.
    pub(super) fn finish(&mut self) {
        let caught = |tallies: &BTreeMap<Defect, Tally>| {
            let sum = Tally::sum(tallies.values());
            sum.share(sum.failed + sum.warned)
        };
        self.rates = Rates {
            right_failed: self.right.share(self.right.failed),
            right_warned: self.right.share(self.right.warned),
            structural_caught: caught(&self.structural),
            semantic_caught: caught(&self.semantic),
        };
    }

    /// Renders the report as Markdown.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} queries over {} catalogs. Verdicts do not depend on the question: each plan is verified once, and counts once \
             per wording of its query ({} wordings).\n",
            self.queries, self.catalogs, self.wordings
        );
        let Rates { right_failed, right_warned, structural_caught, semantic_caught } = self.rates;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let _ = write!(text, "\nCorrect plans: {} failed, {} warned\n\n", percent(right_failed), percent(right_warned));
        text += &table([("right", &self.right)]);
        self.list(&mut text, |one| one.defect.is_none() && one.outcome != Outcome::Neither);
        for (name, tallies, caught) in
            [("structural", &self.structural, structural_caught), ("semantic", &self.semantic, semantic_caught)]
        {
            let _ = write!(text, "\nDefective plans, {name} defects: {} failed or warned\n\n", percent(caught));
            let sum = Tally::sum(tallies.values());
            let rows = tallies.iter().map(|(defect, tally)| (defect.as_str(), tally));
            text += &table(rows.chain([("all", &sum)]));
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
    let mut table = Table::new(["plans", "n", "cases", "failed", "warned", "neither", "caught %"]);
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
    fn counts_once_per_wording_and_lists_what_should_not_be() {
        let mut report = Report::default();
        report.add(verdict("a", None, &[], &[]), 3);
        report.add(verdict("b", None, &[], &[Code::NotVerified, Code::NotVerified]), 1);
        report.add(verdict("a", Some(Defect::FanOut), &[], &[]), 3);
        report.add(verdict("b", Some(Defect::UnknownColumn), &[Code::UnknownColumn], &[Code::NotVerified]), 1);
        report.add(verdict("b", Some(Defect::WrongFilter), &[], &[]), 1);
        report.finish();
        assert_eq!(
            report.rates,
            Rates { right_failed: 0.0, right_warned: 0.25, structural_caught: 0.25, semantic_caught: 0.0 }
        );
        assert_eq!(report.right, Tally { plans: 2, cases: 4, failed: 0, warned: 1, neither: 3 });
        assert_eq!(report.each[1].codes, ["not_verified"]);
        assert_eq!(report.each[3].codes, ["unknown_column"]);
        let text = report.table();
        for line in ["- b: warned (not_verified)", "- a: fan_out", "0.0 % failed, 25.0 % warned"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("- b: wrong_filter"), "{text}");
    }
}
