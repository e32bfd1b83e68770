//! Skills as the MCP extension `io.modelcontextprotocol/skills` serves them
//! (<https://modelcontextprotocol.io/seps/2640-skills-extension>): each file is a resource, `skill://NAME/PATH`.
//!
//! Skills that need tools which this server does not have are not served, nor are those that the extension cannot represent.

use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{
        CacheScope, GetSkillResult, JsonObject, ListSkillsResult, ResourceContents, Skill, SkillFrontmatter,
        SkillResource, SkillResources,
    },
};
use serde_json::Value;

use super::{
    invalid_params,
    uris::{ESCAPED, parse_cursor, write_cursor},
};
use crate::{error::Refusal, view::CatalogView};

pub(super) const SCHEME: &str = "skill://";

/// Skills per page of the list.
const PAGE: usize = 50;

/// Characters of a path that a URI does not escape.
const ESCAPED_IN_PATHS: &AsciiSet = &ESCAPED.remove(b'/');

/// The name of the file of a skill.
const SKILL_MD: &str = "SKILL.md";

/// Lists skills from a cursor.
pub(super) fn list(view: &CatalogView, cursor: Option<String>) -> Result<ListSkillsResult, ErrorData> {
    let offset = parse_cursor(cursor)?;
    let names: Vec<&str> = view.catalog.skills.skills().iter().map(|skill| skill.name.as_str()).collect();
    let page = names.iter().skip(offset).take(PAGE);
    let skills = page.filter_map(|name| {
        let found = publish(view, name);
        found.inspect_err(|refusal| tracing::debug!(skill = name, reason = %refusal.message, "not served")).ok()
    });
    let mut result = ListSkillsResult::with_all_items(skills.collect()).with_cache_scope(CacheScope::Private);
    result.next_cursor = (offset + PAGE < names.len()).then(|| write_cursor(offset + PAGE));
    Ok(result)
}

/// Returns the skill whose `SKILL.md` has this URI.
pub(super) fn get(view: &CatalogView, uri: &str) -> Result<GetSkillResult, ErrorData> {
    let name = uri.strip_prefix(SCHEME).and_then(|place| place.strip_suffix(SKILL_MD)?.strip_suffix('/'));
    let skill = name.ok_or_else(|| unknown(uri)).and_then(|name| publish(view, name));
    Ok(GetSkillResult::new(skill.map_err(|refusal| invalid_params(&refusal))?).with_cache_scope(CacheScope::Private))
}

/// Reads the file of a skill at a place `NAME/PATH`, unchanged, so that it matches its digest.
pub(super) fn read(view: &CatalogView, place: &str, uri: &str) -> Result<ResourceContents, Refusal> {
    let (name, path) = place.split_once('/').ok_or_else(|| unknown(uri))?;
    let path = percent_decode_str(path).decode_utf8().map_err(|_| unknown(uri))?;
    let skill = view.catalog.skills.find_usable(name).ok_or_else(|| unknown(uri))?;
    let bytes = skill.publish_file(&path).map_err(|_| unknown(uri))?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri),
    };
    Ok(if path.ends_with(".md") { contents.with_mime_type("text/markdown") } else { contents })
}

fn publish(view: &CatalogView, name: &str) -> Result<Skill, Refusal> {
    let uri = |path: &str| format!("{SCHEME}{name}/{}", utf8_percent_encode(path, ESCAPED_IN_PATHS));
    let skill = view.catalog.skills.find_usable(name).ok_or_else(|| unknown(&uri(SKILL_MD)))?;
    let published = skill.publish().map_err(|error| Refusal::not_found(error.to_string()))?;
    let mut extra: JsonObject = published.front_matter;
    extra.retain(|key, _| key != "name");
    let description = extra.shift_remove("description");
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut front_matter = SkillFrontmatter::new(name, description);
    front_matter.extra = extra;
    let files = published.files.iter().map(|(path, bytes)| SkillResource::from_bytes(uri(path), bytes));
    Ok(Skill::new(uri(SKILL_MD), front_matter, SkillResources::Files(files.collect())))
}

fn unknown(uri: &str) -> Refusal {
    Refusal::not_found(format!("unknown skill resource `{uri}`")).advise("skills/list has the URIs")
}
