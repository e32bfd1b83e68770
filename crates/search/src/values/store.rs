//! The stored form of values: sorted by lookup key, so that the file is searched in place.
//!
//! ```text
//! length of the head, 4 bytes      all numbers are little-endian
//! head                             JSON: fingerprint of the sources, counts
//! entries                          20 bytes each, sorted: hash of the key, column, offset and length of the text
//! words                            8 bytes each, sorted: hash of a parent and a word in one of its values
//! texts                            the values, concatenated
//! ```

use std::collections::{BTreeSet, HashMap};

use prospector_core::record::{ColumnValues, ParentValues};
use serde::{Deserialize, Serialize};

use super::fold::{join, words};

/// Incremented whenever the stored data changes; values of another format are read from their sources again.
const FORMAT: u32 = 1;

/// Maximum number of values and of their bytes, as searches hold them in memory. Databases beyond the limit have no
/// values.
const MAX_VALUES: usize = 500_000;
const MAX_TEXT_BYTES: usize = 16 << 20;

const ENTRY: usize = 20;
const WORD: usize = 8;

/// The head of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    format: u32,
    /// Identifies the state of the sources.
    fingerprint: String,
    parents: Vec<Parent>,
    columns: Vec<Column>,
    entries: usize,
    words: usize,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parent {
    pub(super) name: String,
    /// Whether all texts in its columns are indexed.
    pub(super) is_whole: bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    /// Index of its parent.
    pub(super) parent: usize,
    pub(super) table: String,
    pub(super) column: String,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// Index of its column.
    pub(super) column: usize,
    pub(super) value: &'a str,
}

/// The values of all columns, in memory.
pub(crate) struct Values {
    head: Head,
    content: Vec<u8>,
    /// Offsets of entries, words and texts.
    begins: [usize; 3],
}

/// Encodes the values as file content.
pub(crate) fn encode(fingerprint: &str, sets: &[ParentValues]) -> Vec<u8> {
    let mut head = Head {
        format: FORMAT,
        fingerprint: fingerprint.to_owned(),
        parents: Vec::with_capacity(sets.len()),
        columns: Vec::new(),
        entries: 0,
        words: 0,
    };
    let mut entries: Vec<(u64, u32, u32, u32)> = Vec::new();
    let mut held: BTreeSet<u64> = BTreeSet::new();
    let mut texts: Vec<u8> = Vec::new();
    for set in sets {
        let values = || set.columns.iter().flat_map(|column| &column.values);
        let has_room = entries.len() + values().count() <= MAX_VALUES
            && texts.len() + values().map(String::len).sum::<usize>() <= MAX_TEXT_BYTES;
        if !has_room {
            tracing::warn!(database = set.parent, "its values exceed the size limit and are skipped");
        }
        let parent = head.parents.len();
        head.parents.push(Parent { name: set.parent.clone(), is_whole: set.is_whole && has_room });
        for column in set.columns.iter().filter(|_| has_room) {
            let place = head.columns.len() as u32;
            let (table, name) = (column.table.clone(), column.column.clone());
            head.columns.push(Column { parent, table, column: name });
            for value in &column.values {
                let words = words(value);
                if words.is_empty() {
                    continue;
                }
                entries.push((hash(&join(&words)), place, texts.len() as u32, value.len() as u32));
                texts.extend(value.as_bytes());
                if set.is_whole {
                    held.extend(words.iter().map(|word| hash_word(parent, &word.folded)));
                }
            }
        }
    }
    entries.sort_unstable();
    (head.entries, head.words) = (entries.len(), held.len());
    let json = serde_json::to_vec(&head).unwrap_or_default();
    let mut content = Vec::with_capacity(4 + json.len() + entries.len() * ENTRY + held.len() * WORD + texts.len());
    content.extend((json.len() as u32).to_le_bytes());
    content.extend(json);
    for (hash, column, start, length) in entries {
        content.extend(hash.to_le_bytes());
        [column, start, length].into_iter().for_each(|number| content.extend(number.to_le_bytes()));
    }
    held.into_iter().for_each(|hash| content.extend(hash.to_le_bytes()));
    content.extend(texts);
    content
}

fn hash(key: &str) -> u64 {
    first_bytes(&blake3::hash(key.as_bytes()))
}

fn hash_word(parent: usize, word: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(parent as u64).to_le_bytes()).update(word.as_bytes());
    first_bytes(&hasher.finalize())
}

fn first_bytes(hash: &blake3::Hash) -> u64 {
    hash.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl Values {
    /// Decodes the output of [`encode`]; `None` if it is malformed or of another version.
    pub(crate) fn decode(content: Vec<u8>) -> Option<Values> {
        let (length, rest) = content.split_first_chunk::<4>()?;
        let json = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let head: Head = serde_json::from_slice(json).ok()?;
        let entries = 4 + json.len();
        let words = entries.checked_add(head.entries.checked_mul(ENTRY)?)?;
        let texts = words.checked_add(head.words.checked_mul(WORD)?)?;
        let is_sound = head.format == FORMAT
            && texts <= content.len()
            && head.columns.iter().all(|column| column.parent < head.parents.len());
        is_sound.then_some(Values { head, content, begins: [entries, words, texts] })
    }

    /// Identifies the state of the sources.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.head.fingerprint
    }

    /// Returns the databases, by index.
    pub(super) fn parents(&self) -> &[Parent] {
        &self.head.parents
    }

    /// Returns the column with this index.
    pub(super) fn column(&self, place: usize) -> &Column {
        &self.head.columns[place]
    }

    /// Returns the columns that contain a value with this key, in column order, at most `limit`.
    pub(super) fn find(&self, key: &str, limit: usize) -> Vec<Entry<'_>> {
        let wanted = hash(key);
        let first = partition(self.head.entries, |at| self.hash_at(at) < wanted);
        (first..self.head.entries)
            .take_while(|at| self.hash_at(*at) == wanted)
            .filter_map(|at| self.entry(at))
            .filter(|entry| super::fold::key(entry.value) == key)
            .take(limit)
            .collect()
    }

    /// Returns whether a value of a parent contains this word. Only defined for completely indexed parents.
    pub(super) fn holds_word(&self, parent: usize, word: &str) -> bool {
        let wanted = hash_word(parent, word);
        let at_place = |at: usize| self.number(self.begins[1] + at * WORD);
        let at = partition(self.head.words, |at| at_place(at) < wanted);
        at < self.head.words && at_place(at) == wanted
    }

    /// Iterates over all values, unordered.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.head.entries).filter_map(|at| self.entry(at))
    }

    /// Returns the values of the columns of each of these tables, given as `(parent, table)`, in alphabetical order, at
    /// most `limit` per column, in one pass over all values.
    pub(crate) fn of_tables(&self, tables: &[(String, String)], limit: usize) -> Vec<Vec<ColumnValues>> {
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        for (at, (parent, table)) in tables.iter().enumerate() {
            places.entry((parent.as_str(), table.as_str())).or_insert(at);
        }
        let owner = |column: &Column| {
            let parent = self.head.parents[column.parent].name.as_str();
            places.get(&(parent, column.table.as_str())).copied()
        };
        let owners: Vec<Option<usize>> = self.head.columns.iter().map(owner).collect();
        let mut values: Vec<Vec<String>> = vec![Vec::new(); owners.len()];
        if owners.iter().any(Option::is_some) {
            for entry in self.entries() {
                if owners[entry.column].is_some() && values[entry.column].len() < limit {
                    values[entry.column].push(entry.value.to_owned());
                }
            }
        }
        let mut found = vec![Vec::new(); tables.len()];
        for ((column, owner), mut values) in self.head.columns.iter().zip(owners).zip(values) {
            let Some(owner) = owner else { continue };
            values.sort_unstable();
            found[owner].push(ColumnValues { table: column.table.clone(), column: column.column.clone(), values });
        }
        found
    }

    fn hash_at(&self, at: usize) -> u64 {
        self.number(self.begins[0] + at * ENTRY)
    }

    fn number(&self, start: usize) -> u64 {
        let bytes = self.content.get(start..).and_then(|rest| rest.first_chunk::<8>());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn entry(&self, at: usize) -> Option<Entry<'_>> {
        let start = self.begins[0] + at * ENTRY + 8;
        let (numbers, _) = self.content.get(start..start + 12)?.as_chunks::<4>();
        let [column, start, length] =
            [numbers[0], numbers[1], numbers[2]].map(|bytes| u32::from_le_bytes(bytes) as usize);
        let text = self.content.get(self.begins[2] + start..self.begins[2] + start + length)?;
        let value = std::str::from_utf8(text).ok().filter(|_| column < self.head.columns.len())?;
        Some(Entry { column, value })
    }
}

/// Returns the number of leading positions for which `before` holds; the positions must be partitioned.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Values of `parent`, each `table.column: value; value`.
    pub(in crate::values) fn set(parent: &str, is_whole: bool, columns: &[&str]) -> ParentValues {
        let column = |text: &&str| {
            let (name, values) = text.split_once(": ").unwrap();
            let (table, column) = name.split_once('.').unwrap();
            let values = values.split("; ").map(str::to_owned).collect();
            ColumnValues { table: table.into(), column: column.into(), values }
        };
        ParentValues { parent: parent.into(), is_whole, columns: columns.iter().map(column).collect() }
    }

    pub(in crate::values) fn values(sets: &[ParentValues]) -> Values {
        Values::decode(encode("then", sets)).unwrap()
    }

    #[test]
    fn finds_values_in_all_columns() {
        let values = values(&[
            set("world", true, &["country.name: Brazil; Côte d'Ivoire", "city.country: BRAZIL; Chile"]),
            set("shop", false, &["customer.country: Brazil"]),
        ]);
        let found = |key: &str, limit| -> Vec<(usize, &str)> {
            values.find(key, limit).into_iter().map(|entry| (entry.column, entry.value)).collect()
        };
        assert_eq!(found("brazil", 9), [(0, "Brazil"), (1, "BRAZIL"), (2, "Brazil")]);
        assert_eq!(found("brazil", 1), [(0, "Brazil")]);
        assert_eq!(found("cote d ivoire", 9), [(0, "Côte d'Ivoire")]);
        assert_eq!(found("ivoire", 9), []);
        assert_eq!((values.column(2).table.as_str(), values.column(2).parent), ("customer", 1));
        assert_eq!(values.entries().count(), 5);
        assert!(values.holds_word(0, "ivoire") && !values.holds_word(0, "peru"));
        assert!(!values.holds_word(1, "brazil"), "undefined for incomplete parents");
        assert_eq!(values.fingerprint(), "then");
        let of = |parent: &str, table: &str| -> Vec<String> {
            let found = values.of_tables(&[(parent.into(), table.into())], 9);
            found.into_iter().flatten().flat_map(|column| column.values).collect()
        };
        assert_eq!(of("world", "country"), ["Brazil", "Côte d'Ivoire"]);
        assert_eq!(of("shop", "customer"), ["Brazil"]);
        assert_eq!(of("shop", "country"), Vec::<String>::new());
        assert_eq!(values.of_tables(&[("world".into(), "city".into())], 1)[0][0].values.len(), 1);
    }

    #[test]
    fn rejects_other_files_without_panic() {
        let content = encode("then", &[set("world", true, &["country.name: Brazil; Chile"])]);
        for length in 0..content.len() {
            if let Some(values) = Values::decode(content[..length].to_vec()) {
                values.find("brazil", 9);
                values.holds_word(0, "brazil");
            }
        }
        for at in 0..content.len() {
            let mut damaged = content.clone();
            damaged[at] ^= 0xff;
            if let Some(values) = Values::decode(damaged) {
                values.find("brazil", 9);
                values.holds_word(0, "brazil");
                values.entries().count();
            }
        }
    }

    #[test]
    fn skips_databases_beyond_the_limit() {
        let many: Vec<String> = (0..=MAX_VALUES).map(|n| format!("v{n}")).collect();
        let column = ColumnValues { table: "t".into(), column: "c".into(), values: many };
        let large = ParentValues { parent: "large".into(), is_whole: true, columns: vec![column] };
        let values = values(&[large, set("small", true, &["t.c: Brazil"])]);
        assert!(!values.parents()[0].is_whole && values.parents()[1].is_whole);
        assert_eq!(values.entries().count(), 1);
    }
}
