//! Whether a question that goes on from the one before, made a whole one, is understood as that one but for its change.

use super::{
    follow_up::{Change, FollowUp, UNDERSTOOD, text},
    intent::{self, Filter, Group, Intent, Stop, Test},
    text::{Word, words},
    turn_state::TurnState,
};

impl FollowUp {
    /// What tables are looked for with: a value more says nothing of them.
    pub(super) fn search_text(&self) -> &str {
        if self.change == Change::Value { &self.before } else { &self.whole }
    }

    /// The same where the value is another one of the column that the question before names a value of: no row has both, so it
    /// stands in its place.
    pub(super) fn with_other_value(&self, known: &TurnState, database: &str) -> Option<FollowUp> {
        if self.change != Change::Value || self.value.1 {
            return None;
        }
        let now = intent::read(known, database).ok()?;
        let before = intent::read(&self.known_before(known), database).ok()?;
        let (old, _) = clash(&before, &now)?;
        let (words, old) = (words(&self.before), words(old));
        let is_old =
            |window: &[Word]| window.iter().zip(&old).all(|(word, old)| word.text.eq_ignore_ascii_case(&old.text));
        let mut places = words.windows(old.len().max(1)).enumerate().filter(|(_, window)| is_old(window));
        let (Some((at, _)), None) = (places.next(), places.next()) else { return None };
        let parts = [text(&words[..at]), self.value.0.clone(), text(&words[at + old.len()..])];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Some(FollowUp { change: Change::OtherValue, whole: parts.join(" "), ..self.clone() })
    }

    fn known_before(&self, known: &TurnState) -> TurnState {
        TurnState { question: self.before.clone(), follow_up: Ok(None), ..known.clone() }
    }

    /// Whether what was understood is the question before but for the change.
    pub(super) fn holds(&self, known: &TurnState, database: &str, now: &Intent) -> Result<(), Stop> {
        let stop = |reason: &str| Err(Stop::Reason(format!("{reason}: ask it in full")));
        let Ok(before) = intent::read(&self.known_before(known), database) else {
            return stop("it goes on from the question before, which I do not understand");
        };
        let is_same = before.subject == now.subject
            && before.measure == now.measure
            && before.called == now.called
            && before.rank == now.rank
            && match self.change {
                Change::Period => before.groups == now.groups && another_period(&before.filters, &now.filters),
                Change::Group => before.filters == now.filters && one_more_group(&before.groups, &now.groups),
                Change::Value => before.groups == now.groups && one_more_value(&before.filters, &now.filters),
                Change::OtherValue => before.groups == now.groups && one_other_value(&before.filters, &now.filters),
            };
        if !is_same {
            return stop("it goes on from the question before, but not by a period, a group or a value alone");
        }
        if self.change == Change::Value
            && let Some((old, new)) = clash(&before, now)
        {
            return stop(&format!("the question before asks for {old} already, and {new} cannot be that too"));
        }
        Ok(())
    }

    /// The line that says what was understood; it rests on the query.
    pub(super) fn line(&self) -> String {
        format!("{UNDERSTOOD}{}” [Q1]\n\n", self.whole)
    }
}

fn another_period(before: &[Filter], now: &[Filter]) -> bool {
    let parts = |filters: &[Filter]| -> (Vec<Filter>, Vec<Filter>) {
        filters.iter().cloned().partition(|filter| matches!(filter.test, Test::During(_)))
    };
    let ((old, rest), (new, kept)) = (parts(before), parts(now));
    let place = |filters: &[Filter]| filters.first().map(|filter| filter.place);
    rest == kept && old.len() <= 1 && new.len() == 1 && (old.is_empty() || place(&old) == place(&new))
}

fn one_more_group(before: &[Group], now: &[Group]) -> bool {
    let is_there = |group: &Group| now.contains(group);
    let other_unit = before.len() == now.len()
        && before.iter().zip(now).all(|(old, new)| old.place == new.place && old.unit.is_some() == new.unit.is_some());
    other_unit || (now.len() == before.len() + 1 && before.iter().all(is_there))
}

fn one_more_value(before: &[Filter], now: &[Filter]) -> bool {
    let new: Vec<&Filter> = now.iter().filter(|filter| !before.contains(filter)).collect();
    now.len() == before.len() + 1
        && before.iter().all(|filter| now.contains(filter))
        && matches!(new.as_slice(), [Filter { test: Test::Is(_), .. }])
}

fn one_other_value(before: &[Filter], now: &[Filter]) -> bool {
    let is_value = |filter: &Filter| matches!(filter.test, Test::Is(_));
    let differ: Vec<(&Filter, &Filter)> = before.iter().zip(now).filter(|(old, new)| old != new).collect();
    before.len() == now.len()
        && matches!(differ.as_slice(), [(old, new)] if old.place == new.place && is_value(old) && is_value(new))
}

/// Two values of one column, of which no row has both: that of the question before, and the one that came to it.
fn clash<'a>(before: &'a Intent, now: &'a Intent) -> Option<(&'a str, &'a str)> {
    let value = |filter: &'a Filter| match &filter.test {
        Test::Is(value) => Some((filter.place, value.as_str())),
        _ => None,
    };
    let came = now.filters.iter().filter(|filter| !before.filters.contains(filter)).find_map(value);
    let (place, new) = came?;
    let old = before.filters.iter().filter_map(value).find(|(at, old)| *at == place && *old != new);
    old.map(|(_, old)| (old, new))
}
