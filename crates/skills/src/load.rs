//! Loads skills from folders.

use std::{
    collections::HashSet,
    fs::DirEntry,
    io::Read,
    path::{Path, PathBuf},
};

use prospector_core::Problem;
use prospector_core::work::catch_panic;

use crate::{Skill, files::plain_lines, front_matter, links, path::SKILL_FILES};

/// Maximum depth of the scan for skills.
const MAX_DEPTH: usize = 5;
/// Maximum number of folders in a scan.
const MAX_FOLDERS: usize = 20_000;
/// Maximum size of a `SKILL.md`, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A folder that contains skills, each in its own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder {
    /// The folder.
    pub path: PathBuf,
    /// Whether it must exist, because it is configured explicitly rather than a default location.
    pub required: bool,
}

impl SkillFolder {
    /// The file that makes a folder a skill.
    pub const FILE: &str = SKILL_FILES[0];

    /// Loads the skills in this folder, sorted by path; names may repeat. Every folder with a `SKILL.md` is a skill,
    /// even inside another skill. Hidden folders are skipped; links to targets outside the folder are not followed.
    pub fn load(&self) -> (Vec<Skill>, Vec<Problem>) {
        let mut walk = Walk::default();
        let place = self.path.display().to_string();
        match self.path.canonicalize() {
            Ok(root) if root.is_dir() => walk.folder(&self.path, &root, 0),
            Ok(_) => walk.problems.push(Problem::error(place, "this is not a folder").advise("use its parent folder")),
            Err(_) if !self.required => {}
            Err(error) => walk.problems.push(
                Problem::error(place, format!("the folder of skills cannot be read: {error}"))
                    .advise("correct the path"),
            ),
        }
        (walk.skills, walk.problems)
    }
}

#[derive(Default)]
struct Walk {
    skills: Vec<Skill>,
    problems: Vec<Problem>,
    seen: HashSet<PathBuf>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, root: &Path, depth: usize) {
        let Ok(canonical) = folder.canonicalize() else { return };
        if self.seen.len() >= MAX_FOLDERS || !self.seen.insert(canonical.clone()) {
            if self.seen.len() == MAX_FOLDERS {
                self.seen.insert(PathBuf::new());
                let reason = format!("only the first {MAX_FOLDERS} folders were searched");
                let problem = Problem::error(root.display().to_string(), reason);
                self.problems.push(problem.advise("add the folders of the skills themselves"));
            }
            return;
        }
        self.skill(folder, &canonical);
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let reason = format!("the folder cannot be read: {error}");
                self.problems.push(Problem::error(folder.display().to_string(), reason));
                return;
            }
        };
        let mut entries: Vec<DirEntry> = entries.flatten().collect();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.') || name == "node_modules";
            if hidden || depth == MAX_DEPTH || !path.is_dir() {
                continue;
            }
            if path.canonicalize().is_ok_and(|target| !target.starts_with(root)) {
                let reason = "the link points outside the folder and was not followed";
                let problem = Problem::warning(path.display().to_string(), reason);
                self.problems.push(problem.advise("add its target as a folder of skills"));
                continue;
            }
            self.folder(&path, root, depth + 1);
        }
    }

    /// Loads the skill of a folder, if there is one.
    fn skill(&mut self, folder: &Path, canonical: &Path) {
        let names = SKILL_FILES.map(|name| folder.join(name));
        let Some(file) = names.into_iter().find(|file| file.exists()) else { return };
        match file.canonicalize() {
            Ok(real) if real.starts_with(canonical) => {
                let (skill, said) = skill_or_problem(&file, || read(folder, &file));
                self.skills.extend(skill);
                self.problems.extend(said);
            }
            _ => {
                let reason = "the file is a link to a target outside the folder of the skill";
                let problem = Problem::error(file.display().to_string(), reason);
                self.problems.push(problem.advise("replace the link by the file"));
            }
        }
    }
}

/// Loads a skill; a panic becomes a problem, so that other skills still load.
fn skill_or_problem(
    file: &Path,
    read: impl FnOnce() -> (Option<Skill>, Vec<Problem>),
) -> (Option<Skill>, Vec<Problem>) {
    catch_panic(read).unwrap_or_else(|reason| {
        (None, vec![Problem::error(file.display().to_string(), reason).advise("remove the skill from the folder")])
    })
}

/// Loads a skill; `None`, with a problem, if it is unusable.
fn read(folder: &Path, file: &Path) -> (Option<Skill>, Vec<Problem>) {
    let place = file.display().to_string();
    let (text, lossy) = match text(file) {
        Ok(read) => read,
        Err(problem) => return (None, vec![problem]),
    };
    let called = folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let (skill, mut problems) = Skill::parse(&text, &place, &called.unwrap_or_default());
    if lossy {
        let problem = Problem::warning(&place, "the file is not UTF-8; some characters were replaced");
        problems.push(problem.advise("save it as UTF-8"));
    }
    (skill.map(|skill| Skill { path: folder.to_owned(), ..skill }), problems)
}

impl Skill {
    /// Parses the text of a `SKILL.md` in a folder named `called`; `place` is used in problems. A skill without a
    /// description is rejected. [`Skill::path`] is left empty.
    pub fn parse(text: &str, place: &str, called: &str) -> (Option<Skill>, Vec<Problem>) {
        match parse(&plain_lines(text), place, called) {
            Ok((skill, problems)) => (Some(skill), problems),
            Err(problem) => (None, vec![problem]),
        }
    }
}

fn parse(text: &str, place: &str, called: &str) -> Result<(Skill, Vec<Problem>), Problem> {
    let (fields, block) = front_matter::split(text).map_err(|(line, reason)| {
        let advice =
            "start the file with `---`, `name: ..`, `description: ..`, `---`; quote values that contain a colon";
        Problem::error(format!("{place}:{line}"), reason).advise(advice)
    })?;
    let description = fields.description.ok_or_else(|| {
        let problem = Problem::error(place, "the skill has no description");
        problem.advise("add a `description` that says what it does and when to use it")
    })?;
    let mut problems = Vec::new();
    let mut warn = |reason: String, advice: &str| problems.push(Problem::warning(place, reason).advise(advice));
    let name = fields.name.unwrap_or_else(|| {
        warn(format!("the skill has no name; the name of its folder, `{called}`, is used"), "add a `name`");
        called.to_owned()
    });
    if let Some(reason) = wrong_name(&name) {
        let advice = "use 1 to 64 lower-case letters, digits and single hyphens";
        warn(format!("the name `{name}` {reason}"), advice);
    } else if name != called {
        let reason = format!("the name `{name}` differs from that of its folder, `{called}`");
        warn(reason, "rename one of the two");
    }
    let length = description.chars().count();
    if length > 1024 {
        warn(format!("the description has {length} characters; the limit is 1024"), "shorten it");
    }
    if fields.compatibility.as_ref().is_some_and(|text| text.chars().count() > 500) {
        warn("the field `compatibility` has more than 500 characters".to_owned(), "shorten it");
    }
    for (field, wanted) in &fields.ignored {
        warn(format!("the field `{field}` was ignored: it must be {wanted}"), "correct or remove it");
    }
    let skill = Skill {
        name,
        description,
        path: PathBuf::new(),
        license: fields.license,
        compatibility: fields.compatibility,
        metadata: fields.metadata,
        allowed_tools: fields.allowed_tools,
        content: block.body.trim().to_owned(),
        links: links::parse(block.body, block.lines_before),
        server: None,
    };
    Ok((skill, problems))
}

/// Reads a file as text; also returns whether invalid sequences were replaced.
fn text(file: &Path) -> Result<(String, bool), Problem> {
    let refuse = |reason: String| Problem::error(file.display().to_string(), reason);
    let failed = |error: std::io::Error| refuse(format!("the file cannot be read: {error}"));
    if !file.is_file() {
        return Err(refuse("this is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).map_err(failed)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("the file has more than {MAX_BYTES} bytes")));
    }
    let text = String::from_utf8_lossy(&bytes);
    let lossy = std::str::from_utf8(&bytes).is_err();
    Ok((text.into_owned(), lossy))
}

/// Returns the rule of the specification that a name violates.
pub(crate) fn wrong_name(name: &str) -> Option<&'static str> {
    if name.chars().count() > 64 {
        Some("is longer than 64 characters")
    } else if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        Some("contains characters other than lower-case letters, digits and hyphens")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("starts or ends with a hyphen, or has two in a row")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolates_reader_panics() {
        let (skill, problems) = skill_or_problem(Path::new("bad/SKILL.md"), || panic!("not a boundary"));
        assert!(skill.is_none());
        assert_eq!(
            problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["error: bad/SKILL.md: the parser panicked: not a boundary (remove the skill from the folder)"]
        );
    }

    const GOOD: &str = "---\nname: pdf\ndescription: Reads PDF\n---\nBody";

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    /// Checks the names of the skills and the problems.
    fn check(files: &[(&str, &str)], names: &[&str], said: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), files);
        check_folder(root.path(), names, said);
    }

    fn check_folder(root: &Path, names: &[&str], said: &[&str]) {
        let (skills, problems) = SkillFolder { path: root.to_owned(), required: true }.load();
        assert_eq!(skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(problems.len(), said.len(), "{problems:?}");
        for (problem, part) in problems.iter().zip(said) {
            assert!(problem.to_string().contains(part), "{problem} does not say {part}");
        }
    }

    #[test]
    fn loads_nested_skills() {
        let named = |name: &str| format!("---\nname: {name}\ndescription: D\n---\n");
        let (b, forms, c) = (named("b"), named("forms"), named("c"));
        check(
            &[
                ("pdf/SKILL.md", GOOD),
                ("pdf/forms/SKILL.md", &forms),
                ("pdf/refs/deep/c/SKILL.md", &c),
                ("team/x/b/skill.md", &b),
                (".git/b/SKILL.md", &b),
                ("README.md", ""),
            ],
            &["pdf", "forms", "c", "b"],
            &[],
        );
        check(&[("1/2/3/4/5/6/b/SKILL.md", &b)], &[], &[]);
    }

    #[test]
    fn keeps_the_outer_of_nested_skills_with_one_name() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[("pdf/SKILL.md", GOOD), ("pdf/old/pdf/SKILL.md", GOOD)]);
        let folder = SkillFolder { path: root.path().to_owned(), required: true };
        let (skills, problems) = crate::SkillDiscovery::load(&[folder]);
        assert_eq!(
            skills.skills().iter().map(|skill| skill.path.clone()).collect::<Vec<_>>(),
            [root.path().join("pdf")]
        );
        assert_eq!(
            problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [format!(
                "warning: {root}/pdf/old/pdf: the skill `pdf` is shadowed by the one in {root}/pdf (remove or rename one of the two)",
                root = root.path().display()
            )]
        );
    }

    #[test]
    fn isolates_invalid_skills() {
        check(
            &[
                ("a/SKILL.md", "# No front matter"),
                ("b/SKILL.md", "---\nname: b\n---\n"),
                ("c/SKILL.md", "---\nname: c\ndescription: \" \"\n---\n"),
                ("d/SKILL.md", "---\nname: x: y\ndescription: D\n---\n"),
                ("e/SKILL.md", "---\nname: e\ndescription: E\n\n# Never closed"),
                ("pdf/SKILL.md", GOOD),
            ],
            &["pdf"],
            &[
                "SKILL.md:1: no front matter",
                "no description",
                "no description",
                "SKILL.md:2: the front matter is not valid YAML",
                "SKILL.md:1: the front matter is not closed",
            ],
        );
    }

    #[test]
    fn reports_invalid_names() {
        let named = |name: &str| format!("---\nname: {name}\ndescription: D\n---\n");
        check(
            &[
                ("a/SKILL.md", &named("My Skill")),
                ("b/SKILL.md", &named("other")),
                ("c/SKILL.md", "---\ndescription: C\n---\n"),
                ("d/SKILL.md", &named("-d")),
                ("e/SKILL.md", &format!("---\nname: e\ndescription: {}\n---\n", "x".repeat(1025))),
                ("f/SKILL.md", &named(&"f".repeat(65))),
            ],
            &["My Skill", "other", "c", "-d", "e", &"f".repeat(65)],
            &[
                "lower-case letters",
                "differs from that of its folder, `b`",
                "its folder, `c`",
                "hyphen",
                "1025 characters",
                "longer than 64",
            ],
        );
    }

    #[test]
    fn reports_invalid_fields() {
        let with = |name: &str, field: &str| format!("---\nname: {name}\ndescription: D\n{field}\n---\n");
        check(
            &[
                ("a/SKILL.md", &with("a", &format!("compatibility: {}", "x".repeat(501)))),
                ("b/SKILL.md", &with("b", "metadata: [1]\nallowed-tools: {Read: true}")),
                ("c/SKILL.md", &with("c", "metadata:\nallowed-tools:\nlicense:")),
            ],
            &["a", "b", "c"],
            &[
                "more than 500",
                "`metadata` was ignored: it must be a mapping",
                "`allowed-tools` was ignored: it must be",
            ],
        );
    }

    #[test]
    fn accepts_byte_order_marks_and_crlf() {
        let text = format!("\u{feff}{}", GOOD.replace("Body", "See [a](a.md)").replace('\n', "\r\n"));
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[("pdf/SKILL.md", &text)]);
        let (skills, problems) = SkillFolder { path: root.path().to_owned(), required: true }.load();
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!((skills[0].content.as_str(), skills[0].links[0].line_number), ("See [a](a.md)", 5));
    }

    #[test]
    fn only_configured_folders_must_exist() {
        for (required, count) in [(true, 1), (false, 0)] {
            let folder = SkillFolder { path: "/no/such/folder".into(), required };
            assert_eq!(folder.load().1.len(), count);
        }
    }

    #[cfg(unix)]
    #[test]
    fn does_not_follow_links_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("skills");
        write(outer.path(), &[("pdf/SKILL.md", GOOD), ("skills/b/x.md", "")]);
        symlink("../pdf", root.join("pdf")).unwrap();
        symlink("../../pdf/SKILL.md", root.join("b/SKILL.md")).unwrap();
        symlink(".", root.join("loop")).unwrap();
        check_folder(
            &root,
            &[],
            &["b/SKILL.md: the file is a link to a target outside", "pdf: the link points outside"],
        );
    }
}
