//! Match rates of inferred keys, measured on a few rows of the source.

use std::{collections::BTreeSet, slice::from_ref, time::Duration};

use prospector_connect::{
    Connector,
    filter::{FilterCondition, FilterOp},
};
use serde_json::Value;

use crate::joins::JoinEnd;

/// Maximum number of rows read for the keys that are looked up.
const MAX_FOUND: usize = 5_000;

/// Minimum number of keys for a meaningful result.
const MIN_KEYS: usize = 3;

/// How much of the source is read.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Maximum number of rows read of the referencing table.
    pub(crate) rows: usize,
    /// Maximum number of keys looked up.
    pub(crate) keys: usize,
    /// Time limit.
    pub(crate) wait: Duration,
}

impl Extent {
    /// For a search, which waits for the result.
    pub(crate) const SEARCH: Extent = Extent { rows: 1_000, keys: 100, wait: Duration::from_millis(400) };
}

/// Returns the percentage of keys of one column found in the other; `None` if the rows read, or the time limit, do not
/// suffice.
pub(crate) async fn measure(connector: &dyn Connector, from: &JoinEnd, to: &JoinEnd, extent: Extent) -> Option<u8> {
    tokio::time::timeout(extent.wait, look_up(connector, from, to, extent)).await.ok().flatten()
}

async fn look_up(connector: &dyn Connector, from: &JoinEnd, to: &JoinEnd, extent: Extent) -> Option<u8> {
    let referring = connector.rows(&from.table, from_ref(&from.column), &[], extent.rows).await.ok()?;
    let mut keys: Vec<Value> = Vec::new();
    let mut known = BTreeSet::new();
    for key in referring.rows.into_iter().filter_map(|row| row.into_iter().next()).filter(|key| !key.is_null()) {
        if keys.len() < extent.keys && known.insert(key.to_string()) {
            keys.push(key);
        }
    }
    if keys.len() < MIN_KEYS {
        return None;
    }
    let total = keys.len();
    let among = FilterCondition { column: to.column.clone(), op: FilterOp::In, value: keys.into() };
    let found = connector.rows(&to.table, from_ref(&to.column), &[among], MAX_FOUND).await.ok()?;
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
        assert_eq!(measure(&source, &JoinEnd::new("a", "x"), &JoinEnd::new("b", "y"), Extent::SEARCH).await, expected);
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
        for source in [Fake::broken(), Fake::hanging()] {
            assert_eq!(measure(&source, &JoinEnd::new("a", "x"), &JoinEnd::new("b", "y"), Extent::SEARCH).await, None);
        }
    }
}
