//! Renders charts as SVG of a given width. Colours are both attributes and classes: the file contains a style for dark
//! backgrounds, and a page may override it.

mod bars;
mod canvas;
mod figure;
mod plane;

use crate::{
    chart::{Chart, Drawing},
    palette,
};
use canvas::{Anchor, Canvas};

/// Minimum and maximum width.
const MIN_WIDTH: f64 = 260.0;
const MAX_WIDTH: f64 = 1_600.0;

const TITLE: f64 = 16.0;
/// Width of bold text relative to normal text.
const BOLD: f64 = 1.12;
const SMALL: f64 = 11.5;

impl Chart {
    /// Renders the chart as SVG with this width; the height depends on the content.
    pub fn svg(&self, width: u32) -> String {
        let width = f64::from(width).clamp(MIN_WIDTH, MAX_WIDTH);
        let mut canvas = Canvas::new(width);
        let mut y = 8.0;
        if !matches!(self.drawing, Drawing::Figure { .. }) {
            for line in canvas::wrap(&self.title, width, TITLE * BOLD, 2) {
                y += TITLE + 4.0;
                canvas.text((0.0, y), &line, Anchor::Start, "ink title", TITLE, true);
            }
            y += 6.0;
            y = self.legend(&mut canvas, y);
        }
        y = match &self.drawing {
            Drawing::Bars { labels, series, layout, ordered: true } => {
                bars::columns(self, &mut canvas, y, (labels, series, *layout))
            }
            Drawing::Bars { labels, series, layout, ordered: false } => {
                bars::rows(self, &mut canvas, y, (labels, series, *layout))
            }
            Drawing::Lines { periods, series, from_zero } => {
                plane::lines(self, &mut canvas, y, (periods, series, *from_zero))
            }
            Drawing::Dots { dots } => plane::dots(self, &mut canvas, y, dots),
            Drawing::Figure { now, before } => figure::draw(self, &mut canvas, y, (now, before)),
        };
        let footnote = self.footnote();
        if !footnote.is_empty() {
            y += 6.0;
            for line in canvas::wrap(&footnote, width, SMALL, 4) {
                y += SMALL + 4.0;
                canvas.text((0.0, y), &line, Anchor::Start, "soft", SMALL, false);
            }
        }
        canvas.finish(y + 8.0, &self.describe())
    }

    /// Draws the names of several series, and the measure below them. Returns the position below.
    fn legend(&self, canvas: &mut Canvas, mut y: f64) -> f64 {
        let series = match &self.drawing {
            Drawing::Bars { series, .. } | Drawing::Lines { series, .. } if series.len() > 1 => series,
            _ => return y,
        };
        let mut x = 0.0;
        for (at, one) in series.iter().enumerate() {
            let name = canvas::cut(&one.name, 180.0, 12.0);
            let wide = 16.0 + canvas::measure(&name, 12.0) + 16.0;
            if x > 0.0 && x + wide > canvas.width {
                (x, y) = (0.0, y + 18.0);
            }
            canvas.rect((x, y + 5.0, 11.0, 11.0), &series_class(at, one.is_rest), 2.0, "");
            canvas.text((x + 16.0, y + 15.0), &name, Anchor::Start, "ink", 12.0, false);
            x += wide;
        }
        y + 26.0
    }
}

/// Returns the class of a series, by index.
fn series_class(at: usize, is_rest: bool) -> String {
    if is_rest { "rest".to_owned() } else { format!("s{}", at % palette::SERIES.len()) }
}
