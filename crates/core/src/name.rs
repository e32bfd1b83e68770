//! Finds the closest valid names for an unknown one.

use crate::mark::clean_name;

/// The number of characters that are compared: the run time grows with the product of both lengths.
const MAX_COMPARED: usize = 256;

/// The minimum similarity of two names of which one may be meant by the other.
const MIN_SIMILARITY: f64 = 0.8;

/// The maximum number of letters of a last part that is taken for the extension of a file.
const MAX_EXTENSION: usize = 4;

/// The maximum number of similar names in a suggestion.
const MAX_NEAR: usize = 3;

/// The maximum number of names that a suggestion lists if none is similar.
const MAX_LISTED: usize = 8;

/// Normalized names of parameters that contain credentials.
const CREDENTIALS: [&str; 6] = ["accesstoken", "apikey", "key", "password", "secret", "token"];

/// Returns whether a URL parameter has a name that is typical of credentials.
pub fn is_credential(name: &str) -> bool {
    CREDENTIALS.contains(&normalize(name).as_str())
}

/// Normalizes a name for comparison: letters and digits only, lower case.
pub fn normalize(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Returns whether two names of four letters or more differ by at most one typo: a missing, additional, replaced or transposed letter.
/// Case and punctuation are ignored.
pub fn is_slip(a: &str, b: &str) -> bool {
    const MIN_LETTERS: usize = 4;
    let (a, b) = (fold_start(a), fold_start(b));
    let is_long = |name: &str| name.chars().count() >= MIN_LETTERS;
    is_long(&a) && is_long(&b) && strsim::osa_distance(&a, &b) <= 1
}

/// Returns up to `limit` of `candidates` that may be meant by `wanted`, the most similar first; none if no name is similar. Only the first
/// 256 letters and digits are compared, and of names such as `shop.orders` or `guides/rules` mainly the last part.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let near = score(wanted, candidates).into_iter().filter(|scored| scored.0 >= MIN_SIMILARITY);
    near.take(limit).map(|scored| scored.1.to_owned()).collect()
}

/// Returns up to `limit` of `candidates`, the most similar to `wanted` first, also if none is similar. Never empty if there are candidates.
pub fn rank<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let scored = score(wanted, candidates);
    // Next to a close name, distant ones only distract.
    let best = scored.first().map_or(0.0, |scored| scored.0);
    let close = scored.into_iter().filter(|scored| scored.0 >= best - 0.25);
    close.take(limit).map(|scored| scored.1.to_owned()).collect()
}

/// Suggests names for an unknown one: the similar ones, or all of them if they are few. Returns `None` without either.
pub fn suggest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let quote = |name: &str| format!("`{}`", clean_name(name));
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(wanted, candidates.iter().copied(), MAX_NEAR).as_slice() {
        [] if candidates.is_empty() || candidates.len() > MAX_LISTED => None,
        [] => Some(format!("known: {}", candidates.into_iter().map(quote).collect::<Vec<_>>().join(", "))),
        near => Some(format!("did you mean {}?", near.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", "))),
    }
}

/// Returns the candidates with their similarity, the most similar first.
fn score<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<(f64, &'a str)> {
    let wanted = Folded::new(wanted);
    let mut scored: Vec<(f64, &str)> =
        candidates.into_iter().map(|candidate| (wanted.similarity(&Folded::new(candidate)), candidate)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
}

/// A name, prepared for comparisons.
struct Folded {
    whole: String,
    /// The parts before and after the last separator, of a name such as `shop.orders`, `guides/rules` or `Customers > VIP customer`.
    parts: Option<(String, String)>,
}

impl Folded {
    fn new(name: &str) -> Self {
        // Not of versions.
        let is_name = |last: &str| last.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let of_name = || name.rsplit_once('.').filter(|(_, last)| is_name(last));
        let parts = name.rsplit_once('>').or_else(|| name.rsplit_once('/')).or_else(of_name);
        Folded { whole: fold_start(name), parts: parts.map(|(owner, last)| (fold_start(owner), fold_start(last))) }
    }

    /// Returns the similarity from 0 to 1. Names of one owner are compared without it, and equal names of two owners are similar.
    fn similarity(&self, other: &Folded) -> f64 {
        match (&self.parts, &other.parts) {
            (Some((owner, last)), Some((other_owner, other_last))) if owner == other_owner => {
                similarity(last, other_last)
            }
            (Some((_, last)), Some((_, other_last))) => {
                let is_same = last == other_last && last.chars().count() > MAX_EXTENSION;
                similarity(&self.whole, &other.whole).max(if is_same { 0.9 } else { 0.0 })
            }
            (Some((_, last)), None) => similarity(&self.whole, &other.whole).max(similarity(last, &other.whole)),
            (None, Some((_, last))) => similarity(&self.whole, &other.whole).max(similarity(&self.whole, last)),
            (None, None) => similarity(&self.whole, &other.whole),
        }
    }
}

/// Returns the start of a name, in lower case and without punctuation.
fn fold_start(name: &str) -> String {
    letters(name).take(MAX_COMPARED).collect()
}

/// Returns the Jaro-Winkler similarity, or 0.9 if that is larger and one name contains the other or they differ by a single typo.
fn similarity(a: &str, b: &str) -> f64 {
    let lengths = (a.chars().count(), b.chars().count());
    let is_contained = a.len() >= 3 && b.len() >= 3 && (b.contains(a) || a.contains(b));
    // Jaro does not detect transposed letters in short names.
    let is_slip = a.len() >= 3 && lengths.0.abs_diff(lengths.1) <= 1 && strsim::osa_distance(a, b) <= 1;
    let least = if is_slip || is_contained { 0.9 } else { 0.0 };
    strsim::jaro_winkler(a, b).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, candidates: &[&str], first: &str) {
        let found = nearest(wanted, candidates.iter().copied(), 3);
        assert_eq!(found.first().map(String::as_str), Some(first), "{found:?}");
    }

    #[test]
    fn finds_names_by_typo_case_and_part() {
        let tables = ["invoices", "invoice_lines", "customers", "tracks"];
        check("invoises", &tables, "invoices");
        check("CUSTOMER", &tables, "customers");
        check("InvoiceLine", &tables, "invoice_lines");
        check("ruls", &["guides/rules", "menu"], "guides/rules");
        check("VIP custmer", &["Customers > VIP customer", "Customers"], "Customers > VIP customer");
        check("cvs", &["cassandra", "csv", "sqlite"], "csv");
    }

    #[test]
    fn a_distant_name_is_not_suggested() {
        for (a, b) in [
            ("databses", "databases"),
            ("pth", "path"),
            ("Customer", "customers"),
            ("cvs", "csv"),
            ("custmers", "shop.customers"),
            ("store.customers", "shop.customers"),
            ("product.gender", "genre"),
        ] {
            assert_eq!(nearest(a, [b], 1), [b], "{a}");
        }
        for (a, b) in [
            ("name", "metrics"),
            ("team", "metrics"),
            ("rule", "store.invoices"),
            ("x", "path"),
            ("zzz", "customers"),
            ("shop.zzz", "shop.orders"),
            ("forms.md", "big.md"),
            ("", "id"),
        ] {
            assert!(nearest(a, [b], 1).is_empty(), "{a} {b}");
            assert_eq!(rank(a, [b], 1), [b]);
        }
    }

    #[test]
    fn suggests_similar_names_or_all_of_a_few() {
        assert_eq!(suggest("ordrs", ["orders", "people"]).as_deref(), Some("did you mean `orders`?"));
        assert_eq!(suggest("zzz", ["orders", "people"]).as_deref(), Some("known: `orders`, `people`"));
        assert_eq!(suggest("zzz", []), None);
        assert_eq!(suggest("zzz", std::iter::repeat_n("orders", 9)), None);
    }

    #[test]
    fn compares_only_the_start_of_long_names() {
        // Each comparison of all of it would take minutes.
        let wanted = format!("invoices{}", "x".repeat(1_000_000));
        let tables: Vec<String> = (0..2_000).map(|at| format!("table_{at}")).chain(["invoices".into()]).collect();
        assert_eq!(nearest(&wanted, tables.iter().map(String::as_str), 1), ["invoices"]);
        assert_eq!(rank("x", [wanted.as_str()], 1), [wanted.as_str()], "it is shown as it is");
    }

    #[test]
    fn returns_nothing_without_candidates() {
        assert!(nearest("x", [], 3).is_empty());
    }
}
