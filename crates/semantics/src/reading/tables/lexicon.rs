//! What words may stand for: tables and columns by their names and by how they are described, and values.

use prospector_connect::table::Column;

use super::scope::{Place, Scope};
use crate::reading::words::{Word, lower_words, stems};

/// A longer text is an explanation, and no name.
const MAX_NAME_WORDS: usize = 5;

/// Words at the end of the name of a column that say nothing of what it is.
const UNITS: &str = "usd eur ms s pct cd amt cnt on at year yr date dt";

/// Words that say that something is not there, whatever a code or a column called so means.
const DENYING: [&str; 6] = ["no", "not", "none", "yes", "without", "any"];

/// What words stand for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    Table(usize),
    Columns(Vec<Place>),
    Values(Vec<(Place, String)>),
}

pub(super) struct Lexicon {
    tables: Vec<(Vec<String>, usize)>,
    columns: Vec<(Vec<String>, Place)>,
    /// Values by what their descriptions call them.
    codes: Vec<(Vec<String>, (Place, String))>,
    /// Values by their own words.
    values: Vec<(Vec<String>, (Place, String))>,
}

impl Lexicon {
    pub(super) fn of(scope: &Scope<'_>) -> Lexicon {
        let mut lexicon = Lexicon { tables: Vec::new(), columns: Vec::new(), codes: Vec::new(), values: Vec::new() };
        for &at in &scope.likely {
            let table = scope.table(at);
            let mut own = vec![stems(&table.name)];
            own.extend(scope.entity(at).map(|entity| stems(&entity.name)));
            for (place, column) in table.columns.iter().enumerate().map(|(column, known)| ((at, column), known)) {
                for (value, meaning) in list_codes(&column.description) {
                    lexicon.codes.push((meaning, (place, value)));
                }
                if scope.refers(place) {
                    continue;
                }
                for name in name_column(column) {
                    // `customer name`, and `name` of the column `customer_name` of customers. `People joined` are two things.
                    let is_apart = |table: &&Vec<String>| !scope.is_date(place) && !name.starts_with(table);
                    for table in own.iter().filter(is_apart) {
                        lexicon.columns.push(([table.clone(), name.clone()].concat(), place));
                    }
                    let rest = own.iter().find_map(|table| name.strip_prefix(table.as_slice()));
                    lexicon.columns.extend(rest.filter(|rest| !rest.is_empty()).map(|rest| (rest.to_vec(), place)));
                    lexicon.columns.push((name, place));
                }
            }
            lexicon.tables.extend(own.into_iter().map(|name| (name, at)));
        }
        for dimension in scope.model.dimensions() {
            for (entity, column) in dimension.columns.iter().map(|place| (&place.entity, &place.expression)) {
                let is_own = |at: &&usize| scope.entity(**at).is_some_and(|own| own.name.eq_ignore_ascii_case(entity));
                let Some(&table) = scope.likely.iter().find(is_own) else { continue };
                let Some(at) = scope.table(table).columns.iter().position(|known| known.name == *column) else {
                    continue;
                };
                let called = std::iter::once(&dimension.name).chain(&dimension.synonyms);
                lexicon.columns.extend(called.map(|name| (stems(name), (table, at))));
            }
        }
        lexicon.values.extend(scope.values.iter().map(|(place, value)| (lower_words(value), (*place, value.clone()))));
        lexicon
    }

    /// What words stand for together.
    pub(super) fn find(&self, words: &[Word], is_name: bool) -> Option<Meaning> {
        if matches!(words, [only] if is_denial(only)) {
            return None;
        }
        let is_said =
            |stems: &Vec<String>| stems.len() == words.len() && words.iter().zip(stems).all(|(a, b)| a.stem == *b);
        let is_value =
            |value: &Vec<String>| value.len() == words.len() && words.iter().zip(value).all(|(a, b)| a.lower == *b);
        let table = self.tables.iter().find(|(stems, _)| is_said(stems)).map(|(_, at)| Meaning::Table(*at));
        let mut columns: Vec<Place> =
            self.columns.iter().filter(|(stems, _)| is_said(stems)).map(|(_, place)| *place).collect();
        columns.sort_unstable();
        columns.dedup();
        let columns = (!columns.is_empty()).then_some(Meaning::Columns(columns));
        let mut values: Vec<(Place, String)> =
            self.values.iter().filter(|(value, _)| is_value(value)).map(|(_, held)| held.clone()).collect();
        values.extend(self.codes.iter().filter(|(stems, _)| is_said(stems)).map(|(_, held)| held.clone()));
        values.sort_unstable();
        values.dedup();
        let values = (!values.is_empty()).then_some(Meaning::Values(values));
        match (is_name, words.len()) {
            (true, _) => values.or(table).or(columns),
            (false, 1) => table.or(columns).or(values),
            (false, _) => columns.or(table).or(values),
        }
    }

    /// What a column is called.
    pub(super) fn names(&self, place: Place) -> impl Iterator<Item = &Vec<String>> {
        self.columns.iter().filter(move |(_, known)| *known == place).map(|(stems, _)| stems)
    }

    /// The columns whose names end with a word: `rating` of `star rating`.
    pub(super) fn find_end(&self, word: &Word) -> Option<Meaning> {
        let ends = |stems: &Vec<String>| stems.len() > 1 && stems.last() == Some(&word.stem) && !is_denial(word);
        let mut places: Vec<Place> =
            self.columns.iter().filter(|(stems, _)| ends(stems)).map(|(_, place)| *place).collect();
        places.sort_unstable();
        places.dedup();
        (!places.is_empty()).then_some(Meaning::Columns(places))
    }
}

fn is_denial(word: &Word) -> bool {
    DENYING.contains(&word.lower.as_str())
}

/// What a column is called: by its name, also without a unit, and by the name in its description.
fn name_column(column: &Column) -> Vec<Vec<String>> {
    let mut names = vec![stems(&column.name)];
    let mut bare = names[0].clone();
    while bare.len() > 1 && bare.last().is_some_and(|last| UNITS.split(' ').any(|unit| unit == last)) {
        bare.pop();
        names.push(bare.clone());
    }
    let head = column.description.split(" (values: ").next().unwrap_or_default();
    let called = head.split_once(": ").map_or(head, |(called, _)| called);
    let called = stems(called.split(" (").next().unwrap_or_default());
    if (1..=MAX_NAME_WORDS).contains(&called.len()) && !names.contains(&called) {
        names.push(called);
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The values in a description with what they mean, such as `(values: P = paid; O = open, awaiting payment)`.
fn list_codes(description: &str) -> Vec<(String, Vec<String>)> {
    let Some((_, values)) = description.rsplit_once("(values: ") else { return Vec::new() };
    let parts = values.trim_end_matches([')', ' ']).split(';').flat_map(|part| {
        let is_list = part.matches(" = ").count() > 1 || !part.contains(" = ");
        if is_list { part.split(',').collect::<Vec<_>>() } else { vec![part] }
    });
    let mut found = Vec::new();
    for (values, meaning) in parts.filter_map(|part| part.trim().split_once(" = ")) {
        let meaning = meaning.split(" (").next().unwrap_or_default();
        let meanings = meaning.split(',').flat_map(|one| one.split(" or ")).map(stems).filter(|one| !one.is_empty());
        for meaning in meanings.collect::<Vec<_>>() {
            found.extend(values.split(',').map(|value| (value.trim().to_owned(), meaning.clone())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(description: &str, expected: &[(&str, &str)]) {
        let found = list_codes(description).into_iter().map(|(value, meaning)| (value, meaning.join(" ")));
        let expected = expected.iter().map(|(value, meaning)| ((*value).to_owned(), (*meaning).to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{description}");
    }

    #[test]
    fn codes_are_read_from_descriptions() {
        check(
            "x (values: P = paid; O = open, awaiting payment)",
            &[("P", "paid"), ("O", "open"), ("O", "await payment")],
        );
        check("x (values: 1 = public, 0 = private)", &[("1", "public"), ("0", "privat")]);
        check(
            "x (values: mp3, aac = downloads; cd = compact disc)",
            &[("mp3", "download"), ("aac", "download"), ("cd", "compact disc")],
        );
        check("x (values: approved, rejected)", &[]);
        check("no values", &[]);
    }
}
