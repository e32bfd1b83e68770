//! What a question counts, adds up, averages, ranks or lists.

use prospector_connect::query::Aggregation;

use super::lexicon::Meaning;
use super::reader::{Group, Intent, Mention, Reader};
use super::scope::{Place, Time};
use super::spoken::Spoken;
use crate::reading::ReadError;

/// So many figures of each row are listed.
const MAX_LISTED: usize = 4;

impl Reader<'_> {
    /// What is put together, over the rows of which table.
    pub(super) fn find_measure(
        &self,
        spoken: &Spoken,
        free: &[&Mention],
        numbers: &[&Mention],
        grouped: &[usize],
    ) -> Result<Intent, ReadError> {
        let tables = free.iter().filter_map(|mention| match mention.meaning {
            Meaning::Table(table) => Some((mention.at, table)),
            _ => None,
        });
        let tables: Vec<(usize, usize)> = tables.collect();
        let counted = spoken.counts_from.and_then(|from| tables.iter().find(|(at, _)| *at > from));
        let over = |aggregation, place: Place| Ok(Intent::new(place.0, vec![(aggregation, Some(place))]));
        let rows = |table: usize| Ok(Intent::new(table, vec![(Aggregation::Count, None)]));
        if spoken.is_distinct {
            let columns = free.iter().find(|mention| matches!(mention.meaning, Meaning::Columns(_)));
            // Rows are different from each other.
            if let (None, Some((_, table))) = (columns, counted) {
                return rows(*table);
            }
            return match columns.filter(|_| spoken.counts_from.is_some()) {
                Some(mention) => over(Aggregation::CountDistinct, self.choose(mention, free)?),
                None => Err(ReadError::NotUnderstood(vec!["different".to_owned()])),
            };
        }
        if let Some(end) = spoken.when {
            return self.find_day(free, &tables, end);
        }
        let is_total = spoken.aggregation == Some(Aggregation::Sum);
        match (numbers, spoken.aggregation) {
            // `How many orders does a customer have on average?` is no average of a column.
            (_, Some(_)) if counted.is_some() && !(is_total && numbers.is_empty()) => Err(ReadError::OfCounts),
            ([], Some(_)) if counted.is_some() => rows(counted.map_or(0, |(_, table)| *table)),
            ([one], Some(aggregation)) => over(aggregation, self.choose(one, free)?),
            ([one], None) if spoken.rank.is_some() => self.rank_by(spoken, self.choose(one, free)?, grouped),
            ([one], None) if spoken.counts_from.is_some() && counted.is_none() => {
                over(Aggregation::Sum, self.choose(one, free)?)
            }
            ([], None) if counted.is_some() => rows(counted.map_or(0, |(_, table)| *table)),
            ([], None) if spoken.quality.is_some() => {
                let table = tables.first().map(|(_, table)| *table).or_else(|| self.find_ranked(grouped));
                let place = self.find_quality(table.ok_or(ReadError::NothingToRank)?, spoken)?;
                self.rank_by(spoken, place, grouped)
            }
            ([], None) if spoken.rank.is_some() => {
                tables.first().map_or(Err(ReadError::NothingToRank), |(_, table)| rows(*table))
            }
            ([], Some(aggregation)) => {
                let table = tables.first().ok_or(ReadError::NoMeasure)?.1;
                over(aggregation, self.find_amount(table)?)
            }
            (_, None) if spoken.counts_from.is_none() && spoken.rank.is_none() && grouped.is_empty() => {
                self.list(free, numbers)
            }
            // `customers by segment`
            ([], None) if tables.len() == 1 && spoken.rank.is_none() => rows(tables[0].1),
            ([], None) => Err(ReadError::NoMeasure),
            _ => Err(ReadError::SeveralMeasures),
        }
    }

    /// `the highest total`, `which track has the highest price`, `which country has the most points`.
    fn rank_by(&self, spoken: &Spoken, place: Place, grouped: &[usize]) -> Result<Intent, ReadError> {
        let is_largest = spoken.rank.is_none_or(|(_, is_largest)| is_largest);
        let extreme = if is_largest { Aggregation::Max } else { Aggregation::Min };
        let is_of_rows = grouped.iter().all(|at| self.mentions[*at].meaning == Meaning::Table(place.0));
        let is_sum =
            spoken.rank.is_some_and(|(at, _)| ["most", "fewest"].contains(&self.words.list[at].lower.as_str()));
        let aggregation = match is_of_rows {
            true => extreme,
            false if is_sum => Aggregation::Sum,
            false => return Err(ReadError::NoAggregate),
        };
        Ok(Intent::new(place.0, vec![(aggregation, Some(place))]))
    }

    /// Rows themselves: their names, what is asked of them, and how many are called so.
    fn list(&self, free: &[&Mention], numbers: &[&Mention]) -> Result<Intent, ReadError> {
        let table = free.iter().find_map(|mention| match &mention.meaning {
            Meaning::Table(table) => Some(*table),
            _ => None,
        });
        let column = || free.iter().find(|mention| matches!(mention.meaning, Meaning::Columns(_)));
        let subject = match (table, column()) {
            (Some(table), _) => table,
            (None, Some(mention)) => self.choose(mention, free)?.0,
            (None, None) => return Err(ReadError::NoMeasure),
        };
        let mut intent = Intent::new(subject, Vec::new());
        for mention in free.iter().filter(|mention| !self.is_number(mention)) {
            let Meaning::Columns(all) = &mention.meaning else { continue };
            // What another table is called is not the name of these rows.
            let own: Vec<Place> = all.iter().copied().filter(|place| place.0 == subject).collect();
            intent.groups.push(Group::of(self.scope.nearest(subject, &own, &self.phrase(mention))?));
        }
        let group = |column: usize| Group::of((subject, column));
        let named = self.scope.name_rows(subject);
        if intent.groups.is_empty() {
            intent.groups.extend(named.shown.iter().map(|column| group(*column)));
            // Who is called alike is told apart by the key.
            match named.is_telling {
                true => intent.groups[0].keys.clone_from(&named.keys),
                false => intent.groups.extend(named.keys.iter().map(|column| group(*column))),
            }
        }
        if numbers.is_empty() {
            intent.measures.push((Aggregation::Count, None));
            return Ok(intent);
        }
        // The rows of a table stay apart by their keys, whatever they are called.
        let columns = self.scope.table(subject).columns.iter().enumerate();
        let keys: Vec<Place> = columns.filter(|(_, column)| column.primary_key).map(|(at, _)| (subject, at)).collect();
        if keys.is_empty() || numbers.len() > MAX_LISTED {
            return Err(ReadError::NoAggregate);
        }
        for mention in numbers {
            let place = self.choose(mention, free)?;
            if place.0 != subject {
                return Err(ReadError::NoAggregate);
            }
            intent.measures.push((Aggregation::Max, Some(place)));
        }
        let is_shown = |key: &Place| intent.groups.iter().any(|group| group.place == *key);
        intent.groups[0].keys = keys.into_iter().filter(|key| !is_shown(key)).map(|(_, column)| column).collect();
        Ok(intent)
    }

    /// When the first or the last row of a table was.
    fn find_day(&self, free: &[&Mention], tables: &[(usize, usize)], end: Aggregation) -> Result<Intent, ReadError> {
        let (_, table) = *tables.first().ok_or(ReadError::NoMeasure)?;
        let column = |name: &String| self.scope.table(table).columns.iter().position(|column| column.name == *name);
        let place = match self.scope.time(table, &self.list_times(free))? {
            Time::Day(place) if place.0 == table => Some(place),
            Time::Declared(name) => column(&name).map(|at| (table, at)),
            Time::Day(_) | Time::Year(_) => None,
        };
        let place = place.ok_or_else(|| ReadError::NoTime(self.scope.table(table).name.clone()))?;
        Ok(Intent::new(table, vec![(end, Some(place))]))
    }

    /// The table of what is ranked.
    fn find_ranked(&self, grouped: &[usize]) -> Option<usize> {
        grouped.iter().find_map(|at| match self.mentions[*at].meaning {
            Meaning::Table(table) => Some(table),
            Meaning::Columns(_) | Meaning::Values(_) => None,
        })
    }

    /// The only number of a table that is called as what a word such as `longest` ranks by.
    fn find_quality(&self, table: usize, spoken: &Spoken) -> Result<Place, ReadError> {
        let wanted = spoken.quality.unwrap_or_default();
        let columns = (0..self.scope.table(table).columns.len()).map(|at| (table, at));
        let found = columns.filter(|place| self.scope.is_number(*place) && self.is_called(*place, wanted));
        match found.collect::<Vec<_>>().as_slice() {
            [one] => Ok(*one),
            [] => Err(ReadError::NothingToRank),
            several => {
                let columns = several.iter().map(|place| self.scope.describe(*place)).collect();
                Err(ReadError::Ambiguous { value: wanted.join(", "), columns })
            }
        }
    }

    /// What is added up where only a table is named: its only amount.
    fn find_amount(&self, table: usize) -> Result<Place, ReadError> {
        let columns = (0..self.scope.table(table).columns.len()).map(|at| (table, at));
        let numbers: Vec<Place> = columns.filter(|place| self.scope.is_number(*place)).collect();
        let name = |place: &&Place| self.scope.column(**place).name.to_lowercase();
        let amounts: Vec<&Place> =
            numbers.iter().filter(|place| ["total", "amount"].contains(&name(place).as_str())).collect();
        match (amounts.as_slice(), numbers.as_slice()) {
            ([one], _) => Ok(**one),
            ([], [one]) => Ok(*one),
            ([], []) => Err(ReadError::NoMeasure),
            _ => {
                let columns = numbers.iter().map(|place| self.scope.describe(*place)).collect();
                Err(ReadError::Ambiguous { value: "total".to_owned(), columns })
            }
        }
    }
}
