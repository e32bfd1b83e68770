//! Connection slots: allocation, eviction when all are in use, and slots reserved for health checks.
//!
//! A connection *waits* until the head of a request has arrived, and again from the end of the response to the next head. If all slots
//! are in use, a new connection evicts the oldest waiting connection of the address that has the most of them, so slow-header requests
//! cannot starve others. If no connection waits, or the address has reached its limit, the new connection gets a reserved slot: it can
//! request health checks only, and other requests are refused with advice to retry. Reserved slots do not run out, since their
//! connections either wait or are answered at once.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// The number of slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// For connections that may request anything.
    pub(crate) usual: usize,
    /// How many of those one address may have.
    pub(crate) of_address: usize,
    /// Additional slots for connections that may only request health checks.
    pub(crate) kept: usize,
}

/// What may be requested on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything.
    Usual,
    /// Health checks: every usual slot is used by a connection that is being answered.
    Full,
    /// Health checks: this address has reached its limit.
    OfAddress,
}

/// The origin of a connection: an IPv4 address, or the network of an IPv6 address, of which one machine may have any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Origin(IpAddr);

impl Origin {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                Origin(Ipv6Addr::from_bits(network).into())
            }
            address => Origin(address),
        }
    }
}

struct Open {
    origin: Origin,
    access: Access,
    /// Logical time since which it waits; `None` while it is answered.
    waits: Option<u64>,
    end: CancellationToken,
}

#[derive(Default)]
struct Inner {
    /// Logical clock: grows with every event.
    now: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Clone)]
pub(crate) struct Places {
    most: Most,
    inner: Arc<Mutex<Inner>>,
}

impl Places {
    pub(crate) fn new(most: Most) -> Self {
        Places { most, inner: Arc::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot for a connection from this address, which then waits. `None` if even the reserved slots are all in use.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Place> {
        let origin = Origin::of(address);
        let mut inner = self.inner();
        let usual = |open: &Open| open.access == Access::Usual;
        let count =
            |inner: &Inner, counts: &dyn Fn(&Open) -> bool| inner.open.values().filter(|open| counts(open)).count();
        let of_address = |open: &Open| usual(open) && open.origin == origin;
        let is_full = count(&inner, &usual) >= self.most.usual;
        // An address at its limit evicts only its own connections.
        let access = if count(&inner, &of_address) >= self.most.of_address {
            match inner.end_oldest(of_address) {
                true => Access::Usual,
                false if is_full => Access::Full,
                false => Access::OfAddress,
            }
        } else if is_full && !inner.end_one() {
            Access::Full
        } else {
            Access::Usual
        };
        let kept = |open: &Open| open.access != Access::Usual;
        if access != Access::Usual && count(&inner, &kept) >= self.most.kept && !inner.end_oldest(kept) {
            return None;
        }
        inner.now += 1;
        let (number, end) = (inner.now, CancellationToken::new());
        inner.open.insert(number, Open { origin, access, waits: Some(number), end: end.clone() });
        Some(Place { number, access, end, places: self.clone() })
    }

    /// Evicts a waiting connection to free a resource that it holds; returns whether there was one.
    pub(crate) fn make_room(&self) -> bool {
        self.inner().end_one()
    }
}

impl Inner {
    /// Evicts the usual connection that waits longest, of the address with the most waiting connections.
    fn end_one(&mut self) -> bool {
        let mut waiting: HashMap<Origin, usize> = HashMap::new();
        for open in self.open.values().filter(|open| open.access == Access::Usual && open.waits.is_some()) {
            *waiting.entry(open.origin).or_default() += 1;
        }
        let Some(most) = waiting.values().max().copied() else { return false };
        self.end_oldest(|open| open.access == Access::Usual && waiting.get(&open.origin) == Some(&most))
    }

    /// Evicts the longest waiting of these connections; returns whether there was one.
    fn end_oldest(&mut self, of: impl Fn(&Open) -> bool) -> bool {
        let waiting = self.open.iter().filter(|(_, open)| of(open));
        let oldest = waiting.filter_map(|(number, open)| Some((open.waits?, *number))).min();
        let Some(ended) = oldest.and_then(|(_, number)| self.open.remove(&number)) else { return false };
        ended.end.cancel();
        true
    }
}

/// The slot of one connection, until it is dropped.
pub(crate) struct Place {
    number: u64,
    /// What may be requested on it.
    pub(crate) access: Access,
    /// Cancelled when the slot is given to another connection.
    pub(crate) end: CancellationToken,
    places: Places,
}

impl Place {
    /// Marks the connection as being answered until the returned value is dropped.
    pub(crate) fn answer(&self) -> Answering {
        if let Some(open) = self.places.inner().open.get_mut(&self.number) {
            open.waits = None;
        }
        Answering { number: self.number, places: self.places.clone() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.inner().open.remove(&self.number);
    }
}

/// A request that is being answered.
pub(crate) struct Answering {
    number: u64,
    places: Places,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut inner = self.places.inner();
        inner.now += 1;
        let now = inner.now;
        if let Some(open) = inner.open.get_mut(&self.number) {
            open.waits = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(usual: usize, of_address: usize, kept: usize) -> Places {
        Places::new(Most { usual, of_address, kept })
    }

    /// Opens connections from these addresses, one after the other.
    fn take(places: &Places, addresses: &[&str]) -> Vec<Option<Place>> {
        addresses.iter().map(|address| places.take(address.parse().unwrap_or_else(|_| panic!("{address}")))).collect()
    }

    fn accesses(taken: &[Option<Place>]) -> Vec<Option<Access>> {
        taken.iter().map(|place| place.as_ref().map(|place| place.access)).collect()
    }

    /// Returns the indices of evicted connections.
    fn ended(taken: &[Option<Place>]) -> Vec<usize> {
        (0..taken.len()).filter(|at| taken[*at].as_ref().is_some_and(|place| place.end.is_cancelled())).collect()
    }

    #[test]
    fn whoever_has_the_most_waiting_gives_way_and_the_oldest_first() {
        let places = places(4, 4, 1);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
        assert!(accesses(&taken).iter().all(|access| *access == Some(Access::Usual)));
        assert_eq!(ended(&taken), [1, 2]);
    }

    #[test]
    fn an_address_has_its_share_and_takes_from_itself() {
        let places = places(9, 2, 1);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2"]);
        assert_eq!(ended(&taken), [1]);
        // Connections that are being answered, and those of other addresses, are not evicted.
        let _answers: Vec<Answering> = taken[2..].iter().flatten().map(Place::answer).collect();
        let more = take(&places, &["10.0.0.2", "10.0.0.3"]);
        assert_eq!(accesses(&more), [Some(Access::OfAddress), Some(Access::Usual)]);
    }

    #[test]
    fn when_all_are_answered_the_kept_places_go_round() {
        let places = places(2, 2, 2);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2"]);
        let answers: Vec<Answering> = taken.iter().flatten().map(Place::answer).collect();
        let more = take(&places, &["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
        assert_eq!(accesses(&more), [Some(Access::Full); 3]);
        assert_eq!((ended(&taken), ended(&more)), (vec![], vec![0]));
        drop(answers);
        assert_eq!(accesses(&take(&places, &["10.0.0.6"])), [Some(Access::Usual)]);
        assert_eq!(ended(&taken), [0]);
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_ends() {
        let places = places(1, 1, 1);
        for _ in 0..3 {
            let taken = take(&places, &["::ffff:10.0.0.1"]);
            assert_eq!((accesses(&taken), ended(&taken)), (vec![Some(Access::Usual)], vec![]));
        }
        assert!(places.inner().open.is_empty());
    }

    #[test]
    fn one_machine_has_one_network_of_version_6() {
        let places = places(9, 1, 1);
        let taken = take(&places, &["2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1"]);
        assert_eq!(ended(&taken), [0]);
        let same = take(&places, &["::ffff:10.0.0.1", "10.0.0.1"]);
        assert_eq!(ended(&same), [0]);
    }
}
