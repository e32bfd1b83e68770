//! Conditions: comparisons, lists, patterns and periods, and how they are combined.

use chrono::NaiveDate;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::period;
use super::phrase::{Binding, Phrase, list, quote};
use super::{MAX_DEPTH, Writer};
use crate::syntax::{conjuncts, is_literal, literal_of, operands, text_of, without_parentheses};

/// One end of a period.
#[derive(Clone, Copy)]
struct End<'a> {
    subject: &'a Expr,
    day: NaiveDate,
    is_lower: bool,
    /// Whether the day itself is part of the period.
    is_included: bool,
}

impl<'a> Writer<'a> {
    /// Explains a condition.
    pub(super) fn condition(&mut self, condition: &'a Expr) -> Phrase {
        if self.depth >= MAX_DEPTH {
            return Phrase::fragment(condition);
        }
        self.depth += 1;
        let condition = without_parentheses(condition);
        let phrase = match condition {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.state(condition, "is true"),
            _ => self.condition_words(condition).unwrap_or_else(|| self.expr(condition)),
        };
        self.depth -= 1;
        phrase
    }

    /// Explains an expression that is true or false; `None` for another value, or one without words.
    pub(super) fn condition_words(&mut self, condition: &'a Expr) -> Option<Phrase> {
        Some(match condition {
            Expr::BinaryOp { op: BinaryOperator::And, .. } => self.conjunction(&conjuncts(condition)),
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
                let parts: Vec<String> = operands(condition, &BinaryOperator::Or)
                    .into_iter()
                    .map(|part| {
                        let phrase = self.condition(part);
                        if phrase.binding == Binding::And { format!("({})", phrase.text) } else { phrase.text }
                    })
                    .collect();
                Phrase::new(parts.join(" or "), Binding::Or)
            }
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => self.negation(expr),
            Expr::BinaryOp { left, op, right } => return self.comparison(left, op, right),
            Expr::IsNull(inner) => self.state(inner, "is null"),
            Expr::IsNotNull(inner) => self.state(inner, "is not null"),
            Expr::IsTrue(inner) => self.state(inner, "is true"),
            Expr::IsNotTrue(inner) => self.state(inner, "is not true"),
            Expr::IsFalse(inner) => self.state(inner, "is false"),
            Expr::IsNotFalse(inner) => self.state(inner, "is not false"),
            Expr::IsDistinctFrom(left, right) => self.pair(left, "is distinct from", right),
            Expr::IsNotDistinctFrom(left, right) => self.pair(left, "is not distinct from", right),
            Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            Expr::Between { expr, negated, low, high } => {
                let subject = self.expr(expr).at_least(Binding::Sum);
                let (low, high) = (self.value(expr, low), self.value(expr, high));
                let verb = if *negated { " not" } else { "" };
                Phrase::atom(format!("{subject}{verb} from {low} to {high}"))
            }
            Expr::Like { negated, expr, pattern, escape_char, any: false } => {
                self.like(condition, expr, pattern, *negated, escape_char.is_some(), false)
            }
            Expr::ILike { negated, expr, pattern, escape_char, any: false } => {
                self.like(condition, expr, pattern, *negated, escape_char.is_some(), true)
            }
            Expr::RLike { negated, expr, pattern, .. }
            | Expr::SimilarTo { negated, expr, pattern, escape_char: None } => {
                self.pair(expr, if *negated { "does not match the pattern" } else { "matches the pattern" }, pattern)
            }
            Expr::Exists { .. } | Expr::InSubquery { .. } => Phrase::atom(self.existence(condition)?.singular()),
            _ => return None,
        })
    }

    fn negation(&mut self, inner: &'a Expr) -> Phrase {
        let inner = without_parentheses(inner);
        match inner {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.state(inner, "is false"),
            Expr::Exists { .. } | Expr::InSubquery { .. } => match self.existence(inner) {
                Some(existence) => Phrase::atom(existence.negate().singular()),
                None => Phrase::atom(format!("not ({})", self.condition(inner).text)),
            },
            _ => Phrase::atom(format!("not ({})", self.condition(inner).text)),
        }
    }

    /// Explains conditions joined by AND, with both ends of a period combined.
    pub(super) fn conjunction(&mut self, parts: &[&'a Expr]) -> Phrase {
        let mut texts: Vec<String> = Vec::new();
        let mut is_done = vec![false; parts.len()];
        for (at, part) in parts.iter().copied().enumerate() {
            if is_done[at] {
                continue;
            }
            let end = self.end(part);
            let other = end.and_then(|end| {
                let rest = (at + 1..parts.len()).filter(|next| !is_done[*next]);
                rest.filter_map(|next| Some((next, self.end(parts[next])?)))
                    .find(|(_, other)| other.is_lower != end.is_lower && other.subject == end.subject)
            });
            if let Some((end, (next, other))) = end.zip(other) {
                let (lower, upper) = if end.is_lower { (end, other) } else { (other, end) };
                if let Some(text) = self.range(&lower, &upper) {
                    is_done[next] = true;
                    texts.push(text);
                    continue;
                }
            }
            let phrase = self.condition(part);
            if parts.len() == 1 {
                return phrase;
            }
            texts.push(if phrase.binding == Binding::Or { format!("({})", phrase.text) } else { phrase.text });
        }
        let binding = if texts.len() > 1 { Binding::And } else { Binding::Atom };
        Phrase::new(texts.join(" and "), binding)
    }

    /// Parses a comparison with a day.
    fn end(&self, condition: &'a Expr) -> Option<End<'a>> {
        let Expr::BinaryOp { left, op, right } = without_parentheses(condition) else { return None };
        let is_turned = period::day(left).is_some();
        let (subject, other) = if is_turned { (right, left) } else { (left, right) };
        let (is_greater, is_included) = match op {
            BinaryOperator::Gt => (true, false),
            BinaryOperator::GtEq => (true, true),
            BinaryOperator::Lt => (false, false),
            BinaryOperator::LtEq => (false, true),
            _ => return None,
        };
        let day = period::day(other)?;
        Some(End { subject: subject.as_ref(), day, is_lower: is_greater != is_turned, is_included })
    }

    /// Explains both ends of a period: `invoice date in 2025`.
    fn range(&mut self, lower: &End<'a>, upper: &End<'a>) -> Option<String> {
        let subject = self.expr(lower.subject).at_least(Binding::Sum);
        match (lower.is_included, upper.is_included) {
            (true, false) => match period::name(lower.day, upper.day) {
                Some(name) => Some(format!("{subject} {name}")),
                None => Some(format!("{subject} from {} to before {}", lower.day, upper.day)),
            },
            (true, true) => Some(format!("{subject} from {} to {}", lower.day, upper.day)),
            (false, _) => None,
        }
    }

    fn comparison(&mut self, left: &'a Expr, op: &'a BinaryOperator, right: &'a Expr) -> Option<Phrase> {
        use BinaryOperator as Op;
        if let Some(text) = self.part_of_date(left, op, right).or_else(|| self.part_of_date(right, op, left)) {
            return Some(Phrase::atom(text));
        }
        let is_turned = is_literal(left) && !is_literal(right);
        let (subject, other) = if is_turned { (right, left) } else { (left, right) };
        let op = match (op, is_turned) {
            (Op::Gt, true) => &Op::Lt,
            (Op::Lt, true) => &Op::Gt,
            (Op::GtEq, true) => &Op::LtEq,
            (Op::LtEq, true) => &Op::GtEq,
            (op, _) => op,
        };
        let is_of_days = period::day(other).is_some() || period::is_moment(other);
        let is_value = is_literal(other) || is_of_days;
        let verb = match (op, is_of_days, is_value) {
            (Op::Eq, _, true) => "is",
            (Op::Eq, _, false) => "equals",
            (Op::NotEq, _, true) => "is not",
            (Op::NotEq, _, false) => "differs from",
            (Op::Gt, true, _) => "after",
            (Op::GtEq, true, _) => "from",
            (Op::Lt, true, _) => "before",
            (Op::LtEq, true, _) => "up to",
            (Op::Gt, false, _) => "is more than",
            (Op::GtEq, false, _) => "is at least",
            (Op::Lt, false, _) => "is less than",
            (Op::LtEq, false, _) => "is at most",
            (Op::PGRegexMatch | Op::PGRegexIMatch | Op::Regexp, ..) => "matches the pattern",
            (Op::PGRegexNotMatch | Op::PGRegexNotIMatch, ..) => "does not match the pattern",
            _ => return None,
        };
        let left = self.expr(subject).at_least(Binding::Sum);
        let right = self.value(subject, other);
        Some(Phrase::atom(format!("{left} {verb} {right}")))
    }

    /// Explains a condition on a part of a date that selects a calendar period: `strftime('%Y', day) = '2025'`.
    fn part_of_date(&mut self, left: &'a Expr, op: &BinaryOperator, right: &'a Expr) -> Option<String> {
        let is_not = match op {
            BinaryOperator::Eq => "",
            BinaryOperator::NotEq => "not ",
            _ => return None,
        };
        let part = period::part(self, left)?;
        let subject = self.expr(part.subject).at_least(Binding::Sum);
        let span = part.span_of(right)?;
        Some(format!("{subject} {is_not}{}", period::name(span.from, span.to)?))
    }

    fn in_list(&mut self, subject: &'a Expr, entries: &'a [Expr], is_negated: bool) -> Phrase {
        let text = self.expr(subject).at_least(Binding::Sum);
        let values: Vec<String> = entries.iter().map(|entry| self.value(subject, entry)).collect();
        let verb = match (values.len(), is_negated) {
            (1, false) => "is",
            (1, true) => "is not",
            (_, false) => "is one of",
            (_, true) => "is not one of",
        };
        Phrase::atom(format!("{text} {verb} {}", list(&values, "or")))
    }

    fn like(
        &mut self,
        whole: &'a Expr,
        subject: &'a Expr,
        pattern: &'a Expr,
        is_negated: bool,
        has_escape: bool,
        ignores_case: bool,
    ) -> Phrase {
        let Some(text) = text_of(pattern).filter(|_| !has_escape) else {
            let verb = if is_negated { "is not like" } else { "is like" };
            return if has_escape { Phrase::fragment(whole) } else { self.pair(subject, verb, pattern) };
        };
        let inner = text.trim_matches('%');
        let is_plain = !inner.is_empty() && !inner.contains(['%', '_', '\\']);
        let (verb, negated, shown) = match (text.starts_with('%'), text.ends_with('%')) {
            (true, true) if is_plain => ("contains", "does not contain", inner),
            (false, true) if is_plain => ("starts with", "does not start with", inner),
            (true, false) if is_plain => ("ends with", "does not end with", inner),
            _ => ("is like", "is not like", text.as_str()),
        };
        let left = self.expr(subject).at_least(Binding::Sum);
        let case = if ignores_case { " (in any case)" } else { "" };
        Phrase::atom(format!("{left} {} {}{case}", if is_negated { negated } else { verb }, quote(shown)))
    }

    fn state(&mut self, inner: &'a Expr, words: &str) -> Phrase {
        Phrase::atom(format!("{} {words}", self.expr(inner).at_least(Binding::Sum)))
    }

    fn pair(&mut self, left: &'a Expr, words: &str, right: &'a Expr) -> Phrase {
        let text = self.expr(left).at_least(Binding::Sum);
        Phrase::atom(format!("{text} {words} {}", self.value(left, right)))
    }

    /// Explains the value of a comparison; a code is shown with its meaning.
    pub(super) fn value(&mut self, subject: &'a Expr, value: &'a Expr) -> String {
        let id = self.names.column(without_parentheses(subject)).and_then(|used| used.column.id.clone());
        if let Some((id, literal)) = id.zip(literal_of(without_parentheses(value)))
            && let Some(meaning) = self.labels.value(&id, &literal).filter(|meaning| !meaning.is_empty())
        {
            return format!("{meaning} ({literal})");
        }
        self.expr(value).at_least(Binding::Sum)
    }
}
