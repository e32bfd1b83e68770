//! Numbers that are not in the rows that they may refer to: totals, row counts, numbers derived from stated values, and numbers that make
//! no claim about data. They cannot replace a value: a value of a result that the sentence names must also have a number of its own.

use std::collections::BTreeSet;

use super::super::{
    layout::{Choice, Gap},
    lookup::{Support, derive, find_row_count, find_unsuited, is_in_result},
    numbers::Written,
    source::Source,
};
use super::{Chosen, Dimension, Figure, Judge, Value, Verdict};

/// The context for judging the remaining figures.
pub(super) struct Rest<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) dimensions: &'a [Dimension],
    /// The mentions that the figure may refer to, in each dimension.
    pub(super) choices: &'a [Choice],
    /// The mentions that have a number.
    pub(super) served: &'a BTreeSet<usize>,
    pub(super) stated: &'a [Support],
}

impl Rest<'_> {
    fn choose(&self) -> Chosen {
        self.choices.iter().map(|choice| choice.values.clone()).collect()
    }

    /// Returns whether every mention that the figure may refer to has a number.
    fn is_free(&self) -> bool {
        self.choices.iter().flat_map(|choice| &choice.values).all(|value| self.served.contains(value))
    }

    pub(super) fn judge(&self, at: usize) -> Verdict {
        let figure = &self.judge.figures[at];
        match &figure.value {
            _ if figure.is_said => Verdict::Said,
            Value::Number(written) => self.judge_number(figure, written),
            Value::Named { .. } => Verdict::Wrong(self.explain(figure)),
            Value::Filled(filled) => {
                let sources: BTreeSet<usize> = filled.rows.iter().map(|(source, _)| *source).collect();
                let has_place = self.is_free() && !self.is_owner();
                let is_fine = has_place || self.is_far() || sources.iter().any(|source| self.may_be_about(*source));
                if is_fine {
                    Verdict::Derived(format!("{} is filled in", figure.text))
                } else {
                    Verdict::Wrong(self.explain(figure))
                }
            }
        }
    }

    fn is_owner(&self) -> bool {
        self.choices.iter().any(|choice| choice.is_owner)
    }

    /// Returns whether its mentions are in other parts of the sentence.
    fn is_far(&self) -> bool {
        let mut named = self.choices.iter().filter(|choice| !choice.values.is_empty()).peekable();
        named.peek().is_some() && named.all(|choice| choice.gap == Gap::Clause) && self.is_free()
    }

    /// Returns whether a result without the dimension of the figure may support it: it filters rows, or nothing else has a number for it.
    fn may_be_about(&self, source: usize) -> bool {
        let judge = self.judge;
        let mentions = self.choices.iter().flat_map(|choice| &choice.values).map(|value| &judge.mentions[*value]);
        let has_number = |of: &(usize, usize)| judge.sources[of.0].has_number(of.1);
        judge.allow(source, self.dimensions, &self.choose()).is_none()
            && (judge.sources[source].text.is_filtered
                || self.is_in_columns(source)
                || !mentions.flat_map(|mention| &mention.rows).any(has_number))
    }

    /// Returns whether the columns of a result are named after all values that the figure may refer to: `seattle_warmer`.
    fn is_in_columns(&self, source: usize) -> bool {
        let judge = self.judge;
        let columns = &judge.sources[source].query.columns;
        let mut named = self.choices.iter().flat_map(|choice| &choice.values).peekable();
        let is_column = |value: &usize| {
            let text = judge.sentence[judge.mentions[*value].span.clone()].to_lowercase().replace(' ', "_");
            columns.iter().any(|column| column.to_lowercase().contains(&text))
        };
        named.peek().is_some() && named.all(is_column)
    }

    fn judge_number(&self, figure: &Figure, written: &Written) -> Verdict {
        let judge = self.judge;
        let is_free = self.is_free();
        let has_place = is_free && !self.is_owner();
        let mut named = self.choices.iter().flat_map(|choice| &choice.values).peekable();
        let is_condition = named.peek().is_some() && named.all(|value| judge.mentions[*value].is_condition);
        if figure.is_scope && (is_free || is_condition) {
            return Verdict::Said;
        }
        if is_free && let Some(how) = derive(written, self.stated, judge.sources) {
            return Verdict::Derived(format!("{} is {how}", figure.text));
        }
        if has_place && let Some(how) = judge.find_total(figure).and_then(|support| support.how) {
            return Verdict::Derived(format!("{} is {how}", figure.text));
        }
        let mut sources = figure.sources.iter().map(|source| (*source, &judge.sources[*source]));
        let is_count = |source: &Source<'_>| find_row_count(written, source, judge.sentence).is_some();
        if has_place && sources.clone().any(|(_, source)| is_count(source)) {
            return Verdict::Traced;
        }
        if (has_place || self.is_only()) && self.counts_mentions(written) {
            return Verdict::Derived(format!("{} is the number of values that the sentence lists", figure.text));
        }
        let is_unkeyed = |of: usize| judge.allow(of, self.dimensions, &self.choose()).is_none();
        let is_elsewhere = sources.any(|(of, _)| {
            is_in_result(written, judge.sources, of)
                && (self.is_far() || (is_unkeyed(of) && (has_place || self.may_be_about(of))))
        });
        if is_elsewhere { Verdict::Traced } else { Verdict::Wrong(self.explain(figure)) }
    }

    /// Returns whether the sentence has no other number.
    fn is_only(&self) -> bool {
        self.judge.figures.iter().filter(|figure| !figure.is_name()).count() == 1
    }

    /// Returns whether it is the number of values of one dimension that the sentence lists.
    fn counts_mentions(&self, written: &Written) -> bool {
        let is_count = |dimension: &Dimension| {
            let rows = dimension.mentions.iter().map(|mention| &self.judge.mentions[*mention].rows);
            let count = rows.collect::<BTreeSet<_>>().len();
            count > 1 && written.is_equal(count as f64)
        };
        !written.is_percent && !written.is_money && self.dimensions.iter().any(is_count)
    }

    /// Explains why a figure is wrong.
    fn explain(&self, figure: &Figure) -> String {
        let judge = self.judge;
        let text = &figure.text;
        let named = self.choices.iter().flat_map(|choice| &choice.values).map(|value| {
            let span = judge.mentions[*value].span.clone();
            format!("`{}`", &judge.sentence[span])
        });
        let named: Vec<String> = named.filter(|name| name != "``").collect();
        if let Value::Number(written) = &figure.value {
            let unsuited = figure.sources.iter().find_map(|source| {
                let source = &judge.sources[*source];
                Some((find_unsuited(written, source)?, &source.query.id))
            });
            if let Some((column, query)) = unsuited {
                let unit = if written.is_percent { "percentage" } else { "monetary amount" };
                return format!("{text} is a count (`{column}` of {query}), not a {unit}");
            }
            let is_there = |of: &usize| is_in_result(written, judge.sources, *of);
            if !figure.sources.iter().any(is_there) {
                return format!("{text} is in no result");
            }
            let is_unkeyed = |of: &&usize| is_there(of) && judge.allow(**of, self.dimensions, &self.choose()).is_none();
            if let Some(of) = figure.sources.iter().find(is_unkeyed).filter(|_| !named.is_empty()) {
                let (id, named) = (&judge.sources[*of].query.id, named.join(", "));
                return format!(
                    "{text} is in {id}, which has no row of {named}: cite a query with both, or name the column"
                );
            }
        }
        format!(
            "{text} is in no row of {}",
            if named.is_empty() { "the table header".into() } else { named.join(", ") }
        )
    }
}
