//! Description files of databases, as JSON: `{table: {name?, description?, columns: {column: {name?, description?,
//! value_description?, unit?}}}}`.

use prospector_connect::table::Table;
use prospector_core::Problem;
use prospector_core::name::nearest;
use prospector_text::identifiers::words;
use serde_json::{Map, Value};

use crate::naming::position_of;

/// Maximum number of errors of one file that are reported individually.
const MAX_REPORTED: usize = 5;

/// Merges the descriptions of a file into `tables`. They replace the source's own comments; a natural `name` is prepended
/// if it adds to the identifier. Names in `withheld` are ignored.
pub(crate) fn merge(text: &str, path: &str, tables: &mut [Table], withheld: &[String]) -> Vec<Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let root: Value = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            let problem = Problem::error(format!("{path}:{}", error.line()), format!("it is not valid JSON: {error}"));
            return vec![problem.advise("fix the file; until then its descriptions are ignored")];
        }
    };
    let mut reader = Reader { text, wrong: Vec::new(), unknown: Vec::new() };
    if let Some(root) = reader.object(&root, &[]) {
        for (name, entry) in root {
            match position_of(tables, name, |table| &table.name) {
                Some(at) => reader.table(&mut tables[at], name, entry),
                None if position_of(withheld, name, String::as_str).is_some() => {}
                None => reader.unknown.push(unknown("table", name, tables.iter().map(|table| table.name.as_str()))),
            }
        }
    }
    reader.problems(path)
}

struct Reader<'a> {
    text: &'a str,
    /// Line numbers and messages of invalid values.
    wrong: Vec<(usize, String)>,
    unknown: Vec<String>,
}

impl Reader<'_> {
    fn table(&mut self, table: &mut Table, key: &str, entry: &Value) {
        let Some(entry) = self.object(entry, &[key]) else { return };
        let said = self.read_texts(entry, &[key], &["name", "description", "columns"]);
        table.description = phrase(&table.name, &said, &table.description);
        let Some(columns) = entry.get("columns").filter(|columns| !columns.is_null()) else { return };
        let Some(columns) = self.object(columns, &[key, "columns"]) else { return };
        for (name, entry) in columns {
            let Some(at) = position_of(&table.columns, name, |column| &column.name) else {
                let names = table.columns.iter().map(|column| column.name.as_str());
                self.unknown.push(unknown(&format!("column `{}`.", table.name), name, names));
                continue;
            };
            let path = [key, "columns", name];
            let Some(entry) = self.object(entry, &path) else { continue };
            let said = self.read_texts(entry, &path, &["name", "description", "value_description", "unit"]);
            let column = &mut table.columns[at];
            column.description = phrase(&column.name, &said, &column.description);
            if !said.unit.is_empty() {
                column.unit = said.unit;
            }
        }
    }

    fn object<'v>(&mut self, value: &'v Value, path: &[&str]) -> Option<&'v Map<String, Value>> {
        if value.as_object().is_none() {
            self.complain(path, "an object", value);
        }
        value.as_object()
    }

    /// Reads the texts of an entry; reports values that are not texts, and unknown keys.
    fn read_texts(&mut self, entry: &Map<String, Value>, path: &[&str], allowed: &[&str]) -> Description {
        let mut said = Description::default();
        for (key, value) in entry {
            let slot = match key.as_str() {
                "columns" if allowed.contains(&"columns") => continue,
                "name" => &mut said.name,
                "description" => &mut said.description,
                "value_description" if allowed.contains(&"value_description") => &mut said.values,
                "unit" if allowed.contains(&"unit") => &mut said.unit,
                _ => {
                    let place = path.iter().filter(|part| **part != "columns").copied().collect::<Vec<_>>().join(".");
                    self.unknown.push(unknown(&format!("key of `{place}`:"), key, allowed.iter().copied()));
                    continue;
                }
            };
            match value {
                Value::String(text) => *slot = text.split_whitespace().collect::<Vec<_>>().join(" "),
                Value::Null => {}
                other => self.complain(&[path, &[key]].concat(), "a text", other),
            }
        }
        said
    }

    fn complain(&mut self, path: &[&str], wanted: &str, got: &Value) {
        let got = match got {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        let place = if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) };
        self.wrong.push((line_of(self.text, path), format!("{place} must be {wanted}, not {got}")));
    }

    fn problems(self, path: &str) -> Vec<Problem> {
        let more = self.wrong.len().saturating_sub(MAX_REPORTED);
        let mut problems: Vec<Problem> = (self.wrong.into_iter().take(MAX_REPORTED))
            .map(|(line, reason)| Problem::warning(format!("{path}:{line}"), reason))
            .collect();
        if more > 0 {
            problems.push(Problem::warning(path, format!("{more} more values are of the wrong type")));
        }
        if !self.unknown.is_empty() {
            let more = self.unknown.len().saturating_sub(MAX_REPORTED);
            let listed = self.unknown.iter().take(MAX_REPORTED).cloned().collect::<Vec<_>>().join("; ");
            let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
            let reason = format!("it describes unknown names: {listed}{rest}");
            problems.push(Problem::warning(path, reason).advise("correct or remove the names"));
        }
        problems
    }
}

#[derive(Default)]
struct Description {
    name: String,
    description: String,
    values: String,
    unit: String,
}

/// Joins the natural name, the description (or the source's comment), the meaning of the values and their unit into one text: `birth
/// city: where the person was born (values: IATA codes)`.
fn phrase(identifier: &str, said: &Description, comment: &str) -> String {
    let body = if said.description.is_empty() { comment } else { &said.description };
    let is_redundant =
        words(&said.name) == words(identifier) || body.to_lowercase().contains(&said.name.to_lowercase());
    let name = if is_redundant { "" } else { said.name.as_str() };
    let mut text = match (name, body) {
        (name, "") => name.to_owned(),
        ("", body) => body.to_owned(),
        (name, body) => format!("{name}: {body}"),
    };
    for (label, value) in [("values", said.values.trim_end_matches('.')), ("unit", &said.unit)] {
        text = match (text.is_empty(), value.is_empty()) {
            (_, true) => text,
            (true, false) => format!("{label}: {value}"),
            (false, false) => format!("{text} ({label}: {value})"),
        };
    }
    text
}

fn unknown<'a>(what: &str, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let what = if what.ends_with('.') { format!("{what}`{name}`") } else { format!("{what} `{name}`") };
    match nearest(name, candidates, 1).first() {
        Some(near) => format!("{what} (nearest: `{near}`)"),
        None => what,
    }
}

/// Returns the line of the key at the end of `path` in valid JSON. It is only searched for when a problem is reported,
/// because the parser does not keep line numbers of values.
fn line_of(text: &str, path: &[&str]) -> usize {
    let (mut line, mut depth, mut matched) = (1, 0, 0);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && matched < path.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let rest = text.get(at + 1..).unwrap_or_default().trim_start();
                let key = text.get(start..=at).and_then(|quoted| serde_json::from_str::<String>(quoted).ok());
                if rest.starts_with(':') && depth == matched + 1 && key.as_deref() == Some(path[matched]) {
                    matched += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table;

    fn merged(json: &str) -> (Vec<Table>, Vec<String>) {
        let mut people = table("people", &["id*", "Birth_City", "sex", "name"]);
        people.columns[3].description = "comment of the source".into();
        let mut tables = vec![table("City", &["code*"]), people];
        let problems = merge(json, "d.json", &mut tables, &["salaries".to_owned()]);
        (tables, problems.iter().map(ToString::to_string).collect())
    }

    /// Checks the description of `birth_city`.
    fn check(entry: &str, expected: &str) {
        let (tables, problems) = merged(&format!(r#"{{"People": {{"columns": {{"birth_city": {entry}}}}}}}"#));
        assert_eq!(tables[1].columns[1].description, expected);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn joins_name_description_and_values() {
        check(r#"{"name": "town of birth"}"#, "town of birth");
        check(r#"{"name": "birth city"}"#, "");
        check(r#"{"name": "town", "description": "where born"}"#, "town: where born");
        check(r#"{"name": "town", "description": "the Town of birth"}"#, "the Town of birth");
        check(
            r#"{"description": "where born", "value_description": "in\nupper case."}"#,
            "where born (values: in upper case)",
        );
        check(r#"{"value_description": "codes"}"#, "values: codes");
        check(r#"{"name": null}"#, "");
        check(r#"{"description": "height", "unit": "cm"}"#, "height (unit: cm)");
        check(r#"{"unit": "cm"}"#, "unit: cm");
        let (tables, _) = merged(r#"{"people": {"columns": {"sex": {"unit": " US  dollars "}}}}"#);
        assert_eq!((tables[1].columns[2].unit.as_str(), tables[1].columns[1].unit.as_str()), ("US dollars", ""));
    }

    #[test]
    fn descriptions_override_comments_of_the_source() {
        let (tables, problems) = merged(
            r#"{"CITY": {"name": "municipality", "description": "every city"},
                "people": {"columns": {"name": {"name": "full name"}}}}"#,
        );
        assert_eq!(tables[0].description, "municipality: every city");
        assert_eq!(tables[1].columns[3].description, "full name: comment of the source");
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn reports_unknown_names_once_and_ignores_withheld_ones() {
        let (_, problems) = merged(
            r#"{"cities": {"name": "x"}, "Salaries": {"name": "pay"},
                "people": {"descripton": "x", "columns": {"nam": {"name": "x"}}}}"#,
        );
        assert_eq!(
            problems,
            ["warning: d.json: it describes unknown names: table `cities` (nearest: `City`); \
              key of `people`: `descripton` (nearest: `description`); column `people`.`nam` (nearest: `name`) \
              (correct or remove the names)"]
        );
        let many: Vec<String> = (0..100).map(|n| format!(r#""t{n}": {{}}"#)).collect();
        let (_, problems) = merged(&format!("{{{}}}", many.join(",")));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("and 95 more"), "{problems:?}");
    }

    #[test]
    fn reports_invalid_values_with_their_line() {
        let (tables, problems) = merged(
            "{\n\"people\": {\"name\": \"humans\", \"columns\": {\n\"sex\": \"m or f\",\n\"City\": {},\n\
             \"name\": {\"description\": 7, \"name\": \"called\"}}},\n\"City\":\n[1]}",
        );
        assert_eq!(tables[1].description, "humans");
        assert_eq!(tables[1].columns[3].description, "called: comment of the source");
        assert_eq!(
            problems[..3],
            [
                "warning: d.json:3: `people.columns.sex` must be an object, not a text",
                "warning: d.json:5: `people.columns.name.description` must be a text, not a number",
                "warning: d.json:6: `City` must be an object, not a list",
            ]
        );
    }

    #[test]
    fn reports_invalid_json_with_its_line() {
        let (_, problems) = merged("{\n\"people\": {\n}");
        assert!(problems[0].starts_with("error: d.json:3: it is not valid JSON"), "{problems:?}");
        let (_, problems) = merged("[]");
        assert_eq!(problems, ["warning: d.json:1: the file must be an object, not a list"]);
    }
}
