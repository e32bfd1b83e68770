//! Which located sources a catalog already includes.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    CatalogError, CatalogOptions, Contents,
    apis::Apis,
    databases::Databases,
    documents::Documents,
    read,
    section::{Folders, Section},
    skills::Skills,
    source::CatalogSource,
};
use crate::locate::Finding;

/// The files of an entry.
struct EntryFiles {
    section: &'static str,
    line: u64,
    files: BTreeSet<PathBuf>,
}

/// Returns for each finding the line of the entry of the catalog file that already includes its files, by their path, a folder or a
/// pattern; `None` for those that no entry includes, and for sources that are not files.
///
/// # Errors
/// If the catalog file cannot be read or is not YAML.
pub fn find_included(
    path: &Path,
    findings: &[Finding],
    options: &CatalogOptions<'_>,
) -> Result<Vec<Option<u64>>, CatalogError> {
    let known = list_files(&read(&CatalogSource::File(path.to_owned()), options)?, options);
    let included = findings.iter().map(|finding| {
        let section = finding.section();
        let text = format!("{section}:\n  - {}\n", finding.entry(path.parent()));
        let contents = read(&CatalogSource::Text { path: path.to_owned(), text }, options)?;
        let added: BTreeSet<PathBuf> = list_files(&contents, options).into_iter().flat_map(|own| own.files).collect();
        let includes = |entry: &&EntryFiles| entry.section == section && added.is_subset(&entry.files);
        Ok(known.iter().find(includes).filter(|_| !added.is_empty()).map(|entry| entry.line))
    });
    included.collect()
}

fn list_files(contents: &Contents, options: &CatalogOptions<'_>) -> Vec<EntryFiles> {
    let folders = contents.text.folders(&contents.state, options.home.as_deref(), &options.cancel);
    let file = &contents.file;
    let mut entries = of_section::<Databases>("databases", &file.databases, |entry| entry.line, &folders);
    entries.extend(of_section::<Apis<'_>>("apis", &file.apis, |entry| entry.line, &folders));
    entries.extend(of_section::<Documents>("documents", &file.documents, |entry| entry.line, &folders));
    entries.extend(of_section::<Skills>("skills", &file.skills, |entry| entry.line, &folders));
    entries
}

/// Returns the files of each entry that consists of files.
fn of_section<S: Section>(
    section: &'static str,
    entries: &[S::Entry],
    line: fn(&S::Entry) -> u64,
    folders: &Folders<'_>,
) -> Vec<EntryFiles> {
    let of_entry = |entry: &S::Entry| {
        let files = S::files(std::slice::from_ref(entry), folders)?;
        let files = files.into_iter().filter(|file| file.is_file()).filter_map(|file| file.canonicalize().ok());
        Some(EntryFiles { section, line: line(entry), files: files.collect() })
    };
    entries.iter().filter_map(of_entry).collect()
}
