//! Matches the words of a question to names and values.

use prospector_text::{identifiers, stem};

use super::Glossary;
use super::names::{Element, Mention, Names};
use super::operators;
use super::question::{Question, Span, Token, stems};
use super::scope::Place;

/// The maximum number of words in a span that is looked up.
pub(super) const MAX_SPAN: usize = 6;

/// Stems of words that refer to a database in addition to its name.
const DATABASE_WORDS: &str = "data databas dataset system";

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
const MAX_ABBREVIATED: usize = 5;

/// By the name of a key: `truck` for a table with the key `truck_id`. The table `truck` is a better match.
const KEYED: f64 = 0.9;

/// By another form of a value.
const INFLECTED: f64 = 0.97;
/// The score of a value with the same stem that is another word: `insured` and `Insurer`.
const DERIVED: f64 = 0.9;

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

impl Names {
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
        let tokens = &question.tokens[span.at..span.end()];
        // `shoot-out` matches `shootout`.
        let whole = said.concat();
        let names = self.called.iter().chain(&self.composed);
        let matches = |(stems, element): &(Vec<String>, Element)| {
            Some((element.clone(), self.match_name(stems, element, tokens, &said, &whole)?))
        };
        let mut found: Vec<(Element, f64)> = names.filter_map(matches).collect();
        let whole_names = self.whole.iter().filter(|(stems, _)| is_joined(stems, &whole));
        found.extend(whole_names.map(|(_, element)| (element.clone(), WHOLE)));
        found.extend(self.find_permuted(tokens));
        found.extend(self.find_database(tokens, &said));
        found.extend(self.find_values(tokens, &said));
        // `customers` are not the `green customers`.
        if found.iter().any(|(element, score)| matches!(element, Element::Table(_)) && *score == WHOLE) {
            let is_part = |element: &Element| matches!(element, Element::Metric(_) | Element::Segment(_));
            found.retain(|(element, score)| *score == WHOLE || !is_part(element));
        }
        gather(found)
    }

    /// Returns how well words, with their stems and these joined, match a name.
    fn match_name(
        &self,
        stems: &[String],
        element: &Element,
        tokens: &[Token],
        said: &[&str],
        whole: &str,
    ) -> Option<f64> {
        if is_joined(stems, whole) {
            let is_keyed = self.keyed.iter().any(|(key, table)| key == stems && table == element);
            return Some(if is_keyed { KEYED } else { WHOLE });
        }
        if matches!(element, Element::Columns(_)) {
            // `temp_max` is a temperature, but `payment_method` is not a payment.
            let of_degree = if let [token] = tokens { operators::measured_by(&token.lower) } else { Vec::new() };
            let mut own = stems.iter().rev().skip_while(|stem| operators::names_aggregate(stem));
            if !of_degree.is_empty() && own.next().is_some_and(|stem| of_degree.contains(&stem.as_str())) {
                return Some(DEGREE);
            }
            if is_shortened(stems, said) {
                return Some(SHORTENED);
            }
        }
        // One word of a longer metric name does not identify it.
        let is_metric = matches!(element, Element::Metric(_) | Element::Segment(_));
        if stems.len() <= said.len() || is_metric && (2 * said.len() < stems.len() || is_other_form(element, tokens)) {
            return None;
        }
        if is_joined(&stems[stems.len() - said.len()..], whole) && !self.refers(element, said) {
            return Some(HEAD);
        }
        let is_part = said.iter().all(|word| stems.iter().any(|own| own == word));
        match element {
            Element::Metric(_) | Element::Segment(_) => is_part.then_some(PART_OF_METRIC),
            Element::Database => is_part.then_some(PART),
            _ => None,
        }
    }

    /// Returns the names with the same words in another order: `cost in total` matches `cost_total`.
    fn find_permuted(&self, tokens: &[Token]) -> Vec<(Element, f64)> {
        let is_distinctive = |token: Option<&Token>| token.is_some_and(|token| token.weight > 0.0);
        if !is_distinctive(tokens.first()) || !is_distinctive(tokens.last()) {
            return Vec::new();
        }
        let mut telling: Vec<&String> =
            tokens.iter().filter(|token| token.weight > 0.0).flat_map(|token| &token.stems).collect();
        telling.sort_unstable();
        // `invoices that have a total` refers to invoices.
        let is_table = |word: &&String| {
            let is_named = |(stems, element): &(Vec<String>, Element)| {
                matches!(element, Element::Table(_)) && *stems == [word.as_str()]
            };
            self.called.iter().any(is_named)
        };
        if telling.iter().any(is_table) {
            return Vec::new();
        }
        let is_permuted = |stems: &[String]| {
            let mut own: Vec<&String> = stems.iter().collect();
            own.sort_unstable();
            own.len() > 1 && own == telling
        };
        let permuted = self.called.iter().filter(|(stems, _)| is_permuted(stems));
        permuted.map(|(_, element)| (element.clone(), WHOLE)).collect()
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
        // The exact name of a table of another database is not a similar name here: `donations` are not `donors`.
        let spans = (0..count).flat_map(|at| (1..=MAX_SPAN.min(count - at)).map(move |length| Span { at, length }));
        let is_elsewhere = |span: &Span| {
            let said = question.stems(*span);
            self.elsewhere.iter().any(|name| name.iter().eq(&said))
        };
        let elsewhere: Vec<Span> = spans.filter(is_elsewhere).collect();
        let is_other = |at: usize| elsewhere.iter().any(|span| (span.at..span.end()).contains(&at));
        let is_open =
            |at: usize| !is_named(at) && !is_marked(at) && !is_other(at) && question.tokens[at].weight >= MIN_WEIGHT;
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

/// Returns how well words, with their stems, match a value: as it is spelled, inflected, or as a word with the same stem.
pub(super) fn match_value(value: &[String], tokens: &[Token], said: &[&str]) -> Option<f64> {
    let spelled: String = tokens.iter().map(|token| token.lower.replace('-', "")).collect();
    if is_joined(value, &spelled) {
        return Some(WHOLE);
    }
    let has_stems = value.len() == said.len() && value.iter().zip(said).all(|(own, word)| stems(own).concat() == *word);
    let is_plural = |(own, token): (&String, &Token)| stem::singular(own) == stem::singular(&token.lower);
    let score = if value.iter().zip(tokens).all(is_plural) { INFLECTED } else { DERIVED };
    has_stems.then_some(score)
}

/// Returns whether a metric or segment has a word in another form than these: `customers pay` is no part of `compensation paid`.
fn is_other_form(element: &Element, tokens: &[Token]) -> bool {
    let (Element::Metric(name) | Element::Segment(name)) = element else { return false };
    let words = identifiers::words(name);
    let is_other = |token: &Token, word: &String| {
        stems(word) == token.stems && stem::strip_plural(word.clone()) != stem::strip_plural(token.lower.clone())
    };
    tokens.iter().any(|token| words.iter().any(|word| is_other(token, word)))
}

/// Returns whether words are a text without its spaces.
fn is_joined(words: &[String], text: &str) -> bool {
    words.iter().try_fold(text, |rest, word| rest.strip_prefix(word.as_str())).is_some_and(str::is_empty)
}

/// Returns whether a word of a name is a prefix or an abbreviation of a word of the question.
fn is_shortened(name: &[String], said: &[&str]) -> bool {
    let [word] = said else { return false };
    let is_prefix =
        |own: &String| own.len() >= MIN_SHORTENED && word.len() > own.len() && word.starts_with(own.as_str());
    name.iter().any(|own| is_prefix(own) || abbreviates(own, word))
}

/// Returns whether the letters of a short word are those of a longer one in their order, without its vowels or after the same beginning:
/// `amt` and `amount`, `dept` and `department`.
fn abbreviates(short: &str, word: &str) -> bool {
    let is_vowel = |c: char| "aeiou".contains(c);
    let mut letters = word.chars();
    let is_contained = short.chars().all(|c| letters.any(|other| other == c));
    let begins = word.chars().next() == short.chars().next();
    // The stem of `qty` ends with `i`.
    let mut inner = short.strip_suffix('i').unwrap_or(short).chars().skip(1);
    let is_bare = inner.all(|c| !is_vowel(c)) || short.len() > 3 && word.get(..3) == short.get(..3);
    (3..=MAX_ABBREVIATED).contains(&short.len()) && word.len() > short.len() + 1 && begins && is_bare && is_contained
}

#[cfg(test)]
mod tests {
    use super::abbreviates;

    #[test]
    fn abbreviations_have_the_letters_of_a_word() {
        let all = [
            ("amt", "amount"),
            ("qti", "quantiti"),
            ("pct", "percent"),
            ("dept", "depart"),
            ("mgr", "manag"),
            ("cnt", "count"),
        ];
        let found: Vec<&str> = all.iter().filter(|(short, word)| abbreviates(short, word)).map(|all| all.0).collect();
        assert_eq!(found, ["amt", "qti", "pct", "dept", "cnt"]);
        let others = [("name", "nationality"), ("rate", "reverted"), ("age", "average"), ("tax", "taxonomy")];
        assert_eq!(others.iter().find(|(short, word)| abbreviates(short, word)), None);
    }
}
