//! Type inference: a column has the type of 95 % of its cells.

use prospector_text::identifiers::{self, KEY_WORDS};

use super::cell::Traits;
use super::date::DayOrder;
use super::layout::{CellType, NumberStyle};
use super::number::Unit;
use super::survey::{ColumnSurvey, Group};
use crate::table::{AS_MISSING, ColumnIssue, IssueEffect, IssueExample};

/// Minimum percentage of cells of a type for a column to have it.
const ENOUGH: u64 = 95;

/// Below this percentage a column becomes text without a problem being reported.
const NEAR: u64 = 80;

/// A format wins if it is this many times as frequent as the other.
const MAJORITY: u64 = 19;

/// The type of a column, and the problems of its cells.
pub(super) struct Decision {
    pub(super) cell: CellType,
    pub(super) issue: Option<ColumnIssue>,
}

/// Conventions that the columns of a file share.
struct FileHabits {
    /// Whether numbers have a decimal comma, if a column shows it and none contradicts.
    decimal_comma: Option<bool>,
    day_order: Option<DayOrder>,
    /// Whether the separator is a semicolon, as in locales with a decimal comma.
    has_semicolons: bool,
    /// The unit of examples, `line` or `row`.
    unit: &'static str,
}

/// Decides the types of all columns. With `strict`, a type requires all cells to be in machine format.
pub(super) fn decide(
    names: &[String],
    columns: &[ColumnSurvey],
    is_strict: bool,
    delimiter: u8,
    unit: &'static str,
) -> Vec<Decision> {
    if is_strict {
        let strictly = |column| Decision { cell: decide_strictly(column), issue: None };
        return columns.iter().map(strictly).collect();
    }
    let commas = columns.iter().filter_map(shown_comma);
    let orders = columns.iter().filter_map(shown_order);
    let habits = FileHabits {
        // Numbers of a sheet have unambiguous fractions.
        decimal_comma: if unit == "line" { agree(commas) } else { None },
        day_order: agree(orders),
        has_semicolons: delimiter == b';',
        unit,
    };
    let column = |(name, survey): (&String, &ColumnSurvey)| Column::new(name, survey, &habits).decide();
    names.iter().zip(columns).map(column).collect()
}

/// Returns the common value, if there is at least one and all are equal.
fn agree<T: PartialEq>(mut said: impl Iterator<Item = T>) -> Option<T> {
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}

fn decide_strictly(column: &ColumnSurvey) -> CellType {
    let all = column.count(|_| true) + column.null_words;
    let plain =
        |any: Traits| column.count(|group| group.traits.intersects(Traits::PLAIN) && group.traits.intersects(any));
    match all {
        0 => CellType::Text,
        _ if plain(Traits::BOOLEAN) == all => CellType::Boolean,
        _ if plain(Traits::POINT) == all => match plain(Traits::POINT_FRACTION) {
            0 => CellType::Integer(NumberStyle::default()),
            _ => CellType::Float(NumberStyle::default()),
        },
        _ if plain(Traits::YEAR_FIRST) == all => {
            CellType::of_dates(None, column.with(Traits::TIME) > 0, column.fraction)
        }
        _ => CellType::Text,
    }
}

/// Whether cells are numbers only with a decimal point.
fn only_point(group: &Group) -> bool {
    group.traits.intersects(Traits::POINT) && !group.traits.intersects(Traits::COMMA)
}

fn only_comma(group: &Group) -> bool {
    group.traits.intersects(Traits::COMMA) && !group.traits.intersects(Traits::POINT)
}

/// Whether the first format wins over the second; `None` if neither does.
fn is_first(first: u64, second: u64) -> Option<bool> {
    match (first, second) {
        (0, 0) => None,
        _ if first >= second * MAJORITY => Some(true),
        _ if second >= first * MAJORITY => Some(false),
        _ => None,
    }
}

/// Whether a column of numbers shows a decimal comma or point.
fn shown_comma(column: &ColumnSurvey) -> Option<bool> {
    let is_numeric = column.with(Traits::NUMBER) * 100 >= column.count(|_| true) * NEAR;
    is_first(column.count(only_comma), column.count(only_point)).filter(|_| is_numeric)
}

fn only_day(group: &Group) -> bool {
    group.traits.intersects(Traits::DAY_FIRST) && !group.traits.intersects(Traits::MONTH_FIRST)
}

fn only_month(group: &Group) -> bool {
    group.traits.intersects(Traits::MONTH_FIRST) && !group.traits.intersects(Traits::DAY_FIRST)
}

/// Returns the order shown by the dates of a column.
fn shown_order(column: &ColumnSurvey) -> Option<DayOrder> {
    let is_day = is_first(column.count(only_day), column.count(only_month))?;
    Some(if is_day { DayOrder::DayFirst } else { DayOrder::MonthFirst })
}

/// Why numbers are ambiguous, and which groups are.
type Ambiguity = (&'static str, fn(&Group) -> bool);

/// A column under decision.
struct Column<'a> {
    name: &'a str,
    survey: &'a ColumnSurvey,
    habits: &'a FileHabits,
    /// The number of non-empty cells, and of those without placeholders.
    values: u64,
    real: u64,
}

impl<'a> Column<'a> {
    fn new(name: &'a str, survey: &'a ColumnSurvey, habits: &'a FileHabits) -> Self {
        let values = survey.count(|_| true);
        Column { name, survey, habits, values, real: values - survey.with(Traits::PLACEHOLDER) }
    }

    fn decide(&self) -> Decision {
        let (booleans, numbers) = (self.survey.with(Traits::BOOLEAN), self.survey.with(Traits::NUMBER));
        let dates = self.survey.with(Traits::DATE);
        let most = booleans.max(numbers).max(dates);
        if self.real == 0 || !self.is_part(most, NEAR) {
            return self.text();
        }
        if most == numbers {
            self.number()
        } else if most == dates {
            self.date()
        } else {
            self.fit(CellType::Boolean, "true or false", |group| group.traits.intersects(Traits::BOOLEAN))
        }
    }

    /// Whether `count` is at least that percentage of all cells.
    fn is_part(&self, count: u64, of_hundred: u64) -> bool {
        count * 100 >= self.real * of_hundred
    }

    fn text(&self) -> Decision {
        Decision { cell: CellType::Text, issue: None }
    }

    fn number(&self) -> Decision {
        let survey = self.survey;
        let others = survey.count(|group| !group.traits.intersects(Traits::NUMBER | Traits::PLACEHOLDER));
        let words = survey.with(Traits::WORD_WITH_DIGITS);
        let whole = survey.count(|group| {
            !group.traits.intersects(Traits::POINT_FRACTION | Traits::COMMA_FRACTION) && group.unit == Unit::None
        });
        let is_whole = whole == survey.count(|_| true);
        // `123 456 789` in every row is not a quantity.
        let is_spaced = survey.with(Traits::SPACED) == survey.with(Traits::NUMBER) && !survey.is_spaced_variously;
        let is_grouped_code = is_spaced && survey.spaced.is_some_and(|(groups, first)| groups >= 3 && first == 3);
        let is_label = |group: &Group| group.traits == Traits::default();
        if names_code(self.name) && others > 0 || is_grouped_code {
            // A label among the numbers of a key is reported: without it, the key could be compared with other numbers.
            let is_rare = self.is_part(survey.with(Traits::NUMBER), ENOUGH) && survey.count(is_label) == others;
            let reason =
                format!("{others} of {} values {} no digits", self.values, if others == 1 { "has" } else { "have" });
            return if is_rare && others > 0 { self.kept_as_text(&reason, is_label) } else { self.text() };
        }
        if survey.with(Traits::CODE) > 0 || is_whole && words > 0 {
            // If it is more than an outlier, the column contains codes.
            let is_rare = self.is_part(survey.with(Traits::NUMBER), ENOUGH);
            let is_code = |group: &Group| group.traits.intersects(Traits::CODE | Traits::WORD_WITH_DIGITS);
            let reason = match (survey.count(is_code), self.values) {
                (1, values) => format!("1 of {values} values looks like an identifier"),
                (count, values) => format!("{count} of {values} values look like identifiers"),
            };
            return if is_rare { self.kept_as_text(&reason, is_code) } else { self.text() };
        }
        let unit = match self.unit() {
            Ok(unit) => unit,
            Err(reason) => {
                return self
                    .kept_as_text(reason, |group| group.traits.intersects(Traits::NUMBER) && group.unit != Unit::None);
            }
        };
        let has_unit = |group: &Group| group.unit == unit || group.unit == Unit::None && unit != Unit::Percent;
        let has_comma = match self.has_comma(&has_unit) {
            Ok(has_comma) => has_comma,
            Err((reason, is_reason)) => return self.kept_as_text(reason, is_reason),
        };
        let (is_number, fraction) = match has_comma {
            false => (Traits::POINT, Traits::POINT_FRACTION),
            true => (Traits::COMMA, Traits::COMMA_FRACTION),
        };
        let fits = |group: &Group| group.traits.intersects(is_number) && has_unit(group);
        let style = NumberStyle { has_comma, unit };
        let has_fraction = survey.count(|group| fits(group) && group.traits.intersects(fraction)) > 0;
        let cell = if has_fraction { CellType::Float(style) } else { CellType::Integer(style) };
        self.fit(cell, "numbers", fits)
    }

    /// Returns the common unit of the numbers.
    fn unit(&self) -> Result<Unit, &'static str> {
        let count =
            |unit: Unit| self.survey.count(|group| group.traits.intersects(Traits::NUMBER) && group.unit == unit);
        let all = self.survey.with(Traits::NUMBER);
        let percent = count(Unit::Percent);
        if percent * 100 >= all * ENOUGH {
            return Ok(Unit::Percent);
        }
        if percent > (all - percent) / MAJORITY {
            return Err("some of its numbers have a percent sign and some have none");
        }
        let units = self.survey.groups().iter().map(|group| group.unit);
        let currencies = units.filter(|unit| matches!(unit, Unit::Currency(_)));
        let Some(first) = currencies.max_by_key(|unit| count(*unit)) else { return Ok(Unit::None) };
        match (all - percent - count(Unit::None) - count(first)) * MAJORITY <= count(first) {
            true => Ok(first),
            false => Err("its numbers are in several currencies"),
        }
    }

    /// Whether the numbers have a decimal comma; or why it is ambiguous, and which groups are.
    fn has_comma(&self, has_unit: &dyn Fn(&Group) -> bool) -> Result<bool, Ambiguity> {
        let survey = self.survey;
        let count = |is_wanted: fn(&Group) -> bool| survey.count(|group| has_unit(group) && is_wanted(group));
        let (points, commas) = (count(only_point), count(only_comma));
        // `1.234`, and `1,234`.
        let dots = count(|group| is_ambiguous(group) && group.traits.intersects(Traits::POINT_FRACTION));
        let marks = count(|group| is_ambiguous(group) && group.traits.intersects(Traits::COMMA_FRACTION));
        let clear = count(|group| group.traits.intersects(Traits::CLEAR));
        // A few cells that show it do not decide for many ambiguous ones, unless they have both separators.
        let is_shown = |shown: u64, open: u64| clear > 0 || shown * MAJORITY >= open;
        let decided = match (points, commas) {
            (0, 0) => match (dots, marks) {
                (0, 0) => Some(false),
                (_, 0) | (0, _) => self.habits.decimal_comma.or((!self.habits.has_semicolons).then_some(false)),
                _ => None,
            },
            (_, 0) => (is_shown(points, marks) || !self.habits.has_semicolons).then_some(false),
            (0, _) => is_shown(commas, dots).then_some(true),
            _ => {
                let is_either: fn(&Group) -> bool = |group| only_point(group) || only_comma(group);
                let mixed = ("some of its numbers have a decimal point and some a decimal comma", is_either);
                return is_first(commas, points).ok_or(mixed);
            }
        };
        decided.ok_or(("its numbers can be read with a decimal point or a decimal comma", is_ambiguous))
    }

    fn date(&self) -> Decision {
        let survey = self.survey;
        let open = survey.with(Traits::DAY_FIRST | Traits::MONTH_FIRST);
        let (days, months) = (survey.count(only_day), survey.count(only_month));
        let dotted = survey
            .count(|group| group.traits.intersects(Traits::DOTTED) && !group.traits.intersects(Traits::YEAR_FIRST));
        let order = match shown_order(survey) {
            _ if open == 0 => None,
            Some(order) => Some(order),
            // Dates with dots have the day first.
            None if days + months == 0 && dotted == open => Some(DayOrder::DayFirst),
            None if days + months == 0 && self.habits.day_order.is_some() => self.habits.day_order,
            None if days + months == 0 => {
                let reason = "its dates can be read with the day or the month first";
                return self.kept_as_text(reason, |group| group.traits.intersects(Traits::DAY_FIRST));
            }
            None => {
                let reason = "some of its dates have the day first and some the month";
                return self.kept_as_text(reason, |group| only_day(group) || only_month(group));
            }
        };
        let of_order = match order {
            None => Traits::YEAR_FIRST,
            Some(DayOrder::DayFirst) => Traits::YEAR_FIRST | Traits::DAY_FIRST,
            Some(DayOrder::MonthFirst) => Traits::YEAR_FIRST | Traits::MONTH_FIRST,
        };
        let fits = |group: &Group| group.traits.intersects(of_order);
        let has_time = survey.count(|group| fits(group) && group.traits.intersects(Traits::TIME)) > 0;
        self.fit(CellType::of_dates(order, has_time, survey.fraction), "dates", fits)
    }

    /// Returns the type, if enough cells have it; the other cells are null and reported.
    fn fit(&self, cell: CellType, what: &str, fits: impl Fn(&Group) -> bool) -> Decision {
        let misfits = |group: &Group| !fits(group);
        let (count, values) = (self.survey.count(misfits), self.values);
        if count == 0 {
            return Decision { cell, issue: None };
        }
        let (are, what, count_as) = match (count, what) {
            (1, "numbers") => ("is", "a number", "counts"),
            (1, "dates") => ("is", "a date", "counts"),
            (1, other) => ("is", other, "counts"),
            (_, other) => ("are", other, "count"),
        };
        if !self.is_part(self.survey.count(&fits), ENOUGH) {
            return self.kept_as_text(&format!("{count} of {values} values {are} not {what}"), misfits);
        }
        let reason = format!("{count} of {values} values {are} not {what} and {count_as} {AS_MISSING}");
        let issue = self.issue(IssueEffect::Null, count, reason, self.survey.examples(misfits));
        Decision { cell, issue: Some(issue) }
    }

    /// Keeps a column as text although its cells resemble another type.
    fn kept_as_text(&self, reason: &str, is_reason: impl Fn(&Group) -> bool) -> Decision {
        let (count, examples) = (self.survey.count(&is_reason), self.survey.examples(is_reason));
        let reason = format!("the column is text, because {reason}");
        Decision { cell: CellType::Text, issue: Some(self.issue(IssueEffect::Text, count, reason, examples)) }
    }

    fn issue(&self, effect: IssueEffect, count: u64, reason: String, examples: Vec<IssueExample>) -> ColumnIssue {
        let (column, unit) = (self.name.to_owned(), self.habits.unit.to_owned());
        ColumnIssue { column, effect, count, values: self.values, reason, unit, examples }
    }
}

/// Whether a number has different values with a decimal point and a decimal comma.
fn is_ambiguous(group: &Group) -> bool {
    let traits = group.traits;
    traits.intersects(Traits::POINT)
        && traits.intersects(Traits::COMMA)
        && traits.intersects(Traits::POINT_FRACTION) != traits.intersects(Traits::COMMA_FRACTION)
}

/// Whether the column name suggests identifiers, such as `zip_code` or `orderId`.
fn names_code(name: &str) -> bool {
    const ANYWHERE: [&str; 20] = [
        "code",
        "ean",
        "fax",
        "gtin",
        "iban",
        "isbn",
        "mobile",
        "phone",
        "plz",
        "postal",
        "postcode",
        "sku",
        "ssn",
        "telefon",
        "telephone",
        "upc",
        "uuid",
        "vat",
        "zip",
        "zipcode",
    ];
    const LAST: [&str; 3] = ["ids", "reference", "version"];
    let words = identifiers::words(name);
    let is_last = |last: &str| KEY_WORDS.contains(&last) || LAST.contains(&last) || last.ends_with("nr");
    words.iter().any(|word| ANYWHERE.contains(&word.as_str())) || words.last().is_some_and(|last| is_last(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_identifiers_by_name() {
        for name in ["id", "orderId", "customer ID", "zip_code", "Kundennr", "phone_home", "invoice_no"] {
            assert!(names_code(name), "{name}");
        }
        for name in ["amount", "paid", "number_of_orders", "Notes", "grid", "valid"] {
            assert!(!names_code(name), "{name}");
        }
    }
}
