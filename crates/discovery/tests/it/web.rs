//! Documents, APIs, a GraphQL endpoint and links of skills that are fetched by URL, against local servers.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile};
use serde_json::{Value, json};

const OPENAPI: &str = "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: /v1}]\n\
                       paths: {/orders: {$ref: 'parts/orders.yaml'}}\n";
const ORDERS: &str = "get: {operationId: listOrders, responses: {'200': {$ref: '../common.yaml#/ok'}}}\n";

/// The requests to a server, and the current content of its page.
#[derive(Default)]
struct Site {
    asked: Mutex<Vec<String>>,
    page: Mutex<String>,
}

/// Starts a server; returns its host and port, and its task.
async fn server(site: Arc<Site>) -> (String, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(move |request: Request| answer(site.clone(), request));
    (host, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

async fn answer(site: Arc<Site>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let known = request.headers().get("if-none-match").is_some();
    site.asked.lock().unwrap().push(format!("{} {path}", request.method()));
    let typed = |name: &'static str, text: String| ([("content-type", name)], text).into_response();
    match path.as_str() {
        "/rules" => {
            let page = site.page.lock().unwrap().clone();
            let etag = format!("\"{}\"", page.len());
            if known && request.headers()["if-none-match"] == etag.as_str() {
                return StatusCode::NOT_MODIFIED.into_response();
            }
            let head = [("content-type", "text/html; charset=utf-8"), ("etag", etag.as_str())];
            (head, page).into_response()
        }
        "/api/openapi.yaml" => typed("application/yaml", OPENAPI.into()),
        "/api/parts/orders.yaml" => typed("text/plain", ORDERS.into()),
        "/api/common.yaml" => typed("text/plain", "ok: {description: Fine}\n".into()),
        "/graphql" => {
            let field = json!({"name": "rate", "args": [], "type": {"kind": "SCALAR", "name": "Int"}});
            let query = json!({"kind": "OBJECT", "name": "Query", "fields": [field], "interfaces": []});
            let schema = json!({"queryType": {"name": "Query"}, "types": [query, {"kind": "SCALAR", "name": "Int"}]});
            typed("application/json", json!({"data": {"__schema": schema}}).to_string())
        }
        "/search" => {
            let query = request.uri().query().unwrap_or_default();
            let authorized = request.headers().get("authorization").is_some_and(|value| value == "Bearer k3y");
            if !authorized || !query.contains("format=json") {
                return StatusCode::FORBIDDEN.into_response();
            }
            let content = "A zeroth-party datum is a datum that a customer gives of their own accord.";
            let found =
                json!({"url": "https://example.org/terms#z", "title": "Terms", "content": content, "score": 3.1});
            let results =
                if query.contains("zeroth") { json!([found, {"url": "https://example.org/none"}]) } else { json!([]) };
            typed("application/json", json!({"query": "q", "results": results}).to_string())
        }
        "/wiki/rest/api/content/search" => {
            let query = request.uri().query().unwrap_or_default();
            let cql = "cql=type+%3D+page+and+space+%3D+%22OPS%22+and+label+%3D+%22runbook%22";
            let authorized = request.headers().get("authorization").is_some_and(|value| value == "Basic YWRhOmtleQ==");
            if !authorized {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            let page = |id: &str, title: &str, storage: &str| {
                json!({"id": id, "type": "page", "status": "current", "title": title,
                       "body": {"storage": {"value": storage, "representation": "storage"}},
                       "version": {"number": 2, "when": "2024-03-01T10:00:00.000Z"},
                       "metadata": {"labels": {"results": [{"prefix": "global", "name": "runbook", "id": "1"}]}},
                       "_links": {"webui": format!("/spaces/OPS/pages/{id}")}})
            };
            let portion = match query {
                _ if query.starts_with(cql) && query.contains("body.storage") => {
                    json!({"results": [page("1", "Restart", "<p>Stop it.</p><h2>Then</h2><p>Start&nbsp;it.</p>")],
                           "start": 0, "limit": 50, "size": 1,
                           "_links": {"base": "http://wiki", "next": "/rest/api/content/search?cursor=c2"}})
                }
                "cursor=c2" => json!({"results": [page("2", "Roll/back", "<p>Go back.</p>")], "_links": {}}),
                _ => return StatusCode::BAD_REQUEST.into_response(),
            };
            typed("application/json;charset=UTF-8", portion.to_string())
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn open(folder: &Path, catalog: &str, fresh: bool) -> (Catalog, Vec<String>) {
    let file = folder.join("catalog.yaml");
    std::fs::write(&file, catalog).unwrap();
    let (catalog, problems) =
        Catalog::open(&file, CatalogOptions { fresh, ..CatalogOptions::default() }).await.unwrap();
    (catalog, problems.iter().map(ToString::to_string).collect())
}

async fn call(catalog: &Catalog, tool: &str, args: Value) -> Value {
    match DiscoveryTools::new(catalog, Profile::Full).call(tool, args).await {
        Ok(answer) => answer.into_json(),
        Err(error) => error.to_json(),
    }
}

#[tokio::test]
async fn fetches_revalidates_and_keeps_documents() {
    let folder = tempfile::tempdir().unwrap();
    let site = Arc::new(Site::default());
    *site.page.lock().unwrap() = "<h1>Rules</h1><h2>VIP</h2><p>Ten orders.</p>".into();
    let (host, server) = server(site.clone()).await;
    let text = format!(
        "fetch: {{allow: ['{host}']}}\ndocuments:\n- url: http://{host}/rules?key=secret\n- url: http://{host}/none\n  \
         name: other\n- {{name: hours, content: Open from 9.}}\n"
    );
    let check = async |fresh: bool, section: &str, said: &[&str]| {
        let (catalog, problems) = open(folder.path(), &text, fresh).await;
        let names: Vec<&str> = catalog.documents.documents().iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["rules", "hours"]);
        let answer = call(&catalog, "get_document_section", json!({"name": "rules", "section": "VIP"})).await;
        assert_eq!(answer["content"], section);
        assert_eq!(problems.len(), said.len(), "{problems:?}");
        for (problem, part) in problems.iter().zip(said) {
            assert!(problem.contains(part) && !problem.contains("secret"), "{problem}");
        }
    };
    let missing = "catalog.yaml:4: `http://";
    check(false, "## VIP\n\nTen orders.", &[missing]).await;
    check(false, "## VIP\n\nTen orders.", &[missing]).await;
    let pages = || site.asked.lock().unwrap().iter().filter(|asked| asked.ends_with("/rules")).count();
    assert_eq!(pages(), 1, "a young copy is not revalidated");
    *site.page.lock().unwrap() = "<h1>Rules</h1><h2>VIP</h2><p>Twelve orders a year.</p>".into();
    check(true, "## VIP\n\nTwelve orders a year.", &[missing]).await;
    server.abort();
    let _ = server.await;
    check(true, "## VIP\n\nTwelve orders a year.", &["cannot reach", " s ago is used"]).await;
}

#[tokio::test]
async fn private_hosts_must_be_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let site = Arc::new(Site::default());
    let (host, _server) = server(site.clone()).await;
    let (_, problems) = open(folder.path(), &format!("documents:\n- url: http://{host}/rules\n"), false).await;
    let advice = format!("(to allow it, add `fetch: {{allow: ['{host}']}}` to the catalog)");
    assert!(problems[0].contains("resolves to a loopback address") && problems[0].ends_with(&advice), "{problems:?}");
    assert!(site.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn fetches_apis_with_referenced_files() {
    let folder = tempfile::tempdir().unwrap();
    let site = Arc::new(Site::default());
    let (host, server) = server(site.clone()).await;
    let text = format!(
        "fetch: {{allow: [127.0.0.1]}}\napis:\n- {{name: shop, url: 'http://{host}/api/openapi.yaml'}}\n\
         - {{name: bank, type: graphql, url: 'http://{host}/graphql'}}\n"
    );
    let check = async |fresh: bool, problems_expected: usize| {
        let (catalog, problems) = open(folder.path(), &text, fresh).await;
        assert_eq!(problems.len(), problems_expected, "{problems:?}");
        assert_eq!(catalog.apis.operation_ids().collect::<Vec<_>>(), ["shop.listOrders", "bank.rate"]);
        let apis = call(&catalog, "list_apis", json!({})).await;
        assert_eq!(apis[0]["url"], format!("http://{host}/v1"));
        assert_eq!(apis[1]["url"], format!("http://{host}/graphql"));
        let details = call(&catalog, "get_operation_details", json!({"api": "shop", "operation": "listOrders"})).await;
        assert_eq!(details["path"], "/orders");
    };
    check(false, 0).await;
    check(false, 0).await;
    let asked = site.asked.lock().unwrap().clone();
    let mut files = ["GET /api/openapi.yaml", "GET /api/parts/orders.yaml", "GET /api/common.yaml", "POST /graphql"];
    assert_eq!(asked.len(), files.len(), "{asked:?}");
    files.iter_mut().for_each(|file| assert!(asked.iter().any(|asked| asked == file), "{file}"));
    check(true, 0).await;
    server.abort();
    let _ = server.await;
    check(true, 2).await;
}

#[tokio::test]
async fn wiki_pages_become_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (host, server) = server(Arc::new(Site::default())).await;
    let text = |token: &str| {
        format!(
            "fetch: {{allow: ['{host}']}}\ndocuments:\n- name: ops\n  confluence: http://{host}/wiki/\n  space: OPS\n  \
             label: runbook\n  user: ada\n  token: {token}\n"
        )
    };
    let (catalog, problems) = open(folder.path(), &text("wrong"), false).await;
    assert!(catalog.documents.documents().is_empty());
    assert!(problems[0].contains("status 401") && !problems[0].contains("wrong"), "{problems:?}");
    let check = async |fresh: bool, problems_expected: usize| {
        let (catalog, problems) = open(folder.path(), &text("key"), fresh).await;
        assert_eq!(problems.len(), problems_expected, "{problems:?}");
        let names: Vec<&str> = catalog.documents.documents().iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["ops/Restart", "ops/Roll back"]);
        let document = &catalog.documents.documents()[0];
        assert_eq!((document.title.as_str(), document.tags.as_slice()), ("Restart", ["runbook".to_owned()].as_slice()));
        assert_eq!(document.last_updated.as_deref(), Some("2024-03-01T10:00:00.000Z"));
        let answer = call(&catalog, "get_document_section", json!({"name": "ops/Restart", "section": "Then"})).await;
        assert_eq!(answer["content"], "## Then\n\nStart\u{a0}it.");
        let listed = call(&catalog, "list_documents", json!({})).await;
        assert_eq!(listed[0]["type"], "url", "{listed}");
    };
    check(false, 0).await;
    server.abort();
    let _ = server.await;
    // Cached pages remain available.
    check(true, 2).await;
}

#[tokio::test]
async fn fetches_skill_links_only_from_allowed_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let site = Arc::new(Site::default());
    *site.page.lock().unwrap() = "<h1>Rules</h1><p>Ten orders.</p><script>x()</script>".into();
    let (host, _server) = server(site.clone()).await;
    let skill = folder.path().join(".agents/skills/vip");
    std::fs::create_dir_all(&skill).unwrap();
    let text = format!(
        "---\nname: vip\ndescription: VIPs.\nallowed-tools: search Bash\n---\nSee [rules](http://{host}/rules#vip).\n"
    );
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let target = format!("http://{host}/rules#vip");
    let check = async |catalog: &str, expected: &str| {
        let (catalog, _) = open(folder.path(), catalog, false).await;
        let answer = call(&catalog, "resolve_skill_link", json!({"name": "vip", "target": target})).await;
        let text = answer["content"].as_str().or(answer["message"].as_str()).unwrap();
        assert!(text.contains(expected), "{answer}");
        let made_up = json!({"name": "vip", "target": format!("http://{host}/rules?what=i-read")});
        assert_eq!(call(&catalog, "resolve_skill_link", made_up).await["error"], "invalid_arguments");
        let listed = call(&catalog, "list_skills", json!({})).await;
        assert_eq!(listed[0]["missing_tools"], json!(["Bash"]), "{listed}");
    };
    check("", "is not allowed").await;
    check("fetch: {public: true}\n", "resolves to a loopback address").await;
    assert!(site.asked.lock().unwrap().is_empty());
    check(&format!("fetch: {{allow: ['{host}']}}\n"), "# Rules\n\nTen orders.").await;
    assert_eq!(*site.asked.lock().unwrap(), ["GET /rules"]);
    // A cached copy does not bypass the guard.
    check("", "is not allowed").await;
}

#[tokio::test]
async fn searches_the_web_only_if_configured_and_needed() {
    let site = Arc::new(Site::default());
    let (host, _) = server(site.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let with = |search: &str| {
        format!(
            "documents: [{{name: rules, content: 'A churned customer is a customer without an order in 90 days.'}}]\n\
             fetch: {{allow: ['{host}']}}\n{search}"
        )
    };
    let named = with(&format!("web_search: {{url: 'http://{host}/search', token: k3y}}\n"));
    let check = async |catalog: &str, question: &str, source: Value, asked: usize| {
        site.asked.lock().unwrap().clear();
        let (catalog, problems) = open(folder.path(), catalog, false).await;
        assert!(problems.is_empty(), "{problems:?}");
        let answer = call(&catalog, "resolve_fact", json!({"question": question})).await;
        assert_eq!(answer["sources"].get(0).map_or(Value::Null, |source| source["name"].clone()), source, "{answer:#}");
        assert_eq!(site.asked.lock().unwrap().len(), asked, "{question}");
        answer
    };
    check(&named, "What is a churned customer?", json!("rules#rules"), 0).await;
    check(&with(""), "What is a zeroth-party datum?", Value::Null, 0).await;
    let answer = check(&named, "What is a zeroth-party datum?", json!("https://example.org/terms"), 1).await;
    assert!(answer["note"].as_str().unwrap().contains("from the web"), "{answer:#}");
    // The response of the server is cached.
    check(&named, "What is a zeroth-party datum?", json!("https://example.org/terms"), 0).await;
    let refused = named.replace("k3y", "oth3r");
    let answer = check(&refused, "What is a wobbly quorum?", Value::Null, 1).await;
    assert!(answer["note"].as_str().unwrap().contains("web search failed"), "{answer:#}");
    assert!(!answer.to_string().contains("oth3r"), "{answer:#}");
}
