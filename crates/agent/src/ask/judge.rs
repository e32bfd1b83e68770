//! Determines the status of an answer and its caveats.

use prospector_core::tool::finding::RowsWarning;

use super::{
    instructions::DECLINED,
    trace::{ALL, MARK},
};
use crate::{
    answer::{Answered, Classification, DataQuestion},
    metrics::Ended,
    status::AnswerStatus,
};

impl Answered {
    /// Sets the status and the caveats from everything else.
    pub(crate) fn with_status(mut self) -> Self {
        self.caveats = find_caveats(&self);
        self.notes = find_notes(&self);
        self.status = judge(&self);
        self.choices = find_choices(&self);
        if self.status == AnswerStatus::Unanswered {
            // The answer itself contains the reason.
            self.caveats.clear();
            self.notes.clear();
        }
        self
    }
}

fn judge(answered: &Answered) -> AnswerStatus {
    let has_traced_data =
        answered.tracing.claims.iter().any(|one| one.problems.is_empty() && !one.references.is_empty());
    let is_whole = answered.ended == Ended::Completed
        && !answered.best_effort
        && !declines(&answered.answer)
        && answered.clarifications.is_empty();
    let is_supported = match answered.classification {
        Classification::Data | Classification::Knowledge | Classification::Mixed => true,
        // Small talk makes no factual claims; one that does is untraced.
        Classification::Conversational => answered.tracing.ok,
        Classification::OutOfScope | Classification::None => false,
    };
    if answered.answer.trim().is_empty() || !is_supported || !is_whole && !has_traced_data {
        return AnswerStatus::Unanswered;
    }
    if !answered.caveats.is_empty() {
        return AnswerStatus::Partial;
    }
    let is_verified =
        list_cited(answered).next().is_some() && list_cited(answered).all(|query| query.verified.is_some());
    if is_verified { AnswerStatus::Verified } else { AnswerStatus::Answered }
}

/// Returns the numbered lines after the only clarifying question, or of an answer that declines.
fn find_choices(answered: &Answered) -> Vec<String> {
    let is_declined = answered.status == AnswerStatus::Unanswered && !answered.best_effort;
    if answered.clarifications.len() > 1 || answered.clarifications.is_empty() && !is_declined {
        return Vec::new();
    }
    let choice = |line: &str| {
        let (number, text) = line.trim_start().split_once(['.', ')'])?;
        let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let text = text.strip_prefix(' ').filter(|_| is_numbered)?.trim();
        Some(text.trim_end_matches(MARK).trim_end().to_owned())
    };
    answered.answer.lines().filter_map(choice).collect()
}

/// Returns what keeps the answer from being complete, one sentence each.
fn find_caveats(answered: &Answered) -> Vec<String> {
    let mut caveats = Vec::new();
    if answered.best_effort || answered.ended != Ended::Completed {
        caveats.push(format!("the run ended early: {}", answered.ended.reason()));
    }
    if declines(&answered.answer) {
        caveats.push("part of the question is not answered".to_owned());
    }
    caveats.extend(answered.clarifications.iter().map(|question| format!("needs clarification: {question}")));
    let untraced = answered.tracing.claims.iter().filter(|claim| !claim.problems.is_empty());
    caveats.extend(untraced.map(|claim| format!("not traced: {} ({})", claim.text.trim(), claim.problems.join("; "))));
    if !answered.tracing.ok && answered.tracing.claims.iter().all(|claim| claim.problems.is_empty()) {
        caveats.push("not every statement is traced".to_owned());
    }
    for query in list_cited(answered) {
        if query.has_more {
            caveats.push(format!("{} shows only its first {} rows", query.id, query.rows.len()));
        }
        let stated = query.warnings.iter().filter(|warning| states(answered, query, warning));
        caveats.extend(stated.map(|warning| format!("{}: {}", query.id, warning.message)));
    }
    caveats
}

/// Returns the warnings about columns of cited queries that the answer does not state.
fn find_notes(answered: &Answered) -> Vec<String> {
    let note = |query: &DataQuestion, warning: &RowsWarning| {
        let columns: Vec<String> = warning.columns.iter().map(|name| format!("`{name}`")).collect();
        let about = match (columns.is_empty(), warning.last_rows) {
            (true, 1) => "its last row".to_owned(),
            (true, count) => format!("its last {count} rows"),
            (false, _) => columns.join(", "),
        };
        format!("{}: {} (only {about}, which the answer does not state)", query.id, warning.message)
    };
    let of_query = |query: &DataQuestion| {
        let others = |warning: &&RowsWarning| !states(answered, query, warning);
        query.warnings.iter().filter(others).map(|warning| note(query, warning)).collect::<Vec<_>>()
    };
    list_cited(answered).flat_map(of_query).collect()
}

/// Returns whether an answer states values that a warning is about.
fn states(answered: &Answered, query: &DataQuestion, warning: &RowsWarning) -> bool {
    states_columns(answered, query, warning) && states_rows(answered, query, warning)
}

/// Returns whether a warning is about all columns of the query, or about a column that the sentences or the proposed chart show.
fn states_columns(answered: &Answered, query: &DataQuestion, warning: &RowsWarning) -> bool {
    let traced = answered.tracing.claims.iter().filter_map(|claim| claim.columns.get(&query.id));
    let drawn = answered.chart.iter().filter(|chart| chart.of == query.id).map(|chart| &chart.columns);
    let stated: Vec<&String> = traced.chain(drawn).flatten().collect();
    let is_about =
        |name: &&String| *name == ALL || warning.columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    stated.is_empty() || warning.columns.is_empty() || stated.iter().any(is_about)
}

/// Returns whether a warning is about all rows of the query, or about a row that the sentences or the proposed chart show. Without a row
/// in the sentences, all count.
fn states_rows(answered: &Answered, query: &DataQuestion, warning: &RowsWarning) -> bool {
    let mut stated = answered.tracing.claims.iter().filter_map(|claim| claim.rows.get(&query.id)).flatten().peekable();
    let is_drawn = answered.chart.iter().any(|chart| chart.of == query.id && !chart.columns.is_empty());
    let first = query.rows.len().saturating_sub(warning.last_rows);
    warning.last_rows == 0 || is_drawn || stated.peek().is_none() || stated.any(|row| *row >= first)
}

/// Returns the successful queries that the answer cites.
fn list_cited(answered: &Answered) -> impl Iterator<Item = &DataQuestion> {
    let is_cited = |query: &DataQuestion| answered.tracing.claims.iter().any(|one| one.references.contains(&query.id));
    answered.questions.iter().filter(move |query| query.error.is_none() && is_cited(query))
}

/// Returns whether a line of the answer declines the question or a part of it.
pub(crate) fn declines(answer: &str) -> bool {
    has_line(answer, DECLINED)
}

/// Returns whether a line of the answer starts with a text, ignoring case, list markers and emphasis.
pub(super) fn has_line(answer: &str, start: &str) -> bool {
    let starts = |line: &str| {
        let line = line.trim_start_matches(['*', '_', '>', '-', ' ']);
        line.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
    };
    answer.lines().any(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{AnswerChart, Claim, Tracing, VerifiedBy};

    fn claim(problems: &[&str]) -> Claim {
        Claim {
            text: "There are 9 orders.".into(),
            references: vec!["Q1".into()],
            problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
            ..Claim::default()
        }
    }

    /// Returns an answer that cites its only query.
    fn answered() -> Answered {
        Answered {
            answer: "There are 9 orders [Q1].".into(),
            classification: Classification::Data,
            questions: vec![DataQuestion { id: "Q1".into(), ..DataQuestion::default() }],
            tracing: Tracing { ok: true, checked: 1, claims: vec![claim(&[])] },
            ..Answered::default()
        }
    }

    fn verified_by_finance() -> Option<VerifiedBy> {
        Some(VerifiedBy { by: "Finance".into(), ..VerifiedBy::default() })
    }

    fn multiplied(columns: &[&str]) -> RowsWarning {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        RowsWarning { message: "a join multiplies rows".into(), columns, ..RowsWarning::default() }
    }

    #[track_caller]
    fn check(status: AnswerStatus, caveat: &str, edit: impl FnOnce(&mut Answered)) {
        let mut answered = answered();
        edit(&mut answered);
        let answered = answered.with_status();
        assert_eq!(answered.status, status, "{answered:#?}");
        assert!(answered.caveats.join("\n").contains(caveat), "{:?}", answered.caveats);
        assert_eq!(!answered.caveats.is_empty(), status == AnswerStatus::Partial, "{:?}", answered.caveats);
    }

    #[test]
    fn traced_answers_are_answered_or_verified() {
        check(AnswerStatus::Answered, "", |_| ());
        check(AnswerStatus::Verified, "", |one| one.questions[0].verified = verified_by_finance());
        check(AnswerStatus::Answered, "", |one| {
            one.questions[0].verified = verified_by_finance();
            one.questions.push(DataQuestion { id: "Q2".into(), ..DataQuestion::default() });
            one.tracing.claims.push(Claim { references: vec!["Q2".into()], ..claim(&[]) });
        });
        // Uncited queries are ignored.
        check(AnswerStatus::Verified, "", |one| {
            one.questions[0].verified = verified_by_finance();
            one.questions.push(DataQuestion { id: "Q2".into(), has_more: true, ..DataQuestion::default() });
        });
        check(AnswerStatus::Answered, "", |one| {
            *one = Answered {
                answer: "Within 30 days [returns#Policy].".into(),
                classification: Classification::Knowledge,
                tracing: Tracing { ok: true, ..Tracing::default() },
                ..Answered::default()
            };
        });
    }

    #[test]
    fn caveats_make_an_answer_partial() {
        check(AnswerStatus::Partial, "needs clarification: Which year?", |one| {
            one.clarifications.push("Which year?".into());
        });
        check(AnswerStatus::Partial, "the round limit was reached", |one| {
            (one.best_effort, one.ended) = (true, Ended::RoundLimit);
        });
        check(AnswerStatus::Partial, "not traced: There are 9 orders. (no row has 9)", |one| {
            one.tracing = Tracing { ok: false, checked: 2, claims: vec![claim(&[]), claim(&["no row has 9"])] };
        });
        check(AnswerStatus::Partial, "only its first", |one| one.questions[0].has_more = true);
        check(AnswerStatus::Partial, "Q1: a join multiplies rows", |one| {
            one.questions[0].verified = verified_by_finance();
            one.questions[0].warnings.push(multiplied(&[]));
        });
        check(AnswerStatus::Partial, "part of the question", |one| {
            one.answer.push_str("\n\nI cannot answer this: the targets are in no table.");
        });
    }

    #[test]
    fn warnings_about_unstated_columns_are_notes() {
        let states = |columns: &'static [&str], warned: &'static [&str], status: AnswerStatus| {
            let caveat = if status == AnswerStatus::Partial { "Q1: a join multiplies rows" } else { "" };
            check(status, caveat, |one| {
                let columns = columns.iter().map(|&name| name.to_owned()).collect();
                one.tracing.claims[0].columns = [("Q1".to_owned(), columns)].into();
                one.questions[0].warnings.push(multiplied(warned));
            });
        };
        states(&["orders"], &["revenue"], AnswerStatus::Answered);
        states(&["orders", "Revenue"], &["revenue"], AnswerStatus::Partial);
        states(&["orders"], &["revenue", "orders"], AnswerStatus::Partial);
        states(&["orders"], &[], AnswerStatus::Partial);
        states(&[ALL], &["revenue"], AnswerStatus::Partial);
        states(&[], &["revenue"], AnswerStatus::Partial);

        let mut answered = answered();
        answered.tracing.claims[0].columns = [("Q1".to_owned(), vec!["orders".to_owned()])].into();
        answered.questions[0].warnings.push(multiplied(&["revenue"]));
        let chart = AnswerChart { of: "Q1".into(), columns: vec!["revenue".into()], ..AnswerChart::default() };
        let drawn = Answered { chart: Some(chart), ..answered.clone() }.with_status();
        assert_eq!((drawn.status, drawn.notes.len()), (AnswerStatus::Partial, 0));
        let noted = answered.with_status();
        assert_eq!(noted.notes, ["Q1: a join multiplies rows (only `revenue`, which the answer does not state)"]);
    }

    #[test]
    fn numbered_lines_of_a_clarification_are_choices() {
        let choices = |answer: &str, clarifications: &[&str]| {
            let clarifications = clarifications.iter().map(|text| (*text).to_owned()).collect();
            Answered { answer: answer.to_owned(), clarifications, ..Answered::default() }.with_status().choices
        };
        let list = "1. number of orders [unverified]\n2) total amount\n\n3.5 is no choice";
        let expected = ["number of orders", "total amount"];
        assert_eq!(choices(&format!("Clarification: which?\n\n{list}"), &["which?"]), expected);
        assert_eq!(choices(&format!("I cannot answer this. The closest queries are:\n\n{list}"), &[]), expected);
        assert!(choices(list, &["which year?", "which country?"]).is_empty());
    }

    #[test]
    fn declined_questions_are_unanswered() {
        let nothing = |answer: &str, classification: Classification| {
            let answer = answer.to_owned();
            check(AnswerStatus::Unanswered, "", move |one| {
                let tracing = Tracing { ok: true, ..Tracing::default() };
                *one = Answered { answer, classification, tracing, ..Answered::default() };
            });
        };
        nothing("I cannot answer this: no metric is named in it.", Classification::None);
        nothing(
            "**I cannot answer this:** no table has margins. Margin is price less cost.",
            Classification::Knowledge,
        );
        nothing("Out of scope: the weather.", Classification::OutOfScope);
        nothing("", Classification::Data);
        nothing("Nothing says that.", Classification::None);
        check(AnswerStatus::Unanswered, "", |one| {
            one.tracing.claims.clear();
            one.clarifications.push("Which year?".into());
        });
        check(AnswerStatus::Unanswered, "", |one| {
            (one.classification, one.tracing.ok) = (Classification::Conversational, false);
        });
        check(AnswerStatus::Unanswered, "", |one| {
            one.tracing.claims.clear();
            (one.best_effort, one.ended) = (true, Ended::TimeLimit);
        });
    }
}
