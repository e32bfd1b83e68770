//! A set of tools that is called by name.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;

use crate::{Resource, Tool, ToolError, ToolSpec, cap::cap};

/// The cap on an answer where the call does not pass `max_tokens`.
pub const DEFAULT_MAX_TOKENS: usize = 4_000;

/// What a call gave: the JSON to show, and the names in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Always valid JSON, never larger than the cap.
    pub value: Value,
    /// The names that it shows.
    pub reveals: Vec<Resource>,
}

/// Tools by name, listed in alphabetical order, so that the text a model is shown is the same every time.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: BTreeMap<&'static str, Arc<dyn Callable>>,
}

impl Toolset {
    /// An empty set.
    pub fn new() -> Self {
        Toolset::default()
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.tools.insert(T::NAME, Arc::new(Registered { tool, spec: ToolSpec::of::<T>() }));
        self
    }

    /// Adds all tools of another set.
    pub fn merge(mut self, other: Toolset) -> Self {
        self.tools.extend(other.tools);
        self
    }

    /// The specifications, by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().copied()
    }

    /// Calls a tool. Every tool takes `max_tokens` besides its own arguments: the cap on its answer.
    ///
    /// # Errors
    /// What the tool answers, `unknown_tool` with the nearest names, or `invalid_arguments` with what is wrong.
    pub async fn call(&self, name: &str, mut args: Value) -> Result<Answer, ToolError> {
        let Some(tool) = self.tools.get(name) else {
            let near = crate::nearest(name, self.names(), 3);
            return Err(ToolError::Respond {
                code: "unknown_tool",
                message: format!("there is no tool `{name}`"),
                suggestion: (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", "))),
            });
        };
        if args.is_null() {
            args = Value::Object(Default::default());
        }
        if !args.is_object() {
            let usage = format!("call it as {}", usage(tool.spec()));
            return Err(ToolError::invalid(format!("{name}: the arguments must be a JSON object"), Some(usage)));
        }
        let max_tokens = take_max_tokens(&mut args)?;
        let shown_args = args.clone();
        let value = cap(tool.call(args).await?, max_tokens, tool.more());
        let reveals = tool.reveals(&shown_args, &value);
        Ok(Answer { value, reveals })
    }
}

fn take_max_tokens(args: &mut Value) -> Result<usize, ToolError> {
    let Some(value) = args.as_object_mut().and_then(|object| object.remove("max_tokens")) else {
        return Ok(DEFAULT_MAX_TOKENS);
    };
    match value.as_u64().and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n >= 50 => Ok(n),
        _ => Err(ToolError::invalid(format!("max_tokens must be an integer of 50 or more, not {value}"), None)),
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A [`Tool`] without its types.
trait Callable: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    fn more(&self) -> &'static str;
    fn call(&self, args: Value) -> BoxFuture<'_, Result<Value, ToolError>>;
    fn reveals(&self, args: &Value, answer: &Value) -> Vec<Resource>;
}

struct Registered<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> Callable for Registered<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn more(&self) -> &'static str {
        T::MORE
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let args: T::Args = serde_json::from_value(args).map_err(|error| {
                let usage = usage(&self.spec);
                ToolError::invalid(format!("{}: {error}", T::NAME), Some(format!("call it as {usage}")))
            })?;
            serde_json::to_value(self.tool.call(args).await?).map_err(ToolError::fatal)
        })
    }

    fn reveals(&self, args: &Value, answer: &Value) -> Vec<Resource> {
        T::reveals(args, answer)
    }
}

/// `get_table_schema(database, table, limit?)`
fn usage(spec: &ToolSpec) -> String {
    let required: Vec<&str> =
        spec.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = spec.input_schema["properties"].as_object();
    let arguments: Vec<String> = properties
        .into_iter()
        .flat_map(|p| p.keys())
        .map(|name| if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") })
        .collect();
    format!("{}({})", spec.name, arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::Page;

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
        const DESCRIPTION: &'static str = "Counts.";
        type Args = CountArgs;
        type Output = Page<String>;
        async fn call(&self, args: CountArgs) -> Result<Page<String>, ToolError> {
            Ok(Page::whole((args.from.unwrap_or(0)..args.upto).map(|n| format!("number {n}")).collect()))
        }
    }

    async fn check(name: &str, args: Value, expected: Value) {
        let tools = Toolset::new().with(Count);
        let got = match tools.call(name, args).await {
            Ok(answer) => answer.value,
            Err(error) => error.to_json(),
        };
        assert_eq!(got, expected);
    }

    #[tokio::test]
    async fn calls_by_name_and_complains_in_a_way_that_can_be_mended() {
        check("count", json!({"upto": 2}), json!(["number 0", "number 1"])).await;
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
    async fn an_answer_is_cut_to_max_tokens_and_says_so() {
        let tools = Toolset::new().with(Count);
        let answer = tools.call("count", json!({"upto": 1000, "max_tokens": 100})).await.unwrap();
        assert_eq!(answer.value["truncated"], true);
        assert_eq!(answer.value["total"], 1000);
        assert!(crate::tokens::count(&answer.value.to_string()) <= 100);
        assert!(answer.value["items"].as_array().unwrap().len() > 3);
    }

    #[test]
    fn the_schema_holds_what_a_model_needs_and_no_more() {
        let spec = ToolSpec::of::<Count>();
        assert_eq!(
            spec.input_schema,
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "upto": {"description": "How far to count.", "type": "integer"},
                    "from": {"description": "Where to begin.", "type": "integer"}
                },
                "required": ["upto"]
            })
        );
    }
}
