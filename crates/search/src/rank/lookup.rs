//! Finds lookup operations: `GET /person/{person_id}/credits` requires `GET /search/person`, which the question does
//! not mention.

use std::collections::HashMap;

use crate::{
    SearchError,
    analyze::{Style, terms},
    index::Snapshot,
};
use prospector_core::Kind;
use prospector_text::identifiers::SEARCH_WORDS;

/// Score distance of a lookup behind the operation that needs it.
const BEHIND: f32 = 0.025;

/// Maximum number of lookups per id.
const MAX_PRODUCERS: usize = 3;

/// An operation, by route.
struct Route {
    place: usize,
    method: String,
    segments: Vec<String>,
}

impl Route {
    fn parse(place: usize, route: &str) -> Option<Route> {
        let (method, path) = route.split_once(' ')?;
        let path = path.split('?').next().unwrap_or_default();
        let segments = path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
        Some(Route { place, method: method.to_uppercase(), segments })
    }

    fn is_parameter(segment: &str) -> bool {
        segment.contains('{')
    }

    fn searches(&self) -> bool {
        let path = self.segments.join("/").to_lowercase();
        SEARCH_WORDS.iter().any(|word| path.contains(word))
    }

    /// Returns the resource of its outermost id: `person` of `/person/{person_id}/credits`.
    fn needs(&self) -> Option<String> {
        let at = self.segments.iter().position(|segment| Route::is_parameter(segment))?;
        terms(self.segments.get(at.checked_sub(1)?)?, Style::Prose).pop()
    }
}

/// Moves lookups right behind the best operations that need them.
pub(super) fn pull(snapshot: &Snapshot, scores: &mut [(f32, usize)], pulling: usize) -> Result<(), SearchError> {
    let kind_index = snapshot.kind_index(Kind::Operation);
    let mut known: HashMap<u32, HashMap<String, Vec<usize>>> = HashMap::new();
    let mut raised: HashMap<usize, f32> = HashMap::new();
    for (score, place) in scores.iter().take(pulling) {
        let doc = &kind_index.docs[*place];
        let route = snapshot.lexical.route(&snapshot.searcher, doc.address)?;
        let Some(needed) = Route::parse(*place, &route).and_then(|route| route.needs()) else { continue };
        let producers = match known.entry(doc.parent) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(producers(snapshot, doc.parent)?),
        };
        for producer in
            producers.get(&needed).into_iter().flatten().filter(|producer| *producer != place).take(MAX_PRODUCERS)
        {
            let best = raised.entry(*producer).or_insert(f32::MIN);
            *best = best.max(score - BEHIND);
        }
    }
    for (score, place) in scores {
        if let Some(better) = raised.get(place) {
            *score = score.max(*better);
        }
    }
    Ok(())
}

/// Returns the operations of an API that return ids, by resource: those that search for it, otherwise those that list
/// it.
fn producers(snapshot: &Snapshot, parent: u32) -> Result<HashMap<String, Vec<usize>>, SearchError> {
    let kind_index = snapshot.kind_index(Kind::Operation);
    let mut searching: HashMap<String, Vec<usize>> = HashMap::new();
    let mut listing: HashMap<String, Vec<usize>> = HashMap::new();
    for place in &kind_index.parents[parent as usize].members {
        let place = *place as usize;
        let route = snapshot.lexical.route(&snapshot.searcher, kind_index.docs[place].address)?;
        let Some(route) = Route::parse(place, &route) else { continue };
        let has_parameter = route.segments.iter().any(|segment| Route::is_parameter(segment));
        if route.method != "GET" || has_parameter {
            continue;
        }
        if route.searches() {
            // `/search/person` returns persons.
            for term in route.segments.iter().flat_map(|segment| terms(segment, Style::Prose)) {
                searching.entry(term).or_default().push(route.place);
            }
        } else if let Some(term) = route.segments.last().and_then(|segment| terms(segment, Style::Prose).pop()) {
            // `/users` returns users.
            listing.entry(term).or_default().push(route.place);
        }
    }
    for (term, places) in listing {
        searching.entry(term).or_insert(places);
    }
    Ok(searching)
}
