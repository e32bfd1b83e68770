//! The type of each column, decided by all of its cells: what 95 % of them are.

use super::cell::Traits;
use super::date::DayOrder;
use super::layout::{CellType, NumberStyle};
use super::number::Unit;
use super::survey::{ColumnSurvey, Group};
use crate::table::{AS_MISSING, ColumnIssue, IssueEffect, IssueExample};

/// A column has a type if as many of a hundred cells have it.
const ENOUGH: u64 = 95;

/// A column of which fewer of a hundred cells have a type is one of texts without a word.
const NEAR: u64 = 80;

/// One kind of writing decides over another if it is as many times as frequent.
const MAJORITY: u64 = 19;

/// The type of a column, and what is to be said about its cells.
pub(super) struct Decision {
    pub(super) cell: CellType,
    pub(super) issue: Option<ColumnIssue>,
}

/// What columns of a file say about each other.
struct FileHabits {
    /// Whether its numbers have a decimal comma, where a column shows it and none shows the contrary.
    decimal_comma: Option<bool>,
    day_order: Option<DayOrder>,
    /// The delimiter of countries in which the comma is the decimal mark.
    has_semicolons: bool,
    /// What its examples are counted in, `line` or `row`.
    unit: &'static str,
}

/// The types of all columns. With `strict` a column has a type if all of its cells are written as programs write them.
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
        // Of the numbers of a sheet it is known where they have a fraction.
        decimal_comma: if unit == "line" { agree(commas) } else { None },
        day_order: agree(orders),
        has_semicolons: delimiter == b';',
        unit,
    };
    let column = |(name, survey): (&String, &ColumnSurvey)| Column::new(name, survey, &habits).decide();
    names.iter().zip(columns).map(column).collect()
}

/// What all say, if anybody does.
fn agree<T: PartialEq>(mut said: impl Iterator<Item = T>) -> Option<T> {
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}

fn decide_strictly(column: &ColumnSurvey) -> CellType {
    let all = column.count(|_| true) + column.null_words;
    let plain = |any: Traits| column.count(|group| group.traits.has(Traits::PLAIN) && group.traits.has(any));
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

/// Numbers that are so only with a decimal point, and only with a comma.
fn only_point(group: &Group) -> bool {
    group.traits.has(Traits::POINT) && !group.traits.has(Traits::COMMA)
}

fn only_comma(group: &Group) -> bool {
    group.traits.has(Traits::COMMA) && !group.traits.has(Traits::POINT)
}

/// Whether a column of numbers shows that it has a decimal comma or a point.
fn shown_comma(column: &ColumnSurvey) -> Option<bool> {
    let is_numeric = column.with(Traits::NUMBER) * 100 >= column.count(|_| true) * NEAR;
    let (points, commas) = (column.count(only_point), column.count(only_comma));
    match (points, commas) {
        (0, 0) => None,
        _ if !is_numeric => None,
        _ if points >= commas * MAJORITY => Some(false),
        _ if commas >= points * MAJORITY => Some(true),
        _ => None,
    }
}

fn only_day(group: &Group) -> bool {
    group.traits.has(Traits::DAY_FIRST) && !group.traits.has(Traits::MONTH_FIRST)
}

fn only_month(group: &Group) -> bool {
    group.traits.has(Traits::MONTH_FIRST) && !group.traits.has(Traits::DAY_FIRST)
}

/// The order that the dates of a column show.
fn shown_order(column: &ColumnSurvey) -> Option<DayOrder> {
    let (days, months) = (column.count(only_day), column.count(only_month));
    match (days, months) {
        (0, 0) => None,
        _ if days >= months * MAJORITY => Some(DayOrder::DayFirst),
        _ if months >= days * MAJORITY => Some(DayOrder::MonthFirst),
        _ => None,
    }
}

/// Why numbers can be read in two ways, and which of them can.
type Doubt = (&'static str, fn(&Group) -> bool);

/// A column that is decided about.
struct Column<'a> {
    name: &'a str,
    survey: &'a ColumnSurvey,
    habits: &'a FileHabits,
    /// Its cells that are not empty, and those of them that hold something.
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
            self.fit(CellType::Boolean, "true or false", |group| group.traits.has(Traits::BOOLEAN))
        }
    }

    /// Whether so many cells are that part of a hundred of all.
    fn is_part(&self, count: u64, of_hundred: u64) -> bool {
        count * 100 >= self.real * of_hundred
    }

    fn text(&self) -> Decision {
        Decision { cell: CellType::Text, issue: None }
    }

    fn number(&self) -> Decision {
        let survey = self.survey;
        let others = survey.count(|group| !group.traits.has(Traits::NUMBER | Traits::PLACEHOLDER));
        let words = survey.with(Traits::WORD_WITH_DIGITS);
        let whole = survey.count(|group| {
            !group.traits.has(Traits::POINT_FRACTION | Traits::COMMA_FRACTION) && group.unit == Unit::None
        });
        let is_whole = whole == survey.count(|_| true);
        // `123 456 789` in every row is no quantity.
        let is_spaced = survey.with(Traits::SPACED) == survey.with(Traits::NUMBER) && !survey.is_spaced_variously;
        let is_grouped_code = is_spaced && survey.spaced.is_some_and(|(groups, first)| groups >= 3 && first == 3);
        if names_code(self.name) && others > 0 || is_grouped_code {
            return self.text();
        }
        if survey.with(Traits::CODE) > 0 || is_whole && words > 0 {
            // Where it is more than one of many, it is a column of codes.
            let is_rare = self.is_part(survey.with(Traits::NUMBER), ENOUGH);
            let is_code = |group: &Group| group.traits.has(Traits::CODE | Traits::WORD_WITH_DIGITS);
            let reason = match (survey.count(is_code), self.values) {
                (1, values) => format!("1 of {values} values looks like an identifier"),
                (count, values) => format!("{count} of {values} values look like identifiers"),
            };
            return if is_rare { self.kept_as_text(&reason, is_code) } else { self.text() };
        }
        let unit = match self.unit() {
            Ok(unit) => unit,
            Err(reason) => {
                return self.kept_as_text(reason, |group| group.traits.has(Traits::NUMBER) && group.unit != Unit::None);
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
        let fits = |group: &Group| group.traits.has(is_number) && has_unit(group);
        let style = NumberStyle { has_comma, unit };
        let has_fraction = survey.count(|group| fits(group) && group.traits.has(fraction)) > 0;
        let cell = if has_fraction { CellType::Float(style) } else { CellType::Integer(style) };
        self.fit(cell, "numbers", fits)
    }

    /// What is written next to the numbers.
    fn unit(&self) -> Result<Unit, &'static str> {
        let count = |unit: Unit| self.survey.count(|group| group.traits.has(Traits::NUMBER) && group.unit == unit);
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

    /// Whether the numbers have a decimal comma; or why it cannot be known, and which of them leave it open.
    fn has_comma(&self, has_unit: &dyn Fn(&Group) -> bool) -> Result<bool, Doubt> {
        let survey = self.survey;
        let count = |is_wanted: fn(&Group) -> bool| survey.count(|group| has_unit(group) && is_wanted(group));
        let (points, commas) = (count(only_point), count(only_comma));
        // `1.234`, and `1,234`.
        let dots = count(|group| is_ambiguous(group) && group.traits.has(Traits::POINT_FRACTION));
        let marks = count(|group| is_ambiguous(group) && group.traits.has(Traits::COMMA_FRACTION));
        let clear = count(|group| group.traits.has(Traits::CLEAR));
        // Few cells that show it do not decide over many that do not, unless they have both marks.
        let is_shown = |shown: u64, open: u64| clear > 0 || shown * MAJORITY >= open;
        let decided = match (points, commas) {
            (0, 0) => match (dots, marks) {
                (0, 0) => Some(false),
                (_, 0) => Some(self.habits.decimal_comma == Some(true)),
                (0, _) => self.habits.decimal_comma.or((!self.habits.has_semicolons).then_some(false)),
                _ => None,
            },
            (_, 0) => (is_shown(points, marks) || !self.habits.has_semicolons).then_some(false),
            (0, _) => is_shown(commas, dots).then_some(true),
            _ if points >= commas * MAJORITY => Some(false),
            _ if commas >= points * MAJORITY => Some(true),
            _ => {
                let is_either: fn(&Group) -> bool = |group| only_point(group) || only_comma(group);
                return Err(("some of its numbers have a decimal point and some a decimal comma", is_either));
            }
        };
        decided.ok_or(("its numbers can be read with a decimal point or a decimal comma", is_ambiguous))
    }

    fn date(&self) -> Decision {
        let survey = self.survey;
        let open = survey.with(Traits::DAY_FIRST | Traits::MONTH_FIRST);
        let (days, months) = (survey.count(only_day), survey.count(only_month));
        let dotted = survey.count(|group| group.traits.has(Traits::DOTTED) && !group.traits.has(Traits::YEAR_FIRST));
        let order = match shown_order(survey) {
            _ if open == 0 => None,
            Some(order) => Some(order),
            // Who divides by points writes the day first.
            None if days + months == 0 && dotted == open => Some(DayOrder::DayFirst),
            None if days + months == 0 && self.habits.day_order.is_some() => self.habits.day_order,
            None if days + months == 0 => {
                let reason = "its dates can be read with the day or the month first";
                return self.kept_as_text(reason, |group| group.traits.has(Traits::DAY_FIRST));
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
        let fits = |group: &Group| group.traits.has(of_order);
        let has_time = survey.count(|group| fits(group) && group.traits.has(Traits::TIME)) > 0;
        self.fit(CellType::of_dates(order, has_time, survey.fraction), "dates", fits)
    }

    /// The type, if enough cells fit it; what does not is null, and said.
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

    /// A column that stays one of texts, though its cells look like something else.
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

/// Whether a number is one with a decimal point and another one with a comma.
fn is_ambiguous(group: &Group) -> bool {
    let traits = group.traits;
    traits.has(Traits::POINT)
        && traits.has(Traits::COMMA)
        && traits.has(Traits::POINT_FRACTION) != traits.has(Traits::COMMA_FRACTION)
}

/// Whether a column is called as identifiers are, `zip_code` or `orderId`: a number that is none is one of them too.
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
    const LAST: [&str; 10] = ["id", "ids", "key", "nr", "no", "num", "number", "ref", "reference", "version"];
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    let last = words.last().map_or("", String::as_str);
    words.iter().any(|word| ANYWHERE.contains(&word.as_str())) || LAST.contains(&last) || last.ends_with("nr")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_identifiers() {
        for name in ["id", "orderId", "customer ID", "zip_code", "Kundennr", "phone_home", "invoice_no"] {
            assert!(names_code(name), "{name}");
        }
        for name in ["amount", "paid", "number_of_orders", "Notes", "grid", "valid"] {
            assert!(!names_code(name), "{name}");
        }
    }
}
