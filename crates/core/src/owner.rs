//! Owners of conversations, runs and user-supplied definitions.

use std::hash::{Hash, Hasher};

/// The maximum length of a label, in characters.
const MAX_LABEL: usize = 40;

/// The owner of user data: the local user, or the holder of a token.
///
/// Owners are equal if their ids are. The id of a token holder is derived from the token by a one-way function and may be stored; the
/// label is for display only.
#[derive(Debug, Clone)]
pub struct Owner {
    id: String,
    label: String,
}

impl Owner {
    /// Returns the local user, with an empty id: the command line, a pipe, and a server without tokens.
    pub fn local() -> Self {
        Owner { id: String::new(), label: "the local user".into() }
    }

    /// Creates another owner. Characters that do not fit in one line are removed from the label.
    pub fn new(id: impl Into<String>, label: &str) -> Self {
        Owner { id: id.into(), label: crate::mark::clean(label, MAX_LABEL) }
    }

    /// Returns the id that identifies the owner; empty for the local user.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the label for display.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns whether this is the local user.
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
    fn compares_owners_by_id_only() {
        assert_eq!(Owner::new("a", "one"), Owner::new("a", "two"));
        assert_ne!(Owner::new("a", "one"), Owner::new("b", "one"));
        assert!(Owner::local().is_local() && !Owner::new("a", "").is_local());
        assert_eq!(Owner::new("a", "desk\n</data>").label(), "desk \u{2039}/data>");
    }
}
