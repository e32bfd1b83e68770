//! SQL scripts that create tables: a schema without data.
//!
//! Statements are parsed with sqlparser; a statement that no dialect parses as a whole is parsed item by item, so that
//! one clause does not lose a table.

mod name;
mod parse;
mod read;
mod salvage;
mod split;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::Problem;

use crate::encoding::decode;
use crate::source_kind::SourceKind;
use crate::sql::Budget;
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use parse::{Failure, Meaning, ParsedStatement, meaning, parse_in_any_dialect};
use read::Schema;
use salvage::salvage;
pub use split::{Statement, statements};

/// Returns a connector for SQL scripts.
///
/// # Errors
/// If the source has no file.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Ddl::new(source.require_paths()?.to_vec())))
}

/// SQL scripts, read in order.
pub(crate) struct Ddl {
    paths: Vec<PathBuf>,
}

impl Ddl {
    fn new(paths: Vec<PathBuf>) -> Self {
        Ddl { paths }
    }

    fn place(&self) -> String {
        match self.paths.as_slice() {
            [path] => path.display().to_string(),
            paths => format!("{} and {} more", paths[0].display(), paths.len() - 1),
        }
    }
}

#[async_trait]
impl Connector for Ddl {
    fn kind(&self) -> SourceKind {
        SourceKind::Ddl
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let failed = |path: &PathBuf, reason: String| ConnectError::open(SourceKind::Ddl, path, reason);
        let mut scripts = Vec::new();
        let mut problems = Vec::new();
        for path in &self.paths {
            match tokio::fs::read(path).await {
                Ok(bytes) if bytes.is_empty() => problems.push((path, "the file is empty".to_owned())),
                Ok(bytes) => scripts.push((path.display().to_string(), decode(bytes).0)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    problems.push((path, "there is no such file".to_owned()));
                }
                Err(error) => problems.push((path, error.to_string())),
            }
        }
        if scripts.is_empty() && !problems.is_empty() {
            let (path, reason) = problems.remove(0);
            return Err(failed(path, reason));
        }
        let mut problems: Vec<Problem> = problems
            .into_iter()
            .map(|(path, reason)| {
                Problem::error(path.display().to_string(), reason).advise("remove it from the source")
            })
            .collect();
        let place = self.place();
        let read = tokio::task::spawn_blocking(move || describe_scripts(&scripts, &place)).await;
        let (tables, more) = read.map_err(|error| failed(&self.paths[0], error.to_string()))?;
        problems.extend(more);
        Ok((tables, problems))
    }

    fn has_data(&self) -> bool {
        false
    }
}

/// Describes the tables that these scripts create; each script is given with its path.
fn describe_scripts(scripts: &[(String, String)], place: &str) -> (Vec<Table>, Vec<Problem>) {
    let mut schema = Schema::default();
    for (path, script) in scripts {
        let before = schema.len();
        let mut budget = Budget::of_bytes(script.len());
        for statement in statements(script) {
            let Some(meaning) = meaning(statement.text) else {
                continue;
            };
            let here = format!("{path}:{}", statement.line);
            match parse(statement.text, meaning, &mut budget) {
                Ok(parsed) => {
                    if let Some(reason) = parsed.warning {
                        schema.note(
                            Problem::warning(&here, reason).advise("check the columns parsed from the statement"),
                        );
                    }
                    parsed.statements.into_iter().for_each(|statement| schema.add(statement, &here));
                }
                // Most ALTER statements do not change the shape of a table.
                Err(_) if meaning == Meaning::Alter && !adds_key_or_column(statement.text) => {}
                Err(failure) => {
                    let here = format!("{path}:{}", statement.line + failure.lines);
                    let what = match meaning {
                        Meaning::Table => "the table",
                        Meaning::View => "the view",
                        Meaning::Alter => "the ALTER TABLE statement",
                        Meaning::Comment => "the comment",
                    };
                    let problem = Problem::error(here, format!("cannot parse {what}: {}", failure.reason));
                    schema.note(problem.advise("rewrite the statement in a supported SQL dialect"));
                }
            }
        }
        if schema.len() == before {
            schema.note(Problem::warning(path, "the script contains no CREATE TABLE statement that could be parsed"));
        }
    }
    schema.finish(place)
}

/// Parses a statement in the first dialect that accepts it; a table that none accepts is parsed item by item.
///
/// # Errors
/// The failure of the dialect that parsed furthest.
fn parse(text: &str, meaning: Meaning, budget: &mut Budget) -> Result<ParsedStatement, Failure> {
    match parse_in_any_dialect(text, budget) {
        Ok(statements) => Ok(ParsedStatement { statements, warning: None }),
        Err(failure) if meaning == Meaning::Table => salvage(text, failure, budget),
        Err(failure) => Err(failure),
    }
}

fn adds_key_or_column(text: &str) -> bool {
    split::words(text).any(|word| word.eq_ignore_ascii_case("key") || word.eq_ignore_ascii_case("add"))
}

#[cfg(test)]
mod tests;
