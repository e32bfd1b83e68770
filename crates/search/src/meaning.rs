//! Vectors of the shipped transformer, stored next to the index, for the kinds whose ranking uses them, by content hash
//! of the record.
//!
//! The vectors are computed in the background and used once all candidates of a question have one. They outlive the
//! index: a rebuilt index reuses them.
//!
//! The file consists of rows of equal length and is append-only: record hash, scale and int8 components of the vector,
//! and the first eight bytes of the BLAKE3 hash of the row. Rows that fail verification are computed again. The first
//! row is a header with the number of rows, written after them, with a checksum of the same form. A file with fewer
//! rows was truncated; incomplete rows beyond them, left by a killed writer, are not damage.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use prospector_state::{Replacement, options};

use crate::{
    SearchError,
    damage::{Damage, Examined},
    embed::Role,
    encoder::{self, DIMENSIONS},
    vectors::{Quantized, quantize},
};

/// The file, named after the model and format version.
pub(crate) const FILE: &str = "meanings-minilm-l6-2.bin";

/// Files of earlier versions, which are removed.
const OUTDATED_FILES: [&str; 1] = ["meanings-minilm-l6-1.bin"];

/// The first bytes of the header.
const MARK: [u8; HASH] = *b"meanings";

const HASH: usize = 8;
const VECTOR: usize = 4 + DIMENSIONS;
const ROW: usize = HASH + VECTOR + CHECK;
const CHECK: usize = 8;

/// Number of rows of deleted records that are kept, in addition to as many as there are live records.
const SPARE_ROWS: usize = 1_000;

/// Maximum size of the part of the file held in memory; the rest is read on demand.
const MAX_BYTES_HELD: usize = 64_000_000;

/// A stored row.
type Row = [u8; ROW];

fn check_of(row: &Row) -> [u8; CHECK] {
    let digest = blake3::hash(&row[..HASH + VECTOR]);
    std::array::from_fn(|at| digest.as_bytes()[at])
}

fn hash_of(row: &Row) -> u64 {
    row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Returns the hash of a valid row.
fn verify(row: &Row) -> Option<u64> {
    (row[HASH + VECTOR..] == check_of(row)).then(|| hash_of(row))
}

/// Returns the header of a file with this number of rows.
fn header(rows: u64) -> Row {
    let mut row = [0; ROW];
    row[..HASH].copy_from_slice(&MARK);
    row[HASH..HASH + 8].copy_from_slice(&rows.to_le_bytes());
    seal(row)
}

/// Returns the number of rows in a valid header.
fn count_rows(header: &Row) -> Option<u64> {
    let count = header[HASH..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    count.filter(|_| header[..HASH] == MARK && verify(header).is_some())
}

fn seal(mut row: Row) -> Row {
    let check = check_of(&row);
    row[HASH + VECTOR..].copy_from_slice(&check);
    row
}

/// Describes the damage of a file of this length; `None` if it is intact.
fn find_fault(mut file: impl Read, length: u64) -> io::Result<Option<String>> {
    let mut row = [0; ROW];
    if length < ROW as u64 {
        return Ok(Some("it was truncated: its header is incomplete".to_owned()));
    }
    file.read_exact(&mut row)?;
    let Some(count) = count_rows(&row) else { return Ok(Some("its header does not match its checksum".to_owned())) };
    let missing = count.saturating_sub(length / ROW as u64 - 1);
    if missing > 0 {
        return Ok(Some(format!("it was truncated: {missing} of its {count} rows are missing")));
    }
    let mut faulty = 0;
    // Rows beyond the count may have been incomplete.
    for _ in 0..count {
        file.read_exact(&mut row)?;
        faulty += usize::from(verify(&row).is_none());
    }
    Ok((faulty > 0).then(|| format!("{faulty} of its {count} rows do not match their checksums")))
}

/// Examines the file under a lock; returns its length and damage, or `None` if it does not exist.
fn examine_file(path: &Path) -> io::Result<Option<(u64, Option<String>)>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    file.lock_shared()?;
    let length = file.metadata()?.len();
    Ok(Some((length, find_fault(BufReader::new(file), length)?)))
}

/// Verifies the checksums of the file.
///
/// # Errors
/// [`SearchError::Io`] if an existing file cannot be read.
pub(crate) fn examine(folder: &Path, examined: &mut Examined) -> Result<(), SearchError> {
    let path = folder.join(FILE);
    let found = examine_file(&path).map_err(|source| SearchError::Io { act: "read", path: path.clone(), source })?;
    let Some((length, fault)) = found else { return Ok(()) };
    examined.files += 1;
    examined.bytes += length;
    examined.damage.extend(fault.map(|fault| Damage::new(path, fault)));
    Ok(())
}

/// The transformer vectors of an index.
pub(crate) struct Meanings {
    /// `None` in memory.
    path: Option<PathBuf>,
    rows: Mutex<Rows>,
}

/// Locations of the rows in the file, and those held in memory.
#[derive(Default)]
struct Rows {
    places: HashMap<u64, u64>,
    file: Option<File>,
    /// Length of the file that was read.
    length: u64,
    /// The start of the file, or all rows, including the header.
    held: Vec<u8>,
}

impl Meanings {
    /// Creates the vectors for the index in a folder, or for an in-memory index. Reads nothing yet.
    pub(crate) fn of_index(folder: Option<&Path>) -> Meanings {
        Meanings { path: folder.map(|folder| folder.join(FILE)), rows: Mutex::default() }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the similarity of a question to the records with these hashes; `None` if any of them has no vector yet.
    pub(crate) fn similarities(&self, question: &Quantized, hashes: &[u64]) -> Option<Vec<f32>> {
        let mut rows = self.rows();
        hashes.iter().map(|hash| Some(question.similarity(&rows.row(*hash)?[HASH..HASH + VECTOR]))).collect()
    }

    /// Returns whether all of these have a vector.
    pub(crate) fn hold(&self, hashes: &[u64]) -> bool {
        let mut rows = self.rows();
        self.look(&mut rows);
        hashes.iter().all(|hash| rows.places.contains_key(hash))
    }

    /// Returns those without a vector.
    pub(crate) fn missing<T>(&self, records: impl IntoIterator<Item = (u64, T)>) -> Vec<(u64, T)> {
        let mut rows = self.rows();
        self.look(&mut rows);
        records.into_iter().filter(|(hash, _)| !rows.places.contains_key(hash)).collect()
    }

    /// Reads rows appended by any process since the last call. An unreadable file counts as empty.
    fn look(&self, rows: &mut Rows) {
        let Some(path) = &self.path else { return };
        let length = std::fs::metadata(path).map_or(0, |meta| meta.len() / ROW as u64 * ROW as u64);
        if length == rows.length {
            return;
        }
        if length < rows.length {
            *rows = Rows::default();
        }
        if let Err(error) = rows.read_on(path, length) {
            tracing::debug!(%error, path = %path.display(), "the vectors of the transformer cannot be read");
            *rows = Rows::default();
        }
    }

    /// Appends the vectors of records, by hash.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn append(&self, vectors: &[(u64, Vec<f32>)]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(vectors.len() * ROW);
        for (hash, vector) in vectors {
            bytes.extend(encode(*hash, vector));
        }
        let mut rows = self.rows();
        let Some(path) = &self.path else {
            if rows.held.is_empty() {
                rows.held.extend(header(0));
            }
            rows.note(&bytes);
            rows.held.extend(bytes);
            return Ok(());
        };
        if !path.try_exists()? {
            let mut replacement = Replacement::begin(path)?;
            replacement.file().write_all(&header(0))?;
            replacement.finish_durably()?;
        }
        let mut file = options().read(true).write(true).open(path)?;
        // Other processes append too; an incomplete row of a killed one is overwritten.
        file.lock()?;
        let end = (file.metadata()?.len() / ROW as u64).max(1);
        file.seek(SeekFrom::Start(end * ROW as u64))?;
        file.write_all(&bytes)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header(end - 1 + vectors.len() as u64))?;
        file.unlock()?;
        self.look(&mut rows);
        Ok(())
    }

    /// Removes damaged rows, and those of other records if there are many.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn keep(&self, hashes: &HashSet<u64>) -> io::Result<()> {
        let mut rows = self.rows();
        self.look(&mut rows);
        let Some(path) = &self.path else { return Ok(()) };
        for outdated in OUTDATED_FILES {
            match std::fs::remove_file(path.with_file_name(outdated)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let known: Vec<u64> = rows.places.keys().copied().collect();
        // Each row is read, as this discards damaged ones.
        let damaged = known.iter().filter(|hash| rows.row(**hash).is_none()).count();
        let Some((_, fault)) = examine_file(path)? else { return Ok(()) };
        let is_damaged = damaged > 0 || fault.is_some();
        if !is_damaged && rows.length as usize / ROW <= 2 * hashes.len() + SPARE_ROWS {
            return Ok(());
        }
        let kept: Vec<Row> =
            known.into_iter().filter(|hash| hashes.contains(hash)).filter_map(|hash| rows.row(hash)).collect();
        let mut replacement = Replacement::begin(path)?;
        replacement.file().write_all(&header(kept.len() as u64))?;
        replacement.file().write_all(kept.as_flattened())?;
        replacement.finish_durably()?;
        *rows = Rows::default();
        Ok(())
    }
}

impl Rows {
    /// Reads the rows up to this length of the file.
    fn read_on(&mut self, path: &Path, length: u64) -> io::Result<()> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.length))?;
        let mut bytes = Vec::new();
        let mut left = length.saturating_sub(self.length);
        while left > 0 {
            bytes.clear();
            let read = (&mut file).take(left.min(1_000 * ROW as u64)).read_to_end(&mut bytes)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.note(&bytes);
            if self.held.len() as u64 == self.length && self.held.len() + read <= MAX_BYTES_HELD {
                self.held.extend(&bytes);
            }
            self.length += read as u64;
            left -= read as u64;
        }
        self.file = Some(file);
        Ok(())
    }

    /// Records the locations of rows that follow all known ones.
    fn note(&mut self, bytes: &[u8]) {
        let first = self.length.max(self.held.len() as u64);
        for (at, row) in bytes.as_chunks::<ROW>().0.iter().enumerate() {
            let place = first + (at * ROW) as u64;
            // The first row is the header.
            if place > 0 {
                self.places.insert(hash_of(row), place);
            }
        }
    }

    /// Returns the row of a record; `None` if it is missing or damaged, in which case it is forgotten.
    fn row(&mut self, hash: u64) -> Option<Row> {
        let place = *self.places.get(&hash)?;
        let mut row = [0; ROW];
        let held = self.held.get(place as usize..).and_then(|rest| rest.first_chunk::<ROW>());
        let is_read = match (held, &mut self.file) {
            (Some(held), _) => {
                row = *held;
                true
            }
            (None, Some(file)) => file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut row)).is_ok(),
            (None, None) => false,
        };
        if is_read && verify(&row) == Some(hash) {
            return Some(row);
        }
        self.places.remove(&hash);
        None
    }
}

fn encode(hash: u64, vector: &[f32]) -> Row {
    let mut bytes = Vec::with_capacity(ROW);
    bytes.extend(hash.to_le_bytes());
    quantize(vector, &mut bytes);
    let mut row = [0; ROW];
    row[..HASH + VECTOR].copy_from_slice(&bytes);
    seal(row)
}

/// A question during a search.
pub(crate) struct Question<'q> {
    pub(crate) text: &'q str,
    /// `None` unless the embedder is the shipped table.
    meanings: Option<&'q Meanings>,
    vector: std::cell::OnceCell<Quantized>,
}

impl<'q> Question<'q> {
    pub(crate) fn new(text: &'q str, meanings: Option<&'q Meanings>) -> Self {
        Question { text, meanings, vector: std::cell::OnceCell::new() }
    }

    /// Returns the similarity to the records with these hashes; `None` if any of them has no vector yet. The question
    /// is embedded lazily, once.
    ///
    /// # Errors
    /// If the shipped transformer is damaged.
    pub(crate) fn similarities(&self, hashes: &[u64]) -> Result<Option<Vec<f32>>, SearchError> {
        let Some(meanings) = self.meanings.filter(|meanings| meanings.hold(hashes)) else { return Ok(None) };
        if self.vector.get().is_none() {
            self.vector.set(Quantized::new(&encoder::embed(Role::Query, self.text)?)).ok();
        }
        Ok(self.vector.get().and_then(|vector| meanings.similarities(vector, hashes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(at: usize) -> Vec<f32> {
        (0..DIMENSIONS).map(|of| if of == at { 1.0 } else { 0.0 }).collect()
    }

    fn similarities(meanings: &Meanings, hashes: &[u64]) -> Option<Vec<f32>> {
        let rounded = |all: Vec<f32>| all.into_iter().map(|near| (near * 100.0).round() / 100.0).collect();
        meanings.hold(hashes).then(|| meanings.similarities(&Quantized::new(&unit(2)), hashes))?.map(rounded)
    }

    #[test]
    fn finds_vectors_by_hash_across_processes() {
        let folder = tempfile::tempdir().unwrap();
        for place in [None, Some(folder.path())] {
            let meanings = Meanings::of_index(place);
            assert_eq!(similarities(&meanings, &[7]), None);
            meanings.append(&[(7, unit(2)), (8, unit(3))]).unwrap();
            meanings.append(&[(9, unit(2))]).unwrap();
            assert_eq!(similarities(&meanings, &[8, 9, 7]), Some(vec![0.0, 1.0, 1.0]));
            assert_eq!(similarities(&meanings, &[8, 6]), None, "one is missing");
            assert_eq!(meanings.missing([(6, "six"), (7, "seven")]), [(6, "six")]);
        }
        let other = Meanings::of_index(Some(folder.path()));
        assert_eq!(similarities(&other, &[7, 8]), Some(vec![1.0, 0.0]));
        Meanings::of_index(Some(folder.path())).append(&[(10, unit(2))]).unwrap();
        assert_eq!(similarities(&other, &[10]), Some(vec![1.0]), "what another process appends is seen");
    }

    #[test]
    fn ignores_torn_and_damaged_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        Meanings::of_index(Some(folder.path())).append(&[(7, unit(2)), (8, unit(2))]).unwrap();
        let good = std::fs::read(&path).unwrap();
        for at in (ROW..good.len()).step_by(13) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(&path, &bad).unwrap();
            let meanings = Meanings::of_index(Some(folder.path()));
            assert_eq!(similarities(&meanings, &[7, 8]), None, "byte {at}");
            let whole: u64 = if at < 2 * ROW { 8 } else { 7 };
            assert_eq!(similarities(&meanings, &[whole]), Some(vec![1.0]), "byte {at}");
        }
        std::fs::write(&path, &good[..good.len() - 5]).unwrap();
        let meanings = Meanings::of_index(Some(folder.path()));
        assert_eq!(similarities(&meanings, &[8]), None);
        meanings.append(&[(9, unit(2))]).unwrap();
        assert_eq!(similarities(&meanings, &[7, 9]), Some(vec![1.0, 1.0]), "rows are appended over a torn one");
    }

    #[test]
    fn reports_every_truncation_and_every_flipped_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let meanings = || Meanings::of_index(Some(folder.path()));
        meanings().append(&[(7, unit(2)), (8, unit(3))]).unwrap();
        meanings().append(&[(9, unit(4))]).unwrap();
        let good = std::fs::read(&path).unwrap();
        assert_eq!(good.len(), 4 * ROW);
        let examined = || {
            let mut examined = Examined::default();
            examine(folder.path(), &mut examined).unwrap();
            examined.damage
        };
        let is_repaired = |what: &str| {
            let damage = examined();
            assert!(damage.len() == 1 && damage[0].file == path, "{what}: {damage:?}");
            let living = HashSet::from([7, 8, 9]);
            meanings().keep(&living).unwrap();
            assert_eq!(examined(), [], "{what}");
            // The remaining vectors are intact, and the others are computed again.
            let missing = meanings().missing([(7, unit(2)), (8, unit(3)), (9, unit(4))]);
            meanings().append(&missing).unwrap();
            assert_eq!(similarities(&meanings(), &[7, 8, 9]), Some(vec![1.0, 0.0, 0.0]), "{what}");
            assert_eq!(examined(), [], "{what}");
        };
        let whole_rows = (0..4).map(|rows| rows * ROW);
        for length in (0..good.len()).step_by(61).chain(whole_rows).chain([good.len() - 1]) {
            std::fs::write(&path, &good[..length]).unwrap();
            is_repaired(&format!("{length} bytes are left"));
        }
        for bit in (0..good.len() * 8).step_by(197).chain([0, ROW * 8 - 1, good.len() * 8 - 1]) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bad).unwrap();
            is_repaired(&format!("bit {bit}"));
        }
    }

    #[test]
    fn tolerates_leftovers_of_killed_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        Meanings::of_index(Some(folder.path())).append(&[(7, unit(2))]).unwrap();
        let good = std::fs::read(&path).unwrap();
        let row = encode(8, &unit(3));
        for left in [1, HASH, ROW - 1, ROW] {
            std::fs::write(&path, [&good, &row[..left]].concat()).unwrap();
            assert_eq!(examine_file(&path).unwrap().unwrap().1, None, "{left} bytes of a row");
            let meanings = Meanings::of_index(Some(folder.path()));
            meanings.append(&[(9, unit(2))]).unwrap();
            assert_eq!(similarities(&meanings, &[7, 9]), Some(vec![1.0, 1.0]), "{left} bytes of a row");
            assert_eq!(examine_file(&path).unwrap().unwrap().1, None);
        }
    }

    #[test]
    fn removes_files_of_earlier_versions() {
        let folder = tempfile::tempdir().unwrap();
        let outdated = folder.path().join(OUTDATED_FILES[0]);
        std::fs::write(&outdated, [0; ROW]).unwrap();
        Meanings::of_index(Some(folder.path())).keep(&HashSet::new()).unwrap();
        assert!(!outdated.exists());
    }

    #[test]
    fn drops_rows_of_deleted_records() {
        let folder = tempfile::tempdir().unwrap();
        let meanings = Meanings::of_index(Some(folder.path()));
        let all: Vec<(u64, Vec<f32>)> = (0..SPARE_ROWS as u64 + 10).map(|hash| (hash, unit(2))).collect();
        meanings.append(&all).unwrap();
        let size = || std::fs::metadata(folder.path().join(FILE)).unwrap().len() as usize / ROW - 1;
        meanings.keep(&(0..10).collect()).unwrap();
        assert_eq!(size(), SPARE_ROWS + 10, "not yet many");
        meanings.keep(&(0..4).collect()).unwrap();
        assert_eq!(size(), 4);
        assert_eq!(similarities(&meanings, &[3]), Some(vec![1.0]));
        assert_eq!(similarities(&meanings, &[5]), None);
    }

    #[test]
    fn file_name_identifies_the_transformer() {
        let model = blake3::hash(include_bytes!("../model/encoder.safetensors")).to_hex();
        assert_eq!(&model[..16], "0b9ceee7296f7273", "another transformer makes other vectors: give FILE another name");
    }
}
