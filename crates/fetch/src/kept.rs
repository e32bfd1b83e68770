//! Copies in a folder: used while they are young, asked about when they are old, and kept where a server is away.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{FetchError, Fetched, Fetcher, Request, Validators, error::shown_text, media};

/// Changes whenever what is stored changes.
const FORMAT: u32 = 1;

/// A fetcher that keeps copies. Each is a file whose extension says its format and whose time is that of the last change
/// at its server, so that whoever reads files can tell what changed.
#[derive(Debug, Clone)]
pub struct Kept {
    fetcher: Fetcher,
    folder: PathBuf,
    /// A younger copy is used without asking.
    young: Duration,
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
}

impl Kept {
    /// Keeps copies in `folder`, and uses them without asking while they are younger than `young`.
    pub fn new(fetcher: Fetcher, folder: impl Into<PathBuf>, young: Duration) -> Self {
        Kept { fetcher, folder: folder.into(), young }
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
        let before =
            self.read(&base).filter(|(note, _)| media::accepted(&media::essence(&note.content_type), &request.accept));
        let Some((mut note, path)) = before else {
            return match self.fetcher.fetch(request).await? {
                Fetched::Unchanged => Err(FetchError::Status { url: shown_text(&request.url), status: 304 }),
                fetched => self.store(&base, request, fetched),
            };
        };
        let age = Duration::from_secs(now().saturating_sub(note.checked));
        let url = shown_text(&request.url);
        let saved = |content_type, age, freshness| Saved { path: path.clone(), url, content_type, age, freshness };
        if age < self.young {
            return Ok(saved(note.content_type, age, Freshness::Young));
        }
        match self.fetcher.fetch(&Request { known: note.version.clone(), ..request.clone() }).await {
            Ok(Fetched::Unchanged) => {
                note.checked = now();
                write_note(&base, &note).map_err(|source| self.failed(request, source))?;
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

    fn read(&self, base: &Path) -> Option<(Note, PathBuf)> {
        let note: Note = serde_json::from_slice(&fs::read(noted(base)).ok()?).ok()?;
        let usable = note.format == FORMAT && note.extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let path = base.with_extension(&note.extension);
        (usable && path.is_file()).then_some((note, path))
    }

    fn store(&self, base: &Path, request: &Request, fetched: Fetched) -> Result<Saved, FetchError> {
        let Fetched::Body { content_type, bytes, version, url } = fetched else {
            return Err(FetchError::Status { url: shown_text(&request.url), status: 304 });
        };
        // The end of the path in the URL that was asked for: what it redirects to is often only a number.
        let asked = shown_text(&request.url);
        let extension = media::extension(&content_type, asked.trim_end_matches("?…"));
        let path = base.with_extension(&extension);
        let changed = version.last_modified.as_deref().and_then(|text| httpdate::parse_http_date(text).ok());
        let note = Note { format: FORMAT, url, content_type, extension, version, checked: now() };
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            write(&path, &bytes, changed)?;
            write_note(base, &note)
        };
        write().map_err(|source| self.failed(request, source))?;
        Ok(Saved { path, url: asked, content_type: note.content_type, age: Duration::ZERO, freshness: Freshness::New })
    }

    fn failed(&self, request: &Request, source: io::Error) -> FetchError {
        FetchError::Keep { url: shown_text(&request.url), place: self.folder.display().to_string(), source }
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

fn noted(base: &Path) -> PathBuf {
    base.with_extension("note.json")
}

fn write_note(base: &Path, note: &Note) -> io::Result<()> {
    write(&noted(base), &serde_json::to_vec(note)?, None)
}

/// Replaces a file at once, so that a reader sees the old or the new one.
fn write(path: &Path, bytes: &[u8], changed: Option<SystemTime>) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.new", std::process::id()));
    fs::write(&temporary, bytes)?;
    if let Some(time) = changed {
        fs::File::options().write(true).open(&temporary)?.set_modified(time)?;
    }
    fs::rename(&temporary, path)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
