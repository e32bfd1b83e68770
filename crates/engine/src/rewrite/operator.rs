//! Operators that only compute, by dialect. They are rendered as the parser displays them.

use sqlparser::ast::{BinaryOperator, UnaryOperator};

use crate::Dialect;

/// Returns whether a dialect has a binary operator, and no user can define it. Operators of future parser versions must be decided
/// on here.
pub(super) fn is_binary(dialect: Dialect, operator: &BinaryOperator) -> bool {
    use BinaryOperator::*;
    use Dialect::{Bigquery, Joined, Mysql, Postgres, Sqlite};
    let dialects: &[Dialect] = match operator {
        Plus | Minus | Multiply | Divide | Modulo | Gt | Lt | GtEq | LtEq | Eq | NotEq | And | Or | BitwiseOr
        | BitwiseAnd | PGBitwiseShiftLeft | PGBitwiseShiftRight => &Dialect::ALL,
        // In MySQL the SQL mode decides whether `||` is OR.
        StringConcat => &[Postgres, Sqlite, Bigquery, Joined],
        Spaceship | Xor | MyIntegerDivide => &[Mysql],
        Regexp => &[Sqlite, Mysql],
        Match => &[Sqlite],
        BitwiseXor => &[Mysql, Bigquery, Joined],
        Arrow | LongArrow => &[Postgres, Mysql, Sqlite],
        PGBitwiseXor | PGRegexMatch | PGRegexIMatch | PGRegexNotMatch | PGRegexNotIMatch | PGLikeMatch
        | PGILikeMatch | PGNotLikeMatch | PGNotILikeMatch | AtArrow | ArrowAt => &[Postgres, Joined],
        PGExp | PGOverlap | PGStartsWith | HashArrow | HashLongArrow | HashMinus | AtAt | AtQuestion | Question
        | QuestionAnd | QuestionPipe | Overlaps | DoubleHash | LtDashGt | AndLt | AndGt | LtLtPipe | PipeGtGt
        | AndLtPipe | PipeAndGt | LtCaret | GtCaret | QuestionHash | QuestionDash | QuestionDashPipe
        | QuestionDoublePipe | TildeEq => &[Postgres],
        At | DuckIntegerDivide | Custom(_) | PGCustomBinaryOperator(_) | Assignment => &[],
    };
    dialects.contains(&dialect)
}

/// Returns whether a dialect has a unary operator, as [`is_binary`] does.
pub(super) fn is_unary(dialect: Dialect, operator: &UnaryOperator) -> bool {
    use UnaryOperator::*;
    match operator {
        Plus | Minus | Not | BitwiseNot => true,
        BangNot => dialect == Dialect::Mysql,
        PGAbs | PGSquareRoot | PGCubeRoot | AtDashAt | DoubleAt | Hash | QuestionDash | QuestionPipe => {
            dialect == Dialect::Postgres
        }
        PGPostfixFactorial | PGPrefixFactorial => false,
    }
}
