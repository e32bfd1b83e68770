//! The chart of `planner bench tokens`: for each catalog, the tokens of everything, of discovery and of the oracle, as
//! bars on a logarithmic scale.

use crate::tokens::{Estate, Report};

/// In pixels.
const WIDTH: f64 = 960.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 190.0;
const BAR: f64 = 13.0;
const GAP: f64 = 16.0;
const TOP: f64 = 48.0;
const FOOT: f64 = 34.0;

/// The bars and their colours, which are distinguishable in greyscale and with colour blindness.
const BARS: [(&str, &str); 3] = [("everything", "#9aa5b1"), ("discovery", "#0b6e99"), ("oracle", "#e0a030")];

/// Renders the chart as SVG.
pub fn svg(report: &Report) -> String {
    let group = BAR * BARS.len() as f64 + GAP;
    let height = TOP + group * report.estates.len() as f64 + FOOT;
    let most = report.estates.iter().map(|estate| estate.tokens.everything.mean).fold(1_000.0, f64::max);
    let scale = Scale { low: 100.0_f64.log10(), high: most.log10().ceil() };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#1f2933\">\n\
         <title>Context tokens per question</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (at, (name, colour)) in BARS.iter().enumerate() {
        let x = LEFT + 110.0 * at as f64;
        out += &format!("<rect x=\"{x}\" y=\"14\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\n");
        out += &text(x + 18.0, 24.0, "start", name);
    }
    for power in 2..=scale.high as i32 {
        let x = scale.x(10.0_f64.powi(power));
        let bottom = height - FOOT + 4.0;
        out += &format!("<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"#e4e7eb\"/>\n", TOP - 6.0);
        out += &text(x, height - 12.0, "middle", &group_digits(10_u64.pow(power as u32)));
    }
    let several = report.estates.iter().any(|estate| estate.profile != report.estates[0].profile);
    for (at, estate) in report.estates.iter().enumerate() {
        let y = TOP + group * at as f64;
        let middle = y + BAR * BARS.len() as f64 / 2.0 + 4.0;
        let label =
            if several { format!("{}, {}", estate.estate, estate.profile.as_str()) } else { estate.estate.clone() };
        out += &text(LEFT - 10.0, middle, "end", &label);
        for (bar, (value, (name, colour))) in values(estate).into_iter().zip(BARS).enumerate() {
            let (top, width) = (y + BAR * bar as f64, (scale.x(value) - LEFT).max(1.0));
            let tokens = group_digits(value.round() as u64);
            out += &format!(
                "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"><title>{name}: \
                 {tokens} tokens</title></rect>\n",
                BAR - 2.0
            );
        }
        let saved = format!("{:.0} % saved, {:.1} x oracle", estate.saved.context * 100.0, estate.times_oracle.mean);
        out += &text(WIDTH - RIGHT + 14.0, middle, "start", &saved);
    }
    out + "</svg>\n"
}

fn values(estate: &Estate) -> [f64; 3] {
    [estate.tokens.everything.mean, estate.tokens.context.mean, estate.tokens.oracle.mean]
}

/// Maps tokens to pixels.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn x(&self, tokens: f64) -> f64 {
        let share = (tokens.max(1.0).log10() - self.low) / (self.high - self.low).max(1.0);
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
}

/// Groups digits: `12,345`.
fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_digits() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(group_digits), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn scale_is_logarithmic() {
        let scale = Scale { low: 2.0, high: 5.0 };
        let step = scale.x(1_000.0) - scale.x(100.0);
        assert!((scale.x(10_000.0) - scale.x(1_000.0) - step).abs() < 1e-9);
        assert!((scale.x(1.0) - LEFT).abs() < 1e-9);
    }
}
