//! A table whose rows lie in several files of Parquet, in folders that are named by the values of keys: each key is a
//! column.

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

/// The files and the columns, those of the keys behind those that all files have.
#[derive(Debug)]
pub(super) struct PartitionedTable {
    format: Arc<ParquetFormat>,
    table: TableSchema,
    files: FileGroup,
}

impl PartitionedTable {
    /// The table of these files, which lie in folders of the same keys.
    ///
    /// # Errors
    /// Where a file cannot be read, or a column has types that do not go together.
    pub(super) async fn open(session: &SessionContext, paths: &[PathBuf]) -> Result<Self, FileError> {
        // The metadata holds the descriptions.
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
                // Each can be read, and they do not go together.
                return Err(whole.into());
            }
        };
        // Where a file holds the key as well, the folder says what it is.
        let is_own = |field: &&FieldRef| !columns.iter().any(|key| key.name().eq_ignore_ascii_case(field.name()));
        // A column that a file does not have is null there.
        let may_be_missing = |field: &FieldRef| Arc::new(field.as_ref().clone().with_nullable(true));
        let fields: Vec<FieldRef> = schema.fields().iter().filter(is_own).map(may_be_missing).collect();
        let schema = Schema::new(fields).with_metadata(schema.metadata().clone());
        let table = TableSchema::builder(Arc::new(schema)).with_table_partition_cols(columns).build();
        Ok(PartitionedTable { format, table, files: FileGroup::new(files) })
    }
}

/// The columns of the keys: numbers or days where all values are, else texts.
fn key_columns(partitions: &[Partition]) -> Vec<FieldRef> {
    let Some(first) = partitions.first() else { return Vec::new() };
    let column = |(at, name): (usize, &str)| {
        let mut values = partitions.iter().filter_map(|partition| partition.keys[at].1.as_deref());
        let fits = |kind: &DataType| values.clone().all(|value| value_of(Some(value), kind).is_ok());
        let kind = [DataType::Int64, DataType::Date32].into_iter().find(fits).unwrap_or(DataType::Utf8);
        // With no value at all everything fits.
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

    // Without `async_trait`: the compiler would take seconds to prove that a future which holds an `Expr` is `Send`.
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

    /// Files and parts of them that hold no row of the answer are passed over; the rows of the others are still to be filtered.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
