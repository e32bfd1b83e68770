//! Finds sources for a catalog in files, folders and patterns, behind URLs, and in the environment of a project. The same search is used
//! for sources on the command line, for a new catalog and for an added entry.
//!
//! Nothing is fetched and no server is contacted. Only the start of each file is read, and the scan of a folder is limited: hidden files,
//! files ignored by `.gitignore`, links and folders of dependencies are skipped. Skipped files are reported with the reason.

mod begin;
mod classify;
mod error;
mod finding;
mod group;
mod naming;
mod remote;
mod secret;
mod skipped;
mod surroundings;
mod walk;
mod yaml;

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use prospector_core::problem::conceal;
use tokio_util::sync::CancellationToken;

pub(crate) use self::yaml::{Written, quote, write};
pub use self::{
    begin::begin,
    error::LocateError,
    finding::{Address, ApiForm, Finding, FindingKind},
    secret::Secret,
    surroundings::surroundings,
};
use self::{
    classify::{Class, classify},
    group::{entry_of_file, group},
    walk::{Tree, walk},
};
use crate::paths::{glob, is_glob, nearest_file};

/// Maximum number of characters of a source in the name of a folder.
const MAX_FOLDER_NAME: usize = 24;

/// Finds the entries for sources, each a file, a folder, a pattern or a URL, optionally prefixed with `NAME=`. Returns them with the
/// reasons why files in folders were skipped.
///
/// # Errors
/// [`LocateError`] for the first source that matches nothing.
pub fn locate(sources: &[String]) -> Result<(Vec<Finding>, Vec<Problem>), LocateError> {
    let (mut findings, mut problems) = (Vec::new(), Vec::new());
    for source in sources {
        let (name, place) = naming::split(source);
        let mut found = locate_one(place, &mut problems)?;
        if let Some(name) = name {
            naming::rename(&mut found, name);
        }
        findings.extend(found);
    }
    problems.extend(naming::make_unique(&mut findings));
    Ok((findings, problems))
}

/// Returns a folder name for data derived from these sources: the same for the same sources, independent of their order and of passwords in
/// URLs.
pub fn name_folder(sources: &[String]) -> String {
    let mut places: Vec<String> = sources.iter().map(|source| settle(source)).collect();
    places.sort();
    places.dedup();
    let hash = blake3::hash(places.join("\0").as_bytes()).to_hex();
    let first = sources.first().map(|source| naming::split(source).1).unwrap_or_default();
    let last = conceal(first);
    let last = last.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name: String = naming::plain(if last == "." { "here" } else { last }).chars().take(MAX_FOLDER_NAME).collect();
    format!("{name}-{}", &hash[..16])
}

/// Normalizes a source: makes a path absolute, and removes secrets from a URL.
fn settle(source: &str) -> String {
    let (name, place) = naming::split(source);
    let place = match Path::new(place).canonicalize() {
        Ok(path) => path.to_string_lossy().into_owned(),
        Err(_) if place.contains("://") => conceal(place).into_owned(),
        Err(_) => std::path::absolute(place).map_or(place.to_owned(), |path| path.to_string_lossy().into_owned()),
    };
    format!("{}={place}", name.unwrap_or_default())
}

fn locate_one(place: &str, problems: &mut Vec<Problem>) -> Result<Vec<Finding>, LocateError> {
    if place.trim().is_empty() {
        return Err(LocateError::Blank);
    }
    let path = match remote::read(place)? {
        remote::Read::Found(finding) => return Ok(vec![finding]),
        remote::Read::File(path) => path,
    };
    if path.is_dir() {
        return locate_in(&path, place, problems);
    }
    if path.is_file() {
        return Ok(vec![locate_file(&path, place)?]);
    }
    if is_glob(place) {
        return locate_pattern(place, problems);
    }
    Err(LocateError::NotThere { place: conceal(place).into_owned(), near: nearest_file(&path) })
}

/// Finds the entries in a folder.
fn locate_in(folder: &Path, place: &str, problems: &mut Vec<Problem>) -> Result<Vec<Finding>, LocateError> {
    let mut tree = walk(folder).map_err(|source| LocateError::Read { place: place.to_owned(), source })?;
    tree.note_uncompiled();
    let findings = group(&tree, folder, place);
    report_skipped(&tree, findings, place, problems)
}

/// Returns the findings, and adds skipped files to the problems.
fn report_skipped(
    tree: &Tree,
    findings: Vec<Finding>,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Finding>, LocateError> {
    let skipped = tree.skipped.problems(place);
    if findings.is_empty() {
        let reasons = skipped.into_iter().map(|problem| problem.reason).collect();
        return Err(LocateError::Empty { place: place.to_owned(), reasons });
    }
    problems.extend(skipped);
    Ok(findings)
}

/// Classifies a file given explicitly.
fn locate_file(path: &Path, place: &str) -> Result<Finding, LocateError> {
    match classify(path, true) {
        Class::Refused { reason, advice } => {
            Err(LocateError::Kind { place: place.to_owned(), reason: reason.to_owned(), advice: advice.to_owned() })
        }
        Class::Unknown => Err(LocateError::Kind {
            place: place.to_owned(),
            reason: "unsupported file type".to_owned(),
            advice: "specify a data file, a SQLite file, an API description, a document, a folder or a URL".to_owned(),
        }),
        class => Ok(entry_of_file(path, &class, place)),
    }
}

/// Finds the entries for files that match a pattern; unsupported types are skipped.
fn locate_pattern(place: &str, problems: &mut Vec<Problem>) -> Result<Vec<Finding>, LocateError> {
    let files = glob(Path::new("."), place, &CancellationToken::new())
        .map_err(|error| LocateError::Pattern { place: place.to_owned(), reason: error.to_string() })?;
    if files.is_empty() {
        return Err(LocateError::Pattern { place: place.to_owned(), reason: "no file matches it".to_owned() });
    }
    let (mut tree, matched) = (Tree::default(), files.len());
    for file in files {
        let file = file.strip_prefix(".").map_or(file.clone(), PathBuf::from);
        tree.note(file, true);
    }
    let mut findings = group(&tree, Path::new(""), place);
    if let [one] = findings.as_mut_slice()
        && one.files == matched
        && matched > 1
    {
        one.address = Address::Path(PathBuf::from(place));
    }
    report_skipped(&tree, findings, place, problems)
}
