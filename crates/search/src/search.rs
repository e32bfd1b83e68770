//! Searches an index for the hits of a query and the values that it names.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::name::rank;
use prospector_core::record::{ColumnValues, Hit, MissingLiteral, Record, Relevance};
use prospector_core::work::compute;

use crate::{
    SearchError,
    damage::caught,
    index::{Found, Index, Query},
    length::query_text,
    rank,
    ranking::{Ranker, RelevanceEvidence},
    values::{Matches, Values},
};

/// Maximum number of hits below the relevance threshold.
const MAX_WEAK: usize = 5;

/// Minimum relevance of such a hit, relative to the best one.
const MIN_SHARE_OF_BEST: f32 = 0.1;

/// Literals are searched in the database of the best hit, and in those of hits with at least this relevance relative to
/// it.
const SHARE_OF_SEARCHED: f32 = 0.5;

/// Maximum number of hits per query.
const MAX_HITS: usize = 1_000;

impl Index {
    /// Asynchronous version of [`Index::search`]; see [`prospector_core::work::compute`].
    ///
    /// # Errors
    /// See [`Index::search`].
    pub async fn find(&self, query: Query) -> Result<Found, SearchError> {
        check_length(&query.text)?;
        let index = self.clone();
        compute(move || index.search(&query)).await
    }

    /// Returns the best records for a query: the hits of every kind that has an answer, otherwise the closest ones.
    ///
    /// # Errors
    /// [`SearchError`] if the query is too long, or if the embedder or the full-text engine fails.
    pub fn search(&self, query: &Query) -> Result<Found, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let (mut good, mut weak, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for ranking in self.rankings(query, limit.max(3), &named)? {
            let list = match ranking.answerable >= rank::calibrate::FLOOR {
                true => &mut good,
                false if ranking.holds_words => &mut weak,
                // Hits without evidence are listed by name only, unless others are closer.
                false => &mut rest,
            };
            list.extend(ranking.records);
        }
        if !good.is_empty() {
            good.sort_by(by_relevance);
            if query.fill {
                weak.append(&mut rest);
                weak.sort_by(by_relevance);
                good.append(&mut weak);
            }
            let hits: Vec<Hit> = good.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect();
            let missing = named.missing(&hits);
            return Ok(Found { hits, is_weak: false, nearest: Vec::new(), missing });
        }
        weak.sort_by(by_relevance);
        rest.sort_by(by_relevance);
        let mut ids: Vec<String> = weak.iter().chain(&rest).map(|ranked| ranked.record.id.clone()).collect();
        // For a single word, similar spelling is better evidence than similar meaning.
        if query.text.split_whitespace().count() == 1 {
            ids = rank(&query.text, ids.iter().map(String::as_str), 3);
        }
        ids.truncate(3);
        let shown = match query.fill {
            true => {
                weak.append(&mut rest);
                limit
            }
            false => {
                let worst = weak.first().map_or(0.0, |best| best.relevance.get() * MIN_SHARE_OF_BEST);
                weak.iter().take_while(|ranked| ranked.relevance.get() >= worst).count().min(limit).min(MAX_WEAK)
            }
        };
        let hits: Vec<Hit> = weak.into_iter().take(shown).map(|ranked| hit(ranked, &named)).collect();
        ids.retain(|id| hits.iter().all(|hit| hit.id != *id));
        let missing = named.missing(&hits);
        Ok(Found { hits, is_weak: true, nearest: ids, missing })
    }

    /// Like [`Index::search`], but without the relevance threshold; for evaluation.
    ///
    /// # Errors
    /// See [`Index::search`].
    pub fn rank(&self, query: &Query) -> Result<Vec<Hit>, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let mut all: Vec<rank::Ranked> =
            self.rankings(query, limit, &named)?.into_iter().flat_map(|ranking| ranking.records).collect();
        all.sort_by(by_relevance);
        Ok(all.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect())
    }

    /// Returns the candidates of a kind for a question with their features, in the order of [`crate::ranking::NAMES`];
    /// for fitting the ranker.
    ///
    /// # Errors
    /// See [`Index::search`].
    pub fn candidates(&self, text: &str, kind: Kind) -> Result<Vec<(Hit, Vec<f32>)>, SearchError> {
        check_length(text)?;
        let snapshot = self.snapshot()?;
        let named = self.find_values(&Query { text: text.to_owned(), kinds: vec![kind], ..Query::default() })?;
        let asked = rank::RankQuery { text, values: &named.matches };
        let candidates = caught(|| rank::candidates(&snapshot, kind, asked))?;
        snapshot.faults.check()?;
        let pair =
            |(record, features): (Record, rank::features::Features)| (plain_hit(record), features.values().to_vec());
        Ok(candidates.into_iter().map(pair).collect())
    }

    /// Returns the known values of each of these tables, given as `(parent, table)`: by column, in alphabetical order,
    /// at most `limit` per column. Empty if none are known or they cannot be read.
    pub async fn find_examples(&self, tables: Vec<(String, String)>, limit: usize) -> Vec<Vec<ColumnValues>> {
        let index = self.clone();
        compute(move || index.list_examples(&tables, limit)).await
    }

    /// Like [`Index::find_examples`], on the current thread.
    pub fn list_examples(&self, tables: &[(String, String)], limit: usize) -> Vec<Vec<ColumnValues>> {
        match self.inner.values.values().ok().flatten() {
            Some(values) => values.of_tables(tables, limit),
            None => vec![Vec::new(); tables.len()],
        }
    }

    /// Returns the relevance features of the best `limit` records of a kind; `None` if there are no records. For
    /// fitting relevance weights.
    ///
    /// # Errors
    /// See [`Index::search`].
    pub fn evidence(&self, text: &str, kind: Kind, limit: usize) -> Result<Option<RelevanceEvidence>, SearchError> {
        check_length(text)?;
        let snapshot = self.snapshot()?;
        let named = self.find_values(&Query { text: text.to_owned(), kinds: vec![kind], ..Query::default() })?;
        let asked = rank::RankQuery { text, values: &named.matches };
        let found = caught(|| rank::evidence(&snapshot, kind, asked, limit.clamp(1, MAX_HITS)))?;
        snapshot.faults.check()?;
        Ok(found.map(|(evidence, hits)| RelevanceEvidence {
            answerability: evidence.answerability.values().to_vec(),
            hits: hits.into_iter().map(|(record, need)| (plain_hit(record), need.values().to_vec())).collect(),
        }))
    }

    /// Returns the values that a question about tables names.
    fn find_values(&self, query: &Query) -> Result<QueryValues, SearchError> {
        let asks_for_tables = query.kinds.is_empty() || query.kinds.contains(&Kind::Table);
        if query.ranker != Ranker::Full || !asks_for_tables {
            return Ok(QueryValues::default());
        }
        check_length(&query.text)?;
        let Some(values) = self.inner.values.values()? else { return Ok(QueryValues::default()) };
        let snapshot = self.snapshot()?;
        let matches = caught(|| Ok(Matches::of(&values, &query.text, &|word| rank::is_term(&snapshot, word))))?;
        Ok(QueryValues { matches, values: Some(values), parent: query.parent.clone() })
    }

    /// Ranks each kind, in the order of kinds, with corrected relevance.
    fn rankings(&self, query: &Query, limit: usize, named: &QueryValues) -> Result<Vec<rank::Ranking>, SearchError> {
        check_length(&query.text)?;
        let snapshot = self.snapshot()?;
        if let Some(dense) = &snapshot.dense {
            dense.forget();
        }
        let kinds: &[Kind] = if query.kinds.is_empty() { &Kind::ALL } else { &query.kinds };
        let parent = query.parent.as_deref();
        let asked = rank::RankQuery { text: &query.text, values: &named.matches };
        let rank = |kind: &Kind| rank::rank(&snapshot, *kind, asked, parent, limit, query.ranker);
        let ranked: Result<Vec<rank::Ranking>, SearchError> = caught(|| kinds.iter().map(rank).collect());
        if let (Err(SearchError::Panicked { reason }), Some(folder)) = (&ranked, &self.inner.folder) {
            self.recover(folder, &snapshot, reason);
        }
        // Results that were read from a damaged index are discarded.
        snapshot.faults.check()?;
        let mut ranked: Vec<rank::Ranking> = ranked?;
        let corrections = self.inner.recalibration.corrections()?;
        for (kind, ranking) in kinds.iter().zip(&mut ranked) {
            if let Some(correction) = corrections.get(kind) {
                ranking.records.iter_mut().for_each(|hit| hit.relevance = correction.apply(hit.relevance));
            }
        }
        Ok(ranked)
    }
}

/// Rejects a query that is too long.
fn check_length(text: &str) -> Result<(), SearchError> {
    match query_text(text).len() == text.len() {
        true => Ok(()),
        false => Err(SearchError::TooLong { characters: text.chars().count() }),
    }
}

/// Orders by relevance, descending; a stable sort preserves the ranking of ties.
fn by_relevance(a: &rank::Ranked, b: &rank::Ranked) -> std::cmp::Ordering {
    b.relevance.get().total_cmp(&a.relevance.get())
}

/// Creates a hit without relevance.
fn plain_hit(record: Record) -> Hit {
    hit(rank::Ranked { record, relevance: Relevance::default() }, &QueryValues::default())
}

fn hit(ranked: rank::Ranked, named: &QueryValues) -> Hit {
    let Record { id, kind, parent, name, description, body, .. } = ranked.record;
    let values = if kind == Kind::Table { named.matches.show(&id) } else { Vec::new() };
    Hit { id, kind, parent, name, description, body, relevance: ranked.relevance, values }
}

/// The values that a question names, and the database in which they were searched.
#[derive(Default)]
struct QueryValues {
    matches: Matches,
    values: Option<Arc<Values>>,
    /// The database that the question is about.
    parent: Option<String>,
}

impl QueryValues {
    /// Returns the literals missing from the databases of the found tables; empty if another kind answers the question.
    fn missing(&self, hits: &[Hit]) -> Vec<MissingLiteral> {
        let best = hits.first().map_or(0.0, |hit| hit.relevance.get());
        if hits.first().is_some_and(|hit| hit.kind != Kind::Table) {
            return Vec::new();
        }
        let tables =
            hits.iter().filter(|hit| hit.kind == Kind::Table && hit.relevance.get() >= best * SHARE_OF_SEARCHED);
        let parents: Vec<&str> =
            self.parent.as_deref().into_iter().chain(tables.map(|hit| hit.parent.as_str())).collect();
        self.values.as_ref().map_or_else(Vec::new, |values| self.matches.missing(values, &parents))
    }
}
