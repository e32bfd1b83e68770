//! A chart as SVG, as wide as it is asked for. Every colour is an attribute and a class: the file has a style for a dark
//! ground of its own, and a page may have another.

mod bars;
mod canvas;
mod figure;
mod plane;

use crate::{
    chart::{Chart, Drawing},
    palette,
};
use canvas::{Anchor, Canvas};

/// Narrower or wider it is never drawn.
const MIN_WIDTH: f64 = 260.0;
const MAX_WIDTH: f64 = 1_600.0;

const TITLE: f64 = 16.0;
/// Heavy letters take more room than light ones.
const BOLD: f64 = 1.12;
const SMALL: f64 = 11.5;

impl Chart {
    /// The chart as an SVG image of that width; how high it is follows from what is drawn.
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

    /// The names of the series, where there are several; below them the measure. Gives the place below.
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

/// The class of a series, by its place.
fn series_class(at: usize, is_rest: bool) -> String {
    if is_rest { "rest".to_owned() } else { format!("s{}", at % palette::SERIES.len()) }
}
