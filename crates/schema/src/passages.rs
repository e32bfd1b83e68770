//! Descriptions as evidence: what the schema itself says about a question.

use std::collections::BTreeSet;

use prospector_core::Kind;
use prospector_search::{Index, Query};
use prospector_text::{identifiers::words, stem::strip_plural, stop_words::OF_COLUMN_QUESTIONS};

use crate::discovery::SchemaDiscovery;

/// How many tables are looked at.
const MAX_TABLES: usize = 5;

impl SchemaDiscovery {
    /// The descriptions of tables and columns that bear on a question, best first: the id, the text, and how likely it
    /// is to be needed, 0 to 1. None where the index fails; the search tools say why. A table counts as much as the hit on it,
    /// a column as much of that as its words cover of the question.
    pub fn passages(&self, index: &Index, question: &str, limit: usize) -> Vec<(String, String, f32)> {
        let query = Query {
            text: question.to_owned(),
            kinds: vec![Kind::Table],
            limit: MAX_TABLES.min(limit.max(1)),
            ..Query::default()
        };
        // Whether they match well or not: who reads the passages judges them.
        let hits = index.rank(&query).unwrap_or_default();
        let asked: BTreeSet<String> = words(question)
            .into_iter()
            .filter(|word| !OF_COLUMN_QUESTIONS.contains(&word.as_str()))
            .map(strip_plural)
            .collect();
        let mut passages = Vec::new();
        for hit in hits.into_iter().filter(|hit| hit.relevance.get() > 0.0) {
            let Some(table) = self.table(&hit.parent, &hit.name) else { continue };
            let relevance = hit.relevance.get();
            if !table.description.is_empty() {
                passages.push((hit.id.clone(), table.description.clone(), relevance));
            }
            for column in table.columns.iter().filter(|column| !column.description.is_empty()) {
                let said: BTreeSet<String> =
                    words(&column.name).into_iter().chain(words(&column.description)).map(strip_plural).collect();
                let covered = asked.intersection(&said).count() as f32 / asked.len().max(1) as f32;
                if covered > 0.0 {
                    let id = format!("{}.{}", hit.id, column.name);
                    passages.push((id, column.description.clone(), relevance * covered));
                }
            }
        }
        passages.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        passages.truncate(limit);
        passages
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{describe_shop, index};

    fn check(question: &str, expected: &[&str]) {
        let discovery = describe_shop();
        let found = discovery.passages(&index(&discovery), question, 3);
        let ids: Vec<&str> = found.iter().map(|(id, ..)| id.as_str()).collect();
        let best = &ids[..ids.len().min(expected.len().max(1))];
        assert_eq!(best, expected, "{found:?}");
        assert!(found.windows(2).all(|two| two[0].2 >= two[1].2), "{found:?}");
    }

    #[test]
    fn descriptions_of_the_tables_and_columns_that_match_are_found() {
        check("what does the status of an invoice mean", &["shop.invoices", "shop.invoices.status"]);
        check("zyzzyva", &[]);
    }
}
