//! Writes complete results to files: one folder per run, which appears when it is complete.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use prospector_state::{create_file, create_folder};
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use super::{recipe::Recipe, run::Outcome, value};

/// Limit on the runs in one folder; numbers are never reused.
const MAX_RUNS: u32 = 100_000;

/// Writes the outcome of a recipe, and returns the folder.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(folder: &Path, recipe: &Recipe, outcome: &Outcome) -> io::Result<PathBuf> {
    create_folder(folder)?;
    // An incomplete folder is removed when it is dropped.
    let part = tempfile::Builder::new().prefix(".part-").tempdir_in(folder)?;
    fill(part.path(), recipe, outcome)?;
    publish(folder, part)
}

/// Renames a folder to the next free number.
fn publish(folder: &Path, part: TempDir) -> io::Result<PathBuf> {
    for number in 1..MAX_RUNS {
        let path = folder.join(format!("run-{number}"));
        if path.exists() {
            continue;
        }
        match fs::rename(part.path(), &path) {
            // Another process was faster.
            Err(_) if path.exists() => {}
            Err(error) => return Err(error),
            Ok(()) => {
                let _ = part.keep();
                return Ok(path);
            }
        }
    }
    Err(io::Error::other("too many runs"))
}

fn fill(folder: &Path, recipe: &Recipe, outcome: &Outcome) -> io::Result<()> {
    let mut file = create_file(&folder.join("recipe.json"))?;
    serde_json::to_writer_pretty(&mut file, recipe)?;
    writeln!(file)?;
    lines(folder, "matched", &outcome.matched)?;
    lines(folder, "ambiguous", &outcome.ambiguous)?;
    let sides = [
        ("unmatched_left", &outcome.left, &recipe.left, &outcome.unmatched_left),
        ("unmatched_right", &outcome.right, &recipe.right, &outcome.unmatched_right),
    ];
    for (name, subset, side, rows) in sides {
        let key = subset.place(&side.key);
        let record = |row: &usize| {
            let key = key.and_then(|at| value::text(&subset.rows[*row][at]));
            json!({"key": key, "row": subset.record(*row)})
        };
        lines(folder, name, rows.iter().map(record))?;
    }
    Ok(())
}

fn lines<T: Serialize>(folder: &Path, name: &str, items: impl IntoIterator<Item = T>) -> io::Result<()> {
    let mut file = BufWriter::new(create_file(&folder.join(format!("{name}.jsonl")))?);
    for item in items {
        serde_json::to_writer(&mut file, &item)?;
        file.write_all(b"\n")?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}
