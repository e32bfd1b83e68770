//! Files that are damaged, or made to exhaust the machine: each is a problem with its reason, at little cost.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    io::{Cursor, Read},
    path::PathBuf,
};

use flate2::{Compression, write::ZlibEncoder};
use prospector_documents::{
    Format,
    formats::{convert, parse},
    limits,
};
use zip::{ZipWriter, write::SimpleFileOptions};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)).unwrap()
}

/// That nothing comes out but a reason.
fn check(bytes: Vec<u8>, format: Format, part: &str) {
    let (converted, problems) = convert("x", bytes, format);
    assert_eq!(converted.text.chars().take(100).collect::<String>(), "");
    let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    assert!(said.contains(part), "`{said}` does not say `{part}`");
}

/// The sample DOCX or XLSX with one part replaced.
fn replaced(name: &str, part: &str, with: &mut dyn Read) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(file(name))).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let name = entry.name().unwrap().into_owned();
        writer.start_file(name.as_str(), options).unwrap();
        if name == part {
            std::io::copy(with, &mut writer).unwrap();
        } else {
            std::io::copy(&mut entry, &mut writer).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A PDF of one page with this content and this form.
fn pdf(content: &[u8], packed: bool, form: &str) -> Vec<u8> {
    let stream = |bytes: &[u8], entries: &str| {
        let mut object = format!("<< /Length {} {entries} >>\nstream\n", bytes.len()).into_bytes();
        object.extend(bytes);
        object.extend(b"\nendstream");
        object
    };
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 500 500] /Contents 4 0 R /Resources \
          << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /X 5 0 R >> >> >>"
            .to_vec(),
        stream(content, if packed { "/Filter /FlateDecode" } else { "" }),
        stream(form.as_bytes(), "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"),
    ];
    let mut out = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", n + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let xref = out.len();
    out.extend(b"xref\n0 6\n0000000000 65535 f \n");
    places.iter().for_each(|place| out.extend(format!("{place:010} 00000 n \n").bytes()));
    out.extend(format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF").bytes());
    out
}

#[test]
fn what_unpacks_without_end_is_refused() {
    let mut zeros = std::io::repeat(0).take(200 << 20);
    let bomb = replaced("handbook.docx", "word/document.xml", &mut zeros);
    assert!(bomb.len() < 4 << 20);
    check(bomb, Format::Docx, "at most 64 MB are read");

    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(b' ').take(200 << 20), &mut packed).unwrap();
    check(pdf(&packed.finish().unwrap(), true, ""), Format::Pdf, "at most 64 MB are read");
}

#[test]
fn small_files_that_grow_are_refused() {
    // 20,000 rows of 16,384 cells, all but one of each empty.
    let rows: String = (1..=20_000).map(|n| format!("<row r=\"{n}\"><c r=\"XFD{n}\"><v>1</v></c></row>")).collect();
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let bomb = replaced("budget.xlsx", "xl/worksheets/sheet1.xml", &mut sheet.as_bytes());
    check(bomb, Format::Xlsx, &format!("over {} cells", limits::CELLS));

    let tables = "<w:tbl><w:tr><w:tc>".repeat(50);
    let bomb = replaced("handbook.docx", "word/document.xml", &mut tables.as_bytes());
    check(bomb, Format::Docx, "tables stand in tables");

    check("<div>".repeat(100_000).into_bytes(), Format::Html, "nested");
    check("<b>x</b><i>y</i>".repeat(100_000).into_bytes(), Format::Html, "side by side");
    let array = format!("%PDF-1.5\n1 0 obj\n[{}]\nendobj", "0 ".repeat(limits::PDF_TOKENS + 1));
    check(array.into_bytes(), Format::Pdf, "numbers and names");
}

#[test]
fn a_form_that_draws_itself_ends() {
    let text = "BT /F 12 Tf 50 50 Td (Hello) Tj ET /X Do";
    let (converted, problems) = parse("x", &pdf(text.as_bytes(), false, text), Format::Pdf);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(converted.text.starts_with("Hello"), "{}", converted.text);
}

#[test]
fn damaged_files_say_so() {
    for (name, format) in
        [("handbook.docx", Format::Docx), ("budget.xlsx", Format::Xlsx), ("launch.pptx", Format::Pptx)]
    {
        let whole = file(name);
        check(whole[..whole.len() / 2].to_vec(), format, "damaged");
        check(b"PK\x03\x04 nothing".to_vec(), format, "damaged");
    }
    check(b"%PDF-1.7 nothing".to_vec(), Format::Pdf, "damaged");
}

#[test]
fn no_damage_makes_a_parser_panic() {
    let formats = [
        ("handbook.docx", Format::Docx),
        ("budget.xlsx", Format::Xlsx),
        ("handbook.html", Format::Html),
        ("budget.pdf", Format::Pdf),
    ];
    for (name, format) in formats {
        let whole = file(name);
        for n in 0..60 {
            let mut bytes = whole.clone();
            let at = (n * 7919) % bytes.len();
            bytes[at] ^= 1 << (n % 8);
            bytes.truncate(if n % 3 == 0 { at.max(1) } else { bytes.len() });
            parse("x", &bytes, format);
        }
    }
}
