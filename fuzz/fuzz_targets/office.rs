//! Any bytes as the parts of a DOCX, XLSX or PPTX package, or as the package itself: nothing panics.
//!
//! The first byte says which; a zero byte divides the main part from those beside it. The mutations would otherwise end
//! in the checksums of the archive.
//!
//! `cargo +nightly fuzz run office fuzz/corpus/office fuzz/seeds/office -- -dict=fuzz/dictionaries/xml.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use prospector_documents::{Format, formats::parse};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

mod parts;

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN: &str = "application/vnd.openxmlformats-officedocument";

const DOCX: [&str; 4] = ["word/document.xml", "word/styles.xml", "word/numbering.xml", "docProps/core.xml"];
const XLSX: [&str; 4] = ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "docProps/core.xml"];
const PPTX: [&str; 4] =
    ["ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml", "ppt/slides/_rels/slide1.xml.rels", "docProps/core.xml"];

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let (format, names) = match first % 4 {
        0 => (Format::Docx, DOCX),
        1 => (Format::Xlsx, XLSX),
        2 => (Format::Pptx, PPTX),
        _ => {
            for format in [Format::Docx, Format::Xlsx, Format::Pptx] {
                parse("fuzz", rest, format);
            }
            return;
        }
    };
    let Some(package) = package(format, &names, rest) else { return };
    let (converted, _) = parse("fuzz", &package, format);
    parts::check(&converted.text, Format::Markdown);
});

/// A package with these parts, and with those that lead to them.
fn package(format: Format, names: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8]| writer.start_file(name, options).is_ok() && writer.write_all(bytes).is_ok();
    let link = |id: usize, kind: &str, target: &str| {
        format!("<Relationship Id=\"rId{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links = |list: &[String]| {
        let space = "http://schemas.openxmlformats.org/package/2006/relationships";
        format!("<Relationships xmlns=\"{space}\">{}</Relationships>", list.concat())
    };
    let (root, kind, beside): (&str, &str, Option<(&str, String, String)>) = match format {
        Format::Docx => {
            let rels = links(&[link(1, "styles", "styles.xml"), link(2, "numbering", "numbering.xml")]);
            ("word/document.xml", "wordprocessingml.document", Some(("word/_rels/document.xml.rels", rels, String::new())))
        }
        Format::Xlsx => {
            let all = [
                link(1, "worksheet", "worksheets/sheet1.xml"),
                link(2, "sharedStrings", "sharedStrings.xml"),
                link(3, "styles", "styles.xml"),
            ];
            let book = format!(
                "<workbook xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
            );
            ("xl/workbook.xml", "spreadsheetml.sheet", Some(("xl/_rels/workbook.xml.rels", links(&all), book)))
        }
        _ => {
            let show = format!(
                "<p:presentation xmlns:p=\"p\" xmlns:r=\"{OFFICE}\"><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId1\"/>\
                 </p:sldIdLst></p:presentation>"
            );
            let rels = links(&[link(1, "slide", "slides/slide1.xml")]);
            ("ppt/presentation.xml", "presentationml.presentation", Some(("ppt/_rels/presentation.xml.rels", rels, show)))
        }
    };
    let types = format!(
        "<Types><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/{root}\" ContentType=\"{MAIN}.{kind}.main+xml\"/></Types>"
    );
    let mut good = add("[Content_Types].xml", types.as_bytes());
    good &= add("_rels/.rels", links(&[link(1, "officeDocument", root)]).as_bytes());
    if let Some((name, rels, main)) = beside {
        good &= add(name, rels.as_bytes());
        if !main.is_empty() {
            good &= add(root, main.as_bytes());
        }
    }
    for (name, part) in names.iter().zip(data.split(|byte| *byte == 0)) {
        good &= add(name, part);
    }
    good.then(|| writer.finish().ok().map(Cursor::into_inner)).flatten()
}
