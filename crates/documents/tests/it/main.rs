//! Integration tests of document formats, in one binary to link once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod markup;
mod real_files;
mod support;
