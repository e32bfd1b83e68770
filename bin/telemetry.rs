//! Telemetry: a log on standard error, and spans to a collector if the environment names one and the program was built with support for it.
//!
//! Spans of this project's crates are sent regardless of the log level; events are not, because they may contain parts of questions. An
//! unreachable collector causes one warning and does not affect answers.

#[cfg(feature = "otlp")]
mod export;

use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt, registry, util::SubscriberInitExt};

#[cfg(feature = "otlp")]
use self::export::Exporter;
use crate::{output, settings::Settings, visible::VisibleErrors};

/// The log, and the exporter of spans.
pub(crate) struct Telemetry {
    #[cfg(feature = "otlp")]
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// Starts logging and, if configured, tracing. An invalid configuration is a warning.
    pub(crate) fn start(settings: &Settings) -> Telemetry {
        let log =
            fmt::layer().with_writer(VisibleErrors::default).without_time().with_filter(EnvFilter::new(&settings.log));
        let registry = registry().with(log);
        #[cfg(feature = "otlp")]
        {
            let exporter = Exporter::from_settings(&settings.export).unwrap_or_else(|reason| {
                output::say(&format!("warning: no traces are sent: {reason}"));
                None
            });
            registry.with(exporter.as_ref().map(Exporter::layer)).init();
            Telemetry { exporter }
        }
        #[cfg(not(feature = "otlp"))]
        {
            if settings.export.is_wanted() {
                output::say("warning: no traces are sent: this program was built without the feature `otlp`");
            }
            registry.init();
            Telemetry {}
        }
    }

    /// Sends the remaining spans. Must not be called inside a runtime.
    pub(crate) fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(exporter) = self.exporter {
            exporter.shut_down();
        }
    }
}
