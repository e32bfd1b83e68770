//! Runs a recipe: one query per rule, then the selection of pairs among its candidates.

use std::collections::{BTreeMap, HashMap, HashSet};

use prospector_core::tool::ToolError;
use prospector_engine::Engine;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    assign::{Candidate, Taken, one_to_one},
    block::Block,
    recipe::{Recipe, Rule, Test, TestKind},
    sql::RuleSql,
    subset::Subset,
    value,
};

/// Limits on the candidates of a rule, and on the pairs that pass its tests.
const MAX_CANDIDATES: u64 = 5_000_000;
const MAX_PAIRS: usize = 400_000;

/// If a block of short texts leaves more candidates, one of longer texts is tried.
const COMFORTABLE: u64 = 1_000_000;

/// Two matched rows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Matched {
    pub(crate) left: String,
    pub(crate) right: String,
    pub(crate) rule: String,
    pub(crate) score: f64,
    /// What each test of the rule compared.
    pub(crate) evidence: Vec<Value>,
}

/// A row with several equally good matches.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ambiguous {
    pub(crate) left: String,
    pub(crate) candidates: Vec<String>,
}

/// The statistics of a rule.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RuleRan {
    pub(crate) rule: String,
    /// The columns of the block that was joined on.
    pub(crate) block: String,
    /// Number of pairs compared.
    pub(crate) compared: u64,
    /// Number of pairs that passed.
    pub(crate) passed: usize,
    /// Number of pairs matched.
    pub(crate) matched: usize,
}

/// The outcome of a recipe.
pub(crate) struct Outcome {
    pub(crate) left: Subset,
    pub(crate) right: Subset,
    pub(crate) matched: Vec<Matched>,
    pub(crate) ambiguous: Vec<Ambiguous>,
    /// Row indices.
    pub(crate) unmatched_left: Vec<usize>,
    /// Row indices; for a sample, the rows that no row of the sample matched.
    pub(crate) unmatched_right: Vec<usize>,
    pub(crate) rules: Vec<RuleRan>,
}

/// Runs a validated recipe; if `first` is given, only for the first rows of the left subset.
///
/// # Errors
/// - If the engine fails.
/// - If a rule has too many candidates or pairs.
pub(crate) async fn run(engine: &Engine, recipe: &Recipe, first: Option<usize>) -> Result<Outcome, ToolError> {
    let mut left = Subset::read(engine, &recipe.left.alias).await?;
    let right = Subset::read(engine, &recipe.right.alias).await?;
    let recipe = recipe.clone().check(&left, &right)?;
    if let Some(rows) = first {
        left = Subset::read_first(engine, &recipe.left.alias, &recipe.left.key, rows).await?;
    }
    let mut taken = Taken::default();
    let (mut matched, mut rules) = (Vec::new(), Vec::new());
    // Unmatched candidates of all rules.
    let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rule in &recipe.rules {
        let (found, mut ran) = candidates(engine, &recipe, rule, &left, &right, first).await?;
        let candidates: Vec<Candidate> = found.iter().map(|(candidate, _)| candidate.clone()).collect();
        let accepted = match recipe.one_to_one {
            true => one_to_one(&candidates, &mut taken, recipe.margin),
            false => every(&candidates, &mut taken),
        };
        for at in &accepted {
            let (Candidate { left, right, score }, evidence) = &found[*at];
            matched.push(Matched {
                left: left.clone(),
                right: right.clone(),
                rule: rule.name.clone(),
                score: round(*score),
                evidence: evidence.clone(),
            });
        }
        for candidate in candidates {
            if !taken.left.contains(&candidate.left) {
                let others = open.entry(candidate.left).or_default();
                if !others.contains(&candidate.right) {
                    others.push(candidate.right);
                }
            }
        }
        ran.matched = accepted.len();
        rules.push(ran);
    }
    let ambiguous = (open.into_iter())
        .filter(|(left, _)| !taken.left.contains(left))
        .map(|(left, mut candidates)| {
            candidates.retain(|right| !taken.right.contains(right));
            Ambiguous { left, candidates }
        })
        .filter(|ambiguous| !ambiguous.candidates.is_empty())
        .collect();
    let unmatched_left = missing(&left, &recipe.left.key, &taken.left);
    let unmatched_right = missing(&right, &recipe.right.key, &taken.right);
    Ok(Outcome { left, right, matched, ambiguous, unmatched_left, unmatched_right, rules })
}

/// Takes every candidate whose left row is unmatched.
fn every(candidates: &[Candidate], taken: &mut Taken) -> Vec<usize> {
    let accepted: Vec<usize> = (0..candidates.len()).filter(|at| !taken.left.contains(&candidates[*at].left)).collect();
    for at in &accepted {
        taken.left.insert(candidates[*at].left.clone());
        taken.right.insert(candidates[*at].right.clone());
    }
    accepted
}

fn missing(subset: &Subset, key: &str, taken: &HashSet<String>) -> Vec<usize> {
    let Some(at) = subset.place(key) else { return Vec::new() };
    let is_open = |row: &usize| value::text(&subset.rows[*row][at]).is_none_or(|key| !taken.contains(&key));
    (0..subset.rows.len()).filter(is_open).collect()
}

type Found = (Candidate, Vec<Value>);

async fn candidates(
    engine: &Engine,
    recipe: &Recipe,
    rule: &Rule,
    left: &Subset,
    right: &Subset,
    first: Option<usize>,
) -> Result<(Vec<Found>, RuleRan), ToolError> {
    let numeric =
        rule.tests.iter().map(|test| is_numeric(left, &test.left) && is_numeric(right, &test.right)).collect();
    let sql = RuleSql { recipe, rule, numeric, first };
    let mut narrowest: Option<(u64, Block)> = None;
    for group in Block::of(rule) {
        for block in group {
            let outcome = engine.run(&sql.count(block), None, 1).await?;
            let count = outcome.rows.rows.first().and_then(|row| row.first()).and_then(value::number).unwrap_or(0.0);
            if narrowest.is_none_or(|(least, _)| (count as u64) < least) {
                narrowest = Some((count as u64, block));
            }
        }
        if narrowest.is_some_and(|(count, _)| count <= COMFORTABLE) {
            break;
        }
    }
    let Some((compared, block)) = narrowest.filter(|(count, _)| *count <= MAX_CANDIDATES) else {
        let message = format!("the rule `{}` would compare more than {MAX_CANDIDATES} pairs", rule.name);
        return Err(value::first(&message, "add a test to it: exact, or a narrow tolerance or window"));
    };
    let outcome = engine.run(&sql.pairs(block), None, MAX_PAIRS).await?;
    if outcome.rows.has_more {
        let message = format!("the rule `{}` matches more than {MAX_PAIRS} pairs", rule.name);
        return Err(value::first(&message, "add a test to it, or narrow its tests"));
    }
    let mut best: HashMap<(String, String), Found> = HashMap::new();
    let mut order = Vec::new();
    for row in outcome.rows.rows {
        let (Some(left), Some(right)) = (row.first().and_then(value::text), row.get(1).and_then(value::text)) else {
            continue;
        };
        let id = (left.clone(), right.clone());
        // A pair in two blocks occurs twice.
        if best.contains_key(&id) {
            continue;
        }
        let measured: Vec<(f64, Value)> = (rule.tests.iter().zip(row[2..].chunks(3)))
            .filter_map(|(test, cells)| match cells {
                [left, right, measure] => Some(evidence(test, left, right, measure)),
                _ => None,
            })
            .collect();
        let score = measured.iter().map(|(near, _)| near).sum::<f64>() / measured.len().max(1) as f64;
        let evidence = measured.into_iter().map(|(_, evidence)| evidence).collect();
        order.push(id.clone());
        best.insert(id, (Candidate { left, right, score }, evidence));
    }
    // The engine returns rows in any order; sorting makes the result deterministic.
    order.sort();
    let found: Vec<Found> = order.iter().filter_map(|id| best.remove(id)).collect();
    let test = &rule.tests[block.test()];
    let ran = RuleRan {
        rule: rule.name.clone(),
        block: format!("{} = {}", test.left, test.right),
        compared,
        passed: found.len(),
        matched: 0,
    };
    Ok((found, ran))
}

/// Scores two values that passed a test, 0 to 1, and returns what the test compared.
fn evidence(test: &Test, left: &Value, right: &Value, measure: &Value) -> (f64, Value) {
    let limit = test.limit().unwrap_or_default();
    let measure = value::number(measure).unwrap_or_default();
    let mut seen = json!({"columns": format!("{} = {}", test.left, test.right), "left": left, "right": right});
    let near = match test.test {
        TestKind::Exact | TestKind::Contains | TestKind::NamedIn => 1.0,
        TestKind::Fuzzy => measure,
        TestKind::Tolerance | TestKind::Window if limit == 0.0 => 1.0,
        // A value at the limit still passes.
        TestKind::Tolerance | TestKind::Window => 1.0 - 0.5 * (measure / limit).clamp(0.0, 1.0),
    };
    match test.test {
        TestKind::Exact | TestKind::Contains | TestKind::NamedIn => {}
        TestKind::Tolerance => seen["apart"] = round(measure).into(),
        TestKind::Window => seen["days"] = (measure as i64).into(),
        TestKind::Fuzzy => seen["alike"] = round(measure).into(),
    }
    seen["differs"] = (value::text(left) != value::text(right)).into();
    (near, seen)
}

fn round(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// Whether nearly all values of a column are numbers.
fn is_numeric(subset: &Subset, column: &str) -> bool {
    let Some(at) = subset.place(column) else { return false };
    let values = || subset.rows.iter().map(|row| &row[at]).filter(|cell| value::text(cell).is_some());
    let (all, numbers) = (values().count(), values().filter(|cell| value::number(cell).is_some()).count());
    all > 0 && numbers * 10 >= all * 9
}
