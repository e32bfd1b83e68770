//! Rewording of DataFusion and Arrow errors in terms of SQL, without the names of Rust types and variants. The texts are those
//! of the compiled-in versions and are not localised.

use std::ops::ControlFlow;

use datafusion::arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use sqlparser::ast::{Expr, FunctionArguments, Query, visit_expressions};

/// Prefixes of error messages.
const PREFIXES: [&str; 7] = [
    "Error during planning: ",
    "Internal error: ",
    "Schema error: ",
    "Cast error: ",
    "Parser error: ",
    "Execution error: ",
    "Invalid argument error: ",
];

/// The suggestion when a value cannot be cast.
const TRY_CAST: &str = "use TRY_CAST instead of CAST: it returns NULL if a value cannot be cast";

/// The suggestion when an implicit conversion of text fails.
const CONVERT: &str = "convert texts with TRY_CAST(column AS type), which returns NULL if a value cannot be cast";

/// A message, and a suggestion if there is one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wording {
    pub(super) message: String,
    pub(super) suggestion: Option<String>,
}

/// Rewords an error of this query; `root` is the error without its wrappers.
pub(super) fn reword(root: &DataFusionError, query: &Query) -> Wording {
    if let DataFusionError::SchemaError(error, _) = root
        && let SchemaError::FieldNotFound { field, .. } = error.as_ref()
    {
        let of = field.relation.as_ref().map(|table| format!(" in `{table}`")).unwrap_or_default();
        return Wording { message: format!("unknown column `{}`{of}", field.name), suggestion: None };
    }
    let text = match root {
        DataFusionError::External(source) => source.to_string(),
        DataFusionError::ArrowError(error, _) => error.to_string(),
        root => root.strip_backtrace(),
    };
    let text = strip(&text);
    if let Some(wording) = reword_call(text, query) {
        return wording;
    }
    let is_cast = matches!(root, DataFusionError::ArrowError(error, _)
        if matches!(error.as_ref(), ArrowError::CastError(_) | ArrowError::ParseError(_)));
    if is_cast {
        return Wording {
            message: reword_cast(text),
            suggestion: Some(if has_cast(query) { TRY_CAST } else { CONVERT }.to_owned()),
        };
    }
    let text = text.lines().next().unwrap_or_default();
    if let Some(column) =
        text.split_once(" must appear in the GROUP BY clause").and_then(|(before, _)| before.rsplit_once("column \""))
    {
        let column = column.1.trim_end_matches('"');
        return Wording {
            message: format!("`{column}` is neither in GROUP BY nor in an aggregate function"),
            suggestion: Some(format!("add it to GROUP BY, or use max({column}) or another aggregate function")),
        };
    }
    if let Some(wording) = reword_names(text) {
        return wording;
    }
    let text = match text {
        "Divide by zero error" => "division by zero; NULLIF(divisor, 0) returns NULL instead".to_owned(),
        text if text.starts_with("Cannot coerce arithmetic expression ") => {
            text.replacen("Cannot coerce arithmetic expression ", "cannot compute ", 1).replace(" to valid types", "")
        }
        text => match text.split_once("Cannot infer common argument type for comparison operation ") {
            Some((_, compared)) => format!("cannot compare {compared}"),
            None => text.to_owned(),
        },
    };
    Wording { message: write_types(&text), suggestion: None }
}

fn strip(mut text: &str) -> &str {
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        text = rest;
    }
    text
}

/// Rewords errors about duplicate names.
fn reword_names(text: &str) -> Option<Wording> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).trim_matches('"').to_owned();
    if let Some(rest) = text.strip_prefix("Projections require unique expression names but the expression \"") {
        let name = last(rest.split_once("\" at position")?.0);
        return Some(Wording {
            message: format!("two columns of the result have the name `{name}`"),
            suggestion: Some(format!("give one of them another name, such as {name} AS {name}_2")),
        });
    }
    let name = text.strip_prefix("Schema contains duplicate qualified field name ")?;
    let table = name.split_once('.')?.0.trim_matches('"');
    Some(Wording {
        message: format!("the table `{table}` is read twice under the same name"),
        suggestion: Some(format!("give each an alias, such as {table} AS a JOIN {table} AS b")),
    })
}

/// Rewords the error of a call whose argument types match no function.
fn reword_call(text: &str, query: &Query) -> Option<Wording> {
    let (name, types) = match text.split_once("' failed to match any signature") {
        Some((before, after)) => {
            let name = before.rsplit_once("Function '")?.1;
            let received = after.split("(DataType: ").nth(1).and_then(|rest| rest.split(").").next());
            (name, received.map(write_types).unwrap_or_default())
        }
        None => {
            let called = text.split_once("No function matches the given name and argument types '")?.1;
            let (name, types) = called.split_once("'.")?.0.strip_suffix(')')?.split_once('(')?;
            (name, write_types(types))
        }
    };
    let needs_numbers = ["requires Decimal", "requires Float64", "requires Int64", "(Float64)", "Numeric"];
    let needs_numbers = types == "text" && needs_numbers.iter().any(|part| text.contains(part));
    let argument = find_argument(query, name);
    let is =
        argument.as_ref().map_or_else(|| format!("the arguments are {types}"), |one| format!("`{one}` is {types}"));
    Some(match needs_numbers {
        true => {
            let cast = argument.unwrap_or_else(|| "column".to_owned());
            Wording {
                message: format!("`{name}` needs numbers, but {is}"),
                suggestion: Some(format!(
                    "use {name}(TRY_CAST({cast} AS DOUBLE)): TRY_CAST returns NULL if a text is not a number"
                )),
            }
        }
        false => Wording {
            message: format!("`{name}` does not accept arguments of these types: {types}"),
            suggestion: Some(format!("convert them with CAST(column AS type), or call `{name}` with other arguments")),
        },
    })
}

/// Rewords `Cannot cast string 'n/a' to value of Float64 type` and similar errors.
fn reword_cast(text: &str) -> String {
    let cast = text.strip_prefix("Cannot cast string ").and_then(|rest| rest.rsplit_once(" to value of "));
    match cast {
        Some((value, data_type)) => {
            format!("cannot parse {value} as {}", write_types(data_type.trim_end_matches(" type")))
        }
        None => {
            let text = write_types(text.lines().next().unwrap_or_default());
            let parsed = text.strip_prefix("Error parsing ").and_then(|rest| rest.split_once(" from "));
            match parsed {
                Some((what, value)) => format!("cannot parse {what} from {value}"),
                None => text,
            }
        }
    }
}

/// Replaces the names of Arrow types by those of SQL.
pub(crate) fn write_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let written = match word {
            "Utf8" | "LargeUtf8" | "Utf8View" => "text",
            "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64" => "integer",
            "Float16" | "Float32" | "Float64" => "double",
            "Date32" | "Date64" => "date",
            "Timestamp" | "Time32" | "Time64" if after.starts_with('(') => {
                rest = after.split_once(')').map_or("", |(_, rest)| rest);
                if word == "Timestamp" { "timestamp" } else { "time" }
            }
            "Boolean" => "boolean",
            "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" => "decimal",
            word => word,
        };
        out.push_str(written);
    }
    out.push_str(rest);
    out
}

/// Returns whether the query contains a cast; otherwise a comparison of a text with a number or date failed.
fn has_cast(query: &Query) -> bool {
    find_in(query, |expr| matches!(expr, Expr::Cast { .. }).then_some(())).is_some()
}

/// Returns the argument of the first call of that name with one argument.
fn find_argument(query: &Query, name: &str) -> Option<String> {
    find_in(query, |expr| {
        let Expr::Function(call) = expr else { return None };
        let FunctionArguments::List(list) = &call.args else { return None };
        let [argument] = list.args.as_slice() else { return None };
        call.name.to_string().eq_ignore_ascii_case(name).then(|| argument.to_string())
    })
}

/// Returns the first result for an expression of the query.
fn find_in<T>(query: &Query, find: impl Fn(&Expr) -> Option<T>) -> Option<T> {
    visit_expressions(query, |expr| find(expr).map_or(ControlFlow::Continue(()), ControlFlow::Break)).break_value()
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::Dialect;
    use crate::guard::examine;

    async fn check(sql: &str, message: &str, suggestion: &str) {
        let computed = async { SessionContext::new().sql(sql).await?.collect().await };
        let error = computed.await.unwrap_err();
        let query = examine(Dialect::Joined, &[], sql).unwrap().query;
        let Wording { message: said, suggestion: advised } = reword(error.find_root(), &query);
        assert_eq!(said, message, "{sql}");
        assert!(advised.clone().unwrap_or_default().contains(suggestion), "{sql}: {advised:?}");
    }

    #[tokio::test]
    async fn rewords_errors_in_terms_of_sql() {
        let from = "FROM (SELECT 'n/a' AS amount, 1 AS n, true AS ok) t";
        let numbers = "`amount` is text";
        check(&format!("SELECT sum(amount) {from}"), &format!("`sum` needs numbers, but {numbers}"), "TRY_CAST(amount")
            .await;
        check(&format!("SELECT avg(amount) {from}"), &format!("`avg` needs numbers, but {numbers}"), "TRY_CAST(amount")
            .await;
        check(&format!("SELECT CAST(amount AS DOUBLE) {from}"), "cannot parse 'n/a' as double", "TRY_CAST").await;
        check(&format!("SELECT CAST(amount AS DATE) {from}"), "cannot parse 'n/a' as date", "TRY_CAST").await;
        check(&format!("SELECT amnt {from}"), "unknown column `amnt`", "").await;
        check(&format!("SELECT n {from} WHERE n = 'x'"), "cannot parse 'x' as integer", "").await;
        check(
            &format!("SELECT n, max(ok) {from}"),
            "`t.n` is neither in GROUP BY nor in an aggregate function",
            "GROUP BY",
        )
        .await;
        check(&format!("SELECT n + ok {from}"), "cannot compute integer + boolean", "").await;
    }
}
