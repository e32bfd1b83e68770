//! Vectors as int8 rows in append-only files, one file per vector of a record, with an exact scan.
//!
//! A row is a float32 scale and one signed byte per dimension; a component is `scale x byte`. Rows are addressed by
//! slot, i.e. row number, which is the same in every file. Rows are immutable, so older memory maps stay valid. Vectors
//! of whole texts are separate from those of names because the scan reads only the former. Mapped rows are verified by
//! block on first access.
//!
//! The scan is exact: up to a million records, it costs less than the recall lost by approximate indexes such as HNSW.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use memmap2::{Mmap, MmapOptions};
use prospector_state::options;

use crate::{
    SearchError,
    damage::{Damage, Faults},
    directory::describe_length,
    recipe::VECTORS,
    sums::{Sums, Verified, describe_block},
};

/// The vectors of one record.
pub(crate) type Pair = [Vec<f32>; VECTORS];

/// Scales `vector` to length 1; a zero vector is unchanged.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|v| *v /= length);
    }
}

/// Appends a quantized vector: the float32 scale, then one signed byte per dimension.
pub(crate) fn quantize(vector: &[f32], out: &mut Vec<u8>) {
    let largest = vector.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    out.extend(scale.to_le_bytes());
    out.extend(vector.iter().map(|v| (v / scale).round() as i8 as u8));
}

/// Rows in memory or in a mapped file.
pub(crate) struct Vectors {
    dimensions: usize,
    files: [Bytes; VECTORS],
}

enum Bytes {
    Memory(Vec<u8>),
    Mapped(Mapped),
}

/// The rows of a file at the time it was opened.
struct Mapped {
    path: PathBuf,
    map: Mmap,
    verified: Verified,
    faults: Faults,
}

impl Mapped {
    /// Returns a part of the file; `None` if it is damaged, which is recorded.
    #[inline]
    fn get(&self, start: usize, end: usize) -> Option<&[u8]> {
        let bytes = self.map.get(start..end)?;
        match self.verified.check(&self.map, start..end) {
            Ok(()) => Some(bytes),
            Err(block) => {
                self.faults.note(Damage::new(&self.path, describe_block(&block)));
                None
            }
        }
    }
}

impl Vectors {
    /// Creates an empty set of rows.
    pub(crate) fn none() -> Self {
        Vectors { dimensions: 0, files: std::array::from_fn(|_| Bytes::Memory(Vec::new())) }
    }

    /// Creates rows in memory.
    pub(crate) fn in_memory(dimensions: usize, pairs: &[Pair]) -> Self {
        Vectors {
            dimensions,
            files: std::array::from_fn(|vector| Bytes::Memory(quantize_rows(dimensions, pairs, vector))),
        }
    }

    /// Maps the row files of a folder, up to the lengths in `sums`. Damaged rows are skipped and recorded in `faults`.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if a file is missing or too short.
    /// - [`SearchError::Io`] if a file cannot be read.
    pub(crate) fn open(folder: &Path, dimensions: usize, sums: Vec<Sums>, faults: Faults) -> Result<Self, SearchError> {
        if sums.len() != VECTORS {
            return Err(SearchError::Damaged(Damage::new(folder, "the checksums of its vectors are missing")));
        }
        let mut vectors = Vectors { dimensions, ..Vectors::none() };
        for ((vector, bytes), sums) in vectors.files.iter_mut().enumerate().zip(sums) {
            let path = file(folder, vector);
            let failed = |source| SearchError::Io { act: "read", path: path.clone(), source };
            let file = File::open(&path).map_err(failed)?;
            let length = file.metadata().map_err(failed)?.len();
            if length < sums.bytes {
                return Err(SearchError::Damaged(Damage::new(path, describe_length(length, sums.bytes))));
            }
            if sums.bytes > 0 {
                let mut options = MmapOptions::new();
                options.len(sums.bytes as usize);
                // SAFETY: rows known to a reader are never changed or truncated; writers only append. Other
                // modifications are detected before the next search.
                #[expect(unsafe_code, reason = "mapping a file is how an index of any size opens at once")]
                let map = unsafe { options.map(&file) }.map_err(failed)?;
                *bytes = Bytes::Mapped(Mapped { path, map, verified: Verified::new(sums), faults: faults.clone() });
            }
        }
        Ok(vectors)
    }

    /// Returns the number of rows, including incomplete ones left by killed writers.
    pub(crate) fn len(&self) -> usize {
        let length = match &self.files[0] {
            Bytes::Memory(bytes) => bytes.len(),
            Bytes::Mapped(mapped) => mapped.map.len(),
        };
        length / (self.dimensions + 4)
    }

    #[inline]
    fn row(&self, vector: usize, slot: u32) -> Option<(f32, &[u8])> {
        let start = slot as usize * (self.dimensions + 4);
        let end = start + self.dimensions + 4;
        let bytes = match &self.files[vector] {
            Bytes::Memory(bytes) => bytes.get(start..end)?,
            Bytes::Mapped(mapped) => mapped.get(start, end)?,
        };
        let (scale, row) = bytes.split_first_chunk::<4>()?;
        Some((f32::from_le_bytes(*scale), row))
    }

    /// Returns a row as numbers; empty if the row does not exist.
    pub(crate) fn vector(&self, vector: usize, slot: u32) -> Vec<f32> {
        let numbers = |(scale, row): (f32, &[u8])| row.iter().map(|b| f32::from(*b as i8) * scale).collect();
        self.row(vector, slot).map_or(Vec::new(), numbers)
    }

    /// Returns the dot product of the query and a row; 0 if the row does not exist.
    #[inline]
    pub(crate) fn similarity(&self, query: &Quantized, vector: usize, slot: u32) -> f32 {
        self.row(vector, slot).map_or(0.0, |(scale, row)| query.multiply(scale, row))
    }
}

/// A query vector, quantized for the scan.
pub(crate) struct Quantized {
    scale: f32,
    values: Vec<i8>,
}

impl Quantized {
    /// Quantizes a normalised vector.
    pub(crate) fn new(vector: &[f32]) -> Self {
        let mut bytes = Vec::with_capacity(vector.len() + 4);
        quantize(vector, &mut bytes);
        let scale = bytes.first_chunk::<4>().map_or(1.0, |scale| f32::from_le_bytes(*scale));
        Quantized { scale, values: bytes[4..].iter().map(|b| *b as i8).collect() }
    }

    fn multiply(&self, scale: f32, values: &[u8]) -> f32 {
        dot(&self.values, values) as f32 * scale * self.scale
    }
}

/// Returns the dot product of two int8 rows, using the widest instruction set of this machine.
fn dot(a: &[i8], b: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the instruction set was checked above.
        #[expect(unsafe_code, reason = "the same loop, compiled for AVX2, is four times as fast")]
        return unsafe { dot_avx2(a, b) };
    }
    dot_plain(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(a: &[i8], b: &[u8]) -> i32 {
    dot_plain(a, b)
}

#[inline(always)]
fn dot_plain(a: &[i8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b as i8)).sum()
}

/// Appends the vectors of records to the files in a folder, durably. Returns the slot of the first.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn append(folder: &Path, dimensions: usize, pairs: &[Pair]) -> io::Result<u32> {
    let row = (dimensions + 4) as u64;
    let mut files = Vec::with_capacity(VECTORS);
    let mut first = 0;
    for vector in 0..VECTORS {
        let file = options().create(true).truncate(false).write(true).open(file(folder, vector))?;
        // A killed process may leave rows, or part of one, that no record refers to: append after them.
        first = file.metadata()?.len().div_ceil(row).max(first);
        files.push(file);
    }
    let slot = u32::try_from(first).map_err(io::Error::other)?;
    for (vector, mut file) in files.into_iter().enumerate() {
        file.seek(SeekFrom::Start(first * row))?;
        file.write_all(&quantize_rows(dimensions, pairs, vector))?;
        file.sync_data()?;
    }
    Ok(slot)
}

/// Computes the checksums of the files after an append, given the `known` ones; empty for new files.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn sums(folder: &Path, known: &[Sums]) -> io::Result<Vec<Sums>> {
    let none = Sums::default();
    (0..VECTORS).map(|vector| Sums::of_grown(&file(folder, vector), known.get(vector).unwrap_or(&none))).collect()
}

/// Encodes the rows of one vector of many records.
fn quantize_rows(dimensions: usize, pairs: &[Pair], vector: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pairs.len() * (dimensions + 4));
    pairs.iter().for_each(|pair| quantize(&pair[vector], &mut bytes));
    bytes
}

/// Returns the path of a vector file.
pub(crate) fn file(folder: &Path, vector: usize) -> PathBuf {
    folder.join(format!("vectors-{vector}.bin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(values: &[f32]) -> Vec<f32> {
        let mut vector = values.to_vec();
        normalize(&mut vector);
        vector
    }

    #[test]
    fn quantization_preserves_similarity() {
        let rows = [unit(&[1.0, 2.0, 3.0]), unit(&[-1.0, 0.5, 0.0]), vec![0.0; 3]];
        let vectors = Vectors::in_memory(3, &rows.clone().map(|row| [vec![0.0; 3], row]));
        let query = unit(&[1.0, 1.0, 0.2]);
        let quantized = Quantized::new(&query);
        for (slot, row) in rows.iter().enumerate() {
            let exact: f32 = row.iter().zip(&query).map(|(a, b)| a * b).sum();
            let got = vectors.similarity(&quantized, 1, slot as u32);
            assert!((exact - got).abs() < 0.02, "{exact} {got}");
        }
        assert_eq!(vectors.similarity(&quantized, 1, 9), 0.0);
    }

    #[test]
    fn appends_after_torn_rows() {
        let folder = tempfile::tempdir().unwrap();
        let (x, y) = (unit(&[1.0, 0.0, 0.0]), unit(&[0.0, 1.0, 0.0]));
        assert_eq!(append(folder.path(), 3, &[[x.clone(), x.clone()], [x.clone(), x.clone()]]).unwrap(), 0);
        File::options().append(true).open(file(folder.path(), 1)).unwrap().write_all(&[1, 2]).unwrap();
        assert_eq!(append(folder.path(), 3, &[[y.clone(), x]]).unwrap(), 3);
        let faults = Faults::default();
        let open = || Vectors::open(folder.path(), 3, sums(folder.path(), &[]).unwrap(), faults.clone());
        let vectors = open().unwrap();
        assert_eq!(vectors.len(), 4);
        let query = Quantized::new(&y);
        assert!(vectors.similarity(&query, 0, 3) > 0.99);
        assert!(vectors.similarity(&query, 1, 3).abs() < 0.01);
        assert!(vectors.similarity(&query, 0, 0).abs() < 0.01);
        assert!(faults.first().is_none());
    }

    #[test]
    fn detects_changed_rows_and_truncated_files() {
        let folder = tempfile::tempdir().unwrap();
        let x = unit(&[1.0, 0.0, 0.0]);
        append(folder.path(), 3, &[[x.clone(), x.clone()]]).unwrap();
        let known = sums(folder.path(), &[]).unwrap();
        let first = file(folder.path(), 0);
        let good = std::fs::read(&first).unwrap();
        let mut bad = good.clone();
        bad[5] ^= 0x40;
        std::fs::write(&first, bad).unwrap();
        let faults = Faults::default();
        let vectors = Vectors::open(folder.path(), 3, known.clone(), faults.clone()).unwrap();
        assert_eq!(vectors.similarity(&Quantized::new(&x), 0, 0), 0.0);
        assert_eq!(faults.first().unwrap().file, first);
        std::fs::write(&first, &good[..good.len() - 1]).unwrap();
        let error = Vectors::open(folder.path(), 3, known, faults).err().unwrap().to_string();
        assert!(error.contains("vectors-0.bin: it is 6 bytes long instead of 7"), "{error}");
    }
}
