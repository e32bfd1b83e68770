//! The tools of the workflow, and the state that they share.

mod consent;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prospector_core::mark::truncate;
use prospector_core::tool::{Effect, Tool, ToolError, Toolset};
use prospector_engine::Engine;
use prospector_workflow::UserWords;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use consent::{ApproveRun, ConfirmPairs};

use super::{
    infer::{agreements, suggest},
    propose::{Pair, propose},
    recipe::{Recipe, Rule, Side, margin},
    report_files,
    run::{Outcome, run},
    subset::Subset,
    value::{self, first},
};

/// Default and limit of the number of proposed pairs.
const DEFAULT_PROPOSED: usize = 12;
const MAX_PROPOSED: usize = 40;

/// Number of results shown per kind; the files contain all.
const MAX_SHOWN: usize = 8;

/// Limits on the length of a shown value, and on the columns of a shown row.
const MAX_VALUE_CHARS: usize = 80;
const MAX_COLUMNS: usize = 16;

/// Default and limit of the sample size, in rows.
const DEFAULT_SAMPLE: usize = 200;
const MAX_SAMPLE: usize = 5_000;

/// Minimum number of confirmed pairs to infer rules.
const MIN_CONFIRMED: usize = 3;

/// Default minimum precision.
const DEFAULT_MIN_PRECISION: f64 = 0.95;
const DEFAULT_MIN_RECALL: f64 = 0.8;

pub(super) fn tools(engine: Arc<Engine>, folder: PathBuf, words: UserWords) -> Toolset {
    let state = Arc::new(ReconcileState { engine, folder, words, known: Mutex::default() });
    Toolset::new()
        .with(ProposeMatch(state.clone()))
        .with(ConfirmPairs(state.clone()))
        .with(InferRules(state.clone()))
        .with(BuildRecipe(state.clone()))
        .with(ValidateRecipe(state.clone()))
        .with(RunSample(state.clone()))
        .with(ApproveRun(state.clone()))
        .with(RunFull(state))
}

/// State shared by the tools.
struct ReconcileState {
    engine: Arc<Engine>,
    folder: PathBuf,
    words: UserWords,
    known: Mutex<Findings>,
}

#[derive(Default, Clone)]
struct Findings {
    left: String,
    right: String,
    /// Both subsets as read when pairs were proposed. Pairs refer to rows by index, and another read may return a different order.
    subsets: Option<Arc<(Subset, Subset)>>,
    /// The proposed pairs, by id.
    proposed: BTreeMap<String, Pair>,
    /// Number of the user's messages at that time: earlier ones do not refer to these pairs.
    proposed_after: usize,
    /// The user's choices.
    confirmed: Vec<Pair>,
    rejected: Vec<Pair>,
    suggested: Option<Recipe>,
    recipe: Option<Recipe>,
    /// Number of the user's messages when the recipe was validated; `None` before.
    validated_after: Option<usize>,
    /// Whether the user approved this recipe for all rows.
    is_approved: bool,
}

impl Findings {
    /// Drops findings about a previous recipe.
    fn forget_recipe(&mut self) {
        (self.recipe, self.validated_after, self.is_approved) = (None, None, false);
    }
}

impl ReconcileState {
    fn findings(&self) -> MutexGuard<'_, Findings> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn both(&self, left: &str, right: &str) -> Result<(Subset, Subset), ToolError> {
        let (left, right) = (Subset::read(&self.engine, left).await?, Subset::read(&self.engine, right).await?);
        if left.alias == right.alias {
            return Err(first(
                "a subset cannot be matched with itself",
                "load the other source with a different alias",
            ));
        }
        Ok((left, right))
    }

    /// Returns the findings, and both subsets as they were when pairs were proposed.
    fn find_proposals(&self) -> Result<(Findings, Arc<(Subset, Subset)>), ToolError> {
        let known = self.findings().clone();
        let subsets = known.subsets.clone().filter(|_| !known.proposed.is_empty());
        let subsets = subsets.ok_or_else(|| first("no pairs are proposed", "call propose_match first"))?;
        Ok((known, subsets))
    }

    fn recipe(&self) -> Result<Recipe, ToolError> {
        self.findings().recipe.clone().ok_or_else(|| first("there is no recipe yet", "call build_recipe first"))
    }
}

/// The arguments of a tool without arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

struct ProposeMatch(Arc<ReconcileState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProposeArgs {
    /// Alias of the left subset.
    left: String,
    /// Alias of the right subset.
    right: String,
    /// Maximum number of pairs; default 12.
    #[serde(default)]
    limit: Option<usize>,
}

impl Tool for ProposeMatch {
    const NAME: &'static str = "propose_match";
    const DESCRIPTION: &'static str =
        "Proposes similar pairs of rows of two loaded subsets as examples, for the user to confirm or reject.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = ProposeArgs;
    type Output = Value;

    async fn call(&self, args: ProposeArgs) -> Result<Value, ToolError> {
        let (left, right) = self.0.both(&args.left, &args.right).await?;
        let limit = args.limit.unwrap_or(DEFAULT_PROPOSED).clamp(1, MAX_PROPOSED);
        let (pairs, left, right) = run_blocking(move || (propose(&left, &right, limit), left, right)).await?;
        let mut known = self.0.findings();
        *known = Findings {
            left: left.alias.clone(),
            right: right.alias.clone(),
            proposed_after: self.0.words.count(),
            ..Findings::default()
        };
        let mut shown = Vec::new();
        for (at, pair) in pairs.iter().enumerate() {
            let id = format!("p{}", at + 1);
            shown.push(json!({
                "id": id,
                "similarity": (pair.similarity * 100.0).round() / 100.0,
                "left": record(&left, pair.left),
                "right": record(&right, pair.right),
            }));
            known.proposed.insert(id, *pair);
        }
        let rows = [left.rows.len(), right.rows.len()];
        let answer = json!({"left": left.alias, "right": right.alias, "rows": rows, "pairs": shown});
        known.subsets = Some(Arc::new((left, right)));
        Ok(answer)
    }
}

struct InferRules(Arc<ReconcileState>);

impl Tool for InferRules {
    const NAME: &'static str = "infer_rules";
    const DESCRIPTION: &'static str = "Finds which columns agree in the pairs that the user confirmed (exactly, within a tolerance, within days, by similar text, one text containing the other) and suggests rules.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = NoArgs;
    type Output = Value;

    async fn call(&self, NoArgs {}: NoArgs) -> Result<Value, ToolError> {
        let (known, subsets) = self.0.find_proposals()?;
        if known.confirmed.len() < MIN_CONFIRMED {
            let message = format!("{} pairs are confirmed; at least {MIN_CONFIRMED} are needed", known.confirmed.len());
            return Err(first(&message, "ask the user to choose by `yes` or `no` and ids, then call confirm_pairs"));
        }
        let places: Vec<(usize, usize)> = known.confirmed.iter().map(|pair| (pair.left, pair.right)).collect();
        let (agreeing, recipe) = run_blocking(move || {
            let (left, right) = &*subsets;
            let agreeing = agreements(left, right, &places);
            let recipe = suggest(left, right, &agreeing);
            (agreeing, recipe)
        })
        .await?;
        let mut known = self.0.findings();
        known.suggested = recipe.clone();
        known.forget_recipe();
        let found = agreeing.len();
        Ok(json!({"found": found, "agreeing": agreeing, "suggested": recipe}))
    }
}

struct BuildRecipe(Arc<ReconcileState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BuildArgs {
    /// The rules, most reliable first; default: those suggested by infer_rules.
    #[serde(default)]
    rules: Vec<Rule>,
    /// The column that identifies the rows of the left subset; default: as suggested.
    #[serde(default)]
    left_key: Option<String>,
    /// The column that identifies the rows of the right subset; default: as suggested.
    #[serde(default)]
    right_key: Option<String>,
    /// Whether a row is matched at most once; default true.
    #[serde(default)]
    one_to_one: Option<bool>,
    /// Candidates whose scores (0 to 1) differ by less than this are ambiguous; default 0.04.
    #[serde(default)]
    margin: Option<f64>,
}

impl Tool for BuildRecipe {
    const NAME: &'static str = "build_recipe";
    const DESCRIPTION: &'static str =
        "Builds a recipe from rules and validates it. Without rules, the suggested ones are used.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = BuildArgs;
    type Output = Value;

    async fn call(&self, args: BuildArgs) -> Result<Value, ToolError> {
        let known = self.0.findings().clone();
        if known.left.is_empty() {
            return Err(first("no pairs are proposed", "call propose_match first"));
        }
        let (left, right) = self.0.both(&known.left, &known.right).await?;
        let suggested = known.suggested.as_ref();
        let key = |given: Option<String>, suggested: Option<&Side>, subset: &Subset| {
            let own = || subset.unique_columns().first().map(|column| (*column).to_owned());
            given.or_else(|| suggested.map(|side| side.key.clone())).or_else(own).unwrap_or_default()
        };
        let rules = match args.rules.is_empty() {
            false => args.rules,
            true => suggested.map(|recipe| recipe.rules.clone()).unwrap_or_default(),
        };
        let recipe = Recipe {
            left: Side { key: key(args.left_key, suggested.map(|recipe| &recipe.left), &left), alias: known.left },
            right: Side { key: key(args.right_key, suggested.map(|recipe| &recipe.right), &right), alias: known.right },
            rules,
            one_to_one: args.one_to_one.unwrap_or(true),
            margin: args.margin.unwrap_or_else(margin),
        };
        let recipe = recipe.check(&left, &right)?;
        let mut findings = self.0.findings();
        findings.forget_recipe();
        findings.recipe = Some(recipe.clone());
        drop(findings);
        Ok(json!({"recipe": recipe}))
    }
}

struct ValidateRecipe(Arc<ReconcileState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateArgs {
    /// Minimum precision on the confirmed and rejected pairs, 0 to 1; default 0.95.
    #[serde(default)]
    min_precision: Option<f64>,
    /// Minimum recall on the confirmed pairs, 0 to 1; default 0.8.
    #[serde(default)]
    min_recall: Option<f64>,
}

impl Tool for ValidateRecipe {
    const NAME: &'static str = "validate_recipe";
    const DESCRIPTION: &'static str = "Runs the recipe and returns its precision and recall on the pairs that the user confirmed and rejected, and the number of ambiguous rows.";
    const EFFECT: Effect = Effect::Reads;
    type Args = ValidateArgs;
    type Output = Value;

    async fn call(&self, args: ValidateArgs) -> Result<Value, ToolError> {
        let recipe = self.0.recipe()?;
        let (known, subsets) = self.0.find_proposals()?;
        if known.confirmed.is_empty() {
            return Err(first(
                "no pair is confirmed",
                "ask the user to choose by `yes` or `no` and ids, then call confirm_pairs",
            ));
        }
        let outcome = run(&self.0.engine, &recipe, None).await?;
        let key = |subset: &Subset, side: &Side, row: usize| {
            subset.place(&side.key).and_then(|at| value::text(subset.rows.get(row)?.get(at)?)).unwrap_or_default()
        };
        let keys = |pair: &Pair| (key(&subsets.0, &recipe.left, pair.left), key(&subsets.1, &recipe.right, pair.right));
        let partner: BTreeMap<&str, &str> =
            outcome.matched.iter().map(|matched| (matched.left.as_str(), matched.right.as_str())).collect();
        let (mut found, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
        for (left, right) in known.confirmed.iter().map(keys) {
            match partner.get(left.as_str()) {
                Some(other) if *other == right => found += 1,
                Some(other) => wrong.push(json!({"left": left, "right": other, "confirmed": right})),
                None => missed.push(json!({"left": left, "right": right})),
            }
        }
        for (left, right) in known.rejected.iter().map(keys) {
            if partner.get(left.as_str()) == Some(&right.as_str()) {
                wrong.push(json!({"left": left, "right": right, "rejected": true}));
            }
        }
        let share = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let precision = share(found, found + wrong.len());
        let recall = share(found, known.confirmed.len());
        let passed = precision >= args.min_precision.unwrap_or(DEFAULT_MIN_PRECISION)
            && recall >= args.min_recall.unwrap_or(DEFAULT_MIN_RECALL);
        self.0.findings().validated_after = passed.then(|| self.0.words.count());
        Ok(json!({
            "passed": passed,
            "precision": (precision * 1_000.0).round() / 1_000.0,
            "recall": (recall * 1_000.0).round() / 1_000.0,
            "confirmed": known.confirmed.len(),
            "rejected": known.rejected.len(),
            "wrong": wrong,
            "missed": missed,
            "counts": count_rows(&outcome),
            "rules": outcome.rules,
        }))
    }
}

struct RunSample(Arc<ReconcileState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SampleArgs {
    /// Number of rows of the left subset, in key order; default 200.
    #[serde(default)]
    rows: Option<usize>,
}

impl Tool for RunSample {
    const NAME: &'static str = "run_sample";
    const DESCRIPTION: &'static str =
        "Runs the recipe for some rows of the left subset and returns pairs with their evidence. Writes nothing.";
    const EFFECT: Effect = Effect::Reads;
    type Args = SampleArgs;
    type Output = Value;

    async fn call(&self, args: SampleArgs) -> Result<Value, ToolError> {
        let recipe = self.0.recipe()?;
        let rows = args.rows.unwrap_or(DEFAULT_SAMPLE).clamp(1, MAX_SAMPLE);
        let outcome = run(&self.0.engine, &recipe, Some(rows)).await?;
        let mut shown = summarize(&outcome, &recipe);
        // Rows that match other rows of the left subset are not unmatched.
        shown.shift_remove("unmatched_right");
        Ok(Value::Object(shown))
    }
}

struct RunFull(Arc<ReconcileState>);

impl Tool for RunFull {
    const NAME: &'static str = "run_full";
    const DESCRIPTION: &'static str = "Runs the recipe over all rows, writes the results to files, and returns counts and examples of each kind with evidence.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = NoArgs;
    type Output = Value;

    async fn call(&self, NoArgs {}: NoArgs) -> Result<Value, ToolError> {
        let recipe = self.0.recipe()?;
        if !self.0.findings().is_approved {
            return Err(first("the user has not approved the run", "validate the recipe, ask, and call approve_run"));
        }
        let outcome = run(&self.0.engine, &recipe, None).await?;
        let folder = self.0.folder.clone();
        let (written, outcome, recipe) = run_blocking(move || {
            let written = report_files::write(&folder, &recipe, &outcome);
            (written, outcome, recipe)
        })
        .await?;
        let folder = written.map_err(|error| {
            let advice = "the user can set another state folder";
            ToolError::unavailable(format!("the results cannot be written: {error}"), Some(advice.into()))
        })?;
        let mut shown = summarize(&outcome, &recipe);
        shown.insert("folder".into(), folder.display().to_string().into());
        let files = ["matched", "unmatched_left", "unmatched_right", "ambiguous"].map(|name| format!("{name}.jsonl"));
        shown.insert("files".into(), files.to_vec().into());
        Ok(Value::Object(shown))
    }
}

fn count_rows(outcome: &Outcome) -> Value {
    json!({
        "left": outcome.left.rows.len(),
        "right": outcome.right.rows.len(),
        "matched": outcome.matched.len(),
        "unmatched_left": outcome.unmatched_left.len(),
        "unmatched_right": outcome.unmatched_right.len(),
        "ambiguous": outcome.ambiguous.len(),
    })
}

/// Summarises counts, with the first results of each kind.
fn summarize(outcome: &Outcome, recipe: &Recipe) -> Map<String, Value> {
    let rows = |subset: &Subset, side: &Side, rows: &[usize]| -> Value {
        let key = subset.place(&side.key);
        let row = |row: &usize| {
            let key = key.and_then(|at| value::text(&subset.rows[*row][at]));
            json!({"key": key, "row": record(subset, *row)})
        };
        rows.iter().take(MAX_SHOWN).map(row).collect()
    };
    // Pairs with different values are the most informative.
    let differs = |at: &usize| outcome.matched[*at].evidence.iter().any(|seen| seen["differs"] == true);
    let mut places: Vec<usize> = (0..outcome.matched.len()).collect();
    places.sort_by_key(|at| !differs(at));
    let matched: Vec<Value> = places.iter().take(MAX_SHOWN).map(|at| json!(outcome.matched[*at])).collect();
    let ambiguous: Vec<Value> = outcome.ambiguous.iter().take(MAX_SHOWN).map(|one| json!(one)).collect();
    let mut shown = Map::new();
    shown.insert("counts".into(), count_rows(outcome));
    shown.insert("rules".into(), json!(outcome.rules));
    shown.insert("matched".into(), matched.into());
    shown.insert("unmatched_left".into(), rows(&outcome.left, &recipe.left, &outcome.unmatched_left));
    shown.insert("unmatched_right".into(), rows(&outcome.right, &recipe.right, &outcome.unmatched_right));
    shown.insert("ambiguous".into(), ambiguous.into());
    shown
}

/// Returns a row in display form.
fn record(subset: &Subset, row: usize) -> Value {
    let cut = |value: Value| match value {
        Value::String(text) => Value::String(truncate(text, MAX_VALUE_CHARS)),
        other => other,
    };
    subset.record(row).into_iter().take(MAX_COLUMNS).map(|(name, value)| (name, cut(value))).collect()
}

/// Runs blocking work on another thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(ToolError::fatal)
}
