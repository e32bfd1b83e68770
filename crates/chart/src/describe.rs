//! Text descriptions of charts, as accessible alternatives.

use crate::{
    chart::{Chart, Drawing, Labelled, Layout, Series},
    number::{write, write_unit},
};

/// Maximum number of series described individually.
const MAX_SERIES: usize = 4;

impl Chart {
    /// Describes the chart in a few sentences.
    pub fn describe(&self) -> String {
        let unit = self.measure.unit.as_deref();
        let text = match &self.drawing {
            Drawing::Bars { labels, series, layout, .. } => self.describe_bars(labels, series, *layout),
            Drawing::Lines { periods, series, .. } => {
                let labels: Vec<&str> = periods.iter().map(|period| period.label.as_str()).collect();
                let ends = labels
                    .first()
                    .zip(labels.last())
                    .map_or_else(String::new, |(first, last)| format!("from {first} to {last}"));
                let lines: Vec<String> =
                    series.iter().take(MAX_SERIES).filter_map(|one| describe_line(one, &labels, unit)).collect();
                let more = match series.len().saturating_sub(MAX_SERIES) {
                    0 => String::new(),
                    left => format!(" And {left} more lines."),
                };
                format!("Line chart. {}, {ends}. {}{more}", self.title, lines.join(" "))
            }
            Drawing::Dots { dots } => {
                let range = |values: Vec<f64>, unit: Option<&str>| {
                    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    format!("{} to {}", write(low), write_unit(high, unit))
                };
                let x = range(dots.iter().map(|dot| dot.x).collect(), self.across.unit.as_deref());
                let y = range(dots.iter().map(|dot| dot.y).collect(), unit);
                let of = (&self.across.title, &self.measure.title);
                format!("Scatter plot. {}: {} points. {}: {x}. {}: {y}.", self.title, dots.len(), of.0, of.1)
            }
            Drawing::Figure { now, before } => {
                let value = write_unit(now.value, unit);
                let change = describe_change(now, before, |value| write_unit(value, unit));
                format!("{}: {value} ({}), {change}.", self.title, now.label)
            }
        };
        let footnote = self.footnote();
        if footnote.is_empty() { text } else { format!("{text} {footnote}.") }
    }

    fn describe_bars(&self, labels: &[String], series: &[Series], layout: Layout) -> String {
        let unit = self.measure.unit.as_deref();
        let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
        let head = match layout {
            Layout::Single => format!("Bar chart. {}: {} bars.", self.title, labels.len()),
            Layout::Grouped => {
                format!("Grouped bar chart. {}: {} groups of {}.", self.title, labels.len(), names.join(", "))
            }
            Layout::Stacked => {
                format!("Stacked bar chart. {}: {} bars of {}.", self.title, labels.len(), names.join(", "))
            }
        };
        let known = || {
            series.iter().flat_map(|one| {
                one.values.iter().zip(labels).filter_map(|(value, label)| {
                    let name = if one.name.is_empty() { label.clone() } else { format!("{label}, {}", one.name) };
                    Some((name, (*value)?))
                })
            })
        };
        let most = known().max_by(|one, other| one.1.total_cmp(&other.1));
        let least = known().min_by(|one, other| one.1.total_cmp(&other.1));
        match (most, least) {
            (Some(most), Some(least)) => format!(
                "{head} The highest is {} with {}, the lowest {} with {}.",
                most.0,
                write_unit(most.1, unit),
                least.0,
                write_unit(least.1, unit)
            ),
            _ => head,
        }
    }
}

fn describe_line(series: &Series, labels: &[&str], unit: Option<&str>) -> Option<String> {
    let known = || series.values.iter().zip(labels).filter_map(|(value, label)| Some(((*value)?, *label)));
    let (first, last) = (known().next()?, known().next_back()?);
    let most = known().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let least = known().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let name = if series.name.is_empty() { "It goes" } else { &series.name };
    Some(format!(
        "{name} from {} to {}, the highest is {} ({}), the lowest {} ({}).",
        write_unit(first.0, unit),
        write_unit(last.0, unit),
        write_unit(most.0, unit),
        most.1,
        write_unit(least.0, unit),
        least.1
    ))
}

/// Describes a change, as a difference, and in percent if the previous value is positive. `show` formats a value with
/// its unit.
pub(crate) fn describe_change(now: &Labelled, before: &Labelled, show: impl Fn(f64) -> String) -> String {
    let change = now.value - before.value;
    let from = format!("{} ({})", show(before.value), before.label);
    if change == 0.0 {
        return format!("the same as {from}");
    }
    let part =
        (before.value > 0.0).then(|| format!(" ({} %)", write((change.abs() / before.value * 1_000.0).round() / 10.0)));
    let word = if change > 0.0 { "more" } else { "less" };
    format!("{}{} {word} than {from}", show(change.abs()), part.unwrap_or_default())
}
