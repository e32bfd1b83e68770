//! Values of parameters: parsing by type, and display.

use chrono::NaiveDate;
use prospector_core::name::rank;
use prospector_engine::query::Literal;
use serde_json::Value;

use crate::model::{AllowedValue, ParameterType};
use crate::{Parameter, QueryError};

/// The accepted values of a parameter, resolved from its column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Domain {
    /// Any value of its type.
    Any,
    /// One of these.
    OneOf(Vec<AllowedValue>),
    /// Values between the minimum and the maximum of a column, inclusive.
    Between(Literal, Literal),
}

/// Parses a value of that type; `None` if it has another type. A text may contain a number, a date or a boolean.
pub(crate) fn read(kind: ParameterType, value: &Value) -> Option<Literal> {
    match (kind, value) {
        (ParameterType::Text, Value::String(text)) => Some(Literal::Text(text.clone())),
        (ParameterType::Text, Value::Number(number)) => Some(Literal::Text(number.to_string())),
        (ParameterType::Integer, Value::Number(number)) => number.as_i64().map(Literal::Integer),
        (ParameterType::Number, Value::Number(number)) => {
            number.as_f64().filter(|number| number.is_finite()).map(Literal::Number)
        }
        (ParameterType::Boolean, Value::Bool(value)) => Some(Literal::Boolean(*value)),
        (_, Value::String(text)) => read_text(kind, text.trim()),
        _ => None,
    }
}

/// Parses a value from text, as passed on a command line.
pub(crate) fn read_text(kind: ParameterType, text: &str) -> Option<Literal> {
    match kind {
        ParameterType::Text => Some(Literal::Text(text.to_owned())),
        ParameterType::Integer => text.parse().ok().map(Literal::Integer),
        ParameterType::Number => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Literal::Number),
        ParameterType::Boolean => text.parse().ok().map(Literal::Boolean),
        ParameterType::Date => {
            let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
            (text.len() == 10).then(|| Literal::Text(day.format("%Y-%m-%d").to_string()))
        }
    }
}

/// Converts a value to JSON.
pub(crate) fn to_json(value: &Literal) -> Value {
    match value {
        Literal::Text(text) => text.as_str().into(),
        Literal::Integer(whole) => (*whole).into(),
        Literal::Number(number) => (*number).into(),
        Literal::Boolean(value) => (*value).into(),
    }
}

/// Formats a value for a sentence.
pub(crate) fn show(value: &Literal) -> String {
    match value {
        Literal::Text(text) => text.clone(),
        other => to_json(other).to_string(),
    }
}

/// Returns an example value of a type, for queries that are only checked.
pub(crate) fn example(parameter: &Parameter) -> Literal {
    let allowed = parameter.allowed.first().map(|allowed| allowed.value.clone());
    parameter.default.clone().or(allowed).unwrap_or_else(|| match parameter.kind {
        ParameterType::Text => Literal::Text("x".into()),
        ParameterType::Integer => Literal::Integer(1),
        ParameterType::Number => Literal::Number(1.0),
        ParameterType::Date => Literal::Text("2025-01-01".into()),
        ParameterType::Boolean => Literal::Boolean(true),
    })
}

/// Returns the value as it is spelled in the domain.
///
/// # Errors
/// [`QueryError::Value`] with the accepted values, if it is not one of them.
pub(crate) fn admit(
    query: &str,
    parameter: &Parameter,
    domain: &Domain,
    value: Literal,
) -> Result<Literal, QueryError> {
    let refuse = |takes: String| QueryError::Value {
        query: query.to_owned(),
        parameter: parameter.name.clone(),
        given: prospector_text::cut::line(&show(&value), 60),
        takes,
    };
    match domain {
        Domain::Any => Ok(value),
        Domain::OneOf(values) => {
            let wanted = show(&value).to_lowercase();
            let is_meant = |known: &&AllowedValue| {
                let is_wanted = |word: &String| word.to_lowercase() == wanted;
                is_wanted(&show(&known.value)) || known.words.iter().any(is_wanted)
            };
            // An exact match takes precedence over a synonym.
            let exact = values.iter().find(|known| known.value == value);
            let mut meant = values.iter().filter(is_meant);
            match (exact.or_else(|| meant.next()), exact.is_none().then(|| meant.next()).flatten()) {
                (Some(known), None) => Ok(known.value.clone()),
                _ => {
                    let all: Vec<String> = values.iter().map(|known| show(&known.value)).collect();
                    let near = if all.len() <= 12 { all } else { rank(&wanted, all.iter().map(String::as_str), 5) };
                    Err(refuse(near.join(", ")))
                }
            }
        }
        Domain::Between(least, greatest) => match is_between(&value, least, greatest) {
            true => Ok(value),
            false => Err(refuse(format!("{} to {}", show(least), show(greatest)))),
        },
    }
}

fn is_between(value: &Literal, least: &Literal, greatest: &Literal) -> bool {
    match (number(value), number(least), number(greatest)) {
        (Some(value), Some(least), Some(greatest)) => least <= value && value <= greatest,
        _ => {
            let day = |value: &Literal| show(value).chars().take(10).collect::<String>();
            day(least) <= day(value) && day(value) <= day(greatest)
        }
    }
}

fn number(value: &Literal) -> Option<f64> {
    match value {
        Literal::Integer(whole) => Some(*whole as f64),
        Literal::Number(number) => Some(*number),
        Literal::Text(_) | Literal::Boolean(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parses_values_by_type() {
        let check = |kind, value: Value, expected: Option<Literal>| assert_eq!(read(kind, &value), expected, "{value}");
        check(ParameterType::Text, json!("Brazil"), Some(Literal::Text("Brazil".into())));
        check(ParameterType::Integer, json!("2025"), Some(Literal::Integer(2025)));
        check(ParameterType::Integer, json!(2025.5), None);
        check(ParameterType::Integer, json!("2025; DROP TABLE t"), None);
        check(ParameterType::Number, json!("inf"), None);
        check(ParameterType::Date, json!("2024-02-29"), Some(Literal::Text("2024-02-29".into())));
        for wrong in ["2024-02-30", "2024-2-3", "yesterday", "2024-02-03' --", "20240203"] {
            check(ParameterType::Date, json!(wrong), None);
        }
        check(ParameterType::Boolean, json!("true"), Some(Literal::Boolean(true)));
        check(ParameterType::Text, json!(["a"]), None);
    }

    #[test]
    fn admits_only_values_of_the_domain() {
        let parameter = Parameter {
            name: "country".into(),
            kind: ParameterType::Text,
            description: String::new(),
            default: None,
            allowed: Vec::new(),
            column: None,
        };
        let check = |domain: &Domain, given: Literal, expected: Option<&str>| {
            let admitted = admit("q", &parameter, domain, given);
            assert_eq!(admitted.as_ref().ok().map(show).as_deref(), expected, "{admitted:?}");
        };
        let text = |text: &str| Literal::Text(text.into());
        let allowed = |code: &str, name: &str| AllowedValue { value: text(code), words: vec![name.into()] };
        let countries = Domain::OneOf(vec![allowed("BR", "Brazil"), allowed("DE", "Germany")]);
        check(&countries, text("brazil"), Some("BR"));
        check(&countries, text("BR"), Some("BR"));
        check(&countries, text("Brasilia"), None);
        check(&countries, text("BR' OR '1'='1"), None);
        let days = Domain::Between(text("2023-01-02"), text("2025-12-31"));
        check(&days, text("2024-03-03"), Some("2024-03-03"));
        check(&days, text("2026-03-03"), None);
        check(&Domain::Between(Literal::Integer(1), Literal::Integer(5)), Literal::Integer(6), None);
    }
}
