//! Locates and parses the front matter of a file.
//!
//! Front matter crates are not used because readers of documents and skills need exact line numbers, the text of an
//! unclosed block, and a length limit. The crates trim both texts, normalise line ends, and parse numbers (`version:
//! 1.10`).

use serde_json::{Map, Value};

/// Maximum size of front matter; in a longer block, the first line is a rule.
const MAX_BYTES: usize = 64 * 1024;

/// The delimiters of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The first line of the file.
    pub opening: &'static str,
    /// The lines that may close the block.
    pub closing: &'static [&'static str],
}

impl Fence {
    /// YAML in Markdown files.
    pub const YAML: Fence = Fence { opening: "---", closing: &["---", "..."] };
    /// YAML in skills, following their specification.
    pub const SKILL: Fence = Fence { opening: "---", closing: &["---"] };
    /// TOML.
    pub const TOML: Fence = Fence { opening: "+++", closing: &["+++"] };
}

/// The start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontMatter<'a> {
    /// There is no front matter.
    Absent,
    /// A block that does not end within 64 KiB.
    Unclosed {
        /// Its delimiters.
        fence: Fence,
        /// The text after the first line.
        rest: &'a str,
    },
    /// A closed block.
    Block(Block<'a>),
}

/// A block of fields, and the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// Its delimiters.
    pub fence: Fence,
    /// The lines between them.
    pub fields: &'a str,
    /// The text after the block.
    pub body: &'a str,
    /// Number of lines before `body`.
    pub lines_before: usize,
}

/// Finds the front matter of a text, with one of these delimiters.
pub fn find<'a>(text: &'a str, fences: &[Fence]) -> FrontMatter<'a> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Some(&fence) = fences.iter().find(|fence| fence.opening == first.trim_end()) else {
        return FrontMatter::Absent;
    };
    let mut at = 0;
    for (lines_before, line) in (2..).zip(rest.split_inclusive('\n')) {
        let end = at + line.len();
        if fence.closing.contains(&line.trim_end()) {
            return FrontMatter::Block(Block { fence, fields: &rest[..at], body: &rest[end..], lines_before });
        }
        at = end;
        if at > MAX_BYTES {
            break;
        }
    }
    FrontMatter::Unclosed { fence, rest }
}

/// The content of a YAML block.
#[derive(Debug, Clone, PartialEq)]
pub enum Fields {
    /// Fields and their values.
    Fields(Map<String, Value>),
    /// An empty block.
    Empty,
    /// A scalar or list.
    Other,
}

/// Why the fields of a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// The line in the file, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Parses the YAML of a block. Deep nesting and recursive aliases are rejected.
///
/// # Errors
/// If the text is not valid YAML.
pub fn parse_yaml(fields: &str) -> Result<Fields, YamlError> {
    match serde_saphyr::from_str::<Value>(fields) {
        Ok(Value::Object(map)) => Ok(Fields::Fields(map)),
        Ok(Value::Null) => Ok(Fields::Empty),
        Ok(_) => Ok(Fields::Other),
        Err(error) => {
            // The first line of the file is the delimiter.
            let line = 1 + error.location().map_or(1, |location| location.line() as usize);
            let message = error.without_snippet().to_string();
            let first = message.lines().next().unwrap_or_default();
            Err(YamlError { line, reason: format!("the front matter is not valid YAML: {first}") })
        }
    }
}

/// Splits a file that must start with YAML fields between two lines `---`; the fields are empty if the block contains none.
///
/// # Errors
/// If there is no such block, or it is not valid YAML.
pub fn split_fields(text: &str) -> Result<(Map<String, Value>, Block<'_>), YamlError> {
    let fail = |reason: &str| Err(YamlError { line: 1, reason: reason.to_owned() });
    match find(text, &[Fence::SKILL]) {
        FrontMatter::Absent => fail("no front matter: the first line is not `---`"),
        FrontMatter::Unclosed { .. } => fail("the front matter is not closed by a second line `---`"),
        FrontMatter::Block(block) => match parse_yaml(block.fields)? {
            Fields::Fields(map) => Ok((map, block)),
            Fields::Empty | Fields::Other => Ok((Map::new(), block)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = match find(text, &[Fence::YAML, Fence::TOML]) {
            FrontMatter::Block(block) => {
                assert_eq!(block.lines_before, text[..text.len() - block.body.len()].matches('\n').count());
                Some((block.fields, block.body))
            }
            FrontMatter::Absent | FrontMatter::Unclosed { .. } => None,
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn finds_a_block_between_delimiters() {
        check("---\na: 1\n---\nText", Some(("a: 1\n", "Text")));
        check("--- \na: 1\n...\n\nText", Some(("a: 1\n", "\nText")));
        check("+++\na = 1\n+++\nText", Some(("a = 1\n", "Text")));
        check("---\n---\n", Some(("", "")));
        check("---\na: 1\n+++\n", None);
        check("Text\n---\na: 1\n---\n", None);
        check("---", None);
        check("", None);
    }

    #[test]
    fn distinguishes_unclosed_from_absent_blocks() {
        assert_eq!(find("Text", &[Fence::YAML]), FrontMatter::Absent);
        assert_eq!(find("+++\n+++\n", &[Fence::YAML]), FrontMatter::Absent);
        let open = FrontMatter::Unclosed { fence: Fence::SKILL, rest: "a: 1\n...\n" };
        assert_eq!(find("---\na: 1\n...\n", &[Fence::SKILL]), open);
        let long = format!("---\n{}---\n", "a: 1\n".repeat(20_000));
        assert!(matches!(find(&long, &[Fence::YAML]), FrontMatter::Unclosed { .. }));
    }

    #[test]
    fn reports_invalid_yaml_with_line() {
        assert_eq!(parse_yaml("ok: 1\ntitle: a: b\n").map_err(|error| error.line), Err(3));
        assert_eq!(parse_yaml(""), Ok(Fields::Empty));
        assert_eq!(parse_yaml("only text"), Ok(Fields::Other));
    }

    #[test]
    fn rejects_recursive_aliases() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let reference = format!("*a{}, ", n - 1).repeat(9);
            bomb += &format!("a{n}: &a{n} [{}]\n", reference.trim_end_matches(", "));
        }
        assert!(parse_yaml(&bomb).is_err());
        assert!(parse_yaml(&format!("a: {}\n", "[".repeat(20_000))).is_err());
        assert!(parse_yaml(&format!("{}x\n", "- ".repeat(20_000))).is_err());
    }
}
