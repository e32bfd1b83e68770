//! Integration tests of the connectors, linked into one program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[cfg(feature = "bigquery")]
mod bigquery;
#[cfg(feature = "cassandra")]
mod cassandra;
mod dirty_files;
mod dotted_names;
#[cfg(feature = "dynamodb")]
mod dynamodb;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
mod filters;
mod hostile_files;
mod mariadb;
mod mariadb_sessions;
#[cfg(feature = "mongodb")]
mod mongodb;
mod postgres;
mod postgres_fields;
mod postgres_messages;
mod postgres_sessions;
mod sqlite_sessions;
mod support;
