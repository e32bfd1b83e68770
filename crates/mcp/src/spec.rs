//! How to connect to a server.

use std::{fmt, path::PathBuf};

use prospector_fetch::Policy;

/// How to connect to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A process, over its standard input and output.
    Command(Command),
    /// Streamable HTTP, or the older HTTP+SSE.
    Url {
        /// The endpoint.
        url: String,
        /// Headers of every request, which may contain secrets.
        headers: Headers,
        /// The permitted hosts.
        policy: Policy,
        /// Sign-in with OAuth, if the server requires it.
        oauth: Option<OAuth>,
    },
}

/// How to sign in to a server with OAuth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// The client that is registered with the provider; without it, Prospector registers itself.
    pub client_id: Option<String>,
    /// The scopes to request; those that the server names if empty.
    pub scopes: Vec<String>,
}

/// The process of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments, which may contain secrets.
    pub args: Vec<String>,
    /// Its complete environment; nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// Its working folder.
    pub folder: PathBuf,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Command").field("program", &self.program).field("environment", &names).finish_non_exhaustive()
    }
}

/// Names and values of HTTP headers; values are not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Reach {
    /// Returns a hash of the command or URL. Its arguments may contain secrets, which cannot be recovered from the
    /// hash.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        };
        match self {
            Reach::Command(command) => {
                add(&command.program);
                command.args.iter().for_each(|arg| add(arg));
                add(&command.folder.to_string_lossy());
            }
            Reach::Url { url, .. } => add(url),
        }
        hasher.finalize().to_hex().to_string()
    }
}
