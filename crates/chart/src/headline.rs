//! Selects the headline number of a result, to be shown before the chart or table.

use serde::Serialize;
use serde_json::Value;

use crate::{
    chart::{Chart, Drawing, Labelled, Layout, Series},
    column::Column,
    data::Data,
    describe::describe_change,
    number::{self, write_unit},
    profile::Profile,
    rules::{Choice, choose},
};

/// Maximum length of a label in a headline.
const MAX_TEXT_CHARS: usize = 40;

/// The headline number of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The number with its unit.
    pub value: String,
    /// Its label: `Dec 2025`, `Total`, `Highest: Spain`.
    pub label: String,
    /// The change since the previous period, or the largest part; empty if not applicable.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The direction of the change: 1, -1 or 0.
    pub direction: i8,
}

impl Data<'_> {
    /// Returns the headline of a result, if a single number summarises it: the only value, the latest of several
    /// periods, the total of additive parts, otherwise the highest value.
    pub fn headline(&self) -> Option<Headline> {
        let data = self;
        if let [row] = data.rows
            && let Some(found) = only_value(data, row)
        {
            return Some(found);
        }
        let Choice::Chart(chart) = choose(data) else { return None };
        let unit = chart.measure.unit.as_deref();
        match &chart.drawing {
            Drawing::Figure { now, before } => Some(compare(now, before, unit)),
            Drawing::Lines { periods, series, .. } => {
                let [line] = &series[..] else { return None };
                let known = line.values.iter().zip(periods);
                let mut known = known
                    .filter_map(|(value, period)| Some(Labelled { label: period.label.clone(), value: (*value)? }));
                let (now, before) = (known.next_back()?, known.next_back()?);
                (!data.has_more).then(|| compare(&now, &before, unit))
            }
            Drawing::Bars { labels, series, layout: Layout::Single, ordered } => {
                let profile = Profile::new(data);
                let may_add = profile.measures.first().is_some_and(Column::is_sum) && !data.has_more;
                of_bars(&chart, labels, series.first()?, may_add, *ordered)
            }
            Drawing::Bars { .. } | Drawing::Dots { .. } => None,
        }
    }
}

/// Returns the only value of a result, or the only number besides the name of its row.
fn only_value(data: &Data<'_>, row: &[Value]) -> Option<Headline> {
    let profile = Profile::new(data);
    let plain = |value: String, label: String| Headline { value, label, detail: String::new(), direction: 0 };
    let [measure] = &profile.measures[..] else {
        let [Value::String(text)] = row else { return None };
        let is_short = (1..=MAX_TEXT_CHARS).contains(&text.chars().count());
        let name = data.columns.first()?.replace('_', " ");
        return is_short.then(|| plain(text.clone(), crate::column::capital(&name)));
    };
    let number = measure.numbers().first().copied().flatten()?;
    let named = profile.times.iter().chain(&profile.categories).filter_map(|column| column.texts.first());
    let label: Vec<String> = [measure.axis().title].into_iter().chain(named.cloned()).collect();
    Some(plain(exact(number, measure.unit.as_deref()), label.join(", ")))
}

fn compare(now: &Labelled, before: &Labelled, unit: Option<&str>) -> Headline {
    let direction = i8::from(now.value > before.value) - i8::from(now.value < before.value);
    Headline {
        value: exact(now.value, unit),
        label: now.label.clone(),
        detail: describe_change(now, before, |value| exact(value, unit)),
        direction,
    }
}

fn of_bars(chart: &Chart, labels: &[String], series: &Series, may_add: bool, ordered: bool) -> Option<Headline> {
    let unit = chart.measure.unit.as_deref();
    let known = || series.values.iter().zip(labels).filter_map(|(value, label)| Some(((*value)?, label)));
    let (most, name) = known().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let highest =
        |value: String| Headline { value, label: format!("Highest: {name}"), detail: String::new(), direction: 0 };
    match (may_add, ordered) {
        (true, _) => Some(Headline {
            value: exact(known().map(|(value, _)| value).sum(), unit),
            label: "Total".to_owned(),
            detail: format!("highest: {name} with {}", write_unit(most, unit)),
            direction: 0,
        }),
        (false, false) => Some(highest(exact(most, unit))),
        (false, true) => None,
    }
}

/// Formats a number to two decimals.
fn exact(value: f64, unit: Option<&str>) -> String {
    let cents = (value * 100.0).round() / 100.0;
    match () {
        () if value.abs() < 1.0 || cents.fract() == 0.0 => {
            write_unit(if value.abs() < 1.0 { value } else { cents }, unit)
        }
        () => number::write_to(cents, 2, unit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Use;

    #[track_caller]
    fn check(columns: &[&str], rows: Value, expected: Option<(&str, &str, &str)>) {
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
        let units = [("revenue".to_owned(), "USD".to_owned())];
        let is_count = columns.iter().any(|name| name == "customers");
        let uses = if is_count { vec![None, Some(Use::Sum)] } else { Vec::new() };
        let found = Data::headline(&Data { columns: &columns, rows: &rows, units: &units, uses, ..Data::default() });
        let found = found.as_ref().map(|one| (one.value.as_str(), one.label.as_str(), one.detail.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn selects_the_requested_number_as_headline() {
        check(&["number_of_orders"], json!([[1_044]]), Some(("1,044", "Number of orders", "")));
        check(&["revenue"], json!([[44_473.000_000_000_01]]), Some(("44,473 USD", "Revenue", "")));
        check(&["product", "revenue"], json!([["Kettle", 499.5]]), Some(("499.50 USD", "Revenue, Kettle", "")));
        check(&["name"], json!([["Espresso Machine"]]), Some(("Espresso Machine", "Name", "")));
        let quarters = json!([["2025-Q1", 100.0], ["2025-Q2", 110.0], ["2025-Q3", 2_028.97], ["2025-Q4", 3_763.06]]);
        check(
            &["quarter", "revenue"],
            quarters,
            Some(("3,763.06 USD", "2025-Q4", "1,734.09 USD (85.5 %) more than 2,028.97 USD (2025-Q3)")),
        );
        let countries = json!([["PT", 22], ["ES", 41], ["FR", 38]]);
        check(&["country", "customers"], countries, Some(("101", "Total", "highest: ES with 41")));
        let averages = json!([["PT", 2.5], ["ES", 4.25], ["FR", 3.0]]);
        check(&["country", "average_rating"], averages, Some(("4.25", "Highest: ES", "")));
        let unknown = json!([["PT", 22], ["ES", 41], ["FR", 38]]);
        check(&["country", "n"], unknown, Some(("41", "Highest: ES", "")));
        check(&["a", "b"], json!([["x", "y"], ["z", "w"]]), None);
        check(&["n"], json!([]), None);
    }
}
