//! A step over metrics as the question over them that it is: how it is verified, and how it is run.

use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Condition, DatePart, Group, Order},
};
use prospector_semantics::{MetricQuery, TIME};

use super::Step;
use crate::meaning::Meanings;

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

    /// Groups by the time that its metrics have, where they cannot be computed by the column that holds it, and can by that: those that
    /// reach back have to know which groups are periods.
    pub(super) fn group_by_time(&mut self, meanings: &dyn Meanings) {
        let is_refused =
            |step: &Step| step.metric_query().is_some_and(|query| meanings.refuse_metrics(&query).is_some());
        if self.metrics.is_empty() || self.query.is_some() || !is_refused(self) {
            return;
        }
        if let Some(step) = self.write_time(meanings).filter(|step| !is_refused(step)) {
            *self = step;
        }
    }

    /// The step with `time` in the place of the column that all of its metrics have as their time; none where it does not group by a
    /// part of that, or by several.
    fn write_time(&self, meanings: &dyn Meanings) -> Option<Step> {
        let model = meanings.metrics()?;
        let expansion = model.expand(&self.metrics);
        let [time] = expansion.times.as_slice() else { return None };
        let is_time_column = |column: &str| {
            let group = Group { column: column.to_owned(), ..Group::default() };
            model.expand_dimension(&group, &expansion).is_some_and(|found| found.column.eq_ignore_ascii_case(time))
        };
        let has_period = |group: &Group| !matches!(group.part, None | Some(DatePart::Weekday | DatePart::Hour));
        let mut step = self.clone();
        let mut periods = step.group_by.iter_mut().filter(|group| has_period(group) && is_time_column(&group.column));
        let (group, None) = (periods.next()?, periods.next()) else { return None };
        TIME.clone_into(&mut group.column);
        for order in &mut step.order {
            match DatePart::read(&order.by) {
                Some((part, column)) if is_time_column(column) => order.by = format!("{}({TIME})", part.as_str()),
                Some(_) => {}
                None if is_time_column(&order.by) => TIME.clone_into(&mut order.by),
                None => {}
            }
        }
        // What lies before a period counts too: a condition is on the period, not on the rows.
        for condition in &mut step.filter {
            if let Condition::One(filter) = condition
                && is_bound(filter)
                && is_time_column(&filter.column)
            {
                TIME.clone_into(&mut filter.column);
            }
        }
        Some(step)
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

/// How a step names the period that metrics cannot be computed without; none where that would not help.
pub(super) fn advise_period(query: &MetricQuery, meanings: &dyn Meanings) -> Option<String> {
    let mut by_month = query.clone();
    by_month.dimensions.push("month".to_owned());
    let helps = meanings.refuse_metrics(&by_month).is_none();
    helps.then(|| {
        format!("in a step a period is a group: `year_month({TIME})`, `year_quarter({TIME})` or `year({TIME})`")
    })
}

/// Whether a condition compares with days.
fn is_bound(filter: &FilterCondition) -> bool {
    match filter.op {
        FilterOp::Eq | FilterOp::Gt | FilterOp::Gte | FilterOp::Lt | FilterOp::Lte => filter.value.is_string(),
        FilterOp::Between => filter.value.is_array(),
        FilterOp::Neq | FilterOp::In | FilterOp::Like | FilterOp::NotLike => false,
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
    use prospector_connect::{
        query::Aggregation,
        sql::Dialect,
        table::{Column, ColumnType, Table},
    };
    use prospector_semantics::{
        SemanticModel, Tables,
        model::{Declarations, Entity, Measure, Metric, MetricKind},
    };
    use serde_json::{Value, json};

    use super::*;
    use crate::meaning::{DefinedTerm, OperationMeaning, TableMeaning};

    /// Orders with their revenue, which is only computed for a period.
    struct Shop(SemanticModel);

    impl Shop {
        fn new() -> Shop {
            let column = |name: &str, column_type| Column { name: name.into(), column_type, ..Column::default() };
            let key = Column { primary_key: true, ..column("id", ColumnType::Integer) };
            let columns = vec![key, column("total", ColumnType::Integer), column("day", ColumnType::Date)];
            let orders = Table { name: "orders".into(), columns, ..Table::default() };
            let entity = Entity {
                name: "order".into(),
                database: "shop".into(),
                table: "orders".into(),
                time: Some("day".into()),
                ..Entity::default()
            };
            let measure = Measure {
                entity: "order".into(),
                aggregation: Aggregation::Sum,
                expression: Some("total".into()),
                filters: Vec::new(),
                time: None,
                grain: None,
                semi_additive: None,
            };
            let metric = Metric {
                name: "revenue".into(),
                kind: MetricKind::Simple(measure),
                unit: String::new(),
                format: String::new(),
                owner: String::new(),
                description: String::new(),
                synonyms: Vec::new(),
                source: String::new(),
                place: "catalog.yaml:1".into(),
            };
            let declared = Declarations { entities: vec![entity], metrics: vec![metric], ..Declarations::default() };
            let tables = Tables { database: "shop", dialect: Dialect::Sqlite, tables: &[orders] };
            let (model, problems) = SemanticModel::check(declared, &[tables]);
            assert!(problems.is_empty(), "{problems:?}");
            Shop(model)
        }
    }

    impl Meanings for Shop {
        fn table(&self, _: &str) -> Option<TableMeaning> {
            None
        }

        fn operation(&self, _: &str) -> Option<OperationMeaning> {
            None
        }

        fn subject(&self, _: &str) -> Option<String> {
            None
        }

        fn mentions(&self, _: &str, _: &str) -> bool {
            false
        }

        fn definitions(&self, _: &str) -> Vec<DefinedTerm> {
            Vec::new()
        }

        fn homes(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn metrics(&self) -> Option<&SemanticModel> {
            Some(&self.0)
        }

        fn refuse_metrics(&self, query: &MetricQuery) -> Option<String> {
            let is_told = query.dimensions.iter().any(|name| name == "month");
            (!is_told).then(|| "no period is named".to_owned())
        }

        fn bridges(&self, _: &str, _: &str, _: &str) -> Option<Vec<String>> {
            None
        }
    }

    fn read(step: Value) -> Step {
        serde_json::from_value(step).unwrap()
    }

    #[test]
    fn metrics_that_need_a_period_are_by_their_time() {
        let shop = Shop::new();
        let mut step = read(json!({"metrics": ["revenue"], "group_by": ["year_month(shop.orders.day) as m"],
            "order": ["year_month(shop.orders.day) desc"],
            "filter": ["shop.orders.day >= '2025-01-01'", "shop.orders.day is not null"]}));
        step.group_by_time(&shop);
        assert_eq!((step.group_by[0].column.as_str(), step.group_by[0].part), (TIME, Some(DatePart::YearMonth)));
        let compared: Vec<&str> = step.conditions().map(|filter| filter.column.as_str()).collect();
        assert_eq!(compared, [TIME, "shop.orders.day"]);
        assert_eq!(step.order[0].by, "year_month(time)");
        let mut whole = read(json!({"metrics": ["revenue"], "group_by": ["shop.orders.total"]}));
        let query = whole.metric_query().unwrap();
        assert!(advise_period(&query, &shop).is_some_and(|advice| advice.contains("`year_month(time)`")));
        whole.group_by_time(&shop);
        assert_eq!(whole.group_by[0].column, "shop.orders.total", "what is no period stays");
        let mut by_quarter = read(json!({"metrics": ["revenue"], "group_by": ["quarter(shop.orders.day)"]}));
        by_quarter.group_by_time(&shop);
        assert_eq!(by_quarter.group_by[0].column, "shop.orders.day", "what would not help is not done");
    }

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
