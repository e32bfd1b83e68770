//! The file format of verified queries: SQL below a block of YAML fields.

use std::path::Path;

use chrono::NaiveDate;
use prospector_core::name::nearest;
use prospector_core::tool::finding::Verification;
use prospector_core::{Owner, Problem};
use prospector_engine::query::Literal;
use prospector_text::cut::one_line;
use prospector_text::front_matter::split_fields;
use serde_json::{Map, Value, json};

use crate::model::{AllowedValue, Parameter, ParameterType, QueryState, VerifiedQuery};
use crate::value::{read, to_json};

const KEYS: [&str; 8] =
    ["question", "synonyms", "description", "database", "parameters", "units", "verified", "proposed_by"];
const PARAMETER_KEYS: [&str; 5] = ["type", "description", "default", "allowed", "column"];
const VERIFIED_KEYS: [&str; 2] = ["by", "on"];
const PROPOSED_KEYS: [&str; 2] = ["id", "label"];

/// More would not be wordings of one question.
const MAX_SYNONYMS: usize = 50;
const MAX_PARAMETERS: usize = 20;
const MAX_ALLOWED: usize = 1_000;
const MAX_TEXT_CHARS: usize = 2_000;
const MAX_UNITS: usize = 1_000;
const MAX_UNIT_CHARS: usize = 40;

/// Parses the text of a file. If one of the problems is an error, there is no query.
pub(crate) fn parse(name: &str, path: &Path, text: &str) -> (Option<VerifiedQuery>, Vec<Problem>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut reader = Reader { path, block: "", problems: Vec::new(), failed: false };
    let (fields, block) = match split_fields(&text) {
        Ok(split) => split,
        Err(error) => {
            let advice = "start with `---`, the fields of the query as YAML, and another `---` above the SQL";
            reader.fail(error.line, error.reason, advice);
            return (None, reader.problems);
        }
    };
    reader.block = block.fields;
    let query = reader.query(name, &fields, block.body.trim(), block.lines_before + 1);
    (query.filter(|_| !reader.failed), reader.problems)
}

/// Renders a query as a file, which [`parse`] reads as the same query.
pub(crate) fn render(query: &VerifiedQuery) -> String {
    let mut text = String::from("---\n");
    let mut field = |key: &str, value: Value| text.push_str(&format!("{key}: {value}\n"));
    // JSON is valid YAML, and quotes where necessary.
    field("question", query.question.as_str().into());
    if !query.synonyms.is_empty() {
        field("synonyms", query.synonyms.as_slice().into());
    }
    if !query.description.is_empty() {
        field("description", query.description.as_str().into());
    }
    if let Some(database) = &query.database {
        field("database", database.as_str().into());
    }
    if !query.units.is_empty() {
        let units = query.units.iter().map(|(column, unit)| (column.clone(), unit.as_str().into()));
        field("units", Value::Object(units.collect()));
    }
    if !query.parameters.is_empty() {
        text.push_str("parameters:\n");
        for parameter in &query.parameters {
            text.push_str(&format!("  {}: {}\n", parameter.name, render_parameter(parameter)));
        }
    }
    if let Some(Verification { by, on }) = &query.verified {
        text.push_str(&format!("verified: {}\n", json!({"by": by, "on": on})));
    }
    if let Some(owner) = &query.proposed_by {
        text.push_str(&format!("proposed_by: {}\n", json!({"id": owner.id(), "label": owner.label()})));
    }
    format!("{text}---\n{}\n", query.sql.trim())
}

fn render_parameter(parameter: &Parameter) -> Value {
    let mut fields = Map::new();
    fields.insert("type".into(), parameter.kind.as_str().into());
    if !parameter.description.is_empty() {
        fields.insert("description".into(), parameter.description.as_str().into());
    }
    if let Some(default) = &parameter.default {
        fields.insert("default".into(), to_json(default));
    }
    if let Some(column) = &parameter.column {
        fields.insert("column".into(), column.as_str().into());
    }
    if parameter.allowed.iter().any(|allowed| !allowed.words.is_empty()) {
        let show = |allowed: &AllowedValue| (crate::value::show(&allowed.value), allowed.words.as_slice().into());
        fields.insert("allowed".into(), Value::Object(parameter.allowed.iter().map(show).collect()));
    } else if !parameter.allowed.is_empty() {
        fields.insert("allowed".into(), parameter.allowed.iter().map(|allowed| to_json(&allowed.value)).collect());
    }
    fields.into()
}

struct Reader<'a> {
    path: &'a Path,
    block: &'a str,
    problems: Vec<Problem>,
    failed: bool,
}

impl Reader<'_> {
    fn fail(&mut self, line: usize, reason: impl Into<String>, advice: impl Into<String>) {
        self.failed = true;
        self.problems.push(Problem::error(format!("{}:{line}", self.path.display()), reason).advise(advice));
    }

    /// Returns the line of the last of these nested keys; the first line of the fields if it is not found.
    fn line(&self, keys: &[&str]) -> usize {
        let lines: Vec<&str> = self.block.lines().collect();
        let mut at = 0;
        for key in keys {
            let names = |line: &&str| {
                let line = line.trim_start().trim_start_matches(['"', '\'']);
                line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
            };
            match lines.iter().skip(at).position(names) {
                Some(found) => at += found,
                None => break,
            }
        }
        at + 2
    }

    fn query(&mut self, name: &str, fields: &Map<String, Value>, sql: &str, sql_line: usize) -> Option<VerifiedQuery> {
        self.check_keys(fields, &KEYS, "the query", &[]);
        let question = self.text(fields, "question", &[]);
        if fields.get("question").is_none_or(Value::is_null) {
            self.fail(2, "there is no `question`", "add the question that the query answers: `question: ...`");
        }
        if sql.is_empty() {
            self.fail(sql_line, "there is no SQL below the fields", "add one SELECT statement");
        }
        let synonyms = self.synonyms(fields.get("synonyms"));
        let description = self.text(fields, "description", &[]).unwrap_or_default();
        let database = self.text(fields, "database", &[]);
        let parameters = self.parameters(fields.get("parameters"));
        let units = self.units(fields.get("units"));
        let verified = self.verification(fields.get("verified"));
        let proposed_by = self.proposer(fields.get("proposed_by"));
        let query = VerifiedQuery {
            name: name.to_owned(),
            question: question?,
            synonyms,
            description,
            database,
            parameters,
            units,
            sql: sql.to_owned(),
            verified,
            proposed_by,
            path: self.path.to_owned(),
            state: QueryState::Unchecked,
        };
        self.check_slots(&query);
        Some(query)
    }

    fn check_keys(&mut self, fields: &Map<String, Value>, known: &[&str], what: &str, above: &[&str]) {
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = nearest(key, known.iter().copied(), 1).pop();
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let line = self.line(&[above, &[key]].concat());
            let advice = format!("{near}the keys are {}", known.join(", "));
            self.fail(line, format!("{what} has an unknown key `{key}`"), advice);
        }
    }

    fn text(&mut self, fields: &Map<String, Value>, key: &str, above: &[&str]) -> Option<String> {
        let (reason, advice) = match fields.get(key)? {
            Value::Null => return None,
            Value::String(text) if text.trim().is_empty() => (format!("`{key}` is empty"), "write its text"),
            Value::String(text) if text.chars().count() <= MAX_TEXT_CHARS => return Some(one_line(text)),
            _ => {
                let reason = format!("`{key}` must be a text of at most {MAX_TEXT_CHARS} characters");
                (reason, "shorten it to one line")
            }
        };
        self.fail(self.line(&[above, &[key]].concat()), reason, advice);
        None
    }

    fn synonyms(&mut self, value: Option<&Value>) -> Vec<String> {
        let texts: Option<Vec<String>> = match value {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(items)) if items.len() <= MAX_SYNONYMS => items
                .iter()
                .map(|item| item.as_str().filter(|text| text.len() <= MAX_TEXT_CHARS).map(one_line))
                .collect(),
            Some(_) => None,
        };
        texts.unwrap_or_else(|| {
            let line = self.line(&["synonyms"]);
            let reason = format!("`synonyms` must be a list of at most {MAX_SYNONYMS} texts");
            self.fail(line, reason, "start each with `- `");
            Vec::new()
        })
    }

    fn units(&mut self, value: Option<&Value>) -> Vec<(String, String)> {
        let unit = |(column, unit): (&String, &Value)| {
            let unit = unit.as_str().filter(|unit| unit.chars().count() <= MAX_UNIT_CHARS)?;
            Some((column.clone(), one_line(unit)))
        };
        let units: Option<Vec<(String, String)>> = match value {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Object(fields)) if fields.len() <= MAX_UNITS => fields.iter().map(unit).collect(),
            Some(_) => None,
        };
        units.unwrap_or_else(|| {
            let line = self.line(&["units"]);
            let reason = format!("`units` must map columns to texts of at most {MAX_UNIT_CHARS} characters");
            self.fail(line, reason, "write `units: {revenue: EUR}`");
            Vec::new()
        })
    }

    fn verification(&mut self, value: Option<&Value>) -> Option<Verification> {
        let value = value.filter(|value| !value.is_null())?;
        let line = self.line(&["verified"]);
        let Value::Object(fields) = value else {
            let reason = "`verified` must name who approved the query, and when";
            self.fail(line, reason, "write `{by: Ada, on: 2025-12-31}`");
            return None;
        };
        self.check_keys(fields, &VERIFIED_KEYS, "`verified`", &["verified"]);
        let by = self.text(fields, "by", &["verified"]);
        let on = fields.get("on").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let is_day = on.len() == 10 && NaiveDate::parse_from_str(on, "%Y-%m-%d").is_ok();
        match by {
            Some(by) if is_day => Some(Verification { by, on: on.to_owned() }),
            _ => {
                let advice = "write `verified: {by: Ada, on: 2025-12-31}`";
                self.fail(line, "`verified` must have `by`, a name, and `on`, a day", advice);
                None
            }
        }
    }

    /// Parses the client that proposed the query, as written by [`render`].
    fn proposer(&mut self, value: Option<&Value>) -> Option<Owner> {
        let value = value.filter(|value| !value.is_null())?;
        let fields = value.as_object();
        let id = fields.and_then(|fields| fields.get("id")).and_then(Value::as_str).filter(|id| !id.is_empty());
        let (Some(fields), Some(id)) = (fields, id) else {
            let line = self.line(&["proposed_by"]);
            self.fail(line, "`proposed_by` must have `id`, a text", "remove it; a server writes it into proposals");
            return None;
        };
        self.check_keys(fields, &PROPOSED_KEYS, "`proposed_by`", &["proposed_by"]);
        Some(Owner::new(id, fields.get("label").and_then(Value::as_str).unwrap_or_default()))
    }

    fn parameters(&mut self, value: Option<&Value>) -> Vec<Parameter> {
        let fields = match value {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(fields)) if fields.len() <= MAX_PARAMETERS => fields,
            Some(_) => {
                let line = self.line(&["parameters"]);
                let reason = format!("`parameters` must be a mapping of at most {MAX_PARAMETERS} names");
                self.fail(line, reason, "write `country: {type: text}` below it");
                return Vec::new();
            }
        };
        fields.iter().filter_map(|(name, value)| self.parameter(name, value)).collect()
    }

    fn parameter(&mut self, name: &str, value: &Value) -> Option<Parameter> {
        let above = ["parameters", name];
        let line = self.line(&above);
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(is_plain) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            let reason = format!("`{name}` is not a valid parameter name");
            self.fail(line, reason, "use lower-case letters, digits and `_`");
            return None;
        }
        let Value::Object(fields) = value else {
            self.fail(line, format!("the parameter `{name}` must be a mapping"), "write `{type: text}`");
            return None;
        };
        self.check_keys(fields, &PARAMETER_KEYS, &format!("the parameter `{name}`"), &above);
        let word = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some(kind) = ParameterType::ALL.into_iter().find(|kind| kind.as_str() == word) else {
            let names = ParameterType::ALL.map(ParameterType::as_str).join(", ");
            self.fail(line, format!("the parameter `{name}` has no `type`"), format!("the types are {names}"));
            return None;
        };
        let description = self.text(fields, "description", &above).unwrap_or_default();
        let column = self.text(fields, "column", &above);
        let allowed = self.read_allowed(name, kind, fields.get("allowed"));
        let default = match fields.get("default").filter(|value| !value.is_null()) {
            None => None,
            Some(value) => {
                let default = read(kind, value);
                let is_allowed =
                    |default: &Literal| allowed.is_empty() || allowed.iter().any(|one| one.value == *default);
                if !default.as_ref().is_some_and(is_allowed) {
                    let line = self.line(&["parameters", name, "default"]);
                    let reason = format!("the default of `{name}` is not an accepted value: {value}");
                    self.fail(line, reason, format!("use a value of the type {}", kind.as_str()));
                }
                default
            }
        };
        Some(Parameter { name: name.to_owned(), kind, description, default, allowed, column })
    }

    fn read_allowed(&mut self, name: &str, kind: ParameterType, value: Option<&Value>) -> Vec<AllowedValue> {
        let one = |value: &Value, words: Vec<String>| read(kind, value).map(|value| AllowedValue { value, words });
        let all: Option<Vec<AllowedValue>> = match value {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(values)) if values.len() <= MAX_ALLOWED => {
                values.iter().map(|value| one(value, Vec::new())).collect()
            }
            Some(Value::Object(values)) if values.len() <= MAX_ALLOWED => values
                .iter()
                .map(|(value, words)| {
                    let words = match words {
                        Value::Null => Vec::new(),
                        Value::String(word) => vec![word.clone()],
                        Value::Array(words) => {
                            words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?
                        }
                        _ => return None,
                    };
                    one(&Value::String(value.clone()), words)
                })
                .collect(),
            Some(_) => None,
        };
        all.filter(|all| !all.is_empty()).unwrap_or_else(|| {
            let line = self.line(&["parameters", name, "allowed"]);
            let reason = format!("`allowed` of `{name}` must be a list of values of the type {}", kind.as_str());
            self.fail(line, reason, "or a mapping of values to lists of synonyms");
            Vec::new()
        })
    }

    /// Checks that each `{name}` in a question is a parameter.
    fn check_slots(&mut self, query: &VerifiedQuery) {
        for phrasing in query.phrasings() {
            for slot in slots(phrasing) {
                if query.parameter(slot).is_none() {
                    let key = if phrasing == query.question { "question" } else { "synonyms" };
                    let line = self.line(&[key]);
                    let reason = format!("`{{{slot}}}` is not a parameter of the query");
                    self.fail(line, reason, "declare it under `parameters`");
                }
            }
        }
    }
}

/// Returns a question with a value for each name in braces; `None` if `value_of` returns no value for one.
pub(crate) fn fill_in(question: &str, value_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    slots(question)
        .try_fold(question.to_owned(), |filled, slot| Some(filled.replace(&format!("{{{slot}}}"), &value_of(slot)?)))
}

/// Returns the names in braces in a question.
fn slots(phrasing: &str) -> impl Iterator<Item = &str> {
    phrasing.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "---\nquestion: Which artists sold best in {country} in {year}?\nsynonyms:\n  - top artists of {country}\n\
        database: music_store\nparameters:\n  country:\n    type: text\n    column: music_store.countries.name\n  year:\n    type: integer\n    \
        allowed: [2024, 2025]\n    default: 2025\n  currency:\n    type: text\n    allowed:\n      EUR: [euro]\n      GBP:\n\
        verified: {by: Ada, on: 2026-01-12}\nunits: {revenue: EUR}\n---\nSELECT 1\n";

    fn check(text: &str, line: usize, part: &str) {
        let (query, problems) = parse("q", Path::new("q.sql"), text);
        assert!(query.is_none(), "{query:?}");
        let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let place = format!("q.sql:{line}:");
        assert!(reported.iter().any(|reported| reported.contains(&place) && reported.contains(part)), "{reported:?}");
    }

    #[test]
    fn round_trips_a_file() {
        let (query, problems) = parse("q", Path::new("q.sql"), WHOLE);
        assert!(problems.is_empty(), "{problems:?}");
        let query = query.unwrap();
        assert_eq!(query.parameters.len(), 3);
        assert_eq!(query.parameters[1].default, Some(Literal::Integer(2025)));
        assert_eq!(query.parameters[2].allowed[0].words, ["euro"]);
        assert_eq!(query.units, [("revenue".to_owned(), "EUR".to_owned())]);
        assert_eq!(query.verified, Some(Verification { by: "Ada".into(), on: "2026-01-12".into() }));
        let (again, problems) = parse("q", Path::new("q.sql"), &render(&query));
        assert!(problems.is_empty(), "{problems:?}\n{}", render(&query));
        assert_eq!(again, Some(query));
    }

    #[test]
    fn reports_problems_with_their_line() {
        check("SELECT 1", 1, "first line");
        check("---\nquestion: x\nSELECT 1", 1, "not closed");
        check("---\nquestion: a: b\n---\nSELECT 1", 2, "not valid YAML");
        check("---\nsynonyms: []\n---\nSELECT 1", 2, "no `question`");
        check("---\nquestion:\n---\nSELECT 1", 2, "no `question`");
        check("---\nquestion: ''\n---\nSELECT 1", 2, "`question` is empty");
        check("---\nquestion: x\n---\n\n", 4, "no SQL");
        check("---\nquestion: x\nsynonym: [y]\n---\nSELECT 1", 3, "did you mean `synonyms`");
        check(&WHOLE.replace("integer", "whole"), 10, "the types are text, integer");
        check(&WHOLE.replace("default: 2025", "default: 2019"), 13, "not an accepted value");
        check(&WHOLE.replace("[2024, 2025]", "[2024, soon]"), 12, "list of values of the type integer");
        check(&WHOLE.replace("of {country}", "of {land}"), 3, "`{land}` is not a parameter");
        check(&WHOLE.replace("2026-01-12", "yesterday"), 19, "a day");
        check(&WHOLE.replace("{revenue: EUR}", "EUR"), 20, "map columns to texts");
        check(
            &WHOLE.replace("  country:\n", "  Country:\n").replace("{country}", "x"),
            7,
            "not a valid parameter name",
        );
    }
}
