//! A small shop and a fake connector, for the tests of this crate.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use prospector_connect::error::Cause;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::{Rows, SampleRequest, Samples, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::table::{Column, ForeignKey, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use prospector_search::Index;
use serde_json::{Value, json};

use crate::{Database, Entry, SchemaDiscovery};

/// Returns a table whose columns are `name` or `name type`; a star marks the primary key.
pub(crate) fn table(name: &str, columns: &[&str]) -> Table {
    let column = |text: &&str| {
        let (name, data_type) = text.split_once(' ').unwrap_or((text, "INTEGER"));
        let primary_key = name.ends_with('*');
        let name = name.trim_end_matches('*').to_owned();
        Column { name, data_type: data_type.into(), nullable: !primary_key, primary_key, ..Column::default() }
    };
    Table { name: name.into(), columns: columns.iter().map(column).collect(), ..Table::default() }
}

/// Returns a foreign key of one column.
pub(crate) fn key(column: &str, table: &str, references: &str) -> ForeignKey {
    ForeignKey { columns: vec![column.into()], table: table.into(), references: vec![references.into()] }
}

/// `customers <- invoices <- lines -> products`, and `regions` unconnected.
pub(crate) fn shop() -> Vec<Table> {
    let mut tables = vec![
        table("customers", &["id*", "name TEXT"]),
        table("invoices", &["id*", "customer_id", "total REAL", "status TEXT"]),
        table("lines", &["id*", "invoice_id", "product_id"]),
        table("products", &["id*", "name TEXT"]),
        table("regions", &["id*", "name TEXT"]),
    ];
    tables[1].foreign_keys = vec![key("customer_id", "customers", "id")];
    tables[1].row_count = Some(3);
    tables[1].columns[2].nullable = false;
    tables[2].foreign_keys = vec![key("invoice_id", "invoices", "id"), key("product_id", "products", "id")];
    tables
}

/// The shop, and a library that is only a schema.
pub(crate) fn discovery() -> SchemaDiscovery {
    let shop = Database {
        name: "shop".into(),
        kind: SourceKind::Sqlite,
        description: "A web shop".into(),
        tables: shop(),
        withheld: vec!["salaries".into()],
        functions: Vec::new(),
        personal: Vec::new(),
    };
    let library = Database {
        tables: vec![table("books", &["isbn* TEXT", "title TEXT"])],
        ..Database::new("library", SourceKind::Ddl)
    };
    let fake = Fake::new(shop.tables.clone())
        .holding("invoices", "total", vec![json!(9.5), json!(1.25), json!(3)])
        .holding("invoices", "status", vec![json!("open"), json!("paid")]);
    SchemaDiscovery::new(vec![
        Entry { database: shop, connector: Some(Arc::new(fake)) },
        Entry { database: library, connector: Some(Arc::new(Fake::new(vec![]).without_data())) },
    ])
}

/// The shop, with descriptions.
pub(crate) fn describe_shop() -> SchemaDiscovery {
    let mut tables = shop();
    tables[0].description = "People and companies that buy".into();
    tables[1].description = "One row for each invoice".into();
    tables[1].columns[3].description = "state of the invoice (values: open, paid)".into();
    tables[1].columns[2].description = "sum in euros".into();
    let database = Database { tables, ..Database::new("shop", SourceKind::Sqlite) };
    SchemaDiscovery::new(vec![Entry { database, connector: None }])
}

/// Returns the index of a discovery.
pub(crate) fn index(discovery: &SchemaDiscovery) -> Index {
    Index::in_memory(discovery.records(), None).unwrap()
}

/// The behaviour of a [`Fake`].
#[derive(Default, PartialEq)]
enum Mood {
    #[default]
    Well,
    Broken,
    Hanging,
    Empty,
}

/// A fake source. Columns without configured values are empty.
#[derive(Default)]
pub(crate) struct Fake {
    tables: Vec<Table>,
    values: BTreeMap<(String, String), Vec<Value>>,
    rows: BTreeMap<String, Vec<Vec<Value>>>,
    mood: Mood,
    /// The number of statistics requests.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Fake {
    pub(crate) fn new(tables: Vec<Table>) -> Self {
        Fake { tables, ..Fake::default() }
    }

    pub(crate) fn broken() -> Self {
        Fake { mood: Mood::Broken, ..Fake::default() }
    }

    pub(crate) fn hanging() -> Self {
        Fake { mood: Mood::Hanging, ..Fake::default() }
    }

    pub(crate) fn without_data(self) -> Self {
        Fake { mood: Mood::Empty, ..self }
    }

    pub(crate) fn holding(mut self, table: &str, column: &str, values: Vec<Value>) -> Self {
        self.values.insert((table.into(), column.into()), values);
        self
    }

    /// Sets whole rows of a table, whichever of its columns are read.
    pub(crate) fn with_rows(mut self, table: &str, rows: Vec<Vec<Value>>) -> Self {
        self.rows.insert(table.into(), rows);
        self
    }

    async fn ready(&self, table: &str) -> Result<(), ConnectError> {
        match self.mood {
            Mood::Well => Ok(()),
            Mood::Broken => Err(ConnectError::read("fake", table, Cause::Other, "it is gone")),
            Mood::Hanging => std::future::pending().await,
            Mood::Empty => Err(ConnectError::NoData { place: "fake".into() }),
        }
    }

    fn values_of(&self, table: &str, column: &str) -> Vec<Value> {
        self.values.get(&(table.to_owned(), column.to_owned())).cloned().unwrap_or_default()
    }
}

#[async_trait]
impl Connector for Fake {
    fn kind(&self) -> SourceKind {
        SourceKind::Sqlite
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.ready("all").await?;
        Ok((self.tables.clone(), Vec::new()))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        self.ready(table).await?;
        let wanted = request.contains.as_deref().unwrap_or_default().to_lowercase();
        let mut values = self.values_of(table, column);
        values.retain(|value| value.to_string().to_lowercase().contains(&wanted));
        let distinct = values.len() as u64;
        values.truncate(request.limit);
        Ok(Samples { complete: values.len() as u64 == distinct, values, distinct })
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.ready(table).await?;
        let statistics = |column: &String| {
            let mut values = self.values_of(table, column);
            values.sort_by(|a, b| match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => a.to_string().cmp(&b.to_string()),
            });
            let (min, max) = (values.first().cloned(), values.last().cloned());
            Statistics { column: column.clone(), cardinality: values.len() as u64, min, max, ..Statistics::default() }
        };
        Ok(columns.iter().map(statistics).collect())
    }

    /// Returns the values of the first column that a condition lists.
    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        self.ready(table).await?;
        if let Some(rows) = self.rows.get(table) {
            return Ok(Rows { columns: columns.to_vec(), rows: rows.clone(), has_more: false });
        }
        let mut values = self.values_of(table, &columns[0]);
        for condition in conditions {
            values.retain(|value| condition.value.as_array().is_some_and(|listed| listed.contains(value)));
        }
        let has_more = values.len() > limit;
        values.truncate(limit);
        Ok(Rows { columns: columns.to_vec(), rows: values.into_iter().map(|value| vec![value]).collect(), has_more })
    }

    fn has_data(&self) -> bool {
        self.mood != Mood::Empty
    }
}
