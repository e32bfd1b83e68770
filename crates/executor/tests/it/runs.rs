//! Runs that stop, continue and are compared.

use std::fs;

use prospector_core::Owner;
use prospector_executor::{
    RunOptions, Store,
    comparison::Change,
    record::{StepStatus, Stop},
};
use serde_json::json;

use crate::support::{open, run, two_steps};

#[tokio::test]
async fn a_run_stops_where_a_step_fails_and_continues_when_it_is_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let store = Store::new(folder.path(), &Owner::local());
    // A call that the catalog does not allow fails only when it is made.
    let mut steps = two_steps();
    steps[1] = json!({"call": {"operation": "crm.getCustomer", "arguments": {"customer_id": 1}}});
    let mut failed = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((failed.ok, failed.stopped), (false, Some(Stop::Failed)), "{}", failed.text());
    assert_eq!(failed.steps[1].status, StepStatus::Failed);
    assert!(failed.text().starts_with("Step 2 failed"), "{}", failed.text());
    store.keep(&mut failed).unwrap();

    // The source of the first step is gone: its rows are reused from the run.
    fs::write(folder.path().join("orders.csv"), "order_id,customer_id,ordered_on,total\n9,4,2025-01-03,101\n").unwrap();
    let earlier = Store::new(folder.path(), &Owner::local()).read("last").unwrap();
    assert_eq!(earlier, failed);
    let options = RunOptions { resume: Some(earlier.clone()), compare: Some(earlier), ..RunOptions::default() };
    let done = run(&executor, two_steps(), options).await;
    assert_eq!((done.steps[0].reused, done.steps[1].reused), (true, false));
    assert_eq!(done.result_step().unwrap().rows.len(), 2, "{}", done.text());
    let changes: Vec<Change> = done.comparison.unwrap().steps.iter().map(|step| step.change).collect();
    assert_eq!(changes, [Change::Same, Change::Changed]);

    // Changed data, and the differences step by step.
    let executor = open(&folder).await;
    let options = RunOptions { until: Some(1), compare: Some(failed.clone()), ..RunOptions::default() };
    let done = run(&executor, two_steps(), options).await;
    assert_eq!((done.ok, done.stopped, done.steps.len()), (true, Some(Stop::Asked), 1));
    assert_eq!(done.describe_skipped().unwrap(), "Stopped as requested: step 2 was not run.");
    assert!(done.text().contains("step 2 was not run"), "{}", done.text());
    let comparison = done.comparison.unwrap();
    assert_eq!((comparison.steps[0].change, comparison.steps[1].change), (Change::Changed, Change::Removed));
    // Rows are identified by the customer: two are gone, one is new.
    assert_eq!(comparison.steps[0].differences.len(), 3, "{:?}", comparison.steps[0]);

    // Files of others are neither listed nor removed.
    let foreign = folder.path().join("runs/settings.json");
    fs::write(&foreign, "{}").unwrap();
    for number in 0..60 {
        fs::write(folder.path().join(format!("runs/20200101-000001-{number}.json")), "{}").unwrap();
    }
    store.keep(&mut failed).unwrap();
    assert!(foreign.exists() && store.ids().len() == 50 && store.ids()[0] == failed.id, "{:?}", store.ids());

    let missing = store.read("20200101-000000-1").unwrap_err().to_string();
    assert!(missing.contains(&failed.id), "{missing}");
    fs::write(folder.path().join("runs").join(format!("{}.json", failed.id)), "{}").unwrap();
    assert!(store.read("last").unwrap_err().to_string().contains("damaged"));
    assert!(Store::new(folder.path(), &Owner::new("someone", "someone")).ids().is_empty());
}
