//! Authentication: bearer tokens, stored as hashes, and the owner that each identifies.

use std::{collections::HashSet, fmt::Write, path::Path};

use prospector_core::Owner;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::{MIN_TOKEN_CHARS, ServeError, TokenError, TokensError};

/// Prefix of a line that contains a hash instead of a token.
const HASHED: &str = "sha256:";

/// Salt of owner ids, so that they differ from the hashes in a token file.
const PURPOSE: &[u8] = b"prospector owner\0";

/// Number of bytes of the hash that form an id.
const ID_BYTES: usize = 16;

/// The accepted tokens, as hashes. Requests must carry one of them.
#[derive(Clone, Default)]
pub struct Tokens(Vec<TokenHash>);

#[derive(Clone)]
struct TokenHash {
    hash: [u8; 32],
    owner: Owner,
}

impl TokenHash {
    fn new(hash: [u8; 32], label: Option<&str>) -> Self {
        let digest = Sha256::new().chain_update(PURPOSE).chain_update(hash).finalize();
        let mut id = String::new();
        for byte in &digest[..ID_BYTES] {
            // Writing to a string does not fail.
            let _ = write!(id, "{byte:02x}");
        }
        let label = label.map_or_else(|| format!("client-{}", &id[..8]), str::to_owned);
        TokenHash { hash, owner: Owner::new(id, &label) }
    }
}

impl Tokens {
    /// Returns no tokens: requests need none.
    pub fn none() -> Self {
        Tokens::default()
    }

    /// Adds a token.
    ///
    /// # Errors
    /// [`TokenError`] if the token is shorter than 16 characters, or contains characters that a header cannot.
    pub fn with(self, token: &str) -> Result<Self, TokenError> {
        self.add(token, None)
    }

    fn add(mut self, token: &str, label: Option<&str>) -> Result<Self, TokenError> {
        if token.len() < MIN_TOKEN_CHARS {
            return Err(TokenError::TooShort);
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        self.0.push(TokenHash::new(Sha256::digest(token).into(), label));
        Ok(self)
    }

    /// Reads tokens from a file, one per line: the token itself, or `sha256:` and its hash in hexadecimal digits, optionally followed by
    /// white space, `#` and a display name of the owner, such as `# the desk`. Empty lines and lines that start with `#` are ignored.
    ///
    /// # Errors
    /// [`ServeError::Tokens`] with the invalid line. The message does not quote the line.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        Self::read(path).map_err(|reason| ServeError::Tokens { path: path.to_owned(), reason })
    }

    fn read(path: &Path) -> Result<Self, TokensError> {
        let text = std::fs::read_to_string(path)?;
        let mut tokens = Tokens::none();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (line, label) = split_label(line);
            let wrong = |source: TokenError| TokensError::Line { line: at + 1, source };
            match line.strip_prefix(HASHED) {
                Some(hash) => {
                    let hash = hexadecimal(hash.trim()).ok_or_else(|| wrong(TokenError::Hash))?;
                    tokens.0.push(TokenHash::new(hash, label));
                }
                None => tokens = tokens.add(line, label).map_err(wrong)?,
            }
        }
        if tokens.is_none() {
            return Err(TokensError::Empty);
        }
        Ok(tokens)
    }

    /// Returns these tokens and the others.
    pub fn and(mut self, other: Tokens) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Whether requests need no token.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the owner of an accepted token, in constant time.
    pub fn owner_of(&self, token: &str) -> Option<&Owner> {
        let given: [u8; 32] = Sha256::digest(token).into();
        let mut found = None;
        for known in &self.0 {
            if bool::from(known.hash.ct_eq(&given)) {
                found = Some(&known.owner);
            }
        }
        found
    }

    /// Returns the number of owners: one if no tokens are required. The same token twice is one owner.
    pub fn owners(&self) -> usize {
        self.0.iter().map(|known| known.owner.id()).collect::<HashSet<_>>().len().max(1)
    }
}

/// Splits a line into the token and the display name of its owner.
fn split_label(line: &str) -> (&str, Option<&str>) {
    let mark = line.match_indices('#').find(|(at, _)| line[..*at].ends_with(char::is_whitespace));
    match mark {
        Some((at, _)) => (line[..at].trim_end(), Some(line[at + 1..].trim()).filter(|label| !label.is_empty())),
        None => (line, None),
    }
}

/// Omits the hashes.
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
            (Ok(tokens), Ok(admitted)) => assert_eq!(tokens.owner_of(token).is_some(), admitted, "{file}"),
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
        check("# none\n", TOKEN, Err("it contains no token"));
        check("hunter2\n", TOKEN, Err("line 1: a token needs at least 16 characters"));
        check("hunter2 hunter2 hunter2\n", TOKEN, Err("line 1: a token consists of"));
        check("sha256:hunter2\n", TOKEN, Err("line 1: malformed SHA-256 hash"));
    }

    #[test]
    fn a_token_stands_for_one_owner_who_has_a_name_if_it_was_given_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let tokens = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Tokens::from_file(&path).unwrap()
        };
        let known = tokens("0123456789abcdef  # the desk\n0123456789abcde#\n");
        let (desk, other) = (known.owner_of("0123456789abcdef").unwrap(), known.owner_of("0123456789abcde#").unwrap());
        assert_eq!((desk.label(), known.owners()), ("the desk", 2));
        assert_ne!(desk, other);
        assert!(other.label().starts_with("client-"), "{}", other.label());
        assert_eq!(known.owner_of("0123456789abcdeg"), None);
        // Stable between starts, whatever else is in the file, and whether the token is given in plain or hashed.
        let hashed = tokens("sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f # x\n");
        assert_eq!(hashed.owner_of("0123456789abcdef"), Some(desk));
        for secret in ["0123456789abcdef", "9f9f5111f7b27a78"] {
            assert!(!desk.id().contains(secret) && !desk.label().contains(secret));
        }
        assert_eq!(tokens("0123456789abcdef\n0123456789abcdef # again").owners(), 1);
        assert_eq!(Tokens::none().owners(), 1);
    }
}
