//! The texts of the answers of this kind that cost much as JSON: a table as one line a column, hits with each key once.

use prospector_core::record::ValueMatch;
use prospector_core::tool::compact::{cell, name, render, rest, word};
use prospector_core::tool::{Cut, Page};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::render::tell_family;

use super::{
    answers::{HitColumn, TableHit, TableSchema},
    wide,
};

/// What a table says besides its columns.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// A table as DDL would have it:
///
/// ```text
/// shop.invoices rows=3: One row an invoice.
/// id INTEGER key
/// customer_id INTEGER not null -> customers.id
/// total REAL distinct=3 1.25..9.5: In euros.
/// status TEXT values=[open; paid]
/// ```
///
/// `key` is of the primary key; without `not null` a column may be null. What else the answer says follows, a line a field.
pub(super) fn table(table: &TableSchema, cut: &Cut) -> String {
    let mut text = format!("{}.{}", name(&table.database), name(&table.table));
    if let Some(rows) = table.row_count {
        text.push_str(&format!(" rows={rows}"));
    }
    describe(&mut text, &table.description);
    let mut samples = table.sample_values.clone();
    for column in &table.columns {
        text.push('\n');
        text.push_str(&name(&column.name));
        if !column.data_type.is_empty() {
            text.push_str(&format!(" {}", word(&column.data_type)));
        }
        if column.primary_key {
            text.push_str(" key");
        }
        if column.nullable == Some(false) {
            text.push_str(" not null");
        }
        if !column.foreign_key.is_empty() {
            text.push_str(&format!(" -> {}", word(&column.foreign_key)));
        }
        if let Some(statistics) = &column.statistics {
            text.push_str(&format!(" distinct={}", statistics.cardinality));
            if let (Some(min), Some(max)) = (&statistics.min, &statistics.max) {
                text.push_str(&format!(" {}..{}", cell(min), cell(max)));
            }
        }
        if let Some(values) = samples.shift_remove(&column.name) {
            text.push_str(&format!(" values={}", cell(&values)));
        }
        describe(&mut text, &column.description);
    }
    let besides = Besides {
        row_count_estimated: table.row_count_estimated,
        other_columns: wide::collapse(&table.other_columns),
        columns_total: table.columns_total,
        truncated: table.truncated,
        next: table.next,
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

/// A description ends its line.
fn describe(text: &mut String, description: &str) {
    if !description.is_empty() {
        text.push_str(&format!(": {}", word(description)));
    }
}

impl TableHit {
    /// What a model is told of it: its description, and either its rows and columns with types and values or the names of the
    /// first ones.
    ///
    /// ```text
    /// One row an invoice; rows=3; columns id INTEGER key, status TEXT 'open' 'paid', power TEXT (numbers) '95' '100'
    /// ```
    pub fn describe(&self) -> String {
        let told = self.describe_table();
        self.family.as_ref().map_or_else(|| told.clone(), |family| tell_family(family, &told))
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
        let mut columns: Vec<String> = collapse(&self.columns);
        columns.extend(self.more_columns.map(|more| format!("{more} more")));
        parts.push(format!("columns {}", columns.join(", ")));
        parts.join("; ")
    }
}

/// The columns in one line each, with runs of alike ones as `measure_01..measure_24 REAL`.
fn collapse(columns: &[HitColumn]) -> Vec<String> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let is_plain = |column: &HitColumn| !column.primary_key && column.examples.is_empty();
    let of_run = |run: &std::ops::Range<usize>| {
        let run = &columns[run.clone()];
        run.iter().all(|column| is_plain(column) && column.data_type == run[0].data_type)
    };
    let mut told = Vec::new();
    for run in wide::runs(&names) {
        let (first, last) = (&columns[run.start], &columns[run.end - 1]);
        if run.len() > 1 && of_run(&run) {
            told.push(format!("{}..{} {}", first.name, last.name, first.data_type).trim_end().to_owned());
        } else {
            told.extend(columns[run].iter().map(column_line));
        }
    }
    told
}

fn column_line(column: &HitColumn) -> String {
    let mut text = column.name.clone();
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
    text
}

/// A hit without the keys, which stand below all of them.
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
}

/// The hits of a search, and below them every key between them once.
pub(super) fn hits(page: &Page<TableHit>) -> String {
    let whole = Cut::default();
    let (mut rows, mut joins) = (Vec::new(), Map::new());
    for hit in &page.items {
        let TableHit { database, table, relevance, joins: own, matched_values, via, .. } = hit;
        let description = &hit.describe();
        let row =
            Row { table: format!("{database}.{table}"), relevance: *relevance, description, matched_values, via: *via };
        rows.push(page.first_cut().unwrap_or(&whole).json(&row));
        let known = joins.entry(database).or_insert_with(|| json!([]));
        if let Value::Array(known) = known {
            for join in own.iter().map(|join| Value::from(join.to_string())) {
                if !known.contains(&join) {
                    known.push(join);
                }
            }
        }
    }
    joins.retain(|_, joins| joins.as_array().is_some_and(|joins| !joins.is_empty()));
    let mut all = Map::new();
    if !rows.is_empty() {
        all.insert("tables".into(), rows.into());
    }
    if !joins.is_empty() {
        all.insert("joins".into(), joins.into());
    }
    all.extend(page.beside());
    render(&all.into())
}

#[cfg(test)]
mod tests {
    use prospector_core::record::Relevance;
    use prospector_core::tool::ToolOutput;

    use super::{super::answers::ColumnSchema, *};
    use crate::{
        joins::{KeyJoin, KeyNature},
        profile::ColumnValues,
    };

    #[test]
    fn a_table_is_a_line_for_each_column() {
        let column = |name: &str, data_type: &str| ColumnSchema {
            name: name.into(),
            data_type: data_type.into(),
            ..ColumnSchema::default()
        };
        let total = ColumnValues { cardinality: 3, min: Some(json!(1.25)), max: Some(json!(9.5)), estimated: false };
        let answer = TableSchema {
            database: "my shop".into(),
            table: "invoices".into(),
            description: "a\nb".into(),
            row_count: Some(3),
            columns: vec![
                ColumnSchema { primary_key: true, ..column("id", "INTEGER") },
                ColumnSchema {
                    nullable: Some(false),
                    foreign_key: "customers.id".into(),
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
            "\"my shop\".invoices rows=3: \"a\\nb\"\n\
             id INTEGER key\n\
             \"customer id\" INTEGER not null -> customers.id\n\
             total REAL distinct=3 1.25..9.5: In euros: net.\n\
             status values=[open; \"paid; late\"]\n\
             columns_total: 9\ntruncated: true\nsample_values:\n gone: [x]"
        );
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
            HitColumn { holds_numbers: true, ..column("power", &["95"]) },
        ];
        columns.extend((8..12).map(|n| column(&format!("m_{n:02}"), &[])));
        let mut hit = TableHit {
            database: "shop".into(),
            table: "cars".into(),
            relevance: Relevance::new(0.9),
            family: None,
            description: "Cars; columns id, city, power, …".into(),
            row_count: Some(3),
            columns,
            more_columns: Some(2),
            named: vec!["id".into(), "city".into(), "power".into()],
            joins: Vec::new(),
            matched_values: Vec::new(),
            via: false,
        };
        let told = "Cars; rows=3; columns id TEXT key, city TEXT 'Oslo ' 'Bergen', power TEXT (numbers) '95', \
                    m_08..m_11 TEXT, 2 more";
        assert_eq!(hit.describe(), told);
        let reveals = hit.reveals();
        assert!(reveals.iter().any(|resource| resource.id == "shop.cars.m_09"), "{reveals:?}");
        hit.columns.clear();
        assert_eq!(hit.describe(), "Cars; columns id, city, power, …");
    }

    #[test]
    fn a_key_between_two_hits_is_shown_once() {
        let pairs = vec![("invoices.customer_id".into(), "customers.id".into())];
        let join = KeyJoin { pairs, nature: KeyNature::Declared };
        let hit = |table: &str, relevance: f32, via: bool| TableHit {
            database: "shop".into(),
            table: table.into(),
            relevance: Relevance::new(relevance),
            family: None,
            description: String::new(),
            row_count: None,
            columns: Vec::new(),
            more_columns: None,
            named: Vec::new(),
            joins: vec![join.clone()],
            matched_values: Vec::new(),
            via,
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
