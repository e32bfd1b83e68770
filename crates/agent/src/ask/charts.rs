//! `{{Q1 line: month, revenue}}` in an answer: a chart proposed by the model.

use std::sync::LazyLock;

use regex::Regex;

use crate::answer::ProposedChart;

/// Maximum number of proposals per answer.
const MAX_CHARTS: usize = 5;

/// A proposal: the query, the kind, and the columns.
static CHART: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\{\{\s*(Q\d{1,4})\s+([A-Za-z][A-Za-z _-]{0,30}?)\s*:\s*([^{}\n]{1,400})\}\}";
    Regex::new(pattern).unwrap_or_else(|error| unreachable!("{error}"))
});

/// Returns the text without its chart proposals, and the proposals. Lines that contain nothing else are removed.
pub(crate) fn split_charts(text: &str) -> (String, Vec<ProposedChart>) {
    let charts = CHART.captures_iter(text).take(MAX_CHARTS).map(|found| ProposedChart {
        of: found[1].to_owned(),
        kind: found[2].to_owned(),
        columns: found[3].split(',').map(clean_name).filter(|name| !name.is_empty()).collect(),
    });
    let charts: Vec<ProposedChart> = charts.collect();
    if charts.is_empty() {
        return (text.to_owned(), charts);
    }
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let rest = CHART.replace_all(line, "");
        let is_gone = rest.len() < line.len() && rest.trim_matches(['-', '*', '>', '`', ' ']).is_empty();
        // A removed line leaves only one blank line.
        let is_second_blank = rest.trim().is_empty() && lines.last().is_some_and(|before| before.trim().is_empty());
        if !is_gone && !is_second_blank {
            lines.push(rest.trim_end().to_owned());
        }
    }
    (lines.join("\n").trim_end().to_owned(), charts)
}

/// Returns a column name without quotes and emphasis.
fn clean_name(name: &str) -> String {
    name.trim_matches(['`', '"', '\'', '*', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, rest: &str, charts: &[(&str, &str, &[&str])]) {
        let (found, proposed) = split_charts(text);
        let proposed: Vec<(&str, &str, Vec<&str>)> = proposed
            .iter()
            .map(|chart| (chart.of.as_str(), chart.kind.as_str(), chart.columns.iter().map(String::as_str).collect()))
            .collect();
        let charts: Vec<(&str, &str, Vec<&str>)> =
            charts.iter().map(|(of, kind, columns)| (*of, *kind, columns.to_vec())).collect();
        assert_eq!((found.as_str(), proposed), (rest, charts), "{text}");
    }

    #[test]
    fn removes_proposals_from_text() {
        check(
            "It rose [Q1].\n\n{{Q1 line: month, revenue}}\n\nBy month:\n\n{{Q1}}",
            "It rose [Q1].\n\nBy month:\n\n{{Q1}}",
            &[("Q1", "line", &["month", "revenue"])],
        );
        check("{{ Q2 grouped bar : `a b`,\"c\" }} It rose.", " It rose.", &[("Q2", "grouped bar", &["a b", "c"])]);
        check("- {{Q1 pie: a}}\nSo it is.", "So it is.", &[("Q1", "pie", &["a"])]);
    }

    #[test]
    fn keeps_other_text() {
        for text in ["{{Q1}}", "{{Q1 line}}", "{{Q1 line: }", "{{line: month}}", "{Q1 line: month}", "a\n\n\nb", ""] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn limits_number_of_proposals() {
        assert_eq!(split_charts(&"{{Q1 bar: a, b}}\n".repeat(1_000)).1.len(), MAX_CHARTS);
    }
}
