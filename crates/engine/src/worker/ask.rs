//! The execution of one statement by a worker: the request, the rows of sources that it asks for, and its answer.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use prospector_connect::error::Cause;
use prospector_connect::rows::Rows;
use serde_json::Value;
use tokio::sync::mpsc;

use super::frame::{Frame, MAX_FRAME, Tag};
use super::message::{Ask, Columns, Done, Query, RowsDone, Source};
use super::process::{Event, Process};
use super::value::{read_rows, write_rows};
use crate::advice::Reason;
use crate::joined::{Action, Allowance, ComputeError, MAX_ROWS, RowsError, Statement, TakeBlock, measure};

/// The maximum number of concurrent requests for rows per query: that many answers are in memory.
const MAX_ASKS_AT_ONCE: usize = 2;

/// The approximate size of a frame of rows in bytes.
const PART: usize = 1 << 20;

/// The approximate size of a frame of a subset in bytes.
const PART_OF_SUBSET: usize = 4 << 20;

/// Returns the answer of the worker, and whether it can be reused.
pub(super) async fn ask(
    process: &mut Process,
    statement: Statement<'_>,
    act: Action,
    take: Option<TakeBlock<'_>>,
    means: &Allowance,
) -> (Result<Rows, ComputeError>, bool) {
    let (query, subsets) = describe(statement, act, take.is_some(), means);
    if let Err(error) = send(process, &query, &subsets).await {
        return (Err(error), false);
    }
    match converse(process, statement, take, means).await {
        Ok((answer, Done { outcome, is_worn })) => (outcome.map(|rest| Rows { rows: answer, ..rest }), !is_worn),
        Err(error) => (Err(error), false),
    }
}

async fn send(process: &Process, query: &Query, subsets: &[RecordBatch]) -> Result<(), ComputeError> {
    let failed = |error: io::Error| ComputeError::too_large(format!("the query cannot be sent to a worker: {error}"));
    let query = Frame::json(Tag::Query, query).map_err(failed)?;
    if query.content.len() > MAX_FRAME {
        return Err(ComputeError::too_large("the tables of the query have too many columns"));
    }
    process.send(query).await;
    for (number, batch) in subsets.iter().enumerate() {
        let most = batch.get_array_memory_size().div_ceil(PART_OF_SUBSET).max(1);
        let rows = batch.num_rows().div_ceil(most).max(1);
        let mut first = 0;
        // At least one part is sent, since it names the columns.
        loop {
            let part = batch.slice(first, rows.min(batch.num_rows() - first));
            for frame in subset_frames(number, &part)? {
                process.send(frame).await;
            }
            first += part.num_rows();
            if first >= batch.num_rows() {
                break;
            }
        }
    }
    process.send(Frame::empty(Tag::Go)).await;
    Ok(())
}

/// Returns the statement as it is sent to the worker, and the rows of the subsets that it reads.
fn describe(statement: Statement<'_>, act: Action, is_streamed: bool, means: &Allowance) -> (Query, Vec<RecordBatch>) {
    let Statement { sql, view, found, .. } = statement;
    let source = |source: &Arc<crate::Source>| Source {
        name: source.name.clone(),
        kind: source.connector.kind(),
        tables: Vec::new(),
        files: None,
    };
    let mut sources: Vec<Source> = view.iter().map(source).collect();
    // The index among the sent tables of each table that is read.
    let mut sent: Vec<(usize, usize)> = Vec::new();
    let (mut subsets, mut reads) = (Vec::new(), Vec::new());
    for one in found {
        let here = (one.source, one.table);
        let source = &mut sources[one.source];
        if !sent.contains(&here) {
            let known = &view[one.source];
            match view.subset(one) {
                Some(held) => subsets.push(held.batch.clone()),
                None if source.tables.is_empty() => source.files = known.connector.data_files(),
                None => {}
            }
            source.tables.push(Columns::of(&known.tables[one.table]));
            sent.push(here);
        }
        let table = sent.iter().filter(|(source, _)| *source == one.source).position(|there| *there == here);
        reads.push((one.source, table.unwrap_or_default()));
    }
    let (sql, means, count) = (sql.to_owned(), means.clone(), subsets.len());
    (Query { sql, act, is_streamed, sources, reads, subsets: count, means }, subsets)
}

/// Splits the rows into frames within the size limit.
fn subset_frames(number: usize, rows: &RecordBatch) -> Result<Vec<Frame>, ComputeError> {
    let mut content = (number as u64).to_le_bytes().to_vec();
    write(&mut content, rows).map_err(|error| ComputeError::other(error.to_string()))?;
    if content.len() <= MAX_FRAME {
        return Ok(vec![Frame { tag: Tag::Subset, content }]);
    }
    let half = rows.num_rows() / 2;
    if half == 0 {
        return Err(ComputeError::too_large("a row of a subset is too large for a worker"));
    }
    let mut frames = subset_frames(number, &rows.slice(0, half))?;
    frames.extend(subset_frames(number, &rows.slice(half, rows.num_rows() - half))?);
    Ok(frames)
}

fn write(content: &mut Vec<u8>, rows: &RecordBatch) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new(content, rows.schema_ref())?;
    writer.write(rows)?;
    writer.finish()
}

/// Sends the worker the rows that it asks for, until it is done.
async fn converse(
    process: &mut Process,
    statement: Statement<'_>,
    take: Option<TakeBlock<'_>>,
    means: &Allowance,
) -> Result<(Vec<Vec<Value>>, Done), ComputeError> {
    let sender = process.sender();
    let (mut waiting, mut asked) = (VecDeque::<Ask>::new(), FuturesUnordered::new());
    let (mut answer, mut bytes) = (Vec::new(), 0);
    // The columns of a streamed answer.
    let mut columns: Option<Vec<String>> = None;
    // A number counts as eight bytes in the limit and takes nine here.
    let most = means.limits.answer_bytes.saturating_mul(2).saturating_add(PART);
    loop {
        while asked.len() < MAX_ASKS_AT_ONCE
            && let Some(ask) = waiting.pop_front()
        {
            asked.push(respond(ask, statement, means.limits.source_bytes, &sender));
        }
        let event = tokio::select! {
            event = process.receive() => event,
            Some(()) = asked.next(), if !asked.is_empty() => continue,
        };
        let frame = match event {
            Event::Frame(frame) => frame,
            Event::Gone(error) => return Err(error),
        };
        let wrong = |what: &str| ComputeError::Ended(format!("it sent {what}"));
        match frame.tag {
            Tag::Ask => waiting.push_back(frame.parse().map_err(|_| wrong("an invalid request"))?),
            Tag::Answer => {
                bytes += frame.content.len();
                if bytes > most {
                    return Err(wrong("more rows than the result limit"));
                }
                answer.extend(read_rows(&frame.content).map_err(|_| wrong("invalid rows"))?);
                if let (Some(columns), Some(take)) = (&columns, take) {
                    let block = Rows { columns: columns.clone(), rows: std::mem::take(&mut answer), has_more: false };
                    if !take(block).await {
                        return Err(ComputeError::Ended("the query was cancelled".to_owned()));
                    }
                    bytes = 0;
                }
            }
            Tag::Columns => columns = Some(frame.parse().map_err(|_| wrong("invalid columns"))?),
            Tag::Done => {
                return Ok((answer, frame.parse().map_err(|_| wrong("an invalid answer"))?));
            }
            _ => return Err(wrong("an unexpected message")),
        }
    }
}

/// Sends the worker the rows that it asked for, or the failure.
async fn respond(ask: Ask, statement: Statement<'_>, most_bytes: usize, worker: &mpsc::Sender<Frame>) {
    let id = ask.id;
    let outcome = match rows(&ask, statement, most_bytes).await {
        Ok(rows) => send_rows(id, &rows, worker).await.map(|()| rows.has_more),
        Err(reason) => Err(reason),
    };
    if let Ok(done) = Frame::json(Tag::RowsDone, &RowsDone { id, outcome }) {
        // If the worker is gone, its last event reports that.
        let _ = worker.send(done).await;
    }
}

/// Returns the rows that a worker asked for, if they are of a table that its statement reads.
async fn rows(ask: &Ask, statement: Statement<'_>, most_bytes: usize) -> Result<Rows, Reason> {
    let wrong = |message: String| Reason::new(Cause::Other, message);
    let Statement { view, found, .. } = statement;
    let read = found.iter().filter(|found| found.source == ask.source && view.subset(found).is_none());
    let mut tables = read.map(|found| &view[found.source].tables[found.table]);
    let table = tables
        .find(|table| table.name == ask.table)
        .ok_or_else(|| wrong("the worker asked for a table that the statement does not read".to_owned()))?;
    let is_known = |name: &String| table.columns.iter().any(|column| column.name == *name);
    if !ask.columns.iter().all(is_known) || !ask.conditions.iter().all(|condition| is_known(&condition.column)) {
        return Err(wrong(format!("the worker asked for an unknown column of {}", ask.table)));
    }
    let source = &view[ask.source];
    let limit = ask.limit.min(MAX_ROWS);
    let rows = source.connector.rows(&table.name, &ask.columns, &ask.conditions, limit).await;
    let rows = rows.map_err(|error| Reason::from_connect(&error))?;
    if measure::rows(&rows) > most_bytes {
        let error = RowsError::TooLarge { table: format!("{}.{}", source.name, table.name), most: most_bytes };
        return Err(Reason::new(Cause::TooLarge, error.to_string()));
    }
    Ok(rows)
}

async fn send_rows(id: u64, rows: &Rows, worker: &mpsc::Sender<Frame>) -> Result<(), Reason> {
    for part in parts(&rows.rows) {
        let mut content = id.to_le_bytes().to_vec();
        write_rows(&mut content, part);
        if content.len() > MAX_FRAME {
            return Err(Reason::new(Cause::TooLarge, "too large: a row cannot be sent to a worker"));
        }
        if worker.send(Frame { tag: Tag::Rows, content }).await.is_err() {
            // Its last event reports the reason.
            break;
        }
    }
    Ok(())
}

/// Splits the rows into parts for a frame each.
pub(super) fn parts(mut rows: &[Vec<Value>]) -> impl Iterator<Item = &[Vec<Value>]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let of_row = |row: &Vec<Value>| row.iter().map(measure::value).sum::<usize>();
        let first = rows.iter().take_while(|row| {
            let is_within = bytes < PART;
            bytes += of_row(row);
            is_within
        });
        let (part, rest) = rows.split_at(first.count());
        rows = rest;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;
    use prospector_connect::{open, source::Source as Place};

    use super::*;
    use crate::Dialect;
    use crate::guard::examine;
    use crate::scope::Scope;
    use crate::source::Source;
    use crate::view::View;

    /// Returns the response to a request of a worker that computes a statement over `shop.people`.
    async fn check(table: &str, column: &str, limit: usize, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for name in ["people", "other"] {
            paths.push(folder.path().join(format!("{name}.csv")));
            std::fs::write(paths.last().unwrap(), "id,name\n1,Ada\n2,Bob\n").unwrap();
        }
        let connector = open(&Place::files(SourceKind::Csv, paths)).unwrap();
        let (tables, _) = connector.describe().await.unwrap();
        let source = Source { name: "shop".into(), tables, functions: Vec::new(), connector };
        let sources = [Arc::new(source)];
        let view = View::new(&sources, &Scope::default());
        let sql = "SELECT name FROM shop.people";
        let checked = examine(Dialect::Joined, &[], sql).unwrap();
        let found = view.resolve(None, Dialect::Joined, &checked.rewritten.reads).unwrap();
        let statement = Statement { sql, view: &view, checked: &checked, found: &found };
        let columns = vec![column.to_owned()];
        let ask = Ask { id: 0, source: 0, table: table.into(), columns, conditions: Vec::new(), limit };
        let said = match rows(&ask, statement, 1 << 10).await {
            Ok(rows) => format!("{} rows", rows.rows.len()),
            Err(reason) => reason.message,
        };
        assert!(said.contains(expected), "{table}.{column}: {said}");
    }

    #[tokio::test]
    async fn worker_gets_rows_of_its_tables_only() {
        check("people", "name", 10, "2 rows").await;
        check("people", "name", 1, "1 rows").await;
        check("other", "name", 10, "the worker asked for a table that the statement does not read").await;
        check("people", "password", 10, "the worker asked for an unknown column of people").await;
    }

    #[test]
    fn parts_contain_every_row_once() {
        let row = |length: usize| vec![Value::String("x".repeat(length))];
        for lengths in [vec![], vec![1], vec![PART + 1, 1, PART + 1], vec![PART / 2; 7], vec![10; 1000]] {
            let rows: Vec<Vec<Value>> = lengths.iter().map(|length| row(*length)).collect();
            assert_eq!(parts(&rows).flatten().cloned().collect::<Vec<_>>(), rows);
            assert!(parts(&rows).all(
                |part| part.len() == 1 || part.iter().map(|row| measure::value(&row[0])).sum::<usize>() < 2 * PART
            ));
        }
    }
}
