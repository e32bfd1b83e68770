//! The tests of the semantic layer, in one program, which links what it tests once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod imports;
mod segments;
