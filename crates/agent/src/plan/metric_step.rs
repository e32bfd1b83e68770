//! A step over metrics as the question over them that it is: how it is verified, and how it is run.

use prospector_connect::query::{Condition, DatePart, Group, Order};
use prospector_semantics::{MetricQuery, TIME};

use super::Step;

impl Step {
    /// What a step asks of the metrics that it names; its conditions, groups and order are over their dimensions. A part of a date
    /// is asked for as the period that has it: `month(time)`, which is 1 to 12, as months of years. There is no such question
    /// where alternatives are values of several dimensions.
    pub fn metric_query(&self) -> Option<MetricQuery> {
        Some(MetricQuery {
            metrics: self.metrics.clone(),
            dimensions: self.group_by.iter().map(name_dimension).collect(),
            filters: self.filter.iter().map(Condition::as_single).collect::<Option<_>>()?,
            grain: None,
            order: self.order.iter().map(|order| self.name_order(order)).collect(),
            limit: self.limit,
            ties: false,
        })
    }

    /// An order by a group, whatever the step calls that.
    fn name_order(&self, order: &Order) -> Order {
        let is_meant = |group: &&Group| {
            let of_part = group.part.map(|part| format!("{}({})", part.as_str(), group.column));
            let names = [group.name.clone(), of_part];
            names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(&order.by))
        };
        let group = self.group_by.iter().find(is_meant);
        let by = group.map(|group| if is_time(group) { TIME.to_owned() } else { name_dimension(group) });
        Order { by: by.unwrap_or_else(|| order.by.clone()), descending: order.descending }
    }
}

/// Whether a group is by the time that each metric has.
fn is_time(group: &Group) -> bool {
    group.column.eq_ignore_ascii_case(TIME)
}

/// A group as a dimension. There are no weekdays and hours of metrics: these stay as they are written, and are refused.
fn name_dimension(group: &Group) -> String {
    let Some(part) = group.part else { return group.column.clone() };
    let period = match part {
        DatePart::Year => "year",
        DatePart::Quarter | DatePart::YearQuarter => "quarter",
        DatePart::Month | DatePart::YearMonth => "month",
        DatePart::Day | DatePart::Date => "day",
        DatePart::Weekday | DatePart::Hour => return format!("{}({})", part.as_str(), group.column),
    };
    if is_time(group) { period.to_owned() } else { format!("{period}({})", group.column) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn groups_are_periods_of_dimensions() {
        let step = json!({"metrics": ["revenue"], "group_by": ["year_month(time) as m", "country", "weekday(order.day)"],
            "order": ["m desc", "country"], "filter": ["country = 'PT' or country = 'BR'"]});
        let mut step = serde_json::from_value::<Step>(step).unwrap();
        let query = step.metric_query().unwrap();
        assert_eq!(query.filters[0].value, json!(["PT", "BR"]));
        assert_eq!(query.dimensions, ["month", "country", "weekday(order.day)"]);
        let order: Vec<&str> = query.order.iter().map(|order| order.by.as_str()).collect();
        assert_eq!(order, ["time", "country"]);
        step.filter = vec![Condition::Any(Vec::new())];
        assert_eq!(step.metric_query(), None);
    }
}
