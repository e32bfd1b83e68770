//! What the conversation holds so far, read back from the tool results.

use prospector_agent::plan::{QueryCall, Step, meaning::TableMeaning};
use prospector_core::Kind;
use prospector_discovery::DiscoveryTools;
use prospector_llm::{Message, message::ToolCall, purpose::Objection};
use serde::Deserialize;
use serde_json::Value;

use super::table::read_table;
use crate::calls::{items, nearest_items, pair_results};

/// A definition that was resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    pub(super) term: String,
    pub(super) definition: String,
    pub(super) source: String,
    /// `document`, `table`, `user`, `catalog`...
    pub(super) source_type: String,
    pub(super) confidence: f64,
}

/// A table that a search returned.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableHit {
    pub(super) database: String,
    pub(super) table: String,
    pub(super) relevance: f64,
    /// The keys that join it to the other hits.
    pub(super) joins: Vec<String>,
    /// The values of the question that it holds, as conditions: `countries.name = 'Brazil'`.
    pub(super) values: Vec<String>,
    /// Whether it is only a bridge between others.
    pub(super) via: bool,
    /// What the hit says of it.
    pub(super) description: String,
    /// Whether it has more columns than the hit tells.
    pub(super) has_more_columns: bool,
}

impl TableHit {
    pub(super) fn id(&self) -> String {
        format!("{}.{}", self.database, self.table)
    }
}

/// An operation (`parent` is the API), a section of a document (`parent` is the document) or a skill.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedHit {
    pub(super) parent: String,
    pub(super) name: String,
    pub(super) relevance: f64,
    pub(super) description: String,
}

/// An operation that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadOperation {
    pub(super) id: String,
    /// Whether it changes something, where that is known.
    pub(super) writes: Option<bool>,
    pub(super) requires: Vec<RequiredIdentifier>,
}

/// An identifier that an operation has to be called with, and the operations that give it, the plainest first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequiredIdentifier {
    pub(super) parameter: String,
    pub(super) given_by: Vec<String>,
}

impl Definition {
    /// The document that gives it, without the section.
    pub(super) fn document(&self) -> &str {
        self.source.split('#').next().unwrap_or_default()
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Evidence {
    pub(super) question: String,
    /// The definitions of what the question names.
    pub(super) facts: Vec<Definition>,
    /// A sentence that answers the question, where one does; it has no term.
    pub(super) answer: Option<Definition>,
    /// The verified query that answers the question.
    pub(super) verified: Option<Step>,
    /// What the question computes, where every word of it is understood.
    pub(super) reading: Option<Step>,
    /// What the user has to say first, for the definition to be found.
    pub(super) unclear: Option<String>,
    pub(super) tables: Vec<TableHit>,
    pub(super) operations: Vec<NamedHit>,
    pub(super) documents: Vec<NamedHit>,
    pub(super) skills: Vec<NamedHit>,
    /// The tables whose columns were read.
    pub(super) schemas: Vec<TableMeaning>,
    /// The operations that were looked at.
    pub(super) read_operations: Vec<ReadOperation>,
    /// What made no sense in an earlier plan.
    pub(super) objections: Vec<Objection>,
    /// Names that the verification refused.
    pub(super) refused: Vec<String>,
    /// Tools that failed, and how.
    pub(super) failures: Vec<String>,
}

impl Evidence {
    /// Reads the results of the calls that were made for a question; `rejected` are names that an earlier plan must not
    /// have used.
    pub(super) fn read(question: &str, rejected: &[String], messages: &[Message]) -> Evidence {
        let (question, refused) = (question.trim().to_owned(), rejected.to_vec());
        let mut evidence = Evidence { question, refused, ..Evidence::default() };
        for (call, result) in pair_results(messages) {
            if result.is_error {
                evidence.failures.push(format!("{}: {}", result.name, result.content));
            } else if let Some(value) = &result.data {
                evidence.result(call, value);
            }
        }
        evidence.add_values();
        evidence
    }

    /// What a search says that a column holds is known of the column too.
    fn add_values(&mut self) {
        for hit in &self.tables {
            let Some(schema) = self.schemas.iter_mut().find(|schema| schema.id == hit.id()) else { continue };
            for condition in &hit.values {
                let Some((column, value)) = condition.split_once(" = ") else { continue };
                let name = column.rsplit('.').next().unwrap_or(column);
                let value = value.trim_matches('\'').replace("''", "'");
                let column = schema.columns.iter_mut().find(|column| column.name == name);
                if let Some(column) = column.filter(|column| !column.values.contains(&value)) {
                    column.values.push(value);
                }
            }
        }
    }

    fn result(&mut self, call: &ToolCall, value: &Value) {
        // A search of the compact profile for one kind answers as that kind's own search.
        let name = match (call.name.as_str(), call.arguments["kinds"][0].as_str()) {
            ("search", Some("table")) => "search_tables",
            ("search", Some("operation")) => "search_operations",
            ("search", Some("document")) => "search_documents",
            ("search", Some("skill")) => "search_skills",
            (name, _) => name,
        };
        match name {
            "resolve_fact" => self.resolution(value),
            DiscoveryTools::FIND_VERIFIED_TOOL => self.verified = items(value).find_map(read_verified),
            DiscoveryTools::READ_TOOL => self.reading = Step::deserialize(value).ok(),
            "search_tables" => {
                for item in items(value) {
                    let hit = TableHit {
                        database: text(item, "database"),
                        table: text(item, "table"),
                        relevance: number(item, "relevance"),
                        joins: texts(item, "joins"),
                        values: texts(item, "matched_values"),
                        via: item["via"].as_bool().unwrap_or(false),
                        description: text(item, "description"),
                        has_more_columns: item["description"].as_str().is_some_and(|text| text.ends_with('…')),
                    };
                    // What the question or its definition finds likely is likely; a later search saw more keys.
                    match self.tables.iter_mut().find(|known| known.id() == hit.id()) {
                        Some(known) => {
                            known.via &= hit.via;
                            known.relevance = known.relevance.max(hit.relevance);
                            let new: Vec<String> =
                                hit.joins.into_iter().filter(|join| !known.joins.contains(join)).collect();
                            known.joins.extend(new);
                            let new: Vec<String> =
                                hit.values.into_iter().filter(|value| !known.values.contains(value)).collect();
                            known.values.extend(new);
                        }
                        None => self.tables.push(hit),
                    }
                }
            }
            // Whether one of few words holds what the question names is checked; how many of its words it shares says little.
            "search_operations" => {
                self.operations.extend(nearest_items(value).map(|item| read_hit(item, "api", "operation")))
            }
            "search_documents" => {
                self.documents.extend(items(value).map(|item| NamedHit {
                    description: text(item, "excerpt"),
                    ..read_hit(item, "document", "section")
                }))
            }
            "search_skills" => self.skills.extend(items(value).map(|item| read_hit(item, "", "name"))),
            "get_table_schema" => self.schema(value),
            "get_operation_details" => self.operation(value),
            "describe" => {
                for item in items(value).filter(|item| item.get("answer").is_some()) {
                    match item["kind"].as_str() {
                        Some("table") => self.schema(&item["answer"]),
                        Some("operation") => self.operation(&item["answer"]),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn schema(&mut self, value: &Value) {
        let table = read_table(value);
        // A search shows the keys of likely tables; a schema has them all.
        let keys: Vec<String> = (table.columns.iter())
            .filter_map(|column| {
                let (to, other) = column.refers.as_ref()?;
                Some(format!("{}.{} = {to}.{other}", table.name, column.name))
            })
            .filter(|key| !self.tables.iter().any(|hit| hit.joins.iter().any(|join| join.contains(key.as_str()))))
            .collect();
        match self.tables.iter_mut().find(|hit| hit.id() == table.id) {
            Some(hit) => hit.joins.extend(keys),
            // An objection led here.
            None => self.tables.push(TableHit {
                database: table.database.clone(),
                table: table.name.clone(),
                relevance: 0.0,
                joins: keys,
                values: Vec::new(),
                via: false,
                description: table.description.clone(),
                has_more_columns: false,
            }),
        }
        if !self.schemas.iter().any(|known| known.id == table.id) {
            self.schemas.push(table);
        }
    }

    fn operation(&mut self, value: &Value) {
        let parameters = value["parameters"].as_array().into_iter().flatten();
        let required =
            parameters.map(|one| RequiredIdentifier { parameter: text(one, "name"), given_by: texts(one, "given_by") });
        self.read_operations.push(ReadOperation {
            id: format!("{}.{}", text(value, "api"), text(value, "operation")),
            writes: value["access"].as_str().map(|access| access == "writes"),
            requires: required.filter(|one| !one.given_by.is_empty()).collect(),
        });
    }

    fn resolution(&mut self, value: &Value) {
        let confidence = number(value, "confidence");
        if value["needs_clarification"].as_bool().unwrap_or(false) {
            // Only a conflict is worth asking back; that a question defines no term is no matter.
            if !value["sources"].as_array().is_none_or(Vec::is_empty) {
                self.unclear = value["clarification"].as_str().map(str::to_owned);
            }
            return;
        }
        let (term, answer) = (text(value, "term"), text(value, "answer"));
        // A metric is computed as it is declared, and not by what its definition says.
        if answer.is_empty() || value["sources"][0]["type"] == Kind::Metric.as_str() {
            return;
        }
        let source = value["sources"][0]["name"].as_str().unwrap_or_default().to_owned();
        let source_type = text(&value["sources"][0], "type");
        let is_answer = term.is_empty();
        let found = Definition { term, definition: answer, source, source_type, confidence };
        if is_answer {
            self.answer.get_or_insert(found);
        } else if !self.facts.iter().any(|known| known.term.eq_ignore_ascii_case(&found.term)) {
            self.facts.push(found);
        }
    }
}

/// The step of a verified query that answers the question.
fn read_verified(item: &Value) -> Option<Step> {
    if item["answers"] != true {
        return None;
    }
    let query = QueryCall::deserialize(item).ok()?;
    let mut question = text(item, "question");
    for (name, value) in &query.parameters {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        question = question.replace(&format!("{{{name}}}"), &value);
    }
    let goal = format!("Run the verified query {}: {question}", query.name);
    Some(Step { goal, tables: texts(item, "tables"), query: Some(query), ..Step::default() })
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(0.0)
}

fn read_hit(item: &Value, parent: &str, name: &str) -> NamedHit {
    NamedHit {
        parent: text(item, parent),
        name: text(item, name),
        relevance: number(item, "relevance"),
        description: text(item, "description"),
    }
}
