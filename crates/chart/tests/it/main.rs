//! The tests of charts, in one program, which links what it tests once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agreement;
mod measures;
mod proposals;
mod totals;
