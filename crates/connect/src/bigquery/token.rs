//! What lets one in: a bearer token, or one that is had for the signature of a service account.
//! <https://developers.google.com/identity/protocols/oauth2/service-account>

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use url::Url;

use crate::service::Access;
use crate::service::http::{HttpClient, RequestFailure};

/// Reading, and nothing else: with such a token no statement can write, whatever it says.
const SCOPE: &str = "https://www.googleapis.com/auth/bigquery.readonly";

/// A token is not used in its last moments.
const MARGIN: Duration = Duration::from_secs(60);

/// For how long a signature holds, in seconds.
const SIGNED_FOR: u64 = 3600;

/// The token of a service account, until it ends.
#[derive(Default)]
pub(super) struct Tokens {
    known: Mutex<Option<(String, Instant)>>,
}

/// The file that Google issues.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: Option<String>,
    token_uri: String,
}

impl Tokens {
    /// The token for the next question; none where the question takes its own.
    pub(super) async fn token(&self, asker: &HttpClient) -> Result<Option<String>, RequestFailure> {
        let Access::KeyFile(path) = asker.access() else { return Ok(None) };
        let mut known = self.known.lock().await;
        if let Some((token, end)) = known.as_ref()
            && *end > Instant::now()
        {
            return Ok(Some(token.clone()));
        }
        let (token, seconds) = issue_token(asker, path).await?;
        let end = Instant::now() + Duration::from_secs(seconds).saturating_sub(MARGIN);
        *known = Some((token.clone(), end));
        Ok(Some(token))
    }

    /// Forgets a token that was not taken.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = None;
    }
}

/// A token, and for how many seconds it holds.
async fn issue_token(asker: &HttpClient, path: &Path) -> Result<(String, u64), RequestFailure> {
    let wrong = |reason: String| RequestFailure::Locked(format!("the key file {}: {reason}", path.display()));
    let text = tokio::fs::read(path).await.map_err(|error| wrong(error.to_string()))?;
    // What stands in the file is not shown, not even where it is wrong.
    let key: KeyFile = serde_json::from_slice(&text)
        .map_err(|_| wrong("it is no key of a service account (client_email, private_key, token_uri)".to_owned()))?;
    let url = parse_trusted(&key.token_uri)
        .ok_or_else(|| wrong("its `token_uri` does not begin with https://".to_owned()))?;
    let assertion = sign_claim(&key).map_err(|error| wrong(error.to_string()))?;
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        .append_pair("assertion", &assertion)
        .finish();
    let request = asker
        .client()
        .await?
        .post(url)
        .header(reqwest::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body);
    let answer = asker.send(request, Duration::from_secs(20)).await.map_err(|unanswered| match unanswered {
        RequestFailure::Failed(_, reason) | RequestFailure::Forbidden(reason) | RequestFailure::Missing(reason) => {
            wrong(format!("no token is given for it: {}", reason.replace(&assertion, "***")))
        }
        other => other,
    })?;
    let token = answer.get("access_token").and_then(Value::as_str);
    let token = token.ok_or_else(|| wrong("the answer holds no token".to_owned()))?;
    Ok((token.to_owned(), answer.get("expires_in").and_then(Value::as_u64).unwrap_or(SIGNED_FOR)))
}

/// Where tokens are issued: over TLS, or on this machine.
fn parse_trusted(uri: &str) -> Option<Url> {
    let url = Url::parse(uri).ok()?;
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    (url.scheme() == "https" || url.scheme() == "http" && is_here).then_some(url)
}

/// Why nothing was signed, as a clause. What stands in the key file is not shown.
#[derive(Debug, thiserror::Error)]
enum SignError {
    #[error("its `private_key` is no RSA key in PEM")]
    Key,
    #[error("the clock of this machine is wrong: {0}")]
    Clock(#[from] std::time::SystemTimeError),
}

/// The claim of the account, signed with its key.
fn sign_claim(key: &KeyFile) -> Result<String, SignError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let Some(id) = &key.private_key_id {
        header["kid"] = id.as_str().into();
    }
    let claims = json!({
        "iss": key.client_email, "scope": SCOPE, "aud": key.token_uri, "iat": now, "exp": now + SIGNED_FOR,
    });
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encoded(&header), encoded(&claims));
    let pair = match PrivateKeyDer::from_pem_slice(key.private_key.as_bytes()).map_err(|_| SignError::Key)? {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err(SignError::Key),
    }
    .map_err(|_| SignError::Key)?;
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
        .map_err(|_| SignError::Key)?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_to_nobody_who_listens() {
        let check = |uri: &str, expected: bool| assert_eq!(parse_trusted(uri).is_some(), expected, "{uri}");
        check("https://oauth2.googleapis.com/token", true);
        check("http://127.0.0.1:8080/token", true);
        check("http://oauth2.googleapis.com/token", false);
        check("file:///etc/passwd", false);
        check("", false);
    }
}
