//! The sets that a query names, and which columns say that a row belongs to one.

use super::member::Membership;
use super::request::{AggregateQuery, Place, Segment};
use super::scope::Scope;
use crate::Failure;
use crate::build::{invalid, join_tables};

/// The table whose columns say whether a row of `root` belongs to a set, and how: columns that refer to the key hold it, too.
///
/// # Errors
/// An unknown name, and where no way leads to the table of the set, or several that are as good.
pub(super) fn find_membership(
    scope: &Scope<'_>,
    query: &AggregateQuery,
    root: usize,
    segment: &Segment,
    via: &[String],
) -> Result<(usize, Membership), Failure> {
    let home = scope.table(&segment.table)?;
    let key: Vec<String> =
        segment.key.iter().map(|name| Ok(scope.column(home, name)?.name.clone())).collect::<Result<_, Failure>>()?;
    if key.is_empty() {
        return Err(invalid(format!("`{}` has no key to tell members by", segment.table))
            .advise("declare its `key` in the catalog"));
    }
    let tree = join_tables(&scope.relations, root, &[home], via)?;
    let referring = tree.steps.last().filter(|step| step.to == home && step.refers).and_then(|step| {
        let of = |column: &String| {
            let pair = step.pairs.iter().find(|(_, to)| to.eq_ignore_ascii_case(column));
            pair.map(|(from, _)| from.clone())
        };
        Some((step.from, key.iter().map(of).collect::<Option<Vec<_>>>()?))
    });
    let (home, columns) = referring.unwrap_or((home, key));
    let at = list_segments(query).iter().position(|known| *known == segment).unwrap_or_default();
    Ok((home, Membership { segment: segment.clone(), at, columns }))
}

/// All sets that a query names, each once.
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
