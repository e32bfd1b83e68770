//! Periods in a question: years, quarters, months, and ranges of them.

use prospector_text::periods::MONTHS;

use super::text::Word;

/// From the first day, up to but not including the second one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Period {
    /// `YYYY-MM-DD`
    pub(super) from: String,
    /// `YYYY-MM-DD`, the day after.
    pub(super) to: String,
}

impl Period {
    /// How many months it has; none where it has no beginning or no end.
    pub(super) fn months(&self) -> Option<i32> {
        let month = |day: &str| Some(day.get(..4)?.parse::<i32>().ok()? * 12 + day.get(5..7)?.parse::<i32>().ok()?);
        let is_open = self.from.starts_with("0000") || self.to.starts_with("9999");
        Some(month(&self.to)? - month(&self.from)?).filter(|_| !is_open)
    }
}

/// Units that data are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Quarter,
    Month,
    Day,
}

impl Unit {
    /// The unit that a word names.
    pub(super) fn of(stem: &str) -> Option<Unit> {
        match stem {
            "year" | "yearly" | "annual" | "annually" => Some(Unit::Year),
            "quarter" | "quarterly" => Some(Unit::Quarter),
            "month" | "monthly" => Some(Unit::Month),
            "day" | "daily" | "date" => Some(Unit::Day),
            _ => None,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Unit::Year => "year",
            Unit::Quarter => "quarter",
            Unit::Month => "month",
            Unit::Day => "day",
        }
    }
}

/// A month as a number from year 0.
type Month = i32;

fn period(from: Month, months: i32) -> Period {
    let day = |month: Month| format!("{:04}-{:02}-01", month.div_euclid(12), month.rem_euclid(12) + 1);
    Period { from: day(from), to: day(from + months) }
}

fn year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..=2100).contains(year))
}

/// `2024`, `2024-Q3`, `2024-05`: the first month, and how many.
fn one(word: &str) -> Option<(Month, i32)> {
    if let Some(year) = year(word) {
        return Some((year * 12, 12));
    }
    let (head, tail) = word.split_once('-')?;
    let year = year(head)?;
    if let Some(quarter) = tail.to_lowercase().strip_prefix('q').and_then(|q| q.parse::<i32>().ok()) {
        return (1..=4).contains(&quarter).then_some((year * 12 + (quarter - 1) * 3, 3));
    }
    let month: i32 = tail.parse().ok().filter(|month| tail.len() == 2 && (1..=12).contains(month))?;
    Some((year * 12 + month - 1, 1))
}

fn quarter(words: &[Word]) -> Option<(i32, usize)> {
    let first = words.first()?.stem.as_str();
    if let Some(number) = first.strip_prefix('q').and_then(|q| q.parse::<i32>().ok()).filter(|q| (1..=4).contains(q)) {
        return Some((number, 1));
    }
    let ordinal = ["first", "second", "third", "fourth"].iter().position(|word| *word == first)?;
    (words.get(1)?.stem == "quarter").then_some((i32::try_from(ordinal).ok()? + 1, 2))
}

/// What begins here: the first month, how many months, how many words.
fn at(words: &[Word]) -> Option<(Month, i32, usize)> {
    if words.iter().take(1).any(|word| word.used) {
        return None;
    }
    let year_after = |taken: usize| {
        let skip = usize::from(words.get(taken).is_some_and(|word| matches!(word.stem.as_str(), "of" | "in")));
        let found = year(&words.get(taken + skip)?.text)?;
        Some((found, taken + skip + 1))
    };
    if let Some((quarter, taken)) = quarter(words)
        && let Some((year, taken)) = year_after(taken)
    {
        return Some((year * 12 + (quarter - 1) * 3, 3, taken));
    }
    let first = words.first()?;
    if let Some(month) = MONTHS.iter().position(|month| *month == first.text.to_lowercase())
        && let Some((year, taken)) = year_after(1)
    {
        return Some((year * 12 + i32::try_from(month).ok()?, 1, taken));
    }
    one(&first.text).map(|(from, months)| (from, months, 1))
}

/// A question names several periods, and no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it names several periods, and how they belong together is not plain")]
pub(super) struct SeveralPeriods;

/// Takes the period out of the words. Two periods are a range only if the words say so.
pub(super) fn take(words: &mut [Word]) -> Result<Option<Period>, SeveralPeriods> {
    let mut found: Vec<(usize, Month, i32)> = Vec::new();
    let mut place = 0;
    while place < words.len() {
        match at(&words[place..]) {
            Some((from, months, taken)) => {
                found.push((place, from, months));
                words[place..place + taken].iter_mut().for_each(|word| word.used = true);
                place += taken;
            }
            None => place += 1,
        }
    }
    let word_before = |place: usize| place.checked_sub(1).map(|at| words[at].stem.clone()).unwrap_or_default();
    let (result, mark) = match found.as_slice() {
        [] => (None, None),
        [(place, from, months)] => match word_before(*place).as_str() {
            "since" => (Some(Period { to: "9999-01-01".into(), ..period(*from, *months) }), Some(*place - 1)),
            "after" => (Some(Period { from: period(*from, *months).to, to: "9999-01-01".into() }), Some(*place - 1)),
            "before" => (Some(Period { from: "0000-01-01".into(), to: period(*from, *months).from }), Some(*place - 1)),
            "until" | "through" => {
                (Some(Period { from: "0000-01-01".into(), ..period(*from, *months) }), Some(*place - 1))
            }
            _ => (Some(period(*from, *months)), None),
        },
        [(first, from, _), (second, to, months)]
            if matches!(word_before(*first).as_str(), "between" | "from")
                && matches!(word_before(*second).as_str(), "and" | "to" | "until")
                && to >= from =>
        {
            (Some(period(*from, to + months - from)), Some(*first - 1))
        }
        _ => return Err(SeveralPeriods),
    };
    if let Some(mark) = mark {
        words[mark].used = true;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_to_sql::text::words;

    fn check(question: &str, expected: Option<(&str, &str)>) {
        let found = take(&mut words(question)).unwrap_or_else(|error| panic!("{error}"));
        let found = found.as_ref().map(|period| (period.from.as_str(), period.to.as_str()));
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn periods_are_found() {
        check("invoices in 2024", Some(("2024-01-01", "2025-01-01")));
        check("in the third quarter of 2024", Some(("2024-07-01", "2024-10-01")));
        check("in Q4 2025", Some(("2025-10-01", "2026-01-01")));
        check("in 2025-Q4", Some(("2025-10-01", "2026-01-01")));
        check("in December 2025", Some(("2025-12-01", "2026-01-01")));
        check("between 2023 and 2024", Some(("2023-01-01", "2025-01-01")));
        check("since 2024", Some(("2024-01-01", "9999-01-01")));
        check("before March 2024", Some(("0000-01-01", "2024-03-01")));
        check("until March 2024", Some(("0000-01-01", "2024-04-01")));
        check("more than 500 invoices", None);
        assert!(take(&mut words("2023 or 2025")).is_err());
    }
}
