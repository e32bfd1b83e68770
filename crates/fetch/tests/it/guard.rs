//! The guard with local servers: addresses, names, redirects, sizes, times and types.

use std::{
    io::{self, Write},
    net::IpAddr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use prospector_fetch::{Fetched, Fetcher, Limits, Policy, Request, Resolver};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Host names of a test with their addresses, and a counter of lookups.
struct Names(Vec<(&'static str, Vec<IpAddr>)>, AtomicUsize);

#[async_trait::async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let found = self.0.iter().find(|(name, _)| *name == host);
        found.map(|(_, addresses)| addresses.clone()).ok_or_else(|| io::Error::other("no such name"))
    }
}

fn names() -> Arc<Names> {
    let of = |addresses: &[&str]| addresses.iter().map(|a| a.parse().unwrap()).collect();
    Arc::new(Names(
        vec![
            ("wiki.test", of(&["127.0.0.1"])),
            ("other.test", of(&["127.0.0.1"])),
            ("inside.test", of(&["10.0.0.1"])),
            ("mapped.test", of(&["::ffff:192.168.0.1"])),
            ("metadata.test", of(&["169.254.169.254"])),
            ("mixed.test", of(&["8.8.8.8", "127.0.0.1"])),
            ("empty.test", of(&[])),
        ],
        AtomicUsize::new(0),
    ))
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// Eight megabytes of zeros, as gzip and as zlib.
static BOMBS: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| (gzip(&vec![0; 8 << 20]), zlib(&vec![0; 8 << 20])));

/// A server whose response depends on the path; returns its port.
async fn server() -> u16 {
    // Compressed before the clock starts, as that takes longer than the time limit.
    LazyLock::force(&BOMBS);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    port
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let text = "Content-Type: text/plain\r\n";
    let whole = |headers: &str, body: &[u8]| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        bytes
    };
    let deflate = |body: &[u8]| {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    };
    let packed = |name: &str| format!("{text}Content-Encoding: {name}\r\n");
    let bytes = match path {
        "/ok" => whole(text, b"hello"),
        "/echo" => whole(text, head.as_bytes()),
        "/png" => whole("Content-Type: image/png\r\n", b"\x89PNG"),
        "/untyped" => whole("", b"hello"),
        "/gzip" => whole(&packed("gzip"), &gzip(b"hello")),
        "/zlib" => whole(&packed("deflate"), &zlib(b"hello")),
        "/deflate" => whole(&packed("Deflate"), &deflate(b"hello")),
        "/bomb" => whole(&packed("gzip"), &BOMBS.0),
        "/zlib-bomb" => whole(&packed("deflate"), &BOMBS.1),
        "/nested" => whole(&packed("gzip, gzip"), &gzip(&BOMBS.0)),
        "/not-gzip" => whole(&packed("gzip"), b"hello"),
        "/brotli" => whole(&packed("br"), b"hello"),
        "/big" => format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 99999999999\r\n\r\n").into_bytes(),
        "/gone" => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/to" => format!("HTTP/1.1 302 Found\r\nLocation: {query}\r\nContent-Length: 0\r\n\r\n").into_bytes(),
        "/count" => {
            let left: u32 = query.parse().unwrap();
            let to = if left == 0 { "/ok".to_owned() } else { format!("/count?{}", left - 1) };
            format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
        }
        "/stall" => format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 10\r\n\r\nhel").into_bytes(),
        "/cut" => {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 10\r\n\r\nhel").as_bytes()).await?;
            return stream.shutdown().await;
        }
        "/silent" => Vec::new(),
        "/endless" | "/drip" => {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{text}\r\n").as_bytes()).await?;
            loop {
                stream.write_all(if path == "/drip" { b"x" } else { &[b'x'; 4096] }).await?;
                if path == "/drip" {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        "/endless-head" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            loop {
                stream.write_all(&[b"X: ", [b'x'; 1000].as_slice(), b"\r\n"].concat()).await?;
            }
        }
        _ => panic!("{path}"),
    };
    stream.write_all(&bytes).await?;
    // Keeps the connection open until the client closes it.
    stream.read_u8().await.map(|_| ())
}

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    total: Duration::from_millis(1500),
    connect: Duration::from_millis(500),
    stall: Duration::from_millis(400),
    redirects: 5,
};

/// A fetcher that allows these hosts; `PORT` is replaced by the port of the server.
fn fetcher(port: u16, allow: &[&str]) -> Fetcher {
    let rule = |rule: &&str| rule.replace("PORT", &port.to_string()).parse().unwrap();
    let policy = Policy { allow: allow.iter().map(rule).collect(), public: true };
    Fetcher::new(policy).limits(LIMITS).resolver(names())
}

/// Checks the text or the error of a URL.
async fn check(allow: &[&str], url: &str, expected: Result<&str, &str>) {
    let port = server().await;
    let url = url.replace("PORT", &port.to_string());
    let request = Request::get(&url).accepting(&["text/*"]);
    match (fetcher(port, allow).fetch(&request).await, expected) {
        (Ok(Fetched::Body { bytes, .. }), Ok(text)) => assert_eq!(String::from_utf8_lossy(&bytes), text, "{url}"),
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{url}: {error}"),
        (found, _) => panic!("{url}: {found:?}"),
    }
}

const HOME: &[&str] = &["127.0.0.1:PORT", "wiki.test:PORT"];

#[tokio::test]
async fn fetches_only_allowed_urls() {
    check(HOME, "http://127.0.0.1:PORT/ok", Ok("hello")).await;
    check(HOME, "http://wiki.test:PORT/ok#part", Ok("hello")).await;
    check(&[], "http://127.0.0.1:PORT/ok", Err("resolves to a loopback address")).await;
    check(&["127.0.0.1:1"], "http://127.0.0.1:PORT/ok", Err("resolves to a loopback address")).await;
    check(HOME, "http://ada:pw@wiki.test:PORT/ok", Err("contains a user or a password")).await;
    check(HOME, "ftp://wiki.test:PORT/ok", Err("only http and https")).await;
    check(HOME, "wiki.test", Err("relative URL")).await;
}

#[tokio::test]
async fn rejects_every_notation_of_private_addresses() {
    for host in ["127.1", "2130706433", "0x7f.0.0.1", "0177.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"] {
        check(&["wiki.test"], &format!("http://{host}:PORT/ok"), Err("resolves to a loopback address")).await;
    }
}

#[tokio::test]
async fn validates_every_address_of_a_name() {
    check(HOME, "http://other.test:PORT/ok", Err("other.test:")).await;
    check(HOME, "http://inside.test/", Err("inside.test resolves to a private address")).await;
    check(HOME, "http://mapped.test/", Err("resolves to a private address")).await;
    check(HOME, "http://mixed.test/", Err("resolves to a loopback address")).await;
    check(&["metadata.test"], "http://metadata.test/", Err("resolves to a link-local address")).await;
    check(HOME, "http://empty.test/", Err("the host has no address")).await;
    check(HOME, "http://none.test/", Err("no such name")).await;
}

#[tokio::test]
async fn connects_to_the_validated_address() {
    let port = server().await;
    let names = names();
    let fetcher = fetcher(port, HOME).resolver(names.clone());
    // Only this resolver knows the name, and it is used once, so that later lookups cannot differ.
    fetcher.fetch(&Request::get(format!("http://wiki.test:{port}/ok"))).await.unwrap();
    assert_eq!(names.1.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn validates_each_redirect_hop() {
    check(HOME, "http://wiki.test:PORT/to?/ok", Ok("hello")).await;
    check(HOME, "http://wiki.test:PORT/to?http://127.0.0.1:PORT/ok", Ok("hello")).await;
    check(HOME, "http://wiki.test:PORT/to?http://other.test:PORT/ok", Err("resolves to a loopback address")).await;
    check(HOME, "http://wiki.test:PORT/to?http://169.254.169.254/latest", Err("resolves to a link-local address"))
        .await;
    check(HOME, "http://wiki.test:PORT/to?http://[::1]:PORT/ok", Err("resolves to a loopback address")).await;
    check(HOME, "http://wiki.test:PORT/to?file:///etc/passwd", Err("only http and https")).await;
    check(HOME, "http://wiki.test:PORT/to?http://ada:pw@wiki.test:PORT/ok", Err("a user or a password")).await;
    check(HOME, "http://wiki.test:PORT/count?4", Ok("hello")).await;
    check(HOME, "http://wiki.test:PORT/count?5", Err("more than 5 redirects")).await;
}

#[tokio::test]
async fn limits_transferred_and_decompressed_size() {
    for path in ["gzip", "zlib", "deflate"] {
        check(HOME, &format!("http://wiki.test:PORT/{path}"), Ok("hello")).await;
    }
    for path in ["big", "endless", "bomb", "zlib-bomb"] {
        check(HOME, &format!("http://wiki.test:PORT/{path}"), Err("has more than 1048576 bytes")).await;
    }
    check(HOME, "http://wiki.test:PORT/nested", Err("content encoding `gzip, gzip`")).await;
    check(HOME, "http://wiki.test:PORT/brotli", Err("content encoding `br`")).await;
    check(HOME, "http://wiki.test:PORT/not-gzip", Err("cannot decompress")).await;
}

#[tokio::test]
async fn enforces_time_limits() {
    check(HOME, "http://wiki.test:PORT/stall", Err("no data received after 0.4 s")).await;
    check(HOME, "http://wiki.test:PORT/silent", Err("no answer after 0.9 s")).await;
    check(HOME, "http://wiki.test:PORT/drip", Err("the response is incomplete after 1.5 s")).await;
    check(HOME, "http://wiki.test:PORT/endless-head", Err("cannot reach")).await;
    check(HOME, "http://wiki.test:PORT/cut", Err("cannot reach")).await;
    check(&["wiki.test"], "http://wiki.test:1/ok", Err("cannot reach")).await;
}

#[tokio::test]
async fn rejects_other_types_and_error_statuses() {
    check(HOME, "http://wiki.test:PORT/png", Err("has the unsupported content type `image/png`")).await;
    check(HOME, "http://wiki.test:PORT/untyped", Err("has the unsupported content type ``")).await;
    check(HOME, "http://wiki.test:PORT/gone?key=secret", Err("/gone?…` returned status 404")).await;
}

#[tokio::test]
async fn sends_credentials_to_their_origin_only() {
    let port = server().await;
    let fetcher = fetcher(port, HOME);
    let sent = |url: String| {
        let fetcher = fetcher.clone();
        async move {
            let headers = vec![("X-Key".to_owned(), "my-key".to_owned())];
            let request = Request { authorization: Some("Bearer k".into()), headers, ..Request::get(url) };
            let Ok(Fetched::Body { bytes, .. }) = fetcher.fetch(&request).await else { panic!("no body") };
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.contains("Bearer k"), text.contains("my-key"), "{text}");
            text.contains("Bearer k")
        }
    };
    assert!(sent(format!("http://wiki.test:{port}/to?/echo")).await);
    assert!(!sent(format!("http://wiki.test:{port}/to?http://127.0.0.1:{port}/echo")).await);
}
