//! The rules: the first that says something decides.
//!
//! Which chart is honest for a result is decided here and held by tests. Renderers did not fit: Vega and Observable Plot need JavaScript,
//! which reports and terminals do not have, and plotters and charming draw without classes for the colours of a page.

use std::collections::BTreeSet;

use crate::{
    build,
    chart::{Chart, Layout},
    column::{Column, Role},
    data::Data,
    profile::Profile,
    totals,
};

/// A longer list of bars is a table; where they may be added up, the smallest are one bar instead.
const MAX_BARS: usize = 30;
/// So many bars in an order of their own: the hours of a day, the days of a month.
pub(crate) const MAX_ORDERED_BARS: usize = 31;
/// More attributes beside the name of a row make it a listing, unless it is a short ranking.
const MAX_RANKING: usize = 15;
/// Fewer periods are bars: a line through them would promise a course.
const MIN_LINE: usize = 4;
/// A longer question is no title.
const MAX_TITLE_CHARS: usize = 90;
/// Fewer points show no relation.
pub(crate) const MIN_DOTS: usize = 8;
/// Series and categories of bars in groups.
pub(crate) const MAX_SERIES: usize = 6;
pub(crate) const MAX_GROUPS: usize = 12;

/// What shows a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// A chart.
    Chart(Box<Chart>),
    /// Its rows, as a table or in a sentence.
    Table {
        /// Why no chart.
        reason: &'static str,
    },
}

impl Choice {
    /// The same, where it is a chart, with more to be said below it.
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
    /// What it is about.
    pub about: &'static str,
    /// When it holds, and what is drawn then.
    pub says: &'static str,
    decide: fn(&Profile<'_>) -> Option<Choice>,
}

impl Rule {
    /// What it makes of a result; nothing where it does not hold.
    pub fn decide(&self, data: &Data<'_>) -> Option<Choice> {
        (self.decide)(&Profile::new(data))
    }
}

/// The rules in their order.
pub const RULES: [Rule; 13] = [
    Rule {
        about: "no numbers",
        says: "no rows, no column that measures anything, or places on a map: a table",
        decide: without_numbers,
    },
    Rule {
        about: "one row",
        says: "a value now and the same before: one figure and its change; else a sentence",
        decide: one_row,
    },
    Rule { about: "all alike", says: "every value is the same: a sentence", decide: all_alike },
    Rule {
        about: "a relation",
        says: "two measures of different things over eight rows or more, where the question asks how they go together or \
               nothing else tells the rows apart: a scatter plot",
        decide: relation,
    },
    Rule {
        about: "two sizes",
        says: "the question names two measures of one kind, of which one could not be seen beside the other: a table",
        decide: two_sizes,
    },
    Rule {
        about: "a ranking",
        says: "at most fifteen rows, from the most to the least, each with a name of its own: bars, whatever else is told of them",
        decide: ranking,
    },
    Rule {
        about: "a listing",
        says: "sentences, dates of several kinds, or three columns and more that only describe: a table",
        decide: listing,
    },
    Rule {
        about: "time",
        says: "two periods: one figure and its change; three: bars; more: a line, or several for measures that one axis can \
               bear",
        decide: over_time,
    },
    Rule {
        about: "time and categories",
        says: "a line for each category, the smallest as one where they may be added up; up to three periods: grouped bars",
        decide: over_time_by_category,
    },
    Rule { about: "cut", says: "there are more rows, and those that are here are in no order: a table", decide: cut },
    Rule { about: "two numbers", says: "one measure of two categories: a sentence", decide: two_numbers },
    Rule {
        about: "categories",
        says: "bars, the longest first or in the categories' own order, grouped for measures that one axis can bear; of many, \
               the smallest are one bar where they may be added up, else a table",
        decide: by_category,
    },
    Rule {
        about: "categories of two kinds",
        says: "at most twelve by six: stacked bars where they may be added up, else grouped ones; more: a table",
        decide: by_two_categories,
    },
];

/// What shows a result best. Rows that stand for others together are no part of a chart.
pub fn choose(data: &Data<'_>) -> Choice {
    let Some(parts) = totals::leave_out(data) else { return decide(&Profile::new(data)) };
    decide(&Profile::new(&Data { rows: &parts.rows, ..*data })).note([parts.note])
}

/// What the rules say of a result.
pub(crate) fn decide(profile: &Profile<'_>) -> Choice {
    let decided = RULES.iter().find_map(|rule| (rule.decide)(profile));
    match decided.unwrap_or(Choice::Table { reason: "no chart shows these columns" }) {
        Choice::Chart(chart) => Choice::Chart(Box::new(retitle(*chart, profile))),
        none => none,
    }
}

/// A chart is called by what its rows are, where that is known with their filters; a measure whose name says nothing is called by what
/// was asked.
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
        () if profile.data.rows.is_empty() => table("there are no rows"),
        () if profile.has_places => table("places want a map"),
        () if profile.measures.iter().all(|column| column.distinct == 0) => table("nothing in it is measured"),
        () => None,
    }
}

fn one_row(profile: &Profile<'_>) -> Option<Choice> {
    if profile.data.rows.len() != 1 {
        return None;
    }
    build::figure_of_columns(profile).map_or_else(|| table("a sentence says it"), chart)
}

fn all_alike(profile: &Profile<'_>) -> Option<Choice> {
    let is_alike = |column: &Column<'_>| column.distinct <= 1;
    if profile.data.rows.len() > 1 && profile.measures.iter().all(is_alike) {
        table("every value is the same")
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
    if profile.hides_named() { table("one axis does not show what is asked for") } else { None }
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
    if profile.has_prose || profile.times.len() > 1 || describing > 2 { table("it is a list of things") } else { None }
}

fn over_time(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], []) = (&profile.times[..], &profile.categories[..]) else { return None };
    if time.distinct != profile.data.rows.len() {
        return table("a period has several rows");
    }
    let measures = profile.comparable();
    match time.distinct {
        2 => build::figure_of_periods(profile, time).map_or_else(|| table("a sentence says it"), chart),
        periods if periods < MIN_LINE => chart(build::bars(profile, time, &measures, None)),
        _ => chart(build::lines(profile, time, &measures[..measures.len().min(MAX_SERIES)])),
    }
}

fn over_time_by_category(profile: &Profile<'_>) -> Option<Choice> {
    let ([time], [category]) = (&profile.times[..], &profile.categories[..]) else { return None };
    let several = "the rows of a period are not told apart";
    if category.distinct == profile.data.rows.len() && category.distinct > MAX_SERIES {
        return table("it is a list of things");
    }
    let measure = &profile.measures[0];
    if time.distinct < MIN_LINE {
        if category.distinct > MAX_GROUPS || time.distinct == 1 {
            return table("there is too much to compare");
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
    if profile.data.has_more && !is_ranked { table("these are some rows of many, in no order") } else { None }
}

fn two_numbers(profile: &Profile<'_>) -> Option<Choice> {
    if profile.data.rows.len() == 2 { table("a sentence says it") } else { None }
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
        return table("there is too much to compare");
    }
    // Where most pairs are missing, one only describes the other.
    if profile.data.rows.len() * 2 < outer.distinct * inner.distinct || profile.data.rows.len() == outer.distinct {
        return table("it is a list of things");
    }
    let measure = &profile.measures[0];
    let are_parts = measure.is_additive() && measure.numbers().iter().flatten().all(|number| *number >= 0.0);
    let layout = if are_parts { Layout::Stacked } else { Layout::Grouped };
    build::matrix(profile, outer, inner, layout).map_or_else(|| table("a pair has several rows"), chart)
}
