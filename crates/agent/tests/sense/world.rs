//! A small world whose things are said in lines, for plans that are checked for sense.

use std::collections::BTreeMap;

use prospector_agent::{
    agent_loop::{Names, Tools},
    plan::{
        Draft,
        meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, QueryMeaning, TableMeaning},
        sense::{SenseCode, check_sense, question::stems},
    },
};
use prospector_connect::{
    query::Aggregation,
    sql::Dialect,
    table::{Column, ColumnType, Table},
};
use prospector_core::{
    record::{Resource, ResourceKind},
    tool::{Answer, ToolError, ToolSpec},
};
use prospector_semantics::{
    SemanticModel, Tables,
    model::{Declarations, Entity, Join, Measure, Metric, MetricKind},
};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct World {
    tables: Vec<TableMeaning>,
    operations: Vec<(String, OperationMeaning)>,
    queries: Vec<(String, QueryMeaning)>,
    terms: Vec<DefinedTerm>,
    model: SemanticModel,
}

impl World {
    /// A table of each line: `fleet.ferries: id key, name text, launched date, route_id int -> routes.id, kind text = car|foot`.
    pub(crate) fn of(lines: &[&str]) -> World {
        World { tables: lines.iter().map(|line| read_table(line)).collect(), ..World::default() }
    }

    /// With a verified query over these tables.
    pub(crate) fn with_query(mut self, name: &str, question: &str, tables: &[&str], sql: &str) -> World {
        let meaning = QueryMeaning {
            tables: tables.iter().map(|table| (*table).to_owned()).collect(),
            description: question.to_owned(),
            sql: sql.to_owned(),
            defaults: Vec::new(),
        };
        self.queries.push((name.to_owned(), meaning));
        self
    }

    /// With declared joins, each from a column to a key: `shop.orders.buyer` and `crm.people.code`.
    pub(crate) fn with_joins(mut self, joins: &[(&str, &str)]) -> World {
        let entity = |table: &TableMeaning| Entity {
            name: table.name.clone(),
            database: table.database.clone(),
            table: table.name.clone(),
            ..Entity::default()
        };
        let join = |(from, to): &(&str, &str)| {
            let side = |name: &str| {
                let (table, column) = name.rsplit_once('.').expect("a column");
                (table.rsplit('.').next().unwrap_or(table).to_owned(), vec![column.to_owned()])
            };
            let ((from, columns), (to, references)) = (side(from), side(to));
            Join { from, columns, to, references, place: "catalog.yaml:1".into() }
        };
        let declared = Declarations {
            entities: self.tables.iter().map(entity).collect(),
            joins: joins.iter().map(join).collect(),
            ..Declarations::default()
        };
        let mut databases: BTreeMap<String, Vec<Table>> = BTreeMap::new();
        for table in &self.tables {
            databases.entry(table.database.clone()).or_default().push(describe(table));
        }
        let sources: Vec<Tables<'_>> = (databases.iter())
            .map(|(database, tables)| Tables { database, dialect: Dialect::Sqlite, tables })
            .collect();
        let (model, problems) = SemanticModel::check(declared, &sources);
        assert!(problems.is_empty(), "{problems:?}");
        self.model = model;
        self
    }

    /// With the sum of a column, `shop.orders.total`, as a metric, which has a column of its table as its time.
    pub(crate) fn with_metric(mut self, name: &str, column: &str, time: &str) -> World {
        let (id, expression) = column.rsplit_once('.').expect("a column");
        let table = self.tables.iter().find(|table| table.id == id).expect("a table");
        let entity = Entity {
            name: table.name.clone(),
            database: table.database.clone(),
            table: table.name.clone(),
            time: Some(time.to_owned()),
            ..Entity::default()
        };
        let measure = Measure {
            entity: table.name.clone(),
            aggregation: Aggregation::Sum,
            expression: Some(expression.to_owned()),
            filters: Vec::new(),
            time: None,
            grain: None,
            semi_additive: None,
        };
        let metric = Metric {
            name: name.to_owned(),
            kind: MetricKind::Simple(measure),
            unit: String::new(),
            format: String::new(),
            owner: String::new(),
            description: String::new(),
            synonyms: Vec::new(),
            source: String::new(),
            place: "catalog.yaml:1".into(),
        };
        let declared = Declarations { entities: vec![entity], metrics: vec![metric], ..Declarations::default() };
        let tables = [describe(table)];
        let source = Tables { database: &table.database, dialect: Dialect::Sqlite, tables: &tables };
        let (model, problems) = SemanticModel::check(declared, &[source]);
        assert!(problems.is_empty(), "{problems:?}");
        self.model = model;
        self
    }

    /// With what the catalog defines.
    pub(crate) fn with_term(mut self, term: &str, definition: &str) -> World {
        self.terms.push(DefinedTerm { term: term.into(), definition: definition.into(), source: "handbook".into() });
        self
    }

    /// With an operation of an API.
    pub(crate) fn with(mut self, api: &str, name: &str, description: &str, writes: bool) -> World {
        let meaning = OperationMeaning {
            writes: Some(writes),
            api: api.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            required: Vec::new(),
        };
        self.operations.push((format!("{api}.{name}"), meaning));
        self
    }

    /// Its operations cannot be called without this.
    pub(crate) fn requiring(mut self, parameter: &str) -> World {
        self.operations.iter_mut().for_each(|(_, operation)| operation.required.push(parameter.to_owned()));
        self
    }
}

fn read_table(line: &str) -> TableMeaning {
    let (id, columns) = line.split_once(": ").expect("a table and its columns");
    let (database, name) = id.split_once('.').expect("a database");
    TableMeaning {
        id: id.to_owned(),
        database: database.to_owned(),
        name: name.to_owned(),
        description: String::new(),
        columns: columns.split(", ").map(read_column).collect(),
    }
}

/// A table as its source describes it.
fn describe(table: &TableMeaning) -> Table {
    let column = |column: &ColumnMeaning| Column {
        name: column.name.clone(),
        column_type: column.column_type,
        primary_key: column.primary_key,
        ..Column::default()
    };
    Table { name: table.name.clone(), columns: table.columns.iter().map(column).collect(), ..Table::default() }
}

fn read_column(text: &str) -> ColumnMeaning {
    let (text, refers) = text.split_once(" -> ").map_or((text, None), |(text, to)| (text, to.split_once('.')));
    let (text, values) = text.split_once(" = ").map_or((text, ""), |(text, values)| (text, values));
    let (name, kind) = text.split_once(' ').expect("a column and its type");
    ColumnMeaning {
        name: name.to_owned(),
        column_type: match kind {
            "text" => ColumnType::Text,
            "date" => ColumnType::Date,
            _ => ColumnType::Integer,
        },
        refers: refers.map(|(table, column)| (table.to_owned(), column.to_owned())),
        primary_key: kind == "key",
        values: values.split('|').filter(|value| !value.is_empty()).map(str::to_owned).collect(),
        complete: !values.is_empty(),
        ..ColumnMeaning::default()
    }
}

impl Meanings for World {
    fn table(&self, id: &str) -> Option<TableMeaning> {
        self.tables.iter().find(|table| table.id == id).cloned()
    }

    fn operation(&self, id: &str) -> Option<OperationMeaning> {
        self.operations.iter().find(|(known, _)| known == id).map(|(_, meaning)| meaning.clone())
    }

    fn subject(&self, _: &str) -> Option<String> {
        None
    }

    fn mentions(&self, _: &str, _: &str) -> bool {
        false
    }

    fn definitions(&self, _: &str) -> Vec<DefinedTerm> {
        self.terms.clone()
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn metrics(&self) -> Option<&SemanticModel> {
        Some(&self.model)
    }

    fn query(&self, name: &str) -> Option<QueryMeaning> {
        self.queries.iter().find(|(known, _)| known == name).map(|(_, meaning)| meaning.clone())
    }

    fn homes(&self, stem: &str) -> Vec<String> {
        list_homes(self.tables.iter(), stem)
    }

    fn homes_in(&self, databases: &[&str], stem: &str) -> Vec<String> {
        list_homes(self.tables.iter().filter(|table| databases.contains(&table.database.as_str())), stem)
    }

    fn bridges(&self, _: &str, _: &str, _: &str) -> Option<Vec<String>> {
        None
    }
}

/// The first three tables that hold a word, as a catalog lists them.
fn list_homes<'a>(tables: impl Iterator<Item = &'a TableMeaning>, stem: &str) -> Vec<String> {
    let holds = |text: &str| stems(text).iter().any(|word| word == stem);
    let held = |table: &&TableMeaning| holds(&table.name) || table.columns.iter().any(|column| holds(&column.name));
    tables.filter(held).take(3).map(|table| table.id.clone()).collect()
}

impl Names for World {
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        let is_known = match kind {
            ResourceKind::Table => self.table(id).is_some(),
            ResourceKind::Operation => self.operation(id).is_some(),
            ResourceKind::Query => self.query(id).is_some(),
            ResourceKind::Api => self.operations.iter().any(|(_, meaning)| meaning.api == id),
            _ => false,
        };
        is_known.then(|| id.to_owned())
    }

    fn nearest(&self, _: ResourceKind, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn meanings(&self) -> Option<&dyn Meanings> {
        Some(self)
    }
}

/// One tool, which shows everything.
impl Tools for World {
    fn specs(&self) -> Vec<ToolSpec> {
        let input_schema = json!({"type": "object", "properties": {}});
        vec![ToolSpec { name: "show".into(), description: "Shows everything.".into(), input_schema }]
    }

    async fn call(&self, _: &str, _: Value) -> Result<Answer, ToolError> {
        let tables = self.tables.iter().map(|table| Resource::new(ResourceKind::Table, table.id.as_str()));
        let operations = self.operations.iter().map(|(id, _)| Resource::new(ResourceKind::Operation, id.as_str()));
        Ok(Answer::new(json!("shown"), tables.chain(operations).collect()))
    }
}

/// A plan of these steps, as a model writes them.
pub(crate) fn draft(steps: &[Value]) -> Draft {
    let steps: Vec<Value> = (steps.iter().enumerate())
        .map(|(at, step)| {
            let mut step = step.clone();
            step["number"] = json!(at + 1);
            step["outputs"] = json!([format!("step_{}_results", at + 1)]);
            step
        })
        .collect();
    serde_json::from_value(json!({"plan": {"steps": steps}})).expect("a plan")
}

/// What is complained of, as `code: message`.
pub(crate) fn complaints(world: &World, question: &str, steps: &[Value]) -> Vec<String> {
    let sense = check_sense(question, &draft(steps), world);
    let line = |code: SenseCode, message: &str| format!("{}: {message}", json!(code).as_str().unwrap_or_default());
    sense.findings.iter().map(|finding| line(finding.code, &finding.message)).collect()
}

/// Checks that nothing is complained of.
pub(crate) fn good(world: &World, question: &str, steps: &[Value]) {
    assert_eq!(complaints(world, question, steps), Vec::<String>::new(), "{question}");
}

/// Checks that this is all that is complained of.
pub(crate) fn bad(world: &World, question: &str, steps: &[Value], expected: &[&str]) {
    assert_eq!(complaints(world, question, steps), expected, "{question}");
}
