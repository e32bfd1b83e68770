//! Segments: problems of declarations, and the SQL of metrics over members in each dialect. No source is queried.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_connect::query::Aggregation;
use prospector_connect::rows::{SampleRequest, Samples, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::sql::Dialect;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use prospector_engine::options::{NamedQuery, NamedSchema};
use prospector_engine::{Engine, Source};
use prospector_semantics::import::read_document;
use prospector_semantics::model::{Declarations, Entity, Join, Measure, Metric, MetricKind, Segment, SegmentMembers};
use prospector_semantics::{MetricQuery, SemanticModel, Tables};
use serde_json::{Value, json};

/// A described source that returns nothing.
struct Described(SourceKind);

#[async_trait]
impl Connector for Described {
    fn kind(&self) -> SourceKind {
        self.0
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Ok((tables(), Vec::new()))
    }

    async fn sample(&self, _: &str, _: &str, _: &SampleRequest) -> Result<Samples, ConnectError> {
        Ok(Samples::default())
    }

    async fn statistics(&self, _: &str, _: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        Ok(Vec::new())
    }
}

fn tables() -> Vec<Table> {
    let table = |name: &str, columns: &[(&str, ColumnType)]| Table {
        name: name.into(),
        columns: (columns.iter())
            .map(|(name, column_type)| Column {
                name: (*name).into(),
                column_type: *column_type,
                primary_key: *name == "id",
                ..Column::default()
            })
            .collect(),
        ..Table::default()
    };
    let (number, text, day) = (ColumnType::Integer, ColumnType::Text, ColumnType::Date);
    vec![
        table("customers", &[("id", number), ("name", text), ("country", text)]),
        table("orders", &[("id", number), ("customer_id", number), ("total", number), ("day", day)]),
        table("visits", &[("page", text), ("day", day)]),
    ]
}

fn source(name: &str, kind: SourceKind) -> Source {
    Source { name: name.into(), tables: tables(), functions: Vec::new(), connector: Arc::new(Described(kind)) }
}

fn query_of(name: &str, database: &str, sql: &str, columns: &[&str]) -> NamedQuery {
    NamedQuery {
        schema: NamedSchema::Queries,
        name: name.into(),
        database: Some(database.into()),
        sql: sql.into(),
        parameters: Vec::new(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        refusal: None,
    }
}

fn segment(name: &str, members: SegmentMembers) -> Segment {
    Segment {
        name: name.into(),
        entity: "customer".into(),
        members,
        place: "catalog.yaml:9".into(),
        ..Segment::default()
    }
}

fn filter(condition: &str) -> SegmentMembers {
    SegmentMembers::Filter(vec![condition.into()])
}

fn of_query(name: &str, columns: &[&str]) -> SegmentMembers {
    SegmentMembers::Query { name: name.into(), columns: columns.iter().map(|name| (*name).to_owned()).collect() }
}

/// Revenue of orders, which refer to customers, with these segments.
fn declare(segments: Vec<Segment>, queries: Vec<NamedQuery>) -> Declarations {
    let entity = |name: &str, table: &str, time: Option<&str>| Entity {
        name: name.into(),
        database: "shop".into(),
        table: table.into(),
        time: time.map(str::to_owned),
        ..Entity::default()
    };
    let join = Join {
        from: "order".into(),
        columns: vec!["customer_id".into()],
        to: "customer".into(),
        references: vec!["id".into()],
        place: String::new(),
    };
    let measure = Measure {
        entity: "order".into(),
        aggregation: Aggregation::Sum,
        expression: Some("total".into()),
        filters: Vec::new(),
        time: None,
        grain: None,
        semi_additive: None,
    };
    let text = String::new;
    let revenue = Metric {
        name: "revenue".into(),
        kind: MetricKind::Simple(measure),
        unit: text(),
        format: text(),
        owner: text(),
        description: text(),
        synonyms: vec!["sales".into()],
        source: text(),
        place: "catalog.yaml:5".into(),
    };
    Declarations {
        entities: vec![
            entity("customer", "customers", None),
            entity("order", "orders", Some("day")),
            entity("visit", "visits", Some("day")),
        ],
        joins: vec![join],
        metrics: vec![revenue],
        segments,
        queries,
        ..Declarations::default()
    }
}

fn model(declared: Declarations, dialect: Dialect) -> (SemanticModel, Vec<Problem>) {
    let tables = tables();
    SemanticModel::check(declared, &[Tables { database: "shop", dialect, tables: &tables }])
}

const VIPS: &str = "SELECT c.id, COUNT(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id";

/// An engine over these sources, with the segments and queries of a model.
fn engine(model: &SemanticModel, queries: Vec<NamedQuery>, sources: Vec<Source>) -> Arc<Engine> {
    let engine = Engine::new(sources);
    let (segments, problems) = model.name_queries(&engine);
    assert!(problems.is_empty(), "{problems:?}");
    engine.with_named([queries, segments].concat())
}

fn ask(value: Value) -> MetricQuery {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn compiles_members_in_the_dialect_of_the_database() {
    for (kind, quote) in
        [(SourceKind::Sqlite, '"'), (SourceKind::Postgres, '"'), (SourceKind::Mysql, '`'), (SourceKind::Csv, '"')]
    {
        let queries = vec![query_of("vip-customers", "shop", VIPS, &["id", "n"])];
        let segments =
            vec![segment("german", filter("country = 'DE'")), segment("vip", of_query("vip_customers", &[]))];
        let (model, problems) = model(declare(segments, queries.clone()), kind.dialect());
        assert!(problems.is_empty(), "{problems:?}");
        let engine = engine(&model, queries, vec![source("shop", kind)]);
        for name in ["german", "vip"] {
            let (compiled, _) =
                model.compile(&engine, &ask(json!({"metrics": ["sales"], "segments": [name]}))).unwrap();
            let sql = &compiled.sql;
            assert_eq!(compiled.database.as_deref(), Some("shop"), "{sql}");
            let members = format!("{quote}customer_id{quote} IN (SELECT s.{quote}id{quote} FROM (\n");
            assert!(sql.contains(&members), "{kind}: {sql}");
            let found = engine.inspect(sql, Some("shop")).await.unwrap_or_else(|failure| panic!("{failure}: {sql}"));
            assert_eq!(found.tables, ["shop.customers", "shop.orders"], "{sql}");
        }
        let by_member = json!({"metrics": ["revenue"], "dimensions": ["vip"], "filters": ["german = false"]});
        let (compiled, _) = model.compile(&engine, &ask(by_member)).unwrap();
        assert_eq!(compiled.columns, ["vip", "revenue"]);
        assert_eq!(compiled.sql.matches("LEFT JOIN (SELECT DISTINCT").count(), 2, "{kind}: {}", compiled.sql);
        engine.inspect(&compiled.sql, Some("shop")).await.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[tokio::test]
async fn compiles_members_of_another_database_for_several() {
    let sql = "SELECT c.id FROM customers c WHERE c.name LIKE 'A%'";
    let queries = vec![query_of("of-crm", "crm", sql, &["id"])];
    let segments = vec![segment("known", of_query("of-crm", &[]))];
    let (model, _) = model(declare(segments, queries.clone()), Dialect::Sqlite);
    let sources = vec![source("shop", SourceKind::Sqlite), source("crm", SourceKind::Postgres)];
    let engine = engine(&model, queries, sources);
    let (compiled, _) = model.compile(&engine, &ask(json!({"metrics": ["revenue"], "segments": ["known"]}))).unwrap();
    assert_eq!(compiled.database, None, "{}", compiled.sql);
    let found = engine.inspect(&compiled.sql, None).await.unwrap();
    assert_eq!(found.tables, ["crm.customers", "shop.orders"]);
}

#[test]
fn rejects_questions_that_misuse_segments() {
    let (model, _) = model(declare(vec![segment("german", filter("country = 'DE'"))], Vec::new()), Dialect::Sqlite);
    for (asked, expected) in [
        (json!({"metrics": ["revenue"], "segments": ["germen"]}), "did you mean german"),
        (json!({"metrics": ["german"]}), "is a segment, not a metric"),
        (json!({"metrics": ["revenue"], "filters": ["german > 3"]}), "write `german = true`"),
        (json!({"metrics": ["revenue"], "filters": ["german = 'DE'"]}), "write `german = true`"),
        (json!({"metrics": ["revenue"], "dimensions": ["month(german)"]}), "has no periods"),
    ] {
        let failure = model.plan(&ask(asked.clone())).map(|_| ()).unwrap_err();
        assert!(failure.to_string().contains(expected), "{asked}: {failure}");
    }
    assert_eq!(ask(json!({"metrics": ["revenue"], "segments": ["german"]})).describe(), "revenue of german");
}

#[test]
fn reports_invalid_segments() {
    let queries = || {
        vec![
            query_of("vip-customers", "shop", VIPS, &["id", "n"]),
            query_of("names", "shop", "SELECT name, id + 1 FROM customers", &["name", ""]),
            query_of("countries", "shop", "SELECT country FROM customers", &["country"]),
            NamedQuery {
                refusal: Some("its parameter `year` has no default".into()),
                ..query_of("of-year", "shop", "", &[])
            },
        ]
    };
    let of = |entity: &str, members: SegmentMembers| Segment { entity: entity.into(), ..segment("set", members) };
    for (wrong, reason, advice) in [
        (of("custmer", filter("country = 'DE'")), "there is no entity `custmer`", "`customer`"),
        (
            of("customers", filter("id > 1")),
            "there is no entity `customers`",
            "write `customer`, the entity of the table",
        ),
        (of("orders_", filter("id > 1")), "there is no entity `orders_`", "`order`"),
        (
            of("shop", filter("id > 1")),
            "there is no entity `shop`",
            "without the database; declare the table under `entities`",
        ),
        (of("customer", filter("countri = 'DE'")), "has no column `countri`", "`country`"),
        (of("customer", filter("country IN (SELECT 1)")), "it contains a query", ""),
        (of("customer", SegmentMembers::default()), "neither a `filter` nor a `query`", "write `filter:`"),
        (of("visit", filter("page = '/'")), "`visit` has no key", "declare the `key`"),
        (of("customer", of_query("vip-custommers", &[])), "there is no verified query", "`vip-customers`"),
        (of("customer", of_query("of-year", &[])), "`year` has no default", "`default`"),
        (of("customer", of_query("names", &[])), "but no column `id`", "`key: id`"),
        (of("customer", of_query("vip-customers", &["number"])), "returns no column `number`", ""),
        (of("customer", of_query("vip-customers", &["id", "n"])), "names 2 columns", "one column for each"),
        (of("customer", of_query("countries", &[])), "`country` is not the key of `customer`", "return `id`"),
        (Segment { name: "Revenue".into(), ..segment("", filter("id > 1")) }, "already declared", "rename one"),
    ] {
        let (model, problems) = model(declare(vec![wrong.clone()], queries()), Dialect::Sqlite);
        let [problem] = problems.as_slice() else { panic!("{wrong:?}: {problems:?}") };
        assert!(problem.reason.contains(reason), "{problem:?}");
        assert!(problem.advice.as_deref().unwrap_or_default().contains(advice), "{problem:?}");
        assert_eq!(problem.place, "catalog.yaml:9");
        assert!(model.segments().is_empty());
    }
}

#[test]
fn finds_the_column_of_the_key() {
    for (query, written, expected) in [
        (query_of("q", "shop", VIPS, &["N", "ID"]), &[][..], "ID"),
        (query_of("q", "shop", VIPS, &["buyer"]), &[][..], "buyer"),
        (query_of("q", "shop", VIPS, &["buyer", "n"]), &["Buyer"][..], "buyer"),
        (query_of("q", "shop", VIPS, &[]), &[][..], "id"),
    ] {
        let segments = vec![segment("vip", of_query("Q", written))];
        let (model, problems) = model(declare(segments, vec![query]), Dialect::Sqlite);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(model.segment("VIP").map(|segment| &segment.members), Some(&of_query("q", &[expected])));
    }
}

#[test]
fn names_the_parameters_of_its_query() {
    let query =
        NamedQuery { parameters: vec!["year = 2025".into()], ..query_of("vip-customers", "shop", VIPS, &["id"]) };
    let (model, _) = model(declare(vec![segment("vip", of_query("vip-customers", &[]))], vec![query]), Dialect::Sqlite);
    let described = model.describe_members(model.segment("vip").unwrap());
    assert_eq!(described, "rows of customer whose key is `id` of the verified query `vip-customers` with year = 2025");
}

#[test]
fn indexes_segments_with_metrics() {
    let vip = Segment {
        synonyms: vec!["best customers".into()],
        description: "Customers who buy a lot".into(),
        ..segment("vip", filter("country = 'DE'"))
    };
    let (model, _) = model(declare(vec![vip], Vec::new()), Dialect::Sqlite);
    let records = model.records();
    let record = records.iter().find(|record| record.id == "vip").unwrap();
    assert_eq!(record.aliases, ["best customers"]);
    assert_eq!(record.body, "Customers who buy a lot. rows of customer where country = 'DE'.");
    assert_eq!(model.segment("Best Customers").map(|segment| model.table_of(segment)), Some("segments.vip".into()));
}

#[test]
fn imports_segments_of_cube() {
    let document = json!({"cubes": [{
        "name": "orders", "sql_table": "orders",
        "dimensions": [{"name": "id", "sql": "id", "type": "number", "primary_key": true}],
        "segments": [
            {"name": "big", "sql": "{CUBE}.total > 100", "description": "More than 100"},
            {"name": "odd", "sql": "{% if x %}"},
            {"name": "lost", "sql": "{nothing} > 1"}
        ]
    }]});
    let tables = tables();
    let sources = [Tables { database: "shop", dialect: Dialect::Sqlite, tables: &tables }];
    let (declared, problems) = read_document(&document, "model.yml", None, &sources);
    let (model, more) = SemanticModel::check(declared, &sources);
    assert!(more.is_empty(), "{more:?}");
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["model.yml: cubes.orders.segments.odd", "model.yml: cubes.orders.segments.lost"]);
    let [big] = model.segments() else { panic!("{:?}", model.segments()) };
    assert_eq!((big.name.as_str(), big.entity.as_str()), ("orders__big", "orders"));
    assert_eq!(big.members, filter("total > 100"));
    assert_eq!(model.segment("big").map(|segment| segment.key.as_slice()), Some(&["id".to_owned()][..]));
}
