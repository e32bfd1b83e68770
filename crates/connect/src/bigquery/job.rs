//! Query jobs: sends a statement, waits for it and reads the result page by page. A job is cancelled when its caller is
//! dropped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::sql::Statement;
use super::token::Tokens;
use crate::ConnectError;
use crate::budget::Budget;
use crate::cause::Cause;
use crate::server::STATEMENT_TIMEOUT;
use crate::service::BigquerySource;
use crate::service::http::{HttpClient, Request, RequestFailure};

/// How long one request waits for a job before it is repeated.
const WAITING: Duration = Duration::from_secs(10);

/// Rows per page.
const PAGE: usize = 10_000;

/// Sends requests to BigQuery.
pub(super) struct Jobs {
    pub(super) client: HttpClient,
    pub(super) settings: BigquerySource,
    pub(super) tokens: Tokens,
}

/// The result of a statement.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) fields: Vec<Value>,
    pub(super) rows: Vec<Value>,
    pub(super) has_more: bool,
}

impl Answer {
    fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.get("name").and_then(Value::as_str).unwrap_or_default()).collect()
    }
}

impl Jobs {
    /// Sends a request and retries once with a new token if the old one was rejected.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &[&str],
        parameters: &[(&str, String)],
        body: Option<Value>,
    ) -> Result<Value, RequestFailure> {
        let mut is_new = false;
        loop {
            let token = self.tokens.token(&self.client).await?;
            let question = Request {
                method: method.clone(),
                path: ["bigquery", "v2", "projects"].into_iter().chain(path.iter().copied()).collect(),
                parameters: parameters.to_vec(),
                body: body.clone(),
                time_limit: WAITING + Duration::from_secs(20),
            };
            match self.client.ask(question, token.as_deref()).await {
                Err(RequestFailure::Locked(_)) if token.is_some() && !is_new => {
                    self.tokens.forget().await;
                    is_new = true;
                }
                answer => return answer,
            }
        }
    }

    fn project(&self) -> &str {
        self.settings.project()
    }

    /// Runs a statement and returns at most `cap` rows within the budget.
    pub(super) async fn run(
        self: &Arc<Self>,
        table: &str,
        statement: &Statement,
        mut budget: Budget,
        cap: usize,
    ) -> Result<Answer, ConnectError> {
        let parameters: Vec<Value> =
            statement.parameters.iter().enumerate().map(|(at, one)| one.json(&format!("p{}", at + 1))).collect();
        let page = cap.saturating_add(1).min(PAGE);
        let mut body = json!({
            "query": statement.sql,
            "useLegacySql": false,
            "maxResults": page,
            "timeoutMs": WAITING.as_millis() as u64,
            "jobTimeoutMs": STATEMENT_TIMEOUT.as_millis().to_string(),
            "maximumBytesBilled": self.settings.max_bytes_billed.to_string(),
            "formatOptions": {"useInt64Timestamp": true},
        });
        if !parameters.is_empty() {
            body["parameterMode"] = "NAMED".into();
            body["queryParameters"] = parameters.into();
        }
        if let Some(location) = self.settings.location.as_deref() {
            body["location"] = location.into();
        }
        if let [dataset] = self.settings.datasets.as_slice() {
            body["defaultDataset"] = json!({"projectId": self.project(), "datasetId": dataset});
        }
        let failed = |failure| self.client.statement_error(table, failure);
        let start = Instant::now();
        let mut answer = self.ask(Method::POST, &[self.project(), "queries"], &[], Some(body)).await.map_err(failed)?;
        let mut running = Running::of(self.clone(), &answer);
        let mut found = Answer::default();
        loop {
            if answer.get("jobComplete") == Some(&Value::Bool(false)) {
                if start.elapsed() > STATEMENT_TIMEOUT {
                    // Dropping the job cancels it.
                    return Err(failed(RequestFailure::TooLong));
                }
                answer = self.page(&running, page, None).await.map_err(failed)?;
                continue;
            }
            running.is_done = true;
            if let Some(fields) = answer.pointer("/schema/fields").and_then(Value::as_array) {
                found.fields.clone_from(fields);
            }
            if let Some(Value::Array(rows)) = answer.get_mut("rows").map(Value::take) {
                for row in &rows {
                    let cells = row.get("f").and_then(Value::as_array).into_iter().flatten();
                    let taken = budget.take_row(cells.map(|cell| cell.get("v").unwrap_or(&Value::Null)));
                    taken.map_err(|excess| excess.error(self.client.place(), table, &found.names()))?;
                }
                found.rows.extend(rows);
            }
            let next = answer.get("pageToken").and_then(Value::as_str).filter(|token| !token.is_empty());
            match next.map(str::to_owned) {
                Some(token) if found.rows.len() <= cap => {
                    answer = self.page(&running, page, Some(token)).await.map_err(failed)?;
                }
                more => {
                    found.has_more = more.is_some() || found.rows.len() > cap;
                    found.rows.truncate(cap);
                    return Ok(found);
                }
            }
        }
    }

    async fn page(&self, running: &Running, size: usize, token: Option<String>) -> Result<Value, RequestFailure> {
        let mut parameters = vec![
            ("maxResults", size.to_string()),
            ("timeoutMs", WAITING.as_millis().to_string()),
            ("formatOptions.useInt64Timestamp", "true".to_owned()),
        ];
        parameters.extend(running.location.clone().map(|location| ("location", location)));
        parameters.extend(token.map(|token| ("pageToken", token)));
        self.ask(Method::GET, &[self.project(), "queries", &running.job], &parameters, None).await
    }

    /// Validates a statement with a dry run: it must be a read-only query within the byte limit.
    pub(super) async fn dry_run(&self, table: &str, sql: &str) -> Result<(), ConnectError> {
        let mut query = json!({"query": sql, "useLegacySql": false});
        if let [dataset] = self.settings.datasets.as_slice() {
            query["defaultDataset"] = json!({"projectId": self.project(), "datasetId": dataset});
        }
        let mut body = json!({"configuration": {"dryRun": true, "query": query}});
        if let Some(location) = self.settings.location.as_deref() {
            body["jobReference"] = json!({"projectId": self.project(), "location": location});
        }
        let answer = self.ask(Method::POST, &[self.project(), "jobs"], &[], Some(body)).await;
        let answer = answer.map_err(|failure| self.client.statement_error(table, failure))?;
        if let Some(reason) = answer.pointer("/status/errorResult/message").and_then(Value::as_str) {
            return Err(self.client.read_error(table, Cause::Other, reason));
        }
        let kind = answer.pointer("/statistics/query/statementType").and_then(Value::as_str).unwrap_or("unknown");
        if kind != "SELECT" {
            return Err(self.client.read_error(
                table,
                Cause::Refused,
                format!("access is read-only, and the statement is {kind}"),
            ));
        }
        let bytes = answer.pointer("/statistics/totalBytesProcessed").and_then(Value::as_str);
        let bytes: u64 = bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        if bytes > self.settings.max_bytes_billed {
            let most = self.settings.max_bytes_billed;
            let reason = format!("too large: the query would read {bytes} bytes; at most {most} are allowed");
            return Err(self.client.read_error(table, Cause::TooLarge, reason));
        }
        Ok(())
    }
}

/// A job that may still be running; it is cancelled on drop.
struct Running {
    jobs: Arc<Jobs>,
    job: String,
    location: Option<String>,
    is_done: bool,
}

impl Running {
    fn of(jobs: Arc<Jobs>, answer: &Value) -> Running {
        let word = |path: &str| answer.pointer(path).and_then(Value::as_str).map(str::to_owned);
        Running {
            jobs,
            job: word("/jobReference/jobId").unwrap_or_default(),
            location: word("/jobReference/location"),
            is_done: false,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_done || self.job.is_empty() {
            return;
        }
        // Without a runtime the process is exiting; the time limit of the job ends it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (jobs, job, location) = (self.jobs.clone(), std::mem::take(&mut self.job), self.location.take());
        runtime.spawn(async move {
            let parameters: Vec<(&str, String)> = location.into_iter().map(|location| ("location", location)).collect();
            let path = [jobs.project(), "jobs", &job, "cancel"];
            if let Err(error) = jobs.ask(Method::POST, &path, &parameters, None).await {
                tracing::debug!(?error, "cannot cancel an abandoned job");
            }
        });
    }
}
