//! Creates a case from a question, expecting its reviewed result.

use std::path::Path;

use serde_json::{Value, json};

use super::{file::make_name, judge::Observed, run::Tester};
use crate::BenchError;

/// Maximum number of rows expected individually.
const MAX_ROWS: usize = 3;

impl Tester {
    /// Runs a question, and appends it as a case to a file, which is created if missing. Returns the case as written.
    /// The file is reloaded, and its other content is unchanged.
    ///
    /// # Errors
    /// [`BenchError`] if the file cannot be read or written, or does not end in a list of cases.
    pub async fn add(&self, path: &Path, question: &str) -> Result<String, BenchError> {
        let engine = self.planner.catalog().engine();
        let observed = self.observe(question, false, &engine).await;
        append(path, question, &expect(&observed))
    }
}

/// Converts a result to expectations.
fn expect(observed: &Observed) -> Value {
    if observed.asks_back {
        return json!({"clarification": true});
    }
    let Some(rows) = observed.results.iter().rev().find(|rows| !rows.is_empty()) else {
        return json!({"refusal": true});
    };
    let mut expect = json!({});
    if let Some(name) = observed.verified.last() {
        expect["verified"] = name.as_str().into();
    }
    expect["tables"] = observed.tables.iter().cloned().collect();
    match rows.as_slice() {
        [row] if row.len() == 1 => expect["value"] = row[0].clone(),
        rows => {
            expect["rows"] = rows.iter().take(MAX_ROWS).map(|row| Value::Array(row.clone())).collect();
            expect["row_count"] = rows.len().into();
        }
    }
    expect
}

/// Appends a case to a file, which is created if missing.
///
/// # Errors
/// [`BenchError`] if the file cannot be read or written, or does not end in a list of cases.
pub fn append(path: &Path, question: &str, expect: &Value) -> Result<String, BenchError> {
    let failed = |source| BenchError::Read { what: "cases", path: path.to_owned(), source };
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "cases:\n".to_owned(),
        Err(error) => return Err(failed(error)),
    };
    // JSON is valid YAML and quotes special characters.
    let indent: String = before
        .lines()
        .find(|line| line.trim_start().starts_with("- "))
        .map(|line| line.chars().take_while(|c| *c == ' ').collect())
        .unwrap_or_default();
    let question = Value::from(question.trim());
    let case = format!(
        "{indent}- name: {}\n{indent}  question: {question}\n{indent}  expect: {expect}\n",
        make_name(question.as_str().unwrap_or_default())
    );
    let separator = if before.ends_with('\n') { "" } else { "\n" };
    std::fs::write(path, format!("{before}{separator}{case}")).map_err(failed)?;
    // If `cases` is not the last key of the file, the result is not valid YAML; the file is then restored.
    match super::file::read(path) {
        Ok((cases, problems)) if problems.is_empty() && !cases.is_empty() => Ok(case),
        Ok((_, problems)) => {
            std::fs::write(path, &before).map_err(failed)?;
            let reason = problems.first().map_or_else(|| "no cases found".to_owned(), ToString::to_string);
            Err(BenchError::Cases { path: path.to_owned(), line: 1, reason })
        }
        Err(error) => {
            std::fs::write(path, &before).map_err(failed)?;
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_a_case_and_preserves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests.yaml");
        append(&path, "How many \"x\": y?", &json!({"value": 3})).unwrap();
        append(&path, "Which?", &json!({"rows": [["a", 1]]})).unwrap();
        let (cases, problems) = super::super::read(&path).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[0].question, "How many \"x\": y?");
        let before = std::fs::read_to_string(&path).unwrap();
        assert!(append(&path, "Which?", &json!({"value": 1})).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        std::fs::write(&path, "cases:\n- question: a\n  expect: {value: 1}\nlimits: {calls: 2}\n").unwrap();
        assert!(append(&path, "b", &json!({"value": 1})).is_err());
    }
}
