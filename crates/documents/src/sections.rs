//! Divides texts by headings, and resolves section names.

use std::{collections::HashMap, ops::Range};

use crate::{Document, DocumentError, Format, model::Section};

/// A heading found in a text.
#[derive(Debug, PartialEq)]
pub(crate) struct Heading {
    /// 1 to 6.
    pub(crate) level: u8,
    /// Without markup, on one line, not empty.
    pub(crate) text: String,
    /// Its bytes, including markup.
    pub(crate) range: Range<usize>,
}

/// Returns the title of the text: the only heading of level 1, if it is the first heading.
pub(crate) fn title(headings: &[Heading]) -> Option<&str> {
    let first = headings.first().filter(|heading| heading.level == 1)?;
    headings[1..].iter().all(|heading| heading.level > 1).then_some(first.text.as_str())
}

/// Divides a text into sections; `lines_before` is the number of preceding lines in the file.
pub(crate) fn divide(
    content: &str,
    format: Format,
    title_of: &str,
    headings: Vec<Heading>,
    lines_before: usize,
) -> Vec<Section> {
    let whole = title(&headings).is_some();
    let mut sections = Vec::new();
    let mut taken = HashMap::new();
    let mut open: Vec<(u8, String)> = Vec::new();
    let mut counted = 0;
    let mut line = lines_before + 1;

    let first = headings.first().map_or(content.len(), |heading| heading.range.start);
    if headings.is_empty() || !only_comments(&content[..first], format) {
        sections.push(Section {
            path: unique(&[], title_of, &mut taken),
            level: 0,
            text: trim_blank_lines(&content[..first]),
            line,
            range: 0..first,
        });
    }
    let ends: Vec<usize> = headings.iter().skip(1).map(|heading| heading.range.start).chain([content.len()]).collect();
    for (heading, end) in headings.into_iter().zip(ends) {
        let start = heading.range.start;
        line += content[counted..start].matches('\n').count();
        counted = start;
        while open.last().is_some_and(|(level, _)| *level >= heading.level) {
            open.pop();
        }
        let path = unique(&open, &heading.text, &mut taken);
        if !(whole && heading.level == 1) {
            open.push((heading.level, path.last().cloned().unwrap_or_default()));
        }
        sections.push(Section {
            path,
            level: heading.level,
            text: trim_blank_lines(&content[heading.range.end..end]),
            line,
            range: start..end,
        });
    }
    sections
}

/// Returns the path of a heading, made unique by appending ` (2)`.
fn unique(open: &[(u8, String)], heading: &str, taken: &mut HashMap<String, usize>) -> Vec<String> {
    let mut path: Vec<String> = open.iter().map(|(_, heading)| heading.clone()).collect();
    path.push(heading.to_owned());
    let key = path.join(" > ").to_lowercase();
    let mut count = taken.get(&key).copied().unwrap_or(0);
    loop {
        count += 1;
        if count > 1 {
            path.pop();
            path.push(format!("{heading} ({count})"));
        }
        // The text itself may contain a heading `Setup (2)`.
        let name = path.join(" > ").to_lowercase();
        if count == 1 || !taken.contains_key(&name) {
            taken.entry(name).or_insert(1);
            taken.insert(key, count);
            return path;
        }
    }
}

/// Removes surrounding empty lines; the indentation of the first line is kept.
fn trim_blank_lines(text: &str) -> String {
    let text = text.trim_end();
    let first = text.len() - text.trim_start().len();
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    text[start..].to_owned()
}

/// Returns whether the text before the first heading contains only white space and comments, such as a licence, or the
/// labels and attributes of the title.
fn only_comments(text: &str, format: Format) -> bool {
    if matches!(format, Format::Rst | Format::AsciiDoc) {
        let is_ignored =
            |line: &str| line.is_empty() || line.starts_with(char::is_whitespace) || format.is_markup(line);
        return text.lines().all(is_ignored);
    }
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->").map_or("", |(_, rest)| rest).trim_start();
    }
    rest.is_empty()
}

type Test<'a> = &'a dyn Fn(&Section, &[Key]) -> bool;

impl Document {
    /// Resolves a section name: the full name (`Customers > VIP customers`), the last heading, or the last few
    /// headings, ignoring case, emphasis and numbering (`2.1 VIP customers`).
    ///
    /// # Errors
    /// - [`DocumentError::FindSection`] if no section matches.
    /// - [`DocumentError::ChooseSection`] if several sections match.
    pub fn section(&self, name: &str) -> Result<&Section, DocumentError> {
        let wanted: Vec<Key> = name.split('>').map(Key::new).collect();
        let keys: Vec<Vec<Key>> = self.sections.iter().map(|section| keys(&section.path)).collect();
        let title = keys_of(&self.title);
        let full = |keys: &[Key], same: fn(&Key, &Key) -> bool| {
            let below_title = wanted.len() == title.len() + keys.len() && ends_with(&wanted, keys, same);
            (keys.len() == wanted.len() && ends_with(keys, &wanted, same))
                || (below_title && ends_with(&wanted[..title.len()], &title, same))
        };
        // From strict to lenient; the first test with a match decides.
        let tests: [Test<'_>; 5] = [
            &|section, _| section.full_name() == name,
            &|_, keys| full(keys, Key::same),
            &|_, keys| ends_with(keys, &wanted, Key::same),
            &|_, keys| full(keys, Key::is_similar),
            &|_, keys| ends_with(keys, &wanted, Key::is_similar),
        ];
        for test in tests {
            let found: Vec<&Section> =
                self.sections.iter().zip(&keys).filter(|(section, keys)| test(section, keys)).map(|(s, _)| s).collect();
            match found.as_slice() {
                [] => {}
                [section] => return Ok(section),
                several => {
                    return Err(DocumentError::ChooseSection {
                        document: self.name.clone(),
                        section: name.to_owned(),
                        candidates: several.iter().map(|section| section.full_name()).collect(),
                    });
                }
            }
        }
        // Ids of chunks occur in results of a search over all kinds: `document#section/2`.
        let section = name.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('#')).unwrap_or(name);
        let section = without_chunk(section);
        if section != name {
            return self.section(section);
        }
        Err(DocumentError::FindSection { document: self.name.clone(), section: name.to_owned() })
    }

    /// Returns the text of a section with its heading and subsections; for the title of the document, only its own
    /// text.
    pub fn section_content<'a>(&'a self, section: &'a Section) -> &'a str {
        let whole = section.level == 0 || self.sections.iter().all(|other| other.level != 1 || other == section);
        let end = if whole && section.level <= 1 {
            section.range.end
        } else {
            self.sections
                .iter()
                .filter(|other| other.range.start > section.range.start)
                .find(|other| other.level <= section.level)
                .map_or(self.content.len(), |other| other.range.start)
        };
        self.content.get(section.range.start..end).unwrap_or(&section.text).trim_end()
    }
}

/// Removes the part number: `VIP customers/2` becomes `VIP customers`.
pub(crate) fn without_chunk(section: &str) -> &str {
    match section.rsplit_once('/') {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => before,
        _ => section,
    }
}

fn keys(path: &[String]) -> Vec<Key> {
    path.iter().flat_map(|heading| keys_of(heading)).collect()
}

/// A heading may contain the separator `>` itself.
fn keys_of(heading: &str) -> Vec<Key> {
    heading.split('>').map(Key::new).collect()
}

fn ends_with(keys: &[Key], wanted: &[Key], same: fn(&Key, &Key) -> bool) -> bool {
    keys.len() >= wanted.len() && keys[keys.len() - wanted.len()..].iter().zip(wanted).all(|(a, b)| same(a, b))
}

/// A heading, normalised for comparison.
struct Key {
    number: Option<String>,
    words: String,
}

impl Key {
    fn new(heading: &str) -> Key {
        let plain: String = heading.chars().filter(|c| !matches!(c, '*' | '_' | '`' | '~')).collect();
        let lower = plain.trim_start_matches(['#', ' ']).to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let number = words.first().filter(|_| words.len() > 1).and_then(|word| numbering(word));
        let words = if number.is_some() { &words[1..] } else { &words[..] };
        Key { number, words: words.join(" ") }
    }

    /// Returns whether the words are the same and the numbers, if both have one, are equal.
    fn same(&self, other: &Key) -> bool {
        let numbers = self.number.is_none() || other.number.is_none() || self.number == other.number;
        numbers && !self.words.is_empty() && self.words == other.words
    }

    /// Like [`Key::same`], but compares only letters and digits.
    fn is_similar(&self, other: &Key) -> bool {
        let plain = |key: &Key| Key { number: key.number.clone(), words: prospector_core::name::normalize(&key.words) };
        plain(self).same(&plain(other))
    }
}

/// Parses a section number: `2.1` for `2.1`, `2.1.` and `(2.1)`. A long number alone is a year or an amount.
fn numbering(word: &str) -> Option<String> {
    let number = word.trim_start_matches('(').trim_end_matches(['.', ')', ':']);
    let digits = number.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    (digits && (number.len() <= 2 || number != word || number.contains('.'))).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::{DocumentError, DocumentSource};

    const RULES: &str = "Before\n\n# Rules\n\nIntro\n\n## 1. Customers\n\n### VIP customers\n\nBig\n\n### Setup\n\nA\n\n\
                         ## 2. Orders\n\n### Setup\n\nB\n\n### Setup\n\nC\n\n#### Deep `max_rows`\n\nD\n\n## 2024 results\n";

    /// Checks the full name of the resolved section, and its content.
    fn check(name: &str, expected: &str, content: &str) {
        let (documents, _) = DocumentSource::inline("rules", RULES).load();
        match documents[0].section(name) {
            Ok(section) => {
                assert_eq!(section.full_name(), expected, "{name}");
                assert_eq!(documents[0].section_content(section), content);
            }
            Err(DocumentError::ChooseSection { candidates, .. }) => {
                assert_eq!(candidates.join(" | "), expected, "{name}")
            }
            Err(_) => assert_eq!("", expected, "{name}"),
        }
    }

    #[test]
    fn resolves_sections_by_heading() {
        let vip = "### VIP customers\n\nBig";
        for name in [
            "VIP customers",
            "vip  Customers",
            "**VIP** customers",
            "### VIP customers",
            "1. Customers > VIP customers",
            "customers > vip customers",
            "Rules > Customers > VIP customers",
            "VIP-customers:",
            "rules#1. Customers > VIP customers/2",
        ] {
            check(name, "1. Customers > VIP customers", vip);
        }
        check("deep max_rows", "2. Orders > Setup (2) > Deep max_rows", "#### Deep `max_rows`\n\nD");
    }

    #[test]
    fn lists_candidates_of_ambiguous_sections() {
        check("Setup", "1. Customers > Setup | 2. Orders > Setup", "");
        check("Orders > Setup", "2. Orders > Setup", "### Setup\n\nB");
        check("Setup (2)", "2. Orders > Setup (2)", "### Setup\n\nC\n\n#### Deep `max_rows`\n\nD");
    }

    #[test]
    fn distinguishes_section_numbers() {
        check("3. Orders", "", "");
        check("2023 results", "", "");
        check("2024 results", "2024 results", "## 2024 results");
        check("> ", "", "");
    }

    #[test]
    fn returns_subsections_except_for_the_title() {
        check("Customers", "1. Customers", "## 1. Customers\n\n### VIP customers\n\nBig\n\n### Setup\n\nA");
        check("Rules (2)", "Rules (2)", "# Rules\n\nIntro");
        check("Rules", "Rules", "Before");
    }

    #[test]
    fn records_section_lines() {
        let (documents, _) =
            DocumentSource::inline("a", "---\ntitle: T\n---\n<!-- x -->\n\n# One\n\n    code\n\n# Two").load();
        let lines: Vec<_> =
            documents[0].sections.iter().map(|s| (s.full_name(), s.level, s.line, s.text.as_str())).collect();
        assert_eq!(lines, [("One".into(), 1, 6, "    code"), ("Two".into(), 1, 10, "")]);

        let (documents, _) = DocumentSource::inline("a/b", "Only text\n").load();
        assert_eq!(documents[0].sections[0].path, ["b"]);
        assert_eq!(documents[0].sections[0].text, "Only text");
    }
}
