//! What the things of a catalog mean, read from the catalog.

use std::iter;

use prospector_connect::table::{Column, Table};
use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;
use prospector_facts::extract::{ExtractedKind, extract};
use prospector_semantics::{MetricQuery, SemanticModel};
use prospector_text::{codes, identifiers, periods, requests, stem};
use serde_json::Value;

use crate::meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, QueryMeaning, TableMeaning};

/// So many passages are read for the definitions of what a question names.
const MAX_PASSAGES: usize = 24;

/// A sentence that defines less plainly than this defines nothing.
const MIN_STRENGTH: f64 = 0.7;

/// So many homes of a word are named.
const MAX_HOMES: usize = 3;

impl Meanings for Catalog {
    fn table(&self, id: &str) -> Option<TableMeaning> {
        let id = self.resolve(ResourceKind::Table, id)?;
        let known = |(at, _): (usize, &str)| {
            let (database, table) = (&id[..at], &id[at + 1..]);
            Some((self.schema.database(database)?, self.schema.table(database, table)?))
        };
        let (database, table) = id.match_indices('.').find_map(known)?;
        let mut description = table.description.clone();
        if database.tables.len() == 1 {
            description = format!("{description} {}", database.description);
        }
        Some(TableMeaning {
            database: database.name.clone(),
            name: table.name.clone(),
            description,
            columns: table.columns.iter().map(|column| read_column(self, &database.name, table, column)).collect(),
            id,
        })
    }

    fn operation(&self, id: &str) -> Option<OperationMeaning> {
        let id = self.resolve(ResourceKind::Operation, id)?;
        let api =
            self.apis.apis().iter().find(|api| id.strip_prefix(&api.name).is_some_and(|rest| rest.starts_with('.')))?;
        let operation = api.operations.iter().find(|operation| api.id_of(operation) == id)?;
        let parameters = operation.parameters.iter().map(|one| format!("{} {}", one.name, one.description));
        let required = operation.parameters.iter().filter(|one| one.required && one.default.is_none());
        let said = [operation.description.clone(), operation.tags.join(" ")];
        let description = said.into_iter().chain(parameters).collect::<Vec<_>>().join(" ");
        Some(OperationMeaning {
            writes: operation.access().map(|access| access.is_write()),
            api: api.name.clone(),
            name: format!("{} {}", operation.name, operation.path),
            description,
            required: required.map(|one| one.name.clone()).collect(),
        })
    }

    fn subject(&self, name: &str) -> Option<String> {
        if let Some((document, _)) = self.documents.resolve_id(name) {
            let headings: Vec<String> = document.sections.iter().map(|section| section.full_name()).collect();
            let tags = document.tags.join(" ");
            return Some(format!("{} {} {tags} {}", document.name, document.description, headings.join(" ")));
        }
        if let Some(metric) = self.metrics.metric(name) {
            return Some(format!("{} {} {}", metric.name, metric.synonyms.join(" "), metric.description));
        }
        self.skills.resolve(name).map(|skill| format!("{} {}", skill.name, skill.description))
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn metrics(&self) -> Option<&SemanticModel> {
        Some(&self.metrics)
    }

    fn refuse_metrics(&self, query: &MetricQuery) -> Option<String> {
        let failure = match self.metrics.plan(query) {
            Err(failure) => failure,
            // What no source has rows for can be planned all the same.
            Ok(_) => {
                let compiled = self.metrics.compile(&self.engine(), query);
                compiled.err().filter(|failure| failure.code.as_str() != "unknown_database")?
            }
        };
        Some(failure.to_string())
    }

    fn query(&self, name: &str) -> Option<QueryMeaning> {
        let query = self.verified.resolve(name)?;
        let said = query.phrasings().chain([query.description.as_str()]).collect::<Vec<_>>().join(" ");
        let defaults = query.parameters.iter().filter_map(|one| Some((one.name.clone(), one.default_text()?)));
        Some(QueryMeaning {
            tables: query.tables().to_vec(),
            description: said,
            sql: query.sql.clone(),
            defaults: defaults.collect(),
        })
    }

    fn mentions(&self, name: &str, wanted: &str) -> bool {
        let holds = |text: &str| identifiers::words(text).iter().any(|word| stem::snowball_related(word) == wanted);
        match self.documents.resolve_id(name) {
            Some((document, _)) => holds(&document.content),
            None => self.skills.resolve(name).is_some_and(|skill| holds(&skill.content)),
        }
    }

    fn definitions(&self, question: &str) -> Vec<DefinedTerm> {
        let mut found: Vec<DefinedTerm> = Vec::new();
        for fact in self.facts.records() {
            let (term, definition) = (fact.name, fact.description);
            found.push(DefinedTerm { term, definition, source: fact.parent });
        }
        // Periods and names crowd out what is asked about.
        let is_about = |word: &&str| {
            let lower = word.to_lowercase();
            let is_number = lower.chars().any(|c| c.is_ascii_digit());
            let is_code = codes::find_country(&lower).or_else(|| codes::find_currency(&lower)).is_some();
            !is_number && !is_code && !requests::is_about_nothing(&lower)
        };
        let about = periods::words(question).into_iter().filter(is_about).take(20).collect::<Vec<_>>().join(" ");
        let mut passages = Vec::new();
        for query in [question, about.as_str()].into_iter().filter(|query| !query.is_empty()) {
            passages.extend(self.documents.passages(&self.index, query, MAX_PASSAGES).unwrap_or_default());
        }
        for passage in passages {
            for fact in extract(&passage.text) {
                let is_meaning = match fact.kind {
                    ExtractedKind::Definition | ExtractedKind::Equality | ExtractedKind::Abbreviation => true,
                    ExtractedKind::Threshold | ExtractedKind::Unit => false,
                };
                let is_known = found.iter().any(|known| known.term.eq_ignore_ascii_case(&fact.term));
                if is_meaning && fact.confidence >= MIN_STRENGTH && !is_known {
                    let source = format!("{}#{}", passage.document, passage.section);
                    found.push(DefinedTerm { term: fact.term, definition: fact.evidence, source });
                }
            }
        }
        found
    }

    fn homes(&self, wanted: &str) -> Vec<String> {
        let all = self.schema.databases().map(|database| (database.name.as_str(), database.tables.as_slice()));
        list_homes(all, wanted)
    }

    fn homes_in(&self, databases: &[&str], wanted: &str) -> Vec<String> {
        let all = self.schema.databases().map(|database| (database.name.as_str(), database.tables.as_slice()));
        list_homes(all.filter(|(name, _)| databases.contains(name)), wanted)
    }

    fn bridges(&self, database: &str, from: &str, to: &str) -> Option<Vec<String>> {
        let path = list_path(self, database, from, to).or_else(|| {
            // Keys lead to where a declared join goes on.
            let prefix = format!("{database}.");
            let ways = self.metrics.table_joins().into_iter().filter_map(|join| {
                let (a, b) = (join.from.strip_prefix(&prefix)?, join.to.strip_prefix(&prefix)?);
                let way = |near: &str, far: &str| {
                    Some([list_path(self, database, from, near)?, list_path(self, database, far, to)?].concat())
                };
                way(a, b).or_else(|| way(b, a))
            });
            ways.min_by_key(Vec::len)
        })?;
        let mut between: Vec<String> = Vec::new();
        for table in path {
            let is_end = table.eq_ignore_ascii_case(from) || table.eq_ignore_ascii_case(to);
            if !is_end && !between.contains(&table) {
                between.push(table);
            }
        }
        Some(between)
    }
}

/// The tables along declared keys from one to another, both among them.
fn list_path(catalog: &Catalog, database: &str, from: &str, to: &str) -> Option<Vec<String>> {
    if from.eq_ignore_ascii_case(to) {
        return Some(vec![from.to_owned()]);
    }
    let path = catalog.schema.join_path(database, from, to)?;
    let sides = path.iter().flat_map(|join| [&join.from, &join.to]);
    Some(sides.map(|side| side.rsplit_once('.').map_or(side.as_str(), |(table, _)| table).to_owned()).collect())
}

/// The tables of these databases that hold a word, those whose name it is first.
fn list_homes<'a>(databases: impl Iterator<Item = (&'a str, &'a [Table])>, wanted: &str) -> Vec<String> {
    // A word begins as its stem does, or as an irregular form of it; to stem each name of a large catalog would take long.
    let begins: Vec<&[u8]> = iter::once(wanted)
        .chain(stem::list_related(wanted))
        .map(|form| form.as_bytes().get(..3).unwrap_or(form.as_bytes()))
        .collect();
    let may_hold = |name: &str| {
        let begins_with =
            |begin: &&[u8]| name.as_bytes().windows(begin.len().max(1)).any(|part| part.eq_ignore_ascii_case(begin));
        begins.iter().any(begins_with)
    };
    let holds = |name: &str| {
        may_hold(name) && identifiers::words(name).iter().any(|word| stem::snowball_related(word) == wanted)
    };
    let mut named = Vec::new();
    let mut members = Vec::new();
    for (database, tables) in databases {
        for table in tables {
            let id = || format!("{database}.{}", table.name);
            let of_database = tables.len() == 1 && holds(database);
            if holds(&table.name) || of_database {
                named.push(id());
            } else if members.len() < MAX_HOMES && table.columns.iter().any(|column| is_called(column, &holds)) {
                members.push(id());
            }
            if named.len() >= MAX_HOMES {
                return named;
            }
        }
    }
    named.extend(members);
    named.truncate(MAX_HOMES);
    named
}

/// Whether the name of a column, or the natural name in front of its description, holds a word.
fn is_called(column: &Column, holds: &impl Fn(&str) -> bool) -> bool {
    let natural = column.description.split(':').next().unwrap_or_default();
    holds(&column.name) || (natural.split_whitespace().count() <= 4 && holds(natural))
}

fn read_column(catalog: &Catalog, database: &str, table: &Table, column: &Column) -> ColumnMeaning {
    let known = catalog.schema.known_values(database, &table.name, &column.name).unwrap_or_default();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let refers = table.foreign_keys.iter().find_map(|key| {
        let at = key.columns.iter().position(|name| *name == column.name)?;
        Some((key.table.clone(), key.references.get(at)?.clone()))
    });
    let is_day = |value: &Value| value.as_str().is_some_and(|text| text.len() >= 7 && text.as_bytes()[4] == b'-');
    let span = known.range.filter(|(first, last)| is_day(first) && is_day(last));
    ColumnMeaning {
        name: column.name.clone(),
        column_type: column.column_type,
        description: column.description.clone(),
        refers,
        primary_key: column.primary_key,
        values: known.values.iter().map(text).collect(),
        complete: known.complete,
        span: span.map(|(first, last)| (text(&first), text(&last))),
    }
}
