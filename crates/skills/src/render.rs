//! Skills to records: exactly what is indexed; and how answers name them.

use prospector_core::Kind;
use prospector_core::record::{Record, Resource, ResourceKind};

use crate::Skill;

/// How much of the instructions is indexed, in characters.
const MAX_CHARS: usize = 40_000;

/// The name, the description and the instructions.
pub(crate) fn record(skill: &Skill) -> Record {
    let mut record = Record::new(Kind::Skill, &skill.name, &skill.name);
    record.description.clone_from(&skill.description);
    record.body = skill.content.chars().take(MAX_CHARS).collect();
    record
}

/// The skill of this name, as an answer reveals it.
pub(crate) fn resource(name: &str) -> Resource {
    Resource::new(ResourceKind::Skill, name)
}

/// The beginning of a description, for lists: the whole is shown by the skill itself.
pub(crate) fn brief(description: &str) -> String {
    const MAX: usize = 200;
    let Some((end, _)) = description.char_indices().nth(MAX) else { return description.to_owned() };
    let start = &description[..end];
    let cut = start.rfind(". ").filter(|at| *at > end / 2).map(|at| &start[..=at]);
    let cut = cut.or_else(|| start.rfind(' ').map(|at| &start[..at])).unwrap_or(start);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_the_instructions_but_not_endless_ones() {
        let content = format!("# Use `pdf`\n\n{}", "word ".repeat(MAX_CHARS));
        let skill = Skill { name: "pdf".into(), description: "Reads PDF".into(), content, ..Skill::default() };
        let record = record(&skill);
        assert_eq!((record.id.as_str(), record.name.as_str(), record.kind), ("pdf", "pdf", Kind::Skill));
        assert_eq!(record.description, "Reads PDF");
        assert!(record.body.starts_with("# Use `pdf`\n\nword word"), "{}", &record.body[..40]);
        assert_eq!(record.body.chars().count(), MAX_CHARS);
    }

    #[test]
    fn a_long_description_is_cut_at_a_sentence_or_a_word() {
        assert_eq!(brief("Short."), "Short.");
        let sentence = format!("{}. {}", "a".repeat(150), "b ".repeat(100));
        assert_eq!(brief(&sentence), format!("{}.…", "a".repeat(150)));
        assert!(brief(&"word ".repeat(100)).ends_with("word…"));
        assert_eq!(brief(&"é".repeat(300)).chars().count(), 201);
    }
}
