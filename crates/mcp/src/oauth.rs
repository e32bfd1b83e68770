//! OAuth of a server over HTTP: sign-in with a browser, and access tokens for requests.
//!
//! The authorization code flow of the MCP specification: metadata of the protected resource (RFC 9728) and of its authorization server
//! (RFC 8414), dynamic registration (RFC 7591) unless the catalog names a client, PKCE with S256, and the resource indicator (RFC 8707).
//! The protocol is that of the SDK; every request of it is sent by [`requests::Requests`], within the policy of the server.

mod redirect;
mod requests;
mod tokens;

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use prospector_fetch::Policy;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig, OAuthHttpClient,
};
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

pub(crate) use self::tokens::{Tokens, remove};
use self::{
    redirect::Listener,
    requests::Requests,
    tokens::{TokenFile, explain_lock},
};
use crate::{
    McpError,
    error::repeat,
    spec::{OAuth, Reach},
};

/// How long the user may take to sign in.
const MAX_WAIT: Duration = Duration::from_secs(5 * 60);
/// How long discovery, or an exchange of tokens, may take.
const MAX_EXCHANGE: Duration = Duration::from_secs(60);
/// Maximum length of the address of a sign-in, in bytes.
const MAX_ADDRESS: usize = 16 * 1024;
/// The name under which Prospector registers.
const CLIENT_NAME: &str = "Prospector";
/// Errors of a token endpoint (RFC 6749 and RFC 8707) that messages may contain; other texts could contain a token.
const CODES: [&str; 8] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
    "access_denied",
];

/// Signs in to a server, and stores its tokens in `folder`. `open` receives the address that the user opens in a browser.
///
/// # Errors
/// [`McpError`] if the server has no OAuth, the metadata or the redirect is invalid, or the user does not sign in in time.
pub(crate) async fn login(reach: &Reach, folder: &Path, open: impl FnOnce(&str)) -> Result<(), McpError> {
    let Reach::Url { url, policy, oauth: Some(oauth), .. } = reach else {
        return Err(fail("the catalog entry has no `oauth`"));
    };
    let requests = Arc::new(Requests::new(policy.clone(), url));
    let listener = Listener::bind().await.map_err(|error| fail(&format!("cannot listen on 127.0.0.1: {error}")))?;
    let starting = limit("discovery", prepare(url, oauth, folder, listener.uri(), &requests));
    let (manager, address) = starting.await?;
    let state = find_state(&address)?;
    open(&address);
    let answered = tokio::time::timeout(MAX_WAIT, listener.receive(&state)).await;
    let callback = answered.map_err(|_| McpError::Timeout { what: "the sign-in", seconds: MAX_WAIT.as_secs() })??;
    // A refresh by another process would replace the new tokens.
    let _lock = TokenFile::new(folder, url, None).lock().await.map_err(explain_lock)?;
    let exchanging = limit("the exchange of the code", async {
        let exchange = manager.exchange_code_for_token_with_issuer(&callback.code, &state, callback.issuer.as_deref());
        mute(exchange).await.map_err(|error| explain(error, &requests))
    });
    exchanging.await.map(drop)
}

/// Discovers the authorization server and registers; returns the address of the sign-in.
async fn prepare(
    url: &str,
    oauth: &OAuth,
    folder: &Path,
    redirect: &str,
    requests: &Arc<Requests>,
) -> Result<(AuthorizationManager, String), McpError> {
    let (mut manager, _) = discover(url, requests).await?;
    let scopes = match oauth.scopes.is_empty() {
        true => manager.select_initial_scopes(&[]).await,
        false => oauth.scopes.clone(),
    };
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = match &oauth.client_id {
        Some(id) => OAuthClientConfig::new(id, redirect),
        None => {
            let registered = mute(manager.register_client(CLIENT_NAME, redirect, &scopes)).await;
            registered.map_err(|error| explain(error, requests))?
        }
    };
    manager.set_credential_store(TokenFile::new(folder, url, client.client_secret.clone()));
    manager.configure_client(client).map_err(|error| explain(error, requests))?;
    let address = mute(manager.get_authorization_url(&scopes)).await.map_err(|error| explain(error, requests))?;
    if address.len() > MAX_ADDRESS {
        return Err(fail(&format!("the address of the sign-in is longer than {MAX_ADDRESS} bytes")));
    }
    Ok((manager, address))
}

/// Reads and validates the metadata of a server and of its authorization server, whose issuer is returned.
async fn discover(url: &str, requests: &Arc<Requests>) -> Result<(AuthorizationManager, Option<String>), McpError> {
    let client: Arc<dyn OAuthHttpClient> = requests.clone();
    let manager = AuthorizationManager::new_with_oauth_http_client(url, client).await;
    let mut manager = manager.map_err(|error| explain(error, requests))?;
    let found = mute(manager.resolve_metadata()).await.map_err(|error| explain(error, requests))?;
    if !found.source.is_discovered() {
        // The SDK guesses the endpoints, as the first version of the specification did.
        return Err(fail("the server publishes no OAuth metadata that is valid for its URL"));
    }
    check_endpoints(&found.metadata, requests)?;
    let issuer = found.metadata.issuer.clone();
    manager.set_metadata(found.metadata);
    Ok((manager, issuer))
}

/// Checks the endpoints before one of them is shown to the user or gets a secret.
fn check_endpoints(metadata: &AuthorizationMetadata, requests: &Requests) -> Result<(), McpError> {
    let endpoints = [Some(&metadata.authorization_endpoint), Some(&metadata.token_endpoint)];
    for endpoint in endpoints.into_iter().chain([metadata.registration_endpoint.as_ref()]).flatten() {
        requests.check(endpoint)?;
    }
    Ok(())
}

/// Exchanges the refresh token of a file, whose server must still use the same authorization server.
async fn refresh(url: &str, policy: Policy, file: TokenFile) -> Result<Refreshed, McpError> {
    let Some(saved) = file.read() else { return Ok(Refreshed::Rejected) };
    let requests = Arc::new(Requests::new(policy, url));
    let (mut manager, issuer) = discover(url, &requests).await?;
    // Its refresh token must not be sent to another authorization server.
    if saved.credentials.issuer != issuer {
        return Ok(Refreshed::Rejected);
    }
    let client = OAuthClientConfig::new(&saved.credentials.client_id, url);
    let client = match &saved.client_secret {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    };
    manager.configure_client(client).map_err(|error| explain(error, &requests))?;
    manager.set_credential_store(file);
    match mute(manager.refresh_token()).await {
        Ok(_) => Ok(Refreshed::Renewed),
        Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(Refreshed::Rejected),
        Err(error) => Err(explain(error, &requests)),
    }
}

/// The result of a refresh that the authorization server answered.
enum Refreshed {
    /// The file contains new tokens.
    Renewed,
    /// The user has to sign in again.
    Rejected,
}

/// Runs a future of the SDK without its log, which contains codes.
async fn mute<F: Future>(future: F) -> F::Output {
    future.with_subscriber(NoSubscriber::new()).await
}

async fn limit<T>(what: &'static str, future: impl Future<Output = Result<T, McpError>>) -> Result<T, McpError> {
    let late = |_| McpError::Timeout { what, seconds: MAX_EXCHANGE.as_secs() };
    tokio::time::timeout(MAX_EXCHANGE, future).await.map_err(late)?
}

fn find_state(address: &str) -> Result<String, McpError> {
    let address = Url::parse(address).map_err(|error| fail(&error.to_string()))?;
    let state = address.query_pairs().filter(|(name, _)| name == "state").last();
    state.map(|(_, state)| state.into_owned()).ok_or_else(|| fail("the address of the sign-in has no `state`"))
}

fn fail(reason: &str) -> McpError {
    McpError::SignIn { reason: reason.to_owned() }
}

/// Converts an error of the SDK. Texts of a token endpoint are not repeated, since they may contain a token.
fn explain(error: AuthError, requests: &Requests) -> McpError {
    if let Some(failure) = requests.take_failure() {
        return failure;
    }
    let reason = match &error {
        AuthError::TokenExchangeFailed(text)
        | AuthError::TokenRefreshFailed(text)
        | AuthError::TokenRefreshRejected(text) => match CODES.iter().find(|code| text.contains(*code)) {
            Some(code) => format!("the token endpoint answered `{code}`"),
            None => "the token endpoint returned no token".to_owned(),
        },
        AuthError::DiscoveryRequestFailed { source, .. } => repeat(&source.to_string()),
        AuthError::RegistrationFailed(text) => {
            format!(
                "registration failed: {}; write `oauth: {{client_id: ...}}` if the provider issues one",
                repeat(text)
            )
        }
        other => repeat(&other.to_string()),
    };
    McpError::SignIn { reason }
}
