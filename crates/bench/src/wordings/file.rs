//! Parses the query files: YAML with the wordings of each question, its correct plan and defective ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use prospector_agent::plan::Plan;
use serde::Deserialize;
use serde_json::{Value, json};
use serde_saphyr::Spanned;

use super::defect::Defect;
use crate::error::BenchError;

/// The name of the file in the folder of a catalog.
const FILE: &str = "queries.yaml";

/// The content of the files, for messages.
const WHAT: &str = "queries";

/// The queries of one catalog.
#[derive(Debug)]
pub(super) struct QuerySet {
    /// The folder of the file.
    pub(super) folder: PathBuf,
    /// The catalog file, relative to the folder.
    pub(super) catalog: PathBuf,
    pub(super) queries: Vec<Query>,
}

/// A question with its plans.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) id: String,
    /// The correct plan, without a defect, and the defective ones.
    pub(super) plans: Vec<(Option<Defect>, Plan)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFields {
    catalog: PathBuf,
    queries: Vec<Spanned<Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryFields {
    id: String,
    /// By language.
    wordings: BTreeMap<String, Vec<String>>,
    right: Vec<Value>,
    spoiled: Vec<SpoiledFields>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpoiledFields {
    kind: Defect,
    structural: bool,
    plan: Vec<Value>,
}

/// The reason why an entry of the list is invalid.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("invalid query: {0}")]
    Shape(#[from] serde_json::Error),
    #[error("duplicate query `{0}`; use another `id`")]
    Twice(String),
    #[error("`{0}` has no wordings; add them under `wordings` by language")]
    NoWording(String),
    #[error("`{query}` has a plan without steps: {plan}")]
    NoSteps { query: String, plan: &'static str },
    #[error("`{query}`: the defect `{defect}` is {}; write `structural: {}`", describe(*defect), defect.is_structural())]
    Class { query: String, defect: Defect },
}

fn describe(defect: Defect) -> &'static str {
    if defect.is_structural() { "structural" } else { "semantic" }
}

/// Lists the folders of the catalogs by name: those requested, or all with a file of queries.
///
/// # Errors
/// If the folder cannot be read, or contains no catalog with queries.
pub(super) fn list_folders(data: &Path, only: &[String]) -> Result<Vec<PathBuf>, BenchError> {
    if !only.is_empty() {
        return Ok(only.iter().map(|name| data.join(name)).collect());
    }
    let failed = |source| BenchError::Read { what: WHAT, path: data.to_owned(), source };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(data).map_err(failed)? {
        let folder = entry.map_err(failed)?.path();
        if folder.join(FILE).is_file() {
            folders.push(folder);
        }
    }
    folders.sort();
    if folders.is_empty() {
        return Err(BenchError::Empty { what: WHAT, path: data.to_owned() });
    }
    Ok(folders)
}

/// Reads the queries of the catalog in a folder.
///
/// # Errors
/// If the file cannot be read, is not valid YAML, contains an invalid query, or is empty.
pub(super) fn read(folder: &Path) -> Result<QuerySet, BenchError> {
    let path = folder.join(FILE);
    let text =
        std::fs::read_to_string(&path).map_err(|source| BenchError::Read { what: WHAT, path: path.clone(), source })?;
    let fields: FileFields = serde_saphyr::from_str(&text).map_err(|error| BenchError::Cases {
        path: path.clone(),
        line: error.location().map_or(1, |location| location.line()),
        reason: error.without_snippet().to_string(),
    })?;
    let (mut queries, mut ids) = (Vec::new(), BTreeSet::new());
    for entry in fields.queries {
        let line = entry.referenced.line();
        let query = read_query(entry.value, &mut ids).map_err(|fault| BenchError::Cases {
            path: path.clone(),
            line,
            reason: fault.to_string(),
        })?;
        queries.push(query);
    }
    if queries.is_empty() {
        return Err(BenchError::Empty { what: WHAT, path });
    }
    Ok(QuerySet { folder: folder.to_owned(), catalog: fields.catalog, queries })
}

fn read_query(value: Value, ids: &mut BTreeSet<String>) -> Result<Query, Fault> {
    let QueryFields { id, wordings, right, spoiled } = serde_json::from_value(value)?;
    if !ids.insert(id.clone()) {
        return Err(Fault::Twice(id));
    }
    let Some(question) = wordings.values().flatten().next().cloned() else { return Err(Fault::NoWording(id)) };
    let mut plans = vec![(None, right)];
    for SpoiledFields { kind, structural, plan } in spoiled {
        if kind.is_structural() != structural {
            return Err(Fault::Class { query: id, defect: kind });
        }
        plans.push((Some(kind), plan));
    }
    let mut read = Vec::with_capacity(plans.len());
    for (defect, steps) in plans {
        if steps.is_empty() {
            return Err(Fault::NoSteps { query: id, plan: defect.map_or("right", Defect::as_str) });
        }
        read.push((defect, read_plan(&question, steps)?));
    }
    Ok(Query { id, plans: read })
}

/// Parses a plan from a list of steps, in which numbers and goals are optional.
fn read_plan(question: &str, steps: Vec<Value>) -> Result<Plan, serde_json::Error> {
    let complete = |(at, mut step): (usize, Value)| {
        if let Some(fields) = step.as_object_mut() {
            fields.entry("number").or_insert_with(|| json!(at + 1));
            fields.entry("goal").or_insert_with(|| json!(question));
        }
        step
    };
    let steps: Vec<Value> = steps.into_iter().enumerate().map(complete).collect();
    serde_json::from_value(json!({"question": question, "plan": {"steps": steps}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "- id: a
  wordings: {en: [Number of orders, orders], de: [Bestellungen]}
  right:
  - sql: SELECT 1
  - sql: SELECT 2
  spoiled:
  - {kind: fan_out, structural: true, plan: [{sql: SELECT 3}]}
";

    fn read_text(queries: &str) -> Result<QuerySet, BenchError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), format!("catalog: catalog.yaml\nqueries:\n{queries}")).unwrap();
        read(folder.path())
    }

    #[test]
    fn numbers_steps() {
        let set = read_text(QUERY).unwrap();
        let query = &set.queries[0];
        assert_eq!(query.id, "a");
        let defects: Vec<Option<Defect>> = query.plans.iter().map(|(defect, _)| *defect).collect();
        assert_eq!(defects, [None, Some(Defect::FanOut)]);
        let steps = &query.plans[0].1.plan.steps;
        let numbers: Vec<u32> = steps.iter().map(|step| step.number).collect();
        assert_eq!(numbers, [1, 2]);
        assert!(steps.iter().all(|step| !step.goal.is_empty()));
    }

    #[test]
    fn rejects_queries_that_would_be_counted_wrongly() {
        let check = |queries: &str, expected: &str| {
            let error = read_text(queries).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&format!("{QUERY}{QUERY}"), "duplicate query `a`");
        check(&QUERY.replace("structural: true", "structural: false"), "is structural; write `structural: true`");
        check(&QUERY.replace("fan_out", "fanout"), "unknown variant `fanout`");
        check(&QUERY.replace("[{sql: SELECT 3}]", "[]"), "without steps: fan_out");
        check(&QUERY.replace("{en: [Number of orders, orders], de: [Bestellungen]}", "{}"), "no wording");
        check(&QUERY.replace("right:", "rights:"), "unknown field `rights`");
        check("  []\n", "no queries");
    }

    #[test]
    fn lists_folders_with_queries() {
        let data = tempfile::tempdir().unwrap();
        let list = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            list_folders(data.path(), &only)
        };
        assert!(list(&[]).unwrap_err().to_string().contains("no queries"));
        for name in ["b", "a", "empty"] {
            std::fs::create_dir(data.path().join(name)).unwrap();
        }
        for name in ["b", "a"] {
            std::fs::write(data.path().join(name).join(FILE), "").unwrap();
        }
        assert_eq!(list(&[]).unwrap(), [data.path().join("a"), data.path().join("b")]);
        assert_eq!(list(&["b"]).unwrap(), [data.path().join("b")]);
    }
}
