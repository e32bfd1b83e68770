//! Described sources of every dialect, without rows.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_connect::rows::{SampleRequest, Samples, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use prospector_engine::{Engine, Source};

struct Described(SourceKind);

fn refuse<T>() -> Result<T, ConnectError> {
    Err(ConnectError::Unsupported { place: "described".to_owned(), act: "be asked" })
}

#[async_trait]
impl Connector for Described {
    fn kind(&self) -> SourceKind {
        self.0
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        refuse()
    }

    async fn sample(&self, _: &str, _: &str, _: &SampleRequest) -> Result<Samples, ConnectError> {
        refuse()
    }

    async fn statistics(&self, _: &str, _: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        refuse()
    }
}

fn table(name: &str, columns: &[(&str, ColumnType)]) -> Table {
    let column = |(at, (name, column_type)): (usize, &(&str, ColumnType))| Column {
        name: (*name).to_owned(),
        // As SQLite declares it.
        data_type: if *column_type == ColumnType::DateText { "DATE".to_owned() } else { String::new() },
        column_type: *column_type,
        nullable: true,
        primary_key: at == 0,
        ..Column::default()
    };
    Table { name: name.to_owned(), columns: columns.iter().enumerate().map(column).collect(), ..Table::default() }
}

/// Creates an engine over `store` in SQLite, `pg` in PostgreSQL, `my` in MySQL and `files`, all with the same tables.
pub(crate) fn engine() -> Arc<Engine> {
    let source = |name: &str, kind: SourceKind, date: ColumnType| {
        use ColumnType::{Boolean, Float, Integer, Text, Timestamp};
        let tables = vec![
            table(
                "invoices",
                &[
                    ("invoice_id", Integer),
                    ("customer_id", Integer),
                    ("invoice_date", date),
                    ("total", Float),
                    ("stat_cd", Text),
                    ("bill_cntry", Text),
                ],
            ),
            table(
                "customers",
                &[
                    ("customer_id", Integer),
                    ("name", Text),
                    ("country_cd", Text),
                    ("mkt_optin", Boolean),
                    ("signup_date", date),
                ],
            ),
            table(
                "refunds",
                &[("refund_id", Integer), ("invoice_id", Integer), ("amount", Float), ("placed", Timestamp)],
            ),
            table("countries", &[("country_cd", Text), ("name", Text)]),
        ];
        Source { name: name.to_owned(), tables, functions: Vec::new(), connector: Arc::new(Described(kind)) }
    };
    Engine::new(vec![
        source("store", SourceKind::Sqlite, ColumnType::DateText),
        source("pg", SourceKind::Postgres, ColumnType::Date),
        source("my", SourceKind::Mysql, ColumnType::Date),
        source("files", SourceKind::Csv, ColumnType::Date),
    ])
}
