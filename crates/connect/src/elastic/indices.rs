//! Grouping of indices into tables: a data stream is one table, and so are indices whose names differ only by a date.

use std::collections::BTreeMap;

use serde_json::Value;

/// Maximum length of a request path; servers accept 4,096 bytes in the first line.
const MAX_PATH: usize = 2_000;

/// Indices shown as one table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct IndexTable {
    pub(super) name: String,
    /// The indices, newest first.
    pub(super) indices: Vec<String>,
    pub(super) aliases: Vec<String>,
    pub(super) is_stream: bool,
}

impl IndexTable {
    /// Returns the target of a request path, and whether it may match other indices too.
    pub(super) fn target(&self) -> (String, bool) {
        let all = self.indices.join(",");
        match self.is_stream || all.len() > MAX_PATH {
            true => (self.name.clone(), !self.is_stream),
            false => (all, false),
        }
    }

    /// Returns a note for the description.
    pub(super) fn note(&self) -> Option<String> {
        let (newest, oldest) = (self.indices.first()?, self.indices.last()?);
        let mut notes = Vec::new();
        match self.indices.len() {
            _ if self.is_stream => notes.push(format!("data stream of {} indices", self.indices.len())),
            1 => {}
            many => notes.push(format!("{many} indices by date, from {oldest} to {newest}")),
        }
        if !self.aliases.is_empty() {
            notes.push(format!("also called {}", self.aliases.join(", ")));
        }
        Some(notes.join("; ")).filter(|note| !note.is_empty())
    }
}

/// Returns the tables of a response of `_resolve/index`, without system indices.
/// <https://www.elastic.co/guide/en/elasticsearch/reference/current/indices-resolve-index-api.html>
pub(super) fn tables(answer: &Value) -> Vec<IndexTable> {
    let list = |key: &str| answer.get(key).and_then(Value::as_array).into_iter().flatten();
    let texts = |value: Option<&Value>| -> Vec<String> {
        match value {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    };
    let mut found = Vec::new();
    let mut dated: BTreeMap<String, Vec<IndexTable>> = BTreeMap::new();
    for index in list("indices") {
        let Some(name) = index.get("name").and_then(Value::as_str) else { continue };
        let attributes = texts(index.get("attributes"));
        let is_hidden = attributes.iter().any(|word| matches!(word.as_str(), "hidden" | "system" | "closed"));
        if name.starts_with('.') || is_hidden || index.get("data_stream").is_some() {
            continue;
        }
        let aliases = texts(index.get("aliases")).into_iter().filter(|alias| !alias.starts_with('.')).collect();
        let one = IndexTable { name: name.to_owned(), indices: vec![name.to_owned()], aliases, is_stream: false };
        match stem(name) {
            Some(stem) => dated.entry(format!("{stem}*")).or_default().push(one),
            None => found.push(one),
        }
    }
    for (pattern, members) in dated {
        if members.len() == 1 {
            found.extend(members);
            continue;
        }
        let mut one = IndexTable { name: pattern, ..IndexTable::default() };
        for member in members {
            one.indices.extend(member.indices);
            one.aliases.extend(member.aliases);
        }
        one.indices.sort_by(|a, b| b.cmp(a));
        one.aliases.sort();
        one.aliases.dedup();
        found.push(one);
    }
    for stream in list("data_streams") {
        let Some(name) = stream.get("name").and_then(Value::as_str).filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let mut indices = texts(stream.get("backing_indices"));
        indices.sort_by(|a, b| b.cmp(a));
        found.push(IndexTable { name: name.to_owned(), indices, aliases: Vec::new(), is_stream: true });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns the name before a date or rollover number: `logs-` of `logs-2024.01.31`, `logs-20240131`, `logs-2024.01` and
/// `logs-000001`.
fn stem(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'));
    let rest = &name[stem.len()..];
    // The separator before the first digit belongs to the stem.
    let first = rest.find(|c: char| c.is_ascii_digit())?;
    let (stem, suffix) = name.split_at(stem.len() + first);
    if stem.is_empty() || first == 0 || !suffix.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parts: Vec<&str> = suffix.split(['.', '-', '_']).collect();
    let is = |part: &str, digits: usize, from: u32, to: u32| {
        part.len() == digits && part.parse::<u32>().is_ok_and(|number| (from..=to).contains(&number))
    };
    let year = |part: &str| is(part, 4, 1970, 2199);
    let month = |part: &str| is(part, 2, 1, 12);
    let day = |part: &str| is(part, 2, 1, 31);
    let good = match parts.as_slice() {
        [one] => match one.len() {
            6 => (year(&one[..4]) && month(&one[4..])) || one.starts_with("000"),
            8 => year(&one[..4]) && month(&one[4..6]) && day(&one[6..]),
            _ => false,
        },
        [y, m] => year(y) && month(m),
        [y, m, d] => year(y) && month(m) && day(d),
        [y, m, d, hour] => year(y) && month(m) && day(d) && is(hour, 2, 0, 23),
        _ => false,
    };
    good.then_some(stem)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strips_dates_and_rollover_numbers() {
        let check = |name: &str, expected: Option<&str>| assert_eq!(stem(name), expected, "{name}");
        check("logs-2024.01.31", Some("logs-"));
        check("logs-web_2024-01", Some("logs-web_"));
        check("logs.20240131", Some("logs."));
        check("logs-000017", Some("logs-"));
        check("logs-202401", Some("logs-"));
        check("logs-2024.01.31.23", Some("logs-"));
        check("orders-v2", None);
        check("orders-12", None);
        check("orders-20241301", None);
        check("model2024", None);
        check("2024.01.31", None);
        check("", None);
    }

    #[test]
    fn groups_indices_and_streams_into_tables() {
        let answer = json!({
            "indices": [
                {"name": "orders", "aliases": ["sales"], "attributes": ["open"]},
                {"name": ".kibana", "attributes": ["open"]},
                {"name": "secret", "attributes": ["open", "hidden"]},
                {"name": "logs-2024.01.31", "attributes": ["open"], "aliases": ["logs"]},
                {"name": "logs-2024.02.01", "attributes": ["open"], "aliases": "logs"},
                {"name": "once-2024.02.01", "attributes": ["open"]},
                {"name": ".ds-web-1", "attributes": ["open", "hidden"], "data_stream": "web"},
            ],
            "aliases": [{"name": "sales", "indices": ["orders"]}],
            "data_streams": [{"name": "web", "backing_indices": [".ds-web-1", ".ds-web-2"]}, {"name": ".own"}],
        });
        let written: Vec<String> = tables(&answer)
            .iter()
            .map(|table| format!("{} = {} ({})", table.name, table.target().0, table.note().unwrap_or_default()))
            .collect();
        assert_eq!(
            written,
            [
                "logs-* = logs-2024.02.01,logs-2024.01.31 (2 indices by date, from logs-2024.01.31 to logs-2024.02.01; \
                 also called logs)",
                "once-2024.02.01 = once-2024.02.01 ()",
                "orders = orders (also called sales)",
                "web = web (data stream of 2 indices)",
            ]
        );
        assert!(tables(&json!([])).is_empty());
    }
}
