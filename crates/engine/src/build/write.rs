//! How each dialect renders identifiers, values, parts of dates, bins and conditions.

use prospector_connect::filter::{FilterCondition, Test, boolean};
use prospector_connect::query::{Aggregation, DatePart};
use prospector_connect::table::ColumnType;
use serde_json::Value;

use super::invalid;
use super::request::Dimension;
use crate::{Dialect, Failure, FailureCode, native};

/// The class of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Number,
    Text,
    Date,
    Boolean,
}

impl Class {
    /// Returns the class of a column type.
    pub(crate) fn from_type(column_type: ColumnType) -> Class {
        match column_type {
            ColumnType::Boolean => Class::Boolean,
            ColumnType::Integer | ColumnType::Decimal { .. } | ColumnType::Float => Class::Number,
            ColumnType::Date | ColumnType::Timestamp | ColumnType::DateText => Class::Date,
            ColumnType::Text | ColumnType::Bytes | ColumnType::Nested | ColumnType::Other => Class::Text,
        }
    }
}

/// Renders SQL for one source.
pub(crate) struct Writer {
    pub(crate) dialect: Dialect,
}

impl Writer {
    pub(crate) fn quote(&self, name: &str) -> String {
        native::quote(self.dialect, name)
    }

    /// Renders a text literal.
    ///
    /// # Errors
    /// If the text contains a zero byte.
    pub(crate) fn text(&self, text: &str) -> Result<String, Failure> {
        if text.contains('\0') {
            return Err(invalid("a value contains a zero byte"));
        }
        let doubled = text.replace('\'', "''");
        Ok(match self.dialect {
            Dialect::Mysql => format!("'{}'", doubled.replace('\\', "\\\\")),
            Dialect::Bigquery => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")),
            Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => format!("'{doubled}'"),
        })
    }

    /// Renders a literal that is compared with a column of that class.
    ///
    /// # Errors
    /// If the column cannot contain the value.
    fn literal(&self, class: Class, value: &Value) -> Result<String, Failure> {
        let plain = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match class {
            Class::Number => {
                let number = if let Value::Bool(yes) = value { u8::from(*yes).to_string() } else { plain };
                let number = number.trim();
                let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
                match number.parse::<f64>() {
                    Ok(parsed) if is_plain && parsed.is_finite() => Ok(match number.starts_with(['-', '+']) {
                        true => format!("({number})"),
                        false => number.to_owned(),
                    }),
                    _ => Err(Failure::new(
                        FailureCode::TypeMismatch,
                        format!("`{number}` is not a number, but the column is numeric"),
                    )
                    .advise("pass a number, or use another column")),
                }
            }
            Class::Boolean => match boolean(value) {
                Ok(yes) => Ok(yes.to_string().to_uppercase()),
                Err(error) => {
                    Err(Failure::new(FailureCode::TypeMismatch, error.to_string()).advise("pass true or false"))
                }
            },
            Class::Text | Class::Date => self.text(&plain),
        }
    }

    /// Renders one condition on a value.
    ///
    /// # Errors
    /// If the value does not have the form that the comparison requires.
    pub(crate) fn clause(&self, name: &str, class: Class, filter: &FilterCondition) -> Result<String, Failure> {
        let literal = |value: &Value| self.literal(class, value);
        let test = filter.test().map_err(|reason| invalid(format!("{}: {reason}", filter.column)))?;
        Ok(match test {
            Test::Null => format!("{name} IS NULL"),
            Test::NotNull => format!("{name} IS NOT NULL"),
            Test::Compare(op, value) => format!("{name} {} {}", op.operator(), literal(value)?),
            Test::Between(low, high) => {
                format!("({name} >= {} AND {name} <= {})", literal(low)?, literal(high)?)
            }
            Test::In { values, or_null } => {
                let list: Vec<String> = values.into_iter().map(literal).collect::<Result<_, _>>()?;
                match (list.is_empty(), or_null) {
                    (true, true) => format!("{name} IS NULL"),
                    (true, false) => "1 = 0".to_owned(),
                    (false, true) => format!("({name} IN ({}) OR {name} IS NULL)", list.join(", ")),
                    (false, false) => format!("{name} IN ({})", list.join(", ")),
                }
            }
            Test::Like(pattern) => self.like(name, &pattern)?,
            Test::NotLike(pattern) => format!("NOT ({})", self.like(name, &pattern)?),
        })
    }

    fn like(&self, name: &str, pattern: &str) -> Result<String, Failure> {
        let pattern = self.text(pattern)?;
        Ok(match self.dialect {
            Dialect::Postgres => format!("CAST({name} AS text) ILIKE {pattern}"),
            Dialect::Mysql => format!("CAST({name} AS CHAR) LIKE {pattern}"),
            Dialect::Bigquery => format!("LOWER(CAST({name} AS STRING)) LIKE LOWER({pattern})"),
            Dialect::Sqlite => format!("{name} LIKE {pattern} ESCAPE '\\'"),
            Dialect::Joined => format!("CAST({name} AS VARCHAR) ILIKE {pattern}"),
        })
    }

    /// Renders an aggregate function.
    ///
    /// # Errors
    /// If the function requires a column and none is given.
    pub(crate) fn aggregate(&self, value: Option<&str>, aggregation: Aggregation) -> Result<String, Failure> {
        Ok(match (aggregation, value) {
            (Aggregation::Count, None) => "COUNT(*)".to_owned(),
            (Aggregation::CountDistinct, Some(value)) => format!("COUNT(DISTINCT {value})"),
            (other, Some(value)) => format!("{}({value})", other.as_str().to_uppercase()),
            (other, None) => return Err(invalid(format!("{} needs a column", other.as_str()))),
        })
    }

    /// Renders a grouping expression.
    ///
    /// # Errors
    /// If a date part or bin is requested and the column is not a date or number.
    pub(crate) fn dimension(&self, value: &str, class: Class, dimension: &Dimension) -> Result<String, Failure> {
        match (dimension.part, dimension.bin) {
            (Some(_), Some(_)) => {
                Err(invalid(format!("`{}` has both a part and a bin", dimension.column)).advise("omit one of them"))
            }
            (Some(part), None) if matches!(class, Class::Date | Class::Text) => Ok(self.part(value, class, part)),
            (Some(_), None) => {
                Err(Failure::new(FailureCode::TypeMismatch, format!("`{}` is not a date", dimension.column))
                    .advise("omit `part`, or use a date column"))
            }
            (None, Some(width)) if width > 0.0 && width.is_finite() && class == Class::Number => {
                Ok(self.bin(value, width))
            }
            (None, Some(_)) if class != Class::Number => {
                Err(Failure::new(FailureCode::TypeMismatch, format!("`{}` is not numeric", dimension.column))
                    .advise("omit `bin`, or use a numeric column"))
            }
            (None, Some(_)) => Err(invalid("the width of a bin must be greater than 0")),
            (None, None) => Ok(value.to_owned()),
        }
    }

    fn bin(&self, value: &str, width: f64) -> String {
        let width = if width.fract() == 0.0 && width < 1e15 { format!("{width:.0}") } else { width.to_string() };
        let share = format!("{value} * 1.0 / {width}");
        match self.dialect {
            // SQLite may have been built without FLOOR.
            Dialect::Sqlite => {
                format!("(CAST({share} AS INTEGER) - ({share} < CAST({share} AS INTEGER))) * {width}")
            }
            Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery | Dialect::Joined => {
                format!("FLOOR({share}) * {width}")
            }
        }
    }

    /// Renders the day number of a date; consecutive days differ by 1.
    pub(crate) fn day_number(&self, value: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("CAST(julianday(date({value})) - 2440587.5 AS INTEGER)"),
            Dialect::Postgres => format!("(CAST({value} AS date) - CAST('1970-01-01' AS date))"),
            Dialect::Mysql => format!("TO_DAYS({value})"),
            Dialect::Bigquery => format!("UNIX_DATE(CAST({value} AS DATE))"),
            Dialect::Joined => format!("CAST(CAST({value} AS DATE) AS INTEGER)"),
        }
    }

    pub(crate) fn part(&self, value: &str, class: Class, part: DatePart) -> String {
        match self.dialect {
            Dialect::Sqlite => sqlite_part(value, part),
            Dialect::Mysql => mysql_part(value, part),
            Dialect::Bigquery => bigquery_part(value, part),
            Dialect::Postgres => postgres_part(&self.timestamp(value, class), part),
            Dialect::Joined => joined_part(&self.timestamp(value, class), part),
        }
    }

    /// Renders a date or time that may be stored as text, in PostgreSQL or DataFusion.
    pub(crate) fn timestamp(&self, value: &str, class: Class) -> String {
        if class == Class::Date { value.to_owned() } else { format!("CAST({value} AS timestamp)") }
    }
}

/// <https://www.sqlite.org/lang_datefunc.html>
fn sqlite_part(value: &str, part: DatePart) -> String {
    let number = |format: &str| format!("CAST(strftime('{format}', {value}) AS INTEGER)");
    let quarter = format!("(({} + 2) / 3)", number("%m"));
    match part {
        DatePart::Year => number("%Y"),
        DatePart::Quarter => quarter,
        DatePart::Month => number("%m"),
        DatePart::Day => number("%d"),
        DatePart::Weekday => number("%w"),
        DatePart::Hour => number("%H"),
        DatePart::YearQuarter => format!("strftime('%Y', {value}) || '-Q' || {quarter}"),
        DatePart::YearMonth => format!("strftime('%Y-%m', {value})"),
        DatePart::Date => format!("date({value})"),
    }
}

/// <https://dev.mysql.com/doc/refman/8.4/en/date-and-time-functions.html>
fn mysql_part(value: &str, part: DatePart) -> String {
    match part {
        DatePart::Day => format!("DAYOFMONTH({value})"),
        DatePart::Weekday => format!("DAYOFWEEK({value}) - 1"),
        DatePart::YearQuarter => format!("CONCAT(YEAR({value}), '-Q', QUARTER({value}))"),
        DatePart::YearMonth => format!("DATE_FORMAT({value}, '%Y-%m')"),
        DatePart::Date => format!("DATE_FORMAT({value}, '%Y-%m-%d')"),
        other => format!("{}({value})", other.as_str().to_uppercase()),
    }
}

/// <https://cloud.google.com/bigquery/docs/reference/standard-sql/date_functions>
fn bigquery_part(value: &str, part: DatePart) -> String {
    let number = |field: &str| format!("EXTRACT({field} FROM {value})");
    let text = |format: &str| format!("FORMAT_DATE('{format}', CAST({value} AS DATE))");
    match part {
        DatePart::Weekday => format!("{} - 1", number("DAYOFWEEK")),
        DatePart::YearQuarter => text("%Y-Q%Q"),
        DatePart::YearMonth => text("%Y-%m"),
        DatePart::Date => text("%Y-%m-%d"),
        other => number(&other.as_str().to_uppercase()),
    }
}

/// <https://www.postgresql.org/docs/current/functions-datetime.html>
fn postgres_part(value: &str, part: DatePart) -> String {
    let number = |field: &str| format!("CAST(EXTRACT({field} FROM {value}) AS integer)");
    match part {
        DatePart::Weekday => number("DOW"),
        DatePart::YearQuarter => format!("to_char({value}, 'YYYY-\"Q\"Q')"),
        DatePart::YearMonth => format!("to_char({value}, 'YYYY-MM')"),
        DatePart::Date => format!("to_char({value}, 'YYYY-MM-DD')"),
        other => number(&other.as_str().to_uppercase()),
    }
}

/// <https://datafusion.apache.org/user-guide/sql/scalar_functions.html#time-and-date-functions>
fn joined_part(value: &str, part: DatePart) -> String {
    let number = |field: &str| format!("CAST(date_part('{field}', {value}) AS BIGINT)");
    match part {
        DatePart::Weekday => number("dow"),
        DatePart::YearQuarter => {
            let text = |field: &str| format!("CAST({} AS VARCHAR)", number(field));
            format!("{} || '-Q' || {}", text("year"), text("quarter"))
        }
        DatePart::YearMonth => format!("to_char({value}, '%Y-%m')"),
        DatePart::Date => format!("to_char({value}, '%Y-%m-%d')"),
        other => number(other.as_str()),
    }
}
