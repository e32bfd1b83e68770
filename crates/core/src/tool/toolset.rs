//! Sets of tools.

use std::{collections::BTreeMap, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::Answer;
use super::definition::{Effect, Tool, ToolSpec};
use super::error::{ToolError, ToolErrorCode};
use super::guarded::{BoxFuture, guard};
use super::repair::{Repaired, repair_arguments};
use crate::mark::{clean_name, redact::Redactor};
use crate::name::nearest;

/// Tools by name, in alphabetical order, so that prompts are deterministic.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: BTreeMap<&'static str, Arc<dyn Callable>>,
    /// Aliases, with the names of their tools.
    aliases: BTreeMap<&'static str, &'static str>,
    /// Redacts errors for clients of a server.
    redactor: Option<Arc<Redactor>>,
}

impl Toolset {
    /// The default limit of a result, in tokens, if the call does not pass `max_tokens`.
    pub const DEFAULT_MAX_TOKENS: usize = 4_000;

    /// Creates an empty set.
    pub fn new() -> Self {
        Toolset::default()
    }

    /// Adds a tool; one with the same name is replaced.
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.tools.insert(T::NAME, Arc::new(Registered { tool, spec: ToolSpec::of::<T>() }));
        self.aliases.extend(T::ALIASES.iter().map(|alias| (*alias, T::NAME)));
        self
    }

    /// Adds an untyped tool under this name; one with the same name is replaced.
    pub fn with_callable(mut self, name: &'static str, tool: Arc<dyn Callable>) -> Self {
        self.tools.insert(name, tool);
        self
    }

    /// Returns the set with errors redacted, if there is a redactor.
    pub fn with_redactor(mut self, redactor: Option<Arc<Redactor>>) -> Self {
        self.redactor = redactor.or(self.redactor);
        self
    }

    /// Returns whether there is a tool with that name or alias.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Arc<dyn Callable>> {
        self.tools.get(name).or_else(|| self.tools.get(self.aliases.get(name)?))
    }

    /// Removes the tools of another set.
    pub fn without(mut self, other: &Toolset) -> Self {
        self.tools.retain(|name, _| !other.tools.contains_key(name));
        self.aliases.retain(|_, name| !other.tools.contains_key(name));
        self
    }

    /// Keeps only the tools with these names.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.tools.retain(|name, _| names.contains(name));
        self.aliases.retain(|_, name| names.contains(name));
        self
    }

    /// Adds all tools of another set.
    pub fn merge(mut self, other: Toolset) -> Self {
        self.tools.extend(other.tools);
        self.aliases.extend(other.aliases);
        self.redactor = self.redactor.or(other.redactor);
        self
    }

    /// Returns the specifications, by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    /// Returns the side effects of a tool, if it exists.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.find(name).map(|tool| tool.effect())
    }

    /// Returns the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().copied()
    }

    /// Calls a tool. Every tool accepts `max_tokens`, the limit of its result, in addition to its own arguments. Arguments are repaired
    /// where the intent is unambiguous: see [`repair_arguments`].
    ///
    /// All calls go through here; a panic of a tool only fails its own call.
    ///
    /// # Errors
    /// - The error of the tool.
    /// - `unknown_tool`, with the closest names.
    /// - `invalid_arguments`, with the reason.
    /// - [`ToolError::Fatal`] if the tool panicked.
    pub async fn call(&self, name: &str, mut args: Value) -> Result<Answer, ToolError> {
        let Some(tool) = self.find(name) else {
            let near = nearest(name, self.names(), 3);
            return Err(ToolError::Respond {
                code: ToolErrorCode::UnknownTool,
                message: format!("there is no tool `{}`", clean_name(name)),
                suggestion: (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", "))),
            });
        };
        if args.is_null() {
            args = Value::Object(Default::default());
        }
        let max_tokens = take_max_tokens(&mut args)?;
        let Repaired { arguments, notes } = repair_arguments(args, &tool.spec().input_schema);
        if !arguments.is_object() {
            let usage = format!("call it as {}", usage(tool.spec()));
            return Err(ToolError::invalid(format!("{name}: the arguments must be a JSON object"), Some(usage)));
        }
        // The tool is called inside, so that a panic of the call itself is caught too.
        match guard(Box::pin(async move { tool.call(arguments, max_tokens).await })).await {
            Ok(Ok(answer)) => Ok(answer.with_notes(notes)),
            Ok(Err(error)) => Err(match &self.redactor {
                Some(redactor) => error.redact(redactor),
                None => error,
            }),
            Err(panicked) => Err(ToolError::fatal(format!("the tool `{}` panicked: {panicked}", tool.spec().name))),
        }
    }
}

fn take_max_tokens(args: &mut Value) -> Result<usize, ToolError> {
    let Some(value) = args.as_object_mut().and_then(|object| object.remove("max_tokens")) else {
        return Ok(Toolset::DEFAULT_MAX_TOKENS);
    };
    match value.as_u64().and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n >= 50 => Ok(n),
        _ => Err(ToolError::invalid(format!("max_tokens must be an integer of 50 or more, not {value}"), None)),
    }
}

/// A type-erased [`Tool`]. Tools that combine the results of others implement it directly, and are added with [`Toolset::with_callable`].
pub trait Callable: Send + Sync {
    /// Returns the specification for models.
    fn spec(&self) -> &ToolSpec;

    /// Returns the side effects of a call.
    fn effect(&self) -> Effect;

    /// Runs the tool; the JSON of the result has at most `max_tokens` by [`crate::tokens::estimate`]. `args` is an object.
    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>>;
}

impl ToolSpec {
    /// Deserializes the arguments of a call.
    ///
    /// # Errors
    /// `invalid_arguments` with the reason, and the signature of the tool.
    pub fn arguments<Args: DeserializeOwned>(&self, args: Value) -> Result<Args, ToolError> {
        serde_json::from_value(args).map_err(|error| {
            let reason = describe(&error.to_string());
            ToolError::invalid(format!("{}: {reason}", self.name), Some(format!("call it as {}", usage(self))))
        })
    }
}

/// Rewrites the reason of an invalid argument: JSON types in place of those of Rust.
fn describe(reason: &str) -> String {
    let Some((found, expected)) = reason.rsplit_once(", expected ") else { return reason.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        other => other,
    };
    let found = match found {
        "invalid type: sequence" => "invalid type: list",
        "invalid type: map" => "invalid type: object",
        other => other,
    };
    format!("{found}, expected {expected}")
}

struct Registered<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> Callable for Registered<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        T::EFFECT
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            let output = self.tool.call(self.spec.arguments(args)?).await?;
            Ok(Answer::of(output, T::MORE).fit(max_tokens))
        })
    }
}

/// `get_table_schema(database, table, limit?)`, `execute_sql(queries: [{question, sql, database?}])`
fn usage(spec: &ToolSpec) -> String {
    // One level of nested fields is enough to describe a call.
    let items = |field: &Value| list_fields(&field["items"], &|_| None).map(|names| format!(": [{{{names}}}]"));
    format!("{}({})", spec.name, list_fields(&spec.input_schema, &items).unwrap_or_default())
}

/// Returns the names of an object's fields, each with the text of `say`.
fn list_fields(schema: &Value, say: &dyn Fn(&Value) -> Option<String>) -> Option<String> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(name, field): (&String, &Value)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{mark}{}", say(field).unwrap_or_default())
    };
    Some(schema["properties"].as_object()?.iter().map(field).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::tool::Page;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct CountArgs {
        /// How far to count.
        upto: usize,
        /// Where to begin.
        from: Option<usize>,
    }

    struct Count;
    impl Tool for Count {
        const NAME: &'static str = "count";
        const ALIASES: &'static [&'static str] = &["enumerate"];
        const DESCRIPTION: &'static str = "Counts.";
        const EFFECT: Effect = Effect::Reads;
        type Args = CountArgs;
        type Output = Page<String>;
        async fn call(&self, args: CountArgs) -> Result<Page<String>, ToolError> {
            Ok(Page::whole((args.from.unwrap_or(0)..args.upto).map(|n| format!("number {n}")).collect()))
        }
    }

    async fn check(name: &str, args: Value, expected: Value) {
        let tools = Toolset::new().with(Count);
        let got = match tools.call(name, args).await {
            Ok(answer) => answer.into_json(),
            Err(error) => error.to_json(),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn reasons_name_types_of_json() {
        let reason = describe("invalid type: string \"many\", expected usize");
        assert_eq!(reason, "invalid type: string \"many\", expected a whole number from 0");
        assert_eq!(describe("invalid type: map, expected a sequence"), "invalid type: object, expected a list");
        assert_eq!(describe("missing field `query`"), "missing field `query`");
    }

    #[tokio::test]
    async fn calls_by_name_and_reports_fixable_errors() {
        check("count", json!({"upto": 2}), json!(["number 0", "number 1"])).await;
        check("enumerate", json!({"upto": "1"}), json!(["number 0"])).await;
        check(
            "cuont",
            json!({}),
            json!({"error": "unknown_tool", "message": "there is no tool `cuont`", "suggestion": "did you mean count?"}),
        )
        .await;
        check(
            "count",
            json!({"upto": 2, "start": 1}),
            json!({"error": "invalid_arguments",
                   "message": "count: unknown field `start`, expected `upto` or `from`",
                   "suggestion": "call it as count(upto, from?)"}),
        )
        .await;
        check(
            "count",
            json!({"upto": 2, "max_tokens": "many"}),
            json!({"error": "invalid_arguments",
                   "message": "max_tokens must be an integer of 50 or more, not \"many\""}),
        )
        .await;
    }

    #[tokio::test]
    async fn repairs_wrong_arguments_with_a_note() {
        let tools = Toolset::new().with(Count);
        let answer = tools.call("count", json!({"up_to": 40, "max_tokens": 50})).await.unwrap();
        assert_eq!(answer.notes(), ["`up_to` was interpreted as `upto`"]);
        assert!(
            answer.is_cut() && answer.text().ends_with("note: `up_to` was interpreted as `upto`"),
            "{}",
            answer.text()
        );
        assert_eq!(answer.fit(5_000).notes(), answer.notes());
        assert_eq!(tools.specs().len(), 1, "another name is not listed");
    }

    struct Panics;
    impl Tool for Panics {
        const NAME: &'static str = "panics";
        const DESCRIPTION: &'static str = "Panics, at once or after a while.";
        const EFFECT: Effect = Effect::Reads;
        type Args = CountArgs;
        type Output = Page<String>;
        async fn call(&self, args: CountArgs) -> Result<Page<String>, ToolError> {
            if args.upto > 0 {
                tokio::task::yield_now().await;
            }
            let nothing: [usize; 0] = [];
            Ok(Page::whole(vec![nothing[args.upto].to_string()]))
        }
    }

    #[tokio::test]
    async fn isolates_a_panicking_tool() {
        let tools = Toolset::new().with(Panics).with(Count);
        for upto in [0, 3] {
            let error = tools.call("panics", json!({"upto": upto})).await.unwrap_err();
            assert!(error.to_string().contains("the tool `panics` panicked: index out of bounds"), "{error}");
            assert_eq!(error.to_json()["error"], "internal");
            assert!(!error.to_json().to_string().contains("bounds"), "the model is not shown why");
        }
        assert!(tools.call("count", json!({"upto": 1})).await.is_ok());
    }

    #[tokio::test]
    async fn truncates_results_to_max_tokens() {
        let tools = Toolset::new().with(Count);
        let answer = tools.call("count", json!({"upto": 1000, "max_tokens": 100})).await.unwrap();
        assert_eq!(answer.json()["truncated"], true);
        assert_eq!(answer.json()["total"], 1000);
        assert!(crate::tokens::count(&answer.json().to_string()) <= 100);
        assert!(answer.json()["items"].as_array().unwrap().len() > 3);
    }

    #[test]
    fn removes_redundant_parts_of_the_schema() {
        let spec = ToolSpec::of::<Count>();
        assert_eq!(
            spec.input_schema,
            json!({
                "type": "object",
                "properties": {
                    "upto": {"description": "How far to count.", "type": "integer"},
                    "from": {"description": "Where to begin.", "type": "integer"}
                },
                "required": ["upto"]
            })
        );
    }
}
