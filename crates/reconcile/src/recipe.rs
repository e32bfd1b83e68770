//! A recipe: the rules that match rows of two subsets.

use prospector_core::name::nearest;
use prospector_core::tool::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subset::Subset;

/// Limits on the number of rules, and of tests per rule.
const MAX_RULES: usize = 20;
const MAX_TESTS: usize = 8;

/// How the rows of two subsets are matched: rule by rule, each applied to the rows that earlier rules left unmatched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The left subset.
    pub left: Side,
    /// The right subset.
    pub right: Side,
    /// The rules, most reliable first.
    pub rules: Vec<Rule>,
    /// Whether a row is matched at most once; default true.
    #[serde(default = "yes")]
    pub one_to_one: bool,
    /// Candidates whose scores (0 to 1) differ by less than this are ambiguous; default 0.04.
    #[serde(default = "margin")]
    pub margin: f64,
}

fn yes() -> bool {
    true
}

/// The default margin.
pub(crate) fn margin() -> f64 {
    0.04
}

/// A subset loaded by load_scoped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Its alias.
    pub alias: String,
    /// The column that identifies its rows.
    pub key: String,
}

/// A rule: rows match if they pass all of its tests. A test of a missing value fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name of the rule in the results.
    pub name: String,
    /// The tests.
    pub tests: Vec<Test>,
}

/// A test of one column of each side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The column of the left subset.
    pub left: String,
    /// The column of the right subset.
    pub right: String,
    /// How they are compared: exact, tolerance (needs `within`), window (needs `days`), fuzzy (needs `threshold`), contains (the left text
    /// contains the right value) or named_in (the right text contains the left value).
    pub test: TestKind,
    /// tolerance: maximum difference of the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// window: maximum difference of the dates, in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// fuzzy: minimum similarity of the texts, 0 to 1: 1 - edit distance (Levenshtein) / length of the longer text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// Equal: numbers by value, texts ignoring case and surrounding blanks.
    Exact,
    /// Numbers within a tolerance.
    Tolerance,
    /// Dates within a window. A date starts with `YYYY-MM-DD`.
    Window,
    /// Similar texts; case and punctuation are ignored.
    Fuzzy,
    /// The left text contains the right value as whole words: `payment for INV-0042` and `inv 42`.
    Contains,
    /// The right text contains the left value.
    NamedIn,
}

impl Test {
    /// Returns the limit of the test; `None` if it has none, or if it is missing.
    pub(crate) fn limit(&self) -> Option<f64> {
        match self.test {
            TestKind::Exact | TestKind::Contains | TestKind::NamedIn => Some(0.0),
            TestKind::Tolerance => self.within,
            TestKind::Window => self.days.map(f64::from),
            TestKind::Fuzzy => self.threshold,
        }
    }

    /// Returns what is wrong with its limits.
    fn fault(&self) -> Option<String> {
        let others = [
            ("within", self.within.is_some(), TestKind::Tolerance),
            ("days", self.days.is_some(), TestKind::Window),
            ("threshold", self.threshold.is_some(), TestKind::Fuzzy),
        ];
        if let Some((name, ..)) = others.iter().find(|(_, there, kind)| *there && *kind != self.test) {
            return Some(format!("`{name}` does not apply to this test"));
        }
        if let Some((name, ..)) = others.iter().find(|(_, there, kind)| !there && *kind == self.test) {
            return Some(format!("`{name}` is missing"));
        }
        match (self.test, self.limit().unwrap_or_default()) {
            (TestKind::Fuzzy, limit) if !(0.3..=1.0).contains(&limit) => Some("`threshold` must be 0.3 to 1".into()),
            (TestKind::Tolerance, limit) if !limit.is_finite() || limit < 0.0 => {
                Some("`within` must be 0 or more".into())
            }
            (TestKind::Window, limit) if limit > 3_660.0 => Some("`days` must be at most 3660".into()),
            _ => None,
        }
    }
}

impl Recipe {
    /// Validates the recipe for these subsets, and returns it with the subsets' spelling of column names.
    ///
    /// # Errors
    /// If the recipe is invalid, with every problem.
    pub(crate) fn check(mut self, left: &Subset, right: &Subset) -> Result<Recipe, ToolError> {
        let mut wrong = Vec::new();
        let mut spell = |name: &mut String, subset: &Subset, place: &str| match subset.spell(name) {
            Some(spelled) => *name = spelled.to_owned(),
            None => {
                let near = nearest(name, subset.columns.iter().map(String::as_str), 3);
                let advice = match near.as_slice() {
                    [] => format!("its columns are {}", subset.columns.join(", ")),
                    near => format!("did you mean {}?", near.join(", ")),
                };
                wrong.push(format!("{place}: {} has no column `{name}` ({advice})", subset.alias));
            }
        };
        spell(&mut self.left.key, left, "left.key");
        spell(&mut self.right.key, right, "right.key");
        for rule in &mut self.rules {
            for test in &mut rule.tests {
                spell(&mut test.left, left, &rule.name);
                spell(&mut test.right, right, &rule.name);
            }
        }
        for (at, rule) in self.rules.iter().enumerate() {
            if rule.name.trim().is_empty() || self.rules[..at].iter().any(|other| other.name == rule.name) {
                wrong.push(format!("rules[{at}]: needs a unique name"));
            }
            if rule.tests.is_empty() || rule.tests.len() > MAX_TESTS {
                wrong.push(format!("{}: it has {} tests; 1 to {MAX_TESTS} are allowed", rule.name, rule.tests.len()));
            }
            let faults = rule.tests.iter().filter_map(|test| Some((test, test.fault()?)));
            wrong.extend(
                faults.map(|(test, fault)| format!("{}: {} and {}: {fault}", rule.name, test.left, test.right)),
            );
        }
        if self.rules.is_empty() || self.rules.len() > MAX_RULES {
            wrong.push(format!("there are {} rules; 1 to {MAX_RULES} are allowed", self.rules.len()));
        }
        if !(0.0..=0.5).contains(&self.margin) {
            wrong.push("`margin` must be 0 to 0.5".into());
        }
        for (side, subset) in [(&self.left, left), (&self.right, right)] {
            if subset.spell(&side.key).is_some() && !subset.is_unique(&side.key) {
                let near = subset.unique_columns().join(", ");
                let near = if near.is_empty() { "no column is unique".to_owned() } else { format!("use {near}") };
                wrong.push(format!("`{}` does not identify the rows of {}: {near}", side.key, side.alias));
            }
        }
        match wrong.is_empty() {
            true => Ok(self),
            false => Err(ToolError::invalid(wrong.join("; "), Some("fix these problems and call again".into()))),
        }
    }
}
