//! Long answers: the first part is returned, and the rest is stored under a handle, page by page.

use std::sync::Arc;

use prospector_core::Owner;
use prospector_core::tool::{Answer, ToolError, ToolErrorCode};
use serde_json::{Value, json};

use crate::{
    error::{Refusal, RefusalCode},
    options::Limited,
    pages::Long,
    query_sessions::QuerySession,
    server::Server,
};

/// Limit on a stored answer, in tokens.
const MAX_TOKENS: usize = 60_000;

/// A tool's answer, and the handle of the whole answer if it was truncated.
pub(crate) struct Called {
    pub(crate) answer: Answer,
    pub(crate) handle: Option<String>,
}

impl Server {
    /// Calls a tool for this owner, listed or not. Tools that run queries use this session, or a temporary one. More of a truncated answer
    /// is stored under a handle.
    pub(crate) async fn call(
        &self,
        owner: &Owner,
        queries: Option<&QuerySession>,
        name: &str,
        arguments: Value,
    ) -> Result<Called, ToolError> {
        let view = self.catalog.view(owner);
        let work = async {
            let answer = match (view.runs_queries(name), queries) {
                (false, _) => view.tools.call(name, arguments).await?,
                (true, Some(session)) => session.call(&view.queries, &view.catalog, name, arguments).await?,
                (true, None) => QuerySession::default().call(&view.queries, &view.catalog, name, arguments).await?,
            };
            if view.tools.effect(name).is_some_and(|effect| !effect.is_read_only()) {
                self.catalog.look();
            }
            let handle = answer.is_cut().then(|| {
                let handle = self.results.handle();
                self.results.keep(&handle, owner, Arc::new(Long::new(answer.fit(MAX_TOKENS).text())));
                handle
            });
            Ok::<_, ToolError>(Called { answer, handle })
        };
        let answered = self.in_time(work).await;
        // Unknown tool names are not used as labels, so that the metrics stay bounded.
        let known = !matches!(&answered, Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, .. }));
        self.metrics.tool_called(if known { name } else { "unknown" }, answered.is_ok());
        answered
    }

    /// Starts a query session for this owner, and returns its handle.
    pub(crate) fn begin_queries(&self, owner: &Owner) -> Result<String, Refusal> {
        let limits = &self.options.limits;
        let most = (limits.sessions, self.share(Limited::Sessions));
        let begun = self.query_sessions.begin(owner, most, limits.session_idle);
        begun.inspect_err(|_| self.metrics.count_refusal("query_sessions"))
    }

    /// Returns what a handle of this owner refers to: a plan, or a page of a long answer.
    pub(crate) fn fetch(&self, owner: &Owner, handle: &str, page: usize) -> Result<Value, Refusal> {
        if self.results.is_mine(handle) {
            let long = self.results.get(handle, owner)?;
            let mut said = json!({"handle": handle, "page": page, "pages": long.pages(), "text": long.page(page)?});
            if page < long.pages() {
                said["next"] = format!("call again with page={}", page + 1).into();
            }
            return Ok(said);
        }
        let run = self.runs.get(handle, owner)?;
        match run.end() {
            Some(end) if end.result.is_object() => Ok((*end.result).clone()),
            Some(end) => Err(end
                .failure
                .clone()
                .unwrap_or_else(|| Refusal::new(RefusalCode::Internal, "the run stopped without a result"))),
            None => Ok(json!({"handle": handle, "question": run.question, "state": "running",
                              "next": "retry in a moment"})),
        }
    }
}
