//! Matches the phrases of a question to values, weights the matches, and finds literals that occur nowhere.

use std::{collections::HashMap, ops::Range};

use prospector_core::record::{MissingLiteral, ValueMatch};
use prospector_text::stem::strip_plural;

use super::{
    fold::{join, key, words},
    phrases::{Form, Phrase, Question},
    store::{Entry, Values},
};

/// Maximum number of columns recorded per value.
const MAX_HOLDERS: usize = 64;

/// Maximum number of records, those with the strongest evidence first.
const MAX_RECORDS: usize = 50;

/// Maximum number of values shown per record.
const MAX_SHOWN: usize = 3;

/// Minimum evidence of a shown value.
const MIN_SHOWN: f32 = 0.1;

/// Maximum number of values compared to find similar spellings, and maximum number of those returned.
const MAX_COMPARED: usize = 50_000;
const MAX_NEAREST: usize = 2;

/// Maximum number of missing literals reported.
const MAX_MISSING: usize = 3;

/// Minimum length of a word in which two letters may differ; in shorter ones, only one.
const MIN_LETTERS_FOR_TWO_SLIPS: usize = 5;

/// Returns the evidence that a value in a single column provides for its table, by the form of the phrase.
fn weight_of(phrase: &Phrase, is_term: bool) -> f32 {
    let several = phrase.words.len() > 1;
    match phrase.form {
        Form::Quoted => 1.0,
        Form::Code => 0.9,
        Form::Name if several => 0.9,
        Form::Name => 0.8,
        Form::Plain if several => 0.7,
        // A word in names of tables and columns already counts there; as a value, it is mostly coincidence.
        Form::Plain if is_term => 0.2,
        Form::Plain => 0.5,
        Form::Number if phrase.key.len() >= 5 => 0.4,
        Form::Number => 0.1,
    }
}

/// The matches of a question.
#[derive(Default)]
pub(crate) struct Matches {
    /// By record id, strongest evidence first.
    records: HashMap<String, Vec<(f32, ValueMatch)>>,
    /// The probability that the question consists only of a value: its share of the content words.
    certainty: f32,
    /// Unmatched literals, and their keys.
    literals: Vec<(String, Vec<String>)>,
}

impl Matches {
    /// Looks up the phrases of a question, longest first. `is_term` returns whether a word occurs in the texts of
    /// records.
    pub(crate) fn of(values: &Values, question: &str, is_term: &dyn Fn(&str) -> bool) -> Matches {
        let asked = Question::new(question);
        let mut matches = Matches::default();
        let mut taken: Vec<Range<usize>> = Vec::new();
        let (mut found_words, mut best) = (0, 0.0_f32);
        for phrase in asked.phrases() {
            let is_free = taken.iter().all(|other| phrase.words.end <= other.start || other.end <= phrase.words.start);
            if !is_free {
                continue;
            }
            let (entries, share) = find(values, &phrase);
            if entries.is_empty() {
                continue;
            }
            let is_term = phrase.form == Form::Plain && phrase.words.len() == 1 && is_term(&phrase.key);
            let weight = share * weight_of(&phrase, is_term) / (entries.len() as f32).sqrt();
            for entry in entries {
                let column = values.column(entry.column);
                let id = format!("{}.{}", values.parents()[column.parent].name, column.table);
                let (table, name) = (column.table.clone(), column.column.clone());
                let shown = ValueMatch { table, column: name, value: entry.value.to_owned() };
                matches.records.entry(id).or_default().push((weight, shown));
            }
            found_words += phrase.words.len();
            best = best.max(weight);
            taken.push(phrase.words);
        }
        matches.certainty = best * (found_words as f32 / asked.telling().max(found_words).max(1) as f32);
        matches.literals = (asked.literals().into_iter())
            .filter(|words| taken.iter().all(|found| words.end <= found.start || found.end <= words.start))
            .filter(|words| !asked.keys(words).all(is_term))
            .map(|words| {
                let folded = asked.keys(&words).filter(|word| !is_term(word)).map(str::to_owned).collect();
                (asked.text_of(&words).to_owned(), folded)
            })
            .take(MAX_MISSING)
            .collect();
        matches.keep_the_most_telling();
        matches
    }

    fn keep_the_most_telling(&mut self) {
        for found in self.records.values_mut() {
            found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        }
        if self.records.len() > MAX_RECORDS {
            let mut ids: Vec<(f32, String)> = self.records.keys().map(|id| (self.weight(id), id.clone())).collect();
            ids.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            ids[MAX_RECORDS..].iter().for_each(|(_, id)| drop(self.records.remove(id)));
        }
    }

    /// Iterates over the ids of the matched records.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.records.keys().map(String::as_str)
    }

    /// Returns the total evidence for a record, 0 to 1.
    pub(crate) fn weight(&self, id: &str) -> f32 {
        let found = self.records.get(id).map(Vec::as_slice).unwrap_or_default();
        1.0 - found.iter().map(|(weight, _)| 1.0 - weight).product::<f32>()
    }

    /// Returns the probability that a matched record is all that is asked for.
    pub(crate) fn certainty(&self) -> f32 {
        self.certainty
    }

    /// Returns the values to show for a record.
    pub(crate) fn show(&self, id: &str) -> Vec<ValueMatch> {
        let found = self.records.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut shown: Vec<ValueMatch> = Vec::new();
        for (_, found) in found.iter().filter(|(weight, _)| *weight >= MIN_SHOWN) {
            if !shown.contains(found) && shown.len() < MAX_SHOWN {
                shown.push(found.clone());
            }
        }
        shown
    }

    /// Returns the literals that occur in no column of some of these databases, neither as a value nor as part of one.
    /// Databases with incompletely indexed values are skipped.
    pub(crate) fn missing(&self, values: &Values, parents: &[&str]) -> Vec<MissingLiteral> {
        let searched: Vec<usize> = (values.parents().iter().enumerate())
            .filter(|(_, parent)| parent.is_whole && parents.contains(&parent.name.as_str()))
            .map(|(at, _)| at)
            .collect();
        let mut missing = Vec::new();
        for (literal, words) in &self.literals {
            let lacking: Vec<usize> = (searched.iter().copied())
                .filter(|parent| words.iter().any(|word| !values.holds_word(*parent, word)))
                .collect();
            // A literal that another of them may contain is not missing.
            if lacking.is_empty() || lacking.len() < searched.len() {
                continue;
            }
            let names = lacking.iter().map(|parent| values.parents()[*parent].name.clone()).collect();
            let nearest = nearest(values, literal, &lacking);
            missing.push(MissingLiteral { literal: literal.clone(), parents: names, nearest });
        }
        missing
    }
}

/// Returns the columns that contain a phrase, and the remaining weight: a noun that is no name is also looked up in the
/// singular.
fn find<'a>(values: &'a Values, phrase: &Phrase) -> (Vec<Entry<'a>>, f32) {
    let found = values.find(&phrase.key, MAX_HOLDERS);
    if !found.is_empty() || phrase.form != Form::Plain {
        return (found, 1.0);
    }
    let singular = strip_plural(phrase.key.clone());
    if singular == phrase.key {
        return (Vec::new(), 1.0);
    }
    (values.find(&singular, MAX_HOLDERS), 0.8)
}

/// Returns the values of some databases that are spelled similarly to a literal.
fn nearest(values: &Values, literal: &str, parents: &[usize]) -> Vec<ValueMatch> {
    let wanted = join(&words(literal));
    let length = wanted.chars().count();
    let most = if length < MIN_LETTERS_FOR_TWO_SLIPS { 1 } else { 2 };
    let mut near: Vec<(usize, ValueMatch)> = Vec::new();
    let alike = values
        .entries()
        .filter(|entry| parents.contains(&values.column(entry.column).parent))
        .filter(|entry| entry.value.chars().count().abs_diff(length) <= most)
        .take(MAX_COMPARED);
    for entry in alike {
        let slips = strsim::osa_distance(&wanted, &key(entry.value));
        if slips <= most && slips < length {
            let column = values.column(entry.column);
            let (table, name) = (column.table.clone(), column.column.clone());
            near.push((slips, ValueMatch { table, column: name, value: entry.value.to_owned() }));
        }
    }
    near.sort();
    near.dedup();
    near.into_iter().take(MAX_NEAREST).map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::{set, values};
    use super::*;

    fn world() -> Values {
        values(&[
            set(
                "world",
                true,
                &[
                    "country.name: Brazil; New Zealand; Chad",
                    "city.name: São Paulo; New York; Chad",
                    "city.state: open",
                ],
            ),
            set(
                "shop",
                false,
                &["order.status: open; in transit; paid", "order.code: INV-2024-17; 94107", "pet.kind: dog"],
            ),
        ])
    }

    fn find_matches(question: &str) -> Matches {
        Matches::of(&world(), question, &|word| ["order", "country", "paid"].contains(&word))
    }

    #[track_caller]
    fn check(question: &str, id: &str, shown: &[&str]) {
        let found: Vec<String> = find_matches(question).show(id).iter().map(ToString::to_string).collect();
        assert_eq!(found, shown, "{question}");
    }

    #[test]
    fn finds_longest_phrases_ignoring_case_and_accents() {
        check("customers in new zealand", "world.country", &["country.name = 'New Zealand'"]);
        check("customers in sao paulo", "world.city", &["city.name = 'São Paulo'"]);
        check("what is 'In Transit'", "shop.order", &["order.status = 'in transit'"]);
        check("status of INV-2024-17", "shop.order", &["order.code = 'INV-2024-17'"]);
        check("how many dogs", "shop.pet", &["pet.kind = 'dog'"]);
        check("what is new", "world.country", &[]);
        check("", "world.country", &[]);
    }

    #[test]
    fn finds_the_singular_of_acronyms() {
        let values = values(&[set("shop", true, &["disc.kind: DVD; Book", "person.name: Jones"])]);
        let shown = |question: &str, id: &str| Matches::of(&values, question, &|_| false).show(id).len();
        assert_eq!(shown("how many DVDs are there", "shop.disc"), 1);
        assert_eq!(shown("how many books are there", "shop.disc"), 1);
        // A name has no plural.
        assert_eq!(shown("orders of Joness", "shop.person"), 0);
    }

    #[test]
    fn weights_rare_quoted_and_named_values_more() {
        let weight = |question: &str, id: &str| find_matches(question).weight(id);
        assert!(weight("people of Brazil", "world.country") > weight("people of Chad", "world.country"));
        assert!(weight("orders 'paid'", "shop.order") > weight("orders paid", "shop.order"));
        assert!(weight("orders of Brazil", "world.country") > weight("orders of brazil", "world.country"));
        assert!(weight("zip 94107", "shop.order") < weight("INV-2024-17", "shop.order"));
        assert_eq!(weight("people of Brazil", "shop.order"), 0.0);
    }

    #[test]
    fn value_only_questions_are_certain() {
        assert!(find_matches("Which is Brazil").certainty() > 0.7);
        assert!(find_matches("Average price of invoices from Brazil by month").certainty() < 0.3);
        assert_eq!(find_matches("orders").certainty(), 0.0);
    }

    #[track_caller]
    fn check_missing(question: &str, parents: &[&str], expected: &[&str]) {
        let missing = find_matches(question).missing(&world(), parents);
        assert_eq!(missing.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{question}");
    }

    #[test]
    fn reports_missing_literals_only_for_complete_databases() {
        check_missing("people of Peru", &["world"], &["no column of world contains 'Peru'"]);
        check_missing(
            "people of Brasil",
            &["world"],
            &["no column of world contains 'Brasil' (nearest: country.name = 'Brazil')"],
        );
        check_missing("people of Peru", &["shop"], &[]);
        check_missing("people of Peru", &["world", "shop"], &["no column of world contains 'Peru'"]);
        check_missing("people of Brazil", &["world"], &[]);
        check_missing("people of 'paulo'", &["world"], &[]);
        check_missing("people of Country", &["world"], &[]);
        check_missing("people of peru", &["world"], &[]);
        check_missing("the 'new' ones", &["world"], &[]);
    }
}
