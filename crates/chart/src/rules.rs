//! The rules of chart selection; the first that applies decides.
//!
//! Existing renderers are not used: Vega and Observable Plot need JavaScript, which reports and terminals do not have,
//! and plotters and charming draw without CSS classes for the colours of a page.

use std::collections::BTreeSet;

use crate::{
    build,
    chart::{Chart, Layout},
    column::{Column, Role, capital},
    data::Data,
    profile::Profile,
    totals,
};

/// Maximum number of bars, such as the days of a month; beyond it, the smallest are combined or a table is shown.
pub(crate) const MAX_BARS: usize = 31;
/// Maximum number of rows of a ranking with further attributes; longer ones are listings.
const MAX_RANKING: usize = 15;
/// Minimum number of periods of a line; fewer are bars.
const MIN_LINE: usize = 4;
/// Maximum length of a title; longer ones are derived from the columns.
const MAX_TITLE_CHARS: usize = 90;
/// Minimum number of points of a scatter plot.
pub(crate) const MIN_DOTS: usize = 8;
/// Maximum number of series and of categories in grouped bars.
pub(crate) const MAX_SERIES: usize = 6;
pub(crate) const MAX_GROUPS: usize = 12;

/// The chosen presentation of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// A chart.
    Chart(Box<Chart>),
    /// The rows, as a table or sentence.
    Table {
        /// The reason.
        reason: &'static str,
    },
}

impl Choice {
    /// Adds notes if it is a chart.
    pub(crate) fn note(self, notes: impl IntoIterator<Item = String>) -> Choice {
        match self {
            Choice::Chart(mut chart) => {
                chart.notes.extend(notes);
                Choice::Chart(chart)
            }
            none @ Choice::Table { .. } => none,
        }
    }
}

/// A rule.
pub struct Rule {
    /// Its subject.
    pub about: &'static str,
    /// Its condition and result.
    pub says: &'static str,
    decide: fn(&Profile<'_>) -> Option<Choice>,
}

impl Rule {
    /// Returns its choice for a result; `None` if it does not apply.
    pub fn decide(&self, data: &Data<'_>) -> Option<Choice> {
        (self.decide)(&Profile::new(data))
    }
}

/// The rules, in order.
pub const RULES: [Rule; 10] = [
    Rule { about: "no numbers", says: "no rows, or no numeric measure: a table", decide: without_numbers },
    Rule { about: "few values", says: "one row, or equal values: a sentence", decide: few_values },
    Rule {
        about: "ranking",
        says: "at most fifteen rows in descending order, with several texts that distinguish them together: bars",
        decide: ranking,
    },
    Rule {
        about: "listing",
        says: "sentences, several date columns, or three or more descriptive columns: a table",
        decide: listing,
    },
    Rule {
        about: "correlation",
        says: "two measures over at least eight rows without a name, or over more than twenty unsorted rows with one: a \
               scatter plot",
        decide: relation,
    },
    Rule {
        about: "time",
        says: "two periods: a single value with its change; three: bars; more: a line, or several for measures of \
               compatible scales",
        decide: over_time,
    },
    Rule {
        about: "time and categories",
        says: "a line per category, the smallest combined if they can be added up; up to three periods: grouped bars",
        decide: over_time_by_category,
    },
    Rule { about: "truncated", says: "the result is truncated and not sorted: a table", decide: cut },
    Rule {
        about: "categories",
        says: "two rows: a sentence; more: bars in the order of the rows, or of the numbers that \
               distinguish them; grouped for measures of compatible scales; of many, the smallest are combined if they can be added up, otherwise a table",
        decide: by_category,
    },
    Rule {
        about: "two categories",
        says: "at most twelve by six: stacked bars if they can be added up, otherwise grouped ones; more: a table",
        decide: by_two_categories,
    },
];

/// Chooses the presentation of a result. Rows that are totals of others are removed from charts.
pub fn choose(data: &Data<'_>) -> Choice {
    without_totals(data, decide)
}

/// Decides about the rows that are not totals of others, and sets the title.
pub(crate) fn without_totals(data: &Data<'_>, decide: impl FnOnce(&Profile<'_>) -> Choice) -> Choice {
    let choice = match totals::leave_out(data) {
        None => decide(&Profile::new(data)),
        Some(parts) => decide(&Profile::new(&Data { rows: &parts.rows, ..data.clone() })).note([parts.note]),
    };
    match choice {
        Choice::Chart(mut chart) => {
            let title = data.title.trim().trim_end_matches(['?', '.']);
            if (1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
                chart.title = capital(title);
            }
            Choice::Chart(chart)
        }
        none @ Choice::Table { .. } => none,
    }
}

/// Applies the rules to a result.
pub(crate) fn decide(profile: &Profile<'_>) -> Choice {
    let decided = RULES.iter().find_map(|rule| (rule.decide)(profile));
    decided.unwrap_or(Choice::Table { reason: "no chart fits these columns" })
}

fn table(reason: &'static str) -> Option<Choice> {
    Some(Choice::Table { reason })
}

fn few() -> Option<Choice> {
    table("a sentence is sufficient")
}

fn draw(chart: Option<Chart>) -> Option<Choice> {
    let none = Choice::Table { reason: "several rows have the same position" };
    Some(chart.map_or(none, |chart| Choice::Chart(Box::new(chart))))
}

fn without_numbers(profile: &Profile<'_>) -> Option<Choice> {
    match () {
        () if profile.data.rows.is_empty() => table("the result is empty"),
        () if profile.measures.is_empty() => table("there is no numeric measure"),
        () => None,
    }
}

fn few_values(profile: &Profile<'_>) -> Option<Choice> {
    match () {
        () if profile.data.rows.len() == 1 => few(),
        () if profile.measures.iter().all(|column| column.distinct <= 1) => table("all values are equal"),
        () => None,
    }
}

fn ranking(profile: &Profile<'_>) -> Option<Choice> {
    let rows = profile.data.rows.len();
    let texts: Vec<&Column> = profile.categories.iter().filter(|column| column.role == Role::Category).collect();
    let is_short = (3..=MAX_RANKING).contains(&rows) && profile.is_ranking();
    if !is_short || profile.categories.len() < 2 || !profile.times.is_empty() || profile.has_prose || texts.is_empty() {
        return None;
    }
    let name = |row: usize| texts.iter().map(|column| column.texts[row].as_str()).collect::<Vec<_>>().join(" · ");
    let names = Column {
        name: texts.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "),
        texts: (0..rows).map(name).collect(),
        ..texts[0].clone()
    };
    let is_distinct = names.texts.iter().collect::<BTreeSet<_>>().len() == rows;
    if is_distinct { draw(build::bars(profile, &names, None, &[&profile.measures[0]])) } else { None }
}

fn listing(profile: &Profile<'_>) -> Option<Choice> {
    let describing = profile.times.len() + profile.categories.len();
    if profile.has_prose || profile.times.len() > 1 || describing > 2 { table("the result is a listing") } else { None }
}

fn relation(profile: &Profile<'_>) -> Option<Choice> {
    let rows = profile.data.rows.len();
    let is_wanted = match &profile.categories[..] {
        [] => rows >= MIN_DOTS,
        [names] => names.distinct > build::FOLD_ABOVE && !profile.is_ranking(),
        _ => false,
    };
    let dots = (is_wanted && profile.times.is_empty()).then(|| build::dots(profile)).flatten();
    dots.and_then(|chart| draw(Some(chart)))
}

fn over_time(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], []) = (&profile.times[..], &profile.categories[..]) else { return None };
    if time.distinct != profile.data.rows.len() {
        return table("a period has several rows");
    }
    let measures = profile.comparable();
    draw(match time.distinct {
        2 => return build::figure_of_periods(profile, time).map_or_else(few, |chart| draw(Some(chart))),
        periods if periods < MIN_LINE => build::bars(profile, time, None, &measures),
        _ => build::lines(profile, time, None, &measures[..measures.len().min(MAX_SERIES)], MAX_SERIES),
    })
}

fn over_time_by_category(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], [category]) = (&profile.times[..], &profile.categories[..]) else { return None };
    if category.distinct == profile.data.rows.len() && category.distinct > MAX_SERIES {
        return table("the result is a listing");
    }
    let measure = &profile.measures[0];
    if time.distinct < MIN_LINE {
        if category.distinct > MAX_GROUPS || time.distinct == 1 {
            return table("there are too many series");
        }
        return draw(build::bars(profile, category, Some((time, Layout::Grouped)), &[measure]));
    }
    if category.distinct > MAX_SERIES && !measure.is_sum() {
        return table("there are too many lines");
    }
    draw(build::lines(profile, time, Some(category), &[measure], MAX_SERIES))
}

fn cut(profile: &Profile<'_>) -> Option<Choice> {
    let is_ranked = profile.is_ranking() && profile.categories.len() == 1;
    if profile.data.has_more && !is_ranked { table("the result is truncated and not sorted") } else { None }
}

fn by_category(profile: &Profile<'_>) -> Option<Choice> {
    let ([], [category]) = (&profile.times[..], &profile.categories[..]) else { return None };
    let rows = profile.data.rows.len();
    if rows == 2 {
        return few();
    }
    if category.texts.iter().collect::<BTreeSet<_>>().len() != rows {
        return table("a category has several rows");
    }
    let measures = profile.comparable();
    let is_ordered = category.role == Role::Ordinal;
    let are_grouped = rows <= MAX_GROUPS && measures.len() <= MAX_SERIES;
    let drawn = if is_ordered || are_grouped { &measures[..] } else { &measures[..1] };
    if rows > MAX_BARS && (is_ordered || !drawn[0].are_parts()) {
        return table("there are too many bars");
    }
    draw(build::bars(profile, category, None, drawn))
}

fn by_two_categories(profile: &Profile<'_>) -> Option<Choice> {
    let ([], [one, other]) = (&profile.times[..], &profile.categories[..]) else { return None };
    let (outer, inner) = if other.distinct <= one.distinct { (one, other) } else { (other, one) };
    if outer.distinct > MAX_GROUPS || inner.distinct > MAX_SERIES || inner.distinct < 2 {
        return table("there are too many series");
    }
    // If most pairs are missing, one category only describes the other.
    if profile.data.rows.len() * 2 < outer.distinct * inner.distinct || profile.data.rows.len() == outer.distinct {
        return table("the result is a listing");
    }
    let measure = &profile.measures[0];
    let layout = if measure.are_parts() { Layout::Stacked } else { Layout::Grouped };
    draw(build::bars(profile, outer, Some((inner, layout)), &[measure]))
}
