//! Products of a workflow's tools.

use serde_json::Value;

use crate::definition::{Each, Product};

/// An instance of a product.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) name: String,
    /// Distinguishes it from other instances.
    pub(crate) key: String,
    pub(crate) value: Value,
    /// Index of the phase that made it.
    pub(crate) by: usize,
}

/// Returns the instances of a product in a result, each with its key; `None` if the result has none.
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
