//! Values: columns, literals, arithmetic, CASE and casts.

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType, DateTimeField, Expr, Interval, UnaryOperator, Value,
};

use super::period;
use super::phrase::{Binding, Phrase, count, list, quote};
use super::{MAX_DEPTH, Writer};
use crate::resolution::Meaning;
use crate::syntax::{last_name, literal_of, operands, plain_call, text_of, value_of, without_parentheses};

impl<'a> Writer<'a> {
    /// Explains a value.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Phrase {
        if self.depth >= MAX_DEPTH {
            return Phrase::fragment(expr);
        }
        self.depth += 1;
        let phrase = match period::part(self, expr) {
            Some(part) => {
                let subject = self.expr(part.subject).at_least(Binding::Sum);
                Phrase::new(format!("{} of {subject}", part.words()), Binding::Call)
            }
            None => self.expr_here(expr),
        };
        self.depth -= 1;
        phrase
    }

    fn expr_here(&mut self, expr: &'a Expr) -> Phrase {
        if let Some(day) = period::day(expr) {
            return Phrase::atom(day.to_string());
        }
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.name(expr),
            Expr::Nested(inner) => match self.expr(inner) {
                phrase if phrase.binding >= Binding::Call => phrase,
                phrase => Phrase::atom(format!("({})", phrase.text)),
            },
            Expr::Value(value) => literal(&value.value),
            Expr::TypedString(_) => match text_of(expr) {
                Some(text) => Phrase::atom(quote(&text)),
                None => Phrase::fragment(expr),
            },
            Expr::BinaryOp { left, op, right } => self.binary(expr, left, op, right),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
                Phrase::new(format!("-{}", self.expr(expr).at_least(Binding::Call)), Binding::Product)
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Expr::Cast { kind, expr, data_type, .. } => self.cast(kind, expr, data_type),
            Expr::Subquery(query) => Phrase::atom(self.subquery(query, false)),
            Expr::InSubquery { expr, subquery, negated } => {
                let text = self.expr(expr).at_least(Binding::Sum);
                let verb = if *negated { "is not among" } else { "is among" };
                Phrase::atom(format!("{text} {verb} {}", self.subquery(subquery, false)))
            }
            Expr::Exists { subquery, negated } => {
                let verb = if *negated { "there are no rows in" } else { "there are rows in" };
                Phrase::atom(format!("{verb} {}", self.subquery(subquery, false)))
            }
            Expr::Function(function) => self.function(expr, function),
            Expr::Interval(interval) => length(interval).unwrap_or_else(|| Phrase::fragment(expr)),
            Expr::AtTimeZone { timestamp, time_zone } => {
                let zone = self.expr(time_zone).at_least(Binding::Call);
                Phrase::new(
                    format!("{} in time zone {zone}", self.expr(timestamp).at_least(Binding::Call)),
                    Binding::Sum,
                )
            }
            Expr::Trim { trim_where: None, trim_what: None, expr, trim_characters: None } => {
                self.prefix("trimmed", expr)
            }
            Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                self.suffix(expr, "rounded up")
            }
            Expr::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                self.suffix(expr, "rounded down")
            }
            Expr::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.expr(part).text).collect();
                Phrase::atom(format!("({})", parts.join(", ")))
            }
            other => self.condition_words(other).unwrap_or_else(|| Phrase::fragment(other)),
        }
    }

    /// Explains a column, an output name, or an unknown name.
    fn name(&mut self, expr: &'a Expr) -> Phrase {
        let written = last_name(expr);
        match self.names.meaning(expr) {
            Some(Meaning::Column(used)) => Phrase::atom(self.column(used, written)),
            Some(Meaning::Text) => Phrase::atom(quote(written)),
            Some(Meaning::Alias) if self.frame().is_some_and(|frame| !frame.is_alias) => {
                let projection = self.frame().map(|frame| frame.select.projection.as_slice()).unwrap_or_default();
                let meant = projection.iter().find(|item| super::names::is_called(item, written)).and_then(value_of);
                match meant.filter(|meant| !std::ptr::eq(*meant, expr)) {
                    Some(meant) => self.as_alias(|writer| writer.expr(meant)),
                    None => Phrase::atom(written),
                }
            }
            Some(Meaning::Alias) | None => match expr {
                Expr::CompoundIdentifier(parts) => {
                    Phrase::atom(parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join("."))
                }
                _ => Phrase::atom(written),
            },
        }
    }

    fn binary(&mut self, whole: &'a Expr, left: &'a Expr, op: &'a BinaryOperator, right: &'a Expr) -> Phrase {
        use BinaryOperator as Op;
        let (sign, binding) = match op {
            Op::Plus => ("+", Binding::Sum),
            Op::Minus => ("-", Binding::Sum),
            Op::Multiply => ("×", Binding::Product),
            Op::Divide => ("/", Binding::Product),
            Op::Modulo => ("modulo", Binding::Product),
            Op::StringConcat => {
                let parts = operands(whole, &Op::StringConcat);
                return self.concatenation(&parts);
            }
            _ => return self.condition_words(whole).unwrap_or_else(|| Phrase::fragment(whole)),
        };
        if let (Expr::Interval(interval), Op::Plus | Op::Minus) = (right, op)
            && let Some(length) = length(interval)
        {
            let word = if matches!(op, Op::Plus) { "after" } else { "before" };
            return Phrase::new(
                format!("{} {word} {}", length.text, self.expr(left).at_least(Binding::Call)),
                Binding::Sum,
            );
        }
        if matches!(op, Op::Minus)
            && let (Some(later), Some(earlier)) = (julian_day(left), julian_day(right))
        {
            return self.days_between(earlier, later, "days");
        }
        let first = self.expr(left).at_least(binding);
        // The right operand of a minus or a quotient keeps its parentheses.
        let last = self.expr(right);
        let needed = if binding == Binding::Sum { Binding::Product } else { Binding::Call };
        Phrase::new(format!("{first} {sign} {}", last.at_least(needed)), binding)
    }

    pub(super) fn concatenation(&mut self, parts: &[&'a Expr]) -> Phrase {
        let parts: Vec<String> = parts.iter().map(|part| self.expr(part).at_least(Binding::Sum)).collect();
        Phrase::new(format!("concatenation of {}", list(&parts, "and")), Binding::Loose)
    }

    pub(super) fn days_between(&mut self, earlier: &'a Expr, later: &'a Expr, unit: &str) -> Phrase {
        let from = self.expr(earlier).at_least(Binding::Call);
        Phrase::new(format!("{unit} from {from} to {}", self.expr(later).at_least(Binding::Call)), Binding::Call)
    }

    /// Explains `CASE`: `A if this, B if that, otherwise C`.
    pub(super) fn case(
        &mut self,
        operand: Option<&'a Expr>,
        branches: &'a [CaseWhen],
        otherwise: Option<&'a Expr>,
    ) -> Phrase {
        let mut parts = Vec::new();
        for CaseWhen { condition, result } in branches {
            let condition = match operand {
                Some(operand) => {
                    let text = self.expr(operand).at_least(Binding::Sum);
                    format!("{text} is {}", self.value(operand, condition))
                }
                None => self.condition(condition).text,
            };
            parts.push(format!("{} if {condition}", self.expr(result).at_least(Binding::Sum)));
        }
        let otherwise = otherwise.map_or_else(|| "null".to_owned(), |value| self.expr(value).at_least(Binding::Sum));
        parts.push(format!("otherwise {otherwise}"));
        Phrase::new(parts.join(", "), Binding::Loose)
    }

    fn cast(&mut self, kind: &CastKind, inner: &'a Expr, data_type: &DataType) -> Phrase {
        let text = self.expr(inner);
        if matches!(data_type, DataType::Date) && (period::is_moment(inner) || period::day(inner).is_some()) {
            return text;
        }
        let may_fail = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
        let end = if may_fail { " (null where that fails)" } else { "" };
        let name = data_type.to_string().to_lowercase();
        Phrase::new(format!("{} as {name}{end}", text.at_least(Binding::Call)), Binding::Sum)
    }

    pub(super) fn prefix(&mut self, words: &str, inner: &'a Expr) -> Phrase {
        Phrase::new(format!("{words} {}", self.expr(inner).at_least(Binding::Call)), Binding::Call)
    }

    pub(super) fn suffix(&mut self, inner: &'a Expr, words: &str) -> Phrase {
        Phrase::new(format!("{} {words}", self.expr(inner).at_least(Binding::Call)), Binding::Sum)
    }
}

fn literal(value: &Value) -> Phrase {
    match value {
        Value::Number(number, _) => Phrase::atom(number.to_string()),
        Value::Null => Phrase::atom("null"),
        Value::Boolean(value) => Phrase::atom(value.to_string()),
        other => match other.clone().into_string() {
            Some(text) if period::parse_day(&text).is_none() => Phrase::atom(quote(&text)),
            Some(text) => Phrase::atom(text),
            None => Phrase::fragment(other),
        },
    }
}

/// Explains `INTERVAL '3' MONTH` as `3 months`.
fn length(interval: &Interval) -> Option<Phrase> {
    let value = literal_of(&interval.value)?;
    let text = match &interval.leading_field {
        Some(field) => count(value.trim(), field.to_string().to_lowercase().trim_end_matches('s')),
        None => match period::modifier(&value) {
            Some((number, unit)) => count(&number.to_string(), unit.as_str()),
            None => value,
        },
    };
    Some(Phrase::new(text, Binding::Call))
}

/// Returns the date of `julianday(date)`.
fn julian_day(expr: &Expr) -> Option<&Expr> {
    let call = plain_call(without_parentheses(expr)).filter(|call| call.name == "julianday")?;
    match call.arguments.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}
