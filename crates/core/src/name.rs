//! Finds the closest valid names for an unknown one.

/// The number of characters that are compared: the run time grows with the product of both lengths.
const MAX_COMPARED: usize = 256;

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

/// Returns up to `limit` of `candidates` that are closest to `wanted`, best first. Never empty if there are candidates, so that an
/// unknown name is always answered with valid ones. Only the first 256 letters and digits are compared.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let wanted = fold_start(wanted);
    let scored = candidates.into_iter().map(|candidate| (similarity(&wanted, &fold_start(candidate)), candidate));
    let mut scored: Vec<(f64, &str)> = scored.collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    // Next to a close name, distant ones only distract.
    let best = scored.first().map_or(0.0, |s| s.0);
    scored.into_iter().filter(|s| s.0 >= best - 0.25).take(limit).map(|s| s.1.to_owned()).collect()
}

/// Returns whether one of two names may be meant by the other.
pub fn is_similar(a: &str, b: &str) -> bool {
    const MIN_SIMILARITY: f64 = 0.8;
    similarity(&fold_start(a), &fold_start(b)) >= MIN_SIMILARITY
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
        check("zzz", &tables, "customers");
        check("cvs", &["cassandra", "csv", "sqlite"], "csv");
    }

    #[test]
    fn a_distant_name_is_not_similar() {
        for (a, b) in [("databses", "databases"), ("pth", "path"), ("Customer", "customers"), ("cvs", "csv")] {
            assert!(is_similar(a, b), "{a} {b}");
        }
        for (a, b) in [("name", "metrics"), ("team", "metrics"), ("rule", "store.invoices"), ("x", "path")] {
            assert!(!is_similar(a, b), "{a} {b}");
        }
    }

    #[test]
    fn compares_only_the_start_of_long_names() {
        // Each comparison of all of it would take minutes.
        let wanted = format!("invoices{}", "x".repeat(1_000_000));
        let tables: Vec<String> = (0..2_000).map(|at| format!("table_{at}")).chain(["invoices".into()]).collect();
        assert_eq!(nearest(&wanted, tables.iter().map(String::as_str), 1), ["invoices"]);
        assert_eq!(nearest("x", [wanted.as_str()], 1), [wanted.as_str()], "it is shown as it is");
    }

    #[test]
    fn returns_nothing_without_candidates() {
        assert!(nearest("x", [], 3).is_empty());
    }
}
