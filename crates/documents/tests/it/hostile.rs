//! Files that are damaged or crafted to exhaust resources: each is reported as a problem with its reason, at low cost.

use std::io::Read;

use flate2::{Compression, write::ZlibEncoder};
use prospector_documents::{
    Format,
    formats::{convert, limits, parse},
};

use crate::support::{check, declared, file, part, with};

/// Returns a PDF of one page with this content and this form.
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
fn rejects_decompression_bombs() {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(b' ').take(200 << 20), &mut packed).unwrap();
    check(pdf(&packed.finish().unwrap(), true, ""), Format::Pdf, "at most 64 MB are read");
}

/// Returns a sheet with these rows, followed by `rest`.
fn sheet(rows: &str, rest: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData>{rest}</worksheet>")
}

/// Returns the sample workbook with this first sheet.
fn workbook(sheet: &str) -> Vec<u8> {
    with("budget.xlsx", &[(SHEET, sheet)])
}

const SHEET: &str = "xl/worksheets/sheet1.xml";

#[test]
fn rejects_cells_that_pad_rows() {
    let many = format!("over {} cells", limits::MAX_CELLS);
    let check = |bytes: Vec<u8>| check(bytes, Format::Xlsx, &many);
    let rows = |cell: fn(usize) -> String| -> String {
        (1..=100).map(|n| format!("<row r=\"{n}\">{}</row>", cell(n))).collect()
    };
    // A value at the end of each row pads it: 16,384 cells.
    let ends = rows(|n| format!("<c r=\"XFD{n}\"><v>1</v></c>"));
    check(workbook(&sheet(&ends, "")));
    // So does an empty cell with a merge, comment or picture.
    let empty = rows(|n| format!("<c r=\"XFD{n}\"></c>"));
    let merges: String = (1..=100).map(|n| format!("<mergeCell ref=\"XFD{n}:XFD{n}\"></mergeCell>")).collect();
    check(workbook(&sheet(&empty, &format!("<mergeCells>{merges}</mergeCells>"))));
    check(workbook(&sheet(&rows(|n| format!("<c r=\"XFD{n}\" vm=\"1\"/>")), "")));
    let notes: String = (1..=100).map(|n| format!("<comment ref=\"xfd{n}\"><text><t>x</t></text></comment>")).collect();
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments";
    let rels =
        format!("<Relationships><Relationship Id=\"r1\" Type=\"{kind}\" Target=\"../odd.xml\"/></Relationships>");
    check(with(
        "budget.xlsx",
        &[
            (SHEET, &sheet(&empty, "")),
            ("xl/odd.xml", &format!("<comments><commentList>{notes}</commentList></comments>")),
            ("xl/worksheets/_rels/sheet1.xml.rels", &rels),
        ],
    ));
    // Cells without an address follow the previous one; repeated addresses are all kept.
    check(workbook(&sheet(&format!("<row>{}</row>", "<c/>".repeat(300_000)), "")));
    check(workbook(&sheet(&format!("<row>{}</row>", "<c r=\"A1\"><v>1</v></c>".repeat(300_000)), "")));
    // Sheets are recognised at any path.
    let moved = part("budget.xlsx", "xl/_rels/workbook.xml.rels").replace("worksheets/sheet1.xml", "odd.xml");
    check(with("budget.xlsx", &[("xl/_rels/workbook.xml.rels", &moved), ("xl/odd.xml", &sheet(&ends, ""))]));
}

#[test]
fn rejects_wide_cells() {
    let many = format!("over {} cells", limits::MAX_CELLS);
    let cells = "<w:tc><w:tcPr><w:gridSpan w:val=\"1000\"/></w:tcPr><w:p/></w:tc>".repeat(300);
    let xml = format!("<w:document><w:body><w:tbl><w:tr>{cells}</w:tr></w:tbl></w:body></w:document>");
    check(with("handbook.docx", &[("word/document.xml", &xml)]), Format::Docx, &many);
    let cells = "<a:tc gridSpan=\"4000000000\"><a:txBody/></a:tc>".repeat(300);
    let xml = format!("<p:sld><a:tbl><a:tr>{cells}</a:tr></a:tbl></p:sld>");
    check(with("launch.pptx", &[("ppt/slides/slide1.xml", &xml)]), Format::Pptx, &many);
}

#[test]
fn counts_shared_content_per_reference() {
    // A string of 100 KB that consists of entities, in 1,000 cells.
    let others = "<si><t>x</t></si>".repeat(20);
    let strings = format!("<sst><si><t>{}</t></si>{others}</sst>", "&#65;".repeat(100_000));
    let rows: String =
        (1..=1_000).map(|n| format!("<row r=\"{n}\"><c r=\"A{n}\" t=\"s\"><v>0</v></c></row>")).collect();
    let bomb = with("budget.xlsx", &[(SHEET, &sheet(&rows, "")), ("xl/sharedStrings.xml", &strings)]);
    check(bomb, Format::Xlsx, "the cells contain too much text");
    // A link target of a megabyte on 1,000 runs.
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink";
    let rels = format!(
        "<Relationships><Relationship Id=\"r1\" Type=\"{kind}\" Target=\"https://x.example/{}\" \
         TargetMode=\"External\"/></Relationships>",
        "a".repeat(1 << 20)
    );
    let runs = "<w:r><w:t>x</w:t></w:r>".repeat(1_000);
    let xml =
        format!("<w:document><w:body><w:p><w:hyperlink r:id=\"r1\">{runs}</w:hyperlink></w:p></w:body></w:document>");
    let bomb = with("handbook.docx", &[("word/document.xml", &xml), ("word/_rels/document.xml.rels", &rels)]);
    check(bomb, Format::Docx, "remove the longest links");
    // Nested entities: no parser used here expands them.
    let laughs: String = (1..30).map(|n| format!("<!ENTITY l{n} \"&l{};&l{};\">", n - 1, n - 1)).collect();
    let xml = format!(
        "<!DOCTYPE w [<!ENTITY l0 \"ha\">{laughs}]><w:document><w:body><w:p><w:r><w:t>&l29;</w:t></w:r></w:p>\
         </w:body></w:document>"
    );
    let (converted, _) = convert("x", with("handbook.docx", &[("word/document.xml", &xml)]), Format::Docx);
    assert!(converted.text.len() < 1_000, "{}", converted.text.len());
}

#[test]
fn accepts_large_empty_sheets() {
    let read = |bytes: Vec<u8>| {
        let (converted, problems) = convert("x", bytes, Format::Xlsx);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(converted.text.contains("| Support | 14 |"), "the other sheet is there");
        converted.text
    };
    // A million of them exceed the time limit of an unoptimised parser.
    let rows: String = (948_577..=1_048_576).map(|n| format!("<row r=\"{n}\"></row>")).collect();
    let plain = read(workbook(&sheet("", "")));
    assert_eq!(read(workbook(&sheet(&rows, ""))), plain, "rows without cells are nothing");
    assert_eq!(read(workbook(&sheet("<row><c r=\"XFD1048576\" s=\"1\"/></row>", ""))), plain, "nor is a style");
    let last = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>last</v></c></row>";
    let text = read(workbook(&sheet(last, "")));
    assert!(text.contains("last") && text.len() < 1 << 20, "{}", text.len());
}

#[test]
fn does_not_trust_declared_sizes() {
    // A declared size far beyond the actual one is ignored.
    let liar = declared(file("launch.pptx"), "ppt/slides/slide1.xml", u32::MAX - 1);
    check(liar, Format::Pptx, "at most 64 MB are read");
    // Names outside the folder have no effect: nothing is written, and no other file is read.
    let text = |bytes: Vec<u8>, format| convert("x", bytes, format).0.text;
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside.xml");
    let up = format!("{}{}", "../".repeat(20), outside.display());
    let absolute = outside.display().to_string();
    let parts = ["../word/document.xml", &up, &absolute, "..\\..\\outside.xml"].map(|name| (name, "<w:document/>"));
    assert_eq!(text(with("handbook.docx", &parts), Format::Docx), text(file("handbook.docx"), Format::Docx));
    assert!(!outside.exists());
    // The same applies to relationships with targets outside.
    std::fs::write(&outside, "<p:sld><a:t>outside</a:t></p:sld>").unwrap();
    for target in [up.as_str(), &absolute, &format!("file://{absolute}")] {
        let rels = part("launch.pptx", "ppt/_rels/presentation.xml.rels").replace("slides/slide1.xml", target);
        let found = text(with("launch.pptx", &[("ppt/_rels/presentation.xml.rels", &rels)]), Format::Pptx);
        assert!(!found.contains("outside"), "{target}: {found}");
    }
}

#[test]
fn rejects_deeply_nested_elements() {
    let parts = [
        ("handbook.docx", "word/document.xml", Format::Docx),
        ("handbook.docx", "docProps/core.xml", Format::Docx),
        ("handbook.docx", "word/_rels/document.xml.rels", Format::Docx),
        ("budget.xlsx", SHEET, Format::Xlsx),
        ("budget.xlsx", "xl/sharedStrings.xml", Format::Xlsx),
        ("launch.pptx", "ppt/slides/slide1.xml", Format::Pptx),
        ("launch.pptx", "ppt/_rels/presentation.xml.rels", Format::Pptx),
    ];
    for (name, part, format) in parts {
        let deep = with(name, &[(part, &"<a>".repeat(10_000))]);
        check(deep, format, &format!("the elements of `{part}` are nested over {} deep", limits::MAX_XML_DEPTH));
    }
}

#[test]
fn rejects_small_files_that_expand() {
    let tables = "<w:tbl><w:tr><w:tc>".repeat(50);
    check(with("handbook.docx", &[("word/document.xml", &tables)]), Format::Docx, "tables are nested");

    check("<div>".repeat(100_000).into_bytes(), Format::Html, "nested");
    check("<b>x</b><i>y</i>".repeat(100_000).into_bytes(), Format::Html, "side by side");
    let array = format!("%PDF-1.5\n1 0 obj\n[{}]\nendobj", "0 ".repeat(limits::MAX_PDF_TOKENS + 1));
    check(array.into_bytes(), Format::Pdf, "numbers and names");
}

#[test]
fn stops_recursive_forms() {
    let text = "BT /F 12 Tf 50 50 Td (Hello) Tj ET /X Do";
    let (converted, problems) = parse("x", &pdf(text.as_bytes(), false, text), Format::Pdf);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(converted.text.starts_with("Hello"), "{}", converted.text);
}

#[test]
fn reports_damaged_files() {
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
fn parsers_do_not_panic_on_damage() {
    let formats = [
        ("handbook.docx", Format::Docx),
        ("budget.xlsx", Format::Xlsx),
        ("launch.pptx", Format::Pptx),
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
