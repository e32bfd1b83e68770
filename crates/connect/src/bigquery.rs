//! Google BigQuery over REST, read-only: every statement is dry-run first, must be a query, and is billed for no more
//! bytes than the catalog allows.
//!
//! The connector sends a few read-only requests with limits on the response size and needs no client library.

mod describe;
mod job;
mod sql;
mod token;
mod value;

use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use prospector_core::Problem;
use reqwest::Method;
use serde_json::Value;

use crate::budget::Budget;
use crate::filter::FilterCondition;
use crate::rows::{Rows, SampleRequest, Samples, SqlQuery, Statistics};
use crate::source_kind::SourceKind;
use crate::statement::find_by_name;
use crate::table::Table;
use crate::{ConnectError, Connector, Source, display};
use describe::{dataset, group_shards};
use job::Jobs;
use sql::{PathColumn, SUFFIX, Statement, quote, select, select_samples, select_statistics};
use value::{base, rows};

use crate::service::http::HttpClient;

/// Maximum number of datasets described concurrently.
const AT_ONCE: usize = 4;

/// Maximum number of columns measured by one query.
const COLUMNS_A_QUERY: usize = 200;

/// Page size of list requests.
const PAGE: usize = 1_000;

/// Maximum number of pages read of a list.
const MAX_PAGES: usize = 200;

/// A BigQuery project.
pub(crate) struct Bigquery {
    jobs: Arc<Jobs>,
}

/// A resolved table with its columns.
struct Place {
    /// The table expression after `FROM`.
    from: String,
    /// The newest shard of a date-sharded table, used for its schema, samples and statistics; otherwise as `from`.
    newest: String,
    /// The suffixes matched by `*`.
    suffixes: Vec<String>,
    columns: Vec<PathColumn>,
}

/// Returns a connector for a BigQuery project.
///
/// # Errors
/// If the source has a path instead of settings.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let Source::Bigquery(settings) = source else {
        return Err(source.misplaced_error("a service has settings, not a path"));
    };
    let client = HttpClient::new(&settings.endpoint, settings.to_string());
    let jobs = Jobs { client, settings: settings.clone(), tokens: token::Tokens::default() };
    Ok(Arc::new(Bigquery { jobs: Arc::new(jobs) }))
}

impl Bigquery {
    fn client(&self) -> &HttpClient {
        &self.jobs.client
    }

    fn project(&self) -> &str {
        self.jobs.settings.project()
    }

    /// Returns the items of a list, across pages.
    async fn list(&self, path: &[&str], key: &str, what: &str) -> Result<Vec<Value>, ConnectError> {
        let mut items = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut parameters = vec![("maxResults", PAGE.to_string())];
            parameters.extend(token.take().map(|token| ("pageToken", token)));
            let answer = self.jobs.ask(Method::GET, path, &parameters, None).await;
            let mut answer = answer.map_err(|failure| self.client().statement_error(what, failure))?;
            if let Some(Value::Array(more)) = answer.get_mut(key).map(Value::take) {
                items.extend(more);
            }
            token = answer.get("nextPageToken").and_then(Value::as_str).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(items)
    }

    async fn datasets(&self) -> Result<Vec<String>, ConnectError> {
        let named = &self.jobs.settings.datasets;
        if !named.is_empty() {
            return Ok(named.clone());
        }
        let found = self.list(&[self.project(), "datasets"], "datasets", "the list of datasets").await?;
        let name = |item: &Value| item.pointer("/datasetReference/datasetId")?.as_str().map(str::to_owned);
        Ok(found.iter().filter_map(name).collect())
    }

    /// Returns the names of the tables of a dataset.
    async fn names(&self, dataset: &str) -> Result<Vec<String>, ConnectError> {
        let path = [self.project(), "datasets", dataset, "tables"];
        let found = self.list(&path, "tables", &format!("the dataset {dataset}")).await?;
        let name = |item: &Value| item.pointer("/tableReference/tableId")?.as_str().map(str::to_owned);
        Ok(found.iter().filter_map(name).collect())
    }

    async fn place(&self, table: &str) -> Result<Place, ConnectError> {
        let missing = || ConnectError::unknown_table(self.client().place(), table);
        let (dataset, name) = table.split_once('.').ok_or_else(missing)?;
        let named = &self.jobs.settings.datasets;
        if !named.is_empty() && !named.iter().any(|known| known == dataset) {
            return Err(missing());
        }
        let from = |name: &str| format!("{}.{}.{}", quote(self.project()), quote(dataset), quote(name));
        let (newest, suffixes) = match name.strip_suffix('*') {
            None => (name.to_owned(), Vec::new()),
            Some(prefix) => {
                let groups = group_shards(&self.names(dataset).await?);
                let group = groups.into_iter().find(|group| group.name == name).ok_or_else(missing)?;
                let suffixes = group.members.iter().map(|member| member[prefix.len()..].to_owned()).collect();
                (group.members.into_iter().next().unwrap_or_default(), suffixes)
            }
        };
        let path = [self.project(), "datasets", dataset, "tables", &newest];
        let answer = self.jobs.ask(Method::GET, &path, &[], None).await;
        let answer = answer.map_err(|failure| self.client().statement_error(table, failure))?;
        let mut columns = Vec::new();
        let fields = answer.pointer("/schema/fields").and_then(Value::as_array);
        flatten("", fields.map_or(&[][..], Vec::as_slice), &[], &mut columns);
        if !suffixes.is_empty() {
            columns.push(PathColumn { name: SUFFIX.to_owned(), data_type: "STRING".to_owned(), lists: Vec::new() });
        }
        Ok(Place { from: from(name), newest: from(&newest), suffixes, columns })
    }

    fn find_column<'a>(&self, place: &'a Place, table: &str, name: &str) -> Result<&'a PathColumn, ConnectError> {
        let found = find_by_name(&place.columns, |column| &column.name, name);
        found.ok_or_else(|| ConnectError::unknown_column(self.client().place(), table, name))
    }

    fn find_columns<'a>(
        &self,
        place: &'a Place,
        table: &str,
        names: &[String],
    ) -> Result<Vec<&'a PathColumn>, ConnectError> {
        match names {
            [] => Ok(place.columns.iter().collect()),
            some => some.iter().map(|name| self.find_column(place, table, name)).collect(),
        }
    }

    /// Runs a generated statement and returns its answer under these names.
    async fn ask(
        &self,
        table: &str,
        statement: &Statement,
        names: Option<Vec<String>>,
        cap: usize,
    ) -> Result<Rows, ConnectError> {
        self.read(table, statement, names, Budget::of_rows(), cap).await
    }

    /// Like `ask`, limited by the budget.
    async fn read(
        &self,
        table: &str,
        statement: &Statement,
        names: Option<Vec<String>>,
        budget: Budget,
        cap: usize,
    ) -> Result<Rows, ConnectError> {
        let answer = self.jobs.run(table, statement, budget, cap).await?;
        let own = |field: &Value| field.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let columns = names.unwrap_or_else(|| answer.fields.iter().map(own).collect());
        Ok(Rows { columns, rows: rows(&answer.fields, &answer.rows), has_more: answer.has_more })
    }
}

/// Flattens a schema of `tables.get`: records become their fields, repeated records both the list and its fields.
fn flatten(path: &str, fields: &[Value], lists: &[usize], found: &mut Vec<PathColumn>) {
    for field in fields {
        let word = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = if path.is_empty() { word("name").to_owned() } else { format!("{path}.{}", word("name")) };
        let depth = name.split('.').count();
        let is_list = word("mode") == "REPEATED";
        let inner = field.get("fields").and_then(Value::as_array);
        let mut lists = lists.to_vec();
        if is_list {
            lists.push(depth);
        }
        if is_list || inner.is_none() {
            let data_type = if inner.is_some() { "STRUCT" } else { word("type") }.to_owned();
            found.push(PathColumn { name: name.clone(), data_type, lists: lists.clone() });
        }
        // BigQuery allows 15 levels of nesting.
        if let Some(inner) = inner.filter(|_| depth <= 15) {
            flatten(&name, inner, &lists, found);
        }
    }
}

#[async_trait]
impl Connector for Bigquery {
    fn kind(&self) -> SourceKind {
        SourceKind::Bigquery
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let datasets = self.datasets().await?;
        let (mut tables, mut problems, mut first) = (Vec::new(), Vec::new(), None);
        if datasets.is_empty() {
            let reason = "no dataset is visible: the project is empty or the account lacks permission";
            let problem = Problem::warning(self.client().place(), reason);
            problems.push(problem.advise("name the datasets in the catalog, and grant `BigQuery Metadata Viewer`"));
        }
        let asked = datasets.iter().map(|name| dataset(&self.jobs, self.project(), name));
        let described: Vec<_> = stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE).collect().await;
        for (name, described) in datasets.iter().zip(described) {
            match described {
                Ok(found) => tables.extend(found),
                Err(error) => {
                    let problem = Problem::error(format!("{}.{name}", self.client().place()), error.to_string());
                    let advice = "grant `BigQuery Metadata Viewer` and `BigQuery Job User`, or exclude the dataset";
                    problems.push(problem.advise(advice));
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if tables.is_empty() => Err(error),
            _ => Ok((tables, problems)),
        }
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        let mut stamps = Vec::new();
        for name in self.datasets().await? {
            let sql = format!(
                "SELECT COUNT(*), MAX(last_modified_time), \
                 FARM_FINGERPRINT(STRING_AGG(table_id, ',' ORDER BY table_id)) FROM {}.{}.__TABLES__",
                quote(self.project()),
                quote(&name)
            );
            let statement = Statement { sql, ..Statement::default() };
            let stamp = match self.ask(&format!("the dataset {name}"), &statement, None, 1).await {
                Ok(rows) => format!("{name} {:?}", rows.rows),
                Err(error @ ConnectError::Connect { .. }) => return Err(error),
                // The error itself is reported by `describe`.
                Err(error) => format!("{name} {error}"),
            };
            stamps.push(stamp);
        }
        Ok(Some(stamps.join("; ")))
    }

    async fn sample(&self, table: &str, name: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.place(table).await?;
        let column = self.find_column(&place, table, name)?;
        let needle = request.contains.as_deref().filter(|text| !text.is_empty());
        if column.name == SUFFIX {
            let found: Vec<&String> =
                place.suffixes.iter().filter(|suffix| needle.is_none_or(|needle| suffix.contains(needle))).collect();
            let values: Vec<Value> = found.iter().take(request.limit).map(|suffix| display::text(suffix)).collect();
            let complete = values.len() == found.len();
            return Ok(Samples { values, distinct: found.len() as u64, complete });
        }
        let is_bytes = base(&column.data_type) == "BYTES";
        if is_bytes && needle.is_some() {
            // Byte columns have no text.
            return Ok(Samples { complete: true, ..Samples::default() });
        }
        let statement = select_samples(column, &place.newest, needle, request.limit);
        let answer = self.ask(table, &statement, None, request.limit.max(1)).await?;
        Ok(crate::server::samples(answer, request.limit, place.suffixes.is_empty(), is_bytes))
    }

    async fn statistics(&self, table: &str, names: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let place = self.place(table).await?;
        let wanted = self.find_columns(&place, table, names)?;
        let measurable: Vec<&PathColumn> = wanted.iter().copied().filter(|column| column.name != SUFFIX).collect();
        let mut found = Vec::with_capacity(wanted.len());
        for part in measurable.chunks(COLUMNS_A_QUERY) {
            let answer = self.ask(table, &select_statistics(part, &place.newest), None, 1).await?;
            let columns = part.iter().map(|column| (column.name.as_str(), base(&column.data_type) == "BYTES"));
            let own = crate::server::statistics(columns, answer);
            found.extend(own.into_iter().zip(part).map(|(statistics, column)| Statistics {
                estimated: !place.suffixes.is_empty() || !column.lists.is_empty(),
                ..statistics
            }));
        }
        if wanted.iter().any(|column| column.name == SUFFIX) {
            found.push(Statistics {
                column: SUFFIX.to_owned(),
                cardinality: place.suffixes.len() as u64,
                min: place.suffixes.iter().min().map(|suffix| display::text(suffix)),
                max: place.suffixes.iter().max().map(|suffix| display::text(suffix)),
                ..Statistics::default()
            });
        }
        let order = |name: &str| wanted.iter().position(|column| column.name == name);
        found.sort_by_key(|statistics| order(&statistics.column));
        Ok(found)
    }

    async fn rows(
        &self,
        table: &str,
        names: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let place = self.place(table).await?;
        let wanted = self.find_columns(&place, table, names)?;
        let statement = select(table, &place.from, &wanted, &place.columns, conditions, limit)?;
        let names = wanted.iter().map(|column| column.name.clone()).collect();
        self.ask(table, &statement, Some(names), limit).await
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        self.explain(query).await?;
        let sql = query.sql.trim().trim_end_matches(';').to_owned();
        let statement = Statement { sql, ..Statement::default() };
        self.read("the answer to a query", &statement, None, Budget::of_answer(), cap).await
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        self.jobs.dry_run("the plan of a query", query.sql.trim().trim_end_matches(';')).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flattens_records_and_lists_to_paths() {
        let fields = json!([
            {"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
            {"name": "to", "type": "RECORD", "fields": [{"name": "city", "type": "STRING"}]},
            {"name": "items", "type": "RECORD", "mode": "REPEATED", "fields": [
                {"name": "sku", "type": "STRING"}, {"name": "tags", "type": "STRING", "mode": "REPEATED"}]},
        ]);
        let mut found = Vec::new();
        flatten("", fields.as_array().map_or(&[][..], Vec::as_slice), &[], &mut found);
        let written: Vec<String> =
            found.iter().map(|column| format!("{} {} {:?}", column.name, column.data_type, column.lists)).collect();
        assert_eq!(
            written,
            [
                "id INTEGER []",
                "to.city STRING []",
                "items STRUCT [1]",
                "items.sku STRING [1]",
                "items.tags STRING [1, 2]"
            ]
        );
    }
}
