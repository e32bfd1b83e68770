//! Searches over an index: the hits of a query, with the values that it names.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::name::nearest;
use prospector_core::record::{ColumnValues, Hit, MissingLiteral, Record, Relevance};
use prospector_core::work::compute;

use crate::{
    SearchError,
    damage::caught,
    index::{Found, Index, Query},
    length::check_length,
    meaning::Question,
    rank,
    ranking::{Ranker, RelevanceEvidence},
    values::{Matches, Values},
};

/// Of what only comes nearest, at most so many hits are shown.
const MAX_WEAK: usize = 5;

/// Nor is one shown that is less likely than the best by this factor.
const MIN_SHARE_OF_BEST: f32 = 0.1;

/// Literals are looked for in the databases of the best hit and of those that are at least so likely, over the best.
const SHARE_OF_SEARCHED: f32 = 0.5;

/// The most hits of one query.
const MAX_HITS: usize = 1_000;

impl Index {
    /// [`Index::search`] for asynchronous callers, whose threads it leaves to others; see [`prospector_core::work::compute`].
    ///
    /// # Errors
    /// As [`Index::search`].
    pub async fn find(&self, query: Query) -> Result<Found, SearchError> {
        check_length(&query.text)?;
        let index = self.clone();
        compute(move || index.search(&query)).await
    }

    /// The best records for a query: the hits of every kind that has an answer to it, or, where none has, what comes nearest.
    ///
    /// # Errors
    /// [`SearchError`] when the query is too long, or when the embedder or the full-text engine fails.
    pub fn search(&self, query: &Query) -> Result<Found, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let (mut good, mut weak, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for ranking in self.rankings(query, limit.max(3), &named)? {
            let list = match ranking.answerable >= rank::calibrate::FLOOR {
                true => &mut good,
                false if ranking.holds_words => &mut weak,
                // Nothing speaks for them: their names are told, where those of others do not come nearer.
                false => &mut rest,
            };
            list.extend(ranking.records);
        }
        if !good.is_empty() {
            good.sort_by(by_relevance);
            let hits: Vec<Hit> = good.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect();
            let missing = named.missing(&hits);
            return Ok(Found { hits, is_weak: false, nearest: Vec::new(), missing });
        }
        weak.sort_by(by_relevance);
        rest.sort_by(by_relevance);
        let mut ids: Vec<String> = weak.iter().chain(&rest).map(|ranked| ranked.record.id.clone()).collect();
        // For a single word, a likeness of letters says more than one of meaning.
        if query.text.split_whitespace().count() == 1 {
            ids = nearest(&query.text, ids.iter().map(String::as_str), 3);
        }
        ids.truncate(3);
        let worst = weak.first().map_or(0.0, |best| best.relevance.get() * MIN_SHARE_OF_BEST);
        let shown = weak.into_iter().take_while(|ranked| ranked.relevance.get() >= worst).take(limit.min(MAX_WEAK));
        let hits: Vec<Hit> = shown.map(|ranked| hit(ranked, &named)).collect();
        ids.retain(|id| hits.iter().all(|hit| hit.id != *id));
        let missing = named.missing(&hits);
        Ok(Found { hits, is_weak: true, nearest: ids, missing })
    }

    /// The best records for a query whether they match well or not: [`Index::search`] without the floor, for measuring.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn rank(&self, query: &Query) -> Result<Vec<Hit>, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let mut all: Vec<rank::Ranked> =
            self.rankings(query, limit, &named)?.into_iter().flat_map(|ranking| ranking.records).collect();
        all.sort_by(by_relevance);
        Ok(all.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect())
    }

    /// The candidates of a kind for a question, with what the ranker knows of each, in the order of
    /// [`crate::ranking::NAMES`]: what its weights are learned from.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn candidates(&self, text: &str, kind: Kind) -> Result<Vec<(Hit, Vec<f32>)>, SearchError> {
        check_length(text)?;
        let snapshot = self.snapshot()?;
        let named = self.find_values(&Query { text: text.to_owned(), kinds: vec![kind], ..Query::default() })?;
        let question = Question::new(text, self.inner.meanings.as_ref());
        let asked = rank::RankQuery { question: &question, values: &named.matches };
        let candidates = caught(|| rank::candidates(&snapshot, kind, asked))?;
        snapshot.faults.check()?;
        let pair =
            |(record, features): (Record, rank::features::Features)| (plain_hit(record), features.values().to_vec());
        Ok(candidates.into_iter().map(pair).collect())
    }

    /// The values that are known of each of these tables, as `(parent, table)`: by column, in alphabetical order, at most
    /// `limit` of a column. Nothing of a table of which none are known, or where they cannot be read.
    pub async fn find_examples(&self, tables: Vec<(String, String)>, limit: usize) -> Vec<Vec<ColumnValues>> {
        let index = self.clone();
        compute(move || match index.inner.values.values().ok().flatten() {
            Some(values) => values.of_tables(&tables, limit),
            None => vec![Vec::new(); tables.len()],
        })
        .await
    }

    /// What the relevance of the best `limit` records of a kind is judged by; `None` where there are none. For learning how.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn evidence(&self, text: &str, kind: Kind, limit: usize) -> Result<Option<RelevanceEvidence>, SearchError> {
        check_length(text)?;
        let snapshot = self.snapshot()?;
        let named = self.find_values(&Query { text: text.to_owned(), kinds: vec![kind], ..Query::default() })?;
        let question = Question::new(text, self.inner.meanings.as_ref());
        let asked = rank::RankQuery { question: &question, values: &named.matches };
        let found = caught(|| rank::evidence(&snapshot, kind, asked, limit.clamp(1, MAX_HITS)))?;
        snapshot.faults.check()?;
        Ok(found.map(|(evidence, hits)| RelevanceEvidence {
            is_read: evidence.is_read,
            answerability: evidence.answerability.values().to_vec(),
            hits: hits.into_iter().map(|(record, need)| (plain_hit(record), need.values().to_vec())).collect(),
        }))
    }

    /// The values that a question about tables names.
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

    /// What each kind has, in the order of the kinds, with its relevance corrected.
    fn rankings(&self, query: &Query, limit: usize, named: &QueryValues) -> Result<Vec<rank::Ranking>, SearchError> {
        check_length(&query.text)?;
        let snapshot = self.snapshot()?;
        if let Some(dense) = &snapshot.dense {
            dense.forget();
        }
        let kinds: &[Kind] = if query.kinds.is_empty() { &Kind::ALL } else { &query.kinds };
        let parent = query.parent.as_deref();
        let question = Question::new(&query.text, self.inner.meanings.as_ref());
        let asked = rank::RankQuery { question: &question, values: &named.matches };
        let rank = |kind: &Kind| rank::rank(&snapshot, *kind, asked, parent, limit, query.ranker);
        let ranked: Result<Vec<rank::Ranking>, SearchError> = caught(|| kinds.iter().map(rank).collect());
        if let (Err(SearchError::Panicked { reason }), Some(folder)) = (&ranked, &self.inner.folder) {
            self.recover(folder, &snapshot, reason);
        }
        // What was read before the damage was met, or beside it, is no answer.
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

/// Most relevant first; a stable sort keeps the order of the ranking where the relevance is the same.
fn by_relevance(a: &rank::Ranked, b: &rank::Ranked) -> std::cmp::Ordering {
    b.relevance.get().total_cmp(&a.relevance.get())
}

/// A hit whose relevance nobody asks for.
fn plain_hit(record: Record) -> Hit {
    hit(rank::Ranked { record, relevance: Relevance::default() }, &QueryValues::default())
}

fn hit(ranked: rank::Ranked, named: &QueryValues) -> Hit {
    let Record { id, kind, parent, name, description, body, .. } = ranked.record;
    let values = if kind == Kind::Table { named.matches.show(&id) } else { Vec::new() };
    Hit { id, kind, parent, name, description, body, relevance: ranked.relevance, values }
}

/// The values that a question names, and where they were looked for.
#[derive(Default)]
struct QueryValues {
    matches: Matches,
    values: Option<Arc<Values>>,
    /// The database that the question is about.
    parent: Option<String>,
}

impl QueryValues {
    /// What the databases of the tables that were found lack. Where something else answers, nothing is missing.
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
