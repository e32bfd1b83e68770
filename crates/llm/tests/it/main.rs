//! The tests of the clients of models, in one program, which links what it tests once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod failures;
mod wire;
