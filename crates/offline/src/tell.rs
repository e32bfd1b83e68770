//! Rows in words: what a verified query gave, and what was computed of metrics and tables.

use serde_json::Value;

/// Who says it.
pub(crate) const WHO: &str = "(Answered by the offline planner, a program and not a language model.)";
const WHO_CHECKED: &str =
    "(Answered by the offline planner, a program and not a language model, with a query that a person has checked.)";
const WHO_DECLARED: &str =
    "(Answered by the offline planner, a program and not a language model, with metrics that the catalog declares.)";

/// How an answer begins to a question that goes on from another one.
pub(crate) const UNDERSTOOD: &str = "Understood as: “";

/// The rows of a verified query; `given` are the parameters that the question has.
pub(crate) fn tell_verified(answer: &Value, given: &Value) -> String {
    let question = write(&answer["question"]);
    let mut told = match single(answer) {
        _ if rows(answer).is_empty() => format!("No rows: {} [Q1].", question.trim_end_matches(['?', '.'])),
        Some(value) => {
            let column =
                list(&answer["columns"]).first().map_or_else(|| "It".to_owned(), |name| name.replace('_', " "));
            let value = if value.is_null() { "not known: no row fits".to_owned() } else { write(value) };
            format!("{column} is {value} [Q1].")
        }
        None => format!("{question} [Q1]\n\n{{{{Q1}}}}"),
    };
    let verified = &answer["verified"];
    // Items of a list have the reference of the line before it.
    told.push_str(&format!(
        "\n\nVerified [Q1]:\n\n- The query `{}` was checked by {} on {}.",
        write(&answer["name"]),
        write(&verified["by"]),
        write(&verified["on"])
    ));
    let parameters = answer["parameters"].as_object().into_iter().flatten().map(|(name, value)| {
        let default = if given.get(name).is_none() { " (as the question names none)" } else { "" };
        format!("{name} = {}{default}", write(value))
    });
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        told.push_str(&format!("\n- It ran with {}.", parameters.join(", ")));
    }
    if let Some(description) = answer["description"].as_str() {
        told.push_str(&format!("\n- {description}"));
    }
    format!("{told}\n\n{WHO_CHECKED}")
}

/// The rows of metrics, and what they mean; `understood` is the whole question of one that goes on from another.
pub(crate) fn tell_metrics(answer: &Value, understood: Option<&str>) -> String {
    let (rows, columns) = (rows(answer), list(&answer["columns"]));
    let read = &answer["read_as"];
    let (named, conditions) = (list(&read["metrics"]).join(" and ").replace('_', " "), describe_filters(read));
    let told = match rows.as_slice() {
        [] => format!("There are no rows: {named}{conditions} [Q1]."),
        [row] => match single(answer) {
            Some(Value::Null) => format!("There is no {named}{conditions}: no row fits [Q1]."),
            Some(value) => format!("The {named}{conditions} is {} [Q1].", write(value)),
            None => {
                let pairs = columns.iter().zip(row.iter());
                let pairs: Vec<String> =
                    pairs.map(|(column, value)| format!("{}: {}", column.replace('_', " "), write(value))).collect();
                format!("{}{conditions} [Q1].", pairs.join(", "))
            }
        },
        _ => format!("The {named}{conditions}, by {} [Q1]:\n\n{{{{Q1}}}}", describe_keys(read)),
    };
    let cited: Vec<&Value> = answer["metrics"].as_array().into_iter().flatten().collect();
    let meanings: Vec<String> = (cited.iter())
        .map(|metric| {
            let source = metric["source"].as_str().or(metric["declared"].as_str()).unwrap_or_default();
            format!("- {}: {} ({source})", write(&metric["metric"]).replace('_', " "), write(&metric["definition"]))
        })
        .collect();
    let who = if cited.iter().all(|metric| metric["declared"].is_string()) { WHO_DECLARED } else { WHO };
    let understood = understood.map(|whole| format!("{UNDERSTOOD}{whole}” [Q1]\n\n")).unwrap_or_default();
    // Items of a list have the reference of the line before it.
    format!("{understood}{told}\n\nWhat is meant [Q1]:\n\n{}\n\n{who}", meanings.join("\n"))
}

fn rows(answer: &Value) -> Vec<&Vec<Value>> {
    answer["rows"].as_array().into_iter().flatten().filter_map(Value::as_array).collect()
}

/// The only value of an answer.
fn single(answer: &Value) -> Option<&Value> {
    match rows(answer).as_slice() {
        [row] if row.len() == 1 => row.first(),
        _ => None,
    }
}

fn describe_keys(read: &Value) -> String {
    let grain = read["grain"].as_str().map(str::to_owned);
    let keys: Vec<String> = list(&read["dimensions"]).into_iter().chain(grain).collect();
    if keys.is_empty() { "metric".to_owned() } else { keys.join(" and ").replace('_', " ") }
}

fn describe_filters(read: &Value) -> String {
    let conditions = read["filters"].as_array().into_iter().flatten().map(|filter| {
        let (column, value) = (write(&filter["column"]).replace('_', " "), write(&filter["value"]));
        match filter["op"].as_str() {
            Some("gte") if column == "time" => format!("from {value}"),
            Some("lt") if column == "time" => format!("before {value}"),
            Some("gte") => format!("{column} from {value} on"),
            Some("gt") => format!("{column} above {value}"),
            Some("lt") => format!("{column} below {value}"),
            Some("lte") => format!("{column} up to {value}"),
            Some("neq") if filter["value"].is_null() => format!("with {column}"),
            Some("eq") if filter["value"].is_null() => format!("without {column}"),
            Some("neq") => format!("{column} not {value}"),
            Some("in") => format!("{column} {}", list(&filter["value"]).join(" or ")),
            _ => format!("{column} {value}"),
        }
    });
    let conditions: Vec<String> = conditions.collect();
    if conditions.is_empty() { String::new() } else { format!(" ({})", conditions.join(", ")) }
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(write).collect()
}

fn write(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
