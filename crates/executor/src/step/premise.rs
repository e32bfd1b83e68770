//! Documents and skills of a step: what it rests on, and what it tells whoever writes the answer.

use prospector_agent::plan::{PlanFact, Step};

use super::StepRunner;
use crate::record::StepRun;

/// So many passages of one document are taken.
const MAX_PASSAGES: usize = 2;
/// So many are looked at to find them.
const MAX_SEARCHED: usize = 20;
/// So many characters of a passage.
const MAX_PASSAGE_CHARS: usize = 1_000;
/// So many characters of the instructions of a skill.
const MAX_INSTRUCTION_CHARS: usize = 8_000;

impl StepRunner<'_> {
    /// The definitions of the plan that the step is about, and of a document without any the passages that say most about the
    /// question.
    pub(super) fn find_premises(&self, step: &Step, done: &mut StepRun) {
        let goal = step.goal.to_lowercase();
        let is_own = |fact: &&PlanFact| {
            let document = fact.source.split('#').next().unwrap_or_default();
            let is_named = fact.term.chars().count() > 2 && goal.contains(&fact.term.to_lowercase());
            is_named || step.documents.iter().any(|name| name == document)
        };
        done.premises.extend(self.facts.iter().filter(is_own).cloned());
        for name in &step.documents {
            let has_fact = done.premises.iter().any(|fact| fact.source.split('#').next() == Some(name));
            if has_fact {
                continue;
            }
            let found = self.catalog.documents.passages(&self.catalog.index, &self.text(step), MAX_SEARCHED);
            let passages = found.unwrap_or_default().into_iter().filter(|passage| passage.document == *name);
            let before = done.premises.len();
            done.premises.extend(passages.take(MAX_PASSAGES).map(|passage| PlanFact {
                term: passage.section.clone(),
                definition: passage.text.chars().take(MAX_PASSAGE_CHARS).collect(),
                source: format!("{name}#{}", passage.section),
                confidence: f64::from(passage.relevance.get()),
            }));
            if done.premises.len() == before {
                done.notes.push(format!("{name} holds no passage about the question"));
            }
        }
    }

    /// What the skills of the step say.
    pub(super) fn read_skills(&self, step: &Step, done: &mut StepRun) {
        let texts: Vec<String> = (step.skills.iter())
            .filter_map(|name| self.catalog.skills.resolve(name))
            .map(|skill| format!("{}: {}\n\n{}", skill.name, skill.description, skill.content.trim()))
            .collect();
        if texts.is_empty() {
            return;
        }
        let whole = texts.join("\n\n");
        let cut: String = whole.chars().take(MAX_INSTRUCTION_CHARS).collect();
        if cut.len() < whole.len() {
            done.notes.push(format!("the instructions are cut after {MAX_INSTRUCTION_CHARS} characters"));
        }
        done.instructions = Some(cut);
    }

    /// What the step is about.
    fn text(&self, step: &Step) -> String {
        format!("{} {}", step.goal, self.question)
    }
}
