//! What the tables of a source of files are called.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Every file once, with the name of its table: the stem of the file name; where several files have the same, the
/// folder is put before it, then the extension and a number behind it.
pub(super) fn name_tables(paths: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut seen = HashSet::new();
    let paths: Vec<PathBuf> = paths
        .iter()
        .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        .filter(|path| seen.insert(path.clone()))
        .collect();
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &Path| part(path.file_stem());
    let in_folder = |path: &Path| match path.parent().map(|folder| part(folder.file_name())) {
        Some(folder) if !folder.is_empty() => format!("{folder}_{}", stem(path)),
        _ => stem(path),
    };
    let with_extension = |path: &Path| format!("{}_{}", in_folder(path), part(path.extension()));

    let mut names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    for longer in [&in_folder as &dyn Fn(&Path) -> String, &with_extension] {
        for index in ambiguous(&names) {
            names[index] = longer(&paths[index]);
        }
    }
    for (number, index) in ambiguous(&names).into_iter().enumerate() {
        names[index] = format!("{}_{}", names[index], number + 1);
    }
    names.into_iter().zip(paths).collect()
}

/// The places of the names that another one equals but for case.
fn ambiguous(names: &[String]) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for name in names {
        *times.entry(name.to_lowercase()).or_default() += 1;
    }
    (0..names.len()).filter(|index| times[&names[*index].to_lowercase()] > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], names: &[&str]) {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let found: Vec<String> = name_tables(&paths).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn a_table_is_called_like_its_file() {
        check(&["/x/orders.csv", "/x/sub/items.2024.csv", "/x/orders.csv"], &["orders", "items.2024"]);
    }

    #[test]
    fn names_that_are_the_same_get_longer() {
        check(&["/x/2023/orders.csv", "/x/2024/Orders.csv", "/y.csv"], &["2023_orders", "2024_Orders", "y"]);
        check(&["/x/a.csv", "/x/a.tsv"], &["x_a_csv", "x_a_tsv"]);
        check(&["/1/x/a.csv", "/2/x/a.csv"], &["x_a_csv_1", "x_a_csv_2"]);
    }
}
