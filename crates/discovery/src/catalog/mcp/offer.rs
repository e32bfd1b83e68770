//! Converts resources of MCP servers to documents that are read on demand, and their prompts to skills.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use prospector_documents::{
    Document, DocumentDiscovery,
    model::{ResourceReader, Unreadable},
};
use prospector_mcp::listing::{Prompt, Resource};
use prospector_skills::{Skill, SkillDiscovery};

use super::McpServers;

/// Maximum number of variables of a URI template.
const MAX_VARIABLES: usize = 20;

/// Adds the resources and prompts of all servers.
pub(in crate::catalog) fn add(
    documents: Arc<DocumentDiscovery>,
    skills: Arc<SkillDiscovery>,
    servers: &Arc<McpServers>,
) -> (Arc<DocumentDiscovery>, Arc<SkillDiscovery>) {
    let (mut resources, mut prompts): (Vec<Document>, Vec<Skill>) = Default::default();
    for (server, record) in servers.records() {
        resources.extend(record.resources.iter().map(|one| describe(server, one)));
        prompts.extend(record.prompts.iter().map(|one| convert(server, one)));
    }
    let documents = match resources.is_empty() {
        true => documents,
        false => Arc::new(Arc::unwrap_or_clone(documents).with_resources(resources, servers.clone())),
    };
    let skills = match prompts.is_empty() {
        true => skills,
        false => Arc::new(Arc::unwrap_or_clone(skills).with_prompts(prompts)),
    };
    (documents, skills)
}

fn describe(server: &str, resource: &Resource) -> Document {
    let mut description = resource.description.clone();
    if resource.is_template {
        let form = "A template: read it with its variables filled in.";
        description = if description.is_empty() { form.to_owned() } else { format!("{description} {form}") };
    }
    Document::resource(server, &resource.uri, &resource.name, &description)
}

fn convert(server: &str, prompt: &Prompt) -> Skill {
    let name: String =
        prompt.name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let arguments: Vec<String> = (prompt.arguments.iter())
        .map(|(name, is_required)| format!("- {name}{}", if *is_required { " (required)" } else { "" }))
        .collect();
    let arguments =
        if arguments.is_empty() { "no arguments".to_owned() } else { format!("arguments:\n{}", arguments.join("\n")) };
    Skill {
        name: format!("{}-{name}", server.to_ascii_lowercase()),
        description: format!("Prompt `{}` of the MCP server `{server}`. {}", prompt.name, prompt.description),
        path: PathBuf::from(format!("mcp:{server}")),
        content: format!("The prompt `{}` of the MCP server `{server}` has {arguments}", prompt.name),
        server: Some(server.to_owned()),
        ..Skill::default()
    }
}

/// Returns whether a URI has variables that are not filled in.
fn is_template(uri: &str) -> bool {
    uri.contains(['{', '}'])
}

/// Returns whether a URI matches a template: each variable matches at least one character, without `/` unless it is `{+name}`.
fn fits(template: &str, uri: &str) -> bool {
    let mut pattern = String::from("^");
    let mut rest = template;
    for _ in 0..MAX_VARIABLES {
        let Some((before, after)) = rest.split_once('{') else { break };
        let Some((variable, behind)) = after.split_once('}') else { break };
        pattern.push_str(&regex::escape(before));
        pattern.push_str(if variable.starts_with(['+', '#']) { ".+" } else { "[^/?#]+" });
        rest = behind;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    regex::Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(uri))
}

#[async_trait]
impl ResourceReader for McpServers {
    async fn read(&self, name: &str) -> Result<String, Unreadable> {
        let unknown = || Unreadable { reason: format!("unknown resource `{name}`"), advice: "search again".to_owned() };
        let (connected, uri) = self.resource(name).ok_or_else(unknown)?;
        if is_template(uri) {
            let advice = "fill in the variables of its URI".to_owned();
            return Err(Unreadable { reason: format!("`{name}` is a template"), advice });
        }
        connected.server.read(uri).await.map_err(|error| Unreadable {
            reason: format!("cannot read `{name}`: {}", error.without_output()),
            advice: error.advice(),
        })
    }

    fn knows(&self, name: &str) -> bool {
        self.resource(name).is_some()
    }
}

impl McpServers {
    /// Returns the name of the document that a resource of a server is listed as, or that a template makes; `None` for an unlisted one.
    pub(super) fn find_document(&self, server: &str, uri: &str) -> Option<String> {
        let name = format!("{server}/{uri}");
        (!is_template(uri) && self.resource(&name).is_some()).then_some(name)
    }

    /// Returns the server of a resource, and its URI.
    fn resource<'n>(&self, name: &'n str) -> Option<(&super::caller::Connected, &'n str)> {
        let (server, uri) = name.split_once('/')?;
        let connected = self.server(server)?;
        let meant = |one: &Resource| one.uri == uri || one.is_template && fits(&one.uri, uri);
        connected.record.resources.iter().any(meant).then_some((connected, uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_matches_only_its_uris() {
        for (template, uri, expected) in [
            ("demo://text/{id}", "demo://text/7", true),
            ("demo://text/{id}", "demo://text/", false),
            ("demo://text/{id}", "demo://text/7/8", false),
            ("file:///{+path}", "file:///a/b.md", true),
            ("file:///{path}", "http://evil.example/a", false),
            ("demo://text.x", "demo://textyx", false),
        ] {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
