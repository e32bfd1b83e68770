//! The periods of a sentence.

use std::{collections::BTreeSet, ops::Range};

use prospector_text::periods::{CitedPeriod, Days};

use super::super::{
    figures::{Figure, Value},
    lookup::is_in_result,
    mentions::{Mention, find_period},
    numbers::{Written, find_numbers},
    wording::has_period,
};
use super::{Checked, Parts, Tracer};

impl Tracer<'_> {
    /// Classifies a period: it selects rows, is a date in a row, limits the question, or is unknown.
    #[expect(clippy::too_many_arguments, reason = "it adds to the parts of one sentence")]
    pub(super) fn read_period(
        &self,
        parts: &Parts<'_>,
        period: CitedPeriod,
        cited: &BTreeSet<usize>,
        mentions: &mut Vec<Mention>,
        masked: &mut Vec<Range<usize>>,
        figures: &mut Vec<Figure>,
        checked: &mut Checked,
    ) {
        let period = self.read_as_month(parts, period, cited);
        let span = period.span.clone();
        let overlaps = |other: &Range<usize>| other.start < span.end && span.start < other.end;
        if masked.iter().any(overlaps) || mentions.iter().any(|one| overlaps(&one.span) && one.span.len() >= span.len())
        {
            return;
        }
        mentions.retain(|one| !overlaps(&one.span));
        let text = &parts.sentence[span.clone()];
        let is_said = self.says_period(parts, &period, cited);
        let mention = find_period(&period, &self.sources, cited);
        let is_cell = |number: &Written| cited.iter().any(|at| is_in_result(number, &self.sources, *at));
        let is_number = period.is_year
            && mention.as_ref().is_none_or(|mention| mention.rows.is_empty())
            && (!is_said || find_numbers(text, &[], &|_| false).iter().any(is_cell));
        if is_number {
            return;
        }
        masked.push(span.clone());
        match mention {
            Some(mention) if !mention.rows.is_empty() => {
                if !is_said {
                    let value = Value::Named { rows: mention.rows.clone(), keys: mention.keys.clone() };
                    let sources = cited.clone();
                    figures.push(Figure { span, text: text.to_owned(), value, sources, is_said, is_scope: false });
                }
                mentions.push(mention);
            }
            _ if is_said || !period.is_whole => {}
            _ => {
                checked.checked += 1;
                let is_in_cell = cited.iter().any(|at| {
                    self.sources[*at]
                        .rows
                        .iter()
                        .flatten()
                        .filter_map(|cell| cell.text.as_ref())
                        .any(|cell| cell.contains(text))
                });
                if !is_in_cell {
                    checked.claim.problems.push(format!("{text} is in no result"));
                }
            }
        }
    }

    /// Returns whether the question, the cited entries, a definition or the conditions of a cited query contain a period.
    fn says_period(&self, parts: &Parts<'_>, period: &CitedPeriod, cited: &BTreeSet<usize>) -> bool {
        let text = &parts.sentence[period.span.clone()];
        let known = [self.basis.question, &parts.entries, &self.basis.entries.knowledge];
        cited.iter().any(|at| period.days.iter().any(|days| self.sources[*at].selects(days)))
            || known.iter().any(|known| has_period(known, text, period))
    }

    /// Returns a day without a year as its month, if it is a day of no cited result, but one has the month: the number in `July 12` is a
    /// value then, or the year (`July 25: 12`).
    fn read_as_month(&self, parts: &Parts<'_>, period: CitedPeriod, cited: &BTreeSet<usize>) -> CitedPeriod {
        let Some(mut month) = period.month(parts.sentence) else { return period };
        let cells = cited.iter().flat_map(|at| self.sources[*at].rows.iter().flatten());
        let mut cells = cells.filter_map(|cell| cell.days.as_ref());
        let is_day = cells.clone().any(|cell| period.days.contains(cell));
        let has_month = cells.any(|cell| month.days.iter().any(|days| days.matches(cell)));
        if is_day || !has_month || self.says_period(parts, &period, cited) {
            return period;
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let mut digits = parts.sentence[period.span.clone()].split(|c| !is_digit(c));
        let number: Option<i32> = digits.find_map(|digits| digits.parse().ok());
        let is_year = |days: &Days| days.year().map(|year| year % 100) == number;
        let is_free = |at: usize| {
            !period.span.contains(&at) && !parts.masked.iter().any(|mask: &Range<usize>| mask.contains(&at))
        };
        let has_value = parts.sentence.match_indices(is_digit).any(|(at, _)| is_free(at));
        if has_value && month.days.iter().any(is_year) {
            month.days.retain(is_year);
            month.span = period.span;
        }
        month
    }
}
