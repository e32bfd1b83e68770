//! Extracts the headings and the plain text of Markdown.

use prospector_text::cut::one_line;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::sections::Heading;

pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM
}

/// Returns the headings that divide the text, excluding empty ones and those in code, quotes, lists and footnotes.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut containers = 0_usize;
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_)) => containers += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => containers -= 1,
            Event::Start(Tag::Heading { level, .. }) if containers == 0 => {
                open = Some(Heading { level: level as u8, text: String::new(), range });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(mut heading) = open.take() {
                    heading.text = one_line(&heading.text);
                    if !heading.text.is_empty() {
                        headings.push(heading);
                    }
                }
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut open {
                    heading.text.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    headings
}

/// Replaces the `import` and `export` statements of MDX by empty lines, which keeps line numbers. A statement is a
/// paragraph that starts with one of these words.
pub(crate) fn without_statements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut at) = (0_usize, 0);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let own = &text[range.clone()];
                if tag == Tag::Paragraph && depth == 0 && (own.starts_with("import ") || own.starts_with("export ")) {
                    out.push_str(&text[at..range.start]);
                    out.extend(own.matches('\n'));
                    at = range.end;
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Returns the text as rendered, on one line, up to about `max` bytes, without code blocks and HTML.
pub(crate) fn plain(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut code = false;
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(part) if !code => out.push_str(&part),
            Event::Code(part) => out.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => out.push(' '),
            Event::End(TagEnd::TableCell | TagEnd::TableRow | TagEnd::TableHead | TagEnd::Item) => out.push_str("; "),
            _ => {}
        }
        if out.len() > max {
            break;
        }
    }
    let words = one_line(&out);
    words.replace("; ;", ";").trim_end_matches([' ', ';']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u8, &str)]) {
        let found = headings(text);
        let found: Vec<(u8, &str)> = found.iter().map(|h| (h.level, h.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn strips_marks_from_headings() {
        check(
            "# *Big* `x`\n\nUnder\n=====\n\n## Set up {#setup}\n\nTwo\nlines\n---\n\n#\n\n###### <a name='x'></a>Six",
            &[(1, "Big x"), (1, "Under"), (2, "Set up"), (2, "Two lines"), (6, "Six")],
        );
    }

    #[test]
    fn ignores_headings_inside_code_quotes_and_lists() {
        check("```sh\n# no\n```\n\n    # no\n\n> # no\n\n- # no\n\n<!--\n# no\n-->\n\n# yes", &[(1, "yes")]);
    }

    #[test]
    fn removes_statements_of_mdx() {
        let text = "import A from 'a'\nimport {\n  B,\n} from 'b'\n\n# T\n\nexport const c = {\n    d: 1,\n}\n\n\
                    ```js\nimport D from 'd'\n```\n\n- import e\n\nWe\nimport f.\n\n<A>\n\nimportant\n\n</A>\n";
        let expected = "\n\n\n\n\n# T\n\n\n\n\n\n```js\nimport D from 'd'\n```\n\n- import e\n\nWe\nimport f.\n\n<A>\n\n\
                        important\n\n</A>\n";
        assert_eq!(without_statements(text), expected);
    }

    #[test]
    fn renders_plain_text_without_marks() {
        assert_eq!(
            plain("A **b** [c](d).\n\n```\ncode\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n- i\n- j\n", 1000),
            "A b c. x; y; 1; 2; i; j"
        );
    }
}
