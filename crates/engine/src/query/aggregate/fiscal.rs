//! Fiscal years: twelve months that may start in another month than January.

use prospector_connect::query::DatePart;

use crate::Dialect;
use crate::build::{Class, Writer};

/// A fiscal year of twelve months, named by the calendar year in which it ends: `FY2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiscalYear {
    first_month: u32,
}

impl Default for FiscalYear {
    fn default() -> Self {
        FiscalYear { first_month: 1 }
    }
}

impl FiscalYear {
    /// Creates a fiscal year that starts in a month from 1 to 12.
    pub fn new(first_month: u32) -> Option<Self> {
        (1..=12).contains(&first_month).then_some(FiscalYear { first_month })
    }

    /// Renders the fiscal year of a date as a number.
    pub(super) fn write_year(self, writer: &Writer, value: &str, class: Class) -> String {
        let (year, month) = (writer.part(value, class, DatePart::Year), writer.part(value, class, DatePart::Month));
        match self.first_month {
            1 => year,
            first => format!("({year} + CASE WHEN {month} >= {first} THEN 1 ELSE 0 END)"),
        }
    }

    /// Renders the fiscal quarter of a date, from 1 to 4.
    pub(super) fn write_quarter(self, writer: &Writer, value: &str, class: Class) -> String {
        let month = writer.part(value, class, DatePart::Month);
        let quarter = |quarter: u32| {
            let months: Vec<String> = (0..3).map(|at| self.month(quarter * 3 + at).to_string()).collect();
            format!("WHEN {month} IN ({}) THEN {}", months.join(", "), quarter + 1)
        };
        let quarters: Vec<String> = (0..4).map(quarter).collect();
        format!("CASE {} END", quarters.join(" "))
    }

    /// Renders `FY2026`, or with a quarter `FY2026-Q1`.
    pub(super) fn write_label(self, writer: &Writer, value: &str, class: Class, has_quarter: bool) -> String {
        let mut parts = vec!["'FY'".to_owned(), self.write_year(writer, value, class)];
        if has_quarter {
            parts.extend(["'-Q'".to_owned(), self.write_quarter(writer, value, class)]);
        }
        let text = |data_type: &str| {
            let parts: Vec<String> = parts.iter().map(|part| format!("CAST({part} AS {data_type})")).collect();
            parts.join(" || ")
        };
        match writer.dialect {
            Dialect::Mysql => format!("CONCAT({})", parts.join(", ")),
            Dialect::Bigquery => text("STRING"),
            Dialect::Joined => text("VARCHAR"),
            Dialect::Sqlite | Dialect::Postgres => text("TEXT"),
        }
    }

    /// Parses `FY2026` or `FY2026-Q1` into its first year and month, and its number of months.
    pub(super) fn read(self, text: &str) -> Option<(u32, u32, u32)> {
        let rest = text.strip_prefix("FY").or_else(|| text.strip_prefix("fy"))?;
        let (year, quarter) = rest.split_once('-').map_or((rest, None), |(year, quarter)| (year, Some(quarter)));
        let year: u32 =
            (year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())).then(|| year.parse().ok())??;
        let (skipped, months) = match quarter {
            None => (0, 12),
            Some(quarter) => match quarter.strip_prefix(['Q', 'q'])? {
                "1" => (0, 3),
                "2" => (3, 3),
                "3" => (6, 3),
                "4" => (9, 3),
                _ => return None,
            },
        };
        let begun = year.checked_sub(u32::from(self.first_month > 1))?;
        let month = self.first_month - 1 + skipped;
        Some((begun + month / 12, month % 12 + 1, months))
    }

    /// Returns the calendar month that is `after` months after the first.
    fn month(self, after: u32) -> u32 {
        (self.first_month - 1 + after) % 12 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_fiscal_year_by_its_last_year() {
        let april = FiscalYear::new(4).unwrap();
        assert_eq!(april.read("FY2026"), Some((2025, 4, 12)));
        assert_eq!(april.read("fy2026-q3"), Some((2025, 10, 3)));
        assert_eq!(april.read("FY2026-Q4"), Some((2026, 1, 3)));
        assert_eq!(FiscalYear::default().read("FY2026-Q4"), Some((2026, 10, 3)));
        for wrong in ["2026", "FY26", "FY2026-Q5", "FY2026-", "FY2026-01", "FY0000"] {
            assert_eq!(april.read(wrong), None, "{wrong}");
        }
        assert_eq!((FiscalYear::new(0), FiscalYear::new(13)), (None, None));
    }

    #[test]
    fn quarters_have_three_months_in_every_fiscal_year() {
        let writer = Writer { dialect: Dialect::Mysql };
        let november = FiscalYear::new(11).unwrap();
        assert_eq!(
            november.write_quarter(&writer, "d", Class::Date),
            "CASE WHEN MONTH(d) IN (11, 12, 1) THEN 1 WHEN MONTH(d) IN (2, 3, 4) THEN 2 WHEN MONTH(d) IN (5, 6, 7) THEN 3 \
             WHEN MONTH(d) IN (8, 9, 10) THEN 4 END"
        );
        assert_eq!(
            november.write_label(&writer, "d", Class::Date, false),
            "CONCAT('FY', (YEAR(d) + CASE WHEN MONTH(d) >= 11 THEN 1 ELSE 0 END))"
        );
    }
}
