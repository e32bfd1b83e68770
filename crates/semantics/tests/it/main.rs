//! Tests of the semantic layer, linked into one program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod imports;
mod segments;
