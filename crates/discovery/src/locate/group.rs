//! Files to entries: what lies together and is alike is one.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use prospector_connect::source::{Partition, SourceKind, unpacked_path};

use super::{
    classify::Class,
    finding::{Address, ApiForm, Finding, FindingKind},
    naming,
    skipped::Reason,
    walk::{Tree, skill_folders},
};
use crate::paths::is_glob;

/// The entries that stand for what is in a folder: one database for the data files of a kind in one folder, one for each
/// table of Parquet that is divided among folders, one for each SQLite file, one entry for each API, folder of documents and folder of skills.
pub(super) fn group(tree: &Tree, root: &Path, source: &str) -> Vec<Finding> {
    let grouping = Grouping { tree, root, source, skills: skill_folders(tree) };
    let mut findings = grouping.databases();
    findings.extend(grouping.apis());
    findings.extend(grouping.documents());
    findings.extend(grouping.skills());
    findings
}

/// The entry of a file that was named itself.
pub(super) fn entry_of_file(path: &Path, class: &Class, source: &str) -> Finding {
    let parent = || path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entry = |kind, name, path: &Path| Finding {
        kind,
        name,
        address: Address::Path(escape(path)),
        files: 1,
        source: source.to_owned(),
    };
    match class {
        Class::Data(kind) => entry(FindingKind::Databases(*kind), Some(database_name(*kind, path)), path),
        Class::Api => entry(FindingKind::Apis(ApiForm::Description), Some(naming::of_api(path)), path),
        Class::Skill => entry(FindingKind::Skills, None, parent()),
        Class::DbtProject => {
            let manifest = manifest(parent());
            entry(FindingKind::Databases(SourceKind::Dbt), Some(database_name(SourceKind::Dbt, &manifest)), &manifest)
        }
        Class::Document | Class::Refused { .. } | Class::Unknown => entry(FindingKind::Documents, None, path),
    }
}

/// The name of a database of one file; of a dbt project that of its folder.
fn database_name(kind: SourceKind, path: &Path) -> String {
    match kind {
        SourceKind::Dbt => naming::of_folder(path.parent().and_then(Path::parent).unwrap_or(Path::new(""))),
        _ => naming::of_file(path),
    }
}

fn manifest(project: &Path) -> PathBuf {
    project.join("target").join("manifest.json")
}

/// A path as a pattern that matches it alone: where it has a wildcard, that is put in brackets.
fn escape(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let text = text.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(&text);
    PathBuf::from(if is_glob(text) { bracket(text) } else { text.to_owned() })
}

/// A text as a part of a pattern that matches it alone. A brace in brackets names no variable of the environment either, and within
/// braces a comma has a meaning.
fn bracket(text: &str) -> String {
    let is_special = |c| matches!(c, '*' | '?' | '[' | '{' | '}' | '\\' | ',');
    text.chars().map(|c| if is_special(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

/// The extension of a file; of one that is packed both, `csv.gz`.
fn extension(path: &Path) -> String {
    let of = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().into_owned());
    let unpacked = unpacked_path(path);
    match (of(path), of(&unpacked)) {
        (Some(packed), Some(inner)) if unpacked != path => format!("{inner}.{packed}"),
        (own, _) => own.unwrap_or_default(),
    }
}

/// One of these, as a part of a pattern.
fn choose(of: &BTreeSet<String>) -> String {
    let escaped: Vec<String> = of.iter().map(|text| bracket(text)).collect();
    match escaped.as_slice() {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    }
}

struct Grouping<'a> {
    tree: &'a Tree,
    root: &'a Path,
    source: &'a str,
    /// The folders of single skills; nothing in them is anything else.
    skills: Vec<PathBuf>,
}

impl Grouping<'_> {
    fn finding(&self, kind: FindingKind, name: Option<String>, path: PathBuf, files: usize) -> Finding {
        Finding { kind, name, address: Address::Path(path), files, source: self.source.to_owned() }
    }

    /// The files that are in no folder of a skill.
    fn files(&self) -> impl Iterator<Item = (&Path, Class)> {
        let is_apart = |path: &Path| !self.skills.iter().any(|skill| path.starts_with(skill));
        self.tree.files.iter().map(|(path, class)| (path.as_path(), *class)).filter(move |(path, _)| is_apart(path))
    }

    fn databases(&self) -> Vec<Finding> {
        let mut groups: BTreeMap<(PathBuf, SourceKind), Vec<&Path>> = BTreeMap::new();
        let mut partitioned: BTreeMap<(PathBuf, usize), Vec<&Path>> = BTreeMap::new();
        let mut findings = Vec::new();
        for (path, class) in self.files() {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            match class {
                Class::Data(kind @ (SourceKind::Sqlite | SourceKind::Dbt)) => {
                    findings.push(entry_of_file(path, &Class::Data(kind), self.source));
                }
                Class::Data(kind) => match Partition::of(path).filter(|_| kind == SourceKind::Parquet) {
                    Some(partition) => {
                        partitioned.entry((partition.root, partition.keys.len())).or_default().push(path)
                    }
                    None => groups.entry((folder, kind)).or_default().push(path),
                },
                Class::DbtProject if manifest(&folder).is_file() => {
                    findings.push(entry_of_file(path, &class, self.source));
                }
                _ => {}
            }
        }
        for ((folder, kind), files) in groups {
            match files.as_slice() {
                [file] => findings.push(entry_of_file(file, &Class::Data(kind), self.source)),
                files => {
                    let name = naming::of_folder(&folder);
                    let pattern = self.pattern(&folder, files);
                    findings.push(self.finding(FindingKind::Databases(kind), Some(name), pattern, files.len()));
                }
            }
        }
        findings.extend(partitioned.into_iter().map(|((root, depth), files)| {
            let extensions = files.iter().map(|path| extension(path)).collect();
            let mut pattern = if root == Path::new("") { root.clone() } else { escape(&root) };
            pattern.extend(std::iter::repeat_n("*=*", depth));
            pattern.push(format!("*.{}", choose(&extensions)));
            let (kind, name) = (FindingKind::Databases(SourceKind::Parquet), Some(naming::of_folder(&root)));
            self.finding(kind, name, pattern, files.len())
        }));
        findings
    }

    /// A pattern that matches these files of a folder and no others.
    fn pattern(&self, folder: &Path, files: &[&Path]) -> PathBuf {
        let extensions: BTreeSet<String> = files.iter().map(|path| extension(path)).collect();
        let names: BTreeSet<String> =
            files.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
        let all = self.tree.names.get(folder);
        let alike = all.into_iter().flatten().filter(|name| extensions.contains(&extension(Path::new(name))));
        let is_exact = all.is_some() && alike.into_iter().all(|name| names.contains(name));
        let end = match names.first() {
            Some(only) if !is_exact && names.len() == 1 => return escape(&folder.join(only)),
            _ if is_exact => format!("*.{}", choose(&extensions)),
            _ => choose(&names),
        };
        escape(&folder.join("x")).with_file_name(end)
    }

    fn apis(&self) -> Vec<Finding> {
        let files = self.files().filter(|(_, class)| *class == Class::Api);
        files.map(|(path, class)| entry_of_file(path, &class, self.source)).collect()
    }

    /// Folders of which every document is taken, and single documents elsewhere.
    fn documents(&self) -> Vec<Finding> {
        let documents: Vec<&Path> =
            self.files().filter(|(_, class)| *class == Class::Document).map(|(path, _)| path).collect();
        let is_whole = |folder: &Path| {
            let is_partial = self.tree.partial.contains(folder);
            let has_skills = self.skills.iter().any(|skill| skill.starts_with(folder));
            folder != Path::new("")
                && !is_partial
                && !has_skills
                && self.tree.names.keys().any(|f| f.starts_with(folder))
        };
        let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut findings = Vec::new();
        for path in documents {
            let above: Vec<&Path> = path.ancestors().skip(1).take_while(|f| f.starts_with(self.root)).collect();
            // The folder of the whole search counts where nothing but documents is in it.
            let whole = above.into_iter().rev().find(|folder| is_whole(folder) && self.is_about_documents(folder));
            match whole {
                Some(folder) => *folders.entry(folder.to_owned()).or_default() += 1,
                None => findings.push(self.document(path)),
            }
        }
        let several = folders.len() > 1;
        findings.extend(folders.into_iter().map(|(folder, files)| {
            let name = several.then(|| naming::inside(self.root, &folder)).filter(|name| !name.is_empty());
            self.finding(FindingKind::Documents, name, escape(&folder), files)
        }));
        findings
    }

    /// Whether a folder is one of documents rather than of a program: half of its files at least are.
    fn is_about_documents(&self, folder: &Path) -> bool {
        let below = |path: &Path| path.starts_with(folder);
        let all: usize = self.tree.names.iter().filter(|(path, _)| below(path)).map(|(_, names)| names.len()).sum();
        let documents = self.files().filter(|(path, class)| *class == Class::Document && below(path)).count();
        documents * 2 >= all
    }

    fn document(&self, path: &Path) -> Finding {
        let name = naming::inside(self.root, &path.with_extension(""));
        let name = Some(name).filter(|name| name.contains('/'));
        self.finding(FindingKind::Documents, name, escape(path), 1)
    }

    /// The folders that hold skills; of one within another only the outer.
    fn skills(&self) -> Vec<Finding> {
        let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for skill in &self.skills {
            let is_root = skill == self.root;
            let folder = skill.parent().filter(|_| !is_root).unwrap_or(skill);
            let outer = folders.keys().find(|known| folder.starts_with(known)).cloned();
            *folders.entry(outer.unwrap_or_else(|| folder.to_owned())).or_default() += 1;
        }
        folders
            .into_iter()
            .map(|(folder, files)| self.finding(FindingKind::Skills, None, escape(&folder), files))
            .collect()
    }
}

impl Tree {
    /// Notes the dbt projects that were never compiled: without a manifest nothing can be read of them.
    pub(super) fn note_uncompiled(&mut self) {
        let projects: Vec<PathBuf> =
            self.files.iter().filter(|(_, class)| *class == Class::DbtProject).map(|(path, _)| path.clone()).collect();
        for path in projects {
            if !manifest(path.parent().unwrap_or(Path::new(""))).is_file() {
                let name = path.to_string_lossy().into_owned();
                let reason = Reason::Refused {
                    reason: "the dbt project has no target/manifest.json",
                    advice: "make it with `dbt docs generate`",
                };
                self.skipped.note(name, reason);
            }
        }
    }
}
