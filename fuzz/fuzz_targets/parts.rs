//! What holds of every document, wherever its text comes from.

use std::collections::HashSet;

use prospector_documents::{Document, DocumentDiscovery, DocumentSource, Format, Origin};

/// Divides a text, and looks at its sections and at what would be indexed.
pub(crate) fn check(text: &str, format: Format) {
    let origin = Origin::Inline { text: text.to_owned(), format };
    let source = DocumentSource { origin, ..DocumentSource::inline("fuzz", "") };
    let (documents, _) = source.load();
    documents.iter().for_each(sections);
    let (discovery, _) = DocumentDiscovery::new(documents);
    let records = discovery.records();
    let ids: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids.len(), records.len());
    assert!(!records.is_empty() || discovery.documents().is_empty());
}

fn sections(document: &Document) {
    let mut end = 0;
    let names: HashSet<String> = document.sections.iter().map(|section| section.full_name()).collect();
    assert!(names.len() == document.sections.len() && !names.is_empty());
    for section in document.sections.iter().take(50) {
        assert!(section.range.start >= end && document.content.get(section.range.clone()).is_some());
        end = section.range.end;
        let found = document.section(&section.full_name());
        assert!(found.is_ok_and(|found| found == section), "{:?}", section.full_name());
        assert!(document.section_content(section).len() <= document.content.len());
    }
}
