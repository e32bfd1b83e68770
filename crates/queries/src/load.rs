//! Folders of verified queries: each `*.sql` directly in a folder is a query.

use std::path::{Path, PathBuf};

use prospector_core::Problem;

use crate::{QueryError, file::parse, model::VerifiedQuery};

/// The maximum number of files read from a folder.
const MAX_FILES: usize = 1_000;
/// The maximum size of a file.
const MAX_BYTES: u64 = 256 * 1024;

/// Returns the files of verified queries in a folder, by name; for a file, the file itself. Empty if the path cannot be read.
pub fn list_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_sql = |path: &PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_sql(path) && path.is_file()).collect();
    files.sort();
    files.truncate(MAX_FILES);
    files
}

/// Reads the query in a file, and returns its problems.
pub(crate) fn load_file(path: &Path) -> (Option<VerifiedQuery>, Vec<Problem>) {
    let place = path.display().to_string();
    let Some(name) = path.file_stem().and_then(|stem| stem.to_str()).filter(|name| is_name(name)) else {
        let problem = Problem::error(place, "the file name is not a valid query name");
        return (None, vec![problem.advise("use lower-case letters, digits and hyphens: `vip-customers.sql`")]);
    };
    if path.metadata().is_ok_and(|metadata| metadata.len() > MAX_BYTES) {
        let problem = Problem::error(place, format!("the file has more than {} KiB", MAX_BYTES >> 10));
        return (None, vec![problem.advise("shorten the query")]);
    }
    match std::fs::read_to_string(path) {
        Ok(text) => parse(name, path, &text),
        Err(error) => (None, vec![Problem::error(place, format!("it cannot be read: {error}"))]),
    }
}

/// Returns whether a text is a valid name of a query, and of a file on any system.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !name.is_empty()
        && name.len() <= 100
        && name.chars().all(is_plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Returns the file of that name in a folder.
///
/// # Errors
/// If it is not a valid file name.
pub(crate) fn file_in(folder: &Path, name: &str, extension: &str) -> Result<PathBuf, QueryError> {
    match is_name(name) {
        true => Ok(folder.join(format!("{name}.{extension}"))),
        false => Err(QueryError::Name(name.to_owned())),
    }
}

/// Removes a file; returns whether there was one.
///
/// # Errors
/// If it cannot be removed.
pub(crate) fn remove_file(path: PathBuf) -> Result<bool, QueryError> {
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(QueryError::File { act: "removed", path, source }),
    }
}

/// Returns the verified queries of these files, and the problems of the others.
pub(crate) fn load(files: &[PathBuf]) -> (Vec<VerifiedQuery>, Vec<Problem>) {
    let (mut queries, mut problems): (Vec<VerifiedQuery>, Vec<Problem>) = (Vec::new(), Vec::new());
    for file in files {
        let (query, mut wrong) = load_file(file);
        problems.append(&mut wrong);
        let Some(query) = query else { continue };
        let refusal = if query.verified.is_none() {
            Some(("the query is not verified", "add who approved it: `verified: {by: Ada, on: 2025-12-31}`"))
        } else if queries.iter().any(|known| known.name == query.name) {
            Some(("another query has the same name", "rename one of the files"))
        } else {
            None
        };
        match refusal {
            Some((reason, advice)) => problems.push(Problem::error(file.display().to_string(), reason).advise(advice)),
            None => queries.push(query),
        }
    }
    (queries, problems)
}
