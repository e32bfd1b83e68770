//! The HTTP client for all providers.

use std::time::Duration;

use reqwest::{Client, Url};

use super::failure::Peer;
use crate::LlmError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates the client for the server at `base`.
pub(super) fn client(peer: &Peer, base: &Url) -> Result<Client, LlmError> {
    prospector_net::client_for(base)
        .connect_timeout(peer.timeout.min(CONNECT_TIMEOUT))
        .build()
        .map_err(|error| LlmError::Transport { model: peer.model.clone(), reason: error.without_url().to_string() })
}
