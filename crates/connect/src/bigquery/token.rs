//! Credentials: a bearer token, or one exchanged for a service-account signature.
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

/// The read-only scope: a token with this scope cannot execute any statement that writes.
const SCOPE: &str = "https://www.googleapis.com/auth/bigquery.readonly";

/// A token is renewed this long before it expires.
const MARGIN: Duration = Duration::from_secs(60);

/// Validity of a signature in seconds.
const SIGNED_FOR: u64 = 3600;

/// The cached token of a service account.
#[derive(Default)]
pub(super) struct Tokens {
    known: Mutex<Option<(String, Instant)>>,
}

/// The service-account key file issued by Google.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: Option<String>,
    token_uri: String,
}

impl Tokens {
    /// Returns the token for the next request, or `None` if requests are not authenticated with a service account.
    pub(super) async fn token(&self, client: &HttpClient) -> Result<Option<String>, RequestFailure> {
        let Access::KeyFile(path) = client.access() else { return Ok(None) };
        let mut known = self.known.lock().await;
        if let Some((token, end)) = known.as_ref()
            && *end > Instant::now()
        {
            return Ok(Some(token.clone()));
        }
        let (token, seconds) = issue_token(client, path).await?;
        let end = Instant::now() + Duration::from_secs(seconds).saturating_sub(MARGIN);
        *known = Some((token.clone(), end));
        Ok(Some(token))
    }

    /// Discards a token that was rejected.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = None;
    }
}

/// Requests a token; returns it with its validity in seconds.
async fn issue_token(client: &HttpClient, path: &Path) -> Result<(String, u64), RequestFailure> {
    let wrong = |reason: String| RequestFailure::Locked(format!("the key file {}: {reason}", path.display()));
    let text = tokio::fs::read(path).await.map_err(|error| wrong(error.to_string()))?;
    // The content of the key file is never shown, not even if it is malformed.
    let key: KeyFile = serde_json::from_slice(&text)
        .map_err(|_| wrong("it is not a service account key (client_email, private_key, token_uri)".to_owned()))?;
    let url = parse_trusted(&key.token_uri)
        .ok_or_else(|| wrong("its `token_uri` does not start with https://".to_owned()))?;
    let assertion = sign_claim(&key).map_err(|error| wrong(error.to_string()))?;
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        .append_pair("assertion", &assertion)
        .finish();
    let request = client
        .client()
        .await?
        .post(url)
        .header(reqwest::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body);
    let answer = client.send(request, Duration::from_secs(20)).await.map_err(|failure| match failure {
        RequestFailure::Failed(_, reason) | RequestFailure::Forbidden(reason) | RequestFailure::Missing(reason) => {
            wrong(format!("the token request was rejected: {}", reason.replace(&assertion, "***")))
        }
        other => other,
    })?;
    let token = answer.get("access_token").and_then(Value::as_str);
    let token = token.ok_or_else(|| wrong("the response contains no token".to_owned()))?;
    Ok((token.to_owned(), answer.get("expires_in").and_then(Value::as_u64).unwrap_or(SIGNED_FOR)))
}

/// Parses a token endpoint; only HTTPS and loopback addresses are accepted.
fn parse_trusted(uri: &str) -> Option<Url> {
    let url = Url::parse(uri).ok()?;
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    (url.scheme() == "https" || url.scheme() == "http" && is_here).then_some(url)
}

/// Why signing failed, as a clause that does not show the key file.
#[derive(Debug, thiserror::Error)]
enum SignError {
    #[error("its `private_key` is not an RSA key in PEM format")]
    Key,
    #[error("the system clock is wrong: {0}")]
    Clock(#[from] std::time::SystemTimeError),
}

/// Returns the JWT assertion of the account, signed with its key.
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
    fn sends_keys_only_over_tls_or_loopback() {
        let check = |uri: &str, expected: bool| assert_eq!(parse_trusted(uri).is_some(), expected, "{uri}");
        check("https://oauth2.googleapis.com/token", true);
        check("http://127.0.0.1:8080/token", true);
        check("http://oauth2.googleapis.com/token", false);
        check("file:///etc/passwd", false);
        check("", false);
    }
}
