//! The tools for APIs.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::record::{MIN_DESCRIBED, Relevance, Resource, drop_tail};
use prospector_core::tool::{Answer, Effect, ListArgs, Page, Part, Tool, ToolError, ToolOutput, Toolset};
use prospector_search::{Index, Query};
use prospector_text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Api, ApiDiscovery, ApiKind, Operation,
    details::{OperationDetails, PartRequest, PartWords, details},
    model::Access,
    render::{self, api_resource, operation_resources},
};

/// Default number of items in a list.
const LISTED: usize = 50;

/// Default and maximum number of hits of a search.
const FOUND: usize = 5;
const MAX_FOUND: usize = 50;

/// Maximum length of a description in a list, in characters.
const SHORT: usize = 120;

impl ApiDiscovery {
    /// Returns the four tools for APIs: `list_apis`, `list_api_operations`, `get_operation_details`,
    /// `search_operations`.
    pub fn tools(self: &Arc<Self>, index: &Index) -> Toolset {
        Toolset::new()
            .with(ListApis { discovery: self.clone() })
            .with(ListApiOperations { discovery: self.clone() })
            .with(GetOperationDetails { discovery: self.clone() })
            .with(SearchOperations { discovery: self.clone(), index: index.clone() })
    }
}

impl ApiDiscovery {
    /// Returns an operation like `get_operation_details`, or one part of it in full; truncated parts are referred to
    /// by ids such as `shop.getOrder#response_schema`.
    ///
    /// # Errors
    /// `not_found` with the closest names.
    pub fn describe(&self, api: &str, operation: &str, part: Option<&str>) -> Result<Answer, ToolError> {
        let (api, operation) = self.operation(api, operation)?;
        let shown = details(api, operation, PartRequest { part, depth: None, words: PartWords::Id })?;
        Ok(Answer::of(shown, "call again with `api.operation#part`, or a larger max_tokens"))
    }
}

struct ListApis {
    discovery: Arc<ApiDiscovery>,
}

#[derive(Clone, Serialize)]
struct ListedApi {
    name: String,
    r#type: ApiKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    operations: usize,
    /// States when its operations were last listed, if the server is unavailable.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl Tool for ListApis {
    const NAME: &'static str = "list_apis";
    const DESCRIPTION: &'static str = "Lists the APIs with their number of operations.";
    const MORE: &'static str = "call again with an offset";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<ListedApi>;

    async fn call(&self, args: ListArgs) -> Result<Page<ListedApi>, ToolError> {
        let listed = |api: &Api| ListedApi {
            name: api.name.clone(),
            r#type: api.kind,
            url: api.url.clone(),
            description: cut::sentences(&api.description, 2 * SHORT),
            operations: api.operations.len(),
            note: api.note().to_owned(),
        };
        let apis = self.discovery.apis().iter().map(listed).collect();
        Ok(Page::of_list(apis, args))
    }
}

struct ListApiOperations {
    discovery: Arc<ApiDiscovery>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListApiOperationsArgs {
    /// The name of the API.
    api: String,
    /// Only operations with this tag.
    tag: Option<String>,
    /// Maximum number of results (default 50).
    limit: Option<usize>,
    /// Number of results to skip.
    offset: Option<usize>,
}

#[derive(Clone, Serialize)]
struct ListedOperation {
    #[serde(skip)]
    owner: Arc<str>,
    name: String,
    r#type: &'static str,
    method: String,
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
}

impl Tool for ListApiOperations {
    const NAME: &'static str = "list_api_operations";
    const ALIASES: &'static [&'static str] = &["list_operations"];
    const DESCRIPTION: &'static str =
        "Lists the operations of one API. In a large API, search_operations finds the right one faster.";
    const MORE: &'static str = "call again with an offset, a tag, or use search_operations";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListApiOperationsArgs;
    type Output = Page<ListedOperation>;

    async fn call(&self, args: ListApiOperationsArgs) -> Result<Page<ListedOperation>, ToolError> {
        let api = self.discovery.api(&args.api)?;
        let tagged = |operation: &&Operation| match &args.tag {
            Some(tag) => operation.tags.iter().any(|own| own.to_lowercase() == tag.to_lowercase()),
            None => true,
        };
        let chosen: Vec<&Operation> = api.operations.iter().filter(tagged).collect();
        if let (Some(tag), []) = (&args.tag, chosen.as_slice()) {
            let tags = api.operations.iter().flat_map(|operation| &operation.tags).map(String::as_str);
            let distinct: std::collections::BTreeSet<&str> = tags.collect();
            return Err(ToolError::not_found(&format!("`{}` tag", api.name), tag, distinct));
        }
        let owner: Arc<str> = api.name.as_str().into();
        let listed = |operation: &&Operation| ListedOperation {
            owner: owner.clone(),
            name: operation.name.clone(),
            r#type: api.type_of(operation),
            method: operation.method.clone(),
            path: operation.path.clone(),
            description: render::describe(operation, SHORT),
        };
        let operations = chosen.iter().map(listed).collect();
        let mut page = Page::cut(operations, args.offset.unwrap_or(0), args.limit.unwrap_or(LISTED).max(1));
        if api.withheld > 0 {
            page.note = Some(format!("{} more are not allowed by the catalog", api.withheld));
        }
        Ok(page)
    }
}

struct GetOperationDetails {
    discovery: Arc<ApiDiscovery>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetOperationDetailsArgs {
    /// The name of the API.
    api: String,
    /// The name of the operation, or METHOD /path.
    operation: String,
    /// One part in full: response_schema.owner, or a type.
    part: Option<String>,
    /// Maximum nesting of objects.
    depth: Option<usize>,
}

impl Tool for GetOperationDetails {
    const NAME: &'static str = "get_operation_details";
    const DESCRIPTION: &'static str =
        "Returns the parameters, body, response and auth of an operation. Keys with $ are annotations.";
    const MORE: &'static str = "call again with a part, or with a smaller depth";
    const EFFECT: Effect = Effect::Reads;
    type Args = GetOperationDetailsArgs;
    type Output = OperationDetails;

    async fn call(&self, args: GetOperationDetailsArgs) -> Result<OperationDetails, ToolError> {
        let (api, operation) = self.discovery.operation(&args.api, &args.operation)?;
        let asked = PartRequest { part: args.part.as_deref(), depth: args.depth, words: PartWords::Argument };
        details(api, operation, asked)
    }
}

struct SearchOperations {
    discovery: Arc<ApiDiscovery>,
    index: Index,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchOperationsArgs {
    /// What the operation should do, or its name.
    query: String,
    /// Maximum number of results (default 5).
    limit: Option<usize>,
}

#[derive(Clone, Serialize)]
struct FoundOperation {
    api: String,
    operation: String,
    method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<Access>,
    relevance: Relevance,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
}

impl Tool for SearchOperations {
    const NAME: &'static str = "search_operations";
    const DESCRIPTION: &'static str = "Finds API operations by what they do, over all APIs.";
    const MORE: &'static str = "call again with a smaller limit or a more specific query";
    const EFFECT: Effect = Effect::Reads;
    type Args = SearchOperationsArgs;
    type Output = Page<FoundOperation>;

    async fn call(&self, args: SearchOperationsArgs) -> Result<Page<FoundOperation>, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid("the query is empty", Some("describe what the operation should do".into())));
        }
        let fill = args.limit.is_some();
        let query = Query {
            text: args.query,
            kinds: vec![Kind::Operation],
            limit: args.limit.unwrap_or(FOUND).clamp(1, MAX_FOUND),
            fill,
            ..Query::default()
        };
        let mut found = self.index.find(query).await?;
        if !fill {
            drop_tail(&mut found.hits, |hit| hit.relevance);
        }
        let hits = found.hits.into_iter().enumerate().filter_map(|(number, hit)| {
            // A shared index may contain operations that this catalog does not have.
            let (_, operation) = self.discovery.find_operation(&hit.id)?;
            Some(FoundOperation {
                method: operation.method.clone(),
                access: operation.access(),
                api: hit.parent,
                operation: hit.name,
                relevance: hit.relevance,
                description: if hit.relevance.get() < MIN_DESCRIBED && number > 0 {
                    String::new()
                } else {
                    cut::sentences(&hit.description, SHORT)
                },
            })
        });
        Ok(Page::of_search(hits.collect(), found.is_weak, found.nearest))
    }
}

impl ToolOutput for ListedApi {
    fn reveals(&self) -> Vec<Resource> {
        vec![api_resource(&self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![("description", Part::Text(&mut self.description))];
        parts.extend(self.url.as_mut().map(|url| ("url", Part::Text(url))));
        parts
    }
}

impl ToolOutput for ListedOperation {
    fn reveals(&self) -> Vec<Resource> {
        operation_resources(&self.owner, &self.name)
    }

    fn reveal_all(items: &[Self]) -> Vec<Resource> {
        let api = items.first().map(|item| api_resource(&item.owner));
        let operation = |item: &Self| operation_resources(&item.owner, &item.name).pop();
        api.into_iter().chain(items.iter().filter_map(operation)).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

impl ToolOutput for FoundOperation {
    fn reveals(&self) -> Vec<Resource> {
        operation_resources(&self.api, &self.operation)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::ApiSource;

    const SHOP: &str = r#"
openapi: 3.0.0
info: {title: Shop, description: Orders and customers.}
servers: [{url: "https://shop.example"}]
paths:
  /orders:
    get: {operationId: listOrders, summary: Lists the orders of a customer, tags: [Orders]}
    post: {operationId: createOrder, summary: Places an order, tags: [Orders]}
  /weather: {get: {operationId: getWeather, summary: Forecast of rain and wind, tags: [Other]}}
"#;

    fn tools() -> Toolset {
        let read = |source: ApiSource, text: &str| source.read(text).unwrap().0;
        let allowed = ApiSource { allow: vec!["user".into()], ..ApiSource::new("People", "") };
        let discovery = Arc::new(ApiDiscovery::new(vec![
            read(ApiSource::new("shop", ""), SHOP),
            read(allowed, "type Query { user: Int, secret: Int }"),
        ]));
        let index = Index::in_memory(discovery.records(), None).unwrap();
        discovery.tools(&index)
    }

    /// Checks the result, and the ids that it reveals.
    async fn check(name: &str, args: Value, expected: Value, revealed: &[&str]) {
        match tools().call(name, args).await {
            Ok(answer) => {
                assert_eq!(answer.json(), &expected);
                assert_eq!(answer.reveals().iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), revealed);
            }
            Err(error) => assert_eq!(error.to_json(), expected),
        }
    }

    #[tokio::test]
    async fn lists_apis_with_number_of_operations() {
        check(
            "list_apis",
            json!({}),
            json!([{"name": "shop", "type": "openapi", "url": "https://shop.example",
                    "description": "Shop. Orders and customers.", "operations": 3},
                   {"name": "People", "type": "graphql", "operations": 1}]),
            &["shop", "People"],
        )
        .await;
    }

    #[tokio::test]
    async fn lists_operations_by_tag_and_page() {
        check(
            "list_api_operations",
            json!({"api": "shop", "tag": "orders", "limit": 1, "offset": 1}),
            json!({"items": [{"name": "createOrder", "type": "rest", "method": "POST", "path": "/orders",
                              "description": "Places an order"}], "total": 2}),
            &["shop", "shop.createOrder"],
        )
        .await;
        check(
            "list_api_operations",
            json!({"api": "People"}),
            json!({"items": [{"name": "user", "type": "query", "method": "QUERY", "path": "user"}],
                   "note": "1 more are not allowed by the catalog"}),
            &["People", "People.user"],
        )
        .await;
        check(
            "list_api_operations",
            json!({"api": "shop", "tag": "order"}),
            json!({"error": "not_found", "message": "there is no `shop` tag `order`",
                   "suggestion": "did you mean `Orders`?"}),
            &[],
        )
        .await;
    }

    #[tokio::test]
    async fn details_reveal_canonical_names() {
        check(
            "get_operation_details",
            json!({"api": "people", "operation": "USER"}),
            json!({"api": "People", "operation": "user", "type": "query", "method": "QUERY", "path": "user",
                   "access": "reads", "response_schema": "Int",
                   "example": {"operation": "People.user", "arguments": {}}}),
            &["People", "People.user"],
        )
        .await;
    }

    #[tokio::test]
    async fn searches_by_words_and_route() {
        for query in ["rain forecast", "GET /weather", "getWeather"] {
            let answer = tools().call("search_operations", json!({"query": query, "limit": 1})).await.unwrap();
            let first = &answer.json()[0];
            assert_eq!((first["api"].as_str(), first["operation"].as_str()), (Some("shop"), Some("getWeather")));
            assert_eq!((&first["method"], &first["access"]), (&json!("GET"), &json!("reads")));
            assert!(first["relevance"].as_f64().is_some_and(|relevance| relevance > 0.0 && relevance <= 1.0));
            assert_eq!(answer.reveals().iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["shop", "shop.getWeather"]);
        }
    }

    #[tokio::test]
    async fn search_without_match_is_weak() {
        let answer = tools().call("search_operations", json!({"query": "zzyzx qwxv"})).await.unwrap();
        assert_eq!(answer.json()["note"], "no good match; search with other words, in the language of the catalog");
        assert_eq!(answer.reveals(), []);
        let error = tools().call("search_operations", json!({"query": " "})).await.unwrap_err();
        assert_eq!(error.to_json()["error"], "invalid_arguments");
    }

    #[test]
    fn definitions_are_small() {
        for spec in tools().specs() {
            let tokens = prospector_core::tokens::estimate(&serde_json::to_string(&spec).unwrap());
            assert!(tokens < 180, "{}: {tokens}", spec.name);
        }
    }
}
