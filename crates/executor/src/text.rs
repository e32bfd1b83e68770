//! Human-readable form of a run.

use prospector_core::mark::{one_line, truncate};
use serde_json::Value;

use crate::record::{MAX_SHOWN, Run, StepRun, StepStatus, Stop};

/// Limit on the length of a cell, in characters.
const MAX_CELL: usize = 40;

impl Run {
    /// Formats the run: a line per step, the result as a table, and notes about it.
    pub fn text(&self) -> String {
        // The failure comes first: the rows below are those of an earlier step.
        let failed = self.steps.iter().find(|step| step.status == StepStatus::Failed);
        let reported = failed.map(|step| {
            let reason = step.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
            format!("Step {} failed, and there is no answer: {reason}", step.step.number)
        });
        let mut lines: Vec<String> = reported.into_iter().collect();
        lines.extend(self.steps.iter().flat_map(StepRun::lines));
        for failure in &self.verification.failed {
            lines.push(format!("failed: {failure}"));
        }
        let mut shown = show(&lines);
        if let Some(step) = self.result_step() {
            shown.push(String::new());
            if self.stopped.is_some() {
                shown.push(format!("Rows of step {}:", step.step.number));
            }
            shown.extend(table(step));
        }
        shown.extend(show(&self.closing_lines()));
        shown.join("\n")
    }

    /// Formats what follows the rows: warnings, why the run stopped, clarifications and differences.
    fn closing_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.verification.warnings.iter().map(|warning| format!("warning: {warning}")));
        match self.stopped {
            Some(Stop::Failed) => lines.push(match self.id.is_empty() {
                true => "The run stopped there.".to_owned(),
                false => format!("The run stopped there. Correct the plan and continue with --resume {}.", self.id),
            }),
            Some(Stop::Asked) => lines.extend(self.describe_skipped()),
            Some(Stop::Cancelled) => lines.push("The run was interrupted.".to_owned()),
            Some(Stop::NotVerified) => lines.push("The plan was not run: it failed verification.".to_owned()),
            Some(Stop::NotExecutable) => {
                lines.push("The plan was not run: it only names resources, and no step computes anything.".to_owned());
            }
            Some(Stop::NoSteps) => lines.push("Nothing was run: the plan has no steps.".to_owned()),
            None => {}
        }
        lines.extend(self.clarifications.iter().map(|question| format!("? {question}")));
        for step in self.comparison.iter().flat_map(|comparison| &comparison.steps) {
            let count = |rows: Option<usize>| rows.map_or("no".to_owned(), |rows| rows.to_string());
            lines.push(format!(
                "step {}: {} ({} rows before, {} now, {} differ)",
                step.number,
                step.change.as_str(),
                count(step.rows_before),
                count(step.rows_now),
                step.differences.len()
            ));
        }
        lines
    }
}

/// Returns lines that quote plans and sources, each as one line.
fn show(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| one_line(line).into_owned()).collect()
}

impl StepRun {
    fn lines(&self) -> Vec<String> {
        let found = match (self.status, self.row_count) {
            (StepStatus::Failed, _) => "failed".to_owned(),
            (StepStatus::Done, Some(1)) => "1 row".to_owned(),
            (StepStatus::Done, Some(rows)) => format!("{rows} rows"),
            (StepStatus::Done, None) if !self.premises.is_empty() => format!("{} definitions", self.premises.len()),
            (StepStatus::Done, None) if self.instructions.is_some() => "instructions".to_owned(),
            (StepStatus::Done, None) => "nothing to execute".to_owned(),
        };
        let reused = if self.reused { ", reused from the earlier run" } else { "" };
        let mut lines = vec![format!("{}. {} ({found}{reused})", self.step.number, self.step.goal)];
        if !self.step.explanation.is_empty() {
            lines.push(format!("   {}", self.step.explanation));
        }
        lines.extend(self.notes.iter().map(|note| format!("   {note}")));
        if let Some(error) = &self.error {
            let advice = error.suggestion.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
            lines.push(format!("   {}{advice}", error.message));
        }
        lines
    }
}

/// Formats the first rows of a step in columns.
fn table(step: &StepRun) -> Vec<String> {
    let cell = |value: &Value| {
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            // Rounds binary errors of sums.
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map(|it| (it * 1e9).round() / 1e9).unwrap_or_default().to_string()
            }
            other => other.to_string(),
        };
        truncate(text.replace(['\n', '\r', '\t'], " "), MAX_CELL)
    };
    let mut cells: Vec<Vec<String>> = vec![show(&step.columns)];
    cells.extend(step.rows.iter().take(MAX_SHOWN).map(|row| row.iter().map(cell).collect()));
    let width =
        |at: usize| cells.iter().filter_map(|row| row.get(at)).map(|text| text.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..step.columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(text, width)| format!("{text:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = cells.iter().map(line).collect();
    if step.rows.len() > MAX_SHOWN || step.has_more {
        lines.push(format!("... {MAX_SHOWN} of {} rows shown", step.rows.len()));
    }
    lines
}
