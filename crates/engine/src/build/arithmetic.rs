//! Arithmetic over names: it is parsed, and written anew; nothing of the text itself reaches a source.

use prospector_connect::sql::parse_expression;
use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;

use super::invalid;
use super::write::{Class, Writer};
use crate::{Failure, FailureCode};

/// A longer text is no calculation.
const MAX_FORMULA_CHARS: usize = 1_000;

/// A value that is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arithmetic {
    Number(String),
    Name(String),
    Negative(Box<Arithmetic>),
    Two(char, Box<Arithmetic>, Box<Arithmetic>),
    Call(&'static str, Vec<Arithmetic>),
}

/// The functions, with how many arguments they take at least and at most.
const FUNCTIONS: [(&str, usize, usize); 3] = [("ABS", 1, 1), ("ROUND", 1, 2), ("COALESCE", 2, 8)];

impl Arithmetic {
    /// Reads an expression.
    ///
    /// # Errors
    /// What of it is no arithmetic.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |reason: String| {
            let shown: String = text.chars().take(100).collect();
            invalid(format!("`{shown}` is no calculation: {reason}")).advise(
                "use names, numbers, + - * /, parentheses, abs, round and coalesce; names with blanks in \"...\"",
            )
        };
        if text.len() > MAX_FORMULA_CHARS {
            return Err(wrong(format!("it is longer than {MAX_FORMULA_CHARS} characters")));
        }
        let plain = |error: sqlparser::parser::ParserError| wrong(error.to_string());
        let parsed = parse_expression(&GenericDialect {}, text).map_err(plain)?;
        read(&parsed).map_err(|error| wrong(error.to_string()))
    }

    /// The names in it.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Arithmetic::Number(_) => Vec::new(),
            Arithmetic::Name(name) => vec![name],
            Arithmetic::Negative(inner) => inner.names(),
            Arithmetic::Two(_, left, right) => [left.names(), right.names()].concat(),
            Arithmetic::Call(_, arguments) => arguments.iter().flat_map(Arithmetic::names).collect(),
        }
    }

    /// The SQL of it. What is divided by zero is null, and division keeps the digits after the point; a date minus another is
    /// the days between them.
    ///
    /// # Errors
    /// Those of the operands, and one that holds no numbers.
    pub(crate) fn write(&self, writer: &Writer, operands: &impl Operands) -> Result<String, Failure> {
        let write = |inner: &Arithmetic| inner.write(writer, operands);
        Ok(match self {
            Arithmetic::Number(number) => number.clone(),
            Arithmetic::Name(name) => match operands.class(name)? {
                Class::Number | Class::Boolean => operands.write(name)?,
                Class::Date => return Err(no_number(name, "a date minus another date is the days between them")),
                Class::Text => {
                    return Err(no_number(
                        name,
                        "take another column; days are counted in the step that reads the dates",
                    ));
                }
            },
            Arithmetic::Negative(inner) => format!("(- {})", write(inner)?),
            Arithmetic::Two('/', left, right) => format!("({} * 1.0 / NULLIF({}, 0))", write(left)?, write(right)?),
            Arithmetic::Two(sign, left, right) => match (&**left, &**right) {
                (Arithmetic::Name(later), Arithmetic::Name(earlier))
                    if *sign == '-'
                        && operands.class(later)? == Class::Date
                        && operands.class(earlier)? == Class::Date =>
                {
                    let day = |name: &str| operands.write(name).map(|value| writer.day_number(&value));
                    format!("({} - {})", day(later)?, day(earlier)?)
                }
                _ => format!("({} {sign} {})", write(left)?, write(right)?),
            },
            Arithmetic::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(write).collect::<Result<_, _>>()?;
                format!("{name}({})", arguments.join(", "))
            }
        })
    }
}

/// What the names of a calculation stand for.
pub(crate) trait Operands {
    /// The SQL of a name.
    fn write(&self, name: &str) -> Result<String, Failure>;
    /// What it holds.
    fn class(&self, name: &str) -> Result<Class, Failure>;
}

/// Names of what is computed already, which are numbers.
impl<F: Fn(&str) -> Result<String, Failure>> Operands for F {
    fn write(&self, name: &str) -> Result<String, Failure> {
        self(name)
    }

    fn class(&self, _: &str) -> Result<Class, Failure> {
        Ok(Class::Number)
    }
}

fn no_number(name: &str, advice: &str) -> Failure {
    Failure::new(FailureCode::TypeMismatch, format!("`{name}` holds no numbers: nothing is calculated with it"))
        .advise(advice)
}

/// Why an expression is not taken, as a clause.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("`{0}` is no number")]
    Value(String),
    #[error("`{0}` is not taken")]
    Part(String),
    #[error("the function `{0}` is not taken")]
    Function(String),
    #[error("`{0}` needs arguments")]
    NoArguments(String),
    #[error("`{0}` is not called so")]
    Call(String),
}

fn read(expression: &Expr) -> Result<Arithmetic, NotTaken> {
    Ok(match expression {
        Expr::Nested(inner) => read(inner)?,
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) if number.to_string().parse::<f64>().is_ok_and(f64::is_finite) => {
                Arithmetic::Number(number.to_string())
            }
            other => return Err(NotTaken::Value(other.to_string())),
        },
        Expr::Identifier(name) => Arithmetic::Name(name.value.clone()),
        Expr::CompoundIdentifier(parts) => {
            Arithmetic::Name(parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join("."))
        }
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Arithmetic::Negative(Box::new(read(expr)?)),
        Expr::BinaryOp { left, op, right } => {
            let sign = match op {
                BinaryOperator::Plus => '+',
                BinaryOperator::Minus => '-',
                BinaryOperator::Multiply => '*',
                BinaryOperator::Divide => '/',
                other => return Err(NotTaken::Part(other.to_string())),
            };
            Arithmetic::Two(sign, Box::new(read(left)?), Box::new(read(right)?))
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_uppercase();
            let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
            let (name, least, most) = known.ok_or_else(|| NotTaken::Function(name.clone()))?;
            let FunctionArguments::List(list) = &function.args else {
                return Err(NotTaken::NoArguments((*name).to_owned()));
            };
            let argument = |argument: &FunctionArg| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => read(expression),
                other => Err(NotTaken::Part(other.to_string())),
            };
            let is_plain = function.over.is_none() && function.filter.is_none() && list.clauses.is_empty();
            if !is_plain || list.duplicate_treatment.is_some() || !(*least..=*most).contains(&list.args.len()) {
                return Err(NotTaken::Call((*name).to_owned()));
            }
            Arithmetic::Call(name, list.args.iter().map(argument).collect::<Result<_, _>>()?)
        }
        other => {
            return Err(NotTaken::Part(other.to_string().chars().take(60).collect()));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn check(text: &str, expected: Result<&str, &str>) {
        let written = Arithmetic::parse(text)
            .and_then(|made| made.write(&Writer { dialect: Dialect::Postgres }, &|name: &str| Ok(format!("<{name}>"))));
        match (written, expected) {
            (Ok(written), Ok(expected)) => assert_eq!(written, expected),
            (Err(failure), Err(part)) => assert!(failure.message.contains(part), "{failure}"),
            (written, _) => panic!("{text}: {written:?}"),
        }
    }

    #[test]
    fn arithmetic_is_taken_and_nothing_else() {
        check("(a - b) / c", Ok("((<a> - <b>) * 1.0 / NULLIF(<c>, 0))"));
        check("round(-\"unit price\" * 1.19, 2)", Ok("ROUND(((- <unit price>) * 1.19), 2)"));
        check("orders.total + 1", Ok("(<orders.total> + 1)"));
        check("a; DROP TABLE t", Err("behind the end"));
        check("(SELECT 1)", Err("not taken"));
        check("pg_sleep(5)", Err("not taken"));
        check("'x' + a", Err("no number"));
        check("a OR 1", Err("not taken"));
        check("round(a) OVER ()", Err("not called so"));
        check(&"(".repeat(500), Err("no calculation"));
        check(&"a+".repeat(600), Err("longer"));
    }
}
