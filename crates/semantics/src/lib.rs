//! The semantic layer: business definitions of metrics. Entities name tables, dimensions are what metrics can be grouped by,
//! and metrics define how values are computed. A query names metrics, and the generated SQL counts no row twice (no fan-out).
//!
//! ```
//! use prospector_connect::query::Aggregation;
//! use prospector_connect::{open, source::{Source as Place, SourceKind}};
//! use prospector_engine::{Engine, Source};
//! use prospector_semantics::model::{Declarations, Entity, Measure, Metric, MetricKind};
//! use prospector_semantics::{MetricQuery, SemanticModel, Tables};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("orders.csv");
//! std::fs::write(&path, "id,day,status,total\n1,2025-01-03,P,9.50\n2,2025-02-04,V,7.00\n3,2025-02-05,P,12.00\n")?;
//! let connector = open(&Place::files(SourceKind::Csv, vec![path]))?;
//! let (tables, _) = connector.describe().await?;
//!
//! let entity = Entity { name: "order".into(), database: "shop".into(), table: "orders".into(), time: Some("day".into()),
//!     place: "catalog.yaml:2".into(), ..Entity::default() };
//! let measure = Measure { entity: "order".into(), aggregation: Aggregation::Sum, expression: Some("total".into()),
//!     filters: vec!["status = 'P'".into()], time: None, grain: None, semi_additive: None };
//! let text = String::new;
//! let revenue = Metric { name: "revenue".into(), kind: MetricKind::Simple(measure), unit: "USD".into(), format: text(),
//!     owner: text(), description: text(), synonyms: vec!["sales".into()], source: text(), place: "catalog.yaml:5".into() };
//! let declared = Declarations { entities: vec![entity], metrics: vec![revenue], ..Declarations::default() };
//! let dialect = SourceKind::Csv.dialect();
//! let (model, problems) = SemanticModel::check(declared, &[Tables { database: "shop", dialect, tables: &tables }]);
//! assert!(problems.is_empty());
//!
//! let engine = Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
//! let query: MetricQuery = serde_json::from_str(r#"{"metrics": ["sales"], "filters": ["time = 2025-02"]}"#)?;
//! let (compiled, _) = model.compile(&engine, &query)?;
//! let answer = engine.run(&compiled.sql, compiled.database.as_deref(), 10).await?;
//! assert_eq!(answer.rows.rows, [[serde_json::json!(12.0)]]);
//! # Ok(()) }
//! ```
//!
//! The crate reads no catalog file, opens no source and renders no SQL dialect; the engine generates and runs the SQL.

pub mod candidates;
mod check;
pub mod import;
pub mod model;
mod query;
mod reach;
mod segments;
mod semantic_model;
mod tools;

pub use check::Tables;
pub use query::{MetricQuery, TIME};
pub use semantic_model::SemanticModel;
