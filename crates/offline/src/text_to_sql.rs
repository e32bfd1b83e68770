//! Data questions without a language model: what the words of a question name is looked up, one query is made of it, and
//! what cannot be understood is said.
//!
//! The rule that keeps it honest: every word that says something must have a meaning: a table, a column, a value, a
//! period, a defined term. Where one has none, there is no query. Joins go from many rows to one only, so that no row
//! counts twice.

mod continuation;
mod follow_up;
mod intent;
mod period;
mod sql;
mod text;
mod turn_state;
mod values;

use prospector_agent::ask::OUT_OF_SCOPE;
use prospector_llm::{ChatRequest, ChatResponse, message::ToolCall};
use serde_json::{Value, json};

use crate::{
    calls::Call,
    question::{decline_too_long, is_too_long},
};

use intent::{Aggregate, Intent, Measure, Stop, Test};
use sql::Speaks;
pub(crate) use turn_state::Turn;
use turn_state::{Table, TurnState};
use values::search_values;

/// So many tables are looked at.
const MAX_TABLES: usize = 18;
/// A table that the search finds less likely is looked at only where it is named.
const MIN_TABLE_RELEVANCE: f64 = 0.005;
/// So many hits are looked at first.
const MAX_HITS: usize = 6;
/// So many rows are told.
const MAX_ROWS_SHOWN: usize = 24;
/// A document's section that is this likely answers a question for an explanation.
const MIN_EXPLANATION_RELEVANCE: f64 = 0.3;

const WHO: &str = "(Answered by the offline planner, a program and not a language model.)";

/// The next calls, or the answer. `translate` makes the calls fit the tools that there are.
pub(crate) fn answer(
    request: &ChatRequest,
    turn: &Turn<'_>,
    translate: &dyn Fn(Vec<Call>) -> Vec<Call>,
) -> ChatResponse {
    let said = |text: String| ChatResponse { text, ..ChatResponse::default() };
    let known = replace_value(with_follow_up(TurnState::read(turn), turn));
    let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if !turn.finish && known.result.is_none() {
        let (discovery, engine): (Vec<_>, Vec<_>) = next(&known, has("execute_sql"))
            .into_iter()
            .partition(|(name, _)| !name.ends_with("_sql") && *name != "list_sources");
        let calls = translate(discovery).into_iter().chain(engine);
        let calls: Vec<ToolCall> = calls
            .filter(|(name, arguments)| has(name) && !known.was_called(name, arguments))
            .enumerate()
            .map(|(at, (name, arguments))| ToolCall {
                id: format!("ask_{}_{at}", known.calls.len()),
                name: name.into(),
                arguments,
            })
            .collect();
        if !calls.is_empty() {
            return ChatResponse { calls, ..ChatResponse::default() };
        }
    }
    said(add_next(&known, write_answer(&known, has("execute_sql"))))
}

/// The same with the question in full, where it goes on from the one before.
fn with_follow_up(known: TurnState, turn: &Turn<'_>) -> TurnState {
    if known.knowledge {
        return known;
    }
    let follow_up = follow_up::read(&known.question, &follow_up::before(turn.previous));
    let question = match &follow_up {
        Ok(Some(follow_up)) => follow_up.whole.clone(),
        Ok(None) | Err(_) => known.question,
    };
    TurnState { question, follow_up, ..known }
}

/// The same with a question that takes a value of the one before out for its own, once both are known.
fn replace_value(known: TurnState) -> TurnState {
    let Ok(Some(follow_up)) = &known.follow_up else { return known };
    let speaks = |database: &&str| known.speaks.iter().any(|(name, _)| name == database);
    let other = databases(&known).into_iter().filter(speaks).find_map(|one| follow_up.with_other_value(&known, one));
    match other {
        Some(other) => TurnState { question: other.whole.clone(), follow_up: Ok(Some(other)), ..known },
        None => known,
    }
}

/// What is found out next.
fn next(known: &TurnState, has_engine: bool) -> Vec<(&'static str, Value)> {
    let is_too_long = is_too_long(&known.question);
    if is_too_long || known.follow_up.is_err() || known.auditable && is_personal(&known.question) {
        return Vec::new();
    }
    if known.rounds == 0 {
        let searched = known.follow_up.as_ref().ok().and_then(Option::as_ref).map(|one| one.search_text());
        return first_look(&known.question, searched.unwrap_or(&known.question));
    }
    let tables = tables_to_look_at(known);
    if !tables.is_empty() && known.rounds < 5 {
        let describe = |(database, table): (String, String)| {
            ("get_table_schema", json!({"database": database, "table": table, "max_tokens": 16_000}))
        };
        let mut calls: Vec<(&'static str, Value)> = tables.into_iter().map(describe).collect();
        if known.rounds == 1 {
            // A definition may rest on another term.
            for definition in &known.definitions {
                let rest = definition.text.split_once(" is ").map_or("", |(_, rest)| rest);
                let terms =
                    rest.trim_end_matches('.').split(" divided by ").take(2).filter(|_| rest.contains(" divided by "));
                for term in terms.filter(|term| !term.contains(['.', '`']) && term.split(' ').count() <= 4) {
                    calls.push(("resolve_fact", json!({"question": term})));
                }
            }
        }
        return calls;
    }
    if !has_engine || known.knowledge {
        return Vec::new();
    }
    match interpret(known) {
        Ok((_, sql)) => {
            let query = json!({"question": known.question, "sql": sql});
            vec![("execute_sql", json!({"queries": [query]}))]
        }
        Err(Stop::Words(words)) if known.rounds < 8 => {
            let speaks = |database: &&str| known.speaks.iter().any(|(name, _)| name == database);
            let database = databases(known).into_iter().find(speaks);
            database.map_or(Vec::new(), |database| search_values(known, database, &words))
        }
        Err(_) => Vec::new(),
    }
}

fn first_look(question: &str, searched: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("resolve_fact", json!({"question": question})),
        ("search_tables", json!({"query": searched, "limit": 8})),
        ("search_documents", json!({"query": question, "limit": 3})),
        ("list_sources", json!({})),
    ];
    let chunks = text::chunks(question).into_iter().filter(|chunk| chunk != question);
    calls.extend(chunks.take(4).map(|chunk| ("resolve_fact", json!({"question": chunk}))));
    calls
}

/// Tables that were found and not described yet, and those that described ones refer to.
fn tables_to_look_at(known: &TurnState) -> Vec<(String, String)> {
    let described = |database: &str, table: &str| {
        known.tables.iter().any(|one| one.database == database && one.name.eq_ignore_ascii_case(table))
    };
    let words = text::words(&known.question);
    let is_named = |table: &str| text::find(&words, &text::stems(table)).is_some();
    let hits = known
        .hits
        .iter()
        .enumerate()
        .filter(|(at, hit)| is_named(&hit.1) || (*at < MAX_HITS && hit.2 >= MIN_TABLE_RELEVANCE));
    let mut wanted: Vec<(String, String)> = hits.map(|(_, hit)| (hit.0.clone(), hit.1.clone())).collect();
    if known.rounds > 1 {
        for table in &known.tables {
            let referred = table.columns.iter().filter_map(|column| column.refers.as_ref());
            wanted.extend(referred.map(|(target, _)| (table.database.clone(), target.clone())));
        }
    }
    // A table that could not be described is not asked for again.
    let tried = |database: &str, table: &str| {
        known.calls.iter().any(|(_, arguments)| {
            let id = format!("{database}.{table}");
            arguments["table"] == table && arguments["database"] == database
                || arguments["ids"].as_array().is_some_and(|ids| ids.iter().any(|known| *known == id))
        })
    };
    let mut fresh: Vec<(String, String)> = Vec::new();
    for (database, table) in wanted {
        let is_new = !described(&database, &table) && !tried(&database, &table);
        if is_new && !fresh.contains(&(database.clone(), table.clone())) {
            fresh.push((database, table));
        }
    }
    fresh.truncate(MAX_TABLES.saturating_sub(known.tables.len()));
    fresh
}

/// The databases by their best hit.
fn databases(known: &TurnState) -> Vec<&str> {
    let mut databases: Vec<&str> = Vec::new();
    for hit in &known.hits {
        if !databases.contains(&hit.0.as_str()) && known.tables.iter().any(|table| table.database == hit.0) {
            databases.push(&hit.0);
        }
    }
    databases
}

/// The intent and its query, of the first database that it can be asked of.
fn interpret(known: &TurnState) -> Result<(Intent, String), Stop> {
    let mut first = None;
    for database in databases(known) {
        let tables: Vec<&Table> = known.tables.iter().filter(|table| table.database == database).collect();
        let stop = match known.speaks.iter().find(|(name, _)| name == database) {
            None => Stop::Reason(format!("the catalog has the schema of {database}, but not its rows")),
            Some((_, speaks)) => match write_query(known, database, &tables, Speaks::of(speaks)) {
                Ok(query) => return Ok(query),
                Err(stop) => stop,
            },
        };
        // Words that may be values go before a reason: the other database may know them.
        let is_better = match (&first, &stop) {
            (None, _) => true,
            (Some(Stop::Words(known)), Stop::Words(words)) => words.len() < known.len(),
            _ => false,
        };
        if is_better {
            first = Some(stop);
        }
    }
    Err(first.unwrap_or_else(|| Stop::Reason("no table of the catalog fits it".into())))
}

/// The question as a query over one database.
fn write_query(known: &TurnState, database: &str, tables: &[&Table], speaks: Speaks) -> Result<(Intent, String), Stop> {
    let intent = intent::read(known, database)?;
    if let Ok(Some(follow_up)) = &known.follow_up {
        follow_up.holds(known, database, &intent)?;
    }
    let sql = sql::write(&intent, tables, speaks).map_err(|error| Stop::Reason(error.to_string()))?;
    Ok((intent, sql))
}

/// The answer, from what is known.
fn write_answer(known: &TurnState, has_engine: bool) -> String {
    if is_too_long(&known.question) {
        return format!("{}\n\n{WHO}", decline_too_long(&known.question));
    }
    if known.auditable && is_personal(&known.question) {
        return format!(
            "Clarification: the question rests on something that only you know; which value is meant?\n\n{WHO}"
        );
    }
    if let Err(reason) = &known.follow_up {
        return decline(known, &reason.to_string());
    }
    if known.knowledge {
        return explain(known).unwrap_or_else(|| decline(known, "no fact or document of the catalog explains it"));
    }
    match (interpret(known), &known.result) {
        (Ok((intent, _)), Some(result)) if result.get("rows").is_some() => {
            let line = known.follow_up.as_ref().ok().and_then(Option::as_ref).map(|one| one.line());
            line.unwrap_or_default() + &render_rows(known, &intent, result)
        }
        (_, Some(result)) => {
            let message = result["message"].as_str().unwrap_or("it failed");
            decline(known, &format!("the query did not run: {message}"))
        }
        (Err(stop), None) => {
            let reason = match stop {
                Stop::Reason(reason) => reason,
                Stop::Words(words) => {
                    let is_value = |word: &&String| {
                        known.values.iter().flat_map(|one| &one.values).any(|value| value.eq_ignore_ascii_case(word))
                    };
                    let words: Vec<String> =
                        words.iter().filter(|word| !is_value(word)).map(|word| format!("`{word}`")).collect();
                    format!("no table, column, value or term of the catalog is called {}", words.join(" or "))
                }
            };
            decline(known, &reason)
        }
        (Ok(_), None) if has_engine => decline(known, "the calls were used up before the query"),
        (Ok(_), None) => decline(known, "no database of the catalog holds rows"),
    }
}

fn is_personal(question: &str) -> bool {
    text::words(question).iter().any(|word| ["my", "mine", "i", "me"].contains(&word.text.to_lowercase().as_str()))
        && !question.to_lowercase().starts_with("show me")
        && !question.to_lowercase().starts_with("give me")
}

fn decline(known: &TurnState, reason: &str) -> String {
    let mut text = format!(
        "I cannot answer this: {reason}.\n\nI count, add up, average and rank rows by dates, columns and \
        values; ask in those words, or set a language model with --model."
    );
    if known.tables.is_empty() && !holds_document(known) && relevant(known).next().is_none() {
        text.push_str(&format!("\n\n{OUT_OF_SCOPE}: nothing in the catalog comes near it."));
    }
    for definition in relevant(known) {
        text.push_str(&format!("\n\n{} ({})", definition.text, definition.source));
    }
    text.push_str(&format!("\n\n{WHO}"));
    text
}

/// Whether a document is about what is asked.
fn holds_document(known: &TurnState) -> bool {
    known.documents.iter().any(|(_, _, relevance)| *relevance >= MIN_TABLE_RELEVANCE)
}

/// The definitions whose terms the question holds.
fn relevant(known: &TurnState) -> impl Iterator<Item = &turn_state::Definition> {
    let words = text::words(&known.question);
    known.definitions.iter().filter(move |definition| text::find(&words, &text::stems(&definition.term)).is_some())
}

fn explain(known: &TurnState) -> Option<String> {
    let mut lines: Vec<String> = (relevant(known).take(2))
        .map(|one| format!("{} (source: {}, confidence {})", one.text, one.source, one.confidence))
        .collect();
    if lines.is_empty() {
        let document = known
            .documents
            .iter()
            .find(|document| document.2 >= MIN_EXPLANATION_RELEVANCE && !document.1.is_empty())?;
        lines.push(format!("{} (source: {})", document.1, document.0));
    }
    Some(format!("{}\n\n{WHO}", lines.join("\n\n")))
}

/// The rows in words.
fn render_rows(known: &TurnState, intent: &Intent, result: &Value) -> String {
    let database = databases(known);
    let of = |name: &&str| known.tables.iter().any(|table| table.database == **name);
    let name = result["databases"][0].as_str().or(database.iter().copied().find(|name| of(name))).unwrap_or_default();
    let tables: Vec<&Table> = known.tables.iter().filter(|table| table.database == name).collect();
    let measure = intent.called.clone().unwrap_or_else(|| name_measure(&intent.measure, intent, &tables));
    let conditions: Vec<String> = intent.conditions().iter().map(|one| condition(one, &tables)).collect();
    let conditions =
        if conditions.is_empty() { String::new() } else { format!(", where {}", conditions.join(" and ")) };
    let rows: Vec<&Vec<Value>> = result["rows"].as_array().into_iter().flatten().filter_map(Value::as_array).collect();
    let mut text = match rows.as_slice() {
        [] => format!("There are no rows: {measure}{conditions} [Q1]."),
        [row] if intent.groups.is_empty() => {
            let value = row.last().unwrap_or(&Value::Null);
            let value = if value.is_null() { "not known: no row fits".to_owned() } else { number(value) };
            format!("The {}{conditions} is {value} [Q1].", uncapital(&measure))
        }
        rows => {
            let groups: Vec<String> = (intent.groups.iter())
                .map(|group| match group.unit {
                    Some(unit) => unit.as_str().to_owned(),
                    None => {
                        format!("{}.{}", tables[group.place.0].name, tables[group.place.0].columns[group.place.1].name)
                    }
                })
                .collect();
            let ranked = match intent.rank {
                Some((_, true)) => ", the largest first",
                Some((_, false)) => ", the smallest first",
                None => "",
            };
            let mut text = format!("{} by {}{conditions}{ranked} [Q1]:\n", capital(&measure), groups.join(" and "));
            for row in rows.iter().take(MAX_ROWS_SHOWN) {
                let (value, keys) = row.split_last().map_or((&Value::Null, &row[..]), |(value, keys)| (value, keys));
                let keys: Vec<String> = keys.iter().map(key).collect();
                text.push_str(&format!("\n- {}: {}", keys.join(", "), number(value)));
            }
            if rows.len() > MAX_ROWS_SHOWN || result["has_more"].as_bool().unwrap_or(false) {
                text.push_str("\n\nThere are more; the query lists them.");
            }
            text
        }
    };
    for note in &intent.notes {
        text.push_str(&format!("\n\nNote: {note}."));
    }
    for definition in known.definitions.iter().filter(|one| intent.terms.contains(&one.term)) {
        text.push_str(&format!(
            "\n\nBy definition: {} ({}, confidence {})",
            definition.text, definition.source, definition.confidence
        ));
    }
    text.push_str(&format!("\n\n{WHO}"));
    text
}

fn name_measure(measure: &Measure, intent: &Intent, tables: &[&Table]) -> String {
    match measure {
        Measure::Rows => {
            format!(
                "number of {}",
                tables.get(intent.subject).map_or("", |table| table.name.as_str()).replace('_', " ")
            )
        }
        Measure::Of(aggregate, (table, column)) => {
            let (table, column) = (tables[*table], &tables[*table].columns[*column]);
            let of = if *aggregate == Aggregate::Distinct { " of" } else { "" };
            format!("{}{of} {}.{}", aggregate.as_str(), table.name, column.name)
        }
        Measure::Ratio(left, right) => {
            format!("{} divided by {}", name_measure(left, intent, tables), name_measure(right, intent, tables))
        }
    }
}

fn condition(condition: &intent::Condition<'_>, tables: &[&Table]) -> String {
    let filter = condition.filter;
    let (table, column) = (tables[filter.place.0], &tables[filter.place.0].columns[filter.place.1]);
    let name = format!("{}.{}", table.name, column.name);
    match &filter.test {
        Test::Is(value) => {
            let values: Vec<&str> = std::iter::once(value.as_str()).chain(condition.others.iter().copied()).collect();
            format!("{name} is {}", values.join(" or "))
        }
        Test::Compare(operator, number) => format!("{name} {operator} {number}"),
        Test::During(period) if period.to.starts_with("9999") => format!("{name} is from {} on", period.from),
        Test::During(period) if period.from.starts_with("0000") => format!("{name} is before {}", period.to),
        Test::During(period) => format!("{name} is from {} to before {}", period.from, period.to),
    }
}

fn key(value: &Value) -> String {
    match value {
        Value::Null => "(none)".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number with two places after the point, or as many as a small one needs, and thousands apart.
fn number(value: &Value) -> String {
    let float = match value {
        Value::String(text) => text.parse::<f64>().ok(),
        other => other.as_f64(),
    };
    let Some(float) = float.filter(|float| float.is_finite()) else { return key(value) };
    let places = if float.fract() == 0.0 {
        0
    } else if float.abs() < 1.0 {
        4
    } else {
        2
    };
    let written = format!("{float:.places$}");
    let (sign, digits) = written.strip_prefix('-').map_or(("", written.as_str()), |digits| ("-", digits));
    let (whole, rest) =
        digits.split_once('.').map_or((digits, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn uncapital(text: &str) -> String {
    // An abbreviation keeps its capitals.
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// What could be asked next about rows with dates, as the last lines of an answer.
fn add_next(known: &TurnState, answer: String) -> String {
    let question = known.question.trim().trim_end_matches(['?', '.']);
    let lower = question.to_lowercase();
    let has_dates = lower.contains("_date") || answer.contains("_date");
    if known.result.is_none() || !has_dates || [" by ", " per "].iter().any(|word| lower.contains(word)) {
        return answer;
    }
    format!("{answer}\n\nNext: {question} by year?\nNext: {question} by quarter?")
}
