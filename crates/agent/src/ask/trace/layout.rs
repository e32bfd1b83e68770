//! Assigns the numbers of a sentence to the values that it names, by order and punctuation.
//! `The US has 86 and Germany 175` names a value before each number, `86 in the US, 175 in Germany` after it, and `the US and Germany have
//! 86 and 175` in the same order. Words are not interpreted; ambiguous layouts stay ambiguous.

use std::ops::Range;

/// A value or a number with its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value, by its index among the mentions.
    Value(usize),
    /// A number, by its index among the numbers.
    Number(usize),
}

/// The values that a number may refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Choice {
    pub(super) values: Vec<usize>,
    /// Whether it directly follows its only value and must refer to it.
    pub(super) is_owner: bool,
    /// The separation from the value.
    pub(super) gap: Gap,
}

/// Numbers that may refer to as many values, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) numbers: Vec<usize>,
    pub(super) values: Vec<usize>,
}

/// The separation of two items of a sentence, from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Gap {
    /// Only words, or an opening parenthesis.
    #[default]
    None,
    /// A comma, a dash, or the border of a table cell.
    Comma,
    /// A reference, or a closing parenthesis.
    Aside,
    /// A semicolon, or the end of a sentence.
    Clause,
    /// A colon before a value: the text after it explains the text before it.
    Heading,
}

/// Measures the separation of two positions, and whether a colon is between them: a colon connects a value to its number, and separates a
/// number from a value. `skipped` are the spans of other items.
fn measure_gap(
    sentence: &str,
    between: Range<usize>,
    skipped: &[Range<usize>],
    references: &[Range<usize>],
) -> (Gap, bool) {
    let mut gap = Gap::None;
    let mut outer: Vec<Gap> = Vec::new();
    let mut has_colon = false;
    let text = &sentence[between.clone()];
    for (at, c) in text.char_indices() {
        let place = between.start + at;
        if references.iter().any(|span| span.contains(&place)) {
            gap = gap.max(Gap::Aside);
            continue;
        }
        if skipped.iter().any(|span| span.contains(&place)) {
            continue;
        }
        let is_spaced = text[..at].ends_with(' ') && text[at + c.len_utf8()..].starts_with(' ');
        let next = text[at + c.len_utf8()..].chars().next();
        match c {
            '(' | '（' => outer.push(gap),
            ')' | '）' => gap = outer.pop().unwrap_or(gap.max(Gap::Aside)),
            ',' | '|' | '—' | '、' | '，' => gap = gap.max(Gap::Comma),
            '–' | '-' if is_spaced => gap = gap.max(Gap::Comma),
            ':' | '：' => has_colon |= outer.is_empty(),
            // A full stop within a sentence belongs to an abbreviation.
            ';' | '；' | '。' | '！' | '？' => gap = gap.max(Gap::Clause),
            '!' | '?' if next.is_none_or(char::is_whitespace) => gap = gap.max(Gap::Clause),
            _ => {}
        }
    }
    (gap, has_colon)
}

/// The items of a sentence in order.
pub(super) struct Layout<'a> {
    sentence: &'a str,
    items: Vec<Item>,
    skipped: Vec<Range<usize>>,
    references: &'a [Range<usize>],
}

impl<'a> Layout<'a> {
    /// `names` are the spans of other names, in which punctuation is ignored.
    pub(super) fn new(
        sentence: &'a str,
        mut items: Vec<Item>,
        references: &'a [Range<usize>],
        names: &[Range<usize>],
    ) -> Self {
        items.sort_by_key(|item| item.span.start);
        let skipped = items.iter().map(|item| item.span.clone()).chain(names.iter().cloned()).collect();
        Layout { sentence, items, skipped, references }
    }

    fn gap(&self, a: usize, b: usize) -> (Gap, bool) {
        let between = self.items[a].span.end..self.items[b].span.start.max(self.items[a].span.end);
        measure_gap(self.sentence, between, &self.skipped, self.references)
    }

    fn is_value(&self, at: usize) -> bool {
        matches!(self.items[at].kind, Kind::Value(_))
    }

    /// Returns the values of the nearest clause among positions that lead away from a number, the nearest first.
    fn run_from(&self, places: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut run: Vec<usize> = Vec::new();
        for at in places {
            match (self.is_value(at), run.last().copied()) {
                // Another clause has its own values.
                (true, Some(last)) if self.gap(at.min(last), at.max(last)).0 >= Gap::Aside => break,
                (true, _) => run.push(at),
                (false, Some(_)) => break,
                (false, None) => {}
            }
        }
        run
    }

    fn values_of(&self, places: &[usize]) -> Vec<usize> {
        let value = |at: &usize| match self.items[*at].kind {
            Kind::Value(value) => Some(value),
            Kind::Number(_) => None,
        };
        places.iter().filter_map(value).collect()
    }

    /// Returns the values that each number may refer to, with the index of the number; empty without values.
    pub(super) fn choose(&self) -> Vec<(usize, Choice)> {
        let place = |(at, item): (usize, &Item)| match item.kind {
            Kind::Number(number) => Some((number, self.choose_at(at))),
            Kind::Value(_) => None,
        };
        self.items.iter().enumerate().filter_map(place).collect()
    }

    fn choose_at(&self, at: usize) -> Choice {
        let before = self.run_from((0..at).rev());
        let after = self.run_from(at + 1..self.items.len());
        let (Some(previous), Some(next)) = (before.first().copied(), after.first().copied()) else {
            return match (before.first(), after.first()) {
                (Some(_), _) => self.choose_before(&before, at),
                (_, Some(_)) => self.choose_after(&after, at),
                _ => Choice::default(),
            };
        };
        let (gap_before, _) = self.gap(previous, at);
        let (gap_after, has_colon) = self.gap(at, next);
        let gap_after = if has_colon { gap_after.max(Gap::Heading) } else { gap_after };
        if gap_before != gap_after {
            return if gap_before < gap_after {
                self.choose_before(&before, at)
            } else {
                self.choose_after(&after, at)
            };
        }
        let is_next_to = (previous + 1 == at, at + 1 == next);
        match (is_next_to, self.direction(at, gap_before)) {
            ((true, false), _) => self.choose_before(&before, at),
            ((true, true) | (false, false), Some(true)) => self.choose_before(&before, at),
            ((true, true) | (false, false), Some(false)) => self.choose_after(&after, at),
            _ => {
                let mut choice = self.choose_before(&before, at);
                choice.values.extend(self.values_of(&[next]));
                choice.is_owner = false;
                choice
            }
        }
    }

    fn choose_before(&self, run: &[usize], at: usize) -> Choice {
        let (gap, has_colon) = self.gap(run[0], at);
        let values = if has_colon && self.is_in_list(at) { self.list_before(at) } else { self.values_of(run) };
        let is_owner = values.len() == 1 && gap == Gap::None && run[0] + 1 == at;
        Choice { values, is_owner, gap }
    }

    /// Returns whether the number is next to another one.
    fn is_in_list(&self, at: usize) -> bool {
        let is_number = |at: usize| at < self.items.len() && !self.is_value(at);
        is_number(at + 1) || at.checked_sub(1).is_some_and(is_number)
    }

    /// Returns all values of the clause before a number: several numbers after a colon explain the text before it.
    fn list_before(&self, at: usize) -> Vec<usize> {
        let before = (0..at).rev().filter(|value| self.is_value(*value));
        let places: Vec<usize> = before.take_while(|value| self.gap(*value, at).0 < Gap::Clause).collect();
        self.values_of(&places)
    }

    /// Selects the nearest of several values after a number.
    fn choose_after(&self, run: &[usize], at: usize) -> Choice {
        Choice { values: self.values_of(&run[..1]), is_owner: false, gap: self.gap(at, run[0]).0 }
    }

    /// Returns whether the part of the sentence around a position, separated by at most `gap`, names a value before each number; `None`
    /// where it starts and ends with a number.
    fn direction(&self, at: usize, gap: Gap) -> Option<bool> {
        let is_border = |a: usize| {
            let (between, has_colon) = self.gap(a, a + 1);
            between > gap || (has_colon && self.is_value(a + 1))
        };
        let begin = (0..at).rev().find(|a| is_border(*a)).map_or(0, |a| a + 1);
        let end = (at..self.items.len() - 1).find(|a| is_border(*a)).unwrap_or(self.items.len() - 1);
        match (self.is_value(begin), self.is_value(end)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    /// Finds numbers next to as many values: `A, B and C have 1, 2 and 3`, or the reverse.
    pub(super) fn list_groups(&self) -> Vec<Group> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for at in 0..self.items.len() {
            match runs.last_mut() {
                Some(run) if self.is_value(run.start) == self.is_value(at) => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        let pairs = runs.windows(2).filter(|pair| pair[0].len() == pair[1].len() && pair[0].len() > 1);
        let group = |pair: &[Range<usize>]| {
            let (values, numbers) =
                if self.is_value(pair[0].start) { (&pair[0], &pair[1]) } else { (&pair[1], &pair[0]) };
            let number = |at: usize| match self.items[at].kind {
                Kind::Number(number) => Some(number),
                Kind::Value(_) => None,
            };
            let values: Vec<usize> = values.clone().collect();
            Group { numbers: numbers.clone().filter_map(number).collect(), values: self.values_of(&values) }
        };
        pairs.map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays out a sentence in which capitals are values and digits are numbers; which values each number can be about.
    fn check(sentence: &str, expected: &[(&str, &str)]) {
        let items = sentence.char_indices().filter_map(|(at, c)| {
            let span = at..at + c.len_utf8();
            if c.is_ascii_uppercase() {
                Some(Item { span, kind: Kind::Value(at) })
            } else {
                c.is_ascii_digit().then_some(Item { span, kind: Kind::Number(at) })
            }
        });
        let layout = Layout::new(sentence, items.collect(), &[], &[]);
        let text = |at: usize| &sentence[at..=at];
        let found: Vec<(&str, String)> = layout
            .choose()
            .iter()
            .map(|(number, choice)| (text(*number), choice.values.iter().map(|value| text(*value)).collect()))
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(number, values)| (*number, values.as_str())).collect();
        assert_eq!(found, expected, "{sentence}");
    }

    #[test]
    fn a_number_follows_its_value() {
        check("A has 1 and B 2", &[("1", "A"), ("2", "B")]);
        check("A: 1, B: 2; C, 3", &[("1", "A"), ("2", "B"), ("3", "C")]);
        check("A (1), B (2)", &[("1", "A"), ("2", "B")]);
        check("A – 1, B – 2", &[("1", "A"), ("2", "B")]);
        check("A has 1 and 2, B 3", &[("1", "A"), ("2", "A"), ("3", "B")]);
        check("A leads with 1, ahead of B", &[("1", "A")]);
        check("A leads; B has 1", &[("1", "B")]);
        check("all are 1: A 2, B 3", &[("1", "A"), ("2", "A"), ("3", "B")]);
    }

    #[test]
    fn a_number_goes_before_its_value() {
        check("1 in A, 2 in B", &[("1", "A"), ("2", "B")]);
        check("1 in A and 2 in B", &[("1", "A"), ("2", "B")]);
        check("1 (A), 2 (B)", &[("1", "A"), ("2", "B")]);
        check("with 1, A leads", &[("1", "A")]);
        check("but for C, 1 in A and 2 in B", &[("1", "A"), ("2", "B")]);
    }

    #[test]
    fn ambiguous_order_stays_ambiguous() {
        check("A has more than B: 1", &[("1", "BA")]);
        check("A has 1 more than B: 2 against 3", &[("1", "A"), ("2", "BA"), ("3", "BA")]);
        check("of 1 A has 2 and B 3", &[("1", "A"), ("2", "AB"), ("3", "B")]);
    }

    #[test]
    fn lists_of_equal_length_are_paired() {
        let groups = |sentence: &str| {
            let kind = |at: usize, c: char| if c.is_ascii_digit() { Kind::Number(at) } else { Kind::Value(at) };
            let items = sentence.char_indices().filter(|(_, c)| c.is_ascii_digit() || c.is_ascii_uppercase());
            let items = items.map(|(at, c)| Item { span: at..at + 1, kind: kind(at, c) }).collect();
            Layout::new(sentence, items, &[], &[]).list_groups().len()
        };
        assert_eq!(groups("A, B and C have 1, 2 and 3"), 1);
        assert_eq!(groups("from 1 to 2 between A and B"), 1);
        assert_eq!(groups("A has 1, B 2"), 0);
        assert_eq!(groups("A and B have 1"), 0);
    }
}
