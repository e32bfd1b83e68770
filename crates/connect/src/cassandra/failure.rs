//! Causes of failed statements, from the driver's errors and the cluster's codes.

use scylla::errors::{DbError, DeserializationError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::response::query_result::{IntoRowsResultError, RowsError};

use crate::cause::Cause;

/// A failure between a statement and its rows.
#[derive(Debug, thiserror::Error)]
pub(super) enum StatementError {
    /// The statement could not be prepared.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The statement could not be executed.
    #[error(transparent)]
    Execute(#[from] ExecutionError),
    /// The response contains no rows.
    #[error(transparent)]
    NoRows(#[from] IntoRowsResultError),
    /// The rows have unexpected types.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// A row could not be decoded.
    #[error(transparent)]
    Row(#[from] DeserializationError),
}

impl StatementError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            StatementError::Prepare(error) => of_preparation(error),
            StatementError::Execute(error) => match error {
                ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => Cause::Gone,
                ExecutionError::RequestTimeout(_) => Cause::TimedOut,
                ExecutionError::PrepareError(error) => of_preparation(error),
                ExecutionError::LastAttemptError(error) => of_attempt(error),
                _ => Cause::Other,
            },
            StatementError::NoRows(_) | StatementError::Rows(_) | StatementError::Row(_) => Cause::Other,
        }
    }
}

fn of_preparation(error: &PrepareError) -> Cause {
    match error {
        PrepareError::ConnectionPoolError(_) => Cause::Gone,
        PrepareError::AllAttemptsFailed { first_attempt } => of_attempt(first_attempt),
        _ => Cause::Other,
    }
}

fn of_attempt(error: &RequestAttemptError) -> Cause {
    match error {
        RequestAttemptError::BrokenConnectionError(_) => Cause::Gone,
        RequestAttemptError::DbError(error, _) => match error {
            DbError::SyntaxError => Cause::Syntax,
            DbError::Unauthorized => Cause::Refused,
            DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => Cause::TimedOut,
            _ => Cause::Other,
        },
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_error_codes_to_causes() {
        let check = |error: DbError, expected: Cause| {
            let attempt = RequestAttemptError::DbError(error, String::new());
            let error = StatementError::from(ExecutionError::LastAttemptError(attempt));
            assert_eq!(error.cause(), expected, "{error:?}");
        };
        check(DbError::Unauthorized, Cause::Refused);
        check(DbError::SyntaxError, Cause::Syntax);
        check(DbError::Invalid, Cause::Other);
    }
}
