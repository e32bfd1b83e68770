//! Parses the front matter of a Markdown file: title, description, tags, dates and other fields.

use prospector_text::{
    cut::one_line,
    front_matter::{Block, Fence, Fields, FrontMatter, find, parse_yaml},
};
use serde_json::{Map, Value};

use crate::model::Converted;

/// Names of the field with the date of the last change.
const UPDATED: [&str; 5] = ["last_updated", "updated", "lastmod", "last_modified", "modified"];

/// Splits off the front matter: YAML between `---` lines, or the strings and lists of TOML between `+++` lines. Also
/// returns an error in the front matter, and its line.
pub(crate) fn split(text: &str) -> (Converted, Option<(usize, String)>) {
    let whole = |problem| (Converted { text: text.to_owned(), ..Converted::default() }, problem);
    match find(text, &[Fence::YAML, Fence::TOML]) {
        FrontMatter::Absent => whole(None),
        FrontMatter::Unclosed { fence, rest } => {
            // A text may start with a rule; a rule followed by fields is treated as unclosed front matter.
            let word = rest.split_once(':').map_or("", |(word, _)| word);
            let meant = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
            whole(meant.then(|| (1, format!("the front matter is not closed by a line `{}`", fence.opening))))
        }
        FrontMatter::Block(Block { fence, fields, body, lines_before }) => {
            let parsed =
                if fence == Fence::TOML { Ok(Fields::Fields(toml_strings(fields))) } else { parse_yaml(fields) };
            let (fields, problem) = match parsed {
                Ok(Fields::Fields(map)) => (known_fields(&map), None),
                Ok(Fields::Empty) => (Converted::default(), None),
                // Text between two rules.
                Ok(Fields::Other) => return whole(None),
                Err(error) => (Converted::default(), Some((error.line, error.reason))),
            };
            (Converted { text: body.to_owned(), lines_before, ..fields }, problem)
        }
    }
}

/// Returns the known fields; others become metadata if their value is a scalar or a list of scalars.
fn known_fields(map: &Map<String, Value>) -> Converted {
    let tags = match map.get("tags") {
        Some(Value::Array(items)) => items.iter().filter_map(scalar).collect(),
        Some(Value::String(list)) => list.split(',').map(|tag| tag.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    Converted {
        title: map.get("title").and_then(scalar),
        description: map.get("description").and_then(scalar),
        tags: tags.into_iter().filter(|tag| !tag.is_empty()).collect(),
        last_updated: UPDATED.iter().find_map(|name| map.get(*name).and_then(scalar)),
        metadata: map
            .iter()
            .filter(|(name, _)| !["title", "description", "tags"].contains(&name.as_str()))
            .filter(|(name, _)| !UPDATED.contains(&name.as_str()))
            .filter_map(|(name, value)| Some((name.clone(), values(value)?)))
            .collect(),
        ..Converted::default()
    }
}

/// Returns a scalar, or the scalars of a list, as text.
fn values(value: &Value) -> Option<String> {
    let Value::Array(list) = value else { return scalar(value) };
    let all: Vec<String> = list.iter().take(32).filter_map(scalar).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns a string, number or boolean on one line; `None` if empty.
fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => one_line(text),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// Parses the single-line strings and string lists at the top of a TOML block, which suffices for titles, descriptions
/// and tags, as JSON. Tables and everything after them are ignored.
fn toml_strings(block: &str) -> Map<String, Value> {
    block
        .lines()
        .take_while(|line| !line.trim_start().starts_with('['))
        .filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            let value = value.trim();
            let literal = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')).map(Value::from);
            Some((key.trim().to_owned(), literal.or_else(|| serde_json::from_str(value).ok())?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, title: Option<&str>, tags: &[&str], body: &str, problem: Option<(usize, &str)>) {
        let (split, found) = split(text);
        assert_eq!(split.title.as_deref(), title, "{split:?}");
        assert_eq!(split.tags, tags);
        assert_eq!(split.text, body);
        assert_eq!(split.lines_before, text[..text.len() - body.len()].matches('\n').count());
        match (found, problem) {
            (None, None) => {}
            (Some((line, reason)), Some((expected, part))) => {
                assert_eq!(line, expected, "{reason}");
                assert!(reason.contains(part), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parses_yaml_and_toml() {
        check("---\ntitle: Refunds\ntags: [a, 2]\nweight: 3\n---\nText", Some("Refunds"), &["a", "2"], "Text", None);
        check("---\ntitle: 2024\ntags: a, b\n...\nText", Some("2024"), &["a", "b"], "Text", None);
        check(
            "+++\ntitle = \"Re \\\"x\\\"\"\ntags = ['a', \"b\"]\nweight = 4\n+++\nT",
            Some("Re \"x\""),
            &[],
            "T",
            None,
        );
        check("+++\ntitle = 'It'\ntags = [\"b\"]\n[menu]\ntitle = \"no\"\n+++\nT", Some("It"), &["b"], "T", None);
        check("---\n---\nText", None, &[], "Text", None);
    }

    #[test]
    fn keeps_dates_and_other_fields() {
        let (fields, _) = split("---\nauthor: [Ada, Bo]\nlastmod: 2025-03-04\ndraft: false\nmenu: {a: 1}\n---\nT");
        assert_eq!(fields.last_updated.as_deref(), Some("2025-03-04"));
        let others: Vec<_> = fields.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(others, [("author", "Ada, Bo"), ("draft", "false")]);
    }

    #[test]
    fn keeps_text_without_front_matter() {
        check("Text", None, &[], "Text", None);
        check("---\nBetween rules\n---\nText", None, &[], "---\nBetween rules\n---\nText", None);
        check("---\n\nText after a rule", None, &[], "---\n\nText after a rule", None);
        check("", None, &[], "", None);
        check("---", None, &[], "---", None);
    }

    #[test]
    fn reports_invalid_front_matter() {
        check("---\nok: 1\ntitle: a: b\n---\nText", None, &[], "Text", Some((3, "not valid YAML")));
        check("---\ntitle: x\n\nText", None, &[], "---\ntitle: x\n\nText", Some((1, "not closed")));
    }
}
