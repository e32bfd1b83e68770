//! Resolution of the names in a request: columns of tables, calculations over them, and columns of the answer.

use std::collections::BTreeMap;

use prospector_connect::query::{Aggregation, DatePart};

use super::request::{Calculation, QueryRequest};
use super::write::{Class, Writer};
use super::{Arithmetic, Operands, Relations, column, invalid};
use crate::{Failure, FailureCode};

/// The columns of the tables as a request names them.
pub(crate) struct Names<'a> {
    relations: &'a Relations<'a>,
    /// The table whose columns need no qualifier.
    pub(crate) root: usize,
    calculations: BTreeMap<String, Arithmetic>,
}

/// A column of the answer.
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) class: Class,
    /// How it is computed from other columns.
    pub(crate) formula: Option<Arithmetic>,
    is_dimension: bool,
}

impl Output {
    /// Returns whether a condition on that name applies to a computed value and not to a column.
    pub(crate) fn is_computed(&self, name: &str) -> bool {
        !self.is_dimension && self.name.eq_ignore_ascii_case(name)
    }
}

pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    Failure::new(FailureCode::UnknownColumn, format!("unknown {what} `{name}`")).suggest_nearest(name, known, "")
}

impl<'a> Names<'a> {
    pub(crate) fn new(
        relations: &'a Relations<'a>,
        root: usize,
        calculations: &[Calculation],
    ) -> Result<Self, Failure> {
        let mut parsed = BTreeMap::new();
        for calculation in calculations {
            let made = Arithmetic::parse(&calculation.expression)?;
            if parsed.insert(calculation.name.to_lowercase(), made).is_some() {
                return Err(invalid(format!("two calculations have the name `{}`", calculation.name)));
            }
        }
        Ok(Names { relations, root, calculations: parsed })
    }

    /// Returns the table and the column of that name.
    fn column(&self, name: &str) -> Result<(usize, &'a prospector_connect::table::Column), Failure> {
        let root = &self.relations.tables[self.root];
        let missing = match column(root, name) {
            Ok(found) => return Ok((self.root, found)),
            Err(missing) => missing,
        };
        let Some((table, last)) = name.rsplit_once('.') else {
            let elsewhere = self.relations.tables.iter().filter(|table| table.column(name).is_some()).take(3);
            let elsewhere: Vec<String> = elsewhere.map(|table| format!("`{}.{name}`", table.name)).collect();
            return Err(match elsewhere.as_slice() {
                [] => missing,
                some => missing.advise(format!("did you mean {}?", some.join(", "))),
            });
        };
        let tables = &self.relations.tables;
        let exact = tables.iter().position(|known| known.name == table);
        let at = exact.or_else(|| tables.iter().position(|known| known.name.eq_ignore_ascii_case(table)));
        let at = at.ok_or_else(|| {
            Failure::new(FailureCode::UnknownTable, format!("unknown table `{table}` in `{name}`")).suggest_nearest(
                table,
                tables.iter().map(|table| table.name.as_str()),
                "",
            )
        })?;
        Ok((at, column(&tables[at], last)?))
    }

    /// Returns the column, or the part of a date that the name expresses: `month(orders.day)`.
    fn column_or_part(
        &self,
        name: &str,
    ) -> Result<(usize, &'a prospector_connect::table::Column, Option<DatePart>), Failure> {
        match (self.column(name), DatePart::read(name)) {
            (Ok((table, column)), _) => Ok((table, column, None)),
            (Err(_), Some((part, inner))) => self.column(inner).map(|(table, column)| (table, column, Some(part))),
            (Err(failure), None) => Err(failure),
        }
    }

    /// Returns the calculation over columns of that name.
    fn calculation(&self, name: &str) -> Option<&Arithmetic> {
        self.calculations.get(&name.to_lowercase())
    }

    /// Returns the tables that the name requires.
    pub(crate) fn tables(&self, name: &str) -> Result<Vec<usize>, Failure> {
        match self.calculation(name) {
            Some(made) => made.names().into_iter().map(|name| Ok(self.column(name)?.0)).collect(),
            None => Ok(vec![self.column_or_part(name)?.0]),
        }
    }

    /// Returns the class of the values.
    pub(crate) fn class(&self, name: &str) -> Result<Class, Failure> {
        match self.calculation(name) {
            Some(_) => Ok(Class::Number),
            None => match self.column_or_part(name)? {
                (.., Some(part)) if part.is_number() => Ok(Class::Number),
                (.., Some(_)) => Ok(Class::Text),
                (_, column, None) => Ok(Class::from_type(column.column_type)),
            },
        }
    }

    /// Renders the SQL of a name.
    pub(crate) fn write(&self, writer: &Writer, name: &str) -> Result<String, Failure> {
        match self.calculation(name) {
            Some(made) => made.write(writer, &Columns { names: self, writer }),
            None => self.write_column(writer, name),
        }
    }

    fn write_column(&self, writer: &Writer, name: &str) -> Result<String, Failure> {
        let (table, column, part) = self.column_or_part(name)?;
        let value = format!("t{table}.{}", writer.quote(&column.name));
        Ok(match part {
            Some(part) => writer.part(&value, Class::from_type(column.column_type), part),
            None => value,
        })
    }
}

/// The columns that a calculation names.
struct Columns<'a> {
    names: &'a Names<'a>,
    writer: &'a Writer,
}

impl Operands for Columns<'_> {
    fn write(&self, name: &str) -> Result<String, Failure> {
        self.names.write_column(self.writer, name)
    }

    fn class(&self, name: &str) -> Result<Class, Failure> {
        self.names.class(name)
    }
}

/// Returns the columns of the answer in order, and fills in missing names.
pub(crate) fn outputs(query: &mut QueryRequest, names: &Names<'_>) -> Result<Vec<Output>, Failure> {
    let mut outputs: Vec<Output> = Vec::new();
    for dimension in &mut query.dimensions {
        let name = dimension.name();
        dimension.name = Some(name.clone());
        let class = if dimension.part.is_some() { Class::Text } else { names.class(&dimension.column)? };
        outputs.push(Output { name, class, formula: None, is_dimension: true });
    }
    for measure in &mut query.measures {
        let name = measure.name();
        measure.name = Some(name.clone());
        let class = match (&measure.column, measure.aggregation) {
            (Some(column), Aggregation::Min | Aggregation::Max) => names.class(column)?,
            (None, Aggregation::Count) | (Some(_), _) => Class::Number,
            (None, other) => {
                return Err(
                    invalid(format!("{} needs a column", other.as_str())).advise("only `count` works without a column")
                );
            }
        };
        outputs.push(Output { name, class, formula: None, is_dimension: false });
    }
    // A measured or grouped calculation is not a column of the answer itself.
    let used = |name: &str| {
        let measured = query.measures.iter().filter_map(|measure| measure.column.as_deref());
        measured.chain(query.dimensions.iter().map(|d| d.column.as_str())).any(|used| used.eq_ignore_ascii_case(name))
    };
    let mut formulas = Vec::new();
    for calculation in query.calculations.iter().filter(|calculation| !used(&calculation.name)) {
        let made = Arithmetic::parse(&calculation.expression)?;
        for name in made.names() {
            if !outputs.iter().any(|output| output.name.eq_ignore_ascii_case(name)) {
                let failure = unknown("measure", name, outputs.iter().map(|output| output.name.as_str()));
                let advice = "a calculation that no measure uses must refer to measures by their names";
                return Err(match failure.suggestion.clone() {
                    Some(suggestion) => failure.advise(format!("{suggestion} ({advice})")),
                    None => failure.advise(advice),
                });
            }
        }
        let name = calculation.name.clone();
        formulas.push(Output { name, class: Class::Number, formula: Some(made), is_dimension: false });
    }
    outputs.extend(formulas);
    for (at, output) in outputs.iter().enumerate() {
        if outputs[..at].iter().any(|other| other.name.eq_ignore_ascii_case(&output.name)) {
            return Err(invalid(format!("two columns of the answer have the name `{}`", output.name))
                .advise("give one of them another `name`"));
        }
    }
    Ok(outputs)
}
