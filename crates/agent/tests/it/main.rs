//! The tests of the agent, in one program, which links what it tests once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod chaos;
mod extraction;
mod limits;
mod review;
mod support;
mod tracing;
mod wire;
