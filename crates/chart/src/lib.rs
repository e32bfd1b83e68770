//! Chart selection and rendering. [`choose`] applies [`RULES`], a short readable list, to the values of the columns and
//! their [`Use`] in the query; names are labels. The chosen [`Chart`] is plain data and can be rendered as a Vega-Lite
//! specification ([`Chart::vega`]), as SVG ([`Chart::svg`]), as text for a terminal ([`Chart::text`]) and as a
//! description ([`Chart::describe`]).
//!
//! ```
//! use prospector_chart::{Choice, Data, choose};
//! use serde_json::json;
//!
//! let columns = ["country", "customers"].map(str::to_owned);
//! let rows = [vec![json!("PT"), json!(22)], vec![json!("ES"), json!(41)], vec![json!("FR"), json!(38)]];
//! let Choice::Chart(chart) = choose(&Data { columns: &columns, rows: &rows, ..Data::default() }) else { panic!() };
//! assert_eq!(chart.title, "Customers by country");
//! assert!(chart.describe().starts_with("Bar chart. Customers by country: 3 bars. The highest is ES with 41"));
//! ```
//!
//! A chart requested by the caller, such as a language model, is a [`Proposal`]: it states the roles of its columns, and
//! is drawn if the rules allow it for them.
//!
//! Charts do not mislead: bars start at zero, folded or omitted rows are noted, lines are interrupted at missing
//! periods, and a truncated, unsorted result is not drawn.
//!
//! [`Data::headline`] returns the number to show before a chart or table.
//!
//! The crate reads no data, calls no model, and draws only what the rows contain.

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
pub use data::{Data, Use};
pub use proposal::Proposal;
pub use rules::{Choice, RULES, choose};
pub use vega::VegaLite;
