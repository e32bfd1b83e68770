//! Bar charts: horizontal, or vertical for labels with a natural order.

use super::{
    canvas::{self, Anchor, Canvas},
    plane::{self, Frame},
    series_class,
};
use crate::{
    chart::{Chart, Layout, Series},
    number::{count_decimals, short, ticks, write_to, write_unit},
};

type Bars<'a> = (&'a [String], &'a [Series], Layout);

const TEXT: f64 = 12.5;
const SMALL: f64 = 11.5;

/// Draws horizontal bars, with their values at the end.
pub(super) fn rows(chart: &Chart, canvas: &mut Canvas, top: f64, (labels, series, layout): Bars<'_>) -> f64 {
    let unit = chart.measure.unit.as_deref();
    let caption = caption(chart, series);
    let mut top = top + 4.0;
    if !caption.is_empty() {
        canvas.text((0.0, top + SMALL - 4.0), &caption, Anchor::Start, "soft", SMALL, false);
        top += SMALL + 6.0;
    }
    let widest = labels.iter().map(|label| canvas::measure(label, TEXT)).fold(0.0, f64::max);
    let left = widest.min(canvas.width * 0.36) + 10.0;
    let ends = |at: usize| match layout {
        Layout::Stacked => vec![series.iter().filter_map(|one| one.values[at]).sum::<f64>()],
        _ => series.iter().filter_map(|one| one.values[at]).collect(),
    };
    let all: Vec<f64> = (0..labels.len()).flat_map(ends).collect();
    let (low, high) = (all.iter().copied().fold(0.0, f64::min), all.iter().copied().fold(0.0, f64::max));
    // Values below each other have the same number of decimals.
    let decimals = count_decimals(&all);
    let write = |value: f64| write_to(value, decimals, unit);
    let value_width = all.iter().map(|value| canvas::measure(&write(*value), SMALL)).fold(0.0, f64::max) + 10.0;
    let before = if low < 0.0 { value_width } else { 0.0 };
    let room = (canvas.width - left - value_width - before).max(40.0);
    let x_of = |value: f64| left + before + (value - low) / (high - low).max(f64::MIN_POSITIVE) * room;
    let bar = match layout {
        Layout::Grouped => 13.0,
        _ => 19.0,
    };
    let lanes = if layout == Layout::Grouped { series.len() } else { 1 };
    let gap = if layout == Layout::Grouped { 10.0 } else { 7.0 };
    let mut y = top;
    for (at, label) in labels.iter().enumerate() {
        let height = bar * lanes as f64;
        let name = canvas::cut(label, left - 9.0, TEXT);
        canvas.text((left - 8.0, y + height / 2.0 + 4.5), &name, Anchor::End, "ink", TEXT, false);
        let mut reached = 0.0;
        let mut total = 0.0;
        for (lane, one) in series.iter().enumerate() {
            let Some(value) = one.values[at] else { continue };
            let said = describe_bar(label, &one.name, value, unit);
            let class = class_of(chart, labels, at, (lane, one));
            if layout == Layout::Stacked {
                let (from, to) = (x_of(reached), x_of(reached + value));
                canvas.rect((from, y, to - from - 1.0, bar), &class, 1.0, &said);
                (reached, total) = (reached + value, total + value);
                continue;
            }
            let lane_y = y + bar * lane as f64 * f64::from(u8::from(lanes > 1));
            let (from, to) = (x_of(0.0).min(x_of(value)), x_of(0.0).max(x_of(value)));
            canvas.rect((from, lane_y, (to - from).max(0.5), bar - 1.5), &class, 2.0, &said);
            let (place, anchor) = if value < 0.0 { (from - 5.0, Anchor::End) } else { (to + 5.0, Anchor::Start) };
            canvas.text((place, lane_y + bar / 2.0 + 3.5), &write(value), anchor, "soft", SMALL, false);
        }
        if layout == Layout::Stacked {
            canvas.text((x_of(total) + 5.0, y + bar / 2.0 + 4.0), &write(total), Anchor::Start, "soft", SMALL, false);
        }
        y += height + gap;
    }
    canvas.rule((x_of(0.0), top - 3.0), (x_of(0.0), y - gap + 3.0), "edge");
    y - gap + 6.0
}

/// Draws vertical bars, over an axis.
pub(super) fn columns(chart: &Chart, canvas: &mut Canvas, top: f64, (labels, series, layout): Bars<'_>) -> f64 {
    let unit = chart.measure.unit.as_deref();
    let sums = (0..labels.len()).map(|at| series.iter().filter_map(|one| one.values[at]).sum::<f64>());
    let ends: Vec<f64> = match layout {
        Layout::Stacked => sums.collect(),
        _ => series.iter().flat_map(|one| one.values.iter().flatten().copied()).collect(),
    };
    let (low, high) = (ends.iter().copied().fold(0.0, f64::min), ends.iter().copied().fold(0.0, f64::max));
    let frame = Frame::new(canvas, top, &caption(chart, series), &ticks(low, high, 5));
    let slot = frame.width() / labels.len() as f64;
    let lanes = if layout == Layout::Grouped { series.len() } else { 1 } as f64;
    let wide = (slot * 0.74 / lanes).min(64.0);
    let widest = ends.iter().map(|value| canvas::measure(&short(*value), SMALL)).fold(0.0, f64::max);
    for at in 0..labels.len() {
        let middle = frame.left + slot * (at as f64 + 0.5);
        let mut reached = 0.0;
        for (lane, one) in series.iter().enumerate() {
            let Some(value) = one.values[at] else { continue };
            let class = class_of(chart, labels, at, (lane, one));
            let said = describe_bar(&labels[at], &one.name, value, unit);
            let shift = if layout == Layout::Grouped { lane as f64 } else { 0.0 };
            let x = middle - wide * lanes / 2.0 + wide * shift;
            let (from, to) = (frame.y(reached), frame.y(reached + value));
            canvas.rect((x + 0.5, from.min(to), wide - 1.0, (from - to).abs()), &class, 2.0, &said);
            if layout == Layout::Stacked {
                reached += value;
            } else if widest < wide + 6.0 {
                let place = if value < 0.0 { to + SMALL + 2.0 } else { to - 4.0 };
                canvas.text((x + wide / 2.0, place), &short(value), Anchor::Middle, "soft", SMALL, false);
            }
        }
    }
    canvas.rule((frame.left, frame.y(0.0)), (frame.right, frame.y(0.0)), "edge");
    let places: Vec<(f64, &str)> =
        labels.iter().enumerate().map(|(at, label)| (frame.left + slot * (at as f64 + 0.5), label.as_str())).collect();
    plane::labels_below(canvas, &frame, &places, slot)
}

/// Returns the class of a bar; folded bars are grey.
fn class_of(chart: &Chart, labels: &[String], at: usize, (lane, one): (usize, &Series)) -> String {
    let is_folded =
        at + 1 == labels.len() && chart.notes.iter().any(|note| note.ends_with("are combined into one bar"));
    series_class(lane, one.is_rest || is_folded)
}

fn caption(chart: &Chart, series: &[Series]) -> String {
    match series {
        [_] => chart.measure.label(),
        _ if chart.measure.title == "Value" => String::new(),
        _ => chart.measure.label(),
    }
}

fn describe_bar(label: &str, name: &str, value: f64, unit: Option<&str>) -> String {
    let value = write_unit(value, unit);
    if name.is_empty() { format!("{label}: {value}") } else { format!("{label}, {name}: {value}") }
}
