//! Connections on which SQL of others may run: SQLite itself refuses whatever is not reading.
//!
//! A file that is opened for reading only still lets `ATTACH` and `VACUUM INTO` write other files. What SQLite compiles
//! is shown to an authorizer first, which knows only reading, and no other database can be attached.

#![allow(unsafe_code, reason = "the authorizer and the limits of SQLite are set through its C interface")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;
use sqlx::SqliteConnection;

/// Functions that do more than compute.
const REFUSED: [&[u8]; 5] = [b"load_extension", b"fts3_tokenizer", b"readfile", b"writefile", b"edit"];

/// From now on, the connection can only read, and stops when `patience` is over or `gone` is set.
pub(super) async fn guard(
    connection: &mut SqliteConnection,
    patience: Duration,
    gone: Arc<AtomicBool>,
) -> Result<(), sqlx::Error> {
    let end = Instant::now() + patience;
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(1_000, move || Instant::now() < end && !gone.load(Ordering::Relaxed));
    let database = handle.as_raw_handle().as_ptr();
    // SAFETY: the handle is locked and belongs to an open connection; the callback is a function without state that
    // lives as long as the program.
    let set = unsafe {
        ffi::sqlite3_limit(database, ffi::SQLITE_LIMIT_ATTACHED, 0);
        ffi::sqlite3_set_authorizer(database, Some(authorize), null_mut())
    };
    if set == ffi::SQLITE_OK { Ok(()) } else { Err(sqlx::Error::Protocol("the authorizer was refused".to_owned())) }
}

extern "C" fn authorize(
    _: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: SQLite gives null or a text that ends in zero and lives as long as the call.
    let named = |text: *const c_char| if text.is_null() { b"" } else { unsafe { CStr::from_ptr(text) }.to_bytes() };
    let allowed = match action {
        ffi::SQLITE_SELECT | ffi::SQLITE_READ | ffi::SQLITE_RECURSIVE => true,
        ffi::SQLITE_FUNCTION => !REFUSED.iter().any(|name| named(second).eq_ignore_ascii_case(name)),
        // Full text search asks for it.
        ffi::SQLITE_PRAGMA => named(first).eq_ignore_ascii_case(b"data_version"),
        _ => false,
    };
    if allowed { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}
