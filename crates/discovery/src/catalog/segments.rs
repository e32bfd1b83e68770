//! `segments`: named sets of the rows of an entity, by a condition or by a verified query that returns their keys.

use prospector_semantics::model::{Segment, SegmentMembers};

use super::{
    entry::{EntryReader, plain, require_plain},
    file_schema,
    metrics::read_texts,
    node::Placed,
};

/// Parses a segment.
pub(super) fn read_segment(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<Segment> {
    let file = reader.file;
    let mut fields = reader.fields::<file_schema::SegmentEntry>(format!("segments[{at}]"), entry)?;
    let line = fields.line();
    let name = require_plain(&mut fields, "name", "the name of the segment");
    let entity = require_plain(&mut fields, "entity", "the entity of its rows");
    if fields.has("filter") && fields.has("where") {
        fields.fail(line, "both `filter` and its alias `where` are set", "remove one of them");
    }
    let mut conditions = read_texts(&mut fields, "filter");
    conditions.extend(read_texts(&mut fields, "where"));
    let (query, columns) = (plain(&mut fields, "query"), read_texts(&mut fields, "key"));
    let members = match (query, conditions.is_empty()) {
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
            fields.fail(line, "`filter` or `query` is missing: which rows belong to it", advice);
            None
        }
    };
    let segment = Segment {
        name: name?,
        entity: entity?,
        key: Vec::new(),
        members: members?,
        description: plain(&mut fields, "description").unwrap_or_default(),
        synonyms: fields.texts("synonyms"),
        source: plain(&mut fields, "source").unwrap_or_default(),
        place: format!("{file}:{line}"),
    };
    (!fields.has_failed()).then_some(segment)
}
