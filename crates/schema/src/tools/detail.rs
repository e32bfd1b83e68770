//! The columns of a hit that are needed to write SQL: types, keys, and a few values of low-cardinality columns or of
//! columns mentioned in the question.

use prospector_connect::table::{ColumnType, Table};
use prospector_core::mark::clean;
use prospector_core::record::{ColumnValues, ValueMatch};

use super::{answers::HitColumn, wide};
use crate::{Database, relevant_columns::matching_columns, value_list::MAX_WHOLE};

/// Maximum number of values shown of a column, shortest first, and maximum length of a value in characters. One value
/// shows the spelling of a column mentioned in the question.
const MAX_SHOWN: usize = 3;
const MAX_SPELLINGS: usize = 1;
const MAX_SHOWN_CHARS: usize = 24;

/// A further value takes as much room as the count of omitted values.
const MAX_UNSHOWN: usize = 1;

/// Maximum number of characters of all columns of a hit, about four per token.
const MAX_CHARS: usize = 900;

/// Minimum number of values compared to decide that texts are numbers.
const MIN_COMPARED: usize = 3;

/// Returns the columns of a table, for a wide table those that match the question, as far as there is room; and the
/// number of omitted ones.
pub(super) fn columns(
    database: &Database,
    table: &Table,
    question: &str,
    values: &[ColumnValues],
    found: &[ValueMatch],
) -> (Vec<HitColumn>, usize) {
    let mut room = MAX_CHARS;
    let mut shown = Vec::new();
    let asked = matching_columns(table, question);
    for at in wide::fitting(table, question).whole {
        let column = &table.columns[at];
        let known = values.iter().find(|known| known.column == column.name).map(|known| known.values.as_slice());
        let known = known.filter(|_| !database.is_personal(&table.name, &column.name)).unwrap_or_default();
        let holds_numbers = column.column_type == ColumnType::Text && are_numbers(known);
        let is_few = known.len() <= MAX_WHOLE && table.row_count.is_none_or(|rows| known.len() as u64 <= rows / 2);
        // A matched value is shown next to the columns.
        let is_matched = found.iter().any(|value| value.table == table.name && value.column == column.name);
        let most = match (is_few, asked.contains(&at) && !is_matched) {
            (true, _) if known.len() <= MAX_SHOWN + MAX_UNSHOWN => known.len(),
            (true, _) => MAX_SHOWN,
            (false, true) => MAX_SPELLINGS,
            (false, false) => 0,
        };
        let examples = examples(known, most);
        let more = known.len() - examples.len();
        let column = HitColumn {
            name: column.name.clone(),
            data_type: table.type_of(column),
            primary_key: column.primary_key,
            more_values: (is_few && !examples.is_empty() && more > 0).then_some(more),
            examples,
            holds_numbers,
        };
        let size = width(&column);
        if size > room {
            break;
        }
        room -= size;
        shown.push(column);
    }
    let left_out = table.columns.len() - shown.len();
    (shown, left_out)
}

/// Returns the number of characters of a column.
fn width(column: &HitColumn) -> usize {
    let examples: usize = column.examples.iter().map(|value| value.chars().count() + 3).sum();
    column.name.chars().count() + column.data_type.chars().count() + examples + 3
}

/// Returns a few of the values: those with leading or trailing blanks first, because they are unexpected, then the
/// shortest. A column that would show none still shows one with such blanks if all have some.
fn examples(values: &[String], most: usize) -> Vec<String> {
    let has_blanks = |value: &String| value.trim() != value.as_str();
    let most = if most == 0 && !values.is_empty() && values.iter().all(has_blanks) { 1 } else { most };
    let mut sorted: Vec<&String> =
        values.iter().filter(|value| value.chars().count() <= MAX_SHOWN_CHARS && !value.trim().is_empty()).collect();
    sorted.sort_by_key(|value| (value.trim() == value.as_str(), value.chars().count()));
    sorted.truncate(most);
    sorted.into_iter().map(|value| clean(value, MAX_SHOWN_CHARS)).collect()
}

/// Whether nearly all texts are numbers.
fn are_numbers(values: &[String]) -> bool {
    let is_number = |value: &&String| value.trim().parse::<f64>().is_ok_and(f64::is_finite);
    let numbers = values.iter().filter(is_number).count();
    values.len() >= MIN_COMPARED && numbers * 10 >= values.len() * 8
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;

    use super::*;
    use crate::testing::table as table_of;

    fn values(column: &str, values: &[&str]) -> ColumnValues {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        ColumnValues { table: "cars".into(), column: column.into(), values }
    }

    fn cars() -> Table {
        let mut cars = table_of("cars", &["id*", "City TEXT", "Power TEXT", "owner TEXT"]);
        cars.columns[1..].iter_mut().for_each(|column| column.column_type = ColumnType::Text);
        cars
    }

    #[test]
    fn a_column_shows_its_type_and_a_few_values() {
        let database = Database { personal: vec!["cars.owner".into()], ..Database::new("d", SourceKind::Sqlite) };
        let long = "x".repeat(40);
        let known = [
            values("City", &["Aberdeen ", "Bergen", "Oslo", "Tromso", &long]),
            values("Power", &["100", "95", "n/a", "130", "70", "60"]),
            values("owner", &["Ada", "Bob", "Cyd"]),
        ];
        let (columns, left_out) = columns(&database, &cars(), "", &known, &[]);
        assert_eq!(left_out, 0);
        let shown: Vec<(String, Option<usize>, bool)> = columns
            .iter()
            .map(|column| (column.examples.join("|"), column.more_values, column.holds_numbers))
            .collect();
        let expected = [
            ("", None, false),
            ("Aberdeen |Oslo|Bergen", Some(2), false),
            ("95|70|60", Some(3), true),
            ("", None, false),
        ];
        assert_eq!(shown, expected.map(|(text, more, numbers)| (text.to_owned(), more, numbers)));
    }

    #[test]
    fn shows_values_of_low_cardinality_or_mentioned_columns() {
        let many: Vec<String> = (0..60).map(|n| format!("value {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let known = [values("City", &many), values("Power", &["95", "100", "110"]), values("owner", &many)];
        let mut cars = cars();
        cars.row_count = Some(100);
        let shown = |question: &str, found: &[ValueMatch]| -> Vec<usize> {
            let (columns, _) = columns(&Database::new("d", SourceKind::Sqlite), &cars, question, &known, found);
            columns.iter().map(|column| column.examples.len()).collect()
        };
        assert_eq!(shown("How strong are they?", &[]), [0, 0, 3, 0]);
        assert_eq!(shown("Who is the owner?", &[]), [0, 0, 3, MAX_SPELLINGS]);
        let found = ValueMatch { table: "cars".into(), column: "owner".into(), value: "value 7".into() };
        assert_eq!(shown("Is value 7 the owner?", &[found]), [0, 0, 3, 0]);
        // Values that are unique per row are not categories.
        cars.row_count = Some(4);
        let (columns, _) = columns(&Database::new("d", SourceKind::Sqlite), &cars, "", &known, &[]);
        assert_eq!(columns[2].examples.len(), 0);
    }

    #[test]
    fn counts_omitted_columns() {
        let names: Vec<String> = (0..300).map(|n| format!("a_long_name_of_a_column_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (columns, left_out) =
            columns(&Database::new("d", SourceKind::Sqlite), &table_of("w", &names), "", &[], &[]);
        assert!(!columns.is_empty() && columns.len() + left_out == 300);
        assert!(columns.iter().map(width).sum::<usize>() <= MAX_CHARS);
    }
}
