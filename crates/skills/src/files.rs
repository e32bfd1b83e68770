//! Finds and reads the files of a skill, never outside its folder.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::{Component, Path, PathBuf},
};

use percent_encoding::percent_decode_str;

use crate::{Skill, SkillError, links};

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// Maximum depth when listing the files of a folder.
const MAX_DEPTH: usize = 4;
const MAX_FILES: usize = 200;

impl Skill {
    /// Returns the text of a file in the folder of this skill, by link target (`references/api.md#errors`, `a%20b.md`).
    /// Symbolic links are resolved first; targets outside the folder are rejected.
    ///
    /// # Errors
    /// [`SkillError`] if the target is outside the folder, a URL, missing, a folder, or not a text file.
    pub fn read(&self, target: &str) -> Result<String, SkillError> {
        let path = self.locate(target)?;
        let failed =
            |reason: String| SkillError::ReadFile { skill: self.name.clone(), target: target.to_owned(), reason };
        let length = path.metadata().map_err(|error| failed(error.to_string()))?.len();
        if length > MAX_BYTES {
            return Err(failed(format!("it has {length} bytes; at most {MAX_BYTES} are read")));
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| failed("it is not a text file".to_owned()))?;
        Ok(plain_lines(&text))
    }

    /// Resolves a target to a regular file.
    fn locate(&self, target: &str) -> Result<PathBuf, SkillError> {
        let (skill, asked) = (self.name.clone(), target.to_owned());
        let target = target.trim();
        if links::is_url(target) {
            return Err(SkillError::FetchUrl { target: asked });
        }
        let Ok(decoded) = percent_decode_str(links::path(target)).decode_utf8() else {
            return Err(SkillError::FindFile { skill, target: asked, files: self.files("") });
        };
        // Checked lexically first, so that the response does not reveal what exists outside.
        if leaves(&decoded) {
            return Err(SkillError::LeaveFolder { skill, target: asked });
        }
        if decoded.is_empty() {
            return Err(SkillError::FindFile { skill, target: asked, files: self.files("") });
        }
        let failed = |error: std::io::Error| SkillError::ReadFile {
            skill: self.name.clone(),
            target: target.to_owned(),
            reason: error.to_string(),
        };
        let folder = self.path.canonicalize().map_err(failed)?;
        let path = match folder.join(decoded.as_ref()).canonicalize() {
            Ok(path) => path,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(SkillError::FindFile { skill, target: asked, files: self.files("") });
            }
            Err(error) => return Err(failed(error)),
        };
        if !path.starts_with(&folder) {
            return Err(SkillError::LeaveFolder { skill, target: asked });
        }
        if path.is_dir() {
            return Err(SkillError::ReadFolder { skill, target: asked, files: self.files(&decoded) });
        }
        if !path.is_file() {
            let reason = "it is not a regular file".to_owned();
            return Err(SkillError::ReadFile { skill, target: asked, reason });
        }
        Ok(path)
    }

    /// Lists the files below a folder of this skill, relative to the skill; symbolic links are not followed.
    fn files(&self, below: &str) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.path.join(below), below.trim_matches('/'), MAX_DEPTH, MAX_FILES, &mut files);
        files
    }
}

/// Adds the files below a folder, down to `depth` folders, until there are `most`: in order, without hidden ones and symbolic links.
pub(crate) fn collect(folder: &Path, prefix: &str, depth: usize, most: usize, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if files.len() >= most || name.starts_with('.') {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &path, depth - 1, most, files);
        } else if kind.is_file() {
            files.push(path);
        }
    }
}

/// Returns whether a path is absolute or climbs above its start. A backslash is a separator too, as on Windows.
fn leaves(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    let mut depth = 0_i32;
    let climbs = Path::new(&path).components().any(|component| {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => depth = -1,
        }
        depth < 0
    });
    drive || climbs
}

/// Removes the byte order mark and normalises line ends to `\n`.
pub(crate) fn plain_lines(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a skill folder with siblings that must not be read.
    fn skill(outer: &Path) -> Skill {
        let folder = outer.join("pdf");
        for (name, bytes) in [
            ("pdf/refs/api.md", b"\xEF\xBB\xBFApi\r\n".as_slice()),
            ("pdf/a b.md", b"spaced"),
            ("pdf/logo.png", b"\x89PNG\0\xFF"),
            ("secret.md", b"secret"),
            ("shared/common.md", b"secret"),
            ("pdf-other/x.md", b"secret"),
        ] {
            let path = outer.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Skill { name: "pdf".into(), path: folder, ..Skill::default() }
    }

    /// Checks the text of a target, or the start of the name of the error.
    fn check(outer: &Path, target: &str, expected: &str) {
        match skill(outer).read(target) {
            Ok(text) => assert_eq!(text, expected, "{target}"),
            Err(error) => assert!(format!("{error:?}").starts_with(expected), "{target}: {error:?}"),
        }
    }

    #[test]
    fn reads_files_inside_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        for target in ["refs/api.md", "./refs/api.md#part", "refs/../refs/api.md", " refs%2Fapi.md "] {
            check(outer.path(), target, "Api\n");
        }
        check(outer.path(), "a%20b.md", "spaced");
        check(outer.path(), "a b.md", "spaced");
    }

    #[test]
    fn rejects_paths_outside_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let absolute = outer.path().join("secret.md").display().to_string();
        let inside = outer.path().join("pdf/refs/api.md").display().to_string();
        for target in [
            "../secret.md",
            "../../../../../../etc/passwd",
            "refs/../../secret.md",
            "%2e%2e/secret.md",
            "..%2fsecret.md",
            "%2E%2E%2Fsecret.md",
            "../shared/common.md",
            "../pdf-other/x.md",
            "../no-such-file.md",
            "..",
            "..\\secret.md",
            "C:\\secret.md",
            "..\\secret.md",
            "refs\\..\\..\\secret.md",
            "%2e%2e%5csecret.md",
            "\\\\server\\share\\x.md",
            "%2fetc%2fpasswd",
            "../secret.md%00.md",
            "./.././secret.md",
            "/etc/passwd",
            &absolute,
            &inside,
        ] {
            check(outer.path(), target, "LeaveFolder");
        }
        check(outer.path(), "%252e%252e/secret.md", "FindFile");
        check(outer.path(), "~/secret.md", "FindFile");
        check(outer.path(), "file:///etc/passwd", "FetchUrl");
    }

    #[cfg(unix)]
    #[test]
    fn rejects_symbolic_links_outside_the_folder() {
        use std::os::unix::fs::symlink;
        let outer = tempfile::tempdir().unwrap();
        let folder = skill(outer.path()).path;
        symlink("../secret.md", folder.join("s.md")).unwrap();
        symlink("../shared", folder.join("shared")).unwrap();
        symlink("refs", folder.join("inside")).unwrap();
        check(outer.path(), "s.md", "LeaveFolder");
        check(outer.path(), "shared/common.md", "LeaveFolder");
        check(outer.path(), "shared", "LeaveFolder");
        check(outer.path(), "inside/api.md", "Api\n");
        check(outer.path(), "inside/../../secret.md", "LeaveFolder");
    }

    #[test]
    fn rejects_files_that_are_not_text() {
        let outer = tempfile::tempdir().unwrap();
        check(outer.path(), "logo.png", "ReadFile");
        check(outer.path(), "https://example.com/x.md", "FetchUrl");
        check(outer.path(), "refs", "ReadFolder { skill: \"pdf\", target: \"refs\", files: [\"refs/api.md\"] }");
        let all = "FindFile { skill: \"pdf\", target: \"api.md\", files: [\"a b.md\", \"logo.png\", \"refs/api.md\"] }";
        check(outer.path(), "api.md", all);
        check(outer.path(), "", "FindFile");
        for target in ["a\0b", "refs/api.md\0", "refs/api.md%00.txt"] {
            check(outer.path(), target, "ReadFile");
        }
        check(outer.path(), "refs/api.md/x", "FindFile");
    }
}
