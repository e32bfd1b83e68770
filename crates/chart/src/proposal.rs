//! Charts requested by the caller, and their validation.

use serde_json::Value;

use crate::{
    build,
    chart::{Chart, ChartKind, Layout},
    column::Column,
    data::{Data, Use},
    profile::Profile,
    rules::{Choice, MAX_BARS, MAX_GROUPS, MAX_SERIES, MIN_DOTS, decide, without_totals},
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
        let uses = places.iter().map(|at| data.uses.get(*at).copied().flatten()).collect();
        let part = Data { columns: &columns, rows: &rows, uses: self.assign_uses(uses, rows.len()), ..data.clone() };
        without_totals(&part, |profile| self.draw(profile)).note(list_others(data, &columns))
    }

    /// Sets the uses that the order of the columns implies, where the caller does not know them.
    fn assign_uses(&self, mut uses: Vec<Option<Use>>, rows: usize) -> Vec<Option<Use>> {
        let is_measure = |usage: &Option<Use>| matches!(usage, Some(Use::Sum | Use::Measure));
        let are_measures = self.kind == ChartKind::Scatter || self.kind == ChartKind::Figure && rows == 1;
        let has_measure = uses.iter().any(is_measure);
        let measure = if self.kind == ChartKind::StackedBar { Use::Sum } else { Use::Measure };
        let last = uses.len().saturating_sub(1);
        for (at, usage) in uses.iter_mut().enumerate().filter(|(_, usage)| !is_measure(usage)) {
            if are_measures || at == last && !has_measure {
                *usage = Some(measure);
            } else if at == 0 {
                *usage = Some(Use::Dimension);
            }
        }
        uses
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
        match self.kind {
            ChartKind::Scatter => return finish(self.kind, draw_dots(profile)),
            ChartKind::Figure if profile.data.rows.len() == 1 => {
                return finish(self.kind, build::figure_of_row(profile));
            }
            _ => {}
        }
        match decide(profile) {
            Choice::Chart(chart) if is_met(self.kind, chart.kind()) => Choice::Chart(chart),
            Choice::Chart(_) => finish(self.kind, redraw(profile, self.kind)),
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

fn draw_dots(profile: &Profile<'_>) -> Option<Chart> {
    let are_different = profile.measures.iter().all(|measure| measure.distinct > 1);
    let is_plain = profile.times.is_empty() && profile.categories.len() < 2 && !profile.has_prose;
    (are_different && is_plain && profile.data.rows.len() >= MIN_DOTS).then(|| build::dots(profile)).flatten()
}

/// Builds bars instead of the chart that the rules chose, if they represent the columns equally well.
fn redraw(profile: &Profile<'_>, kind: ChartKind) -> Option<Chart> {
    let measures = profile.comparable();
    let columns: Vec<&Column> = profile.times.iter().chain(&profile.categories).collect();
    let (places, split) = match (*columns.first()?, columns.get(1), kind) {
        (places, None, ChartKind::Bar) => (places, None),
        (places, None, ChartKind::GroupedBar) if measures.len() > 1 => (places, None),
        (places, Some(other), ChartKind::GroupedBar) => (places, Some((*other, Layout::Grouped))),
        (places, Some(other), ChartKind::StackedBar) if measures[0].are_parts() => {
            (places, Some((*other, Layout::Stacked)))
        }
        _ => return None,
    };
    let (bars, series) = match split {
        Some((other, _)) => (MAX_GROUPS, if measures.len() == 1 { other.distinct } else { usize::MAX }),
        None => (if measures.len() > 1 { MAX_GROUPS } else { MAX_BARS }, measures.len()),
    };
    let fits = measures.len() == profile.measures.len() && places.distinct <= bars && series <= MAX_SERIES;
    fits.then(|| build::bars(profile, places, split, &measures)).flatten()
}

fn finish(kind: ChartKind, chart: Option<Chart>) -> Choice {
    chart.map_or(Choice::Table { reason: find_reason(kind) }, |chart| Choice::Chart(Box::new(chart)))
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
    let others = profile.measures.iter().filter(|column| !drawn.contains(&column.name));
    let titles: Vec<String> = others.map(|column| column.axis().title).collect();
    (!titles.is_empty()).then(|| format!("Only in the table: {}", titles.join(", ")))
}
