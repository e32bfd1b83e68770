//! Limits what each owner has in use, so that no owner uses up a shared limit.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Owner;

/// The amount in use, by owner.
#[derive(Clone, Default)]
pub(crate) struct Shares(Arc<Mutex<HashMap<Owner, usize>>>);

/// A reserved amount, released on drop.
pub(crate) struct Share {
    owner: Owner,
    amount: usize,
    taken: Shares,
}

impl Shares {
    /// Reserves one unit for this owner, who may have at most `most`.
    pub(crate) fn take(&self, owner: &Owner, most: usize) -> Option<Share> {
        self.take_many(owner, 1, most)
    }

    /// Reserves `amount` units for this owner, who may have at most `most`.
    pub(crate) fn take_many(&self, owner: &Owner, amount: usize, most: usize) -> Option<Share> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.get(owner).copied().unwrap_or_default().checked_add(amount).filter(|count| *count <= most)?;
        taken.insert(owner.clone(), count);
        Some(Share { owner: owner.clone(), amount, taken: self.clone() })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.taken.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.owner) {
            *count -= self.amount;
            if *count == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_a_share_and_gives_it_back() {
        let shares = Shares::default();
        let (ann, ben) = (Owner::new("a", "ann"), Owner::new("b", "ben"));
        let first = shares.take(&ann, 2);
        let second = shares.take(&ann, 2);
        assert!(first.is_some() && second.is_some() && shares.take(&ann, 2).is_none());
        assert!(shares.take(&ben, 2).is_some(), "owners are independent");
        drop(first);
        assert!(shares.take(&ann, 2).is_some());
        drop(second);
        assert!(shares.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty(), "no owner is remembered");
    }
}
