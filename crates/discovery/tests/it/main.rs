//! Integration tests of discovery, linked as one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cancel;
mod current;
mod facts;
mod invoke;
mod joins;
mod locate;
mod mcp;
mod metric_queries;
mod profiles;
mod prompts;
mod segments;
mod time_zones;
mod verified;
mod web;
