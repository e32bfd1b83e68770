//! Finds the values of results that a sentence names: cell texts, countries by name or code, periods.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use prospector_text::{codes::find_country, periods::CitedPeriod, sentences::continues_word};

use super::source::{Key, Source, country_of};

/// Rows of results, as indexes of source and row.
pub(super) type Rows = BTreeSet<(usize, usize)>;

/// A value that a sentence names.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) span: Range<usize>,
    /// The rows with this value. Empty where a result has such values, but no row with this one.
    pub(super) rows: Rows,
    pub(super) keys: BTreeSet<Key>,
    /// Whether only conditions of queries contain it, and no cell.
    pub(super) is_condition: bool,
}

/// The values that identify rows, of all results.
#[derive(Debug)]
pub(super) struct Names(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    text: String,
    folded: String,
    country: Option<String>,
    rows: Rows,
    keys: BTreeSet<Key>,
    is_condition: bool,
}

impl Names {
    pub(super) fn read(sources: &[Source<'_>]) -> Self {
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for (at, source) in sources.iter().enumerate() {
            for name in source.list_names() {
                let entry = entries.entry(name.text.to_owned()).or_insert_with(|| Entry {
                    text: name.text.to_owned(),
                    folded: fold(name.text),
                    country: None,
                    rows: Rows::new(),
                    keys: BTreeSet::new(),
                    is_condition: true,
                });
                entry.is_condition &= name.is_condition;
                if name.keys.contains(&Key::Country) {
                    entry.country = country_of(name.text).map(|(code, _)| code);
                }
                entry.rows.extend(name.rows.iter().map(|row| (at, *row)));
                entry.keys.extend(name.keys);
            }
        }
        Names(entries.into_values().collect())
    }

    /// Finds the values that a sentence names outside of `masked`, in order. Longer values take precedence over values within them.
    pub(super) fn find(&self, sentence: &str, masked: &[Range<usize>], sources: &[Source<'_>]) -> Vec<Mention> {
        let folded = fold(sentence);
        let is_free = |span: &Range<usize>| !masked.iter().any(|mask| mask.start < span.end && span.start < mask.end);
        let mut found: Vec<Mention> = Vec::new();
        for entry in &self.0 {
            for (at, _) in folded.match_indices(&entry.folded) {
                let span = at..at + entry.folded.len();
                if is_free(&span) && names(sentence, &span, &entry.text) {
                    let (rows, keys, is_condition) = (entry.rows.clone(), entry.keys.clone(), entry.is_condition);
                    found.push(Mention { span, rows, keys, is_condition });
                }
            }
        }
        let has_countries = sources.iter().any(|source| source.has_key(&BTreeSet::from([Key::Country])));
        for (span, code, is_name) in find_countries(sentence) {
            if !has_countries || !is_free(&span) {
                continue;
            }
            let keys = BTreeSet::from([Key::Country]);
            let mut mention = Mention { span, rows: Rows::new(), keys, is_condition: true };
            for entry in self.0.iter().filter(|entry| entry.country.as_ref() == Some(&code)) {
                mention.rows.extend(&entry.rows);
                mention.keys.extend(entry.keys.iter().cloned());
                mention.is_condition &= entry.is_condition;
            }
            mention.is_condition &= !mention.rows.is_empty();
            // Two letters are a country code only if a result contains it.
            if is_name || !mention.rows.is_empty() {
                found.push(mention);
            }
        }
        merge(found)
    }
}

/// Finds the rows of a period in the cited results; `None` if they contain no periods.
pub(super) fn find_period(period: &CitedPeriod, sources: &[Source<'_>], cited: &BTreeSet<usize>) -> Option<Mention> {
    let mut rows = Rows::new();
    let mut is_known = false;
    for (at, source) in sources.iter().enumerate().filter(|(at, _)| cited.contains(at)) {
        for days in &period.days {
            if let Some(found) = source.find_period(days) {
                is_known = true;
                rows.extend(found.into_iter().map(|row| (at, row)));
            }
        }
    }
    // `Q4` may name something else.
    (is_known && (period.is_whole || !rows.is_empty())).then(|| Mention {
        span: period.span.clone(),
        rows,
        keys: BTreeSet::from([Key::Time]),
        is_condition: false,
    })
}

/// Merges overlapping mentions: keeps the longest, with the rows of all values of that text.
fn merge(mut found: Vec<Mention>) -> Vec<Mention> {
    found.sort_by_key(|mention| (std::cmp::Reverse(mention.span.len()), mention.span.start));
    let mut merged: Vec<Mention> = Vec::new();
    for mention in found {
        if let Some(same) = merged.iter_mut().find(|known| known.span == mention.span) {
            same.rows.extend(mention.rows);
            same.keys.extend(mention.keys);
            same.is_condition &= mention.is_condition;
        } else if !merged.iter().any(|known| known.span.start < mention.span.end && mention.span.start < known.span.end)
        {
            merged.push(mention);
        }
    }
    merged.sort_by_key(|mention| mention.span.start);
    merged
}

/// Normalizes case and `_` without changing byte positions.
fn fold(text: &str) -> String {
    let fold_one = |c: char| match c {
        '_' => ' ',
        c => {
            let mut lower = c.to_lowercase();
            lower.next().filter(|small| lower.len() == 0 && small.len_utf8() == c.len_utf8()).unwrap_or(c)
        }
    };
    text.chars().map(fold_one).collect()
}

/// Returns whether a span names the value: it is a whole word, and short values are quoted or have the case of the data.
fn names(sentence: &str, span: &Range<usize>, value: &str) -> bool {
    const MIN_COMMON_CHARS: usize = 5;
    let before = sentence[..span.start].chars().next_back();
    let after = &sentence[span.end..];
    let is_plural = after.strip_prefix('s').is_some_and(|rest| !rest.starts_with(continues_word)) && value.len() > 3;
    if before.is_some_and(continues_word) || (after.starts_with(continues_word) && !is_plural) {
        return false;
    }
    let written = &sentence[span.clone()];
    let chars = value.chars().count();
    let is_marked = before.is_some_and(|c| "\"'`“‘«(|*".contains(c))
        || before == Some(' ') && { sentence[..span.start].trim_end().ends_with('|') };
    match chars {
        1 => is_marked && written == value,
        2 | 3 if value.chars().all(|c| !c.is_lowercase()) => written == value,
        2 => is_marked,
        // `Rose` is a name, `rose` a verb.
        _ => {
            chars >= MIN_COMMON_CHARS
                || !value.starts_with(char::is_uppercase)
                || written.starts_with(char::is_uppercase)
        }
    }
}

/// Finds countries written with a capital: their codes, and whether they are named in full.
fn find_countries(sentence: &str) -> Vec<(Range<usize>, String, bool)> {
    let words: Vec<Range<usize>> = sentence
        .split(|c: char| !c.is_alphanumeric() && c != '.')
        .filter(|word| !word.is_empty())
        .map(|word| {
            let begin = word.as_ptr() as usize - sentence.as_ptr() as usize;
            begin..begin + word.len()
        })
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !sentence[word.clone()].starts_with(char::is_uppercase) {
            continue;
        }
        let long = [2, 1].iter().filter_map(|more| Some(word.start..words.get(at + more)?.end));
        let code =
            |span: &Range<usize>| find_country(sentence[span.clone()].trim_end_matches('.').to_lowercase().as_str());
        let initials = sentence[word.clone()].replace('.', "");
        let is_code = initials.len() == 2 && initials.bytes().all(|byte| byte.is_ascii_uppercase());
        if let Some((span, code)) = long.into_iter().find_map(|span| code(&span).map(|code| (span, code))) {
            found.push((span, code.to_owned(), true));
        } else if let Some(code) = code(word).or_else(|| find_country(&initials.to_lowercase())) {
            let len = sentence[word.clone()].trim_end_matches('.').len();
            found.push((word.start..word.start + len, code.to_owned(), true));
        } else if is_code {
            found.push((word.clone(), initials, false));
        }
    }
    found
}
