//! Sources in a worker: their rows are requested from the parent process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use prospector_connect::error::Cause;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::Rows;
use prospector_connect::source::SourceKind;
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use serde_json::Value;
use tokio::sync::oneshot;

use super::frame::{Frame, Tag};
use super::message::{Ask, RowsDone};
use super::output::Output;
use super::value::read_rows;
use crate::advice::Reason;

/// Pending requests for rows.
pub(super) struct RowRequests {
    output: Output,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

struct Waiting {
    rows: Vec<Vec<Value>>,
    whole: oneshot::Sender<Result<Rows, Reason>>,
}

impl RowRequests {
    pub(super) fn new(output: Output) -> Self {
        RowRequests { output, next: AtomicU64::new(0), waiting: Mutex::default() }
    }

    async fn ask(&self, ask: Ask) -> Result<Rows, Reason> {
        let failed = |error: std::io::Error| Reason::new(Cause::Other, error.to_string());
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (whole, answer) = oneshot::channel();
        self.lock().insert(id, Waiting { rows: Vec::new(), whole });
        let frame = Frame::json(Tag::Ask, &Ask { id, ..ask }).map_err(failed)?;
        self.output.send(&frame).map_err(failed)?;
        answer.await.unwrap_or_else(|_| Err(Reason::new(Cause::Other, "the rows were not sent")))
    }

    /// Adds rows that arrived. Rows of cancelled requests are dropped.
    pub(super) fn add(&self, content: &[u8]) {
        let Some((id, rows)) = content.split_first_chunk() else { return };
        let id = u64::from_le_bytes(*id);
        let Some(mut waiting) = self.lock().remove(&id) else { return };
        match read_rows(rows) {
            Ok(rows) => {
                waiting.rows.extend(rows);
                self.lock().insert(id, waiting);
            }
            Err(error) => drop(waiting.whole.send(Err(Reason::new(Cause::Other, error.to_string())))),
        }
    }

    /// Completes a request.
    pub(super) fn finish(&self, RowsDone { id, outcome }: RowsDone) {
        let Some(Waiting { rows, whole }) = self.lock().remove(&id) else { return };
        // The requester may have been cancelled.
        let _ = whole.send(outcome.map(|has_more| Rows { columns: Vec::new(), rows, has_more }));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts an error that the parent process reported.
fn relay_error(reason: Reason) -> ConnectError {
    let Reason { cause, message, column, .. } = reason;
    ConnectError::Relayed { reason: message.into(), cause, column }
}

/// A source of the parent process.
pub(super) struct Remote {
    source: usize,
    kind: SourceKind,
    asks: Arc<RowRequests>,
}

impl Remote {
    pub(super) fn new(source: usize, kind: SourceKind, asks: Arc<RowRequests>) -> Self {
        Remote { source, kind, asks }
    }
}

#[async_trait]
impl Connector for Remote {
    fn kind(&self) -> SourceKind {
        self.kind
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Err(ConnectError::Unsupported { place: self.kind.to_string(), act: "be described by a worker" })
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let ask = Ask {
            id: 0,
            source: self.source,
            table: table.to_owned(),
            columns: columns.to_vec(),
            conditions: conditions.to_vec(),
            limit,
        };
        let mut rows = self.asks.ask(ask).await.map_err(relay_error)?;
        rows.columns = columns.to_vec();
        Ok(rows)
    }
}
