//! Projections and aggregation pipelines, in which names are paths and values are bound.

use mongodb::bson::{Bson, Document, doc};

use super::condition::pattern_of;
use crate::display::MAX_CHARS;
use crate::statement::TypedColumn;

/// Returns a projection of these paths. Paths within other paths are omitted, because the server rejects both together.
pub(super) fn projection(paths: &[String]) -> Document {
    let is_within =
        |path: &str| paths.iter().any(|other| path.len() > other.len() && path.starts_with(&format!("{other}.")));
    let mut projection = Document::new();
    if !paths.iter().any(|path| path == "_id" || path.starts_with("_id.")) {
        projection.insert("_id", 0);
    }
    let mut is_empty = true;
    for path in paths.iter().filter(|path| !is_within(path)) {
        projection.insert(path.clone(), 1);
        is_empty = false;
    }
    if is_empty {
        // Without any field, `_id` represents the document.
        projection.insert("_id", 1);
    }
    projection
}

/// Unwinds the lists on the path; documents with empty lists are kept.
fn unwound(fields: &[TypedColumn], path: &str) -> Vec<Document> {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let lists = ends.map(|end| &path[..end]).filter(|prefix| {
        fields.iter().any(|field| field.name == **prefix && field.data_type.contains("[]"))
            || fields.iter().any(|field| field.name == **prefix && field.data_type.contains("array"))
    });
    lists.map(|path| doc! { "$unwind": { "path": format!("${path}"), "preserveNullAndEmptyArrays": true } }).collect()
}

/// Returns the most frequent values, truncated, and the number of distinct values; optionally only of the first
/// documents.
pub(super) fn samples(
    fields: &[TypedColumn],
    path: &str,
    contains: Option<&str>,
    limit: usize,
    first: Option<u32>,
) -> Vec<Document> {
    let mut stages: Vec<Document> = first.map(|first| doc! { "$limit": i64::from(first) }).into_iter().collect();
    stages.extend(unwound(fields, path));
    stages.push(doc! { "$group": { "_id": format!("${path}"), "n": { "$sum": 1 } } });
    stages.push(doc! { "$match": { "_id": { "$ne": Bson::Null } } });
    if let Some(text) = contains {
        let text_of = doc! { "$convert": { "input": "$_id", "to": "string", "onError": "", "onNull": "" } };
        stages.push(doc! { "$addFields": { "text": text_of } });
        stages.push(doc! { "$match": { "text": { "$regex": pattern_of(text), "$options": "is" } } });
    }
    let cut = doc! { "$cond": [
        { "$eq": [{ "$type": "$_id" }, "string"] },
        { "$substrCP": ["$_id", 0, MAX_CHARS as i64 + 1] },
        "$_id",
    ] };
    let limit = i64::try_from(limit.clamp(1, 10_000)).unwrap_or(1);
    stages.push(doc! { "$facet": {
        "values": [{ "$sort": { "n": -1, "_id": 1 } }, { "$limit": limit }, { "$project": { "_id": 0, "v": cut } }],
        "distinct": [{ "$count": "n" }],
    } });
    stages
}

/// Returns the number of distinct values, the minimum, the maximum and the number of nulls; optionally only of the first
/// documents.
pub(super) fn statistics(fields: &[TypedColumn], path: &str, first: Option<u32>) -> Vec<Document> {
    let mut stages: Vec<Document> = first.map(|first| doc! { "$limit": i64::from(first) }).into_iter().collect();
    stages.extend(unwound(fields, path));
    let is_none = doc! { "$eq": ["$_id", Bson::Null] };
    stages.push(doc! { "$group": {
        "_id": { "$ifNull": [format!("${path}"), Bson::Null] },
        "n": { "$sum": 1 },
    } });
    stages.push(doc! { "$group": {
        "_id": Bson::Null,
        "distinct": { "$sum": { "$cond": [is_none.clone(), 0, 1] } },
        "nulls": { "$sum": { "$cond": [is_none, "$n", 0] } },
        "min": { "$min": "$_id" },
        "max": { "$max": "$_id" },
    } });
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_nested_fields_once() {
        let check = |paths: &[&str], expected: Document| {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            assert_eq!(projection(&paths), expected);
        };
        check(&["a", "a.b", "ab", "_id"], doc! { "a": 1, "ab": 1, "_id": 1 });
        check(&["a.b", "a.c"], doc! { "_id": 0, "a.b": 1, "a.c": 1 });
        check(&[], doc! { "_id": 1 });
    }

    #[test]
    fn only_lists_are_unwound() {
        let field = |name: &str, data_type: &str| TypedColumn { name: name.into(), data_type: data_type.into() };
        let fields = [field("items", "object[]"), field("items.sku", "string[]"), field("to.city", "string")];
        assert_eq!(unwound(&fields, "items.sku").len(), 2);
        assert_eq!(unwound(&fields, "to.city").len(), 0);
    }

    #[test]
    fn binds_search_texts() {
        let stages = samples(&[], "name", Some("$where: [.*"), 5, Some(10));
        assert_eq!(stages[0], doc! { "$limit": 10_i64 });
        let found =
            stages.iter().find_map(|stage| stage.get_document("$match").ok()?.get_document("text").ok()).unwrap();
        assert_eq!(found.get_str("$regex").unwrap(), "\\$where: \\[\\.\\*");
    }
}
