//! Converts skills to index records and to names revealed in results.

use prospector_core::Kind;
use prospector_core::record::{Record, Resource, ResourceKind};

use crate::Skill;

/// Maximum length of indexed instructions, in characters.
const MAX_CHARS: usize = 40_000;

/// Returns the record of a skill: name, description and instructions.
pub(crate) fn record(skill: &Skill) -> Record {
    let mut record = Record::new(Kind::Skill, &skill.name, &skill.name);
    record.description.clone_from(&skill.description);
    record.body = skill.content.chars().take(MAX_CHARS).collect();
    record
}

/// Returns the skill as a revealed name.
pub(crate) fn resource(name: &str) -> Resource {
    Resource::new(ResourceKind::Skill, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_indexed_instructions() {
        let content = format!("# Use `pdf`\n\n{}", "word ".repeat(MAX_CHARS));
        let skill = Skill { name: "pdf".into(), description: "Reads PDF".into(), content, ..Skill::default() };
        let record = record(&skill);
        assert_eq!((record.id.as_str(), record.name.as_str(), record.kind), ("pdf", "pdf", Kind::Skill));
        assert_eq!(record.description, "Reads PDF");
        assert!(record.body.starts_with("# Use `pdf`\n\nword word"), "{}", &record.body[..40]);
        assert_eq!(record.body.chars().count(), MAX_CHARS);
    }
}
