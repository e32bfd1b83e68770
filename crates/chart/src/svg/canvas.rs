//! Writes SVG elements; all texts are escaped here.

use std::fmt::Write as _;

use crate::palette::{self, Colour};

/// The anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The elements written so far.
pub(super) struct Canvas {
    pub(super) width: f64,
    out: String,
}

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Canvas { width, out: String::new() }
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, class: &str, size: f64, bold: bool) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if bold { " font-weight=\"600\"" } else { "" };
        let fill = light(class);
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" class=\"{class}\" fill=\"{fill}\"{anchor}{bold}>{}</text>",
            escape(text)
        );
    }

    /// Draws a rectangle with a tooltip.
    pub(super) fn rect(&mut self, (x, y, w, h): (f64, f64, f64, f64), class: &str, round: f64, said: &str) {
        let fill = light(class);
        let _ = write!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\" class=\"{class}\" fill=\"{fill}\"",
            w.max(0.0),
            h.max(0.0)
        );
        self.close("rect", said);
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str, said: &str) {
        let fill = light(class);
        let _ =
            write!(self.out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" class=\"{class}\" fill=\"{fill}\"");
        self.close("circle", said);
    }

    fn close(&mut self, name: &str, said: &str) {
        match said {
            "" => self.out.push_str("/>\n"),
            said => {
                let _ = writeln!(self.out, "><title>{}</title></{name}>", escape(said));
            }
        }
    }

    /// Draws a straight line, one pixel wide.
    pub(super) fn rule(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let stroke = light(class);
        let _ = writeln!(
            self.out,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}-line\" stroke=\"{stroke}\"/>"
        );
    }

    /// Draws a line through points, interrupted at missing ones.
    pub(super) fn path(&mut self, points: &[Option<(f64, f64)>], class: &str) {
        let mut data = String::new();
        let mut is_open = false;
        for point in points {
            match point {
                Some((x, y)) => {
                    let _ = write!(data, "{}{x:.1} {y:.1}", if is_open { "L" } else { "M" });
                    is_open = true;
                }
                None => is_open = false,
            }
        }
        let stroke = light(class);
        let _ = writeln!(
            self.out,
            "<path d=\"{data}\" class=\"{class}-line\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
        );
    }

    /// Returns the complete image.
    pub(super) fn finish(self, height: f64, description: &str) -> String {
        let (width, description) = (self.width, escape(description));
        let ground = palette::GROUND.light;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
             {height:.0}\" font-family=\"system-ui, 'Segoe UI', Roboto, sans-serif\" role=\"img\" aria-label=\"{description}\">\n\
             <style>{}</style>\n<rect width=\"100%\" height=\"100%\" class=\"ground\" fill=\"{ground}\"/>\n{}</svg>\n",
            dark_style(),
            self.out
        )
    }
}

/// Returns the colours of the classes.
fn classes() -> Vec<(String, Colour)> {
    let fixed = [
        ("ink", palette::INK),
        ("soft", palette::SOFT),
        ("grid", palette::GRID),
        ("edge", palette::EDGE),
        ("ground", palette::GROUND),
        ("rest", palette::REST),
    ];
    let series = palette::SERIES.into_iter().enumerate().map(|(at, colour)| (format!("s{at}"), colour));
    fixed.into_iter().map(|(name, colour)| (name.to_owned(), colour)).chain(series).collect()
}

fn light(class: &str) -> &'static str {
    classes().into_iter().find(|(name, _)| name == class).map_or(palette::INK.light, |(_, colour)| colour.light)
}

fn dark_style() -> String {
    let rules: Vec<String> = classes()
        .into_iter()
        .map(|(name, colour)| format!(".{name}{{fill:{0}}}.{name}-line{{stroke:{0}}}", colour.dark))
        .collect();
    format!("@media (prefers-color-scheme:dark){{{}}}", rules.concat())
}

/// Escapes a text for XML, dropping characters that XML does not allow.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Estimates the width of a text for a wide font, as the actual font is unknown.
pub(super) fn measure(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | '|' | ' ' | 'I' | ':' | ';' | '!' => 0.33,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        letter if letter.is_ascii_uppercase() => 0.72,
        letter if letter.is_ascii() => 0.61,
        letter if u32::from(letter) >= 0x1100 => 1.05,
        _ => 0.62,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// Truncates a text to a width, with an ellipsis.
pub(super) fn cut(text: &str, width: f64, size: f64) -> String {
    if measure(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if measure(&kept, size) + size * 1.6 > width {
            break;
        }
        kept.push(letter);
    }
    format!("{}…", kept.trim_end())
}

/// Wraps a text into at most `most` lines.
pub(super) fn wrap(text: &str, width: f64, size: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let last = lines.len() - 1;
        let joined = if lines[last].is_empty() { word.to_owned() } else { format!("{} {word}", lines[last]) };
        if measure(&joined, size) <= width || lines[last].is_empty() {
            lines[last] = cut(&joined, width, size);
        } else if lines.len() < most {
            lines.push(cut(word, width, size));
        } else {
            let rest: Vec<&str> = std::iter::once(word).chain(words.by_ref()).collect();
            lines[last] = cut(&format!("{} {}", lines[last], rest.join(" ")), width, size);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}
