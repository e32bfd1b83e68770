//! Scans a folder, with limits.
//!
//! `ignore` parses `.gitignore` files and matches paths; its walker does not report what it skips, which users must see.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{DirEntry, FileType},
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{
    classify::{Class, classify},
    skipped::{Reason, Skipped},
};
use crate::paths::SKILL_FOLDERS;

/// Maximum depth of a scan.
const MAX_DEPTH: usize = 12;
/// Maximum number of files and folders in a scan.
const MAX_ENTRIES: usize = 50_000;
/// Maximum number of files in the result.
const MAX_FILES: usize = 5_000;

/// Folders of dependencies.
const DEPENDENCIES: [&str; 5] = ["__pycache__", "node_modules", "site-packages", "vendor", "venv"];
/// Files that mark folders of dependencies or caches.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];
/// Prefixes of hidden files of tools, which are not reported as skipped. Databases in them are found by [`super::surroundings()`].
const TOOLS: [&str; 10] =
    [".git", ".env", ".venv", ".mcp.json", ".prospector", ".cursor", ".gemini", ".idea", ".vscode", ".DS_Store"];
/// Output folders of dbt; only its manifest is read from there.
const DBT_FOLDERS: [&str; 4] = ["dbt_modules", "dbt_packages", "logs", "target"];

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Files of supported types, sorted by path.
    pub(super) files: Vec<(PathBuf, Class)>,
    /// All file names of each folder.
    pub(super) names: BTreeMap<PathBuf, Vec<String>>,
    /// Folders in which, or below which, supported files may have been skipped.
    pub(super) partial: BTreeSet<PathBuf>,
    /// Skipped files and folders.
    pub(super) skipped: Skipped,
}

impl Tree {
    /// Adds a file, or the reason why it is skipped.
    pub(super) fn note(&mut self, path: PathBuf, named: bool) {
        match classify(&path, named) {
            Class::Unknown => self.skipped.note_other(path.extension().and_then(|extension| extension.to_str())),
            Class::Refused { reason, advice } => self.skip(&path, Reason::Refused { reason, advice }),
            _ if self.files.len() >= MAX_FILES => self.skip(&path, Reason::Many),
            class => self.files.push((path, class)),
        }
    }

    fn skip(&mut self, path: &Path, reason: Reason) {
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        // Skipped settings of tools are not reported.
        if reason == Reason::Hidden && TOOLS.iter().any(|tool| name.starts_with(tool)) {
            return;
        }
        self.skipped.note(name.into_owned(), reason);
        // Hidden files match no pattern and are never part of a folder of documents.
        if reason != Reason::Hidden {
            self.partial.extend(path.ancestors().skip(1).map(Path::to_owned));
        }
    }
}

/// A folder to scan, with the `.gitignore` files that apply to it.
struct Open {
    path: PathBuf,
    depth: usize,
    ignores: Rc<Vec<Gitignore>>,
}

/// Scans a folder.
///
/// # Errors
/// If the folder itself cannot be listed.
pub(super) fn walk(root: &Path) -> std::io::Result<Tree> {
    std::fs::read_dir(root)?;
    let mut tree = Tree::default();
    let mut open = vec![Open { path: root.to_owned(), depth: 0, ignores: Rc::default() }];
    let usual = SKILL_FOLDERS.map(|folder| root.join(folder));
    let found = usual.iter().filter(|folder| folder.is_dir()).cloned();
    open.extend(found.map(|path| Open { path, depth: MAX_DEPTH - 2, ignores: Rc::default() }));
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder.path) else {
            tree.skip(&folder.path, Reason::Unreadable);
            continue;
        };
        let mut entries: Vec<DirEntry> = entries.flatten().take(MAX_ENTRIES - seen).collect();
        seen += entries.len();
        entries.sort_by_key(DirEntry::file_name);
        let ignores = with_ignores(&folder);
        let is_dbt = folder.path.join("dbt_project.yml").is_file();
        let mut below = Vec::new();
        for entry in entries {
            let Ok(file_type) = entry.file_type() else { continue };
            let path = entry.path();
            if let Some(reason) = skip_reason(&entry, file_type, &folder, &ignores, is_dbt) {
                tree.skip(&path, reason);
            } else if file_type.is_dir() {
                below.push(Open { path, depth: folder.depth + 1, ignores: ignores.clone() });
            } else {
                tree.note(path, false);
            }
            if !file_type.is_dir() {
                let name = entry.file_name().to_string_lossy().into_owned();
                tree.names.entry(folder.path.clone()).or_default().push(name);
            }
        }
        open.extend(below.into_iter().rev());
        if seen >= MAX_ENTRIES {
            let rest: Vec<PathBuf> = open.drain(..).map(|folder| folder.path).collect();
            rest.iter().for_each(|path| tree.skip(path, Reason::Many));
        }
    }
    // The default folders of skills are scanned for skills only.
    let is_wanted =
        |path: &Path, class: Class| class == Class::Skill || !usual.iter().any(|usual| path.starts_with(usual));
    tree.files.retain(|(path, class)| is_wanted(path, *class));
    tree.files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(tree)
}

/// Returns why an entry of a folder is skipped, if it is.
fn skip_reason(
    entry: &DirEntry,
    file_type: FileType,
    folder: &Open,
    ignores: &[Gitignore],
    is_dbt: bool,
) -> Option<Reason> {
    let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
    if name.starts_with('.') {
        return Some(Reason::Hidden);
    }
    if file_type.is_symlink() {
        return Some(Reason::Link);
    }
    let matched =
        ignores.iter().rev().map(|ignore| ignore.matched(&path, file_type.is_dir())).find(|matched| !matched.is_none());
    if matched.is_some_and(|matched| matched.is_ignore()) {
        return Some(Reason::Ignored);
    }
    if !file_type.is_dir() {
        return (!file_type.is_file()).then_some(Reason::Link);
    }
    let is_made = DEPENDENCIES.contains(&name.as_str()) || MARKS.iter().any(|mark| path.join(mark).is_file());
    if is_made || is_dbt && DBT_FOLDERS.contains(&name.as_str()) {
        return Some(Reason::Dependencies);
    }
    (folder.depth + 1 >= MAX_DEPTH).then_some(Reason::Deep)
}

/// Returns the `.gitignore` files that apply in a folder.
fn with_ignores(folder: &Open) -> Rc<Vec<Gitignore>> {
    let file = folder.path.join(".gitignore");
    if !file.is_file() {
        return folder.ignores.clone();
    }
    let mut builder = GitignoreBuilder::new(&folder.path);
    // Invalid patterns are ignored; the others apply.
    builder.add(file);
    let own = builder.build().ok();
    Rc::new(folder.ignores.iter().cloned().chain(own).collect())
}

/// Returns the folders of single skills.
pub(super) fn skill_folders(tree: &Tree) -> Vec<PathBuf> {
    let skills = tree.files.iter().filter(|(_, class)| *class == Class::Skill);
    skills.filter_map(|(path, _)| path.parent().map(Path::to_owned)).collect()
}
