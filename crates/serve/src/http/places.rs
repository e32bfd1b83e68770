//! The places for connections: who has one, who gives one up when there is none left, and which are kept for health checks.
//!
//! A connection *waits* until the head of a request has come, and again from the end of the answer to the next head. Whoever
//! waits gives up its place when another wants it: the oldest of the address that has the most waiting. So heads that never
//! end delay nobody. When nobody waits, or an address has as many places as one may have, a connection gets one of the places
//! that are kept: there only health is told, everything else is asked to come again. Those never run out, since what has a
//! kept place only ever waits or is answered at once.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// How many places there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// For connections on which everything can be asked.
    pub(crate) usual: usize,
    /// Those of them that one address may have.
    pub(crate) of_address: usize,
    /// Beside them, for connections on which health is told.
    pub(crate) kept: usize,
}

/// What can be asked on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Everything.
    Usual,
    /// Health: all usual places are taken by connections that are being answered.
    Full,
    /// Health: this address has as many places as one may have.
    OfAddress,
}

/// Where a connection comes from: an address of version 4, or the network of one of version 6, of which one machine may
/// have any number.
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
    standing: Standing,
    /// Since when it waits, as a number that grows; nothing while it is answered.
    waits: Option<u64>,
    end: CancellationToken,
}

#[derive(Default)]
struct Inner {
    /// Grows with whatever happens.
    now: u64,
    open: BTreeMap<u64, Open>,
}

/// All places.
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

    /// A place for a connection from this address, which waits from now on. Nothing where even the kept places are all in
    /// use at this moment.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Place> {
        let origin = Origin::of(address);
        let mut inner = self.inner();
        let usual = |open: &Open| open.standing == Standing::Usual;
        let count =
            |inner: &Inner, counts: &dyn Fn(&Open) -> bool| inner.open.values().filter(|open| counts(open)).count();
        let of_address = |open: &Open| usual(open) && open.origin == origin;
        let is_full = count(&inner, &usual) >= self.most.usual;
        // An address that has its share takes from itself alone.
        let standing = if count(&inner, &of_address) >= self.most.of_address {
            match inner.end_oldest(of_address) {
                true => Standing::Usual,
                false if is_full => Standing::Full,
                false => Standing::OfAddress,
            }
        } else if is_full && !inner.end_one() {
            Standing::Full
        } else {
            Standing::Usual
        };
        let kept = |open: &Open| open.standing != Standing::Usual;
        if standing != Standing::Usual && count(&inner, &kept) >= self.most.kept && !inner.end_oldest(kept) {
            return None;
        }
        inner.now += 1;
        let (number, end) = (inner.now, CancellationToken::new());
        inner.open.insert(number, Open { origin, standing, waits: Some(number), end: end.clone() });
        Some(Place { number, standing, end, places: self.clone() })
    }

    /// Ends a connection that waits, for want of something that it holds; whether there was one.
    pub(crate) fn make_room(&self) -> bool {
        self.inner().end_one()
    }
}

impl Inner {
    /// Ends the usual connection that waits longest, of those of the address that has the most of them.
    fn end_one(&mut self) -> bool {
        let mut waiting: HashMap<Origin, usize> = HashMap::new();
        for open in self.open.values().filter(|open| open.standing == Standing::Usual && open.waits.is_some()) {
            *waiting.entry(open.origin).or_default() += 1;
        }
        let Some(most) = waiting.values().max().copied() else { return false };
        self.end_oldest(|open| open.standing == Standing::Usual && waiting.get(&open.origin) == Some(&most))
    }

    /// Ends the one of these that waits longest; whether there was one.
    fn end_oldest(&mut self, of: impl Fn(&Open) -> bool) -> bool {
        let waiting = self.open.iter().filter(|(_, open)| of(open));
        let oldest = waiting.filter_map(|(number, open)| Some((open.waits?, *number))).min();
        let Some(ended) = oldest.and_then(|(_, number)| self.open.remove(&number)) else { return false };
        ended.end.cancel();
        true
    }
}

/// The place of one connection, until it is dropped.
pub(crate) struct Place {
    number: u64,
    /// What can be asked on it.
    pub(crate) standing: Standing,
    /// Set when the place is given to another.
    pub(crate) end: CancellationToken,
    places: Places,
}

impl Place {
    /// A request has come: the place is kept until what this gives is dropped.
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

    /// Connections from these addresses, one after the other.
    fn take(places: &Places, addresses: &[&str]) -> Vec<Option<Place>> {
        addresses.iter().map(|address| places.take(address.parse().unwrap_or_else(|_| panic!("{address}")))).collect()
    }

    fn standings(taken: &[Option<Place>]) -> Vec<Option<Standing>> {
        taken.iter().map(|place| place.as_ref().map(|place| place.standing)).collect()
    }

    /// Which of them had to go.
    fn ended(taken: &[Option<Place>]) -> Vec<usize> {
        (0..taken.len()).filter(|at| taken[*at].as_ref().is_some_and(|place| place.end.is_cancelled())).collect()
    }

    #[test]
    fn whoever_has_the_most_waiting_gives_way_and_the_oldest_first() {
        let places = places(4, 4, 1);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
        assert!(standings(&taken).iter().all(|standing| *standing == Some(Standing::Usual)));
        assert_eq!(ended(&taken), [1, 2]);
    }

    #[test]
    fn an_address_has_its_share_and_takes_from_itself() {
        let places = places(9, 2, 1);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2"]);
        assert_eq!(ended(&taken), [1]);
        // One that is being answered is not ended; nor is that of another address.
        let _answers: Vec<Answering> = taken[2..].iter().flatten().map(Place::answer).collect();
        let more = take(&places, &["10.0.0.2", "10.0.0.3"]);
        assert_eq!(standings(&more), [Some(Standing::OfAddress), Some(Standing::Usual)]);
    }

    #[test]
    fn when_all_are_answered_the_kept_places_go_round() {
        let places = places(2, 2, 2);
        let taken = take(&places, &["10.0.0.1", "10.0.0.2"]);
        let answers: Vec<Answering> = taken.iter().flatten().map(Place::answer).collect();
        let more = take(&places, &["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
        assert_eq!(standings(&more), [Some(Standing::Full); 3]);
        assert_eq!((ended(&taken), ended(&more)), (vec![], vec![0]));
        drop(answers);
        assert_eq!(standings(&take(&places, &["10.0.0.6"])), [Some(Standing::Usual)]);
        assert_eq!(ended(&taken), [0]);
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_ends() {
        let places = places(1, 1, 1);
        for _ in 0..3 {
            let taken = take(&places, &["::ffff:10.0.0.1"]);
            assert_eq!((standings(&taken), ended(&taken)), (vec![Some(Standing::Usual)], vec![]));
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
