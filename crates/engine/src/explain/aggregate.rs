//! Aggregates: of all rows, of distinct values, and of the rows that meet a condition.

use sqlparser::ast::{
    CaseWhen, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments,
};

use super::Writer;
use super::phrase::{Binding, Phrase};
use crate::syntax::{name_of, number_of, text_of, without_parentheses};

/// What an aggregate is computed over.
struct Over<'a> {
    /// `None` for the rows themselves.
    value: Option<&'a Expr>,
    /// The rows to include.
    condition: Option<&'a Expr>,
    is_distinct: bool,
}

/// Returns the words before the argument of an aggregate; `None` for another function.
pub(super) fn words(name: &str) -> Option<&'static str> {
    Some(match name {
        "count" => "count of",
        "sum" | "total" => "sum of",
        "avg" | "mean" => "average of",
        "min" => "minimum of",
        "max" => "maximum of",
        "median" => "median of",
        "stddev" | "stddev_samp" | "stddev_pop" | "std" | "stdev" => "standard deviation of",
        "variance" | "var_samp" | "var_pop" | "var" => "variance of",
        "approx_distinct" | "approx_count_distinct" => "approximate count of distinct",
        "group_concat" | "string_agg" | "array_agg" | "listagg" => "list of",
        "bool_and" | "every" => "whether all rows meet",
        "bool_or" => "whether a row meets",
        _ => return None,
    })
}

/// Returns the argument of an aggregate over a plain column, or `Some(None)` over the rows.
pub(super) fn plain_argument(expr: &Expr) -> Option<Option<&Expr>> {
    let Expr::Function(function) = expr else { return None };
    let is_plain = function.over.is_none() && function.filter.is_none() && function.within_group.is_empty();
    let FunctionArguments::List(list) = &function.args else { return None };
    words(&name_of(function)).filter(|_| is_plain && list.clauses.is_empty())?;
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => Some(None),
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))))] => {
            Some(Some(expr))
        }
        _ => None,
    }
}

impl<'a> Writer<'a> {
    /// Explains an aggregate; `None` for another function, or for one without words.
    pub(super) fn aggregate(&mut self, function: &'a Function) -> Option<Phrase> {
        let name = name_of(function);
        if let Some(phrase) = self.percentile(&name, function) {
            return Some(phrase);
        }
        let FunctionArguments::List(list) = &function.args else { return None };
        if !function.within_group.is_empty() || function.null_treatment.is_some() {
            return None;
        }
        if let ("count_if" | "countif", [FunctionArg::Unnamed(FunctionArgExpr::Expr(condition))]) =
            (name.as_str(), list.args.as_slice())
        {
            return Some(self.count_where(condition));
        }
        let words = words(&name)?;
        let is_list = words == "list of";
        let value = match list.args.as_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => None,
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => Some(expr),
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)), _] if is_list => Some(expr),
            _ => return None,
        };
        let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let over = Over { value, condition: function.filter.as_deref(), is_distinct };
        let phrase = self.over(words, &name, over);
        match is_list {
            true => self.add_separator(phrase, &list.args, &list.clauses),
            false if list.clauses.is_empty() => Some(phrase),
            false => None,
        }
    }

    fn count_where(&mut self, condition: &'a Expr) -> Phrase {
        Phrase::new(format!("count of rows where {}", self.condition(condition).text), Binding::Loose)
    }

    fn over(&mut self, words: &str, name: &str, over: Over<'a>) -> Phrase {
        let Over { value, condition, is_distinct } = over;
        // CASE in an aggregate selects the rows to include.
        let case = value.filter(|_| condition.is_none()).and_then(|value| single_case(value, name));
        let (value, condition) = match case {
            Some((condition, value)) => (value, Some(condition)),
            None => (value, condition),
        };
        let words = match (name, value) {
            ("avg", None) if case.is_some() => "share of",
            ("sum", None) if case.is_some() => "count of",
            _ => words,
        };
        let distinct = if is_distinct { "distinct " } else { "" };
        let text = match value {
            None => format!("{words} rows"),
            Some(value) => format!("{words} {distinct}{}", self.expr(value).at_least(Binding::Atom)),
        };
        match condition {
            Some(condition) => Phrase::new(format!("{text} where {}", self.condition(condition).text), Binding::Loose),
            None => Phrase::new(text, Binding::Call),
        }
    }

    /// Adds the separator and the order of a list of values.
    fn add_separator(
        &mut self,
        phrase: Phrase,
        arguments: &'a [FunctionArg],
        clauses: &'a [FunctionArgumentClause],
    ) -> Option<Phrase> {
        let mut text = phrase.text;
        if let [_, FunctionArg::Unnamed(FunctionArgExpr::Expr(separator))] = arguments {
            text = format!("{text} separated by {}", super::phrase::quote(&text_of(separator)?));
        }
        for clause in clauses {
            match clause {
                FunctionArgumentClause::OrderBy(sorts) => {
                    let sorts: Vec<String> = sorts.iter().map(|sort| self.sort(sort)).collect();
                    text = format!("{text} by {}", sorts.join(", "));
                }
                FunctionArgumentClause::Separator(separator) => {
                    let separator = separator.value.clone().into_string()?;
                    text = format!("{text} separated by {}", super::phrase::quote(&separator));
                }
                _ => return None,
            }
        }
        Some(Phrase::new(text, phrase.binding))
    }

    /// Explains `percentile_cont(0.5) WITHIN GROUP (ORDER BY total)`.
    fn percentile(&mut self, name: &str, function: &'a Function) -> Option<Phrase> {
        let FunctionArguments::List(list) = &function.args else { return None };
        let (true, [sort], None) =
            (matches!(name, "percentile_cont" | "percentile_disc"), function.within_group.as_slice(), &function.filter)
        else {
            return None;
        };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(share))] = list.args.as_slice() else { return None };
        let share = number_of(share)?;
        let value = self.expr(&sort.expr).at_least(Binding::Atom);
        let end = if sort.options.asc == Some(false) { " descending" } else { "" };
        let text = match share.as_str() {
            "0.5" => format!("median of {value}"),
            share => format!("{share} percentile of {value}{end}"),
        };
        Some(Phrase::new(text, Binding::Call))
    }
}

/// Returns the condition and value of a CASE that excludes all other rows; no value where each row counts as one.
fn single_case<'a>(value: &'a Expr, name: &str) -> Option<(&'a Expr, Option<&'a Expr>)> {
    let Expr::Case { operand: None, conditions, else_result, .. } = without_parentheses(value) else { return None };
    let [CaseWhen { condition, result }] = conditions.as_slice() else { return None };
    let other = else_result.as_deref();
    let is_one = number_of(result).is_some_and(|number| matches!(number.as_str(), "1" | "1.0"));
    let is_zero = other.and_then(number_of).is_some_and(|number| matches!(number.as_str(), "0" | "0.0"));
    match (name, is_one, other.is_none(), is_zero) {
        ("sum", true, _, true) | ("sum", true, true, _) => Some((condition, None)),
        ("avg", true, false, true) => Some((condition, None)),
        ("count", true, true, _) => Some((condition, None)),
        ("sum", false, _, true) | ("sum" | "count" | "avg" | "min" | "max", false, true, _) => {
            Some((condition, Some(result)))
        }
        _ => None,
    }
}
