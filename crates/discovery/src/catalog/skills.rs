//! The skills of a catalog: those of the project, of the user, and those that the catalog names, in this order.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_skills::{SkillDiscovery, SkillFolder};

use super::{
    file_schema::FolderEntry,
    paths::{SKILL_FOLDERS, watch},
    section::{Folders, Opening, Section},
};

/// The skills.
pub(super) struct Skills;

impl Section for Skills {
    type Entry = FolderEntry;
    type Loaded = Arc<SkillDiscovery>;

    fn files(entries: &[FolderEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
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

    async fn load(self, entries: Vec<FolderEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let mut folders = usual_folders(&opening.folders);
        for entry in &entries {
            let path = opening.folders.base.join(&entry.path);
            if path.is_dir() {
                folders.push(SkillFolder { path, required: true });
            } else {
                opening.report_missing(entry.line, &path);
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
