//! The redirect at the end of a sign-in: one request to this machine, which carries the code.

use std::{io, time::Duration};

use futures::{StreamExt, stream::FuturesUnordered};
use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::fail;
use crate::{McpError, error::repeat};

const PATH: &str = "/callback";
/// Bytes of a request up to its blank line.
const MAX_HEAD: usize = 16 * 1024;
/// How long a request may take; browsers open connections that they do not use.
const MAX_READ: Duration = Duration::from_secs(10);
/// Connections that are read at the same time.
const MAX_OPEN: usize = 8;
/// Connections of one sign-in.
const MAX_CONNECTIONS: usize = 64;

/// Listens for the redirect on a free port of 127.0.0.1.
pub(super) struct Listener {
    listener: TcpListener,
    uri: String,
}

/// What the authorization server returned.
pub(super) struct Callback {
    pub(super) code: String,
    /// The issuer (RFC 9207).
    pub(super) issuer: Option<String>,
}

impl Listener {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Listener { listener, uri })
    }

    /// Returns the address of the redirect.
    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits for the first redirect; requests of other paths are rejected. The listener is closed afterwards.
    ///
    /// # Errors
    /// [`McpError::SignIn`] on a wrong state, without a code, or if the authorization server reports an error.
    pub(super) async fn receive(self, state: &str) -> Result<Callback, McpError> {
        let mut open = FuturesUnordered::new();
        let mut accepted = 0;
        loop {
            tokio::select! {
                connection = self.listener.accept(), if open.len() < MAX_OPEN && accepted < MAX_CONNECTIONS => {
                    accepted += 1;
                    if let Ok((connection, _)) = connection {
                        open.push(read(connection));
                    }
                }
                Some(received) = open.next(), if !open.is_empty() => {
                    if let Some((connection, target)) = received {
                        let callback = parse(&target, state);
                        answer(connection, callback.is_ok()).await;
                        return callback;
                    }
                }
                else => return Err(fail("too many connections to the address of the redirect")),
            }
        }
    }
}

/// Reads a request; returns its target if it is the redirect.
async fn read(mut connection: TcpStream) -> Option<(TcpStream, String)> {
    let reading = async {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut chunk = [0; 2048];
            let read = connection.read(&mut chunk).await.ok()?;
            head.extend_from_slice(&chunk[..read]);
            if read == 0 || head.len() > MAX_HEAD {
                return None;
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let target = head.strip_prefix("GET ")?.split(' ').next()?.to_owned();
        Some(target)
    };
    let target = tokio::time::timeout(MAX_READ, reading).await.ok()??;
    if target.split('?').next() == Some(PATH) {
        return Some((connection, target));
    }
    respond(&mut connection, "404 Not Found", "There is nothing here.").await;
    None
}

fn parse(target: &str, state: &str) -> Result<Callback, McpError> {
    let url = Url::parse(&format!("http://127.0.0.1{target}")).map_err(|_| fail("the redirect is not a valid URL"))?;
    let find = |wanted: &str| url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    if find("state").as_deref() != Some(state) {
        return Err(fail("the redirect does not belong to this sign-in: its `state` differs"));
    }
    if let Some(error) = find("error") {
        return Err(fail(&format!("the authorization server answered `{}`", repeat(&error))));
    }
    let code = find("code").ok_or_else(|| fail("the redirect contains no code"))?;
    Ok(Callback { code, issuer: find("iss") })
}

async fn answer(mut connection: TcpStream, is_good: bool) {
    match is_good {
        true => respond(&mut connection, "200 OK", "Continue in the terminal; this page can be closed.").await,
        false => respond(&mut connection, "400 Bad Request", "The sign-in failed; see the terminal.").await,
    }
}

/// Writes a response, and closes the connection. Failures are ignored: the page is a courtesy.
async fn respond(connection: &mut TcpStream, status: &str, text: &str) {
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    );
    let writing = async {
        connection.write_all(format!("{head}{text}").as_bytes()).await?;
        connection.shutdown().await
    };
    let _ = tokio::time::timeout(MAX_READ, writing).await;
}
