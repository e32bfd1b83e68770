//! Extracts the links from the instructions of a skill.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::SkillLink;

/// Returns the links of a Markdown text that starts after `lines_before` lines of its file.
pub(crate) fn parse(text: &str, lines_before: usize) -> Vec<SkillLink> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut links = Vec::new();
    let mut open: Option<SkillLink> = None;
    let (mut counted, mut line) = (0, lines_before + 1);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                // The parser yields footnotes at the end, wherever they are defined.
                if range.start < counted {
                    (counted, line) = (0, lines_before + 1);
                }
                line += text[counted..range.start].matches('\n').count();
                counted = range.start;
                let target = dest_url.into_string();
                let is_url = link_type == LinkType::Email || is_url(&target);
                open = Some(SkillLink { text: String::new(), target, is_url, line_number: line });
            }
            Event::End(TagEnd::Link) => {
                if let Some(mut link) = open.take().filter(|link| !path(&link.target).is_empty()) {
                    link.text = link.text.split_whitespace().collect::<Vec<_>>().join(" ");
                    links.push(link);
                }
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(link) = &mut open {
                    link.text.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(link) = &mut open {
                    link.text.push(' ');
                }
            }
            _ => {}
        }
    }
    links
}

/// Returns whether a target has a scheme (`https:`, `mailto:`) or a host (`//example.com`). A single letter is a drive.
pub(crate) fn is_url(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    let mut letters = scheme.chars();
    target.starts_with("//")
        || (scheme.len() > 1
            && letters.next().is_some_and(|c| c.is_ascii_alphabetic())
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-')))
}

/// Returns a target without fragment.
pub(crate) fn path(target: &str) -> &str {
    target.split_once('#').map_or(target, |(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, bool, usize)]) {
        let links = parse(text, 4);
        let found: Vec<_> =
            links.iter().map(|l| (l.text.as_str(), l.target.as_str(), l.is_url, l.line_number)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_links_with_line() {
        check(
            "A [*big* `file`](a.md#part \"title\") here.\n\n[b\nb][ref], [c](<d e.md>)\n<https://example.com/x>\n<a@example.com>\n\n\
             | x |\n|---|\n| [t](t.md) |\n\n[ref]: refs/b.md\n",
            &[
                ("big file", "a.md#part", false, 5),
                ("b b", "refs/b.md", false, 7),
                ("c", "d e.md", false, 8),
                ("https://example.com/x", "https://example.com/x", true, 9),
                ("a@example.com", "a@example.com", true, 10),
                ("t", "t.md", false, 14),
            ],
        );
    }

    #[test]
    fn ignores_images_fragments_and_code() {
        check("![i](i.png) [a](#a) [e]() `[c](c.md)`\n\n```\n[d](d.md)\n```\n[no]\n", &[]);
        check("[![badge](b.png)](https://example.com)", &[("badge", "https://example.com", true, 5)]);
        check("[^1]\n\n[^1]: [n](n.md)\n\n[m](m.md)", &[("n", "n.md", false, 7), ("m", "m.md", false, 9)]);
    }

    #[test]
    fn recognises_urls() {
        for (target, url) in [
            ("https://example.com", true),
            ("MAILTO:a@b", true),
            ("//example.com/x", true),
            ("C:/x.md", false),
            ("a/b:c.md", false),
            ("/etc/passwd", false),
            ("x.md", false),
        ] {
            assert_eq!(is_url(target), url, "{target}");
        }
    }
}
