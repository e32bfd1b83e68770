//! Groups files to entries.

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

/// Returns the entries for the files of a folder: one database for the data files of a type in one folder, one for each partitioned Parquet
/// table, one for each SQLite file, and one entry for each API, folder of documents and folder of skills.
pub(super) fn group(tree: &Tree, root: &Path, source: &str) -> Vec<Finding> {
    let grouping = Grouping { tree, root, source, skills: skill_folders(tree) };
    let mut findings = grouping.databases();
    findings.extend(grouping.apis());
    findings.extend(grouping.documents());
    findings.extend(grouping.skills());
    findings
}

/// Returns the entry of a file given explicitly.
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

/// Returns the name of a database of one file; a dbt project is named after its folder.
fn database_name(kind: SourceKind, path: &Path) -> String {
    match kind {
        SourceKind::Dbt => naming::of_folder(path.parent().and_then(Path::parent).unwrap_or(Path::new(""))),
        _ => naming::of_file(path),
    }
}

fn manifest(project: &Path) -> PathBuf {
    project.join("target").join("manifest.json")
}

/// Escapes the wildcards of a path, so that it matches only itself.
fn escape(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let text = text.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(&text);
    PathBuf::from(if is_glob(text) { bracket(text) } else { text.to_owned() })
}

/// Escapes a text as part of a pattern. Braces are escaped too, so that they denote no environment variable, and commas, which separate
/// alternatives within braces.
fn bracket(text: &str) -> String {
    let is_special = |c| matches!(c, '*' | '?' | '[' | '{' | '}' | '\\' | ',');
    text.chars().map(|c| if is_special(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

/// Returns the extension of a file, including the inner one if it is compressed: `csv.gz`.
fn extension(path: &Path) -> String {
    let of = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().into_owned());
    let unpacked = unpacked_path(path);
    match (of(path), of(&unpacked)) {
        (Some(packed), Some(inner)) if unpacked != path => format!("{inner}.{packed}"),
        (own, _) => own.unwrap_or_default(),
    }
}

/// Returns a pattern for these alternatives.
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
    /// The folders of single skills; their files are not classified otherwise.
    skills: Vec<PathBuf>,
}

impl Grouping<'_> {
    fn finding(&self, kind: FindingKind, name: Option<String>, path: PathBuf, files: usize) -> Finding {
        Finding { kind, name, address: Address::Path(path), files, source: self.source.to_owned() }
    }

    /// Returns the files outside of skill folders.
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

    /// Returns a pattern that matches exactly these files of a folder.
    fn pattern(&self, folder: &Path, files: &[&Path]) -> PathBuf {
        let extensions: BTreeSet<String> = files.iter().map(|path| extension(path)).collect();
        let names: BTreeSet<String> =
            files.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
        let all = self.tree.names.get(folder);
        let similar = all.into_iter().flatten().filter(|name| extensions.contains(&extension(Path::new(name))));
        let is_exact = all.is_some() && similar.into_iter().all(|name| names.contains(name));
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

    /// Returns folders that are included as a whole, and single documents elsewhere.
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
            // The outermost folder that qualifies, including the root of the search.
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

    /// Returns whether at least half of the files in a folder are documents.
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

    /// Returns the folders that contain skills; of nested ones only the outer.
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
    /// Reports dbt projects without a manifest, which cannot be read.
    pub(super) fn note_uncompiled(&mut self) {
        let projects: Vec<PathBuf> =
            self.files.iter().filter(|(_, class)| *class == Class::DbtProject).map(|(path, _)| path.clone()).collect();
        for path in projects {
            if !manifest(path.parent().unwrap_or(Path::new(""))).is_file() {
                let name = path.to_string_lossy().into_owned();
                let reason = Reason::Refused {
                    reason: "the dbt project has no target/manifest.json",
                    advice: "generate it with `dbt docs generate`",
                };
                self.skipped.note(name, reason);
            }
        }
    }
}
