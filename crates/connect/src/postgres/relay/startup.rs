//! The first message of the driver, whose token shows that it is not another program.
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE>

use std::fmt::Write;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_rustls::rustls::crypto::aws_lc_rs;

/// The name of the client that the server receives.
const APPLICATION: &str = "prospector";

/// The maximum size of a first message, as PostgreSQL has it.
const MAX_STARTUP_BYTES: usize = 10_000;

/// The length of the message and the version of the protocol.
const HEAD: usize = 8;

/// Creates the secret that the driver sends instead of the name of the client.
pub(super) fn create_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    let random = aws_lc_rs::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| io::Error::other("no random number is available"))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Reads the first message. Returns the one to send to the server, with the name of the client instead of the token.
///
/// # Errors
/// When it does not contain the token: another program has connected.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin), token: &str) -> io::Result<Vec<u8>> {
    let length = stream.read_u32().await? as usize;
    if !(HEAD..=MAX_STARTUP_BYTES).contains(&length) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length - 4];
    stream.read_exact(&mut message).await?;
    replace_token(&message, token).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
}

/// Replaces the token in a message without its length, and returns it with its new length; `None` without the token.
fn replace_token(message: &[u8], token: &str) -> Option<Vec<u8>> {
    let (version, parameters) = message.split_at_checked(HEAD - 4)?;
    let parameters: Vec<&[u8]> = parameters.split(|byte| *byte == 0).collect();
    let mut replaced = version.to_vec();
    let mut is_ours = false;
    for pair in parameters.chunks_exact(2).take_while(|pair| !pair[0].is_empty()) {
        let is_token = pair[0] == b"application_name" && pair[1] == token.as_bytes();
        is_ours |= is_token;
        for text in [pair[0], if is_token { APPLICATION.as_bytes() } else { pair[1] }] {
            replaced.extend_from_slice(text);
            replaced.push(0);
        }
    }
    replaced.push(0);
    let length = u32::try_from(replaced.len() + 4).ok()?;
    is_ours.then(|| [&length.to_be_bytes(), replaced.as_slice()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn passes_only_a_message_with_the_token() {
        let check = async |parameters: &str, expected: Option<&str>| {
            let length = (HEAD + parameters.len()) as u32;
            let message = [&length.to_be_bytes(), &[0, 3, 0, 0], parameters.as_bytes()].concat();
            let read = read(&mut message.as_slice(), "t0ken").await.ok();
            let expected = expected.map(|parameters| {
                let length = (HEAD + parameters.len()) as u32;
                [&length.to_be_bytes(), &[0, 3, 0, 0], parameters.as_bytes()].concat()
            });
            assert_eq!(read, expected, "{parameters:?}");
        };
        let passed = "user\0ada\0database\0\0application_name\0prospector\0options\0-c a=b\0\0";
        check("user\0ada\0database\0\0application_name\0t0ken\0options\0-c a=b\0\0", Some(passed)).await;
        check("user\0t0ken\0\0", None).await;
        check("user\0ada\0application_name\0t0ke\0\0", None).await;
        check("application_name\0t0ken", Some("application_name\0prospector\0\0")).await;
        check("", None).await;
        for wrong in [[0, 0, 0, 0].as_slice(), &[0, 0, 0, 7, 0, 3, 0], &[255; 100], &[0, 0, 0, 9, 0]] {
            assert!(read(&mut &*wrong, "").await.is_err());
        }
    }

    #[test]
    fn creates_different_tokens() {
        let tokens = [create_token().unwrap(), create_token().unwrap()];
        assert!(tokens[0] != tokens[1] && tokens[0].len() == 32, "{tokens:?}");
    }
}
