//! Memory limits of SQLite. Memory is counted per process, across all open databases.

#![allow(unsafe_code, reason = "SQLite says how much it uses through its C interface only")]

use rusqlite::Connection;

/// The maximum size of an intermediate value of a user statement in bytes.
pub(super) const MAX_VALUE_BYTES: i32 = 8 << 20;

/// A statement is stopped when the memory used by SQLite has grown by this many bytes since it started.
pub(super) const MAX_GROWTH: usize = 256 << 20;

/// The hard limit of memory used by SQLite in bytes: further allocations fail without ending the process. Statements are
/// stopped well before, so that other databases of the process (facts, sessions) have room left.
pub(super) const MAX_HEAP: usize = 1 << 30;

/// Sets the limit of the process, unless a lower one is set.
pub(super) fn cap(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&format!("PRAGMA hard_heap_limit = {MAX_HEAP}"))
}

/// Returns the number of bytes that SQLite currently uses.
pub(super) fn bytes_used() -> usize {
    // SAFETY: it takes no argument, keeps nothing, and may be called from any thread.
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_used() };
    usize::try_from(bytes).unwrap_or(0)
}
