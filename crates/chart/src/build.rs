//! Builds charts from columns, once a rule has chosen.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    chart::{Axis, Chart, Dot, Drawing, Labelled, Layout, Period, Series},
    column::{Column, Role},
    profile::Profile,
    time::{self, Grain, Span},
};

/// Maximum number of bars that can be added up; the smallest of more are combined into one.
pub(crate) const FOLD_ABOVE: usize = 20;
const FOLD_TO: usize = 14;

/// Minimum ratio of lowest to highest value at which the axis of a line may start above zero.
const MIN_PART: f64 = 0.6;

/// Maximum number of periods on an axis, including gaps; beyond it, the rows are not a regular series.
const MAX_PERIODS: i64 = 1_000;

/// Maximum length of a name; longer ones are truncated.
const MAX_LABEL_CHARS: usize = 60;

const NOT_FROM_ZERO: &str = "The vertical axis does not start at zero";

/// Builds bars per place: one per measure, or one per value of another column. `None` if two rows have the same bar.
pub(crate) fn bars(
    profile: &Profile<'_>,
    places: &Column,
    split: Option<(&Column, Layout)>,
    measures: &[&Column],
) -> Option<Chart> {
    let order = order(places, measures);
    let positions: BTreeMap<&str, usize> =
        order.iter().enumerate().map(|(at, row)| (places.texts[*row].as_str(), at)).collect();
    let other = split.map(|(column, _)| column);
    let place = |row: usize| positions.get(places.texts[row].as_str()).copied();
    let (mut series, drawn) = series(measures, other, order.len(), place)?;
    let mut labels: Vec<String> = order.iter().map(|row| label(places, *row)).collect();
    let mut notes = notes(profile, drawn, measures);
    if let ([one], [measure], Role::Category) = (&mut series[..], measures, &places.role)
        && labels.len() > FOLD_ABOVE
        && measure.are_parts()
    {
        notes.push(fold(&mut labels, &mut one.values, profile.data.has_more));
    }
    let layout = match split {
        Some((_, layout)) => layout,
        None if measures.len() > 1 => Layout::Grouped,
        None => Layout::Single,
    };
    let ordered = matches!(places.role, Role::Time { .. } | Role::Ordinal);
    let title = title(measures, [Some(places), other]);
    let drawing = Drawing::Bars { labels, series, layout, ordered };
    Some(chart(profile, title, places.axis(), shared_axis(measures), drawing, notes))
}

/// Combines the smallest bars into one, or omits them if there are further ones. Returns the note.
fn fold(labels: &mut Vec<String>, values: &mut Vec<Option<f64>>, has_more: bool) -> String {
    let mut by_value: Vec<usize> = (0..values.len()).collect();
    by_value.sort_by(|one, other| values[*other].unwrap_or(0.0).total_cmp(&values[*one].unwrap_or(0.0)));
    let smallest: BTreeSet<usize> = by_value.split_off(FOLD_TO).into_iter().collect();
    let rest: f64 = smallest.iter().filter_map(|at| values[*at]).sum();
    let is_kept = |at: &usize| !smallest.contains(at);
    *labels = (0..labels.len()).filter(is_kept).map(|at| std::mem::take(&mut labels[at])).collect();
    *values = (0..values.len()).filter(is_kept).map(|at| values[at]).collect();
    if has_more {
        return format!("The {FOLD_TO} largest of them");
    }
    labels.push(format!("{} others", smallest.len()));
    values.push(Some(rest));
    format!("The smallest {} are combined into one bar", smallest.len())
}

/// Builds lines over time: one per measure, or at most `most` per value of another column. `None` if two rows have the
/// same point.
pub(crate) fn lines(
    profile: &Profile<'_>,
    time: &Column,
    other: Option<&Column>,
    measures: &[&Column],
    most: usize,
) -> Option<Chart> {
    let Role::Time { grain, spans } = &time.role else { return None };
    let periods = periods(*grain, spans);
    let place = |row: usize| {
        let day = spans[row]?.day;
        periods.binary_search_by(|period| period.day.total_cmp(&day)).ok()
    };
    let (mut series, drawn) = series(measures, other, periods.len(), place)?;
    let mut notes = notes(profile, drawn, measures);
    if other.is_some() {
        let total = |one: &Series| one.values.iter().flatten().sum::<f64>();
        series.sort_by(|one, other| total(other).total_cmp(&total(one)));
    }
    if series.len() > most {
        let rest = series.split_off(most - 1);
        let sum = |at: usize| rest.iter().filter_map(|one| one.values[at]).reduce(|one, other| one + other);
        let values = (0..periods.len()).map(sum).collect();
        notes.push(format!("The smallest {} are combined into one line", rest.len()));
        series.push(Series { name: format!("{} others", rest.len()), values, is_rest: true });
    }
    let values = || series.iter().flat_map(|one| one.values.iter().flatten().copied());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let from_zero = low < high * MIN_PART;
    if !from_zero {
        notes.push(NOT_FROM_ZERO.to_owned());
    }
    let title = title(measures, [other, Some(time)]);
    let drawing = Drawing::Lines { periods, series, from_zero };
    Some(chart(profile, title, time.axis(), shared_axis(measures), drawing, notes))
}

/// Builds a point per row with both measures.
pub(crate) fn dots(profile: &Profile<'_>) -> Option<Chart> {
    let mut measures: Vec<&Column> = profile.measures.iter().collect();
    measures.sort_by_key(|column| column.place);
    let [x, y] = measures[..] else { return None };
    let names = profile.categories.first();
    let dots = (0..x.texts.len()).filter_map(|row| {
        let label = names.map(|column| label(column, row));
        Some(Dot { label, x: x.numbers()[row]?, y: y.numbers()[row]? })
    });
    let dots: Vec<Dot> = dots.collect();
    let notes = notes(profile, dots.len(), &measures);
    let title = format!("{} against {}", y.axis().title, lower(&x.axis().title));
    Some(chart(profile, title, x.axis(), y.axis(), Drawing::Dots { dots }, notes))
}

/// Builds a single value from the main measure of two periods.
pub(crate) fn figure_of_periods(profile: &Profile<'_>, time: &Column) -> Option<Chart> {
    let measure = profile.measures.first()?;
    let rows = order(time, &[measure]);
    let labelled = |row: usize| Some(Labelled { label: label(time, row), value: measure.numbers()[row]? });
    let [before, now] = rows[..] else { return None };
    Some(figure(profile, measure.axis(), labelled(now)?, labelled(before)?))
}

/// Builds a single value from the measures of one row: the current and the previous value.
pub(crate) fn figure_of_row(profile: &Profile<'_>) -> Option<Chart> {
    let ([now, before], [_]) = (&profile.measures[..], profile.data.rows) else { return None };
    let labelled = |column: &Column| Some(Labelled { label: column.axis().title, value: column.numbers()[0]? });
    Some(figure(profile, now.axis(), labelled(now)?, labelled(before)?))
}

fn figure(profile: &Profile<'_>, measure: Axis, now: Labelled, before: Labelled) -> Chart {
    let drawing = Drawing::Figure { now, before };
    chart(profile, measure.title.clone(), Axis::default(), measure, drawing, profile.constants.clone())
}

fn chart(
    profile: &Profile<'_>,
    title: String,
    across: Axis,
    measure: Axis,
    drawing: Drawing,
    notes: Vec<String>,
) -> Chart {
    Chart { title, across, measure, drawing, notes, sources: profile.data.sources.to_vec() }
}

/// Returns the notes on omitted rows and columns.
fn notes(profile: &Profile<'_>, drawn: usize, measures: &[&Column]) -> Vec<String> {
    let mut notes = profile.constants.clone();
    let left = profile.data.rows.len().saturating_sub(drawn);
    if left > 0 {
        notes.push(format!("{left} {} without a value omitted", if left == 1 { "row is" } else { "rows are" }));
    }
    let is_drawn = |column: &&Column| measures.iter().any(|drawn| drawn.place == column.place);
    let others: Vec<String> =
        profile.measures.iter().filter(|column| !is_drawn(column)).map(|column| column.axis().title).collect();
    if !others.is_empty() {
        notes.push(format!("Only in the table: {}", others.join(", ")));
    }
    if profile.data.has_more {
        notes.push(format!("Only the first {} rows", profile.data.rows.len()));
    }
    notes
}

/// Returns the first row of each value of a column that has a number: by period or number, otherwise as the rows are.
fn order(column: &Column, measures: &[&Column]) -> Vec<usize> {
    let is_drawn = |row: &usize| measures.iter().any(|one| one.numbers()[*row].is_some());
    let mut seen = BTreeSet::new();
    let first = (0..column.texts.len()).filter(is_drawn).filter(|row| seen.insert(&column.texts[*row]));
    let mut rows: Vec<usize> = first.collect();
    let position = |row: usize| match &column.role {
        Role::Time { spans, .. } => spans[row].map_or(f64::INFINITY, |span| span.day),
        Role::Ordinal => column.texts[row].parse().unwrap_or(f64::INFINITY),
        _ => 0.0,
    };
    rows.sort_by(|one, other| position(*one).total_cmp(&position(*other)));
    rows
}

/// Returns a series per measure, or per value of another column, and the number of rows with values. `place` is the
/// position of a row. `None` if two rows have the same.
fn series(
    measures: &[&Column],
    other: Option<&Column>,
    count: usize,
    place: impl Fn(usize) -> Option<usize>,
) -> Option<(Vec<Series>, usize)> {
    let of = |name: String| Series { name, values: vec![None; count], is_rest: false };
    let names: Vec<usize> = other.map(|column| order(column, measures)).unwrap_or_default();
    let mut series: Vec<Series> = match (other, measures) {
        (Some(column), _) => names.iter().map(|row| of(label(column, *row))).collect(),
        (None, [_]) => vec![of(String::new())],
        (None, _) => measures.iter().map(|measure| of(measure.axis().title)).collect(),
    };
    let lines: BTreeMap<&str, usize> = match other {
        Some(column) => names.iter().enumerate().map(|(at, row)| (column.texts[*row].as_str(), at)).collect(),
        None => BTreeMap::new(),
    };
    let mut drawn = BTreeSet::new();
    for (at, measure) in measures.iter().enumerate() {
        for (row, number) in measure.numbers().iter().enumerate() {
            let (Some(number), Some(place)) = (number, place(row)) else { continue };
            let line = other.map_or(at, |column| lines.get(column.texts[row].as_str()).copied().unwrap_or(at));
            if series[line].values[place].replace(*number).is_some() {
                return None;
            }
            drawn.insert(row);
        }
    }
    Some((series, drawn.len()))
}

/// Returns the periods of an axis, including missing ones if they are few.
fn periods(grain: Grain, spans: &[Option<Span>]) -> Vec<Period> {
    let mut known: Vec<Span> = spans.iter().flatten().copied().collect();
    known.sort_by(|one, other| one.day.total_cmp(&other.day));
    known.dedup_by(|one, other| one.day == other.day);
    let period = |day: f64| Period { label: time::label(grain, day), day };
    if let Some((first, last)) = known.first().and_then(Span::index).zip(known.last().and_then(Span::index)) {
        let (all, count) = (last - first + 1, known.len() as i64);
        if all <= MAX_PERIODS
            && (all - count) * 4 <= count
            && let Some(filled) = (first..=last).map(|index| time::day_of(grain, index).map(period)).collect()
        {
            return filled;
        }
    }
    known.iter().map(|span| period(span.day)).collect()
}

fn label(column: &Column, row: usize) -> String {
    match &column.role {
        Role::Time { grain, spans } => spans[row].map_or_else(|| write_label(""), |span| time::label(*grain, span.day)),
        _ => write_label(&column.texts[row]),
    }
}

fn write_label(text: &str) -> String {
    match text.char_indices().nth(MAX_LABEL_CHARS) {
        _ if text.is_empty() => "(none)".to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Lower-cases the first letter, unless the word is an abbreviation.
fn lower(title: &str) -> String {
    let mut chars = title.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(_), Some(second)) if second.is_uppercase() => title.to_owned(),
        (Some(first), _) => first.to_lowercase().chain(chars).collect(),
        _ => String::new(),
    }
}

/// Returns the title: the measures, and the columns that distinguish their values.
fn title(measures: &[&Column], by: [Option<&Column>; 2]) -> String {
    let titles: Vec<String> = measures.iter().map(|column| column.axis().title).collect();
    let measures = match &titles[..] {
        [one] => one.clone(),
        [one, other] => format!("{one} and {}", lower(other)),
        [one, other, third] => format!("{one}, {} and {}", lower(other), lower(third)),
        [one, rest @ ..] => format!("{one} and {} others", rest.len()),
        [] => String::new(),
    };
    let by: Vec<String> = by.iter().flatten().map(|column| lower(&column.axis().title)).collect();
    format!("{measures} by {}", by.join(" and "))
}

/// Returns the axis of several measures: their common unit and title, if any.
fn shared_axis(measures: &[&Column]) -> Axis {
    match measures {
        [one] => one.axis(),
        _ => Axis {
            title: measures.first().and_then(|one| one.unit.clone()).unwrap_or_else(|| "Value".to_owned()),
            unit: None,
        },
    }
}
