//! `instructions`: the catalog maintainer's instructions for every model.

use super::{
    entry::EntryReader,
    node::{Node, Placed},
};

/// Maximum number of characters, since every prompt contains them.
const MAX_CHARS: usize = 8_000;

/// Parses the text; truncates it if it is too long, and reports a problem.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> String {
    let Node::Text(text) = entry.node else {
        reader.fail(entry.line, "`instructions` must be a text", "write `instructions: |` and the text below it");
        return String::new();
    };
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => {
            let reason = format!("`instructions` has more than {MAX_CHARS} characters; the rest is ignored");
            reader.fail(entry.line, reason, "move what is not needed for every question to a document");
            text[..end].to_owned()
        }
    }
}
