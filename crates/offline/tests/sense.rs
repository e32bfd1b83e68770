//! Plans are checked for sense: over the sample estate and a small catalog of another domain, good plans are not complained of,
//! and plans that were spoiled on purpose are. `sense/questions.json` holds what each question needs, `sense/plans.json` a good
//! plan for each, `sense/clinic.json` the same for the other catalog.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use prospector_agent::{
    Planner,
    plan::{Draft, Plan, PlanFact, Step, sense::Sense, verify},
};
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::DatePart,
};
use prospector_discovery::{Catalog, CatalogOptions};
use prospector_offline::Offline;
use prospector_search::{StaticTable, embed::Embedder};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a question needs.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Need {
    id: String,
    question: String,
    /// The same in other words.
    also: String,
    answerable: Option<bool>,
    tables: Vec<String>,
    any_of: Vec<String>,
    operations: Vec<String>,
    documents: Vec<String>,
    skills: Vec<String>,
    /// Names, or what names begin with, that make a plan silly.
    not: Vec<String>,
    writes: bool,
}

/// A good plan, with the steps as a model writes them.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Written {
    id: String,
    /// Where it is not the plan of a [`Need`].
    question: String,
    facts: Vec<(String, String, String)>,
    steps: Vec<Value>,
    clarifications: Vec<String>,
}

fn read<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sense").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn draft(written: &Written) -> Draft {
    let steps: Vec<Step> = (written.steps.iter().enumerate())
        .map(|(at, step)| {
            let mut step: Step =
                serde_json::from_value(step.clone()).unwrap_or_else(|error| panic!("{}: {error}", written.id));
            step.number = at as u32 + 1;
            step.outputs = vec![format!("step_{}_results", at + 1)];
            step
        })
        .collect();
    let mut draft = Draft { clarifications: written.clarifications.clone(), ..Draft::default() };
    draft.plan.steps = steps;
    draft.discovered_context.facts = (written.facts.iter())
        .map(|(term, definition, source)| PlanFact {
            term: term.clone(),
            definition: definition.clone(),
            source: source.clone(),
            confidence: 0.9,
        })
        .collect();
    draft
}

/// A catalog, and the folder that it lives in.
struct Estate {
    catalog: Arc<Catalog>,
    _folder: TempDir,
}

impl Estate {
    async fn open(file: &Path, folder: TempDir) -> Estate {
        let state = Some(folder.path().join("state"));
        let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::shipped().unwrap());
        let options = CatalogOptions { state, embedder: Some(embedder), ..CatalogOptions::default() };
        let (catalog, _) = Catalog::open(file, options).await.unwrap();
        let ids: Vec<String> = (catalog.schema.databases())
            .flat_map(|database| database.tables.iter().map(|table| format!("{}.{}", database.name, table.name)))
            .collect();
        catalog.schema.read_values(&ids).await;
        Estate { catalog: Arc::new(catalog), _folder: folder }
    }

    async fn sample() -> Estate {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
        Estate::open(&file, TempDir::new().unwrap()).await
    }

    /// A clinic: patients, doctors, visits and bills, an archive with a table of the same name, and an API that books.
    async fn clinic() -> Estate {
        let folder = TempDir::new().unwrap();
        let files: BTreeMap<String, String> = {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sense/clinic_files.json");
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
        };
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let file = folder.path().join("catalog.yaml");
        Estate::open(&file, folder).await
    }

    fn judge(&self, question: &str, draft: &Draft) -> Sense {
        let verified = verify(question, draft, self.catalog.as_ref(), None);
        assert!(verified.failed.is_empty(), "{question}: {:#?}", verified.failed);
        verified.sense
    }
}

/// A good plan with its question.
struct Good {
    id: String,
    question: String,
    draft: Draft,
}

/// The plans of a catalog: as they stand, for the question in other words, with what they compute said in the goals alone,
/// and with independent steps in another order.
fn good_plans(needs: &[Need], plans: &[Written]) -> Vec<Good> {
    let mut all = Vec::new();
    for written in plans {
        let need = needs.iter().find(|need| need.id == written.id);
        let question = need.map_or(written.question.clone(), |need| need.question.clone());
        let draft = draft(written);
        let good = |suffix: &str, question: &str, draft: &Draft| Good {
            id: format!("{}{suffix}", written.id),
            question: question.to_owned(),
            draft: draft.clone(),
        };
        all.push(good("", &question, &draft));
        if let Some(need) = need.filter(|need| !need.also.is_empty()) {
            all.push(good(" (in other words)", &need.also, &draft));
        }
        if draft.plan.steps.iter().any(|step| !step.filter.is_empty()) {
            all.push(good(" (without fields)", &question, &say_in_goals(&draft)));
        }
        if let Some(turned) = turn_round(&draft) {
            all.push(good(" (in another order)", &question, &turned));
        }
    }
    all
}

/// The same plan as a model writes it that knows no fields: all of it stands in the goals.
fn say_in_goals(draft: &Draft) -> Draft {
    let mut draft = draft.clone();
    for step in &mut draft.plan.steps {
        let mut said = vec![step.goal.clone()];
        for condition in std::mem::take(&mut step.filter) {
            for filter in condition.singles() {
                said.push(format!("where {} {:?} {}", filter.column, filter.op, filter.value));
                step.columns.push(filter.column.clone());
            }
        }
        for measure in std::mem::take(&mut step.compute) {
            let aggregation = measure.aggregation.map_or("", |known| known.as_str());
            let column = measure.column.clone().or(measure.expression).unwrap_or_default();
            said.push(format!("{aggregation} {column} as {}", measure.name.unwrap_or_default()));
            step.columns.extend(measure.column);
        }
        for group in std::mem::take(&mut step.group_by) {
            said.push(format!("by {} {}", group.part.map_or("", DatePart::as_str), group.column));
            step.columns.push(group.column);
        }
        if let Some(limit) = step.limit.take() {
            said.push(format!("the first {limit}"));
        }
        step.order.clear();
        step.columns.retain(|name| name.contains('.'));
        step.goal = said.join(", ");
    }
    draft
}

/// The first two steps the other way round, where neither needs the other.
fn turn_round(draft: &Draft) -> Option<Draft> {
    let mut draft = draft.clone();
    let steps = &mut draft.plan.steps;
    if steps.len() < 2 || !steps[0].inputs.is_empty() || !steps[1].inputs.is_empty() {
        return None;
    }
    steps.swap(0, 1);
    for (at, step) in steps.iter_mut().take(2).enumerate() {
        step.number = at as u32 + 1;
    }
    Some(draft)
}

/// A plan that was good, and what was done to it.
struct Spoiled {
    id: String,
    question: String,
    how: &'static str,
    draft: Draft,
}

/// Plans that were spoiled on purpose, in turn in each of the ways that fit.
fn spoil(estate: &Estate, goods: &[Good]) -> Vec<Spoiled> {
    let mut all = Vec::new();
    for good in goods.iter().filter(|good| !good.draft.plan.steps.is_empty() && !good.id.contains('(')) {
        let mut add = |how: &'static str, draft: Option<Draft>| {
            if let Some(draft) =
                draft.filter(|draft| verify(&good.question, draft, estate.catalog.as_ref(), None).failed.is_empty())
            {
                all.push(Spoiled { id: good.id.clone(), question: good.question.clone(), how, draft });
            }
        };
        add("another table", replace_table(estate, &good.draft));
        add("a condition is missing", drop_filter(&good.draft));
        add("another period", shift_period(&good.draft));
        add("a write", add_operation(estate, &good.draft, true));
        add("an unrelated API", add_operation(estate, &good.draft, false));
        add("an unused definition", add_definition(&good.draft));
    }
    all
}

/// One table gives way to another that shares a word with it, or that it joins to; its columns to columns of the same types.
fn replace_table(estate: &Estate, draft: &Draft) -> Option<Draft> {
    let from = draft.plan.steps.iter().flat_map(|step| &step.tables).next()?.clone();
    let (database, name) = from.split_once('.')?;
    let table = estate.catalog.schema.table(database, name)?;
    let used: Vec<String> = draft.plan.steps.iter().flat_map(|step| step.tables.clone()).collect();
    let twin = estate.catalog.schema.databases().filter(|other| other.name != database).find_map(|other| {
        let found = other.tables.iter().find(|candidate| candidate.name == name)?;
        Some((other.name.clone(), found))
    });
    let neighbour = || {
        let own = estate.catalog.schema.database(database)?;
        let near = own.tables.iter().find(|candidate| {
            let refers =
                |a: &str, keys: &[prospector_connect::table::ForeignKey]| keys.iter().any(|key| key.table == a);
            let joins = refers(name, &candidate.foreign_keys) || refers(&candidate.name, &table.foreign_keys);
            candidate.name != name && joins && !used.contains(&format!("{database}.{}", candidate.name))
        });
        near.map(|found| (own.name.clone(), found))
    };
    let anything = || {
        let own = estate.catalog.schema.databases().find(|other| other.name != database && other.tables.len() < 9)?;
        own.tables.first().map(|found| (own.name.clone(), found))
    };
    let (other, target) = twin.or_else(neighbour).or_else(anything)?;
    let to = format!("{other}.{}", target.name);
    let rename = |column: &str| -> String {
        let Some(bare) = column.strip_prefix(&format!("{from}.")) else { return column.to_owned() };
        let wanted = table.column(bare).map(|column| column.column_type);
        let same =
            target.column(bare).or_else(|| target.columns.iter().find(|column| Some(column.column_type) == wanted));
        format!("{to}.{}", same.or(target.columns.first()).map_or("", |column| column.name.as_str()))
    };
    let mut draft = draft.clone();
    for step in &mut draft.plan.steps {
        step.tables.iter_mut().filter(|id| **id == from).for_each(|id| id.clone_from(&to));
        step.columns.iter_mut().for_each(|name| *name = rename(name));
        step.compute.iter_mut().filter_map(|measure| measure.column.as_mut()).for_each(|name| *name = rename(name));
        for condition in &mut step.filter {
            condition.change_singles(&mut |filter| filter.column = rename(&filter.column));
        }
        step.group_by.iter_mut().for_each(|group| group.column = rename(&group.column));
    }
    Some(draft)
}

/// All conditions on one column are gone; its dates stay.
fn drop_filter(draft: &Draft) -> Option<Draft> {
    let column =
        draft.plan.steps.iter().flat_map(Step::conditions).find(|filter| !is_date(filter) && is_plain(filter))?;
    let (column, value) = (column.column.clone(), column.value.clone());
    let mut draft = draft.clone();
    for step in &mut draft.plan.steps {
        step.filter.retain(|one| !one.singles().any(|filter| filter.column == column && filter.value == value));
    }
    Some(draft)
}

fn is_date(filter: &FilterCondition) -> bool {
    filter.value.as_str().is_some_and(|text| text.len() == 10 && text.as_bytes()[4] == b'-')
}

/// One that the question or a definition asks for: equal to a value, or a number.
fn is_plain(filter: &FilterCondition) -> bool {
    let of_output = filter.value.as_str().is_some_and(|text| text.contains("step_"));
    matches!(filter.op, FilterOp::Eq | FilterOp::In | FilterOp::Lt | FilterOp::Gt) && !of_output
}

/// Every date is three years earlier, where the question names a period.
fn shift_period(draft: &Draft) -> Option<Draft> {
    let mut draft = draft.clone();
    let mut found = false;
    for condition in draft.plan.steps.iter_mut().flat_map(|step| &mut step.filter) {
        condition.change_singles(&mut |filter| {
            if is_date(filter)
                && let Some(text) = filter.value.as_str()
                && let Ok(year) = text[..4].parse::<i32>()
            {
                filter.value = json!(format!("{}{}", year - 3, &text[4..]));
                found = true;
            }
        });
    }
    found.then_some(draft)
}

/// A step more, with an operation that writes, or that reads something else.
fn add_operation(estate: &Estate, draft: &Draft, writes: bool) -> Option<Draft> {
    if draft.plan.steps.iter().any(|step| !step.operations.is_empty()) {
        return None;
    }
    let apis = estate.catalog.apis.apis();
    let fits = |method: &str| if writes { method == "POST" } else { method == "GET" };
    let all: Vec<String> = (apis.iter())
        .flat_map(|api| api.operations.iter().filter(|one| fits(&one.method)).map(|one| api.id_of(one)))
        .collect();
    // Another one for each plan, by its length.
    let goals: usize = draft.plan.steps.iter().map(|step| step.goal.len()).sum();
    let mut draft = draft.clone();
    let number = draft.plan.steps.len() as u32 + 1;
    let operation = all.get(goals % all.len().max(1))?.clone();
    draft.plan.steps.push(Step {
        number,
        goal: format!("Call {operation}"),
        operations: vec![operation],
        ..Step::default()
    });
    Some(draft)
}

fn add_definition(draft: &Draft) -> Option<Draft> {
    let mut draft = draft.clone();
    draft.discovered_context.facts.push(PlanFact {
        term: "holiday season".into(),
        definition: "The holiday season runs from 15 November to 31 December.".into(),
        source: "business_rules#Promotions".into(),
        confidence: 0.9,
    });
    Some(draft)
}

async fn corpora() -> Vec<(Estate, Vec<Good>)> {
    let (needs, plans) = (read::<Need>("questions.json"), read::<Written>("plans.json"));
    assert_eq!((needs.len(), plans.len()), (40, 40));
    let clinic = read::<Written>("clinic.json");
    vec![(Estate::sample().await, good_plans(&needs, &plans)), (Estate::clinic().await, good_plans(&[], &clinic))]
}

#[tokio::test]
async fn good_plans_are_not_complained_of() {
    let (mut count, mut complaints) = (0, Vec::new());
    for (estate, goods) in corpora().await {
        for good in goods {
            count += 1;
            let sense = estate.judge(&good.question, &good.draft);
            if !sense.ok {
                complaints.push(format!("{} | {}: {:#?}", good.id, good.question, sense.findings));
            }
        }
    }
    println!("{} of {count} good plans are complained of\n{}", complaints.len(), complaints.join("\n"));
    assert!(count >= 100, "only {count} good plans");
    assert!(complaints.len() * 100 <= count * 3, "{} of {count}\n{}", complaints.len(), complaints.join("\n"));
}

#[tokio::test]
async fn spoiled_plans_are_caught() {
    let (mut tally, mut missed) = (BTreeMap::<&str, (usize, usize)>::new(), Vec::new());
    for (estate, goods) in corpora().await {
        for spoiled in spoil(&estate, &goods) {
            // What was complained of before it was spoiled is not caught by what was done to it.
            let before = goods.iter().find(|good| good.id == spoiled.id).unwrap();
            if !estate.judge(&before.question, &before.draft).ok {
                continue;
            }
            let sense = estate.judge(&spoiled.question, &spoiled.draft);
            let (caught, count) = tally.entry(spoiled.how).or_default();
            *count += 1;
            if sense.ok {
                missed.push(format!("{}: {}", spoiled.how, spoiled.id));
            } else {
                *caught += 1;
            }
        }
    }
    let (caught, count) = tally.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{caught} of {count} spoiled plans are caught: {tally:?}\nnot these: {missed:#?}");
    assert!(count >= 50, "only {count} spoiled plans");
    assert!(caught * 100 >= count * 90, "{caught} of {count}; not these: {missed:#?}");
}

/// What a plan lacks, or has too much.
fn find_faults(need: &Need, plan: &Plan) -> Vec<String> {
    let steps = &plan.plan.steps;
    let used: Vec<&String> = steps
        .iter()
        .flat_map(|step| [&step.tables, &step.operations, &step.documents, &step.skills])
        .flatten()
        .collect();
    if need.answerable == Some(false) {
        return used.into_iter().map(|name| format!("not declined: {name}")).collect();
    }
    let has = |name: &String| used.contains(&name);
    let needed = [&need.tables, &need.operations, &need.documents, &need.skills].into_iter().flatten();
    let mut faults: Vec<String> = needed.filter(|name| !has(name)).map(|name| format!("{name} is missing")).collect();
    if !need.any_of.is_empty() && !need.any_of.iter().any(has) {
        faults.push(format!("none of {:?}", need.any_of));
    }
    let is_silly = |name: &&&String| need.not.iter().any(|not| **name == not || name.starts_with(&format!("{not}.")));
    faults.extend(used.iter().filter(is_silly).map(|name| format!("{name} is silly")));
    if !need.writes && steps.iter().any(|step| step.writes) {
        faults.push("it writes".to_owned());
    }
    faults
}

#[tokio::test]
async fn the_stand_in_plans_what_is_needed_or_says_that_it_is_not() {
    let estate = Estate::sample().await;
    let planner = Planner::new(estate.catalog.clone(), Arc::new(Offline));
    let (mut complete, mut unsaid, mut report) = (0, 0, Vec::new());
    for need in read::<Need>("questions.json") {
        let plan = planner.plan(need.question.as_str()).await.plan;
        let faults = find_faults(&need, &plan);
        let sense = &plan.verification.sense;
        complete += usize::from(faults.is_empty());
        unsaid += usize::from(!faults.is_empty() && sense.ok);
        if !faults.is_empty() {
            let used: Vec<&String> = (plan.plan.steps.iter())
                .flat_map(|step| [&step.tables, &step.operations, &step.documents, &step.skills].into_iter().flatten())
                .collect();
            report.push(format!("{}: {faults:?}; sense {}; it uses {used:?}", need.id, sense.ok));
        }
    }
    println!(
        "{complete} of 40 plans are complete; {unsaid} of the others are not complained of\n{}",
        report.join("\n")
    );
    // What is reached: counts may only be tightened.
    assert!(complete >= 34, "{complete} of 40\n{}", report.join("\n"));
    assert!(unsaid == 0, "{unsaid}\n{}", report.join("\n"));
}
