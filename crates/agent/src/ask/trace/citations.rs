//! The citations of a sentence: `[Q1]`, `[t1.Q2]` of an earlier turn, and entries of the catalog such as `[refund_policy#Reasons]`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::ask::entries::Entries;

/// Adjacent citations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Citation {
    pub(super) span: Range<usize>,
    pub(super) queries: Vec<String>,
    /// Ids of entries, as they are written.
    pub(super) entries: Vec<String>,
}

/// The pattern of a query's id.
static QUERY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:t\d+\.)?Q\d+$"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The pattern of text in brackets.
static BRACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\[\]\n]{1,200})\]"));

/// Finds the id of an entry that a sentence cites, but that no tool returned: text in brackets in the form of an id, such as
/// `rules#Refunds` or `shop.orders`.
pub(super) fn find_unread<'s>(sentence: &'s str, entries: &Entries) -> Option<&'s str> {
    static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[\w.-]+#\S.*|[[:alpha:]]\w*(?:\.\w+)+|\w+_\w+)$"));
    let brackets = BRACKETS.captures_iter(sentence).filter_map(|found| Some((found.get(0)?, found.get(1)?)));
    let mut ids =
        brackets.filter(|(whole, _)| !sentence[whole.end()..].starts_with('(')).map(|(_, id)| id.as_str().trim());
    ids.find(|id| ID.is_match(id) && !QUERY.is_match(id) && !entries.has(id))
}

/// Finds the citations of a sentence, in order. Other text in brackets is ignored.
pub(super) fn find_citations(sentence: &str, entries: &Entries) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for brackets in BRACKETS.captures_iter(sentence) {
        let (Some(whole), content) = (brackets.get(0), &brackets[1]) else { continue };
        // A Markdown link is not a citation.
        if sentence[whole.end()..].starts_with('(') {
            continue;
        }
        let mut citation = Citation { span: whole.range(), ..Citation::default() };
        if entries.has(content) {
            citation.entries.push(content.trim().to_owned());
        } else {
            for part in content.split([',', ';']).map(str::trim) {
                if QUERY.is_match(part) {
                    citation.queries.push(part.to_owned());
                } else if entries.has(part) {
                    citation.entries.push(part.to_owned());
                } else {
                    (citation.queries, citation.entries) = (Vec::new(), Vec::new());
                    break;
                }
            }
        }
        if citation.queries.is_empty() && citation.entries.is_empty() {
            continue;
        }
        match found.last_mut() {
            Some(last) if sentence[last.span.end..citation.span.start].trim_matches([' ', ',']).is_empty() => {
                last.span.end = citation.span.end;
                last.queries.extend(citation.queries);
                last.entries.extend(citation.entries);
            }
            _ => found.push(citation),
        }
    }
    found
}

/// Returns the indexes of the citations that may apply to a number: the next one, or the previous one where the sentence starts with it.
pub(super) fn choose_citations(citations: &[Citation], first: usize, place: usize) -> Vec<usize> {
    let leads = citations.first().is_some_and(|citation| citation.span.end <= first);
    let next = citations.iter().position(|citation| citation.span.start >= place);
    let before = (0..citations.len()).rev().find(|at| citations[*at].span.end <= place);
    match (leads, next, before) {
        (true, _, Some(before)) => vec![before],
        // A number after a citation may still belong to it.
        (_, Some(next), _) => (0..=next).collect(),
        (_, None, _) => (0..citations.len()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_queries_and_entries() {
        let mut entries = Entries::default();
        entries.note_json(&json!([{"kind": "document", "id": "rules#Refunds, late", "description": "30 days"}]));
        let check = |sentence: &str, expected: &[(&[&str], &[&str])]| {
            let found = find_citations(sentence, &entries);
            let texts = |texts: &[String]| texts.to_vec();
            let found: Vec<(Vec<String>, Vec<String>)> =
                found.iter().map(|one| (texts(&one.queries), texts(&one.entries))).collect();
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let expected: Vec<(Vec<String>, Vec<String>)> =
                expected.iter().map(|(queries, entries)| (owned(queries), owned(entries))).collect();
            assert_eq!(found, expected, "{sentence}");
        };
        check("One [Q1], two [t2.Q1; Q3][Q4].", &[(&["Q1"], &[]), (&["t2.Q1", "Q3", "Q4"], &[])]);
        check("So [rules#Refunds, late], or [rules, Q1].", &[(&[], &["rules#Refunds, late"]), (&["Q1"], &["rules"])]);
        check("A [link](https://example.com), [a note], [Q1](x) and [Q1, a note].", &[]);
    }

    #[test]
    fn finds_entries_that_no_tool_returned() {
        let mut entries = Entries::default();
        entries.note_json(&json!([{"kind": "document", "id": "rules#Refunds", "description": "30 days"}]));
        for (sentence, expected) in [
            ("So [policy#Late refunds], [a note].", Some("policy#Late refunds")),
            ("So [shop.orders].", Some("shop.orders")),
            ("So [refund_policy].", Some("refund_policy")),
            ("So [rules#Refunds], [Q1], [t1.Q2], [a note], [1], [policy#Late](x).", None),
        ] {
            assert_eq!(find_unread(sentence, &entries), expected, "{sentence}");
        }
    }
}
