//! A model at a provider: one request, sent again where that helps, and its answer.

use std::{
    iter,
    sync::{Arc, Once},
    time::Duration,
};

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use genai::{
    Client, Headers, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatOptions, ReasoningEffort},
    resolver::{AuthData, Endpoint},
};
use reqwest::{Url, redirect::Policy};
use serde_json::json;
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use super::{
    Route, Settings, Wire,
    answer::Answer,
    convert,
    count::Counter,
    failure::{Failure, Peer},
    is_loopback,
    thinking::Thinking,
};
use crate::{ChatEvent, ChatModel, ChatRequest, LlmError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct Remote {
    client: Client,
    /// Where the provider counts tokens.
    counter: Option<Counter>,
    target: ServiceTarget,
    wire: Wire,
    /// The name that the provider knows.
    name: String,
    peer: Arc<Peer>,
    thinking: Arc<Thinking>,
    retries: u32,
}

impl Remote {
    pub(super) fn new(model: &str, route: Route, settings: &Settings) -> Result<Self, LlmError> {
        let peer = Peer {
            model: model.to_owned(),
            origin: route.base.origin().ascii_serialization(),
            key: route.key.clone(),
            timeout: settings.timeout,
        };
        let client = http_client(&route.base, settings.timeout).map_err(|error| LlmError::Transport {
            model: model.to_owned(),
            reason: error.without_url().to_string(),
        })?;
        let counter = (route.wire == Wire::Anthropic).then(|| Counter::new(client.clone(), &route));
        // No environment: `genai` would look for keys there.
        let client = Client::builder().with_reqwest(client).build().map_err(|error| peer.failure(error).error)?;
        Ok(Remote {
            client,
            counter,
            target: target(&route),
            wire: route.wire,
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
            // `genai` reads meaning into names: `a::b` and `b-max` would be sent as `b`.
            .with_extra_body(json!({"model": self.name}));
        match self.wire {
            Wire::Anthropic => options.with_capture_reasoning_content(true),
            Wire::OpenAi => options.with_reasoning_effort(reasoning_effort(&self.name, !request.tools.is_empty())),
        }
    }

    /// Attempts again what failed in passing.
    async fn again<T, F>(&self, attempt: impl FnMut() -> F + Send) -> Result<T, LlmError>
    where
        T: Send,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(500))
            .with_max_times(self.retries as usize)
            .with_jitter();
        attempt
            .retry(pauses)
            .when(|failure| failure.again)
            // No pause left means no attempt left, whatever the provider says.
            .adjust(|failure, pause| pause.map(|pause| failure.after.unwrap_or(pause)))
            .notify(|failure, pause| tracing::warn!(?pause, "sending again: {}", failure.error))
            .await
            .map_err(|failure| failure.error)
    }

    /// Sends the request once and waits for the first piece of the answer.
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
            peer: self.peer.clone(),
            thinking: self.thinking.clone(),
            fingerprint,
            text: String::new(),
            other: 0,
            begun: false,
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
        let (request, fingerprint) = convert::request(request, self.wire, &self.thinking);
        let (first, answer) = self.again(|| self.attempt(request.clone(), fingerprint, &options)).await?;
        let unfinished = matches!(first, ChatEvent::Text(_)).then_some(answer);
        let rest = stream::unfold(unfinished, |unfinished| async {
            let mut answer = unfinished?;
            Some(match answer.next().await {
                Ok(event @ ChatEvent::Text(_)) => (Ok(event), Some(answer)),
                Ok(done) => (Ok(done), None),
                Err(failure) => (Err(failure.error), None),
            })
        });
        Ok(stream::iter([Ok(first)]).chain(rest).boxed())
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<Option<u64>, LlmError> {
        let Some(counter) = &self.counter else { return Ok(None) };
        self.again(|| counter.count(request, &self.peer)).await.map(Some)
    }
}

/// From its fifth and a half generation on OpenAI refuses tools over chat completions unless reasoning is switched off.
/// A budget is what `genai` sends nothing for; without any effort it would look for one at the end of the name.
fn reasoning_effort(name: &str, with_tools: bool) -> ReasoningEffort {
    const MUST_NOT_REASON: [&str; 5] = ["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6-sol", "gpt-6-luna"];
    if with_tools && MUST_NOT_REASON.iter().any(|begin| name.starts_with(begin)) {
        ReasoningEffort::Zero
    } else {
        ReasoningEffort::Budget(0)
    }
}

/// Address and headers are given whole: that way a server without a key gets no header, and the query of the address stays.
fn target(route: &Route) -> ServiceTarget {
    let (adapter, path) = match route.wire {
        Wire::Anthropic => (AdapterKind::Anthropic, "messages"),
        Wire::OpenAi => (AdapterKind::OpenAI, "chat/completions"),
    };
    let mut url = route.base.clone();
    url.set_path(&format!("{}{path}", route.base.path()));
    let key = route.key.as_ref().map(|key| key.expose());
    let headers: Vec<(&str, String)> = match route.wire {
        Wire::Anthropic => key
            .map(|key| ("x-api-key", key.to_owned()))
            .into_iter()
            .chain([("anthropic-version", "2023-06-01".to_owned())])
            .collect(),
        Wire::OpenAi => key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
    };
    ServiceTarget {
        endpoint: Endpoint::from_owned(route.base.as_str()),
        auth: AuthData::RequestOverride { url: url.into(), headers: Headers::from(headers) },
        model: ModelIden::new(adapter, route.name.as_str()),
    }
}

fn http_client(base: &Url, timeout: Duration) -> reqwest::Result<reqwest::Client> {
    static TLS: Once = Once::new();
    // Where two providers are compiled in, rustls must be told which; that another was installed before is fine.
    TLS.call_once(|| {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
    let mut client = reqwest::Client::builder()
        .connect_timeout(timeout.min(CONNECT_TIMEOUT))
        // A key must not follow a redirect to another host, and these APIs have none.
        .redirect(Policy::none());
    if base.scheme() == "http" {
        // Without TLS no certificates need to be installed.
        client = client.tls_certs_only(iter::empty());
    }
    if is_loopback(base) {
        client = client.no_proxy();
    }
    client.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: Wire, base: &str, key: Option<&str>, expected_url: &str, expected_headers: &[(&str, &str)]) {
        let base = Url::parse(base).unwrap();
        let route = Route { wire, name: "m".into(), base, key: key.map(Into::into) };
        let AuthData::RequestOverride { url, headers } = target(&route).auth else { panic!("not overridden") };
        assert_eq!(url, expected_url);
        let mut headers: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        headers.sort_unstable();
        assert_eq!(headers, expected_headers);
    }

    #[test]
    fn address_and_headers_are_those_of_the_wire() {
        check(
            Wire::OpenAi,
            "http://h:1/v1/?api-version=2",
            Some("k"),
            "http://h:1/v1/chat/completions?api-version=2",
            &[("authorization", "Bearer k")],
        );
        check(Wire::OpenAi, "http://h:1/v1/", None, "http://h:1/v1/chat/completions", &[]);
        check(
            Wire::Anthropic,
            "http://h:1/v1/",
            Some("k"),
            "http://h:1/v1/messages",
            &[("anthropic-version", "2023-06-01"), ("x-api-key", "k")],
        );
    }
}
