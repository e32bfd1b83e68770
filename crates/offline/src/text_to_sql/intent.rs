//! What a question asks of one database: a measure over one table, grouped, filtered, ranked. Every word that says
//! something must have a meaning; where one has none, the question is not answered.

mod defined;
mod meaning;
mod places;
mod reader;

use prospector_text::periods::{MIN_OVERLAP, measure_overlap};

use super::{
    period::{Period, Unit},
    text::{stem, words},
    turn_state::TurnState,
};
pub(super) use places::path;
use reader::{GROUPING, Reader};

/// A column by its place.
pub(super) type Place = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Sum,
    Average,
    Max,
    Min,
    Distinct,
}

impl Aggregate {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Aggregate::Sum => "total",
            Aggregate::Average => "average",
            Aggregate::Max => "highest",
            Aggregate::Min => "lowest",
            Aggregate::Distinct => "number of different values",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    Rows,
    Of(Aggregate, Place),
    Ratio(Box<Measure>, Box<Measure>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Is(String),
    Compare(&'static str, String),
    During(Period),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    pub(super) place: Place,
    pub(super) test: Test,
    /// The table that leads there, where the question names one.
    pub(super) via: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) place: Place,
    pub(super) unit: Option<Unit>,
    pub(super) via: Option<usize>,
}

/// A question as it is understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    pub(super) subject: usize,
    pub(super) measure: Measure,
    /// How the measure is called, where a definition gives it.
    pub(super) called: Option<String>,
    pub(super) groups: Vec<Group>,
    pub(super) filters: Vec<Filter>,
    /// How many, and whether the largest.
    pub(super) rank: Option<(usize, bool)>,
    /// The terms whose definitions were used.
    pub(super) terms: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// A condition; of values of one column that the question names, all of them.
pub(super) struct Condition<'a> {
    pub(super) filter: &'a Filter,
    /// The further values: any of them will do, since no row has two.
    pub(super) others: Vec<&'a str>,
}

impl Intent {
    /// Whether it measures one of these columns.
    pub(super) fn measures(&self, places: &[Place]) -> bool {
        matches!(&self.measure, Measure::Of(_, place) if places.contains(place))
    }

    /// The filters, with the values of one column together.
    pub(super) fn conditions(&self) -> Vec<Condition<'_>> {
        let mut conditions: Vec<Condition<'_>> = Vec::new();
        for filter in &self.filters {
            let is_of_same = |known: &&mut Condition<'_>| {
                let is_value = matches!(known.filter.test, Test::Is(_));
                is_value && (known.filter.place, known.filter.via) == (filter.place, filter.via)
            };
            match (&filter.test, conditions.iter_mut().find(is_of_same)) {
                (Test::Is(_), Some(known)) if known.filter.test == filter.test => {}
                (Test::Is(value), Some(known)) => known.others.push(value),
                _ => conditions.push(Condition { filter, others: Vec::new() }),
            }
        }
        conditions
    }
}

/// Why a question is not understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// These words mean nothing here; they may be values.
    Words(Vec<String>),
    /// Something else.
    Reason(String),
}

fn stop<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Reason(reason.into()))
}

/// Reads the question for one database.
pub(super) fn read(known: &TurnState, database: &str) -> Result<Intent, Stop> {
    let tables = known.tables.iter().filter(|table| table.database == database).collect();
    let mut reader = Reader { known, tables, words: words(&known.question), mentions: Vec::new() };
    let intent = reader.intent()?;
    check_periods(&reader, &intent)?;
    Ok(intent)
}

/// A figure of a period is not computed of a table that holds less than half of it.
fn check_periods(reader: &Reader<'_>, intent: &Intent) -> Result<(), Stop> {
    for filter in &intent.filters {
        let Test::During(period) = &filter.test else { continue };
        let table = reader.tables[filter.place.0];
        let column = &table.columns[filter.place.1];
        let held = (column.min.as_str(), column.max.as_str());
        // A point in time may be kept as a number.
        let is_day = |text: &str| text.as_bytes().get(4) == Some(&b'-');
        let is_known = column.is_date() && is_day(held.0) && is_day(held.1);
        if is_known && measure_overlap(held, (&period.from, &period.to)) < MIN_OVERLAP {
            // Without the days themselves: an answer that ran no query cites none for a figure.
            return stop(format!(
                "{}.{} holds less than half of the period that is asked for; the columns of {} tell the first and the last day",
                table.name, column.name, table.name
            ));
        }
    }
    Ok(())
}

/// Whether a word is plainly no value to look for.
pub(super) fn is_value(word: &str) -> bool {
    word.chars().count() > 1 && !GROUPING.contains(&stem(word).as_str())
}
