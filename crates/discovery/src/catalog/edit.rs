//! Adds entries to the text of a catalog, and preserves everything else, including comments.
//!
//! The result is parsed again and must contain exactly the former entries and the new one; otherwise nothing is written.

use std::{fs::File, io::ErrorKind, path::Path};

use super::node::{Node, Placed};

/// Why an entry cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The text is not a valid catalog.
    #[error("line {line}: {reason}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The section is a flow sequence, or has another form to which lines cannot be added.
    #[error("`{key}` is not a list with one entry per line; add `- {entry}` manually")]
    Form {
        /// The section.
        key: &'static str,
        /// What would have been added.
        entry: String,
    },
}

/// Adds an entry, such as `{name: shop, path: shop.sqlite}`, at the end of a section. Returns the text and the line of the entry.
///
/// # Errors
/// If the result would not contain exactly the former entries and the new one.
pub fn add_entry(text: &str, key: &'static str, entry: &str) -> Result<(String, usize), EditError> {
    let before = parse(text)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = match lines.iter().position(|line| is_key(line, key)) {
        Some(at) => {
            insert(&mut lines, at, key, entry).ok_or_else(|| EditError::Form { key, entry: entry.to_owned() })?
        }
        None => {
            if lines.last().is_some_and(|line| !line.trim().is_empty()) {
                lines.push(String::new());
            }
            lines.extend([format!("{key}:"), format!("  - {entry}")]);
            lines.len() - 1
        }
    };
    let added = lines.join(end) + end;
    let (after, entry_node) = (parse(&added), parse(entry)?);
    let expected = with_entry(before, key, entry_node);
    match after {
        Ok(after) if says_the_same(&after, &expected) => Ok((added, at + 1)),
        _ => Err(EditError::Form { key, entry: entry.to_owned() }),
    }
}

/// Returns whether a line starts a section.
fn is_key(line: &str, key: &str) -> bool {
    line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
}

/// Inserts the entry after the last one of the section that starts at line `at`, and returns its index. Returns `None` if the list is a
/// flow sequence.
fn insert(lines: &mut Vec<String>, at: usize, key: &str, entry: &str) -> Option<usize> {
    let rest = lines[at][key.len() + 1..].to_owned();
    let (value, comment) =
        rest.split_once(" #").map_or((rest.as_str(), None), |(value, comment)| (value, Some(comment)));
    match value.trim() {
        "" | "~" | "null" => {}
        "[]" => lines[at] = format!("{key}:{}", comment.map(|comment| format!(" #{comment}")).unwrap_or_default()),
        _ => return None,
    }
    let is_of_section = |line: &String| line.starts_with([' ', '\t', '-', '#']) || line.trim().is_empty();
    let is_content = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let end = lines[at + 1..].iter().position(|line| !is_of_section(line)).map_or(lines.len(), |more| at + 1 + more);
    let content = (at + 1..end).filter(|line| is_content(&lines[*line]));
    let (first, last) = content.fold((None, at), |(first, _), line| (first.or(Some(line)), line));
    let indent = first.map_or(2, |line| lines[line].len() - lines[line].trim_start().len());
    lines.insert(last + 1, format!("{}- {entry}", " ".repeat(indent)));
    Some(last + 1)
}

fn parse(text: &str) -> Result<Node, EditError> {
    let has_content = text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    if !has_content {
        return Ok(Node::Null);
    }
    let parsed: Result<Placed, _> = serde_saphyr::from_str(text);
    parsed.map(|placed| placed.node).map_err(|error| EditError::Syntax {
        line: error.location().map_or(1, |location| location.line()),
        reason: "not valid YAML".to_owned(),
    })
}

/// Adds an entry to parsed content.
fn with_entry(before: Node, key: &str, entry: Node) -> Node {
    let place = |node| Placed { line: 0, node };
    let mut map = match before {
        Node::Map(map) => map,
        _ => Default::default(),
    };
    let section = map.entry(key.to_owned()).or_insert_with(|| place(Node::List(Vec::new())));
    match &mut section.node {
        Node::List(items) => items.push(place(entry)),
        other => *other = Node::List(vec![place(entry)]),
    }
    Node::Map(map)
}

/// Returns whether two nodes are equal, ignoring line numbers.
fn says_the_same(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::List(a), Node::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| says_the_same(&a.node, &b.node))
        }
        (Node::Map(a), Node::Map(b)) => {
            let is_in = |(key, a): (&String, &Placed)| b.get(key).is_some_and(|b| says_the_same(&a.node, &b.node));
            a.len() == b.len() && a.iter().all(is_in)
        }
        (a, b) => a == b,
    }
}

/// Writes a file atomically. An existing file keeps its permissions; devices and pipes are written directly.
///
/// # Errors
/// If the file cannot be written; an existing one is then unchanged, and a new one does not exist.
pub fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    // A new file has the permissions of any other program's.
    let is_new = match File::create_new(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        created => created.is_ok(),
    };
    let written = replace_file(path, text);
    if is_new && written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

fn replace_file(path: &Path, text: &str) -> std::io::Result<()> {
    // Symbolic links are followed.
    let path = path.canonicalize()?;
    let metadata = std::fs::metadata(&path)?;
    if !metadata.is_file() {
        return std::fs::write(&path, text);
    }
    prospector_state::replace(&path, text.as_bytes())?;
    std::fs::set_permissions(&path, metadata.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let (text, line) = add_entry(before, "databases", "{path: b.csv}").unwrap();
        assert_eq!(text, after);
        assert!(text.lines().nth(line - 1).unwrap().ends_with("- {path: b.csv}"), "{line}");
    }

    #[test]
    fn adds_an_entry_and_preserves_the_rest() {
        check(
            "databases:\n  - path: a.csv # mine\n\napis: []\n",
            "databases:\n  - path: a.csv # mine\n  - {path: b.csv}\n\napis: []\n",
        );
        check(
            "databases:\n- path: a.csv\n  name: a\n# end\n",
            "databases:\n- path: a.csv\n  name: a\n- {path: b.csv}\n# end\n",
        );
        check(
            "databases: []   # none yet\n#  - path: x\napis: []",
            "databases: #none yet\n  - {path: b.csv}\n#  - path: x\napis: []\n".replace("#none", "# none").as_str(),
        );
        check("databases:\napis: []\n", "databases:\n  - {path: b.csv}\napis: []\n");
        check("apis: []\n", "apis: []\n\ndatabases:\n  - {path: b.csv}\n");
        check("# nothing\n", "# nothing\n\ndatabases:\n  - {path: b.csv}\n");
        check("databases:\r\n- path: a.csv\r\n", "databases:\r\n- path: a.csv\r\n- {path: b.csv}\r\n");
    }

    #[test]
    fn writes_whole_files_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let list = || std::fs::read_dir(folder.path()).unwrap().count();
        let path = folder.path().join("page.html");
        for text in ["first", "second"] {
            write_file(&path, text).unwrap();
            assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), list()), (text, 1));
        }
        // Another program's file has these permissions.
        let other = folder.path().join("other");
        std::fs::write(&other, "").unwrap();
        let rights = |path: &Path| std::fs::metadata(path).unwrap().permissions();
        assert_eq!(rights(&path), rights(&other));
        assert!(write_file(folder.path(), "").is_err() && write_file(&folder.path().join("no/page"), "").is_err());
        assert_eq!(list(), 2);
    }

    #[test]
    fn rejects_edits_that_would_change_the_meaning() {
        let check = |before: &str, expected: &str| {
            let error = add_entry(before, "databases", "{path: b.csv}").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("databases: [{path: a.csv}]\n", "add `- {path: b.csv}` manually");
        check("databases: &x\n  - path: a.csv\n", "manually");
        check("{databases: []}\n", "manually");
        check("databases: [\n", "not valid YAML");
    }
}
