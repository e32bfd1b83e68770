//! The plan of a question that is understood to its last word: one step, which computes what the question says.

use prospector_agent::plan::{DiscoveredContext, Draft, Step, Steps};

use super::{describe::describe, evidence::Evidence};

/// The plan, where the question is understood.
pub(super) fn write_reading(evidence: &Evidence) -> Option<Draft> {
    let read = evidence.verified.as_ref().or(evidence.reading.as_ref())?;
    let is_refused = |name: &String| evidence.refused.contains(name);
    if read.tables.iter().chain(&read.metrics).any(is_refused) {
        return None;
    }
    let mut databases: Vec<String> = Vec::new();
    for (database, _) in read.tables.iter().filter_map(|id| id.split_once('.')) {
        if !databases.iter().any(|known| known == database) {
            databases.push(database.to_owned());
        }
    }
    let goal = match read.metrics.as_slice() {
        _ if read.query.is_some() => read.goal.clone(),
        [] => {
            let names: Vec<&str> = read.tables.iter().filter_map(|id| Some(id.split_once('.')?.1)).collect();
            format!("Query {} of {}{}", names.join(", "), databases.join(", "), describe(read))
        }
        metrics => format!("Compute {}{}", metrics.join(" and "), describe(read)),
    };
    let is_column = |name: &&String| name.matches('.').count() > 1;
    let fields = read.compute.iter().filter_map(|measure| measure.column.as_ref());
    let fields = fields.chain(read.conditions().map(|filter| &filter.column));
    let fields = fields.chain(read.group_by.iter().map(|group| &group.column)).filter(is_column);
    let mut columns: Vec<String> = Vec::new();
    for column in fields {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let step = Step { number: 1, goal, databases, columns, outputs: vec!["step_1_results".to_owned()], ..read.clone() };
    let how = match read.query {
        Some(_) => "A query that a person has checked answers the question.",
        None => "Every word of the question is understood; the step computes what it says.",
    };
    Some(Draft {
        reasoning: format!("Written by the offline planner, a deterministic program and not a language model. {how}"),
        discovered_context: DiscoveredContext {
            tables: step.tables.clone(),
            metrics: step.metrics.clone(),
            ..DiscoveredContext::default()
        },
        plan: Steps { steps: vec![step] },
        clarifications: Vec::new(),
    })
}
