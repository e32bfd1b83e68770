//! Which chart shows a result, if any. [`choose`] goes through [`RULES`], a short list that can be read, over the names and
//! the values of the columns; what it chooses is plain data ([`Chart`]), and is drawn in four ways: as a specification of
//! Vega-Lite for other programs ([`Chart::vega`]), as SVG ([`Chart::svg`]), in text for a terminal ([`Chart::text`]) and in
//! words ([`Chart::describe`]).
//!
//! ```
//! use prospector_chart::{Choice, Data, choose};
//! use serde_json::json;
//!
//! let columns = ["country", "customers"].map(str::to_owned);
//! let rows = [vec![json!("PT"), json!(22)], vec![json!("ES"), json!(41)], vec![json!("FR"), json!(38)]];
//! let Choice::Chart(chart) = choose(&Data { columns: &columns, rows: &rows, ..Data::default() }) else { panic!() };
//! assert_eq!(chart.title, "Customers by country");
//! assert!(chart.describe().starts_with("Bar chart. Customers by country: 3 bars. The most is ES with 41"));
//! ```
//!
//! What somebody else would draw, such as a language model, is a [`Proposal`]: it is drawn where the same rules allow it of the
//! columns that it names.
//!
//! A chart tells no more than its rows: bars begin at zero, what was folded into one bar or left out is said in a note, a
//! line is broken where a period is missing, and of a result that was cut in no order there is no chart.
//!
//! The number that is read before a chart or a table is [`Data::headline`].
//!
//! What it is not: it reads no data, asks no model, and draws nothing that the rows do not hold.

mod build;
mod chart;
mod column;
mod data;
mod describe;
mod headline;
mod number;
mod palette;
mod profile;
mod proposal;
mod rules;
mod svg;
mod text;
mod time;
mod totals;
mod vega;

pub use chart::{Chart, ChartKind, Drawing};
pub use data::Data;
pub use proposal::Proposal;
pub use rules::{Choice, RULES, Rule, choose};
pub use vega::VegaLite;
