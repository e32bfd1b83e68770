//! The report as one page.

use std::collections::BTreeMap;

use chrono::Utc;
use prospector_agent::{
    ask::{Answered, DataQuestion},
    plan::Ended,
};
use serde_json::Value;

use crate::{
    changes::Change,
    markdown::{self, escape},
    questions::{Questions, ReportQuestion},
    store::{Snapshot, SnapshotRows},
};

const STYLE: &str = include_str!("report.css");

/// Rows of a query that are shown.
const MAX_ROWS: usize = 200;
/// Charts are so wide, in pixels.
const WIDTH: u32 = 720;

/// A report.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// When it was made, in UTC.
    pub made: String,
    /// When the one before was made.
    pub before: Option<String>,
    /// The questions with their answers.
    pub sections: Vec<Section>,
}

/// A question with its answer.
#[derive(Debug, Clone)]
pub struct Section {
    /// What was asked.
    pub asked: ReportQuestion,
    /// The answer.
    pub answered: Answered,
    /// What changed; none where there is nothing to compare with.
    pub change: Option<Change>,
}

impl Report {
    /// The report of these questions and their answers, in the same order, compared with the one before.
    pub fn new(questions: Questions, answers: Vec<Answered>, before: Option<&Snapshot>) -> Report {
        let section = |(asked, answered): (ReportQuestion, Answered)| {
            let rows = SnapshotRows::of(&answered);
            let earlier = before.and_then(|kept| kept.rows.get(&asked.question));
            let change = earlier.zip(rows).and_then(|(earlier, now)| Change::between(earlier, &now));
            Section { asked, answered, change }
        };
        Report {
            title: questions.title,
            made: Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
            before: before.map(|kept| kept.made.clone()),
            sections: questions.asked.into_iter().zip(answers).map(section).collect(),
        }
    }

    /// What the next report is compared with.
    pub fn snapshot(&self) -> Snapshot {
        let rows: BTreeMap<String, SnapshotRows> = (self.sections.iter())
            .filter_map(|section| Some((section.asked.question.clone(), SnapshotRows::of(&section.answered)?)))
            .collect();
        Snapshot { made: self.made.clone(), rows }
    }

    /// Whether every answer was given and traced.
    pub fn is_whole(&self) -> bool {
        self.sections.iter().all(|section| is_proven(&section.answered))
    }

    /// The page.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let since =
            self.before.as_ref().map_or_else(String::new, |before| format!(" · compared with {}", escape(before)));
        let sections: String = self.sections.iter().map(section_html).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n<p class=\"soft\">{}{since}</p>\n{sections}</main>\n</body>\n</html>\n",
            escape(&self.made)
        )
    }
}

fn is_proven(answered: &Answered) -> bool {
    answered.ended == Ended::Completed && answered.tracing.ok && !answered.best_effort
}

fn section_html(section: &Section) -> String {
    let answered = &section.answered;
    let title = escape(section.asked.title.as_deref().unwrap_or(&section.asked.question));
    let question = match &section.asked.title {
        Some(_) => format!("<p class=\"soft\">{}</p>\n", escape(&section.asked.question)),
        None => String::new(),
    };
    let drawn =
        answered.find_chart().map_or_else(String::new, |(_, chart)| format!("<figure>{}</figure>\n", chart.svg(WIDTH)));
    let proof = if is_proven(answered) {
        ("good", "✓ Traced to its queries")
    } else {
        ("bad", "✗ Not all of it is traced")
    };
    let open: Vec<String> = (answered.tracing.claims.iter().filter(|claim| !claim.problems.is_empty()))
        .map(|claim| format!("<li>{} ({})</li>", escape(&claim.text), escape(&claim.problems.join("; "))))
        .collect();
    let open = if open.is_empty() { String::new() } else { format!("<ul class=\"bad\">{}</ul>\n", open.concat()) };
    let queries: String = answered.questions.iter().map(query_html).collect();
    format!(
        "<section>\n<h2>{title}</h2>\n{question}{}{drawn}<div class=\"answer\">{}</div>\n<p class=\"{}\">{} · {}</p>\n{open}{queries}</section>\n",
        change_html(section.change.as_ref()),
        markdown::html(&answered.answer),
        proof.0,
        proof.1,
        escape(&answered.model),
    )
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

fn query_html(ran: &DataQuestion) -> String {
    let head =
        format!("{}: {}", escape(&ran.id), escape(if ran.question.is_empty() { "a query" } else { &ran.question }));
    let rows = match &ran.error {
        Some(error) => format!("<p class=\"bad\">{}</p>", escape(error)),
        None => rows_html(ran),
    };
    format!("<details><summary>{head}</summary>\n<pre>{}</pre>\n{rows}</details>\n", escape(&ran.sql))
}

fn rows_html(ran: &DataQuestion) -> String {
    let head: String = ran.columns.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
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
