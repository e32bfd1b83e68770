//! Finds the databases of an entry, before any of them is opened.

use std::path::{Path, PathBuf};

use prospector_connect::source::{Partition, Source, SourceKind};
use prospector_core::Problem;

use super::{super::section::Folders, entry::DatabaseEntry};
use crate::paths::{files, is_glob, names};

/// One database, found but not yet opened.
pub(super) struct Found {
    pub(super) name: String,
    /// The location of its entry, for problems.
    pub(super) place: String,
    pub(super) source: Source,
    /// The file of descriptions, if any.
    pub(super) descriptions: Option<PathBuf>,
    pub(super) entry: DatabaseEntry,
}

impl Found {
    fn new(place: &str, entry: &DatabaseEntry, name: String, source: Source, descriptions: Option<PathBuf>) -> Self {
        Found {
            name,
            place: place.to_owned(),
            source: if entry.is_strict { source.strict() } else { source },
            descriptions,
            entry: entry.clone(),
        }
    }
}

/// Returns the databases of one entry: one for a file or a name, one per file of a glob without a name.
pub(super) fn find(
    folders: &Folders<'_>,
    place: &str,
    entry: &DatabaseEntry,
    problems: &mut Vec<Problem>,
) -> Vec<Found> {
    let base = folders.base;
    let remote = entry.server.clone().map(Source::Server).or_else(|| entry.service.clone());
    let found = match (remote, entry.kind) {
        (Some(source), _) => find_remote(base, place, entry, source, problems).map(|found| vec![found]),
        (None, Some(SourceKind::Dbt)) => find_project(base, place, entry, problems).map(|found| vec![found]),
        (None, _) => find_files(folders, place, entry, problems),
    };
    found.unwrap_or_default()
}

fn fail<T>(
    place: &str,
    reason: impl Into<String>,
    advice: impl Into<String>,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    problems.push(Problem::error(place, reason).advise(advice));
    None
}

/// Returns the database of an entry with a server or a service.
fn find_remote(
    base: &Path,
    place: &str,
    entry: &DatabaseEntry,
    source: Source,
    problems: &mut Vec<Problem>,
) -> Option<Found> {
    let own = source.kind();
    if let Some(kind) = entry.kind.filter(|kind| *kind != own) {
        let reason = format!("the `url` is of type {own}, but `type` is {kind}");
        return fail(place, reason, "remove `type`", problems);
    }
    let Some(name) = entry.name.clone().or_else(|| source.default_name().map(str::to_owned)) else {
        return fail(place, "the `url` names no database, and the entry has no `name`", "write `name: ...`", problems);
    };
    let written = entry.descriptions.as_ref().map(|written| base.join(written.replace("{name}", &name)));
    if let Some(path) = written.as_ref().filter(|path| !path.is_file()) {
        problems.push(no_descriptions(place, path));
    }
    Some(Found::new(place, entry, name, source, written.filter(|path| path.is_file())))
}

/// Returns the databases of an entry with a file, a folder or a pattern.
fn find_files(
    folders: &Folders<'_>,
    place: &str,
    entry: &DatabaseEntry,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Found>> {
    let base = folders.base;
    let folder = base.join(&entry.path);
    let pattern = if folder.is_dir() { format!("{}/*", entry.path.trim_end_matches('/')) } else { entry.path.clone() };
    let many = is_glob(&pattern);
    let files = files(base, place, &pattern, folders.cancel, problems)?;
    let is_of_kind = |path: &PathBuf| !many || entry.kind.or_else(|| SourceKind::from_path(path)).is_some();
    let files: Vec<PathBuf> = files.into_iter().filter(is_of_kind).collect();
    let Some(first) = files.first() else {
        return fail(place, format!("no file matches `{}`", entry.path), "correct the pattern", problems);
    };
    let Some(kind) = entry.kind.or_else(|| SourceKind::from_path(first)) else {
        let kinds: Vec<&str> = SourceKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let reason = format!("cannot determine the type of {} from its extension", first.display());
        return fail(place, reason, format!("write `type: ...`, one of {}", kinds.join(", ")), problems);
    };
    let groups: Vec<(String, Vec<PathBuf>)> = match (&entry.name, many) {
        (Some(name), _) => vec![(name.clone(), files)],
        (None, false) => vec![(names(&files).remove(0), files)],
        (None, true) => name_each(kind, &files),
    };
    let mut found: Vec<Found> = Vec::with_capacity(groups.len());
    for (name, paths) in groups {
        let written = descriptions(base, &name, &paths[0], entry.descriptions.as_deref());
        let is_named = entry.descriptions.as_ref().is_some_and(|written| !written.contains('{'));
        // Optional for each database, unless the entry names one file explicitly.
        if let Some(path) = written.as_ref().filter(|path| is_named && found.is_empty() && !path.is_file()) {
            problems.push(no_descriptions(place, path));
        }
        let written = written.filter(|path| path.is_file());
        found.push(Found::new(place, entry, name, Source::files(kind, paths), written));
    }
    Some(found)
}

/// Returns one database per file, or per partitioned Parquet table, whose files are adjacent in the list.
fn name_each(kind: SourceKind, files: &[PathBuf]) -> Vec<(String, Vec<PathBuf>)> {
    let root =
        |file: &Path| Partition::of(file).filter(|_| kind == SourceKind::Parquet).map(|partition| partition.root);
    let tables: Vec<&[PathBuf]> =
        files.chunk_by(|a, b| root(a).is_some_and(|root_of_a| root(b) == Some(root_of_a))).collect();
    let places: Vec<PathBuf> = tables.iter().map(|table| root(&table[0]).unwrap_or_else(|| table[0].clone())).collect();
    names(&places).into_iter().zip(tables.into_iter().map(<[PathBuf]>::to_vec)).collect()
}

fn no_descriptions(place: &str, path: &Path) -> Problem {
    let reason = format!("no such descriptions file: {}", path.display());
    Problem::error(place, reason).advise("correct or remove `descriptions`")
}

/// Returns the dbt project of an entry: its manifest or the folder that contains it, with the catalog next to it, if any. Without a name it
/// is named after its folder.
fn find_project(base: &Path, place: &str, entry: &DatabaseEntry, problems: &mut Vec<Problem>) -> Option<Found> {
    let mut manifest = base.join(&entry.path);
    for inside in ["manifest.json", "target/manifest.json"] {
        if manifest.is_dir() && manifest.join(inside).is_file() {
            manifest.push(inside);
        }
    }
    if !manifest.is_file() {
        let advice = "write `path: target/manifest.json` and generate the file with `dbt docs generate`";
        return fail(place, format!("no dbt manifest at {}", manifest.display()), advice, problems);
    }
    let whole = std::path::absolute(&manifest).unwrap_or_else(|_| manifest.clone());
    let folders = whole.ancestors().skip(1).filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = entry.name.clone().or_else(|| folders.into_iter().find(|name| name != "target"));
    let name = name.unwrap_or_else(|| "dbt".to_owned());
    let descriptions = descriptions(base, &name, &manifest, entry.descriptions.as_deref());
    let catalog = Some(manifest.with_file_name("catalog.json")).filter(|path| path.is_file());
    let source = Source::files(SourceKind::Dbt, [manifest].into_iter().chain(catalog).collect());
    Some(Found::new(place, entry, name, source, descriptions.filter(|path| path.is_file())))
}

/// Returns the file of descriptions: as written, with `{dir}` for the folder of the database and `{name}` for its name; by default
/// `<stem>.descriptions.json` next to it.
fn descriptions(base: &Path, name: &str, file: &Path, written: Option<&str>) -> Option<PathBuf> {
    match written {
        Some(written) => {
            let folder = file.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            Some(base.join(written.replace("{dir}", &folder).replace("{name}", name)))
        }
        None => Some(file.with_extension("descriptions.json")).filter(|path| path.is_file()),
    }
}
