//! Who may ask: bearer tokens, of which only hashes are kept.

use std::path::Path;

use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::ServeError;

/// How a line begins that holds a hash and not a token.
const HASHED: &str = "sha256:";

/// A token that can be guessed guards nothing.
const SHORTEST: usize = 16;

/// Hashes of the tokens that open the door.
#[derive(Clone, Default)]
pub struct Tokens(Vec<[u8; 32]>);

impl Tokens {
    /// None: nobody is asked for one.
    pub fn none() -> Self {
        Tokens::default()
    }

    /// Adds a token.
    ///
    /// # Errors
    /// What is wrong with it: it is shorter than 16 characters, or holds what no header can.
    pub fn with(mut self, token: &str) -> Result<Self, String> {
        if token.len() < SHORTEST {
            return Err(format!("a token has at least {SHORTEST} characters: `openssl rand -hex 32` makes one"));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token holds letters, digits and signs, and no spaces".into());
        }
        self.0.push(Sha256::digest(token).into());
        Ok(self)
    }

    /// The tokens of a file, one a line: the token itself, or `sha256:` and the hash of it in hexadecimal digits. Empty
    /// lines, and those that begin with `#`, do not count.
    ///
    /// # Errors
    /// [`ServeError::Tokens`] with the line that cannot be used. It does not say what stands there.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        let failed = |reason: String| ServeError::Tokens { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let mut tokens = Tokens::none();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |reason: &str| failed(format!("line {}: {reason}", at + 1));
            match line.strip_prefix(HASHED) {
                Some(hash) => tokens.0.push(hexadecimal(hash.trim()).ok_or_else(|| wrong("no SHA-256 hash"))?),
                None => tokens = tokens.with(line).map_err(|reason| wrong(&reason))?,
            }
        }
        if tokens.is_none() {
            return Err(failed("there is none in it".into()));
        }
        Ok(tokens)
    }

    /// The tokens of both.
    pub fn and(mut self, other: Tokens) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Whether nobody is asked for one.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a token is among them. It takes as long whether it is or not.
    pub fn admits(&self, token: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(token).into();
        self.0.iter().fold(Choice::from(0), |found, known| found | known.ct_eq(&given)).into()
    }
}

/// Hashes are no secrets, but nobody needs them either.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    fn check(file: &str, token: &str, expected: Result<bool, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, file).unwrap();
        match (Tokens::from_file(&path), expected) {
            (Ok(tokens), Ok(admitted)) => assert_eq!(tokens.admits(token), admitted, "{file}"),
            (Err(error), Err(reason)) => {
                assert!(error.to_string().contains(reason), "{error}");
                assert!(!error.to_string().contains("hunter2"), "{error}");
            }
            (found, _) => panic!("{file}: {found:?}"),
        }
    }

    #[test]
    fn a_file_holds_tokens_or_their_hashes() {
        const TOKEN: &str = "0123456789abcdef";
        // printf %s 0123456789abcdef | sha256sum
        const HASH: &str = "sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";
        check(&format!("# the desk\n\n{TOKEN}\n"), TOKEN, Ok(true));
        check(HASH, TOKEN, Ok(true));
        check(HASH, HASH, Ok(false));
        check(HASH, "", Ok(false));
        check("# none\n", TOKEN, Err("there is none in it"));
        check("hunter2\n", TOKEN, Err("line 1: a token has at least 16 characters"));
        check("hunter2 hunter2 hunter2\n", TOKEN, Err("line 1: a token holds"));
        check("sha256:hunter2\n", TOKEN, Err("line 1: no SHA-256 hash"));
    }
}
