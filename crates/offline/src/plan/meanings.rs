//! What the things that were found mean, for the checks of a plan: read from the answers of tools, and nothing else.

use std::collections::VecDeque;

use prospector_agent::{
    meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, TableMeaning},
    plan::sense::question::stems,
};
use prospector_connect::table::ColumnType;
use serde_json::Value;

use super::evidence::Evidence;

/// So many tables are named for a word.
const MAX_HOMES: usize = 3;

impl Meanings for Evidence {
    fn table(&self, id: &str) -> Option<TableMeaning> {
        let read = self.schemas.iter().find(|schema| schema.id == id).cloned();
        // Where no columns could be read, the hit is all there is.
        read.or_else(|| {
            let hit = self.tables.iter().find(|hit| hit.id() == id).filter(|_| self.schemas.is_empty())?;
            let (database, name) = (hit.database.clone(), hit.table.clone());
            Some(TableMeaning {
                id: hit.id(),
                database,
                name,
                description: hit.description.clone(),
                columns: Vec::new(),
            })
        })
    }

    fn operation(&self, id: &str) -> Option<OperationMeaning> {
        let hit = self.operations.iter().find(|hit| format!("{}.{}", hit.parent, hit.name) == id)?;
        let details = self.methods.iter().find(|(known, _)| known == id);
        Some(OperationMeaning {
            writes: details.map(|(_, writes)| *writes),
            name: hit.name.clone(),
            description: hit.description.clone(),
        })
    }

    fn subject(&self, name: &str) -> Option<String> {
        let of = |hit: &super::evidence::NamedHit| format!("{} {} {}", hit.parent, hit.name, hit.description);
        let sections: Vec<String> = self.documents.iter().filter(|hit| hit.parent == name).map(of).collect();
        let skill = self.skills.iter().find(|hit| hit.name == name).map(of);
        let facts = self.facts.iter().filter(|fact| fact.document() == name);
        let defined: Vec<String> = facts.map(|fact| format!("{} {}", fact.term, fact.definition)).collect();
        let all = sections.into_iter().chain(skill).chain(defined).collect::<Vec<_>>().join(" ");
        (!all.is_empty()).then_some(all)
    }

    fn mentions(&self, name: &str, stem: &str) -> bool {
        self.subject(name).is_some_and(|said| stems(&said).iter().any(|word| word == stem))
    }

    fn definitions(&self, _: &str) -> Vec<DefinedTerm> {
        let known = |fact: &super::evidence::Definition| DefinedTerm {
            term: fact.term.clone(),
            definition: fact.definition.clone(),
            source: fact.source.clone(),
        };
        self.facts.iter().filter(|fact| !fact.term.is_empty()).map(known).collect()
    }

    fn homes(&self, stem: &str) -> Vec<String> {
        let holds = |text: &str| stems(text).iter().any(|word| word == stem);
        let named = self.schemas.iter().filter(|table| holds(&table.name));
        let by_column = self.schemas.iter().filter(|table| {
            !holds(&table.name)
                && table.columns.iter().any(|column| holds(&column.name) || holds(column.natural_name()))
        });
        named.chain(by_column).take(MAX_HOMES).map(|table| table.id.clone()).collect()
    }

    fn bridges(&self, database: &str, from: &str, to: &str) -> Option<Vec<String>> {
        let own: Vec<&TableMeaning> = self.schemas.iter().filter(|table| table.database == database).collect();
        let mut open = VecDeque::from([vec![from.to_owned()]]);
        let mut seen = vec![from.to_owned()];
        while let Some(way) = open.pop_front() {
            let last = way.last()?;
            if last == to {
                return Some(way[1..way.len() - 1].to_vec());
            }
            for next in own.iter().filter(|table| joins(own.iter().find(|known| known.name == *last), table)) {
                if !seen.contains(&next.name) {
                    seen.push(next.name.clone());
                    open.push_back(way.iter().cloned().chain([next.name.clone()]).collect());
                }
            }
        }
        None
    }
}

fn joins(a: Option<&&TableMeaning>, b: &TableMeaning) -> bool {
    let refers = |from: &TableMeaning, to: &TableMeaning| {
        from.columns.iter().any(|column| column.refers.as_ref().is_some_and(|(table, _)| *table == to.name))
    };
    a.is_some_and(|a| refers(a, b) || refers(b, a))
}

/// A table from the answer that shows its columns.
pub(super) fn read_table(value: &Value) -> TableMeaning {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| value[key].as_array().into_iter().flatten();
    let (database, name) = (text(&value["database"]), text(&value["table"]));
    let shown = list("columns").map(|column| {
        let own = text(&column["name"]);
        let refers = column["foreign_key"].as_str().and_then(|to| to.split(", ").next()?.rsplit_once('.'));
        let samples = value["sample_values"][&own].as_array();
        let values: Vec<String> = samples
            .into_iter()
            .flatten()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        let end = |end: &str| column["statistics"][end].as_str().filter(|text| text.len() >= 7).map(str::to_owned);
        let cardinality = column["statistics"]["cardinality"].as_u64();
        ColumnMeaning {
            column_type: read_type(&text(&column["type"])),
            description: text(&column["description"]),
            refers: refers.map(|(table, column)| (table.to_owned(), column.to_owned())),
            primary_key: column["primary_key"] == true,
            complete: !values.is_empty() && cardinality.is_none_or(|all| all <= values.len() as u64),
            span: end("min").zip(end("max")),
            name: own,
            values,
        }
    });
    // Of some columns a wide table shows no more than the names.
    let named = list("other_columns").map(|name| ColumnMeaning { name: text(name), ..ColumnMeaning::default() });
    let columns = shown.chain(named).collect();
    TableMeaning { id: format!("{database}.{name}"), description: text(&value["description"]), database, name, columns }
}

/// What the values of a type are, by the source's word for it.
fn read_type(word: &str) -> ColumnType {
    let word = word.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    if has(&["timestamp", "datetime"]) {
        ColumnType::Timestamp
    } else if has(&["date"]) {
        ColumnType::Date
    } else if has(&["bool"]) {
        ColumnType::Boolean
    } else if has(&["int", "serial"]) && !has(&["interval", "point"]) {
        ColumnType::Integer
    } else if has(&["numeric", "decimal", "float", "double", "real", "money"]) {
        ColumnType::Float
    } else if has(&["char", "text", "utf8", "string", "clob"]) {
        ColumnType::Text
    } else {
        ColumnType::Other
    }
}
