//! Checking a plan: every name exists, every name was discovered, every input comes from an earlier step, and the whole makes
//! sense for its question.

use std::collections::{BTreeSet, HashSet};

use prospector_core::record::{Resource, ResourceKind};
use prospector_discovery::Catalog;

use super::{
    DiscoveredContext, Draft, Failure, Plan, PlanFact, Step, Verification, alternatives, arithmetic, formula,
    metric_step::advise_period, outputs, sense::check_sense, shape,
};
use crate::names::Names;

/// Checks a draft against what exists, against what was `seen` in the run that made it (`None` for a plan whose run is over),
/// and against the question, where it is known what the names mean.
pub fn verify(question: &str, draft: &Draft, names: &dyn Names, seen: Option<&HashSet<Resource>>) -> Verification {
    let mut outcome = verify_names(draft, names, seen);
    // What was not read cannot be judged.
    let is_read = draft.plan.steps.iter().all(|step| step.unread.is_empty());
    if let Some(meanings) = names.meanings().filter(|_| is_read) {
        outcome.sense = check_sense(question, draft, meanings);
        outcome.ok &= outcome.sense.ok;
    }
    outcome
}

/// Checks a plan whose run is over, or that somebody wrote: what it leaves out is filled in, and the values of its tables are
/// read first. Doubts that its model has considered stay doubts. Returns its question and the plan as it was checked.
pub async fn verify_plan(plan: Plan, catalog: &Catalog) -> (String, Draft, Verification) {
    let considered = plan.verification.sense.doubts.clone();
    let (question, mut draft) = plan.into_draft();
    complete_names(&mut draft, catalog);
    let tables: Vec<String> = draft.plan.steps.iter().flat_map(|step| step.tables.clone()).collect();
    catalog.schema.read_values(&tables).await;
    let mut verification = verify(&question, &draft, catalog, None);
    verification.accept_doubts(|doubt| considered.iter().any(|known| known.message == doubt.message));
    (question, draft, verification)
}

/// Checks the names and the order of the steps alone.
pub fn verify_names(draft: &Draft, names: &dyn Names, seen: Option<&HashSet<Resource>>) -> Verification {
    let mut check = Check { names, seen, outcome: Verification::default() };
    let context = &draft.discovered_context;
    for fact in &context.facts {
        check.fact(fact);
    }
    check.names("discovered_context.tables", ResourceKind::Table, &context.tables);
    check.names("discovered_context.apis", ResourceKind::Api, &context.apis);
    check.names("discovered_context.documents", ResourceKind::Document, &context.documents);
    check.names("discovered_context.skills", ResourceKind::Skill, &context.skills);
    check.names("discovered_context.metrics", ResourceKind::Metric, &context.metrics);
    check.steps(&draft.plan.steps);
    if draft.plan.steps.is_empty() && draft.clarifications.is_empty() {
        check.fail("plan.steps", "", "there are no steps, and no clarification says why", Vec::new());
    }
    let mut outcome = check.outcome;
    outcome.ok = outcome.failed.is_empty();
    outcome
}

/// Fills in what others leave out of a plan: a table without its database beside `databases`, and outputs that a later step
/// takes as `step_1_results` or `step_1_ids` where the step itself names none. An operation among the APIs stands for its API, and
/// the time of metrics for the column that holds it, where they can be computed only by that.
pub fn complete_names(draft: &mut Draft, names: &dyn Names) {
    let apis = &mut draft.discovered_context.apis;
    for name in apis.iter_mut() {
        *name = find_api(name, names).unwrap_or_else(|| std::mem::take(name));
    }
    let mut known = HashSet::new();
    apis.retain(|name| known.insert(name.clone()));
    for step in &mut draft.plan.steps {
        for table in &mut step.tables {
            if names.resolve(ResourceKind::Table, table).is_none() {
                let full = step.databases.iter().map(|database| format!("{database}.{table}"));
                let known = full.filter_map(|id| names.resolve(ResourceKind::Table, &id)).next();
                *table = known.unwrap_or_else(|| std::mem::take(table));
            }
        }
    }
    let steps = &mut draft.plan.steps;
    if let Some(meanings) = names.meanings() {
        steps.iter_mut().for_each(|step| step.group_by_time(meanings));
    }
    for at in 0..steps.len() {
        for input in steps[at].inputs.clone() {
            let number = input.strip_prefix("step_").and_then(|rest| rest.split('_').next()?.parse::<usize>().ok());
            let Some(from) = number.and_then(|number| number.checked_sub(1)).filter(|from| *from < at) else {
                continue;
            };
            let is_usual = input == format!("step_{}_results", from + 1);
            if (steps[from].outputs.is_empty() || is_usual) && !steps[from].outputs.contains(&input) {
                steps[from].outputs.push(input);
            }
        }
    }
}

/// The API of an operation, where that is named in its place. Names of both may have dots.
fn find_api(name: &str, names: &dyn Names) -> Option<String> {
    if names.resolve(ResourceKind::Api, name).is_some() {
        return None;
    }
    let id = names.resolve(ResourceKind::Operation, name)?;
    id.rmatch_indices('.').find_map(|(at, _)| names.resolve(ResourceKind::Api, &id[..at]))
}

/// Writes every name of a draft as the catalog spells it.
pub(super) fn spell_names(draft: &mut Draft, names: &dyn Names) {
    let spell = |kind: ResourceKind, list: &mut Vec<String>| {
        for name in list {
            if let Some(id) = names.resolve(kind, name) {
                *name = id;
            }
        }
    };
    let context = &mut draft.discovered_context;
    spell(ResourceKind::Table, &mut context.tables);
    spell(ResourceKind::Api, &mut context.apis);
    spell(ResourceKind::Document, &mut context.documents);
    spell(ResourceKind::Skill, &mut context.skills);
    spell(ResourceKind::Metric, &mut context.metrics);
    for step in &mut draft.plan.steps {
        spell(ResourceKind::Database, &mut step.databases);
        spell(ResourceKind::Table, &mut step.tables);
        spell(ResourceKind::Column, &mut step.columns);
        spell(ResourceKind::Operation, &mut step.operations);
        spell(ResourceKind::Document, &mut step.documents);
        spell(ResourceKind::Skill, &mut step.skills);
        spell(ResourceKind::Metric, &mut step.metrics);
        if let Some(query) = &mut step.query {
            query.name =
                names.resolve(ResourceKind::Query, &query.name).unwrap_or_else(|| std::mem::take(&mut query.name));
        }
        // Whether a step changes something is for the catalog to say.
        if let Some(meanings) = names.meanings() {
            let changes = |id: &String| meanings.operation(id).is_some_and(|operation| operation.writes == Some(true));
            step.writes = step.operations.iter().any(changes);
        }
    }
}

/// Puts what the calls of a run found into a context that has no plan.
pub(super) fn list_found(context: &mut DiscoveredContext, found: &BTreeSet<Resource>) {
    for resource in found {
        let list = match resource.kind {
            ResourceKind::Table => &mut context.tables,
            ResourceKind::Api => &mut context.apis,
            ResourceKind::Document => &mut context.documents,
            ResourceKind::Skill => &mut context.skills,
            ResourceKind::Metric => &mut context.metrics,
            ResourceKind::Database
            | ResourceKind::Column
            | ResourceKind::Operation
            | ResourceKind::Fact
            | ResourceKind::Query => continue,
        };
        if !list.contains(&resource.id) {
            list.push(resource.id.clone());
        }
    }
}

struct Check<'a> {
    names: &'a dyn Names,
    seen: Option<&'a HashSet<Resource>>,
    outcome: Verification,
}

impl Check<'_> {
    fn steps(&mut self, steps: &[Step]) {
        let mut available: HashSet<&str> = HashSet::new();
        for (at, step) in steps.iter().enumerate() {
            let place = format!("plan.steps[{at}]");
            let is_of_output = |name: &&String| outputs::is_of_output(steps, at, name);
            let (left, columns): (Vec<&String>, Vec<&String>) = step.columns.iter().partition(is_of_output);
            let columns: Vec<String> = columns.into_iter().cloned().collect();
            self.outcome.checked += 1 + left.len();
            if step.number as usize != at + 1 {
                let reason = format!("steps are numbered 1, 2, 3; this one is number {}", at + 1);
                self.fail(&format!("{place}.number"), &step.number.to_string(), &reason, Vec::new());
            }
            if step.goal.trim().is_empty() {
                self.fail(&format!("{place}.goal"), "", "a step needs a goal", Vec::new());
            }
            for (field, kind, names) in [
                ("databases", ResourceKind::Database, &step.databases),
                ("tables", ResourceKind::Table, &step.tables),
                ("columns", ResourceKind::Column, &columns),
                ("operations", ResourceKind::Operation, &step.operations),
                ("documents", ResourceKind::Document, &step.documents),
                ("skills", ResourceKind::Skill, &step.skills),
                ("metrics", ResourceKind::Metric, &step.metrics),
            ] {
                self.names(&format!("{place}.{field}"), kind, names);
            }
            let query: Vec<String> = step.query.iter().map(|query| query.name.clone()).collect();
            self.names(&format!("{place}.query"), ResourceKind::Query, &query);
            self.outcome.failed.extend(outputs::list_failures(&place, steps, at));
            self.outcome.failed.extend(shape::list_failures(&place, step));
            self.outcome.failed.extend(formula::list_failures(&place, step));
            self.outcome.failed.extend(arithmetic::list_failures(&place, step));
            self.outcome.failed.extend(alternatives::list_failures(&place, step));
            self.metrics(&place, step);
            for input in &step.inputs {
                self.outcome.checked += 1;
                if !available.contains(input.as_str()) {
                    let mut nearest: Vec<String> = available.iter().map(|name| (*name).to_owned()).collect();
                    nearest.sort();
                    self.fail(&format!("{place}.inputs"), input, "no earlier step has this output", nearest);
                }
            }
            available.extend(step.outputs.iter().map(String::as_str));
        }
    }

    /// Metrics can be told by what the step tells them by.
    fn metrics(&mut self, place: &str, step: &Step) {
        let names = self.names;
        let is_known = |name: &String| names.resolve(ResourceKind::Metric, name).is_some();
        if step.metrics.is_empty() || step.query.is_some() || !step.metrics.iter().all(is_known) {
            return;
        }
        // Why there is none is told with the conditions.
        let Some(query) = step.metric_query() else { return };
        self.outcome.checked += 1;
        let Some(meanings) = names.meanings() else { return };
        if let Some(mut reason) = meanings.refuse_metrics(&query) {
            if let Some(advice) = advise_period(&query, meanings) {
                reason.push_str(&format!("; {advice}"));
            }
            self.fail(&format!("{place}.metrics"), &step.metrics.join(", "), &reason, Vec::new());
        }
    }

    fn names(&mut self, place: &str, kind: ResourceKind, names: &[String]) {
        for name in names {
            self.outcome.checked += 1;
            match self.names.resolve(kind, name) {
                None => {
                    let nearest = self.names.nearest(kind, name);
                    self.fail(place, name, &format!("there is no such {kind}"), nearest);
                }
                Some(id) if !self.was_seen(kind, &id) => {
                    let reason = format!("this {kind} exists, but no discovery call of this run returned it");
                    self.fail(place, name, &reason, Vec::new());
                }
                Some(_) => {}
            }
        }
    }

    /// A fact is a stored one, or a definition that stands in a source of the catalog. Any other is no resource that a step
    /// would miss: it is warned of.
    fn fact(&mut self, fact: &PlanFact) {
        let place = "discovered_context.facts";
        self.outcome.checked += 1;
        if fact.term.trim().is_empty() || fact.definition.trim().is_empty() {
            self.fail(place, &fact.term, "a fact needs a term and a definition", Vec::new());
            return;
        }
        let stored = self.names.resolve(ResourceKind::Fact, &fact.term);
        let id = stored.clone().unwrap_or_else(|| fact.term.clone());
        if self.seen.is_some() {
            let is_seen = [&id, &fact.term].into_iter().any(|name| self.was_seen(ResourceKind::Fact, name));
            if !is_seen && !self.is_in_description(&fact.source) {
                let nearest = self.names.nearest(ResourceKind::Fact, &fact.term);
                self.warn(place, &fact.term, "no discovery call of this run returned this fact", nearest);
            }
            return;
        }
        let source = fact.source.split('#').next().unwrap_or_default();
        let kinds = [ResourceKind::Document, ResourceKind::Table, ResourceKind::Column, ResourceKind::Metric];
        let stands = kinds.into_iter().any(|kind| self.names.resolve(kind, source).is_some());
        if stored.is_none() && !stands {
            let nearest = self.names.nearest(ResourceKind::Document, source);
            let reason = format!("this fact is not stored, and its source `{}` does not exist", fact.source);
            self.warn(place, &fact.term, &reason, nearest);
        }
    }

    /// Whether a source is something whose description this run was shown.
    fn is_in_description(&self, source: &str) -> bool {
        let place = source.split('#').next().unwrap_or_default();
        let kinds = [
            ResourceKind::Document,
            ResourceKind::Table,
            ResourceKind::Column,
            ResourceKind::Operation,
            ResourceKind::Metric,
        ];
        kinds.into_iter().any(|kind| self.names.resolve(kind, place).is_some_and(|id| self.was_seen(kind, &id)))
    }

    /// A database was seen with any of its tables, an API with any of its operations.
    fn was_seen(&self, kind: ResourceKind, id: &str) -> bool {
        let Some(seen) = self.seen else { return true };
        let member = match kind {
            ResourceKind::Database => Some(ResourceKind::Table),
            ResourceKind::Api => Some(ResourceKind::Operation),
            ResourceKind::Table
            | ResourceKind::Column
            | ResourceKind::Operation
            | ResourceKind::Document
            | ResourceKind::Skill
            | ResourceKind::Fact
            | ResourceKind::Metric
            | ResourceKind::Query => None,
        };
        let is_member = |resource: &Resource| {
            Some(resource.kind) == member && resource.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        seen.contains(&Resource::new(kind, id)) || (member.is_some() && seen.iter().any(is_member))
    }

    fn fail(&mut self, place: &str, name: &str, reason: &str, nearest: Vec<String>) {
        self.outcome.failed.push(failure(place, name, reason, nearest));
    }

    fn warn(&mut self, place: &str, name: &str, reason: &str, nearest: Vec<String>) {
        self.outcome.warnings.push(failure(place, name, reason, nearest));
    }
}

fn failure(place: &str, name: &str, reason: &str, nearest: Vec<String>) -> Failure {
    Failure { place: place.to_owned(), name: name.to_owned(), reason: reason.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Steps;

    /// A world of one database with two tables and one document.
    struct World;
    impl Names for World {
        fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
            let known = match kind {
                ResourceKind::Database => vec!["store"],
                ResourceKind::Table => vec!["store.invoices", "store.customers"],
                ResourceKind::Document => vec!["rules"],
                _ => vec![],
            };
            known.into_iter().find(|known| known.eq_ignore_ascii_case(id)).map(str::to_owned)
        }
        fn nearest(&self, _: ResourceKind, _: &str) -> Vec<String> {
            vec!["store.invoices".into()]
        }
    }

    fn step(number: u32, table: &str, inputs: &[&str], outputs: &[&str]) -> Step {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Step {
            number,
            goal: "g".into(),
            tables: vec![table.into()],
            inputs: texts(inputs),
            outputs: texts(outputs),
            ..Step::default()
        }
    }

    fn check(steps: Vec<Step>, seen: &[&str], failures: &[&str]) {
        let draft = Draft { plan: Steps { steps }, ..Draft::default() };
        let seen: HashSet<Resource> = seen.iter().map(|id| Resource::new(ResourceKind::Table, *id)).collect();
        let outcome = verify("", &draft, &World, Some(&seen));
        let found: Vec<String> =
            outcome.failed.iter().map(|f| format!("{}: {}: {}", f.place, f.name, f.reason)).collect();
        assert_eq!(found, failures);
        assert_eq!(outcome.ok, failures.is_empty());
    }

    #[test]
    fn names_that_exist_and_were_seen_hold() {
        check(
            vec![step(1, "store.invoices", &[], &["a"]), step(2, "STORE.customers", &["a"], &[])],
            &["store.invoices", "store.customers"],
            &[],
        );
    }

    #[test]
    fn an_invented_name_and_one_nobody_looked_at_fail() {
        check(
            vec![step(1, "store.vips", &[], &[])],
            &[],
            &["plan.steps[0].tables: store.vips: there is no such table"],
        );
        check(
            vec![step(1, "store.invoices", &[], &[])],
            &[],
            &["plan.steps[0].tables: store.invoices: this table exists, but no discovery call of this run returned it"],
        );
    }

    #[test]
    fn inputs_come_from_earlier_steps_and_numbers_count() {
        check(
            vec![step(1, "store.invoices", &["b"], &["a"]), step(3, "store.invoices", &["a"], &["b"])],
            &["store.invoices"],
            &[
                "plan.steps[0].inputs: b: no earlier step has this output",
                "plan.steps[1].number: 3: steps are numbered 1, 2, 3; this one is number 2",
            ],
        );
    }

    #[test]
    fn what_others_leave_out_is_filled_in() {
        let mut first = step(1, "Invoices", &[], &[]);
        first.databases = vec!["store".into()];
        let second = step(2, "store.customers", &["step_1_ids"], &[]);
        let third = step(3, "store.customers", &["step_2_results", "step_3_results", "step_9_x"], &["out"]);
        let mut draft = Draft { plan: Steps { steps: vec![first, second, third] }, ..Draft::default() };
        complete_names(&mut draft, &World);
        let steps = &draft.plan.steps;
        assert_eq!(steps[0].tables, ["store.invoices"]);
        assert_eq!(
            (&steps[0].outputs, &steps[1].outputs),
            (&vec!["step_1_ids".to_owned()], &vec!["step_2_results".to_owned()])
        );
        assert_eq!(steps[2].outputs, ["out"], "no step takes what comes later");
    }

    #[test]
    fn no_steps_need_a_reason() {
        check(vec![], &[], &["plan.steps: : there are no steps, and no clarification says why"]);
        let honest = Draft { clarifications: vec!["nothing fits".into()], ..Draft::default() };
        assert!(verify("", &honest, &World, Some(&HashSet::new())).ok);
    }

    #[test]
    fn a_fact_that_nothing_is_known_to_say_is_warned_of() {
        let draft = |source: &str| Draft {
            discovered_context: DiscoveredContext {
                facts: vec![PlanFact {
                    term: "VIP".into(),
                    definition: "d".into(),
                    source: source.into(),
                    confidence: 1.0,
                }],
                ..DiscoveredContext::default()
            },
            clarifications: vec!["c".into()],
            ..Draft::default()
        };
        assert_eq!(verify("", &draft("rules#VIP"), &World, None).warnings, []);
        let doubtful = verify("", &draft("hearsay"), &World, None);
        assert_eq!((doubtful.ok, doubtful.warnings.len()), (true, 1), "{doubtful:?}");
        assert_eq!(verify("", &draft("hearsay"), &World, Some(&HashSet::new())).warnings.len(), 1);
    }
}
