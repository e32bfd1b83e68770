//! Verifying a plan: every name exists and was discovered, every statement plans against its sources, every argument fits, and
//! the data agree with what the statements assume.

mod arguments;
mod columns;
mod names;
mod queries;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use prospector_connect::rows::Rows;
use prospector_core::record::{Resource, ResourceKind};
use prospector_discovery::Catalog;

use super::{
    DiscoveredContext, Draft, Plan, Verification,
    definitions::{self, UsedValues},
    step::{Action, Step},
    verification::{Code, Finding},
};
use crate::names::Names;
use queries::Queries;

/// Verifies a draft, and sets the derived fields of its steps. `seen` contains the names revealed in the run that made it; `None` for a
/// plan whose run is over. Without a catalog behind the names, only names are verified.
pub async fn verify(draft: &mut Draft, names: &(dyn Names + Sync), seen: Option<&HashSet<Resource>>) -> Verification {
    // Boxed: the future of a verification is deep.
    Box::pin(verify_with(draft, names, seen, false)).await.verification
}

/// The outcome of verification.
pub(super) struct Verified {
    pub(super) verification: Verification,
    /// The first rows of the steps by step number, if requested.
    pub(super) samples: Vec<(u32, Rows)>,
}

/// The same as [`verify`], with the first rows of each statement where `sample` asks for them.
pub(super) async fn verify_with(
    draft: &mut Draft,
    names: &(dyn Names + Sync),
    seen: Option<&HashSet<Resource>>,
    sample: bool,
) -> Verified {
    let mut check = Check {
        names,
        seen,
        outcome: Verification { executable: true, ..Verification::default() },
        used: UsedValues::default(),
    };
    check.context(draft);
    let mut queries = names.catalog().map(|catalog| Queries::new(catalog, sample));
    let mut steps = std::mem::take(&mut draft.plan.steps);
    for at in 0..steps.len() {
        let (earlier, rest) = steps.split_at_mut(at);
        let Some((step, later)) = rest.split_first_mut() else { break };
        check.step(at, step, earlier, later, queries.as_mut()).await;
    }
    let is_computed = steps.iter().any(|step| step.statement().is_some());
    steps.iter().for_each(|step| check.used.add_step(step));
    draft.plan.steps = steps;
    if draft.plan.steps.is_empty() && draft.clarifications.is_empty() {
        check.fail(Finding::new("plan.steps", Code::NoSteps, "there are no steps, and no clarification says why"));
    }
    if is_computed {
        let findings = definitions::check_applied(&draft.discovered_context.facts, &check.used);
        check.outcome.warnings.extend(findings);
    }
    let mut outcome = check.outcome;
    outcome.ok = outcome.failed.is_empty();
    outcome.executable &= outcome.ok && !draft.plan.steps.is_empty();
    Verified { verification: outcome, samples: queries.map(Queries::into_samples).unwrap_or_default() }
}

/// Adds the resources that a run found to the context of a plan without steps.
pub(super) fn list_found(context: &mut DiscoveredContext, found: &BTreeSet<Resource>) {
    for (kind, list) in context.lists() {
        let ids = found.iter().filter(|resource| resource.kind == kind).map(|resource| &resource.id);
        for id in ids {
            if !list.contains(id) {
                list.push(id.clone());
            }
        }
    }
}

/// Verifies a plan whose run is over, or that was written by hand. Returns its question, and the draft with derived fields.
pub async fn verify_plan(plan: Plan, catalog: &Arc<Catalog>) -> (String, Draft, Verification) {
    let confirmed = plan.verification.confirmed;
    let (question, mut draft) = plan.into_draft();
    let mut verification = verify(&mut draft, catalog.as_ref(), None).await;
    verification.confirmed = confirmed;
    (question, draft, verification)
}

/// The verification of one draft.
struct Check<'a> {
    names: &'a (dyn Names + Sync),
    seen: Option<&'a HashSet<Resource>>,
    outcome: Verification,
    /// The values of all steps, also those of the named queries that they read.
    used: UsedValues,
}

impl Check<'_> {
    fn context(&mut self, draft: &mut Draft) {
        for fact in &draft.discovered_context.facts {
            self.outcome.checked += 1;
            self.outcome.warnings.extend(definitions::check_source(fact, self.names, self.seen));
        }
        let context = &mut draft.discovered_context;
        names::complete_apis(&mut context.apis, self.names);
        for (kind, list) in context.lists() {
            self.names(&format!("discovered_context.{kind}s"), kind, list);
            let mut known = HashSet::new();
            list.retain(|name| known.insert(name.clone()));
        }
    }

    /// Verifies a step, and sets its derived fields.
    async fn step(
        &mut self,
        at: usize,
        step: &mut Step,
        earlier: &mut [Step],
        later: &[Step],
        queries: Option<&mut Queries<'_>>,
    ) {
        let path = format!("plan.steps[{at}]");
        self.outcome.checked += 1;
        step.forget_derived();
        if step.number as usize != at + 1 {
            let message = format!("steps are numbered 1, 2, 3; this one is {} instead of {}", step.number, at + 1);
            self.fail(Finding::new(format!("{path}.number"), Code::StepNumber, message));
        }
        if step.goal.trim().is_empty() {
            self.fail(Finding::new(format!("{path}.goal"), Code::MissingGoal, "a step needs a goal"));
        }
        for name in step.unknown.keys() {
            let finding = Finding::new(path.as_str(), Code::UnknownField, format!("a step has no field `{name}`"));
            self.fail(finding.suggest("a step has one of `sql`, `metrics`, `verified_query`, `call` or `read`"));
        }
        if step.has_rows() {
            step.outputs = vec![step.output()];
        }
        match step.action.clone() {
            Action::Sql(_) | Action::Metrics(_) | Action::VerifiedQuery(_) => {
                self.query(&path, step, later, queries).await;
            }
            Action::Call(call) => self.call(&path, step, call, earlier, queries),
            Action::Read(read) => self.read(&path, step, read),
            Action::Named => self.check_named(&path, step, earlier),
            Action::Unreadable(reason) => {
                let finding = Finding::new(path, Code::UnreadableAction, reason);
                self.fail(finding.suggest("write exactly one of `sql`, `metrics`, `verified_query`, `call` or `read`"));
            }
        }
    }

    /// Verifies the statement of a step.
    async fn query(&mut self, path: &str, step: &mut Step, later: &[Step], queries: Option<&mut Queries<'_>>) {
        self.metrics(path, step);
        // Statements cannot be verified without a catalog.
        let Some(queries) = queries else { return };
        let is_read = later.iter().any(|later| queries::mentions(later, &step.output()));
        let verified = queries.verify(path, step, is_read).await;
        self.outcome.checked += verified.checked;
        self.outcome.failed.extend(verified.failed);
        self.outcome.warnings.extend(verified.warnings);
        self.outcome.executable &= verified.executable;
        verified.literals.iter().for_each(|literal| self.used.add(literal));
        for table in &step.resources.tables {
            if !self.was_seen(ResourceKind::Table, table) {
                self.reject_undiscovered(&format!("{path}.sql"), ResourceKind::Table, table);
            }
        }
    }

    /// Verifies the names of the metrics and of the verified query of a step.
    fn metrics(&mut self, path: &str, step: &mut Step) {
        match &mut step.action {
            Action::Metrics(query) => {
                self.names(&format!("{path}.metrics"), ResourceKind::Metric, &mut query.metrics);
            }
            Action::VerifiedQuery(query) => {
                let mut name = vec![std::mem::take(&mut query.name)];
                self.names(&format!("{path}.verified_query"), ResourceKind::Query, &mut name);
                query.name = name.concat();
            }
            _ => {}
        }
    }

    fn fail(&mut self, finding: Finding) {
        self.outcome.failed.push(finding);
    }
}

#[cfg(test)]
mod tests;
