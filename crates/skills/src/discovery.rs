//! Lookup and search of the skills of a catalog.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use prospector_core::Problem;
use prospector_core::name::normalize;
use prospector_core::record::Record;

use crate::{Pages, Skill, SkillFolder, render};

/// The skills of a catalog.
#[derive(Debug, Clone, Default)]
pub struct SkillDiscovery {
    skills: Vec<Skill>,
    /// Fetches linked pages, if configured.
    pages: Option<Arc<dyn Pages>>,
    /// The available tools, once known.
    offered: OnceLock<HashSet<String>>,
}

impl SkillDiscovery {
    /// Loads the skills of these folders, in order of precedence: the first skill of a name is kept.
    pub fn load(folders: &[SkillFolder]) -> (SkillDiscovery, Vec<Problem>) {
        let mut skills = Vec::new();
        let mut problems = Vec::new();
        let mut seen = HashSet::new();
        for folder in folders {
            // Default folders are often links to each other.
            if folder.path.canonicalize().is_ok_and(|path| !seen.insert(path)) {
                continue;
            }
            let (loaded, said) = folder.load();
            skills.extend(loaded);
            problems.extend(said);
        }
        let (discovery, shadowed) = SkillDiscovery::new(skills);
        problems.extend(shadowed);
        (discovery, problems)
    }

    /// Creates a catalog from loaded skills, in order of precedence.
    pub fn new(skills: Vec<Skill>) -> (SkillDiscovery, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut kept: Vec<Skill> = Vec::with_capacity(skills.len());
        let mut names: HashMap<String, (usize, Option<PathBuf>)> = HashMap::new();
        for skill in skills {
            let path = skill.path.canonicalize().ok();
            if let Some((first, seen)) = names.get(&skill.name) {
                // A folder reached by two paths does not shadow itself.
                if path.is_none() || path != *seen {
                    let first = kept[*first].path.display();
                    let reason = format!("the skill `{}` is shadowed by the one in {first}", skill.name);
                    let problem = Problem::warning(skill.path.display().to_string(), reason);
                    problems.push(problem.advise("remove or rename one of the two"));
                }
                continue;
            }
            names.insert(skill.name.clone(), (kept.len(), path));
            kept.push(skill);
        }
        (SkillDiscovery { skills: kept, ..SkillDiscovery::default() }, problems)
    }

    /// Adds the prompts of MCP servers, except those whose names are taken.
    pub fn with_prompts(mut self, prompts: Vec<Skill>) -> Self {
        for prompt in prompts {
            if self.resolve(&prompt.name).is_none() {
                self.skills.push(prompt);
            }
        }
        self
    }

    /// Sets the fetcher of linked pages; without one, no URL is fetched.
    pub fn with_pages(mut self, pages: Arc<dyn Pages>) -> Self {
        self.pages = Some(pages);
        self
    }

    /// Sets the available tools, so that skills that need others are marked.
    pub fn offer<'a>(&self, tools: impl IntoIterator<Item = &'a str>) {
        self.offered.get_or_init(|| tools.into_iter().map(normalize).collect());
    }

    /// Returns the allowed tools of a skill that are not available; empty if the available tools are unknown. `Bash(git
    /// add:*)` requires `Bash`, and `mcp__server__search` or `server:search` requires `search`.
    pub fn missing_tools(&self, skill: &Skill) -> Vec<String> {
        let Some(offered) = self.offered.get() else { return Vec::new() };
        let met = |tool: &str| {
            let name = tool.split('(').next().unwrap_or_default();
            let name = name.rsplit("__").next().and_then(|name| name.rsplit([':', '/', '.']).next()).unwrap_or(name);
            name == "*" || offered.contains(&normalize(name))
        };
        skill.allowed_tools.iter().filter(|tool| !met(tool)).cloned().collect()
    }

    pub(crate) fn pages(&self) -> Option<&Arc<dyn Pages>> {
        self.pages.as_ref()
    }

    /// Returns all skills, in the order of their folders.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns the skill with this name, ignoring case, and ignoring other characters than letters and digits if
    /// unambiguous.
    pub fn resolve(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name.trim()).or_else(|| {
            let wanted = normalize(name);
            let mut found = self.skills.iter().filter(|skill| !wanted.is_empty() && normalize(&skill.name) == wanted);
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// Returns the skill with exactly this name if none of its tools is missing.
    pub fn find_usable(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name).filter(|skill| self.missing_tools(skill).is_empty())
    }

    /// Returns the records to index.
    pub fn records(&self) -> Vec<Record> {
        self.skills.iter().map(render::record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, path: &str) -> Skill {
        Skill { name: name.into(), description: "D".into(), path: path.into(), ..Skill::default() }
    }

    fn check(skills: &[(&str, &str)], kept: &[&str], said: &[&str]) {
        let (discovery, problems) = SkillDiscovery::new(skills.iter().map(|(name, path)| skill(name, path)).collect());
        let paths: Vec<String> = discovery.skills().iter().map(|skill| skill.path.display().to_string()).collect();
        assert_eq!(paths, kept);
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), said);
    }

    #[test]
    fn reports_shadowed_skills() {
        check(
            &[("pdf", "/project/pdf"), ("csv", "/user/csv"), ("pdf", "/user/pdf")],
            &["/project/pdf", "/user/csv"],
            &[
                "warning: /user/pdf: the skill `pdf` is shadowed by the one in /project/pdf (remove or rename one of the two)",
            ],
        );
    }

    #[test]
    fn reports_missing_tools() {
        let allowed = ["search_tables", "mcp__planner__search", "planner:list_tables", "Bash(git add:*)", "Read"];
        let skill = Skill { allowed_tools: allowed.map(String::from).into(), ..skill("pdf", "/pdf") };
        let discovery = SkillDiscovery::default();
        assert!(discovery.missing_tools(&skill).is_empty());
        discovery.offer(["search", "search_tables", "list_tables"]);
        assert_eq!(discovery.missing_tools(&skill), ["Bash(git add:*)", "Read"]);
    }

    #[test]
    fn folder_with_two_paths_is_loaded_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        check(&[("pdf", &path), ("pdf", &format!("{path}/."))], &[&path], &[]);
    }

    #[test]
    fn resolves_unique_names_ignoring_case() {
        let skills = ["quarterly-report", "a-b", "ab"].map(|name| skill(name, name));
        let (discovery, _) = SkillDiscovery::new(skills.into());
        let name = |name: &str| discovery.resolve(name).map(|skill| skill.name.as_str());
        assert_eq!(name("Quarterly_Report"), Some("quarterly-report"));
        assert_eq!(name("ab"), Some("ab"));
        assert_eq!(name("A B"), None);
        assert_eq!(name("report"), None);
        assert_eq!(name(""), None);
    }
}
