//! Skills as other programs receive them: the front matter and all files, byte for byte, within the limits of the MCP extension
//! `io.modelcontextprotocol/skills` (<https://modelcontextprotocol.io/seps/2640-skills-extension>).

use std::{fs::File, io::Read};

use prospector_text::front_matter::split_fields;
use serde_json::{Map, Value};

use crate::{
    Skill, SkillError, SkillFolder,
    files::{collect, plain_lines},
    load::wrong_name,
};

/// Maximum number of files of a published skill.
const MAX_FILES: usize = 512;
/// Maximum depth of its folders.
const MAX_DEPTH: usize = 16;
/// Maximum size of all its files, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A skill with the contents of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedSkill {
    /// The fields of its front matter, all of them as written.
    pub front_matter: Map<String, Value>,
    /// Its files: the path relative to its folder, with `/` between the parts, and the content.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Skill {
    /// Returns the skill with all its files. Hidden files and symbolic links are not part of it.
    ///
    /// # Errors
    /// [`SkillError::Publish`] if it has no folder, is named unlike the specification says, is too large, or cannot be read.
    pub fn publish(&self) -> Result<PublishedSkill, SkillError> {
        let mut left = MAX_BYTES;
        let mut files = Vec::new();
        for path in self.publishable_files()? {
            let bytes = self.read_bytes(&path, left)?;
            left -= bytes.len() as u64;
            files.push((path, bytes));
        }
        let own = files.iter().find(|(path, _)| path == SkillFolder::FILE);
        let text = own.map(|(_, bytes)| plain_lines(&String::from_utf8_lossy(bytes))).unwrap_or_default();
        match split_fields(&text) {
            Ok((front_matter, _)) if front_matter.get("name").is_some_and(|name| *name == self.name) => {
                Ok(PublishedSkill { front_matter, files })
            }
            _ => Err(self.refuse("`SKILL.md` does not state its name")),
        }
    }

    /// Returns one of the files of [`Skill::publish`].
    ///
    /// # Errors
    /// [`SkillError::FindFile`] if it is not one of them, and as [`Skill::publish`].
    pub fn publish_file(&self, path: &str) -> Result<Vec<u8>, SkillError> {
        let files = self.publishable_files()?;
        match files.iter().any(|file| file == path) {
            true => self.read_bytes(path, MAX_BYTES),
            false => Err(SkillError::FindFile { skill: self.name.clone(), target: path.to_owned(), files }),
        }
    }

    fn publishable_files(&self) -> Result<Vec<String>, SkillError> {
        if let Some(reason) = wrong_name(&self.name) {
            return Err(self.refuse(&format!("its name {reason}")));
        }
        let mut files = Vec::new();
        // A prompt of an MCP server has no folder.
        if self.server.is_none() {
            collect(&self.path, "", MAX_DEPTH, MAX_FILES + 1, &mut files);
        }
        match files.iter().any(|file| file == SkillFolder::FILE) {
            true if files.len() > MAX_FILES => Err(self.refuse(&format!("it has more than {MAX_FILES} files"))),
            true => Ok(files),
            false => Err(self.refuse(&format!("it has no file `{}`", SkillFolder::FILE))),
        }
    }

    fn read_bytes(&self, path: &str, most: u64) -> Result<Vec<u8>, SkillError> {
        let failed = |error: std::io::Error| self.refuse(&format!("`{path}` cannot be read: {error}"));
        let mut bytes = Vec::new();
        let file = File::open(self.path.join(path)).map_err(failed)?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            return Err(self.refuse(&format!("its files have more than {MAX_BYTES} bytes")));
        }
        Ok(bytes)
    }

    fn refuse(&self, reason: &str) -> SkillError {
        SkillError::Publish { skill: self.name.clone(), reason: reason.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files into a folder, and loads the skill in it.
    fn load(root: &std::path::Path, files: &[(&str, &str)]) -> Skill {
        for (name, text) in files {
            let path = root.join("pdf").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (mut skills, _) = SkillFolder { path: root.to_owned(), required: true }.load();
        skills.remove(0)
    }

    const TEXT: &str = "---\r\nname: pdf\r\ndescription: Fills forms.\r\nowner: {team: docs}\r\n---\r\nSteps.\r\n";

    #[test]
    fn publishes_all_files_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let skill = load(root.path(), &[("SKILL.md", TEXT), ("refs/a b.md", "A"), (".env", "KEY=secret")]);
        let published = skill.publish().unwrap();
        let files: Vec<(&str, &[u8])> =
            published.files.iter().map(|(path, bytes)| (path.as_str(), &bytes[..])).collect();
        assert_eq!(files, [("SKILL.md", TEXT.as_bytes()), ("refs/a b.md", b"A".as_slice())]);
        assert_eq!(published.front_matter["owner"]["team"], "docs", "unknown fields are kept");
        assert_eq!(skill.publish_file("refs/a b.md").unwrap(), b"A");
        for path in [".env", "../pdf/SKILL.md", "refs", "refs/../SKILL.md", ""] {
            assert!(matches!(skill.publish_file(path), Err(SkillError::FindFile { .. })), "{path}");
        }
    }

    #[test]
    fn rejects_skills_beyond_the_limits() {
        let root = tempfile::tempdir().unwrap();
        let large = "x".repeat(9 * 1024 * 1024);
        let skill = load(root.path(), &[("SKILL.md", TEXT), ("a.bin", &large), ("b.bin", &large)]);
        assert!(skill.publish().unwrap_err().to_string().contains("more than 16777216 bytes"));
        assert!(skill.publish_file("a.bin").is_ok());
        let many: Vec<String> = (0..MAX_FILES).map(|at| format!("{at}.md")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
        let skill = load(root.path(), &many);
        assert!(skill.publish().unwrap_err().to_string().contains("more than 512 files"));
    }

    #[test]
    fn rejects_skills_without_a_name_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let skill = load(root.path(), &[("SKILL.md", "---\ndescription: D\n---\n")]);
        assert!(skill.publish().unwrap_err().to_string().contains("does not state its name"));
        let prompt = Skill { name: "greet".into(), server: Some("files".into()), ..Skill::default() };
        assert!(prompt.publish().is_err());
        assert!(Skill { name: "My Skill".into(), ..skill }.publish().unwrap_err().to_string().contains("its name"));
    }
}
