//! Compact text forms of results that are large as JSON: a table with one line per column, hits with each key once.

use prospector_connect::sql::Dialect;
use prospector_core::mark::clean;
use prospector_core::record::ValueMatch;
use prospector_core::tool::compact::{cell, name, render, rest, word};
use prospector_core::tool::{Cut, Page};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    answers::{HitColumn, TableHit, TableSchema},
    wide,
};
use crate::{joins::KeyJoin, render::describe_family};

/// Maximum number of characters of the message about the cells of a column.
const MAX_ISSUE_CHARS: usize = 300;

/// The fields of a table other than its columns.
#[derive(Serialize)]
struct Besides<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    row_count_estimated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_columns: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns_total: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    issues: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// Renders a table similar to DDL:
///
/// ```text
/// shop.invoices sql=sqlite rows=3: One row per invoice.
/// id INTEGER key
/// customer_id INTEGER not null -> customers.id
/// total REAL distinct=3 min=1.25 max=9.5: In euros.
/// status TEXT values=[open; paid]
/// ```
///
/// `key` marks the primary key; columns are nullable without `not null`. Values are complete unless a number of further
/// values is given. Other fields of the result follow, one per line.
pub(super) fn table(table: &TableSchema, cut: &Cut) -> String {
    let spell = |name: &str| spell(table.sql, name);
    let mut text = format!("{}.{}", name(&table.database), spell(&table.table));
    if let Some(dialect) = table.sql {
        text.push_str(&format!(" sql={}", dialect.id()));
    }
    if let Some(rows) = table.row_count {
        text.push_str(&format!(" rows={rows}"));
    }
    describe(&mut text, &table.description);
    let mut samples = table.sample_values.clone();
    for column in &table.columns {
        text.push('\n');
        text.push_str(&spell(&column.name));
        if !column.data_type.is_empty() {
            text.push_str(&format!(" {}", word(&column.data_type)));
        }
        if let Some(field) = first_field(&column.data_type).filter(|_| table.sql == Some(Dialect::Joined)) {
            text.push_str(&format!(" (access a field as {}['{field}'], which is a text)", spell(&column.name)));
        }
        if column.primary_key {
            text.push_str(" key");
        }
        if column.nullable == Some(false) {
            text.push_str(" not null");
        }
        for (at, end) in column.refers_to.iter().enumerate() {
            text.push_str(if at == 0 { " -> " } else { ", " });
            text.push_str(&format!("{}.{}", spell(&end.table), spell(&end.column)));
        }
        if let Some(statistics) = &column.statistics {
            if let Some(distinct) = statistics.cardinality {
                text.push_str(&format!(" distinct={distinct}"));
            }
            if statistics.nulls > 0 {
                text.push_str(&format!(" nulls={}", statistics.nulls));
            }
            if let (Some(min), Some(max)) = (&statistics.min, &statistics.max) {
                text.push_str(&format!(" min={} max={}", cell(min), cell(max)));
            }
        }
        if let Some(values) = samples.shift_remove(&column.name) {
            text.push_str(&format!(" values={}", cell(&values)));
            let shown = values.as_array().map_or(0, |values| values.len() as u64);
            let distinct = column.statistics.as_ref().and_then(|statistics| statistics.cardinality);
            if let Some(more) = distinct.and_then(|distinct| distinct.checked_sub(shown)).filter(|more| *more > 0) {
                text.push_str(&format!(" and {more} more (sample the column)"));
            }
        }
        describe(&mut text, &column.description);
    }
    let besides = Besides {
        row_count_estimated: table.row_count_estimated,
        other_columns: wide::collapse(&table.other_columns),
        columns_total: table.columns_total,
        truncated: table.truncated,
        next: table.next,
        issues: table
            .issues
            .iter()
            .map(|issue| clean(&format!("{}: {issue}", issue.column), MAX_ISSUE_CHARS))
            .collect(),
        note: table.note.as_deref(),
    };
    if let Value::Object(mut fields) = cut.json(&besides) {
        if !samples.is_empty() {
            fields.insert("sample_values".into(), samples.into());
        }
        rest(&mut text, &fields);
    }
    text
}

/// Returns the first field of a struct type such as `Struct(type Utf8, os Utf8)`.
fn first_field(data_type: &str) -> Option<&str> {
    data_type.strip_prefix("Struct(")?.split(' ').next().filter(|field| !field.is_empty() && !field.contains('\''))
}

/// Returns a name as written in a query of this dialect, if it is safe in a text; else as [`name`] returns it.
pub(super) fn spell(sql: Option<Dialect>, plain: &str) -> String {
    let can_stand = |c: char| c.is_alphanumeric() || " _-.,()/&+#%$'".contains(c);
    let spelled = sql.map(|dialect| dialect.spell(plain));
    spelled.filter(|spelled| spelled != plain && plain.chars().all(can_stand)).unwrap_or_else(|| name(plain))
}

/// Appends a description, which ends its line.
fn describe(text: &mut String, description: &str) {
    if !description.is_empty() {
        text.push_str(&format!(": {}", word(description)));
    }
}

impl TableHit {
    /// Returns the text shown to models: its description, and either its rows and columns with types and values or the
    /// names of the first columns.
    ///
    /// ```text
    /// One row per invoice; rows=3; columns id INTEGER key, status TEXT 'open' 'paid', power TEXT (numbers) '95' '100' +9
    /// ```
    ///
    /// `+9` is the number of further values.
    pub fn describe(&self) -> String {
        let description = self.describe_table();
        self.family.as_ref().map_or_else(|| description.clone(), |family| describe_family(family, &description))
    }

    fn describe_table(&self) -> String {
        if self.columns.is_empty() {
            return self.description.clone();
        }
        let mut parts = Vec::new();
        let said = match self.named.is_empty() {
            true => self.description.as_str(),
            // The names follow with their types.
            false => self.description.rfind("columns ").map_or("", |at| self.description[..at].trim_end_matches("; ")),
        };
        let said = said.trim_end_matches('.');
        parts.extend(Some(said).filter(|said| !said.is_empty()).map(str::to_owned));
        parts.extend(self.row_count.map(|rows| format!("rows={rows}")));
        let mut columns: Vec<String> = collapse(&self.columns, self.sql);
        columns.extend(self.more_columns.map(|more| format!("{more} more")));
        parts.push(format!("columns {}", columns.join(", ")));
        parts.join("; ")
    }
}

/// Returns one text per column, with runs of similar columns as `measure_01..measure_24 REAL`.
fn collapse(columns: &[HitColumn], sql: Option<Dialect>) -> Vec<String> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let is_plain = |column: &HitColumn| !column.primary_key && column.examples.is_empty();
    let of_run = |run: &std::ops::Range<usize>| {
        let run = &columns[run.clone()];
        run.iter().all(|column| is_plain(column) && column.data_type == run[0].data_type)
    };
    let mut texts = Vec::new();
    for run in wide::runs(&names) {
        let (first, last) = (&columns[run.start], &columns[run.end - 1]);
        if run.len() > 1 && of_run(&run) {
            texts.push(format!("{}..{} {}", first.name, last.name, first.data_type).trim_end().to_owned());
        } else {
            texts.extend(columns[run].iter().map(|column| column_line(column, sql)));
        }
    }
    texts
}

fn column_line(column: &HitColumn, sql: Option<Dialect>) -> String {
    let mut text = sql.map_or_else(|| column.name.clone(), |dialect| dialect.spell(&column.name));
    if !column.data_type.is_empty() {
        text.push_str(&format!(" {}", column.data_type));
    }
    if column.primary_key {
        text.push_str(" key");
    }
    if column.holds_numbers {
        text.push_str(" (numbers)");
    }
    for value in &column.examples {
        text.push_str(&format!(" '{value}'"));
    }
    if let Some(more) = column.more_values {
        text.push_str(&format!(" +{more}"));
    }
    text
}

/// A hit without the keys, which follow after all hits.
#[derive(Serialize)]
struct Row<'a> {
    table: String,
    relevance: prospector_core::record::Relevance,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "<[ValueMatch]>::is_empty")]
    matched_values: &'a [ValueMatch],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    via: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    view: bool,
}

/// Renders the hits of a search, followed by every key between them once, and the dialects of their databases.
pub(super) fn hits(page: &Page<TableHit>) -> String {
    let whole = Cut::default();
    let mut rows = Vec::new();
    for hit in &page.items {
        let (description, matched_values) = (&hit.describe(), &hit.spell_values());
        let (relevance, via, view) = (hit.relevance, hit.via, hit.view);
        let row = Row { table: hit.spell_id(), relevance, description, matched_values, via, view };
        rows.push(page.first_cut().unwrap_or(&whole).json(&row));
    }
    let mut all = Map::new();
    if !rows.is_empty() {
        all.insert("tables".into(), rows.into());
    }
    all.extend(TableHit::describe_databases(page.items.iter().map(|hit| (hit, hit.joins.as_slice()))));
    all.extend(page.beside());
    render(&all.into())
}

impl TableHit {
    /// Returns its id, with names as written in a query.
    pub fn spell_id(&self) -> String {
        let table = self.sql.map_or_else(|| self.table.clone(), |dialect| dialect.spell(&self.table));
        format!("{}.{table}", self.database)
    }

    /// Returns the values that occur in the query, with names as written in a query.
    pub fn spell_values(&self) -> Vec<ValueMatch> {
        let spell = |name: &str| self.sql.map_or_else(|| name.to_owned(), |dialect| dialect.spell(name));
        let spelled = |found: &ValueMatch| ValueMatch {
            table: spell(&found.table),
            column: spell(&found.column),
            value: found.value.clone(),
        };
        self.matched_values.iter().map(spelled).collect()
    }

    /// Returns properties of the databases of hits: `joins`, the keys between the hits, each once, and `sql`, the dialect
    /// of each database, or a single one if it is the same for all.
    pub fn describe_databases<'a>(hits: impl Iterator<Item = (&'a TableHit, &'a [KeyJoin])>) -> Map<String, Value> {
        let (mut joins, mut dialects) = (Map::new(), Map::new());
        for (hit, keys) in hits {
            let known = joins.entry(&hit.database).or_insert_with(|| json!([]));
            if let Value::Array(known) = known {
                for key in keys {
                    let key = Value::from(hit.sql.map_or_else(|| key.to_string(), |dialect| key.spell(dialect)));
                    if !known.contains(&key) {
                        known.push(key);
                    }
                }
            }
            // Hits that are only named are not queried yet.
            if let Some(dialect) = hit.sql.filter(|_| !hit.description.is_empty() || !hit.columns.is_empty()) {
                dialects.entry(&hit.database).or_insert_with(|| dialect.id().into());
            }
        }
        joins.retain(|_, joins| joins.as_array().is_some_and(|joins| !joins.is_empty()));
        let mut described = Map::new();
        if !joins.is_empty() {
            described.insert("joins".into(), joins.into());
        }
        let one = dialects.values().next().filter(|first| dialects.values().all(|other| other == *first)).cloned();
        match one {
            Some(one) => described.insert("sql".into(), one),
            None if dialects.is_empty() => None,
            None => described.insert("sql".into(), dialects.into()),
        };
        described
    }
}

#[cfg(test)]
mod tests {
    use prospector_core::record::Relevance;
    use prospector_core::tool::ToolOutput;

    use super::{super::answers::ColumnSchema, *};
    use crate::{
        joins::{JoinEnd, KeyNature},
        profile::ColumnValues,
    };

    #[test]
    fn renders_one_line_per_column() {
        let column = |name: &str, data_type: &str| ColumnSchema {
            name: name.into(),
            data_type: data_type.into(),
            ..ColumnSchema::default()
        };
        let total = ColumnValues {
            cardinality: Some(3),
            min: Some(json!(1.25)),
            max: Some(json!(9.5)),
            estimated: false,
            nulls: 2,
        };
        let answer = TableSchema {
            database: "my shop".into(),
            table: "invoices".into(),
            sql: Some(Dialect::Sqlite),
            description: "a\nb".into(),
            row_count: Some(3),
            columns: vec![
                ColumnSchema { primary_key: true, ..column("id", "INTEGER") },
                ColumnSchema {
                    nullable: Some(false),
                    refers_to: vec![JoinEnd::new("Customers of shops", "id"), JoinEnd::new("people", "id")],
                    ..column("customer id", "INTEGER")
                },
                ColumnSchema {
                    statistics: Some(total),
                    description: "In euros: net.".into(),
                    ..column("total", "REAL")
                },
                column("status", ""),
            ],
            sample_values: serde_json::from_value(json!({"status": ["open", "paid; late"], "gone": ["x"]})).unwrap(),
            columns_total: Some(9),
            truncated: true,
            ..TableSchema::default()
        };
        assert_eq!(
            table(&answer, &Cut::default()),
            "\"my shop\".invoices sql=sqlite rows=3: \"a\\nb\"\n\
             id INTEGER key\n\
             \"customer id\" INTEGER not null -> \"Customers of shops\".id, people.id\n\
             total REAL distinct=3 nulls=2 min=1.25 max=9.5: In euros: net.\n\
             status values=[open; \"paid; late\"]\n\
             columns_total: 9\ntruncated: true\nsample_values:\n gone: [x]"
        );
    }

    #[test]
    fn shows_how_to_access_struct_fields() {
        let device =
            ColumnSchema { name: "device".into(), data_type: "Struct(type Utf8)".into(), ..ColumnSchema::default() };
        let of = |sql| TableSchema { sql: Some(sql), columns: vec![device.clone()], ..TableSchema::default() };
        let shown = |sql| table(&of(sql), &Cut::default());
        assert!(shown(Dialect::Joined).contains("(access a field as device['type'], which is a text)"));
        assert!(!shown(Dialect::Sqlite).contains("access a field"));
    }

    #[test]
    fn a_likely_hit_shows_what_is_needed_to_write_sql() {
        let column = |name: &str, examples: &[&str]| HitColumn {
            name: name.into(),
            data_type: "TEXT".into(),
            examples: examples.iter().map(|value| (*value).to_owned()).collect(),
            ..HitColumn::default()
        };
        let mut columns = vec![
            HitColumn { primary_key: true, ..column("id", &[]) },
            column("city", &["Oslo ", "Bergen"]),
            HitColumn { holds_numbers: true, more_values: Some(9), ..column("power", &["95"]) },
        ];
        columns.extend((8..12).map(|n| column(&format!("m_{n:02}"), &[])));
        let mut hit = TableHit {
            database: "shop".into(),
            table: "cars".into(),
            relevance: Relevance::new(0.9),
            sql: Some(Dialect::Sqlite),
            family: None,
            description: "Cars; columns id, city, power, …".into(),
            row_count: Some(3),
            columns,
            more_columns: Some(2),
            named: vec!["id".into(), "city".into(), "power".into()],
            joins: Vec::new(),
            matched_values: Vec::new(),
            via: false,
            view: false,
        };
        let expected = "Cars; rows=3; columns id TEXT key, city TEXT 'Oslo ' 'Bergen', power TEXT (numbers) '95' +9, \
                    m_08..m_11 TEXT, 2 more";
        assert_eq!(hit.describe(), expected);
        let reveals = hit.reveals();
        assert!(reveals.iter().any(|resource| resource.id == "shop.cars.m_09"), "{reveals:?}");
        hit.columns.clear();
        assert_eq!(hit.describe(), "Cars; columns id, city, power, …");
    }

    #[test]
    fn a_key_between_two_hits_is_shown_once() {
        let pairs = vec![(JoinEnd::new("invoices", "customer_id"), JoinEnd::new("customers", "id"))];
        let join = KeyJoin { pairs, nature: KeyNature::Declared };
        let hit = |table: &str, relevance: f32, via: bool| TableHit {
            database: "shop".into(),
            table: table.into(),
            relevance: Relevance::new(relevance),
            sql: None,
            family: None,
            description: String::new(),
            row_count: None,
            columns: Vec::new(),
            more_columns: None,
            named: Vec::new(),
            joins: vec![join.clone()],
            matched_values: Vec::new(),
            via,
            view: false,
        };
        let mut page = Page::whole(vec![hit("invoices", 0.9, false), hit("customers", 0.2, true)]);
        let shown = "tables:\n # table | relevance | via\n shop.invoices | .9\n shop.customers | .2 | true\n\
                     joins:\n shop: [invoices.customer_id = customers.id]";
        assert_eq!(hits(&page), shown);
        page.items.extend(vec![hit("lines", 0.1, true); 50]);
        page.fit(prospector_core::tool::Budget { tokens: 100, more: "ask" });
        let cut = hits(&page);
        assert!(cut.starts_with(shown.split_once("\njoins").unwrap().0), "{cut}");
        assert!(cut.ends_with("\ntruncated: true\ntotal: 52\nnext: ask"), "{cut}");
        assert_eq!(hits(&Page::whole(Vec::new())), "={}");
    }
}
