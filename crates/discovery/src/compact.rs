//! The compact profile: six tools that cover the full set by calling it.

mod describe;
mod list;
mod routes;
mod sample;
mod search;
mod terms;

use std::sync::Arc;

use prospector_core::tool::{Answer, BoxFuture, Callable, Effect, ToolError, ToolSpec, Toolset};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use routes::{ROUTES, Route};
pub(crate) use sample::NAME as SAMPLE;
pub(crate) use terms::{ADD as ADD_FACT, RESOLVE as RESOLVE_FACT};

use crate::{Catalog, target::TargetResolver};

/// A tool of the compact profile. Unlike the specification of a [`Tool`](prospector_core::tool::Tool), its own depends on the catalog.
trait CompactTool: Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
    /// The arguments.
    type Args: DeserializeOwned + Send;

    /// Returns the specification for the entries of the catalog.
    fn describe(&self) -> ToolSpec;

    /// Returns the side effects of a call.
    fn effect(&self) -> Effect {
        Effect::Reads
    }

    /// Runs the tool; the result has at most `max_tokens`.
    fn answer(&self, args: Self::Args, max_tokens: usize) -> impl Future<Output = Result<Answer, ToolError>> + Send;
}

struct Registered<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: CompactTool> Callable for Registered<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move { self.tool.answer(self.spec.arguments(args)?, max_tokens).await })
    }
}

/// Returns a set of one tool.
fn set_of<T: CompactTool>(tool: T) -> Toolset {
    let spec = tool.describe();
    Toolset::new().with_callable(T::NAME, Arc::new(Registered { tool, spec }))
}

/// Returns the six tools over the full set, and those for which the catalog has no entries.
pub(crate) fn toolsets(catalog: &Catalog, targets: &Arc<TargetResolver>) -> (Toolset, Toolset) {
    if catalog.is_empty() {
        return (Toolset::new(), Toolset::new());
    }
    let tools = set_of(search::Search(targets.clone()))
        .merge(set_of(list::List(targets.clone())))
        .merge(set_of(describe::Describe(targets.clone())))
        .merge(set_of(terms::ResolveFact(targets.clone())))
        .merge(set_of(terms::AddFact(targets.clone())));
    let sample = set_of(sample::Sample(targets.clone()));
    if catalog.schema.databases().len() > 0 { (tools.merge(sample), Toolset::new()) } else { (tools, sample) }
}
