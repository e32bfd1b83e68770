//! Describes collections: fields from a sample and from validators, indexes as notes, counts.

use futures::{StreamExt, TryStreamExt, stream};
use mongodb::Client;
use mongodb::bson::{Bson, Document, doc};
use prospector_core::Problem;

use super::Mongo;
use super::place::Place;
use super::value::node;
use crate::ConnectError;
use crate::document::inferred::InferredFields;
use crate::document::{DEEPEST, column_type};
use crate::server::{SAMPLE_TIMEOUT, STATEMENT_TIMEOUT};
use crate::table::{Column, Table};

/// Number of documents sampled: half of them the oldest, half the newest.
const SAMPLED: i64 = 500;

/// Maximum size of the sample in bytes.
const SAMPLED_BYTES: usize = 16 << 20;

/// Larger collections use the server's estimate.
const COUNTED: u64 = 100_000;

/// Maximum number of collections described concurrently.
const AT_ONCE: usize = 6;

impl Mongo {
    pub(super) async fn all_described(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let places = self.places().await?;
        let asked: Vec<_> = places.iter().map(|place| self.describe_collection(place)).collect();
        let described: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        let (mut tables, mut problems, mut first) = (Vec::new(), Vec::new(), None);
        for (place, described) in places.iter().zip(described) {
            match described {
                Ok((table, notes)) => {
                    self.remember(&table);
                    tables.push(table);
                    problems.extend(notes);
                }
                Err(error) => {
                    let here = format!("{}: {}", self.server, place.name);
                    problems
                        .push(Problem::error(here, error.to_string()).advise("grant the user `read` on the database"));
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if tables.is_empty() => Err(error),
            _ => Ok((tables, problems)),
        }
    }

    /// Returns a text that changes with the collections, their options and, by powers of two, their sizes.
    pub(super) async fn stamp(&self) -> Result<String, ConnectError> {
        let places = self.places().await?;
        let client = self.client().await?;
        let asked: Vec<_> = places.iter().map(|place| self.size(client, place)).collect();
        let sizes: Vec<u32> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        let mut stamp = String::new();
        for (place, size) in places.iter().zip(sizes) {
            stamp += &format!("{}\u{1}{}\u{1}{}\u{1}{size}\u{2}", place.name, place.kind, place.options);
        }
        Ok(stamp)
    }

    /// Returns the number of binary digits of the document count; 0 for views, which may be slow to count.
    async fn size(&self, client: &Client, place: &Place) -> u32 {
        if place.kind == "view" {
            return 0;
        }
        let collection = place.of(client);
        let counted = async { collection.estimated_document_count().max_time(SAMPLE_TIMEOUT).await };
        let counted = self.within(&place.name, SAMPLE_TIMEOUT, counted).await.unwrap_or(0);
        u64::BITS - counted.leading_zeros()
    }

    pub(super) async fn describe_collection(&self, place: &Place) -> Result<(Table, Vec<Problem>), ConnectError> {
        let is_view = place.kind == "view";
        let counted = self.count(place, is_view).await;
        let (row_count, row_count_estimated) = match counted {
            Ok(counted) => (Some(counted.0), counted.1),
            // Counting a view may be slow or forbidden.
            Err(_) if is_view => (None, false),
            Err(error) => return Err(error),
        };
        let here = format!("{}: {}", self.server, place.name);
        let sampled = async { self.sample_fields(place, is_view, row_count.unwrap_or(0)).await };
        let inferred = self.within(&place.name, STATEMENT_TIMEOUT, sampled).await?;
        let (mut columns, problems) = inferred.columns(&here);
        let schema = place.options.get_document("validator").ok().and_then(|v| v.get_document("$jsonSchema").ok());
        if let Some(schema) = schema {
            add_declared(&mut columns, "", schema, true, 0);
        }
        if !is_view {
            let asked = async { place.of(self.client_ready()?).list_indexes().await?.try_collect::<Vec<_>>().await };
            // A user may have permission to find but not to list indexes.
            let indexes = self.within(&place.name, STATEMENT_TIMEOUT, asked).await.unwrap_or_default();
            for index in indexes {
                let is_unique = index.options.as_ref().and_then(|options| options.unique).unwrap_or(false);
                note_index(&mut columns, &index.keys, is_unique);
            }
        }
        for column in columns.iter_mut().filter(|column| column.name == "_id" && !is_view) {
            (column.primary_key, column.nullable) = (true, false);
        }
        let mut description = schema.map(describe_schema).unwrap_or_default();
        if let Ok(on) = place.options.get_str("viewOn") {
            let gap = if description.is_empty() { "" } else { "\n" };
            description += &format!("{gap}view on {on}");
        }
        let name = place.name.clone();
        let table = Table { name, description, row_count, row_count_estimated, columns, is_view, ..Table::default() };
        Ok((table, problems))
    }

    /// Returns the number of documents, and whether it is an estimate.
    async fn count(&self, place: &Place, is_view: bool) -> Result<(u64, bool), ConnectError> {
        let collection = place.of(self.client().await?);
        let counted = async {
            if !is_view {
                let estimate = collection.estimated_document_count().max_time(SAMPLE_TIMEOUT).await?;
                if estimate > COUNTED {
                    return Ok((estimate, true));
                }
            }
            Ok((collection.count_documents(Document::new()).max_time(SAMPLE_TIMEOUT).await?, false))
        };
        self.within(&place.name, SAMPLE_TIMEOUT * 2, counted).await
    }

    /// Infers the fields of the oldest and the newest documents by id.
    async fn sample_fields(
        &self,
        place: &Place,
        is_view: bool,
        documents: u64,
    ) -> mongodb::error::Result<InferredFields> {
        let collection = place.of(self.client_ready()?);
        let mut inferred = InferredFields::default();
        let mut bytes = 0;
        let rest = i64::try_from(documents).unwrap_or(i64::MAX).saturating_sub(SAMPLED / 2);
        // A view has no index to sort by.
        let parts = match is_view {
            true => vec![(SAMPLED, None)],
            false => vec![(SAMPLED / 2, Some(1)), (rest.clamp(0, SAMPLED / 2), Some(-1))],
        };
        for (limit, order) in parts {
            if limit == 0 {
                continue;
            }
            let mut find = collection.find(Document::new()).limit(limit).batch_size(100).max_time(STATEMENT_TIMEOUT);
            if let Some(order) = order {
                find = find.sort(doc! { "_id": order });
            }
            let mut found = find.await?;
            while bytes < SAMPLED_BYTES && found.advance().await? {
                bytes += found.current().as_bytes().len();
                let document = Document::try_from(found.current())?;
                inferred.add(&node(Bson::Document(document)));
            }
        }
        Ok(inferred)
    }
}

/// Adds the declarations of a JSON Schema for an object to the columns:
/// <https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/>.
fn add_declared(columns: &mut Vec<Column>, path: &str, schema: &Document, is_required: bool, depth: usize) {
    let Ok(properties) = schema.get_document("properties") else { return };
    let required: Vec<&str> =
        schema.get_array("required").map(|list| list.iter().filter_map(Bson::as_str).collect()).unwrap_or_default();
    for (name, property) in properties {
        let Some(property) = property.as_document().filter(|_| crate::document::is_usable(name)) else { continue };
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let is_required = is_required && required.contains(&name.as_str());
        let data_type = type_of(property);
        if depth < DEEPEST {
            let items = property.get_document("items").ok();
            add_declared(columns, &path, property, is_required, depth + 1);
            items.into_iter().for_each(|items| add_declared(columns, &path, items, false, depth + 1));
        }
        match columns.iter_mut().find(|column| column.name == path) {
            Some(column) => {
                column.nullable &= !is_required;
                add_note(column, describe_schema(property), true);
            }
            // An object is represented by its fields, which were added already.
            None if data_type == "object" && property.contains_key("properties") => {}
            None => {
                let column_type = column_type(&data_type);
                let mut column =
                    Column { name: path, data_type, column_type, nullable: !is_required, ..Column::default() };
                add_note(&mut column, describe_schema(property), true);
                columns.push(column);
            }
        }
    }
}

/// Returns the declared type with the names of `$type`.
fn type_of(schema: &Document) -> String {
    let words = |value: &Bson| match value {
        Bson::String(word) => vec![word.clone()],
        Bson::Array(words) => words.iter().filter_map(Bson::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let words = schema.get("bsonType").or_else(|| schema.get("type")).map(words).unwrap_or_default();
    let items = schema.get_document("items").map(type_of).unwrap_or_default();
    let of_list = |word: String| if word == "array" && !items.is_empty() { format!("{items}[]") } else { word };
    words.into_iter().filter(|word| word != "null").map(of_list).collect::<Vec<_>>().join(" | ")
}

/// Returns the human-readable description of a schema.
fn describe_schema(schema: &Document) -> String {
    let text = |key: &str| schema.get_str(key).ok().map(str::trim).filter(|text| !text.is_empty());
    let mut said = text("description").or_else(|| text("title")).unwrap_or_default().to_owned();
    if let Ok(values) = schema.get_array("enum") {
        let values = values.iter().take(20).filter_map(Bson::as_str).collect::<Vec<_>>().join(", ");
        if !values.is_empty() {
            let gap = if said.is_empty() { "" } else { "; " };
            said += &format!("{gap}one of {values}");
        }
    }
    said
}

/// Adds notes to the fields of an index.
fn note_index(columns: &mut [Column], keys: &Document, is_unique: bool) {
    for (at, name) in keys.keys().enumerate().filter(|(_, name)| *name != "_id") {
        let note = match (is_unique, keys.len(), at) {
            (true, 1, _) => "unique",
            (true, _, _) => "unique with others",
            (false, _, 0) => "indexed",
            _ => continue,
        };
        if let Some(column) = columns.iter_mut().find(|column| column.name == *name) {
            add_note(column, note.to_owned(), false);
        }
    }
}

fn add_note(column: &mut Column, text: String, is_first: bool) {
    if text.is_empty() || column.description.split("; ").any(|known| known == text) {
        return;
    }
    column.description = match (column.description.is_empty(), is_first) {
        (true, _) => text,
        (false, true) => format!("{text}; {}", column.description),
        (false, false) => format!("{}; {text}", column.description),
    };
}
