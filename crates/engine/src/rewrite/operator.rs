//! Operators that only compute, by dialect.

use sqlparser::ast::{BinaryOperator, UnaryOperator};

use crate::Dialect;

/// Renders a binary operator; `None` if the dialect has none, or if it may be user-defined.
pub(super) fn binary(dialect: Dialect, operator: &BinaryOperator) -> Option<&'static str> {
    use BinaryOperator as Op;
    use Dialect::{Bigquery, Joined, Mysql, Postgres, Sqlite};
    let (sign, dialects): (&str, &[Dialect]) = match operator {
        Op::Plus => ("+", &Dialect::ALL),
        Op::Minus => ("-", &Dialect::ALL),
        Op::Multiply => ("*", &Dialect::ALL),
        Op::Divide => ("/", &Dialect::ALL),
        Op::Modulo => ("%", &Dialect::ALL),
        Op::Gt => (">", &Dialect::ALL),
        Op::Lt => ("<", &Dialect::ALL),
        Op::GtEq => (">=", &Dialect::ALL),
        Op::LtEq => ("<=", &Dialect::ALL),
        Op::Eq => ("=", &Dialect::ALL),
        Op::NotEq => ("<>", &Dialect::ALL),
        Op::And => ("AND", &Dialect::ALL),
        Op::Or => ("OR", &Dialect::ALL),
        // In MySQL the SQL mode decides whether `||` is OR.
        Op::StringConcat => ("||", &[Postgres, Sqlite, Bigquery, Joined]),
        Op::Spaceship => ("<=>", &[Mysql]),
        Op::Xor => ("XOR", &[Mysql]),
        Op::MyIntegerDivide => ("DIV", &[Mysql]),
        Op::Regexp => ("REGEXP", &[Sqlite, Mysql]),
        Op::Match => ("MATCH", &[Sqlite]),
        Op::BitwiseOr => ("|", &Dialect::ALL),
        Op::BitwiseAnd => ("&", &Dialect::ALL),
        Op::BitwiseXor => ("^", &[Mysql, Bigquery, Joined]),
        Op::PGBitwiseXor => ("#", &[Postgres, Joined]),
        Op::PGExp => ("^", &[Postgres]),
        Op::PGBitwiseShiftLeft => ("<<", &Dialect::ALL),
        Op::PGBitwiseShiftRight => (">>", &Dialect::ALL),
        Op::Arrow => ("->", &[Postgres, Mysql, Sqlite]),
        Op::LongArrow => ("->>", &[Postgres, Mysql, Sqlite]),
        Op::PGRegexMatch => ("~", &[Postgres, Joined]),
        Op::PGRegexIMatch => ("~*", &[Postgres, Joined]),
        Op::PGRegexNotMatch => ("!~", &[Postgres, Joined]),
        Op::PGRegexNotIMatch => ("!~*", &[Postgres, Joined]),
        Op::PGLikeMatch => ("~~", &[Postgres, Joined]),
        Op::PGILikeMatch => ("~~*", &[Postgres, Joined]),
        Op::PGNotLikeMatch => ("!~~", &[Postgres, Joined]),
        Op::PGNotILikeMatch => ("!~~*", &[Postgres, Joined]),
        Op::AtArrow => ("@>", &[Postgres, Joined]),
        Op::ArrowAt => ("<@", &[Postgres, Joined]),
        Op::PGOverlap => ("&&", &[Postgres]),
        Op::PGStartsWith => ("^@", &[Postgres]),
        Op::HashArrow => ("#>", &[Postgres]),
        Op::HashLongArrow => ("#>>", &[Postgres]),
        Op::HashMinus => ("#-", &[Postgres]),
        Op::AtAt => ("@@", &[Postgres]),
        Op::AtQuestion => ("@?", &[Postgres]),
        Op::Question => ("?", &[Postgres]),
        Op::QuestionAnd => ("?&", &[Postgres]),
        Op::QuestionPipe => ("?|", &[Postgres]),
        Op::Overlaps => ("OVERLAPS", &[Postgres]),
        Op::DoubleHash => ("##", &[Postgres]),
        Op::LtDashGt => ("<->", &[Postgres]),
        Op::AndLt => ("&<", &[Postgres]),
        Op::AndGt => ("&>", &[Postgres]),
        Op::LtLtPipe => ("<<|", &[Postgres]),
        Op::PipeGtGt => ("|>>", &[Postgres]),
        Op::AndLtPipe => ("&<|", &[Postgres]),
        Op::PipeAndGt => ("|&>", &[Postgres]),
        Op::LtCaret => ("<^", &[Postgres]),
        Op::GtCaret => (">^", &[Postgres]),
        Op::QuestionHash => ("?#", &[Postgres]),
        Op::QuestionDash => ("?-", &[Postgres]),
        Op::QuestionDashPipe => ("?-|", &[Postgres]),
        Op::QuestionDoublePipe => ("?||", &[Postgres]),
        Op::TildeEq => ("~=", &[Postgres]),
        Op::At | Op::DuckIntegerDivide | Op::Custom(_) | Op::PGCustomBinaryOperator(_) | Op::Assignment => return None,
    };
    dialects.contains(&dialect).then_some(sign)
}

/// Renders a unary operator, as [`binary`] does.
pub(super) fn unary(dialect: Dialect, operator: &UnaryOperator) -> Option<&'static str> {
    use UnaryOperator as Op;
    let is_postgres = dialect == Dialect::Postgres;
    match operator {
        Op::Plus => Some("+"),
        Op::Minus => Some("-"),
        Op::Not => Some("NOT"),
        Op::BitwiseNot => Some("~"),
        Op::BangNot if dialect == Dialect::Mysql => Some("!"),
        Op::PGAbs if is_postgres => Some("@"),
        Op::PGSquareRoot if is_postgres => Some("|/"),
        Op::PGCubeRoot if is_postgres => Some("||/"),
        Op::AtDashAt if is_postgres => Some("@-@"),
        Op::DoubleAt if is_postgres => Some("@@"),
        Op::Hash if is_postgres => Some("#"),
        Op::QuestionDash if is_postgres => Some("?-"),
        Op::QuestionPipe if is_postgres => Some("?|"),
        Op::BangNot
        | Op::PGAbs
        | Op::PGSquareRoot
        | Op::PGCubeRoot
        | Op::AtDashAt
        | Op::DoubleAt
        | Op::Hash
        | Op::QuestionDash
        | Op::QuestionPipe
        | Op::PGPostfixFactorial
        | Op::PGPrefixFactorial => None,
    }
}
