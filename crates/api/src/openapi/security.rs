//! Renders the authorisation of a call, one line per alternative.

use prospector_text::cut;
use serde_json::Value;

use super::Reader;
use crate::{document::escape_key, library::Node};

/// Maximum number of alternatives, and of scopes per alternative.
const MAX_WAYS: usize = 6;
const MAX_SCOPES: usize = 8;

impl<'a> Reader<'a> {
    /// Returns the alternatives of an operation, or else those of the whole API.
    pub(super) fn auth(&mut self, operation: &'a Value, place: &str) -> Vec<String> {
        let own = operation.get("security").or_else(|| self.root.get("security"));
        let alternatives = own.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut lines: Vec<String> = Vec::new();
        for alternative in alternatives.iter().filter_map(Value::as_object) {
            let schemes: Vec<String> =
                alternative.iter().take(MAX_WAYS).map(|(name, scopes)| self.scheme(name, scopes, place)).collect();
            let line = if schemes.is_empty() { "none".to_owned() } else { schemes.join(" + ") };
            if !lines.contains(&line) {
                lines.push(line);
            }
            if lines.len() > MAX_WAYS {
                lines[MAX_WAYS] = format!("… {} more ways", alternatives.len() - MAX_WAYS);
                break;
            }
        }
        // A single `none` carries no information.
        if lines == ["none"] { Vec::new() } else { lines }
    }

    fn scheme(&mut self, name: &str, scopes: &Value, place: &str) -> String {
        let places = ["/components/securitySchemes", "/securityDefinitions"];
        let declared = places.iter().find_map(|place| self.root.pointer(&format!("{place}/{}", escape_key(name))));
        let resolved = declared.map(|value| self.library.resolve(Node { value, ..self.library.root() }));
        let scheme = match resolved {
            Some(Ok((scheme, _))) => scheme.value,
            Some(Err(error)) => {
                self.warn_once(place, error.to_string());
                &Value::Null
            }
            None => {
                self.warn_once(place, format!("unknown security scheme `{name}`"));
                &Value::Null
            }
        };
        let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("type").to_ascii_lowercase().as_str() {
            "http" => format!("{} (http)", text("scheme").to_lowercase()),
            "basic" => "basic (http)".to_owned(),
            "apikey" => format!("api_key in {} {}", text("in"), text("name")),
            "oauth2" => "oauth2".to_owned(),
            "openidconnect" => "openid_connect".to_owned(),
            "" => name.to_owned(),
            other => other.to_owned(),
        };
        let kind = cut::sentences(&kind, 100);
        let scopes: Vec<&str> = scopes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match scopes.len() {
            0 => kind,
            _ => {
                let shown: Vec<String> = scopes.iter().take(MAX_SCOPES).map(|s| cut::sentences(s, 60)).collect();
                let more = scopes.len() - shown.len();
                let more = if more > 0 { format!(", … {more} more") } else { String::new() };
                format!("{kind}: scope {}{more}", shown.join(", "))
            }
        }
    }
}
