//! A chart that somebody else would draw, and whether the rules allow it.

use serde_json::Value;

use crate::{
    build,
    chart::{ChartKind, Layout},
    column::Column,
    data::Data,
    profile::Profile,
    rules::{Choice, MAX_GROUPS, MAX_ORDERED_BARS, MAX_SERIES, MIN_DOTS, decide},
    totals,
};

/// A chart that is proposed for a result, by a language model or whoever else has not seen the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What is to be drawn.
    pub kind: ChartKind,
    /// The columns that it shows: first what tells bars, lines or points apart, then what is measured.
    pub columns: Vec<String>,
}

impl Proposal {
    /// The chart, where the rules allow it of these columns; else why it is not drawn.
    pub fn judge(&self, data: &Data<'_>) -> Choice {
        let Some(places) = self.find_columns(data.columns) else {
            return Choice::Table { reason: "the result does not have these columns" };
        };
        let columns: Vec<String> = places.iter().map(|at| data.columns[*at].clone()).collect();
        let pick = |row: &Vec<Value>| -> Vec<Value> {
            places.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect()
        };
        let rows: Vec<Vec<Value>> = data.rows.iter().map(pick).collect();
        let part = Data { columns: &columns, rows: &rows, ..*data };
        let drawn = match totals::leave_out(&part) {
            None => self.draw(&Profile::new(&part)),
            Some(parts) => self.draw(&Profile::new(&Data { rows: &parts.rows, ..part })).note([parts.note]),
        };
        drawn.note(list_others(data, &columns))
    }

    /// The places of the columns, each once; none where one is not there.
    fn find_columns(&self, known: &[String]) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        for name in &self.columns {
            let exact = known.iter().position(|column| column == name);
            let place = exact.or_else(|| known.iter().position(|column| column.eq_ignore_ascii_case(name)))?;
            if !places.contains(&place) {
                places.push(place);
            }
        }
        (!places.is_empty()).then_some(places)
    }

    fn draw(&self, profile: &Profile<'_>) -> Choice {
        if self.kind == ChartKind::Scatter {
            return draw_dots(profile);
        }
        match decide(profile) {
            Choice::Chart(chart) if is_met(self.kind, chart.kind()) => Choice::Chart(chart),
            Choice::Chart(_) => redraw(profile, self.kind),
            // What the rules do not draw at all, nobody else draws either.
            none @ Choice::Table { .. } => none,
        }
    }
}

/// Whether what the rules would draw is what was meant: `bar` is said of bars of every kind.
fn is_met(proposed: ChartKind, chosen: ChartKind) -> bool {
    let is_bar = |kind| matches!(kind, ChartKind::Bar | ChartKind::GroupedBar | ChartKind::StackedBar);
    proposed == chosen || (proposed == ChartKind::Bar && is_bar(chosen))
}

fn draw_dots(profile: &Profile<'_>) -> Choice {
    let has_two = profile.measures.len() == 2 && profile.measures.iter().all(|measure| measure.distinct > 1);
    let is_plain = profile.times.is_empty() && profile.categories.len() < 2 && !profile.has_prose;
    match has_two && is_plain && profile.data.rows.len() >= MIN_DOTS {
        true => Choice::Chart(Box::new(build::dots(profile))),
        false => Choice::Table { reason: "a scatter plot wants two measures of eight rows or more" },
    }
}

/// Columns of which the rules would draw something else, where the other is as true of them.
fn redraw(profile: &Profile<'_>, kind: ChartKind) -> Choice {
    let comparable = profile.comparable();
    let are_comparable = comparable.len() == profile.measures.len();
    let main = comparable.first();
    let are_parts = main.is_some_and(|measure| {
        measure.is_additive() && measure.numbers().iter().flatten().all(|number| *number >= 0.0)
    });
    let layout = if kind == ChartKind::StackedBar { Layout::Stacked } else { Layout::Grouped };
    let fits = |outer: &Column<'_>, inner: &Column<'_>| outer.distinct <= MAX_GROUPS && inner.distinct <= MAX_SERIES;
    let drawn = match (kind, &profile.times[..], &profile.categories[..], comparable.len()) {
        (ChartKind::Bar, [time], [], 1) if are_comparable && time.distinct <= MAX_ORDERED_BARS => {
            Some(build::bars(profile, time, &comparable, None))
        }
        (ChartKind::Bar | ChartKind::GroupedBar, [time], [], 2..=MAX_SERIES)
            if are_comparable && time.distinct <= MAX_GROUPS =>
        {
            Some(build::bars(profile, time, &comparable, None))
        }
        (ChartKind::StackedBar, ..) if !are_parts => None,
        (ChartKind::GroupedBar | ChartKind::StackedBar, [time], [category], 1) if fits(time, category) => {
            build::matrix(profile, time, category, layout)
        }
        (ChartKind::GroupedBar | ChartKind::StackedBar, [], [one, other], 1) if fits(one, other) => {
            build::matrix(profile, one, other, layout)
        }
        _ => None,
    };
    drawn.map_or(Choice::Table { reason: find_reason(kind) }, |chart| Choice::Chart(Box::new(chart)))
}

/// Why columns that can be drawn are not drawn in that way.
fn find_reason(kind: ChartKind) -> &'static str {
    match kind {
        ChartKind::Bar => "bars want one row for each category or period, and not too many",
        ChartKind::GroupedBar => "grouped bars want two categories, or measures that one axis can bear",
        ChartKind::StackedBar => "stacked bars want parts of two categories that may be added up",
        ChartKind::Line => "a line wants four periods or more",
        ChartKind::Scatter => "a scatter plot wants two measures of eight rows or more",
        ChartKind::Figure => "a figure wants a value now and the same before",
    }
}

/// What is measured in the other columns, for a note.
fn list_others(data: &Data<'_>, drawn: &[String]) -> Option<String> {
    let profile = Profile::new(data);
    let others = profile.measures.iter().filter(|column| !drawn.iter().any(|name| name == column.name));
    let titles: Vec<String> = others.map(|column| column.axis().title).collect();
    (!titles.is_empty()).then(|| format!("Only in the table: {}", titles.join(", ")))
}
