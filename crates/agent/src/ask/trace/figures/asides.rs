//! Values that rename the rows of another value in an aside: `employee 250, the Purchasing Manager` or `Germany (Berlin)`. Such a value
//! applies only to the numbers of the value that it renames.

use super::super::layout::Choice;
use super::{Dimension, Judge};

/// A mention that renames the rows of another one.
struct Aside {
    mention: usize,
    /// The renamed mention, with the index of its dimension.
    renamed: usize,
    dimension: usize,
}

/// Releases the numbers that refer to another value than the renamed one, and that another number separates from the aside.
pub(super) fn release(judge: &Judge<'_>, dimensions: &[Dimension], choices: &mut [Vec<Choice>]) {
    let asides = find_asides(judge, dimensions);
    if asides.is_empty() {
        return;
    }
    for (at, choices) in choices.iter_mut().enumerate() {
        let released = |of: &usize| {
            let is_other = |value: &usize| {
                asides.iter().any(|aside| {
                    let named = list_named(judge, at, &dimensions[aside.dimension], &choices[aside.dimension]);
                    aside.mention == *value
                        && !named.is_empty()
                        && !named.contains(&aside.renamed)
                        && has_number_between(judge, at, *value)
                })
            };
            !choices[*of].values.is_empty() && choices[*of].values.iter().all(is_other)
        };
        let released: Vec<usize> = (0..dimensions.len()).filter(released).collect();
        for of in released {
            choices[of] = Choice::default();
        }
    }
}

/// Returns the values of a dimension that a figure refers to, or is.
fn list_named(judge: &Judge<'_>, at: usize, dimension: &Dimension, choice: &Choice) -> Vec<usize> {
    let figure = &judge.figures[at];
    if !figure.is_of(dimension) {
        return choice.values.clone();
    }
    dimension.mentions.iter().copied().filter(|mention| judge.mentions[*mention].span == figure.span).collect()
}

/// Finds mentions of different dimensions that name the same rows, one of them in parentheses or between commas after the other.
fn find_asides(judge: &Judge<'_>, dimensions: &[Dimension]) -> Vec<Aside> {
    let mut found = Vec::new();
    for (dimension, known) in dimensions.iter().enumerate() {
        let others = dimensions.iter().enumerate().filter(|(at, _)| *at != dimension);
        for mention in others.flat_map(|(_, other)| other.mentions.iter().copied()) {
            for renamed in known.mentions.iter().copied() {
                let rows = &judge.mentions[mention].rows;
                let is_same = !rows.is_empty() && *rows == judge.mentions[renamed].rows;
                // In parentheses, either value can explain the other; a key is explained by every other value.
                let is_key =
                    |at: usize| judge.figures.iter().any(|one| one.is_key() && one.span == judge.mentions[at].span);
                let signs: &[char] = if is_key(renamed) { &['(', ','] } else { &['('] };
                if is_same
                    && (is_aside(judge, renamed, mention, &['(', ',']) || is_aside(judge, mention, renamed, signs))
                {
                    found.push(Aside { mention, renamed, dimension });
                }
            }
        }
    }
    found
}

/// Returns whether the second mention is an aside that starts with one of the signs directly after the first one.
fn is_aside(judge: &Judge<'_>, first: usize, second: usize, signs: &[char]) -> bool {
    let (first, second) = (&judge.mentions[first].span, &judge.mentions[second].span);
    if first.is_empty() || second.is_empty() || first.end > second.start {
        return false;
    }
    let between = first.end..second.start;
    let is_between = |span: &std::ops::Range<usize>| span.start >= between.start && span.end <= between.end;
    let is_closed = judge.sentence[second.end..].trim_start().starts_with([',', ')', ';', '.']);
    let text = judge.sentence[between.clone()].trim_start();
    is_closed
        && text.starts_with(signs)
        && text.matches(signs).count() == 1
        && !judge.figures.iter().any(|figure| is_between(&figure.span))
}

/// Returns whether a number is between a figure and a mention.
fn has_number_between(judge: &Judge<'_>, at: usize, mention: usize) -> bool {
    let (figure, mention) = (&judge.figures[at].span, &judge.mentions[mention].span);
    let (start, end) = (figure.end.min(mention.end), figure.start.max(mention.start));
    judge.figures.iter().any(|other| !other.is_name() && other.span.start >= start && other.span.end <= end)
}
