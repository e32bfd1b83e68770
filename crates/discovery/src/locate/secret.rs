//! Replaces secrets in URLs by variables, since catalogs must not contain secrets.

use std::fmt;

use prospector_core::name::is_credential;
use url::Url;

use super::{
    error::LocateError,
    finding::{Address, Finding},
};

/// A secret removed from a URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// The variable that replaces it.
    pub variable: String,
    value: String,
}

impl Secret {
    /// Returns the secret, decoded.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("variable", &self.variable).finish_non_exhaustive()
    }
}

impl Finding {
    /// Returns the environment variable that contains its URL.
    pub fn variable(&self) -> Option<&str> {
        match &self.address {
            Address::Variable(name) => Some(name),
            Address::Path(_) | Address::Url(_) => None,
        }
    }

    /// Removes the password from its URL, so that its entry can be written: `${CRM_PASSWORD}` replaces it.
    ///
    /// # Errors
    /// [`LocateError::Url`] if the URL contains another secret, or a password that is not encoded.
    pub fn take_secret(&mut self) -> Result<Option<Secret>, LocateError> {
        let Address::Url(written) = &self.address else { return Ok(None) };
        let Ok(url) = Url::parse(written) else { return Ok(None) };
        if url.query_pairs().any(|(name, value)| is_credential(&name) && !value.starts_with("${")) {
            return Err(LocateError::Url {
                place: self.source.clone(),
                reason: "a parameter contains a secret, which a catalog must not contain; write `${NAME}` instead"
                    .into(),
            });
        }
        let Some(password) = url.password().filter(|password| !password.contains("${") && !password.contains("$%7B"))
        else {
            return Ok(None);
        };
        let variable = format!("{}_PASSWORD", self.name.as_deref().unwrap_or("DATABASE").to_uppercase());
        let variable: String = variable.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let value = percent_encoding::percent_decode_str(password).decode_utf8_lossy().into_owned();
        let at = written.find("://").map_or(0, |at| at + 3);
        let replaced = written[at..].replacen(&format!(":{password}@"), &format!(":${{{variable}}}@"), 1);
        if replaced == written[at..] {
            return Err(LocateError::Url {
                place: self.source.clone(),
                reason: "the password contains characters that must be percent-encoded; write `${NAME}` instead".into(),
            });
        }
        self.address = Address::Url(format!("{}{replaced}", &written[..at]));
        Ok(Some(Secret { variable, value }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::locate;

    #[test]
    fn replaces_a_password_by_a_variable() {
        let check = |url: &str, entry: &str, value: Option<&str>| {
            let (mut found, _) = locate(&[url.to_owned()]).unwrap();
            let secret = found[0].take_secret().unwrap();
            assert_eq!(found[0].entry(None), entry);
            assert_eq!(secret.as_ref().map(super::Secret::value), value);
            assert!(!format!("{secret:?}{found:?}").contains("s3cret"));
        };
        check(
            "postgres://me:s3cret%21@db/crm",
            "{name: crm, url: \"postgres://me:${CRM_PASSWORD}@db/crm\"}",
            Some("s3cret!"),
        );
        check("postgres://db/crm", "{name: crm, url: \"postgres://db/crm\"}", None);
        check("postgres://me:${PW}@db/crm", "{name: crm, url: \"postgres://me:${PW}@db/crm\"}", None);
        let (mut found, _) = locate(&["https://api.x.example/openapi.json?api_key=s3cret".to_owned()]).unwrap();
        let error = found[0].take_secret().unwrap_err().to_string();
        assert!(error.contains("must not contain") && !error.contains("s3cret"), "{error}");
    }
}
