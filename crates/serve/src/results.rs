//! Answers that are longer than was asked for: the first part is given, and the rest under a handle, page by page.

use std::sync::Arc;

use prospector_core::Owner;
use prospector_core::tool::{Answer, ToolError, ToolErrorCode};
use serde_json::{Value, json};

use crate::{error::Refusal, server::Server};

/// What is kept of an answer, in tokens.
const KEPT_TOKENS: usize = 60_000;

/// How many characters a page has.
const PAGE: usize = 12_000;

/// An answer as text.
pub(crate) struct Long {
    text: String,
    /// Where each page begins, and where the last one ends.
    cuts: Vec<usize>,
}

impl Long {
    pub(crate) fn new(text: String) -> Self {
        let mut cuts = vec![0];
        let mut at = 0;
        while text.len() - at > PAGE {
            let end = text.floor_char_boundary(at + PAGE);
            // At the end of a line, where there is one that is not far.
            let line = text[at..end].rfind('\n').map(|line| at + line + 1).filter(|line| line - at > PAGE / 2);
            at = line.unwrap_or(end);
            cuts.push(at);
        }
        cuts.push(text.len());
        Long { text, cuts }
    }

    pub(crate) fn pages(&self) -> usize {
        self.cuts.len() - 1
    }

    /// A page, from 1.
    pub(crate) fn page(&self, number: usize) -> Result<&str, Refusal> {
        if number == 0 || number > self.pages() {
            let message = format!("there is no page {number}");
            return Err(Refusal::new("invalid_arguments", message).advise(format!("pages are 1 to {}", self.pages())));
        }
        Ok(&self.text[self.cuts[number - 1]..self.cuts[number]])
    }
}

/// A tool's answer, and the handle of all of it where it was cut.
pub(crate) struct Called {
    pub(crate) answer: Answer,
    pub(crate) handle: Option<String>,
}

impl Server {
    /// Calls a tool of the profile for this owner. Of an answer that had to be cut, more is kept under a handle.
    pub(crate) async fn call(&self, owner: &Owner, name: &str, arguments: Value) -> Result<Called, ToolError> {
        let served = self.estate.now(owner);
        let limit = self.options.limits.call_time;
        let work = async {
            let answer = served.call(name, arguments).await?;
            if served.tools.effect(name).is_some_and(|effect| !effect.is_read_only()) {
                self.estate.look();
            }
            let handle = answer.is_cut().then(|| {
                let handle = self.results.handle();
                self.results.keep(&handle, owner, Arc::new(Long::new(answer.fit(KEPT_TOKENS).text())));
                handle
            });
            Ok(Called { answer, handle })
        };
        let answered = match tokio::time::timeout(limit, work).await {
            Ok(answered) => answered,
            Err(_) => Err(ToolError::Respond {
                code: ToolErrorCode::Timeout,
                message: format!("no answer within {} s", limit.as_secs()),
                suggestion: None,
            }),
        };
        // A name that is no tool is no label either: the metrics stay bounded.
        let known = !matches!(&answered, Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, .. }));
        self.metrics.tool_called(if known { name } else { "unknown" }, answered.is_ok());
        answered
    }

    /// What a handle of this owner stands for: a plan, or a page of a long answer.
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
            Some(end) => Err(end.failure.clone().unwrap_or_else(|| Refusal::new("internal", "it broke off"))),
            None => Ok(json!({"handle": handle, "question": run.question, "state": "running",
                              "next": "call again in a moment"})),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pages: usize) {
        let long = Long::new(text.to_owned());
        assert_eq!(long.pages(), pages);
        let all: String = (1..=pages).map(|page| long.page(page).unwrap_or_default()).collect();
        assert_eq!(all, text, "nothing is lost");
        assert!(long.page(0).is_err() && long.page(pages + 1).is_err());
    }

    #[test]
    fn pages_hold_everything_and_break_no_letter() {
        check("", 1);
        check("short", 1);
        check(&"ä".repeat(PAGE), 2);
        check(&"a line\n".repeat(4_000), 3);
    }
}
