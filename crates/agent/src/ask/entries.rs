//! The texts of catalog entries that tools returned, by the ids that an answer may cite.

use std::collections::BTreeMap;

use prospector_core::{Kind, tool::Answer};
use serde_json::{Map, Value};

/// The limit of all texts together, in bytes; a text that exceeds it is skipped.
const MAX_BYTES: usize = 400_000;

/// The fields that contain text of an entry.
const TEXTS: [&str; 3] = ["content", "excerpt", "definition"];

/// The texts of the entries that were returned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    /// By id in lower case.
    texts: BTreeMap<String, String>,
    /// The texts of documents, facts and other knowledge.
    pub(crate) knowledge: String,
    size: usize,
}

impl Entries {
    /// Records the entries in an answer.
    pub(crate) fn note(&mut self, answer: &Answer) {
        self.note_json(answer.json());
        if let Some(content) = answer.content() {
            for entry in answer.reveals() {
                self.keep(&entry.id, content);
            }
        }
        if let Some(definition) = answer.definition() {
            self.keep(&definition.source, &definition.text);
            self.keep(&definition.term, &definition.text);
            self.keep_knowledge(&definition.text);
        }
    }

    /// Records the objects of a JSON value that are entries, each with all of its fields.
    pub(crate) fn note_json(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.note_json(item)),
            Value::Object(fields) => {
                let ids = read_ids(fields);
                let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
                let is_knowledge = kind == "segment"
                    || Kind::from_name(kind).is_some_and(Kind::is_knowledge)
                    || TEXTS.iter().any(|key| fields.contains_key(*key));
                if is_knowledge || !ids.is_empty() {
                    let text = plain_text(fields);
                    ids.iter().for_each(|id| self.keep(id, &text));
                    if is_knowledge {
                        self.keep_knowledge(&text);
                    }
                }
                fields.values().for_each(|field| self.note_json(field));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Stores a text of knowledge, whatever its entry.
    pub(crate) fn keep_knowledge(&mut self, text: &str) {
        if self.size + text.len() <= MAX_BYTES {
            self.size += text.len();
            self.knowledge.push_str(text);
            self.knowledge.push('\n');
        }
    }

    /// Stores a text of an entry.
    pub(crate) fn keep(&mut self, id: &str, text: &str) {
        let id = id.trim().to_lowercase();
        if id.is_empty() || self.size + text.len() > MAX_BYTES {
            return;
        }
        self.size += text.len();
        let known = self.texts.entry(id).or_default();
        known.push_str(text);
        known.push('\n');
    }

    /// Returns whether an entry with this id was returned.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Returns the text of an id: of the entry, of the sections of a document, or of the document or table that contains it.
    pub(crate) fn find(&self, id: &str) -> Option<String> {
        let id = id.trim().trim_matches('`').to_lowercase();
        let begins =
            |known: &str, sign: char| known.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with(sign));
        let of_it = self.texts.iter().filter(|(known, _)| **known == id || begins(known, '#'));
        let texts: Vec<&str> = of_it.map(|(_, text)| text.as_str()).collect();
        if !texts.is_empty() {
            return Some(texts.join("\n"));
        }
        if let Some((document, section)) = id.split_once('#') {
            // A section may be cited without its parent sections.
            let last = |known: &str| known.rsplit('>').next().map(str::trim) == Some(section.trim());
            let is_section =
                |known: &str| known.strip_prefix(document).and_then(|rest| rest.strip_prefix('#')).is_some_and(last);
            if let Some((_, text)) = self.texts.iter().find(|(known, _)| is_section(known)) {
                return Some(text.clone());
            }
            let whole = self.texts.get(document)?;
            return Some(find_section(whole, section).unwrap_or(whole).to_owned());
        }
        let (table, _) = id.rsplit_once('.')?;
        table.contains('.').then(|| self.texts.get(table).cloned()).flatten()
    }
}

/// Returns the ids of an entry in a tool result.
fn read_ids(fields: &Map<String, Value>) -> Vec<String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut ids: Vec<String> = text("id").into_iter().map(str::to_owned).collect();
    let document = text("document")
        .or_else(|| text("name").filter(|_| fields.contains_key("content") || fields.contains_key("excerpt")));
    match (document, text("section")) {
        (Some(document), Some(section)) => ids.push(format!("{document}#{section}")),
        (Some(document), None) => ids.push(document.to_owned()),
        _ => {}
    }
    if let (Some(database), Some(table)) = (text("database"), text("table")) {
        ids.push(format!("{database}.{table}"));
    }
    ids
}

/// Returns an entry as text: its fields as JSON, followed by its texts.
fn plain_text(fields: &Map<String, Value>) -> String {
    let (texts, others): (Vec<_>, Vec<_>) =
        fields.iter().partition(|(key, value)| TEXTS.contains(&key.as_str()) && value.is_string());
    let others: Map<String, Value> = others.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let texts = texts.into_iter().filter_map(|(_, value)| value.as_str());
    std::iter::once(Value::Object(others).to_string().as_str()).chain(texts).collect::<Vec<_>>().join("\n")
}

/// Returns the text of a Markdown section, up to the next heading of its level.
fn find_section<'a>(text: &'a str, section: &str) -> Option<&'a str> {
    let wanted = section.rsplit('>').next().unwrap_or(section).trim().to_lowercase();
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let begin = std::mem::replace(at, *at + line.len());
        Some((begin, line))
    });
    let headings: Vec<(usize, usize, String)> = lines
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(at, line)| {
            let name = line.trim_start_matches('#');
            (at, line.len() - name.len(), name.trim().to_lowercase())
        })
        .collect();
    let found = headings.iter().position(|(_, _, name)| *name == wanted)?;
    let (begin, level, _) = &headings[found];
    let end = headings[found + 1..].iter().find(|(_, other, _)| other <= level).map_or(text.len(), |(at, ..)| *at);
    Some(&text[*begin..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_entries_by_every_id() {
        let mut entries = Entries::default();
        entries.note_json(&json!([
            {"kind": "document", "id": "rules#Customers > VIP customer", "description": "at least 45.00"},
            {"kind": "document", "id": "policy", "answer": {"name": "policy",
                "content": "# Policy\n\n## Time limits\n\n14 days\n\n### Exceptions\n\n60 days\n\n## Amount\n\n30 dollars\n"}},
            {"kind": "table", "id": "shop.orders", "answer": {"database": "shop", "table": "orders", "row_count": 4044}},
            {"document": "notes", "section": "Calls", "excerpt": "twice a year"},
        ]));
        let check = |id: &str, has: &[&str], has_not: &[&str]| {
            let text = entries.find(id).unwrap_or_else(|| panic!("{id} was shown"));
            assert!(has.iter().all(|part| text.contains(part)), "{id}: {text}");
            assert!(!has_not.iter().any(|part| text.contains(part)), "{id}: {text}");
        };
        check("rules#Customers > VIP customer", &["45.00"], &[]);
        check("rules#VIP customer", &["45.00"], &[]);
        check("rules", &["45.00"], &["14 days"]);
        check("policy#Time limits", &["14 days", "60 days"], &["30 dollars"]);
        check("Policy", &["14 days", "30 dollars"], &[]);
        check("shop.orders", &["4044"], &[]);
        check("shop.orders.total", &["4044"], &[]);
        check("notes#Calls", &["twice"], &[]);
        assert!(!entries.has("notes#Other") && !entries.has("shop"));
        assert!(entries.knowledge.contains("45.00") && !entries.knowledge.contains("4044"));
    }

    #[test]
    fn limits_stored_text() {
        let mut entries = Entries::default();
        for n in 0..100 {
            entries.note_json(&json!({"id": format!("a{n}"), "text": "x".repeat(50_000)}));
        }
        assert!(entries.texts.len() < 10 && entries.has("a0") && !entries.has("a99"));
    }
}
