//! Aggregates over several tables, joined by their dimensions. Each aggregate is computed separately over its own rows before
//! they are combined, so that no row of one counts for another.
//!
//! Aggregates are stacked with `UNION ALL` and folded by their dimensions, which keeps rows without a value and works in every
//! dialect.

mod clock;
mod compile;
mod expression;
mod fiscal;
mod keys;
mod member;
mod part;
mod period;
mod request;
mod scope;
mod segment;
mod write;
mod zone;

pub use compile::read_formula;
pub use expression::{ExpressionName, read_expression};
pub use fiscal::FiscalYear;
pub use period::Grain;
pub use request::{
    Aggregate, AggregateQuery, DimensionFilter, Formula, GroupedDimension, Members, NamedJoin, NamedTable,
    OutputColumn, OverTime, Place, Segment, SegmentQuery, Span, StoredIn,
};
pub use zone::TimeZone;
