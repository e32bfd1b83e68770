//! What whoever runs the program does about facts: look at all of them, approve those that wait, remove any.
//!
//! A fact has an id that is made of its content. Who approved what they were shown never approves something else that was
//! said in its place meanwhile.

use std::path::PathBuf;

use serde::Serialize;

use crate::{
    error::FactError,
    model::Fact,
    store::{FactStore, StoredFact},
};

/// A stored fact, whoever said it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewedFact {
    /// What it is approved and removed by: 16 hexadecimal digits.
    pub id: String,
    /// Whether it waits to be approved; until then it holds for whoever said it alone.
    pub pending: bool,
    /// Who said it, as people are shown them.
    pub said_by: String,
    /// The id of that owner; empty for the local user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The fact as it was said.
    #[serde(flatten)]
    pub fact: Fact,
}

/// The store of facts as whoever runs the program sees it.
pub struct Review {
    store: FactStore,
}

impl Review {
    /// The store in this file. Nothing is opened before it is needed, and a file that is not there is not made by a look.
    pub fn new(store: PathBuf) -> Self {
        Review { store: FactStore::new(Some(store)) }
    }

    /// Every stored fact: those that wait come first, then by term.
    ///
    /// # Errors
    /// [`FactError`] when there is a store and it cannot be read.
    pub async fn facts(&self) -> Result<Vec<ReviewedFact>, FactError> {
        let mut facts: Vec<ReviewedFact> = self.store.facts().await?.iter().map(review_fact).collect();
        facts.sort_by_cached_key(|fact| (!fact.pending, fact.fact.term.to_lowercase(), fact.id.clone()));
        Ok(facts)
    }

    /// Lets a fact that waits hold for everyone, in the place of what was said of its term before. Gives it as it holds
    /// from then on, or nothing where no fact of that id waits.
    ///
    /// # Errors
    /// [`FactError`] when the store cannot be read or written.
    pub async fn approve(&self, id: &str) -> Result<Option<ReviewedFact>, FactError> {
        let Some(stored) = self.find(id).await?.filter(|stored| !stored.apart.is_empty()) else { return Ok(None) };
        if self.store.approve(&stored).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(review_fact(&StoredFact { apart: String::new(), ..stored })))
    }

    /// Forgets a fact. Gives it as it was, or nothing where there is none of that id.
    ///
    /// # Errors
    /// [`FactError`] when the store cannot be read or written.
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

/// A hash of all that whoever approves a fact decides about.
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
