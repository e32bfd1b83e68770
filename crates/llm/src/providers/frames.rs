//! Splits an HTTP response into JSON values: server-sent events, or one value per line.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use super::{
    accumulator::MAX_ANSWER_BYTES,
    failure::{Failure, Peer},
};

/// Size limit of a value, which contains a piece of a response, in bytes.
const MAX_FRAME_BYTES: usize = 2 * MAX_ANSWER_BYTES;
/// Size limit of all values together, in bytes, including protocol overhead.
const MAX_STREAM_BYTES: usize = 64 * MAX_ANSWER_BYTES;
/// Size limit of a refusal that is read, in bytes.
const MAX_REFUSAL_BYTES: usize = 1 << 16;

/// How values are delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events, of which only the data is used
    /// (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
    Events,
    /// One value per line.
    Lines,
}

/// The values of a response. Dropping it closes the connection.
pub(super) struct Frames {
    response: Response,
    peer: Arc<Peer>,
    splitter: Splitter,
    received: usize,
    ended: bool,
}

impl Frames {
    /// Sends the request and waits for the status.
    pub(super) async fn open(request: RequestBuilder, framing: Framing, peer: Arc<Peer>) -> Result<Self, Failure> {
        let sent = tokio::time::timeout(peer.timeout, request.send().with_subscriber(NoSubscriber::default())).await;
        let mut response = sent.map_err(|_| peer.silent())?.map_err(|error| peer.stream_failure(error.into()))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = refusal(&mut response, peer.timeout).await;
            return Err(peer.refusal(status, &headers, &String::from_utf8_lossy(&body)));
        }
        Ok(Frames { response, peer, splitter: Splitter::new(framing), received: 0, ended: false })
    }

    /// Returns the next value, waiting at most `patience`; `None` after the last one.
    pub(super) async fn next(&mut self, patience: Duration) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(frame) = self.splitter.next() {
                return match serde_json::from_slice(&frame) {
                    Ok(value) => Ok(Some(value)),
                    Err(_) if frame == b"[DONE]" => continue,
                    Err(error) => Err(self.peer.nonsense(&format!("the response contains invalid JSON ({error})"))),
                };
            }
            if self.ended {
                // A value without its terminator may still be complete.
                return Ok(self.splitter.rest().and_then(|frame| serde_json::from_slice(&frame).ok()));
            }
            let chunk = self.response.chunk().with_subscriber(NoSubscriber::default());
            let chunk = tokio::time::timeout(patience, chunk).await.map_err(|_| self.peer.silent())?;
            match chunk.map_err(|error| self.peer.stream_failure(error.into()))? {
                Some(bytes) => {
                    self.received += bytes.len();
                    self.splitter.push(&bytes);
                }
                None => self.ended = true,
            }
            if self.splitter.pending() > MAX_FRAME_BYTES || self.received > MAX_STREAM_BYTES {
                return Err(self.peer.nonsense("the response exceeds the size limit"));
            }
        }
    }
}

/// Reads the body of a refusal as far as possible.
async fn refusal(response: &mut Response, timeout: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_REFUSAL_BYTES {
        let chunk = response.chunk().with_subscriber(NoSubscriber::default());
        match tokio::time::timeout(timeout, chunk).await {
            Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            _ => break,
        }
    }
    body
}

/// Splits bytes into frames.
struct Splitter {
    framing: Framing,
    /// The incomplete line at the end.
    line: Vec<u8>,
    /// Data of the current event.
    data: Option<Vec<u8>>,
    /// Complete frames.
    frames: VecDeque<Vec<u8>>,
}

impl Splitter {
    fn new(framing: Framing) -> Self {
        Splitter { framing, line: Vec::new(), data: None, frames: VecDeque::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = &line[..line.len() - 1];
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let frame = match self.framing {
                    Framing::Lines => Some(line.to_vec()),
                    Framing::Events if line.is_empty() => self.data.take(),
                    Framing::Events => {
                        self.add(line);
                        None
                    }
                };
                let frame = frame.map(|frame| frame.trim_ascii().to_vec());
                self.frames.extend(frame.filter(|frame| !frame.is_empty()));
            }
        }
    }

    /// Returns the number of bytes that are not part of a complete frame.
    fn pending(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }

    /// Returns the remaining data at the end of the stream.
    fn rest(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        match self.framing {
            Framing::Lines => Some(line),
            Framing::Events => {
                self.add(line.trim_ascii_end());
                self.data.take()
            }
        }
    }

    /// Adds a line of an event; names, ids and comments are ignored.
    fn add(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let data = data.strip_prefix(b" ").unwrap_or(data);
        match &mut self.data {
            Some(before) => {
                before.push(b'\n');
                before.extend_from_slice(data);
            }
            None => self.data = Some(data.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames are independent of how the bytes are split.
    #[track_caller]
    fn check(framing: Framing, text: &str, expected: &[&str], rest: Option<&str>) {
        for size in 1..=text.len() {
            let mut splitter = Splitter::new(framing);
            let mut frames = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                splitter.push(piece);
                while let Some(frame) = splitter.next() {
                    frames.push(String::from_utf8(frame).unwrap());
                }
            }
            assert_eq!(frames, expected, "in pieces of {size}");
            let left = splitter.rest().filter(|left| !left.is_empty());
            assert_eq!(left.map(|left| String::from_utf8(left).unwrap()).as_deref(), rest, "in pieces of {size}");
            assert_eq!(splitter.pending(), 0);
        }
    }

    #[test]
    fn lines_are_told_apart() {
        check(Framing::Lines, "{\"ü\":1}\n\r\n  \n[2]\r\n{\"cut", &["{\"ü\":1}", "[2]"], Some("{\"cut"));
    }

    #[test]
    fn events_are_told_apart() {
        let text = ": hello\n\nevent: x\ndata: {\"数\":\ndata:1}\r\n\r\nid: 1\n\ndata:\n\ndata: 2\n\ndata: 3";
        check(Framing::Events, text, &["{\"数\":\n1}", "2"], Some("3"));
    }
}
