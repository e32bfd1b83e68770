//! Validates segments: the entity has a key, the conditions can be parsed, and the query returns that key.

use prospector_connect::table::Table;
use prospector_engine::options::NamedQuery;

use super::{Checker, Wrong, find_column, fold, list_key, suggest, wrong};
use crate::model::{Segment, SegmentMembers};

impl Checker<'_> {
    /// Validates a segment, and sets its key.
    pub(super) fn segment(&self, segment: &mut Segment) -> Result<(), Wrong> {
        let name = fold(&segment.name);
        let kept = &self.kept;
        let metrics = kept.metrics.iter().map(|metric| (&metric.name, &metric.place));
        let dimensions = kept.dimensions.iter().map(|dimension| (&dimension.name, &dimension.place));
        let segments = kept.segments.iter().map(|segment| (&segment.name, &segment.place));
        if let Some((_, place)) = metrics.chain(dimensions).chain(segments).find(|(other, _)| fold(other) == name) {
            let reason = format!("the name is already declared as a metric, dimension or segment at {place}");
            return Err(wrong(reason, "rename one of them"));
        }
        let (entity, table, _) = self.find(&segment.entity)?;
        let (entity, key) = (entity.name.clone(), list_key(entity, table));
        if key.is_empty() {
            let reason = format!("`{entity}` has no key to identify its rows");
            return Err(wrong(reason, format!("declare the `key` of `{entity}`")));
        }
        for column in &key {
            find_column(table, column)?;
        }
        match &mut segment.members {
            SegmentMembers::Filter(conditions) => {
                if conditions.iter().all(|text| text.trim().is_empty()) {
                    return Err(wrong("it has neither a `filter` nor a `query`", "write `filter:` with a condition"));
                }
                conditions.iter().try_for_each(|text| self.expression(&segment.entity, text))?;
            }
            SegmentMembers::Query { name, columns } => {
                let query = self.query(name)?;
                *columns = find_key(query, columns, &entity, table, &key)?;
                name.clone_from(&query.name);
            }
        }
        (segment.entity, segment.key) = (entity, key);
        Ok(())
    }

    /// Returns the verified query with that name.
    fn query(&self, name: &str) -> Result<&NamedQuery, Wrong> {
        let queries = &self.kept.queries;
        let exact = queries.iter().find(|query| query.name == name);
        let found = exact.or_else(|| queries.iter().find(|query| fold(&query.name) == fold(name)));
        let Some(query) = found else {
            let reason = format!("there is no verified query `{name}`");
            return Err(match queries.is_empty() {
                true => wrong(reason, "add a folder of queries to `verified_queries`"),
                false => wrong(reason, suggest(name, queries.iter().map(|query| query.name.as_str()))),
            });
        };
        match &query.refusal {
            Some(refusal) => {
                let reason = format!("the query `{}` cannot be read as a table: {refusal}", query.name);
                Err(wrong(reason, "fix the query, or give its parameters a `default`"))
            }
            None => Ok(query),
        }
    }
}

/// Returns the columns of a query that contain the key of an entity: those declared, those with the same names, or its only column.
fn find_key(
    query: &NamedQuery,
    written: &[String],
    entity: &str,
    table: &Table,
    key: &[String],
) -> Result<Vec<String>, Wrong> {
    let known = &query.columns;
    let spell = |name: &String| known.iter().find(|column| column.eq_ignore_ascii_case(name)).cloned();
    let returned = known.iter().map(String::as_str).filter(|name| !name.is_empty());
    let columns: Vec<String> = match written {
        // Unknown columns are reported when the query is run.
        written if known.is_empty() => if written.is_empty() { key } else { written }.to_vec(),
        [] if key.iter().all(|name| spell(name).is_some()) => key.iter().filter_map(spell).collect(),
        [] => match (known.as_slice(), key) {
            ([only], [_]) if !only.is_empty() => vec![only.clone()],
            _ => {
                let list: Vec<&str> = returned.collect();
                let (list, name) = (list.join(", "), key.join(", "));
                let reason = format!("the query `{}` returns {list}, but no column `{name}`", query.name);
                return Err(wrong(
                    reason,
                    format!("declare the column that contains the key of `{entity}`: `key: {name}`"),
                ));
            }
        },
        written => {
            let missing = |name: &String| {
                let reason = format!("the query `{}` returns no column `{name}`", query.name);
                wrong(reason, suggest(name, returned.clone()))
            };
            written.iter().map(|name| spell(name).ok_or_else(|| missing(name))).collect::<Result<_, _>>()?
        }
    };
    if columns.len() != key.len() {
        let reason =
            format!("its `key` names {} columns, and the key of `{entity}` is {}", columns.len(), key.join(", "));
        return Err(wrong(reason, "declare one column for each"));
    }
    // A column named like another column of the entity contains that column.
    for (column, name) in columns.iter().zip(key) {
        if !column.eq_ignore_ascii_case(name) && table.column(column).is_some() {
            let reason =
                format!("`{column}` is not the key of `{entity}`: several of its rows may have the same value");
            return Err(wrong(reason, format!("have the query `{}` return `{name}`", query.name)));
        }
    }
    Ok(columns)
}
