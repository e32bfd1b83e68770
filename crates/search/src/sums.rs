//! Checksums of a file by blocks, so that only the parts that are read have to be verified: 128 bits of BLAKE3 per 64
//! KiB.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use serde::{Deserialize, Serialize};

/// The size of a block in bytes; the last one of a file may be shorter.
pub(crate) const BLOCK: usize = 64 * 1024;

/// The checksum of a block.
type Sum = [u8; 16];

/// The length of a file, and the checksums of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub(crate) struct Sums {
    pub(crate) bytes: u64,
    blocks: Vec<Sum>,
}

/// The stored form of [`Sums`]: the concatenated checksums as hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct Written {
    bytes: u64,
    sums: String,
}

impl From<Sums> for Written {
    fn from(sums: Sums) -> Self {
        use std::fmt::Write;
        let mut digits = String::with_capacity(sums.blocks.len() * 32);
        for byte in sums.blocks.iter().flatten() {
            // Writing to a string does not fail.
            let _ = write!(digits, "{byte:02x}");
        }
        Written { bytes: sums.bytes, sums: digits }
    }
}

impl TryFrom<Written> for Sums {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let (pairs, rest) = written.sums.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> = pairs.iter().map(|[a, b]| Some(digit(*a)? << 4 | digit(*b)?)).collect();
        let bytes = bytes.filter(|_| rest.is_empty()).ok_or("checksums must be hexadecimal digits")?;
        let (blocks, rest) = bytes.as_chunks::<16>();
        if !rest.is_empty() || blocks.len() as u64 != written.bytes.div_ceil(BLOCK as u64) {
            return Err("the number of checksums must equal the number of blocks");
        }
        Ok(Sums { bytes: written.bytes, blocks: blocks.to_vec() })
    }
}

fn sum(block: &[u8]) -> Sum {
    first_half(&blake3::hash(block))
}

fn first_half(hash: &blake3::Hash) -> Sum {
    hash.as_bytes().first_chunk::<16>().copied().unwrap_or_default()
}

impl Sums {
    /// Computes the checksums of a file that was appended to since `known`; only new data and the last known block are
    /// read.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn of_grown(path: &Path, known: &Sums) -> io::Result<Sums> {
        let whole = (known.bytes / BLOCK as u64) as usize;
        let mut summer = Summer::default();
        summer.sums.blocks = known.blocks.get(..whole).unwrap_or(&known.blocks).to_vec();
        summer.sums.bytes = (summer.sums.blocks.len() * BLOCK) as u64;
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(summer.sums.bytes))?;
        let mut buffer = vec![0; BLOCK];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(summer.finish()),
                read => summer.update(&buffer[..read]),
            }
        }
    }

    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the byte range of a block.
    pub(crate) fn range(&self, block: usize) -> Range<usize> {
        let start = block * BLOCK;
        start..(start + BLOCK).min(self.bytes as usize)
    }

    /// Returns whether a block matches its checksum.
    pub(crate) fn matches(&self, block: usize, bytes: &[u8]) -> bool {
        self.blocks.get(block) == Some(&sum(bytes))
    }
}

/// Computes the checksums of data while it is written.
#[derive(Debug, Default)]
pub(crate) struct Summer {
    sums: Sums,
    hasher: blake3::Hasher,
    /// Number of bytes in the last block.
    filled: usize,
}

impl Summer {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.hasher.update(now);
            self.filled += now.len();
            self.sums.bytes += now.len() as u64;
            if self.filled == BLOCK {
                self.end_block();
            }
            bytes = later;
        }
    }

    fn end_block(&mut self) {
        self.sums.blocks.push(first_half(&self.hasher.finalize()));
        self.hasher.reset();
        self.filled = 0;
    }

    pub(crate) fn finish(mut self) -> Sums {
        if self.filled > 0 {
            self.end_block();
        }
        self.sums
    }
}

/// The verified blocks of an open file.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) sums: Sums,
    done: Vec<AtomicBool>,
}

impl Verified {
    /// Creates a set without verified blocks.
    pub(crate) fn new(sums: Sums) -> Self {
        let done = std::iter::repeat_with(AtomicBool::default).take(sums.blocks.len()).collect();
        Verified { sums, done }
    }

    /// Verifies the blocks that overlap `range`, unless already verified; `bytes` is the whole file.
    ///
    /// # Errors
    /// The range of the first block that does not match.
    #[inline]
    pub(crate) fn check(&self, bytes: &[u8], range: Range<usize>) -> Result<(), Range<usize>> {
        if range.is_empty() {
            return Ok(());
        }
        for block in range.start / BLOCK..=(range.end - 1) / BLOCK {
            if !self.done.get(block).is_some_and(|done| done.load(Ordering::Relaxed)) {
                self.compare(bytes, block)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn compare(&self, bytes: &[u8], block: usize) -> Result<(), Range<usize>> {
        let range = self.sums.range(block);
        let (Some(done), Some(content)) = (self.done.get(block), bytes.get(range.clone())) else { return Err(range) };
        if !self.sums.matches(block, content) {
            return Err(range);
        }
        done.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Describes a block that does not match its checksum.
pub(crate) fn describe_block(range: &Range<usize>) -> String {
    format!("bytes {} to {} do not match their checksum", range.start, range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|n| (n * 31 % 251) as u8).collect()
    }

    fn of(bytes: &[u8]) -> Sums {
        let mut summer = Summer::default();
        // In pieces of every size.
        let mut rest = bytes;
        for piece in (1..).map(|n| n * 37) {
            let (now, later) = rest.split_at(rest.len().min(piece));
            summer.update(now);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        summer.finish()
    }

    #[test]
    fn detects_changes_per_block_on_access() {
        for length in [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let mut bytes = content(length);
            let sums = of(&bytes);
            assert_eq!(sums.bytes as usize, length);
            assert_eq!(Verified::new(sums.clone()).check(&bytes, 0..length), Ok(()));
            bytes[length - 1] ^= 0x10;
            let last = (length - 1) / BLOCK * BLOCK..length;
            let verified = Verified::new(sums);
            assert_eq!(verified.check(&bytes, length - 1..length), Err(last.clone()));
            assert_eq!(verified.check(&bytes, 0..last.start), Ok(()));
            assert_eq!(verified.check(&bytes, 0..length), Err(last), "it is not taken for verified");
        }
        assert_eq!(Verified::new(Sums::default()).check(&[], 0..0), Ok(()));
    }

    #[test]
    fn incremental_sums_match_full_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let bytes = content(2 * BLOCK + 77);
        std::fs::write(&path, &bytes).unwrap();
        for known in [0, 10, BLOCK, BLOCK + 10, 2 * BLOCK, bytes.len()] {
            assert_eq!(Sums::of_grown(&path, &of(&bytes[..known])).unwrap(), of(&bytes), "{known} were known");
        }
    }

    #[test]
    fn round_trips_sums() {
        let sums = of(&content(BLOCK + 1));
        let json = serde_json::to_string(&sums).unwrap();
        assert_eq!(serde_json::from_str::<Sums>(&json).unwrap(), sums);
        for wrong in [r#"{"bytes": 1, "sums": ""}"#, r#"{"bytes": 0, "sums": "0"}"#, r#"{"bytes": 0, "sums": "éé"}"#]
        {
            assert!(serde_json::from_str::<Sums>(wrong).is_err(), "{wrong}");
        }
    }
}
