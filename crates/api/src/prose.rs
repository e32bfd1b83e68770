//! Descriptions as they are kept and shown: on one line, without markup, and no longer than is useful.

use prospector_text::cut::one_line;

/// Tags that stand in descriptions as markup; anything else between angle brackets is likely a placeholder.
const TAGS: [&str; 36] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

/// How much of a text is looked at, in bytes; far less of it is ever kept.
const MAX_BYTES: usize = 16_384;

/// How far away the end of a tag or of a link's target may be, in bytes.
const MAX_TAG_BYTES: usize = 2_048;

/// `text` on one line, without HTML tags and without the targets of Markdown links.
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

/// A summary and a description as one text; a description that repeats the summary stands alone.
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
    fn markup_goes_and_placeholders_stay() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("<p>Lists\n\tthe   orders</p>, see [here](https://example.com/a_b).", "Lists the orders , see [here].");
        check("Pass <currency> or a < b; [x] stays", "Pass <currency> or a < b; [x] stays");
        check("unclosed <p and ](", "unclosed <p and ](");
    }

    #[test]
    fn a_summary_is_not_said_twice() {
        assert_eq!(join("List orders.", "List orders of one customer."), "List orders of one customer.");
        assert_eq!(join("List orders", "Newest first."), "List orders. Newest first.");
        assert_eq!(join("List orders", ""), "List orders");
    }
}
