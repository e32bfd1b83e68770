//! Operations sent as POST that the catalog declares read-only, such as searches: the key `reads`.

use prospector_api::{Api, Operation, model::Access};
use prospector_core::Problem;
use prospector_core::name::nearest;

use crate::catalog::{entry::is_match, section::Opening};

/// Maximum number of suggestions for an unknown name.
const MAX_SUGGESTED: usize = 3;

/// Why a name of `reads` marks no operation.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ReadsError {
    /// No operation has that name.
    #[error("`reads`: unknown operation `{wanted}`")]
    Unknown {
        /// The name as written.
        wanted: String,
        /// The closest names of operations.
        near: Vec<String>,
    },
    /// The method of the operation already implies its access, or it has no method.
    #[error("`reads`: `{name}` is {method}; only POST operations can be declared read-only")]
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
            ReadsError::Unknown { .. } | ReadsError::OtherMethod { .. } => "remove it from `reads`".to_owned(),
        }
    }
}

/// Marks the operations named by `reads` as read-only, and reports unknown names. Marks are set after loading and not stored with the
/// description, so that a change of `reads` does not require reading it again.
pub(super) fn mark_reads(apis: &mut [Api], reads: &[(String, u64)], opening: &mut Opening<'_>) {
    // Without a loaded description, names cannot be checked.
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

/// Marks the operations that match one name, route or pattern.
///
/// # Errors
/// If no matching operation is read-only afterwards.
fn mark(apis: &mut [Api], wanted: &str) -> Result<(), ReadsError> {
    let (mut has_reading, mut other) = (false, None);
    for operation in apis.iter_mut().flat_map(|api| &mut api.operations) {
        if !is_meant(operation, wanted) {
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

/// Returns whether a name, a `METHOD /path` or a pattern of names matches this operation.
fn is_meant(operation: &Operation, wanted: &str) -> bool {
    is_match(wanted, &operation.name) || operation.is_route(wanted)
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
        // The name in `reads`; the operations it makes read-only; the problem.
        for (wanted, marked, problem) in [
            ("searchOrders", "searchOrders", ""),
            ("POST /orders/search", "searchOrders", ""),
            ("search*", "searchOrders searchPeople", ""),
            ("*Orders", "searchOrders", ""),
            // Of the matches of a pattern, only POST operations are marked.
            ("*", "createOrder searchOrders searchPeople", ""),
            ("listOrders", "", ""),
            ("searchorders", "", "unknown operation `searchorders` (did you mean searchOrders"),
            ("serch*", "", "unknown operation `serch*` (did you mean "),
            ("[*", "", "unknown operation `[*`"),
            ("deleteOrder", "", "`deleteOrder` is DELETE; only"),
            ("delete*", "", "`deleteOrder` is DELETE; only"),
            ("ratePlay", "", "`ratePlay` is MUTATION; only"),
            ("close_issue", "", "`close_issue` is CALL; only"),
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
