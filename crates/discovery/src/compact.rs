//! The compact profile: six tools that reach what the full set reaches, by calling it.

mod describe;
mod list;
mod routes;
mod sample;
mod search;
mod terms;

use std::sync::Arc;

use prospector_core::tool::Toolset;
use serde_json::{Map, Value, json};

pub use routes::{ROUTES, Route};
pub(crate) use sample::NAME as SAMPLE;
pub(crate) use terms::{ADD as ADD_FACT, RESOLVE as RESOLVE_FACT};

use crate::{Catalog, target::TargetResolver};

/// The six tools over the full set, and those of them that the catalog has nothing for.
pub(crate) fn toolsets(catalog: &Catalog, targets: &Arc<TargetResolver>) -> (Toolset, Toolset) {
    let mut here = Toolset::new();
    let mut absent = Toolset::new();
    if catalog.is_empty() {
        return (here, absent);
    }
    here = here
        .with_callable(search::NAME, Arc::new(search::Search::new(targets)))
        .with_callable(list::NAME, Arc::new(list::List::new(targets)))
        .with_callable(describe::NAME, Arc::new(describe::Describe::new(targets)))
        .with_callable(terms::RESOLVE, Arc::new(terms::ResolveFact::new(targets)))
        .with_callable(terms::ADD, Arc::new(terms::AddFact::new(targets)));
    let sample = Arc::new(sample::Sample::new(targets));
    if catalog.schema.databases().len() > 0 {
        here = here.with_callable(sample::NAME, sample);
    } else {
        absent = absent.with_callable(sample::NAME, sample);
    }
    (here, absent)
}

/// The schema of an answer that has one of these schemas, as [`Toolset::output_schema`] makes them: the fields of all of
/// them; where several are lists, a list of any of their items.
fn either(schemas: impl IntoIterator<Item = Value>) -> Value {
    let (mut properties, mut items) = (Map::new(), Vec::new());
    for mut schema in schemas {
        let Some(Value::Object(fields)) = schema.get_mut("properties").map(Value::take) else { continue };
        for (name, mut field) in fields {
            match field.get_mut("items").map(Value::take) {
                Some(item) if name == "items" => items.push(item),
                Some(item) => {
                    field["items"] = item;
                    properties.entry(name).or_insert(field);
                }
                None => {
                    properties.entry(name).or_insert(field);
                }
            }
        }
    }
    if !items.is_empty() {
        properties.insert("items".into(), json!({"type": "array", "items": {"anyOf": items}}));
    }
    json!({"type": "object", "properties": properties})
}
