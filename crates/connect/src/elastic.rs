//! Elasticsearch and OpenSearch over HTTP, read-only: only search and mapping requests are sent.
//!
//! The connector sends a few read-only requests with limits on the response size and needs no client library.

mod condition;
mod indices;
mod mapping;
mod measure;
mod read;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use prospector_core::Problem;
use reqwest::Method;
use serde_json::{Value, json};

use crate::document::Node;
use crate::filter::FilterCondition;
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::server::STATEMENT_TIMEOUT;
use crate::service::http::{HttpClient, Request, RequestFailure};
use crate::source_kind::SourceKind;
use crate::statement::{cap_rows, find_by_name};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use indices::IndexTable;
use mapping::{Field, MAX_FIELDS, fields};

/// How long table metadata is cached.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Elasticsearch or OpenSearch.
pub(crate) struct Elastic {
    client: HttpClient,
    /// The names and patterns of the described indices; empty means all.
    indices: Vec<String>,
    places: Mutex<HashMap<String, (Instant, Arc<Place>)>>,
}

/// A resolved table with its fields.
pub(crate) struct Place {
    target: String,
    /// A filter that excludes other indices the target may match.
    only: Option<Value>,
    fields: Vec<Field>,
}

impl Place {
    /// Finds a field by name.
    fn field(&self, wanted: &str) -> Option<&Field> {
        find_by_name(&self.fields, |field| &field.name, wanted)
    }
}

/// Returns a connector for an Elasticsearch or OpenSearch cluster.
///
/// # Errors
/// If the source has a path instead of settings.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let Source::Elasticsearch(settings) = source else {
        return Err(source.misplaced_error("a service has settings, not a path"));
    };
    let client = HttpClient::new(&settings.endpoint, settings.to_string());
    Ok(Arc::new(Elastic { client, indices: settings.indices.clone(), places: Mutex::default() }))
}

impl Elastic {
    async fn get(&self, path: &[&str], parameters: Vec<(&str, String)>) -> Result<Value, RequestFailure> {
        let question =
            Request { method: Method::GET, path: path.to_vec(), parameters, body: None, time_limit: STATEMENT_TIMEOUT };
        self.client.ask(question, None).await
    }

    /// Returns the names and patterns to describe.
    fn patterns(&self) -> String {
        match self.indices.as_slice() {
            [] => "*".to_owned(),
            some => some.join(","),
        }
    }

    fn open() -> Vec<(&'static str, String)> {
        vec![("expand_wildcards", "open".to_owned())]
    }

    async fn list_tables(&self) -> Result<Vec<IndexTable>, ConnectError> {
        let answer = self.get(&["_resolve", "index", &self.patterns()], Self::open()).await;
        Ok(indices::tables(&answer.map_err(|error| self.client.statement_error("the list of indices", error))?))
    }

    /// Returns the mappings by index; data streams that the pattern did not match are requested by name.
    async fn mappings(&self, listed: &[IndexTable]) -> Result<HashMap<String, Value>, ConnectError> {
        let failed = |error| self.client.statement_error("the mappings", error);
        let answer = self.get(&[&self.patterns(), "_mapping"], Self::open()).await.map_err(failed)?;
        let mut found = by_index(answer);
        for table in listed.iter().filter(|table| table.is_stream) {
            if !table.indices.iter().any(|index| found.contains_key(index)) {
                found.extend(by_index(self.get(&[&table.name, "_mapping"], Vec::new()).await.map_err(failed)?));
            }
        }
        Ok(found)
    }

    /// Returns the number of documents of each index.
    async fn counts(&self) -> Result<HashMap<String, u64>, RequestFailure> {
        let parameters = vec![
            ("format", "json".to_owned()),
            ("h", "index,docs.count".to_owned()),
            ("expand_wildcards", "open,hidden".to_owned()),
        ];
        let answer = self.get(&["_cat", "indices", &self.patterns()], parameters).await?;
        let count = |row: &Value| {
            let number = row.get("docs.count")?;
            let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
            Some((row.get("index")?.as_str()?.to_owned(), number))
        };
        Ok(answer.as_array().into_iter().flatten().filter_map(count).collect())
    }

    /// Resolves a table.
    async fn place(&self, table: &str) -> Result<Arc<Place>, ConnectError> {
        if let Ok(places) = self.places.lock()
            && let Some((at, place)) = places.get(table)
            && at.elapsed() < REMEMBERED
        {
            return Ok(place.clone());
        }
        let listed = self.list_tables().await?;
        let exact = listed.iter().find(|listed| listed.name == table);
        let found = exact.or_else(|| listed.iter().find(|listed| listed.name.eq_ignore_ascii_case(table)));
        let found = found.ok_or_else(|| ConnectError::unknown_table(self.client.place(), table))?;
        let (target, is_wider) = found.target();
        let mappings = self.get(&[&target, "_mapping"], Vec::new()).await;
        let mappings = by_index(mappings.map_err(|error| self.client.statement_error(table, error))?);
        let own = found.indices.iter().filter_map(|index| mappings.get(index));
        let only = is_wider.then(|| json!({"terms": {"_index": found.indices}}));
        let place = Arc::new(Place { target, only, fields: fields(own).0 });
        if let Ok(mut places) = self.places.lock() {
            places.retain(|_, (at, _)| at.elapsed() < REMEMBERED);
            places.insert(table.to_owned(), (Instant::now(), place.clone()));
        }
        Ok(place)
    }

    /// Returns the named fields, or all fields.
    fn find_fields<'a>(&self, table: &str, place: &'a Place, names: &[String]) -> Result<Vec<&'a Field>, ConnectError> {
        if names.is_empty() {
            return Ok(place.fields.iter().collect());
        }
        names.iter().map(|name| self.find_field(table, place, name)).collect()
    }

    fn find_field<'a>(&self, table: &str, place: &'a Place, name: &str) -> Result<&'a Field, ConnectError> {
        place.field(name).ok_or_else(|| ConnectError::unknown_column(self.client.place(), table, name))
    }
}

#[async_trait]
impl Connector for Elastic {
    fn kind(&self) -> SourceKind {
        SourceKind::Elasticsearch
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let place = self.client.place().to_owned();
        let listed = self.list_tables().await?;
        let mut problems = Vec::new();
        if listed.is_empty() {
            let reason = "no index is visible: the cluster is empty or the account lacks permission";
            let problem = Problem::warning(place, reason);
            problems.push(problem.advise("grant `view_index_metadata` and `read` on the indices, and name them"));
            return Ok((Vec::new(), problems));
        }
        let mappings = self.mappings(&listed).await?;
        let counts = match self.counts().await {
            Ok(counts) => counts,
            Err(error) => {
                let reason =
                    format!("documents cannot be counted: {}", self.client.statement_error("the counts", error));
                let advice = "grant `monitor` on the indices to get document counts";
                problems.push(Problem::warning(place.clone(), reason).advise(advice));
                HashMap::new()
            }
        };
        let mut tables = Vec::with_capacity(listed.len());
        for one in listed {
            let own: Vec<&Value> = one.indices.iter().filter_map(|index| mappings.get(index)).collect();
            if own.is_empty() {
                let reason = "its mapping is hidden: the account lacks permission";
                problems.push(Problem::warning(format!("{place}: {}", one.name), reason));
            }
            let (fields, is_cut) = fields(own.iter().copied());
            if is_cut {
                let reason = format!("it has more than {MAX_FIELDS} fields; the others are skipped");
                problems.push(Problem::warning(format!("{place}: {}", one.name), reason));
            }
            let note = own.first().and_then(|mapping| mapping.pointer("/_meta/description")?.as_str());
            let notes: Vec<String> = note.map(str::to_owned).into_iter().chain(one.note()).collect();
            let known: Option<Vec<u64>> = one.indices.iter().map(|index| counts.get(index).copied()).collect();
            tables.push(Table {
                name: one.name,
                description: notes.join("; "),
                row_count: known.filter(|_| !counts.is_empty()).map(|counts| counts.iter().sum()),
                // Nested objects are counted as documents too.
                row_count_estimated: !counts.is_empty() && fields.iter().any(|field| field.nested.is_some()),
                columns: fields.iter().map(Field::column).collect(),
                ..Table::default()
            });
        }
        for table in &mut tables {
            table.row_count_estimated &= table.row_count.is_some();
        }
        Ok((tables, problems))
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let listed = self.list_tables().await?;
        // Cheaper requests need more permissions.
        let mut mappings: Vec<(String, Value)> = self.mappings(&listed).await?.into_iter().collect();
        mappings.sort_by(|a, b| a.0.cmp(&b.0));
        let mut hasher = DefaultHasher::new();
        for table in &listed {
            (&table.name, &table.indices, &table.aliases).hash(&mut hasher);
        }
        for (index, mapping) in &mappings {
            (index, mapping.to_string()).hash(&mut hasher);
        }
        Ok(Some(format!("{:016x}", hasher.finish())))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.place(table).await?;
        let field = self.find_field(table, &place, column)?;
        self.sample_field(table, &place, field, request).await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let place = self.place(table).await?;
        let wanted = self.find_fields(table, &place, columns)?;
        self.measure(table, &place, &wanted).await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let place = self.place(table).await?;
        let wanted = self.find_fields(table, &place, columns)?;
        let found = self.read(table, &place, &wanted, conditions, None, limit).await?;
        let names: Vec<String> = wanted.iter().map(|field| field.name.clone()).collect();
        if let Some(excess) = found.excess {
            return Err(excess.error(self.client.place(), table, &names));
        }
        let rows = found.rows.into_iter().map(|row| row.into_iter().map(Node::cell).collect()).collect();
        let rows = cap_rows(names, rows, limit);
        Ok(Rows { has_more: found.has_more, ..rows })
    }
}

/// Returns the mappings of a response, by index.
fn by_index(answer: Value) -> HashMap<String, Value> {
    let Value::Object(indices) = answer else { return HashMap::new() };
    let mapping = |mut index: Value| index.get_mut("mappings").map(Value::take);
    indices.into_iter().filter_map(|(name, index)| Some((name, mapping(index)?))).collect()
}
