//! Limits what each message of a server may hold, while it passes and without holding it.
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>

use memchr::memchr;

use crate::budget::MAX_ROW_BYTES;
use crate::server::ROW_TOO_LARGE;

/// The maximum size of one text of an error or a notice: its message, the detail, the hint, the context. More than is
/// ever shown of it.
const MAX_TEXT_BYTES: usize = 8 << 10;

/// The maximum size of all texts of an error or a notice; PostgreSQL knows 18 of them, most of which are short.
const MAX_TEXTS_BYTES: usize = 128 << 10;

/// The maximum size of a notification, or of the new value of a setting.
const MAX_REPORT_BYTES: usize = 64 << 10;

/// The maximum size of any other message. Names and types of the 1,664 columns that PostgreSQL allows take 150 KB.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// What follows a text that is longer than [`MAX_TEXT_BYTES`].
const MARK: &str = "… (truncated)";

/// The type of a message and its length, which counts itself.
const HEAD: usize = 5;

/// A message that cannot be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum MessageError {
    #[error("the server sends a message with the invalid length {0}")]
    Length(u32),
    #[error("the server sends a message of the type `{}` with {length} bytes", kind.escape_ascii())]
    TooLong { kind: u8, length: usize },
}

/// Reads what a server sends, and passes on what the driver may read.
#[derive(Default)]
pub(super) struct MessageFilter {
    state: State,
    /// The rest of an answer is dropped until the server is ready for the next statement.
    is_dropping: bool,
}

enum State {
    Head {
        bytes: [u8; HEAD],
        read: usize,
    },
    /// The number of bytes of the message that are still passed on.
    Pass(usize),
    /// The number of bytes of the message that are still dropped.
    Skip(usize),
    /// An error or a notice.
    Texts(Texts),
}

impl Default for State {
    fn default() -> Self {
        State::Head { bytes: [0; HEAD], read: 0 }
    }
}

impl MessageFilter {
    /// Reads the next bytes of the server, and appends to `output` what the driver may read.
    ///
    /// # Errors
    /// When nothing that follows can be read. `output` ends with an error for the driver then.
    pub(super) fn read(&mut self, mut input: &[u8], output: &mut Vec<u8>) -> Result<(), MessageError> {
        while !input.is_empty() {
            let taken = match &mut self.state {
                State::Head { bytes, read } => {
                    let taken = input.len().min(HEAD - *read);
                    bytes[*read..*read + taken].copy_from_slice(&input[..taken]);
                    *read += taken;
                    if let (HEAD, bytes) = (*read, *bytes) {
                        self.state = self.start(bytes, output).inspect_err(|error| {
                            push_error(output, "FATAL", "08P01", &error.to_string());
                        })?;
                    }
                    taken
                }
                State::Pass(left) => {
                    let taken = input.len().min(*left);
                    output.extend_from_slice(&input[..taken]);
                    *left -= taken;
                    taken
                }
                State::Skip(left) => {
                    let taken = input.len().min(*left);
                    *left -= taken;
                    taken
                }
                State::Texts(texts) => {
                    let taken = input.len().min(texts.left);
                    texts.read(&input[..taken]);
                    taken
                }
            };
            input = &input[taken..];
            self.finish(output);
        }
        Ok(())
    }

    /// Decides what happens to the message with this head.
    fn start(&mut self, head: [u8; HEAD], output: &mut Vec<u8>) -> Result<State, MessageError> {
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length);
        let left = (length as usize).checked_sub(HEAD - 1).ok_or(MessageError::Length(length))?;
        let mut pass = || {
            output.extend_from_slice(&head);
            State::Pass(left)
        };
        if self.is_dropping && kind != b'Z' {
            return Ok(State::Skip(left));
        }
        Ok(match kind {
            b'E' | b'N' => State::Texts(Texts::new(kind, left)),
            b'D' if left > MAX_ROW_BYTES => {
                self.is_dropping = true;
                let reason = format!("a row has more than {} MB", MAX_ROW_BYTES >> 20);
                push_error(output, "ERROR", ROW_TOO_LARGE, &reason);
                State::Skip(left)
            }
            b'D' => pass(),
            // The driver makes no use of either.
            b'A' | b'S' if left > MAX_REPORT_BYTES => State::Skip(left),
            _ if left > MAX_MESSAGE_BYTES => return Err(MessageError::TooLong { kind, length: left }),
            b'Z' => {
                self.is_dropping = false;
                pass()
            }
            _ => pass(),
        })
    }

    /// Continues with the next message where this one has ended.
    fn finish(&mut self, output: &mut Vec<u8>) {
        match &mut self.state {
            State::Pass(0) | State::Skip(0) => {}
            State::Texts(texts) if texts.left == 0 => texts.push_to(output),
            State::Head { .. } | State::Pass(_) | State::Skip(_) | State::Texts(_) => return,
        }
        self.state = State::default();
    }
}

/// The texts of an error or a notice. Each has its type before it and a zero after it.
struct Texts {
    kind: u8,
    left: usize,
    bytes: Vec<u8>,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// Before the type of the next text, or the zero that ends the message.
    Type,
    /// In the text that starts there.
    Text {
        start: usize,
        is_cut: bool,
    },
    /// In a text that is dropped.
    Beyond,
    End,
}

impl Texts {
    fn new(kind: u8, left: usize) -> Self {
        Texts { kind, left, bytes: Vec::new(), place: Place::Type }
    }

    fn read(&mut self, mut input: &[u8]) {
        self.left -= input.len();
        while let Some(first) = input.first() {
            match self.place {
                Place::Type => {
                    self.place = match *first {
                        0 => Place::End,
                        _ if self.bytes.len() >= MAX_TEXTS_BYTES => Place::Beyond,
                        kind => {
                            self.bytes.push(kind);
                            Place::Text { start: self.bytes.len(), is_cut: false }
                        }
                    };
                    input = &input[1..];
                }
                Place::Text { start, is_cut } => {
                    let end = memchr(0, input);
                    let text = &input[..end.unwrap_or(input.len())];
                    let room = MAX_TEXT_BYTES - (self.bytes.len() - start);
                    self.bytes.extend_from_slice(&text[..text.len().min(room)]);
                    self.place = Place::Text { start, is_cut: is_cut || text.len() > room };
                    input = &input[text.len()..];
                    if end.is_some() {
                        self.end_text();
                        input = &input[1..];
                    }
                }
                Place::Beyond => match memchr(0, input) {
                    Some(end) => {
                        self.place = Place::Type;
                        input = &input[end + 1..];
                    }
                    None => return,
                },
                Place::End => return,
            }
        }
    }

    /// Ends the text, and marks it where it was cut.
    fn end_text(&mut self) {
        if let Place::Text { start, is_cut } = self.place {
            if is_cut {
                // The last letter may have lost some of its bytes.
                let lost = std::str::from_utf8(&self.bytes[start..]).err().filter(|error| error.error_len().is_none());
                if let Some(lost) = lost {
                    self.bytes.truncate(start + lost.valid_up_to());
                }
                self.bytes.extend_from_slice(MARK.as_bytes());
            }
            self.bytes.push(0);
        }
        self.place = Place::Type;
    }

    fn push_to(&mut self, output: &mut Vec<u8>) {
        self.end_text();
        self.bytes.push(0);
        push_message(output, self.kind, &self.bytes);
    }
}

fn push_message(output: &mut Vec<u8>, kind: u8, content: &[u8]) {
    let length = u32::try_from(content.len() + HEAD - 1).unwrap_or(u32::MAX);
    output.push(kind);
    output.extend_from_slice(&length.to_be_bytes());
    output.extend_from_slice(content);
}

/// Appends an error that the server did not send.
fn push_error(output: &mut Vec<u8>, severity: &str, code: &str, reason: &str) {
    push_message(output, b'E', format!("S{severity}\0V{severity}\0C{code}\0M{reason}\0\0").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of a server.
    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_message(&mut bytes, kind, content);
        bytes
    }

    /// What passes, read in parts of that many bytes.
    fn filter(input: &[u8], part: usize) -> (Vec<u8>, Result<(), MessageError>) {
        let (mut filter, mut output) = (MessageFilter::default(), Vec::new());
        let done = input.chunks(part).try_for_each(|part| filter.read(part, &mut output));
        (output, done)
    }

    #[track_caller]
    fn check(input: &[Vec<u8>], expected: &[Vec<u8>]) {
        let (input, expected) = (input.concat(), expected.concat());
        for part in [1, 2, 3, 7, 4096, input.len()] {
            let (output, done) = filter(&input, part);
            assert!(output == expected && done == Ok(()), "in parts of {part}: {done:?} {}", output.escape_ascii());
        }
    }

    #[test]
    fn passes_usual_messages_unchanged() {
        let texts = "SERROR\0VERROR\0C22P02\0Minvalid: \"ä\"\0Dwhy\0Hhint\0P8\0Rop_error\0\0";
        let all = [
            message(b'R', &[0; 4]),
            message(b'S', b"a\0b\0"),
            message(b'1', b""),
            message(b'T', &[1; 70_000]),
            message(b'D', b""),
            message(b'D', &[2; 100_000]),
            message(b'E', texts.as_bytes()),
            message(b'N', b"\0"),
            message(b'A', &[0; 20]),
            message(b'Z', b"I"),
        ];
        check(&all, &all);
    }

    #[test]
    fn truncates_and_marks_long_texts() {
        for kind in [b'E', b'N'] {
            let long = |text: &str| {
                let texts = format!("SERROR\0C22P02\0M{text}\0D{text}\0P8\0Rroutine\0\0");
                message(kind, texts.as_bytes())
            };
            let letters = |count: usize| "ä".repeat(count);
            check(&[long(&letters(MAX_TEXT_BYTES / 2))], &[long(&letters(MAX_TEXT_BYTES / 2))]);
            let cut = format!("{}{MARK}", letters(MAX_TEXT_BYTES / 2));
            check(&[long(&letters(200_000)), message(b'Z', b"E")], &[long(&cut), message(b'Z', b"E")]);
            // One byte of a letter fits.
            let cut = format!("x{}{MARK}", letters(MAX_TEXT_BYTES / 2 - 1));
            check(&[long(&format!("x{}", letters(200_000)))], &[long(&cut)]);
        }
    }

    #[test]
    fn limits_an_error_of_any_structure() {
        for content in ["M".repeat(1_000_000), "Mx\0".repeat(1_000_000), "Hx".repeat(500_000), "\0".repeat(1_000_000)] {
            for part in [1, 4096] {
                let (output, done) = filter(&message(b'E', content.as_bytes()), part);
                assert!(output.len() < 2 * MAX_TEXTS_BYTES && done.is_ok(), "{}", output.len());
                assert_eq!(u32::from_be_bytes(output[1..5].try_into().unwrap()) as usize, output.len() - 1);
            }
        }
    }

    #[test]
    fn replaces_a_large_row_with_an_error() {
        let too_large = message(b'D', &vec![0; MAX_ROW_BYTES + 1]);
        let failed = b"SERROR\0VERROR\0CPR001\0Ma row has more than 32 MB\0\0";
        let ready = [message(b'Z', b"T"), message(b'D', b"next")];
        let rest = [message(b'D', b"row"), too_large.clone(), message(b'E', b"C57014\0\0"), message(b'C', b"FETCH\0")];
        let input = [[message(b'D', b"first"), too_large].as_slice(), &rest, &ready].concat().concat();
        let expected = [[message(b'D', b"first"), message(b'E', failed)].as_slice(), &ready].concat().concat();
        for part in [4096, input.len()] {
            assert!(filter(&input, part) == (expected.clone(), Ok(())));
        }
    }

    #[test]
    fn drops_long_reports() {
        let long = vec![b'x'; MAX_REPORT_BYTES + 1];
        check(&[message(b'S', &long), message(b'A', &long), message(b'Z', b"I")], &[message(b'Z', b"I")]);
    }

    #[test]
    fn rejects_messages_that_cannot_be_limited() {
        let check = |input: &[u8], error: MessageError| {
            let (output, done) = filter(input, 3);
            assert_eq!(done, Err(error));
            let expected = format!("SFATAL\0VFATAL\0C08P01\0M{error}\0\0");
            assert_eq!(output, message(b'E', expected.as_bytes()));
        };
        check(&[b'T', 0, 0, 0, 3, 0], MessageError::Length(3));
        check(&[b'E', 0, 0, 0, 0], MessageError::Length(0));
        let length = u32::MAX as usize - 4;
        for kind in [b'T', b't', b'R', b'C', b'd', 0, 255] {
            check(&[kind, 255, 255, 255, 255, 0], MessageError::TooLong { kind, length });
        }
        assert!(MessageError::TooLong { kind: 0, length }.to_string().contains("`\\x00`"));
    }
}
