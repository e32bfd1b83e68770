//! Opens a database file without writing anything, not even next to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ffi};

use super::failure::OpenError;

/// Opens a file; returns also a warning if some of its content cannot be read.
///
/// # Errors
/// If the file is not a database, or cannot be read.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<&'static str>), OpenError> {
    let uses_log = uses_log(path)?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // With a write-ahead log, even a reader creates files next to the database, unless it is opened as immutable.
    // Without a log file there is no writer.
    if uses_log && !Path::new(&log).exists() {
        return Ok((connect(path, true)?, None));
    }
    match connect(path, false) {
        // The folder is not writable, so the log cannot be used.
        Err(error)
            if uses_log
                && error.sqlite_error().is_some_and(|error| {
                    matches!(
                        error.extended_code & 0xff,
                        ffi::SQLITE_READONLY | ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN
                    )
                }) =>
        {
            Ok((connect(path, true)?, Some("the write-ahead log cannot be read, so the latest changes are missing")))
        }
        connection => Ok((connection?, None)),
    }
}

/// Opens the file, as immutable if it has no writer, and verifies it with one statement.
fn connect(path: &Path, is_immutable: bool) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match is_immutable {
        true => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?,
        false => Connection::open_with_flags(path, flags)?,
    };
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
    Ok(connection)
}

/// Whether the database uses a write-ahead log; fails if the file is not a database.
fn uses_log(path: &Path) -> Result<bool, OpenError> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::Missing,
        _ => OpenError::Io(error),
    })?;
    if metadata.is_dir() {
        return Err(OpenError::Folder);
    }
    if metadata.len() == 0 {
        return Err(OpenError::Empty);
    }
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error.into()),
        Ok(()) if header.starts_with(b"SQLite format 3\0") => Ok(header[18] == 2 || header[19] == 2),
        _ => Err(OpenError::Header),
    }
}

/// Returns the file as a URI with the immutable flag.
fn immutable(path: &Path) -> OsString {
    let written = path.as_os_str().as_encoded_bytes();
    let slashes: Vec<u8> = match cfg!(windows) {
        true => written.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect(),
        false => written.to_vec(),
    };
    let mut uri = String::from(if slashes.starts_with(b"/") { "file://" } else { "file:///" });
    for part in slashes.split_inclusive(|byte| *byte == b'/') {
        let name = part.strip_suffix(b"/").unwrap_or(part);
        uri.extend(percent_encoding::percent_encode(name, percent_encoding::NON_ALPHANUMERIC));
        if name.len() < part.len() {
            uri.push('/');
        }
    }
    (uri + "?immutable=1&mode=ro").into()
}
