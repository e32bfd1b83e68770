//! Renders charts as typed Vega-Lite 5 specifications with inline data.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{
    chart::{Axis, Chart, Drawing, Layout, Series},
    describe::describe_change,
    number::write_unit,
    palette, time,
};

const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";

/// A Vega-Lite specification.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct VegaLite {
    #[serde(rename = "$schema")]
    schema: String,
    title: Title,
    description: String,
    width: u32,
    height: Height,
    data: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<Encoding>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    layer: Vec<Layer>,
    config: Config,
    /// The colours for a dark background, in the order of those for a light one.
    usermeta: UserMeta,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Title {
    text: String,
    /// Notes and sources.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    subtitle: String,
    anchor: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Height {
    Pixels(u32),
    /// Per bar.
    Step {
        step: u32,
    },
}

impl Default for Height {
    fn default() -> Self {
        Height::Pixels(300)
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Values {
    values: Vec<Datum>,
}

/// A row of the data; each chart fills the fields of its channels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Datum {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<f64>,
    /// Null if the value is missing.
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Mark {
    #[serde(rename = "type")]
    kind: String,
    tooltip: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "fontSize")]
    font_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dy: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Layer {
    mark: Mark,
    encoding: Encoding,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Encoding {
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x_offset: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_offset: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tooltip: Option<Vec<Channel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Channel>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FieldType {
    #[default]
    Nominal,
    Ordinal,
    Quantitative,
    Temporal,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Channel {
    field: String,
    #[serde(rename = "type")]
    kind: FieldType,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Scale {
    #[serde(skip_serializing_if = "Option::is_none")]
    zero: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Config {
    background: String,
    mark: ConfigMark,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct ConfigMark {
    color: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct UserMeta {
    dark: Vec<String>,
}

impl Chart {
    /// Renders the chart as a Vega-Lite specification.
    pub fn vega(&self) -> VegaLite {
        let shown = match &self.drawing {
            Drawing::Bars { labels, series, layout, ordered } => self.bars(labels, series, *layout, *ordered),
            Drawing::Lines { periods, series, from_zero } => {
                let values = series.iter().flat_map(|one| {
                    one.values.iter().zip(periods).map(|(value, period)| Datum {
                        period: moment(period.day),
                        series: find_name(one),
                        value: *value,
                        ..Datum::default()
                    })
                });
                let encoding = Encoding {
                    x: Some(channel("period", FieldType::Temporal, &self.across)),
                    y: Some(Channel {
                        scale: Some(Scale { zero: Some(*from_zero), ..Scale::default() }),
                        ..channel("value", FieldType::Quantitative, &self.measure)
                    }),
                    color: colour(series),
                    ..Encoding::default()
                };
                let mark = Mark { point: Some(true), ..mark("line") };
                VegaLite { data: Values { values: values.collect() }, ..one(mark, encoding) }
            }
            Drawing::Dots { dots } => {
                let values = dots.iter().map(|dot| Datum {
                    label: dot.label.clone(),
                    x: Some(dot.x),
                    value: Some(dot.y),
                    ..Datum::default()
                });
                let open = Scale { zero: Some(false), ..Scale::default() };
                let of = |field, axis| Channel {
                    scale: Some(open.clone()),
                    ..channel(field, FieldType::Quantitative, axis)
                };
                let encoding = Encoding {
                    x: Some(of("x", &self.across)),
                    y: Some(of("value", &self.measure)),
                    ..Encoding::default()
                };
                VegaLite { data: Values { values: values.collect() }, ..one(mark("point"), encoding) }
            }
            Drawing::Figure { now, before } => {
                let unit = self.measure.unit.as_deref();
                let datum = Datum {
                    label: Some(now.label.clone()),
                    value: Some(now.value),
                    text: Some(write_unit(now.value, unit)),
                    change: Some(describe_change(now, before, |value| write_unit(value, unit))),
                    ..Datum::default()
                };
                let layer = |field: &str, size, dy| Layer {
                    mark: Mark { font_size: Some(size), dy: Some(dy), ..mark("text") },
                    encoding: Encoding {
                        text: Some(channel(field, FieldType::Nominal, &self.measure)),
                        ..Encoding::default()
                    },
                };
                VegaLite {
                    data: Values { values: vec![datum] },
                    layer: vec![layer("text", 44, -10), layer("change", 14, 30)],
                    height: Height::Pixels(120),
                    ..VegaLite::default()
                }
            }
        };
        VegaLite {
            schema: SCHEMA.to_owned(),
            title: Title { text: self.title.clone(), subtitle: self.footnote(), anchor: "start".into() },
            description: self.describe(),
            width: 560,
            config: Config {
                background: palette::GROUND.light.into(),
                mark: ConfigMark { color: palette::SERIES[0].light.into() },
            },
            usermeta: UserMeta { dark: palette::SERIES.map(|colour| colour.dark.to_owned()).to_vec() },
            ..shown
        }
    }

    fn bars(&self, labels: &[String], series: &[Series], layout: Layout, ordered: bool) -> VegaLite {
        let values = series.iter().flat_map(|one| {
            one.values.iter().zip(labels).map(|(value, label)| Datum {
                label: Some(label.clone()),
                series: find_name(one),
                value: *value,
                ..Datum::default()
            })
        });
        let place = Channel { sort: Some(labels.to_vec()), ..channel("label", FieldType::Ordinal, &self.across) };
        let length = Channel {
            scale: Some(Scale { zero: Some(true), ..Scale::default() }),
            stack: Some(layout == Layout::Stacked),
            ..channel("value", FieldType::Quantitative, &self.measure)
        };
        let offset = (layout == Layout::Grouped).then(|| Channel {
            sort: Some(series.iter().map(|one| one.name.clone()).collect()),
            ..channel("series", FieldType::Nominal, &Axis::default())
        });
        let encoding = match ordered {
            true => Encoding { x: Some(place), y: Some(length), x_offset: offset, ..Encoding::default() },
            false => Encoding { y: Some(place), x: Some(length), y_offset: offset, ..Encoding::default() },
        };
        let step = if layout == Layout::Grouped { 14 } else { 24 };
        let height = if ordered { Height::Pixels(300) } else { Height::Step { step } };
        let encoding = Encoding { color: colour(series), ..encoding };
        VegaLite { data: Values { values: values.collect() }, height, ..one(mark("bar"), encoding) }
    }
}

fn one(mark: Mark, encoding: Encoding) -> VegaLite {
    VegaLite { mark: Some(mark), encoding: Some(encoding), ..VegaLite::default() }
}

fn mark(kind: &str) -> Mark {
    Mark { kind: kind.to_owned(), tooltip: true, ..Mark::default() }
}

fn channel(field: &str, kind: FieldType, axis: &Axis) -> Channel {
    Channel { field: field.to_owned(), kind, title: axis.label(), ..Channel::default() }
}

fn find_name(series: &Series) -> Option<String> {
    (!series.name.is_empty()).then(|| series.name.clone())
}

/// Returns the colours of several series, in order.
fn colour(series: &[Series]) -> Option<Channel> {
    let [_, _, ..] = series else { return None };
    let of = |(at, one): (usize, &Series)| {
        if one.is_rest { palette::REST.light } else { palette::SERIES[at % palette::SERIES.len()].light }.to_owned()
    };
    let scale = Scale {
        domain: Some(series.iter().map(|one| one.name.clone()).collect()),
        range: Some(series.iter().enumerate().map(of).collect()),
        ..Scale::default()
    };
    Some(Channel { scale: Some(scale), ..channel("series", FieldType::Nominal, &Axis::default()) })
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
