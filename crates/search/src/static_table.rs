//! The default embedder: a static table of word pieces.
//!
//! Layout: Model2Vec (<https://github.com/MinishLab/model2vec>): `tokenizer.json` with a WordPiece vocabulary and
//! `model.safetensors` with `embeddings` (int8, one row per piece) and `weights` (float32, the scale of each row). Word
//! pieces are those of BERT, uncased: <https://arxiv.org/abs/1810.04805>. A text is the weighted mean of its pieces;
//! the weights are fitted to the indexed records, see [`Embedder::fit`].

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::embed::{EmbedError, Embedder, ModelId, Role};

static MODEL: &[u8] = include_bytes!("../model/model.safetensors");
static TOKENIZER: &str = include_str!("../model/tokenizer.json");

/// Maximum length of a word; longer ones are unknown, as in BERT's tokenizer.
const MAX_WORD_CHARS: usize = 100;

/// Weight of the most frequent word, and number of words treated as about as frequent.
const COMMON_WEIGHT: f64 = 0.35;
const FREQUENT_WORDS: f64 = 50.0;

/// The shipped embedding table: 256 dimensions, microseconds per text, no download.
#[derive(Clone)]
pub struct StaticTable {
    table: Arc<Table>,
    /// The weight of each piece; all 1 until fitted.
    weights: Arc<[f32]>,
}

struct Table {
    id: ModelId,
    dimensions: usize,
    /// Piece to row.
    vocabulary: HashMap<String, u32>,
    /// The start of the int8 rows in [`MODEL`].
    rows: &'static [u8],
    scales: Vec<f32>,
}

static SHIPPED: LazyLock<Result<Arc<Table>, String>> = LazyLock::new(|| parse(MODEL, TOKENIZER).map(Arc::new));

impl StaticTable {
    /// Returns the shipped table; parsed once per process.
    ///
    /// # Errors
    /// [`EmbedError`] if the shipped files are damaged.
    pub fn shipped() -> Result<StaticTable, EmbedError> {
        let table = StaticTable::shipped_table()?;
        Ok(StaticTable { table: table.clone(), weights: vec![1.0; table.scales.len()].into() })
    }

    /// Returns the frequency rank of a lower-case word in general language, the most frequent first. `None` for rare
    /// words and for anything but a plain word.
    pub fn rank(word: &str) -> Option<u32> {
        let is_plain = word.bytes().all(|b| b.is_ascii_lowercase());
        let table = SHIPPED.as_ref().ok().filter(|_| is_plain)?;
        table.vocabulary.get(word).copied()
    }

    /// Returns the information weight of a lower-case word, 0 to 1: the logarithm of its frequency rank, scaled between
    /// [`COMMON_WEIGHT`] and 1. Words without a rank are rare.
    pub fn weigh(word: &str) -> f64 {
        // Symbols and letters precede the most frequent word.
        let place = |word: &str| StaticTable::rank(word).map(f64::from);
        let (Some(own), Some(first), Ok(table)) = (place(word), place("the"), SHIPPED.as_ref()) else { return 1.0 };
        let scale = |place: f64| (1.0 + place.max(0.0) / FREQUENT_WORDS).ln();
        COMMON_WEIGHT + (1.0 - COMMON_WEIGHT) * scale(own - first) / scale(table.vocabulary.len() as f64 - first)
    }

    fn shipped_table() -> Result<&'static Arc<Table>, EmbedError> {
        let failed = |reason: &String| EmbedError { model: "the shipped table".into(), reason: reason.clone() };
        SHIPPED.as_ref().map_err(failed)
    }

    fn mean(&self, text: &str) -> Vec<f32> {
        let dimensions = self.table.dimensions;
        let mut sum = vec![0.0_f32; dimensions];
        for piece in self.table.pieces(text) {
            let weight = self.weights[piece as usize] * self.table.scales[piece as usize];
            for (sum, value) in sum.iter_mut().zip(self.table.row(piece)) {
                *sum += f32::from(*value as i8) * weight;
            }
        }
        crate::vectors::normalize(&mut sum);
        sum
    }
}

impl Embedder for StaticTable {
    fn model(&self) -> &ModelId {
        &self.table.id
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions
    }

    fn embed(&self, _role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.mean(text)).collect())
    }

    /// Weights each piece by its inverse document frequency, `ln(1 + (n - df + 0.5) / (df + 0.5))`.
    fn fit(&self, texts: &[&str]) -> Option<Vec<u8>> {
        let pieces = self.table.scales.len();
        let count = |texts: &[&str]| {
            let mut frequencies = vec![0_u32; pieces];
            for text in texts {
                let mut pieces: Vec<u32> = self.table.pieces(text).collect();
                pieces.sort_unstable();
                pieces.dedup();
                pieces.into_iter().for_each(|piece| frequencies[piece as usize] += 1);
            }
            frequencies
        };
        let add = |mut sums: Vec<u32>, more: Vec<u32>| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            sums
        };
        let frequencies = texts.par_chunks(2_048).map(count).reduce(|| vec![0; pieces], add);
        let n = texts.len() as f32;
        let weigh = |df: u32| (1.0 + (n - df as f32 + 0.5) / (df as f32 + 0.5)).ln();
        Some(frequencies.into_iter().flat_map(|df| weigh(df).to_le_bytes()).collect())
    }

    fn with_fit(&self, state: &[u8]) -> Option<Arc<dyn Embedder>> {
        let weights: Vec<f32> = state.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        (weights.len() == self.table.scales.len())
            .then(|| Arc::new(StaticTable { table: self.table.clone(), weights: weights.into() }) as Arc<dyn Embedder>)
    }
}

impl Table {
    fn row(&self, piece: u32) -> &'static [u8] {
        let start = piece as usize * self.dimensions;
        &self.rows[start..start + self.dimensions]
    }

    /// Iterates over the rows of the pieces of a text, without unknown words.
    fn pieces(&self, text: &str) -> impl Iterator<Item = u32> {
        let mut out = Vec::new();
        for word in words(text) {
            self.word_pieces(&word, &mut out);
        }
        out.into_iter()
    }

    /// Greedy longest match from the left, with `##` before every piece but the first.
    fn word_pieces(&self, word: &str, out: &mut Vec<u32>) {
        if word.chars().count() > MAX_WORD_CHARS {
            return;
        }
        let before = out.len();
        let mut start = 0;
        let mut key = String::with_capacity(word.len() + 2);
        while start < word.len() {
            let mut end = word.len();
            let found = loop {
                key.clear();
                if start > 0 {
                    key.push_str("##");
                }
                key.push_str(&word[start..end]);
                if let Some(&piece) = self.vocabulary.get(key.as_str()) {
                    break Some(piece);
                }
                // One character less.
                match word[start..end].char_indices().next_back() {
                    Some((at, _)) if at > 0 => end = start + at,
                    _ => break None,
                }
            };
            let Some(piece) = found else {
                // An unknown piece makes the whole word unknown, as in BERT.
                out.truncate(before);
                return;
            };
            out.push(piece);
            start = end;
        }
    }
}

/// BERT's normalisation and pre-tokenization: strips accents, lower-cases, separates punctuation and ideographs. Before
/// that, identifiers are split at `_` and case changes: `InvoiceLine` is two words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut before = ' ';
    for c in text.chars() {
        let is_blank = c.is_whitespace() || c.is_control() || c == '_';
        let ends = is_blank || is_apart(c) || before.is_lowercase() && c.is_uppercase();
        if ends && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        before = c;
        if is_blank {
            continue;
        }
        if is_apart(c) {
            words.push(c.to_string());
        } else if c.is_ascii() {
            current.push(c.to_ascii_lowercase());
        } else {
            current.extend(c.to_lowercase().flat_map(|c| std::iter::once(c).nfd()).filter(|c| !is_combining_mark(*c)));
        }
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

fn is_apart(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(u32::from(c), 0x2010..=0x2027 | 0x3000..=0x303F | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF)
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: WordPiece,
}

#[derive(Deserialize)]
struct WordPiece {
    vocab: HashMap<String, u32>,
}

fn parse(model: &'static [u8], tokenizer: &str) -> Result<Table, String> {
    let vocabulary =
        serde_json::from_str::<TokenizerFile>(tokenizer).map_err(|e| format!("tokenizer.json: {e}"))?.model.vocab;
    let damaged = |reason: &dyn std::fmt::Display| format!("model.safetensors: {reason}");
    let tensors = SafeTensors::deserialize(model).map_err(|error| damaged(&error))?;
    let tensor = |name: &str| tensors.tensor(name).map_err(|error| damaged(&error));
    let (embeddings, weights) = (tensor("embeddings")?, tensor("weights")?);
    let (Dtype::I8, Dtype::F32, &[count, dimensions]) = (embeddings.dtype(), weights.dtype(), embeddings.shape())
    else {
        return Err(damaged(&"`embeddings` must be a matrix of I8, and `weights` of F32"));
    };
    let rows = embeddings.data();
    let scales: Vec<f32> = weights.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    if scales.len() != count {
        return Err(damaged(&"`weights` must have one number per row of `embeddings`"));
    }
    if vocabulary.values().any(|row| *row as usize >= scales.len()) {
        return Err("tokenizer.json has more pieces than model.safetensors has rows".into());
    }
    let id = ModelId(format!("static-{dimensions}-{}", &blake3::hash(model).to_hex()[..12]));
    Ok(Table { id, dimensions, vocabulary, rows, scales })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &str, b: &str) -> f32 {
        let table = StaticTable::shipped().unwrap();
        let vectors = table.embed(Role::Record, &[a, b]).unwrap();
        vectors[0].iter().zip(&vectors[1]).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn similar_texts_are_closer() {
        for (text, near, far) in [
            ("customer purchases", "client orders", "volcano eruption"),
            ("InvoiceLine", "billing items", "football stadium"),
            ("doctor", "physician", "railway"),
        ] {
            let (n, f) = (similarity(text, near), similarity(text, far));
            assert!(n > f + 0.1, "{text}: {near} {n:.3}, {far} {f:.3}");
        }
    }

    #[test]
    fn splits_words_like_bert() {
        assert_eq!(words("Müller's café, INVOICE_line"), ["muller", "'", "s", "cafe", ",", "invoice", "line"]);
        assert_eq!(words("invoiceLine 東京"), ["invoice", "line", "東", "京"]);
    }

    #[test]
    fn unknown_words_yield_a_zero_vector() {
        let table = StaticTable::shipped().unwrap();
        let vectors = table.embed(Role::Query, &["", "\u{1F9FF}\u{1F9FF}"]).unwrap();
        assert!(vectors.iter().flatten().all(|v| *v == 0.0));
    }

    #[test]
    fn fitted_table_weights_rare_words_more() {
        let table = StaticTable::shipped().unwrap();
        let texts = ["customer table", "invoice table", "album table", "track table"];
        let state = table.fit(&texts).unwrap();
        let fitted = table.with_fit(&state).unwrap();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let plain = table.embed(Role::Record, &["customer table", "customer"]).unwrap();
        let weighed = fitted.embed(Role::Record, &["customer table", "customer"]).unwrap();
        assert!(dot(&weighed[0], &weighed[1]) > dot(&plain[0], &plain[1]));
        assert!(table.with_fit(&state[1..]).is_none(), "a state of another table is refused");
    }
}
