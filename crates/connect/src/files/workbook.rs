//! Spreadsheets: each sheet of a workbook is a table, which is read as an in-memory delimited file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use calamine::{Data, DataRef, Reader, SheetType, Xlsx, XlsxError};
use datafusion::logical_expr::LogicalPlan;
use prospector_core::Problem;
use tokio::sync::RwLock;
use zip::ZipArchive;

use super::delimited::{Content, RECORDS_OF_HEADER, Stamp};
use super::failure::FileError;
use super::{File as TableFile, Files};
use crate::data_files::{DataFile, DataFiles};
use crate::filter::FilterCondition;
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::source_kind::SourceKind;
use crate::table::Table;
use crate::{ConnectError, Connector};

/// Maximum decompressed size of a workbook in bytes.
const MAX_UNPACKED: u64 = 512 << 20;

/// Maximum size of the cells of a sheet in bytes.
const MAX_SHEET: usize = 256 << 20;

/// Default names of the first sheet in several languages; its table has the name of the file.
const FIRST_SHEETS: [&str; 8] = ["sheet", "sheet1", "tabelle1", "feuil1", "hoja1", "foglio1", "planilha1", "blad1"];

/// Workbooks, whose sheets are tables.
pub(super) struct Workbooks {
    paths: Vec<PathBuf>,
    is_strict: bool,
    opened: RwLock<Option<Arc<Opened>>>,
}

/// The tables of the workbooks, with the state of the files.
struct Opened {
    stamps: Vec<Option<Stamp>>,
    tables: Files,
    problems: Vec<Problem>,
}

/// A sheet with rows.
struct Sheet {
    name: String,
    content: Content,
    problem: Option<Problem>,
}

impl Workbooks {
    pub(super) fn new(paths: &[PathBuf], is_strict: bool) -> Self {
        Workbooks { paths: paths.to_owned(), is_strict, opened: RwLock::default() }
    }

    /// Returns the current tables of the workbooks.
    async fn open(&self) -> Result<Arc<Opened>, ConnectError> {
        let stamps: Vec<Option<Stamp>> = self.paths.iter().map(|path| stamp(path)).collect();
        let mut opened = self.opened.write().await;
        if let Some(opened) = opened.as_ref().filter(|opened| opened.stamps == stamps) {
            return Ok(opened.clone());
        }
        let (paths, is_strict) = (self.paths.clone(), self.is_strict);
        let read = tokio::task::spawn_blocking(move || read_all(&paths, is_strict)).await;
        let (tables, problems) =
            read.map_err(|error| ConnectError::open(SourceKind::Xlsx, &self.paths[0], error.to_string()))??;
        Ok(opened.insert(Arc::new(Opened { stamps, tables, problems })).clone())
    }
}

#[async_trait]
impl Connector for Workbooks {
    fn kind(&self) -> SourceKind {
        SourceKind::Xlsx
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let opened = self.open().await?;
        let (tables, mut problems) = opened.tables.describe().await?;
        problems.splice(0..0, opened.problems.iter().cloned());
        Ok((tables, problems))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        self.open().await?.tables.sample(table, column, request).await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        self.open().await?.tables.statistics(table, columns).await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        self.open().await?.tables.rows(table, columns, conditions, limit).await
    }

    async fn scan(&self, table: &str) -> Result<Option<LogicalPlan>, ConnectError> {
        self.open().await?.tables.scan(table).await
    }

    fn data_files(&self) -> Option<DataFiles> {
        let file = |path: &PathBuf| DataFile {
            paths: vec![path.clone()],
            readings_failed: 0,
            is_verified: false,
            layout: None,
        };
        let files = self.paths.iter().map(file).collect();
        Some(DataFiles { kind: SourceKind::Xlsx, is_strict: self.is_strict, files })
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// Reads the tables of all workbooks; errors are problems if at least one table can be read.
fn read_all(paths: &[PathBuf], is_strict: bool) -> Result<(Files, Vec<Problem>), ConnectError> {
    let (mut sheets, mut problems, mut failed) = (Vec::new(), Vec::new(), None);
    for path in paths {
        match read(path) {
            Ok(read) => sheets.extend(read.into_iter().map(|sheet| (path, sheet))),
            Err(error) => {
                let place = path.display().to_string();
                problems.push(
                    Problem::error(place, error.to_string()).advise("repair the file or remove it from the source"),
                );
                failed.get_or_insert(ConnectError::open(SourceKind::Xlsx, path, error.to_string()));
            }
        }
    }
    if let Some(error) = failed.filter(|_| sheets.is_empty()) {
        return Err(error);
    }
    let names = name_sheets(&sheets);
    let mut files = Vec::with_capacity(sheets.len());
    for ((path, sheet), name) in sheets.into_iter().zip(names) {
        problems.extend(sheet.problem);
        files.push(TableFile::of_sheet(path, name, sheet.content, is_strict));
    }
    Ok((Files::of(SourceKind::Xlsx, files, is_strict), problems))
}

/// Returns the name of each table: that of its sheet, or that of its file if the sheet name is a default or the only one.
/// Ambiguous names are prefixed by the file.
fn name_sheets(sheets: &[(&PathBuf, Sheet)]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let of_sheet = |(path, sheet): &(&PathBuf, Sheet)| {
        let is_only = sheets.iter().filter(|(other, _)| other == path).count() == 1;
        let is_first = FIRST_SHEETS.contains(&sheet.name.to_lowercase().as_str());
        if is_only && is_first { stem(path) } else { sheet.name.trim().to_owned() }
    };
    let names: Vec<String> = sheets.iter().map(of_sheet).collect();
    let is_taken = |name: &String| names.iter().filter(|other| other.eq_ignore_ascii_case(name)).count() > 1;
    let long: Vec<String> = (names.iter().zip(sheets))
        .map(|(name, (path, _))| if is_taken(name) { format!("{}_{name}", stem(path)) } else { name.clone() })
        .collect();
    let number = |(at, name): (usize, &String)| match long[..at].iter().filter(|other| *other == name).count() {
        0 => name.clone(),
        before => format!("{name}_{}", before + 1),
    };
    long.iter().enumerate().map(number).collect()
}

/// Returns the sheets of a workbook that have rows.
fn read(path: &Path) -> Result<Vec<Sheet>, FileError> {
    check_size(path)?;
    let damaged = |error: XlsxError| FileError::unreadable(format!("the workbook cannot be read: {error}"));
    let mut workbook: Xlsx<_> = calamine::open_workbook(path).map_err(damaged)?;
    let is_sheet = |sheet: &&calamine::Sheet| sheet.typ == SheetType::WorkSheet;
    let names: Vec<String> =
        workbook.sheets_metadata().iter().filter(is_sheet).map(|sheet| sheet.name.clone()).collect();
    let mut sheets = Vec::new();
    for name in names {
        let Some(shape) = measure(&mut workbook, &name).map_err(damaged)? else { continue };
        let content = write(&mut workbook, &name, &shape)?;
        let place = format!("{}: sheet {name}", path.display());
        let reason = format!("its table starts in row {}; the rows above are skipped", shape.header + 1);
        let problem = (shape.header > shape.first).then(|| Problem::warning(place, reason));
        sheets.push(Sheet { name, content, problem });
    }
    if sheets.is_empty() { Err(FileError::NoColumns) } else { Ok(sheets) }
}

/// Checks the total decompressed size of all parts.
fn check_size(path: &Path) -> Result<(), FileError> {
    let file = BufReader::new(File::open(path)?);
    let mut archive = ZipArchive::new(file)
        .map_err(|error| FileError::unreadable(format!("it is not an XLSX workbook, or it is encrypted: {error}")))?;
    let mut left = MAX_UNPACKED;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(|error| FileError::unreadable(error.to_string()))?;
        left -= io::copy(&mut part.take(left), &mut io::sink())?;
        if left == 0 {
            return Err(FileError::unreadable(format!("it decompresses to more than {} MB", MAX_UNPACKED >> 20)));
        }
    }
    Ok(())
}

/// The position of the table in a sheet.
struct Shape {
    /// The first row with a cell, and the row of the header.
    first: u32,
    header: u32,
    /// The first column, and the one after the last.
    left: u32,
    right: u32,
}

/// Locates the table in a sheet: its header is the first row at least half as wide as the sheet. `None` if there are no
/// cells.
fn measure(workbook: &mut Xlsx<BufReader<File>>, name: &str) -> Result<Option<Shape>, XlsxError> {
    let mut cells = workbook.worksheet_cells_reader(name)?;
    // The number of cells of each of the first rows.
    let mut rows: Vec<(u32, u32)> = Vec::new();
    let (mut left, mut right) = (u32::MAX, 0);
    while let Some(cell) = cells.next_cell()? {
        if text(cell.get_value()).is_empty() {
            continue;
        }
        let (row, column) = cell.get_position();
        (left, right) = (left.min(column), right.max(column + 1));
        let is_room = rows.len() < RECORDS_OF_HEADER;
        match rows.last_mut() {
            Some((last, count)) if *last == row => *count += 1,
            _ if is_room => rows.push((row, 1)),
            _ => {}
        }
    }
    let Some((first, _)) = rows.first() else { return Ok(None) };
    let header = rows.iter().find(|(_, count)| count * 2 >= right - left).unwrap_or(&rows[0]).0;
    Ok(Some(Shape { first: *first, header, left, right }))
}

/// Writes the rows of a sheet from its header on as a delimited file. Rows without cells are skipped.
fn write(workbook: &mut Xlsx<BufReader<File>>, name: &str, shape: &Shape) -> Result<Content, FileError> {
    let damaged = |error: XlsxError| FileError::unreadable(format!("the sheet {name} cannot be read: {error}"));
    let mut cells = workbook.worksheet_cells_reader(name).map_err(damaged)?;
    let width = (shape.right - shape.left) as usize;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (mut numbers, mut row, mut bytes): (Vec<u32>, Vec<String>, usize) = (Vec::new(), Vec::new(), 0);
    let mut finish = |row: &mut Vec<String>| -> Result<(), FileError> {
        row.resize(width, String::new());
        bytes += width + row.iter().map(String::len).sum::<usize>();
        if bytes > MAX_SHEET {
            return Err(FileError::unreadable(format!("the sheet {name} has more than {} MB", MAX_SHEET >> 20)));
        }
        writer.write_record(row.iter())?;
        row.clear();
        Ok(())
    };
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let ((at, column), value) = (cell.get_position(), text(cell.get_value()));
        if value.is_empty() || at < shape.header || column < shape.left {
            continue;
        }
        if numbers.last().is_some_and(|last| *last != at + 1) {
            finish(&mut row)?;
        }
        if numbers.last() != Some(&(at + 1)) {
            numbers.push(at + 1);
        }
        row.resize((column - shape.left) as usize, String::new());
        row.push(value);
    }
    if !numbers.is_empty() {
        finish(&mut row)?;
    }
    let bytes = writer.into_inner().map_err(|error| FileError::unreadable(error.to_string()))?;
    Ok(Content::Sheet { bytes: bytes.into(), rows: numbers.into() })
}

/// Formats a cell as in a delimited file.
fn text(cell: &DataRef<'_>) -> String {
    match Data::from(cell.clone()) {
        Data::Empty => String::new(),
        Data::String(text) => text,
        Data::DateTimeIso(text) | Data::DurationIso(text) => text,
        Data::Bool(is_true) => is_true.to_string(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Error(error) => error.to_string(),
        Data::DateTime(moment) if moment.is_duration() => moment.as_f64().to_string(),
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            match (hour, minute, second, milli) {
                (0, 0, 0, 0) => date,
                (_, _, _, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
                _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
            }
        }
    }
}
