//! Calculations that a sentence shows: `175 + 86 = 261`, `a difference of 89 (175 - 86)`, `175 / 720 = 24 %`.

use std::iter::Peekable;

use super::numbers::{Written, is_currency_sign};

/// A calculation of numbers of a sentence.
#[derive(Debug, PartialEq)]
pub(super) struct Calculation {
    /// The indexes of its operands.
    pub(super) operands: Vec<usize>,
    pub(super) value: f64,
    /// The index of the stated result, after an equals sign.
    pub(super) result: Option<usize>,
}

/// A part of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Number(f64),
    /// `+`, `-`, `*`, `/` or a parenthesis.
    Sign(char),
}

/// Finds the calculations of a sentence.
pub(super) fn find_calculations(sentence: &str, numbers: &[Written]) -> Vec<Calculation> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < numbers.len() {
        let (calculation, next) = read_chain(sentence, numbers, at);
        at = next;
        found.extend(calculation);
    }
    found
}

/// Returns the longest calculation that starts with a number, and the index of the number after it.
fn read_chain(sentence: &str, numbers: &[Written], begin: usize) -> (Option<Calculation>, usize) {
    let Some(first) = numbers[begin].value() else { return (None, begin + 1) };
    let opened = sentence[..numbers[begin].span.start].chars().rev().take_while(|c| *c == '(').count();
    let mut parts = vec![Part::Sign('('); opened];
    parts.push(Part::Number(first));
    let mut end = begin;
    while let Some(next) = numbers.get(end + 1) {
        let between = &sentence[numbers[end].span.end..next.span.start];
        let (Some(signs), Some(value)) = (read_signs(between), next.value()) else { break };
        // Its sign is the operator.
        let value = if signs.ends_with(&[Part::Sign('-')]) { value.abs() } else { value };
        parts.extend(signs);
        parts.push(Part::Number(value));
        end += 1;
    }
    if end == begin {
        return (None, begin + 1);
    }
    let after = &sentence[numbers[end].span.end..];
    let closed = after.chars().take_while(|c| *c == ')').count();
    parts.extend(vec![Part::Sign(')'); closed]);
    let Some(value) = evaluate(&balance(parts)) else { return (None, end + 1) };
    let is_result = |next: &&Written| {
        let between = &sentence[numbers[end].span.end..next.span.start];
        between
            .trim_matches(|c: char| c.is_whitespace() || is_mark(c) || c == ')')
            .strip_prefix(['=', '≈'])
            .is_some_and(|rest| {
                rest.trim_matches(|c: char| c.is_whitespace() || is_mark(c) || matches!(c, '-' | '−')).is_empty()
            })
    };
    let result = numbers.get(end + 1).filter(is_result).map(|_| end + 1);
    let next = result.unwrap_or(end) + 1;
    (Some(Calculation { operands: (begin..=end).collect(), value, result }), next)
}

/// Returns whether the character may be next to a number: a unit, emphasis or a space.
fn is_mark(c: char) -> bool {
    matches!(c, '%' | '*' | '`') || is_currency_sign(c)
}

/// Returns the operator that a character stands for.
pub(super) fn find_operator(c: char) -> Option<char> {
    match c {
        '+' | '-' | '*' | '/' => Some(c),
        '−' | '–' => Some('-'),
        '×' | 'x' | '·' => Some('*'),
        '÷' => Some('/'),
        _ => None,
    }
}

/// Parses a single operator with optional parentheses.
fn read_signs(between: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut operators = 0;
    // `**` is bold text.
    for c in between.replace("**", "").chars() {
        let operator = find_operator(c);
        operators += usize::from(operator.is_some());
        match operator {
            Some(sign) => parts.push(Part::Sign(sign)),
            None if matches!(c, '(' | ')') => parts.push(Part::Sign(c)),
            None if c.is_whitespace() || is_mark(c) => {}
            None => return None,
        }
    }
    (operators == 1).then_some(parts)
}

/// Removes unbalanced parentheses.
fn balance(parts: Vec<Part>) -> Vec<Part> {
    let mut open = Vec::new();
    let mut lone = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Sign('(') => open.push(at),
            Part::Sign(')') if open.pop().is_none() => lone.push(at),
            _ => {}
        }
    }
    lone.extend(open);
    parts.into_iter().enumerate().filter(|(at, _)| !lone.contains(at)).map(|(_, part)| part).collect()
}

/// Evaluates an expression; `None` if it is incomplete or divides by zero.
pub(super) fn evaluate(parts: &[Part]) -> Option<f64> {
    let mut rest = parts.iter().copied().peekable();
    let value = read_sum(&mut rest)?;
    (rest.next().is_none() && value.is_finite()).then_some(value)
}

fn read_sum(rest: &mut Peekable<impl Iterator<Item = Part>>) -> Option<f64> {
    let mut value = read_product(rest)?;
    while let Some(Part::Sign(sign)) = rest.next_if(|part| matches!(part, Part::Sign('+' | '-'))) {
        let next = read_product(rest)?;
        value += if sign == '+' { next } else { -next };
    }
    Some(value)
}

fn read_product(rest: &mut Peekable<impl Iterator<Item = Part>>) -> Option<f64> {
    let mut value = read_factor(rest)?;
    while let Some(Part::Sign(sign)) = rest.next_if(|part| matches!(part, Part::Sign('*' | '/'))) {
        let next = read_factor(rest)?;
        value = if sign == '*' { value * next } else { value / next };
    }
    Some(value)
}

fn read_factor(rest: &mut Peekable<impl Iterator<Item = Part>>) -> Option<f64> {
    match rest.next()? {
        Part::Number(number) => Some(number),
        Part::Sign('-') => Some(-read_factor(rest)?),
        Part::Sign('(') => {
            let value = read_sum(rest)?;
            (rest.next()? == Part::Sign(')')).then_some(value)
        }
        Part::Sign(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::trace::numbers::find_numbers;

    #[test]
    fn finds_calculations_with_and_without_a_result() {
        let check = |sentence: &str, expected: &[(&[usize], f64, Option<usize>)]| {
            let numbers = find_numbers(sentence, &[], &|_| false);
            let found: Vec<(Vec<usize>, f64, Option<usize>)> = find_calculations(sentence, &numbers)
                .into_iter()
                .map(|one| (one.operands, one.value, one.result))
                .collect();
            let expected: Vec<(Vec<usize>, f64, Option<usize>)> =
                expected.iter().map(|(operands, value, result)| (operands.to_vec(), *value, *result)).collect();
            assert_eq!(found, expected, "{sentence}");
        };
        check("175 + 86 = 261", &[(&[0, 1], 261.0, Some(2))]);
        check("a difference of 89 (175 - 86)", &[(&[1, 2], 89.0, None)]);
        check("**175** − $86 = $89", &[(&[0, 1], 89.0, Some(2))]);
        check("(175 + 86) / 2 = 130.5", &[(&[0, 1, 2], 130.5, Some(3))]);
        check("175 + 86 × 2", &[(&[0, 1, 2], 347.0, None)]);
        check("86 / 175 ≈ 49 %", &[(&[0, 1], 86.0 / 175.0, Some(2))]);
        check("175 and 86", &[]);
        check("175 / 0", &[]);
    }
}
