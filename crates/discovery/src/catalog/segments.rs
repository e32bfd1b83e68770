//! `segments`: named sets of the rows of an entity, by a condition or by a verified query that returns their keys.

use prospector_semantics::model::{Segment, SegmentMembers};

use super::{
    entry::Fields,
    file_schema::{SegmentEntry, list_texts},
};

/// Checks a segment.
pub(super) fn check_segment(fields: &mut Fields<'_>, written: SegmentEntry) -> Option<Segment> {
    let line = fields.line();
    if written.filter.is_some() && written.r#where.is_some() {
        fields.fail(line, "both `filter` and its alias `where` are set", "remove one of them");
    }
    let mut conditions = list_texts(written.filter);
    conditions.extend(list_texts(written.r#where));
    let columns = list_texts(written.key);
    let members = match (written.query, conditions.is_empty()) {
        (Some(name), true) => Some(SegmentMembers::Query { name, columns }),
        (None, false) if columns.is_empty() => Some(SegmentMembers::Filter(conditions)),
        (None, false) => {
            let advice = "remove `key`: the members are rows of the entity";
            fields.fail(line, "`key` requires a `query`, whose columns it names", advice);
            None
        }
        (Some(_), false) => {
            fields.fail(line, "both a condition and a `query` are set", "remove one of them");
            None
        }
        (None, true) => {
            let advice = "write `filter:` with a condition, or `query:` with the name of a verified query";
            fields.fail_missing(line, "`filter` or `query` is missing: which rows belong to it", advice);
            None
        }
    };
    Some(Segment {
        name: written.name,
        entity: written.entity,
        key: Vec::new(),
        members: members?,
        description: written.description.unwrap_or_default(),
        synonyms: written.synonyms.unwrap_or_default(),
        source: written.source.unwrap_or_default(),
        place: fields.place(),
    })
}
