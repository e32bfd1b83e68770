//! Single values with their change.

use super::canvas::{self, Anchor, Canvas};
use crate::{
    chart::{Chart, Labelled},
    describe::describe_change,
    number::write_unit,
};

pub(super) fn draw(chart: &Chart, canvas: &mut Canvas, top: f64, (now, before): (&Labelled, &Labelled)) -> f64 {
    let unit = chart.measure.unit.as_deref();
    let mut y = top + 14.0;
    canvas.text((0.0, y), &format!("{}, {}", chart.title, now.label), Anchor::Start, "soft", 13.0, false);
    y += 46.0;
    let value = write_unit(now.value, unit);
    let size = if canvas::measure(&value, 44.0) > canvas.width { 28.0 } else { 44.0 };
    canvas.text((0.0, y), &value, Anchor::Start, "ink", size, true);
    let mark = if now.value > before.value {
        "▲ "
    } else if now.value < before.value {
        "▼ "
    } else {
        ""
    };
    let change = format!("{mark}{}", describe_change(now, before, |value| write_unit(value, unit)));
    y += 10.0;
    for line in canvas::wrap(&change, canvas.width, 14.0, 2) {
        y += 19.0;
        canvas.text((0.0, y), &line, Anchor::Start, "ink", 14.0, false);
    }
    y + 4.0
}
