//! The conditions of CASE branches on the expressions inside them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, CaseWhen, Expr, Query, Visit, Visitor};

/// A condition of a CASE branch, and whether it is met there.
type Guard = (Expr, bool);

/// The conditions under which expressions are evaluated, by their addresses in a syntax tree that is not changed.
#[derive(Debug, Default)]
pub(super) struct Guards(HashMap<*const Expr, Vec<Guard>>);

impl Guards {
    /// Adds the conditions of a CASE: a branch is evaluated if its condition is met, and those of the branches before it are not.
    pub(super) fn add(&mut self, operand: Option<&Expr>, branches: &[CaseWhen], other: Option<&Expr>) {
        let mut before: Vec<Guard> = Vec::new();
        for branch in branches {
            let condition = match operand {
                Some(operand) => Expr::BinaryOp {
                    left: Box::new(operand.clone()),
                    op: BinaryOperator::Eq,
                    right: Box::new(branch.condition.clone()),
                },
                None => branch.condition.clone(),
            };
            let mut guards = before.clone();
            guards.push((condition.clone(), true));
            self.add_all(&branch.result, &guards);
            before.push((condition, false));
        }
        if let Some(other) = other {
            self.add_all(other, &before);
        }
    }

    /// Adds conditions to all expressions of a branch.
    fn add_all(&mut self, branch: &Expr, guards: &[Guard]) {
        struct Inner<'a>(&'a mut Guards, &'a [Guard]);
        impl Visitor for Inner<'_> {
            type Break = ();

            fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
                ControlFlow::Break(())
            }

            fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
                if matches!(expr, Expr::Cast { .. }) {
                    self.0.0.entry(std::ptr::from_ref(expr)).or_default().extend(self.1.iter().cloned());
                }
                ControlFlow::Continue(())
            }
        }
        let _ = branch.visit(&mut Inner(self, guards));
    }

    /// Returns the conditions on an expression, as SQL that is true or false and never null.
    pub(super) fn of(&self, expr: &Expr) -> impl Iterator<Item = (&Expr, String)> {
        let all = self.0.get(&std::ptr::from_ref(expr)).into_iter().flatten();
        all.map(|(condition, is_met)| {
            (condition, format!("CASE WHEN {condition} THEN 1 ELSE 0 END = {}", u8::from(*is_met)))
        })
    }
}
