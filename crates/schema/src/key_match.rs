//! Match rates of inferred keys, measured on a few rows of the source.

use std::{collections::BTreeSet, time::Duration};

use prospector_connect::{
    Connector,
    filter::{FilterCondition, FilterOp},
};
use serde_json::Value;

/// Maximum number of rows read of the referencing table, and of keys looked up.
const MAX_ROWS: usize = 1_000;
const MAX_KEYS: usize = 100;

/// Maximum number of rows read for the keys that are looked up.
const MAX_FOUND: usize = 5_000;

/// Time limit, because a search waits for the result.
const MAX_WAIT: Duration = Duration::from_millis(400);

/// Minimum number of keys for a meaningful result.
const MIN_KEYS: usize = 3;

/// One end of a join.
pub(crate) struct KeyEnd<'a> {
    pub(crate) table: &'a str,
    pub(crate) column: &'a str,
}

/// Returns the percentage of keys of one column found in the other; `None` if a few rows, or the time limit, do not
/// suffice.
pub(crate) async fn measure(connector: &dyn Connector, from: KeyEnd<'_>, to: KeyEnd<'_>) -> Option<u8> {
    tokio::time::timeout(MAX_WAIT, look_up(connector, from, to)).await.ok().flatten()
}

async fn look_up(connector: &dyn Connector, from: KeyEnd<'_>, to: KeyEnd<'_>) -> Option<u8> {
    let column = [from.column.to_owned()];
    let referring = connector.rows(from.table, &column, &[], MAX_ROWS).await.ok()?;
    let mut keys: Vec<Value> = Vec::new();
    let mut known = BTreeSet::new();
    for key in referring.rows.into_iter().filter_map(|row| row.into_iter().next()).filter(|key| !key.is_null()) {
        if keys.len() < MAX_KEYS && known.insert(key.to_string()) {
            keys.push(key);
        }
    }
    if keys.len() < MIN_KEYS {
        return None;
    }
    let total = keys.len();
    let among = FilterCondition { column: to.column.to_owned(), op: FilterOp::In, value: keys.into() };
    let found = connector.rows(to.table, &[to.column.to_owned()], &[among], MAX_FOUND).await.ok()?;
    let distinct: BTreeSet<String> = found
        .rows
        .iter()
        .filter_map(|row| row.first())
        .map(Value::to_string)
        .filter(|key| known.contains(key))
        .collect();
    // If many rows share a key, the rows read may not contain all keys.
    if found.has_more && distinct.len() < total {
        return None;
    }
    u8::try_from(distinct.len() * 100 / total).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Fake;

    async fn check(from: &[Value], to: &[Value], expected: Option<u8>) {
        let source = Fake::new(Vec::new()).holding("a", "x", from.to_vec()).holding("b", "y", to.to_vec());
        let end = |table, column| KeyEnd { table, column };
        assert_eq!(measure(&source, end("a", "x"), end("b", "y")).await, expected);
    }

    #[tokio::test]
    async fn measures_match_rates() {
        let numbers = [json!(1), json!(2), json!(2), json!(3), json!(4), Value::Null];
        check(&numbers, &[json!(1), json!(2), json!(3)], Some(75)).await;
        check(&numbers, &[json!("1")], Some(0)).await;
        check(&[json!("a"), json!("b"), json!("c")], &[json!("c"), json!("b"), json!("a")], Some(100)).await;
        check(&numbers[..3], &[json!(1)], None).await;
    }

    #[tokio::test]
    async fn slow_sources_have_unknown_match_rates() {
        let end = |table, column| KeyEnd { table, column };
        for source in [Fake::broken(), Fake::hanging()] {
            assert_eq!(measure(&source, end("a", "x"), end("b", "y")).await, None);
        }
    }
}
