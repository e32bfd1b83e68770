//! The HTTP client that all providers are reached with.

use std::{iter, net::IpAddr, sync::Once, time::Duration};

use reqwest::{Client, Url, redirect::Policy};

use super::failure::Peer;
use crate::LlmError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The client for the server at `base`.
pub(super) fn client(peer: &Peer, base: &Url) -> Result<Client, LlmError> {
    static TLS: Once = Once::new();
    // Where two providers are compiled in, rustls must be told which; that another was installed before is fine.
    TLS.call_once(|| {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
    let mut client = Client::builder()
        .connect_timeout(peer.timeout.min(CONNECT_TIMEOUT))
        // A key must not follow a redirect to another host, and these APIs have none.
        .redirect(Policy::none());
    if base.scheme() == "http" {
        // Without TLS no certificates need to be installed.
        client = client.tls_certs_only(iter::empty());
    }
    if is_loopback(base) {
        client = client.no_proxy();
    }
    client
        .build()
        .map_err(|error| LlmError::Transport { model: peer.model.clone(), reason: error.without_url().to_string() })
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
