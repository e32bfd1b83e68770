//! The tests of the executor, in one binary, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod runs;
mod sample;
mod steps;
mod support;
