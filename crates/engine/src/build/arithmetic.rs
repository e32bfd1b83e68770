//! Arithmetic expressions over names: parsed and re-rendered, so that no text of the expression reaches a source.

use prospector_connect::sql::parse_expression;
use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;

use super::invalid;
use super::write::{Class, Writer};
use crate::{Failure, FailureCode};

/// The maximum length of an expression in characters.
const MAX_FORMULA_CHARS: usize = 1_000;

/// An arithmetic expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arithmetic {
    Number(String),
    Name(String),
    Negative(Box<Arithmetic>),
    Two(char, Box<Arithmetic>, Box<Arithmetic>),
    Call(&'static str, Vec<Arithmetic>),
}

/// The supported functions, with their minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 3] = [("ABS", 1, 1), ("ROUND", 1, 2), ("COALESCE", 2, 8)];

impl Arithmetic {
    /// Parses an expression.
    ///
    /// # Errors
    /// If the text is not an arithmetic expression.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |reason: String| {
            let shown: String = text.chars().take(100).collect();
            invalid(format!("`{shown}` is not a valid calculation: {reason}")).advise(
                "use names, numbers, + - * /, parentheses, abs, round and coalesce; quote names with spaces as \"...\"",
            )
        };
        if text.len() > MAX_FORMULA_CHARS {
            return Err(wrong(format!("it is longer than {MAX_FORMULA_CHARS} characters")));
        }
        let plain = |error: sqlparser::parser::ParserError| wrong(error.to_string());
        let parsed = parse_expression(&GenericDialect {}, text).map_err(plain)?;
        read(&parsed).map_err(|error| wrong(error.to_string()))
    }

    /// Returns the names in the expression.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Arithmetic::Number(_) => Vec::new(),
            Arithmetic::Name(name) => vec![name],
            Arithmetic::Negative(inner) => inner.names(),
            Arithmetic::Two(_, left, right) => [left.names(), right.names()].concat(),
            Arithmetic::Call(_, arguments) => arguments.iter().flat_map(Arithmetic::names).collect(),
        }
    }

    /// Renders the SQL. Division by zero yields null, and division keeps fractional digits; the difference of two dates is in
    /// days.
    ///
    /// # Errors
    /// - The errors of the operands.
    /// - If an operand is not numeric.
    pub(crate) fn write(&self, writer: &Writer, operands: &impl Operands) -> Result<String, Failure> {
        let write = |inner: &Arithmetic| inner.write(writer, operands);
        Ok(match self {
            Arithmetic::Number(number) => number.clone(),
            Arithmetic::Name(name) => match operands.class(name)? {
                Class::Number | Class::Boolean => operands.write(name)?,
                Class::Date => {
                    return Err(no_number(name, "only the difference of two dates, in days, can be computed"));
                }
                Class::Text => {
                    return Err(no_number(
                        name,
                        "use a numeric column; compute date differences in the step that reads the dates",
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

/// What the names of an expression refer to.
pub(crate) trait Operands {
    /// Renders the SQL of a name.
    fn write(&self, name: &str) -> Result<String, Failure>;
    /// Returns the class of its values.
    fn class(&self, name: &str) -> Result<Class, Failure>;
}

/// Names of computed values, which are always numeric.
impl<F: Fn(&str) -> Result<String, Failure>> Operands for F {
    fn write(&self, name: &str) -> Result<String, Failure> {
        self(name)
    }

    fn class(&self, _: &str) -> Result<Class, Failure> {
        Ok(Class::Number)
    }
}

fn no_number(name: &str, advice: &str) -> Failure {
    Failure::new(FailureCode::TypeMismatch, format!("`{name}` is not numeric and cannot be used in a calculation"))
        .advise(advice)
}

/// Why an expression is not supported, as a clause.
#[derive(Debug, thiserror::Error)]
enum Unsupported {
    #[error("`{0}` is not a number")]
    Value(String),
    #[error("`{0}` is not supported")]
    Part(String),
    #[error("the function `{0}` is not supported")]
    Function(String),
    #[error("`{0}` needs arguments")]
    NoArguments(String),
    #[error("`{0}` has the wrong number of arguments or an unsupported clause")]
    Call(String),
}

fn read(expression: &Expr) -> Result<Arithmetic, Unsupported> {
    Ok(match expression {
        Expr::Nested(inner) => read(inner)?,
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) if number.to_string().parse::<f64>().is_ok_and(f64::is_finite) => {
                Arithmetic::Number(number.to_string())
            }
            other => return Err(Unsupported::Value(other.to_string())),
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
                other => return Err(Unsupported::Part(other.to_string())),
            };
            Arithmetic::Two(sign, Box::new(read(left)?), Box::new(read(right)?))
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_uppercase();
            let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
            let (name, least, most) = known.ok_or_else(|| Unsupported::Function(name.clone()))?;
            let FunctionArguments::List(list) = &function.args else {
                return Err(Unsupported::NoArguments((*name).to_owned()));
            };
            let argument = |argument: &FunctionArg| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => read(expression),
                other => Err(Unsupported::Part(other.to_string())),
            };
            let is_plain = function.over.is_none() && function.filter.is_none() && list.clauses.is_empty();
            if !is_plain || list.duplicate_treatment.is_some() || !(*least..=*most).contains(&list.args.len()) {
                return Err(Unsupported::Call((*name).to_owned()));
            }
            Arithmetic::Call(name, list.args.iter().map(argument).collect::<Result<_, _>>()?)
        }
        other => {
            return Err(Unsupported::Part(other.to_string().chars().take(60).collect()));
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
    fn accepts_only_arithmetic() {
        check("(a - b) / c", Ok("((<a> - <b>) * 1.0 / NULLIF(<c>, 0))"));
        check("round(-\"unit price\" * 1.19, 2)", Ok("ROUND(((- <unit price>) * 1.19), 2)"));
        check("orders.total + 1", Ok("(<orders.total> + 1)"));
        check("a; DROP TABLE t", Err("after the end"));
        check("(SELECT 1)", Err("not supported"));
        check("pg_sleep(5)", Err("not supported"));
        check("'x' + a", Err("not a number"));
        check("a OR 1", Err("not supported"));
        check("round(a) OVER ()", Err("unsupported clause"));
        check(&"(".repeat(500), Err("not a valid calculation"));
        check(&"a+".repeat(600), Err("longer"));
    }
}
