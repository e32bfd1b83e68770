//! Locates the file of a skill, and normalises paths for display.

use std::path::{Component, Path, PathBuf};

/// Accepted file names.
pub(crate) const SKILL_FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// Returns the file of the skill in a folder.
pub(crate) fn find_file(folder: &Path) -> PathBuf {
    let folder = tidy(folder);
    let [usual, other] = SKILL_FILES.map(|name| folder.join(name));
    if !usual.is_file() && other.is_file() { other } else { usual }
}

/// Removes `..` from a path if it still denotes the same folder.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if matches!(tidied.components().next_back(), Some(Component::Normal(_))) => {
                tidied.pop();
            }
            Component::CurDir => {}
            _ => tidied.push(part),
        }
    }
    let is_same = tidied.canonicalize().ok().zip(path.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    if is_same { tidied } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalises_paths() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path();
        std::fs::create_dir_all(root.join("catalog")).unwrap();
        std::fs::create_dir_all(root.join("skills/pdf")).unwrap();
        assert_eq!(tidy(&root.join("catalog/../skills/./pdf")), root.join("skills/pdf"));
        assert_eq!(tidy(&root.join("nowhere/../skills/pdf")), root.join("nowhere/../skills/pdf"));
    }
}
