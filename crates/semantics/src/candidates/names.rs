//! The names of metrics, segments, tables, columns and values, from the catalog and its descriptions.

use std::collections::{BTreeMap, HashSet};

use prospector_connect::table::Table;
use prospector_text::stem;

use super::Glossary;
use super::naming::{
    initials, list_codes, list_referred, lower_words, name_by_key, name_column, name_role, short_table,
};
use super::operators;
use super::question::{Span, stems, without};
use super::scope::{DATE_WORDS, Place, Scope};

/// Words in the names of yes/no columns: `PreferredVendorStatus` is also called `preferred vendor`.
const FLAG_WORDS: [&str; 6] = ["is", "has", "flag", "status", "ind", "indicator"];

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
    pub(super) about: (Vec<String>, Element),
    /// Columns by the names of their tables and their own.
    pub(super) composed: Vec<(Vec<String>, Element)>,
    /// Names that match only as a whole: opposites, and keys by their roles, since `used` does not refer to the `promotion used`.
    pub(super) whole: Vec<(Vec<String>, Element)>,
    /// All names, as stems.
    pub(super) called: Vec<(Vec<String>, Element)>,
    /// The entries of `called` that are tables by the names of their keys.
    pub(super) keyed: Vec<(Vec<String>, Element)>,
    /// Tables with the stems of the rows that they refer to, and without stems if they only link others: `driver_truck` is not a truck.
    pub(super) referred: Vec<(usize, Vec<String>)>,
    /// The names of the tables of other databases, as stems.
    pub(super) elsewhere: HashSet<Vec<String>>,
    /// Values by their words in lower case.
    pub(super) values: Vec<(Vec<String>, Place, String)>,
    /// Embeddings of entries of `called`, by index; several for some entries; empty without an embedder.
    pub(super) vectors: Vec<(usize, Vec<f32>)>,
}

/// Names while they are collected.
#[derive(Default)]
struct NameTexts {
    /// The names of all tables, as stems.
    tables: HashSet<Vec<String>>,
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

    /// Removes the opposites that are values of the same table: the status `open` is not an empty `closed_on`.
    fn remove_stored_opposites(&mut self) {
        let is_stored = |table: usize, name: &[String]| {
            let mut own = self.values.iter().filter(|(_, place, _)| place.0 == table);
            own.any(|(words, ..)| stems(&words.join(" ")) == *name)
        };
        self.whole.retain(|(name, element)| !matches!(element, Element::Lacking(place) if is_stored(place.0, name)));
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
            let roles = name_role(table, known).into_iter().filter(|_| known.nullable).map(|name| stems(&name));
            let roles = roles.filter(|stems| !self.tables.contains(stems));
            self.whole.extend(roles.map(|stems| (stems, Element::Columns(vec![place]))));
            return;
        }
        let mut names = name_column(known).into_iter();
        // A key is not called like the rows that it identifies: `customer_no` is not a customer.
        let whole = names.next();
        let others: Vec<String> = names.filter(|name| !self.tables.contains(&stems(name))).collect();
        for name in whole.into_iter().chain(others) {
            let whole = own.iter().filter(|_| !scope.is_date(place)).map(|table| format!("{table} {name}"));
            self.composed.extend(whole.map(|whole| (stems(&whole), Element::Columns(vec![place]))));
            self.texts.push((name, Element::Columns(vec![place])));
        }
    }
}

impl Names {
    pub(super) fn of(scope: &Scope<'_>, glossary: &dyn Glossary) -> Names {
        let tables = scope.source.tables.iter().map(|table| stems(&table.name)).collect();
        let (mut names, mut referred) = (NameTexts { tables, ..NameTexts::default() }, Vec::new());
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
        names.remove_stored_opposites();
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
            elsewhere: scope.elsewhere.iter().map(|name| stems(name)).collect(),
            values: names.values,
            vectors,
        }
    }
}
