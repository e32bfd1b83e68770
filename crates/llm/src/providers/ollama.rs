//! Ollama's own API: `POST api/chat`, one JSON value per line
//! (<https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion>).

mod ask;
mod context;
mod read;

pub(super) use ask::body;
pub(super) use context::Context;
pub(super) use read::read;

use reqwest::Url;

/// Returns the address of the chat endpoint.
pub(super) fn address(base: &Url) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}api/chat", base.path()));
    url
}
