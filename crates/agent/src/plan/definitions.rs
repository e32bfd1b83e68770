//! Definitions that a plan cites: known to the catalog, and applied by a statement.

use std::{collections::HashSet, fmt, sync::LazyLock};

use prospector_core::record::{Resource, ResourceKind};
use prospector_text::periods;
use regex::Regex;

use super::{
    PlanFact,
    step::{Action, Step},
    verification::{Code, Finding},
};
use crate::names::Names;

const PATH: &str = "discovered_context.facts";

/// Verifies that a definition is stored or is in a source of the catalog; within a run, that the run returned it. An unknown definition is
/// a warning, since no step depends on it.
pub(super) fn check_source(fact: &PlanFact, names: &dyn Names, seen: Option<&HashSet<Resource>>) -> Option<Finding> {
    if fact.term.trim().is_empty() || fact.definition.trim().is_empty() {
        return Some(Finding::new(PATH, Code::UnknownDefinition, "a fact needs a term and a definition"));
    }
    let stored = names.resolve(ResourceKind::Fact, &fact.term);
    let source = fact.source.split('#').next().unwrap_or_default();
    const SOURCES: [ResourceKind; 5] = [
        ResourceKind::Document,
        ResourceKind::Table,
        ResourceKind::Column,
        ResourceKind::Operation,
        ResourceKind::Metric,
    ];
    let mut sources = SOURCES.into_iter().filter_map(|kind| Some((kind, names.resolve(kind, source)?)));
    let (is_known, message) = match seen {
        None => (
            stored.is_some() || sources.next().is_some(),
            format!("the definition of `{}` is not stored, and its source `{}` does not exist", fact.term, fact.source),
        ),
        Some(seen) => {
            let is_seen = |name: &String| seen.contains(&Resource::new(ResourceKind::Fact, name.as_str()));
            let is_fact = stored.iter().chain([&fact.term]).any(is_seen);
            let is_source = sources.any(|(kind, id)| seen.contains(&Resource::new(kind, id)));
            (is_fact || is_source, format!("no discovery call of this run returned the definition of `{}`", fact.term))
        }
    };
    (!is_known).then(|| Finding::new(PATH, Code::UnknownDefinition, message))
}

/// Warns of each cited definition whose values do not occur in any step.
///
/// A value counts as applied wherever it is written: in a date, an interval or a modifier, in another unit (`5%` and `0.05`), in a
/// condition of metrics or an argument of a call. A definition of which one value is applied is not warned of, since the others
/// may be examples or follow from it.
pub(super) fn check_applied(facts: &[PlanFact], used: &UsedValues) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fact in facts {
        let values = find_values(&fact.definition);
        if values.is_empty() || values.iter().any(|value| used.contains(value)) {
            continue;
        }
        let names: Vec<String> = values.iter().map(ToString::to_string).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        let message =
            format!("`{}` is defined with {}, which {verb} in no step of the plan", fact.term, names.join(" and "));
        let suggestion = "apply the definition in a statement, or use the segment, metric or verified query for it";
        findings.push(Finding::new(PATH, Code::DefinitionNotApplied, message).suggest(suggestion));
    }
    findings
}

/// The values that the steps of a plan run with.
#[derive(Default)]
pub(super) struct UsedValues {
    texts: Vec<String>,
    numbers: Vec<f64>,
    /// Whether a date is among them.
    has_date: bool,
}

impl UsedValues {
    /// Adds a statement, a literal, or arguments.
    pub(super) fn add(&mut self, text: &str) {
        static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d*\.?\d+"));
        self.numbers.extend(NUMBER.find_iter(text).filter_map(|number| number.as_str().parse::<f64>().ok()));
        self.has_date |= !periods::find(text).is_empty();
        self.texts.push(text.to_lowercase());
    }

    /// Adds the text that a step runs.
    pub(super) fn add_step(&mut self, step: &Step) {
        let written = match &step.action {
            Action::Sql(query) => query.sql.clone(),
            Action::Metrics(query) => serde_json::to_string(query).unwrap_or_default(),
            Action::VerifiedQuery(query) => serde_json::to_string(&query.parameters).unwrap_or_default(),
            Action::Call(call) => serde_json::to_string(&call.arguments).unwrap_or_default(),
            Action::Read(_) | Action::Named | Action::Unreadable(_) => return,
        };
        self.add(&written);
        step.compiled.iter().for_each(|query| self.add(&query.sql));
    }

    /// Whether a value may be applied.
    fn contains(&self, value: &DefinedValue) -> bool {
        // Percent and cents, thousands, millions and billions.
        const SCALES: [f64; 7] = [1.0, 100.0, 0.01, 1e3, 1e6, 1e9, 1e-3];
        let is_number = |number: f64| {
            let is_near = |known: &f64, scale: f64| (known - number * scale).abs() <= 1e-9 * known.abs().max(1.0);
            self.numbers.iter().any(|known| SCALES.into_iter().any(|scale| is_near(known, scale)))
        };
        match value {
            DefinedValue::Code(code) => self.texts.iter().any(|text| text.contains(&code.to_lowercase())),
            DefinedValue::Number(number) => is_number(*number),
            // The model may have computed the day.
            DefinedValue::Duration(number) => self.has_date || is_number(*number),
        }
    }
}

/// A value in the text of a definition.
#[derive(Debug, Clone, PartialEq)]
enum DefinedValue {
    /// A text in single quotes: `'P'`.
    Code(String),
    Number(f64),
    /// A number of units of time.
    Duration(f64),
}

impl fmt::Display for DefinedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefinedValue::Code(code) => write!(f, "'{code}'"),
            DefinedValue::Number(number) | DefinedValue::Duration(number) => write!(f, "{number}"),
        }
    }
}

/// Returns the codes and the separate numbers of a definition. Parts of names, ordinals, ranges and years are skipped.
fn find_values(definition: &str) -> Vec<DefinedValue> {
    static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[^\pL\pN])'([^'\s]{1,40})'(?:$|[^\pL\pN])"));
    let codes = CODE.captures_iter(definition).map(|found| DefinedValue::Code(found[1].to_owned()));
    let bare = |word: &str| word.trim_matches(|c: char| c.is_ascii_punctuation() || "“”‘’€£¥".contains(c)).to_owned();
    let words: Vec<String> = definition.split_whitespace().map(bare).collect();
    let numbers = words.iter().enumerate().filter_map(|(at, word)| {
        let digits = word.trim_end_matches('%').replace(',', "");
        let number: f64 = digits.parse().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
        let is_year = digits.len() == 4 && (1900.0..2100.0).contains(&number);
        let is_duration = words.get(at + 1).is_some_and(|next| periods::is_time_word(&next.to_lowercase()));
        let value = if is_duration { DefinedValue::Duration } else { DefinedValue::Number };
        // 0 and 1 can be expressed in too many ways.
        (!is_year && number > 1.0).then(|| value(number))
    });
    codes.chain(numbers).collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_only_where_no_value_of_a_definition_is_in_the_plan() {
        let vip = "A VIP is a customer whose paid invoices total at least 45.00 (USD) in 2025";
        let paid = "Paid invoices are those with stat_cd 'P', of the customer's 2 accounts";
        let churned = "No purchase within 180 days before the day of the question";
        for (definition, statement, is_warned) in [
            (vip, "SELECT SUM(total) FROM invoices WHERE stat_cd = 'P' AND invoice_date >= '2025-01-01'", true),
            (vip, "SELECT customer_id FROM invoices GROUP BY 1 HAVING SUM(total) >= 45", false),
            (vip, "SELECT customer_id FROM invoices GROUP BY 1 HAVING SUM(total_cents) >= 4500", false),
            (paid, "SELECT SUM(total) FROM invoices", true),
            (paid, "SELECT SUM(total) FROM invoices WHERE stat_cd = 'p'", false),
            (churned, "SELECT COUNT(*) FROM customers", true),
            (churned, "SELECT COUNT(*) FROM customers WHERE last_seen < date('now', '-180 days')", false),
            (churned, "SELECT COUNT(*) FROM customers WHERE last_seen < CURRENT_DATE - INTERVAL '180' DAY", false),
            (churned, "SELECT COUNT(*) FROM customers WHERE last_seen < '2025-07-04'", false),
            ("The launch was on 15 November 2025", "SELECT 1 FROM sales WHERE day >= DATE '2025-11-15'", false),
            ("A large order is above $1.5 million", "SELECT * FROM orders WHERE total > 1500000", false),
            ("A large order is above $100,000", "SELECT * FROM orders WHERE total > 100000", false),
            ("A large order is above $100,000", "SELECT * FROM orders WHERE total > 5000", true),
            ("At least 5% of all", "SELECT * FROM shares WHERE share >= 0.05", false),
            ("Revenue is the total of paid invoices", "SELECT SUM(total) FROM invoices", false),
            ("From 2025 on, ISO8601, the 2nd of 2025, invoices.stat_cd2", "SELECT 1", false),
        ] {
            let fact = PlanFact { term: "term".into(), definition: definition.into(), ..PlanFact::default() };
            let mut used = UsedValues::default();
            used.add(statement);
            assert_eq!(check_applied(&[fact], &used).len(), usize::from(is_warned), "{definition}: {statement}");
        }
    }

    #[test]
    fn names_the_values_that_are_missing() {
        let definition = "Orders with status 'P' of at least 120".to_owned();
        let fact = PlanFact { term: "big order".into(), definition, ..PlanFact::default() };
        let found = check_applied(&[fact], &UsedValues::default());
        assert_eq!(found[0].message, "`big order` is defined with 'P' and 120, which are in no step of the plan");
    }
}
