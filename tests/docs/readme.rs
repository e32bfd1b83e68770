//! Generates the README of a crate from its crate documentation.

use std::fs;

use crate::root;

/// The footer of every README.
const ABOUT: &str = "Part of Prospector, which lets a language model discover databases, APIs, documents, facts and skills. \
                     Licensed under MIT or Apache-2.0, at your option.\n";

/// crates/NAME/README.md
pub(crate) fn readme(name: &str) -> String {
    let folder = root().join("crates").join(name);
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut page = format!("# prospector-{name}\n\n");
    let mut is_code = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            is_code = !is_code;
            page += if is_code { "```rust\n" } else { "```\n" };
        } else if is_code {
            let is_hidden = line == "#" || line.starts_with("# ");
            page += &if is_hidden { String::new() } else { format!("{line}\n") };
        } else if line == "# Features" {
            page += &format!("## Features\n\n{}", features(&manifest));
        } else {
            page += &format!("{}\n", without_links(line));
        }
    }
    format!("{}\n\n{ABOUT}", page.trim_end())
}

/// Returns the features with the descriptions that `document-features` uses.
fn features(manifest: &str) -> String {
    let lines =
        manifest.lines().skip_while(|line| *line != "[features]").skip(1).take_while(|line| !line.starts_with('['));
    let (mut page, mut about) = (String::new(), Vec::new());
    for line in lines {
        if let Some(text) = line.strip_prefix("#! ") {
            page += &format!("{text}\n\n");
        } else if let Some(text) = line.strip_prefix("## ") {
            about.push(text);
        } else if let Some((name, _)) = line.split_once(" = ").filter(|_| !about.is_empty()) {
            page += &format!("- `{name}`: {}\n", std::mem::take(&mut about).join(" "));
        }
    }
    page
}

/// Replaces intra-doc links by their text, since they do not resolve in a README.
fn without_links(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('[') {
        out += before;
        let Some((words, behind)) = after.split_once(']') else {
            rest = &rest[before.len()..];
            break;
        };
        let target = behind.strip_prefix('(').and_then(|behind| behind.split_once(')'));
        match target {
            Some((target, _)) if target.contains("://") => {
                out += &format!("[{words}]({target})");
            }
            _ => out += words,
        }
        rest = target.map_or(behind, |(_, behind)| behind);
    }
    out + rest
}
