//! Parses the pages of the documentation.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::root;

/// The pages in the root of the repository, in addition to those of the book.
const TOP: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// The generated pages, whose names need no check.
const GENERATED: [&str; 2] = ["docs/src/cli.md", "docs/src/tools.md"];

/// Folders that paths in the documentation may start with.
const FOLDERS: [&str; 12] = [
    ".ci",
    ".github",
    "benches",
    "bin",
    "catalog",
    "crates",
    "docs",
    "fuzz",
    "packages",
    "skills",
    "tests",
    "benches/estates",
];

pub(crate) struct Page {
    /// Relative to the root of the project.
    pub(crate) path: PathBuf,
    pub(crate) blocks: Vec<Block>,
    /// Inline code, with its line.
    pub(crate) spans: Vec<(usize, String)>,
    pub(crate) links: Vec<(usize, String)>,
    /// The anchors of the page.
    pub(crate) anchors: BTreeSet<String>,
}

/// A fenced block.
pub(crate) struct Block {
    /// The text after the fence.
    info: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        self.info.split_once(',').map(|(_, tag)| tag)
    }

    pub(crate) fn place(&self, page: &Page) -> String {
        format!("{}:{}", page.path.display(), self.line)
    }
}

/// Returns every hand-written page, and the generated ones with their anchors only.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = TOP.iter().map(PathBuf::from).collect();
    let book = fs::read_dir(root().join("docs/src")).unwrap().map(|entry| entry.unwrap().path());
    let mut book: Vec<PathBuf> =
        book.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    book.sort();
    paths.extend(book.iter().map(|path| path.strip_prefix(root()).unwrap().to_owned()));
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Page {
    let mut text = fs::read_to_string(root().join(path)).unwrap();
    let mut page = Page {
        path: path.to_owned(),
        blocks: Vec::new(),
        spans: Vec::new(),
        links: Vec::new(),
        anchors: BTreeSet::new(),
    };
    let included = text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
    let is_own = included.is_none() && !page.is_generated();
    if let Some(included) = included {
        let target = root().join(path).with_file_name(included);
        text = fs::read_to_string(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    }
    let mut block: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            match block.take() {
                Some(done) => page.blocks.push(done),
                None => block = Some(Block { info: info.trim().to_owned(), line: at + 1, text: String::new() }),
            }
        } else if let Some(block) = &mut block {
            block.text.push_str(line);
            block.text.push('\n');
        } else {
            if let Some(title) = line.strip_prefix('#') {
                page.anchors.insert(anchor(title.trim_start_matches('#').trim()));
            }
            let pieces = line.split('`').enumerate();
            page.spans.extend(pieces.clone().filter(|(n, _)| n % 2 == 1).map(|(_, code)| (at + 1, code.to_owned())));
            page.links.extend(links(line).map(|target| (at + 1, target.to_owned())));
        }
    }
    assert!(block.is_none(), "{} has a block without an end", path.display());
    if !is_own {
        // Links of an included page are checked here as well: they must resolve from the book.
        page.blocks.clear();
        page.spans.clear();
    }
    page
}

fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// Returns the anchor of a title.
fn anchor(title: &str) -> String {
    let kept = title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.replace(' ', "-")
}

/// Normalizes a path without `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts.into_iter().collect()
}

impl Page {
    /// Returns whether the page is generated.
    pub(crate) fn is_generated(&self) -> bool {
        GENERATED.iter().any(|generated| self.path == Path::new(generated))
    }

    /// Returns the lines that call `planner`, in blocks and inline code.
    pub(crate) fn command_lines(&self) -> Vec<(usize, String)> {
        let mut found: Vec<(usize, String)> = Vec::new();
        let is_shell = |block: &&Block| matches!(block.language(), "sh" | "console");
        for block in self.blocks.iter().filter(is_shell) {
            let joined = block.text.replace("\\\n", " ");
            found.extend(joined.lines().map(|line| (block.line, line.trim_start_matches("$ ").to_owned())));
        }
        found.extend(self.spans.iter().cloned());
        let calls = |text: &str| {
            let text = text.replace("cargo run -- ", "planner ");
            let at = text.find("planner ").filter(|at| *at == 0 || text[..*at].ends_with(' '))?;
            Some(text[at + "planner ".len()..].to_owned())
        };
        found.into_iter().filter_map(|(line, text)| Some((line, calls(&text)?))).collect()
    }

    /// Returns the repository paths on the page: words with a `/` that start with a folder or crate, or end like a source file.
    pub(crate) fn paths(&self) -> Vec<(usize, String)> {
        let is_shell = |block: &&Block| matches!(block.language(), "sh" | "console");
        let blocks = self.blocks.iter().filter(is_shell);
        let in_blocks = blocks.flat_map(|block| block.text.lines().map(|line| (block.line, line.to_owned())));
        let mut found = Vec::new();
        for (line, text) in in_blocks.chain(self.spans.iter().cloned()) {
            for word in text.split_whitespace() {
                let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:*".contains(c));
                let first = word.split('/').next().unwrap_or_default();
                let begins = word.contains('/') && FOLDERS.contains(&first);
                let is_source = word.contains('/') && (word.contains("/src/") || word.contains("/tests/"));
                let is_written = word.contains("target/") || word.contains("://");
                let is_data = ["catalog/", "skills/"].iter().any(|start| word.starts_with(start))
                    && self.path.starts_with("docs");
                if is_plain && (begins || is_source) && !is_written && !is_data {
                    found.push((line, word.trim_end_matches(['.', ':']).to_owned()));
                }
            }
        }
        found
    }
}
