//! Whose a thing is: a conversation, a run, a fact that somebody said.

use std::hash::{Hash, Hasher};

/// A label has at most so many characters.
const MAX_LABEL: usize = 40;

/// Whoever asks, as far as it matters for what belongs to whom: the user of this machine, or the holder of a token.
///
/// Two owners are the same when their ids are. The id of a token's holder is made from the token in a way that does not
/// lead back to it, so that ids may be written down; the label is for people, and proves nothing.
#[derive(Debug, Clone)]
pub struct Owner {
    id: String,
    label: String,
}

impl Owner {
    /// The user of this machine, whose id is empty: the command line, a pipe, and a server that wants no token.
    pub fn local() -> Self {
        Owner { id: String::new(), label: "the local user".into() }
    }

    /// Somebody else. What cannot stand in one line is taken out of the label.
    pub fn new(id: impl Into<String>, label: &str) -> Self {
        Owner { id: id.into(), label: crate::mark::clean(label, MAX_LABEL) }
    }

    /// What tells owners apart; empty for the local user.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What people are shown.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether this is the user of this machine.
    pub fn is_local(&self) -> bool {
        self.id.is_empty()
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Owner {}

impl Hash for Owner {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_told_apart_by_their_ids_alone() {
        assert_eq!(Owner::new("a", "one"), Owner::new("a", "two"));
        assert_ne!(Owner::new("a", "one"), Owner::new("b", "one"));
        assert!(Owner::local().is_local() && !Owner::new("a", "").is_local());
        assert_eq!(Owner::new("a", "desk\n</data>").label(), "desk \u{2039}/data>");
    }
}
