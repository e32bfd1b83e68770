//! Sign-in with OAuth, its tokens, and authorization servers that misbehave.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use prospector_fetch::Policy;
use prospector_mcp::{
    McpError, Record, Server,
    spec::{Headers, OAuth, Reach},
};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record as Values},
};

use super::{
    http::{count, listen},
    provider::{Parameters, Provider},
};

fn connect(provider: &Provider, oauth: OAuth, folder: &Path) -> Server {
    let policy = Policy { allow: vec![provider.host.parse().unwrap()], public: true };
    let reach = Reach::Url { url: provider.url(), headers: Headers::default(), policy, oauth: Some(oauth) };
    Server::new("web", reach, Duration::from_secs(20), folder)
}

/// Opens an address as a browser does: it follows the redirect.
fn browse(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move { reqwest::Client::builder().no_proxy().build().unwrap().get(address).send().await });
}

/// Serves a host that is not allowed, and counts its requests.
async fn serve_other() -> (String, Arc<AtomicU32>) {
    let hits = Arc::new(AtomicU32::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    listen(listener, count(hits.clone()));
    (host, hits)
}

/// Returns the files with tokens.
fn find_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.join("tokens")).into_iter().flatten();
    files.map(|file| file.unwrap().path()).filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
}

fn check_secrecy(what: &str, error: &McpError) {
    let shown = format!("{error} {error:?} {}", error.advice());
    assert!(!shown.contains("s3cret"), "{what}: {shown}");
    assert!(shown.len() < 4_000 && !shown.contains('\u{1b}'), "{what}: {shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signs_in_and_sends_tokens() {
    let (provider, folder) = (Provider::serve("good", "").await, tempfile::tempdir().unwrap());
    let web = connect(&provider, OAuth::default(), folder.path());
    let error = web.refresh().await.unwrap_err();
    assert!(matches!(error, McpError::Unauthorized { status: 401, .. }), "{error:?}");
    assert_eq!(error.advice(), "run `planner sources login web`");
    web.login(browse).await.unwrap();
    web.refresh().await.unwrap();
    let record = Record::read(folder.path(), "web").unwrap();
    let arguments = serde_json::from_value(json!({"a": 1})).unwrap();
    assert_eq!(web.call(record.tools().next().unwrap(), arguments).await.unwrap().value, json!({"a": 1}));
    let exchange = provider.exchanges.lock().unwrap()[0].clone();
    assert_eq!(
        (exchange["resource"].as_str(), exchange["client_id"].as_str()),
        (provider.url().as_str(), "registered")
    );
    let visit = provider.visits.lock().unwrap()[0].clone();
    assert_eq!((visit["resource"].as_str(), visit["scope"].as_str()), (provider.url().as_str(), "read"));
    assert!(!format!("{web:?}").contains("s3cret"));
    let files = find_files(folder.path());
    assert_eq!(files.len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (path, mode) in [(files[0].as_path(), 0o600), (files[0].parent().unwrap(), 0o700)] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
        }
    }
    assert!(web.logout().unwrap() && !web.logout().unwrap() && find_files(folder.path()).is_empty());
    let again = connect(&provider, OAuth::default(), folder.path()).refresh().await.unwrap_err();
    assert!(matches!(again, McpError::Unauthorized { .. }), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uses_the_client_and_scopes_of_the_catalog() {
    let (provider, folder) = (Provider::serve("no registration", "").await, tempfile::tempdir().unwrap());
    let error = connect(&provider, OAuth::default(), folder.path()).login(browse).await.unwrap_err();
    assert!(error.to_string().contains("client_id"), "{error}");
    let oauth = OAuth { client_id: Some("mine".to_owned()), scopes: vec!["a".to_owned(), "b".to_owned()] };
    let web = connect(&provider, oauth, folder.path());
    web.login(browse).await.unwrap();
    web.refresh().await.unwrap();
    let visit = provider.visits.lock().unwrap()[0].clone();
    assert_eq!((visit["client_id"].as_str(), visit["scope"].as_str()), ("mine", "a b"));
    assert_eq!(provider.registrations.load(Ordering::Relaxed), 0);
}

/// Collects all fields of all events and spans.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?}\n"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Values<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn no_log_contains_a_token_or_a_code() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let folder = tempfile::tempdir().unwrap();
    let (provider, web) = sign_in(30, folder.path()).await;
    web.refresh().await.unwrap();
    provider.change("refused tokens");
    provider.issued.fetch_add(1, Ordering::Relaxed);
    connect(&provider, OAuth::default(), folder.path()).refresh().await.unwrap_err();
    let said = log.0.lock().unwrap().clone();
    assert!(said.contains("message"), "nothing was logged");
    let line = said.lines().find(|line| line.contains("s3cret"));
    assert!(line.is_none(), "{line:?}");
}

/// Signs in with tokens that expire after this many seconds.
async fn sign_in(lifetime: u64, folder: &Path) -> (Arc<Provider>, Server) {
    let provider = Provider::serve("good", "").await;
    provider.lifetime.store(lifetime, Ordering::Relaxed);
    let web = connect(&provider, OAuth::default(), folder);
    web.login(browse).await.unwrap();
    (provider, web)
}

fn find_refreshes(provider: &Provider) -> Vec<Parameters> {
    let all = provider.exchanges.lock().unwrap();
    all.iter().filter(|form| form["grant_type"] == "refresh_token").cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refreshes_tokens_before_they_expire_and_after_a_rejection() {
    let folder = tempfile::tempdir().unwrap();
    // They expire soon.
    let (provider, web) = sign_in(30, folder.path()).await;
    provider.lifetime.store(3600, Ordering::Relaxed);
    web.refresh().await.unwrap();
    let refreshes = find_refreshes(&provider);
    assert_eq!(refreshes.len(), 1);
    assert_eq!(refreshes[0]["resource"], provider.url());
    // The server no longer accepts them.
    let stored = std::fs::read(&find_files(folder.path())[0]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (provider, web) = sign_in(3600, folder.path()).await;
    let first = std::fs::read(&find_files(folder.path())[0]).unwrap();
    assert_ne!(first, stored);
    provider.change("forget");
    let error = web.refresh().await.unwrap_err();
    assert!(matches!(error, McpError::Unauthorized { .. }), "{error:?}");
    provider.change("good");
    assert!(!find_refreshes(&provider).is_empty());
    web.refresh().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_clients_refresh_once() {
    let folder = tempfile::tempdir().unwrap();
    let (provider, _) = sign_in(30, folder.path()).await;
    provider.lifetime.store(3600, Ordering::Relaxed);
    let servers: Vec<Server> = (0..6).map(|_| connect(&provider, OAuth::default(), folder.path())).collect();
    let refreshed = futures::future::join_all(servers.iter().map(Server::refresh)).await;
    assert!(refreshed.iter().all(Result::is_ok), "{refreshed:?}");
    assert_eq!(find_refreshes(&provider).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_refreshes_require_a_sign_in() {
    // Only tokens that the authorization server rejects are removed.
    for (what, is_kept) in [
        ("refused tokens", false),
        ("wrong issuer", true),
        ("redirected token endpoint", true),
        ("failing token endpoint", true),
        ("garbage of the token endpoint", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (provider, web) = sign_in(30, folder.path()).await;
        // The access token is worthless, too.
        provider.issued.fetch_add(1, Ordering::Relaxed);
        provider.change(what);
        let error = web.refresh().await.unwrap_err();
        println!("{what}: {error}");
        check_secrecy(what, &error);
        assert!(matches!(error, McpError::Unauthorized { status: 401, .. }), "{what}: {error:?}");
        assert_eq!(error.advice(), "run `planner sources login web`");
        assert_eq!(!find_files(folder.path()).is_empty(), is_kept, "{what}");
        let record = std::fs::read_to_string(Record::file(folder.path(), "web")).unwrap();
        assert!(!record.contains("s3cret"), "{what}: {record}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_authorization_servers_fail_in_time() {
    let (other, hits) = serve_other().await;
    let cases = [
        ("wrong state", "its `state` differs"),
        ("refusal", "answered `access_denied`"),
        ("wrong issuer in the redirect", "issuer mismatch"),
        ("wrong issuer", "issuer mismatch"),
        ("no issuer", "missing required issuer"),
        ("wrong resource", "resource mismatch"),
        ("no metadata", "publishes no OAuth metadata"),
        ("plain challenges", "S256"),
        ("private metadata", "resolves to a loopback address"),
        ("private server", "resolves to a loopback address"),
        ("private token endpoint", "resolves to a loopback address"),
        ("private sign-in page", "resolves to a loopback address"),
        ("special server", "none published usable metadata"),
        ("file as sign-in page", "only http and https"),
        ("many servers", "more than 40 requests"),
        ("redirected resource", "non-same-origin"),
        ("redirected metadata", "non-same-origin"),
        ("circular metadata", "redirects"),
        ("redirected registration", "307"),
        ("redirected token endpoint", "returned no token"),
        ("failing token endpoint", "returned no token"),
        ("garbage of the token endpoint", "returned no token"),
        ("refused tokens", "answered `invalid_grant`"),
        ("huge metadata", "more than 262144 bytes"),
        ("endless metadata", "more than 262144 bytes"),
        ("slow metadata", "took longer than 15 s"),
    ];
    let run = |(what, part): (&'static str, &'static str)| {
        let other = other.clone();
        async move {
            let (started, folder) = (Instant::now(), tempfile::tempdir().unwrap());
            let provider = Provider::serve(what, &other).await;
            let web = connect(&provider, OAuth::default(), folder.path());
            let error = web.login(browse).await.unwrap_err();
            println!("{} ms, {what}: {error}", started.elapsed().as_millis());
            assert!(error.to_string().contains(part), "{what}: {error}");
            check_secrecy(what, &error);
            assert!(find_files(folder.path()).is_empty(), "{what}");
            assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        }
    };
    stream::iter(cases).map(run).buffer_unordered(6).collect::<Vec<()>>().await;
    assert_eq!(hits.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_stream_without_credentials_do_not_block_the_sign_in() {
    let (provider, folder) = (Provider::serve("endless stream", "").await, tempfile::tempdir().unwrap());
    let web = connect(&provider, OAuth::default(), folder.path());
    tokio::time::timeout(Duration::from_secs(30), web.login(browse)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_requests_to_the_redirect_are_ignored() {
    let (provider, folder) = (Provider::serve("good", "").await, tempfile::tempdir().unwrap());
    let web = connect(&provider, OAuth::default(), folder.path());
    let open = |address: &str| {
        let address = address.to_owned();
        tokio::spawn(async move {
            let url = reqwest::Url::parse(&address).unwrap();
            let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
            let redirect = reqwest::Url::parse(&redirect).unwrap();
            let host = format!("{}:{}", redirect.host_str().unwrap(), redirect.port().unwrap());
            // A connection without a request, and requests of other paths and methods.
            let idle = tokio::net::TcpStream::connect(&host).await.unwrap();
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let icon = client.get(format!("http://{host}/favicon.ico")).send().await.unwrap();
            assert_eq!(icon.status().as_u16(), 404);
            let _ = client.post(redirect.as_str()).body("x".repeat(1 << 20)).send().await;
            client.get(address).send().await.unwrap();
            drop(idle);
        });
    };
    tokio::time::timeout(Duration::from_secs(30), web.login(open)).await.unwrap().unwrap();
}
