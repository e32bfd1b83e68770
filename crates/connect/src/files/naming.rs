//! Names of file-based tables and their columns.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::partition::Partition;
use crate::source_kind::{SourceKind, unpacked_path};

/// The files of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableFiles {
    /// The name of the table.
    pub(super) table: String,
    /// The file, or the root folder of a partitioned table.
    pub(super) place: PathBuf,
    /// All files of the table.
    pub(super) paths: Vec<PathBuf>,
    /// Whether the files are in folders of the same partition keys.
    pub(super) is_partitioned: bool,
}

/// Assigns every file to a table: one table per file; Parquet files in folders of the same partition keys form one table.
/// A table has the name of the file stem or root folder. Ambiguous names are prefixed by the folder, then suffixed by the
/// extension and a number.
pub(super) fn name_tables(kind: SourceKind, paths: &[PathBuf]) -> Vec<TableFiles> {
    let mut seen = HashSet::new();
    let paths = paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let mut tables: Vec<TableFiles> = Vec::new();
    let mut partitioned: HashMap<(PathBuf, Vec<String>), usize> = HashMap::new();
    for path in paths.filter(|path| seen.insert(path.clone())) {
        let table =
            |place, is_partitioned, path| TableFiles { table: String::new(), place, paths: vec![path], is_partitioned };
        match Partition::of(&path).filter(|_| kind == SourceKind::Parquet) {
            None => tables.push(table(path.clone(), false, path)),
            Some(partition) => {
                let keys = partition.names().map(str::to_owned).collect();
                let at = *partitioned.entry((partition.root.clone(), keys)).or_insert(tables.len());
                match tables.get_mut(at) {
                    Some(known) => known.paths.push(path),
                    None => tables.push(table(partition.root, true, path)),
                }
            }
        }
    }
    let places: Vec<PathBuf> = tables.iter().map(|table| table.place.clone()).collect();
    for (table, name) in tables.iter_mut().zip(choose_names(&places)) {
        table.table = name;
    }
    tables
}

/// Chooses a name for each file or folder.
fn choose_names(paths: &[PathBuf]) -> Vec<String> {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &Path| part(unpacked_path(path).file_stem());
    let in_folder = |path: &Path| match path.parent().map(|folder| part(folder.file_name())) {
        Some(folder) if !folder.is_empty() => format!("{folder}_{}", stem(path)),
        _ => stem(path),
    };
    let with_extension = |path: &Path| match unpacked_path(path).extension() {
        Some(extension) => format!("{}_{}", in_folder(path), part(Some(extension))),
        None => in_folder(path),
    };

    let mut names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    for longer in [&in_folder as &dyn Fn(&Path) -> String, &with_extension] {
        for index in ambiguous(&names) {
            names[index] = longer(&paths[index]);
        }
    }
    for (number, index) in ambiguous(&names).into_iter().enumerate() {
        names[index] = format!("{}_{}", names[index], number + 1);
    }
    names
}

/// Returns the positions of names that occur more than once, ignoring case.
fn ambiguous(names: &[String]) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for name in names {
        *times.entry(name.to_lowercase()).or_default() += 1;
    }
    (0..names.len()).filter(|index| times[&names[*index].to_lowercase()] > 1).collect()
}

/// Returns the names of a header line: without a byte order mark, non-empty and unique.
pub(super) fn column_names<'a>(header: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    header
        .enumerate()
        .map(|(index, name)| {
            let name = name.strip_prefix('\u{feff}').map_or(name, |name| name.trim_matches('"')).trim();
            let name = if name.is_empty() { format!("column_{}", index + 1) } else { name.to_owned() };
            let mut unique = name.clone();
            while !seen.insert(unique.clone()) {
                // Numbers only increase, so each is tried once per name.
                let number = numbers.entry(name.clone()).or_insert(2);
                unique = format!("{name}_{number}");
                *number += 1;
            }
            unique
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], names: &[&str]) {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let found: Vec<String> =
            name_tables(SourceKind::Parquet, &paths).into_iter().map(|files| files.table).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn groups_partitioned_files() {
        check(&["/x/sales/year=2023/a.parquet", "/x/b.parquet", "/x/sales/year=2024/a.parquet"], &["sales", "b"]);
        check(&["/x/sales/year=2023/a", "/x/sales/month=1/a"], &["x_sales_1", "x_sales_2"]);
        let paths = ["/x/sales/year=2023/a.csv".into(), "/x/sales/year=2024/a.csv".into()];
        assert_eq!(name_tables(SourceKind::Csv, &paths).len(), 2);
    }

    #[test]
    fn names_tables_after_files() {
        check(&["/x/orders.csv", "/x/sub/items.2024.csv", "/x/orders.csv"], &["orders", "items.2024"]);
        check(&["/x/orders.csv.gz", "/x/items.CSV.GZ"], &["orders", "items"]);
    }

    #[test]
    fn prefixes_ambiguous_names() {
        check(&["/x/2023/orders.csv", "/x/2024/Orders.csv", "/y.csv"], &["2023_orders", "2024_Orders", "y"]);
        check(&["/x/a.csv", "/x/a.tsv"], &["x_a_csv", "x_a_tsv"]);
        check(&["/1/x/a.csv", "/2/x/a.csv"], &["x_a_csv_1", "x_a_csv_2"]);
    }

    #[test]
    fn makes_header_names_unique() {
        let names = column_names(["\u{feff}\"id\"", "", "a", " a ", "a_2"].into_iter());
        assert_eq!(names, ["id", "column_2", "a", "a_2", "a_2_2"]);
        assert_eq!(column_names(["a", "a_3", "a", "a", "a_2"].into_iter()), ["a", "a_3", "a_2", "a_4", "a_2_2"]);
        // A naive implementation would try every number for each of them.
        let names = column_names(std::iter::repeat_n("a", 200_000));
        assert_eq!(names[199_999], "a_200000");
    }
}
