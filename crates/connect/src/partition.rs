//! Hive-style partitioned folders: `sales/year=2024/month=01/part.parquet`
//! (<https://hive.apache.org/docs/latest/language/languagemanual-ddl/#partitioned-tables>).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

/// The folder name of a null value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The position of a file in a partitioned table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The root folder of the table.
    pub root: PathBuf,
    /// The keys with their values, from the outermost folder.
    pub keys: Vec<(String, Option<String>)>,
}

impl Partition {
    /// Returns the partition of a file, by its parent folders; `None` if the nearest is not named `KEY=VALUE`.
    pub fn of(file: &Path) -> Option<Partition> {
        let mut folder = file.parent()?;
        let mut keys = Vec::new();
        while let Some(key) = folder.file_name().and_then(parse) {
            keys.push(key);
            folder = folder.parent()?;
        }
        keys.reverse();
        (!keys.is_empty()).then(|| Partition { root: folder.to_owned(), keys })
    }

    /// Returns the names of the keys, from the outermost folder.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|(name, _)| name.as_str())
    }
}

/// Parses `KEY=VALUE`, both percent-encoded.
fn parse(folder: &OsStr) -> Option<(String, Option<String>)> {
    let (name, value) = folder.to_str()?.split_once('=')?;
    let decode = |text: &str| percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned());
    let value = if value == NO_VALUE { None } else { Some(decode(value)?) };
    (!name.is_empty()).then_some(())?;
    Some((decode(name)?, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_keys_and_values() {
        let check = |file: &str, root: &str, keys: &[(&str, Option<&str>)]| {
            let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
            assert_eq!(Partition::of(Path::new(file)), Some(Partition { root: root.into(), keys }));
        };
        check(
            "/lake/sales/year=2024/month=01/x.parquet",
            "/lake/sales",
            &[("year", Some("2024")), ("month", Some("01"))],
        );
        check("day=2024-01-31/x.parquet", "", &[("day", Some("2024-01-31"))]);
        check("/a=1/s/by=a%2Fb=c/x", "/a=1/s", &[("by", Some("a/b=c"))]);
        check("s/by=__HIVE_DEFAULT_PARTITION__/x", "s", &[("by", None)]);
        for file in ["/lake/a=1/sales/x.parquet", "x=1.parquet", "=1/x", ""] {
            assert_eq!(Partition::of(Path::new(file)), None, "{file}");
        }
    }
}
