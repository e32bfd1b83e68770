//! Functions of all dialects that have words.

use sqlparser::ast::{Expr, Function};

use super::Writer;
use super::period::{self, Unit};
use super::phrase::{Binding, Phrase, count, list};
use crate::syntax::{name_of, number_of, plain_call, text_of};

impl<'a> Writer<'a> {
    pub(super) fn function(&mut self, whole: &'a Expr, function: &'a Function) -> Phrase {
        if function.over.is_some() {
            return self.window_function(function).unwrap_or_else(|| Phrase::fragment(whole));
        }
        if let Some(phrase) = self.aggregate(function) {
            return phrase;
        }
        let name = name_of(function);
        let Some(call) = plain_call(whole) else { return Phrase::fragment(whole) };
        self.scalar(&name, &call.arguments).unwrap_or_else(|| Phrase::fragment(whole))
    }

    fn scalar(&mut self, name: &str, arguments: &[&'a Expr]) -> Option<Phrase> {
        Some(match (name, arguments) {
            ("now" | "current_timestamp" | "localtimestamp" | "sysdate", []) => Phrase::atom("now"),
            ("current_date" | "curdate" | "today", []) => Phrase::atom("today"),
            ("date" | "datetime", _) => return self.date(name, arguments),
            ("coalesce" | "ifnull" | "nvl", [first, rest @ ..]) if !rest.is_empty() => {
                let rest: Vec<String> = rest.iter().map(|value| self.expr(value).at_least(Binding::Sum)).collect();
                let first = self.expr(first).at_least(Binding::Call);
                Phrase::new(format!("{first} ({} if null)", rest.join(", then ")), Binding::Call)
            }
            ("nullif", [value, other]) => {
                let other = self.expr(other).at_least(Binding::Sum);
                Phrase::new(format!("{} (null if {other})", self.expr(value).at_least(Binding::Call)), Binding::Call)
            }
            ("round", [value]) => self.suffix(value, "rounded"),
            ("round", [value, digits]) => match number_of(digits) {
                Some(digits) => self.suffix(value, &format!("rounded to {}", count(&digits, "decimal"))),
                None => return None,
            },
            ("ceil" | "ceiling", [value]) => self.suffix(value, "rounded up"),
            ("floor", [value]) => self.suffix(value, "rounded down"),
            ("abs", [value]) => self.prefix("absolute value of", value),
            ("lower" | "lcase", [value]) => self.suffix(value, "in lower case"),
            ("upper" | "ucase", [value]) => self.suffix(value, "in upper case"),
            ("trim", [value]) => self.prefix("trimmed", value),
            ("length" | "char_length" | "character_length", [value]) => self.prefix("length of", value),
            ("concat", parts) if parts.len() > 1 => self.concatenation(parts),
            ("greatest", values) if values.len() > 1 => self.choice("largest of", values),
            ("least", values) if values.len() > 1 => self.choice("smallest of", values),
            ("max", values) if values.len() > 1 => self.choice("largest of", values),
            ("min", values) if values.len() > 1 => self.choice("smallest of", values),
            ("if" | "iif", [condition, value, otherwise]) => {
                let condition = self.condition(condition).text;
                let value = self.expr(value).at_least(Binding::Sum);
                let otherwise = self.expr(otherwise).at_least(Binding::Sum);
                Phrase::new(format!("{value} if {condition}, otherwise {otherwise}"), Binding::Loose)
            }
            ("datediff", [later, earlier]) => self.days_between(earlier, later, "days"),
            ("timestampdiff", [Expr::Identifier(unit), earlier, later]) => {
                let unit = count("0", &unit.value.to_lowercase());
                self.days_between(earlier, later, unit.trim_start_matches("0 "))
            }
            ("date_add" | "date_sub", [day, length]) if matches!(length, Expr::Interval(_)) => {
                let word = if name == "date_add" { "after" } else { "before" };
                let length = self.expr(length).text;
                Phrase::new(format!("{length} {word} {}", self.expr(day).at_least(Binding::Call)), Binding::Sum)
            }
            _ => return None,
        })
    }

    fn choice(&mut self, words: &str, values: &[&'a Expr]) -> Phrase {
        let values: Vec<String> = values.iter().map(|value| self.expr(value).at_least(Binding::Sum)).collect();
        Phrase::new(format!("{words} {}", list(&values, "and")), Binding::Loose)
    }

    /// Explains `date('now', '-30 days')` of SQLite, and `DATE(moment)`.
    fn date(&mut self, name: &str, arguments: &[&'a Expr]) -> Option<Phrase> {
        let [first, changes @ ..] = arguments else {
            return Some(Phrase::atom(if name == "date" { "today" } else { "now" }));
        };
        let mut text = match text_of(first) {
            Some(text) if text == "now" && name == "date" => "today".to_owned(),
            Some(text) if text == "now" => "now".to_owned(),
            _ => self.expr(first).at_least(Binding::Call),
        };
        for change in changes {
            let change = text_of(change)?;
            text = match (change.strip_prefix("start of ").and_then(period::unit_of), period::modifier(&change)) {
                (Some(unit @ (Unit::Year | Unit::Month | Unit::Day)), _) => {
                    format!("start of the {} of {text}", unit.as_str())
                }
                (_, Some((number, unit))) => {
                    let word = if number < 0 { "before" } else { "after" };
                    format!("{} {word} {text}", count(&number.unsigned_abs().to_string(), unit.as_str()))
                }
                _ => return None,
            };
        }
        Some(Phrase::new(text, if changes.is_empty() { Binding::Call } else { Binding::Sum }))
    }
}
