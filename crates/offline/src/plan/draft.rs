//! The plan that the offline model writes, from templates.

use prospector_agent::plan::{DiscoveredContext, Draft, PlanFact, Step, Steps};

use super::{
    choose::{Choice, choose, literal, mentions, words},
    evidence::{Evidence, TableHit},
};

/// Writes the plan.
pub(super) fn write(evidence: &Evidence) -> Draft {
    let mut choice = choose(evidence);
    let fact = evidence.fact.as_ref().filter(|fact| !evidence.refused.contains(&fact.term));
    let defined_in = fact.map(|fact| fact.source.split('#').next().unwrap_or_default().to_owned());
    // The definition's own document is cited by the definition already.
    choice.documents.retain(|hit| Some(&hit.parent) != defined_in.as_ref());
    if !choice.tables.is_empty() || !choice.operations.is_empty() {
        choice.documents.retain(|hit| hit.relevance >= 0.8);
    }
    if fact.is_none()
        && choice.tables.is_empty()
        && choice.operations.is_empty()
        && choice.documents.is_empty()
        && choice.skills.is_empty()
    {
        return decline(evidence);
    }
    let mut writer = Writer { evidence, steps: Vec::new() };
    if let Some(fact) = fact {
        let documents: Vec<String> = defined_in.iter().filter(|name| evidence.is_document(name)).cloned().collect();
        let goal = format!("Apply the definition of {}: {}", fact.term, fact.definition);
        writer.push(Step { goal, documents, ..Step::default() });
    }
    writer.documents(&choice);
    writer.skills(&choice);
    writer.tables(&choice);
    writer.operations(&choice);
    writer.conclude();
    let steps = writer.steps;
    let mut documents: Vec<String> = steps.iter().flat_map(|step| step.documents.clone()).collect();
    documents.dedup();
    let mut apis: Vec<String> = choice.operations.iter().map(|hit| hit.parent.clone()).collect();
    apis.dedup();
    Draft {
        reasoning: reasoning(&choice, fact.map(|fact| fact.term.as_str())),
        discovered_context: DiscoveredContext {
            facts: fact
                .map(|fact| PlanFact {
                    term: fact.term.clone(),
                    definition: fact.definition.clone(),
                    source: fact.source.clone(),
                    confidence: fact.confidence,
                })
                .into_iter()
                .collect(),
            tables: choice.tables.iter().map(|hit| hit.id()).collect(),
            apis,
            documents,
            skills: choice.skills.iter().map(|hit| hit.name.clone()).collect(),
        },
        plan: Steps { steps },
        clarifications: evidence.unclear.iter().cloned().collect(),
    }
}

/// The honest plan when nothing fits.
fn decline(evidence: &Evidence) -> Draft {
    let mut clarifications = vec![format!(
        "Nothing in this catalog answers \"{}\". Name a source that would, or ask in other words.",
        evidence.question
    )];
    clarifications.extend(evidence.unclear.iter().cloned());
    let mut reasoning =
        "The offline planner looked for facts, tables, operations, documents and skills, and found no good match."
            .to_owned();
    if !evidence.failures.is_empty() {
        reasoning.push_str(&format!(" Some tools failed: {}.", evidence.failures.join("; ")));
    }
    Draft { reasoning, clarifications, ..Draft::default() }
}

fn reasoning(choice: &Choice<'_>, term: Option<&str>) -> String {
    let mut found = Vec::new();
    if let Some(term) = term {
        found.push(format!("a definition of \"{term}\""));
    }
    let mut count = |n: usize, what: &str| {
        if n > 0 {
            found.push(format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
        }
    };
    count(choice.tables.len(), "table");
    count(choice.operations.len(), "API operation");
    count(choice.documents.len(), "document");
    count(choice.skills.len(), "skill");
    format!(
        "Written by the offline planner, a deterministic program and not a language model: it keeps what the search finds \
         relevant enough ({}) and puts it in order. Check the steps before you rely on them.",
        found.join(", ")
    )
}

struct Writer<'a> {
    evidence: &'a Evidence,
    steps: Vec<Step>,
}

impl Writer<'_> {
    /// Adds a step that may use the results of all steps before.
    fn push(&mut self, step: Step) {
        let number = self.steps.len() as u32 + 1;
        let inputs = self.steps.iter().flat_map(|step| step.outputs.clone()).collect();
        self.steps.push(Step { number, inputs, outputs: vec![format!("step_{number}_results")], ..step });
    }

    fn documents(&mut self, choice: &Choice<'_>) {
        for hit in &choice.documents {
            let goal = format!("Read \"{}\" of {}", hit.name, hit.parent);
            self.push(Step { goal, documents: vec![hit.parent.clone()], ..Step::default() });
        }
    }

    fn skills(&mut self, choice: &Choice<'_>) {
        for hit in &choice.skills {
            let goal = format!("Follow the skill {}: {}", hit.name, hit.description);
            self.push(Step { goal, skills: vec![hit.name.clone()], ..Step::default() });
        }
    }

    /// One step a database: its tables, the keys that join them, the columns that the question speaks of.
    fn tables(&mut self, choice: &Choice<'_>) {
        let mut databases: Vec<&str> = Vec::new();
        for hit in &choice.tables {
            if !databases.contains(&hit.database.as_str()) {
                databases.push(&hit.database);
            }
        }
        for database in databases {
            let tables: Vec<&TableHit> = choice.tables.iter().copied().filter(|hit| hit.database == database).collect();
            let names: Vec<&str> = tables.iter().map(|hit| hit.table.as_str()).collect();
            let mut joins: Vec<&str> = tables
                .iter()
                .flat_map(|hit| &hit.joins)
                .filter(|join| names.iter().filter(|name| mentions(join, name)).count() == 2)
                .map(String::as_str)
                .collect();
            joins.sort_unstable();
            joins.dedup();
            let joined = if joins.is_empty() { String::new() } else { format!(", joined on {}", joins.join(" and ")) };
            let period = period(&self.evidence.question).map_or(String::new(), |unit| format!(", grouped by {unit}"));
            let conditions = conditions(&tables);
            let goal = format!("Query {} of {database}{joined}{conditions}{period}", names.join(", "));
            let columns = tables.iter().flat_map(|hit| self.columns(&hit.id(), &joins)).collect();
            let tables = tables.iter().map(|hit| hit.id()).collect();
            self.push(Step { goal, databases: vec![database.to_owned()], tables, columns, ..Step::default() });
        }
    }

    /// The columns of a table that the question or the definition names, that join, or that hold its dates.
    fn columns(&self, table: &str, joins: &[&str]) -> Vec<String> {
        let Some(schema) = self.evidence.schemas.iter().find(|schema| schema.table == table) else {
            return Vec::new();
        };
        let definition = self.evidence.fact.as_ref().map_or("", |fact| fact.definition.as_str());
        let asked = words(&format!("{} {definition}", self.evidence.question));
        let wants_dates = period(&self.evidence.question).is_some();
        let name = table.rsplit('.').next().unwrap_or(table);
        let holder = self.evidence.tables.iter().find(|hit| hit.id() == table);
        schema
            .columns
            .iter()
            .filter(|(column, data_type)| {
                let joining = joins.iter().any(|join| {
                    join.split('=').any(|side| side.trim().eq_ignore_ascii_case(&format!("{name}.{column}")))
                });
                let data_type = data_type.to_lowercase();
                let is_date =
                    column.to_lowercase().contains("date") || data_type.contains("date") || data_type.contains("time");
                let is_condition = holder.is_some_and(|hit| {
                    hit.values.iter().any(|value| value.starts_with(&format!("{name}.{column} = ")))
                });
                joining
                    || is_condition
                    || (wants_dates && is_date)
                    || words(column).iter().any(|word| asked.contains(word))
            })
            .map(|(column, _)| format!("{table}.{column}"))
            .collect()
    }

    fn operations(&mut self, choice: &Choice<'_>) {
        for hit in &choice.operations {
            let what = hit.description.trim_end_matches('.');
            let goal = if what.is_empty() {
                format!("Call {} of {}", hit.name, hit.parent)
            } else {
                format!("Call {} of {}: {what}", hit.name, hit.parent)
            };
            let operations = vec![format!("{}.{}", hit.parent, hit.name)];
            self.push(Step { goal, operations, ..Step::default() });
        }
    }

    fn conclude(&mut self) {
        if self.steps.len() > 1 {
            let goal = format!("Combine the results to answer: {}", self.evidence.question);
            self.push(Step { goal, ..Step::default() });
        }
    }
}

impl Evidence {
    /// Whether a definition's source is a document, and not a table or a user.
    fn is_document(&self, name: &str) -> bool {
        self.documents.iter().any(|hit| hit.parent == name)
            || self.fact.as_ref().is_some_and(|fact| fact.source_type == "document" && fact.source.starts_with(name))
    }
}

/// What the rows of some tables must hold: each value of the question once, of the likeliest table.
fn conditions(tables: &[&TableHit]) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut conditions: Vec<&str> = Vec::new();
    for value in tables.iter().flat_map(|hit| &hit.values) {
        if !seen.contains(&literal(value)) {
            seen.push(literal(value));
            conditions.push(value);
        }
    }
    if conditions.is_empty() { String::new() } else { format!(", where {}", conditions.join(" and ")) }
}

/// The unit of time that the question groups by.
fn period(question: &str) -> Option<&'static str> {
    let question = question.to_lowercase();
    [
        ("quarter", "quarter"),
        ("month", "month"),
        ("year", "year"),
        ("annual", "year"),
        ("week", "week"),
        ("dail", "day"),
    ]
    .into_iter()
    .find(|(word, _)| question.contains(word))
    .map(|(_, unit)| unit)
    .or_else(|| question.contains("trend").then_some("month"))
}
