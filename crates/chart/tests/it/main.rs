//! Integration tests of charts, in one binary to link once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agreement;
mod measures;
mod proposals;
mod totals;
