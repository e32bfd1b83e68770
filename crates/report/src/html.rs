//! Renders the report as an HTML page.

use std::collections::BTreeMap;

use chrono::Utc;
use prospector_agent::ask::{AnswerStatus, Answered, DataQuestion};
use prospector_state::checksum::read_back;
use serde_json::Value;

use crate::{
    changes::Change,
    markdown::{self, escape},
    questions::{Questions, ReportQuestion},
    store::{Snapshot, SnapshotRows},
};

const STYLE: &str = include_str!("report.css");

/// Maximum number of rows shown per query.
const MAX_ROWS: usize = 200;
/// Width of charts, in pixels.
const WIDTH: u32 = 720;

/// A report.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// When it was created, in UTC.
    pub made: String,
    /// When the previous report was created.
    pub before: Option<String>,
    /// The questions with their answers.
    pub sections: Vec<Section>,
}

/// A question with its answer.
#[derive(Debug, Clone)]
pub struct Section {
    /// The question.
    pub asked: ReportQuestion,
    /// The answer.
    pub answered: Answered,
    /// The changes; `None` if there is nothing to compare with.
    pub change: Option<Change>,
}

impl Report {
    /// Creates the report of these questions and their answers, in the same order, compared with the previous one.
    pub fn new(questions: Questions, answers: Vec<Answered>, before: Option<&Snapshot>) -> Report {
        let section = |(asked, answered): (ReportQuestion, Answered)| {
            let rows = SnapshotRows::of(&answered);
            let earlier = before.and_then(|kept| kept.rows.get(&asked.question));
            let now = rows.map(|rows| read_back(&rows).unwrap_or(rows));
            let change = earlier.zip(now).and_then(|(earlier, now)| Change::between(earlier, &now));
            Section { asked, answered, change }
        };
        Report {
            title: questions.title,
            made: Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
            before: before.map(|kept| kept.made.clone()),
            sections: questions.asked.into_iter().zip(answers).map(section).collect(),
        }
    }

    /// Returns the data with which the next report is compared.
    pub fn snapshot(&self) -> Snapshot {
        let rows: BTreeMap<String, SnapshotRows> = (self.sections.iter())
            .filter_map(|section| Some((section.asked.question.clone(), SnapshotRows::of(&section.answered)?)))
            .collect();
        Snapshot { made: self.made.clone(), rows }
    }

    /// Returns the page.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let since =
            self.before.as_ref().map_or_else(String::new, |before| format!(" · compared with {}", escape(before)));
        let sections: String =
            self.sections.iter().enumerate().map(|(at, section)| section_html(at + 1, section)).collect();
        let summary = self.summary_html();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n<p class=\"soft\">{}{since}</p>\n{summary}{sections}</main>\n</body>\n</html>\n",
            escape(&self.made)
        )
    }

    /// Renders the number of questions per status, with links to those without a complete answer.
    fn summary_html(&self) -> String {
        const ORDER: [AnswerStatus; 4] =
            [AnswerStatus::Verified, AnswerStatus::Answered, AnswerStatus::Partial, AnswerStatus::Unanswered];
        let numbered = || self.sections.iter().enumerate().map(|(at, section)| (at + 1, section));
        let count = |status| numbered().filter(|(_, section)| section.answered.status == status).count();
        let counts = ORDER.into_iter().map(|status| (status, count(status))).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|(status, count)| format!("{count} {}", status.label().to_lowercase())).collect();
        let is_open = |status| matches!(status, AnswerStatus::Partial | AnswerStatus::Unanswered);
        let open = numbered().filter(|(_, section)| is_open(section.answered.status)).map(|(at, section)| {
            let title = section.asked.title.as_deref().unwrap_or(&section.asked.question);
            format!("<li>{} <a href=\"#s{at}\">{}</a></li>", status_html(section.answered.status), escape(title))
        });
        let open: String = open.collect();
        let open = if open.is_empty() { open } else { format!("<ul class=\"open\">{open}</ul>\n") };
        format!("<p>{}</p>\n{open}", counts.join(" · "))
    }
}

fn status_html(status: AnswerStatus) -> String {
    format!("<span class=\"status {}\">{status}</span>", status.as_str())
}

fn section_html(number: usize, section: &Section) -> String {
    let answered = &section.answered;
    let title = escape(section.asked.title.as_deref().unwrap_or(&section.asked.question));
    let question = match &section.asked.title {
        Some(_) => format!("<p class=\"soft\">{}</p>\n", escape(&section.asked.question)),
        None => String::new(),
    };
    let drawn =
        answered.find_chart().map_or_else(String::new, |(_, chart)| format!("<figure>{}</figure>\n", chart.svg(WIDTH)));
    let caveats = answered.caveats.iter().chain(&answered.notes);
    let caveats: String = caveats.map(|caveat| format!("<li>{}</li>", escape(caveat))).collect();
    let caveats = if caveats.is_empty() { caveats } else { format!("<ul class=\"caveats\">{caveats}</ul>\n") };
    let checked = answered.questions.iter().filter_map(|query| query.verified.as_ref());
    let checked: String = checked.map(|one| format!(" · verified by {}", escape(&one.by))).collect();
    let queries: String = answered.questions.iter().map(|ran| query_html(number, ran)).collect();
    format!(
        "<section id=\"s{number}\">\n<h2>{title}</h2>\n{question}<p class=\"soft\">{}{checked} · {}</p>\n{}{caveats}{drawn}<div \
         class=\"answer\">{}</div>\n{queries}</section>\n",
        status_html(answered.status),
        escape(&answered.model),
        change_html(section.change.as_ref()),
        cite(&markdown::html(&answered.answer), number, answered),
    )
}

/// Replaces query references in an answer by links to their rows.
fn cite(html: &str, number: usize, answered: &Answered) -> String {
    answered.questions.iter().fold(html.to_owned(), |html, ran| {
        let id = escape(&ran.id);
        html.replace(&format!("[{id}]"), &format!("<a class=\"cite\" href=\"#s{number}-{id}\">{id}</a>"))
    })
}

fn change_html(change: Option<&Change>) -> String {
    let Some(change) = change else { return String::new() };
    if change.is_none() {
        return "<p class=\"change\">Nothing changed since the last report.</p>\n".to_owned();
    }
    let mut lines: String = change.lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    if change.more > 0 {
        lines.push_str(&format!("<li>and {} more</li>", change.more));
    }
    format!("<div class=\"change\"><strong>Changed since the last report</strong><ul>{lines}</ul></div>\n")
}

fn query_html(number: usize, ran: &DataQuestion) -> String {
    let head =
        format!("{}: {}", escape(&ran.id), escape(if ran.question.is_empty() { "a query" } else { &ran.question }));
    let rows = match &ran.error {
        Some(error) => format!("<p class=\"bad\">{}</p>", escape(error)),
        None => rows_html(ran),
    };
    // A link to an element inside `<details>` opens it.
    let (id, sql) = (escape(&ran.id), escape(&ran.sql));
    format!("<details><summary>{head}</summary>\n<pre id=\"s{number}-{id}\">{sql}</pre>\n{rows}</details>\n")
}

fn rows_html(ran: &DataQuestion) -> String {
    let head = |at: usize| format!("<th scope=\"col\">{}</th>", escape(&ran.header(at)));
    let head: String = (0..ran.columns.len()).map(head).collect();
    let cell = |value: &Value| match value {
        Value::Null => "<td></td>".to_owned(),
        Value::String(text) => format!("<td>{}</td>", escape(text)),
        Value::Number(number) => format!("<td class=\"number\">{number}</td>"),
        other => format!("<td>{}</td>", escape(&other.to_string())),
    };
    let row = |row: &Vec<Value>| format!("<tr>{}</tr>", row.iter().map(cell).collect::<String>());
    let body: String = ran.rows.iter().take(MAX_ROWS).map(row).collect();
    let more =
        if ran.has_more || ran.rows.len() > MAX_ROWS { "<p class=\"soft\">There are more rows.</p>" } else { "" };
    format!("<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_rows_have_the_declared_units() {
        let columns = vec!["city".to_owned(), "<revenue>".to_owned()];
        let units = vec![("<revenue>".to_owned(), "EUR".to_owned())];
        let html = rows_html(&DataQuestion { columns, units, ..DataQuestion::default() });
        let head = "<th scope=\"col\">city</th><th scope=\"col\">&lt;revenue&gt; (EUR)</th>";
        assert!(html.contains(head), "{html}");
    }
}
