//! The stored tokens of a server: one private file per URL, and access tokens that are refreshed before they expire.

use std::{
    fmt,
    fs::TryLockError,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use prospector_fetch::Policy;
use prospector_state::{
    checksum::{read_json, write_json},
    create_folder, options,
};
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Refreshed, limit, refresh};
use crate::{McpError, spec::Reach};

/// The folder of the files, in that of the records.
const FOLDER: &str = "tokens";
/// A token that expires within this number of seconds is refreshed before it is used.
const MIN_SECONDS: u64 = 60;
/// How long another process may take to refresh the same tokens.
const MAX_LOCKED: Duration = Duration::from_secs(30);
/// Delay between two attempts to lock the file.
const RETRY: Duration = Duration::from_millis(50);

/// The content of a file.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The URL of the server.
    url: String,
    /// The secret that a registration returned, although a public client was requested.
    pub(super) client_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
}

impl Saved {
    /// Returns a member of the token response (RFC 6749).
    fn find(&self, name: &str) -> Option<Value> {
        serde_json::to_value(&self.credentials.token_response).ok()?.get(name).cloned()
    }

    fn find_access_token(&self) -> Option<String> {
        self.find("access_token")?.as_str().map(str::to_owned)
    }

    /// Returns whether the access token expires soon; without a lifetime it is used until it is rejected.
    fn expires_soon(&self) -> bool {
        let lifetime = self.find("expires_in").and_then(|seconds| seconds.as_u64());
        let (Some(lifetime), Some(received)) = (lifetime, self.credentials.token_received_at) else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        received.saturating_add(lifetime) < now.saturating_add(MIN_SECONDS)
    }
}

/// The file with the tokens of one URL.
#[derive(Clone)]
pub(super) struct TokenFile {
    path: PathBuf,
    url: String,
    client_secret: Option<String>,
}

impl TokenFile {
    pub(super) fn new(folder: &Path, url: &str, client_secret: Option<String>) -> Self {
        TokenFile { path: find_path(folder, url), url: url.to_owned(), client_secret }
    }

    /// Returns the tokens; `None` if the file is missing or damaged, so that the user signs in again.
    pub(super) fn read(&self) -> Option<Saved> {
        let saved: Saved = read_json(&self.path).ok()??;
        (saved.url == self.url).then_some(saved)
    }

    fn write(&self, credentials: StoredCredentials) -> io::Result<()> {
        self.prepare()?;
        let saved = Saved { url: self.url.clone(), client_secret: self.client_secret.clone(), credentials };
        write_json(&self.path, &saved)
    }

    fn delete(&self) -> io::Result<bool> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn prepare(&self) -> io::Result<()> {
        create_folder(self.path.parent().unwrap_or(Path::new(".")))
    }

    /// Waits until no other process refreshes these tokens. The lock ends with the returned file.
    pub(super) async fn lock(&self) -> io::Result<std::fs::File> {
        self.prepare()?;
        let file = options().write(true).create(true).open(self.path.with_extension("lock"))?;
        let locking = async {
            loop {
                match file.try_lock() {
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(RETRY).await,
                    // File systems without locks.
                    Ok(()) | Err(TryLockError::Error(_)) => return,
                }
            }
        };
        tokio::time::timeout(MAX_LOCKED, locking).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        Ok(file)
    }
}

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.read().map(|saved| saved.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let failed = |error: io::Error| AuthError::CredentialStoreError(error.to_string());
        self.write(credentials).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.delete().map(drop).map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }

    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        self.clear().await
    }
}

pub(super) fn explain_lock(error: io::Error) -> McpError {
    McpError::SignIn { reason: format!("cannot lock the tokens: {error}") }
}

fn find_path(folder: &Path, url: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{}.json", blake3::hash(url.as_bytes()).to_hex()))
}

/// Removes the tokens of a server; returns whether there were any.
///
/// # Errors
/// If the file cannot be removed.
pub(crate) fn remove(folder: &Path, reach: &Reach) -> io::Result<bool> {
    match reach {
        Reach::Url { url, .. } => TokenFile::new(folder, url, None).delete(),
        Reach::Command(_) => Ok(false),
    }
}

/// The access tokens of a server, for its requests.
#[derive(Clone)]
pub(crate) struct Tokens(Arc<Inner>);

struct Inner {
    server: String,
    url: String,
    policy: Policy,
    file: TokenFile,
    /// One refresh at a time: a refresh token may be valid only once.
    turn: tokio::sync::Mutex<()>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("server", &self.0.server).finish_non_exhaustive()
    }
}

impl Tokens {
    /// Returns the tokens of a server with OAuth; they need not exist yet.
    pub(crate) fn of(reach: &Reach, server: &str, folder: &Path) -> Option<Self> {
        let Reach::Url { url, policy, oauth: Some(_), .. } = reach else { return None };
        let file = TokenFile::new(folder, url, None);
        let (server, url, policy) = (server.to_owned(), url.clone(), policy.clone());
        Some(Tokens(Arc::new(Inner { server, url, policy, file, turn: Default::default() })))
    }

    /// Returns the name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns an access token, refreshed if it expires soon. If that fails, it is sent as it is: the server decides.
    pub(crate) async fn provide(&self) -> Option<String> {
        let saved = self.0.file.read()?;
        let token = saved.find_access_token()?;
        match saved.expires_soon() {
            true => Some(self.renew(&token).await.ok().flatten().unwrap_or(token)),
            false => Some(token),
        }
    }

    /// Returns a newer token than this one; `None` if the user has to sign in again.
    ///
    /// # Errors
    /// If the authorization server cannot be reached or does not answer.
    pub(crate) async fn renew(&self, used: &str) -> Result<Option<String>, McpError> {
        let (inner, used) = (self.0.clone(), used.to_owned());
        // Not cancelled with the request: the new refresh token would be lost.
        let renewing = tokio::spawn(async move { inner.renew(&used).await });
        renewing.await.unwrap_or_else(|error| Err(McpError::Http { reason: error.to_string() }))
    }
}

impl Inner {
    async fn renew(&self, used: &str) -> Result<Option<String>, McpError> {
        let _turn = self.turn.lock().await;
        if self.file.read().is_none() {
            return Ok(None);
        }
        let _lock = self.file.lock().await.map_err(explain_lock)?;
        let Some(saved) = self.file.read() else { return Ok(None) };
        let current = saved.find_access_token();
        if current.as_deref() != Some(used) {
            return Ok(current);
        }
        if saved.find("refresh_token").is_none() {
            return Ok(None);
        }
        let file = TokenFile { client_secret: saved.client_secret, ..self.file.clone() };
        match limit("refreshing the token", refresh(&self.url, self.policy.clone(), file)).await? {
            Refreshed::Renewed => Ok(self.file.read().and_then(|saved| saved.find_access_token())),
            Refreshed::Rejected => Ok(None),
        }
    }
}
