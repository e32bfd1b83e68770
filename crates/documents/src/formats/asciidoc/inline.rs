//! Inline AsciiDoc: replaces macros and references by their text, and attributes by their values.

use crate::formats::markup::Replacements;

/// Maximum distance to the start or end of a macro, in bytes.
const MAX_REACH: usize = 600;

/// Converts a paragraph. Bold, emphasis and code keep their marks, which are the same in Markdown.
pub(super) fn plain(text: &str, attributes: &Replacements) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<', '[', '+', '(']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let near = &rest[..rest.floor_char_boundary(MAX_REACH)];
        // The first occurrence of the first character of `close` must start `close`.
        let inside = |open: &str, close: &str| {
            let inner = near.strip_prefix(open)?;
            let end = inner.find(close.chars().next()?)?;
            (end > 0 && inner[end..].starts_with(close))
                .then(|| (&inner[..end], &rest[open.len() + end + close.len()..]))
        };
        if let Some((target, after)) = inside("<<", ">>") {
            out.push_str(target.split_once(',').map_or(target, |(_, text)| text.trim()).trim_start_matches('#'));
            rest = after;
        } else if let Some((name, after)) = inside("{", "}").filter(|(name, _)| is_name(name)) {
            match attributes.get(name) {
                Some(value) => out.push_str(value),
                None => out.push_str(literal_of(name).unwrap_or(&format!("{{{name}}}"))),
            }
            rest = after;
        } else if let Some((words, after)) = inside("+++", "+++").or_else(|| inside("[[", "]]").map(|(_, r)| ("", r))) {
            out.push_str(words);
            rest = after;
        } else if let Some((_, after)) = inside("(((", ")))") {
            rest = after;
        } else if let Some((words, after)) = inside("((", "))") {
            out.push_str(words);
            rest = after;
        } else if let Some((words, after)) = inside("[", "]")
            && let Some(name) = take_macro(&mut out)
        {
            let words =
                if matches!(name, Name::Link) { words.split(",window=").next().unwrap_or(words) } else { words };
            out.push_str(&match name {
                Name::Note => format!(" ({})", words.trim()),
                Name::Anchor => String::new(),
                Name::Link | Name::Other => words.trim_matches('"').trim_end_matches('^').to_owned(),
            });
            rest = after;
        } else if let Some((words, after)) =
            inside("[", "]#").filter(|(role, _)| role.starts_with(['.', '#'])).and_then(|(_, after)| {
                let (words, _) = after[..after.floor_char_boundary(MAX_REACH)].split_once('#')?;
                Some((words, &after[words.len() + 1..]))
            })
        {
            out.push_str(words);
            rest = after;
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kind of a macro.
enum Name {
    Link,
    Note,
    Anchor,
    Other,
}

/// Removes the name and target of a macro from the end: `link:target`, `https://target`, `footnote:`.
fn take_macro(out: &mut String) -> Option<Name> {
    let near = out.floor_char_boundary(out.len().saturating_sub(MAX_REACH));
    let start = out[near..]
        .rfind(|c: char| c.is_whitespace() || "(\"'".contains(c))
        .map_or(near, |at| near + at + out[near + at..].chars().next().map_or(1, char::len_utf8));
    let (before, _) = out[start..].split_once(':')?;
    let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let start = start + before.len() - name.len();
    let name = match name {
        "link" | "xref" | "mailto" | "http" | "https" | "ftp" => Name::Link,
        "footnote" | "footnoteref" => Name::Note,
        "anchor" | "indexterm" => Name::Anchor,
        "image" | "icon" | "kbd" | "btn" | "menu" | "pass" | "indexterm2" | "stem" | "latexmath" => Name::Other,
        _ => return None,
    };
    let is_note = matches!(name, Name::Note);
    out.truncate(start);
    if is_note {
        out.truncate(out.trim_end().len());
    }
    Some(name)
}

/// Returns the value of a predefined attribute.
fn literal_of(name: &str) -> Option<&'static str> {
    match name {
        "nbsp" | "sp" | "empty" | "blank" | "zwsp" => Some(" "),
        "plus" => Some("+"),
        "asterisk" => Some("*"),
        "vbar" => Some("|"),
        "amp" => Some("&"),
        "lt" => Some("\\<"),
        "gt" => Some(">"),
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= 80 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}
