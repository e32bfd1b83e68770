//! Term table: finds all defined terms in a question by the stems of their words.

use std::collections::{BTreeSet, HashMap};

use prospector_text::stem::singular;

use crate::{
    asked::{Asks, QuestionWords},
    evidence::{Evidence, Passage},
    mark::{Mark, Marked, marks, marks_of_name},
    model::{Fact, Origin},
    words::{is_number, is_stop_word, same, stem, stems, within, words},
};

/// Maximum number of other words between the words of a term, in any order: `shipments that were on time`.
const MAX_BETWEEN: usize = 2;

/// Maximum number of terms.
const MAX_TERMS: usize = 100_000;

/// What a definition is based on, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Basis {
    /// Stated by the user.
    User,
    /// Defined in the catalog, stated by another user, or extracted from a text.
    Stored,
    Marked(Mark),
    Metric,
}

impl Basis {
    /// Returns the class. Definitions of a lower class are not listed with those of a higher one.
    pub(crate) fn class(self) -> u8 {
        match self {
            Basis::User | Basis::Stored | Basis::Metric => 0,
            Basis::Marked(Mark::Label | Mark::Heading | Mark::Subject) => 0,
            Basis::Marked(Mark::Bold | Mark::Row) => 1,
            Basis::Marked(Mark::Code | Mark::Schema) => 2,
            Basis::Marked(Mark::Mention | Mark::Topic) => 3,
        }
    }

    /// Returns the confidence of a definition of this kind.
    fn confidence(self) -> f64 {
        match self {
            Basis::User | Basis::Stored => 1.0,
            Basis::Marked(Mark::Label | Mark::Heading) => 0.95,
            Basis::Marked(Mark::Subject | Mark::Row) | Basis::Metric => 0.9,
            Basis::Marked(Mark::Bold | Mark::Code | Mark::Schema) => 0.85,
            Basis::Marked(Mark::Mention | Mark::Topic) => 0.6,
        }
    }
}

/// A definition of a term, with its source.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) term: String,
    pub(crate) answer: String,
    pub(crate) text: String,
    pub(crate) source_type: String,
    pub(crate) source: String,
    pub(crate) confidence: f64,
    pub(crate) basis: Basis,
    /// Where it applies; everywhere if empty.
    pub(crate) scope: String,
    pub(crate) stale: bool,
    /// The stems of words that may accompany the term in a question for it.
    context: Vec<String>,
    /// The databases named by its source.
    businesses: BTreeSet<usize>,
    /// Whether its term is the name of a table or column.
    is_of_schema: bool,
}

/// A name of a term.
#[derive(Debug, Default)]
struct Key {
    definition: usize,
    stems: Vec<String>,
    /// Its content words in the singular, which a question that uses the term must contain; empty for a rare word.
    singulars: Vec<String>,
    /// The stems of all words, for a term with one content word.
    whole: Vec<String>,
    /// Stop words inside hyphenated words: the `on` of `on-time`.
    inner: Vec<String>,
    /// Those of its stems that are names of tables or columns.
    of_schema: Vec<String>,
    is_ordinary: bool,
    /// A heading in the plural is a topic rather than a term.
    is_plural: bool,
}

/// A term in a question.
#[derive(Debug, Clone)]
pub(crate) struct Found<'t> {
    pub(crate) definition: &'t Definition,
    pub(crate) key: &'t [String],
    /// The positions of its words among the content words of the question.
    pub(crate) places: Vec<usize>,
    pub(crate) asks: Asks,
}

impl Found<'_> {
    /// Returns whether both are the same term, by words or by position in the question.
    pub(crate) fn is_same(&self, other: &Found<'_>) -> bool {
        let has_all = |one: &[usize], other: &[usize]| other.iter().all(|at| one.contains(at));
        same(self.key, other.key)
            || !self.places.is_empty() && has_all(&self.places, &other.places) && has_all(&other.places, &self.places)
    }
}

/// The words of the name of a database.
#[derive(Debug)]
struct Business {
    name: Vec<String>,
    has_ordinary_first: bool,
}

/// The terms of texts or of facts.
#[derive(Debug, Default)]
pub(crate) struct TermTable {
    definitions: Vec<Definition>,
    keys: Vec<Key>,
    by_stem: HashMap<String, Vec<usize>>,
    businesses: Vec<Business>,
}

impl TermTable {
    pub(crate) fn new(facts: &[Fact], passages: &[Passage], evidence: Option<&dyn Evidence>) -> Self {
        let mut table = TermTable { businesses: businesses(evidence), ..TermTable::default() };
        for fact in facts {
            table.add_fact(fact, evidence);
        }
        for passage in passages {
            table.add_passage(passage, evidence);
        }
        table
    }

    fn add_fact(&mut self, fact: &Fact, evidence: Option<&dyn Evidence>) {
        let (basis, source_type) = match fact.origin {
            Origin::User if !fact.said_by.is_empty() => (Basis::Stored, "other_user"),
            Origin::User if fact.stale => (Basis::Stored, fact.origin.as_str()),
            Origin::User => (Basis::User, fact.origin.as_str()),
            Origin::Metric => (Basis::Metric, fact.origin.as_str()),
            Origin::Catalog | Origin::Extracted => (Basis::Stored, fact.origin.as_str()),
        };
        let source = if fact.source.is_empty() { source_type } else { &fact.source };
        let definition = Definition {
            term: fact.term.clone(),
            answer: fact.definition.clone(),
            text: fact.definition.clone(),
            source_type: source_type.to_owned(),
            source: source.to_owned(),
            confidence: fact.confidence,
            basis,
            scope: fact.scope.clone(),
            stale: fact.stale,
            context: stems(&fact.scope),
            businesses: self.named_in(&stems(&fact.scope), false),
            is_of_schema: evidence.is_some_and(|evidence| evidence.is_of_schema(&fact.term)),
        };
        self.add(definition, &[], evidence);
    }

    fn add_passage(&mut self, passage: &Passage, evidence: Option<&dyn Evidence>) {
        let is_name = matches!(passage.source_type.as_str(), "table" | "column");
        let found = match is_name {
            true => marks_of_name(&passage.heading, &passage.text),
            false => marks(&passage.text, &passage.heading),
        };
        let place = stems(&passage.name.replace(['#', '>'], " "));
        let owner = passage.name.split(if is_name { '.' } else { '#' }).next().unwrap_or_default();
        let businesses = self.named_in(&stems(owner), false);
        for marked in found.into_iter().take(MAX_TERMS.saturating_sub(self.definitions.len())) {
            let Marked { term, aliases, mark, answer, text, context, .. } = marked;
            let mut around = stems(&context);
            around.extend(place.iter().cloned());
            let basis = Basis::Marked(mark);
            let definition = Definition {
                is_of_schema: evidence.is_some_and(|evidence| evidence.is_of_schema(&term)),
                term,
                answer,
                text,
                source_type: passage.source_type.clone(),
                source: passage.name.clone(),
                confidence: basis.confidence(),
                basis,
                scope: String::new(),
                stale: false,
                context: around,
                businesses: businesses.clone(),
            };
            self.add(definition, &aliases, evidence);
        }
    }

    fn add(&mut self, definition: Definition, aliases: &[String], evidence: Option<&dyn Evidence>) {
        for name in std::iter::once(&definition.term).chain(aliases) {
            let all = words(name);
            let content: Vec<&String> = all.iter().filter(|word| !is_stop_word(word) && !is_number(word)).collect();
            let is_ordinary = |word: &String| {
                evidence.is_some_and(|evidence| evidence.is_ordinary(word) || evidence.is_ordinary(&singular(word)))
            };
            let singulars: Vec<String> =
                all.iter().filter(|word| !is_stop_word(word)).map(|word| singular(word)).collect();
            let is_said = definition.basis != Basis::Marked(Mark::Heading);
            let is_rare = is_said && content.len() == 1 && !is_ordinary(content[0]);

            let is_of_schema = |word: &&String| evidence.is_some_and(|evidence| evidence.is_of_schema(word));
            let inner = name.split_whitespace().filter(|token| token.contains('-')).flat_map(words);
            let key = Key {
                definition: self.definitions.len(),
                stems: stems(name),
                singulars: if is_rare { Vec::new() } else { singulars },
                whole: all.iter().map(|word| if is_stop_word(word) { word.clone() } else { stem(word) }).collect(),
                of_schema: all.iter().filter(is_of_schema).map(|word| stem(word)).collect(),
                inner: inner.filter(|word| is_stop_word(word)).collect(),
                is_plural: all.last().is_some_and(|word| singular(word) != *word),
                is_ordinary: content.is_empty() || content.len() == 1 && is_ordinary(content[0]),
            };
            self.insert(key);
        }
        self.definitions.push(definition);
    }

    fn insert(&mut self, key: Key) {
        // `web shop` is `webshop` too.
        if let [one, other] = key.singulars.as_slice() {
            let joined = format!("{one}{other}");
            self.by_stem.entry(joined.clone()).or_default().push(self.keys.len());
            let (stems, whole) = (vec![joined.clone()], vec![joined]);
            let (definition, is_ordinary) = (key.definition, key.is_ordinary);
            self.keys.push(Key { definition, stems, whole, is_ordinary, ..Key::default() });
        }
        if let Some(longest) = key.stems.iter().max_by_key(|stem| stem.len()) {
            self.by_stem.entry(longest.clone()).or_default().push(self.keys.len());
            self.keys.push(key);
        }
    }

    /// Returns the databases named in a text: by all words of the name, or by the first word if no other name contains
    /// it. In a question, an ordinary first word does not name a database.
    fn named_in(&self, text: &[String], is_question: bool) -> BTreeSet<usize> {
        let is_first = |at: usize| {
            let Business { name, has_ordinary_first } = &self.businesses[at];
            let has_first = |other: &Business| other.name.contains(&name[0]);
            text.contains(&name[0])
                && !(is_question && *has_ordinary_first)
                && self.businesses.iter().filter(|other| has_first(other)).count() == 1
        };
        (0..self.businesses.len()).filter(|at| within(&self.businesses[*at].name, text) || is_first(*at)).collect()
    }

    /// Returns the terms that a question uses, in no particular order.
    pub(crate) fn find(&self, asked: &QuestionWords) -> Vec<Found<'_>> {
        let stems = asked.counting.iter().chain(&asked.joined);
        let mut seen: Vec<usize> = stems.filter_map(|stem| self.by_stem.get(stem)).flatten().copied().collect();
        seen.sort_unstable();
        seen.dedup();
        let found = seen.into_iter().filter_map(|at| self.find_key(&self.keys[at], asked));
        // The same words are a different term in another database.
        found.filter(|found| self.is_own_business(found, asked)).collect()
    }

    /// Returns whether the question names the database of a term, or none.
    fn is_own_business(&self, found: &Found<'_>, asked: &QuestionWords) -> bool {
        let others = asked.counting.iter().enumerate().filter(|(at, _)| !found.places.contains(at));
        let others: Vec<String> = others.map(|(_, stem)| stem.clone()).collect();
        let named = self.named_in(&others, true);
        named.is_empty() || found.definition.businesses.is_empty() || !named.is_disjoint(&found.definition.businesses)
    }

    fn find_key<'t>(&'t self, key: &'t Key, asked: &QuestionWords) -> Option<Found<'t>> {
        let definition = &self.definitions[key.definition];
        let places = find_places(key, asked)?;
        let asks = if key.can_be_asked(definition, asked) {
            asked.asks_for(&key.stems, &definition.context)
        } else {
            Asks::Otherwise
        };
        let has_forms = || key.singulars.iter().zip(&places).all(|(form, at)| asked.forms[*at] == *form);
        (asks > Asks::Otherwise || key.can_be_used(definition) && has_forms()).then(|| Found {
            definition,
            key: &key.stems,
            places,
            asks,
        })
    }

    /// Returns the terms that extend the requested one by a word: a name of the schema (`VIP customer` for `VIP`), or
    /// the last word (`cart abandonment rate` for `cart abandonment`).
    pub(crate) fn find_longer<'t>(&'t self, asked: &QuestionWords) -> Vec<Found<'t>> {
        let is_longer = |key: &&'t Key| {
            let mut added = key.stems.iter().filter(|stem| !asked.rest.contains(stem));
            let (first, second) = (added.next(), added.next());
            let is_start = asked.rest.len() > 1 && key.stems.starts_with(&asked.rest);
            within(&asked.rest, &key.stems)
                && self.definitions[key.definition].basis.class() < 2
                && second.is_none()
                && first.is_some_and(|stem| is_start || key.of_schema.contains(stem))
        };
        let found = self.keys.iter().filter(is_longer);
        let asked_for = |key: &'t Key| Found {
            definition: &self.definitions[key.definition],
            key: &key.stems,
            places: Vec::new(),
            asks: Asks::Alone,
        };
        found.map(asked_for).collect()
    }

    /// Returns the terms with a definition, for hints.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        self.definitions
            .iter()
            .filter(|definition| definition.basis.class() < 2)
            .map(|definition| definition.term.as_str())
    }
}

impl Key {
    fn is_one_word(&self) -> bool {
        self.stems.iter().filter(|stem| !is_number(stem)).count() < 2
    }

    /// Returns whether the term only lists names of tables and columns: `Orders and customers`.
    fn is_list_of_schema(&self) -> bool {
        self.whole.len() > self.stems.len() + self.inner.len() && within(&self.stems, &self.of_schema)
    }

    /// Returns whether a question that uses the term among others refers to it.
    fn can_be_used(&self, definition: &Definition) -> bool {
        let is_one = self.is_one_word();
        let is_plain = is_one && (self.is_ordinary || definition.is_of_schema || self.stems[0].len() < 2);
        match definition.basis {
            Basis::User => true,
            Basis::Stored | Basis::Marked(Mark::Label | Mark::Bold) => !is_plain,
            // One word of a metric is a short form or an ordinary word.
            Basis::Metric => !is_one || definition.term.chars().all(|c| c.is_uppercase()),
            Basis::Marked(Mark::Heading | Mark::Subject) => {
                !(is_plain || definition.is_of_schema || self.is_list_of_schema() || is_one && self.is_plural)
            }
            // `paid_search` is a value of a column.
            Basis::Marked(Mark::Row) => !is_one && !definition.is_of_schema && !definition.term.contains('_'),
            Basis::Marked(Mark::Code | Mark::Schema | Mark::Mention | Mark::Topic) => false,
        }
    }

    /// Returns whether a question for the meaning of the term refers to this definition.
    fn can_be_asked(&self, definition: &Definition, asked: &QuestionWords) -> bool {
        let is_plain = self.is_one_word() && self.is_ordinary;
        match definition.basis {
            Basis::Marked(Mark::Code) => asked.is_explicit,
            Basis::Marked(Mark::Schema | Mark::Mention | Mark::Topic) => !is_plain,
            _ => asked.is_explicit || !(is_plain || self.is_one_word() && definition.is_of_schema),
        }
    }
}

/// Returns the positions of the words of a key in a question: near each other, or consecutive if only one is a content
/// word.
fn find_places(key: &Key, asked: &QuestionWords) -> Option<Vec<usize>> {
    let counting = &asked.counting;
    if !key.inner.iter().all(|word| asked.said.contains(word)) {
        return None;
    }
    if let [only] = key.stems.as_slice() {
        if let Some(at) = asked.joined.iter().position(|joined| joined == only) {
            return Some(vec![at, at + 1]);
        }
        let is_said = asked.said.windows(key.whole.len()).any(|run| run == key.whole);
        return counting.iter().position(|stem| stem == only).filter(|_| is_said).map(|at| vec![at]);
    }
    let size = key.stems.len() + MAX_BETWEEN;
    let within = |start: usize| -> Option<Vec<usize>> {
        let window = &counting[start..counting.len().min(start + size)];
        key.stems.iter().map(|stem| Some(start + window.iter().position(|other| other == stem)?)).collect()
    };
    (0..counting.len()).filter_map(within).min_by_key(|places| spread(places))
}

/// Returns the distance between the first and last word of a term.
pub(crate) fn spread(places: &[usize]) -> usize {
    let ends = places.iter().min().zip(places.iter().max());
    ends.map_or(0, |(first, last)| last - first)
}

fn businesses(evidence: Option<&dyn Evidence>) -> Vec<Business> {
    let Some(evidence) = evidence else { return Vec::new() };
    let business = |name: String| {
        let words = words(&name);
        let is_own = words.iter().any(|word| !evidence.is_of_schema(word));
        let has_ordinary_first = evidence.is_ordinary(words.first()?);
        is_own.then(|| Business { name: stems(&name), has_ordinary_first })
    };
    evidence.databases().into_iter().filter_map(business).collect()
}
