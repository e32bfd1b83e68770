//! Server metrics in the text format of Prometheus (exposition format 0.0.4).

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use prospector_agent::ask::Classification;

use crate::run::{RunCost, Task};

/// Upper bounds of the time histograms, in seconds.
const SECONDS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Upper bounds of the count histograms.
const NUMBERS: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0, 100.0];

/// Counters of one server. Labels come from fixed sets, so their number is bounded.
#[derive(Default)]
pub(crate) struct Metrics {
    counters: Mutex<BTreeMap<(&'static str, String), u64>>,
    histograms: Mutex<BTreeMap<(&'static str, String), Histogram>>,
    pub(crate) requests_now: Arc<AtomicI64>,
    pub(crate) connections_now: Arc<AtomicI64>,
    runs_now: AtomicI64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    /// In micro-dollars.
    cost: AtomicU64,
}

#[derive(Default, Clone)]
struct Histogram {
    buckets: [u64; SECONDS.len()],
    count: u64,
    sum: f64,
}

/// Returns the upper bounds of a histogram.
fn bounds(name: &str) -> [f64; SECONDS.len()] {
    if name.ends_with("_seconds") { SECONDS } else { NUMBERS }
}

/// Every metric with its type and help text.
const HELP: [(&str, &str, &str); 18] = [
    ("prospector_requests_total", "counter", "Requests by route and status."),
    ("prospector_request_seconds", "histogram", "Time to response headers by route."),
    ("prospector_refused_total", "counter", "Refused requests by reason."),
    ("prospector_tool_calls_total", "counter", "Tool calls by tool and outcome."),
    ("prospector_runs_total", "counter", "Plans and answers by outcome."),
    ("prospector_run_seconds", "histogram", "Time of plans and answers."),
    ("prospector_run_model_calls", "histogram", "Model calls per plan or answer by classification."),
    ("prospector_run_queries", "histogram", "Queries per plan or answer by classification."),
    ("prospector_queries_total", "counter", "Queries of answers by outcome."),
    ("prospector_cost_dollars_total", "counter", "Cost of model tokens at known prices."),
    ("prospector_requests", "gauge", "Requests being answered."),
    ("prospector_connections", "gauge", "Open connections."),
    ("prospector_runs", "gauge", "Plans and answers under way."),
    ("prospector_tokens_total", "counter", "Model tokens by kind."),
    ("prospector_mcp_sessions", "gauge", "Open MCP sessions."),
    ("prospector_query_sessions", "gauge", "Open query sessions over HTTP."),
    ("prospector_records", "gauge", "Records in the index."),
    ("prospector_catalog_generation", "gauge", "How often the catalog was opened."),
];

/// Values that are measured elsewhere.
pub(crate) struct Gauges {
    pub(crate) sessions: usize,
    pub(crate) query_sessions: usize,
    pub(crate) records: usize,
    pub(crate) generation: u64,
}

/// Something that a gauge counts until it is dropped.
pub(crate) struct Counted(Arc<AtomicI64>);

impl Counted {
    pub(crate) fn new(gauge: &Arc<AtomicI64>) -> Self {
        gauge.fetch_add(1, Ordering::Relaxed);
        Counted(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    fn count(&self, name: &'static str, labels: String) {
        self.add(name, labels, 1);
    }

    fn add(&self, name: &'static str, labels: String, number: u64) {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner).entry((name, labels)).or_default() += number;
    }

    fn observe(&self, name: &'static str, labels: String, value: f64) {
        let mut histograms = self.histograms.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = histograms.entry((name, labels)).or_default();
        for (bucket, bound) in histogram.buckets.iter_mut().zip(bounds(name)) {
            *bucket += u64::from(value <= bound);
        }
        histogram.count += 1;
        histogram.sum += value;
    }

    pub(crate) fn count_request(&self, route: &str, status: u16, time: Duration) {
        self.count("prospector_requests_total", format!("route=\"{route}\",status=\"{status}\""));
        self.observe("prospector_request_seconds", format!("route=\"{route}\""), time.as_secs_f64());
    }

    pub(crate) fn count_refusal(&self, reason: &str) {
        self.count("prospector_refused_total", format!("reason=\"{reason}\""));
    }

    pub(crate) fn tool_called(&self, tool: &str, worked: bool) {
        let outcome = if worked { "ok" } else { "error" };
        self.count("prospector_tool_calls_total", format!("tool=\"{tool}\",outcome=\"{outcome}\""));
    }

    pub(crate) fn run_began(&self) {
        self.runs_now.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the end of a plan or an answer, and its cost as far as known.
    pub(crate) fn run_ended(&self, task: Task, outcome: &str, time: Duration, cost: &RunCost) {
        self.runs_now.fetch_sub(1, Ordering::Relaxed);
        let task = task.as_str();
        self.count("prospector_runs_total", format!("task=\"{task}\",outcome=\"{outcome}\""));
        self.observe("prospector_run_seconds", format!("task=\"{task}\""), time.as_secs_f64());
        let kind = cost.classification.map_or(task, Classification::as_str);
        let labels = format!("task=\"{task}\",classification=\"{kind}\"");
        let spent = &cost.metrics;
        self.observe("prospector_run_model_calls", labels.clone(), spent.model_calls.into());
        self.observe("prospector_run_queries", labels, spent.queries.into());
        let worked = spent.queries.saturating_sub(spent.failed_queries);
        self.add("prospector_queries_total", "outcome=\"ok\"".into(), worked.into());
        self.add("prospector_queries_total", "outcome=\"error\"".into(), spent.failed_queries.into());
        self.input_tokens.fetch_add(spent.input_tokens, Ordering::Relaxed);
        self.output_tokens.fetch_add(spent.output_tokens, Ordering::Relaxed);
        self.cached_tokens.fetch_add(spent.cached_tokens, Ordering::Relaxed);
        self.cost.fetch_add((spent.cost_dollars.unwrap_or_default() * 1e6) as u64, Ordering::Relaxed);
    }

    /// Returns the number of running plans and answers.
    pub(crate) fn runs(&self) -> i64 {
        self.runs_now.load(Ordering::Relaxed)
    }

    /// Renders every metric.
    pub(crate) fn text(&self, gauges: &Gauges) -> String {
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let histograms = self.histograms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::new();
        for (name, kind, help) in HELP {
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            let mut line = |labels: &str, value: String| {
                let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                let _ = writeln!(text, "{name}{labels} {value}");
            };
            match name {
                "prospector_requests" => line("", self.requests_now.load(Ordering::Relaxed).to_string()),
                "prospector_connections" => line("", self.connections_now.load(Ordering::Relaxed).to_string()),
                "prospector_runs" => line("", self.runs().to_string()),
                "prospector_mcp_sessions" => line("", gauges.sessions.to_string()),
                "prospector_query_sessions" => line("", gauges.query_sessions.to_string()),
                "prospector_records" => line("", gauges.records.to_string()),
                "prospector_catalog_generation" => line("", gauges.generation.to_string()),
                "prospector_tokens_total" => {
                    line("kind=\"input\"", self.input_tokens.load(Ordering::Relaxed).to_string());
                    line("kind=\"output\"", self.output_tokens.load(Ordering::Relaxed).to_string());
                    line("kind=\"cached\"", self.cached_tokens.load(Ordering::Relaxed).to_string());
                }
                "prospector_cost_dollars_total" => {
                    line("", (self.cost.load(Ordering::Relaxed) as f64 / 1e6).to_string());
                }
                _ => {}
            }
            for ((_, labels), value) in counters.iter().filter(|((counter, _), _)| *counter == name) {
                line(labels, value.to_string());
            }
            for ((_, labels), histogram) in histograms.iter().filter(|((known, _), _)| *known == name) {
                for (bound, bucket) in bounds(name).iter().zip(histogram.buckets) {
                    let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {bucket}");
                }
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", histogram.count);
                let _ = writeln!(text, "{name}_sum{{{labels}}} {}", histogram.sum);
                let _ = writeln!(text, "{name}_count{{{labels}}} {}", histogram.count);
            }
        }
        text
    }
}
