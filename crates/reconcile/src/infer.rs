//! Infers rules from examples: which columns agree, and how, in the confirmed pairs but not in other rows.

use serde::Serialize;
use serde_json::Value;

use super::{
    recipe::{Recipe, Rule, Side, Test, TestKind, margin},
    subset::Subset,
    value::{day, likeness, names, number, plain, reference, text},
};

/// Minimum share of pairs with both values that pass a test, and minimum difference to the share of other rows.
const MIN_AGREEMENT: f64 = 0.85;
const MORE_THAN_CHANCE: f64 = 0.3;

/// Minimum number of pairs with both values.
const MIN_PAIRS: usize = 3;

/// Maximum distance of dates that agree, in days.
const MAX_DAYS: i64 = 31;

/// Minimum similarity of texts that agree.
const MIN_SIMILARITY: f64 = 0.6;

/// Minimum length of values that are searched in texts.
const MIN_REFERENCE_CHARS: usize = 2;

/// Minimum share of distinct values of a column that identifies rows.
const MIN_VARIETY: f64 = 0.9;

/// Limit on the number of suggested rules.
const MAX_RULES: usize = 10;

/// Two columns that agree.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Agreement {
    /// The test that they pass.
    #[serde(flatten)]
    pub(crate) test: Test,
    /// Share of the pairs with both values that pass.
    pub(crate) passed: f64,
    /// Number of pairs with both values.
    pub(crate) pairs: usize,
    /// Share of other rows that pass.
    pub(crate) by_chance: f64,
    /// Whether the columns identify rows.
    pub(crate) identifies: bool,
}

/// Returns the columns that agree in these pairs of row indices, most discriminating first.
pub(crate) fn agreements(left: &Subset, right: &Subset, pairs: &[(usize, usize)]) -> Vec<Agreement> {
    let mut found = Vec::new();
    for (at, a) in left.columns.iter().enumerate() {
        for (other, b) in right.columns.iter().enumerate() {
            let cells = |(l, r): (usize, usize)| (&left.rows[l][at], &right.rows[r][other]);
            let is_whole = |(l, r): &(&Value, &Value)| text(l).is_some() && text(r).is_some();
            let true_cells: Vec<(&Value, &Value)> = pairs.iter().map(|pair| cells(*pair)).filter(is_whole).collect();
            if true_cells.len() < MIN_PAIRS.min(pairs.len()) || true_cells.len() * 2 < pairs.len() {
                continue;
            }
            // Rows of different pairs do not match.
            let crossed = pairs.iter().enumerate().flat_map(|(first, (l, _))| {
                pairs.iter().enumerate().filter(move |(second, _)| *second != first).map(|(_, (_, r))| (*l, *r))
            });
            let false_cells: Vec<(&Value, &Value)> = crossed.map(cells).filter(is_whole).take(2_000).collect();
            let (left_variety, right_variety) = (left.variety(at), right.variety(other));
            let tests = tests(a, b, &true_cells, &false_cells);
            found.extend(tests.into_iter().filter_map(|test| {
                let share = |cells: &[(&Value, &Value)]| {
                    let passed = cells.iter().filter(|(l, r)| passes(&test, l, r)).count();
                    if cells.is_empty() { 0.0 } else { passed as f64 / cells.len() as f64 }
                };
                let (passed, by_chance) = (share(&true_cells), share(&false_cells));
                let agrees = passed >= MIN_AGREEMENT && passed - by_chance >= MORE_THAN_CHANCE;
                let shown = |share: f64| (share * 1_000.0).round() / 1_000.0;
                // If a text names a value, the value must identify rows.
                let variety = match test.test {
                    TestKind::Contains => right_variety,
                    TestKind::NamedIn => left_variety,
                    TestKind::Exact | TestKind::Tolerance | TestKind::Window | TestKind::Fuzzy => {
                        left_variety.min(right_variety)
                    }
                };
                agrees.then(|| Agreement {
                    passed: shown(passed),
                    pairs: true_cells.len(),
                    by_chance: shown(by_chance),
                    identifies: variety >= MIN_VARIETY && test.test != TestKind::Window,
                    test,
                })
            }));
        }
    }
    found.sort_by(|a, b| (b.passed - b.by_chance).total_cmp(&(a.passed - a.by_chance)));
    // Each column agrees with one other; an exact and a looser test of the same columns may be combined.
    let mut kept: Vec<Agreement> = Vec::new();
    for agreement in found {
        let clashes = kept.iter().any(|other| {
            let same = (other.test.left == agreement.test.left, other.test.right == agreement.test.right);
            same == (true, false) || same == (false, true)
        });
        if !clashes {
            kept.push(agreement);
        }
    }
    kept
}

/// Returns the tests that two columns may pass, with limits slightly wider than observed.
fn tests(left: &str, right: &str, pairs: &[(&Value, &Value)], others: &[(&Value, &Value)]) -> Vec<Test> {
    let test = |kind| Test {
        left: left.to_owned(),
        right: right.to_owned(),
        test: kind,
        within: None,
        days: None,
        threshold: None,
    };
    let both = |of: fn(&Value) -> Option<f64>| -> Option<Vec<f64>> {
        pairs.iter().map(|(l, r)| Some((of(l)? - of(r)?).abs())).collect()
    };
    let most = |apart: &[f64]| apart.iter().copied().fold(0.0, f64::max);
    let mut tests = vec![test(TestKind::Exact)];
    // Short values occur in many texts.
    let is_distinctive =
        |value: &Value| text(value).is_some_and(|value| reference(&value).chars().count() >= MIN_REFERENCE_CHARS);
    let is_text = |value: &Value| number(value).is_none() && day(value).is_none();
    if pairs.iter().any(|(l, r)| !passes(&tests[0], l, r)) {
        if pairs.iter().all(|(l, r)| is_text(l) && is_distinctive(r)) {
            tests.push(test(TestKind::Contains));
        }
        if pairs.iter().all(|(l, r)| is_text(r) && is_distinctive(l)) {
            tests.push(test(TestKind::NamedIn));
        }
    }
    if let Some(apart) = both(|value| day(value).map(|day| day as f64)) {
        let days = most(&apart);
        if days > 0.0 && days <= MAX_DAYS as f64 {
            tests.push(Test { days: Some((days * 1.5).ceil() as u32), ..test(TestKind::Window) });
        }
    } else if let Some(apart) = both(number) {
        let apart = most(&apart);
        if apart > 0.0 {
            tests.push(Test { within: Some(upwards(apart * 1.25)), ..test(TestKind::Tolerance) });
        }
    } else {
        let similarities = |cells: &[(&Value, &Value)]| -> Vec<f64> {
            let similarity = |cell: &(&Value, &Value)| {
                likeness(&plain(&text(cell.0).unwrap_or_default()), &plain(&text(cell.1).unwrap_or_default()))
            };
            cells.iter().map(similarity).collect()
        };
        let mut seen = similarities(pairs);
        seen.sort_by(f64::total_cmp);
        // One in ten may be worse.
        let least = seen.get(seen.len() / 10).copied().unwrap_or_default();
        let chance = similarities(others).into_iter().fold(0.0, f64::max);
        let threshold = (((least + chance.min(least)) / 2.0).max(least - 0.1) * 100.0).floor() / 100.0;
        if threshold >= MIN_SIMILARITY && seen.first() < Some(&1.0) {
            tests.push(Test { threshold: Some(threshold.min(0.95)), ..test(TestKind::Fuzzy) });
        }
    }
    tests
}

/// Rounds up to two significant digits.
fn upwards(number: f64) -> f64 {
    let unit = 10f64.powf(number.log10().floor() - 1.0);
    let rounded = (number / unit - 1e-9).ceil() * unit;
    // Removes binary rounding errors.
    format!("{rounded:.8}").parse().unwrap_or(rounded)
}

/// Whether two values pass a test, in the same way as the SQL.
pub(crate) fn passes(test: &Test, left: &Value, right: &Value) -> bool {
    let limit = test.limit().unwrap_or_default();
    let near = |left: Option<f64>, right: Option<f64>| {
        left.zip(right).is_some_and(|(left, right)| (left - right).abs() <= limit + limit * 1e-9 + 1e-9)
    };
    match test.test {
        TestKind::Exact => match (number(left), number(right)) {
            (Some(left), Some(right)) => left == right,
            _ => text(left).zip(text(right)).is_some_and(|(left, right)| left.to_lowercase() == right.to_lowercase()),
        },
        TestKind::Contains => text(left).zip(text(right)).is_some_and(|(left, right)| names(&left, &right)),
        TestKind::NamedIn => text(left).zip(text(right)).is_some_and(|(left, right)| names(&right, &left)),
        TestKind::Tolerance => near(number(left), number(right)),
        TestKind::Window => near(day(left).map(|day| day as f64), day(right).map(|day| day as f64)),
        TestKind::Fuzzy => text(left).zip(text(right)).is_some_and(|(left, right)| {
            let (left, right) = (plain(&left), plain(&right));
            !left.is_empty() && likeness(&left, &right) >= limit - 1e-9
        }),
    }
}

/// Suggests a recipe: the identifying test with each of the others, all others together, all but one of them, and nearly identifying tests
/// with one of the others. `None` if nothing agrees, or no column identifies the rows of a side.
pub(crate) fn suggest(left: &Subset, right: &Subset, agreements: &[Agreement]) -> Option<Recipe> {
    let key = |subset: &Subset| subset.unique_columns().first().map(|column| (*column).to_owned());
    let side = |subset: &Subset| Some(Side { alias: subset.alias.clone(), key: key(subset)? });
    let is_text_id = |one: &&Agreement| {
        let kinds = [TestKind::Exact, TestKind::Fuzzy, TestKind::Contains, TestKind::NamedIn];
        one.identifies && kinds.contains(&one.test.test)
    };
    let same = |a: &Test, b: &Test| a.left == b.left && a.right == b.right;
    // If there are exact and looser tests of the same columns, the looser one supports others.
    let mut supports: Vec<&Test> = Vec::new();
    let ids: Vec<&Agreement> = agreements.iter().filter(is_text_id).collect();
    for agreement in agreements.iter().filter(|one| !ids.iter().any(|id| same(&id.test, &one.test))) {
        match supports.iter().position(|other| same(other, &agreement.test)) {
            Some(at) if supports[at].test == TestKind::Exact => supports[at] = &agreement.test,
            Some(_) => {}
            None => supports.push(&agreement.test),
        }
    }
    supports.truncate(5);
    let mut rules: Vec<Rule> = Vec::new();
    let mut add = |tests: Vec<&Test>| {
        let name: Vec<String> = tests.iter().map(|test| name_test(test)).collect();
        let name = name.join(" + ");
        // Close dates and similar texts alone leave too many candidates.
        let is_narrow = tests.iter().any(|test| !matches!(test.test, TestKind::Fuzzy | TestKind::Window));
        if is_narrow && rules.len() < MAX_RULES && rules.iter().all(|rule| rule.name != name) {
            rules.push(Rule { name, tests: tests.into_iter().cloned().collect() });
        }
    };
    let of = |kind: TestKind| ids.iter().filter(move |id| id.test.test == kind).map(|id| &id.test);
    for id in of(TestKind::Exact) {
        supports.iter().for_each(|support| add(vec![id, support]));
        if supports.is_empty() {
            add(vec![id]);
        }
    }
    // A text that names the other row is stronger evidence than agreement: first with support, finally alone.
    for id in of(TestKind::Contains).chain(of(TestKind::NamedIn)) {
        supports.iter().for_each(|support| add(vec![id, support]));
        add(vec![id]);
    }
    if supports.len() > 1 {
        add(supports.clone());
    }
    for id in of(TestKind::Fuzzy) {
        supports.iter().for_each(|support| add(vec![support, id]));
    }
    if supports.len() > 2 {
        for without in (0..supports.len()).rev() {
            let rest = supports.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, test)| *test);
            add(rest.collect());
        }
    }
    let left_over: Vec<&Test> = if supports.is_empty() { of(TestKind::Fuzzy).collect() } else { supports.clone() };
    if rules.is_empty() && !left_over.is_empty() {
        let name = left_over.iter().map(|test| name_test(test)).collect::<Vec<_>>().join(" + ");
        rules.push(Rule { name, tests: left_over.into_iter().cloned().collect() });
    }
    let (left, right) = (side(left)?, side(right)?);
    (!rules.is_empty()).then_some(Recipe { left, right, rules, one_to_one: true, margin: margin() })
}

fn name_test(test: &Test) -> String {
    let word = match test.test {
        TestKind::Exact => "same",
        TestKind::Contains => "named in",
        TestKind::NamedIn => "names",
        TestKind::Fuzzy => "similar",
        TestKind::Tolerance | TestKind::Window => "near",
    };
    format!("{word} {}", test.left)
}
