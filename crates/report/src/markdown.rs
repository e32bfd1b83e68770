//! Renders the Markdown of answers as HTML: text, lists, tables, code and emphasis. Raw HTML and images are dropped;
//! links are limited to the web.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

/// Maximum length; longer texts are truncated.
const MAX_BYTES: usize = 200_000;

/// Renders a text.
pub(crate) fn html(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut out = String::with_capacity(text.len() * 2);
    let mut in_head = false;
    let mut cell_at = 0;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(tag) => {
                cell_at = out.len();
                begin(&mut out, &tag, &mut in_head);
            }
            Event::End(tag) => {
                let text = out.get(cell_at..).and_then(|cell| cell.strip_prefix("<td>"));
                if tag == TagEnd::TableCell && text.is_some_and(is_number) {
                    out.replace_range(cell_at..cell_at + 4, "<td class=\"number\">");
                }
                end(&mut out, tag, &mut in_head);
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => out.push_str(&escape(&text)),
            Event::Code(text) => out.push_str(&format!("<code>{}</code>", escape(&text))),
            Event::SoftBreak | Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                out.push_str(&escape(&text));
            }
            Event::TaskListMarker(_) => {}
        }
    }
    out
}

fn is_number(text: &str) -> bool {
    text.trim_end_matches(['%', ' ']).replace(',', "").parse::<f64>().is_ok_and(f64::is_finite)
}

fn begin(out: &mut String, tag: &Tag<'_>, in_head: &mut bool) {
    if let Tag::Link { dest_url, .. } = tag {
        out.push_str(&link(dest_url));
    }
    out.push_str(match tag {
        Tag::Paragraph => "<p>",
        Tag::Heading { .. } => "<h4>",
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre>",
        Tag::List(Some(_)) => "<ol>",
        Tag::List(None) => "<ul>",
        Tag::Item => "<li>",
        Tag::Table(_) => "<table>",
        Tag::TableHead => {
            *in_head = true;
            "<tr>"
        }
        Tag::TableRow => "<tr>",
        Tag::TableCell if *in_head => "<th scope=\"col\">",
        Tag::TableCell => "<td>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        _ => "",
    });
}

fn end(out: &mut String, tag: TagEnd, in_head: &mut bool) {
    out.push_str(match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::Heading(_) => "</h4>",
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</pre>",
        TagEnd::List(true) => "</ol>",
        TagEnd::List(false) => "</ul>",
        TagEnd::Item => "</li>",
        TagEnd::Table => "</table>",
        TagEnd::TableHead => {
            *in_head = false;
            "</tr>"
        }
        TagEnd::TableRow => "</tr>",
        TagEnd::TableCell if *in_head => "</th>",
        TagEnd::TableCell => "</td>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Link => "</a>",
        _ => "",
    });
}

fn link(address: &CowStr<'_>) -> String {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    if is_web { format!("<a rel=\"noopener noreferrer\" href=\"{}\">", escape(address)) } else { "<a>".to_owned() }
}

/// Escapes a text for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_markdown_and_escapes_html() {
        assert_eq!(
            html("It is **9** [Q1].\n\n- a\n- b"),
            "<p>It is <strong>9</strong> [Q1].</p><ul><li>a</li><li>b</li></ul>"
        );
        assert!(html("| a |\n|---|\n| 1 |").contains("<th scope=\"col\">a</th></tr><tr><td class=\"number\">1</td>"));
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "![x](https://x.example/)",
        ] {
            let made = html(text);
            assert!(!["<script", "<img", "javascript:"].iter().any(|mark| made.contains(mark)), "{made}");
        }
    }
}
