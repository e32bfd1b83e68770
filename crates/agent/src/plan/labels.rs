//! Natural names and code meanings from the descriptions of a catalog, for explaining statements.

use prospector_connect::table::Column;
use prospector_discovery::Catalog;
use prospector_engine::query::Labels;

/// Labels from the descriptions of a catalog.
pub(super) struct CatalogLabels<'a>(pub(super) &'a Catalog);

impl CatalogLabels<'_> {
    fn find_column(&self, id: &str) -> Option<&Column> {
        let (table, name) = id.rsplit_once('.')?;
        self.0.schema.find_table(table)?.1.column(name)
    }
}

impl Labels for CatalogLabels<'_> {
    fn table(&self, _: &str) -> Option<String> {
        // Tables are shown by their names: their descriptions are sentences.
        None
    }

    fn column(&self, id: &str) -> Option<String> {
        natural_name(&self.find_column(id)?.description)
    }

    fn value(&self, column: &str, value: &str) -> Option<String> {
        code_meanings(&self.find_column(column)?.description)
            .find(|(code, _)| *code == value)
            .map(|(_, meaning)| meaning.to_owned())
    }
}

/// The natural name in front of a description: `invoice date: the day on which ...`.
fn natural_name(description: &str) -> Option<String> {
    let (name, _) = description.split_once(": ")?;
    let name = name.split("(values: ").next()?.trim();
    let words = name.split_whitespace().count();
    (1..=4).contains(&words).then(|| name.to_owned())
}

/// Codes and what they mean: `(values: P = paid; V = void)`.
fn code_meanings(description: &str) -> impl Iterator<Item = (&str, &str)> {
    let list = description.split_once("(values: ").map(|(_, list)| list.trim_end_matches(')')).unwrap_or_default();
    let pairs = list.split([';', ',']).filter_map(|pair| pair.split_once('='));
    pairs.map(|(code, meaning)| (code.trim(), meaning.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_natural_names_and_codes() {
        let description = "status: the state of an invoice (values: P = paid; V = void)";
        assert_eq!(natural_name(description).as_deref(), Some("status"));
        assert_eq!(code_meanings(description).collect::<Vec<_>>(), [("P", "paid"), ("V", "void")]);
        assert_eq!(natural_name("The state of an invoice."), None);
    }
}
