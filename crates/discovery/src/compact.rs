//! The compact profile: six tools that reach what the full set reaches, by calling it.

mod describe;
mod list;
mod routes;
mod sample;
mod search;
mod terms;
mod things;

use std::sync::Arc;

use prospector_core::{Answer, Toolset, compact};
use serde_json::{Value, json};

use crate::Catalog;
pub use routes::{ROUTES, Route};
use things::Things;

/// The six tools over the full set, and those of them that the catalog has nothing for.
pub(crate) fn toolsets(catalog: &Catalog, full: Toolset) -> (Toolset, Toolset) {
    let things = Arc::new(Things::new(catalog, full));
    let mut here = Toolset::new();
    let mut absent = Toolset::new();
    if catalog.is_empty() {
        return (here, absent);
    }
    here = here
        .with_callable(search::NAME, Arc::new(search::Search::new(&things)))
        .with_callable(list::NAME, Arc::new(list::List::new(&things)))
        .with_callable(describe::NAME, Arc::new(describe::Describe::new(&things)))
        .with_callable(terms::RESOLVE, Arc::new(terms::ResolveFact::new(&things)))
        .with_callable(terms::ADD, Arc::new(terms::AddFact::new(&things)));
    let sample = Arc::new(sample::Sample::new(&things));
    if catalog.schema.databases().len() > 0 {
        here = here.with_callable(sample::NAME, sample);
    } else {
        absent = absent.with_callable(sample::NAME, sample);
    }
    (here, absent)
}

/// Several answers as one: a list of `labels`, each with its `answer` or with the fields of its error, and what was left
/// out for want of room.
fn joined(answered: Vec<(Value, Answer)>, left_out: Vec<String>) -> Answer {
    let mut joined = Answer { value: Value::Null, parts: Vec::new(), rest: String::new(), reveals: Vec::new() };
    let mut items = Vec::with_capacity(answered.len());
    for (mut item, answer) in answered {
        joined.parts.push(answer.text());
        item["answer"] = answer.value;
        joined.reveals.extend(answer.reveals);
        items.push(item);
    }
    if left_out.is_empty() {
        joined.value = items.into();
        return joined;
    }
    let said = json!({"truncated": true, "left_out": left_out, "next": "ask for what is left out in another call"});
    joined.rest = compact::render(&said);
    joined.value = json!({"items": items});
    if let (Some(fields), Value::Object(said)) = (joined.value.as_object_mut(), said) {
        fields.extend(said);
    }
    joined
}
