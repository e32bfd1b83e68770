//! A recipe: how the rows of two subsets are matched.

use prospector_core::name::nearest;
use prospector_core::tool::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subset::Subset;

/// At most so many rules, and so many tests in each.
const MAX_RULES: usize = 20;
const MAX_TESTS: usize = 8;

/// How the rows of two subsets are matched: rule by rule, each over what those before it left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// One subset.
    pub left: Side,
    /// The other.
    pub right: Side,
    /// The rules, the surest first.
    pub rules: Vec<Rule>,
    /// Whether a row is matched once at most; true if left out.
    #[serde(default = "yes")]
    pub one_to_one: bool,
    /// Candidates whose scores (0 to 1) are nearer than this are not told apart; 0.04 if left out.
    #[serde(default = "margin")]
    pub margin: f64,
}

fn yes() -> bool {
    true
}

/// The margin where nobody says.
pub(crate) fn margin() -> f64 {
    0.04
}

/// A subset that load_scoped loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Its alias.
    pub alias: String,
    /// The column that tells its rows apart.
    pub key: String,
}

/// A rule: rows match that pass all of its tests. A test of a missing value is not passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name in the results.
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
    /// How they are compared: exact, tolerance (needs `within`), window (needs `days`), fuzzy (needs
    /// `threshold`), contains (the left text names the right value) or named_in (the right text names the left value).
    pub test: TestKind,
    /// tolerance: how far the numbers may be apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// window: how many days the dates may be apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// fuzzy: how alike the texts must be, 0 to 1: 1 less the edits (Levenshtein) for each character of the longer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// Equal: numbers as numbers, texts whatever their case and the blanks around them.
    Exact,
    /// Numbers that are near.
    Tolerance,
    /// Dates that are near. A date begins with `YYYY-MM-DD`.
    Window,
    /// Texts that are alike; case and punctuation do not count.
    Fuzzy,
    /// The left text has the right value in it, as words of its own: `payment for INV-0042` and `inv 42`.
    Contains,
    /// The right text has the left value in it.
    NamedIn,
}

impl Test {
    /// The limit of the test; none where it has none, or where it is missing.
    pub(crate) fn limit(&self) -> Option<f64> {
        match self.test {
            TestKind::Exact | TestKind::Contains | TestKind::NamedIn => Some(0.0),
            TestKind::Tolerance => self.within,
            TestKind::Window => self.days.map(f64::from),
            TestKind::Fuzzy => self.threshold,
        }
    }

    /// What is wrong with its limits, as a clause.
    fn fault(&self) -> Option<String> {
        let others = [
            ("within", self.within.is_some(), TestKind::Tolerance),
            ("days", self.days.is_some(), TestKind::Window),
            ("threshold", self.threshold.is_some(), TestKind::Fuzzy),
        ];
        if let Some((name, ..)) = others.iter().find(|(_, there, kind)| *there && *kind != self.test) {
            return Some(format!("`{name}` does not go with this test"));
        }
        if let Some((name, ..)) = others.iter().find(|(_, there, kind)| !there && *kind == self.test) {
            return Some(format!("`{name}` is missing"));
        }
        match (self.test, self.limit().unwrap_or_default()) {
            (TestKind::Fuzzy, limit) if !(0.3..=1.0).contains(&limit) => Some("`threshold` must be 0.3 to 1".into()),
            (TestKind::Tolerance, limit) if !limit.is_finite() || limit < 0.0 => {
                Some("`within` must be 0 or more".into())
            }
            (TestKind::Window, limit) if limit > 3_660.0 => Some("`days` must be 3660 at most".into()),
            _ => None,
        }
    }
}

impl Recipe {
    /// Whether it can be run over these subsets; columns are spelled as they are there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn check(mut self, left: &Subset, right: &Subset) -> Result<Recipe, ToolError> {
        let mut wrong = Vec::new();
        let mut spell = |name: &mut String, subset: &Subset, place: &str| match subset.spell(name) {
            Some(spelled) => *name = spelled.to_owned(),
            None => {
                let near = nearest(name, subset.columns.iter().map(String::as_str), 3);
                let near = near.join(", ");
                wrong.push(format!("{place}: {} has no column `{name}` (did you mean {near}?)", subset.alias));
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
                wrong.push(format!("rules[{at}]: give it a name of its own"));
            }
            if rule.tests.is_empty() || rule.tests.len() > MAX_TESTS {
                wrong.push(format!("{}: it has {} tests, and 1 to {MAX_TESTS} are taken", rule.name, rule.tests.len()));
            }
            let faults = rule.tests.iter().filter_map(|test| Some((test, test.fault()?)));
            wrong.extend(
                faults.map(|(test, fault)| format!("{}: {} and {}: {fault}", rule.name, test.left, test.right)),
            );
        }
        if self.rules.is_empty() || self.rules.len() > MAX_RULES {
            wrong.push(format!("there are {} rules, and 1 to {MAX_RULES} are taken", self.rules.len()));
        }
        if !(0.0..=0.5).contains(&self.margin) {
            wrong.push("`margin` must be 0 to 0.5".into());
        }
        for (side, subset) in [(&self.left, left), (&self.right, right)] {
            if subset.spell(&side.key).is_some() && !subset.is_unique(&side.key) {
                let near = subset.unique_columns().join(", ");
                let near = if near.is_empty() { "no column does".to_owned() } else { format!("{near} does") };
                wrong.push(format!("`{}` does not tell the rows of {} apart: {near}", side.key, side.alias));
            }
        }
        match wrong.is_empty() {
            true => Ok(self),
            false => Err(ToolError::invalid(wrong.join("; "), Some("mend these and call again".into()))),
        }
    }
}
