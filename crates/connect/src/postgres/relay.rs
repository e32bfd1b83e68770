//! Between the driver and a PostgreSQL server: limits each message before the driver reads it.
//!
//! An error quotes the value that it is about, and the driver holds every message until it is whole: one query could take
//! as much memory as PostgreSQL lets a value have. The driver has no hook for its socket. It is connected without TLS to
//! a port of this machine that exists until it has connected, and the relay connects to the server.
//!
//! tokio-postgres takes a socket, but sessions, types and cancellation would exist twice, next to those of MySQL.

mod messages;
mod startup;
#[cfg(test)]
mod tests;
mod tls;

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use messages::MessageFilter;
use tls::{Stream, TlsSettings};

/// A host that does not exist, and that no file of passwords names.
const NO_HOST: &str = "relay.invalid";

/// How many bytes are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// How long a program that connects to the relay may take to send the token.
const MAX_STARTUP_TIME: Duration = Duration::from_secs(1);

/// How long the server may accept no byte of what the driver sends: longer than the limit of any statement.
const MAX_WRITE_TIME: Duration = Duration::from_secs(120);

/// How long the driver may take to close, once the server has.
const MAX_LINGER_TIME: Duration = Duration::from_secs(1);

/// The way to a server.
pub(crate) struct Route {
    server: ServerAddress,
    tls: TlsSettings,
    /// The account and settings; host, port and TLS are those of the relay.
    driver: PgConnectOptions,
}

enum ServerAddress {
    Tcp(String, u16),
    Socket(PathBuf),
}

impl Route {
    /// The way to the server of a URL.
    ///
    /// # Errors
    /// When the driver does not take the URL.
    pub(super) fn new(url: &Url) -> Result<Self, sqlx::Error> {
        let options = PgConnectOptions::from_str(url.as_str())?;
        let host = options.get_host();
        let file = |folder: &Path| folder.join(format!(".s.PGSQL.{}", options.get_port()));
        let (server, driver) = match options.get_socket() {
            Some(folder) => (ServerAddress::Socket(file(folder)), without_socket(url, &options)?),
            None if host.starts_with('/') => (ServerAddress::Socket(file(Path::new(host))), options.clone()),
            None => {
                // An IPv6 address has brackets in a URL.
                let host = host.trim_matches(['[', ']']).to_owned();
                (ServerAddress::Tcp(host, options.get_port()), options.clone())
            }
        };
        // Prepared statements do not outlive a transaction behind a pooler.
        let driver = driver.ssl_mode(PgSslMode::Disable).statement_cache_capacity(0).disable_statement_logging();
        Ok(Route { server, tls: TlsSettings::new(&options), driver })
    }

    /// Connects the driver to the server.
    pub(super) async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let server = self.reach().await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let token = startup::create_token()?;
        let options = self.driver.clone().host(&Ipv4Addr::LOCALHOST.to_string()).port(port).application_name(&token);
        let mut relay = Box::pin(async move {
            match accept(listener, &token).await {
                Ok((driver, startup)) => relay(driver, server, &startup).await,
                Err(error) => tracing::debug!(%error, "the driver could not be connected"),
            }
        });
        let connected = {
            let mut connected = Box::pin(options.connect());
            tokio::select! {
                connected = &mut connected => connected?,
                // One of the two sides has closed, and the driver reports why.
                () = &mut relay => return connected.await,
            }
        };
        tokio::spawn(relay);
        Ok(connected)
    }

    /// A connection to the server, with TLS where the URL asks for it.
    async fn reach(&self) -> Result<Box<dyn Stream>, sqlx::Error> {
        match &self.server {
            ServerAddress::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                self.tls.upgrade(stream).await
            }
            #[cfg(unix)]
            ServerAddress::Socket(path) => self.tls.upgrade(tokio::net::UnixStream::connect(path).await?).await,
            #[cfg(not(unix))]
            ServerAddress::Socket(_) => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        }
    }
}

/// The options of the URL without the Unix socket that it names: the driver would prefer it to any host.
fn without_socket(url: &Url, options: &PgConnectOptions) -> Result<PgConnectOptions, sqlx::Error> {
    let mut plain = url.clone();
    plain.set_host(Some(NO_HOST)).map_err(|error| sqlx::Error::Configuration(error.into()))?;
    let pairs = url.query_pairs().filter(|(key, _)| !matches!(key.as_ref(), "host" | "hostaddr"));
    plain.query_pairs_mut().clear().extend_pairs(pairs);
    let plain = PgConnectOptions::from_str(plain.as_str())?;
    // A file of passwords may have one for the socket. The driver panics if the name has special characters.
    let found = options.clone().username("user").to_url_lossy();
    let decoded = found.password().map(|password| percent_encoding::percent_decode_str(password).decode_utf8_lossy());
    Ok(match decoded {
        Some(password) => plain.password(&password),
        None => plain,
    })
}

/// Waits for the driver, which has the token: other programs of this machine may connect too, and must not reach the server
/// with the certificate or the rights of this one.
async fn accept(listener: TcpListener, token: &str) -> io::Result<(TcpStream, Vec<u8>)> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        if let Ok(Ok(startup)) = timeout(MAX_STARTUP_TIME, startup::read(&mut stream, token)).await {
            stream.set_nodelay(true)?;
            return Ok((stream, startup));
        }
    }
}

/// Passes on what driver and server send, until one of them closes.
async fn relay(driver: TcpStream, server: Box<dyn Stream>, startup: &[u8]) {
    let (from_server, to_server) = tokio::io::split(server);
    let (from_driver, to_driver) = driver.into_split();
    let mut sent = Box::pin(send(startup, from_driver, to_server));
    tokio::select! {
        () = &mut sent => {}
        // What the driver still sends is read: unread bytes would reset its connection before it reads the last message.
        () = receive(from_server, to_driver) => drop(timeout(MAX_LINGER_TIME, sent).await),
    }
}

/// Passes on what the driver sends, until it closes.
async fn send(startup: &[u8], mut driver: impl AsyncRead + Unpin, mut server: impl AsyncWrite + Unpin) {
    let mut block = vec![0; BLOCK_BYTES];
    block[..startup.len()].copy_from_slice(startup);
    let mut length = startup.len();
    let mut is_open = true;
    while length > 0 {
        if is_open {
            let written = async {
                server.write_all(&block[..length]).await?;
                server.flush().await
            };
            match timeout(MAX_WRITE_TIME, written).await {
                Ok(Ok(())) => {}
                // Its last message may say why.
                Ok(Err(_)) => is_open = false,
                Err(_) => return,
            }
        }
        length = driver.read(&mut block).await.unwrap_or(0);
    }
    let _ = timeout(MAX_LINGER_TIME, server.shutdown()).await;
}

/// Passes on what the server sends, each message as far as its limit, until it closes.
async fn receive(mut server: impl AsyncRead + Unpin, mut driver: impl AsyncWrite + Unpin) {
    let (mut filter, mut block, mut output) = (MessageFilter::default(), vec![0; BLOCK_BYTES], Vec::new());
    loop {
        let length = server.read(&mut block).await.unwrap_or(0);
        output.clear();
        let read = filter.read(&block[..length], &mut output);
        let written = driver.write_all(&output).await;
        if length == 0 || read.is_err() || written.is_err() {
            break;
        }
    }
    let _ = driver.shutdown().await;
}
