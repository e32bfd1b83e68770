//! Converts the Confluence storage format to HTML: the content of macros is kept, presentation parameters are removed.
//!
//! The format is XHTML with elements in the namespaces `ac:` and `ri:`. Source: "Confluence Storage Format", Atlassian.
//! One pass over the tags, in linear time; no input is rejected.

use std::borrow::Cow;

/// Void elements of HTML; other self-closing elements such as `<p/>` become `<p></p>`.
const VOID: [&str; 10] = ["br", "hr", "img", "col", "wbr", "input", "meta", "link", "area", "source"];
/// Elements whose text is a presentation parameter or an id.
const DROPPED: [&str; 4] = ["ac:parameter", "ac:task-id", "ac:task-uuid", "ac:placeholder"];

/// Maximum distance to the end of a tag or dropped element; without it, run time would be quadratic.
const MAX_REACH: usize = 64 * 1024;

/// Returns the HTML of a page, with title, labels and modification time in its head.
pub fn storage_to_html(title: &str, labels: &[String], modified: &str, storage: &str) -> String {
    let mut html = String::with_capacity(storage.len() + 256);
    html.push_str("<html><head><title>");
    html.push_str(&escape(title));
    html.push_str("</title>");
    for (name, content) in [("keywords", labels.join(", ")), ("last-modified", modified.to_owned())] {
        if !content.is_empty() {
            html.push_str(&format!("<meta name=\"{name}\" content=\"{}\">", escape(&content)));
        }
    }
    html.push_str("</head><body>\n");
    body(storage, &mut html);
    html.push_str("\n</body></html>\n");
    html
}

fn body(mut rest: &str, html: &mut String) {
    // The target of the current `ac:link`, used if the link has no text.
    let mut linked: Option<String> = None;
    while let Some(start) = rest.find('<') {
        html.push_str(&rest[..start]);
        rest = &rest[start..];
        if let Some(text) = rest.strip_prefix("<![CDATA[") {
            let end = text.find("]]>").unwrap_or(text.len());
            if !text[..end].is_empty() {
                linked = None;
            }
            html.push_str(&escape(&text[..end]));
            rest = text.get(end + 3..).unwrap_or_default();
            continue;
        }
        if rest.starts_with("<!--") {
            rest = rest.find("-->").map_or("", |end| &rest[end + 3..]);
            continue;
        }
        let Some(end) = tag_end(near(rest)) else {
            html.push_str("&lt;");
            rest = &rest[1..];
            continue;
        };
        let tag = &rest[..=end];
        rest = &rest[end + 1..];
        let inner = tag.trim_start_matches('<').trim_end_matches('>');
        let (closing, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        let (alone, inner) = inner.strip_suffix('/').map_or((false, inner), |inner| (true, inner));
        let name = inner.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        if DROPPED.contains(&name) {
            if !closing && !alone {
                let close = format!("</{name}>");
                let dropped = near(rest).find(&close).map(|at| rest.split_at(at));
                if let Some((text, after)) = dropped {
                    if name == "ac:parameter" && attribute(inner, "ac:name") == Some("title") {
                        html.push_str(&format!("<p><strong>{text}</strong></p>"));
                    }
                    rest = &after[close.len()..];
                }
            }
            continue;
        }
        match (name, closing) {
            ("ac:plain-text-body", false) if !alone => html.push_str("<pre><code>"),
            ("ac:plain-text-body", true) => html.push_str("</code></pre>"),
            ("ac:task-list", false) if !alone => html.push_str("<ul>"),
            ("ac:task-list", true) => html.push_str("</ul>"),
            ("ac:task", false) if !alone => html.push_str("<li>"),
            ("ac:task", true) => html.push_str("</li>"),
            ("ac:task-status", false) if !alone => {
                let end = near(rest).find("</ac:task-status>").unwrap_or(0);
                html.push_str(if rest[..end].trim() == "complete" { "[x] " } else { "[ ] " });
                rest = &rest[end..];
            }
            ("ri:page" | "ri:blog-post", false) => linked = attribute(inner, "ri:content-title").map(str::to_owned),
            ("ri:attachment", false) => linked = attribute(inner, "ri:filename").map(str::to_owned),
            // The body of a link is its text.
            ("ac:link-body", false) if !alone => linked = None,
            ("ac:link", true) => html.push_str(&linked.take().unwrap_or_default()),
            ("ac:link", false) | ("ac:image", true) => linked = None,
            ("time", false) => html.push_str(attribute(inner, "datetime").unwrap_or_default()),
            _ if name.starts_with("ac:") || name.starts_with("ri:") => {
                // Separates the text of different boxes.
                if matches!(name, "ac:rich-text-body" | "ac:layout-cell" | "ac:structured-macro") {
                    html.push('\n');
                }
            }
            _ if alone && !VOID.contains(&name) => html.push_str(&format!("<{inner}></{name}>")),
            _ => html.push_str(tag),
        }
    }
    html.push_str(rest);
}

fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_REACH)]
}

/// Returns the end of a tag: the first `>` outside quotes.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // The quote is unclosed.
    text.find('>')
}

/// Returns the raw value of an attribute, with entities.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let mut from = 0;
    loop {
        let at = from + tag[from..].find(name)?;
        let after = tag[at + name.len()..].trim_start();
        let value = after.strip_prefix('=').map(str::trim_start);
        if let (Some(value), true) = (value, tag[..at].ends_with(char::is_whitespace)) {
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            return value[1..].split(quote).next();
        }
        from = at + name.len();
    }
}

fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['<', '>', '&', '"']) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        return Cow::Owned(text);
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, formats};

    fn check(storage: &str, expected: &str) {
        let html = storage_to_html("T", &[], "", storage);
        let (converted, problems) = formats::parse("page", html.as_bytes(), Format::Html);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(converted.text.trim(), expected);
    }

    #[test]
    fn keeps_text_and_macro_content() {
        check(
            "<h1>A</h1><p>One&nbsp;&amp; <strong>two</strong><br/>three</p><p />",
            "# A\n\nOne\u{a0}& **two**  \nthree",
        );
        check(
            "<ac:structured-macro ac:name=\"code\" ac:schema-version=\"1\"><ac:parameter ac:name=\"language\">sql\
             </ac:parameter><ac:plain-text-body><![CDATA[select '<b>' & 1]]></ac:plain-text-body></ac:structured-macro>",
            "```\nselect '<b>' & 1\n```",
        );
        check(
            "<ac:structured-macro ac:name=\"info\"><ac:parameter ac:name=\"title\">Note</ac:parameter><ac:rich-text-body>\
             <p>Read me.</p></ac:rich-text-body></ac:structured-macro>",
            "**Note**\n\nRead me.",
        );
        check(
            "<table><tbody><tr><th>a</th><th>b</th></tr><tr><td>1</td><td/></tr></tbody></table>",
            "| a | b |\n| --- | --- |\n| 1 | |",
        );
    }

    #[test]
    fn converts_links_tasks_and_dates() {
        check(
            "<p>See <ac:link><ri:page ri:content-title=\"The &quot;Plan&quot;\"/></ac:link>.</p>",
            "See The \"Plan\".",
        );
        check(
            "<p><ac:link><ri:page ri:content-title=\"P\"/><ac:plain-text-link-body><![CDATA[the plan]]>\
             </ac:plain-text-link-body></ac:link></p>",
            "the plan",
        );
        check(
            "<p><ac:image><ri:attachment ri:filename=\"a.png\"/></ac:image>x <time datetime=\"2024-03-01\"/></p>",
            "x 2024-03-01",
        );
        check(
            "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>\
             Done</ac:task-body></ac:task></ac:task-list>",
            "- \\[x\\] Done",
        );
    }

    #[test]
    fn tolerates_malformed_input() {
        for text in
            ["<", "<p", "<![CDATA[x", "<ac:parameter>", "a < b", "<x a='", "</>", "<//>", "<ac:task-status>é", "<!--"]
        {
            let html = storage_to_html(text, &[], "", text);
            formats::parse("page", html.as_bytes(), Format::Html);
        }
    }
}
