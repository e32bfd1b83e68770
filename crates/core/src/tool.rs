//! What a language model may call.

use std::future::Future;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{Resource, ToolError};

/// What a tool author writes. `Args` carries its own JSON Schema, so the schema that a model is shown can never drift
/// from the code that runs. Derive `Deserialize` and `JsonSchema` for it, with `#[serde(deny_unknown_fields)]` and a
/// doc comment on each field: the comment is what the model reads.
pub trait Tool: Send + Sync + 'static {
    /// The name that a model calls, `snake_case`.
    const NAME: &'static str;
    /// What it does and when to call it, in a sentence or two.
    const DESCRIPTION: &'static str;
    /// How to get the rest of an answer that had to be cut.
    const MORE: &'static str = "call again with a larger max_tokens";
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The answer; a [`crate::Page`] for lists.
    type Output: Serialize;

    /// Does the work.
    ///
    /// # Errors
    /// [`ToolError::Respond`] for what the model can mend, [`ToolError::Fatal`] for what ends the turn.
    fn call(&self, args: Self::Args) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The text of an answer where this tool knows a shorter one than [`crate::compact::render`] gives. It holds every
    /// value, and what comes from data passes through the functions of that module. `answer` is the JSON as it is shown,
    /// after any cut.
    fn compact(answer: &Value) -> Option<String> {
        let _ = answer;
        None
    }

    /// The names that this answer shows, which a plan may use from then on. `args` are the arguments as they were
    /// passed, `answer` is the JSON as it is shown, after any cut.
    fn reveals(args: &Value, answer: &Value) -> Vec<Resource> {
        let _ = (args, answer);
        Vec::new()
    }
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name to call.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of type `object`.
    pub input_schema: Value,
}

impl ToolSpec {
    /// The specification of a tool type.
    pub fn of<T: Tool>() -> Self {
        ToolSpec::new::<T::Args>(T::NAME, T::DESCRIPTION)
    }

    /// The specification of a tool with these arguments.
    pub fn new<Args: JsonSchema>(name: &str, description: &str) -> Self {
        ToolSpec { name: name.to_owned(), description: description.to_owned(), input_schema: input_schema::<Args>() }
    }
}

/// The schema of `Args`, without what costs tokens and says nothing: titles, the dialect, number formats. A field that
/// is not there is refused by the call, with the names of those that are.
fn input_schema<Args: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut schema = generator.into_root_schema_for::<Args>().to_value();
    slim(&mut schema, true);
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert_with(|| json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

fn slim(schema: &mut Value, root: bool) {
    let Some(object) = schema.as_object_mut() else { return };
    for key in ["title", "format", "minimum", "$schema", "additionalProperties"] {
        object.remove(key);
    }
    if root {
        object.remove("description");
    }
    // `["integer", "null"]` for an optional argument: that it may be left out is in `required` already.
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(variants)) = object.get_mut("anyOf") {
        variants.retain(|v| v.get("type").is_none_or(|t| t != "null"));
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(|property| slim(property, false));
    }
    if let Some(items) = object.get_mut("items") {
        slim(items, false);
    }
}
