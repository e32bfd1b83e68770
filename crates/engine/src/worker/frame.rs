//! The frames on the pipes of a worker, each with a tag, a length and its content.

use std::io::{self, Read, Write};

use prospector_core::named_enum;

/// The maximum length of a frame.
pub(super) const MAX_FRAME: usize = 64 << 20;

/// The first bytes that a worker writes. Any output of the program before them is skipped.
pub(super) const GREETING: &[u8; 16] = b"\0prospector-w01\n";

/// The maximum number of bytes before the greeting.
const MAX_BEFORE_GREETING: usize = 64 << 10;

named_enum! {
    /// The kind of a frame.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Tag {
        /// To the worker: its limits ([`super::message::Setup`]). The first frame.
        Setup = "setup",
        /// To the worker: a statement ([`super::message::Query`]).
        Query = "query",
        /// To the worker: rows of a subset, as a number and an Arrow stream.
        Subset = "subset",
        /// To the worker: the statement is complete.
        Go = "go",
        /// To the worker: some of the rows that it asked for.
        Rows = "rows",
        /// To the worker: the end of the rows, or a failure ([`super::message::RowsDone`]).
        RowsDone = "rows_done",
        /// To the worker: a liveness check.
        Ping = "ping",
        /// From the worker: the response to `Ping`.
        Pong = "pong",
        /// From the worker: the limits are set. No content.
        Ready = "ready",
        /// From the worker: a request for rows of a source ([`super::message::Ask`]).
        Ask = "ask",
        /// From the worker: some rows of the answer.
        Answer = "answer",
        /// From the worker: the end of the rows, or a failure ([`super::message::Done`]).
        Done = "done",
        /// From the worker: the names of the columns, before the rows of a streamed answer.
        Columns = "columns",
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) tag: Tag,
    pub(super) content: Vec<u8>,
}

impl Frame {
    /// Creates a frame without content.
    pub(super) fn empty(tag: Tag) -> Frame {
        Frame { tag, content: Vec::new() }
    }

    /// Creates a frame with JSON content.
    ///
    /// # Errors
    /// If the content cannot be serialized.
    pub(super) fn json(tag: Tag, content: &impl serde::Serialize) -> io::Result<Frame> {
        Ok(Frame { tag, content: serde_json::to_vec(content)? })
    }

    /// Parses the content as JSON.
    ///
    /// # Errors
    /// If the content is not of that type.
    pub(super) fn parse<T: serde::de::DeserializeOwned>(&self) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.content)?)
    }

    /// Writes the frame.
    ///
    /// # Errors
    /// If it is longer than [`MAX_FRAME`], or cannot be written.
    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let length = u32::try_from(self.content.len()).ok().filter(|_| self.content.len() <= MAX_FRAME);
        let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the frame is too long"))?;
        let mut head = [self.tag as u8, 0, 0, 0, 0];
        head[1..].copy_from_slice(&length.to_le_bytes());
        output.write_all(&head)?;
        output.write_all(&self.content)?;
        output.flush()
    }

    /// Reads the next frame; `None` if the other side has closed the pipe.
    ///
    /// # Errors
    /// If it cannot be read, is incomplete, is longer than [`MAX_FRAME`], or has an unknown tag.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Frame>> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut tag = [0];
        loop {
            match input.read(&mut tag) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let tag = Tag::ALL.get(usize::from(tag[0])).copied().ok_or_else(|| wrong("a frame has an unknown tag"))?;
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_FRAME {
            return Err(wrong("a frame is too long"));
        }
        // The reservation is limited, since the length is not trusted.
        let mut content = Vec::with_capacity(length.min(1 << 20));
        input.take(length as u64).read_to_end(&mut content)?;
        if content.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Frame { tag, content }))
    }
}

/// Reads to the end of the greeting.
///
/// # Errors
/// If there is no greeting.
pub(super) fn read_greeting(input: &mut impl Read) -> io::Result<()> {
    let mut last = [0; GREETING.len()];
    for _ in 0..MAX_BEFORE_GREETING {
        last.rotate_left(1);
        input.read_exact(&mut last[GREETING.len() - 1..])?;
        if last == *GREETING {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a worker of this version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_frames_as_written() {
        let mut bytes = Vec::new();
        for (at, tag) in Tag::ALL.into_iter().enumerate() {
            assert_eq!(tag as usize, at);
            Frame { tag, content: vec![7; at * 1000] }.write(&mut bytes).unwrap();
        }
        let mut input = bytes.as_slice();
        for (at, tag) in Tag::ALL.into_iter().enumerate() {
            assert_eq!(Frame::read(&mut input).unwrap(), Some(Frame { tag, content: vec![7; at * 1000] }));
        }
        assert_eq!(Frame::read(&mut input).unwrap(), None);
        for cut in [1, 3, 5, 1500] {
            let end = bytes.len() - cut;
            let mut input = &bytes[..end];
            let last = std::iter::from_fn(|| Frame::read(&mut input).transpose()).last().unwrap();
            assert!(last.is_err(), "{cut} bytes are missing");
        }
    }

    #[test]
    fn rejects_frames_that_are_too_long() {
        let long = Frame { tag: Tag::Rows, content: vec![0; MAX_FRAME + 1] };
        assert!(long.write(&mut Vec::new()).is_err());
        for head in [[Tag::Rows as u8, 0xff, 0xff, 0xff, 0xff], [200, 0, 0, 0, 0]] {
            assert!(Frame::read(&mut head.as_slice()).is_err());
        }
    }

    #[test]
    fn skips_output_before_the_greeting() {
        let mut said = b"running 1 test\n\0pro".to_vec();
        said.extend_from_slice(GREETING);
        said.push(9);
        let mut input = said.as_slice();
        read_greeting(&mut input).unwrap();
        assert_eq!(input, [9]);
        assert!(read_greeting(&mut b"something else".as_slice()).is_err());
        assert!(read_greeting(&mut std::io::repeat(b'x')).is_err());
    }
}
