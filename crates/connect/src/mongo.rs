//! MongoDB servers, read-only: only commands that list, find, count and aggregate are sent, and no pipeline stage that
//! writes or runs a script.

mod condition;
mod describe;
mod pipeline;
mod place;
mod value;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use mongodb::Client;
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::ErrorKind;
use mongodb::options::{ClientOptions, ConnectionString};
use prospector_core::Problem;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::budget::Budget;
use crate::cause::Cause;
use crate::document::{Node, brief, end};
use crate::error::TIMED_OUT;
use crate::filter::{ConditionError, FilterCondition};
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::server::{SAMPLE_ROWS, SAMPLE_TIMEOUT, STATEMENT_TIMEOUT, Server};
use crate::source_kind::SourceKind;
use crate::statement::{TypedColumn, cap_rows, column};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use place::Place;
use value::node;

/// The error code of a missing permission.
const NOT_ALLOWED: i32 = 13;

/// Maximum number of connections to one server.
const AT_ONCE: u32 = 8;

/// Timeout for server selection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer than its server-side time limit a command is awaited.
const GRACE: Duration = Duration::from_secs(2);

/// A MongoDB server, with one or several databases.
pub(crate) struct Mongo {
    server: Server,
    client: OnceCell<Client>,
    /// Cached inferred fields of collections, by displayed name.
    known: Mutex<HashMap<String, Arc<Vec<TypedColumn>>>>,
}

/// Returns a connector for a MongoDB server.
///
/// # Errors
/// If the source is not a server, or its URL has unknown parts.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Mongo::new(source.require_server()?)?))
}

impl Mongo {
    fn new(server: &Server) -> Result<Self, ConnectError> {
        ConnectionString::parse(server.whole_url())
            .map_err(|error| ConnectError::connect(server.to_string(), server.scrub(&error.to_string())))?;
        Ok(Mongo { server: server.clone(), client: OnceCell::new(), known: Mutex::default() })
    }

    async fn client(&self) -> Result<&Client, ConnectError> {
        let connect = || async {
            let mut options = ClientOptions::parse(self.server.whole_url()).await?;
            options.app_name = Some("prospector".to_owned());
            options.connect_timeout.get_or_insert(CONNECT_TIMEOUT);
            options.server_selection_timeout.get_or_insert(CONNECT_TIMEOUT);
            options.max_pool_size.get_or_insert(AT_ONCE);
            Client::with_options(options)
        };
        self.client.get_or_try_init(connect).await.map_err(|error| self.statement_error("", error))
    }

    /// Returns the client after it was connected.
    fn client_ready(&self) -> mongodb::error::Result<&Client> {
        self.client.get().ok_or_else(|| mongodb::error::Error::custom("not connected".to_owned()))
    }

    /// Converts a driver error to the error of an operation on a table.
    fn statement_error(&self, table: &str, error: mongodb::error::Error) -> ConnectError {
        let reason = match error.kind.as_ref() {
            _ if is_timeout(&error) => TIMED_OUT.to_owned(),
            ErrorKind::Command(error) => error.message.clone(),
            other => other.to_string(),
        };
        let reason = self.server.scrub(&reason);
        let server = self.server.to_string();
        let failed = match error.kind.as_ref() {
            ErrorKind::Authentication { .. }
            | ErrorKind::ServerSelection { .. }
            | ErrorKind::DnsResolve { .. }
            | ErrorKind::InvalidTlsConfig { .. }
            | ErrorKind::ConnectionPoolCleared { .. }
            | ErrorKind::Io(_) => ConnectError::connect(server, reason),
            _ if is_timeout(&error) => ConnectError::timeout(server, table),
            ErrorKind::Command(said) => {
                // The server's message names other collections.
                let is_refused = said.code == NOT_ALLOWED;
                let reason = if is_refused { "permission denied".to_owned() } else { reason };
                let cause = if is_refused { Cause::Refused } else { Cause::Other };
                ConnectError::read(server, table, cause, reason).with_code(Some(said.code))
            }
            _ => ConnectError::read(server, table, Cause::Other, reason),
        };
        failed.with_source(error)
    }

    /// Applies a timeout slightly longer than that of the server to an operation on a table.
    async fn within<T>(
        &self,
        table: &str,
        time_limit: Duration,
        act: impl Future<Output = mongodb::error::Result<T>>,
    ) -> Result<T, ConnectError> {
        match tokio::time::timeout(time_limit + GRACE, act).await {
            Ok(done) => done.map_err(|error| self.statement_error(table, error)),
            Err(_) => Err(ConnectError::timeout(self.server.to_string(), table)),
        }
    }

    /// Returns the fields of a collection, inferred unless cached.
    async fn fields(&self, place: &Place) -> Result<Arc<Vec<TypedColumn>>, ConnectError> {
        if let Some(known) = self.known.lock().ok().and_then(|known| known.get(&place.name).cloned()) {
            return Ok(known);
        }
        let (table, _) = self.describe_collection(place).await?;
        Ok(self.remember(&table))
    }

    fn remember(&self, table: &Table) -> Arc<Vec<TypedColumn>> {
        let columns = table.columns.iter();
        let fields = columns.map(|c| TypedColumn { name: c.name.clone(), data_type: c.data_type.clone() });
        let fields: Arc<Vec<TypedColumn>> = Arc::new(fields.collect());
        if let Ok(mut known) = self.known.lock() {
            known.insert(table.name.clone(), fields.clone());
        }
        fields
    }

    /// Returns the path of a column. A column missing from the sample is searched for in the whole collection.
    async fn path(&self, place: &Place, fields: &[TypedColumn], wanted: &str) -> Result<Option<String>, ConnectError> {
        if let Some(known) = column(fields, wanted) {
            return Ok(Some(known.name.clone()));
        }
        if !wanted.split('.').all(crate::document::is_usable) {
            return Ok(None);
        }
        let collection = place.of(self.client().await?);
        let mut exists = Document::new();
        exists.insert(wanted, doc! { "$exists": true });
        let found = collection.find_one(exists).projection(doc! { "_id": 1 }).max_time(SAMPLE_TIMEOUT);
        let found = self.within(&place.name, SAMPLE_TIMEOUT, async { found.await }).await?;
        Ok(found.map(|_| wanted.to_owned()))
    }

    async fn paths(
        &self,
        place: &Place,
        fields: &[TypedColumn],
        wanted: &[String],
    ) -> Result<Vec<String>, ConnectError> {
        if wanted.is_empty() {
            return Ok(fields.iter().map(|field| field.name.clone()).collect());
        }
        let mut paths = Vec::with_capacity(wanted.len());
        for name in wanted {
            let path = self.path(place, fields, name).await?;
            let unknown = || ConnectError::unknown_column(self.server.to_string(), &place.name, name);
            paths.push(path.ok_or_else(unknown)?);
        }
        Ok(paths)
    }

    async fn aggregate(
        &self,
        place: &Place,
        pipeline: Vec<Document>,
        time_limit: Duration,
    ) -> mongodb::error::Result<Option<Document>> {
        let client = self.client_ready()?;
        // A query that exceeds memory fails instead of spilling to the server's disk.
        let answer = place.of(client).aggregate(pipeline).max_time(time_limit).allow_disk_use(false).await?;
        let all: Vec<Document> = answer.take(1).try_collect().await?;
        Ok(all.into_iter().next())
    }
}

/// Whether the server stopped a command at its time limit: `MaxTimeMSExpired`.
fn is_timeout(error: &mongodb::error::Error) -> bool {
    matches!(error.kind.as_ref(), ErrorKind::Command(error) if error.code == 50)
}

/// Whether a memory or response size limit of the server was exceeded: `ExceededMemoryLimit`,
/// `QueryExceededMemoryLimitNoDiskUseAllowed`, `BSONObjectTooLarge`.
fn is_too_much(error: &mongodb::error::Error) -> bool {
    matches!(error.kind.as_ref(), ErrorKind::Command(error) if [146, 292, 10334].contains(&error.code))
}

#[async_trait]
impl Connector for Mongo {
    fn kind(&self) -> SourceKind {
        SourceKind::Mongodb
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.all_described().await
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        self.stamp().await.map(Some)
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.place(table).await?;
        let fields = self.fields(&place).await?;
        let path = self.paths(&place, &fields, &[column.to_owned()]).await?.remove(0);
        let contains = request.contains.as_deref().filter(|text| !text.is_empty());
        let asked = |first: Option<u32>| pipeline::samples(&fields, &path, contains, request.limit, first);
        self.client().await?;
        let whole = self.aggregate(&place, asked(None), SAMPLE_TIMEOUT).await;
        let (answer, is_whole) = match whole {
            Err(error) if is_timeout(&error) || is_too_much(&error) => {
                let some = self.aggregate(&place, asked(Some(SAMPLE_ROWS)), STATEMENT_TIMEOUT);
                (self.within(&place.name, STATEMENT_TIMEOUT, some).await?, false)
            }
            whole => (whole.map_err(|error| self.statement_error(&place.name, error))?, true),
        };
        let answer = answer.unwrap_or_default();
        let list = |name: &str| answer.get_array(name).cloned().unwrap_or_default();
        let distinct = list("distinct").first().and_then(Bson::as_document).map_or(0, |row| value::count(row, "n"));
        let values = list("values").into_iter().take(request.limit);
        let values: Vec<_> =
            values.filter_map(|row| row.as_document()?.get("v").cloned()).map(|value| brief(node(value))).collect();
        let complete = is_whole && values.len() as u64 == distinct;
        Ok(Samples { values, distinct, complete })
    }

    async fn statistics(&self, table: &str, wanted: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let place = self.place(table).await?;
        let fields = self.fields(&place).await?;
        let paths = self.paths(&place, &fields, wanted).await?;
        self.client().await?;
        let measured = paths.into_iter().map(|path| {
            let (place, fields) = (&place, &fields);
            async move {
                let asked =
                    |first| self.aggregate(place, pipeline::statistics(fields, &path, first), STATEMENT_TIMEOUT);
                let (answer, estimated) = match asked(None).await {
                    Err(error) if is_timeout(&error) || is_too_much(&error) => {
                        (self.within(&place.name, STATEMENT_TIMEOUT, asked(Some(SAMPLE_ROWS))).await?, true)
                    }
                    whole => (whole.map_err(|error| self.statement_error(&place.name, error))?, false),
                };
                let answer = answer.unwrap_or_default();
                let at = |name: &str| end(answer.get(name).cloned().map_or(Node::Null, node));
                Ok::<_, ConnectError>(Statistics {
                    column: path,
                    cardinality: value::count(&answer, "distinct"),
                    min: at("min"),
                    max: at("max"),
                    nulls: value::count(&answer, "nulls"),
                    estimated,
                })
            }
        });
        // Collected first: the compiler cannot prove `Send` for a stream that maps borrowed items to futures.
        let measured: Vec<_> = measured.collect();
        stream::iter(measured).buffered(AT_ONCE as usize / 2).try_collect().await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let place = self.place(table).await?;
        let fields = self.fields(&place).await?;
        let paths = self.paths(&place, &fields, columns).await?;
        let mut filters = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let wrong = ConnectError::condition(table, &condition.column);
            let path = self.path(&place, &fields, &condition.column).await?;
            let path = path.ok_or_else(|| wrong(ConditionError::UnknownColumn))?;
            let test = condition.test().map_err(wrong)?;
            filters.push(condition::filter(&path, &test));
        }
        let filter = if filters.is_empty() {
            Document::new()
        } else {
            doc! { "$and": filters }
        };
        let client = self.client().await?;
        let read = async {
            let limit = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
            let collection = place.of(client);
            let found = collection.find(filter).projection(pipeline::projection(&paths)).limit(limit);
            let mut found = found.max_time(STATEMENT_TIMEOUT).await?;
            let (mut rows, mut budget) = (Vec::new(), Budget::of_rows());
            while let Some(document) = found.try_next().await? {
                let document = node(Bson::Document(document));
                let row: Vec<Value> = paths.iter().map(|path| document.at(path).json()).collect();
                if let Err(excess) = budget.take_row(&row) {
                    return Ok(Err(excess));
                }
                rows.push(row);
            }
            Ok(Ok(rows))
        };
        match self.within(&place.name, STATEMENT_TIMEOUT, read).await? {
            Ok(rows) => Ok(cap_rows(paths, rows, limit)),
            Err(excess) => Err(excess.error(self.server.to_string(), table, &paths)),
        }
    }
}
