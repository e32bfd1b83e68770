//! Machine-readable causes of failed operations. The messages of a source may be in any language.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use serde::{Deserialize, Serialize};

/// The cause of a failed operation on a data source, as far as a code of the source or the kind of an error reveals it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// None of the others, or the source provides no code.
    #[default]
    Other,
    /// A time limit was reached.
    TimedOut,
    /// The server cannot be reached, the connection was lost, or the server is shutting down.
    Gone,
    /// Another process holds a lock on the file.
    Locked,
    /// A limit on memory, temporary files or complexity was reached.
    Memory,
    /// The result exceeds a size limit.
    TooLarge,
    /// The table does not exist or must not be read.
    UnknownTable,
    /// The column does not exist.
    UnknownColumn,
    /// The function does not exist, or not for arguments of these types.
    UnknownFunction,
    /// A value has the wrong type.
    TypeMismatch,
    /// A number does not fit the type of its column or of the result.
    OutOfRange,
    /// The text is not a valid statement.
    Syntax,
    /// The account lacks permission, or the statement is not read-only.
    Refused,
}

impl Cause {
    /// Returns the cause of a DataFusion error, by its variants.
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
            // The context is the name of an analyzer rule; this one coerces types for comparisons and arithmetic.
            DataFusionError::Context(rule, error) => match Cause::of_datafusion(error) {
                Cause::Other if rule == "type_coercion" => Cause::TypeMismatch,
                cause => cause,
            },
            DataFusionError::Diagnostic(_, error) => Cause::of_datafusion(error),
            DataFusionError::Collection(errors) => errors.first().map_or(Cause::Other, Cause::of_datafusion),
            DataFusionError::Shared(error) => Cause::of_datafusion(error),
            // The variant does not distinguish type errors.
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

    /// Returns the cause of an error of the operating system.
    pub fn of_io(error: &io::Error) -> Cause {
        match error.kind() {
            io::ErrorKind::TimedOut => Cause::TimedOut,
            io::ErrorKind::OutOfMemory | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Cause::Memory,
            _ => Cause::Other,
        }
    }
}

/// Whether planning failed because of types. DataFusion has one variant for all invalid queries, so the message of the
/// compiled-in version is inspected; it is not localised.
fn is_of_types(reason: &str) -> bool {
    ["No function matches", "Cannot coerce", "Cannot infer common", "coercion"].iter().any(|part| reason.contains(part))
}

/// Whether a cast failed because a number is out of range, according to the message of the compiled-in version of Arrow.
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
    async fn maps_datafusion_errors_to_causes() {
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
    fn maps_resource_exhaustion_to_memory() {
        let error = DataFusionError::ResourcesExhausted("x".to_owned()).context("y");
        assert_eq!(Cause::of_datafusion(&error), Cause::Memory);
    }
}
