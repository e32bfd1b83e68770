//! The segments that a query names, and the columns that identify their members.

use super::member::Membership;
use super::request::{AggregateQuery, Place, Segment};
use super::scope::Scope;
use crate::Failure;
use crate::build::{invalid, join_tables};

/// Returns the table whose columns identify the members of a segment among the rows of `root`. Columns that reference the key
/// are used instead of the key where possible.
///
/// # Errors
/// - If a name is unknown.
/// - If no path connects the table of the segment, or several equally good ones do.
pub(super) fn find_membership(
    scope: &Scope<'_>,
    query: &AggregateQuery,
    root: usize,
    segment: &Segment,
    via: &[String],
) -> Result<(usize, Membership), Failure> {
    let base = scope.table(&segment.table)?;
    let key: Vec<String> =
        segment.key.iter().map(|name| Ok(scope.column(base, name)?.name.clone())).collect::<Result<_, Failure>>()?;
    if key.is_empty() {
        return Err(invalid(format!("`{}` has no key to identify members", segment.table))
            .advise("declare its `key` in the catalog"));
    }
    let tree = join_tables(&scope.relations, root, &[base], via)?;
    let referring = tree.steps.last().filter(|step| step.to == base && step.refers).and_then(|step| {
        let of = |column: &String| {
            let pair = step.pairs.iter().find(|(_, to)| to.eq_ignore_ascii_case(column));
            pair.map(|(from, _)| from.clone())
        };
        Some((step.from, key.iter().map(of).collect::<Option<Vec<_>>>()?))
    });
    let (base, columns) = referring.unwrap_or((base, key));
    let at = list_segments(query).iter().position(|known| *known == segment).unwrap_or_default();
    Ok((base, Membership { segment: segment.clone(), at, columns }))
}

/// Lists the distinct segments that a query names.
pub(super) fn list_segments(query: &AggregateQuery) -> Vec<&Segment> {
    let dimensions = query.dimensions.iter().chain(query.filters.iter().map(|filter| &filter.dimension));
    let members = dimensions.flat_map(|dimension| &dimension.places).filter_map(|place| match place {
        Place::Member(segment) => Some(segment),
        Place::Value { .. } => None,
    });
    let mut found: Vec<&Segment> = Vec::new();
    for segment in query.segments.iter().chain(members) {
        if !found.contains(&segment) {
            found.push(segment);
        }
    }
    found
}
