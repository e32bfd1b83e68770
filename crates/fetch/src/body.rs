//! Response bodies: read and decompressed within limits.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::{Response, header::CONTENT_ENCODING};
use tokio::time::timeout;

use crate::{FetchError, Limits};

/// Reads and decompresses a response body.
pub(crate) async fn read(mut response: Response, url: &str, limits: &Limits) -> Result<Vec<u8>, FetchError> {
    let too_large = || FetchError::TooLarge { url: url.to_owned(), limit: limits.bytes };
    if response.content_length().is_some_and(|length| length > limits.bytes as u64) {
        return Err(too_large());
    }
    let packing: Vec<String> = response
        .headers()
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("?").split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    let packing = packing.join(", ");
    let mut bytes = Vec::new();
    loop {
        let chunk = match timeout(limits.stall, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(FetchError::Transport { url: url.to_owned(), reason: reason(error) }),
            Err(_) => {
                let seconds = limits.stall.as_secs_f32();
                return Err(FetchError::Timeout { url: url.to_owned(), what: "no data received", seconds });
            }
        };
        if bytes.len() + chunk.len() > limits.bytes {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    if packing.is_empty() {
        return Ok(bytes);
    }
    let limit = limits.bytes;
    let unpacked = tokio::task::spawn_blocking(move || unpack(&packing, &bytes, limit)).await;
    match unpacked.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok(bytes) if bytes.len() > limit => Err(too_large()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(FetchError::Unpack { url: url.to_owned(), reason: error.to_string() }),
    }
}

/// Returns the reason of a failure with its causes, without the URL, which may contain a secret.
pub(crate) fn reason(error: reqwest::Error) -> String {
    prospector_core::problem::causes(&error.without_url())
}

/// Decompresses at most one byte more than `limit`, which indicates that the body is too large.
fn unpack(packing: &str, bytes: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    match packing {
        "gzip" | "x-gzip" => read_bounded(MultiGzDecoder::new(bytes), limit),
        // Zlib according to RFC 9110, but some servers send raw deflate.
        "deflate" if is_zlib(bytes) => read_bounded(ZlibDecoder::new(bytes), limit),
        "deflate" => read_bounded(DeflateDecoder::new(bytes), limit),
        other => Err(io::Error::other(format!("unrequested content encoding `{other}`"))),
    }
}

fn read_bounded(unpacked: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    unpacked.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether the first two bytes are a zlib header (RFC 1950).
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0)
}
