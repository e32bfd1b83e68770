//! Tools for skills.

use std::{path::PathBuf, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::{Relevance, Resource, drop_tail};
use prospector_core::tool::{Effect, ListArgs, Page, Part, Tool, ToolError, ToolOutput, Toolset};
use prospector_search::{Index, Query};
use prospector_text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Skill, SkillDiscovery, SkillError, SkillLink, links, path, render::resource, resolve::ResolveSkillLink};

const DEFAULT_HITS: usize = 3;
const MAX_HITS: usize = 50;
/// Maximum size of a linked file included in `get_skill`; larger ones are left to `resolve_skill_link`.
const MAX_REFERENCE: usize = 20 * 1024;
/// Maximum size of instructions and linked files together: a response of default size. Beyond it, truncation would
/// affect the instructions.
const MAX_ANSWER: usize = Toolset::DEFAULT_MAX_TOKENS * 3 - 1_000;
/// Maximum length of a description in a list, in characters.
const MAX_LISTED: usize = 200;
/// Maximum number of linked files considered.
const MAX_REFERENCES: usize = 50;

impl SkillDiscovery {
    /// Returns the tools `list_skills`, `get_skill`, `search_skills`, `list_skill_links` and `resolve_skill_link`.
    pub fn tools(self: &Arc<Self>, index: &Index) -> Toolset {
        Toolset::new()
            .with(ListSkills(self.clone()))
            .with(GetSkill(self.clone()))
            .with(SearchSkills(self.clone(), index.clone()))
            .with(ListSkillLinks(self.clone()))
            .with(ResolveSkillLink(self.clone()))
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Skill, ToolError> {
        self.resolve(name)
            .ok_or_else(|| ToolError::not_found("skill", name, self.skills().iter().map(|s| s.name.as_str())))
    }
}

/// `list_skills`
struct ListSkills(Arc<SkillDiscovery>);

#[derive(Clone, Serialize)]
struct Listed {
    name: String,
    description: String,
    path: PathBuf,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<String>,
    /// The allowed tools that this catalog does not provide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_tools: Vec<String>,
}

impl Tool for ListSkills {
    const NAME: &'static str = "list_skills";
    const DESCRIPTION: &'static str =
        "Lists skills: written instructions for kinds of tasks. To find one for a task, use search_skills.";
    const MORE: &'static str = "call again with offset = the number of items seen so far, or use search_skills";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<Listed>;

    async fn call(&self, args: ListArgs) -> Result<Page<Listed>, ToolError> {
        let listed = self.0.skills().iter().map(|skill| Listed {
            name: skill.name.clone(),
            description: cut::sentences(&skill.description, MAX_LISTED),
            path: if skill.server.is_some() { skill.path.clone() } else { path::find_file(&skill.path) },
            allowed_tools: skill.allowed_tools.clone(),
            missing_tools: self.0.missing_tools(skill),
        });
        Ok(Page::of_list(listed.collect(), args))
    }
}

/// `get_skill`
struct GetSkill(Arc<SkillDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NameArgs {
    /// Skill name.
    name: String,
}

#[derive(Clone, Serialize)]
struct Whole {
    name: String,
    description: String,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<String>,
    /// The allowed tools that this catalog does not provide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_tools: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    references: Map<String, Value>,
    /// The linked files that are not included, each with the reason.
    #[serde(skip_serializing_if = "Map::is_empty")]
    left_out: Map<String, Value>,
}

impl Tool for GetSkill {
    const NAME: &'static str = "get_skill";
    const DESCRIPTION: &'static str =
        "Returns the instructions of a skill and its linked files. Call it before planning a step with the skill.";
    const MORE: &'static str = "call again with a larger max_tokens; read linked files with resolve_skill_link";
    const EFFECT: Effect = Effect::Reads;
    type Args = NameArgs;
    type Output = Whole;

    async fn call(&self, args: NameArgs) -> Result<Whole, ToolError> {
        let skill = self.0.find(&args.name)?;
        let (references, left_out) = references(skill);
        Ok(Whole {
            name: skill.name.clone(),
            description: skill.description.clone(),
            content: skill.content.clone(),
            allowed_tools: skill.allowed_tools.clone(),
            missing_tools: self.0.missing_tools(skill),
            references,
            left_out,
        })
    }
}

/// Returns the texts of the linked files by path, as far as they fit, and the omitted files with the reason.
fn references(skill: &Skill) -> (Map<String, Value>, Map<String, Value>) {
    let (mut texts, mut left_out) = (Map::new(), Map::new());
    let mut room = MAX_ANSWER.saturating_sub(size(&skill.content) + size(&skill.description));
    for link in skill.links.iter().filter(|link| !link.is_url) {
        let path = links::path(&link.target);
        if texts.contains_key(path) || left_out.contains_key(path) {
            continue;
        }
        if texts.len() + left_out.len() == MAX_REFERENCES {
            left_out.insert("…".to_owned(), "more files are linked: call list_skill_links".into());
            break;
        }
        match skill.read(path) {
            Ok(text) if text.len() <= MAX_REFERENCE && size(&text) + path.len() + 4 <= room => {
                room -= size(&text) + path.len() + 4;
                texts.insert(path.to_owned(), text.into());
            }
            Ok(text) => {
                let reason = format!("{} KB: call resolve_skill_link", text.len().div_ceil(1024));
                left_out.insert(path.to_owned(), reason.into());
            }
            Err(error) => {
                let reason = match &error {
                    SkillError::LeaveFolder { .. } => "outside the folder of the skill",
                    SkillError::FindFile { .. } => "missing",
                    SkillError::ReadFolder { .. } => "a folder",
                    SkillError::ReadFile { reason, .. } => reason,
                    _ => "not a file",
                };
                left_out.insert(path.to_owned(), reason.into());
            }
        }
    }
    (texts, left_out)
}

/// Returns the size of a text in JSON, in bytes.
fn size(text: &str) -> usize {
    serde_json::to_string(text).map_or(0, |json| json.len())
}

/// `search_skills`
struct SearchSkills(Arc<SkillDiscovery>, Index);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArgs {
    /// Description of the task.
    query: String,
    /// Maximum number of results (default 3).
    limit: Option<usize>,
}

#[derive(Clone, Serialize)]
struct FoundSkill {
    name: String,
    relevance: Relevance,
    description: String,
}

impl Tool for SearchSkills {
    const NAME: &'static str = "search_skills";
    const DESCRIPTION: &'static str =
        "Searches for skills (written instructions) that fit a task. Then call get_skill.";
    const MORE: &'static str = "call again with a smaller limit";
    const EFFECT: Effect = Effect::Reads;
    type Args = SearchArgs;
    type Output = Page<FoundSkill>;

    async fn call(&self, args: SearchArgs) -> Result<Page<FoundSkill>, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid("the query is empty", Some("describe the task, or use list_skills".into())));
        }
        let limit = args.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
        let fill = args.limit.is_some();
        let query = Query { text: args.query, kinds: vec![Kind::Skill], limit, fill, ..Query::default() };
        let mut found = self.1.find(query).await?;
        if !fill {
            drop_tail(&mut found.hits, |hit| hit.relevance);
        }
        // The index may contain records of deleted skills.
        let skills = found.hits.into_iter().filter_map(|hit| {
            let skill = self.0.resolve(&hit.id)?;
            Some(FoundSkill {
                name: skill.name.clone(),
                relevance: hit.relevance,
                description: skill.description.clone(),
            })
        });
        Ok(Page::of_search(skills.collect(), found.is_weak, found.nearest))
    }
}

/// `list_skill_links`
struct ListSkillLinks(Arc<SkillDiscovery>);

#[derive(Clone, Serialize)]
struct Links {
    skill: String,
    links: Vec<SkillLink>,
}

impl Tool for ListSkillLinks {
    const NAME: &'static str = "list_skill_links";
    const DESCRIPTION: &'static str =
        "Lists the links in the instructions of a skill: files to read with resolve_skill_link, and URLs.";
    const EFFECT: Effect = Effect::Reads;
    type Args = NameArgs;
    type Output = Links;

    async fn call(&self, args: NameArgs) -> Result<Links, ToolError> {
        let skill = self.0.find(&args.name)?;
        Ok(Links { skill: skill.name.clone(), links: skill.links.clone() })
    }
}

impl ToolOutput for Listed {
    fn reveals(&self) -> Vec<Resource> {
        vec![resource(&self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("allowed_tools", Part::entries(&mut self.allowed_tools)),
            ("missing_tools", Part::entries(&mut self.missing_tools)),
        ]
    }
}

impl ToolOutput for Whole {
    fn reveals(&self) -> Vec<Resource> {
        vec![resource(&self.name)]
    }

    fn content(&self) -> Option<&str> {
        Some(&self.content)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("content", Part::Text(&mut self.content)),
            ("allowed_tools", Part::entries(&mut self.allowed_tools)),
            ("missing_tools", Part::entries(&mut self.missing_tools)),
            ("references", Part::entries(&mut self.references)),
            ("left_out", Part::entries(&mut self.left_out)),
        ]
    }
}

impl ToolOutput for FoundSkill {
    fn reveals(&self) -> Vec<Resource> {
        vec![resource(&self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

impl ToolOutput for Links {
    fn reveals(&self) -> Vec<Resource> {
        vec![resource(&self.skill)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("links", Part::entries(&mut self.links))]
    }
}

#[cfg(test)]
mod tests {
    use prospector_core::record::ResourceKind;
    use serde_json::json;

    use super::*;
    use crate::SkillFolder;

    const PDF: &str = "---\nname: pdf-reader\ndescription: Extracts text and tables from PDF files.\nallowed-tools: Read\n---\n\
                       # PDF\n\nSee [forms](refs/forms.md#all), [again](refs/forms.md), [logo](logo.png), [gone](gone.md),\n\
                       [big](big.md), [shared](../shared.md) and [the site](https://example.com).\n";
    const REPORT: &str = "---\nname: quarterly-report\ndescription: Writes the report of a quarter.\n---\n# Report\n";

    /// Checks the result of a call and the names it reveals. `ROOT` represents the folder of the skills.
    async fn check(tool: &str, args: Value, expected: Value, reveals: &[&str]) {
        let outer = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("skills/pdf-reader/SKILL.md", PDF.as_bytes()),
            ("skills/pdf-reader/refs/forms.md", b"Forms."),
            ("skills/pdf-reader/logo.png", b"\x89PNG\0"),
            ("skills/pdf-reader/big.md", "x".repeat(30_000).as_bytes()),
            ("skills/quarterly-report/SKILL.md", REPORT.as_bytes()),
            ("skills/shared.md", b"secret"),
        ] {
            let path = outer.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let root = outer.path().join("skills");
        let (skills, problems) = SkillDiscovery::load(&[SkillFolder { path: root.clone(), required: true }]);
        assert!(problems.is_empty(), "{problems:?}");
        let skills = Arc::new(skills);
        let index = Index::in_memory(skills.records(), None).unwrap();
        let (value, revealed) = match skills.tools(&index).call(tool, args).await {
            Ok(answer) => (answer.json().clone(), answer.reveals()),
            Err(error) => (error.to_json(), Vec::new()),
        };
        let value: Value = serde_json::from_str(&value.to_string().replace(root.to_str().unwrap(), "ROOT")).unwrap();
        assert_eq!(value, expected);
        assert_eq!(revealed.iter().map(|resource| resource.id.as_str()).collect::<Vec<_>>(), reveals);
        assert!(revealed.iter().all(|resource| resource.kind == ResourceKind::Skill));
    }

    #[tokio::test]
    async fn lists_skills() {
        let pdf = json!({"name": "pdf-reader", "description": "Extracts text and tables from PDF files.",
                         "path": "ROOT/pdf-reader/SKILL.md", "allowed_tools": ["Read"]});
        let report = json!({"name": "quarterly-report", "description": "Writes the report of a quarter.",
                            "path": "ROOT/quarterly-report/SKILL.md"});
        check("list_skills", json!({}), json!([pdf, report]), &["pdf-reader", "quarterly-report"]).await;
        let page = json!({"items": [pdf], "truncated": true, "total": 2, "next": "call again with offset=1"});
        check("list_skills", json!({"limit": 1}), page, &["pdf-reader"]).await;
    }

    #[tokio::test]
    async fn returns_linked_files_and_reports_omitted_ones() {
        let content = PDF.rsplit("---\n").next().unwrap().trim();
        check(
            "get_skill",
            json!({"name": "PDF reader"}),
            json!({"name": "pdf-reader", "description": "Extracts text and tables from PDF files.", "content": content,
                   "allowed_tools": ["Read"], "references": {"refs/forms.md": "Forms."},
                   "left_out": {"logo.png": "it is not a text file", "gone.md": "missing",
                                "big.md": "30 KB: call resolve_skill_link",
                                "../shared.md": "outside the folder of the skill"}}),
            &["pdf-reader"],
        )
        .await;
        check(
            "get_skill",
            json!({"name": "report"}),
            json!({"error": "not_found", "message": "there is no skill `report`",
                   "suggestion": "did you mean `quarterly-report`?"}),
            &[],
        )
        .await;
    }

    #[tokio::test]
    async fn lists_links_with_lines() {
        let link = |text: &str, target: &str, is_url: bool, line: usize| json!({"text": text, "target": target, "is_url": is_url, "line_number": line});
        check(
            "list_skill_links",
            json!({"name": "pdf-reader"}),
            json!({"skill": "pdf-reader", "links": [
                link("forms", "refs/forms.md#all", false, 8), link("again", "refs/forms.md", false, 8),
                link("logo", "logo.png", false, 8), link("gone", "gone.md", false, 8), link("big", "big.md", false, 9),
                link("shared", "../shared.md", false, 9), link("the site", "https://example.com", true, 9)]}),
            &["pdf-reader"],
        )
        .await;
    }

    #[tokio::test]
    async fn reads_a_linked_file() {
        check(
            "resolve_skill_link",
            json!({"name": "pdf-reader", "target": "refs/forms.md#all"}),
            json!({"skill": "pdf-reader", "target": "refs/forms.md#all", "content": "Forms."}),
            &["pdf-reader"],
        )
        .await;
    }

    #[tokio::test]
    async fn rejects_unreadable_targets_with_reason() {
        let cases = [
            (
                "../shared.md",
                json!({"error": "invalid_arguments",
                       "message": "`../shared.md` is outside the folder of skill `pdf-reader`; only files inside it are read",
                       "suggestion": "call list_skill_links for the files of the skill"}),
            ),
            (
                "https://example.com",
                json!({"error": "unavailable", "message": "`https://example.com` is a URL; URLs are not fetched",
                       "suggestion": "continue without it, and cite the URL if relevant"}),
            ),
            (
                "forms.md",
                json!({"error": "not_found", "message": "there is no file of skill `pdf-reader` `forms.md`",
                       "suggestion": "did you mean `refs/forms.md`?"}),
            ),
            (
                "refs",
                json!({"error": "invalid_arguments", "message": "`refs` of skill `pdf-reader` is a folder",
                       "suggestion": "read one of its files: refs/forms.md"}),
            ),
            (
                "logo.png",
                json!({"error": "unavailable", "message": "cannot read `logo.png` of skill `pdf-reader`: it is not a text file"}),
            ),
        ];
        for (target, expected) in cases {
            check("resolve_skill_link", json!({"name": "pdf-reader", "target": target}), expected, &[]).await;
        }
    }

    #[tokio::test]
    async fn finds_a_skill_for_a_task() {
        let skill = |name: &str, description: &str| Skill {
            name: name.into(),
            description: description.into(),
            ..Skill::default()
        };
        let skills = vec![skill("pdf-reader", "Extracts tables from PDF files."), skill("report", "Writes reports.")];
        let skills = Arc::new(SkillDiscovery::new(skills).0);
        let index = Index::in_memory(skills.records(), None).unwrap();
        let tools = skills.tools(&index);
        let answer = tools.call("search_skills", json!({"query": "extract the tables of a PDF file"})).await.unwrap();
        assert_eq!(answer.json()[0]["name"], "pdf-reader");
        assert_eq!(answer.json()[0]["description"], "Extracts tables from PDF files.");
        assert!(answer.json()[0]["relevance"].as_f64().is_some_and(|relevance| relevance > 0.0));
        assert_eq!(answer.reveals().first(), Some(&Resource::new(ResourceKind::Skill, "pdf-reader")));
        assert!(tools.call("search_skills", json!({"query": ""})).await.is_err());
    }
}
