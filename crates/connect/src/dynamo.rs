//! Amazon DynamoDB, read-only: only `ListTables`, `DescribeTable`, `Query` and `Scan` are sent, as plain signed requests.

mod condition;
mod describe;
mod scan;
mod value;
mod wire;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use prospector_core::Problem;
use serde_json::{Map, Value, json};

use crate::budget::Budget;
use crate::document::compare::meets;
use crate::document::{Node, brief};
use crate::filter::{ConditionError, FilterCondition};
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::server::{STATEMENT_TIMEOUT, Server};
use crate::source_kind::SourceKind;
use crate::statement::{TypedColumn, cap_rows, column, columns};
use crate::table::Table;
use crate::tally::Tally;
use crate::{ConnectError, Connector, Source};
use scan::Scan;
use wire::Wire;

/// Number of 1 MB pages of a table that are sampled and measured.
const PAGES: usize = 25;

/// The tables of one account in one region.
pub(crate) struct Dynamo {
    wire: Wire,
    /// Cached table metadata, by name.
    known: Mutex<HashMap<String, Arc<Shape>>>,
}

/// Metadata of a table.
#[derive(Debug, Clone, Default)]
struct Shape {
    /// The exact name.
    name: String,
    fields: Vec<TypedColumn>,
    /// The partition key and the letter of its type.
    partition: Option<(String, String)>,
    /// The sort key.
    sort: Option<String>,
}

/// Returns a connector for an account and region of DynamoDB.
///
/// # Errors
/// If the source is not a server, or its URL has unknown parts.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Dynamo::new(source.require_server()?)?))
}

impl Dynamo {
    fn new(server: &Server) -> Result<Self, ConnectError> {
        Ok(Dynamo { wire: Wire::new(server)?, known: Mutex::default() })
    }

    /// Returns the metadata of a table, from the cache if present.
    async fn shape(&self, table: &str) -> Result<Arc<Shape>, ConnectError> {
        if let Some(shape) = self.known.lock().ok().and_then(|known| known.get(table).cloned()) {
            return Ok(shape);
        }
        let names = self.names().await?;
        let folded = || names.iter().filter(|name| name.eq_ignore_ascii_case(table));
        let name = match names.iter().find(|name| *name == table) {
            Some(name) => name,
            None if folded().count() == 1 => folded().next().unwrap_or(&names[0]),
            None => return Err(ConnectError::unknown_table(self.wire.place(), table)),
        };
        let (_, shape, _) = self.describe_table(name).await?;
        Ok(self.remember(table, shape))
    }

    fn remember(&self, name: &str, shape: Shape) -> Arc<Shape> {
        let shape = Arc::new(shape);
        if let Ok(mut known) = self.known.lock() {
            known.insert(name.to_owned(), shape.clone());
        }
        shape
    }

    fn find_paths(&self, shape: &Shape, names: &[String]) -> Result<Vec<String>, ConnectError> {
        let found = columns(&self.wire.place(), &shape.name, &shape.fields, names)?;
        Ok(found.into_iter().map(|field| field.name.clone()).collect())
    }

    /// Returns the first items of a table with these fields, and whether these are all items.
    async fn some(&self, shape: &Shape, paths: &[String]) -> Result<(Vec<Node>, bool), ConnectError> {
        let mut scan = Scan::new(&self.wire, &shape.name).showing(paths);
        let mut items = Vec::new();
        for _ in 0..PAGES {
            match scan.page(None).await? {
                Some(page) => items.extend(page),
                None => return Ok((items, true)),
            }
        }
        Ok((items, scan.is_done()))
    }
}

#[async_trait]
impl Connector for Dynamo {
    fn kind(&self) -> SourceKind {
        SourceKind::Dynamodb
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.all_described().await
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        self.stamp().await.map(Some)
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let shape = self.shape(table).await?;
        let path = self.find_paths(&shape, &[column.to_owned()])?.remove(0);
        let (items, is_whole) =
            self.wire.within(table, STATEMENT_TIMEOUT, self.some(&shape, std::slice::from_ref(&path))).await?;
        let mut tally = Tally::default();
        items.iter().for_each(|item| tally.add(&item.at(&path)));
        let mut samples = tally.samples(request.contains.as_deref(), request.limit, is_whole);
        let field = shape.fields.iter().find(|field| field.name == path);
        if field.is_some_and(|field| field.data_type.starts_with("binary")) {
            samples.values = samples.values.into_iter().map(|value| brief(Node::Scalar("binary", value))).collect();
        }
        Ok(samples)
    }

    async fn statistics(&self, table: &str, wanted: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let shape = self.shape(table).await?;
        let paths = self.find_paths(&shape, wanted)?;
        let (items, is_whole) = self.wire.within(table, STATEMENT_TIMEOUT, self.some(&shape, &paths)).await?;
        let measured = paths.into_iter().map(|path| {
            let mut tally = Tally::default();
            items.iter().for_each(|item| tally.add(&item.at(&path)));
            tally.statistics(&path, is_whole)
        });
        Ok(measured.collect())
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let shape = self.shape(table).await?;
        let paths = self.find_paths(&shape, columns)?;
        let mut tests = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let wrong = ConnectError::condition(table, &condition.column);
            let field = column(&shape.fields, &condition.column);
            let field = field.ok_or_else(|| wrong(ConditionError::UnknownColumn))?;
            tests.push((field, condition.test().map_err(wrong)?));
        }
        let mut shown = paths.clone();
        shown.extend(tests.iter().map(|(field, _)| field.name.clone()));
        let mut scan = Scan::new(&self.wire, &shape.name).showing(&shown).meeting(&shape, &tests);
        let read = async {
            let (mut rows, mut budget) = (Vec::<Vec<Value>>::new(), Budget::of_rows());
            while rows.len() <= limit {
                let first = tests.is_empty().then(|| limit + 1 - rows.len());
                let Some(page) = scan.page(first).await? else { break };
                // The service evaluates only some of the conditions; all are tested here.
                let met =
                    page.iter().filter(|item| tests.iter().all(|(field, test)| meets(&item.values(&field.name), test)));
                for item in met {
                    let row: Vec<Value> = paths.iter().map(|path| item.at(path).json()).collect();
                    budget.take_row(&row).map_err(|excess| excess.error(self.wire.place(), table, &paths))?;
                    rows.push(row);
                }
            }
            Ok(rows)
        };
        let rows = self.wire.within(table, STATEMENT_TIMEOUT, read).await?;
        Ok(cap_rows(paths, rows, limit))
    }
}

/// The attribute names of an expression, each bound to a placeholder: they may be reserved words or contain any
/// character.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    /// Returns the path as written in an expression: `#n0.#n1`.
    fn path(&mut self, path: &str) -> String {
        let bound: Vec<String> = path.split('.').map(|name| self.one(name)).collect();
        bound.join(".")
    }

    /// Returns the placeholder of one name.
    fn one(&mut self, name: &str) -> String {
        let at = self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        format!("#n{at}")
    }

    /// Returns the names used in the request; DynamoDB rejects unused ones.
    fn json(&self, request: &Map<String, Value>) -> Value {
        let written = find_placeholders(request);
        let named = self.0.iter().enumerate().map(|(at, name)| (format!("#n{at}"), json!(name)));
        named.filter(|(bound, _)| written.contains(bound)).collect::<Map<_, _>>().into()
    }
}

/// Finds the placeholders in the expressions of a request.
fn find_placeholders(request: &Map<String, Value>) -> HashSet<String> {
    let expressions = ["FilterExpression", "KeyConditionExpression", "ProjectionExpression"];
    let texts = expressions.iter().filter_map(|key| request.get(*key)?.as_str());
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || [':', '#'].contains(&letter);
    texts.flat_map(|text| text.split(move |letter| !is_sign(letter))).map(str::to_owned).collect()
}
