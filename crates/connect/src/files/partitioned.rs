//! A partitioned table: several Parquet files in folders named by the values of partition keys; each key is a column.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingTableUrl, PartitionedFile};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use futures::future::{BoxFuture, FutureExt, ready};

use super::failure::FileError;
use crate::partition::Partition;

/// The files and the columns; key columns follow the columns of the files.
#[derive(Debug)]
pub(super) struct PartitionedTable {
    format: Arc<ParquetFormat>,
    table: TableSchema,
    files: FileGroup,
}

impl PartitionedTable {
    /// Opens the table of these files, which are in folders of the same keys.
    ///
    /// # Errors
    /// If a file cannot be read, or a column has incompatible types.
    pub(super) async fn open(session: &SessionContext, paths: &[PathBuf]) -> Result<Self, FileError> {
        // The metadata contains the descriptions.
        let format = Arc::new(ParquetFormat::default().with_skip_metadata(false));
        let keys: Vec<Partition> = paths.iter().filter_map(|path| Partition::of(path)).collect();
        let columns = key_columns(&keys);
        let mut files = Vec::with_capacity(paths.len());
        for (path, partition) in paths.iter().zip(&keys) {
            let metadata = tokio::fs::metadata(path).await?;
            let url = url::Url::from_file_path(path).map_err(|()| FileError::Relative)?;
            let mut file = PartitionedFile::new("", metadata.len());
            file.object_meta.location = ListingTableUrl::parse(url)?.prefix().clone();
            file.object_meta.last_modified = metadata.modified()?.into();
            let values = columns.iter().zip(&partition.keys);
            file.partition_values = values
                .map(|(column, (_, value))| value_of(value.as_deref(), column.data_type()))
                .collect::<Result<_>>()?;
            files.push(file);
        }
        let store = session.runtime_env().object_store(ObjectStoreUrl::local_filesystem())?;
        let objects: Vec<_> = files.iter().map(|file| file.object_meta.clone()).collect();
        let state = session.state();
        let schema = match format.infer_schema(&state, &store, &objects).await {
            Ok(schema) => schema,
            Err(whole) => {
                for (path, object) in paths.iter().zip(&objects) {
                    let one = format.infer_schema(&state, &store, std::slice::from_ref(object)).await;
                    one.map_err(|error| FileError::Unreadable(format!("{}: {error}", path.display())))?;
                }
                // Each file is readable; their schemas are incompatible.
                return Err(whole.into());
            }
        };
        // The folder takes precedence if a file contains the key too.
        let is_own = |field: &&FieldRef| !columns.iter().any(|key| key.name().eq_ignore_ascii_case(field.name()));
        // Columns missing from a file are null.
        let may_be_missing = |field: &FieldRef| Arc::new(field.as_ref().clone().with_nullable(true));
        let fields: Vec<FieldRef> = schema.fields().iter().filter(is_own).map(may_be_missing).collect();
        let schema = Schema::new(fields).with_metadata(schema.metadata().clone());
        let table = TableSchema::builder(Arc::new(schema)).with_table_partition_cols(columns).build();
        Ok(PartitionedTable { format, table, files: FileGroup::new(files) })
    }
}

/// Returns the key columns: numbers or dates if all values are, else texts.
fn key_columns(partitions: &[Partition]) -> Vec<FieldRef> {
    let Some(first) = partitions.first() else { return Vec::new() };
    let column = |(at, name): (usize, &str)| {
        let mut values = partitions.iter().filter_map(|partition| partition.keys[at].1.as_deref());
        let fits = |kind: &DataType| values.clone().all(|value| value_of(Some(value), kind).is_ok());
        let kind = [DataType::Int64, DataType::Date32].into_iter().find(fits).unwrap_or(DataType::Utf8);
        // A key without any value is text.
        let kind = if values.next().is_some() { kind } else { DataType::Utf8 };
        let is_nullable = partitions.iter().any(|partition| partition.keys[at].1.is_none());
        Arc::new(Field::new(name, kind, is_nullable))
    };
    first.names().enumerate().map(column).collect()
}

fn value_of(value: Option<&str>, kind: &DataType) -> Result<ScalarValue> {
    match value {
        Some(value) => ScalarValue::try_from_string(value.to_owned(), kind),
        None => ScalarValue::try_from(kind),
    }
}

impl PartitionedTable {
    fn configure(
        &self,
        state: &dyn Session,
        projection: Option<Vec<usize>>,
        limit: Option<usize>,
    ) -> Result<FileScanConfig> {
        let source = self.format.file_source(self.table.clone());
        let groups = self.files.clone().split_files(state.config().target_partitions());
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(groups)
            .with_projection_indices(projection)?
            .with_limit(limit);
        Ok(config.build())
    }
}

impl TableProvider for PartitionedTable {
    fn schema(&self) -> SchemaRef {
        self.table.table_schema().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    // Without `async_trait`, whose futures with an `Expr` take the compiler seconds to prove `Send`.
    fn scan<'s, 'e, 'p, 'f, 'a>(
        &'s self,
        state: &'e dyn Session,
        projection: Option<&'p Vec<usize>>,
        _: &'f [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'a,
        'e: 'a,
        'p: 'a,
        'f: 'a,
        Self: 'a,
    {
        match self.configure(state, projection.cloned(), limit) {
            Ok(config) => self.format.create_physical_plan(state, config),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    /// Files and row groups are pruned; the remaining rows still need to be filtered.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
