//! The rules of chart selection; the first that applies decides.
//!
//! Existing renderers are not used: Vega and Observable Plot need JavaScript, which reports and terminals do not have,
//! and plotters and charming draw without CSS classes for the colours of a page.

use std::collections::BTreeSet;

use crate::{
    build,
    chart::{Chart, Layout},
    column::{Column, Role},
    data::Data,
    profile::Profile,
    totals,
};

/// Maximum number of bars; beyond it, the smallest are folded if additive, otherwise a table is shown.
const MAX_BARS: usize = 30;
/// Maximum number of bars in natural order: the hours of a day, the days of a month.
pub(crate) const MAX_ORDERED_BARS: usize = 31;
/// Maximum number of rows of a ranking with further attributes; longer ones are listings.
const MAX_RANKING: usize = 15;
/// Minimum number of periods of a line; fewer are bars.
const MIN_LINE: usize = 4;
/// Maximum length of a question used as title.
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
pub const RULES: [Rule; 13] = [
    Rule {
        about: "no numbers",
        says: "no rows, no numeric column, or geographic coordinates: a table",
        decide: without_numbers,
    },
    Rule {
        about: "one row",
        says: "a current and a previous value: a single value with its change; otherwise a sentence",
        decide: one_row,
    },
    Rule { about: "equal values", says: "all values are equal: a sentence", decide: all_equal },
    Rule {
        about: "correlation",
        says: "two measures of different quantities over at least eight rows, if the question asks for their relation or \
               nothing else distinguishes the rows: a scatter plot",
        decide: relation,
    },
    Rule {
        about: "incompatible scales",
        says: "the question names two measures of the same quantity with incompatible scales: a table",
        decide: two_sizes,
    },
    Rule {
        about: "ranking",
        says: "at most fifteen rows in descending order, each with its own name: bars, regardless of other columns",
        decide: ranking,
    },
    Rule {
        about: "listing",
        says: "sentences, several date columns, or three or more descriptive columns: a table",
        decide: listing,
    },
    Rule {
        about: "time",
        says: "two periods: a single value with its change; three: bars; more: a line, or several for measures of \
               compatible scales",
        decide: over_time,
    },
    Rule {
        about: "time and categories",
        says: "a line per category, the smallest combined if additive; up to three periods: grouped bars",
        decide: over_time_by_category,
    },
    Rule { about: "truncated", says: "the result is truncated and not sorted: a table", decide: cut },
    Rule { about: "two numbers", says: "one measure of two categories: a sentence", decide: two_numbers },
    Rule {
        about: "categories",
        says: "bars, the longest first or in natural order, grouped for measures of compatible scales; of many, \
               the smallest are combined if additive, otherwise a table",
        decide: by_category,
    },
    Rule {
        about: "two categories",
        says: "at most twelve by six: stacked bars if additive, otherwise grouped ones; more: a table",
        decide: by_two_categories,
    },
];

/// Chooses the presentation of a result. Rows that are totals of others are removed from charts.
pub fn choose(data: &Data<'_>) -> Choice {
    let Some(parts) = totals::leave_out(data) else { return decide(&Profile::new(data)) };
    decide(&Profile::new(&Data { rows: &parts.rows, ..*data })).note([parts.note])
}

/// Applies the rules to a result.
pub(crate) fn decide(profile: &Profile<'_>) -> Choice {
    let decided = RULES.iter().find_map(|rule| (rule.decide)(profile));
    match decided.unwrap_or(Choice::Table { reason: "no chart fits these columns" }) {
        Choice::Chart(chart) => Choice::Chart(Box::new(retitle(*chart, profile))),
        none => none,
    }
}

/// Sets the title of a chart to the description of its rows, if known with filters, or to the question if the name of
/// the measure is not descriptive.
fn retitle(mut chart: Chart, profile: &Profile<'_>) -> Chart {
    let title = profile.data.title.trim();
    if (1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
        chart.title = crate::column::capital(title);
        return chart;
    }
    let question = profile.data.question.trim().trim_end_matches(['?', '.']);
    let is_short = (1..=MAX_TITLE_CHARS).contains(&question.chars().count());
    if is_short && profile.measures.first().is_some_and(Column::is_nameless) {
        chart.title = crate::column::capital(question);
        chart.measure.title.clear();
    }
    chart
}

fn table(reason: &'static str) -> Option<Choice> {
    Some(Choice::Table { reason })
}

fn chart(chart: Chart) -> Option<Choice> {
    Some(Choice::Chart(Box::new(chart)))
}

fn without_numbers(profile: &Profile<'_>) -> Option<Choice> {
    match () {
        () if profile.data.rows.is_empty() => table("the result is empty"),
        () if profile.has_places => table("locations need a map"),
        () if profile.measures.iter().all(|column| column.distinct == 0) => table("there is no numeric measure"),
        () => None,
    }
}

fn one_row(profile: &Profile<'_>) -> Option<Choice> {
    if profile.data.rows.len() != 1 {
        return None;
    }
    build::figure_of_columns(profile).map_or_else(|| table("a sentence is sufficient"), chart)
}

fn all_equal(profile: &Profile<'_>) -> Option<Choice> {
    let is_constant = |column: &Column<'_>| column.distinct <= 1;
    if profile.data.rows.len() > 1 && profile.measures.iter().all(is_constant) {
        table("all values are equal")
    } else {
        None
    }
}

fn relation(profile: &Profile<'_>) -> Option<Choice> {
    let stands_alone = profile.times.is_empty() && profile.categories.is_empty();
    let is_wanted = profile.has_two_units() || stands_alone;
    let is_asked = profile.asks_relation() && profile.times.is_empty() && profile.categories.len() <= 2;
    if profile.measures.len() < 2 || profile.data.rows.len() < MIN_DOTS || !is_wanted || !(is_asked || stands_alone) {
        return None;
    }
    chart(build::dots(profile))
}

fn two_sizes(profile: &Profile<'_>) -> Option<Choice> {
    if profile.hides_named() { table("the requested measures do not fit on one axis") } else { None }
}

fn ranking(profile: &Profile<'_>) -> Option<Choice> {
    let rows = profile.data.rows.len();
    let is_short = (3..=MAX_RANKING).contains(&rows) && profile.is_ranking() && profile.times.is_empty();
    let column = profile.categories.iter().find(|column| column.distinct == rows)?;
    (is_short && profile.categories.len() > 1 && !profile.has_prose).then(|| {
        Choice::Chart(Box::new(build::bars(profile, column, &profile.measures[..1].iter().collect::<Vec<_>>(), None)))
    })
}

fn listing(profile: &Profile<'_>) -> Option<Choice> {
    let describing = profile.times.len() + profile.categories.len();
    if profile.has_prose || profile.times.len() > 1 || describing > 2 { table("the result is a listing") } else { None }
}

fn over_time(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], []) = (&profile.times[..], &profile.categories[..]) else { return None };
    if time.distinct != profile.data.rows.len() {
        return table("a period has several rows");
    }
    let measures = profile.comparable();
    match time.distinct {
        2 => build::figure_of_periods(profile, time).map_or_else(|| table("a sentence is sufficient"), chart),
        periods if periods < MIN_LINE => chart(build::bars(profile, time, &measures, None)),
        _ => chart(build::lines(profile, time, &measures[..measures.len().min(MAX_SERIES)])),
    }
}

fn over_time_by_category(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], [category]) = (&profile.times[..], &profile.categories[..]) else { return None };
    let several = "rows of the same period cannot be distinguished";
    if category.distinct == profile.data.rows.len() && category.distinct > MAX_SERIES {
        return table("the result is a listing");
    }
    let measure = &profile.measures[0];
    if time.distinct < MIN_LINE {
        if category.distinct > MAX_GROUPS || time.distinct == 1 {
            return table("there are too many series");
        }
        return build::matrix(profile, category, time, Layout::Grouped).map_or_else(|| table(several), chart);
    }
    if category.distinct > MAX_SERIES && !measure.is_additive() {
        return table("there are too many lines");
    }
    build::lines_by(profile, time, category, MAX_SERIES).map_or_else(|| table(several), chart)
}

fn cut(profile: &Profile<'_>) -> Option<Choice> {
    let is_ranked = profile.is_ranking() && profile.categories.len() == 1;
    if profile.data.has_more && !is_ranked { table("the result is truncated and not sorted") } else { None }
}

fn two_numbers(profile: &Profile<'_>) -> Option<Choice> {
    if profile.data.rows.len() == 2 { table("a sentence is sufficient") } else { None }
}

fn by_category(profile: &Profile<'_>) -> Option<Choice> {
    let ([], [category]) = (&profile.times[..], &profile.categories[..]) else { return None };
    let rows = profile.data.rows.len();
    if category.texts.iter().collect::<BTreeSet<_>>().len() != rows {
        return table("a category has several rows");
    }
    let measures = profile.comparable();
    if matches!(category.role, Role::Ordinal) {
        return if rows <= MAX_ORDERED_BARS {
            chart(build::bars(profile, category, &measures, None))
        } else {
            table("there are too many bars")
        };
    }
    if measures.len() > 1 && rows <= MAX_GROUPS && measures.len() <= MAX_SERIES {
        return chart(build::bars(profile, category, &measures, None));
    }
    let main = &measures[..1];
    let may_fold = main[0].is_additive() && main[0].numbers().iter().flatten().all(|number| *number >= 0.0);
    match rows {
        _ if rows <= MAX_RANKING => chart(build::bars(profile, category, main, None)),
        _ if may_fold && rows > build::FOLD_ABOVE => chart(build::bars(profile, category, main, Some(build::FOLD_TO))),
        _ if rows <= MAX_BARS => chart(build::bars(profile, category, main, None)),
        _ => table("there are too many bars"),
    }
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
    let are_parts = measure.is_additive() && measure.numbers().iter().flatten().all(|number| *number >= 0.0);
    let layout = if are_parts { Layout::Stacked } else { Layout::Grouped };
    build::matrix(profile, outer, inner, layout).map_or_else(|| table("a pair of categories has several rows"), chart)
}
