//! The relay between the driver and servers that are stand-ins: with and without TLS, broken, and gone.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use sqlx::Row;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::*;
use crate::budget::MAX_ROW_BYTES;

/// No step of a test takes longer.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// What a stand-in answers to the request for TLS.
#[derive(Clone)]
enum Offer {
    Tls(TlsAcceptor),
    Plain,
}

/// What happened to a stand-in.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    /// The driver has begun, with this message.
    Startup(String),
    /// The driver has closed.
    Closed,
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    [[kind].as_slice(), &(content.len() as u32 + 4).to_be_bytes(), content].concat()
}

/// The answer to a query: one column, these rows, and what follows them.
fn answer(rows: &[&[u8]], end: &[Vec<u8>]) -> Vec<u8> {
    let columns = [&[0, 1], b"c\0".as_slice(), &[0; 6], &[0, 0, 0, 25], &[255; 6], &[0, 0]].concat();
    let row = |value: &&[u8]| message(b'D', &[[0, 1].as_slice(), &(value.len() as u32).to_be_bytes(), value].concat());
    [vec![message(b'T', &columns)], rows.iter().map(row).collect(), end.to_vec()].concat().concat()
}

fn done() -> [Vec<u8>; 2] {
    [message(b'C', b"SELECT 1\0"), message(b'Z', b"T")]
}

/// Accepts a driver, answers its queries one after the other, and closes after the last answer.
async fn serve(mut stream: impl Stream, answers: Vec<Vec<u8>>, events: mpsc::UnboundedSender<Event>) -> io::Result<()> {
    let length = stream.read_u32().await? as usize;
    let mut startup = vec![0; length - 4];
    stream.read_exact(&mut startup).await?;
    let _ = events.send(Event::Startup(startup[4..].escape_ascii().to_string()));
    // The password is requested, and not verified.
    stream.write_all(&message(b'R', &[0, 0, 0, 3])).await?;
    let mut answers = answers.into_iter();
    let welcome = [message(b'R', &[0; 4]), message(b'Z', b"I")].concat();
    let mut next = Some(welcome);
    while let Some(bytes) = &next {
        let Ok(kind) = stream.read_u8().await else {
            let _ = events.send(Event::Closed);
            break;
        };
        let length = stream.read_u32().await? as usize;
        stream.read_exact(&mut vec![0; length - 4]).await?;
        assert!(matches!(kind, b'p' | b'Q'), "{}", kind.escape_ascii());
        stream.write_all(bytes).await?;
        stream.flush().await?;
        next = answers.next();
    }
    Ok(())
}

/// Starts a stand-in for a server, which accepts one connection. Returns its port and its events.
async fn start(offer: Offer, answers: Vec<Vec<u8>>) -> (u16, mpsc::UnboundedReceiver<Event>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (events, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        // The length of the first message: only the request for TLS is that short.
        let mut length = [0; 4];
        stream.peek(&mut length).await?;
        if u32::from_be_bytes(length) != 8 {
            return serve(stream, answers, events).await;
        }
        stream.read_exact(&mut [0; 8]).await?;
        match offer {
            Offer::Plain => {
                stream.write_all(b"N").await?;
                serve(stream, answers, events).await
            }
            Offer::Tls(acceptor) => {
                stream.write_all(b"S").await?;
                let stream = acceptor.accept(stream).await?;
                let _ = events.send(Event::Startup("TLS".to_owned()));
                serve(stream, answers, events).await
            }
        }
    });
    (port, received)
}

fn route(port: u16, rest: &str) -> Route {
    Route::new(&format!("postgres://ada:s3cret@localhost:{port}/crm{rest}").parse().unwrap()).unwrap()
}

async fn within<T>(act: impl Future<Output = T>) -> T {
    timeout(MAX_WAIT, act).await.expect("the step ends in time")
}

/// The values of the answer to a query.
async fn ask(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    let rows = within(sqlx::raw_sql("SELECT 1").fetch_all(connection)).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

fn code(error: &sqlx::Error) -> String {
    error.as_database_error().unwrap_or_else(|| panic!("{error}")).code().unwrap().into_owned()
}

#[tokio::test]
async fn passes_startup_parameters_to_the_server() {
    let (port, mut events) = start(Offer::Plain, vec![answer(&[b"1", b"x"], &done())]).await;
    let mut connection = within(route(port, "?options=-c%20a%3Db").connect()).await.unwrap();
    assert_eq!(ask(&mut connection).await.unwrap(), ["1", "x"]);
    let Some(Event::Startup(startup)) = within(events.recv()).await else { panic!("there was no message") };
    for part in ["user\\x00ada\\x00", "database\\x00crm\\x00", "application_name\\x00prospector\\x00", "-c a=b\\x00"] {
        assert!(startup.contains(part), "{startup}");
    }
    drop(connection);
    assert_eq!(within(events.recv()).await, None);
}

#[tokio::test]
async fn closes_the_server_connection_when_the_driver_goes_away() {
    let (port, mut events) = start(Offer::Plain, vec![answer(&[], &done())]).await;
    drop(within(route(port, "").connect()).await.unwrap());
    assert!(matches!(within(events.recv()).await, Some(Event::Startup(_))));
    assert_eq!(within(events.recv()).await, Some(Event::Closed));
}

#[tokio::test]
async fn truncates_errors_and_rejects_large_rows() {
    let text = |length: usize| format!("SERROR\0C22P02\0M{}\0\0", "x".repeat(length)).into_bytes();
    let error = [message(b'E', &text(5_000_000)), message(b'Z', b"E")].concat();
    let row = vec![b'x'; MAX_ROW_BYTES];
    let answers = vec![error, answer(&[b"1", &row, b"2"], &done()), answer(&[b"3"], &done())];
    let (port, _events) = start(Offer::Plain, answers).await;
    let mut connection = within(route(port, "").connect()).await.unwrap();
    let error = ask(&mut connection).await.unwrap_err();
    assert!(code(&error) == "22P02" && error.to_string().len() < 10_000, "{error}");
    assert_eq!(code(&ask(&mut connection).await.unwrap_err()), crate::server::ROW_TOO_LARGE);
    assert_eq!(ask(&mut connection).await.unwrap(), ["3"]);
}

#[tokio::test]
async fn ends_the_connection_on_an_unreadable_message() {
    for wrong in [vec![b'T', 0, 0, 0, 1, 0], vec![b'C', 127, 0, 0, 0, 0], vec![b'Z', 255, 255, 255, 255]] {
        let (port, _events) = start(Offer::Plain, vec![wrong.clone(), Vec::new()]).await;
        let mut connection = within(route(port, "").connect()).await.unwrap();
        assert_eq!(code(&ask(&mut connection).await.unwrap_err()), "08P01", "{wrong:?}");
        assert!(matches!(ask(&mut connection).await, Err(sqlx::Error::Io(_))), "{wrong:?}");
    }
}

#[tokio::test]
async fn delivers_the_last_message_of_a_server() {
    let last = message(b'E', b"SFATAL\0C57P01\0Mterminating connection\0\0");
    let (port, _events) = start(Offer::Plain, vec![last]).await;
    let mut connection = within(route(port, "").connect()).await.unwrap();
    assert_eq!(code(&ask(&mut connection).await.unwrap_err()), "57P01");
    assert!(matches!(ask(&mut connection).await, Err(sqlx::Error::Io(_))));
}

#[tokio::test]
async fn accepts_only_the_driver() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = tokio::spawn(accept(listener, "t0ken"));
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut stranger = TcpStream::connect(address).await.unwrap();
    stranger.write_all(b"\0\0\0\x1d\0\x03\0\0application_name\0x\0\0").await.unwrap();
    let mut driver = TcpStream::connect(address).await.unwrap();
    driver.write_all(b"\0\0\0\x20\0\x03\0\0application_name\0t0ken\0\0").await.unwrap();
    let (mut stream, startup) = within(accepted).await.unwrap().unwrap();
    assert!(startup.ends_with(b"application_name\0prospector\0\0"), "{}", startup.escape_ascii());
    stream.write_all(b"x").await.unwrap();
    assert_eq!(within(driver.read_u8()).await.unwrap(), b'x');
    assert!(within(silent.read_u8()).await.is_err() && within(stranger.read_u8()).await.is_err());
    // The port is closed now.
    assert!(TcpStream::connect(address).await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn connects_by_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["postgres://ada:s3cr%23t@FOLDER:5433/crm", "postgres://ada:s3cr%23t@elsewhere:5433/crm?host=FOLDER"] {
        let path = folder.path().to_str().unwrap();
        let written = if url.contains('?') { path.to_owned() } else { path.replace('/', "%2F") };
        let route = Route::new(&url.replace("FOLDER", &written).parse().unwrap()).unwrap();
        let file = folder.path().join(".s.PGSQL.5433");
        let _ = std::fs::remove_file(&file);
        let listener = tokio::net::UnixListener::bind(&file).unwrap();
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 8]).await.unwrap();
            stream.write_all(b"N").await.unwrap();
            let length = stream.read_u32().await.unwrap() as usize;
            stream.read_exact(&mut vec![0; length - 4]).await.unwrap();
            stream.write_all(&message(b'R', &[0, 0, 0, 3])).await.unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), b'p');
            let length = stream.read_u32().await.unwrap() as usize;
            let mut password = vec![0; length - 4];
            stream.read_exact(&mut password).await.unwrap();
            stream.write_all(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat()).await.unwrap();
            password
        });
        assert!(within(route.connect()).await.is_ok(), "{url}");
        assert_eq!(within(served).await.unwrap(), b"s3cr#t\0", "{url}");
    }
}

/// Makes an authority, a certificate of `localhost` and one of a client in the folder.
fn create_certificates(folder: &Path) -> bool {
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(arguments.split(' ')).stdin(Stdio::null());
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(error) => panic!("openssl: {error}"),
        }
        true
    };
    let key = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    std::fs::write(folder.join("server.txt"), "subjectAltName=DNS:localhost").unwrap();
    std::fs::write(folder.join("client.txt"), "extendedKeyUsage=clientAuth").unwrap();
    let authority = "-x509 -days 2 -subj /CN=authority -addext basicConstraints=critical,CA:TRUE";
    openssl(&format!("{key} {authority} -keyout ca.key -out ca.pem"))
        && ["server", "client"].iter().all(|name| {
            let sign = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 2";
            openssl(&format!("{key} -subj /CN={name} -keyout {name}.key -out {name}.csr"))
                && openssl(&format!("x509 -req -in {name}.csr {sign} -extfile {name}.txt -out {name}.pem"))
        })
}

fn acceptor(folder: &Path, asks_for_certificate: bool) -> TlsAcceptor {
    let certificate = |name: &str| CertificateDer::from_pem_file(folder.join(name)).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.pem")).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = match asks_for_certificate {
        true => config.with_client_cert_verifier(clients),
        false => config.with_no_client_auth(),
    };
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate("server.pem")], key).unwrap()))
}

#[tokio::test]
async fn applies_the_tls_mode_of_the_url() {
    let folder = tempfile::tempdir().unwrap();
    if !create_certificates(folder.path()) {
        eprintln!("skipped: there is no openssl");
        return;
    }
    let (tls, strict) = (acceptor(folder.path(), false), acceptor(folder.path(), true));
    let (tls, strict) = (|| Offer::Tls(tls.clone()), || Offer::Tls(strict.clone()));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let root = format!("&sslrootcert={}", path("ca.pem"));
    let client = format!("&sslcert={}&sslkey={}", path("client.pem"), path("client.key"));
    let here = "&hostaddr=127.0.0.1";
    // Whether it connects, and with TLS.
    let check = async |offer: Offer, rest: &str, expected: Option<bool>| {
        let (port, mut events) = start(offer, vec![answer(&[b"1"], &done())]).await;
        let connected = within(route(port, &format!("?{rest}")).connect()).await;
        let found = match connected {
            Ok(mut connection) => {
                assert_eq!(ask(&mut connection).await.unwrap(), ["1"], "{rest}");
                Some(within(events.recv()).await == Some(Event::Startup("TLS".to_owned())))
            }
            Err(error) => {
                assert!(!error.to_string().contains("s3cret"), "{error}");
                None
            }
        };
        assert_eq!(found, expected, "{rest}");
    };
    for (mode, offered, refused) in [
        ("disable", Some(false), Some(false)),
        ("allow", Some(false), Some(false)),
        ("prefer", Some(true), Some(false)),
        ("require", Some(true), None),
        // The authority is not known.
        ("verify-ca", None, None),
        ("verify-full", None, None),
    ] {
        check(tls(), &format!("sslmode={mode}"), offered).await;
        check(Offer::Plain, &format!("sslmode={mode}"), refused).await;
    }
    for (rest, expected) in [
        (format!("sslmode=verify-ca{root}"), Some(true)),
        (format!("sslmode=verify-ca{root}{here}"), Some(true)),
        (format!("sslmode=verify-full{root}"), Some(true)),
        // The certificate is that of a name.
        (format!("sslmode=verify-full{root}{here}"), None),
        (format!("sslmode=verify-full&sslrootcert={}", path("server.key")), None),
        (format!("sslmode=verify-full&sslrootcert={}", path("nothing.pem")), None),
        (format!("sslmode=require&sslcert={}", path("client.pem")), None),
    ] {
        check(tls(), &rest, expected).await;
    }
    check(strict(), "sslmode=require", None).await;
    check(strict(), &format!("sslmode=require{client}"), Some(true)).await;
    check(strict(), &format!("sslmode=verify-full{root}{client}"), Some(true)).await;
}
