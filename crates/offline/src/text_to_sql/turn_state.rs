//! What the conversation of this turn holds: hits, tables, values, definitions, and the answer to the query.

use prospector_core::Kind;
use prospector_llm::{
    Message,
    message::ToolCall,
    purpose::{Mode, PreviousTurn},
};
use serde_json::Value;

use crate::calls::items;

use super::{
    follow_up::{FollowUp, FollowUpError},
    text::{stem, stems},
};

/// The turn that is to be answered.
pub(crate) struct Turn<'a> {
    pub(crate) question: &'a str,
    pub(crate) mode: Mode,
    /// The turn before.
    pub(crate) previous: Option<&'a PreviousTurn>,
    /// What was said in this turn.
    pub(crate) messages: &'a [Message],
    /// Whether no further calls are made.
    pub(crate) finish: bool,
}

/// A definition that was resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    pub(super) term: String,
    pub(super) text: String,
    pub(super) source: String,
    pub(super) confidence: f64,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) data_type: String,
    pub(super) is_key: bool,
    /// The table and the column that it refers to.
    pub(super) refers: Option<(String, String)>,
    /// How it is called: by its name, and by its descriptions.
    pub(super) names: Vec<Vec<String>>,
    /// Values and what they mean.
    pub(super) codes: Vec<(String, Vec<Vec<String>>)>,
    /// The least and the greatest of its values, where they were read.
    pub(super) min: String,
    pub(super) max: String,
}

impl Column {
    pub(super) fn is_number(&self) -> bool {
        let kind = self.data_type.to_lowercase();
        ["int", "numeric", "decimal", "float", "double", "real", "money"].iter().any(|word| kind.contains(word))
            && !self.is_key
            && self.refers.is_none()
    }

    pub(super) fn is_date(&self) -> bool {
        let kind = self.data_type.to_lowercase();
        let looks = self.min.len() >= 7 && self.min.as_bytes()[4] == b'-' && self.min[..4].parse::<u32>().is_ok();
        kind.contains("date") || kind.contains("time") || (!self.is_number() && looks)
    }

    pub(super) fn is_text(&self) -> bool {
        !self.is_number()
            && !self.is_date()
            && !self.is_key
            && self.refers.is_none()
            && ["char", "text", "utf8", "string", "varchar", "clob", "enum"]
                .iter()
                .any(|word| self.data_type.to_lowercase().contains(word))
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    pub(super) database: String,
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

/// Values of a column that hold a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub(super) database: String,
    pub(super) table: String,
    pub(super) column: String,
    pub(super) contains: String,
    pub(super) values: Vec<String>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnState {
    /// The question in full, where it could be made that.
    pub(super) question: String,
    /// How it goes on from the one before; or why it cannot be told.
    pub(super) follow_up: Result<Option<FollowUp>, FollowUpError>,
    pub(super) knowledge: bool,
    pub(super) auditable: bool,
    pub(super) definitions: Vec<Definition>,
    /// Tables by relevance, as `(database, table, relevance)`.
    pub(super) hits: Vec<(String, String, f64)>,
    pub(super) documents: Vec<(String, String, f64)>,
    pub(super) tables: Vec<Table>,
    pub(super) values: Vec<Values>,
    /// The SQL that each database speaks.
    pub(super) speaks: Vec<(String, String)>,
    /// What the query gave.
    pub(super) result: Option<Value>,
    /// The calls of this turn.
    pub(super) calls: Vec<(String, Value)>,
    pub(super) rounds: usize,
}

impl TurnState {
    fn new() -> TurnState {
        TurnState {
            question: String::new(),
            follow_up: Ok(None),
            knowledge: false,
            auditable: false,
            definitions: Vec::new(),
            hits: Vec::new(),
            documents: Vec::new(),
            tables: Vec::new(),
            values: Vec::new(),
            speaks: Vec::new(),
            result: None,
            calls: Vec::new(),
            rounds: 0,
        }
    }

    /// Reads the turn that runs.
    pub(super) fn read(turn: &Turn<'_>) -> TurnState {
        let mut known = TurnState {
            question: turn.question.trim().to_owned(),
            knowledge: turn.mode == Mode::Knowledge,
            auditable: turn.mode == Mode::Auditable,
            ..TurnState::new()
        };
        let mut calls: Vec<ToolCall> = Vec::new();
        for message in turn.messages {
            match message {
                Message::User { .. } => {}
                Message::Assistant { calls: made, .. } => {
                    known.rounds += 1;
                    known.calls.extend(made.iter().map(|call| (call.name.clone(), call.arguments.clone())));
                    calls = made.clone();
                }
                Message::ToolResults { results } => {
                    for (call, result) in calls.iter().zip(results) {
                        if let Some(value) = result.data.as_ref().filter(|_| !result.is_error) {
                            known.result(call, value);
                        } else if call.name == "execute_sql" {
                            known.result = Some(result.data.clone().unwrap_or_default());
                        }
                    }
                }
            }
        }
        known
    }

    /// Whether a call was made before.
    pub(super) fn was_called(&self, name: &str, arguments: &Value) -> bool {
        self.calls.iter().any(|(known, given)| known == name && given == arguments)
    }

    fn result(&mut self, call: &ToolCall, value: &Value) {
        let kind = call.arguments["kinds"][0].as_str().unwrap_or_default();
        match (call.name.as_str(), kind) {
            ("resolve_fact", _) => self.definition(value),
            ("search_tables", _) | ("search", "table") => {
                for item in items(value) {
                    let (mut database, mut table) = (text(&item["database"]), text(&item["table"]));
                    if table.is_empty()
                        && let Some((first, rest)) = item["id"].as_str().and_then(|id| id.split_once('.'))
                    {
                        (database, table) = (first.to_owned(), rest.to_owned());
                    }
                    let relevance = item["relevance"].as_f64().unwrap_or(0.0);
                    match self.hits.iter_mut().find(|hit| hit.0 == database && hit.1 == table) {
                        Some(known) => known.2 = known.2.max(relevance),
                        None => self.hits.push((database, table, relevance)),
                    }
                }
            }
            ("search_documents", _) | ("search", "document") => {
                for item in items(value) {
                    let id = match item["id"].as_str() {
                        Some(id) => id.to_owned(),
                        None => format!("{}#{}", text(&item["document"]), text(&item["section"])),
                    };
                    let excerpt = item["excerpt"].as_str().or(item["description"].as_str()).unwrap_or_default();
                    self.documents.push((id, excerpt.to_owned(), item["relevance"].as_f64().unwrap_or(0.0)));
                }
            }
            ("get_table_schema", _) => self.table(value),
            ("describe", _) => items(value).for_each(|item| self.table(&item["answer"])),
            ("get_sample_values" | "sample", _) => self.values.push(Values {
                database: text(&value["database"]),
                table: text(&value["table"]),
                column: text(&value["column"]),
                contains: text(&call.arguments["contains"]),
                values: items_of(&value["values"]),
            }),
            ("list_sources", _) => {
                self.speaks = items(value).map(|item| (text(&item["name"]), text(&item["sql"]))).collect();
            }
            ("execute_sql", _) => self.result = items(value).next().cloned(),
            _ => {}
        }
    }

    fn definition(&mut self, value: &Value) {
        if value["needs_clarification"].as_bool().unwrap_or(true) || value["answer"].is_null() {
            return;
        }
        // A metric is computed as it is declared, and not by what its definition says.
        if value["sources"][0]["type"] == Kind::Metric.as_str() {
            return;
        }
        let definition = Definition {
            term: text(&value["term"]),
            text: text(&value["answer"]),
            source: text(&value["sources"][0]["name"]),
            confidence: value["confidence"].as_f64().unwrap_or(0.0),
        };
        if !self.definitions.iter().any(|known| known.term == definition.term) {
            self.definitions.push(definition);
        }
    }

    fn table(&mut self, value: &Value) {
        let (database, name) = (text(&value["database"]), text(&value["table"]));
        if name.is_empty() || self.tables.iter().any(|table| table.database == database && table.name == name) {
            return;
        }
        let samples = &value["sample_values"];
        let columns = value["columns"].as_array().into_iter().flatten();
        let columns = columns.map(|column| read_column(column, &samples[text(&column["name"])])).collect();
        self.tables.push(Table { database, name, columns });
    }
}

fn read_column(value: &Value, samples: &Value) -> Column {
    let name = text(&value["name"]);
    let description = text(&value["description"]);
    let mut names = vec![stems(&name)];
    // The name before the colon, as the catalog describes the column.
    let is_short = |text: &str| text.split(' ').count() <= 5;
    let head = description.split(" (values: ").next().unwrap_or_default();
    let called = match head.split_once(": ") {
        Some((called, _)) if is_short(called) => called.to_owned(),
        None if head.len() < description.len() && is_short(head) => head.to_owned(),
        _ => String::new(),
    };
    if called.is_empty() && !description.is_empty() && description.split(' ').count() <= 4 {
        names.push(stems(&description));
    }
    if !called.is_empty() {
        names.push(stems(called.split(" (").next().unwrap_or_default()));
    }
    // Units and the like at the end of a name say nothing of what it is.
    let mut bare = names[0].clone();
    while bare.len() > 1
        && ["usd", "eur", "ms", "s", "pct", "cd", "amt", "cnt", "on", "at"].contains(&bare[bare.len() - 1].as_str())
    {
        bare.pop();
        names.push(bare.clone());
    }
    names.dedup();
    let mut codes = codes(&description);
    for value in samples.as_array().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !codes.iter().any(|(known, _)| *known == value) {
            codes.push((value, Vec::new()));
        }
    }
    for (value, meanings) in &mut codes {
        // A single letter is no word.
        if value.chars().count() > 1 {
            meanings.push(stems(value));
        }
    }
    Column {
        is_key: value["primary_key"].as_bool().unwrap_or(false),
        refers: value["foreign_key"].as_str().and_then(|key| {
            let (table, column) = key.rsplit_once('.')?;
            Some((table.to_owned(), column.to_owned()))
        }),
        data_type: text(&value["type"]),
        min: text(&value["statistics"]["min"]),
        max: text(&value["statistics"]["max"]),
        name,
        names,
        codes,
    }
}

/// `(values: P = paid; O = open, awaiting payment)` and `(values: approved, rejected)`.
fn codes(description: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let Some(values) = description.rsplit_once("(values: ").map(|(_, rest)| rest.trim_end_matches([')', ' '])) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for part in values.split([';']).flat_map(|part| {
        let several = part.matches(" = ").count() > 1 || !part.contains(" = ");
        if several { part.split(',').collect::<Vec<_>>() } else { vec![part] }
    }) {
        let part = part.trim();
        match part.split_once(" = ") {
            Some((values, meaning)) => {
                let meaning = meaning.split(" (").next().unwrap_or_default();
                let meanings: Vec<Vec<String>> = meaning
                    .split([','])
                    .flat_map(|one| one.split(" or "))
                    .map(stems)
                    .filter(|one| !one.is_empty())
                    .collect();
                for value in values.split(',') {
                    found.push((value.trim().to_owned(), meanings.clone()));
                }
            }
            None if !part.is_empty() && part.split(' ').count() == 1 && stem(part) != "yyyy-mm-dd" && part != "..." => {
                found.push((part.to_owned(), Vec::new()));
            }
            None => {}
        }
    }
    found
}

fn items_of(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(description: &str, expected: &[(&str, &str)]) {
        let found: Vec<(String, String)> = codes(description)
            .into_iter()
            .map(|(value, meanings)| (value, meanings.iter().map(|one| one.join(" ")).collect::<Vec<_>>().join("/")))
            .collect();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(value, meaning)| (value.as_str(), meaning.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn codes_are_read_from_descriptions() {
        check("x (values: P = paid; O = open, awaiting payment)", &[("P", "paid"), ("O", "open/awaiting payment")]);
        check("x (values: approved, rejected)", &[("approved", ""), ("rejected", "")]);
        check("x (values: 1 = public, 0 = private)", &[("1", "public"), ("0", "private")]);
        check(
            "x (values: mp3, aac = downloads; cd = compact disc)",
            &[("mp3", "download"), ("aac", "download"), ("cd", "compact disc")],
        );
        check("Day (values: YYYY-MM-DD)", &[]);
        check("no values", &[]);
    }
}
