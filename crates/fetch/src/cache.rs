//! Cached copies in a folder: used while fresh, revalidated when old, and kept while a server is unavailable.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prospector_state::{
    Replacement,
    checksum::{BrokenSeal, SealedError, read_json, write_json},
    create_folder,
    folder::{cache_name, is_cache_name},
    remove_leftovers,
};
use serde::{Deserialize, Serialize};

use crate::{FetchError, Fetched, Fetcher, Request, Validators, error::redact_text, media};

/// The format version of stored notes.
const FORMAT: u32 = 2;

/// A fetcher with a cache. Each copy is a file whose extension is that of its format and whose time is that of the last change at its
/// server, so that readers of the files detect changes. Damaged copies are ignored.
#[derive(Debug, Clone)]
pub struct HttpCache {
    fetcher: Fetcher,
    folder: PathBuf,
    /// Copies younger than this are used without revalidation.
    young: Duration,
    /// Runs once, before the first write.
    cleaning: Arc<Once>,
}

/// A cached copy.
#[derive(Debug)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// The requested URL, without secrets.
    pub url: String,
    /// The content type sent by the server.
    pub content_type: String,
    /// The time since the server last confirmed this version.
    pub age: Duration,
    /// The result of revalidation, if any.
    pub freshness: Freshness,
}

/// The freshness of a copy.
#[derive(Debug)]
pub enum Freshness {
    /// Fresh; the server was not contacted.
    Young,
    /// The server confirmed that nothing changed.
    Unchanged,
    /// Newly fetched.
    New,
    /// The server could not be reached; this is the last copy.
    Old(FetchError),
}

/// Metadata of a copy. The URL is not included, since it may contain a secret.
#[derive(Serialize, Deserialize)]
struct Note {
    format: u32,
    url: String,
    content_type: String,
    extension: String,
    version: Validators,
    /// Seconds since 1970.
    checked: u64,
    /// The BLAKE3 hash of the copy, in hexadecimal.
    checksum: String,
}

impl HttpCache {
    /// Stores copies in `folder`, and uses them without revalidation while they are younger than `young`.
    pub fn new(fetcher: Fetcher, folder: impl Into<PathBuf>, young: Duration) -> Self {
        HttpCache { fetcher, folder: folder.into(), young, cleaning: Arc::new(Once::new()) }
    }

    /// Returns all copies and notes in a folder, with the faults of damaged ones. Nothing is changed.
    pub fn examine(folder: &Path) -> Vec<(PathBuf, Option<SealedError>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let Some(key) = name.to_str().and_then(|name| name.strip_suffix(NOTE)) else { continue };
            if !is_cache_name(key) {
                continue;
            }
            let base = folder.join(key);
            match read_note(&base) {
                Ok(Some(note)) => {
                    let copy = base.with_extension(&note.extension);
                    found.push((path, None));
                    let fault = verify(&copy, &note).err();
                    found.push((copy, fault));
                }
                // Written by another version.
                Ok(None) => found.push((path, None)),
                Err(fault) => found.push((path, Some(fault))),
            }
        }
        found
    }

    /// Returns the copy for a request: fresh, revalidated, or the last one. A URL that the policy does not allow is rejected even if
    /// there is a copy; if it now leads to a disallowed address, the copy is kept but not used.
    ///
    /// # Errors
    /// [`FetchError`] if the request is rejected, if there is neither a response nor a copy, or if the folder cannot be written.
    pub async fn get(&self, request: &Request) -> Result<Saved, FetchError> {
        self.fetcher.permits(&request.url)?;
        let base = self.folder.join(key(request));
        let before = self
            .read(&base)
            .filter(|(note, _)| media::is_accepted(&media::essence(&note.content_type), &request.accept));
        let Some((mut note, path)) = before else {
            return self.store(&base, request, self.fetcher.fetch(request).await?);
        };
        let age = Duration::from_secs(now().saturating_sub(note.checked));
        let url = redact_text(&request.url);
        let saved = |content_type, age, freshness| Saved { path: path.clone(), url, content_type, age, freshness };
        if age < self.young {
            return Ok(saved(note.content_type, age, Freshness::Young));
        }
        match self.fetcher.fetch(&Request { known: note.version.clone(), ..request.clone() }).await {
            Ok(Fetched::Unchanged) => {
                note.checked = now();
                write_json(&note_path(&base), &note).map_err(|source| self.write_error(request, source))?;
                Ok(saved(note.content_type, Duration::ZERO, Freshness::Unchanged))
            }
            Ok(fetched) => {
                let stored = self.store(&base, request, fetched)?;
                if stored.path != path {
                    // A leftover file only takes up space.
                    let _ = fs::remove_file(&path);
                }
                Ok(stored)
            }
            Err(error) => Ok(saved(note.content_type, age, Freshness::Old(error))),
        }
    }

    /// Returns the note and the copy, if both are intact.
    fn read(&self, base: &Path) -> Option<(Note, PathBuf)> {
        let damaged = |path: &Path, fault: SealedError| {
            tracing::warn!(path = %path.display(), %fault, "the cached copy is damaged and will be fetched again");
        };
        let note = read_note(base).unwrap_or_else(|fault| {
            damaged(&note_path(base), fault);
            None
        })?;
        let path = base.with_extension(&note.extension);
        if path.is_file() {
            verify(&path, &note).map_err(|fault| damaged(&path, fault)).ok()?;
            return Some((note, path));
        }
        None
    }

    fn store(&self, base: &Path, request: &Request, fetched: Fetched) -> Result<Saved, FetchError> {
        let Fetched::Body { content_type, bytes, version, url } = fetched else {
            return Err(FetchError::Status { url: redact_text(&request.url), status: 304 });
        };
        // The last segment of the requested path: that of a redirect target is often only a number.
        let asked = redact_text(&request.url);
        let extension = media::extension(&content_type, asked.trim_end_matches("?…"));
        let path = base.with_extension(&extension);
        let changed = version.last_modified.as_deref().and_then(|text| httpdate::parse_http_date(text).ok());
        let checksum = blake3::hash(&bytes).to_hex().to_string();
        let note = Note { format: FORMAT, url, content_type, extension, version, checked: now(), checksum };
        let write = || -> io::Result<()> {
            create_folder(&self.folder)?;
            self.cleaning.call_once(|| remove_leftovers(&self.folder));
            let mut copy = Replacement::begin(&path)?;
            copy.file().write_all(&bytes)?;
            if let Some(time) = changed {
                copy.file().set_modified(time)?;
            }
            copy.finish()?;
            write_json(&note_path(base), &note)
        };
        write().map_err(|source| self.write_error(request, source))?;
        Ok(Saved { path, url: asked, content_type: note.content_type, age: Duration::ZERO, freshness: Freshness::New })
    }

    fn write_error(&self, request: &Request, source: io::Error) -> FetchError {
        FetchError::Keep { url: redact_text(&request.url), place: self.folder.display().to_string(), source }
    }
}

/// Returns the name of a copy, derived from the request and its credentials.
fn key(request: &Request) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request.url.trim().as_bytes()).update(b"\0");
    hasher.update(request.authorization.as_deref().unwrap_or_default().as_bytes()).update(b"\0");
    if let Some(json) = &request.json {
        hasher.update(json.to_string().as_bytes());
    }
    cache_name(&hasher.finalize())
}

/// The suffix of note files.
const NOTE: &str = ".note.json";

fn note_path(base: &Path) -> PathBuf {
    base.with_extension(&NOTE[1..])
}

/// Returns the note of a copy; `None` if it is missing or was written by another version.
fn read_note(base: &Path) -> Result<Option<Note>, SealedError> {
    let note: Option<Note> = read_json(&note_path(base))?;
    let is_usable =
        |note: &Note| note.format == FORMAT && note.extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Ok(note.filter(is_usable))
}

/// Compares a copy with the checksum in its note.
fn verify(copy: &Path, note: &Note) -> Result<(), SealedError> {
    let bytes = fs::read(copy)?;
    match blake3::hash(&bytes).to_hex().as_str() == note.checksum {
        true => Ok(()),
        false => Err(BrokenSeal::Different.into()),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
