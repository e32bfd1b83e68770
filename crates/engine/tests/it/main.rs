//! The tests of the engine, linked into one program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod corpus;
mod differences;
mod explain;
mod inspect;
mod run;
mod support;
mod units;
mod warnings;
