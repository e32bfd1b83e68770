//! Renders charts as text for a terminal: bars of block characters, or columns for a line.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{
    chart::{Chart, Drawing, Series},
    describe::describe_change,
    number::{count_decimals, short, write_to, write_unit},
};

const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Height of a chart over time, in lines.
const ROWS: usize = 8;
/// Maximum number of lines drawn below each other.
const MAX_LINES: usize = 4;
const MIN_COLUMNS: usize = 40;

impl Chart {
    /// Renders the chart with at most this width; `None` if the terminal is too narrow, or the chart has no text form.
    pub fn text(&self, columns: usize) -> Option<String> {
        if columns < MIN_COLUMNS {
            return None;
        }
        let unit = self.measure.unit.as_deref();
        let drawn = match &self.drawing {
            Drawing::Bars { labels, series, .. } => bars(labels, series, unit, columns),
            Drawing::Lines { periods, series, from_zero } => {
                let ends = periods
                    .first()
                    .zip(periods.last())
                    .map(|(first, last)| (first.label.as_str(), last.label.as_str()));
                let lines =
                    series.iter().take(MAX_LINES).map(|one| line(one, ends.unwrap_or_default(), *from_zero, columns));
                lines.collect::<Vec<_>>().join("\n")
            }
            // Points in text are less readable than a table.
            Drawing::Dots { .. } => return None,
            Drawing::Figure { now, before } => {
                format!(
                    "{}: {}, {}",
                    now.label,
                    write_unit(now.value, unit),
                    describe_change(now, before, |value| write_unit(value, unit))
                )
            }
        };
        let footnote = self.notes.join(". ");
        let tail = if footnote.is_empty() { String::new() } else { format!("\n({footnote})") };
        let measure =
            if self.measure.label().is_empty() || self.title.starts_with(&self.measure.title) && unit.is_none() {
                String::new()
            } else {
                format!(" [{}]", self.measure.label())
            };
        Some(format!("{}{measure}\n{drawn}{tail}", self.title))
    }
}

fn bars(labels: &[String], series: &[Series], unit: Option<&str>, columns: usize) -> String {
    let several = series.len() > 1;
    let name = |label: &str, one: &Series| if several { format!("{label} · {}", one.name) } else { label.to_owned() };
    let mut rows: Vec<(String, f64)> = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        rows.extend(series.iter().filter_map(|one| Some((name(label, one), one.values[at]?))));
    }
    let widest = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0).min(columns / 3);
    let decimals = count_decimals(&rows.iter().map(|(_, value)| *value).collect::<Vec<_>>());
    let value_width = rows.iter().map(|(_, value)| write_to(*value, decimals, unit).width()).max().unwrap_or(0);
    let room = columns.saturating_sub(widest + value_width + 4).max(8);
    let most = rows.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let lines = rows.iter().map(|(label, value)| {
        let eighths = if most > 0.0 { (value.abs() / most * room as f64 * 8.0).round() as usize } else { 0 };
        let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
        if eighths % 8 > 0 {
            bar.push(EIGHTHS[eighths % 8]);
        }
        format!("{} {bar} {}", pad(label, widest), write_to(*value, decimals, unit))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Draws a line as columns of block characters, with the highest and lowest value next to it.
fn line(series: &Series, (first, last): (&str, &str), from_zero: bool, columns: usize) -> String {
    let known = || series.values.iter().flatten().copied();
    let (mut low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    if from_zero {
        low = low.min(0.0);
    }
    let side = short(high).chars().count().max(short(low).chars().count());
    let room = columns.saturating_sub(side + 2).max(8);
    let values = squeeze(&series.values, room);
    let wide = (room / values.len().max(1)).clamp(1, 4);
    let eighths: Vec<Option<usize>> = values
        .iter()
        .map(|value| {
            value
                .map(|value| ((value - low) / (high - low).max(f64::MIN_POSITIVE) * (ROWS * 8 - 1) as f64) as usize + 1)
        })
        .collect();
    let mut lines = Vec::new();
    if !series.name.is_empty() {
        lines.push(series.name.clone());
    }
    for row in (0..ROWS).rev() {
        let mark = if row == ROWS - 1 {
            short(high)
        } else if row == 0 {
            short(low)
        } else {
            String::new()
        };
        let cells: String = eighths
            .iter()
            .flat_map(|level| {
                let level = level.unwrap_or(0).saturating_sub(row * 8).min(8);
                let gap = usize::from(wide > 1);
                std::iter::repeat_n(HEIGHTS[level], wide - gap).chain(std::iter::repeat_n(' ', gap))
            })
            .collect();
        lines.push(format!("{mark:>side$} {}", cells.trim_end()));
    }
    let across = values.len() * wide;
    let between = across.saturating_sub(first.width() + last.width()).max(1);
    lines.push(format!("{:>side$} {first}{}{last}", "", " ".repeat(between)));
    lines.join("\n")
}

/// Reduces values to at most `most` means of equal parts.
fn squeeze(values: &[Option<f64>], most: usize) -> Vec<Option<f64>> {
    if values.len() <= most {
        return values.to_vec();
    }
    let part = |at: usize| {
        let known: Vec<f64> =
            values[at * values.len() / most..(at + 1) * values.len() / most].iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    (0..most).map(part).collect()
}

/// Truncates or pads a text to a terminal width.
fn pad(text: &str, width: usize) -> String {
    let mut kept = String::new();
    if text.width() > width {
        for letter in text.chars() {
            if kept.width() + letter.width().unwrap_or(0) + 1 > width {
                break;
            }
            kept.push(letter);
        }
        kept.push('…');
    } else {
        kept.push_str(text);
    }
    let gap = width.saturating_sub(kept.width());
    kept + &" ".repeat(gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        for (text, width, padded) in
            [("Peru", 6, "Peru  "), ("日本", 6, "日本  "), ("アルゼンチン", 6, "アル… "), ("Argentina", 6, "Argen…")]
        {
            assert_eq!((pad(text, width).as_str(), pad(text, width).width()), (padded, width));
        }
    }
}
