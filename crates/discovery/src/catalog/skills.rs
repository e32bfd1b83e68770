//! The skills of a catalog: those of the project, of the user, and those that the catalog names, in this order.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_core::Problem;
use prospector_skills::{SkillDiscovery, SkillFolder};

use super::{
    entry::{EntryReader, path},
    file_schema,
    node::Placed,
    paths::{nearest_file, watch},
    section::{Folders, Opening, Section},
};

/// The default folders of skills, next to the catalog and in the home folder.
const SKILL_FOLDERS: [&str; 3] = [".agents/skills", ".claude/skills", ".prospector/skills"];

/// The skills.
pub(super) struct Skills;

#[derive(Debug)]
pub(super) struct SkillEntry {
    pub(super) line: u64,
    pub(super) path: String,
}

impl Section for Skills {
    type Entry = SkillEntry;
    type Loaded = Arc<SkillDiscovery>;

    fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<SkillEntry> {
        let lookup = reader.lookup;
        let mut fields = reader.fields::<file_schema::SkillEntry>(format!("skills[{at}]"), entry)?;
        let path = path(&mut fields, "a folder of skills", lookup);
        let entry = SkillEntry { line: fields.line(), path: path? };
        (!fields.has_failed()).then_some(entry)
    }

    fn files(entries: &[SkillEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in usual_folders(folders) {
            if folder.path.exists() {
                watch(&folder.path, folders.cancel, &mut files)?;
            }
        }
        for entry in entries {
            watch(&folders.base.join(&entry.path), folders.cancel, &mut files)?;
        }
        Some(files)
    }

    async fn load(self, entries: Vec<SkillEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let mut folders = usual_folders(&opening.folders);
        for entry in &entries {
            let path = opening.folders.base.join(&entry.path);
            if path.is_dir() {
                folders.push(SkillFolder { path, required: true });
            } else {
                let near = nearest_file(&path);
                let advice = near.map_or("correct the path".into(), |name| format!("did you mean `{name}`?"));
                let problem = Problem::error(opening.place(entry.line), format!("no such folder: {}", path.display()));
                opening.problems.push(problem.advise(advice));
            }
        }
        let (skills, problems) = SkillDiscovery::load(&folders);
        opening.problems.extend(problems);
        Arc::new(skills.with_pages(opening.web.pages()))
    }
}

/// Returns the default folders of skills.
fn usual_folders(folders: &Folders<'_>) -> Vec<SkillFolder> {
    let of_root = |root: &Path| SKILL_FOLDERS.map(|folder| SkillFolder { path: root.join(folder), required: false });
    let roots = [Some(folders.base), folders.home].into_iter().flatten().filter(|_| folders.usual_skills);
    roots.flat_map(of_root).collect()
}
