//! What is told of the inside: a log on standard error, and spans to a collector where the environment names one and the
//! program was built to send them.
//!
//! The spans are those of this project's crates, whatever is logged; events are not sent, since they may hold what was asked.
//! A collector that cannot be reached costs one warning and no answer.

#[cfg(feature = "otlp")]
mod export;

use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt, registry, util::SubscriberInitExt};

#[cfg(feature = "otlp")]
use self::export::Exporter;
use crate::{output, settings::Settings, visible::VisibleErrors};

/// The log, and what is sent.
pub(crate) struct Telemetry {
    #[cfg(feature = "otlp")]
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// Begins to log and, where that is asked for, to trace. What is wrong with the asking is a warning.
    pub(crate) fn begin(settings: &Settings) -> Telemetry {
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

    /// Sends what is left. Not to be called where a runtime runs.
    pub(crate) fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(exporter) = self.exporter {
            exporter.shut_down();
        }
    }
}
