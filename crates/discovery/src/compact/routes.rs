//! The mapping of tools of the full profile to those of the compact one.

use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;
use serde_json::{Map, Value};

/// A tool of the full profile, and the equivalent call of the compact one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The tool of the full profile.
    pub full: &'static str,
    /// The tool of the compact profile.
    pub compact: &'static str,
    /// Its arguments as JSON; `$name` is an argument of the full tool. Fields and parts in braces whose arguments are missing are omitted.
    pub arguments: &'static str,
}

/// All tools of the full profile, sorted by name.
#[rustfmt::skip]
pub const ROUTES: [Route; 29] = [
    route("add_fact",                "add_fact",     r#"{"term": "$term", "definition": "$definition", "source": "$source",
                                                         "confidence": "$confidence", "reasoning": "$reasoning", "scope": "$scope"}"#),
    route("extract_facts_from_text", "resolve_fact", r#"{"text": "$text"}"#),
    route("get_document",            "describe",     r#"{"ids": ["$name"]}"#),
    route("get_document_section",    "describe",     r#"{"ids": ["$name#$section"]}"#),
    route(SemanticModel::SHOW_TOOL,  "describe",     r#"{"ids": ["$name"]}"#),
    route("get_operation_details",   "describe",     r##"{"ids": ["$api.$operation{#$part}"]}"##),
    route("get_sample_values",       "sample",       r#"{"column": "$database.$table.$column", "contains": "$contains", "limit": "$limit"}"#),
    route("get_skill",               "describe",     r#"{"ids": ["$name"]}"#),
    route("get_table_relationships", "list",         r#"{"of": "$database.$table", "filter": "$to"}"#),
    route("get_table_schema",        "describe",     r##"{"ids": ["$database.$table{#$columns}"], "values": "$values", "query": "$query"}"##),
    route("get_unresolved_facts",    "list",         r#"{"of": "open_questions", "limit": "$limit", "offset": "$offset"}"#),
    route(VerifiedQueries::GET_TOOL, "describe",     r#"{"ids": ["$name"]}"#),
    route("list_api_operations",     "list",         r#"{"of": "$api", "filter": "$tag", "limit": "$limit", "offset": "$offset"}"#),
    route("list_apis",               "list",         r#"{"of": "apis", "limit": "$limit", "offset": "$offset"}"#),
    route("list_databases",          "list",         r#"{"of": "databases", "limit": "$limit", "offset": "$offset"}"#),
    route("list_documents",          "list",         r#"{"of": "documents", "limit": "$limit", "offset": "$offset"}"#),
    route("list_known_facts",        "list",         r#"{"of": "facts", "filter": "$contains", "limit": "$limit", "offset": "$offset"}"#),
    route(SemanticModel::LIST_TOOL,  "list",         r#"{"of": "metrics", "filter": "$contains", "limit": "$limit", "offset": "$offset"}"#),
    route("list_skill_links",        "list",         r#"{"of": "$name"}"#),
    route("list_skills",             "list",         r#"{"of": "skills", "limit": "$limit", "offset": "$offset"}"#),
    route("list_tables",             "list",         r#"{"of": "$database", "limit": "$limit", "offset": "$offset"}"#),
    route(VerifiedQueries::LIST_TOOL, "list",        r#"{"of": "queries", "limit": "$limit", "offset": "$offset"}"#),
    route("resolve_fact",            "resolve_fact", r#"{"question": "$question"}"#),
    route("resolve_skill_link",      "describe",     r#"{"ids": ["$name#$target"]}"#),
    route("search",                  "search",       r#"{"query": "$query", "kinds": "$kinds", "limit": "$limit"}"#),
    route("search_documents",        "search",       r#"{"query": "$query", "kinds": ["document"], "limit": "$limit"}"#),
    route("search_operations",       "search",       r#"{"query": "$query", "kinds": ["operation"], "limit": "$limit"}"#),
    route("search_skills",           "search",       r#"{"query": "$query", "kinds": ["skill"], "limit": "$limit"}"#),
    route("search_tables",           "search",       r#"{"query": "$query", "kinds": ["table"], "limit": "$limit", "database": "$database"}"#),
];

const fn route(full: &'static str, compact: &'static str, arguments: &'static str) -> Route {
    Route { full, compact, arguments }
}

impl Route {
    /// Returns the route of a tool of the full profile.
    pub fn of(full: &str) -> Option<&'static Route> {
        ROUTES.iter().find(|route| route.full == full)
    }

    /// Translates arguments of the full tool to those of the compact one; `max_tokens` is preserved.
    pub fn translate(&self, arguments: &Value) -> Value {
        let template: Map<String, Value> = serde_json::from_str(self.arguments).unwrap_or_default();
        let mut translated: Map<String, Value> =
            template.into_iter().filter_map(|(key, value)| Some((key, fill(&value, arguments)?))).collect();
        if let Some(most) = arguments.get("max_tokens") {
            translated.insert("max_tokens".into(), most.clone());
        }
        translated.into()
    }
}

/// Fills in a template; `None` if an argument is missing.
fn fill(template: &Value, arguments: &Value) -> Option<Value> {
    match template {
        Value::Array(items) => items.iter().map(|item| fill(item, arguments)).collect(),
        Value::String(text) => match text.strip_prefix('$').filter(|name| !name.contains('$')) {
            Some(name) => arguments.get(name).filter(|value| !value.is_null()).cloned(),
            None => {
                let (text, option) = match text.strip_suffix('}').and_then(|text| text.split_once('{')) {
                    Some((text, option)) => (text, fill(&option.into(), arguments)),
                    None => (text.as_str(), None),
                };
                let mut parts = text.split('$');
                let mut out = parts.next().unwrap_or_default().to_owned();
                for part in parts {
                    let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
                    out.push_str(arguments.get(&part[..end])?.as_str()?);
                    out.push_str(&part[end..]);
                }
                out.push_str(option.as_ref().and_then(Value::as_str).unwrap_or_default());
                Some(out.into())
            }
        },
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(full: &str, arguments: Value, expected: Value) {
        let route = Route::of(full).unwrap_or_else(|| panic!("no route of {full}"));
        assert_eq!(route.translate(&arguments), expected);
    }

    #[test]
    fn translates_only_given_arguments() {
        check("get_table_schema", json!({"database": "shop", "table": "a.b"}), json!({"ids": ["shop.a.b"]}));
        let (bare, part) =
            (json!({"api": "shop", "operation": "pay"}), json!({"api": "shop", "operation": "pay", "part": "auth"}));
        let columns = json!({"database": "shop", "table": "orders", "columns": "total*", "query": "how much?"});
        check("get_table_schema", columns, json!({"ids": ["shop.orders#total*"], "query": "how much?"}));
        check("get_operation_details", bare, json!({"ids": ["shop.pay"]}));
        check("get_operation_details", part, json!({"ids": ["shop.pay#auth"]}));
        check("list_tables", json!({"database": "shop", "offset": 50}), json!({"of": "shop", "offset": 50}));
        check(
            "search_skills",
            json!({"query": "costs $5 $query", "max_tokens": 90}),
            json!({"query": "costs $5 $query", "kinds": ["skill"], "max_tokens": 90}),
        );
    }

    #[test]
    fn routes_are_sorted_and_valid_json() {
        assert!(ROUTES.is_sorted_by_key(|route| route.full));
        for route in ROUTES {
            assert!(serde_json::from_str::<Map<String, Value>>(route.arguments).is_ok(), "{}", route.full);
        }
    }
}
