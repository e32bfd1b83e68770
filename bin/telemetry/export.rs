//! Exports spans by OTLP over HTTP, in the background.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opentelemetry::{Key, KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{Protocol, SpanExporter as Otlp, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};
use tracing::{Level, Metadata, Subscriber, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};
use url::Url;

use crate::{output, settings::Export};

/// How long the exit of the program waits for the collector.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Default service name.
const SERVICE: &str = "planner";

/// Why spans are not sent although tracing is configured. Values that may contain a password are not quoted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExportError {
    /// Unknown exporter.
    #[error("OTEL_TRACES_EXPORTER is `{0}`; use `otlp` or `none`")]
    UnknownExporter(String),
    /// Unsupported protocol.
    #[error("{variable} is `{protocol}`; only `http/protobuf` is supported, usually on port 4318")]
    Protocol { variable: &'static str, protocol: String },
    /// The collector endpoint is not a valid URL.
    #[error("{variable} is not the URL of a collector, such as http://localhost:4318")]
    Address { variable: &'static str },
    /// Other settings are invalid.
    #[error("the settings of the exporter (OTEL_EXPORTER_OTLP_...) are invalid")]
    Settings,
}

/// Sends spans.
pub(super) struct Exporter {
    provider: SdkTracerProvider,
    warning: Warning,
}

impl Exporter {
    /// Creates the exporter if spans are to be sent; fails if tracing is misconfigured.
    pub(super) fn from_settings(export: &Export) -> Result<Option<Exporter>, ExportError> {
        find_collector(export)?.map(|collector| provider(export, collector)).transpose()
    }

    /// Returns a layer that converts spans to OpenTelemetry.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        OpenTelemetryLayer::new(self.provider.tracer("prospector"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter_fn(is_ours).with_max_level_hint(LevelFilter::INFO))
    }

    /// Sends the remaining spans. Must not be called inside a runtime.
    pub(super) fn shut_down(self) {
        if self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT).is_err() {
            self.warning.give(&format!("no response within {} s", SHUTDOWN_TIMEOUT.as_secs()));
        }
    }
}

/// Returns the collector if spans are to be sent; fails if tracing is misconfigured.
fn find_collector(export: &Export) -> Result<Option<String>, ExportError> {
    match export.exporter.as_deref().map(str::trim) {
        _ if export.disabled => return Ok(None),
        Some("none") => return Ok(None),
        Some("otlp") => {}
        Some(other) => return Err(ExportError::UnknownExporter(other.to_owned())),
        None if export.endpoint.is_none() => return Ok(None),
        None => {}
    }
    if let Some((name, protocol)) = &export.protocol
        && protocol.trim() != "http/protobuf"
    {
        return Err(ExportError::Protocol { variable: name, protocol: protocol.clone() });
    }
    let Some((name, endpoint)) = &export.endpoint else {
        return Ok(Some("localhost:4318".into()));
    };
    // The value is not quoted: it may contain a password.
    let url = Url::parse(endpoint).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some((url, host)) = url.as_ref().and_then(|url| Some((url, url.host_str()?))) else {
        return Err(ExportError::Address { variable: name });
    };
    Ok(Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))))
}

/// Creates the provider that exports spans.
fn provider(export: &Export, collector: String) -> Result<Exporter, ExportError> {
    let built = Otlp::builder().with_http().with_protocol(Protocol::HttpBinary).build();
    // Nor is the error quoted.
    let otlp = built.map_err(|_| ExportError::Settings)?;
    let warning = Warning { collector, given: Arc::default() };
    let watched = Watched { otlp, warning: warning.clone() };
    let provider = SdkTracerProvider::builder().with_batch_exporter(watched).with_resource(resource(export)).build();
    Ok(Exporter { provider, warning })
}

/// Describes the sender: settings of the environment, completed by defaults.
fn resource(export: &Export) -> Resource {
    let said = Resource::builder().build();
    let mut resource = Resource::builder();
    let name = said.get(&Key::new("service.name")).map(|name| name.to_string());
    if let Some(service) = &export.service {
        resource = resource.with_service_name(service.clone());
    } else if name.is_none_or(|name| name.starts_with("unknown_service")) {
        resource = resource.with_service_name(SERVICE);
    }
    let version = Key::new("service.version");
    if said.get(&version).is_none() {
        resource = resource.with_attribute(KeyValue::new(version, env!("CARGO_PKG_VERSION")));
    }
    resource.build()
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && *metadata.level() <= Level::INFO && metadata.target().starts_with("prospector")
}

/// Sends spans, and warns once if it cannot.
#[derive(Debug)]
struct Watched {
    otlp: Otlp,
    warning: Warning,
}

impl SpanExporter for Watched {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.otlp.export(batch).await;
        if let Err(error) = &sent {
            self.warning.give(&match error {
                OTelSdkError::InternalFailure(reason) => reason.clone(),
                other => other.to_string(),
            });
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.otlp.set_resource(resource);
    }
}

/// A warning that is shown once.
#[derive(Debug, Clone)]
struct Warning {
    collector: String,
    given: Arc<AtomicBool>,
}

impl Warning {
    fn give(&self, reason: &str) {
        if !self.given.swap(true, Ordering::Relaxed) {
            output::say(&format!("warning: cannot send traces to {}: {reason}", self.collector));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exporter: &str, endpoint: &str, protocol: &str, expected: Result<Option<&str>, &str>) {
        let set = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let export = Export {
            disabled: false,
            exporter: set(exporter),
            endpoint: set(endpoint).map(|value| ("ENDPOINT", value)),
            protocol: set(protocol).map(|value| ("PROTOCOL", value)),
            service: None,
        };
        match (find_collector(&export), expected) {
            (Ok(collector), Ok(expected)) => assert_eq!(collector.as_deref(), expected, "{endpoint}"),
            (Err(error), Err(expected)) => {
                let reason = error.to_string();
                assert!(reason.contains(expected) && !reason.contains("secret"), "{reason}");
            }
            (found, expected) => panic!("{endpoint}: {found:?} is not {expected:?}"),
        }
        assert_eq!(find_collector(&Export { disabled: true, ..export }), Ok(None));
    }

    #[test]
    fn spans_are_sent_where_somebody_asks_for_it() {
        check("", "", "", Ok(None));
        check("none", "http://localhost:4318", "", Ok(None));
        check("otlp", "", "", Ok(Some("localhost:4318")));
        check("", "https://me:secret@traces.example/otlp?key=secret", "http/protobuf", Ok(Some("traces.example")));
        check("", "http://[::1]:4318", "", Ok(Some("[::1]:4318")));
        check("zipkin", "", "", Err("`zipkin`"));
        check("", "http://localhost:4317", "grpc", Err("PROTOCOL is `grpc`"));
        for endpoint in ["localhost:4318", "secret", "ftp://secret.example", "unix:/secret"] {
            check("", endpoint, "", Err("ENDPOINT is not the URL"));
        }
    }
}
