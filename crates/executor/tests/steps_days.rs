//! Whole days in conditions on times, and limits that cut what is equal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_executor::{Executor, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

const EVENTS: [(u32, &str, &str); 5] = [
    (1, "2025-12-13T23:59:59Z", "2025-12-13"),
    (2, "2025-12-14T00:00:00Z", "2025-12-14"),
    (3, "2025-12-14T18:30:00Z", "2025-12-14"),
    (4, "2025-12-15T00:00:00Z", "2025-12-15"),
    (5, "2025-12-16T08:00:00Z", "2025-12-16"),
];

/// The same events with their times as texts, and with times that a database knows as such.
async fn open(folder: &TempDir) -> Executor {
    let line =
        |(number, at, day): &(u32, &str, &str)| json!({"number": number, "at": at, "day": day}).to_string() + "\n";
    let row = |(number, at, day): &(u32, &str, &str)| {
        format!("{number},{},{day}\n", at.trim_end_matches('Z').replace('T', " "))
    };
    let csv = "number,at,day\n".to_owned() + &EVENTS.iter().map(row).collect::<String>();
    let catalog = "databases:\n- {name: events, path: events.jsonl}\n- {name: visits, path: visits.csv}\nentities:\n\
        - {name: event, table: events.events, key: number}\nmetrics:\n- {name: happened, entity: event, aggregate: count}\n";
    let lines: String = EVENTS.iter().map(line).collect();
    let files = [("events.jsonl", lines.as_str()), ("visits.csv", csv.as_str()), ("catalog.yaml", catalog)];
    support::open(folder, &files, "metric").await
}

async fn run(executor: &Executor, steps: Vec<Value>) -> Run {
    support::run(executor, "Look at events", steps).await
}

async fn find(executor: &Executor, steps: Vec<Value>) -> Value {
    let done = run(executor, steps).await;
    assert_eq!(done.stopped, None, "{}", done.text());
    json!(done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows)
}

fn numbers_where(table: &str, filter: &str) -> Value {
    json!({"tables": [table], "columns": [format!("{table}.number")], "filter": [filter.replace("TABLE", table)],
        "order": [format!("{table}.number")]})
}

/// What conditions hold for, by the numbers of the events.
const CONDITIONS: [(&str, &[u32]); 8] = [
    ("TABLE.COLUMN <= '2025-12-14'", &[1, 2, 3]),
    ("TABLE.COLUMN < '2025-12-14'", &[1]),
    ("TABLE.COLUMN > '2025-12-14'", &[4, 5]),
    ("TABLE.COLUMN >= '2025-12-14'", &[2, 3, 4, 5]),
    ("TABLE.COLUMN = '2025-12-14'", &[2, 3]),
    ("TABLE.COLUMN <> '2025-12-14'", &[1, 4, 5]),
    ("TABLE.COLUMN between '2025-12-14' and '2025-12-15'", &[2, 3, 4]),
    ("TABLE.COLUMN = '2025-12-14' or TABLE.number = 5", &[2, 3, 5]),
];

#[tokio::test]
async fn a_day_is_all_of_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    for table in ["events.events", "visits.visits"] {
        for (filter, expected) in CONDITIONS {
            let expected: Vec<[u32; 1]> = expected.iter().map(|number| [*number]).collect();
            for column in ["at", "day"] {
                let step = numbers_where(table, &filter.replace("COLUMN", column));
                assert_eq!(find(&executor, vec![step]).await, json!(expected), "{table}.{column}: {filter}");
            }
        }
    }
    // A time is a time.
    let step = numbers_where("events.events", "TABLE.at <= '2025-12-14T00:00:00Z'");
    assert_eq!(find(&executor, vec![step]).await, json!([[1], [2]]));
}

#[tokio::test]
async fn a_day_is_all_of_its_times_in_metrics_groups_and_earlier_steps() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let metric = json!({"metrics": ["happened"], "tables": ["events.events"],
        "filter": ["events.events.at between '2025-12-14' and '2025-12-15'"]});
    assert_eq!(find(&executor, vec![metric]).await, json!([[3]]));
    let last = json!({"tables": ["events.events"], "compute": ["max(events.events.at) as last"],
        "group_by": ["events.events.day"], "filter": ["max(events.events.at) <= '2025-12-14'"]});
    assert_eq!(find(&executor, vec![last]).await.as_array().unwrap().len(), 2);
    let all = json!({"tables": ["events.events"], "columns": ["events.events.number", "events.events.at"]});
    let of_them = json!({"inputs": ["step_1_results"], "compute": ["count() as events"],
        "filter": ["step_1_results.at <= '2025-12-14'"]});
    assert_eq!(find(&executor, vec![all, of_them]).await, json!([[3]]));
}

#[tokio::test]
async fn a_limit_that_cuts_what_is_equal_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let top = |limit: usize, table: &str| {
        json!({"tables": [table], "compute": ["count(*) as events"], "group_by": [format!("{table}.day")],
            "order": ["events desc"], "limit": limit})
    };
    let told = |notes: &[String]| notes.iter().any(|note| note.contains("more rows have the same events as the last"));
    for (limit, is_cut) in [(1, false), (2, true), (3, true), (4, false), (9, false)] {
        let done = run(&executor, vec![top(limit, "events.events")]).await;
        let step = &done.steps[0];
        assert_eq!(told(&step.notes), is_cut, "{limit}: {:?}", step.notes);
        assert_eq!((step.rows.len(), step.row_count), (limit.min(4), Some(limit.min(4))), "{limit}");
        assert!(step.sql.as_ref().unwrap().ends_with(&format!("LIMIT {limit}")), "{:?}", step.sql);
    }
    let by_metric =
        json!({"metrics": ["happened"], "group_by": ["events.events.day"], "order": ["happened desc"], "limit": 2});
    let done = run(&executor, vec![by_metric]).await;
    let notes = &done.steps[0].notes;
    assert!(notes.iter().any(|note| note.contains("more rows have the same happened")), "{notes:?}");
    assert_eq!(done.steps[0].rows.len(), 2);
}
