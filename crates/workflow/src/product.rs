//! What the tools of a workflow leave.

use serde_json::Value;

use crate::definition::{Each, Product};

/// Something that was made.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) name: String,
    /// What tells it from others of the name.
    pub(crate) key: String,
    pub(crate) value: Value,
    /// The phase that made it, by its place.
    pub(crate) by: usize,
}

/// What an answer of the product's tool holds of it, each with its key; none where the answer says nothing of it.
pub(crate) fn read_products(product: &Product, answer: &Value) -> Option<Vec<(String, Value)>> {
    match &product.each {
        None => Some(vec![(String::new(), answer.clone())]),
        Some(Each::Value(pointer)) => Some(vec![(answer.pointer(pointer)?.to_string(), answer.clone())]),
        Some(Each::Item(pointer)) => {
            let items = answer.pointer(pointer)?.as_array()?;
            Some(items.iter().map(|item| (item.to_string(), item.clone())).collect())
        }
    }
}
