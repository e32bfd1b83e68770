//! `time_zone` and `stored_in`: the zone that periods are of, and those that times are stored in.

use prospector_core::Problem;
use prospector_core::name::nearest;
use prospector_semantics::model::{StoredIn, TimeZone};

use super::{
    entry::EntryReader,
    node::{Fields, Node, Placed},
};

/// Reads the zone that periods are of; what is none is a problem.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<TimeZone> {
    let place = format!("{}:{}", reader.file, entry.line);
    let mut fail = |reason: String, advice: String| {
        reader.problems.push(Problem::error(place.clone(), reason).advise(advice));
        None
    };
    let Node::Text(name) = entry.node else {
        return fail("`time_zone` must be a name".into(), "write such as `time_zone: Europe/Berlin`".into());
    };
    TimeZone::find(&name).or_else(|| fail(format!("there is no time zone `{name}`"), advise(&name)))
}

/// Reads `stored_in` of an entity: the zone of its time, or of each of several columns. What is wrong is a problem.
pub(super) fn read_stored_in(fields: &mut Fields<'_>, time: Option<&str>) -> Vec<StoredIn> {
    let Some(Placed { line, node }) = fields.take("stored_in") else { return Vec::new() };
    let named: Vec<(String, Placed)> = match node {
        Node::Map(columns) => columns.into_iter().collect(),
        node => match time.filter(|time| !time.contains('.')) {
            Some(time) => vec![(time.to_owned(), Placed { line, node })],
            None => {
                let reason = "`stored_in` is of the `time` of an entity, and this one has none in its table";
                fields.fail(line, reason, "name the column: `stored_in: {created_at: UTC}`");
                return Vec::new();
            }
        },
    };
    let mut stored = Vec::new();
    for (column, Placed { line, node }) in named {
        let Node::Text(name) = node else {
            fields.fail(line, "`stored_in` must be a time zone", "write such as `stored_in: UTC`");
            continue;
        };
        match TimeZone::find(&name) {
            Some(zone) => stored.push(StoredIn { column, zone }),
            None => fields.fail(line, format!("there is no time zone `{name}`, in `stored_in`"), advise(&name)),
        }
    }
    stored
}

/// The nearest names.
fn advise(name: &str) -> String {
    let near: Vec<String> =
        nearest(name, TimeZone::list_names(), 3).into_iter().map(|name| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => "zones are called as in the IANA database, such as `Europe/Berlin`".to_owned(),
        near => format!("did you mean {}? zones are called as in the IANA database", near.join(", ")),
    }
}
