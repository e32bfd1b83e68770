//! What other tools declare, as declarations of a catalog.

mod dbt;

pub use dbt::read_dbt;
