//! Operations that the catalog declares to change nothing although they are sent as POST, such as searches: the key `reads`.

use globset::GlobMatcher;
use prospector_api::{Api, Operation, model::Access};
use prospector_core::Problem;
use prospector_core::name::nearest;

use crate::catalog::section::Opening;

/// Up to this many names are suggested for an unknown one.
const MAX_SUGGESTED: usize = 3;

/// Why a name of `reads` marks nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ReadsError {
    /// No operation has that name.
    #[error("`reads`: unknown operation `{wanted}`")]
    Unknown {
        /// The name as it is written.
        wanted: String,
        /// The nearest names of operations.
        near: Vec<String>,
    },
    /// The method of the operation says already that it writes, or it has none.
    #[error("`reads`: `{name}` is {method}, and only operations sent as POST can be declared to read")]
    OtherMethod {
        /// The operation.
        name: String,
        /// Its method.
        method: String,
    },
}

impl ReadsError {
    fn advise(&self) -> String {
        match self {
            ReadsError::Unknown { near, .. } if !near.is_empty() => format!("did you mean {}?", near.join(", ")),
            ReadsError::Unknown { .. } | ReadsError::OtherMethod { .. } => "take it out of `reads`".to_owned(),
        }
    }
}

/// Marks the operations of an entry's APIs that its `reads` name, and reports names without such an operation. Marks are set
/// after loading and never stored with the description, so that a change of `reads` needs no description to be read again.
pub(super) fn mark_reads(apis: &mut [Api], reads: &[(String, u64)], opening: &mut Opening<'_>) {
    // Where no description could be loaded, no name can be checked.
    if apis.is_empty() {
        return;
    }
    for (wanted, line) in reads {
        if let Err(error) = mark(apis, wanted) {
            let place = opening.place(*line);
            opening.problems.push(Problem::warning(place, error.to_string()).advise(error.advise()));
        }
    }
}

/// Marks the operations that one name, route or pattern means.
///
/// # Errors
/// [`ReadsError`] when none of them reads then.
fn mark(apis: &mut [Api], wanted: &str) -> Result<(), ReadsError> {
    let pattern = compile(wanted);
    let (mut has_reading, mut other) = (false, None);
    for operation in apis.iter_mut().flat_map(|api| &mut api.operations) {
        if !is_meant(operation, wanted, pattern.as_ref()) {
            continue;
        }
        operation.changes_nothing = operation.method.eq_ignore_ascii_case("POST");
        match operation.access() {
            Some(Access::Reads) => has_reading = true,
            Some(Access::Writes) | None => {
                other = other.or_else(|| Some((operation.name.clone(), operation.method.clone())));
            }
        }
    }
    match (has_reading, other) {
        (true, _) => Ok(()),
        (false, Some((name, method))) => Err(ReadsError::OtherMethod { name, method }),
        (false, None) => {
            let names = apis.iter().flat_map(|api| &api.operations).map(|operation| operation.name.as_str());
            Err(ReadsError::Unknown { wanted: wanted.to_owned(), near: nearest(wanted, names, MAX_SUGGESTED) })
        }
    }
}

/// What matches the names of a pattern; `None` for a plain name or route.
fn compile(wanted: &str) -> Option<GlobMatcher> {
    let glob = wanted.contains('*').then(|| globset::Glob::new(wanted).ok())??;
    Some(glob.compile_matcher())
}

/// Whether a name, a `METHOD /path` or a pattern of names means this operation.
fn is_meant(operation: &Operation, wanted: &str, pattern: Option<&GlobMatcher>) -> bool {
    operation.name == wanted
        || operation.is_route(wanted)
        || pattern.is_some_and(|pattern| pattern.is_match(&operation.name))
}

#[cfg(test)]
mod tests {
    use prospector_api::ApiSource;

    use super::*;

    const SHOP: &str = "openapi: 3.0.0
paths:
  /orders: {get: {operationId: listOrders}, post: {operationId: createOrder}}
  /orders/search: {post: {operationId: searchOrders}}
  /orders/{id}: {delete: {operationId: deleteOrder}}
  /people/search: {post: {operationId: searchPeople}}
";

    fn apis() -> Vec<Api> {
        let read = |name: &str, text: &str| ApiSource::new(name, "").read(text).unwrap().0;
        vec![
            read("shop", SHOP),
            read("music", "type Query { tracks: Int } type Mutation { ratePlay: Int }"),
            read("tracker", r#"{"tools": [{"name": "close_issue", "inputSchema": {}}]}"#),
        ]
    }

    #[test]
    fn declared_operations_read_and_others_are_reported() {
        // What `reads` names; which operations read then that did not before; the problem.
        for (wanted, marked, problem) in [
            ("searchOrders", "searchOrders", ""),
            ("POST /orders/search", "searchOrders", ""),
            ("search*", "searchOrders searchPeople", ""),
            ("*Orders", "searchOrders", ""),
            // Of what a pattern matches only what is sent as POST is marked.
            ("*", "createOrder searchOrders searchPeople", ""),
            ("listOrders", "", ""),
            ("searchorders", "", "unknown operation `searchorders` (did you mean searchOrders"),
            ("serch*", "", "unknown operation `serch*` (did you mean "),
            ("[*", "", "unknown operation `[*`"),
            ("deleteOrder", "", "`deleteOrder` is DELETE, and only"),
            ("delete*", "", "`deleteOrder` is DELETE, and only"),
            ("ratePlay", "", "`ratePlay` is MUTATION, and only"),
            ("close_issue", "", "`close_issue` is CALL, and only"),
        ] {
            let mut apis = apis();
            let marked_now = mark(&mut apis, wanted);
            let said = marked_now.map_or_else(|error| format!("{error} ({})", error.advise()), |()| String::new());
            let before = self::apis();
            let operations = apis.iter().flat_map(|api| &api.operations);
            let changed = operations.zip(before.iter().flat_map(|api| &api.operations));
            let mut found: Vec<&str> = changed
                .filter(|(now, before)| now.access() != before.access())
                .inspect(|(now, _)| assert_eq!(now.access(), Some(Access::Reads), "{wanted}"))
                .map(|(now, _)| now.name.as_str())
                .collect();
            found.sort_unstable();
            assert_eq!(found.join(" "), marked, "{wanted}");
            assert!(said.contains(problem) && said.is_empty() == problem.is_empty(), "{wanted}: {said}");
        }
    }
}
