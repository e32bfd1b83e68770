//! From the words of a question to what it asks of one table: a measure, groups, conditions, a period, an order.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::Grain;
use serde_json::{Value, json};

use super::lexicon::{Lexicon, Meaning};
use super::scope::{Place, Presence, Scope, Time};
use super::spoken::Spoken;
use crate::reading::ReadError;
use crate::reading::words::{Comparison, Word, Words};

/// So many words may be one name.
const MAX_NAME_WORDS: usize = 6;

/// How many are shown of what is ranked, where the question does not say.
const MAX_RANKED: usize = 10;

/// Words that add nothing beside a table or a column.
const VAGUE: &str = "number value values amount figure row rows record records entry entries altogether who whose where shop store \
    company exist exists placed made come came recorded live lives living located based belong belongs different release released write \
    written wrote contain contains contained hold holds own owns include includes happen happened occurred took take";

/// What leaves a value out, and the words that may stand between.
const EXCLUDING: [&str; 5] = ["not", "without", "except", "excluding", "outside"];
const LACKING: [&str; 2] = ["no", "without"];
const BETWEEN: [&str; 11] = ["in", "of", "from", "for", "the", "to", "by", "are", "a", "an", "any"];

/// Where words stand, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) meaning: Meaning,
    /// Whether it is a value that is left out.
    pub(super) is_excluded: bool,
}

/// What a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    /// The table whose rows are counted or put together.
    pub(super) subject: usize,
    /// Rows are counted where there is no column.
    pub(super) measures: Vec<(Aggregation, Option<Place>)>,
    pub(super) groups: Vec<Group>,
    pub(super) grain: Option<Grain>,
    pub(super) filters: Vec<(Place, FilterOp, Value)>,
    pub(super) period: Option<(String, String)>,
    /// When rows happened, where the question asks for it.
    pub(super) time: Option<Time>,
    /// Whether the largest comes first, and how many.
    pub(super) rank: Option<(bool, usize)>,
    /// Whether one is asked for: others that are as good come, too.
    pub(super) is_one: bool,
}

/// A column that figures are told by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) place: Place,
    /// Columns of the same table that keep apart what is called alike, and are not shown.
    pub(super) keys: Vec<usize>,
}

impl Group {
    pub(super) fn of(place: Place) -> Group {
        Group { place, keys: Vec::new() }
    }
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
        let period = self.words.take_period(self.scope.model.today())?;
        self.take_names(2);
        let spoken = Spoken::take(&mut self.words, &comparisons);
        self.grain = self.words.take_grain();
        self.take_names(1);
        self.take_ends();
        self.take_vague();
        self.take_exclusions();
        self.take_alternatives();
        self.words.check_rest()?;
        let grouped = self.find_groups(&spoken);
        let free: Vec<&Mention> =
            self.mentions.iter().enumerate().filter(|(at, _)| !grouped.contains(at)).map(|(_, one)| one).collect();
        let mut numbers: Vec<&Mention> = free.iter().copied().filter(|mention| self.is_number(mention)).collect();
        let compared = self.take_compared(comparisons, &mut numbers, &free)?;
        let mut intent = self.find_measure(&spoken, &free, &numbers, &grouped)?;
        intent.filters = compared;
        self.add_presence(&mut intent, &free)?;
        self.add_values(&mut intent, &free)?;
        for &at in &grouped {
            for group in self.find_group(intent.subject, &self.mentions[at])? {
                if !intent.groups.contains(&group) {
                    intent.groups.push(group);
                }
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
                intent.is_one =
                    spoken.limit.is_none() && grouped.iter().all(|at| self.is_singular(&self.mentions[*at]));
                intent.rank = Some((is_largest, spoken.limit.unwrap_or(if intent.is_one { 1 } else { MAX_RANKED })));
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
    ) -> Result<(Option<(String, String)>, Vec<Group>, Vec<(Place, Value)>, Option<Grain>), ReadError> {
        let period = self.words.take_period(self.scope.model.today())?;
        self.take_names(2);
        self.grain = self.words.take_grain();
        self.take_names(1);
        self.words.check_rest()?;
        let (mut groups, mut values) = (Vec::new(), Vec::new());
        for mention in &self.mentions {
            match &mention.meaning {
                Meaning::Values(_) => values.push(self.find_value(subject, mention)?),
                Meaning::Table(_) | Meaning::Columns(_) if self.words.is_grouping(mention.at) => {
                    groups.extend(self.find_group(subject, mention)?);
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
                self.mentions.push(Mention { at, length, meaning, is_excluded: false });
            }
        }
        self.mentions.sort_by_key(|mention| mention.at);
    }

    /// The ends of the names of columns, among the words that are left.
    fn take_ends(&mut self) {
        for at in 0..self.words.list.len() {
            let word = &self.words.list[at];
            if word.is_taken || word.is_silent() || is_vague(word) || word.is_capital() {
                continue;
            }
            let Some(meaning) = self.lexicon.find_end(word) else { continue };
            self.words.take(at, 1);
            self.mentions.push(Mention { at, length: 1, meaning, is_excluded: false });
        }
        self.mentions.sort_by_key(|mention| mention.at);
    }

    fn take_vague(&mut self) {
        for word in self.words.list.iter_mut().filter(|word| !word.is_capital()) {
            word.is_taken |= is_vague(word);
        }
    }

    /// `not in Brazil`, `without void ones`: the values that are left out.
    fn take_exclusions(&mut self) {
        for at in 0..self.mentions.len() {
            if matches!(self.mentions[at].meaning, Meaning::Columns(_)) {
                continue;
            }
            let before = (0..self.mentions[at].at)
                .rev()
                .find(|place| !BETWEEN.contains(&self.words.list[*place].lower.as_str()));
            let is_table = matches!(self.mentions[at].meaning, Meaning::Table(_));
            let excludes = |word: &str| if is_table { LACKING.contains(&word) } else { EXCLUDING.contains(&word) };
            let Some(place) = before.filter(|place| excludes(&self.words.list[*place].lower)) else { continue };
            if !self.words.list[place].is_taken {
                self.words.take(place, 1);
                self.mentions[at].is_excluded = true;
            }
        }
    }

    /// `open or void`: either of two values.
    fn take_alternatives(&mut self) {
        for at in 1..self.mentions.len() {
            let (first, second) = (&self.mentions[at - 1], &self.mentions[at]);
            let are_values =
                [first, second].iter().all(|one| matches!(one.meaning, Meaning::Values(_)) && !one.is_excluded);
            let middle = first.at + first.length;
            if are_values && second.at == middle + 1 && self.words.list[middle].lower == "or" {
                self.words.take(middle, 1);
            }
        }
    }

    pub(super) fn is_number(&self, mention: &Mention) -> bool {
        matches!(&mention.meaning, Meaning::Columns(all) if all.iter().any(|place| self.scope.is_number(*place)))
    }

    /// Whether a column is called by one of these stems.
    pub(super) fn is_called(&self, place: Place, stems: &[&str]) -> bool {
        self.lexicon.names(place).flatten().any(|stem| stems.contains(&stem.as_str()))
    }

    fn is_singular(&self, mention: &Mention) -> bool {
        !self.words.list[mention.at + mention.length - 1].lower.ends_with('s')
    }

    /// The mentions that figures are told by: what stands after `by`, and what `which` or `top` asks for.
    fn find_groups(&self, spoken: &Spoken) -> Vec<usize> {
        let mut grouped: Vec<usize> = Vec::new();
        for (place, mention) in self.mentions.iter().enumerate() {
            if matches!(mention.meaning, Meaning::Values(_)) {
                continue;
            }
            let is_next = place > 0 && grouped.contains(&(place - 1)) && self.words.before(mention.at) == "and";
            let is_told_by = self.words.is_grouping(mention.at) || is_next;
            let is_ranked = spoken.rank.is_some() && grouped.is_empty() && self.words.asks_which(mention.at);
            let is_measure = self.is_number(mention) && (spoken.rank.is_some() || !is_told_by);
            if (is_told_by || is_ranked) && !is_measure {
                grouped.push(place);
            }
        }
        grouped
    }

    /// The numbers that are compared: each stands before its comparison, or is the only one.
    fn take_compared(
        &self,
        comparisons: Vec<Comparison>,
        numbers: &mut Vec<&Mention>,
        free: &[&Mention],
    ) -> Result<Vec<(Place, FilterOp, Value)>, ReadError> {
        let mut compared = Vec::new();
        for Comparison { at, bounds } in comparisons {
            let before = numbers.iter().rposition(|mention| mention.at < at);
            let Some(found) = before.or((!numbers.is_empty()).then_some(0)) else {
                return Err(ReadError::NotUnderstood(bounds.iter().map(|(_, number)| number.to_string()).collect()));
            };
            let mention = numbers.remove(found);
            let place = self.choose(mention, free)?;
            compared.extend(bounds.into_iter().map(|(op, number)| (place, op, json!(number))));
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

    fn find_group(&self, subject: usize, mention: &Mention) -> Result<Vec<Group>, ReadError> {
        let said = self.phrase(mention);
        match &mention.meaning {
            Meaning::Table(table) => {
                let (shown, hidden) = self.scope.name_rows(*table).split();
                let places: Vec<Place> = shown.into_iter().map(|column| (*table, column)).collect();
                self.scope.nearest(subject, &places[..1], &said)?;
                let mut groups: Vec<Group> = places.into_iter().map(Group::of).collect();
                groups[0].keys = hidden;
                Ok(groups)
            }
            Meaning::Columns(all) => Ok(vec![Group::of(self.scope.nearest(subject, all, &said)?)]),
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
            let op = if mention.is_excluded { FilterOp::Neq } else { FilterOp::Eq };
            let is_other = |(known, other, _): &(Place, FilterOp, Value)| *known == place && *other != op;
            // `without Brazil and Peru`: whether the second one is left out, too, is not plain.
            if intent.filters.iter().any(is_other) {
                return Err(ReadError::NotUnderstood(vec![self.phrase(mention)]));
            }
            intent.filters.push((place, op, value));
        }
        Ok(())
    }

    /// `invoices with a promotion`, `customers without a representative`: whether the key to a row of another table is there.
    fn add_presence(&self, intent: &mut Intent, free: &[&Mention]) -> Result<(), ReadError> {
        for mention in free {
            let Meaning::Table(table) = mention.meaning else { continue };
            if table == intent.subject {
                if mention.is_excluded {
                    return Err(ReadError::NotUnderstood(vec![self.phrase(mention)]));
                }
                continue;
            }
            let unrelated = || ReadError::Unrelated {
                said: self.phrase(mention),
                table: self.scope.table(intent.subject).name.clone(),
            };
            match (self.scope.optional_key(intent.subject, table), mention.is_excluded) {
                (Presence::Optional(key), true) => intent.filters.push((key, FilterOp::Eq, Value::Null)),
                (Presence::Optional(key), false) => intent.filters.push((key, FilterOp::Neq, Value::Null)),
                (Presence::Always, false) => {}
                // Rows that would be there several times are told of later.
                (Presence::Unknown, false) if self.scope.distance(intent.subject, table).is_none() => {}
                (Presence::Unknown, _) | (Presence::Always, true) => return Err(unrelated()),
            }
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
        intent.time = Some(self.scope.time(intent.subject, &self.list_times(free))?);
        Ok(())
    }

    /// The columns of days and years that are named.
    pub(super) fn list_times(&self, free: &[&Mention]) -> Vec<Place> {
        let columns = free.iter().filter_map(|mention| match &mention.meaning {
            Meaning::Columns(all) => Some(all.iter().copied()),
            Meaning::Table(_) | Meaning::Values(_) => None,
        });
        columns.flatten().filter(|place| self.scope.is_date(*place) || self.scope.is_year(*place)).collect()
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
                    intent.groups.iter().any(|group| group.place == *place)
                        || intent.time == Some(Time::Day(*place))
                        || intent.time == Some(Time::Year(*place))
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

/// Whether a word adds nothing beside a table or a column.
fn is_vague(word: &Word) -> bool {
    VAGUE.split(' ').any(|vague| vague == word.lower)
}

impl Intent {
    pub(super) fn new(subject: usize, measures: Vec<(Aggregation, Option<Place>)>) -> Intent {
        let (groups, filters) = (Vec::new(), Vec::new());
        let (grain, period, time, rank) = (None, None, None, None);
        Intent { subject, measures, groups, grain, filters, period, time, rank, is_one: false }
    }
}
