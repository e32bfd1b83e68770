//! Finding things among the words of a question: tables, columns, values, periods to group by, comparisons.

use super::{
    super::{
        period::Unit,
        text::{Word, find, is_empty, is_vague, stems, take},
        turn_state::{Column, Table, TurnState},
    },
    Place, Stop, stop,
};

/// What words stand for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    Table(usize),
    Columns(Vec<Place>),
    Codes(Vec<(Place, String)>),
    Unit(Unit),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) thing: Meaning,
}

/// A question and the tables of one database, while it is read.
pub(super) struct Reader<'a> {
    pub(super) known: &'a TurnState,
    pub(super) tables: Vec<&'a Table>,
    pub(super) words: Vec<Word>,
    /// What was found in the words.
    pub(super) mentions: Vec<Mention>,
}

pub(super) const COUNT: &[&[&str]] = &[&["how", "many"], &["number", "of"], &["count", "of"], &["count"]];
pub(super) const HIGHEST_WORDS: &[&str] = &["top", "most", "highest", "largest", "biggest", "greatest", "best"];
pub(super) const LOWEST_WORDS: &[&str] = &["lowest", "fewest", "smallest", "least", "worst"];
pub(super) const BEYOND: &[&str] =
    &["why", "predict", "forecast", "prediction", "should", "will", "recommend", "because", "next"];
pub(super) const GROUPING: &[&str] = &["by", "per", "each", "every"];

impl Reader<'_> {
    pub(super) fn column(&self, place: Place) -> &Column {
        &self.tables[place.0].columns[place.1]
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (Place, &Column)> {
        (self.tables.iter().enumerate())
            .flat_map(|(t, table)| table.columns.iter().enumerate().map(move |(c, column)| ((t, c), column)))
    }

    pub(super) fn take(&mut self, phrase: &[&str]) -> Option<usize> {
        let phrase: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
        take(&mut self.words, &phrase)
    }

    pub(super) fn phrase(&self, mention: &Mention) -> String {
        let words = &self.words[mention.at..mention.at + mention.length];
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The word before, articles left out.
    pub(super) fn before(&self, at: usize) -> Option<&str> {
        let skipped = |word: &&Word| ["the", "a", "an", "different"].contains(&word.stem.as_str());
        self.words[..at].iter().rev().find(|word| !skipped(word)).map(|word| word.stem.as_str())
    }

    /// Whether the mention follows `number of` or the like.
    pub(super) fn counts_before(&self, at: usize) -> bool {
        at >= 2 && self.words[at - 1].stem == "of" && ["number", "count"].contains(&self.words[at - 2].stem.as_str())
    }

    /// Whether it is what `which`, `top` or their number asks for.
    pub(super) fn asks_which(&self, at: usize) -> bool {
        let mut place = at;
        while place > 0 {
            place -= 1;
            let word = self.words[place].stem.as_str();
            let is_number = word.parse::<usize>().is_ok();
            match word {
                "which" | "what" => return true,
                "top" | "best" => return true,
                "the" | "of" => {}
                _ if is_number => {}
                _ => return false,
            }
        }
        false
    }

    /// The number of things that a ranking wants.
    pub(super) fn limit(&mut self, rank_at: Option<usize>) -> Result<Option<usize>, Stop> {
        let number = |word: &Word| {
            let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
            let written = words.iter().position(|name| *name == word.stem).map(|at| at + 1);
            word.text.parse::<usize>().ok().or(written).filter(|_| !word.used)
        };
        let which = self.words.iter().position(|word| ["which", "what", "first"].contains(&word.stem.as_str()));
        let places = [rank_at.map(|at| at + 1), rank_at.and_then(|at| at.checked_sub(1)), which.map(|at| at + 1)];
        for at in places.into_iter().flatten() {
            if let Some(number) = self.words.get(at).and_then(number) {
                self.words[at].used = true;
                return match number {
                    1..=50 => Ok(Some(number)),
                    _ => stop("at most 50 are shown"),
                };
            }
        }
        Ok(None)
    }

    /// `more than 5`, `at least 3`: where, how, and with what.
    pub(super) fn comparisons(&mut self) -> Vec<(usize, &'static str, String)> {
        const PHRASES: &[(&[&str], &str)] = &[
            (&["more", "than"], ">"),
            (&["greater", "than"], ">"),
            (&["higher", "than"], ">"),
            (&["over"], ">"),
            (&["above"], ">"),
            (&["at", "least"], ">="),
            (&["less", "than"], "<"),
            (&["fewer", "than"], "<"),
            (&["lower", "than"], "<"),
            (&["under"], "<"),
            (&["below"], "<"),
            (&["at", "most"], "<="),
        ];
        let mut found = Vec::new();
        for (phrase, operator) in PHRASES {
            let phrase: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
            let length = phrase.len();
            if let Some(at) = find(&self.words, &phrase)
                && let Some(word) = self.words.get(at + length)
                && let Ok(number) = word.text.replace(',', "").parse::<f64>()
            {
                self.words[at..=at + length].iter_mut().for_each(|word| word.used = true);
                found.push((at, *operator, number.to_string()));
            }
        }
        found
    }

    pub(super) fn units(&mut self) {
        for at in 0..self.words.len() {
            let Some(unit) = Unit::of(&self.words[at].stem).filter(|_| !self.words[at].used) else { continue };
            let grouping = self.before(at).is_some_and(|word| GROUPING.contains(&word));
            if grouping || self.words[at].stem.ends_with("ly") && self.words[at].stem != "monthly" {
                self.words[at].used = true;
                self.mentions.push(Mention { at, length: 1, thing: Meaning::Unit(unit) });
            }
        }
    }

    /// Finds tables, columns and values by their whole names, the longest first, of at least so many words.
    pub(super) fn things(&mut self, least: usize) {
        for length in (least..=if least > 1 { 5 } else { 1 }).rev() {
            for at in 0..(self.words.len() + 1).saturating_sub(length) {
                let window = &self.words[at..at + length];
                if window.iter().any(|word| word.used) || (length == 1 && is_empty(&window[0])) {
                    continue;
                }
                let phrase: Vec<String> = window.iter().map(|word| word.stem.clone()).collect();
                let Some(thing) = self.find_named(&phrase, length) else { continue };
                self.words[at..at + length].iter_mut().for_each(|word| word.used = true);
                self.mentions.push(Mention { at, length, thing });
            }
        }
    }

    pub(super) fn find_named(&self, phrase: &[String], length: usize) -> Option<Meaning> {
        let is_table = |table: &&Table| stems(&table.name) == phrase;
        let table = self.tables.iter().position(is_table).map(Meaning::Table);
        let columns: Vec<Place> = (self.columns())
            .filter(|(_, column)| column.refers.is_none() && column.names.iter().any(|name| name == phrase))
            .map(|(place, _)| place)
            .collect();
        let columns = (!columns.is_empty()).then_some(Meaning::Columns(columns));
        let codes = self.find_codes(phrase);
        if length > 1 { columns.or(table).or(codes) } else { table.or(columns).or(codes) }
    }

    pub(super) fn find_codes(&self, phrase: &[String]) -> Option<Meaning> {
        let mut found = Vec::new();
        for (place, column) in self.columns() {
            for (value, meanings) in &column.codes {
                if meanings.iter().any(|meaning| meaning == phrase) {
                    found.push((place, value.clone()));
                }
            }
        }
        (!found.is_empty()).then_some(Meaning::Codes(found))
    }

    /// What is left may be the end or the beginning of a column's name: `rating` of `star rating`.
    pub(super) fn partly(&mut self) {
        for at in 0..self.words.len() {
            let word = &self.words[at];
            if word.used
                || is_vague(word)
                || word.quoted
                || word.text.chars().next().is_some_and(char::is_uppercase) && at > 0
            {
                continue;
            }
            let parts = |end: bool| -> Vec<Place> {
                (self.columns())
                    .filter(|(_, column)| column.refers.is_none())
                    .filter(|(_, column)| {
                        let part = |name: &Vec<String>| if end { name.last().cloned() } else { name.first().cloned() };
                        column.names.iter().any(|name| name.len() > 1 && part(name).as_ref() == Some(&word.stem))
                    })
                    .map(|(place, _)| place)
                    .collect()
            };
            let (ends, begins) = (parts(true), parts(false));
            let places = if ends.is_empty() { begins } else { ends };
            if !places.is_empty() {
                self.words[at].used = true;
                self.mentions.push(Mention { at, length: 1, thing: Meaning::Columns(places) });
            }
        }
    }

    /// The words without a meaning.
    pub(super) fn unknown(&self) -> Vec<String> {
        let unknown = self.words.iter().filter(|word| !word.used && !is_vague(word));
        unknown.map(|word| word.text.clone()).collect()
    }
}
