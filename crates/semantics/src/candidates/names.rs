//! Matches the words of a question to metrics, segments, tables, columns and values, by their names and descriptions.

use std::collections::BTreeMap;

use prospector_connect::table::Table;
use prospector_text::stem;

use super::Glossary;
use super::naming::{
    initials, list_codes, list_referred, lower_words, name_by_key, name_column, name_role, short_table,
};
use super::operators;
use super::question::{Question, Span, Token, stems, without};
use super::scope::{DATE_WORDS, Place, Scope};

/// The maximum number of words in a span that is looked up.
pub(super) const MAX_SPAN: usize = 6;

/// Stems of words that refer to a database in addition to its name.
const DATABASE_WORDS: &str = "data databas dataset system";
/// Words in the names of yes/no columns: `PreferredVendorStatus` is also called `preferred vendor`.
const FLAG_WORDS: [&str; 6] = ["is", "has", "flag", "status", "ind", "indicator"];

/// Suffixes of column names that name an aggregate of the value.
const BOUNDS: [&str; 5] = ["max", "min", "avg", "mean", "total"];

/// The maximum length of a prefix that makes another word of a name, and the minimum length of such a name.
const MAX_PREFIX: usize = 3;
const MIN_PREFIXED: usize = 3;

/// Match scores: by the whole name, by its last word, by some of its words.
const WHOLE: f64 = 1.0;
const HEAD: f64 = 0.78;
const PART: f64 = 0.7;
const PART_OF_METRIC: f64 = 0.5;
/// By an abbreviation: `temp` for `temperature`.
const SHORTENED: f64 = 0.85;
const MIN_SHORTENED: usize = 4;
/// By the name of a key: `truck` for a table with the key `truck_id`. The table `truck` is a better match.
const KEYED: f64 = 0.9;
/// By another form of a value.
const INFLECTED: f64 = 0.97;
/// By an adjective of a measure.
const DEGREE: f64 = 0.95;
/// By several words from the description of the database, by a word such as `data`.
const ABOUT: f64 = 0.95;
const DATA: f64 = 0.8;
/// The minimum similarity of embeddings for words that may have the same meaning.
const MIN_SIMILARITY: f64 = 0.5;
/// The maximum score of a match by embedding.
const MAX_SIMILAR: f64 = 0.8;
/// Meanings of a span that are worse than the best by more than this are dropped.
const MARGIN: f64 = 0.25;
/// Words with a lower weight are not matched by embedding.
const MIN_WEIGHT: f64 = 0.35;

/// What a span refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// The database itself: `the web shop` names the location only. For a database with a single table, it is that table.
    Database,
    Metric(String),
    Segment(String),
    Table(usize),
    /// Columns with that name.
    Columns(Vec<Place>),
    /// The rows without a value in a column, or with no in a yes/no column: `unpaid`, `inactive`.
    Lacking(Place),
    /// The columns that contain the value, each with its spelling there.
    Values(Vec<(Place, String)>),
}

/// A span, and its possible meanings, the most likely first.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) span: Span,
    pub(super) meanings: Vec<(Element, f64)>,
}

/// The searchable names of a scope.
pub(super) struct Names {
    /// The stems of words from the description of the database, and what they refer to.
    about: (Vec<String>, Element),
    /// Columns by the names of their tables and their own.
    composed: Vec<(Vec<String>, Element)>,
    /// Names that match only as a whole: opposites, and keys by their roles, since `used` does not refer to the `promotion used`.
    whole: Vec<(Vec<String>, Element)>,
    /// All names, as stems.
    called: Vec<(Vec<String>, Element)>,
    /// The entries of `called` that are tables by the names of their keys.
    keyed: Vec<(Vec<String>, Element)>,
    /// Tables with the stems of the rows that they refer to, and without stems if they only link others: `driver_truck` is not a truck.
    referred: Vec<(usize, Vec<String>)>,
    /// Values by their words in lower case.
    values: Vec<(Vec<String>, Place, String)>,
    /// Embeddings of entries of `called`, by index; several for some entries; empty without an embedder.
    vectors: Vec<(usize, Vec<f32>)>,
}

/// Names while they are collected.
#[derive(Default)]
struct NameTexts {
    texts: Vec<(String, Element)>,
    keyed: Vec<(Vec<String>, Element)>,
    composed: Vec<(Vec<String>, Element)>,
    whole: Vec<(Vec<String>, Element)>,
    values: Vec<(Vec<String>, Place, String)>,
}

impl NameTexts {
    /// Adds the name of the rows of a table by its key, unless it is one of the names `own`.
    fn add_key(&mut self, table: &Table, element: &Element, own: &[String]) {
        let Some(name) = name_by_key(table) else { return };
        let stems_of = stems(&name);
        if own.iter().all(|own| stems(own) != stems_of) {
            self.keyed.push((stems_of, element.clone()));
            self.texts.push((name, element.clone()));
        }
    }

    /// Adds the opposites of a word: `unpaid` of `paid`.
    fn add_opposites(&mut self, word: &str, place: Place) {
        if word.chars().all(char::is_alphanumeric) && !word.is_empty() {
            let opposites = operators::list_opposites(word).into_iter().map(|opposite| stems(&opposite));
            self.whole.extend(opposites.map(|stems| (stems, Element::Lacking(place))));
        }
    }

    /// Adds the names of a column of a table with the name `own`, and the meanings of its values.
    fn add_column(&mut self, scope: &Scope<'_>, place: Place, own: &[String]) {
        let (table, known) = (scope.table(place.0), scope.column(place));
        for (value, meaning) in list_codes(known) {
            self.values.push((lower_words(&meaning), place, value));
        }
        if let Some(yes) = scope.yes_of(place) {
            let yes = yes.as_str().map_or_else(|| yes.to_string(), str::to_owned);
            let name = without(&known.name, &FLAG_WORDS);
            self.add_opposites(&name, place);
            self.values.push((lower_words(&name), place, yes));
        }
        if scope.is_date(place) {
            let short = without(&known.name, &DATE_WORDS);
            if known.nullable {
                self.add_opposites(&short, place);
            }
            let (short, table) = (stems(&short), stems(&table.name));
            // `orders` refers to the table, not to a date column.
            let is_other = short.iter().any(|stem| !table.contains(stem));
            self.composed.extend(is_other.then(|| (short, Element::Columns(vec![place]))));
        }
        if scope.refers(place) {
            // Only nullable columns have roles.
            let is_table = |name: &String| scope.source.tables.iter().any(|table| stems(&table.name) == stems(name));
            let roles = name_role(table, known).into_iter().filter(|name| known.nullable && !is_table(name));
            self.whole.extend(roles.map(|name| (stems(&name), Element::Columns(vec![place]))));
            return;
        }
        let mut names = name_column(known);
        // A key is not called like the rows that it identifies: `customer_no` is not a customer.
        let is_table = |name: &String| scope.source.tables.iter().any(|table| stems(&table.name) == stems(name));
        let mut at = 0;
        names.retain(|name| {
            at += 1;
            at == 1 || !is_table(name)
        });
        for name in names {
            let whole = own.iter().filter(|_| !scope.is_date(place)).map(|table| format!("{table} {name}"));
            self.composed.extend(whole.map(|whole| (stems(&whole), Element::Columns(vec![place]))));
            self.texts.push((name, Element::Columns(vec![place])));
        }
    }
}

impl Names {
    pub(super) fn of(scope: &Scope<'_>, glossary: &dyn Glossary) -> Names {
        let (mut names, mut referred) = (NameTexts::default(), Vec::new());
        let model = scope.model;
        let database = if scope.source.tables.len() == 1 { Element::Table(0) } else { Element::Database };
        names.texts.push((scope.source.database.to_owned(), database.clone()));
        names.texts.extend(initials(scope.source.database).map(|name| (name, database.clone())));
        for metric in model.metrics().iter().filter(|metric| scope.computes(metric)) {
            let called = std::iter::once(&metric.name).chain(&metric.synonyms);
            names.texts.extend(called.map(|name| (name.clone(), Element::Metric(metric.name.clone()))));
        }
        for segment in model.segments().iter().filter(|segment| scope.table_of(&segment.entity).is_some()) {
            let called = std::iter::once(&segment.name).chain(&segment.synonyms);
            names.texts.extend(called.map(|name| (name.clone(), Element::Segment(segment.name.clone()))));
        }
        for &at in &scope.likely {
            let table = scope.table(at);
            let own = scope.entity(at).map(|entity| entity.name.clone());
            let own: Vec<String> =
                std::iter::once(table.name.clone()).chain(own).chain(short_table(&table.name)).collect();
            names.texts.extend(own.iter().map(|name| (name.clone(), Element::Table(at))));
            names.add_key(table, &Element::Table(at), &own);
            referred.extend(list_referred(table).into_iter().map(|stems| (at, stems)));
            // `video rentals` refers to the rows of `rental` and to the database `video_rental`.
            let (whole, end) = (stems(scope.source.database), stems(&table.name));
            if !end.is_empty() && whole.len() > end.len() && whole.ends_with(&end) {
                names.texts.push((scope.source.database.to_owned(), Element::Table(at)));
            }
            // Rows are also called by the name of their title column: `titles` of films.
            let named = scope.name_rows(at);
            if let ([shown], true) = (named.shown.as_slice(), named.is_distinctive) {
                let name = &table.columns[*shown].name;
                names.texts.extend((!name.eq_ignore_ascii_case("name")).then(|| (name.clone(), Element::Table(at))));
            }
            for column in 0..table.columns.len() {
                names.add_column(scope, (at, column), &own);
            }
        }
        for dimension in model.dimensions() {
            for column in &dimension.columns {
                let Some(table) = scope.table_of(&column.entity) else { continue };
                let place = scope.table(table).columns.iter().position(|known| known.name == column.expression);
                let called = std::iter::once(&dimension.name).chain(&dimension.synonyms);
                let place = place.into_iter().flat_map(|at| called.clone().map(move |name| (name, (table, at))));
                names.texts.extend(place.map(|(name, place)| (name.clone(), Element::Columns(vec![place]))));
            }
        }
        names.values.extend(scope.values.iter().map(|(place, value)| (lower_words(value), *place, value.clone())));
        let mut called: BTreeMap<(Vec<String>, Element), String> = BTreeMap::new();
        for (text, element) in names.texts {
            let stems = stems(&text);
            if !stems.is_empty() {
                called.entry((stems, element)).or_insert(text);
            }
        }
        let mut words: Vec<(usize, String)> =
            called.values().map(|text| text.replace('_', " ").to_lowercase()).enumerate().collect();
        // The embedding of a plural may be far from that of a verb: `sold` is near `sale`, but not near `sales`.
        let singular = words.iter().map(|(at, text)| (*at, stem::strip_plural(text.clone())));
        let singular: Vec<(usize, String)> = singular.filter(|(at, text)| words[*at].1 != *text).collect();
        words.extend(singular);
        let vectors = glossary.embed(&words.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>());
        let vectors = words.iter().map(|(at, _)| *at).zip(vectors).collect();
        let mut about = stems(&glossary.describe(scope.source.database));
        about.retain(|stem| !stem.contains(|c: char| c.is_ascii_digit()));
        let about = (about, database);
        Names {
            about,
            composed: names.composed,
            whole: names.whole,
            called: called.into_keys().collect(),
            keyed: names.keyed,
            referred,
            values: names.values,
            vectors,
        }
    }

    /// Returns the possible meanings of each span.
    pub(super) fn find(&self, question: &Question, glossary: &dyn Glossary) -> Vec<Mention> {
        let count = question.tokens.len();
        let mut mentions = Vec::new();
        for at in 0..count {
            for length in 1..=MAX_SPAN.min(count - at) {
                let span = Span { at, length };
                let mut meanings = self.look_up(question, span);
                // Stop words can start and end only whole names of several words: `return on ad spend`.
                if [at, at + length - 1].iter().any(|at| question.tokens[*at].weight == 0.0) {
                    meanings.retain(|(_, score)| *score >= INFLECTED && length > 1);
                }
                if !meanings.is_empty() {
                    mentions.push(Mention { span, meanings });
                }
            }
        }
        self.add_similar(question, glossary, &mut mentions);
        mentions
    }

    /// Returns the matches of a span by stems.
    fn look_up(&self, question: &Question, span: Span) -> Vec<(Element, f64)> {
        let said = question.stems(span);
        // `shoot-out` matches `shootout`.
        let whole = said.concat();
        let is = |stems: &[String]| is_joined(stems, &whole);
        let of_degree = match &question.tokens[span.at..span.end()] {
            [token] => operators::measured_by(&token.lower),
            _ => Vec::new(),
        };
        let mut found: Vec<(Element, f64)> = Vec::new();
        for (stems, element) in self.called.iter().chain(&self.composed) {
            // One word of a longer metric name does not identify it.
            let is_enough = match element {
                Element::Metric(_) | Element::Segment(_) => 2 * said.len() >= stems.len(),
                _ => true,
            };
            let is_part = || match element {
                Element::Metric(_) | Element::Segment(_) | Element::Database => {
                    said.iter().all(|word| stems.iter().any(|own| own == word))
                }
                _ => false,
            };
            // `temp_max` is a temperature, but `payment_method` is not a payment.
            let is_measured = || {
                let mut own = stems.iter().rev().skip_while(|stem| BOUNDS.contains(&stem.as_str()));
                own.next().is_some_and(|stem| of_degree.contains(&stem.as_str()))
            };
            let is_keyed = || self.keyed.iter().any(|(key, table)| key == stems && table == element);
            let score = if is(stems) {
                if is_keyed() { KEYED } else { WHOLE }
            } else if matches!(element, Element::Columns(_)) && is_measured() {
                DEGREE
            } else if matches!(element, Element::Columns(_)) && is_shortened(stems, &said) {
                SHORTENED
            } else if is_enough
                && stems.len() > said.len()
                && is(&stems[stems.len() - said.len()..])
                && !self.refers(element, &said)
            {
                HEAD
            } else if is_enough && stems.len() > said.len() && is_part() {
                if matches!(element, Element::Database) { PART } else { PART_OF_METRIC }
            } else {
                continue;
            };
            found.push((element.clone(), score));
        }
        let whole_names = self.whole.iter().filter(|(stems, _)| is(stems));
        found.extend(whole_names.map(|(_, element)| (element.clone(), WHOLE)));
        // `cost in total` matches `cost_total`.
        let tokens = &question.tokens[span.at..span.end()];
        let is_distinctive = |token: Option<&Token>| token.is_some_and(|token| token.weight > 0.0);
        if is_distinctive(tokens.first()) && is_distinctive(tokens.last()) {
            let mut telling: Vec<&String> =
                tokens.iter().filter(|token| token.weight > 0.0).flat_map(|token| &token.stems).collect();
            telling.sort_unstable();
            let is_permuted = |stems: &Vec<String>| {
                let mut own: Vec<&String> = stems.iter().collect();
                own.sort_unstable();
                own.len() > 1 && own == telling
            };
            // `invoices that have a total` refers to invoices.
            let is_table = |word: &String| {
                let is_named = |(stems, element): &(Vec<String>, Element)| {
                    matches!(element, Element::Table(_)) && *stems == [word.as_str()]
                };
                self.called.iter().any(is_named)
            };
            let is_one = !telling.iter().any(|word| is_table(word));
            let permuted = self.called.iter().filter(|(stems, _)| is_one && is_permuted(stems));
            found.extend(permuted.map(|(_, element)| (element.clone(), WHOLE)));
        }
        found.extend(self.find_database(tokens, &said));
        found.extend(self.find_values(tokens, &said));
        // `customers` are not the `green customers`.
        if found.iter().any(|(element, score)| matches!(element, Element::Table(_)) && *score == WHOLE) {
            let is_part = |element: &Element| matches!(element, Element::Metric(_) | Element::Segment(_));
            found.retain(|(element, score)| *score == WHOLE || !is_part(element));
        }
        gather(found)
    }

    /// Returns the database if the words are of its description, or words such as `data`.
    fn find_database(&self, tokens: &[Token], said: &[&str]) -> Option<(Element, f64)> {
        let (about, database) = &self.about;
        let is_data = |word: &&str| DATABASE_WORDS.split(' ').any(|own| own == *word);
        let is_about = |word: &&str| is_data(word) || about.iter().any(|own| own == word);
        // A description lists what a database contains: one of its words does not refer to the database.
        if tokens.iter().filter(|token| token.weight > 0.0).count() > 1 && said.iter().all(is_about) {
            Some((database.clone(), ABOUT))
        } else {
            said.iter().all(is_data).then(|| (database.clone(), DATA))
        }
    }

    /// Returns whether the words name rows that a table refers to.
    fn refers(&self, element: &Element, said: &[&str]) -> bool {
        let Element::Table(table) = element else { return false };
        let is_own = |(at, stems): &(usize, Vec<String>)| at == table && (stems.is_empty() || stems.iter().eq(said));
        self.referred.iter().any(is_own)
    }

    /// Returns the values that match the words.
    fn find_values(&self, tokens: &[Token], said: &[&str]) -> Vec<(Element, f64)> {
        let found = self.values.iter();
        let found = found.filter_map(|(value, place, text)| Some((match_value(value, tokens, said)?, place, text)));
        found.map(|(score, place, text)| (Element::Values(vec![(*place, text.clone())]), score)).collect()
    }

    /// Adds the nearest names by embedding for words that have no other match.
    fn add_similar(&self, question: &Question, glossary: &dyn Glossary, mentions: &mut Vec<Mention>) {
        let count = question.tokens.len();
        let is_named = |at: usize| {
            let best = |mention: &Mention| mention.meanings.first().is_some_and(|(_, score)| *score >= HEAD);
            mentions.iter().any(|mention| (mention.span.at..mention.span.end()).contains(&at) && best(mention))
        };
        let is_marked = |at: usize| question.marks.iter().any(|(span, _)| (span.at..span.end()).contains(&at));
        let is_open = |at: usize| !is_named(at) && !is_marked(at) && question.tokens[at].weight >= MIN_WEIGHT;
        let mut spans: Vec<Span> = (0..count).filter(|at| is_open(*at)).map(|at| Span { at, length: 1 }).collect();
        spans.extend((1..count).filter(|at| is_open(at - 1) && is_open(*at)).map(|at| Span { at: at - 1, length: 2 }));
        let phrases: Vec<String> = spans.iter().map(|span| question.phrase(*span).to_lowercase()).collect();
        let asked = glossary.embed(&phrases.iter().map(String::as_str).collect::<Vec<_>>());
        for (span, vector) in spans.into_iter().zip(asked) {
            let mut found = Vec::new();
            let tokens = &question.tokens[span.at..span.end()];
            let rests: Vec<String> = tokens.iter().flat_map(|token| list_unprefixed(&token.lower)).collect();
            for (at, own) in &self.vectors {
                if self.called[*at].0.iter().any(|name| rests.contains(name)) {
                    continue;
                }
                let similarity = f64::from(vector.iter().zip(own).map(|(a, b)| a * b).sum::<f32>());
                if similarity >= MIN_SIMILARITY {
                    found.push((self.called[*at].1.clone(), similarity.min(MAX_SIMILAR)));
                }
            }
            let found = gather(found);
            match mentions.iter_mut().find(|mention| mention.span == span) {
                _ if found.is_empty() => {}
                Some(known) => {
                    known.meanings.extend(found);
                    known.meanings = gather(std::mem::take(&mut known.meanings));
                }
                None => mentions.push(Mention { span, meanings: found }),
            }
        }
    }
}

/// Returns the stems of a word without its first letters. A name with a short prefix is another word, often the opposite: `unpaid` and
/// `paid`.
fn list_unprefixed(word: &str) -> Vec<String> {
    let rests = word.char_indices().skip(1).take(MAX_PREFIX).map(|(at, _)| &word[at..]);
    rests.filter(|rest| rest.chars().count() >= MIN_PREFIXED).flat_map(stems).collect()
}

/// Merges columns and values of equal scores into one meaning each, and drops those that are much worse than the best.
fn gather(found: Vec<(Element, f64)>) -> Vec<(Element, f64)> {
    let mut all: Vec<(Element, f64)> = Vec::new();
    let mut found = found;
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (element, score) in found {
        let same = all.iter_mut().find(|(known, best)| match (known, &element) {
            // Two columns of one table are separate meanings.
            (Element::Columns(known), Element::Columns(new)) => {
                let is_other = |place: &Place| new.iter().any(|own| own.0 == place.0 && own != place);
                *best - score < 0.01 && !known.iter().any(is_other)
            }
            (Element::Values(known), Element::Values(new)) => {
                let is_other =
                    |(place, _): &(Place, String)| new.iter().any(|(own, _)| own.0 == place.0 && own != place);
                *best - score < 0.01 && !known.iter().any(is_other)
            }
            (known, element) => known == element,
        });
        match (same, element) {
            (Some((Element::Columns(known), _)), Element::Columns(new)) => {
                known.extend(new);
                known.sort_unstable();
                known.dedup();
            }
            (Some((Element::Values(known), _)), Element::Values(new)) => {
                known.extend(new);
                known.sort_unstable();
                known.dedup();
            }
            (Some(_), _) => {}
            (None, element) => all.push((element, score)),
        }
    }
    let best = all.first().map_or(0.0, |(_, score)| *score);
    all.retain(|(_, score)| best - score <= MARGIN);
    all
}

/// Returns how well words, with their stems, match a value: as it is spelled, or inflected.
pub(super) fn match_value(value: &[String], tokens: &[Token], said: &[&str]) -> Option<f64> {
    let spelled: String = tokens.iter().map(|token| token.lower.replace('-', "")).collect();
    let is_inflected = || value.iter().zip(said).all(|(own, word)| stems(own).concat() == *word);
    match is_joined(value, &spelled) {
        true => Some(WHOLE),
        false => (value.len() == said.len() && is_inflected()).then_some(INFLECTED),
    }
}

/// Returns whether words are a text without its spaces.
fn is_joined(words: &[String], text: &str) -> bool {
    words.iter().try_fold(text, |rest, word| rest.strip_prefix(word.as_str())).is_some_and(str::is_empty)
}

/// Returns whether a word of a name is a prefix of a word of the question.
fn is_shortened(name: &[String], said: &[&str]) -> bool {
    let [word] = said else { return false };
    name.iter().any(|own| own.len() >= MIN_SHORTENED && word.len() > own.len() && word.starts_with(own.as_str()))
}
