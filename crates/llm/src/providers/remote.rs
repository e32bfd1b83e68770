//! Models of Anthropic, OpenAI or a compatible server, through `genai`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use genai::{
    Client, Headers, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatOptions, ReasoningEffort},
    resolver::{AuthData, Endpoint},
};
use serde_json::json;
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use super::{
    Settings,
    accumulator::Accumulator,
    answer::Answer,
    attempts::{Pieces, again, events},
    convert::{self, Dialect},
    failure::{Failure, Peer},
    http,
    route::Route,
    thinking::Thinking,
};
use crate::{ChatEvent, ChatModel, ChatRequest, LlmError};

pub(super) struct Remote {
    client: Client,
    target: ServiceTarget,
    dialect: Dialect,
    /// The provider's name of the model.
    name: String,
    peer: Arc<Peer>,
    thinking: Arc<Thinking>,
    retries: u32,
}

impl Remote {
    pub(super) fn new(model: &str, dialect: Dialect, route: Route, settings: &Settings) -> Result<Self, LlmError> {
        let peer = Peer::new(model, &route, settings.timeout);
        let client = http::client(&peer, &route.base)?;
        // Without the environment, where `genai` would look for keys.
        let client = Client::builder().with_reqwest(client).build().map_err(|error| peer.failure(error).error)?;
        Ok(Remote {
            client,
            target: target(dialect, &route),
            dialect,
            name: route.name,
            peer: Arc::new(peer),
            thinking: Arc::default(),
            retries: settings.retries,
        })
    }

    fn options(&self, request: &ChatRequest) -> ChatOptions {
        let options = ChatOptions::default()
            .with_max_tokens(request.max_output_tokens)
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(self.peer.timeout)
            .with_stream_read_timeout(self.peer.timeout)
            // `genai` interprets names: `a::b` and `b-max` would be sent as `b`.
            .with_extra_body(json!({"model": self.name}));
        match self.dialect {
            Dialect::Anthropic => options.with_capture_reasoning_content(true),
            Dialect::OpenAi => options.with_reasoning_effort(reasoning_effort(&self.name, !request.tools.is_empty())),
        }
    }

    /// Sends the request once and waits for the first piece of the response.
    async fn attempt(
        &self,
        request: genai::chat::ChatRequest,
        fingerprint: u64,
        options: &ChatOptions,
    ) -> Result<(ChatEvent, Answer), Failure> {
        let opened = self
            .client
            .exec_chat_stream(self.target.clone(), request, Some(options))
            .with_subscriber(NoSubscriber::default())
            .await
            .map_err(|error| self.peer.failure(error))?;
        let mut answer = Answer {
            stream: opened.stream,
            accumulator: Accumulator::default(),
            peer: self.peer.clone(),
            thinking: self.thinking.clone(),
            fingerprint,
        };
        let first = answer.next().await?;
        Ok((first, answer))
    }
}

#[async_trait]
impl ChatModel for Remote {
    fn name(&self) -> &str {
        &self.peer.model
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let options = self.options(request);
        let (request, fingerprint) = convert::request(request, self.dialect, &self.thinking);
        let (first, answer) = again(self.retries, || self.attempt(request.clone(), fingerprint, &options)).await?;
        Ok(events(first, answer))
    }
}

/// Returns the reasoning effort. From generation 5.5 on, OpenAI refuses tools over chat completions unless reasoning is off. For a budget,
/// `genai` sends nothing; without any effort it would parse one from the end of the name.
fn reasoning_effort(name: &str, with_tools: bool) -> ReasoningEffort {
    const MUST_NOT_REASON: [&str; 5] = ["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6-sol", "gpt-6-luna"];
    if with_tools && MUST_NOT_REASON.iter().any(|begin| name.starts_with(begin)) {
        ReasoningEffort::Zero
    } else {
        ReasoningEffort::Budget(0)
    }
}

/// Returns the target with complete address and headers, so that a server without a key gets no header, and the query of the address is
/// kept.
fn target(dialect: Dialect, route: &Route) -> ServiceTarget {
    let (adapter, path) = match dialect {
        Dialect::Anthropic => (AdapterKind::Anthropic, "messages"),
        Dialect::OpenAi => (AdapterKind::OpenAI, "chat/completions"),
    };
    let mut url = route.base.clone();
    url.set_path(&format!("{}{path}", route.base.path()));
    let key = route.key.as_ref().map(|key| key.expose());
    let headers: Vec<(&str, String)> = match dialect {
        Dialect::Anthropic => key
            .map(|key| ("x-api-key", key.to_owned()))
            .into_iter()
            .chain([("anthropic-version", "2023-06-01".to_owned())])
            .collect(),
        Dialect::OpenAi => key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
    };
    ServiceTarget {
        endpoint: Endpoint::from_owned(route.base.as_str()),
        auth: AuthData::RequestOverride { url: url.into(), headers: Headers::from(headers) },
        model: ModelIden::new(adapter, route.name.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::{super::route::Wire, *};

    fn check(dialect: Dialect, base: &str, key: Option<&str>, expected_url: &str, expected_headers: &[(&str, &str)]) {
        let base = Url::parse(base).unwrap();
        let route = Route { wire: Wire::OpenAi, name: "m".into(), base, key: key.map(Into::into) };
        let AuthData::RequestOverride { url, headers } = target(dialect, &route).auth else { panic!("not overridden") };
        assert_eq!(url, expected_url);
        let mut headers: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        headers.sort_unstable();
        assert_eq!(headers, expected_headers);
    }

    #[test]
    fn address_and_headers_are_those_of_the_wire() {
        check(
            Dialect::OpenAi,
            "http://h:1/v1/?api-version=2",
            Some("k"),
            "http://h:1/v1/chat/completions?api-version=2",
            &[("authorization", "Bearer k")],
        );
        check(Dialect::OpenAi, "http://h:1/v1/", None, "http://h:1/v1/chat/completions", &[]);
        check(
            Dialect::Anthropic,
            "http://h:1/v1/",
            Some("k"),
            "http://h:1/v1/messages",
            &[("anthropic-version", "2023-06-01"), ("x-api-key", "k")],
        );
    }
}
