//! How much of a file is read, and how much work goes into it. A file beyond a limit is a problem with its reason; it
//! costs neither the rest nor the machine.
//!
//! As many files are read at once as the machine has cores; memory is bounded by that number times what one file may
//! take, which for a PDF, DOCX, XLSX or PPTX is about ten times [`MAX_UNPACKED_BYTES`].

use std::time::Duration;

/// The bytes of a file of Markdown, MDX, reStructuredText, AsciiDoc, Org or plain text.
pub const MAX_TEXT_BYTES: usize = 20 << 20;
/// The bytes of an HTML file.
pub const MAX_HTML_BYTES: usize = 8 << 20;
/// The bytes of a PDF, DOCX, XLSX or PPTX file, packed and with its pictures.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// The bytes of one file once unpacked: the XML parts of a DOCX, XLSX or PPTX, or the pages and fonts of a PDF. They are
/// counted while they are unpacked; what a file declares about itself is not trusted.
pub const MAX_UNPACKED_BYTES: usize = 64 << 20;
/// The bytes of one stream of objects inside a PDF; real ones have some hundred kilobytes.
pub const MAX_OBJECT_STREAM_BYTES: usize = 4 << 20;
/// The numbers, names and strings in the objects of a PDF.
pub const MAX_PDF_TOKENS: usize = 4_000_000;
/// The pages of a PDF.
pub const MAX_PDF_PAGES: usize = 10_000;
/// The drawing instructions of a PDF, those of repeated forms counted each time.
pub const MAX_PDF_OPERATIONS: usize = 20_000_000;
/// The entries of a DOCX, XLSX or PPTX package.
pub const MAX_PACKAGE_ENTRIES: usize = 20_000;
/// The cells of an XLSX workbook, empty ones before the last of a row counted too. More is data, not a document.
pub const MAX_CELLS: usize = 200_000;
/// How deep the elements of an XML part may be nested.
pub const MAX_XML_DEPTH: usize = 100;
/// How deep tables may stand in tables.
pub const MAX_TABLE_DEPTH: usize = 8;
/// How deep the elements of an HTML page may be nested.
pub const MAX_HTML_DEPTH: usize = 256;
/// The bytes of text that come out of one file.
pub const MAX_RESULT_BYTES: usize = 16 << 20;
/// How long one file may take.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// The stack of the thread that reads a file, but for Markdown and plain text.
pub const STACK_BYTES: usize = 64 << 20;
/// How many threads may still be busy with files that took too long. A thread cannot be ended from outside; with more
/// of them than this, files of those formats are refused.
pub const MAX_ABANDONED_THREADS: usize = 4;
