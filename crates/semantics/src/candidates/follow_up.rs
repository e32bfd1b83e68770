//! Suggestions of follow-up questions that a conversation understands.

use super::intent::{Intent, Measure};
use super::scope::Scope;

/// The number of groups in the suggestion for fewer rows.
const TOP: usize = 5;

/// Returns suggested changes of an interpretation: over time, by another column, fewer rows.
pub(super) fn propose(scope: &Scope<'_>, intent: &Intent) -> Vec<String> {
    if !matches!(intent.measure, Measure::Metrics(_) | Measure::Aggregate(..)) || !intent.existences.is_empty() {
        return Vec::new();
    }
    let mut changes = Vec::new();
    if intent.grain.is_none() && scope.time(intent.subject, &[]).is_some() {
        changes.push("the same by month".to_owned());
    }
    if intent.groups.is_empty() {
        let table = scope.table(intent.subject);
        let parents = table.foreign_keys.iter().map(|key| key.table.replace('_', " "));
        let is_fixed = |at: usize| intent.filters.iter().any(|(place, ..)| *place == (intent.subject, at));
        let own = (0..table.columns.len()).filter(|at| {
            let is_code = table.columns[*at].description.contains("(values: ");
            is_code && !is_fixed(*at) && !scope.is_date((intent.subject, *at))
        });
        let own = own.map(|at| table.columns[at].name.replace('_', " "));
        changes.extend(own.chain(parents).map(|name| format!("the same by {name}")));
    } else if intent.rank.is_none() {
        changes.push(format!("top {TOP}"));
    }
    changes
}
