//! Limits on the size of files and on the work per file. A file beyond a limit is reported as a problem and does not
//! affect others.
//!
//! The number of files read in parallel is the number of cores; peak memory is that number times the need of one file,
//! which for PDF, DOCX, XLSX and PPTX is about ten times [`MAX_UNPACKED_BYTES`].

use std::time::Duration;

/// Size of a Markdown, MDX, reStructuredText, AsciiDoc, Org or plain text file, in bytes.
pub const MAX_TEXT_BYTES: usize = 20 << 20;
/// Size of an HTML file, in bytes.
pub const MAX_HTML_BYTES: usize = 8 << 20;
/// Size of a PDF, DOCX, XLSX or PPTX file including pictures, in bytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// Unpacked size of one file, in bytes: the XML parts of a DOCX, XLSX or PPTX, or the pages and fonts of a PDF. Counted
/// while unpacking; declared sizes are not trusted.
pub const MAX_UNPACKED_BYTES: usize = 64 << 20;
/// Size of one object stream in a PDF, in bytes; typical ones have some hundred kilobytes.
pub const MAX_OBJECT_STREAM_BYTES: usize = 4 << 20;
/// Number of numbers, names and strings in the objects of a PDF.
pub const MAX_PDF_TOKENS: usize = 4_000_000;
/// Number of pages of a PDF.
pub const MAX_PDF_PAGES: usize = 10_000;
/// Number of drawing operators of a PDF; those of repeated forms count each time.
pub const MAX_PDF_OPERATIONS: usize = 20_000_000;
/// Number of entries of a DOCX, XLSX or PPTX package.
pub const MAX_PACKAGE_ENTRIES: usize = 20_000;
/// Number of cells of an XLSX workbook, including empty ones before the last of a row. Larger workbooks are data
/// sources.
pub const MAX_CELLS: usize = 200_000;
/// Number of headings of a document; what is below further ones is part of the last section.
pub const MAX_HEADINGS: usize = 50_000;
/// Length of a heading in characters; longer ones are text.
pub const MAX_HEADING_CHARS: usize = 400;
/// Nesting depth of elements in an XML part.
pub const MAX_XML_DEPTH: usize = 100;
/// Nesting depth of tables.
pub const MAX_TABLE_DEPTH: usize = 8;
/// Nesting depth of elements in an HTML page.
pub const MAX_HTML_DEPTH: usize = 256;
/// Size of the text extracted from one file, in bytes.
pub const MAX_RESULT_BYTES: usize = 16 << 20;
/// Time per file.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// Stack size of the parser thread, for HTML, PDF and Office files.
pub const STACK_BYTES: usize = 64 << 20;
/// Number of threads that may still be running after their time limit, as threads cannot be cancelled. Beyond it, files
/// of those formats are rejected.
pub const MAX_ABANDONED_THREADS: usize = 4;
