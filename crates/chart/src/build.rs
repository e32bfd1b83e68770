//! Builds charts from columns, once a rule has chosen.

use std::collections::BTreeMap;

use crate::{
    chart::{Axis, Chart, Dot, Drawing, Labelled, Layout, Period, Series},
    column::{self, Column, Role, capital},
    profile::Profile,
    time::{self, Grain, Span},
};

/// Maximum number of bars; the rest is folded into one.
pub(crate) const FOLD_ABOVE: usize = 20;
pub(crate) const FOLD_TO: usize = 14;

/// Minimum ratio of lowest to highest value at which the axis of a line may start above zero.
const MIN_PART: f64 = 0.6;

/// Maximum number of periods on an axis, including gaps; beyond it, the rows are not a regular series.
const MAX_PERIODS: i64 = 1_000;

/// Maximum length of a name; longer ones are truncated.
const MAX_LABEL_CHARS: usize = 60;

const NOT_FROM_ZERO: &str = "The vertical axis does not start at zero";

/// Words for the current period in the name of a measure.
const NOW: &[&str] = &["current", "this", "now", "latest", "new"];
const BEFORE: &[&str] = &["previous", "last", "prior", "before", "earlier", "old"];
const PERIODS: &[&str] = &["day", "week", "month", "quarter", "year", "period"];

/// Builds bars of one or several measures, one group per row.
pub(crate) fn bars(
    profile: &Profile<'_>,
    places: &Column<'_>,
    measures: &[&Column<'_>],
    fold_to: Option<usize>,
) -> Chart {
    let mut order: Vec<usize> =
        (0..places.texts.len()).filter(|row| measures.iter().any(|one| one.numbers()[*row].is_some())).collect();
    let ordered = sort(&mut order, places, measures[0]);
    let mut notes = notes(profile, order.len(), measures);
    let mut labels: Vec<String> = order.iter().map(|row| label(places, *row)).collect();
    let is_single = measures.len() == 1;
    let mut series: Vec<Series> = measures
        .iter()
        .map(|measure| Series {
            name: if is_single { String::new() } else { measure.axis().title },
            values: order.iter().map(|row| measure.numbers()[*row]).collect(),
            is_rest: false,
        })
        .collect();
    if let Some(kept) = fold_to.filter(|kept| *kept < labels.len()) {
        let folded = labels.len() - kept;
        labels.truncate(kept);
        if profile.data.has_more {
            // Rows beyond the limit cannot be aggregated.
            series.iter_mut().for_each(|one| one.values.truncate(kept));
            notes.push(format!("The first {kept} of more than {}", profile.data.rows.len()));
        } else {
            labels.push(format!("{folded} others"));
            for one in &mut series {
                let rest: f64 = one.values.split_off(kept).into_iter().flatten().sum();
                one.values.push(Some(rest));
            }
            notes.push(format!("The smallest {folded} are combined into one bar"));
        }
    } else if profile.data.has_more {
        notes.push(format!("Only the first {} rows", profile.data.rows.len()));
    }
    let layout = if is_single { Layout::Single } else { Layout::Grouped };
    let (across, measure) = (places.axis(), shared_axis(measures));
    Chart {
        title: format!("{} by {}", titles(measures), lower(&across.title)),
        across,
        measure,
        drawing: Drawing::Bars { labels, series, layout, ordered },
        notes,
        sources: profile.data.sources.to_vec(),
    }
}

/// Builds bars per pair of categories, or per category and period.
pub(crate) fn matrix(profile: &Profile<'_>, outer: &Column<'_>, inner: &Column<'_>, layout: Layout) -> Option<Chart> {
    let measure = &profile.measures[0];
    let (places, names) = (keys(outer), keys(inner));
    let cells = pair(outer, inner, measure)?;
    let value = |place: &str, name: &str| cells.get(&(place.to_owned(), name.to_owned())).copied();
    let mut order: Vec<&String> = places.iter().collect();
    let is_ordered = matches!(outer.role, Role::Ordinal | Role::Time { .. });
    if !is_ordered && layout == Layout::Stacked {
        let total = |place: &str| names.iter().filter_map(|name| value(place, name)).sum::<f64>();
        order.sort_by(|one, other| total(other).total_cmp(&total(one)));
    }
    let series = names.iter().map(|name| Series {
        name: write_label(name),
        values: order.iter().map(|place| value(place, name)).collect(),
        is_rest: false,
    });
    Some(Chart {
        title: format!("{} by {} and {}", measure.axis().title, lower(&outer.axis().title), lower(&inner.axis().title)),
        across: outer.axis(),
        measure: measure.axis(),
        drawing: Drawing::Bars {
            series: series.collect(),
            labels: order.iter().map(|place| write_label(place)).collect(),
            layout,
            ordered: is_ordered,
        },
        notes: notes(profile, cells.len(), &[measure]),
        sources: profile.data.sources.to_vec(),
    })
}

/// Builds a line per measure.
pub(crate) fn lines(profile: &Profile<'_>, time: &Column<'_>, measures: &[&Column<'_>]) -> Chart {
    let (grain, spans) = spans(time);
    let rows: Vec<(Span, usize)> = spans.iter().enumerate().filter_map(|(row, span)| Some(((*span)?, row))).collect();
    let axis = TimeAxis::new(grain, rows.iter().map(|(span, _)| *span));
    let is_single = measures.len() == 1;
    let series = measures.iter().map(|measure| {
        let mut values = vec![None; axis.periods.len()];
        for (span, row) in &rows {
            if let Some(at) = axis.place(span) {
                values[at] = measure.numbers()[*row];
            }
        }
        Series { name: if is_single { String::new() } else { measure.axis().title }, values, is_rest: false }
    });
    let series: Vec<Series> = series.collect();
    let known = rows.iter().filter(|(_, row)| measures.iter().any(|one| one.numbers()[*row].is_some())).count();
    let mut notes = notes(profile, known, measures);
    if profile.data.has_more {
        notes.push(format!("Only the first {} rows", profile.data.rows.len()));
    }
    finish_lines(profile, time, (titles(measures), shared_axis(measures)), axis.periods, series, notes)
}

/// Builds a line per category.
pub(crate) fn lines_by(profile: &Profile<'_>, time: &Column<'_>, category: &Column<'_>, most: usize) -> Option<Chart> {
    let measure = &profile.measures[0];
    let (grain, spans) = spans(time);
    let axis = TimeAxis::new(grain, spans.iter().flatten().copied());
    let mut lines: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    let mut known = 0;
    for (row, span) in spans.iter().enumerate() {
        let (Some(span), Some(value)) = (span, measure.numbers()[row]) else { continue };
        let line = lines.entry(&category.texts[row]).or_insert_with(|| vec![None; axis.periods.len()]);
        let at = axis.place(span)?;
        if line[at].replace(value).is_some() {
            return None;
        }
        known += 1;
    }
    let mut lines: Vec<(&str, Vec<Option<f64>>)> = lines.into_iter().collect();
    let total = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
    lines.sort_by(|one, other| total(&other.1).total_cmp(&total(&one.1)));
    let rest = if lines.len() > most { lines.split_off(most - 1) } else { Vec::new() };
    let mut series: Vec<Series> =
        lines.into_iter().map(|(name, values)| Series { name: write_label(name), values, is_rest: false }).collect();
    let mut notes = notes(profile, known, &[measure]);
    if !rest.is_empty() {
        let sum = |at: usize| rest.iter().filter_map(|(_, values)| values[at]).reduce(|one, other| one + other);
        let values = (0..axis.periods.len()).map(sum).collect();
        notes.push(format!("The smallest {} are combined into one line", rest.len()));
        series.push(Series { name: format!("{} others", rest.len()), values, is_rest: true });
    }
    if profile.data.has_more {
        notes.push(format!("Only the first {} rows", profile.data.rows.len()));
    }
    let title = format!("{} by {}", measure.axis().title, lower(&category.axis().title));
    Some(finish_lines(profile, time, (title, measure.axis()), axis.periods, series, notes))
}

fn finish_lines(
    profile: &Profile<'_>,
    time: &Column<'_>,
    (title, measure): (String, Axis),
    periods: Vec<Period>,
    series: Vec<Series>,
    mut notes: Vec<String>,
) -> Chart {
    let values = || series.iter().flat_map(|one| one.values.iter().flatten().copied());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let from_zero = low < high * MIN_PART;
    if !from_zero {
        notes.push(NOT_FROM_ZERO.to_owned());
    }
    let across = time.axis();
    let link = if title.contains(" by ") { "and" } else { "by" };
    Chart {
        title: format!("{title} {link} {}", lower(&across.title)),
        across,
        measure,
        drawing: Drawing::Lines { periods, series, from_zero },
        notes,
        sources: profile.data.sources.to_vec(),
    }
}

/// Builds a point per row with both measures.
pub(crate) fn dots(profile: &Profile<'_>) -> Chart {
    let mut measures: Vec<&Column<'_>> = profile.measures.iter().collect();
    measures.sort_by_key(|column| column.place);
    let (x, y) = (measures[0], measures[1]);
    let names = profile.categories.first();
    let dots: Vec<Dot> = (0..x.texts.len())
        .filter_map(|row| {
            let label = names.map(|column| label(column, row));
            Some(Dot { label, x: x.numbers()[row]?, y: y.numbers()[row]? })
        })
        .collect();
    let mut notes = notes(profile, dots.len(), &[x, y]);
    if profile.data.has_more {
        notes.push(format!("Only the first {} rows", profile.data.rows.len()));
    }
    Chart {
        title: format!("{} against {}", y.axis().title, lower(&x.axis().title)),
        across: x.axis(),
        measure: y.axis(),
        drawing: Drawing::Dots { dots },
        notes,
        sources: profile.data.sources.to_vec(),
    }
}

/// Builds a single value from the main measure of two periods.
pub(crate) fn figure_of_periods(profile: &Profile<'_>, time: &Column<'_>) -> Option<Chart> {
    let measure = &profile.measures[0];
    let (grain, spans) = spans(time);
    let mut both: Vec<(f64, f64)> =
        spans.iter().zip(measure.numbers()).filter_map(|(span, number)| Some(((*span)?.day, (*number)?))).collect();
    both.sort_by(|one, other| one.0.total_cmp(&other.0));
    let [before, now] = both[..] else { return None };
    let labelled = |(day, value)| Labelled { label: time::label(grain, day), value };
    Some(figure(profile, measure.axis(), labelled(now), labelled(before)))
}

/// Builds a single value from two columns of one row: the current and the previous value.
pub(crate) fn figure_of_columns(profile: &Profile<'_>) -> Option<Chart> {
    let [one, other] = &profile.measures[..] else { return None };
    let value = |column: &Column<'_>| column.numbers().first().copied().flatten();
    let has = |column: &Column<'_>, list: &[&str]| column.words.iter().any(|word| list.contains(&word.as_str()));
    let year = |column: &Column<'_>| {
        column.words.iter().find_map(|word| word.parse::<u32>().ok().filter(|year| (1900..2200).contains(year)))
    };
    let (now, before) = match (year(one), year(other)) {
        (Some(first), Some(second)) if first > second => (one, other),
        (Some(first), Some(second)) if first < second => (other, one),
        _ if has(one, NOW) && has(other, BEFORE) => (one, other),
        _ if has(one, BEFORE) && has(other, NOW) => (other, one),
        _ => return None,
    };
    // The names without the words for periods are the measure.
    let rest = |column: &Column<'_>| -> Vec<String> {
        let is_period = |word: &String| {
            [NOW, BEFORE, PERIODS].iter().any(|list| list.contains(&word.as_str())) || word.parse::<u32>().is_ok()
        };
        column.words.iter().filter(|word| !is_period(word)).cloned().collect()
    };
    if rest(now) != rest(before) || now.unit != before.unit {
        return None;
    }
    let period = |column: &Column<'_>| {
        let left = rest(column);
        let words: Vec<&str> = column.words.iter().filter(|word| !left.contains(word)).map(String::as_str).collect();
        capital(&words.join(" "))
    };
    let labelled = |column: &Column<'_>| Some(Labelled { label: period(column), value: value(column)? });
    let title = if rest(now).is_empty() { "Change".to_owned() } else { capital(&rest(now).join(" ")) };
    let axis = Axis { title, unit: now.unit.clone() };
    Some(figure(profile, axis, labelled(now)?, labelled(before)?))
}

fn figure(profile: &Profile<'_>, measure: Axis, now: Labelled, before: Labelled) -> Chart {
    Chart {
        title: measure.title.clone(),
        across: Axis::default(),
        measure,
        drawing: Drawing::Figure { now, before },
        notes: profile.constants.clone(),
        sources: profile.data.sources.to_vec(),
    }
}

/// Returns the notes on omitted rows and columns.
fn notes(profile: &Profile<'_>, drawn: usize, measures: &[&Column<'_>]) -> Vec<String> {
    let mut notes = profile.constants.clone();
    let left = profile.data.rows.len().saturating_sub(drawn);
    if left > 0 {
        notes.push(format!("{left} {} without a value omitted", if left == 1 { "row is" } else { "rows are" }));
    }
    let others: Vec<String> = (profile.measures.iter())
        .filter(|column| !measures.iter().any(|drawn| drawn.place == column.place))
        .map(|column| column.axis().title)
        .collect();
    if !others.is_empty() {
        notes.push(format!("Only in the table: {}", others.join(", ")));
    }
    notes
}

/// Sorts rows for drawing; returns whether the order is that of the categories.
fn sort(rows: &mut [usize], places: &Column<'_>, measure: &Column<'_>) -> bool {
    match &places.role {
        Role::Time { spans, .. } => {
            let day = |row: usize| spans[row].map_or(f64::INFINITY, |span| span.day);
            rows.sort_by(|one, other| day(*one).total_cmp(&day(*other)));
            true
        }
        Role::Ordinal => {
            let place = |row: usize| {
                let text = &places.texts[row];
                text.parse().ok().or_else(|| column::order_of(text)).unwrap_or(f64::INFINITY)
            };
            rows.sort_by(|one, other| place(*one).total_cmp(&place(*other)));
            true
        }
        _ => {
            let value = |row: usize| measure.numbers()[row].unwrap_or(f64::NEG_INFINITY);
            rows.sort_by(|one, other| value(*other).total_cmp(&value(*one)));
            false
        }
    }
}

/// Returns the distinct values of a column, in order.
fn keys(column: &Column<'_>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for text in &column.texts {
        if !keys.contains(text) {
            keys.push(text.clone());
        }
    }
    let place = |key: &String| match &column.role {
        Role::Time { .. } => time::read(key).map(|span| span.day),
        Role::Ordinal => key.parse().ok().or_else(|| column::order_of(key)),
        _ => None,
    };
    keys.sort_by(|one, other| {
        let (one, other) = (place(one), place(other));
        one.unwrap_or(f64::INFINITY).total_cmp(&other.unwrap_or(f64::INFINITY))
    });
    keys
}

/// Returns the value of each pair; `None` if a pair has two.
fn pair(outer: &Column<'_>, inner: &Column<'_>, measure: &Column<'_>) -> Option<BTreeMap<(String, String), f64>> {
    let mut cells = BTreeMap::new();
    for (row, number) in measure.numbers().iter().enumerate() {
        let Some(number) = number else { continue };
        let key = (outer.texts[row].clone(), inner.texts[row].clone());
        if cells.insert(key, *number).is_some() {
            return None;
        }
    }
    Some(cells)
}

fn spans<'c>(column: &'c Column<'_>) -> (Grain, &'c [Option<Span>]) {
    match &column.role {
        Role::Time { grain, spans } => (*grain, spans),
        _ => (Grain::Moment, &[]),
    }
}

/// The periods of an axis, including missing ones.
struct TimeAxis {
    periods: Vec<Period>,
}

impl TimeAxis {
    fn new(grain: Grain, spans: impl Iterator<Item = Span>) -> Self {
        let mut known: Vec<Span> = spans.collect();
        known.sort_by(|one, other| one.day.total_cmp(&other.day));
        known.dedup_by(|one, other| one.day == other.day);
        let period = |day: f64| Period { label: time::label(grain, day), day };
        let ends = known.first().and_then(Span::index).zip(known.last().and_then(Span::index));
        if let Some((first, last)) = ends {
            let all = last - first + 1;
            let count = known.len() as i64;
            if all <= MAX_PERIODS && (all - count) * 4 <= count {
                let filled: Option<Vec<Period>> =
                    (first..=last).map(|index| time::day_of(grain, index).map(period)).collect();
                if let Some(periods) = filled {
                    return TimeAxis { periods };
                }
            }
        }
        TimeAxis { periods: known.iter().map(|span| period(span.day)).collect() }
    }

    fn place(&self, span: &Span) -> Option<usize> {
        let number = span.index();
        self.periods.iter().position(|period| {
            period.day == span.day
                || (number.is_some() && Span { grain: span.grain, day: period.day }.index() == number)
        })
    }
}

fn label(column: &Column<'_>, row: usize) -> String {
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

/// Returns the joint title of several measures.
fn titles(measures: &[&Column<'_>]) -> String {
    let titles: Vec<String> = measures.iter().map(|column| column.axis().title).collect();
    match &titles[..] {
        [one] => one.clone(),
        [one, other] => format!("{one} and {}", lower(other)),
        [one, other, third] => format!("{one}, {} and {}", lower(other), lower(third)),
        [one, rest @ ..] => format!("{one} and {} others", rest.len()),
        [] => String::new(),
    }
}

/// Returns the axis of several measures: their common unit and title, if any.
fn shared_axis(measures: &[&Column<'_>]) -> Axis {
    match measures {
        [one] => one.axis(),
        _ => Axis {
            title: measures.first().and_then(|one| one.unit.clone()).unwrap_or_else(|| "Value".to_owned()),
            unit: None,
        },
    }
}
