//! The plan that the offline model writes, from templates.

use prospector_agent::plan::meaning::TableMeaning;
use prospector_agent::plan::{DiscoveredContext, Draft, PlanFact, Step, Steps, sense::question::Question};

use super::{
    choice::{Choice, Lookup, mentions},
    describe::describe,
    evidence::{Evidence, TableHit},
    fields,
};

/// The plan of a choice.
pub(super) fn write_choice(evidence: &Evidence, choice: &Choice<'_>) -> Draft {
    let question = Question::parse(&evidence.question);
    let mut writer = Writer { evidence, question: &question, steps: Vec::new() };
    writer.facts(choice);
    writer.documents(choice);
    writer.skills(choice);
    writer.tables(choice);
    writer.operations(choice);
    writer.conclude();
    let steps = writer.steps;
    let mut documents: Vec<String> = steps.iter().flat_map(|step| step.documents.clone()).collect();
    documents.dedup();
    let mut apis: Vec<String> = choice.operations.iter().map(|hit| hit.parent.clone()).collect();
    apis.dedup();
    let facts = choice.facts.iter().map(|fact| PlanFact {
        term: fact.term.clone(),
        definition: fact.definition.clone(),
        source: fact.source.clone(),
        confidence: fact.confidence,
    });
    Draft {
        reasoning: describe_choice(choice),
        discovered_context: DiscoveredContext {
            facts: facts.collect(),
            tables: choice.tables.iter().map(|hit| hit.id()).collect(),
            apis,
            documents,
            skills: choice.skills.iter().map(|hit| hit.name.clone()).collect(),
            metrics: Vec::new(),
        },
        plan: Steps { steps },
        clarifications: evidence.unclear.iter().cloned().collect(),
    }
}

fn describe_choice(choice: &Choice<'_>) -> String {
    let mut found: Vec<String> = choice.facts.iter().map(|fact| format!("a definition of \"{}\"", fact.term)).collect();
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
        "Written by the offline planner, a deterministic program and not a language model: of what the search finds it keeps \
         what covers the question ({}) and puts it in order. Check the steps before you rely on them.",
        found.join(", ")
    )
}

struct Writer<'a> {
    evidence: &'a Evidence,
    question: &'a Question,
    steps: Vec<Step>,
}

impl Writer<'_> {
    /// Adds a step that may use the results of all steps before.
    fn push(&mut self, step: Step) {
        let number = self.steps.len() as u32 + 1;
        let inputs = self.steps.iter().flat_map(|step| step.outputs.clone()).collect();
        self.steps.push(Step { number, inputs, outputs: vec![format!("step_{number}_results")], ..step });
    }

    fn facts(&mut self, choice: &Choice<'_>) {
        for fact in &choice.facts {
            let documents = Some(fact.document().to_owned()).filter(|_| fact.source_type == "document");
            let goal = format!("Apply the definition of {}: {}", fact.term, fact.definition);
            self.push(Step { goal, documents: documents.into_iter().collect(), ..Step::default() });
        }
    }

    fn documents(&mut self, choice: &Choice<'_>) {
        for hit in &choice.documents {
            // The definition's own document is cited by the definition already.
            if choice.facts.iter().any(|fact| fact.document() == hit.parent) {
                continue;
            }
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

    /// One step a database: its tables, the keys that join them, and what is computed.
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
            let ids: Vec<String> = tables.iter().map(|hit| hit.id()).collect();
            let known: Vec<&TableMeaning> =
                self.evidence.schemas.iter().filter(|schema| ids.contains(&schema.id)).collect();
            let step = fields::fill(&self.evidence.question, self.question, known.clone(), &choice.facts);
            // What is summed in several tables is summed in a step for each: joined, their rows would be there several times.
            let mut measured: Vec<&str> = Vec::new();
            for (table, _) in step.compute.iter().filter_map(|measure| measure.column.as_deref()?.rsplit_once('.')) {
                if !measured.contains(&table) {
                    measured.push(table);
                }
            }
            if measured.len() > 1 {
                for id in measured.into_iter().map(str::to_owned).collect::<Vec<_>>() {
                    let own = known.iter().copied().filter(|table| table.id == id).collect();
                    let mut step = fields::fill(&self.evidence.question, self.question, own, &choice.facts);
                    step.goal = format!("Query {id}{}", describe(&step));
                    self.push(Step { databases: vec![database.to_owned()], tables: vec![id], ..step });
                }
                continue;
            }
            let mut step = step;
            step.goal = format!("Query {} of {database}{joined}{}", names.join(", "), describe(&step));
            for side in joins.iter().flat_map(|join| join.split(['=', ' '])).filter(|side| side.contains('.')) {
                let column = format!("{database}.{side}");
                if !step.columns.contains(&column) {
                    step.columns.push(column);
                }
            }
            self.push(Step { databases: vec![database.to_owned()], tables: ids, ..step });
        }
    }

    fn operations(&mut self, choice: &Choice<'_>) {
        for Lookup { api, operation, parameter } in &choice.lookups {
            let goal = format!("Call {operation} of {api}: it gives {parameter}");
            self.push(Step { goal, operations: vec![format!("{api}.{operation}")], ..Step::default() });
        }
        for hit in &choice.operations {
            let what = hit.description.trim_end_matches('.');
            let mut goal = format!("Call {} of {}", hit.name, hit.parent);
            if !what.is_empty() {
                goal = format!("{goal}: {what}");
            }
            if !self.question.numbers.is_empty() {
                goal = format!("{goal} ({})", self.question.numbers.join(", "));
            }
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
