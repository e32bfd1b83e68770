//! From what was found to what is asked.

use super::{
    super::period::{self, Unit},
    Aggregate, Filter, Group, Intent, Measure, Place, Stop, Test,
    places::path,
    reader::{BEYOND, COUNT, GROUPING, HIGHEST_WORDS, LOWEST_WORDS, Meaning, Mention, Reader},
    stop,
};

impl Reader<'_> {
    pub(super) fn intent(&mut self) -> Result<Intent, Stop> {
        if let Some(word) = self.words.iter().find(|word| BEYOND.contains(&word.stem.as_str())) {
            let word = word.text.clone();
            return stop(format!("it asks for more than figures from the data (`{word}`)"));
        }
        let period = period::take(&mut self.words).map_err(|error| Stop::Reason(error.to_string()))?;
        let mut intent = Intent {
            subject: usize::MAX,
            measure: Measure::Rows,
            called: None,
            groups: Vec::new(),
            filters: Vec::new(),
            rank: None,
            terms: Vec::new(),
            notes: Vec::new(),
        };
        let mut defined = self.definitions(&mut intent)?;
        let comparisons = self.comparisons();
        self.units();
        self.things(2);
        let count_at = COUNT.iter().find_map(|phrase| self.take(phrase).map(|at| at + phrase.len()));
        let distinct = ["different", "distinct", "unique"].iter().any(|word| self.take(&[word]).is_some());
        let mut largest = None;
        let mut rank_at = None;
        for (list, is_largest) in [(HIGHEST_WORDS, true), (LOWEST_WORDS, false)] {
            if let Some(at) = list.iter().find_map(|word| self.take(&[word]))
                && largest.is_none()
            {
                (largest, rank_at) = (Some(is_largest), Some(at));
            }
        }
        let limit = self.limit(rank_at)?;
        let mut aggregate = None;
        for (word, meant) in [
            ("average", Aggregate::Average),
            ("mean", Aggregate::Average),
            ("avg", Aggregate::Average),
            ("maximum", Aggregate::Max),
            ("minimum", Aggregate::Min),
            ("total", Aggregate::Sum),
            ("sum", Aggregate::Sum),
            ("overall", Aggregate::Sum),
        ] {
            if aggregate.is_none() && self.take(&[word]).is_some() {
                aggregate = Some(meant);
            }
        }
        if aggregate.is_none() && self.take(&["how", "much"]).is_some() {
            aggregate = Some(Aggregate::Sum);
        }
        self.things(1);
        self.partly();
        self.mentions.sort_by_key(|mention| mention.at);

        // What is grouped by.
        let mut grouped: Vec<usize> = Vec::new();
        for (place, mention) in self.mentions.iter().enumerate() {
            let is_numeric =
                matches!(&mention.thing, Meaning::Columns(all) if all.iter().all(|at| self.column(*at).is_number()));
            let after_group = self.before(mention.at).is_some_and(|word| GROUPING.contains(&word))
                || (self.before(mention.at) == Some("and") && place > 0 && grouped.contains(&(place - 1)));
            let is_ranked = largest.is_some()
                && grouped.is_empty()
                && self.asks_which(mention.at)
                && !matches!(mention.thing, Meaning::Codes(_));
            if (after_group
                && !is_numeric
                && !matches!(mention.thing, Meaning::Codes(_))
                && !self.counts_before(mention.at))
                || (is_ranked && !is_numeric)
                || matches!(mention.thing, Meaning::Unit(_))
            {
                grouped.push(place);
            }
        }
        let free: Vec<Mention> = (self.mentions.iter().enumerate())
            .filter(|(place, _)| !grouped.contains(place))
            .map(|(_, mention)| mention.clone())
            .collect();

        // What is measured, and of which table.
        let free_tables: Vec<(usize, usize)> = (free.iter())
            .filter_map(|mention| match mention.thing {
                Meaning::Table(table) => Some((mention.at, table)),
                _ => None,
            })
            .collect();
        let mut numeric: Vec<&Mention> = (free.iter())
            .filter(|mention| {
                matches!(&mention.thing, Meaning::Columns(all) if all.iter().any(|at| self.column(*at).is_number()))
            })
            .collect();
        // A comparison is about the number before it, or the one after it.
        let mut compared: Vec<(Place, &'static str, String)> = Vec::new();
        for (at, operator, number) in comparisons {
            let before = numeric.iter().rposition(|mention| mention.at < at);
            let Some(found) = before.or(if numeric.is_empty() { None } else { Some(0) }) else {
                return stop(format!("it compares with {number}, and what is compared is not plain"));
            };
            let mention = numeric.remove(found);
            let Meaning::Columns(places) = &mention.thing else { continue };
            compared.push((self.prefer(places, &free_tables), operator, number));
        }
        if let Some((measure, table)) = defined.take() {
            intent.measure = measure;
            intent.subject = table;
            if !numeric.is_empty() || aggregate.is_some_and(|aggregate| aggregate != Aggregate::Sum) {
                return stop(format!("`{}` is measured already", intent.called.clone().unwrap_or_default()));
            }
        } else if distinct {
            let columns = free.iter().find_map(|mention| match &mention.thing {
                Meaning::Columns(all) if count_at.is_some() => Some(all),
                _ => None,
            });
            let Some(columns) = columns else { return stop("what is to be different is not plain") };
            let place = self.prefer(columns, &free_tables);
            (intent.measure, intent.subject) = (Measure::Of(Aggregate::Distinct, place), place.0);
        } else {
            let counted = count_at.and_then(|at| free_tables.iter().find(|(place, _)| *place >= at));
            let ranked = largest.filter(|_| aggregate.is_none() && numeric.is_empty()).and(free_tables.first());
            match (numeric.as_slice(), counted.or(ranked)) {
                ([one], table) if table.is_none() || aggregate.is_some() => {
                    let Meaning::Columns(places) = &one.thing else { return stop("nothing is measured") };
                    let place = self.prefer(places, &free_tables);
                    let aggregate = match (aggregate, largest) {
                        (Some(aggregate), _) => aggregate,
                        (None, _) if count_at.is_some() => Aggregate::Sum,
                        (None, Some(is_largest)) if grouped.is_empty() && limit.is_none() => {
                            largest = None;
                            if is_largest { Aggregate::Max } else { Aggregate::Min }
                        }
                        (None, Some(_))
                            if rank_at.is_some_and(|at| ["most", "fewest"].contains(&self.words[at].stem.as_str())) =>
                        {
                            Aggregate::Sum
                        }
                        _ => return stop("say whether the total or the average is wanted"),
                    };
                    (intent.measure, intent.subject) = (Measure::Of(aggregate, place), place.0);
                }
                ([], Some((_, table))) if aggregate.is_none() => intent.subject = *table,
                ([], None) if aggregate.is_some() => {
                    let place = self.find_sum(&free_tables, &grouped)?;
                    let aggregate = aggregate.unwrap_or(Aggregate::Sum);
                    (intent.measure, intent.subject) = (Measure::Of(aggregate, place), place.0);
                }
                ([], _) => {
                    let unknown = self.unknown();
                    if !unknown.is_empty() {
                        return Err(Stop::Words(unknown));
                    }
                    return stop("it names nothing that can be counted or added up");
                }
                _ => return stop("it names several things that could be measured"),
            }
        }
        let subject = intent.subject;
        for (place, operator, number) in compared {
            intent.filters.push(Filter { place, test: Test::Compare(operator, number), via: None });
        }

        // Filters by values. Those of a definition come first, and no value of the question widens them.
        let defined_filters = intent.filters.clone();
        let via = |at: usize| {
            let before = free_tables.iter().rev().find(|(place, table)| *place < at && *table != subject);
            before.map(|(_, table)| *table)
        };
        for mention in &free {
            match &mention.thing {
                Meaning::Codes(all) => {
                    let via = via(mention.at);
                    let places: Vec<Place> = all.iter().map(|(place, _)| *place).collect();
                    let place = self.nearest(subject, &places, via, &self.phrase(mention))?;
                    let values: Vec<&str> =
                        all.iter().filter(|(at, _)| *at == place).map(|(_, value)| value.as_str()).collect();
                    let [value] = values.as_slice() else {
                        return stop(format!("`{}` means several values", self.phrase(mention)));
                    };
                    intent.filters.push(Filter { place, test: Test::Is((*value).to_owned()), via });
                }
                // Another table has to be what the rows refer to.
                Meaning::Table(table)
                    if *table != subject
                        && path(&self.tables, subject, *table).is_none()
                        && !self.is_part(*table, &grouped) =>
                {
                    return stop(format!(
                        "each row of {} may have several of {}, and they would be counted several times",
                        self.tables[subject].name, self.tables[*table].name
                    ));
                }
                _ => {}
            }
        }
        self.literals(&mut intent, &via)?;
        check_defined(&defined_filters, &intent)?;

        // Groups.
        let dates: Vec<Place> = (self.mentions.iter())
            .filter_map(|mention| match &mention.thing {
                Meaning::Columns(all) => all.iter().copied().find(|at| self.column(*at).is_date()),
                _ => None,
            })
            .collect();
        for place in &grouped {
            let mention = self.mentions[*place].clone();
            let group = match &mention.thing {
                Meaning::Unit(unit) => {
                    Group { place: self.date(subject, &dates, &mut intent.notes)?, unit: Some(*unit), via: None }
                }
                Meaning::Table(table) if path(&self.tables, subject, *table).is_some() => {
                    Group { place: (*table, self.label(*table)), unit: None, via: via(mention.at) }
                }
                Meaning::Table(table) => {
                    return stop(format!(
                        "{} do not refer to {} by a key",
                        self.tables[subject].name, self.tables[*table].name
                    ));
                }
                Meaning::Columns(all) => {
                    let place = self.nearest(subject, all, None, &self.phrase(&mention))?;
                    let unit = self.column(place).is_date().then_some(Unit::Day);
                    Group { place, unit, via: None }
                }
                Meaning::Codes(_) => continue,
            };
            if !intent.groups.contains(&group) {
                intent.groups.push(group);
            }
        }
        if let Some(period) = period {
            let place = self.date(subject, &dates, &mut intent.notes)?;
            intent.filters.push(Filter { place, test: Test::During(period), via: None });
        }
        // A column that is no measure, no group and no date of the period would be a condition, and which one is not said.
        let is_date_used = intent.filters.iter().any(|filter| matches!(filter.test, Test::During(_)))
            || intent.groups.iter().any(|group| group.unit.is_some());
        let unused = free.iter().find(|mention| match &mention.thing {
            Meaning::Columns(all) if distinct => !intent.measures(all),
            Meaning::Columns(all) if all.iter().any(|at| self.column(*at).is_date()) => !is_date_used,
            Meaning::Columns(all) => !all.iter().any(|at| self.column(*at).is_number()),
            Meaning::Table(_) | Meaning::Codes(_) | Meaning::Unit(_) => false,
        });
        if let Some(mention) = unused {
            return stop(format!("what `{}` is to be is not plain", self.phrase(mention)));
        }
        if let Some(is_largest) = largest {
            if intent.groups.is_empty() {
                return stop("what is to be ranked is not plain");
            }
            intent.rank = Some((limit.unwrap_or(1), is_largest));
        } else if limit.is_some() {
            return stop("how many are wanted is plain, but not in which order");
        }
        self.note_weights(&mut intent);
        Ok(intent)
    }
}

/// Another value of a column that the definition of what is measured is limited to contradicts it.
fn check_defined(defined: &[Filter], intent: &Intent) -> Result<(), Stop> {
    let is_other = |own: &Filter, limit: &Filter| own.place == limit.place && own.test != limit.test;
    let values = |filter: &&Filter| matches!(filter.test, Test::Is(_));
    let asked = intent.filters.iter().filter(values).filter(|own| !defined.contains(own));
    match asked.into_iter().find(|own| defined.iter().filter(values).any(|limit| is_other(own, limit))) {
        Some(_) => stop(format!("`{}` is defined for other rows", intent.called.clone().unwrap_or_default())),
        None => Ok(()),
    }
}
