//! What the tables of a source of files are called, and their columns.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::data_files::DataFormat;
use crate::partition::Partition;
use crate::source_kind::unpacked_path;

/// The files of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableFiles {
    /// What the table is called.
    pub(super) table: String,
    /// The file, or the folder of the whole table.
    pub(super) place: PathBuf,
    /// All of them.
    pub(super) paths: Vec<PathBuf>,
    /// Whether they lie in folders of the same keys.
    pub(super) is_partitioned: bool,
}

/// Every file once, in its table: one a file, and of Parquet one for all files of a folder that are in folders of the same keys.
/// A table is called by the stem of the file name, or by that folder; where several would have the same name, the folder is put
/// before it, then the extension and a number behind it.
pub(super) fn name_tables(format: DataFormat, paths: &[PathBuf]) -> Vec<TableFiles> {
    let mut seen = HashSet::new();
    let paths = paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let mut tables: Vec<TableFiles> = Vec::new();
    let mut partitioned: HashMap<(PathBuf, Vec<String>), usize> = HashMap::new();
    for path in paths.filter(|path| seen.insert(path.clone())) {
        let table =
            |place, is_partitioned, path| TableFiles { table: String::new(), place, paths: vec![path], is_partitioned };
        match Partition::of(&path).filter(|_| format == DataFormat::Parquet) {
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

/// A name for each file or folder.
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

/// The places of the names that another one equals but for case.
fn ambiguous(names: &[String]) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for name in names {
        *times.entry(name.to_lowercase()).or_default() += 1;
    }
    (0..names.len()).filter(|index| times[&names[*index].to_lowercase()] > 1).collect()
}

/// The names of a header line: without a byte order mark, none of them empty, none of them twice.
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
                // What was taken once stays taken: each number is tried once for a name.
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
            name_tables(DataFormat::Parquet, &paths).into_iter().map(|files| files.table).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn files_in_folders_of_the_same_keys_are_one_table() {
        check(&["/x/sales/year=2023/a.parquet", "/x/b.parquet", "/x/sales/year=2024/a.parquet"], &["sales", "b"]);
        check(&["/x/sales/year=2023/a", "/x/sales/month=1/a"], &["x_sales_1", "x_sales_2"]);
        let paths = ["/x/sales/year=2023/a.csv".into(), "/x/sales/year=2024/a.csv".into()];
        assert_eq!(name_tables(DataFormat::Csv, &paths).len(), 2);
    }

    #[test]
    fn a_table_is_called_like_its_file() {
        check(&["/x/orders.csv", "/x/sub/items.2024.csv", "/x/orders.csv"], &["orders", "items.2024"]);
        check(&["/x/orders.csv.gz", "/x/items.CSV.GZ"], &["orders", "items"]);
    }

    #[test]
    fn names_that_are_the_same_get_longer() {
        check(&["/x/2023/orders.csv", "/x/2024/Orders.csv", "/y.csv"], &["2023_orders", "2024_Orders", "y"]);
        check(&["/x/a.csv", "/x/a.tsv"], &["x_a_csv", "x_a_tsv"]);
        check(&["/1/x/a.csv", "/2/x/a.csv"], &["x_a_csv_1", "x_a_csv_2"]);
    }

    #[test]
    fn header_names_are_made_to_differ() {
        let names = column_names(["\u{feff}\"id\"", "", "a", " a ", "a_2"].into_iter());
        assert_eq!(names, ["id", "column_2", "a", "a_2", "a_2_2"]);
        assert_eq!(column_names(["a", "a_3", "a", "a", "a_2"].into_iter()), ["a", "a_3", "a_2", "a_4", "a_2_2"]);
        // Each of them would be tried with each number.
        let names = column_names(std::iter::repeat_n("a", 200_000));
        assert_eq!(names[199_999], "a_200000");
    }
}
