//! Measures that are expressions: the functions over rows in them, apart from the arithmetic around them.

use prospector_connect::query::{self, Condition};

use crate::Failure;
use crate::build::{Arithmetic, Calculation, Clause, Measure, invalid};

/// What the names of measures begin with that are no columns of the answer.
const COMPARED: &str = "compared_";

/// The measures and calculations that a list of measures stands for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Computed {
    pub(super) measures: Vec<Measure>,
    pub(super) calculations: Vec<Calculation>,
    /// Of `calculations`, those over columns; they are no columns of the answer.
    inner: usize,
    /// What measures without a name are called by, before what they compute.
    prefix: &'static str,
}

impl Computed {
    /// Takes the measures apart.
    ///
    /// # Errors
    /// An expression that is no arithmetic.
    pub(super) fn read(asked: &[query::Measure], spell: &impl Fn(&str) -> String) -> Result<Self, Failure> {
        let mut computed = Computed::default();
        for measure in asked {
            match (&measure.expression, measure.aggregation) {
                (Some(expression), _) => computed.add_expression(expression, measure.name.clone(), spell)?,
                (None, Some(aggregation)) => computed.measures.push(Measure {
                    column: measure.column.as_deref().map(spell),
                    aggregation,
                    name: measure.name.clone(),
                }),
                (None, None) => {
                    let name = measure.column.as_deref().or(measure.name.as_deref()).unwrap_or_default();
                    return Err(invalid(format!("nothing says how `{name}` is computed"))
                        .advise("give it an aggregation or an expression"));
                }
            }
        }
        Ok(computed)
    }

    /// Computes what conditions are on too, and puts its name there: of `sum(t.c)` that of the measure that is the same, or of
    /// one more. Returns the names of those.
    ///
    /// # Errors
    /// An expression that is no arithmetic.
    pub(super) fn add_compared(
        &mut self,
        conditions: &mut [Condition<Clause>],
        spell: &impl Fn(&str) -> String,
    ) -> Result<Vec<String>, Failure> {
        let (measures, calculations) = (self.measures.len(), self.calculations.len());
        self.prefix = COMPARED;
        let mut failure = None;
        let mut name = |clause: &mut Clause| {
            let Clause::Compare(filter) = clause else { return };
            let Some(asked) = query::Measure::read_aggregate(&filter.column) else { return };
            match self.name_of(&asked, spell) {
                Ok(name) => filter.column = name,
                Err(reason) => {
                    failure.get_or_insert(reason);
                }
            }
        };
        conditions.iter_mut().for_each(|condition| condition.change_singles(&mut name));
        if let Some(failure) = failure {
            return Err(failure);
        }
        let measures = self.measures.iter().skip(measures).map(Measure::name);
        Ok(measures.chain(self.calculations.iter().skip(calculations).map(|made| made.name.clone())).collect())
    }

    /// The columns that are measured, those in calculations among them.
    ///
    /// # Errors
    /// An expression that is no arithmetic.
    pub(super) fn columns(&self) -> Result<Vec<String>, Failure> {
        let mut columns = Vec::new();
        for name in self.measures.iter().filter_map(|measure| measure.column.as_ref()) {
            match self.calculations.iter().find(|made| made.name == *name) {
                Some(made) => {
                    let parsed = Arithmetic::parse(&made.expression)?;
                    columns.extend(parsed.names().into_iter().map(str::to_owned));
                }
                None => columns.push(name.clone()),
            }
        }
        Ok(columns)
    }

    /// The name of the measure or the calculation that computes this.
    fn name_of(&mut self, asked: &query::Measure, spell: &impl Fn(&str) -> String) -> Result<String, Failure> {
        let parsed = match (&asked.expression, asked.aggregation) {
            (Some(expression), _) => Arithmetic::parse_measure(expression)?,
            (None, Some(aggregation)) => {
                Arithmetic::Aggregate(aggregation, asked.column.clone().map(Arithmetic::Name).map(Box::new))
            }
            (None, None) => return Err(invalid("a condition on groups needs something that is computed of them")),
        };
        Ok(match self.replace(&parsed, spell)? {
            Arithmetic::Name(name) => name,
            outer => {
                let name = format!("{COMPARED}{}", self.calculations.len());
                self.calculations.push(Calculation { name: name.clone(), expression: text_of(&outer)? });
                name
            }
        })
    }

    fn add_expression(
        &mut self,
        expression: &str,
        name: Option<String>,
        spell: &impl Fn(&str) -> String,
    ) -> Result<(), Failure> {
        let parsed = Arithmetic::parse_measure(expression)?;
        if let Arithmetic::Aggregate(aggregation, over) = &parsed {
            let column = self.column_of(over.as_deref(), spell)?;
            self.measures.push(Measure { column, aggregation: *aggregation, name });
            return Ok(());
        }
        let outer = self.replace(&parsed, spell)?;
        let name = name.unwrap_or_else(|| format!("result_{}", self.calculations.len() + 1 - self.inner));
        self.calculations.push(Calculation { name, expression: text_of(&outer)? });
        Ok(())
    }

    /// The arithmetic with the name of a measure for each function over rows.
    fn replace(&mut self, made: &Arithmetic, spell: &impl Fn(&str) -> String) -> Result<Arithmetic, Failure> {
        Ok(match made {
            Arithmetic::Aggregate(aggregation, over) => {
                let column = self.column_of(over.as_deref(), spell)?;
                let measure = Measure { column, aggregation: *aggregation, name: None };
                let known = self
                    .measures
                    .iter()
                    .find(|known| known.column == measure.column && known.aggregation == measure.aggregation);
                let name = known.map(Measure::name).unwrap_or_else(|| self.make_name(&measure));
                if known.is_none() {
                    self.measures.push(Measure { name: Some(name.clone()), ..measure });
                }
                Arithmetic::Name(name)
            }
            Arithmetic::Number(_) => made.clone(),
            Arithmetic::Name(name) => Arithmetic::Name(spell(name)),
            Arithmetic::Negative(inner) => Arithmetic::Negative(Box::new(self.replace(inner, spell)?)),
            Arithmetic::Two(sign, left, right) => {
                Arithmetic::Two(*sign, Box::new(self.replace(left, spell)?), Box::new(self.replace(right, spell)?))
            }
            Arithmetic::Call(function, arguments) => {
                let arguments = arguments.iter().map(|one| self.replace(one, spell)).collect::<Result<_, _>>()?;
                Arithmetic::Call(function, arguments)
            }
        })
    }

    /// What a measure without a name is called by: the columns of two tables may have one name.
    fn make_name(&self, measure: &Measure) -> String {
        let plain = format!("{}{}", self.prefix, measure.name());
        let is_taken = |name: &str| self.measures.iter().any(|known| known.name().eq_ignore_ascii_case(name));
        let mut names = std::iter::once(plain.clone()).chain((2_usize..).map(|number| format!("{plain}_{number}")));
        names.find(|name| !is_taken(name)).unwrap_or(plain)
    }

    /// The column that is aggregated: itself, or a calculation over columns.
    fn column_of(
        &mut self,
        over: Option<&Arithmetic>,
        spell: &impl Fn(&str) -> String,
    ) -> Result<Option<String>, Failure> {
        match over {
            None => Ok(None),
            Some(Arithmetic::Name(name)) => Ok(Some(spell(name))),
            Some(made) => {
                self.inner += 1;
                let name = format!("value_{}", self.inner);
                let spelled = self.replace(made, spell)?;
                self.calculations.push(Calculation { name: name.clone(), expression: text_of(&spelled)? });
                Ok(Some(name))
            }
        }
    }
}

/// The arithmetic as a text that is read as the same.
fn text_of(made: &Arithmetic) -> Result<String, Failure> {
    made.spell(&|name| Ok(format!("\"{}\"", name.replace('"', "\"\""))))
}

/// Whether a measure is arithmetic without any function over rows.
pub(super) fn is_of_rows(measure: &query::Measure) -> bool {
    let has_function = |text: &String| Arithmetic::parse_measure(text).is_ok_and(|made| made.has_aggregate());
    measure.aggregation.is_none() && measure.expression.as_ref().is_none_or(|text| !has_function(text))
}

#[cfg(test)]
mod tests {
    use prospector_connect::filter::{FilterCondition, FilterOp};

    use super::*;

    fn check(expression: &str, measures: &[(&str, Option<&str>)], calculations: &[(&str, &str)]) {
        let asked =
            query::Measure { expression: Some(expression.into()), name: Some("it".into()), ..Default::default() };
        let spell = |name: &str| name.trim_start_matches("shop.").to_owned();
        let computed = Computed::read(&[asked], &spell).unwrap_or_else(|failure| panic!("{expression}: {failure}"));
        let own: Vec<(String, Option<&str>)> =
            computed.measures.iter().map(|measure| (measure.name(), measure.column.as_deref())).collect();
        let own: Vec<(&str, Option<&str>)> = own.iter().map(|(name, column)| (name.as_str(), *column)).collect();
        assert_eq!(own, measures, "{expression}");
        let own: Vec<(&str, &str)> =
            computed.calculations.iter().map(|made| (made.name.as_str(), made.expression.as_str())).collect();
        assert_eq!(own, calculations, "{expression}");
    }

    #[test]
    fn what_only_conditions_are_on_is_computed_once() {
        let asked = query::Measure {
            aggregation: Some(query::Aggregation::Sum),
            column: Some("shop.orders.total".into()),
            name: Some("revenue".into()),
            ..Default::default()
        };
        let spell = |name: &str| name.trim_start_matches("shop.").to_owned();
        let mut computed = Computed::read(&[asked], &spell).unwrap();
        let columns =
            ["SUM(shop.orders.total)", "count(*)", "sum(shop.orders.total) / count(*)", "count(*)", "orders.total"];
        let clause = |column: &&str| {
            let (column, op) = ((*column).to_owned(), FilterOp::Gt);
            Condition::One(Clause::Compare(FilterCondition { column, op, value: 1.into() }))
        };
        let mut conditions: Vec<Condition<Clause>> = columns.iter().map(clause).collect();
        let unseen = computed.add_compared(&mut conditions, &spell).unwrap();
        let names: Vec<&str> =
            conditions.iter().flat_map(|condition| condition.singles()).map(Clause::column).collect();
        assert_eq!(names, ["revenue", "compared_count", "compared_0", "compared_count", "orders.total"]);
        assert_eq!(unseen, ["compared_count", "compared_0"]);
        assert_eq!(computed.calculations[0].expression, "(\"revenue\" / \"compared_count\")");
        let mut alike = vec![clause(&"sum(a.total)"), clause(&"sum(b.total)")];
        let unseen = Computed::default().add_compared(&mut alike, &spell).unwrap();
        assert_eq!(unseen, ["compared_sum_total", "compared_sum_total_2"]);
        let mut wrong: Vec<Condition<Clause>> = vec![clause(&"sum(pg_sleep(5)) / 2")];
        assert!(computed.add_compared(&mut wrong, &spell).is_err());
    }

    #[test]
    fn functions_over_rows_are_measures_of_their_own() {
        check("sum(shop.orders.total)", &[("it", Some("orders.total"))], &[]);
        check("count(*)", &[("it", None)], &[]);
        check("count(distinct shop.orders.buyer)", &[("it", Some("orders.buyer"))], &[]);
        check(
            "sum(shop.lines.price * shop.lines.quantity)",
            &[("it", Some("value_1"))],
            &[("value_1", "(\"lines.price\" * \"lines.quantity\")")],
        );
        check(
            "100 * sum(shop.orders.total) / count()",
            &[("sum_total", Some("orders.total")), ("count", None)],
            &[("it", "((100 * \"sum_total\") / \"count\")")],
        );
        check("revenue / orders", &[], &[("it", "(\"revenue\" / \"orders\")")]);
    }
}
