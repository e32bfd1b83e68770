//! Resolves terms from stored facts, facts of the catalog, and external evidence.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use chrono::{SecondsFormat, Utc};
use prospector_core::record::Record;
use prospector_core::work::compute;
use prospector_core::{Owner, Problem};

use crate::{
    error::FactError,
    evidence::{Evidence, Passage},
    extract::{Extracted, extract},
    extractor::{Extractor, merge, verify},
    keep::{hash, mark_stale, to_keep},
    model::{Fact, Keeping, Origin, Resolution, USER, Unresolved, Viewer},
    resolve::resolve,
    store::{FactStore, StoredFact},
    table::TermTable,
    words::stems,
};

/// Maximum number of texts from outside the catalog per question.
const MAX_ELSEWHERE: usize = 24;
/// Confidence of user-stated facts of others is capped at that of documents.
const MAX_CONFIDENCE_OF_OTHERS: f64 = 0.9;
/// Maximum length of a question; longer ones are truncated.
const MAX_QUESTION_CHARS: usize = 1_000;

/// The outcome of [`FactDiscovery::add`].
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    /// The stored fact.
    pub fact: Fact,
    /// The fact that it replaces: same term, scope and origin.
    pub replaced: Option<Fact>,
    /// Open questions that it answers; they are closed.
    pub answers: Vec<String>,
}

/// Resolves terms and stores facts. Each value is the view of one owner, initially the local user; see
/// [`FactDiscovery::seen_by`].
pub struct FactDiscovery {
    shared: Arc<Shared>,
    viewer: Viewer,
}

/// State shared by all views.
struct Shared {
    store: FactStore,
    catalog: Vec<Fact>,
    evidence: Option<Arc<dyn Evidence>>,
    /// The stored facts as last read: they are indexed, and used while the store is unreadable.
    stored: RwLock<Vec<StoredFact>>,
    extractor: OnceLock<Arc<dyn Extractor>>,
    /// The terms of the catalog's facts, metrics and texts, which do not change while it is open.
    terms: OnceLock<TermTable>,
}

impl Shared {
    fn terms(&self) -> &TermTable {
        self.terms.get_or_init(|| {
            let evidence = self.evidence.as_deref();
            let passages = evidence.map(Evidence::passages).unwrap_or_default();
            TermTable::new(&self.catalog, &passages, evidence)
        })
    }
}

impl FactDiscovery {
    /// Opens a fact store. `store` is a file that is created by the first write; without one, facts are kept in memory.
    /// An unreadable store is reported as a problem and does not affect other sources.
    pub async fn open(
        store: Option<PathBuf>,
        catalog_facts: Vec<Fact>,
        evidence: Option<Arc<dyn Evidence>>,
    ) -> (FactDiscovery, Vec<Problem>) {
        let (catalog, mut problems) = check_facts(catalog_facts);
        let place = store.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let shared = Shared {
            store: FactStore::new(store),
            catalog,
            evidence,
            stored: RwLock::new(Vec::new()),
            extractor: OnceLock::new(),
            terms: OnceLock::new(),
        };
        let discovery = FactDiscovery { shared: Arc::new(shared), viewer: Viewer::local() };
        if let Err(error) = discovery.refresh().await {
            let mut problem = Problem::error(place, error.reason());
            problem.advice = error.advice().map(str::to_owned);
            problems.push(problem);
        }
        (discovery, problems)
    }

    /// Checks the integrity of a store without changing it.
    ///
    /// # Errors
    /// [`FactError`] if the file is damaged, not a fact store, or unreadable.
    pub async fn check_store(store: &Path) -> Result<(), FactError> {
        FactStore::new(Some(store.to_owned())).check().await
    }

    /// Returns the view of another owner: shared facts and the owner's own. New facts are stored according to
    /// `keeping`. Facts stated by other users are labelled with their author and do not take precedence over written
    /// sources.
    pub fn seen_by(&self, owner: Owner, keeping: Keeping) -> FactDiscovery {
        FactDiscovery { shared: self.shared.clone(), viewer: Viewer { owner, keeping } }
    }

    /// Adds an extractor, such as one based on a model. Only the first extractor is used; later ones are ignored.
    pub fn extract_with(&self, extractor: Arc<dyn Extractor>) {
        let _ = self.shared.extractor.set(extractor);
    }

    /// Extracts the facts stated in `text`, by rules and by the extractor if there is one. Facts from a model are
    /// accepted only with a verbatim quotation.
    pub async fn extract(&self, text: &str) -> Extracted {
        let whole: Arc<str> = text.into();
        let read = whole.clone();
        let facts = compute(move || extract(&read)).await;
        let Some(extractor) = self.shared.extractor.get() else { return Extracted { facts, note: None } };
        match extractor.extract(text).await {
            Ok(stated) => {
                compute(move || {
                    let (more, dropped) = verify(&whole, stated);
                    let note = (dropped > 0)
                        .then(|| format!("{dropped} facts from the model skipped: not quoted verbatim from the text"));
                    Extracted { facts: merge(facts, more), note }
                })
                .await
            }
            Err(reason) => Extracted { facts, note: Some(format!("extracted without the model: {reason}")) },
        }
    }

    /// Returns the current text of a source, by its name in `resolve_fact`: `rules#Customers`.
    pub fn source_text(&self, source: &str) -> Option<String> {
        self.shared.evidence.as_ref().and_then(|evidence| evidence.text(source))
    }

    /// Extracts and stores the facts that a source states. Stale facts from an older version become current again if
    /// the source still states them. `None` if there is no such source.
    ///
    /// # Errors
    /// [`FactError`] if the store cannot be written.
    pub async fn extract_source(&self, source: &str) -> Result<Option<Extracted>, FactError> {
        let Some(text) = self.source_text(source) else { return Ok(None) };
        let extracted = self.extract(&text).await;
        for mut fact in to_keep(source, &text, &extracted.facts) {
            fact.recorded_at = now();
            if wrong_with(&fact).is_none() {
                self.shared.store.add(&fact, &self.viewer).await?;
            }
        }
        self.refresh().await?;
        Ok(Some(extracted))
    }

    /// Returns the records to index, one per fact.
    pub fn records(&self) -> Vec<Record> {
        let mut seen = HashSet::new();
        let facts = self.snapshot().into_iter().chain(self.list_catalog());
        facts.map(|fact| fact.record()).filter(|record| seen.insert(record.id.clone())).collect()
    }

    /// Returns the definition of a term, ignoring case; of several the first one listed.
    pub fn find(&self, term: &str) -> Option<Fact> {
        let mut facts = self.snapshot().into_iter().chain(self.list_catalog());
        facts.find(|fact| fact.term.eq_ignore_ascii_case(term))
    }

    /// Iterates over the facts of the catalog except metrics, which are listed separately.
    fn list_catalog(&self) -> impl Iterator<Item = Fact> {
        self.shared.catalog.iter().filter(|fact| fact.origin != Origin::Metric).cloned()
    }

    /// Returns the definitions of the terms in a question, or a clarification. A question for a meaning without an
    /// answer is stored as unresolved.
    pub async fn resolve(&self, question: &str) -> Resolution {
        let question = question.trim();
        let end = question.char_indices().nth(MAX_QUESTION_CHARS).map(|(end, _)| end);
        let mut notes = Vec::new();
        if end.is_some() {
            notes.push(format!("only the first {MAX_QUESTION_CHARS} characters of the question were used"));
        }
        let question = &question[..end.unwrap_or(question.len())];
        if self.refresh().await.is_err() {
            // The error contains a path, which clients of a server do not see.
            notes.push("stored facts may be missing: the fact store cannot be read".to_owned());
        }
        let mut resolution = self.look_up(question, Vec::new()).await;
        if let Some(evidence) = self.shared.evidence.as_ref().filter(|_| resolution.needs_meaning()) {
            match evidence.elsewhere(question, MAX_ELSEWHERE).await {
                Ok(found) if found.is_empty() => {}
                Ok(found) => {
                    let wider = self.look_up(question, found).await;
                    if wider.answer.is_some() {
                        notes.push("not defined in the catalog; this is from the web".to_owned());
                        resolution = wider;
                    }
                }
                Err(reason) => notes.push(format!("web search failed: {reason}")),
            }
        }
        let kept = match resolution.needs_clarification {
            true => self.shared.store.note_unresolved(question, &now(), &self.viewer.owner).await,
            false => self.shared.store.close(question, &self.viewer).await,
        };
        if let Err(error) = kept
            && notes.is_empty()
        {
            notes.push(format!("the question could not be stored as unresolved: {error}"));
        }
        notes.extend(resolution.note.take());
        resolution.note = (!notes.is_empty()).then(|| notes.join("; "));
        resolution
    }

    /// Looks a question up in stored facts, in the catalog, and in `more` texts.
    async fn look_up(&self, question: &str, more: Vec<Passage>) -> Resolution {
        let (question, facts, shared) = (question.to_owned(), self.snapshot(), self.shared.clone());
        compute(move || {
            let evidence = shared.evidence.as_deref();
            let own = TermTable::new(&facts, &more, evidence);
            let is_of_schema = |term: &str| evidence.is_some_and(|evidence| evidence.is_of_schema(term));
            resolve(&question, &[&own, shared.terms()], &is_of_schema)
        })
        .await
    }

    /// Stores a fact. An empty `recorded_at` is set to the current time.
    ///
    /// # Errors
    /// [`FactError`] if the fact is empty or too long, or if the store cannot be written.
    pub async fn add(&self, mut fact: Fact) -> Result<Added, FactError> {
        for text in [&mut fact.term, &mut fact.definition, &mut fact.scope, &mut fact.source, &mut fact.reasoning] {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        if let Some(reason) = wrong_with(&fact) {
            return Err(FactError::Invalid { term: fact.term, reason });
        }
        if fact.recorded_at.is_empty() {
            fact.recorded_at = now();
        }
        fact.source_hash = self.source_text(&fact.source).map(|text| hash(&text)).unwrap_or_default();
        fact.stale = false;
        fact.said_by = String::new();
        fact.pending = !self.viewer.apart().is_empty();
        let replaced = self.shared.store.add(&fact, &self.viewer).await?;
        self.refresh().await?;
        let open = self.shared.store.list_unresolved(&self.viewer).await?;
        let (fact, answers) = compute(move || {
            let table = TermTable::new(std::slice::from_ref(&fact), &[], None);
            let is_answered = |question: &String| {
                let resolution = resolve(question, &[&table], &|_| false);
                resolution.answer.is_some() && !resolution.needs_clarification
            };
            let answers: Vec<String> = open.into_iter().map(|open| open.question).filter(is_answered).collect();
            (fact, answers)
        })
        .await;
        for question in &answers {
            self.shared.store.close(question, &self.viewer).await?;
        }
        Ok(Added { fact, replaced, answers })
    }

    /// Returns all facts by term: stored ones, then those of the catalog.
    ///
    /// # Errors
    /// [`FactError`] if an existing store cannot be read.
    pub async fn facts(&self) -> Result<Vec<Fact>, FactError> {
        self.refresh().await?;
        let mut facts = self.snapshot();
        facts.extend(self.list_catalog());
        facts.sort_by_cached_key(|fact| (fact.term.to_lowercase(), fact.origin, fact.scope.clone()));
        Ok(facts)
    }

    /// Returns the unresolved questions, most recent first.
    ///
    /// # Errors
    /// [`FactError`] if an existing store cannot be read.
    pub async fn open_questions(&self) -> Result<Vec<Unresolved>, FactError> {
        self.shared.store.list_unresolved(&self.viewer).await
    }

    /// Reloads the store, as another process may have written to it.
    async fn refresh(&self) -> Result<(), FactError> {
        let mut facts = self.shared.store.facts().await?;
        facts.sort_by_key(|stored| stored.fact.origin);
        if let Some(evidence) = self.shared.evidence.clone() {
            facts = compute(move || {
                mark_stale(facts.iter_mut().map(|stored| &mut stored.fact), evidence.as_ref());
                facts
            })
            .await;
        }
        *self.shared.stored.write().unwrap_or_else(PoisonError::into_inner) = facts;
        Ok(())
    }

    /// Returns the stored facts visible to the viewer, their own first.
    fn snapshot(&self) -> Vec<Fact> {
        let stored = self.shared.stored.read().unwrap_or_else(PoisonError::into_inner);
        let mut seen: Vec<Fact> = stored.iter().filter_map(|stored| self.visible_fact(stored)).collect();
        drop(stored);
        seen.sort_by_key(|fact| (fact.origin, !fact.pending, !fact.said_by.is_empty()));
        seen
    }

    /// Returns a fact as the viewer sees it; `None` if it is private to another owner.
    fn visible_fact(&self, stored: &StoredFact) -> Option<Fact> {
        let is_for_all = stored.apart.is_empty();
        if !is_for_all && stored.apart != self.viewer.owner.id() {
            return None;
        }
        let mut fact = Fact { pending: !is_for_all, ..stored.fact.clone() };
        // A fact extracted from a text is attributed to the text.
        if fact.origin == Origin::User && !self.viewer.is_own(&stored.owner) {
            fact.said_by = stored.owner.label().to_owned();
            let stated = std::mem::take(&mut fact.source);
            fact.source = match stated.as_str() {
                "" | USER => format!("said by {}", fact.said_by),
                stated => format!("said by {}, citing {stated}", fact.said_by),
            };
            fact.confidence = fact.confidence.min(MAX_CONFIDENCE_OF_OTHERS);
        }
        Some(fact)
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn wrong_with(fact: &Fact) -> Option<&'static str> {
    let letters = |text: &str| text.chars().any(char::is_alphanumeric);
    if !letters(&fact.term) {
        Some("the term is empty")
    } else if !letters(&fact.definition) {
        Some("the definition is empty")
    } else if fact.term.chars().count() > 200 {
        Some("the term is longer than 200 characters")
    } else if [&fact.definition, &fact.source, &fact.reasoning, &fact.scope].iter().any(|t| t.chars().count() > 4_000) {
        Some("a field is longer than 4000 characters")
    } else if !(0.0..=1.0).contains(&fact.confidence) {
        Some("the confidence is not between 0 and 1")
    } else {
        None
    }
}

/// Separates valid facts from problems. Contradicting facts are all kept, so that resolving the term shows both.
fn check_facts(facts: Vec<Fact>) -> (Vec<Fact>, Vec<Problem>) {
    let mut good: Vec<Fact> = Vec::new();
    let mut twins: HashMap<(Vec<String>, String), usize> = HashMap::new();
    let mut problems = Vec::new();
    for fact in facts {
        let place = format!("facts: {}", fact.term);
        if let Some(reason) = wrong_with(&fact) {
            problems.push(Problem::error(place, reason).advise("correct the fact in the catalog"));
            continue;
        }
        let key = (stems(&fact.term), fact.scope.clone());
        let twin = *twins.entry(key).or_insert(good.len());
        match good.get(twin) {
            Some(twin) if twin.definition == fact.definition => continue,
            Some(_) => problems.push(
                Problem::warning(place, "the term has several definitions")
                    .advise("keep one definition, or set a `scope` on each"),
            ),
            None => {}
        }
        good.push(fact);
    }
    (good, problems)
}
