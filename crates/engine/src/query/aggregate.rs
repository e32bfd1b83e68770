//! Aggregates over several tables, side by side. Each is computed by itself, over its own rows, and only then put beside the
//! others, so that a row of one is never counted for another.
//!
//! Aggregates are stacked with `UNION ALL` and folded by their dimensions, which keeps rows without a value and works in every dialect.

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
