//! Normalises descriptions: one line, without markup, of limited length.

use prospector_text::cut::one_line;

/// HTML tags that are removed; other text in angle brackets is probably a placeholder.
#[rustfmt::skip]
const TAGS: [&str; 36] = [
    "a", "b", "blockquote", "br", "code", "dd", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "i", "img", "li", "ol", "p", "pre", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "u", "ul",
];

/// Maximum number of bytes of a text that are read; far less is kept.
const MAX_BYTES: usize = 16_384;

/// Maximum distance to the end of a tag or of a link target in bytes.
const MAX_TAG_BYTES: usize = 2_048;

/// Returns `text` on one line, without HTML tags and without the targets of Markdown links.
pub(crate) fn plain(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = match next {
            '<' => tag_length(rest),
            ']' if rest.starts_with("](") => near(rest, b')').map(|end| end + 1),
            _ => None,
        };
        if let Some(length) = skipped {
            out.push(if next == ']' { ']' } else { ' ' });
            rest = &rest[length..];
        } else {
            out.push(if next.is_control() { ' ' } else { next });
            rest = &rest[next.len_utf8()..];
        }
    }
    one_line(&out)
}

fn near(text: &str, end: u8) -> Option<usize> {
    text.bytes().take(MAX_TAG_BYTES).position(|byte| byte == end)
}

fn tag_length(text: &str) -> Option<usize> {
    let end = near(text, b'>')?;
    let name = text[1..end].trim_start_matches('/');
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?.to_ascii_lowercase();
    TAGS.contains(&name.as_str()).then_some(end + 1)
}

/// Joins a summary and a description; the summary is dropped if the description repeats it.
pub(crate) fn join(summary: &str, description: &str) -> String {
    let (summary, description) = (plain(summary), plain(description));
    let stem = summary.trim_end_matches(['.', ' ']);
    if stem.is_empty() || description.to_lowercase().starts_with(&stem.to_lowercase()) {
        return description;
    }
    if description.is_empty() {
        return summary;
    }
    format!("{stem}{} {description}", if stem.ends_with(['!', '?', ':']) { "" } else { "." })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_markup_but_not_placeholders() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("<p>Lists\n\tthe   orders</p>, see [here](https://example.com/a_b).", "Lists the orders , see [here].");
        check("Pass <currency> or a < b; [x] stays", "Pass <currency> or a < b; [x] stays");
        check("unclosed <p and ](", "unclosed <p and ](");
    }

    #[test]
    fn does_not_repeat_summary() {
        assert_eq!(join("List orders.", "List orders of one customer."), "List orders of one customer.");
        assert_eq!(join("List orders", "Newest first."), "List orders. Newest first.");
        assert_eq!(join("List orders", ""), "List orders");
    }
}
