//! The parts of a question, each with one meaning.

use prospector_engine::query::aggregate::Grain;

use super::names::Element;
use super::operators::Operator;
use super::question::Span;

/// A part of a question with one meaning.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// How well the words match, 0 to 1.
    pub(super) score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Operator(Operator),
    Period(String, String),
    Grain(Grain),
    /// A grain that implies grouping.
    Series(Grain),
    Number(f64),
    Named(Element),
}

impl Part {
    pub(super) fn element(&self) -> Option<&Element> {
        match &self.kind {
            Kind::Named(element) => Some(element),
            Kind::Operator(_) | Kind::Period(..) | Kind::Grain(_) | Kind::Series(_) | Kind::Number(_) => None,
        }
    }

    pub(super) fn is(&self, operator: Operator) -> bool {
        self.kind == Kind::Operator(operator)
    }

    pub(super) fn is_superlative(&self) -> bool {
        self.is(Operator::Most) || self.is(Operator::Least)
    }

    pub(super) fn operator(&self) -> Option<Operator> {
        match self.kind {
            Kind::Operator(operator) => Some(operator),
            Kind::Named(_) | Kind::Period(..) | Kind::Grain(_) | Kind::Series(_) | Kind::Number(_) => None,
        }
    }
}
