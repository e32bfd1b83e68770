//! How much memory SQLite may take. It counts for the whole process: all databases that the process has open share it.

#![allow(unsafe_code, reason = "SQLite says how much it uses through its C interface only")]

use rusqlite::Connection;

/// No statement goes on when SQLite has taken so much more since it began.
pub(super) const MAX_GROWTH: usize = 256 << 20;

/// SQLite never takes more than so much: whatever asks for more fails, and the process goes on. Statements are stopped
/// long before, so that other databases of the process (facts, sessions) have room left.
pub(super) const MAX_HEAP: usize = 1 << 30;

/// Sets the limit of the process. A limit that is lower already stays.
pub(super) fn cap(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&format!("PRAGMA hard_heap_limit = {MAX_HEAP}"))
}

/// So many bytes SQLite uses now.
pub(super) fn bytes_used() -> usize {
    // SAFETY: it takes no argument, keeps nothing, and may be called from any thread.
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_used() };
    usize::try_from(bytes).unwrap_or(0)
}
