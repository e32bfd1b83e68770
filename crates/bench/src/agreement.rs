//! Compares a plan, and the entries revealed on the way to it, with what the question needs.

use std::collections::BTreeSet;

use prospector_agent::plan::{Ended, Plan};
use prospector_core::Kind;
use prospector_core::record::{Resource, ResourceKind};
use serde::Serialize;

use crate::{averages::mean, targets::Target};

/// The scores of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Agreement {
    /// The share of the entries used by the plan that are needed; 0 for a plan without entries.
    pub(crate) precision: f64,
    /// The share of the needed entries that the plan uses.
    pub(crate) recall: f64,
    /// Their harmonic mean.
    pub(crate) f1: f64,
    /// Whether all needed entries were revealed.
    pub(crate) shown: bool,
    /// Whether there is a plan that passes verification.
    pub(crate) verified: bool,
}

impl Agreement {
    /// Scores a plan against the needed entries; `None` is one that the catalog does not contain.
    pub(crate) fn of(plan: &Plan, shown: &[Resource], needed: &[Option<Target>]) -> Agreement {
        let used = targets_used(plan);
        let distinct: BTreeSet<&Target> = needed.iter().flatten().collect();
        let count = distinct.len() + needed.iter().filter(|thing| thing.is_none()).count();
        let right = used.iter().filter(|thing| distinct.contains(thing)).count() as f64;
        let over = |count: usize| if count == 0 { 0.0 } else { right / count as f64 };
        let (precision, recall) = (over(used.len()), over(count));
        let sum = precision + recall;
        let seen: BTreeSet<Target> = shown.iter().filter_map(target).collect();
        Agreement {
            precision,
            recall,
            f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 },
            shown: needed.iter().all(|thing| thing.as_ref().is_some_and(|thing| seen.contains(thing))),
            verified: plan.verification.failed.is_empty() && plan.ended == Ended::Completed,
        }
    }
}

/// Means of [`Agreement`].
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(crate) struct PlanMeans {
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    pub(crate) f1: f64,
    pub(crate) verified: f64,
}

impl PlanMeans {
    pub(crate) fn of<'a>(all: impl Iterator<Item = &'a Agreement> + Clone) -> PlanMeans {
        let of = |measure: fn(&Agreement) -> f64| mean(all.clone().map(measure));
        PlanMeans {
            precision: of(|plan| plan.precision),
            recall: of(|plan| plan.recall),
            f1: of(|plan| plan.f1),
            verified: of(|plan| f64::from(u8::from(plan.verified))),
        }
    }
}

/// Returns every table, operation, document and skill that a plan refers to, in its steps or its definitions. Documents
/// that only define a term are included.
fn targets_used(plan: &Plan) -> BTreeSet<Target> {
    let context = &plan.discovered_context;
    let mut used: BTreeSet<Target> = BTreeSet::new();
    let mut add = |kind: Kind, names: &[String]| used.extend(names.iter().map(|name| (kind, name.clone())));
    add(Kind::Table, &context.tables);
    add(Kind::Document, &context.documents);
    add(Kind::Skill, &context.skills);
    add(Kind::Metric, &context.metrics);
    for step in &plan.plan.steps {
        add(Kind::Table, &step.resources.tables);
        add(Kind::Operation, &step.resources.operations);
        add(Kind::Document, &step.resources.documents);
        add(Kind::Skill, &step.resources.skills);
        add(Kind::Metric, step.metrics());
    }
    used
}

fn target(resource: &Resource) -> Option<Target> {
    let kind = match resource.kind {
        ResourceKind::Table => Kind::Table,
        ResourceKind::Operation => Kind::Operation,
        ResourceKind::Document => Kind::Document,
        ResourceKind::Skill => Kind::Skill,
        ResourceKind::Fact => Kind::Fact,
        ResourceKind::Metric => Kind::Metric,
        ResourceKind::Query => Kind::Query,
        ResourceKind::Database | ResourceKind::Column | ResourceKind::Api => return None,
    };
    Some((kind, resource.id.clone()))
}

#[cfg(test)]
mod tests {
    use prospector_agent::plan::{DiscoveredContext, Step, Steps, Verification};

    use super::*;

    fn check(used: &[&str], shown: &[&str], needed: &[Option<&str>], expected: (f64, f64, f64, bool)) {
        let (context, step) = used.split_at(used.len() / 2);
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut named = Step::default();
        named.resources.tables = texts(step);
        let plan = Plan {
            discovered_context: DiscoveredContext { tables: texts(context), ..DiscoveredContext::default() },
            plan: Steps { steps: vec![named] },
            verification: Verification { ok: true, ..Verification::default() },
            ..Plan::default()
        };
        let shown: Vec<Resource> = shown.iter().map(|id| Resource::new(ResourceKind::Table, *id)).collect();
        let needed: Vec<Option<Target>> =
            needed.iter().map(|name| name.map(|name| (Kind::Table, name.to_owned()))).collect();
        let found = Agreement::of(&plan, &shown, &needed);
        assert_eq!((found.precision, found.recall, found.shown), (expected.0, expected.1, expected.3), "{found:?}");
        assert!((found.f1 - expected.2).abs() < 1e-9, "{found:?}");
        assert!(found.verified);
    }

    #[test]
    fn scores_precision_and_recall_of_a_plan() {
        check(&["d.a", "d.b"], &["d.a", "d.b"], &[Some("d.a"), Some("d.b")], (1.0, 1.0, 1.0, true));
        check(&["d.a", "d.c"], &["d.a", "d.b"], &[Some("d.a"), Some("d.b")], (0.5, 0.5, 0.5, true));
        check(&["d.a", "d.a"], &["d.a"], &[Some("d.a"), Some("d.b")], (1.0, 0.5, 2.0 / 3.0, false));
        check(&[], &["d.a"], &[Some("d.a")], (0.0, 0.0, 0.0, true));
    }

    #[test]
    fn counts_missing_entries_as_not_found() {
        check(&["d.a", "d.a"], &["d.a"], &[Some("d.a"), None], (1.0, 0.5, 2.0 / 3.0, false));
        // Two names of the same entry count once.
        check(&["d.a", "d.a"], &["d.a"], &[Some("d.a"), Some("d.a")], (1.0, 1.0, 1.0, true));
    }
}
