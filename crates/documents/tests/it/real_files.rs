//! Files created by LibreOffice and qpdf: text and properties are extracted from each, headings and tables from all but
//! PDF. `files/make.py` regenerates them.

use std::path::PathBuf;

use prospector_documents::{Document, DocumentSource, Format};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn load(name: &str) -> Document {
    let (mut documents, problems) = DocumentSource::path(file(name)).load();
    assert!(problems.is_empty(), "{problems:?}");
    documents.remove(0)
}

/// Checks the handbook in one format: its sections, a paragraph, a table, a list and its metadata.
fn check_handbook(name: &str, format: Format) {
    let document = load(name);
    assert_eq!((document.format, document.title.as_str()), (format, "Warehouse handbook"));
    assert_eq!(document.metadata.get("author").map(String::as_str), Some("Ada Quill"), "{:?}", document.metadata);
    assert!(document.tags.iter().any(|tag| tag.ends_with("parcels")), "{:?}", document.tags);
    assert!(document.metadata["created"].starts_with("2025-03-04T09:30:00"), "{:?}", document.metadata);
    let names: Vec<String> = document.sections.iter().map(prospector_documents::model::Section::full_name).collect();
    let expected = ["Warehouse handbook", "Packing", "Packing > Fragile goods", "Cut-off times", "Returns"];
    assert_eq!(names, expected, "{}", document.content);
    let text = |section: &str| document.section(section).unwrap().text.clone();
    assert!(
        text("Warehouse handbook").replace("**", "").contains("It binds every shift & every site."),
        "{}",
        document.content
    );
    assert!(
        text("Packing").replace("\n\n-", "\n-").contains("- Gift notes lie on top.\n- Invoices are never packed."),
        "{}",
        text("Packing")
    );
    let table = "| Warehouse | Cut-off | Carrier |\n| --- | --- | --- |\n| Leipzig | 15:30 | Northmail |\n\
                 | Hobart | 13:00 | Southern Cross \\| Freight |\n| Recife | 14:15 | Correio Azul |";
    assert!(text("Cut-off times").ends_with(table), "{}", text("Cut-off times"));
    assert!(text("Returns").contains("checked within two working days. Été, naïve and"), "{}", text("Returns"));
}

#[test]
fn formats_yield_the_same_document() {
    check_handbook("handbook.docx", Format::Docx);
    check_handbook("handbook.html", Format::Html);
}

#[test]
fn reads_pdf_pages_and_metadata() {
    // The second one prohibits printing, but not reading.
    for name in ["handbook.pdf", "restricted.pdf"] {
        let document = load(name);
        assert_eq!((document.format, document.title.as_str()), (Format::Pdf, "Warehouse handbook"));
        assert_eq!(document.metadata.get("author").map(String::as_str), Some("Ada Quill"), "{:?}", document.metadata);
        assert!(document.tags.iter().any(|tag| tag.ends_with("parcels")), "{:?}", document.tags);
        let pages: usize = document.metadata["pages"].parse().unwrap();
        assert_eq!(document.sections.len(), pages, "{}", document.content);
        for words in [
            "It binds every shift & every site.",
            "Invoices are never packed.",
            "Leipzig 15:30 Northmail\nHobart 13:00 Southern Cross | Freight\n",
            "checked within two working days. Été, naïve and",
        ] {
            assert!(document.content.contains(words), "{words}: {}", document.content);
        }
    }
}

#[test]
fn converts_sheets_to_sections() {
    let document = load("budget.xlsx");
    assert_eq!(document.title, "Budget 2026");
    let expected = "| Channel | Approved on | Amount |\n| --- | --- | --- |\n| Paid search | 2025-11-03 | 125000.5 |\n\
                    | Newsletter | 2025-11-10 | 8000 |\n| Total | | 133000.5 |";
    assert_eq!(document.section("Marketing").unwrap().text, expected);
    assert_eq!(document.section("Staff").unwrap().text, "| Team | Heads |\n| --- | --- |\n| Support | 14 |");
}

#[test]
fn converts_slides_to_sections() {
    let document = load("launch.pptx");
    let text = |section: &str| document.section(section).unwrap().text.clone();
    let first = text("Slide 1: Launch in Japan");
    assert!(first.contains("The shop opens in Osaka on 1 April 2026.") && first.contains("Thank the team"), "{first}");
    assert!(
        text("Slide 2: Costs").contains("| Item | Yen |\n| --- | --- |\n| Licences | 4,200,000 |"),
        "{}",
        document.content
    );
}

#[test]
fn reports_encrypted_files() {
    for name in ["encrypted.docx", "encrypted.xlsx", "encrypted.pptx", "encrypted.pdf"] {
        let (documents, problems) = DocumentSource::path(file(name)).load();
        assert!(documents.is_empty());
        assert!(problems[0].place.ends_with(name) && problems[0].reason.contains("encrypted"), "{problems:?}");
    }
}

#[test]
fn detects_the_format_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("handbook.txt");
    std::fs::copy(file("handbook.docx"), &wrong).unwrap();
    let (documents, problems) = DocumentSource::path(&wrong).load();
    assert_eq!(documents[0].format, Format::Docx);
    assert!(problems.len() == 1 && problems[0].reason.contains("but the content docx"), "{problems:?}");
}
