//! The block of fields at the top of a file: where it ends, and what its YAML says.
//!
//! It is cut out here and not by a crate: what reads a document or a skill needs the lines of the block and of the body as
//! they stand in the file, the words of a block that is not closed, and a limit to its length. Crates for front matter give
//! both texts trimmed and with other line ends, and read numbers as such (`version: 1.10`).

use serde_json::{Map, Value};

/// A longer block is no front matter: the first line was a rule.
const MAX_BYTES: usize = 64 * 1024;

/// The lines around a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The first line of the file.
    pub opening: &'static str,
    /// The lines that may end the block.
    pub closing: &'static [&'static str],
}

impl Fence {
    /// YAML as in Markdown files of any origin.
    pub const YAML: Fence = Fence { opening: "---", closing: &["---", "..."] };
    /// YAML as the specification of skills has it.
    pub const SKILL: Fence = Fence { opening: "---", closing: &["---"] };
    /// TOML.
    pub const TOML: Fence = Fence { opening: "+++", closing: &["+++"] };
}

/// What stands at the top of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontMatter<'a> {
    /// No block begins there.
    Absent,
    /// A block begins there and does not end within 64 KiB.
    Unclosed {
        /// The lines around it.
        fence: Fence,
        /// What follows the first line.
        rest: &'a str,
    },
    /// A block.
    Block(Block<'a>),
}

/// A block of fields, and the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// The lines around it.
    pub fence: Fence,
    /// The lines between them.
    pub fields: &'a str,
    /// What follows the block.
    pub body: &'a str,
    /// How many lines of the file stand before `body`.
    pub lines_before: usize,
}

/// Finds the block at the top of a text, within one of these fences.
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

/// What the YAML of a block holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Fields {
    /// Fields and their values.
    Fields(Map<String, Value>),
    /// Nothing.
    Empty,
    /// A text, a list or anything else.
    Other,
}

/// A block that is not YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// The line in the file, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Reads the YAML of a block. Deep nesting and values that refer to each other without end are errors.
///
/// # Errors
/// When it is not YAML.
pub fn parse_yaml(fields: &str) -> Result<Fields, YamlError> {
    match serde_saphyr::from_str::<Value>(fields) {
        Ok(Value::Object(map)) => Ok(Fields::Fields(map)),
        Ok(Value::Null) => Ok(Fields::Empty),
        Ok(_) => Ok(Fields::Other),
        Err(error) => {
            // The first line of the file is the fence.
            let line = 1 + error.location().map_or(1, |location| location.line() as usize);
            let message = error.without_snippet().to_string();
            let first = message.lines().next().unwrap_or_default();
            Err(YamlError { line, reason: format!("the front matter is not valid YAML: {first}") })
        }
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
    fn a_block_stands_between_its_fences() {
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
    fn a_block_that_does_not_end_is_told_from_none() {
        assert_eq!(find("Text", &[Fence::YAML]), FrontMatter::Absent);
        assert_eq!(find("+++\n+++\n", &[Fence::YAML]), FrontMatter::Absent);
        let open = FrontMatter::Unclosed { fence: Fence::SKILL, rest: "a: 1\n...\n" };
        assert_eq!(find("---\na: 1\n...\n", &[Fence::SKILL]), open);
        let long = format!("---\n{}---\n", "a: 1\n".repeat(20_000));
        assert!(matches!(find(&long, &[Fence::YAML]), FrontMatter::Unclosed { .. }));
    }

    #[test]
    fn wrong_yaml_is_told_with_its_line_in_the_file() {
        assert_eq!(parse_yaml("ok: 1\ntitle: a: b\n").map_err(|error| error.line), Err(3));
        assert_eq!(parse_yaml(""), Ok(Fields::Empty));
        assert_eq!(parse_yaml("only text"), Ok(Fields::Other));
    }

    #[test]
    fn a_block_that_grows_out_of_all_bounds_is_an_error_and_not_a_crash() {
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
