//! The tables of a database that a question may refer to, and the keys between them.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

use prospector_connect::filter::FilterOp;
use prospector_connect::table::{Column, ColumnType, ForeignKey, Table};
use prospector_text::identifiers;
use serde_json::{Value, json};

use super::question::{Question, stems, without};
use super::rows::{RowName, name_rows};
use super::{NamedValue, Vocabulary};
use crate::model::{Dimension, Entity, Metric};
use crate::{SemanticModel, Tables};

/// The maximum number of tables of a database named by the question that are likely without a search hit.
const MAX_NAMED: usize = 40;

/// The minimum length of an abbreviated word of a table's name.
const MIN_SHORT: usize = 3;

/// A column, as the indexes of its table and of itself.
pub(super) type Place = (usize, usize);

/// A many-to-one key between two tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The columns of each table.
    pub(super) columns: Vec<(String, String)>,
}

/// Whether each row refers to a row of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// Each row does.
    Always,
    /// Rows with a value in this column do.
    Optional(Place),
    /// Unknown.
    Unknown,
}

/// The time of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Time {
    /// A date column.
    Day(Place),
    /// As declared by the entity of the table.
    Declared(String),
    /// A column of years, as numbers or texts.
    Year(Place),
}

pub(super) struct Scope<'a> {
    pub(super) model: &'a SemanticModel,
    pub(super) source: Tables<'a>,
    /// The tables whose names and columns are matched, the most likely first.
    pub(super) likely: Vec<usize>,
    /// The names of tables of other databases that the question may refer to.
    pub(super) elsewhere: Vec<String>,
    /// The values that the question names, and their columns.
    pub(super) values: Vec<(Place, String)>,
    /// Text columns with yes/no values, and their value for yes.
    flags: Vec<(Place, String)>,
    keys: Vec<Key>,
    /// The number of many-to-one joins from each table to each other one, computed on first use.
    distances: Vec<OnceCell<Vec<Option<usize>>>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        model: &'a SemanticModel,
        source: Tables<'a>,
        vocabulary: &Vocabulary,
        question: &Question,
    ) -> Scope<'a> {
        let place = |name: &str| source.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
        let own = |id: &str| place(id.strip_prefix(source.database)?.strip_prefix('.')?);
        let mut keys: Vec<Key> = Vec::new();
        let pair = |own: &[String], other: &[String]| own.iter().cloned().zip(other.iter().cloned()).collect();
        for (from, table) in source.tables.iter().enumerate() {
            let foreign = table.foreign_keys.iter();
            let key = |key: &ForeignKey| {
                Some(Key { from, to: place(&key.table)?, columns: pair(&key.columns, &key.references) })
            };
            keys.extend(foreign.filter_map(key));
        }
        let of = |name: &str| {
            let entity = model.entity(name)?;
            own(&format!("{}.{}", entity.database, entity.table))
        };
        for join in model.joins() {
            let (Some(from), Some(to)) = (of(&join.from), of(&join.to)) else { continue };
            let key = Key { from, to, columns: pair(&join.columns, &join.references) };
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let found = vocabulary.tables.iter().chain(vocabulary.values.iter().map(|named| &named.table));
        let mut likely: Vec<usize> = Vec::new();
        for at in found.filter_map(|id| own(id)) {
            if !likely.contains(&at) {
                likely.push(at);
            }
        }
        // A table whose whole name occurs in the question is likely, however many other tables have a better score.
        let said: Vec<&str> = question.tokens.iter().flat_map(|token| &token.stems).map(String::as_str).collect();
        for (at, table) in source.tables.iter().enumerate() {
            let called = stems(&table.name);
            let is_said = !called.is_empty() && called.iter().all(|stem| said.contains(&stem.as_str()));
            if is_said && !likely.contains(&at) {
                likely.push(at);
            }
        }
        if vocabulary.databases.iter().any(|named| named == source.database) {
            let rest: Vec<usize> = (0..source.tables.len()).filter(|at| !likely.contains(at)).collect();
            likely.extend(rest.into_iter().take(MAX_NAMED));
        }
        // Tables that a likely table refers to may provide groups.
        for at in 0..likely.len() {
            let targets = keys.iter().filter(|key| key.from == likely[at]).map(|key| key.to);
            let fresh: Vec<usize> = targets.filter(|to| !likely.contains(to)).collect();
            likely.extend(fresh);
        }
        let place_of = |named: &NamedValue| {
            let table = own(&named.table)?;
            let column = source.tables[table].columns.iter().position(|column| column.name == named.column)?;
            Some(((table, column), named.value.clone()))
        };
        let values = vocabulary.values.iter().filter_map(place_of).collect();
        let flags = vocabulary.flags.iter().filter_map(place_of).collect();
        let distances = vec![OnceCell::new(); source.tables.len()];
        let others = vocabulary.tables.iter().filter_map(|id| id.split_once('.'));
        let elsewhere = others.filter(|(database, _)| *database != source.database).map(|(_, name)| name.to_owned());
        Scope { model, source, likely, elsewhere: elsewhere.collect(), values, flags, keys, distances }
    }

    pub(super) fn table(&self, table: usize) -> &'a Table {
        &self.source.tables[table]
    }

    pub(super) fn column(&self, place: Place) -> &'a Column {
        &self.source.tables[place.0].columns[place.1]
    }

    pub(super) fn entity(&self, table: usize) -> Option<&'a Entity> {
        let name = &self.table(table).name;
        (self.model.entities().iter())
            .find(|entity| entity.database == self.source.database && entity.table.eq_ignore_ascii_case(name))
    }

    /// Returns the other table that a key column refers to, if it is the only key between the two.
    pub(super) fn target(&self, place: Place) -> Option<usize> {
        let name = &self.column(place).name;
        let is_own = |columns: &[(String, String)]| matches!(columns, [(own, _)] if own.eq_ignore_ascii_case(name));
        let own = self.keys.iter().find(|key| key.from == place.0 && is_own(&key.columns))?;
        let count = self.keys.iter().filter(|key| (key.from, key.to) == (own.from, own.to)).count();
        (count == 1 && own.to != place.0).then_some(own.to)
    }

    /// Returns whether the column is part of a key of another table.
    pub(super) fn refers(&self, place: Place) -> bool {
        let name = &self.column(place).name;
        let is_own = |(own, _): &(String, String)| own.eq_ignore_ascii_case(name);
        self.keys.iter().any(|key| key.from == place.0 && key.columns.iter().any(is_own))
    }

    /// Returns whether a column alone is the primary or the declared key of its table.
    pub(super) fn is_key(&self, place: Place) -> bool {
        let columns = &self.table(place.0).columns;
        let is_single = columns.iter().filter(|column| column.primary_key).count() == 1;
        columns[place.1].primary_key && is_single || self.declared_key(place.0) == [place.1]
    }

    /// Returns the columns of the key that the entity of a table declares.
    fn declared_key(&self, table: usize) -> Vec<usize> {
        let columns = &self.table(table).columns;
        let place = |key: &String| columns.iter().position(|column| column.name.eq_ignore_ascii_case(key));
        self.entity(table).into_iter().flat_map(|entity| &entity.key).filter_map(place).collect()
    }

    /// Returns the value for yes of a yes/no column.
    pub(super) fn yes_of(&self, place: Place) -> Option<Value> {
        let said = self.flags.iter().find(|(known, _)| *known == place).map(|(_, yes)| json!(yes));
        said.or_else(|| find_yes(self.column(place)))
    }

    /// Returns the condition for rows without a value, or with no in a yes/no column.
    pub(super) fn lack(&self, place: Place) -> (Place, FilterOp, Value) {
        match self.yes_of(place) {
            Some(yes) => (place, FilterOp::Neq, yes),
            None => (place, FilterOp::Eq, Value::Null),
        }
    }

    /// Converts a value to the type of its column.
    pub(super) fn read_value(&self, place: Place, value: &str) -> Value {
        let is_numeric = self.column(place).column_type.is_numeric();
        let number = || value.parse::<i64>().ok().filter(|_| is_numeric).map(|number| json!(number));
        self.yes_of(place).or_else(number).unwrap_or_else(|| json!(value))
    }

    pub(super) fn is_number(&self, place: Place) -> bool {
        let column = self.column(place);
        let name = column.name.to_lowercase();
        column.column_type.is_numeric()
            && !column.primary_key
            && self.yes_of(place).is_none()
            && !self.refers(place)
            && !self.is_year(place)
            && name != "id"
            && !name.ends_with("_id")
    }

    pub(super) fn is_date(&self, place: Place) -> bool {
        matches!(self.column(place).column_type, ColumnType::Date | ColumnType::Timestamp | ColumnType::DateText)
    }

    /// Returns the year of a date, in the type of a column of years.
    pub(super) fn year_of(&self, day: &str, place: Place) -> Value {
        match day[..4].parse::<i64>() {
            Ok(year) if self.column(place).column_type.is_numeric() => json!(year),
            _ => json!(&day[..4]),
        }
    }

    pub(super) fn is_year(&self, place: Place) -> bool {
        let column = self.column(place);
        column.name.to_lowercase().ends_with("year")
            && matches!(column.column_type, ColumnType::Integer | ColumnType::Text)
    }

    /// Returns the number of many-to-one joins from a table to another.
    pub(super) fn distance(&self, from: usize, to: usize) -> Option<usize> {
        self.distances(from)[to]
    }

    /// Returns the number of many-to-one joins from a table to each table.
    fn distances(&self, from: usize) -> &[Option<usize>] {
        self.distances[from].get_or_init(|| self.measure_distances(from))
    }

    fn measure_distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.source.tables.len()];
        distances[from] = Some(0);
        let mut open = VecDeque::from([(from, 0)]);
        while let Some((table, distance)) = open.pop_front() {
            for key in self.keys.iter().filter(|key| key.from == table) {
                if distances[key.to].is_none() {
                    distances[key.to] = Some(distance + 1);
                    open.push_back((key.to, distance + 1));
                }
            }
        }
        distances
    }

    /// Returns whether joins in any direction connect two tables.
    pub(super) fn are_connected(&self, one: usize, other: usize) -> bool {
        let mut reached = vec![one];
        let mut at = 0;
        while let Some(table) = reached.get(at).copied() {
            let ends = self.keys.iter().flat_map(|key| [(key.from, key.to), (key.to, key.from)]);
            let next: Vec<usize> = ends.filter(|(from, _)| *from == table).map(|(_, to)| to).collect();
            for to in next {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        reached.contains(&other)
    }

    /// Returns the keys of a shortest path of many-to-one joins, of several the one with the key `via`; `None` if there is no path.
    pub(super) fn route(&self, from: usize, to: usize, via: Option<&Key>) -> Option<Vec<&Key>> {
        let distances = self.distances(from);
        let (mut route, mut table) = (Vec::new(), to);
        distances[to]?;
        while table != from {
            let last = self.last_keys(distances, table);
            let key = *last.iter().find(|key| Some(**key) == via).or(last.first())?;
            route.push(key);
            table = key.from;
        }
        route.reverse();
        Some(route)
    }

    /// Returns the last keys of all shortest paths to a table.
    fn last_keys(&self, distances: &[Option<usize>], to: usize) -> Vec<&Key> {
        let is_last = |key: &&Key| key.to == to && distances[key.from].map(|near| near + 1) == distances[to];
        self.keys.iter().filter(is_last).collect()
    }

    /// Returns the keys of which one has to be chosen if there are several shortest paths.
    pub(super) fn rivals(&self, from: usize, to: usize) -> Vec<&Key> {
        let (distances, mut table) = (self.distances(from), to);
        while table != from {
            match self.last_keys(distances, table).as_slice() {
                [] => break,
                [key] => table = key.from,
                several => return several.to_vec(),
            }
        }
        Vec::new()
    }

    /// Returns whether each row of a table refers to one of another.
    pub(super) fn optional_key(&self, from: usize, to: usize) -> Presence {
        let table = self.table(from);
        let mut keys = self.keys.iter().filter(|key| (key.from, key.to) == (from, to));
        if let (Some(key), None) = (keys.next(), keys.next()) {
            let column = |name: &String| table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            return match key.columns.first().and_then(|(own, _)| column(own)) {
                Some(at) if table.columns[at].nullable => Presence::Optional((from, at)),
                Some(_) => Presence::Always,
                None => Presence::Unknown,
            };
        }
        // A path of several keys exists only where all of them have values.
        let (direct, reached) = (self.distance(from, to) == Some(1), self.distance(from, to).is_some());
        let nullable = |key: &Key| {
            let column = |name: &String| table.column(name).is_none_or(|column| column.nullable);
            key.columns.iter().any(|(own, _)| column(own))
        };
        let mut on_way = self.keys.iter().filter(|key| key.from == from && self.distance(key.to, to).is_some());
        match reached && !direct && !on_way.any(nullable) {
            true => Presence::Always,
            false => Presence::Unknown,
        }
    }

    /// Returns the table whose rows refer to `subject`, maybe through others, and are rows of `table`, or refer to such rows: `order_items`
    /// for the orders of a product. `None` unless there is exactly one.
    pub(super) fn referrer(&self, table: usize, subject: usize) -> Option<usize> {
        if table != subject && self.distance(table, subject).is_some() {
            return Some(table);
        }
        let is_between = |at: &usize| self.distance(*at, subject) == Some(1) && self.distance(*at, table) == Some(1);
        let mut between = (0..self.source.tables.len()).filter(is_between);
        between.next().filter(|_| between.next().is_none())
    }

    /// Returns the table whose rows refer to `subject` and to another table that has no other connection: `film_category` between films
    /// and categories. `None` unless there is exactly one.
    pub(super) fn bridge(&self, subject: usize, table: usize) -> Option<usize> {
        let is_between = |at: &usize| {
            self.distance(*at, subject) == Some(1) && self.distance(*at, table).is_some_and(|far| far <= 1)
        };
        let mut between = (0..self.source.tables.len()).filter(is_between);
        between.next().filter(|_| between.next().is_none())
    }

    /// Returns the tables whose rows refer to those of a table.
    pub(super) fn children(&self, table: usize) -> BTreeSet<usize> {
        self.keys.iter().filter(|key| key.to == table && key.from != table).map(|key| key.from).collect()
    }

    /// Returns the numeric columns of a table.
    pub(super) fn list_numbers(&self, table: usize) -> Vec<Place> {
        (0..self.table(table).columns.len()).map(|at| (table, at)).filter(|place| self.is_number(*place)).collect()
    }

    /// Returns whether a table contains events: its rows have a time, and no other table refers to them.
    pub(super) fn holds_events(&self, table: usize) -> bool {
        self.keys.iter().all(|key| key.to != table) && self.time(table, &[]).is_some()
    }

    /// Returns the column with the shortest join path; `None` if none is reachable, or several are equally near.
    pub(super) fn nearest(&self, subject: usize, places: &[Place]) -> Option<Place> {
        let far = |place: &Place| Some((self.distance(subject, place.0)?, *place));
        let mut near: Vec<(usize, Place)> = places.iter().filter_map(far).collect();
        near.sort_unstable();
        near.dedup();
        match near.as_slice() {
            [] => None,
            [(first, _), (second, _), ..] if first == second => None,
            [(_, place), ..] => Some(*place),
        }
    }

    /// Returns the declared dimension of a column.
    pub(super) fn dimension_of(&self, place: Place) -> Option<&'a Dimension> {
        let entity = self.entity(place.0)?;
        let column = &self.column(place).name;
        let is_here = |dimension: &&Dimension| {
            (dimension.columns.iter())
                .any(|own| own.entity.eq_ignore_ascii_case(&entity.name) && own.expression == *column)
        };
        self.model.dimensions().iter().find(is_here)
    }

    /// Returns a many-to-one key between two tables, of several the one that is `via`.
    pub(super) fn key(&self, from: usize, to: usize, via: Option<&Key>) -> Option<&Key> {
        let is_here = |key: &&Key| (key.from, key.to) == (from, to);
        self.keys.iter().filter(is_here).find(|key| Some(*key) == via).or_else(|| self.keys.iter().find(is_here))
    }

    /// Returns the table of an entity, if it is in this database.
    pub(super) fn table_of(&self, entity: &str) -> Option<usize> {
        let entity = self.model.entity(entity).filter(|entity| entity.database == self.source.database)?;
        self.source.tables.iter().position(|table| table.name.eq_ignore_ascii_case(&entity.table))
    }

    /// Returns the table whose rows a metric reads first.
    pub(super) fn subject_of(&self, metric: &str) -> Option<usize> {
        let measures = self.model.measures(self.model.metric(metric)?);
        self.table_of(&measures.first()?.entity)
    }

    /// Returns whether a metric reads rows of this database first.
    pub(super) fn computes(&self, metric: &Metric) -> bool {
        self.model.measures(metric).first().is_some_and(|measure| self.table_of(&measure.entity).is_some())
    }

    /// Returns the naming columns of a table.
    pub(super) fn name_rows(&self, table: usize) -> RowName {
        let mut named = name_rows(self.table(table));
        // The key of a file is declared.
        if !self.table(table).columns.iter().any(|column| column.primary_key) {
            named.keys = self.declared_key(table);
            named.keys.retain(|at| !named.shown.contains(at));
        }
        named
    }

    /// Returns the time of a table: a column that the question names, the one that its entity declares, its only date column, the one of
    /// several that is named after the table, its only column of years, or the only date column that a key leads to; otherwise the first
    /// of several.
    pub(super) fn time(&self, subject: usize, named: &[Place]) -> Option<Time> {
        self.known_time(subject, named).or_else(|| self.first_day(subject))
    }

    /// Returns the first date column of a table.
    pub(super) fn first_day(&self, subject: usize) -> Option<Time> {
        let mut columns = (0..self.table(subject).columns.len()).map(|at| (subject, at));
        columns.find(|place| self.is_date(*place) && !is_upkeep(&self.column(*place).name)).map(Time::Day)
    }

    /// Returns the unambiguous time of a table; `None` unless there is exactly one.
    pub(super) fn known_time(&self, subject: usize, named: &[Place]) -> Option<Time> {
        let reached = named.iter().filter_map(|place| Some((self.distance(subject, place.0)?, *place)));
        if let Some((_, place)) = reached.min() {
            return Some(if self.is_date(place) { Time::Day(place) } else { Time::Year(place) });
        }
        let columns = |table: usize| (0..self.table(table).columns.len()).map(move |at| (table, at));
        if let Some(time) = self.entity(subject).and_then(|entity| entity.time.clone()) {
            let own = columns(subject).find(|place| self.column(*place).name == time);
            return Some(own.map_or(Time::Declared(time), Time::Day));
        }
        let dates = |table: usize| columns(table).filter(|place| self.is_date(*place));
        let mut own: Vec<Place> = dates(subject).filter(|place| !is_upkeep(&self.column(*place).name)).collect();
        // `order_date` of orders, `inv_dt` of invoices
        let table = stems(&self.table(subject).name);
        let is_of_table = |place: &Place| {
            let called = without(&self.column(*place).name, &DATE_WORDS);
            let begins = |stem: &String| {
                table.iter().any(|own| own == stem || stem.len() >= MIN_SHORT && own.starts_with(stem.as_str()))
            };
            !called.is_empty() && stems(&called).iter().all(begins)
        };
        if own.iter().filter(|place| is_of_table(place)).count() == 1 {
            own.retain(is_of_table);
        }
        let years: Vec<Place> = columns(subject).filter(|place| self.is_year(*place)).collect();
        let parents = self.keys.iter().filter(|key| key.from == subject);
        let parents: Vec<Place> = parents.flat_map(|key| dates(key.to)).collect();
        match (own.as_slice(), years.as_slice(), parents.as_slice()) {
            ([one], ..) | ([], [], [one]) => Some(Time::Day(*one)),
            ([], [one], _) => Some(Time::Year(*one)),
            _ => None,
        }
    }
}

/// Words in the names of date columns: `hire_date` is called `hire`.
pub(super) const DATE_WORDS: [&str; 10] =
    ["date", "day", "time", "timestamp", "datetime", "tms", "ts", "dt", "at", "on"];
/// Words in the names of columns that record when a row was written, not when something happened.
const UPKEEP_WORDS: [&str; 6] = ["update", "updated", "modified", "modify", "loaded", "synced"];
fn is_upkeep(name: &str) -> bool {
    identifiers::words(name).iter().any(|word| UPKEEP_WORDS.contains(&word.as_str()))
}

/// Returns the value for yes of a column that is declared as a yes/no column.
fn find_yes(column: &Column) -> Option<Value> {
    match column.column_type {
        ColumnType::Boolean => Some(json!(true)),
        ColumnType::Integer if column.data_type.to_lowercase().contains("bool") => Some(json!(1)),
        _ => None,
    }
}
