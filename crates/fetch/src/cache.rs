//! Copies in a folder: used while they are young, asked about when they are old, and kept where a server is away.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prospector_state::{
    Replacement,
    checksum::{BrokenSeal, seal, unseal},
    create_folder, remove_leftovers,
};
use serde::{Deserialize, Serialize};

use crate::{FetchError, Fetched, Fetcher, Request, Validators, error::redact_text, media};

/// Changes whenever what is stored changes.
const FORMAT: u32 = 2;

/// A fetcher that keeps copies. Each is a file whose extension says its format and whose time is that of the last change
/// at its server, so that whoever reads files can tell what changed. A copy that is damaged counts as none.
#[derive(Debug, Clone)]
pub struct HttpCache {
    fetcher: Fetcher,
    folder: PathBuf,
    /// A younger copy is used without asking.
    young: Duration,
    /// Done before the first write.
    cleaning: Arc<Once>,
}

/// A copy.
#[derive(Debug)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// What was asked for, as it may be shown.
    pub url: String,
    /// The content type as the server said it.
    pub content_type: String,
    /// How long ago the server said that this is the current version.
    pub age: Duration,
    /// Whether the server was asked now, and what came of it.
    pub freshness: Freshness,
}

/// What is known of a copy.
#[derive(Debug)]
pub enum Freshness {
    /// It is young; the server was not asked.
    Young,
    /// The server says that nothing changed.
    Unchanged,
    /// It was fetched now.
    New,
    /// The server could not be asked; this is the last copy.
    Old(FetchError),
}

/// What is wrong with a copy, or with the note beside it.
#[derive(Debug, thiserror::Error)]
pub enum CopyFault {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The note was cut or changed.
    #[error(transparent)]
    Seal(#[from] BrokenSeal),
    /// The note holds something else.
    #[error(transparent)]
    Note(#[from] serde_json::Error),
    /// The copy is not what was written.
    #[error("it does not match its checksum")]
    Checksum,
}

/// What is stored beside a copy. The URL itself is not: it may hold a secret.
#[derive(Serialize, Deserialize)]
struct Note {
    format: u32,
    url: String,
    content_type: String,
    extension: String,
    version: Validators,
    /// Seconds since 1970.
    checked: u64,
    /// BLAKE3 of the copy, in hexadecimal digits.
    checksum: String,
}

impl HttpCache {
    /// Keeps copies in `folder`, and uses them without asking while they are younger than `young`.
    pub fn new(fetcher: Fetcher, folder: impl Into<PathBuf>, young: Duration) -> Self {
        HttpCache { fetcher, folder: folder.into(), young, cleaning: Arc::new(Once::new()) }
    }

    /// Every copy and every note in a folder, with what is wrong with those that are damaged. Nothing is changed.
    pub fn examine(folder: &Path) -> Vec<(PathBuf, Option<CopyFault>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Some(base) = path.to_str().and_then(|path| path.strip_suffix(NOTE)).map(Path::new) else { continue };
            match read_note(base) {
                Ok(Some(note)) => {
                    let copy = base.with_extension(&note.extension);
                    found.push((path, None));
                    let fault = verify(&copy, &note).err();
                    found.push((copy, fault));
                }
                // Another version wrote it.
                Ok(None) => found.push((path, None)),
                Err(fault) => found.push((path, Some(fault))),
            }
        }
        found
    }

    /// The copy of what a request asks for: young, or as the server says, or the last one. A URL that is not allowed (any
    /// more) is refused though there be a copy; one that now leads to where nobody may be led leaves the copy as it is.
    ///
    /// # Errors
    /// [`FetchError`] when it is refused, when there is neither an answer nor a copy, or when the folder cannot be
    /// written.
    pub async fn get(&self, request: &Request) -> Result<Saved, FetchError> {
        self.fetcher.permits(&request.url)?;
        let base = self.folder.join(key(request));
        let before = self
            .read(&base)
            .filter(|(note, _)| media::is_accepted(&media::essence(&note.content_type), &request.accept));
        let Some((mut note, path)) = before else {
            return match self.fetcher.fetch(request).await? {
                Fetched::Unchanged => Err(FetchError::Status { url: redact_text(&request.url), status: 304 }),
                fetched => self.store(&base, request, fetched),
            };
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
                write_note(&base, &note).map_err(|source| self.write_error(request, source))?;
                Ok(saved(note.content_type, Duration::ZERO, Freshness::Unchanged))
            }
            Ok(fetched) => {
                let stored = self.store(&base, request, fetched)?;
                if stored.path != path {
                    // A leftover costs only room.
                    let _ = fs::remove_file(&path);
                }
                Ok(stored)
            }
            Err(error) => Ok(saved(note.content_type, age, Freshness::Old(error))),
        }
    }

    /// The note and the copy, if both are what was written.
    fn read(&self, base: &Path) -> Option<(Note, PathBuf)> {
        let damaged = |path: &Path, fault: CopyFault| {
            tracing::warn!(path = %path.display(), %fault, "a copy is damaged, and is fetched anew");
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
        // The end of the path in the URL that was asked for: what it redirects to is often only a number.
        let asked = redact_text(&request.url);
        let extension = media::extension(&content_type, asked.trim_end_matches("?…"));
        let path = base.with_extension(&extension);
        let changed = version.last_modified.as_deref().and_then(|text| httpdate::parse_http_date(text).ok());
        let checksum = blake3::hash(&bytes).to_hex().to_string();
        let note = Note { format: FORMAT, url, content_type, extension, version, checked: now(), checksum };
        let write = || -> io::Result<()> {
            create_folder(&self.folder)?;
            self.cleaning.call_once(|| remove_leftovers(&self.folder));
            write(&path, &bytes, changed)?;
            write_note(base, &note)
        };
        write().map_err(|source| self.write_error(request, source))?;
        Ok(Saved { path, url: asked, content_type: note.content_type, age: Duration::ZERO, freshness: Freshness::New })
    }

    fn write_error(&self, request: &Request, source: io::Error) -> FetchError {
        FetchError::Keep { url: redact_text(&request.url), place: self.folder.display().to_string(), source }
    }
}

/// The name of a copy: what is asked for, and as whom.
fn key(request: &Request) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request.url.trim().as_bytes()).update(b"\0");
    hasher.update(request.authorization.as_deref().unwrap_or_default().as_bytes()).update(b"\0");
    if let Some(json) = &request.json {
        hasher.update(json.to_string().as_bytes());
    }
    hasher.finalize().to_hex()[..24].to_owned()
}

/// How the name of a note ends.
const NOTE: &str = ".note.json";

fn note_path(base: &Path) -> PathBuf {
    base.with_extension(&NOTE[1..])
}

/// The note of a copy; `None` where there is none, or another version wrote it. Or what is wrong with it.
fn read_note(base: &Path) -> Result<Option<Note>, CopyFault> {
    let bytes = match fs::read(note_path(base)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let content = match unseal(&bytes) {
        // The first format had no seal.
        Err(_) if serde_json::from_slice::<serde_json::Value>(&bytes).is_ok_and(|old| old["format"] == 1) => {
            return Ok(None);
        }
        content => content?,
    };
    let note: Note = serde_json::from_slice(content)?;
    let is_usable = note.format == FORMAT && note.extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Ok(is_usable.then_some(note))
}

/// Compares a copy with the checksum in its note.
fn verify(copy: &Path, note: &Note) -> Result<(), CopyFault> {
    let bytes = fs::read(copy)?;
    match blake3::hash(&bytes).to_hex().as_str() == note.checksum {
        true => Ok(()),
        false => Err(CopyFault::Checksum),
    }
}

fn write_note(base: &Path, note: &Note) -> io::Result<()> {
    write(&note_path(base), &seal(&serde_json::to_vec(note)?), None)
}

/// Replaces a file at once, so that a reader sees the old or the new one.
fn write(path: &Path, bytes: &[u8], changed: Option<SystemTime>) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    replacement.file().write_all(bytes)?;
    if let Some(time) = changed {
        replacement.file().set_modified(time)?;
    }
    replacement.finish()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
