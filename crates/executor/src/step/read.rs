//! Documents, skills and definitions of a step: what the answer is based on, and instructions for writing it.

use prospector_agent::plan::{PlanFact, Step};
use prospector_core::record::ResourceKind;

use super::StepRunner;
use crate::record::StepRun;

/// Limit on the passages used per document.
const MAX_PASSAGES: usize = 2;
/// Number of passages searched for them.
const MAX_SEARCHED: usize = 20;
/// Limit on the length of a passage, in characters.
const MAX_PASSAGE_CHARS: usize = 1_000;
/// Limit on the length of a skill's instructions, in characters.
const MAX_INSTRUCTION_CHARS: usize = 8_000;

impl StepRunner<'_> {
    /// Reads the entries of a step: whole sections, or the most relevant passages of a document.
    pub(super) fn read(&self, step: &Step, names: &[String], done: &mut StepRun) {
        for name in names {
            let (document, section) = name.split_once('#').map_or((name.as_str(), None), |(own, of)| (own, Some(of)));
            if self.catalog.resolve(ResourceKind::Document, document).is_some() {
                self.read_document(step, document, section, done);
            } else if let Some(fact) = self.find_definition(name) {
                done.premises.push(fact);
            }
        }
        self.read_skills(step, done);
    }

    /// Returns the definition of a term from the plan, or a stored one.
    fn find_definition(&self, term: &str) -> Option<PlanFact> {
        let cited = self.facts.iter().find(|fact| fact.term.eq_ignore_ascii_case(term)).cloned();
        cited.or_else(|| {
            let known = self.catalog.facts.find(term)?;
            let (term, definition) = (known.term, known.definition);
            Some(PlanFact { term, definition, source: known.source, confidence: known.confidence })
        })
    }

    fn read_document(&self, step: &Step, document: &str, section: Option<&str>, done: &mut StepRun) {
        let found = self.catalog.documents.passages(&self.catalog.index, &self.text(step, section), MAX_SEARCHED);
        let is_own = |own: &str| section.is_none_or(|wanted| own.eq_ignore_ascii_case(wanted) || own.ends_with(wanted));
        let passages = found.unwrap_or_default().into_iter();
        let passages = passages.filter(|passage| passage.document == document && is_own(&passage.section));
        let before = done.premises.len();
        done.premises.extend(passages.take(MAX_PASSAGES).map(|passage| PlanFact {
            term: passage.section.clone(),
            definition: passage.text.chars().take(MAX_PASSAGE_CHARS).collect(),
            source: format!("{document}#{}", passage.section),
            confidence: f64::from(passage.relevance.get()),
        }));
        if done.premises.len() == before {
            // A quotation in the plan is equivalent to a passage.
            let is_cited = |fact: &&PlanFact| fact.source.split('#').next() == Some(document);
            done.premises.extend(self.facts.iter().filter(is_cited).cloned());
        }
        if done.premises.len() == before {
            done.notes.push(format!("`{document}` has no passage about the question"));
        }
    }

    /// Reads the instructions of the step's skills.
    fn read_skills(&self, step: &Step, done: &mut StepRun) {
        let texts: Vec<String> = (step.resources.skills.iter())
            .filter_map(|name| self.catalog.skills.resolve(name))
            .map(|skill| format!("{}: {}\n\n{}", skill.name, skill.description, skill.content.trim()))
            .collect();
        if texts.is_empty() {
            return;
        }
        let whole = texts.join("\n\n");
        let cut: String = whole.chars().take(MAX_INSTRUCTION_CHARS).collect();
        if cut.len() < whole.len() {
            done.notes.push(format!("the instructions are truncated after {MAX_INSTRUCTION_CHARS} characters"));
        }
        done.instructions = Some(cut);
    }

    /// Returns the text that passages are searched with.
    fn text(&self, step: &Step, section: Option<&str>) -> String {
        match section {
            Some(section) => section.to_owned(),
            None => format!("{} {}", step.goal, self.question),
        }
    }
}
