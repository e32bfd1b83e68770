//! All APIs of a catalog, and lookup of operations by name, route or id.

use prospector_core::Problem;
use prospector_core::record::Record;
use prospector_core::tool::ToolError;

use crate::{Api, ApiSource, Operation, render};

/// The APIs of a catalog.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiDiscovery {
    apis: Vec<Api>,
}

impl ApiDiscovery {
    /// Creates a discovery over parsed APIs, for example from a cache. If several have the same name, the first is
    /// used.
    pub fn new(apis: Vec<Api>) -> Self {
        let mut discovery = ApiDiscovery::default();
        discovery.extend(apis);
        discovery
    }

    /// Adds APIs; if several have the same name, the first is used.
    pub fn extend(&mut self, apis: Vec<Api>) {
        for api in apis {
            if !self.apis.iter().any(|known| known.name == api.name) {
                self.apis.push(api);
            }
        }
    }

    /// Loads every source. A source that cannot be loaded is reported as a problem and does not affect others.
    pub fn load(sources: &[ApiSource]) -> (Self, Vec<Problem>) {
        let mut discovery = ApiDiscovery::default();
        let mut problems = Vec::new();
        for source in sources {
            let loaded = if discovery.apis.iter().any(|api| api.name == source.name) {
                let reason = format!("duplicate API name `{}`", source.name);
                let problem = Problem::error(source.path.display().to_string(), reason);
                Err(problem.advise("rename one of the APIs"))
            } else {
                source.load()
            };
            match loaded {
                Ok((api, more)) => {
                    discovery.apis.push(api);
                    problems.extend(more);
                }
                Err(problem) => problems.push(problem),
            }
        }
        (discovery, problems)
    }

    /// Parses one API from the text of its OpenAPI or GraphQL description.
    pub fn from_text(name: &str, text: &str) -> (Self, Vec<Problem>) {
        match ApiSource::new(name, "").read(text) {
            Ok((api, problems)) => (ApiDiscovery { apis: vec![api] }, problems),
            Err(problem) => (ApiDiscovery::default(), vec![problem]),
        }
    }

    /// Returns the APIs in catalog order.
    pub fn apis(&self) -> &[Api] {
        &self.apis
    }

    /// Returns one index record per operation.
    pub fn records(&self) -> Vec<Record> {
        self.pairs().map(|(api, operation)| render::record(api, operation)).collect()
    }

    /// Finds an API by name; the case may differ if the match is unambiguous.
    ///
    /// # Errors
    /// `not_found` with the closest names.
    pub fn api(&self, name: &str) -> Result<&Api, ToolError> {
        let wanted = name.trim();
        only(self.apis.iter(), |api| api.name == wanted, |api| same(&api.name, wanted))
            .ok_or_else(|| ToolError::not_found("API", name, self.apis.iter().map(|api| api.name.as_str())))
    }

    /// Finds an operation of an API by name, `METHOD /path` or full id.
    ///
    /// # Errors
    /// `not_found` with the closest names, and with the number of operations of the API that the catalog does not
    /// allow.
    pub fn operation(&self, api: &str, operation: &str) -> Result<(&Api, &Operation), ToolError> {
        let api = self.api(api)?;
        if let Some(found) = find(api, operation.trim()) {
            return Ok((api, found));
        }
        let by_route = operation.contains('/') && !api.operations.iter().any(|known| known.name.contains('/'));
        let candidate = |known: &Operation| if by_route { known.route() } else { known.name.clone() };
        let candidates: Vec<String> = api.operations.iter().map(candidate).collect();
        let candidates = candidates.iter().map(String::as_str);
        let mut error = ToolError::not_found(&format!("`{}` operation", api.name), operation, candidates);
        if let ToolError::Respond { message, .. } = &mut error
            && api.withheld > 0
        {
            message.push_str(&format!(" among those that the catalog allows ({} not allowed)", api.withheld));
        }
        Err(error)
    }

    /// Finds an operation, with its API, by its canonical id.
    pub fn find_operation(&self, id: &str) -> Option<(&Api, &Operation)> {
        self.apis.iter().find_map(|api| {
            let name = id.strip_prefix(api.name.as_str())?.strip_prefix('.')?;
            Some((api, api.operations.iter().find(|operation| operation.name == name)?))
        })
    }

    /// Returns the canonical id, `api.operation`, of an operation given as `api.operation` or `api METHOD /path`.
    pub fn resolve_operation(&self, id: &str) -> Option<String> {
        let id = id.trim();
        // Names of APIs may contain dots: the longest matching name is used.
        let mut apis: Vec<&Api> = self.apis.iter().filter(|api| within(&api.name, id).is_some()).collect();
        apis.sort_by_key(|api| std::cmp::Reverse(api.name.len()));
        apis.into_iter().find_map(|api| find(api, within(&api.name, id)?).map(|operation| api.id_of(operation)))
    }

    /// Returns the canonical id of every operation.
    pub fn operation_ids(&self) -> impl Iterator<Item = String> {
        self.pairs().map(|(api, operation)| api.id_of(operation))
    }

    fn pairs(&self) -> impl Iterator<Item = (&Api, &Operation)> {
        self.apis.iter().flat_map(|api| api.operations.iter().map(move |operation| (api, operation)))
    }
}

fn find<'a>(api: &'a Api, wanted: &str) -> Option<&'a Operation> {
    let by_name = |wanted: &str| {
        let operations = || api.operations.iter();
        only(operations(), |o| o.name == wanted, |o| same(&o.name, wanted))
            .or_else(|| only(operations(), |o| o.route() == wanted, |o| o.is_route(wanted)))
    };
    by_name(wanted).or_else(|| by_name(within(&api.name, wanted)?))
}

/// Returns the exact match, or else the only approximate match.
fn only<'a, T>(
    mut items: impl Iterator<Item = &'a T> + Clone,
    exactly: impl Fn(&T) -> bool,
    loosely: impl Fn(&T) -> bool,
) -> Option<&'a T> {
    let exact = items.clone().find(|item| exactly(item));
    exact.or_else(|| {
        let first = items.find(|item| loosely(item))?;
        items.all(|item| !loosely(item)).then_some(first)
    })
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Returns the part of an id after the name of its API.
fn within<'a>(api: &str, id: &'a str) -> Option<&'a str> {
    let (head, rest) = id.split_at_checked(api.len())?;
    let rest = rest.strip_prefix(['.', ' '])?;
    same(head, api).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discovery() -> ApiDiscovery {
        let text = |name: &str, text: &str| ApiSource::new(name, "").read(text).unwrap().0;
        ApiDiscovery::new(vec![
            text(
                "shop",
                "openapi: 3.0.0\npaths:\n  /orders: {get: {operationId: listOrders}, post: {}}\n  /Orders: {get: {}}\n  /orders/{id}: {get: {operationId: v2.getOrder}}",
            ),
            text("shop.eu", "type Query { order(id: ID): Int }"),
        ])
    }

    fn check(id: &str, expected: Option<&str>) {
        assert_eq!(discovery().resolve_operation(id).as_deref(), expected, "{id}");
    }

    #[test]
    fn resolves_ids_to_canonical_form() {
        check("shop.listOrders", Some("shop.listOrders"));
        check("SHOP.listorders", Some("shop.listOrders"));
        check("shop GET /orders", Some("shop.listOrders"));
        check("shop get /orders/", None);
        check("shop GET /Orders", Some("shop.get_Orders"));
        check("shop POST /orders/", Some("shop.post_orders"));
        check("shop GET /orders/{order_id}", Some("shop.v2.getOrder"));
        check("shop.GET /orders/{id}", Some("shop.v2.getOrder"));
        check("shop.eu.order", Some("shop.eu.order"));
        check("shop.eu QUERY order", Some("shop.eu.order"));
        check("shop.nothing", None);
        check("shop", None);
        check("", None);
        check("日本", None);
    }

    #[test]
    fn every_id_resolves_to_itself() {
        let discovery = discovery();
        for id in discovery.operation_ids() {
            assert_eq!(discovery.resolve_operation(&id), Some(id));
        }
        assert_eq!(discovery.operation_ids().count(), discovery.records().len());
    }

    #[test]
    fn unknown_name_suggests_closest() {
        let discovery = discovery();
        let error = |api, operation| discovery.operation(api, operation).unwrap_err().to_string();
        assert_eq!(error("shoop", "x"), "there is no API `shoop` (did you mean `shop`, `shop.eu`?)");
        assert!(error("shop", "listOrder").contains("did you mean `listOrders`"), "{}", error("shop", "listOrder"));
        let route = error("shop", "GET /order");
        assert!(route.contains("`GET /orders`"), "{route}");
    }

    #[test]
    fn reports_operation_that_is_not_allowed() {
        let source = ApiSource { allow: vec!["a".into()], ..ApiSource::new("x", "") };
        let (api, _) = source.read("type Query { a: Int, b: Int }").unwrap();
        let error = ApiDiscovery::new(vec![api]).operation("x", "b").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no `x` operation `b` among those that the catalog allows (1 not allowed) (known: `a`)"
        );
    }

    #[test]
    fn invalid_source_does_not_affect_others() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            ApiSource::new(name.split('.').next().unwrap(), path)
        };
        let sources = [
            write("old.json", "{\"swagger\": \"1.2\"}"),
            ApiSource::new("gone", folder.path().join("gone.yaml")),
            write("good.graphql", "type Query { a: Int }"),
            write("good.yaml", "openapi: 3.0.0\npaths: {}"),
        ];
        let (discovery, problems) = ApiDiscovery::load(&sources);
        assert_eq!(discovery.apis().iter().map(|api| api.name.as_str()).collect::<Vec<_>>(), ["good"]);
        let reasons: Vec<&str> = problems.iter().map(|p| p.reason.split(';').next().unwrap()).collect();
        assert_eq!(reasons[0], "unsupported format OpenAPI 1.2");
        assert!(reasons[1].starts_with("cannot read"));
        assert_eq!(reasons[2], "duplicate API name `good`");
    }

    #[test]
    fn apis_round_trip_through_json() {
        let apis = discovery().apis().to_vec();
        let json = serde_json::to_string(&apis).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Api>>(&json).unwrap(), apis);
    }
}
