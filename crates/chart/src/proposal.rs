//! Charts requested by the caller, and their validation.

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

/// A requested chart, for example by a language model that does not know the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The kind of chart.
    pub kind: ChartKind,
    /// The columns to show: first those that identify bars, lines or points, then the measures.
    pub columns: Vec<String>,
}

impl Proposal {
    /// Returns the chart if the rules allow it for these columns, otherwise the reason.
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

    /// Returns the indexes of the columns, without duplicates; `None` if one is unknown.
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
            // A table cannot be overridden.
            none @ Choice::Table { .. } => none,
        }
    }
}

/// Returns whether the chosen kind satisfies the requested one: `bar` includes all kinds of bars.
fn is_met(proposed: ChartKind, chosen: ChartKind) -> bool {
    let is_bar = |kind| matches!(kind, ChartKind::Bar | ChartKind::GroupedBar | ChartKind::StackedBar);
    proposed == chosen || (proposed == ChartKind::Bar && is_bar(chosen))
}

fn draw_dots(profile: &Profile<'_>) -> Choice {
    let has_two = profile.measures.len() == 2 && profile.measures.iter().all(|measure| measure.distinct > 1);
    let is_plain = profile.times.is_empty() && profile.categories.len() < 2 && !profile.has_prose;
    match has_two && is_plain && profile.data.rows.len() >= MIN_DOTS {
        true => Choice::Chart(Box::new(build::dots(profile))),
        false => Choice::Table { reason: "a scatter plot needs two measures and at least eight rows" },
    }
}

/// Builds another chart than the rules chose, if it represents the columns equally well.
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

/// Returns why the requested kind is not possible.
fn find_reason(kind: ChartKind) -> &'static str {
    match kind {
        ChartKind::Bar => "bars need one row per category or period, and not too many",
        ChartKind::GroupedBar => "grouped bars need two categories, or measures of compatible scales",
        ChartKind::StackedBar => "stacked bars need two categories and an additive measure",
        ChartKind::Line => "a line needs at least four periods",
        ChartKind::Scatter => "a scatter plot needs two measures and at least eight rows",
        ChartKind::Figure => "a figure needs a current and a previous value",
    }
}

/// Returns a note with the titles of the other columns.
fn list_others(data: &Data<'_>, drawn: &[String]) -> Option<String> {
    let profile = Profile::new(data);
    let others = profile.measures.iter().filter(|column| !drawn.iter().any(|name| name == column.name));
    let titles: Vec<String> = others.map(|column| column.axis().title).collect();
    (!titles.is_empty()).then(|| format!("Only in the table: {}", titles.join(", ")))
}
