//! What a language model may call.

use std::future::Future;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::error::ToolError;
use super::output::ToolOutput;

/// What a tool author writes. `Args` carries its own JSON Schema, so the schema that a model is shown can never drift
/// from the code that runs. Derive `Deserialize` and `JsonSchema` for it, with `#[serde(deny_unknown_fields)]` and a
/// doc comment on each field: the comment is what the model reads.
pub trait Tool: Send + Sync + 'static {
    /// The name that a model calls, `snake_case`.
    const NAME: &'static str;
    /// Other names by which it can be called. They are listed nowhere.
    const ALIASES: &'static [&'static str] = &[];
    /// What it does and when to call it, in a sentence or two.
    const DESCRIPTION: &'static str;
    /// How to get the rest of an answer that had to be cut.
    const MORE: &'static str = "call again with a larger max_tokens";
    /// What a call does besides answering.
    const EFFECT: Effect;
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The answer; a [`crate::tool::Page`] for lists.
    type Output: ToolOutput;

    /// Does the work.
    ///
    /// # Errors
    /// [`ToolError::Respond`] for what the model can mend, [`ToolError::Fatal`] for what ends the turn.
    fn call(&self, args: Self::Args) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// What a call of a tool does besides answering. A client decides by it whether to ask its user before a call, and a
/// caller whether a call may be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing: it reads.
    Reads,
    /// It changes what this program keeps.
    Writes {
        /// Whether the same call, made again, changes nothing more.
        repeatable: bool,
    },
    /// It calls somebody else's service, and what that does is not known here.
    CallsOut,
}

impl Effect {
    /// Whether nothing changes by a call.
    pub fn is_read_only(self) -> bool {
        matches!(self, Effect::Reads)
    }

    /// Whether a call may be made again without doing more.
    pub fn may_be_repeated(self) -> bool {
        match self {
            Effect::Reads => true,
            Effect::Writes { repeatable } => repeatable,
            Effect::CallsOut => false,
        }
    }

    /// Whether it reaches beyond this program and its sources.
    pub fn calls_out(self) -> bool {
        matches!(self, Effect::CallsOut)
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
    list_constants(object);
}

/// A choice of described texts, as a list of them whose description says what each means: half the tokens.
fn list_constants(schema: &mut Map<String, Value>) {
    let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let names: Vec<Value> = variants.iter().filter_map(|variant| variant.get("const").cloned()).collect();
    if names.len() != variants.len() || !names.iter().all(Value::is_string) {
        return;
    }
    let meaning =
        |variant: &Value| Some(format!("{}: {}", variant["const"].as_str()?, variant["description"].as_str()?));
    let parts = schema.get("description").and_then(Value::as_str).map(str::to_owned).into_iter();
    let description: Vec<String> = parts.chain(variants.iter().filter_map(meaning)).collect();
    schema.remove("oneOf");
    schema.insert("type".into(), json!("string"));
    schema.insert("enum".into(), Value::Array(names));
    if !description.is_empty() {
        schema.insert("description".into(), json!(description.join("\n")));
    }
}
