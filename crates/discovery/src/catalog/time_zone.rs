//! `time_zone` and `stored_in`: the time zone of periods, and those in which times are stored.

use std::collections::BTreeMap;

use prospector_core::name::nearest;
use prospector_semantics::model::{StoredIn, TimeZone};

use super::{
    entry::{EntryReader, Fields},
    file_schema,
    node::{Node, Placed},
};

/// Parses the time zone of periods; reports a problem if it is unknown.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<TimeZone> {
    let Node::Text(name) = entry.node else {
        reader.fail(entry.line, "`time_zone` must be a name", "write `time_zone: Europe/Berlin`, for example");
        return None;
    };
    let zone = TimeZone::find(&name);
    if zone.is_none() {
        reader.fail(entry.line, format!("unknown time zone `{name}`"), advise(&name));
    }
    zone
}

/// Checks `stored_in` of an entity: the time zone of its time column, or of each of several columns. Reports invalid values.
pub(super) fn read_stored_in(
    fields: &mut Fields<'_>,
    time: Option<&str>,
    written: Option<file_schema::StoredIn>,
) -> Vec<StoredIn> {
    let columns = match written {
        None => return Vec::new(),
        Some(file_schema::StoredIn::OfColumns(columns)) => columns,
        Some(file_schema::StoredIn::OfTime(zone)) => match time.filter(|time| !time.contains('.')) {
            Some(time) => BTreeMap::from([(time.to_owned(), zone)]),
            None => {
                let reason = "`stored_in` requires a `time` column in the table of the entity";
                fields.fail(fields.line_of("stored_in"), reason, "name the column: `stored_in: {created_at: UTC}`");
                return Vec::new();
            }
        },
    };
    let mut stored = Vec::new();
    for (column, name) in columns {
        match TimeZone::find(&name) {
            Some(zone) => stored.push(StoredIn { column, zone }),
            None => {
                let line = fields.inner("stored_in").line_of(&column);
                fields.fail(line, format!("unknown time zone `{name}` in `stored_in`"), advise(&name));
            }
        }
    }
    stored
}

/// Suggests similar names.
fn advise(name: &str) -> String {
    let near: Vec<String> =
        nearest(name, TimeZone::list_names(), 3).into_iter().map(|name| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => "use a name of the IANA time zone database, such as `Europe/Berlin`".to_owned(),
        near => format!("did you mean {}? use a name of the IANA time zone database", near.join(", ")),
    }
}
