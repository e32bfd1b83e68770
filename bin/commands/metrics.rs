//! `planner metrics`: lists, shows and queries metrics with the tools that models call.

use prospector_discovery::DiscoveryTools;
use serde_json::{Value, json};

use super::discover::answer;
use crate::{
    Exit,
    cli::{MetricsArgs, MetricsCommand},
    settings::Settings,
};

/// Limit on the number of listed metrics.
const MAX_LISTED: usize = 1_000;

/// `planner metrics`
pub(crate) async fn metrics(args: MetricsArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (tool, arguments, format) = match args.command {
        MetricsCommand::List => {
            (DiscoveryTools::LIST_METRICS, json!({"limit": MAX_LISTED, "max_tokens": 100_000}), None)
        }
        MetricsCommand::Show { name } => (DiscoveryTools::SHOW_METRIC, json!({"name": name}), None),
        MetricsCommand::Query { question: Some(question), dry_run, format, .. } => {
            (DiscoveryTools::METRICS_TOOL, json!({"question": question, "dry_run": dry_run}), format)
        }
        MetricsCommand::Query { metrics, question: None, by, filter, grain, order, limit, dry_run, format } => {
            let mut asked = json!({
                "metrics": metrics, "dimensions": by, "filters": filter, "grain": grain, "order": order,
                "limit": limit, "dry_run": dry_run,
            });
            if let Some(fields) = asked.as_object_mut() {
                fields.retain(|_, value| *value != Value::Null);
            }
            (DiscoveryTools::METRICS_TOOL, asked, format)
        }
    };
    answer(tool, arguments, None, format, settings).await
}
