//! The nearest right names to a wrong one.

/// A name as it is compared: letters and digits only, lower case.
pub fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Up to `limit` of `candidates` that are nearest to `wanted`, best first. Never empty while there are candidates: a
/// caller that names something wrong is always shown something right.
///
/// Nearness is the larger of the Jaro-Winkler similarity of the [`normalized`] names and, where one contains the
/// other or a single slip of the keyboard lies between them, 0.9.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let wanted = normalized(wanted);
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| {
            let name = normalized(candidate);
            let contained = wanted.len() >= 3
                && name.len() >= 3
                && (name.contains(wanted.as_str()) || wanted.contains(name.as_str()));
            // Of short names, Jaro does not see that two letters changed places.
            let slipped = wanted.len() >= 3 && strsim::osa_distance(&wanted, &name) <= 1;
            let similar = strsim::jaro_winkler(&wanted, &name);
            let least = if slipped || contained { 0.9 } else { 0.0 };
            (similar.max(least), candidate)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    // Beside a close name, far ones only distract.
    let best = scored.first().map_or(0.0, |s| s.0);
    scored.into_iter().filter(|s| s.0 >= best - 0.25).take(limit).map(|s| s.1.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, candidates: &[&str], first: &str) {
        let found = nearest(wanted, candidates.iter().copied(), 3);
        assert_eq!(found.first().map(String::as_str), Some(first), "{found:?}");
    }

    #[test]
    fn typos_case_and_parts_find_the_right_name() {
        let tables = ["invoices", "invoice_lines", "customers", "tracks"];
        check("invoises", &tables, "invoices");
        check("CUSTOMER", &tables, "customers");
        check("InvoiceLine", &tables, "invoice_lines");
        check("zzz", &tables, "customers");
        check("cvs", &["cassandra", "csv", "sqlite"], "csv");
    }

    #[test]
    fn no_candidates_no_names() {
        assert!(nearest("x", [], 3).is_empty());
    }
}
