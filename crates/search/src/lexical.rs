//! Lexical retrieval: a tantivy index with separate fields per kind, so that term frequencies are counted within a
//! kind, and BM25 over its postings.
//!
//! BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with k1 = 1.2
//! and b = 0.75; the weight of a term is `ln(1 + (n - df + 0.5) / (df + 0.5))`, at most 5.
//!
//! BM25 is computed here because tantivy returns one score per query; the ranker needs a score per term and field, with
//! lengths and frequencies of one kind.

use std::collections::HashMap;

use prospector_core::Kind;
use prospector_core::record::Record;
use serde::{Deserialize, de::DeserializeOwned};
use tantivy::{
    DocAddress, DocSet, IndexSettings, IndexWriter, Searcher, TERMINATED, TantivyDocument, Term,
    collector::DocSetCollector,
    columnar::StrColumn,
    indexer::UserOperation,
    postings::Postings,
    query::TermQuery,
    schema::{FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value},
};

use crate::{
    SearchError,
    analyze::{Style, TermTokenizer},
    directory::CheckedDirectory,
    recipe::{self, FIELDS},
};

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Maximum inverse document frequency of a term.
pub(crate) const MAX_IDF: f32 = 5.0;

/// Maximum number of concurrent writer threads.
const MAX_THREADS: usize = 4;

/// The fields of the index.
#[derive(Clone, Copy)]
struct Fields {
    key: Field,
    parent: Field,
    exact: Field,
    route: Field,
    slot: Field,
    hash: Field,
    kind: Field,
    record: Field,
    text: [[Field; FIELDS]; Kind::ALL.len()],
}

/// A tantivy index of records.
#[derive(Clone)]
pub(crate) struct Lexical {
    index: tantivy::Index,
    fields: Fields,
    /// `None` in memory.
    directory: Option<CheckedDirectory>,
}

/// A record to write.
pub(crate) struct Entry<'a> {
    pub(crate) record: &'a Record,
    pub(crate) hash: u64,
    pub(crate) slot: u32,
}

/// The parts of a record that the ranker needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: String,
    pub(crate) members: String,
    pub(crate) related: Vec<String>,
}

/// The fast fields of all records.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) docs: Vec<StoredDoc>,
    pub(crate) parents: Vec<String>,
}

/// The fast fields of a record.
#[derive(Debug)]
pub(crate) struct StoredDoc {
    pub(crate) address: DocAddress,
    pub(crate) kind: Kind,
    /// Index of its parent.
    pub(crate) parent: usize,
    pub(crate) slot: u32,
}

/// The matches of one term in one field.
pub(crate) struct Matches {
    /// The weight of the term.
    pub(crate) weight: f32,
    /// Number of records that contain the term.
    pub(crate) frequency: u32,
    /// Addresses and BM25 scores, before boosts.
    pub(crate) scores: Vec<(DocAddress, f32)>,
}

/// Returns the unique key of a record.
pub(crate) fn key(record: &Record) -> String {
    format!("{}:{}", record.kind, record.id)
}

fn fail<E: Into<tantivy::TantivyError>>(act: &'static str) -> impl Fn(E) -> SearchError {
    move |error| SearchError::Lexical { act, source: error.into() }
}

/// Converts a failed write to an error, preferring the cause recorded by the disk.
fn write_error(act: &'static str, source: tantivy::TantivyError, directory: Option<&CheckedDirectory>) -> SearchError {
    let Some(directory) = directory else { return SearchError::Lexical { act, source } };
    if let Some(damage) = directory.faults().first() {
        return SearchError::Damaged(damage.clone());
    }
    match directory.take_failure() {
        Some(source) => SearchError::Io { act: "write", path: directory.folder().to_owned(), source },
        None => SearchError::Lexical { act, source },
    }
}

fn damage_error(act: &'static str, what: &str) -> SearchError {
    SearchError::Lexical { act, source: tantivy::TantivyError::InternalError(what.to_owned()) }
}

impl Lexical {
    /// Creates an empty index in memory.
    pub(crate) fn in_memory() -> Self {
        let (schema, fields) = schema();
        Lexical::with(tantivy::Index::create_in_ram(schema), fields, None)
    }

    /// Creates an empty index in an empty folder.
    pub(crate) fn create(directory: CheckedDirectory) -> Result<Self, SearchError> {
        let (schema, fields) = schema();
        let created = tantivy::Index::create(directory.clone(), schema, IndexSettings::default());
        let index = created.map_err(|source| write_error("create", source, Some(&directory)))?;
        Ok(Lexical::with(index, fields, Some(directory)))
    }

    /// Opens the index in a folder.
    pub(crate) fn open(directory: CheckedDirectory) -> Result<Self, SearchError> {
        let (schema, fields) = schema();
        let index = tantivy::Index::open(directory.clone()).map_err(fail("open"))?;
        if index.schema() != schema {
            return Err(damage_error("open", "its fields differ"));
        }
        Ok(Lexical::with(index, fields, Some(directory)))
    }

    fn with(index: tantivy::Index, fields: Fields, directory: Option<CheckedDirectory>) -> Self {
        for style in [Style::Identifiers, Style::Prose] {
            index.tokenizers().register(style.name(), TermTokenizer(style));
        }
        Lexical { index, fields, directory }
    }

    /// Returns its directory; `None` in memory.
    pub(crate) fn directory(&self) -> Option<&CheckedDirectory> {
        self.directory.as_ref()
    }

    /// Deletes the records with these keys and adds the entries, in one commit. `progress` is called after each batch.
    ///
    /// # Errors
    /// - [`SearchError::Io`] if the disk cannot be written.
    /// - [`SearchError::Damaged`] if the existing index is damaged.
    /// - [`SearchError::Lexical`] if tantivy fails otherwise.
    pub(crate) fn write(
        &self,
        remove: &[String],
        entries: &[Entry<'_>],
        progress: &dyn Fn(usize),
    ) -> Result<(), SearchError> {
        let fail = |act| move |source| write_error(act, source, self.directory.as_ref());
        // Each thread creates a segment, and every search reads all segments.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if entries.len() > 2_000 { cores.min(MAX_THREADS) } else { 1 };
        let mut writer: IndexWriter =
            self.index.writer_with_num_threads(threads, threads * 64_000_000).map_err(fail("write"))?;
        for key in remove {
            writer.delete_term(Term::from_field_text(self.fields.key, key));
        }
        for batch in entries.chunks(512) {
            let operations: Vec<UserOperation<TantivyDocument>> =
                batch.iter().map(|entry| UserOperation::Add(self.document(entry))).collect();
            writer.run(operations).map_err(fail("write"))?;
            progress(batch.len());
        }
        writer.commit().map_err(fail("commit"))?;
        writer.wait_merging_threads().map_err(fail("merge"))
    }

    fn document(&self, entry: &Entry<'_>) -> TantivyDocument {
        let Entry { record, hash, slot } = entry;
        let f = &self.fields;
        let mut document = TantivyDocument::new();
        document.add_text(f.key, key(record));
        document.add_text(f.parent, &record.parent);
        for name in exact_names(record) {
            document.add_text(f.exact, name);
        }
        document.add_text(f.route, record.aliases.first().map_or("", String::as_str));
        for (field, texts) in f.text[record.kind as usize].iter().zip(recipe::texts(record)) {
            for (text, times) in texts.into_iter().filter(|(text, _)| !text.is_empty()) {
                (0..times).for_each(|_| document.add_text(*field, text));
            }
        }
        document.add_u64(f.kind, record.kind as u64);
        document.add_u64(f.slot, u64::from(*slot));
        document.add_u64(f.hash, *hash);
        // Serializing a struct of strings does not fail.
        document.add_text(f.record, serde_json::to_string(record).unwrap_or_default());
        document
    }

    /// Returns a searcher over the last commit.
    pub(crate) fn searcher(&self) -> Result<Searcher, SearchError> {
        let reader = self
            .index
            .reader_builder()
            .reload_policy(tantivy::ReloadPolicy::Manual)
            .try_into()
            .map_err(fail("open"))?;
        Ok(reader.searcher())
    }

    /// Returns the fast fields of every record.
    pub(crate) fn read_stored(&self, searcher: &Searcher) -> Result<Stored, SearchError> {
        let act = "read";
        let mut all = Stored { docs: Vec::with_capacity(searcher.num_docs() as usize), parents: Vec::new() };
        let mut known: HashMap<String, usize> = HashMap::new();
        for (segment_ord, segment) in searcher.segment_readers().iter().enumerate() {
            let fast = segment.fast_fields();
            let parents = fast.str("parent").map_err(fail(act))?.ok_or_else(|| damage_error(act, "no parents"))?;
            let kinds = fast.u64("kind").map_err(fail(act))?;
            let slots = fast.u64("slot").map_err(fail(act))?;
            let mut parent_of = |name: String| {
                *known.entry(name).or_insert_with_key(|name| {
                    all.parents.push(name.clone());
                    all.parents.len() - 1
                })
            };
            let orphan = parent_of(String::new());
            let names: Vec<usize> = strings(&parents)?.into_iter().map(parent_of).collect();
            for doc_id in segment.doc_ids_alive() {
                let parent = match parents.term_ords(doc_id).next() {
                    Some(ord) => *names.get(ord as usize).ok_or_else(|| damage_error(act, "a parent is missing"))?,
                    None => orphan,
                };
                let kind = kinds.first(doc_id).unwrap_or(0) as usize;
                all.docs.push(StoredDoc {
                    address: DocAddress { segment_ord: segment_ord as u32, doc_id },
                    kind: *Kind::ALL.get(kind).ok_or_else(|| damage_error(act, "an unknown kind"))?,
                    parent,
                    slot: slots.first(doc_id).and_then(|slot| u32::try_from(slot).ok()).unwrap_or(u32::MAX),
                });
            }
        }
        // Writer threads distribute records nondeterministically; positions and the order of ties must not depend on
        // it. This order is also the order of the vectors on disk, and each segment is already in it.
        all.docs.sort_by_key(|doc| (doc.slot, doc.address));
        Ok(all)
    }

    /// Returns the content hash of every record, by key.
    pub(crate) fn hashes(&self, searcher: &Searcher) -> Result<Vec<(String, u64)>, SearchError> {
        let act = "read";
        let mut all = Vec::with_capacity(searcher.num_docs() as usize);
        for segment in searcher.segment_readers() {
            let fast = segment.fast_fields();
            let keys = fast.str("key").map_err(fail(act))?.ok_or_else(|| damage_error(act, "no keys"))?;
            let hashes = fast.u64("hash").map_err(fail(act))?;
            let mut names = strings(&keys)?;
            for doc_id in segment.doc_ids_alive() {
                // Each key belongs to one live record.
                let name = keys.term_ords(doc_id).next().and_then(|ord| names.get_mut(ord as usize));
                all.push((name.map(std::mem::take).unwrap_or_default(), hashes.first(doc_id).unwrap_or(0)));
            }
        }
        Ok(all)
    }

    /// Returns the first alias of a record: the route of an operation.
    pub(crate) fn route(&self, searcher: &Searcher, address: DocAddress) -> Result<String, SearchError> {
        let act = "read";
        let fast = searcher.segment_reader(address.segment_ord).fast_fields();
        let routes = fast.str("route").map_err(fail(act))?.ok_or_else(|| damage_error(act, "no routes"))?;
        let mut route = String::new();
        if let Some(ord) = routes.term_ords(address.doc_id).next() {
            routes.ord_to_str(ord, &mut route).map_err(fail(act))?;
        }
        Ok(route)
    }

    /// Returns the matches of a term in one field of a kind; `None` without matches. `count` is the number of records
    /// of the kind.
    pub(crate) fn matches(
        &self,
        searcher: &Searcher,
        kind: Kind,
        field: usize,
        term: &str,
        count: usize,
    ) -> Result<Option<Matches>, SearchError> {
        let act = "search";
        let field = self.fields.text[kind as usize][field];
        let term = Term::from_field_text(field, term);
        let (mut frequency, mut tokens) = (0_u32, 0_u64);
        let mut lists = Vec::new();
        for (segment_ord, segment) in searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(field).map_err(fail(act))?;
            tokens += inverted.total_num_tokens();
            let Some(info) = inverted.get_term_info(&term).map_err(fail(act))? else { continue };
            frequency += info.doc_freq;
            let postings =
                inverted.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs).map_err(fail(act))?;
            let lengths = segment.get_fieldnorms_reader(field).map_err(fail(act))?;
            lists.push((segment_ord as u32, postings, lengths));
        }
        if frequency == 0 {
            return Ok(None);
        }
        let n = count.max(frequency as usize) as f32;
        let weight = (1.0 + (n - frequency as f32 + 0.5) / (frequency as f32 + 0.5)).ln().min(MAX_IDF);
        let average = (tokens as f32 / n).max(1.0);
        let mut scores = Vec::with_capacity(frequency as usize);
        for (segment_ord, mut postings, lengths) in lists {
            let mut doc_id = postings.doc();
            while doc_id != TERMINATED {
                let tf = postings.term_freq() as f32;
                let length = lengths.fieldnorm(doc_id) as f32;
                let score = weight * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / average));
                scores.push((DocAddress { segment_ord, doc_id }, score));
                doc_id = postings.advance();
            }
        }
        Ok(Some(Matches { weight, frequency, scores }))
    }

    /// Returns whether a term occurs in a field of a kind; `false` if that cannot be read.
    pub(crate) fn has_term(&self, searcher: &Searcher, kind: Kind, field: usize, term: &str) -> bool {
        let term = Term::from_field_text(self.fields.text[kind as usize][field], term);
        searcher.doc_freq(&term).is_ok_and(|frequency| frequency > 0)
    }

    /// Returns the records with exactly this name, id or alias.
    pub(crate) fn exact(&self, searcher: &Searcher, name: &str) -> Result<Vec<DocAddress>, SearchError> {
        let name = prospector_core::name::normalize(name);
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let query = TermQuery::new(Term::from_field_text(self.fields.exact, &name), IndexRecordOption::Basic);
        let mut found: Vec<DocAddress> =
            searcher.search(&query, &DocSetCollector).map_err(fail("search"))?.into_iter().collect();
        found.sort();
        Ok(found)
    }

    /// Returns the address of a record.
    pub(crate) fn address(&self, searcher: &Searcher, kind: Kind, id: &str) -> Result<Option<DocAddress>, SearchError> {
        let act = "search";
        let term = Term::from_field_text(self.fields.key, &format!("{kind}:{id}"));
        for (segment_ord, segment) in searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(self.fields.key).map_err(fail(act))?;
            let postings = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(fail(act))?;
            let Some(mut postings) = postings else { continue };
            let mut doc_id = postings.doc();
            while doc_id != TERMINATED {
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc_id)) {
                    return Ok(Some(DocAddress { segment_ord: segment_ord as u32, doc_id }));
                }
                doc_id = postings.advance();
            }
        }
        Ok(None)
    }

    /// Returns the [`Record`] at an address, or its [`Outline`].
    pub(crate) fn read<T: DeserializeOwned>(&self, searcher: &Searcher, address: DocAddress) -> Result<T, SearchError> {
        let document: TantivyDocument = searcher.doc(address).map_err(fail("read"))?;
        let json = document.get_first(self.fields.record).and_then(|value| value.as_str()).unwrap_or("");
        serde_json::from_str(json)
            .map_err(|error| damage_error("read", &format!("a stored record is damaged: {error}")))
    }
}

/// Reads all texts of a column, by ordinal, in one pass; single lookups would decode a block each.
fn strings(column: &StrColumn) -> Result<Vec<String>, SearchError> {
    let ordinals: Vec<u64> = (0..column.num_terms() as u64).collect();
    let mut all = Vec::with_capacity(ordinals.len());
    column
        .dictionary()
        .sorted_ords_to_term_cb(&ordinals, |bytes| all.push(String::from_utf8_lossy(bytes).into_owned()))
        .map_err(fail("read"))?;
    Ok(all)
}

/// Returns all exact spellings of a record.
fn exact_names(record: &Record) -> Vec<String> {
    let mut names: Vec<String> = [&record.id, &record.name]
        .into_iter()
        .chain(&record.aliases)
        .map(|name| prospector_core::name::normalize(name))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let text = Kind::ALL.map(|kind| {
        let options = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(Style::of(kind).name())
                .set_index_option(IndexRecordOption::WithFreqs),
        );
        std::array::from_fn(|field| builder.add_text_field(&format!("{kind}_{field}"), options.clone()))
    });
    let fields = Fields {
        key: builder.add_text_field("key", STRING | FAST),
        parent: builder.add_text_field("parent", STRING | FAST),
        exact: builder.add_text_field("exact", STRING),
        route: builder.add_text_field("route", FAST),
        slot: builder.add_u64_field("slot", FAST),
        hash: builder.add_u64_field("hash", FAST),
        kind: builder.add_u64_field("kind", FAST),
        record: builder.add_text_field("record", STORED),
        text,
    };
    (builder.build(), fields)
}
