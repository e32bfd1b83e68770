//! Renders charts as Vega-Lite 5 specifications with inline data.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    chart::{Axis, Chart, Dot, Drawing, Layout, Series},
    describe::describe_change,
    number::write_unit,
    palette, time,
};

const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";

/// A Vega-Lite specification, with the colours for a dark background in `usermeta`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VegaLite(Value);

impl Chart {
    /// Renders the chart as a Vega-Lite specification.
    pub fn vega(&self) -> VegaLite {
        let mut title = json!({"text": self.title});
        let footnote = self.footnote();
        if !footnote.is_empty() {
            title["subtitle"] = footnote.into();
        }
        title["anchor"] = "start".into();
        let mut spec = Map::new();
        spec.insert("$schema".into(), SCHEMA.into());
        spec.insert("title".into(), title);
        spec.insert("description".into(), self.describe().into());
        spec.insert("width".into(), 560.into());
        spec.extend(self.content());
        let config = json!({"background": palette::GROUND.light, "mark": {"color": palette::SERIES[0].light}});
        spec.insert("config".into(), config);
        spec.insert("usermeta".into(), json!({"dark": palette::SERIES.map(|colour| colour.dark)}));
        VegaLite(spec.into())
    }

    /// Returns the height, the data, and the mark with its encoding.
    fn content(&self) -> Map<String, Value> {
        match &self.drawing {
            Drawing::Bars { labels, series, layout, ordered } => self.bars(labels, series, *layout, *ordered),
            Drawing::Lines { periods, series, from_zero } => {
                let places: Vec<Value> = periods.iter().map(|period| moment(period.day).into()).collect();
                let length = with(channel("value", "quantitative", &self.measure), "scale", json!({"zero": from_zero}));
                let encoding = json!({"x": channel("period", "temporal", &self.across), "y": length});
                let mark = json!({"type": "line", "tooltip": true, "point": true});
                one(json!(300), values(series, "period", &places), mark, with_colour(encoding, series))
            }
            Drawing::Dots { dots } => {
                let datum = |dot: &Dot| match &dot.label {
                    Some(label) => json!({"label": label, "x": dot.x, "value": dot.y}),
                    None => json!({"x": dot.x, "value": dot.y}),
                };
                let open = |field, axis| with(channel(field, "quantitative", axis), "scale", json!({"zero": false}));
                let encoding = json!({"x": open("x", &self.across), "y": open("value", &self.measure)});
                let mark = json!({"type": "point", "tooltip": true});
                one(json!(300), dots.iter().map(datum).collect(), mark, encoding)
            }
            Drawing::Figure { now, before } => {
                let unit = self.measure.unit.as_deref();
                let show = |value| write_unit(value, unit);
                let datum = json!({"label": now.label, "value": now.value, "text": show(now.value),
                                   "change": describe_change(now, before, show)});
                let layer = |field, size, dy| {
                    json!({"mark": {"type": "text", "tooltip": true, "fontSize": size, "dy": dy},
                           "encoding": {"text": channel(field, "nominal", &self.measure)}})
                };
                let layers = [layer("text", 44, -10), layer("change", 14, 30)];
                object([("height", json!(120)), ("data", json!({"values": [datum]})), ("layer", json!(layers))])
            }
        }
    }

    fn bars(&self, labels: &[String], series: &[Series], layout: Layout, ordered: bool) -> Map<String, Value> {
        let places: Vec<Value> = labels.iter().map(|label| label.as_str().into()).collect();
        let place = with(channel("label", "ordinal", &self.across), "sort", json!(labels));
        let length = with(channel("value", "quantitative", &self.measure), "scale", json!({"zero": true}));
        let length = with(length, "stack", json!(layout == Layout::Stacked));
        let (height, along, across) = match ordered {
            true => (json!(300), "x", "y"),
            false => (json!({"step": if layout == Layout::Grouped { 14 } else { 24 }}), "y", "x"),
        };
        let mut encoding = json!({along: place, across: length});
        if layout == Layout::Grouped {
            let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
            encoding[format!("{along}Offset")] =
                with(channel("series", "nominal", &Axis::default()), "sort", json!(names));
        }
        let mark = json!({"type": "bar", "tooltip": true});
        one(height, values(series, "label", &places), mark, with_colour(encoding, series))
    }
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn one(height: Value, values: Vec<Value>, mark: Value, encoding: Value) -> Map<String, Value> {
    object([("height", height), ("data", json!({"values": values})), ("mark", mark), ("encoding", encoding)])
}

/// Returns a row per value of each series; `field` is its position. A missing value is null.
fn values(series: &[Series], field: &str, places: &[Value]) -> Vec<Value> {
    let rows = series.iter().flat_map(|one| {
        one.values.iter().zip(places).map(move |(value, place)| match one.name.as_str() {
            "" => json!({field: place, "value": value}),
            name => json!({field: place, "series": name, "value": value}),
        })
    });
    rows.collect()
}

fn channel(field: &str, kind: &str, axis: &Axis) -> Value {
    json!({"field": field, "type": kind, "title": axis.label()})
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

/// Adds the colours of several series, in order.
fn with_colour(encoding: Value, series: &[Series]) -> Value {
    let [_, _, ..] = series else { return encoding };
    let of = |(at, one): (usize, &Series)| match one.is_rest {
        true => palette::REST.light,
        false => palette::SERIES[at % palette::SERIES.len()].light,
    };
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    let colours: Vec<&str> = series.iter().enumerate().map(of).collect();
    let colour = channel("series", "nominal", &Axis::default());
    with(encoding, "color", with(colour, "scale", json!({"domain": names, "range": colours})))
}

/// Formats a day since 1970 for JSON: as a date, or with minutes unless at midnight.
fn moment(day: f64) -> Option<String> {
    let date: NaiveDate = time::date_of(day)?;
    let seconds = (day.fract() * 86_400.0).round() as u32;
    match seconds {
        0 => Some(date.format("%Y-%m-%d").to_string()),
        _ => Some(
            date.and_hms_opt(seconds / 3_600, seconds / 60 % 60, seconds % 60)?.format("%Y-%m-%dT%H:%M:%S").to_string(),
        ),
    }
}
