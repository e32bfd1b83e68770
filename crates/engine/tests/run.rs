//! Queries through the engine: joins, subsets, queries that are built, what goes wrong, and what stops.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "run/built.rs"]
mod built;
#[path = "run/joined.rs"]
mod joined;
#[path = "run/large.rs"]
mod large;
#[path = "run/scoped.rs"]
mod scoped;
#[path = "run/servers.rs"]
mod servers;
#[path = "run/stand_in.rs"]
mod stand_in;
mod support;
#[path = "run/tables.rs"]
mod tables;
#[path = "run/warehouse.rs"]
mod warehouse;
#[path = "run/wrong.rs"]
mod wrong;
