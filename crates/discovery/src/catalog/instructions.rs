//! `instructions`: what the owner of the catalog wants every model to know and to keep to.

use prospector_core::Problem;

use super::{
    entry::EntryReader,
    node::{Node, Placed},
};

/// More characters are not put into every prompt.
const MAX_CHARS: usize = 8_000;

/// Reads the text; of one that is too long its beginning, with the problem noted.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> String {
    let place = format!("{}:{}", reader.file, entry.line);
    let Node::Text(text) = entry.node else {
        let reason = "`instructions` must be a text";
        reader.problems.push(Problem::error(place, reason).advise("write `instructions: |` and the text below it"));
        return String::new();
    };
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => {
            let reason = format!("`instructions` has more than {MAX_CHARS} characters, and the rest is not used");
            reader.problems.push(
                Problem::error(place, reason).advise("put what is not needed for every question into a document"),
            );
            text[..end].to_owned()
        }
    }
}
