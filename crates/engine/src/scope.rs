//! Subsets of tables that are loaded under an alias, for one session.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::error::ArrowError;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::Rows;
use prospector_connect::source::SourceKind;
use prospector_connect::table::{Column, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::column::{array, arrow_type};
use crate::limits::{SubsetMemory, SubsetShare};
use crate::source::Source;
use crate::{Failure, FailureCode};

/// The schema of subsets.
pub(crate) const SCOPED: &str = "scoped";

/// The maximum number of rows that are loaded at once.
pub(crate) const MAX_LOADED: usize = 200_000;

/// The default number of rows.
const USUALLY_LOADED: usize = 10_000;

/// The maximum number of subsets in one session.
const MAX_SUBSETS: usize = 32;

/// The maximum size of all subsets of a session in bytes.
const MAX_BYTES: usize = 512 << 20;

/// A subset to load: rows of one table under an alias.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subset {
    /// The name of the subset in queries: letters, digits and `_`. A subset of the same name is replaced.
    pub alias: String,
    /// The database.
    #[serde(default)]
    #[schemars(!default)]
    pub database: String,
    /// The table.
    #[serde(default)]
    #[schemars(!default)]
    pub table: String,
    /// Only these columns; all if empty.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Conditions that the rows must match, evaluated by the source.
    #[serde(default)]
    pub conditions: Vec<FilterCondition>,
    /// Maximum number of rows, up to 200000.
    #[serde(default = "usually")]
    pub limit: usize,
}

fn usually() -> usize {
    USUALLY_LOADED
}

impl Subset {
    /// Creates a subset of all rows of a table, up to the default limit of 10,000.
    pub fn new(alias: impl Into<String>, database: impl Into<String>, table: impl Into<String>) -> Self {
        Subset {
            alias: alias.into(),
            database: database.into(),
            table: table.into(),
            columns: Vec::new(),
            conditions: Vec::new(),
            limit: USUALLY_LOADED,
        }
    }
}

/// A subset that [`crate::Engine::load`] has loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSubset {
    /// The name of the subset in queries, in lower case.
    pub alias: String,
    /// The database of origin.
    pub database: String,
    /// The table, with its name in the database.
    pub table: String,
    /// The number of loaded rows.
    pub row_count: usize,
    /// Whether more rows match the conditions than the limit allowed to load.
    pub truncated: bool,
    /// The loaded columns, with their types.
    pub columns: Vec<Column>,
    /// The first rows, ten at most.
    pub first: Rows,
}

/// A subset as it is stored.
pub(crate) struct StoredSubset {
    /// The alias and the columns.
    pub(crate) table: Table,
    /// The database of origin.
    pub(crate) database: String,
    /// The table of origin, as `database.table`.
    pub(crate) origin: String,
    pub(crate) batch: RecordBatch,
    /// Its share of the memory of all sessions; `None` for a copy in another process.
    pub(crate) share: Option<SubsetShare>,
}

/// The subsets of one session.
#[derive(Default)]
pub(crate) struct Scope {
    held: RwLock<BTreeMap<String, Arc<StoredSubset>>>,
}

impl Scope {
    /// Stores a subset; one of the same name is replaced.
    ///
    /// # Errors
    /// If there are too many subsets, or they exceed the memory limit of this session or of all sessions.
    pub(crate) fn keep(&self, mut held: StoredSubset, memory: &SubsetMemory) -> Result<(), Failure> {
        let Ok(mut all) = self.held.write() else {
            return Err(Failure::new(FailureCode::Failed, "the session failed earlier"));
        };
        let others = || all.values().filter(|other| other.table.name != held.table.name);
        if others().count() >= MAX_SUBSETS {
            let message = format!("the maximum of {MAX_SUBSETS} subsets is already loaded");
            return Err(Failure::new(FailureCode::TooLarge, message)
                .advise("load it under the alias of a subset that is no longer needed"));
        }
        let bytes: usize = others().map(|other| other.batch.get_array_memory_size()).sum();
        let own = held.batch.get_array_memory_size();
        if bytes + own > MAX_BYTES {
            let message = format!("the subsets of a session would take more than {} MB", MAX_BYTES >> 20);
            return Err(Failure::new(FailureCode::Memory, message).advise("load fewer columns, or add conditions"));
        }
        held.share = memory.take(own);
        if held.share.is_none() {
            let message = "the subsets of all sessions would exceed their memory limit";
            return Err(
                Failure::new(FailureCode::Memory, message).advise("load fewer columns, add conditions, or try later")
            );
        }
        all.insert(held.table.name.clone(), Arc::new(held));
        Ok(())
    }

    pub(crate) fn forget(&self, alias: &str) -> bool {
        self.held.write().is_ok_and(|mut all| all.remove(&alias.to_lowercase()).is_some())
    }

    /// Removes the subsets whose database and table are not kept.
    pub(crate) fn retain(&self, keeps: impl Fn(&str, &str) -> bool) {
        let Ok(mut all) = self.held.write() else { return };
        all.retain(|_, held| {
            let table = held.origin.get(held.database.len() + 1..).unwrap_or_default();
            keeps(&held.database, table)
        });
    }

    /// Returns the current subsets, as one more source and the rows of its tables.
    pub(crate) fn snapshot(&self) -> Option<(Arc<Source>, Vec<Arc<StoredSubset>>)> {
        let held: Vec<Arc<StoredSubset>> = self.held.read().ok()?.values().cloned().collect();
        (!held.is_empty()).then(|| (source_of(&held), held))
    }
}

/// Creates the source whose tables are these subsets.
pub(crate) fn source_of(held: &[Arc<StoredSubset>]) -> Arc<Source> {
    let tables = held.iter().map(|held| held.table.clone()).collect();
    Arc::new(Source { name: SCOPED.to_owned(), tables, functions: Vec::new(), connector: Arc::new(Memory) })
}

impl StoredSubset {
    /// Creates a subset without rows.
    pub(crate) fn empty(table: Table) -> Self {
        let (database, origin) = (String::new(), String::new());
        StoredSubset { table, database, origin, batch: RecordBatch::new_empty(Arc::new(Schema::empty())), share: None }
    }
}

/// Normalises an alias for comparison with queries.
///
/// # Errors
/// If it is not a plain name.
pub(crate) fn alias(written: &str) -> Result<String, Failure> {
    let name = written.trim().to_lowercase();
    let is_plain = name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_plain {
        return Ok(name);
    }
    let message = format!("`{}` is not a valid alias", written.chars().take(80).collect::<String>());
    Err(Failure::new(FailureCode::InvalidArguments, message).advise("use letters, digits and `_`, such as `crm_2025`"))
}

/// Converts rows to columns of their types. A column with values that contradict its type becomes text.
pub(crate) fn batch(columns: &[Column], rows: &[Vec<Value>]) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for (at, column) in columns.iter().enumerate() {
        let values = || rows.iter().map(|row| row.get(at).cloned().unwrap_or_default());
        let declared = arrow_type(column.column_type);
        let made = match array(values(), &declared) {
            Ok(made) => made,
            Err(_) => array(values(), &DataType::Utf8)?,
        };
        fields.push(Field::new(column.name.to_lowercase(), made.data_type().clone(), true));
        arrays.push(made);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

/// The connector of the subsets, whose rows are read from memory.
struct Memory;

#[async_trait]
impl Connector for Memory {
    fn kind(&self) -> SourceKind {
        // Subsets are Arrow batches.
        SourceKind::Arrow
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Err(ConnectError::Unsupported { place: SCOPED.to_owned(), act: "be accessed except by a query" })
    }
}
