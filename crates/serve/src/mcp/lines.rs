//! One message per line. The transport of the SDK ignores lines that are not JSON and omits the id of errors; this one answers every line, as
//! JSON-RPC 2.0 requires.

use std::io;
use std::sync::Arc;

use futures::{SinkExt, StreamExt};
use prospector_core::mark;
use rmcp::{
    RoleServer,
    model::{ErrorData, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::JsonRpcMessageCodec},
};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio_util::bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, FramedRead, FramedWrite, LinesCodec, LinesCodecError};

use super::MAX_MESSAGE_CHARS;

/// Maximum length of a line in bytes.
const MAX_LINE: usize = rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;

/// Mark that editors put at the start of UTF-8 files.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The messages of a pair of streams.
pub(super) struct Lines<R, W> {
    input: FramedRead<R, LineDecoder>,
    output: Arc<Mutex<Option<FramedWrite<W, LinesCodec>>>>,
    /// The error that answers an invalid line. A dropped `receive` continues with it.
    pending: Option<Pending>,
}

enum Pending {
    Queue(String),
    Flush,
}

/// The content of a line.
enum Parsed {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A notification of another protocol, or none at all.
    Ignored,
    /// The error response.
    Invalid(String),
}

impl<R: AsyncRead, W: AsyncWrite> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        let output = Arc::new(Mutex::new(Some(FramedWrite::new(output, LinesCodec::new()))));
        Lines { input: FramedRead::new(input, LineDecoder::new(MAX_LINE)), output, pending: None }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let line = serde_json::to_string(&message)?;
            match output.lock().await.as_mut() {
                Some(output) => output.send(line).await.map_err(io_error),
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(pending) = &mut self.pending {
                let mut output = self.output.lock().await;
                let output = output.as_mut()?;
                if let Pending::Queue(line) = pending {
                    output.feed(line.as_str()).await.ok()?;
                    *pending = Pending::Flush;
                }
                SinkExt::<&str>::flush(output).await.ok()?;
                self.pending = None;
            }
            let parsed = match self.input.next().await? {
                Ok(Line::Whole(line)) => parse(line),
                Ok(Line::TooLong) => Parsed::Invalid(refuse(
                    None,
                    &ErrorData::invalid_request(format!("the line is longer than {} MiB", MAX_LINE >> 20), None),
                )),
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read");
                    return None;
                }
            };
            match parsed {
                Parsed::Message(message) => return Some(*message),
                Parsed::Ignored => {}
                Parsed::Invalid(error) => self.pending = Some(Pending::Queue(error)),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.take();
        Ok(())
    }
}

fn io_error(error: LinesCodecError) -> io::Error {
    match error {
        LinesCodecError::Io(error) => error,
        LinesCodecError::MaxLineLengthExceeded => io::Error::other(error),
    }
}

fn parse(mut line: BytesMut) -> Parsed {
    if line.starts_with(BYTE_ORDER_MARK) {
        line.advance(BYTE_ORDER_MARK.len());
    }
    if line.trim_ascii().is_empty() {
        return Parsed::Ignored;
    }
    if let Ok(message) = serde_json::from_slice(&line) {
        return Parsed::Message(Box::new(message));
    }
    let value: Value = match serde_json::from_slice(&line) {
        Ok(value) => value,
        Err(error) => {
            let message = mark::clean(&format!("the line is not valid JSON: {error}"), MAX_MESSAGE_CHARS);
            return Parsed::Invalid(refuse(None, &ErrorData::parse_error(message, None)));
        }
    };
    // The SDK knows the notifications of other protocols.
    match JsonRpcMessageCodec::<RxJsonRpcMessage<RoleServer>>::new().decode(&mut line) {
        Ok(_) => Parsed::Ignored,
        Err(_) => {
            let message = "the message is not a request, response or notification of JSON-RPC 2.0";
            let id = serde_json::from_value(value["id"].clone()).ok();
            Parsed::Invalid(refuse(id, &ErrorData::invalid_request(message, None)))
        }
    }
}

/// Returns an error response; its id is null if the request has none.
fn refuse(id: Option<RequestId>, error: &ErrorData) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

/// A line of the input.
#[derive(Debug, PartialEq)]
enum Line {
    /// With its line feed.
    Whole(BytesMut),
    /// It was discarded.
    TooLong,
}

/// Splits the input into lines in bounded memory. Text after the last line feed is not a message.
struct LineDecoder {
    max: usize,
    /// The number of bytes of the buffer that contain no line feed.
    searched: usize,
    /// Whether the rest of a line is discarded.
    is_discarding: bool,
}

impl LineDecoder {
    fn new(max: usize) -> Self {
        LineDecoder { max, searched: 0, is_discarding: false }
    }
}

impl Decoder for LineDecoder {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        loop {
            let feed = buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let end = feed.map(|at| self.searched + at + 1);
            self.searched = 0;
            match end {
                Some(end) => {
                    let line = buffer.split_to(end);
                    if std::mem::take(&mut self.is_discarding) {
                        continue;
                    }
                    return Ok(Some(if end > self.max { Line::TooLong } else { Line::Whole(line) }));
                }
                None if self.is_discarding || buffer.len() >= self.max => {
                    buffer.clear();
                    let is_known = std::mem::replace(&mut self.is_discarding, true);
                    return Ok((!is_known).then_some(Line::TooLong));
                }
                None => {
                    self.searched = buffer.len();
                    return Ok(None);
                }
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        let line = self.decode(buffer)?;
        if line.is_none() {
            buffer.clear();
            self.searched = 0;
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discards_lines_beyond_the_limit() {
        let whole = |text: &str| Some(Line::Whole(text.into()));
        let (mut decoder, mut buffer) = (LineDecoder::new(5), BytesMut::new());
        let mut next = |text: &str| {
            buffer.extend_from_slice(text.as_bytes());
            decoder.decode(&mut buffer).unwrap()
        };
        assert_eq!(next("a"), None);
        assert_eq!(next("b\n1234\n12345\nc\n"), whole("ab\n"));
        assert_eq!(next(""), whole("1234\n"));
        assert_eq!(next(""), Some(Line::TooLong));
        assert_eq!(next(""), whole("c\n"));
        assert_eq!(next("12345"), Some(Line::TooLong));
        assert_eq!(next("6789"), None);
        assert_eq!(next("0\nd\ne"), whole("d\n"));
        assert_eq!(next("\n"), whole("e\n"));
        let mut rest = BytesMut::from("x\ny");
        assert_eq!(decoder.decode_eof(&mut rest).unwrap(), whole("x\n"));
        assert_eq!((decoder.decode_eof(&mut rest).unwrap(), rest.len()), (None, 0));
        assert_eq!(decoder.decode_eof(&mut rest).unwrap(), None);
    }
}
