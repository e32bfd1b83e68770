//! Converts sections to index records.

use std::collections::HashSet;

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_text::cut::one_line;

use crate::{Document, chunk, model::Section, passage};

/// Returns one record per part of each section. The record of a section without own text lists the headings below it.
pub(crate) fn records(documents: &[Document]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut ids = HashSet::new();
    for document in documents {
        let before = records.len();
        for (at, section) in document.sections.iter().enumerate() {
            let mut parts = chunk::split(&section.text, document.format);
            if parts.is_empty() {
                let below = headings_below(section, &document.sections[at + 1..]);
                if below.is_empty() && document.sections.len() > 1 {
                    continue;
                }
                parts.push(below);
            }
            for (n, part) in parts.iter().enumerate() {
                let first = records.len() == before;
                records.push(record(document, section, part, n, first, &mut ids));
            }
        }
        // The document contains only headings on one level.
        if let Some(section) = document.sections.first().filter(|_| records.len() == before) {
            let headings: Vec<&str> = document.sections.iter().map(Section::heading).take(30).collect();
            records.push(record(document, section, &headings.join("; "), 0, true, &mut ids));
        }
    }
    records
}

fn record(
    document: &Document,
    section: &Section,
    text: &str,
    part: usize,
    first: bool,
    ids: &mut HashSet<String>,
) -> Record {
    let id = format!("{}#{}", document.name, section.full_name());
    let mut unique = if part == 0 { id.clone() } else { format!("{id}/{}", part + 1) };
    let mut number = part + 1;
    // A heading may itself end in `/2`.
    while !ids.insert(unique.clone()) {
        number += 1;
        unique = format!("{id}/{number}");
    }
    let mut record = Record::new(Kind::Document, unique, section.heading());
    record.parent = document.name.clone();
    record.description = passage::first_sentences(text, document.format);
    if first && record.description.is_empty() {
        record.description.clone_from(&document.description);
    }
    let trail: Vec<&str> = std::iter::once(document.title.as_str())
        .chain(section.path.iter().map(String::as_str).filter(|heading| *heading != document.title))
        .collect();
    record.body = trail.join(" > ");
    if section.path.len() > 1 && part == 0 {
        record.aliases.push(section.full_name());
    }
    if first {
        // Document metadata is indexed with the first record only.
        if document.name != section.heading() {
            record.aliases.push(document.name.clone());
        }
        for line in [document.description.as_str(), &document.tags.join(", "), &fields(document)] {
            if !line.trim().is_empty() && line != record.description {
                record.body.push('\n');
                record.body += &one_line(line);
            }
        }
    }
    record.body.push_str("\n\n");
    record.body.push_str(text);
    record
}

/// Maximum length of indexed metadata, in characters.
const MAX_FIELDS: usize = 400;

/// Renders the metadata as text, author and date first: `author: Ada Quill; date: 2025-03-04`.
fn fields(document: &Document) -> String {
    let first = |name: &str| !matches!(name, "author" | "authors" | "owner" | "date" | "created");
    let mut fields: Vec<_> = document.metadata.iter().filter(|(name, _)| *name != "pages").collect();
    fields.sort_by_key(|(name, _)| first(name));
    let mut line = String::new();
    for (name, value) in fields {
        if line.chars().count() + name.chars().count() + value.chars().count() > MAX_FIELDS {
            continue;
        }
        if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(&format!("{name}: {value}"));
    }
    line
}

/// Returns the text of a record without the metadata before it.
pub(crate) fn text_of(body: &str) -> &str {
    body.split_once("\n\n").map_or(body, |(_, text)| text)
}

fn headings_below(section: &Section, after: &[Section]) -> String {
    let below: Vec<&str> =
        after.iter().take_while(|other| other.level > section.level).map(Section::heading).take(30).collect();
    below.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentSource;

    fn check(text: &str, expected: &[(&str, &str, &[&str], &str)]) {
        let mut source = DocumentSource::inline("guides/rules", text);
        source.tags = vec!["policy".into()];
        let records = records(&source.load().0);
        let found: Vec<(&str, &str, Vec<&str>, &str)> = records
            .iter()
            .map(|r| (r.id.as_str(), r.name.as_str(), r.aliases.iter().map(String::as_str).collect(), r.body.as_str()))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(id, name, aliases, body)| (*id, *name, aliases.to_vec(), *body)).collect();
        assert_eq!(found, expected);
        assert!(records.iter().all(|r| r.parent == "guides/rules" && r.kind == Kind::Document));
    }

    #[test]
    fn creates_a_record_per_section_with_its_path() {
        check(
            "# Rules\n\n## Customers\n\n### VIP customers\n\nThey spend much.\n\n## Empty",
            &[
                (
                    "guides/rules#Rules",
                    "Rules",
                    &["guides/rules"],
                    "Rules\nThey spend much.\npolicy\n\nCustomers; VIP customers; Empty",
                ),
                ("guides/rules#Customers", "Customers", &[], "Rules > Customers\n\nVIP customers"),
                (
                    "guides/rules#Customers > VIP customers",
                    "VIP customers",
                    &["Customers > VIP customers"],
                    "Rules > Customers > VIP customers\n\nThey spend much.",
                ),
            ],
        );
    }

    #[test]
    fn indexes_metadata_in_the_first_record() {
        check(
            "---\nstatus: draft\nauthor: [Ada Quill, Bo]\ndate: 2025-03-04\n---\n# Rules\n\nBe kind.",
            &[(
                "guides/rules#Rules",
                "Rules",
                &["guides/rules"],
                "Rules\npolicy\nauthor: Ada Quill, Bo; date: 2025-03-04; status: draft\n\nBe kind.",
            )],
        );
    }

    #[test]
    fn creates_a_record_for_empty_documents() {
        check("# A\n\n# B\n\n---\n", &[("guides/rules#A", "A", &["guides/rules"], "rules > A\npolicy\n\nA; B")]);
        check("", &[("guides/rules#rules", "rules", &["guides/rules"], "rules\npolicy\n\n")]);
    }

    #[test]
    fn numbers_parts_with_unique_ids() {
        let paragraph = format!("{}.\n\n", "word ".repeat(200).trim_end());
        let text = format!("# A\n\n## B/2\n\nx\n\n## B\n\n{}", paragraph.repeat(3));
        let records = records(&DocumentSource::inline("d", text).load().0);
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(ids, ["d#A", "d#B/2", "d#B", "d#B/3", "d#B/4"]);
        assert!(records.iter().all(|record| !text_of(&record.body).contains(" > ")));
    }
}
