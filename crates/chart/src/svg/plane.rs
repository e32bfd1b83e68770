//! Charts with two axes: lines over time, and scatter plots.

use super::{
    canvas::{self, Anchor, Canvas},
    series_class,
};
use crate::{
    chart::{Chart, Dot, Period, Series},
    number::{short, ticks, write_unit},
};

const SMALL: f64 = 11.5;
/// Maximum number of points at which those of a line are marked.
const MAX_POINTS: usize = 40;

/// The plot area and its vertical scale.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
}

impl Frame {
    /// Draws the vertical axis.
    pub(super) fn new(canvas: &mut Canvas, top: f64, caption: &str, ticks: &[f64]) -> Frame {
        let mut y = top;
        if !caption.is_empty() {
            canvas.text((0.0, top + SMALL), caption, Anchor::Start, "soft", SMALL, false);
            y += SMALL + 4.0;
        }
        let widest = ticks.iter().map(|tick| canvas::measure(&short(*tick), SMALL)).fold(0.0, f64::max);
        let height = (canvas.width * 0.42).clamp(170.0, 320.0);
        let (low, high) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
        let frame = Frame {
            left: widest + 10.0,
            right: canvas.width - 12.0,
            top: y + 14.0,
            bottom: y + 14.0 + height,
            low,
            high,
        };
        for tick in ticks {
            let at = frame.y(*tick);
            canvas.rule((frame.left, at), (frame.right, at), "grid");
            canvas.text((frame.left - 6.0, at + 4.0), &short(*tick), Anchor::End, "soft", SMALL, false);
        }
        frame
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Returns the vertical position of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE) * (self.bottom - self.top)
    }
}

/// Draws as many labels below the axis as fit. Returns the position below them.
pub(super) fn labels_below(canvas: &mut Canvas, frame: &Frame, places: &[(f64, &str)], slot: f64) -> f64 {
    let widest = places.iter().map(|(_, label)| canvas::measure(label, SMALL)).fold(0.0, f64::max).min(120.0);
    let every = ((widest + 14.0) / slot.max(0.1)).ceil().max(1.0) as usize;
    for (x, label) in places.iter().step_by(every) {
        let label = canvas::cut(label, 120.0, SMALL);
        let half = canvas::measure(&label, SMALL) / 2.0;
        let x = x.clamp(half.min(canvas.width / 2.0), (canvas.width - half).max(canvas.width / 2.0));
        canvas.text((x, frame.bottom + 18.0), &label, Anchor::Middle, "soft", SMALL, false);
    }
    frame.bottom + 26.0
}

/// Draws lines over time.
pub(super) fn lines(
    chart: &Chart,
    canvas: &mut Canvas,
    top: f64,
    (periods, series, from_zero): (&[Period], &[Series], bool),
) -> f64 {
    let unit = chart.measure.unit.as_deref();
    let values = || series.iter().flat_map(|one| one.values.iter().flatten().copied());
    let (mut low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if from_zero {
        low = low.min(0.0);
    }
    let caption =
        if series.len() > 1 && chart.measure.title == "Value" { String::new() } else { chart.measure.label() };
    let frame = Frame::new(canvas, top, &caption, &ticks(low, high.max(low), 5));
    let (first, last) = periods.first().zip(periods.last()).map_or((0.0, 1.0), |(one, other)| (one.day, other.day));
    let inner = frame.width() - 16.0;
    let x_of = |day: f64| frame.left + 8.0 + (day - first) / (last - first).max(f64::MIN_POSITIVE) * inner;
    for (at, one) in series.iter().enumerate() {
        let class = series_class(at, one.is_rest);
        let point = |at: usize| one.values[at].map(|value| (x_of(periods[at].day), frame.y(value)));
        let points: Vec<Option<(f64, f64)>> = (0..periods.len()).map(point).collect();
        canvas.path(&points, &class);
        for (at, place) in points.iter().enumerate() {
            let (Some(place), Some(value)) = (place, one.values[at]) else { continue };
            let is_alone = (at == 0 || points[at - 1].is_none()) && points.get(at + 1).is_none_or(Option::is_none);
            let radius = if periods.len() <= MAX_POINTS || is_alone { 3.0 } else { 1.2 };
            let name = if one.name.is_empty() { String::new() } else { format!("{}, ", one.name) };
            let said = format!("{name}{}: {}", periods[at].label, write_unit(value, unit));
            canvas.dot(*place, radius, &class, &said);
        }
    }
    if from_zero || low <= 0.0 {
        canvas.rule((frame.left, frame.y(0.0)), (frame.right, frame.y(0.0)), "edge");
    }
    let slot = inner / (periods.len().saturating_sub(1)).max(1) as f64;
    let places: Vec<(f64, &str)> = periods.iter().map(|period| (x_of(period.day), period.label.as_str())).collect();
    labels_below(canvas, &frame, &places, slot)
}

/// Draws points.
pub(super) fn dots(chart: &Chart, canvas: &mut Canvas, top: f64, dots: &[Dot]) -> f64 {
    let ends = |of: fn(&Dot) -> f64| {
        (dots.iter().map(of).fold(f64::INFINITY, f64::min), dots.iter().map(of).fold(f64::NEG_INFINITY, f64::max))
    };
    let ((x_low, x_high), (y_low, y_high)) = (ends(|dot| dot.x), ends(|dot| dot.y));
    let frame = Frame::new(canvas, top, &chart.measure.label(), &ticks(y_low, y_high, 5));
    let across = ticks(x_low, x_high, if canvas.width < 420.0 { 4 } else { 7 });
    let (first, last) = across.first().zip(across.last()).map_or((0.0, 1.0), |(one, other)| (*one, *other));
    let x_of = |value: f64| frame.left + (value - first) / (last - first).max(f64::MIN_POSITIVE) * frame.width();
    let texts: Vec<(f64, String)> = across.iter().map(|tick| (x_of(*tick), short(*tick))).collect();
    for (x, _) in &texts {
        canvas.rule((*x, frame.top), (*x, frame.bottom), "grid");
    }
    for dot in dots {
        let values = format!(
            "{} {}, {} {}",
            chart.across.title,
            write_unit(dot.x, chart.across.unit.as_deref()),
            chart.measure.title,
            write_unit(dot.y, chart.measure.unit.as_deref())
        );
        let said = dot.label.as_ref().map_or_else(|| values.clone(), |label| format!("{label}: {values}"));
        canvas.dot((x_of(dot.x), frame.y(dot.y)), 4.0, "s0", &said);
    }
    let places: Vec<(f64, &str)> = texts.iter().map(|(x, text)| (*x, text.as_str())).collect();
    let below = labels_below(canvas, &frame, &places, frame.width() / texts.len().max(1) as f64);
    canvas.text((frame.right, below + SMALL), &chart.across.label(), Anchor::End, "soft", SMALL, false);
    below + SMALL + 4.0
}
