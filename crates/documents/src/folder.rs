//! Finds the documents in a folder.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use prospector_core::Problem;
use walkdir::{DirEntry, WalkDir};

use crate::{Format, model::KINDS};

const MAX_DEPTH: usize = 32;
const MAX_FILES: usize = 50_000;

/// A document file.
pub(crate) struct File {
    /// Its path relative to the folder, with `/`, without extension.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Lists the documents below a folder, by name. Hidden files and folders are skipped. A link to a file inside the
/// folder is followed unless that file is read itself; a link to a target outside is reported as a problem.
pub(crate) fn walk(root: &Path, problems: &mut Vec<Problem>, is_wanted: &dyn Fn() -> bool) -> Vec<File> {
    let place = root.display().to_string();
    let canonical = match root.canonicalize() {
        Ok(canonical) => canonical,
        Err(error) => {
            problems.push(Problem::error(place, format!("the folder cannot be read: {error}")));
            return Vec::new();
        }
    };
    let mut files: Vec<File> = Vec::new();
    let mut links: Vec<PathBuf> = Vec::new();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let walk = WalkDir::new(root).max_depth(MAX_DEPTH).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
        if !is_wanted() {
            return Vec::new();
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let at = error.path().unwrap_or(root).display().to_string();
                problems.push(Problem::error(at, "the folder cannot be read".to_owned() + &reason(&error)));
                continue;
            }
        };
        if entry.depth() > 0 && entry.path_is_symlink() {
            links.push(entry.into_path());
        } else if entry.file_type().is_file() {
            match Format::of_path(entry.path()) {
                Some(_) => files.push(file(root, entry.path())),
                None => *others.entry(extension(entry.path())).or_default() += 1,
            }
        }
        if files.len() >= MAX_FILES {
            problems.push(
                Problem::error(
                    &place,
                    format!("the folder has more than {MAX_FILES} documents; the rest were skipped"),
                )
                .advise("use several smaller folders as sources"),
            );
            break;
        }
    }
    if !links.is_empty() {
        let read: HashSet<PathBuf> = files.iter().filter_map(|file| file.path.canonicalize().ok()).collect();
        for link in links {
            follow(root, &canonical, &link, &read, &mut files, problems);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    if !others.is_empty() {
        let count: usize = others.values().sum();
        let kinds: Vec<String> =
            others.iter().map(|(extension, count)| format!("{count} {extension}")).take(12).collect();
        let noun = if count == 1 { "file of an unsupported type" } else { "files of unsupported types" };
        problems.push(Problem::warning(&place, format!("skipped {count} {noun}: {}", kinds.join(", "))).advise(KINDS));
    }
    if files.is_empty() && problems.is_empty() {
        problems.push(Problem::warning(&place, "the folder contains no documents").advise(KINDS));
    }
    files
}

fn follow(
    root: &Path,
    canonical: &Path,
    link: &Path,
    read: &HashSet<PathBuf>,
    files: &mut Vec<File>,
    problems: &mut Vec<Problem>,
) {
    let place = link.display().to_string();
    match link.canonicalize() {
        Err(_) => problems.push(Problem::warning(place, "broken symbolic link").advise("remove or fix the link")),
        Ok(target) if !target.starts_with(canonical) => problems.push(
            Problem::error(place, "the link points outside the folder and was not followed")
                .advise("add its target as a document of its own"),
        ),
        Ok(target) => {
            if Format::of_path(link).is_some() && target.is_file() && !read.contains(&target) {
                files.push(file(root, link));
            }
        }
    }
}

fn file(root: &Path, path: &Path) -> File {
    let inside = path.strip_prefix(root).unwrap_or(path).with_extension("");
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    File { name: parts.join("/"), path: path.to_owned() }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn extension(path: &Path) -> String {
    path.extension().map_or("without extension".to_owned(), |e| format!(".{}", e.to_string_lossy().to_lowercase()))
}

fn reason(error: &walkdir::Error) -> String {
    error.io_error().map(|error| format!(": {error}")).unwrap_or_default()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(build: impl Fn(&Path), names: &[&str], said: &[&str]) {
        let outer = tempfile::tempdir().unwrap();
        std::fs::write(outer.path().join("secret.md"), "secret").unwrap();
        let root = outer.path().join("docs");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::write(root.join("a/x.md"), "x").unwrap();
        build(&root);
        let mut problems = Vec::new();
        let files = walk(&root, &mut problems, &|| true);
        assert_eq!(files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(problems.len(), said.len(), "{problems:?}");
        for (problem, part) in problems.iter().zip(said) {
            assert!(problem.to_string().contains(part), "{problem}");
        }
    }

    #[test]
    fn does_not_follow_links_outside_the_folder() {
        check(|root| symlink("../secret.md", root.join("s.md")).unwrap(), &["a/x"], &["s.md: the link points outside"]);
        check(|root| symlink("..", root.join("up")).unwrap(), &["a/x"], &["up: the link points outside"]);
        check(|root| symlink("nowhere", root.join("n.md")).unwrap(), &["a/x"], &["n.md: broken symbolic link"]);
    }

    #[test]
    fn reads_links_inside_the_folder_once() {
        check(|root| symlink("a/x.md", root.join("y.md")).unwrap(), &["a/x"], &[]);
        check(|root| symlink(".", root.join("loop")).unwrap(), &["a/x"], &[]);
        let hidden_data = |root: &Path| {
            std::fs::create_dir(root.join("..data")).unwrap();
            std::fs::write(root.join("..data/r.md"), "r").unwrap();
            symlink("..data/r.md", root.join("r.md")).unwrap();
        };
        check(hidden_data, &["a/x", "r"], &[]);
    }
}
