//! Parses the front matter of a `SKILL.md`.

use std::collections::BTreeMap;

use prospector_text::{
    cut::one_line,
    front_matter::{Block, split_fields},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The fields of the specification; all others are ignored.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) compatibility: Option<String>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) allowed_tools: Vec<String>,
    /// Fields with an invalid value, each with the expected type.
    pub(crate) ignored: Vec<(&'static str, &'static str)>,
}

/// Splits a file into its fields and the block with the body; the error is a line and a reason. The text must have no byte
/// order mark and normalised line ends.
pub(crate) fn split(text: &str) -> Result<(FrontMatter, Block<'_>), (usize, String)> {
    let (map, block) = split_fields(text).map_err(|error| (error.line, error.reason))?;
    if map.is_empty() {
        return Err((1, "the front matter contains no fields".to_owned()));
    }
    Ok((fields(&map, block.fields), block))
}

fn fields(map: &Map<String, Value>, block: &str) -> FrontMatter {
    let field = |name: &str| map.get(name).map(text).filter(|text| !text.is_empty());
    let mut ignored = Vec::new();
    if !matches!(map.get("metadata"), None | Some(Value::Null | Value::Object(_))) {
        ignored.push(("metadata", "a mapping"));
    }
    let allowed_tools = match map.get("allowed-tools") {
        Some(Value::Array(items)) => items.iter().map(text).filter(|tool| !tool.is_empty()).collect(),
        Some(Value::String(list)) => tools(list),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => {
            ignored.push(("allowed-tools", "names with spaces between them, or a list"));
            Vec::new()
        }
    };
    FrontMatter {
        name: field("name"),
        description: field("description"),
        license: field("license"),
        compatibility: field("compatibility"),
        metadata: metadata(block, map.get("metadata")),
        allowed_tools,
        ignored,
    }
}

/// Returns the scalar values as written.
fn metadata(block: &str, value: Option<&Value>) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Plain {
        metadata: BTreeMap<String, String>,
    }
    match (serde_saphyr::from_str::<Plain>(block), value) {
        (Ok(plain), _) => plain.metadata,
        (Err(_), Some(Value::Object(map))) => map.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        _ => BTreeMap::new(),
    }
}

/// Returns a value on one line.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}

/// Splits a list of tools at spaces or commas, except inside parentheses: `Bash(git add:*)`.
fn tools(list: &str) -> Vec<String> {
    let mut tools = vec![String::new()];
    let mut depth = 0_usize;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 && (c.is_whitespace() || c == ',') => {
                tools.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(tool) = tools.last_mut() {
            tool.push(c);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<FrontMatter, (usize, &str)>) {
        match (split(text), expected) {
            (Ok((found, block)), Ok(fields)) => {
                assert_eq!(found, fields);
                assert_eq!(block.lines_before, text[..text.len() - block.body.len()].matches('\n').count());
            }
            (Err((line, reason)), Err((expected, part))) => {
                assert_eq!(line, expected, "{reason}");
                assert!(reason.contains(part), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parses_fields_of_the_specification() {
        let text = "---\nname: pdf\ndescription: >-\n  Reads\n  PDF files.\nlicense: MIT\ncompatibility: needs git\n\
                    metadata:\n  author: Ada\n  version: 1.10\nallowed-tools: Read, Bash(git add:*) Write\nother: 1\n---\nBody";
        check(
            text,
            Ok(FrontMatter {
                name: Some("pdf".into()),
                description: Some("Reads PDF files.".into()),
                license: Some("MIT".into()),
                compatibility: Some("needs git".into()),
                metadata: [("author".into(), "Ada".into()), ("version".into(), "1.10".into())].into(),
                allowed_tools: vec!["Read".into(), "Bash(git add:*)".into(), "Write".into()],
                ignored: Vec::new(),
            }),
        );
        let fields = FrontMatter {
            name: Some("7".into()),
            metadata: [("a".into(), "[1]".into())].into(),
            allowed_tools: vec!["Read".into(), "Write".into()],
            ..FrontMatter::default()
        };
        check("---\nname: 7\ndescription:\nmetadata: {a: [1]}\nallowed-tools: [Read, Write]\n---\n", Ok(fields));
    }

    #[test]
    fn reports_errors_with_line() {
        check("# Title", Err((1, "no front matter")));
        check("", Err((1, "no front matter")));
        check("---\nname: x\n\n# Title", Err((1, "not closed")));
        check("---\nname: x\ndescription: a: b\n---\n", Err((3, "not valid YAML")));
        check("---\njust text\n---\n", Err((1, "no fields")));
        check("---\n---\n", Err((1, "no fields")));
    }
}
