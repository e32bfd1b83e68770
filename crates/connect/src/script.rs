//! Scripts of SQL: their statements, and the line on which each begins.

pub use crate::ddl::{Statement, statements};
