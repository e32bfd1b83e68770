//! A catalog in a folder of its own, and runs of steps over it.

use std::{fs, sync::Arc};

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_executor::{Executor, Run, RunOptions, read_plan};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Opens the `catalog.yaml` among these files, by their names; no problem may speak of `subject`.
pub(crate) async fn open(folder: &TempDir, files: &[(&str, &str)], subject: &str) -> Executor {
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (catalog, problems) =
        Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.unwrap();
    assert!(problems.iter().all(|problem| !problem.to_string().contains(subject)), "{problems:?}");
    Executor::new(Arc::new(catalog))
}

/// Runs steps, which are numbered here and have this goal.
pub(crate) async fn run(executor: &Executor, goal: &str, mut steps: Vec<Value>) -> Run {
    for (at, step) in steps.iter_mut().enumerate() {
        step["number"] = json!(at + 1);
        step["goal"] = json!(goal);
    }
    let plan = json!({"question": "", "plan": {"steps": steps}});
    executor.run(read_plan(&plan.to_string()).unwrap(), RunOptions::default()).await
}
