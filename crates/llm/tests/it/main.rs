//! The tests of the model clients, in one binary, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod failures;
mod wire;
