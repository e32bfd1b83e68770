//! Definitions as measures: what sums, counts and quotients of them a query can be made of. A definition that says more is
//! not used at all.

use super::{
    super::text::{find, stems},
    Aggregate, Filter, Intent, Measure, Place, Stop, Test,
    reader::{Meaning, Reader},
    stop,
};

impl Reader<'_> {
    /// Applies the definitions of terms that the question uses; a measure and its table, if one gives it.
    pub(super) fn definitions(&mut self, intent: &mut Intent) -> Result<Option<(Measure, usize)>, Stop> {
        let mut measure = None;
        let mut definitions: Vec<_> = self.known.definitions.iter().collect();
        definitions.sort_by_key(|definition| std::cmp::Reverse(stems(&definition.term).len()));
        for definition in definitions {
            let term = stems(&definition.term);
            let is_table = self.tables.iter().any(|table| stems(&table.name) == term);
            // A word that is a column or a value by itself needs no definition.
            let is_plain = term.len() == 1 && (is_table || self.find_named(&term, 1).is_some());
            let Some(at) = find(&self.words, &term).filter(|_| !is_plain) else { continue };
            // `paid invoices`: the adjective is a value of the table.
            if self.find_described(&term).is_some() {
                continue;
            }
            let unsupported = || {
                Stop::Reason(format!(
                    "`{}` is defined as \"{}\" ({}), which is more than this program can turn into a query",
                    definition.term, definition.text, definition.source
                ))
            };
            let Some((expression, filters)) = self.expression(&definition.text, &definition.term, 0) else {
                // A single word may mean something else.
                if term.len() == 1 {
                    continue;
                }
                return Err(unsupported());
            };
            self.words[at..at + term.len()].iter_mut().for_each(|word| word.used = true);
            let table = table_of(&expression, filters.first().map(|filter| filter.0)).ok_or_else(unsupported)?;
            if measure.is_some() {
                return stop("it names two measures");
            }
            for (place, value) in filters {
                let filter = Filter { place, test: Test::Is(value), via: None };
                if !intent.filters.contains(&filter) {
                    intent.filters.push(filter);
                }
            }
            intent.called = Some(definition.term.clone());
            intent.terms.push(definition.term.clone());
            measure = Some((expression, table));
        }
        Ok(measure)
    }

    /// A table whose name ends a phrase whose beginning is a value of it.
    fn find_described(&self, phrase: &[String]) -> Option<(usize, Place, String)> {
        let table = (1..phrase.len()).find_map(|cut| {
            let table = self.tables.iter().position(|table| stems(&table.name) == phrase[cut..])?;
            Some((table, cut))
        })?;
        let (table, cut) = table;
        match self.find_codes(&phrase[..cut])? {
            Meaning::Codes(codes) => {
                let own: Vec<_> = codes.into_iter().filter(|(place, _)| place.0 == table).collect();
                let [(place, value)] = own.as_slice() else { return None };
                Some((table, *place, value.clone()))
            }
            _ => None,
        }
    }

    /// The measure that a definition gives, and the values that it is limited to.
    fn expression(&self, text: &str, term: &str, depth: usize) -> Option<(Measure, Vec<(Place, String)>)> {
        if depth > 2 {
            return None;
        }
        let text = text.trim().trim_end_matches('.').replace('`', "");
        let lower = text.to_lowercase();
        let (_, body) = lower.split_once(" is ").filter(|(head, _)| head.contains(&term.to_lowercase()))?;
        self.parse(body, depth)
    }

    fn parse(&self, body: &str, depth: usize) -> Option<(Measure, Vec<(Place, String)>)> {
        let body = body.trim().trim_end_matches(',');
        let (body, mut filters) = match body.rsplit_once(" over ") {
            Some((head, noun)) => {
                let (_, place, value) = self.find_described(&stems(noun))?;
                (head.trim_end_matches(','), vec![(place, value)])
            }
            None => (body, Vec::new()),
        };
        if let Some((left, right)) = body.split_once(" divided by ") {
            let ((left, more), (right, others)) = (self.parse(left, depth)?, self.parse(right, depth)?);
            // Both halves are over the same rows, or the query would have to be two.
            if !more.is_empty() && !others.is_empty() && more != others {
                return None;
            }
            filters.extend(more.into_iter().chain(others));
            filters.dedup();
            return Some((Measure::Ratio(Box::new(left), Box::new(right)), filters));
        }
        if let Some(column) = body.strip_prefix("the sum of ") {
            let (table, column) = column.split_once('.')?;
            let table = self.tables.iter().position(|known| known.name.eq_ignore_ascii_case(table))?;
            let column = self.tables[table].columns.iter().position(|known| known.name.eq_ignore_ascii_case(column))?;
            return Some((Measure::Of(Aggregate::Sum, (table, column)), filters));
        }
        if let Some(noun) = body.strip_prefix("the number of ") {
            let (_, place, value) = self.find_described(&stems(noun))?;
            filters.push((place, value));
            return Some((Measure::Rows, filters));
        }
        let known = self.known.definitions.iter().find(|known| stems(&known.term) == stems(body))?;
        let (measure, more) = self.expression(&known.text, &known.term, depth + 1)?;
        filters.extend(more);
        filters.dedup();
        Some((measure, filters))
    }
}

fn table_of(measure: &Measure, rows: Option<Place>) -> Option<usize> {
    match measure {
        Measure::Rows => rows.map(|place| place.0),
        Measure::Of(_, place) => Some(place.0),
        Measure::Ratio(left, right) => {
            let (left, right) = (table_of(left, rows)?, table_of(right, rows)?);
            (left == right).then_some(left)
        }
    }
}
