//! Paths of a catalog: glob patterns, the files that match them, and names for files.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use prospector_connect::source::unpacked_path;
use prospector_core::Problem;
use prospector_core::name::{nearest, rank};
use tokio_util::sync::CancellationToken;
use walkdir::WalkDir;

/// Maximum number of watched files; beyond that, checking each takes as long as opening the catalog.
pub(crate) const MAX_WATCHED: usize = 100_000;

/// Maximum number of names that are compared with a missing one.
const MAX_COMPARED: usize = 10_000;

/// File names that do not identify an API, which is then named after its folder.
pub(crate) const PLAIN_API_NAMES: [&str; 6] = ["api", "index", "main", "openapi", "schema", "swagger"];

/// The default folders of skills, next to a catalog and in the home folder.
pub(crate) const SKILL_FOLDERS: [&str; 3] = [".agents/skills", ".claude/skills", ".prospector/skills"];

/// Why the files of a pattern could not be listed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GlobError {
    /// The pattern has no root folder.
    #[error(transparent)]
    Prefix(#[from] std::path::StripPrefixError),
    /// The pattern is invalid.
    #[error("invalid pattern: {}", source.kind())]
    Pattern { source: globset::Error },
    /// The search was cancelled.
    #[error("the search for files was cancelled")]
    Cancelled,
    /// The root folder of the pattern cannot be read.
    #[error("cannot read {}: {source}", root.display())]
    Folder { root: PathBuf, source: std::io::Error },
}

/// Returns whether a path contains wildcards.
pub(crate) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Returns the files that match a pattern, sorted. `*` matches within one folder, `**` across folders. Symbolic links that lead out of the
/// fixed part of the pattern are not followed. Can be cancelled between two files, since a pattern may cover a whole disk.
pub(crate) fn glob(base: &Path, pattern: &str, cancel: &CancellationToken) -> Result<Vec<PathBuf>, GlobError> {
    let joined = base.join(pattern);
    let mut root = PathBuf::new();
    for component in joined.components() {
        if matches!(component, Component::Normal(part) if is_glob(&part.to_string_lossy())) {
            break;
        }
        root.push(component);
    }
    let relative = joined.strip_prefix(&root)?.to_string_lossy().into_owned();
    let matcher = GlobBuilder::new(&relative)
        .literal_separator(true)
        .build()
        .map_err(|source| GlobError::Pattern { source })?
        .compile_matcher();
    let depth = if relative.contains("**") { usize::MAX } else { Path::new(&relative).components().count() };
    let home = root.canonicalize().map_err(|source| GlobError::Folder { root: root.clone(), source })?;
    let is_match = |path: &PathBuf| {
        path.strip_prefix(&root).is_ok_and(|relative| matcher.is_match(relative))
            && path.is_file()
            && path.canonicalize().is_ok_and(|real| real.starts_with(&home))
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(&root).max_depth(depth).sort_by_file_name() {
        if cancel.is_cancelled() {
            return Err(GlobError::Cancelled);
        }
        files.extend(entry.ok().map(walkdir::DirEntry::into_path).filter(is_match));
    }
    files.sort();
    Ok(files)
}

/// Returns a unique name for each file: the stem, or the folder's name if stems repeat (`imdb/schema.sql` is `imdb`), or both.
pub(crate) fn names(files: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| {
        unpacked_path(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let folder = |path: &Path| {
        path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let unique = |names: &[String]| {
        let mut seen = std::collections::HashSet::new();
        names.iter().all(|name| seen.insert(name.to_lowercase()))
    };
    let stems: Vec<String> = files.iter().map(|path| stem(path)).collect();
    if unique(&stems) {
        return stems;
    }
    let folders: Vec<String> = files.iter().map(|path| folder(path)).collect();
    if unique(&folders) {
        return folders;
    }
    files.iter().map(|path| format!("{}_{}", folder(path), stem(path))).collect()
}

/// Returns the files of a path or a pattern; `None`, with a problem reported, if no file matches.
pub(crate) fn files(
    base: &Path,
    place: &str,
    pattern: &str,
    cancel: &CancellationToken,
    problems: &mut Vec<Problem>,
) -> Option<Vec<PathBuf>> {
    let path = base.join(pattern);
    let (reason, advice) = if is_glob(pattern) {
        match glob(base, pattern, cancel) {
            Ok(files) if !files.is_empty() => return Some(files),
            Ok(_) => (format!("no file matches `{pattern}`"), "correct the pattern".to_owned()),
            Err(reason) => (format!("`path: {pattern}`: {reason}"), "correct the path".to_owned()),
        }
    } else if path.exists() {
        return Some(vec![path]);
    } else {
        (format!("no such file: {}", path.display()), advise_path(&path))
    };
    problems.push(Problem::error(place, reason).advise(advice));
    None
}

/// Returns what to write instead of a missing path: a similar name in the same folder.
pub(crate) fn advise_path(path: &Path) -> String {
    nearest_file(path).map_or("correct the path".into(), |name| format!("did you mean `{name}`?"))
}

/// Returns the file in the same folder whose name is similar to a missing one.
pub(crate) fn nearest_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).ok()?.flatten().take(MAX_COMPARED);
    let names: Vec<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // Unrelated files share their extension.
    let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
    let near = nearest(&stem(&wanted), stems.iter().map(String::as_str), 1).pop()?;
    let same = names.iter().zip(&stems).filter(|(_, stem)| **stem == near).map(|(name, _)| name.as_str());
    rank(&wanted, same, 1).pop()
}

fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds a path, and everything below it, to the watched files. Returns `None` if a folder cannot be listed, at more than [`MAX_WATCHED`]
/// files, or if cancelled.
pub(crate) fn watch(path: &Path, cancel: &CancellationToken, watched: &mut Vec<PathBuf>) -> Option<()> {
    for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
        watched.push(entry.ok()?.into_path());
        if watched.len() > MAX_WATCHED || cancel.is_cancelled() {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_within_and_across_folders() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/one.csv", "a/two.csv", "a/deep/three.csv", "a/note.txt"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, expected: &[&str]| {
            let found = glob(folder.path(), pattern, &CancellationToken::new()).unwrap();
            let found: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>(), "{pattern}");
        };
        check("a/*.csv", &["a/one.csv", "a/two.csv"]);
        check("a/**/*.csv", &["a/deep/three.csv", "a/one.csv", "a/two.csv"]);
        check("*/{one,note}.*", &["a/note.txt", "a/one.csv"]);
        check("b*/*.csv", &[]);
    }

    #[test]
    fn the_search_for_files_can_be_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "").unwrap();
        let cancel = CancellationToken::new();
        assert_eq!(glob(folder.path(), "**/*", &cancel).unwrap().len(), 1);
        assert_eq!(watch(folder.path(), &cancel, &mut Vec::new()), Some(()));
        cancel.cancel();
        assert!(matches!(glob(folder.path(), "**/*", &cancel), Err(GlobError::Cancelled)));
        assert_eq!(watch(folder.path(), &cancel, &mut Vec::new()), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.csv"), "").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.csv"), folder.path().join("link.csv")).unwrap();
        assert!(glob(folder.path(), "*.csv", &CancellationToken::new()).unwrap().is_empty());
    }

    #[test]
    fn repeated_stems_are_named_after_their_folders() {
        let check = |files: &[&str], expected: &[&str]| {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(names(&files), expected);
        };
        check(&["x/a.sql", "x/b.sql"], &["a", "b"]);
        check(&["x/schema.sql", "y/schema.sql"], &["x", "y"]);
        check(&["x/a.sql", "x/b.sql", "y/a.sql"], &["x_a", "x_b", "y_a"]);
    }
}
