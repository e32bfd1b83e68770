//! Unique names for located sources: from files, folders or URLs.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use prospector_connect::source::unpacked_path;
use prospector_core::Problem;

use super::finding::{Address, Finding, FindingKind};
use crate::paths::PLAIN_API_NAMES;

/// Splits `NAME=SOURCE`. A source that exists as written has no name.
pub(super) fn split(source: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    match source.split_once('=') {
        Some((name, rest)) if is_name(name) && !Path::new(source).exists() => (Some(name), rest),
        _ => (None, source),
    }
}

/// Names a single finding as chosen by the user; several databases and APIs get the name as a prefix.
pub(super) fn rename(findings: &mut [Finding], chosen: &str) {
    if let [one] = findings {
        if one.kind != FindingKind::Skills {
            one.name = Some(chosen.to_owned());
        }
        return;
    }
    for finding in findings {
        finding.name = finding.name.take().map(|name| format!("{chosen}_{name}"));
    }
}

/// Converts a text to a name that needs no quotes in a query.
pub(super) fn plain(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() => name.push(c),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let name = name.trim_matches('_');
    match name.chars().next() {
        None => "data".to_owned(),
        Some(first) if first.is_numeric() => format!("_{name}"),
        Some(_) => name.to_owned(),
    }
}

/// Returns the name of a file without its extension.
pub(super) fn of_file(path: &Path) -> String {
    plain(&unpacked_path(path).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default())
}

/// Returns the name of a folder, including the current one. A name that starts with a digit, such as a year, is prefixed with that of the
/// parent folder.
pub(super) fn of_folder(path: &Path) -> String {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let own = name(path).or_else(|| name(&whole)).unwrap_or_default();
    match whole.parent().and_then(name).filter(|_| own.starts_with(|c: char| c.is_numeric())) {
        Some(around) => plain(&format!("{around}_{own}")),
        None => plain(&own),
    }
}

/// Returns the name of an API by the file of its description.
pub(super) fn of_api(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = stem.trim_end_matches(".openapi").trim_end_matches(".swagger").trim_end_matches(".tools");
    match PLAIN_API_NAMES.contains(&stem) {
        true => of_folder(path.parent().unwrap_or(Path::new(""))),
        false => plain(stem),
    }
}

/// Returns the path relative to a folder, with `/`.
pub(super) fn inside(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts.into_iter().filter(|part| part != ".").collect::<Vec<_>>().join("/")
}

/// Removes findings for the same files, and renames databases and APIs with the same name; reports new names.
pub(super) fn make_unique(findings: &mut Vec<Finding>) -> Vec<Problem> {
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert((finding.kind, absolute(&finding.address))));
    let mut taken: HashSet<(&'static str, String)> = HashSet::new();
    let mut problems = Vec::new();
    for finding in findings {
        let key = finding.section();
        let Some(name) = finding.name.clone() else { continue };
        let mut choices = std::iter::once(name.clone())
            .chain(parent(&finding.address).map(|parent| format!("{parent}_{name}")))
            .chain((2..).map(|number| format!("{name}_{number}")));
        let chosen = choices.find(|choice| taken.insert((key, choice.to_lowercase()))).unwrap_or_default();
        if chosen != name {
            let reason = format!("another source is named `{name}` too; this one is renamed to `{chosen}`");
            let advice = format!("write NAME={} to choose a name", finding.source);
            problems.push(Problem::warning(&finding.source, reason).advise(advice));
            finding.name = Some(chosen);
        }
    }
    problems
}

fn parent(address: &Address) -> Option<String> {
    let Address::Path(path) = address else { return None };
    path.parent().map(of_folder)
}

/// Returns the address, independent of the current folder.
fn absolute(address: &Address) -> (Option<PathBuf>, String) {
    match address {
        Address::Path(path) => (std::path::absolute(path).ok(), String::new()),
        // URLs that differ only in their secrets are distinct; they are not shown.
        Address::Url(url) => (None, url.clone()),
        Address::Variable(name) => (None, name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_no_quotes() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("orders", "orders");
        check("Q1 2024 (final)", "Q1_2024_final");
        check("2024-orders", "_2024_orders");
        check("größe", "größe");
        check("--", "data");
    }

    #[test]
    fn splits_names_from_sources() {
        let check = |source: &str, name: Option<&str>, place: &str| assert_eq!(split(source), (name, place));
        check("crm=postgres://db/x?a=b", Some("crm"), "postgres://db/x?a=b");
        check("postgres://db/x?a=b", None, "postgres://db/x?a=b");
        check("data/a=b.csv", None, "data/a=b.csv");
        check("orders.csv", None, "orders.csv");
    }
}
