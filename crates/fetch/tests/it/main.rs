//! Tests of fetching, linked into one program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cache;
mod guard;
