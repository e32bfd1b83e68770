//! Parts of the URIs of resources, and the cursors of their lists.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use rmcp::ErrorData;

/// Characters that a URI does not escape (RFC 3986, unreserved characters).
pub(super) const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the offset of a page.
pub(super) fn parse_cursor(cursor: Option<String>) -> Result<usize, ErrorData> {
    let Some(cursor) = cursor else { return Ok(0) };
    let offset = cursor.strip_prefix('c').and_then(|digits| usize::from_str_radix(digits, 16).ok());
    offset.ok_or_else(|| ErrorData::invalid_params("unknown cursor", None))
}

/// Returns the cursor of the page at an offset.
pub(super) fn write_cursor(offset: usize) -> String {
    format!("c{offset:x}")
}
