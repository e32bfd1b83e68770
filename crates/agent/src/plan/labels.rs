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
    fn column(&self, id: &str) -> Option<String> {
        natural_name(&self.find_column(id)?.description)
    }

    fn value(&self, column: &str, value: &str) -> Option<String> {
        let codes = self.find_column(column)?.codes();
        codes.into_iter().find(|(code, _)| *code == value).map(|(_, meaning)| meaning.to_owned())
    }
}

/// The natural name in front of a description: `invoice date: the day on which ...`.
fn natural_name(description: &str) -> Option<String> {
    let (name, _) = description.split_once(": ")?;
    let name = name.split("(values: ").next()?.trim();
    let words = name.split_whitespace().count();
    (1..=4).contains(&words).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_natural_names() {
        let description = "status: the state of an invoice (values: P = paid; V = void)";
        assert_eq!(natural_name(description).as_deref(), Some("status"));
        assert_eq!(natural_name("The state of an invoice."), None);
    }
}
