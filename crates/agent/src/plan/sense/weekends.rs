//! Whether a plan tells weekends from other days where its question does: the part of a date that is nearest to it makes seven
//! groups.

use prospector_connect::query::DatePart;

use super::{
    Report, SenseCode, SenseFinding,
    view::{PlanView, uses_sources},
    vocabulary::{Cover, stems},
};

/// The days of a week are no answer to a question about weekends, unless a later step puts them together.
pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    report.check(find_days(view));
}

/// The step that makes a group of each day, where weekends are asked for and nothing puts their days together.
fn find_days(view: &PlanView<'_>) -> Option<SenseFinding> {
    let weekend = stems("weekend").concat();
    let is_asked = view.question.words.contains(&weekend) && view.cover(&weekend) == Cover::None;
    let is_of_week = |part: Option<DatePart>| part == Some(DatePart::Weekday);
    let step = view.steps.iter().find(|step| step.group_by.iter().any(|group| is_of_week(group.part)))?;
    let is_limited =
        view.filters().any(|(_, filter, _)| is_of_week(DatePart::read(&filter.column).map(|(part, _)| part)));
    let is_read = view.steps.iter().any(|later| !uses_sources(later) && later.number > step.number);
    (is_asked && !is_limited && !is_read).then(|| {
        let message = "the question tells weekends from other days, and the plan makes a group of each day of the week: compute each side \
                       in a step of its own, as with `weekday(db.t.day) in (0, 6)`";
        SenseFinding::new(SenseCode::WrongMeasure, Some(step.number), message)
    })
}
