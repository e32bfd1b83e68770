//! The tool `resolve_skill_link`.

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PageText, Skill, SkillDiscovery, SkillError, links, render::resource};

pub(crate) struct ResolveSkillLink(pub(crate) Arc<SkillDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkArgs {
    /// Skill name.
    name: String,
    /// A link of the skill, or the path of a file in its folder.
    target: String,
}

#[derive(Clone, Serialize)]
pub(crate) struct Linked {
    skill: String,
    target: String,
    content: String,
    /// Age of a cached page.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_seconds: Option<u64>,
}

impl Tool for ResolveSkillLink {
    const NAME: &'static str = "resolve_skill_link";
    const DESCRIPTION: &'static str =
        "Returns the text of a file that a skill links to, or of a URL if the catalog allows its host.";
    const EFFECT: Effect = Effect::Reads;
    type Args = LinkArgs;
    type Output = Linked;

    async fn call(&self, args: LinkArgs) -> Result<Linked, ToolError> {
        let skill = self.0.find(&args.name)?;
        let page = match links::is_url(args.target.trim()) {
            true => self.page(skill, args.target.trim()).await,
            false => skill.read(&args.target).map(|text| PageText { text, age: None }),
        };
        let page = page.map_err(|error| refuse(&error))?;
        Ok(Linked { skill: skill.name.clone(), target: args.target, content: page.text, age_seconds: page.age })
    }
}

impl ToolOutput for Linked {
    fn reveals(&self) -> Vec<Resource> {
        vec![resource(&self.skill)]
    }

    fn content(&self) -> Option<&str> {
        Some(&self.content)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("target", Part::Text(&mut self.target)), ("content", Part::Text(&mut self.content))]
    }
}

impl ResolveSkillLink {
    /// Only URLs in the instructions are fetched: a URL made up by a model could exfiltrate data.
    async fn page(&self, skill: &Skill, target: &str) -> Result<PageText, SkillError> {
        let Some(pages) = self.0.pages() else { return Err(SkillError::FetchUrl { target: target.to_owned() }) };
        let page = links::path(target);
        let linked = skill.links.iter().filter(|link| link.is_url).find(|link| links::path(&link.target) == page);
        let Some(link) = linked else {
            return Err(SkillError::FindUrl { skill: skill.name.clone(), target: target.to_owned() });
        };
        let fetched = pages.page(links::path(&link.target)).await;
        fetched.map_err(|refusal| SkillError::FetchPage { skill: skill.name.clone(), refusal })
    }
}

/// Converts an error for models.
fn refuse(error: &SkillError) -> ToolError {
    let message = error.to_string();
    match error {
        SkillError::LeaveFolder { .. } => {
            ToolError::invalid(message, Some("call list_skill_links for the files of the skill".into()))
        }
        SkillError::FindUrl { .. } => {
            ToolError::invalid(message, Some("call list_skill_links for the links of the skill".into()))
        }
        SkillError::FetchUrl { .. } => {
            ToolError::unavailable(message, Some("continue without it, and cite the URL if relevant".into()))
        }
        SkillError::FetchPage { refusal, .. } => {
            let advice = format!("continue without it, and cite the URL if relevant; {}", refusal.advice);
            ToolError::unavailable(message, Some(advice))
        }
        SkillError::FindFile { skill, target, files } => {
            ToolError::not_found(&format!("file of skill `{skill}`"), target, files.iter().map(String::as_str))
        }
        SkillError::ReadFolder { files, .. } => {
            let names: Vec<&str> = files.iter().map(String::as_str).take(20).collect();
            ToolError::invalid(message, Some(format!("read one of its files: {}", names.join(", "))))
        }
        SkillError::ReadFile { .. } | SkillError::Publish { .. } => ToolError::unavailable(message, None),
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Pages, Refusal, SkillLink};

    #[derive(Debug)]
    struct Web;

    #[async_trait]
    impl Pages for Web {
        async fn page(&self, url: &str) -> Result<PageText, Refusal> {
            match url {
                "https://example.com/a" => Ok(PageText { text: "A page.".into(), age: Some(60) }),
                _ => Err(Refusal { reason: format!("{url} is not allowed"), advice: "allow it".into() }),
            }
        }
    }

    async fn check(target: &str, expected: Value) {
        let link = |target: &str| SkillLink { target: target.into(), is_url: true, ..SkillLink::default() };
        let links = vec![link("https://example.com/a#part"), link("https://other.example/")];
        let skill = Skill { name: "web".into(), description: "D".into(), links, ..Skill::default() };
        let skills = SkillDiscovery::new(vec![skill]).0.with_pages(Arc::new(Web));
        let args = LinkArgs { name: "web".into(), target: target.into() };
        let answer = match ResolveSkillLink(Arc::new(skills)).call(args).await {
            Ok(linked) => serde_json::to_value(linked).unwrap(),
            Err(error) => error.to_json(),
        };
        assert_eq!(answer, expected);
    }

    #[tokio::test]
    async fn fetches_only_linked_pages() {
        for target in ["https://example.com/a", " https://example.com/a#other "] {
            check(target, json!({"skill": "web", "target": target, "content": "A page.", "age_seconds": 60})).await;
        }
        check(
            "https://example.com/a?what=i-read",
            json!({"error": "invalid_arguments", "suggestion": "call list_skill_links for the links of the skill",
                   "message": "skill `web` does not link to `https://example.com/a?what=i-read`; only URLs that it links \
                               to are fetched"}),
        )
        .await;
        check(
            "https://other.example/",
            json!({"error": "unavailable",
                   "message": "cannot fetch the page that skill `web` links to: https://other.example/ is not allowed",
                   "suggestion": "continue without it, and cite the URL if relevant; allow it"}),
        )
        .await;
    }
}
