//! Extracts the headings and the plain text of Markdown.

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
                    heading.text = heading.text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
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
    fn renders_plain_text_without_marks() {
        assert_eq!(
            plain("A **b** [c](d).\n\n```\ncode\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n- i\n- j\n", 1000),
            "A b c. x; y; 1; 2; i; j"
        );
    }
}
