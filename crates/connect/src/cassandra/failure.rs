//! Why a statement failed, by the errors of the driver and the codes of the cluster.

use scylla::errors::{DbError, DeserializationError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::response::query_result::{IntoRowsResultError, RowsError};

use crate::cause::Cause;

/// What went wrong between a statement and its rows.
#[derive(Debug, thiserror::Error)]
pub(super) enum StatementError {
    /// The statement was not prepared.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The statement was not executed.
    #[error(transparent)]
    Execute(#[from] ExecutionError),
    /// The answer holds no rows.
    #[error(transparent)]
    NoRows(#[from] IntoRowsResultError),
    /// The rows have other types than they should have.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// A row cannot be read.
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
    fn codes_of_the_cluster_are_causes() {
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
