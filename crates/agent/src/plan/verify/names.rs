//! Verifies that names exist and were returned by a discovery call of the run.

use std::collections::HashSet;

use prospector_core::record::{Resource, ResourceKind};

use super::{Check, Code, Finding, Step};
use crate::names::Names;

/// Replaces operations in a list of APIs by their APIs.
pub(super) fn complete_apis(apis: &mut Vec<String>, names: &dyn Names) {
    for name in apis.iter_mut() {
        *name = find_api(name, names).unwrap_or_else(|| std::mem::take(name));
    }
    let mut known = HashSet::new();
    apis.retain(|name| known.insert(name.clone()));
}

/// Returns the API of an operation id that was given as the name of an API. Names of both may contain dots.
fn find_api(name: &str, names: &dyn Names) -> Option<String> {
    if names.resolve(ResourceKind::Api, name).is_some() {
        return None;
    }
    let id = names.resolve(ResourceKind::Operation, name)?;
    id.rmatch_indices('.').find_map(|(at, _)| names.resolve(ResourceKind::Api, &id[..at]))
}

impl Check<'_> {
    /// Verifies names of one kind, and normalizes their spelling. A document keeps its section.
    pub(super) fn names(&mut self, path: &str, kind: ResourceKind, names: &mut [String]) {
        for name in names {
            self.outcome.checked += 1;
            match self.names.resolve(kind, name) {
                None => {
                    let nearest = self.names.nearest(kind, name);
                    let finding = Finding::new(path, Code::UnknownName, format!("unknown {kind} `{name}`"));
                    self.fail(finding.suggest_names(&nearest));
                }
                Some(id) => {
                    if !self.was_seen(kind, &id) {
                        self.reject_undiscovered(path, kind, &id);
                    }
                    let section = name.split_once('#').filter(|_| kind == ResourceKind::Document && !id.contains('#'));
                    *name = section.map_or(id.clone(), |(_, section)| format!("{id}#{section}"));
                }
            }
        }
    }

    /// Verifies a step that only names resources.
    pub(super) fn check_named(&mut self, path: &str, step: &mut Step, earlier: &mut [Step]) {
        self.outcome.executable = false;
        complete_tables(step, earlier, self.names);
        for (field, kind, list) in [
            ("databases", ResourceKind::Database, &mut step.resources.databases),
            ("tables", ResourceKind::Table, &mut step.resources.tables),
            ("columns", ResourceKind::Column, &mut step.resources.columns),
            ("operations", ResourceKind::Operation, &mut step.resources.operations),
            ("documents", ResourceKind::Document, &mut step.resources.documents),
            ("skills", ResourceKind::Skill, &mut step.resources.skills),
        ] {
            self.names(&format!("{path}.{field}"), kind, list);
        }
        let operations = step.resources.operations.iter();
        step.writes = operations.clone().any(|id| self.names.writes(id) == Some(true));
        complete_outputs(step, earlier);
        for input in &step.inputs {
            self.outcome.checked += 1;
            let mut available = earlier.iter().flat_map(|step| step.outputs.iter().cloned().chain([step.output()]));
            if !available.any(|output| output == *input) {
                let message = format!("no earlier step has the output `{input}`");
                self.fail(Finding::new(format!("{path}.inputs"), Code::UnknownInput, message));
            }
        }
    }

    /// Verifies the names of a step that reads, and sorts them by kind.
    pub(super) fn read(&mut self, path: &str, step: &mut Step, read: Vec<String>) {
        for name in read {
            self.outcome.checked += 1;
            let found = self.names.resolve(ResourceKind::Document, &name).map(|id| (ResourceKind::Document, id));
            let found = found.or_else(|| {
                let kinds = [ResourceKind::Skill, ResourceKind::Fact, ResourceKind::Metric];
                kinds.into_iter().find_map(|kind| Some((kind, self.names.resolve(kind, &name)?)))
            });
            let document = name.split_once('#').and_then(|(document, _)| {
                let id = self.names.resolve(ResourceKind::Document, document)?;
                Some((ResourceKind::Document, id))
            });
            let Some((kind, id)) = found.or(document) else {
                let nearest = self.names.nearest(ResourceKind::Document, &name);
                let message = format!("unknown document, skill or definition `{name}`");
                let finding = Finding::new(format!("{path}.read"), Code::UnknownName, message);
                self.fail(finding.suggest_names(&nearest));
                continue;
            };
            let whole = id.split('#').next().unwrap_or(&id).to_owned();
            let list = match kind {
                ResourceKind::Document => &mut step.resources.documents,
                ResourceKind::Skill => &mut step.resources.skills,
                // Definitions are among the facts of the plan.
                _ => continue,
            };
            if !list.contains(&whole) {
                list.push(whole.clone());
            }
            if !self.was_seen(kind, &whole) && !self.was_seen(kind, &id) {
                self.reject_undiscovered(&format!("{path}.read"), kind, &whole);
            }
        }
    }

    /// Reports an entry that the run did not reveal.
    pub(super) fn reject_undiscovered(&mut self, path: &str, kind: ResourceKind, id: &str) {
        let message = format!("{kind} `{id}` exists, but no discovery call of this run returned it");
        self.fail(Finding::new(path, Code::Undiscovered, message).suggest("describe it before you use it"));
    }

    /// Returns whether the run revealed a resource. Any table reveals its database, and any operation its API.
    pub(super) fn was_seen(&self, kind: ResourceKind, id: &str) -> bool {
        let Some(seen) = self.seen else { return true };
        let member = match kind {
            ResourceKind::Database => Some(ResourceKind::Table),
            ResourceKind::Api => Some(ResourceKind::Operation),
            _ => None,
        };
        let is_member = |resource: &Resource| {
            Some(resource.kind) == member && resource.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        seen.contains(&Resource::new(kind, id)) || (member.is_some() && seen.iter().any(is_member))
    }
}

/// Adds the database to unqualified tables: one of the step's `databases`, or else of those of earlier steps.
fn complete_tables(step: &mut Step, earlier: &[Step], names: &dyn Names) {
    let before = earlier.iter().rev().flat_map(|step| &step.resources.databases);
    let databases: Vec<String> = step.resources.databases.iter().chain(before).cloned().collect();
    for table in &mut step.resources.tables {
        if names.resolve(ResourceKind::Table, table).is_none() {
            let full = databases.iter().map(|database| format!("{database}.{table}"));
            let known = full.filter_map(|id| names.resolve(ResourceKind::Table, &id)).next();
            *table = known.unwrap_or_else(|| std::mem::take(table));
        }
    }
}

/// Adds an output that a step reads as `step_1_results` or `step_1_ids` to the earlier step that does not declare it.
fn complete_outputs(step: &Step, earlier: &mut [Step]) {
    for input in &step.inputs {
        let number = input.strip_prefix("step_").and_then(|rest| rest.split('_').next()?.parse::<usize>().ok());
        let Some(from) = number.and_then(|number| earlier.get_mut(number.checked_sub(1)?)) else { continue };
        let is_usual = *input == format!("step_{}_results", from.number);
        if (from.outputs.is_empty() || is_usual) && !from.outputs.contains(input) {
            from.outputs.push(input.clone());
        }
    }
}
