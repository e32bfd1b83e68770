//! Questions for declared metrics: read and computed by a tool that understands every word or nothing, told with what the figures
//! mean. Where it does not understand one, it goes on to the part that writes SQL.

use prospector_discovery::DiscoveryTools;
use prospector_llm::{ChatRequest, ChatResponse, Message, message::ToolCall};
use serde_json::{Value, json};

use crate::{
    reconcile::LIST_SOURCES,
    verified::{Step, result},
};

const COMPUTE: &str = DiscoveryTools::METRICS_TOOL;

const WHO: &str =
    "(Answered by the offline planner, a program and not a language model, with metrics that the catalog declares.)";

/// The next step of a turn whose messages these are.
pub(crate) fn answer(request: &ChatRequest, question: &str, messages: &[Message], finish: bool) -> Step {
    if !request.tools.iter().any(|tool| tool.name == COMPUTE) {
        return Step::Nothing(0);
    }
    match result(messages, COMPUTE) {
        None if finish => Step::Nothing(0),
        None => {
            // A round in which every call fails would end the run, and a question that is not understood is a failed call.
            let calls = [(COMPUTE, json!({"question": question})), (LIST_SOURCES, json!({}))];
            let calls =
                calls.map(|(name, arguments)| ToolCall { id: name.to_owned(), name: name.to_owned(), arguments });
            Step::Reply(ChatResponse { calls: calls.into(), ..ChatResponse::default() })
        }
        Some((computed, after)) => match computed.data.as_ref().filter(|_| !computed.is_error) {
            Some(answer) => Step::Reply(ChatResponse { text: tell(answer), ..ChatResponse::default() }),
            None => Step::Nothing(after),
        },
    }
}

/// The answer in words.
fn tell(answer: &Value) -> String {
    let rows: Vec<&Vec<Value>> = answer["rows"].as_array().into_iter().flatten().filter_map(Value::as_array).collect();
    let columns: Vec<String> = answer["columns"].as_array().into_iter().flatten().map(write).collect();
    let read = &answer["read_as"];
    let (named, conditions) = (list(&read["metrics"]).join(" and ").replace('_', " "), describe_filters(read));
    let mut told = match rows.as_slice() {
        [] => format!("There are no rows: {named}{conditions} [Q1]."),
        [row] if row.len() == 1 => match &row[0] {
            Value::Null => format!("There is no {named}{conditions}: no row fits [Q1]."),
            value => format!("The {named}{conditions} is {} [Q1].", write(value)),
        },
        [row] => {
            let pairs = columns.iter().zip(row.iter());
            let pairs: Vec<String> =
                pairs.map(|(column, value)| format!("{}: {}", column.replace('_', " "), write(value))).collect();
            format!("{}{conditions} [Q1].", pairs.join(", "))
        }
        _ => format!("The {named}{conditions}, by {} [Q1]:\n\n{{{{Q1}}}}", describe_keys(read)),
    };
    let meanings: Vec<String> = (answer["metrics"].as_array().into_iter().flatten())
        .map(|metric| {
            let source = metric["source"].as_str().or(metric["declared"].as_str()).unwrap_or_default();
            format!("- {}: {} ({source})", write(&metric["metric"]).replace('_', " "), write(&metric["definition"]))
        })
        .collect();
    // Items of a list have the reference of the line before it.
    told.push_str(&format!("\n\nWhat is meant [Q1]:\n\n{}", meanings.join("\n")));
    format!("{told}\n\n{WHO}")
}

fn describe_keys(read: &Value) -> String {
    let grain = read["grain"].as_str().map(str::to_owned);
    let keys: Vec<String> = list(&read["dimensions"]).into_iter().chain(grain).collect();
    if keys.is_empty() { "metric".to_owned() } else { keys.join(" and ") }
}

fn describe_filters(read: &Value) -> String {
    let conditions = read["filters"].as_array().into_iter().flatten().map(|filter| {
        let (column, value) = (write(&filter["column"]), write(&filter["value"]));
        match filter["op"].as_str() {
            Some("gte") => format!("{column} from {value} on"),
            Some("lt") => format!("{column} before {value}"),
            Some("in") => format!("{column} one of {value}"),
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
