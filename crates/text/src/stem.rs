//! Stemming, so that forms of one word compare as equal.

use frostem::{Algorithm, Stemmer};

/// Returns the stem of a lower-case word by the English Snowball stemmer. For indexes and terms.
pub fn snowball(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}

/// Like [`snowball`], with irregular past forms mapped to their present: `paid` becomes `pay`. For terms of definitions
/// and questions, which are compared word by word; an index contains both forms and does not need it.
pub fn snowball_regular(word: &str) -> String {
    snowball(IRREGULAR.iter().find(|(past, _)| *past == word).map_or(word, |(_, base)| base))
}

/// Past forms that no suffix rule covers.
const IRREGULAR: &[(&str, &str)] = &[
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("came", "come"),
    ("gave", "give"),
    ("given", "give"),
    ("held", "hold"),
    ("kept", "keep"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("paid", "pay"),
    ("sent", "send"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("taken", "take"),
    ("took", "take"),
    ("won", "win"),
    ("written", "write"),
    ("people", "person"),
];

/// Removes English endings so that `invoices`, `invoicing` and `invoice` become equal. Less aggressive than
/// [`snowball`], for selecting sentences within one text.
pub fn strip_ending(mut word: String) -> String {
    let cut = |word: &mut String, ending: &str, least: usize| {
        let found = word.len() >= ending.len() + least && word.ends_with(ending);
        if found {
            word.truncate(word.len() - ending.len());
        }
        found
    };
    if cut(&mut word, "ies", 2) {
        word.push('y');
    } else if !word.ends_with("ss") && !word.ends_with("us") {
        cut(&mut word, "s", 3);
    }
    if cut(&mut word, "ing", 3) || cut(&mut word, "ed", 3) {
        // `shipped` becomes `ship`, but `billed` becomes `bill`.
        let last = word.chars().last().filter(|c| !matches!(c, 'l' | 's' | 'z'));
        if let Some(last) = last.filter(|c| c.is_ascii() && word.ends_with(&format!("{c}{c}"))) {
            word.truncate(word.len() - last.len_utf8());
        }
    }
    cut(&mut word, "e", 3);
    word
}

/// Removes only the plural `s` of a lower-case word; for names of columns, which are nouns.
pub fn strip_plural(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    }
}

/// Returns the singular of a lower-case word; for terms, whose plural may have another ending than `s`.
pub fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let sibilant = ["ses", "xes", "zes", "ches", "shes"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix(if sibilant { "es" } else { "s" }) {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for forms in [
            ["invoice", "invoices", "invoicing", "invoiced"],
            ["ship", "ships", "shipping", "shipped"],
            ["bill", "bills", "billing", "billed"],
            ["policy", "policies", "policy", "policy"],
        ] {
            let stems: HashSet<String> = forms.iter().map(|form| strip_ending((*form).to_owned())).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        for (one, other) in [("status", "state"), ("access", "acces"), ("été", "et")] {
            assert_ne!(strip_ending(one.to_owned()), strip_ending(other.to_owned()));
        }
    }

    #[test]
    fn maps_irregular_past_forms_to_the_present() {
        assert_eq!(snowball_regular("paid"), snowball("pay"));
        assert_eq!(snowball_regular("customers"), snowball("customer"));
        assert_ne!(snowball("paid"), snowball("pay"));
    }

    #[test]
    fn removes_only_the_plural_s() {
        let check = |word: &str, expected: &str| assert_eq!(strip_plural(word.to_owned()), expected);
        check("orders", "order");
        check("address", "address");
        check("gas", "gas");
        check("billing", "billing");
    }
}
