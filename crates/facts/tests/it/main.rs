//! Integration tests of facts, in one binary to link once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fact_tools;
mod owners;
mod questions;
mod terms;
