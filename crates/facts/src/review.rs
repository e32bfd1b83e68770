//! Administration of stored facts: list, approve and remove.
//!
//! The id of a fact is a hash of its content, so that an approval never applies to a fact that was changed after it was
//! shown.

use std::path::PathBuf;

use serde::Serialize;

use crate::{
    error::FactError,
    model::Fact,
    store::{FactStore, StoredFact},
};

/// A stored fact with its owner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewedFact {
    /// The id to approve or remove it by: 16 hexadecimal digits.
    pub id: String,
    /// Whether it is pending, i.e. visible only to its author.
    pub pending: bool,
    /// Display name of the author.
    pub said_by: String,
    /// Id of the author; empty for the local user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
}

/// The fact store as seen by its administrator.
pub struct Review {
    store: FactStore,
}

impl Review {
    /// Creates a view of the store in this file, which is opened on demand and not created by reads.
    pub fn new(store: PathBuf) -> Self {
        Review { store: FactStore::new(Some(store)) }
    }

    /// Returns all stored facts: pending ones first, then by term.
    ///
    /// # Errors
    /// [`FactError`] if an existing store cannot be read.
    pub async fn facts(&self) -> Result<Vec<ReviewedFact>, FactError> {
        let mut facts: Vec<ReviewedFact> = self.store.facts().await?.iter().map(review_fact).collect();
        facts.sort_by_cached_key(|fact| (!fact.pending, fact.fact.term.to_lowercase(), fact.id.clone()));
        Ok(facts)
    }

    /// Makes a pending fact visible to all owners, replacing the shared fact on its term. Returns the approved fact, or
    /// `None` if no fact with this id is pending.
    ///
    /// # Errors
    /// [`FactError`] if the store cannot be read or written.
    pub async fn approve(&self, id: &str) -> Result<Option<ReviewedFact>, FactError> {
        let Some(stored) = self.find(id).await?.filter(|stored| !stored.apart.is_empty()) else { return Ok(None) };
        if self.store.approve(&stored).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(review_fact(&StoredFact { apart: String::new(), ..stored })))
    }

    /// Deletes a fact. Returns it, or `None` if there is no fact with this id.
    ///
    /// # Errors
    /// [`FactError`] if the store cannot be read or written.
    pub async fn remove(&self, id: &str) -> Result<Option<ReviewedFact>, FactError> {
        let Some(stored) = self.find(id).await? else { return Ok(None) };
        Ok(self.store.remove(&stored).await?.then(|| review_fact(&stored)))
    }

    async fn find(&self, id: &str) -> Result<Option<StoredFact>, FactError> {
        Ok(self.store.facts().await?.into_iter().find(|stored| id_of(stored) == id))
    }
}

fn review_fact(stored: &StoredFact) -> ReviewedFact {
    ReviewedFact {
        id: id_of(stored),
        pending: !stored.apart.is_empty(),
        said_by: stored.owner.label().to_owned(),
        owner: stored.owner.id().to_owned(),
        fact: stored.fact.clone(),
    }
}

/// Returns the hash of everything that an approval covers.
fn id_of(stored: &StoredFact) -> String {
    let StoredFact { key, apart, owner, fact } = stored;
    let confidence = fact.confidence.to_string();
    let texts = [
        key,
        apart,
        owner.id(),
        &fact.term,
        &fact.definition,
        &fact.source,
        &fact.reasoning,
        &fact.scope,
        fact.origin.as_str(),
        &fact.recorded_at,
        &confidence,
    ];
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex().as_str()[..16].to_owned()
}
