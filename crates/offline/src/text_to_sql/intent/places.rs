//! Which column is meant where several have the name, and what leads to it.

use super::{
    super::{
        text::{Word, is_vague, stems},
        turn_state::{Column, Table},
    },
    Aggregate, Filter, Intent, Measure, Place, Stop, Test,
    reader::{Meaning, Reader},
    stop,
};

impl Reader<'_> {
    /// The column that is meant: of a table that is named, or of the first one that the search found.
    pub(super) fn prefer(&self, places: &[Place], named: &[(usize, usize)]) -> Place {
        let numbers: Vec<Place> = places.iter().copied().filter(|place| self.column(*place).is_number()).collect();
        let places = if numbers.is_empty() { places } else { &numbers };
        let is_named = |place: &&Place| named.iter().any(|(_, table)| *table == place.0);
        let rank = |place: &Place| {
            let table = self.tables[place.0];
            self.known.hits.iter().position(|hit| hit.0 == table.database && hit.1 == table.name).unwrap_or(usize::MAX)
        };
        let first = places.iter().find(is_named).or(places.iter().min_by_key(|place| rank(place)));
        first.copied().unwrap_or((0, 0))
    }

    /// The column of the nearest table; which of several equally near ones is not plain.
    pub(super) fn nearest(
        &self,
        subject: usize,
        places: &[Place],
        via: Option<usize>,
        word: &str,
    ) -> Result<Place, Stop> {
        let distance = |place: &Place| -> Option<usize> {
            match via.filter(|via| path(&self.tables, *via, place.0).is_some()) {
                Some(via) => Some(path(&self.tables, subject, via)?.len() + path(&self.tables, via, place.0)?.len()),
                None => path(&self.tables, subject, place.0).map(|path| path.len()),
            }
        };
        let mut near: Vec<(usize, Place)> =
            places.iter().filter_map(|place| Some((distance(place)?, *place))).collect();
        near.sort();
        near.dedup();
        match near.as_slice() {
            [] => stop(format!("`{word}` is not known of {}", self.tables[subject].name)),
            [(first, a), (second, b), ..] if first == second && a != b => {
                let name = |place: &Place| format!("{}.{}", self.tables[place.0].name, self.column(*place).name);
                stop(format!("`{word}` may be {} or {}", name(a), name(b)))
            }
            [(_, place), ..] => Ok(*place),
        }
    }

    /// Whether the table is on the way to what is grouped by.
    pub(super) fn is_part(&self, table: usize, grouped: &[usize]) -> bool {
        grouped.iter().any(|place| match &self.mentions[*place].thing {
            Meaning::Table(group) => *group == table,
            _ => false,
        })
    }

    /// What is summed where only a table is named: the one number whose name the table's name holds, or that is its only
    /// amount.
    pub(super) fn find_sum(&self, tables: &[(usize, usize)], grouped: &[usize]) -> Result<Place, Stop> {
        let table = tables.iter().map(|(_, table)| *table).find(|table| !self.is_part(*table, grouped));
        let Some(table) = table else { return stop("it names nothing that can be added up") };
        let name = stems(&self.tables[table].name);
        let numbers: Vec<usize> =
            (0..self.tables[table].columns.len()).filter(|at| self.tables[table].columns[*at].is_number()).collect();
        let column = |at: &usize| &self.tables[table].columns[*at];
        let of_name: Vec<&usize> = (numbers.iter())
            .filter(|at| column(at).names.iter().any(|words| words.iter().all(|word| name.contains(word))))
            .collect();
        let totals: Vec<&usize> = (numbers.iter())
            .filter(|at| {
                column(at)
                    .names
                    .iter()
                    .any(|words| words.len() == 1 && ["total", "amount"].contains(&words[0].as_str()))
            })
            .collect();
        match (of_name.as_slice(), totals.as_slice(), numbers.as_slice()) {
            ([one], ..) | ([], [one], _) => Ok((table, **one)),
            ([], [], [one]) => Ok((table, *one)),
            _ => {
                let names: Vec<&str> = numbers.iter().map(|at| column(at).name.as_str()).collect();
                stop(format!("say which number of {} is meant: {}", self.tables[table].name, names.join(", ")))
            }
        }
    }

    /// The date of a table: the one that is named, the only one, or the first one, which is noted.
    pub(super) fn date(&self, subject: usize, named: &[Place], notes: &mut Vec<String>) -> Result<Place, Stop> {
        if let Some(place) = named.iter().find(|place| path(&self.tables, subject, place.0).is_some()) {
            return Ok(*place);
        }
        let dates = |table: usize| -> Vec<Place> {
            let columns = self.tables[table].columns.iter().enumerate();
            columns.filter(|(_, column)| column.is_date()).map(|(at, _)| (table, at)).collect()
        };
        let mut tables: Vec<(usize, usize)> = (0..self.tables.len())
            .filter_map(|table| Some((path(&self.tables, subject, table)?.len(), table)))
            .collect();
        tables.sort_unstable();
        let Some(found) = tables
            .into_iter()
            .take_while(|(far, _)| *far < 2)
            .map(|(_, table)| dates(table))
            .find(|found| !found.is_empty())
        else {
            return stop(format!("{} has no date", self.tables[subject].name));
        };
        if found.len() > 1 {
            let note = format!(
                "the date is `{}`; the other dates of {} are {}",
                self.column(found[0]).name,
                self.tables[found[0].0].name,
                found[1..].iter().map(|at| format!("`{}`", self.column(*at).name)).collect::<Vec<_>>().join(", ")
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(found[0])
    }

    /// The column that names a row of a table.
    pub(super) fn label(&self, table: usize) -> usize {
        let columns = &self.tables[table].columns;
        let named =
            |wanted: &str| columns.iter().position(|column| column.names[0].last().is_some_and(|word| word == wanted));
        named("name")
            .filter(|at| columns[*at].names[0].len() == 1)
            .or_else(|| named("title"))
            .or_else(|| columns.iter().position(Column::is_text).filter(|_| named("name").is_none()))
            .or_else(|| columns.iter().position(|column| column.is_key))
            .unwrap_or(0)
    }

    /// What is left must be values.
    pub(super) fn literals(&mut self, intent: &mut Intent, via: &dyn Fn(usize) -> Option<usize>) -> Result<(), Stop> {
        let mut unknown = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            if self.words[at].used || is_vague(&self.words[at]) {
                at += 1;
                continue;
            }
            let mut end = at + 1;
            let is_name = |word: &Word| !word.used && word.text.chars().next().is_some_and(char::is_uppercase);
            while is_name(&self.words[at]) && self.words.get(end).is_some_and(is_name) {
                end += 1;
            }
            let phrase = self.words[at..end].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let mut found: Vec<(Place, String)> = Vec::new();
            for values in self.known.values.iter().filter(|values| values.contains.eq_ignore_ascii_case(&phrase)) {
                let place = self.columns().find(|((table, _), column)| {
                    self.tables[*table].database == values.database
                        && self.tables[*table].name == values.table
                        && column.name == values.column
                });
                let value = values.values.iter().find(|value| value.eq_ignore_ascii_case(&phrase));
                if let (Some((place, _)), Some(value)) = (place, value) {
                    found.push((place, value.clone()));
                }
            }
            if found.is_empty() {
                unknown.push(phrase);
            } else {
                let places: Vec<Place> = found.iter().map(|(place, _)| *place).collect();
                let via = via(at);
                let place = self.nearest(intent.subject, &places, via, &phrase)?;
                let value = found.into_iter().find(|(at, _)| *at == place).map(|(_, value)| value).unwrap_or_default();
                intent.filters.push(Filter { place, test: Test::Is(value), via });
            }
            at = end;
        }
        if unknown.is_empty() { Ok(()) } else { Err(Stop::Words(unknown)) }
    }

    /// An average of rates is not the rate of all.
    pub(super) fn note_weights(&self, intent: &mut Intent) {
        if let Measure::Of(Aggregate::Average, place) = intent.measure
            && self.column(place).names[0].iter().any(|word| ["rate", "pct", "ratio", "share"].contains(&word.as_str()))
        {
            intent.notes.push(format!(
                "this is the plain mean of `{}` over the rows, not weighted by anything",
                self.column(place).name
            ));
        }
    }
}

/// The keys from a table to another, each from many rows to one: `(table, its column, table, its column)`. The shortest
/// way; none where there is none, or where two keys lead the same way.
pub(in crate::text_to_sql) fn path(tables: &[&Table], from: usize, to: usize) -> Option<Vec<(Place, Place)>> {
    let mut ways: Vec<Option<Vec<(Place, Place)>>> = vec![None; tables.len()];
    ways[from] = Some(Vec::new());
    let mut open = vec![from];
    while let Some(table) = (!open.is_empty()).then(|| open.remove(0)) {
        if table == to {
            return ways[to].clone();
        }
        for (at, column) in tables[table].columns.iter().enumerate() {
            let Some((name, target)) = &column.refers else { continue };
            let Some(next) = tables.iter().position(|other| other.name.eq_ignore_ascii_case(name)) else { continue };
            let Some(target) = tables[next].columns.iter().position(|other| other.name.eq_ignore_ascii_case(target))
            else {
                continue;
            };
            if ways[next].is_none() {
                let mut way = ways[table].clone().unwrap_or_default();
                way.push(((table, at), (next, target)));
                ways[next] = Some(way);
                open.push(next);
            }
        }
    }
    None
}
