//! Integration tests of the index, in one binary to link once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod concurrent;
mod damage;
mod index;
mod kill;
#[cfg(target_os = "linux")]
mod obstacles;
mod states;
