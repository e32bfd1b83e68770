//! Tool definitions.

use std::future::Future;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::error::ToolError;
use super::output::ToolOutput;

/// A tool. The JSON Schema shown to models is derived from `Args`, so it cannot diverge from the code. Derive `Deserialize` and
/// `JsonSchema` with `#[serde(deny_unknown_fields)]`, and write a doc comment for each field: it becomes the argument's description.
pub trait Tool: Send + Sync + 'static {
    /// The name, `snake_case`.
    const NAME: &'static str;
    /// Unlisted aliases.
    const ALIASES: &'static [&'static str] = &[];
    /// What it does and when to call it, in one or two sentences.
    const DESCRIPTION: &'static str;
    /// How to get the rest of a truncated result.
    const MORE: &'static str = "call again with a larger max_tokens";
    /// The side effects of a call.
    const EFFECT: Effect;
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The result; a [`crate::tool::Page`] for lists.
    type Output: ToolOutput;

    /// Runs the tool.
    ///
    /// # Errors
    /// [`ToolError::Respond`] for errors that the model can fix, [`ToolError::Fatal`] for those that end the turn.
    fn call(&self, args: Self::Args) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// The side effects of a call, which determine whether a client asks its user for approval, and whether a call may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// None: read-only.
    Reads,
    /// It changes data that this program stores.
    Writes {
        /// Whether repeating the call has no further effect.
        repeatable: bool,
    },
    /// It calls an external service with unknown effects.
    CallsOut,
}

impl Effect {
    /// Returns whether a call changes nothing.
    pub fn is_read_only(self) -> bool {
        matches!(self, Effect::Reads)
    }

    /// Returns whether a call may be repeated safely.
    pub fn may_be_repeated(self) -> bool {
        match self {
            Effect::Reads => true,
            Effect::Writes { repeatable } => repeatable,
            Effect::CallsOut => false,
        }
    }

    /// Returns whether it calls external services.
    pub fn calls_out(self) -> bool {
        matches!(self, Effect::CallsOut)
    }
}

/// The specification of a tool for models.
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
    /// Returns the specification of a tool type.
    pub fn of<T: Tool>() -> Self {
        ToolSpec::new::<T::Args>(T::NAME, T::DESCRIPTION)
    }

    /// Returns the specification of a tool with these arguments.
    pub fn new<Args: JsonSchema>(name: &str, description: &str) -> Self {
        ToolSpec { name: name.to_owned(), description: description.to_owned(), input_schema: input_schema::<Args>() }
    }
}

/// Returns the schema of `Args` without parts that cost tokens and carry no information: titles, the dialect, number formats. Unknown
/// fields are rejected by the call, with the valid names.
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
    // `["integer", "null"]` for an optional argument: `required` already states that it is optional.
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

/// Replaces a choice of described constants by an `enum` whose description explains each, with half the tokens.
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
