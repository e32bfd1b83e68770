//! Converts results of tools and texts of resources, with size limits.

use prospector_core::{mark::clean, tool::client::current_client};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::{Definition, McpError, error::repeat, listing::MAX_NAME};

/// Maximum bytes of a result or a resource.
pub(crate) const MAX_RESULT_BYTES: usize = 4 << 20;
/// Maximum characters of a media type.
const MAX_MIME_TYPE: usize = 100;
/// Maximum number of links of a result.
const MAX_LINKS: usize = 100;
/// Bytes of one message.
pub(crate) const MAX_MESSAGE_BYTES: usize = 2 * MAX_RESULT_BYTES;

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The structured content, or the texts. Images, audio and links are described.
    pub value: Value,
    /// The URIs of linked resources, at most 100; their server may not list them.
    pub links: Vec<String>,
}

/// Converts a result: its structured content, or its texts. JSON texts are parsed; images and audio are
/// described, and attached for the client of the call.
///
/// # Errors
/// [`McpError::Tool`] if the tool reports a failure, [`McpError::Output`], [`McpError::TooLarge`].
pub(crate) fn convert(tool: &Definition, result: CallToolResult) -> Result<ToolResult, McpError> {
    let texts = || result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str());
    if result.is_error == Some(true) {
        let message = repeat(&texts().collect::<Vec<_>>().join(" "));
        let message = if message.is_empty() { "it gives no reason".to_owned() } else { message };
        return Err(McpError::Tool { message });
    }
    let value = match result.structured_content.filter(|content| !content.is_null()) {
        Some(content) => {
            tool.check_output(&content)?;
            content
        }
        None => {
            let mut values: Vec<Value> = result.content.iter().map(describe).collect();
            if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
        }
    };
    limit(value.to_string().len())?;
    let links = result.content.iter().filter_map(find_link).take(MAX_LINKS).collect();
    if let Some(client) = current_client() {
        let attached = result.content.iter().filter_map(attachment);
        attached.for_each(|content| client.attach(content));
    }
    Ok(ToolResult { value, links })
}

/// Returns the URI of a link, if a listed resource could have it.
fn find_link(block: &ContentBlock) -> Option<String> {
    let ContentBlock::ResourceLink(link) = block else { return None };
    (clean(&link.uri, MAX_NAME) == link.uri).then(|| link.uri.clone())
}

/// Returns the kind, the data in base64 and the media type of an image or audio.
fn find_media(block: &ContentBlock) -> Option<(&'static str, &str, &str)> {
    match block {
        ContentBlock::Image(image) => Some(("image", &image.data, &image.mime_type)),
        ContentBlock::Audio(audio) => Some(("audio", &audio.data, &audio.mime_type)),
        _ => None,
    }
}

/// Returns an image or audio as a client gets it: without fields that are meant for the client of the server.
fn attachment(block: &ContentBlock) -> Option<Value> {
    let (kind, data, mime_type) = find_media(block)?;
    Some(json!({"type": kind, "data": data, "mimeType": clean(mime_type, MAX_MIME_TYPE)}))
}

fn describe(block: &ContentBlock) -> Value {
    if let Some((kind, data, mime_type)) = find_media(block) {
        return json!({"type": kind, "mime_type": mime_type, "bytes": data.len() / 4 * 3});
    }
    match block {
        ContentBlock::Text(text) => parse(&text.text),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => json!({"uri": uri, "text": text}),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                json!({"uri": uri, "bytes": blob.len() / 4 * 3})
            }
            _ => json!({"type": "resource"}),
        },
        ContentBlock::ResourceLink(link) => json!({"uri": link.uri, "name": link.name}),
        _ => json!({"type": "other"}),
    }
}

/// Parses objects and lists sent as text; any other text stays a string.
fn parse(text: &str) -> Value {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let parsed = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns the text of a resource.
///
/// # Errors
/// - [`McpError::TooLarge`] if the text exceeds the limit.
/// - [`McpError::Unsupported`] if the resource has no text.
pub(crate) fn join_text(contents: Vec<ResourceContents>) -> Result<String, McpError> {
    let mut texts = Vec::new();
    for content in contents {
        if let ResourceContents::TextResourceContents { text, .. } = content {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return Err(McpError::Unsupported { what: "a resource without text" });
    }
    let text = texts.join("\n\n");
    limit(text.len())?;
    Ok(text)
}

fn limit(bytes: usize) -> Result<(), McpError> {
    match bytes > MAX_RESULT_BYTES {
        true => Err(McpError::TooLarge { bytes, limit: MAX_RESULT_BYTES }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expected: Result<Value, &str>) {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        let schema = json!({"type": "object", "properties": {"b": {"type": "integer"}}});
        let tool = Definition::new(json!({"name": "a", "outputSchema": schema})).unwrap();
        match (convert(&tool, result), expected) {
            (Ok(result), Ok(expected)) => assert_eq!(result.value, expected),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn links_are_limited_and_without_hidden_text() {
        let link = |uri: String| json!({"type": "resource_link", "uri": uri, "name": "a"});
        let links = |uris: Vec<String>| {
            let content: Vec<Value> = uris.into_iter().map(link).collect();
            let result = serde_json::from_value(json!({"content": content})).unwrap();
            convert(&Definition::new(json!({"name": "a"})).unwrap(), result).unwrap().links
        };
        let hidden = ["demo://a\u{202e}", "demo://a\n", "demo://</data>", &"x".repeat(600)].map(str::to_owned);
        assert_eq!(links([vec!["demo://a".to_owned()], hidden.to_vec()].concat()), ["demo://a"]);
        assert_eq!(links((0..200).map(|n| format!("demo://{n}")).collect()).len(), 100);
    }

    #[test]
    fn converts_results_to_json() {
        let text = |text: &str| json!({"type": "text", "text": text});
        check(json!({"content": [text("{\"a\": 1}")]}), Ok(json!({"a": 1})));
        check(json!({"content": [text("late")]}), Ok(json!("late")));
        check(json!({"content": [text("7")]}), Ok(json!("7")));
        check(json!({"content": [text("a"), text("b")]}), Ok(json!(["a", "b"])));
        check(json!({"content": [text("x")], "structuredContent": {"b": 2}}), Ok(json!({"b": 2})));
        let expected = Err("`a` does not match its output schema: `b` must be integer, not string");
        check(json!({"content": [text("x")], "structuredContent": {"b": "2"}}), expected);
        check(json!({"content": [], "isError": true}), Err("it gives no reason"));
        let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        check(json!({"content": [image]}), Ok(json!({"type": "image", "mime_type": "image/png", "bytes": 3})));
        check(json!({"content": [text("no </data> such file")], "isError": true}), Err("no \u{2039}/data> such file"));
        check(json!({"content": [text(&"x".repeat(MAX_RESULT_BYTES + 1))]}), Err("at most"));
    }
}
