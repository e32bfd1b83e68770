//! A term that a text defines, and what it says of it: the words that reading a definition is about.

use crate::words::{is_stop_word, regex, stems, words};

/// The form of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    Explicit,
    Equality,
    Label,
    Row,
    Copula,
    Condition,
    Heading,
    Threshold,
    Unit,
    Short,
    Code,
}

/// A term and what a unit says of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// As the text spells it; empty where only a question is answered.
    pub(crate) term: String,
    /// The stems under which it may be asked for.
    pub(crate) heads: Vec<Vec<String>>,
    /// What is said of it.
    pub(crate) gloss: String,
    pub(crate) pattern: Pattern,
    /// 0 to 1: how plainly it is a definition.
    pub(crate) strength: f64,
}

/// A name with the other names that the text gives it in passing.
pub(crate) struct Name {
    pub(crate) term: String,
    pub(crate) heads: Vec<Vec<String>>,
}

/// `text` as a term, if it can be one. Nothing for pronouns, whole clauses, and what is too long.
pub(crate) fn name(text: &str) -> Option<Name> {
    let mut text = text.trim().trim_end_matches([',', ':', ';']).trim();
    if let Some(quoted) = regex!(
        r#"^(?i:the |a )?(?i:term|word|phrase|expression|abbreviation|acronym|metric|label|status)\s+["“'‘](.+)["”'’]$"#
    )
    .captures(text)
    {
        text = quoted.get(1).map_or(text, |m| m.as_str());
    }
    let mut aliases: Vec<&str> = Vec::new();
    let mut base = text.to_owned();
    for pattern in [
        regex!(
            r"\s*[(,]\s*(?:(?:also (?:called|known as|referred to as|named)|a\.?k\.?a\.?|or|i\.e\.|short(?:ened)?(?: to)?:?|abbreviated(?: as| to)?)\s+)?([^(),]{1,40}?)\s*\)"
        ),
        regex!(
            r",\s*(?:also (?:called|known as|referred to as|named)|a\.?k\.?a\.?|or|short|abbreviated(?: as)?)\s+([^,]{1,40})(?:,|$)"
        ),
    ] {
        if let Some(found) = pattern.captures(text) {
            aliases.extend(found.get(1).map(|m| m.as_str()));
            base = base.replace(&found[0], " ");
        }
    }
    let base =
        without_determiners(base.trim()).trim_matches(['"', '“', '”', '‘', '’', '\'', '`', '*', ' ', '.']).to_owned();
    let all = words(&base);
    let clause = [
        "because", "but", "can", "could", "did", "do", "does", "had", "has", "have", "he", "i", "if", "may", "might",
        "must", "shall", "she", "should", "so", "that", "they", "unless", "we", "when", "which", "who", "whose",
        "will", "would", "you", "is", "are", "was", "were",
    ];
    let dangling = ["a", "an", "and", "at", "for", "from", "in", "it", "of", "on", "or", "the", "them", "to", "with"];
    let asks = ["how", "what", "when", "where", "whether", "which", "who", "why"];
    let empty = [
        "another", "both", "here", "it", "one", "other", "others", "some", "such", "there", "these", "this", "those",
        "what",
    ];
    let fits = !all.is_empty()
        && all.len() <= 8
        && all.iter().any(|w| w.chars().any(char::is_alphabetic))
        && !all.iter().any(|w| clause.contains(&w.as_str()))
        && !dangling.contains(&all[all.len() - 1].as_str())
        && !asks.contains(&all[0].as_str())
        && !(all.len() == 1 && empty.contains(&all[0].as_str()))
        && !all.iter().all(|w| is_stop_word(w));
    if !fits || base.contains([';', '?', '!', '|']) {
        return None;
    }
    let mut heads = vec![stems(&base)];
    if let Some((left, right)) = base.split_once(" or ") {
        heads.extend([stems(left), stems(right)]);
    }
    // `labels.royalty_pct` is asked for as `royalty_pct`.
    if let Some((_, last)) = base.rsplit_once('.').filter(|_| !base.contains(' ')) {
        heads.push(stems(last));
    }
    heads.extend(aliases.into_iter().map(stems));
    heads.retain(|head| !head.is_empty());
    Some(Name { term: base, heads })
}

/// The stems under which a stored fact may be asked for.
pub(crate) fn fact_heads(term: &str) -> Vec<Vec<String>> {
    name(term).map_or_else(|| vec![stems(term)], |name| name.heads)
}

pub(crate) fn without_determiners(text: &str) -> &str {
    let found = regex!(r"(?i)^(?:(?:an?|the|any|each|every|our|all(?: of)?|its|their|your|such an?)\s+)+").find(text);
    found.map_or(text, |m| &text[m.end()..])
}

/// The definition of a name; marks around its gloss are left out.
pub(crate) fn definition(name: Name, gloss: &str, pattern: Pattern, strength: f64) -> Definition {
    let gloss = gloss.trim().trim_end_matches('.').trim_start_matches([':', '-', '–', '—']).trim().to_owned();
    Definition { term: name.term, heads: name.heads, gloss, pattern, strength }
}

/// Whether a label only says what kind of remark follows.
pub(crate) fn is_remark(label: &str) -> bool {
    regex!(r"(?i)^(?:in (?:detail|short|brief|other words|particular|addition|practice|general)|namely|that is|for example|however|note|notes|examples?|important|tip|warning|caution|hint|see(?: also)?|sources?|todo|question|answer|[qa]|updated?|last updated|authors?|owners?|owned by|dates?|versions?|contacts?|steps?|step \d+|figure|table|remarks?|summary|valid from|tags|http|https|reason|result|exceptions?|definition|meaning|formula|rule|calculation|description)\b\.?\s*\d*$")
        .is_match(label.trim())
        // What follows a date is an event.
        || regex!(r"(?i)^(?:\d{1,2}\.?\s+)?(?:january|february|march|april|may|june|july|august|september|october|november|december)\b.*\b\d{4}$|^\d{4}-\d\d").is_match(label.trim())
}
