//! Codes: values that refer to a small table, each with the name of its row.

use std::collections::{HashMap, HashSet};

use prospector_connect::Connector;
use prospector_connect::rows::SampleRequest;
use prospector_connect::table::{Column, ColumnType, ForeignKey, Table};
use prospector_text::cut;
use serde_json::Value;

use crate::{Database, naming::is_title, value_list::MAX_WHOLE};

/// Maximum number of displayed characters of a name.
const CHARACTERS: usize = 60;

/// Returns the values of the columns of a table that refer to tables of few rows, and those of its own key if it is such a
/// table, each as `code=name`. Columns that cannot be read, or whose rows have no name, are omitted.
pub(crate) async fn read_codes(
    connector: &dyn Connector,
    database: &Database,
    table: &Table,
) -> Vec<(String, Vec<Value>)> {
    let mut read = Vec::new();
    let request = SampleRequest { contains: None, limit: MAX_WHOLE };
    for (column, target, key) in find_codes(database, table) {
        let Some(names) = read_names(connector, database, target, key).await else { continue };
        let Ok(samples) = connector.sample(&table.name, column, &request).await else { continue };
        let name = |code: &Value| {
            let code = spell(code);
            names.get(&code).map(|name| Value::String(format!("{code}={name}")))
        };
        let named: Vec<Value> = samples.values.iter().filter_map(name).collect();
        if !named.is_empty() {
            read.push((column.to_owned(), named));
        }
    }
    read
}

/// Returns the columns with codes, each with the table and the column that it refers to.
fn find_codes<'a>(database: &'a Database, table: &'a Table) -> Vec<(&'a str, &'a Table, &'a str)> {
    let of_key = |key: &'a ForeignKey| {
        let ([own], [other]) = (key.columns.as_slice(), key.references.as_slice()) else { return None };
        let target = database.tables.iter().find(|target| target.name == key.table)?;
        Some((own.as_str(), target, other.as_str()))
    };
    let mut keys = table.columns.iter().filter(|column| column.primary_key);
    let own = keys.next().filter(|key| keys.next().is_none() && key.column_type == ColumnType::Text);
    let own = own.map(|key| (key.name.as_str(), table, key.name.as_str()));
    let is_small = |target: &Table| target.row_count.is_some_and(|rows| rows <= MAX_WHOLE as u64);
    let is_shown = |(column, target, key): &(&str, &Table, &str)| {
        is_small(target) && !database.is_personal(&table.name, column) && !database.is_personal(&target.name, key)
    };
    table.foreign_keys.iter().filter_map(of_key).chain(own).filter(is_shown).collect()
}

/// Returns the names of the rows of a table by a key: its title column, or else the only text that differs in each row.
async fn read_names(
    connector: &dyn Connector,
    database: &Database,
    target: &Table,
    key: &str,
) -> Option<HashMap<String, String>> {
    let is_text = |column: &&Column| {
        column.column_type == ColumnType::Text
            && column.name != key
            && !database.is_personal(&target.name, &column.name)
    };
    let texts = target.columns.iter().filter(is_text).map(|column| column.name.clone());
    let columns: Vec<String> = std::iter::once(key.to_owned()).chain(texts).collect();
    if columns.len() == 1 {
        return None;
    }
    let rows = connector.rows(&target.name, &columns, &[], MAX_WHOLE).await.ok()?.rows;
    let is_unique = |at: &usize| {
        let mut seen = HashSet::new();
        rows.iter().all(|row| row.get(*at).and_then(Value::as_str).is_some_and(|text| seen.insert(text)))
    };
    let unique: Vec<usize> = (1..columns.len()).filter(is_unique).collect();
    let title = unique.iter().find(|at| is_title(&target.name, &columns[**at]));
    let only = unique.first().filter(|_| unique.len() == 1);
    let label = *title.or(only)?;
    let named = |row: &Vec<Value>| Some((spell(row.first()?), cut::line(row.get(label)?.as_str()?, CHARACTERS)));
    rows.iter().map(named).collect()
}

/// Returns a value as text, without quotes.
fn spell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;
    use serde_json::json;

    use super::*;
    use crate::testing::{Fake, key, table};

    /// Visits with a code and a clinic, the table of codes, and clinics with names of cities and people.
    fn clinics() -> (Database, Fake) {
        let mut tables = vec![
            table("visits", &["id*", "kind_cd TEXT", "clinic_id"]),
            table("lookup", &["cd* TEXT", "grp TEXT", "descr TEXT"]),
            table("clinics", &["clinic_id*", "city TEXT", "clinic_name TEXT"]),
        ];
        for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
            column.column_type = if column.data_type == "TEXT" { ColumnType::Text } else { ColumnType::Integer };
        }
        tables[0].foreign_keys = vec![key("kind_cd", "lookup", "cd"), key("clinic_id", "clinics", "clinic_id")];
        for (at, rows) in [50, 3, 2].into_iter().enumerate() {
            tables[at].row_count = Some(rows);
        }
        let codes = [["CHK", "kind", "Check-up"], ["DEN", "kind", "Dental"], ["CSH", "payment", "Cash"]];
        let fake = Fake::new(tables.clone())
            .holding("visits", "kind_cd", vec![json!("DEN"), json!("CHK")])
            .holding("visits", "clinic_id", vec![json!(2), json!(1)])
            .holding("lookup", "cd", vec![json!("CHK"), json!("DEN"), json!("CSH")])
            .with_rows("lookup", codes.iter().map(|row| row.iter().map(|cell| json!(cell)).collect()).collect())
            .with_rows(
                "clinics",
                vec![vec![json!(1), json!("Bern"), json!("North")], vec![json!(2), json!("Basel"), json!("South")]],
            );
        (Database { tables, ..Database::new("vet", SourceKind::Sqlite) }, fake)
    }

    #[tokio::test]
    async fn codes_are_shown_with_the_names_of_their_rows() {
        let (mut database, fake) = clinics();
        let visits = read_codes(&fake, &database, &database.tables[0]).await;
        let expected = json!([["kind_cd", ["DEN=Dental", "CHK=Check-up"]], ["clinic_id", ["2=South", "1=North"]]]);
        assert_eq!(json!(visits), expected);
        let lookup = read_codes(&fake, &database, &database.tables[1]).await;
        assert_eq!(json!(lookup), json!([["cd", ["CHK=Check-up", "DEN=Dental", "CSH=Cash"]]]));

        // Large tables, personal names and rows without a distinctive name show none.
        database.tables[1].row_count = Some(21);
        database.personal = vec!["clinics.clinic_name".to_owned(), "clinics.city".to_owned()];
        let visits = read_codes(&fake, &database, &database.tables[0]).await;
        assert!(visits.is_empty(), "{visits:?}");
    }
}
