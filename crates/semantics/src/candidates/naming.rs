//! The names that tables, columns and values are called by, from their identifiers, keys and descriptions.

use prospector_connect::table::{Column, Table};
use prospector_text::{
    identifiers::{self, KEY_WORDS},
    periods,
};

use super::operators;
use super::question::{stems, without};

/// A longer text is a description, not a name.
const MAX_NAME_WORDS: usize = 5;

/// Suffixes of column names that say how a value is written, and the maximum length of units, which numeric columns end with.
const UNITS: &str = "cd nr no num on at dt";
const MAX_UNIT: usize = 3;

/// Words in table names that do not describe the rows.
const TABLE_WORDS: [&str; 10] = ["header", "master", "info", "data", "record", "tbl", "table", "fact", "dim", "stg"];

/// Returns the initials of a name of several words: `hr` for `human_resources`.
pub(super) fn initials(name: &str) -> Option<String> {
    let words = identifiers::words(name);
    (words.len() > 1).then(|| words.iter().filter_map(|word| word.chars().next()).collect())
}

/// Returns the name of a table without generic words: `PurchaseOrder` for `PurchaseOrderHeader`.
pub(super) fn short_table(name: &str) -> Option<String> {
    let short = without(name, &TABLE_WORDS);
    (!short.is_empty() && short != without(name, &[])).then_some(short)
}

/// Returns whether the rows of a table only link those of others: its key consists of keys of others.
fn is_link(table: &Table) -> bool {
    let keys: Vec<&Column> = table.columns.iter().filter(|column| column.primary_key).collect();
    let refers = |column: &&Column| table.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
    keys.len() > 1 && keys.iter().all(refers)
}

/// Returns the stems of the rows that a table refers to, by the names of its keys, and none of a table that only links others.
pub(super) fn list_referred(table: &Table) -> Vec<Vec<String>> {
    let keys = table.foreign_keys.iter().filter_map(|key| key.columns.first());
    let named = keys.map(|column| stems(&without(column, &KEY_WORDS))).filter(|stems| !stems.is_empty());
    named.chain(is_link(table).then(Vec::new)).collect()
}

/// Returns the name of the rows of a table by its key: `truck` for `truck_id`.
pub(super) fn name_by_key(table: &Table) -> Option<String> {
    let mut keys = table.columns.iter().filter(|column| column.primary_key);
    let key = keys.next().filter(|_| keys.next().is_none())?;
    let is_own = !table.foreign_keys.iter().any(|foreign| foreign.columns.contains(&key.name));
    let name = without(&key.name, &KEY_WORDS);
    (is_own && !name.is_empty() && name != without(&key.name, &[])).then_some(name)
}

/// Returns the words of a value, in lower case.
pub(super) fn lower_words(value: &str) -> Vec<String> {
    periods::words(&value.replace(['_', '-'], " ")).into_iter().map(str::to_lowercase).collect()
}

/// Returns the names of a column: its name, with and without a unit, and the name in its description.
pub(super) fn name_column(column: &Column) -> Vec<String> {
    let mut names = vec![column.name.replace('_', " ")];
    let mut words: Vec<String> = identifiers::words(&column.name);
    // `weight_kg` is a weight, but `temp_max` is not any temperature, and `customer_id` is no customer.
    let is_short = |word: &String| {
        word.len() <= MAX_UNIT && !operators::names_aggregate(word) && !KEY_WORDS.contains(&word.as_str())
    };
    let is_unit =
        |word: &String| UNITS.split(' ').any(|unit| unit == word) || column.column_type.is_numeric() && is_short(word);
    while words.len() > 1 && words.last().is_some_and(is_unit) {
        words.pop();
        names.push(words.join(" "));
    }
    let head = column.description.split(" (values: ").next().unwrap_or_default();
    let called = head.split([':', ',', ';', '.', '(']).next().unwrap_or_default().trim();
    if (1..=MAX_NAME_WORDS).contains(&stems(called).len()) && !names.iter().any(|name| name == called) {
        names.push(called.to_owned());
    }
    names
}

/// Returns the role of the row that a key refers to: `redeemed` for `redeemed_invoice_id`, and the role in the description.
pub(super) fn name_role(table: &Table, column: &Column) -> Vec<String> {
    let mut targets = table.foreign_keys.iter().filter(|key| key.columns.contains(&column.name)).map(|key| &key.table);
    let target = targets.next().map(|name| stems(name)).unwrap_or_default();
    let says = |word: &String| word != "id" && !stems(word).iter().all(|stem| target.contains(stem));
    let mut names = name_column(column);
    names[0] = identifiers::words(&column.name).into_iter().filter(says).collect::<Vec<_>>().join(" ");
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the codes of a column, each with the names of its meaning: `open` and `awaiting payment` of `O = open, awaiting payment`.
pub(super) fn list_codes(column: &Column) -> Vec<(String, String)> {
    let named = column.codes().into_iter().flat_map(|(code, meaning)| {
        let names = meaning.split(" (").next().unwrap_or_default().split(',').flat_map(|one| one.split(" or "));
        let names = names.map(str::trim).filter(|one| !one.is_empty());
        names.map(|name| (code.to_owned(), name.to_owned())).collect::<Vec<_>>()
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(description: &str, expected: &[(&str, &str)]) {
        let column = Column { description: description.to_owned(), ..Column::default() };
        let found = list_codes(&column);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(value, meaning)| (value.as_str(), meaning.as_str())).collect();
        assert_eq!(found, expected, "{description}");
    }

    #[test]
    fn parses_codes_in_descriptions() {
        check(
            "x (values: P = paid; O = open, awaiting payment)",
            &[("P", "paid"), ("O", "open"), ("O", "awaiting payment")],
        );
        check("x (values: 1 = public, 0 = private)", &[("1", "public"), ("0", "private")]);
        check(
            "x (values: mp3, aac = downloads; cd = compact disc)",
            &[("mp3", "downloads"), ("aac", "downloads"), ("cd", "compact disc")],
        );
        check("x (values: approved, rejected)", &[]);
        check("no values", &[]);
    }
}
