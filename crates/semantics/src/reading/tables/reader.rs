//! From the words of a question to what it asks of one table: a measure, groups, conditions, a period, an order.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::Grain;
use serde_json::{Value, json};

use super::lexicon::{Lexicon, Meaning};
use super::scope::{Place, Scope, Time};
use crate::reading::ReadError;
use crate::reading::words::{Comparison, GROUPING, Words};

/// So many words may be one name.
const MAX_NAME_WORDS: usize = 6;

/// How many are shown of what is ranked, where the question does not say.
const MAX_RANKED: usize = 10;

/// Words that add nothing beside a table or a column.
const VAGUE: &str = "number value values amount figure row rows record records entry entries altogether who whose where shop store \
    company exist exists placed made come came recorded live lives living located based belong belongs different";

/// Words that say how rows are put together.
const AGGREGATES: [(&[&str], Aggregation); 10] = [
    (&["average"], Aggregation::Avg),
    (&["mean"], Aggregation::Avg),
    (&["avg"], Aggregation::Avg),
    (&["maximum"], Aggregation::Max),
    (&["minimum"], Aggregation::Min),
    (&["total"], Aggregation::Sum),
    (&["sum"], Aggregation::Sum),
    (&["overall"], Aggregation::Sum),
    (&["combined"], Aggregation::Sum),
    (&["how", "much"], Aggregation::Sum),
];

/// Where words stand, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) meaning: Meaning,
}

/// What a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    /// The table whose rows are counted or put together.
    pub(super) subject: usize,
    /// Rows are counted where there is no column.
    pub(super) measures: Vec<(Aggregation, Option<Place>)>,
    pub(super) groups: Vec<Place>,
    pub(super) grain: Option<Grain>,
    pub(super) filters: Vec<(Place, FilterOp, Value)>,
    pub(super) period: Option<(String, String)>,
    /// When rows happened, where the question asks for it.
    pub(super) time: Option<Time>,
    /// Whether the largest comes first, and how many.
    pub(super) rank: Option<(bool, usize)>,
}

/// Words that say how, and what they say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Spoken {
    pub(super) counts_from: Option<usize>,
    pub(super) is_distinct: bool,
    pub(super) rank: Option<(usize, bool)>,
    pub(super) limit: Option<usize>,
    pub(super) aggregation: Option<Aggregation>,
}

pub(super) struct Reader<'a> {
    pub(super) scope: &'a Scope<'a>,
    lexicon: Lexicon,
    pub(super) words: Words,
    pub(super) mentions: Vec<Mention>,
    grain: Option<(usize, Grain)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(scope: &'a Scope<'a>, words: Words) -> Reader<'a> {
        Reader { scope, lexicon: Lexicon::of(scope), words, mentions: Vec::new(), grain: None }
    }

    /// What the whole question asks for.
    ///
    /// # Errors
    /// What is not understood, or not plain.
    pub(super) fn read(mut self) -> Result<Intent, ReadError> {
        let comparisons = self.words.take_comparisons();
        let period = self.words.take_period()?;
        self.take_names(2);
        let spoken = self.take_spoken();
        self.grain = self.words.take_grain();
        self.take_names(1);
        self.take_ends();
        self.take_vague();
        self.words.check_rest()?;
        let grouped = self.find_groups(&spoken);
        let free: Vec<&Mention> =
            self.mentions.iter().enumerate().filter(|(at, _)| !grouped.contains(at)).map(|(_, one)| one).collect();
        let mut numbers: Vec<&Mention> = free.iter().copied().filter(|mention| self.is_number(mention)).collect();
        let compared = self.take_compared(comparisons, &mut numbers, &free)?;
        let mut intent = self.find_measure(&spoken, &free, &numbers, &grouped)?;
        intent.filters = compared;
        self.add_values(&mut intent, &free)?;
        for &at in &grouped {
            let place = self.find_group(intent.subject, &self.mentions[at])?;
            if !intent.groups.contains(&place) {
                intent.groups.push(place);
            }
        }
        self.add_time(&mut intent, period, &free)?;
        self.check_use(&intent, &free)?;
        if let Some((_, is_largest)) = spoken.rank.filter(|_| intent.rank.is_none()) {
            let is_alone = intent.groups.is_empty() && intent.grain.is_none();
            if is_alone && (spoken.aggregation.is_some() || intent.measures[0].1.is_none()) {
                return Err(ReadError::NothingToRank);
            }
            if !is_alone {
                let is_one = grouped.iter().all(|at| self.is_singular(&self.mentions[*at]));
                intent.rank = Some((is_largest, spoken.limit.unwrap_or(if is_one { 1 } else { MAX_RANKED })));
            }
        }
        Ok(intent)
    }

    /// What the rest of a question adds to one about that table: columns to group by, values, a grain.
    ///
    /// # Errors
    /// What is not understood, or not known of the table.
    #[allow(clippy::type_complexity, reason = "the parts of a change, which nobody keeps")]
    pub(super) fn read_change(
        mut self,
        subject: usize,
    ) -> Result<(Option<(String, String)>, Vec<Place>, Vec<(Place, Value)>, Option<Grain>), ReadError> {
        let period = self.words.take_period()?;
        self.take_names(2);
        self.grain = self.words.take_grain();
        self.take_names(1);
        self.words.check_rest()?;
        let (mut groups, mut values) = (Vec::new(), Vec::new());
        for mention in &self.mentions {
            match &mention.meaning {
                Meaning::Values(_) => values.push(self.find_value(subject, mention)?),
                Meaning::Table(_) | Meaning::Columns(_) if self.is_grouping(mention.at) => {
                    groups.push(self.find_group(subject, mention)?);
                }
                Meaning::Table(_) | Meaning::Columns(_) => return Err(ReadError::Unclear),
            }
        }
        Ok((period, groups, values, self.grain.map(|(_, grain)| grain)))
    }

    pub(super) fn phrase(&self, mention: &Mention) -> String {
        self.words.phrase(mention.at, mention.length)
    }

    /// Tables, columns and values by their whole names, the longest first, of at least so many words.
    fn take_names(&mut self, least: usize) {
        let most = if least > 1 { MAX_NAME_WORDS } else { 1 };
        for length in (least..=most).rev() {
            for at in 0..(self.words.list.len() + 1).saturating_sub(length) {
                let window = &self.words.list[at..at + length];
                let is_name = window.iter().any(|word| word.is_capital()) && at > 0;
                if window.iter().any(|word| word.is_taken) || window.iter().all(|word| word.is_silent()) {
                    continue;
                }
                let Some(meaning) = self.lexicon.find(window, is_name) else { continue };
                self.words.take(at, length);
                self.mentions.push(Mention { at, length, meaning });
            }
        }
        self.mentions.sort_by_key(|mention| mention.at);
    }

    /// The ends of the names of columns, among the words that are left.
    fn take_ends(&mut self) {
        for at in 0..self.words.list.len() {
            let word = &self.words.list[at];
            let is_vague = VAGUE.split(' ').any(|vague| vague == word.lower);
            if word.is_taken || word.is_silent() || is_vague || word.is_capital() {
                continue;
            }
            let Some(meaning) = self.lexicon.find_end(word) else { continue };
            self.words.take(at, 1);
            self.mentions.push(Mention { at, length: 1, meaning });
        }
        self.mentions.sort_by_key(|mention| mention.at);
    }

    fn take_vague(&mut self) {
        for word in self.words.list.iter_mut().filter(|word| !word.is_capital()) {
            word.is_taken |= VAGUE.split(' ').any(|vague| vague == word.lower);
        }
    }

    fn take_spoken(&mut self) -> Spoken {
        let counts: [&[&str]; 4] = [&["how", "many"], &["number", "of"], &["count", "of"], &["count"]];
        let counts_from = counts.iter().find_map(|phrase| self.words.take_phrase(phrase));
        let distinct = ["different", "distinct", "unique"];
        let is_distinct = distinct.iter().any(|word| self.words.take_phrase(&[word]).is_some());
        let rank = self.words.take_rank();
        let limit = rank.and_then(|_| self.words.take_number());
        let aggregation = AGGREGATES.iter().find_map(|(phrase, meant)| self.words.take_phrase(phrase).map(|_| *meant));
        Spoken { counts_from, is_distinct, rank, limit, aggregation }
    }

    pub(super) fn is_number(&self, mention: &Mention) -> bool {
        matches!(&mention.meaning, Meaning::Columns(all) if all.iter().any(|place| self.scope.is_number(*place)))
    }

    fn is_singular(&self, mention: &Mention) -> bool {
        !self.words.list[mention.at + mention.length - 1].lower.ends_with('s')
    }

    fn is_grouping(&self, at: usize) -> bool {
        GROUPING.contains(&self.words.before(at))
    }

    /// The mentions that figures are told by: what stands after `by`, and what `which` or `top` asks for.
    fn find_groups(&self, spoken: &Spoken) -> Vec<usize> {
        let mut grouped: Vec<usize> = Vec::new();
        for (place, mention) in self.mentions.iter().enumerate() {
            if matches!(mention.meaning, Meaning::Values(_)) {
                continue;
            }
            let is_next = place > 0 && grouped.contains(&(place - 1)) && self.words.before(mention.at) == "and";
            let is_told_by = self.is_grouping(mention.at) || is_next;
            let is_ranked = spoken.rank.is_some() && grouped.is_empty() && self.asks_which(mention.at);
            let is_measure = self.is_number(mention) && (spoken.rank.is_some() || !is_told_by);
            if (is_told_by || is_ranked) && !is_measure {
                grouped.push(place);
            }
        }
        grouped
    }

    /// Whether it is what `which`, `top` or their number asks for.
    fn asks_which(&self, at: usize) -> bool {
        for word in self.words.list[..at].iter().rev() {
            match word.lower.as_str() {
                "which" | "what" | "top" | "best" | "bottom" => return true,
                "the" | "of" => {}
                number if number.parse::<usize>().is_ok() || prospector_text::numbers::parse_word(number).is_some() => {
                }
                _ => return false,
            }
        }
        false
    }

    /// The numbers that are compared: each stands before its comparison, or is the only one.
    fn take_compared(
        &self,
        comparisons: Vec<Comparison>,
        numbers: &mut Vec<&Mention>,
        free: &[&Mention],
    ) -> Result<Vec<(Place, FilterOp, Value)>, ReadError> {
        let mut compared = Vec::new();
        for Comparison { at, op, number } in comparisons {
            let before = numbers.iter().rposition(|mention| mention.at < at);
            let Some(found) = before.or((!numbers.is_empty()).then_some(0)) else {
                return Err(ReadError::NotUnderstood(vec![number.to_string()]));
            };
            let mention = numbers.remove(found);
            compared.push((self.choose(mention, free)?, op, json!(number)));
        }
        Ok(compared)
    }

    /// The column that words mean: of a table that is named, or the only one of the likeliest table.
    pub(super) fn choose(&self, mention: &Mention, free: &[&Mention]) -> Result<Place, ReadError> {
        let Meaning::Columns(all) = &mention.meaning else { return Err(ReadError::NoMeasure) };
        let mut places: Vec<Place> = all.iter().copied().filter(|place| self.scope.is_number(*place)).collect();
        if places.is_empty() {
            places.clone_from(all);
        }
        let named = |place: &Place| free.iter().any(|mention| mention.meaning == Meaning::Table(place.0));
        if places.iter().any(named) {
            places.retain(named);
        }
        let rank = |place: &Place| self.scope.likely.iter().position(|table| *table == place.0);
        let best = places.iter().map(rank).min().flatten();
        places.retain(|place| rank(place) == best);
        match places.as_slice() {
            [one] => Ok(*one),
            several => {
                let columns = several.iter().map(|place| self.scope.describe(*place)).collect();
                Err(ReadError::Ambiguous { value: self.phrase(mention), columns })
            }
        }
    }

    fn find_group(&self, subject: usize, mention: &Mention) -> Result<Place, ReadError> {
        let said = self.phrase(mention);
        match &mention.meaning {
            Meaning::Table(table) => self.scope.nearest(subject, &[self.scope.label(*table)], &said),
            Meaning::Columns(all) => self.scope.nearest(subject, all, &said),
            Meaning::Values(_) => Err(ReadError::NotUnderstood(vec![said])),
        }
    }

    fn find_value(&self, subject: usize, mention: &Mention) -> Result<(Place, Value), ReadError> {
        let Meaning::Values(all) = &mention.meaning else { return Err(ReadError::NoMeasure) };
        let said = self.phrase(mention);
        let places: Vec<Place> = all.iter().map(|(place, _)| *place).collect();
        let place = self.scope.nearest(subject, &places, &said)?;
        let mut values = all.iter().filter(|(at, _)| *at == place).map(|(_, value)| value);
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(ReadError::Ambiguous { value: said, columns: vec![self.scope.describe(place)] });
        };
        let number = value.parse::<i64>().ok().filter(|_| self.scope.column(place).column_type.is_numeric());
        Ok((place, number.map_or_else(|| json!(value), |number| json!(number))))
    }

    fn add_values(&self, intent: &mut Intent, free: &[&Mention]) -> Result<(), ReadError> {
        for mention in free.iter().filter(|mention| matches!(mention.meaning, Meaning::Values(_))) {
            let (place, value) = self.find_value(intent.subject, mention)?;
            intent.filters.push((place, FilterOp::Eq, value));
        }
        Ok(())
    }

    /// The period and the grain, by the time of the subject.
    fn add_time(
        &self,
        intent: &mut Intent,
        period: Option<(String, String)>,
        free: &[&Mention],
    ) -> Result<(), ReadError> {
        intent.grain = self.grain.map(|(_, grain)| grain);
        intent.period = period;
        if intent.grain.is_none() && intent.period.is_none() {
            return Ok(());
        }
        let dates = free.iter().filter_map(|mention| match &mention.meaning {
            Meaning::Columns(all) => all.iter().copied().find(|place| self.scope.is_date(*place)),
            _ => None,
        });
        intent.time = Some(self.scope.time(intent.subject, &dates.collect::<Vec<_>>())?);
        Ok(())
    }

    /// Whatever is named has to be used: a table that rows do not lead to would be counted several times, and a column that says
    /// nothing was not understood.
    fn check_use(&self, intent: &Intent, free: &[&Mention]) -> Result<(), ReadError> {
        for mention in free {
            let is_used = match &mention.meaning {
                Meaning::Values(_) => true,
                Meaning::Table(table) => {
                    if self.scope.distance(intent.subject, *table).is_none() {
                        let (table, other) = (self.scope.table(intent.subject), self.scope.table(*table));
                        return Err(ReadError::Repeated { table: table.name.clone(), other: other.name.clone() });
                    }
                    true
                }
                Meaning::Columns(all) => all.iter().any(|place| {
                    intent.groups.contains(place)
                        || intent.time == Some(Time::Day(*place))
                        || intent.filters.iter().any(|(known, ..)| known == place)
                        || intent.measures.iter().any(|(_, known)| *known == Some(*place))
                }),
            };
            if !is_used {
                return Err(ReadError::NotUnderstood(vec![self.phrase(mention)]));
            }
        }
        Ok(())
    }
}

impl Intent {
    pub(super) fn new(subject: usize, measures: Vec<(Aggregation, Option<Place>)>) -> Intent {
        let (groups, filters) = (Vec::new(), Vec::new());
        Intent { subject, measures, groups, grain: None, filters, period: None, time: None, rank: None }
    }
}
