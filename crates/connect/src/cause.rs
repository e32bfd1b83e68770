//! Why an act on a data source failed, for a program. What a source says in words may be in any language.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use serde::{Deserialize, Serialize};

/// The cause of a failed operation on a data source, as far as a code of the source or the kind of an error reveals it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// None of the others, or the source gives no code.
    #[default]
    Other,
    /// A time limit was reached.
    TimedOut,
    /// The server cannot be reached, the connection was lost, or the server is shutting down.
    Gone,
    /// A limit of memory, temporary files or complexity was reached.
    Memory,
    /// There is more than may be read at once.
    TooLarge,
    /// There is no such table, or none that may be read.
    UnknownTable,
    /// There is no such column.
    UnknownColumn,
    /// There is no such function, or none for values of these types.
    UnknownFunction,
    /// A value is not of the type that is needed.
    TypeMismatch,
    /// A number does not fit the type of its column or of the result.
    OutOfRange,
    /// The text is not a statement.
    Syntax,
    /// The account may not do this, or it is not reading.
    Refused,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 12] = [
        Cause::Other,
        Cause::TimedOut,
        Cause::Gone,
        Cause::Memory,
        Cause::TooLarge,
        Cause::UnknownTable,
        Cause::UnknownColumn,
        Cause::UnknownFunction,
        Cause::TypeMismatch,
        Cause::OutOfRange,
        Cause::Syntax,
        Cause::Refused,
    ];

    /// The cause of an error of DataFusion, by its variants.
    pub fn of_datafusion(error: &DataFusionError) -> Cause {
        match error {
            DataFusionError::ArrowError(error, _) => Cause::of_arrow(error),
            DataFusionError::IoError(error) => Cause::of_io(error),
            DataFusionError::SQL(..) => Cause::Syntax,
            DataFusionError::ResourcesExhausted(_) => Cause::Memory,
            DataFusionError::SchemaError(error, _) => match error.as_ref() {
                SchemaError::FieldNotFound { .. } => Cause::UnknownColumn,
                SchemaError::AmbiguousReference { .. }
                | SchemaError::DuplicateQualifiedField { .. }
                | SchemaError::DuplicateUnqualifiedField { .. } => Cause::Other,
            },
            // The rules of the analyzer have names; this one finds a common type for what is compared or computed.
            DataFusionError::Context(rule, error) => match Cause::of_datafusion(error) {
                Cause::Other if rule == "type_coercion" => Cause::TypeMismatch,
                cause => cause,
            },
            DataFusionError::Diagnostic(_, error) => Cause::of_datafusion(error),
            DataFusionError::Collection(errors) => errors.first().map_or(Cause::Other, Cause::of_datafusion),
            DataFusionError::Shared(error) => Cause::of_datafusion(error),
            // Whether it is of types is not told by the variant.
            DataFusionError::Plan(reason) if is_of_types(reason) => Cause::TypeMismatch,
            DataFusionError::External(error) => {
                error.downcast_ref::<DataFusionError>().map_or(Cause::Other, Cause::of_datafusion)
            }
            _ => Cause::Other,
        }
    }

    fn of_arrow(error: &ArrowError) -> Cause {
        match error {
            ArrowError::ArithmeticOverflow(_) => Cause::OutOfRange,
            ArrowError::CastError(reason) | ArrowError::InvalidArgumentError(reason) if is_out_of_range(reason) => {
                Cause::OutOfRange
            }
            ArrowError::CastError(_) | ArrowError::ParseError(_) => Cause::TypeMismatch,
            ArrowError::MemoryError(_) => Cause::Memory,
            ArrowError::IoError(_, error) => Cause::of_io(error),
            ArrowError::ExternalError(error) => {
                error.downcast_ref::<DataFusionError>().map_or(Cause::Other, Cause::of_datafusion)
            }
            _ => Cause::Other,
        }
    }

    /// The cause of an error of the operating system.
    pub fn of_io(error: &io::Error) -> Cause {
        match error.kind() {
            io::ErrorKind::TimedOut => Cause::TimedOut,
            io::ErrorKind::OutOfMemory | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Cause::Memory,
            _ => Cause::Other,
        }
    }
}

/// Whether planning failed over types. DataFusion has one variant for everything that is wrong with a query; its words are
/// those of the version that is compiled in, and are the same in every language.
fn is_of_types(reason: &str) -> bool {
    ["No function matches", "Cannot coerce", "Cannot infer common", "coercion"].iter().any(|part| reason.contains(part))
}

/// Whether a cast failed over the size of a number, in the words of the version of Arrow that is compiled in.
fn is_out_of_range(reason: &str) -> bool {
    ["is out of range", "Overflowing on", "to store in a Decimal"].iter().any(|part| reason.contains(part))
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;

    async fn check(sql: &str, expected: Cause) {
        let computed = async { SessionContext::new().sql(sql).await?.collect().await };
        let error = computed.await.unwrap_err();
        assert_eq!(Cause::of_datafusion(&error), expected, "{sql}: {error:?}");
    }

    #[tokio::test]
    async fn an_error_of_datafusion_has_a_cause() {
        check("SELECT nosuch FROM (SELECT 1 AS one) t", Cause::UnknownColumn).await;
        check("SELECT one + 'x' FROM (SELECT 1 AS one) t", Cause::TypeMismatch).await;
        check("SELECT one FROM (SELECT 1 AS one) t WHERE one > 'x'", Cause::TypeMismatch).await;
        check("SELECT one + ok FROM (SELECT 1 AS one, true AS ok) t", Cause::TypeMismatch).await;
        check(
            "SELECT CAST(CAST(n AS DECIMAL(38, 0)) * n AS BIGINT) FROM (VALUES (9223372036854775807)) t(n)",
            Cause::OutOfRange,
        )
        .await;
        check(
            "SELECT CAST(d AS DECIMAL(38, 0)) * d FROM (VALUES (CAST('10000000000000000000000000000000000000' AS DECIMAL(38, 0)))) t(d)",
            Cause::OutOfRange,
        )
        .await;
        check("SELECT CAST(n AS BIGINT) FROM (VALUES ('x')) t(n)", Cause::TypeMismatch).await;
        check("SELEC 1", Cause::Syntax).await;
    }

    #[test]
    fn an_exhausted_budget_is_of_memory() {
        let error = DataFusionError::ResourcesExhausted("x".to_owned()).context("y");
        assert_eq!(Cause::of_datafusion(&error), Cause::Memory);
    }
}
