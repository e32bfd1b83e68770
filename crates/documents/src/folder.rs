//! The files of a folder that are documents.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use prospector_core::Problem;
use walkdir::{DirEntry, WalkDir};

use crate::{Format, model::KINDS};

const MAX_DEPTH: usize = 32;
const MAX_FILES: usize = 50_000;

/// A file that is a document.
pub(crate) struct File {
    /// Its path in the folder, with `/`, without extension.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// The documents below a folder, by name. Hidden files and folders are passed over. A link to a file inside the folder
/// is read unless that file is read itself; a link that leads out of it is a problem.
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
                    format!("the folder has more than {MAX_FILES} documents; the rest were left out"),
                )
                .advise("name smaller folders"),
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
        let were = if count == 1 { "file of other kinds was" } else { "files of other kinds were" };
        problems.push(Problem::warning(&place, format!("{count} {were} left out: {}", kinds.join(", "))).advise(KINDS));
    }
    if files.is_empty() && problems.is_empty() {
        problems.push(Problem::warning(&place, "the folder holds no documents").advise(KINDS));
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
        Err(_) => problems.push(Problem::warning(place, "this link leads nowhere").advise("remove or mend the link")),
        Ok(target) if !target.starts_with(canonical) => problems.push(
            Problem::error(place, "this link leads out of the folder and was not followed")
                .advise("name what it points to as a document of its own"),
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
    fn a_link_out_of_the_folder_is_not_followed() {
        check(|root| symlink("../secret.md", root.join("s.md")).unwrap(), &["a/x"], &["s.md: this link leads out"]);
        check(|root| symlink("..", root.join("up")).unwrap(), &["a/x"], &["up: this link leads out"]);
        check(|root| symlink("nowhere", root.join("n.md")).unwrap(), &["a/x"], &["n.md: this link leads nowhere"]);
    }

    #[test]
    fn a_link_inside_the_folder_is_read_once() {
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
