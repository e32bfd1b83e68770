//! FROM: tables, queries and functions, and how they are joined.

use sqlparser::ast::{
    BinaryOperator, Expr, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableWithJoins,
};

use super::Writer;
use super::phrase::{Binding, Phrase, list};
use crate::syntax::{conjuncts, last_name, last_part, without_parentheses};

/// The side of a join whose unmatched rows are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeptSide {
    None,
    Left,
    Right,
    Both,
}

/// The keys of a join.
struct Keys {
    text: String,
    /// The relation on the left side of the first key.
    left: Option<usize>,
    /// Whether there are conditions other than keys.
    has_more: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn describe_from(&mut self, tables: &'a [TableWithJoins]) -> String {
        let tables: Vec<String> = tables.iter().map(|table| self.join_tree(table)).collect();
        list(&tables, "and")
    }

    fn join_tree(&mut self, table: &'a TableWithJoins) -> String {
        let mut text = self.factor(&table.relation);
        for join in &table.joins {
            text = format!("{text} {}", self.join(join, &table.relation));
        }
        text
    }

    fn join(&mut self, join: &'a Join, first: &'a TableFactor) -> String {
        use JoinOperator as J;
        let other = self.factor(&join.relation);
        let (kept, constraint) = match &join.join_operator {
            J::Join(constraint) | J::Inner(constraint) | J::StraightJoin(constraint) => (KeptSide::None, constraint),
            J::Left(constraint) | J::LeftOuter(constraint) => (KeptSide::Left, constraint),
            J::Right(constraint) | J::RightOuter(constraint) => (KeptSide::Right, constraint),
            J::FullOuter(constraint) => (KeptSide::Both, constraint),
            J::CrossJoin(_) => return format!("combined with every row of {other}"),
            J::LeftSemi(constraint) | J::Semi(constraint) => {
                return format!("that have {other}{}", self.keys(constraint, join).text);
            }
            J::LeftAnti(constraint) | J::Anti(constraint) => {
                return format!("that have no {other}{}", self.keys(constraint, join).text);
            }
            _ => return Phrase::fragment(join).text,
        };
        let keys = self.keys(constraint, join);
        let left = match keys.left.map(|at| self.relation(at)).filter(|name| !name.is_empty()) {
            Some(left) => left,
            None => self.short_name(first),
        };
        let right = self.short_name(&join.relation);
        let such = if keys.has_more { "such " } else { "" };
        let also = match kept {
            KeptSide::None => String::new(),
            KeptSide::Left => format!(" (also {left} without {such}{right})"),
            KeptSide::Right => format!(" (also {right} without {such}{left})"),
            KeptSide::Both => format!(" (also {left} without {such}{right}, and {right} without {such}{left})"),
        };
        format!("joined with {other}{}{also}", keys.text)
    }

    fn keys(&mut self, constraint: &'a JoinConstraint, join: &'a Join) -> Keys {
        let none = |text: &str| Keys { text: text.to_owned(), left: None, has_more: false };
        match constraint {
            JoinConstraint::None => none(" in every combination"),
            JoinConstraint::Natural => none(" on the columns that both have"),
            JoinConstraint::Using(names) => {
                let names: Vec<String> = names.iter().map(|name| self.merged_column(name, join)).collect();
                none(&format!(" on {}", list(&names, "and")))
            }
            JoinConstraint::On(condition) => {
                let (mut keys, mut others, mut left) = (Vec::new(), Vec::new(), None);
                for part in conjuncts(condition) {
                    match self.key(part) {
                        Some((text, side)) => {
                            keys.push(text);
                            left = left.or(side);
                        }
                        None => others.push(part),
                    }
                }
                let has_more = !others.is_empty();
                if has_more {
                    keys.push(self.conjunction(&others).at_least(Binding::And));
                }
                Keys { text: format!(" on {}", list(&keys, "and")), left, has_more }
            }
        }
    }

    /// Returns a column of USING.
    fn merged_column(&self, name: &ObjectName, join: &Join) -> String {
        let written = last_part(name).map(|last| last.value.clone()).unwrap_or_default();
        let relation = match &join.relation {
            TableFactor::Table { name, .. } => self.names.table(name),
            _ => None,
        };
        let label = relation.and_then(|at| self.names.column_id(at, &written)).and_then(|id| self.labels.column(&id));
        label.unwrap_or(written)
    }

    /// Returns the words of a join key, and the relation of its column that is earlier in FROM.
    fn key(&mut self, condition: &'a Expr) -> Option<(String, Option<usize>)> {
        let condition = without_parentheses(condition);
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return None };
        let (a, b) = (self.names.column(left)?, self.names.column(right)?);
        let (first, last, earlier, later) = match a.relation <= b.relation {
            true => (left, right, a, b),
            false => (right, left, b, a),
        };
        let text = match self.same_name(first, last) {
            Some(name) => name,
            None => format!("{} = {}", self.column(earlier, last_name(first)), self.column(later, last_name(last))),
        };
        Some((text, Some(earlier.relation)))
    }

    fn factor(&mut self, factor: &'a TableFactor) -> String {
        match factor {
            TableFactor::Table { name, args: None, alias, .. } => match self.names.table(name) {
                Some(at) => self.relation(at),
                None => add_alias(name.to_string(), alias.as_ref()),
            },
            TableFactor::Derived { subquery, alias, .. } => {
                let text = self.subquery(subquery, true);
                match self.frame().is_some_and(|frame| frame.is_qualified) {
                    true => add_alias(text, alias.as_ref()),
                    false => text,
                }
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                add_alias(format!("({})", self.join_tree(table_with_joins)), alias.as_ref())
            }
            other => Phrase::fragment(other).text,
        }
    }

    /// Returns the short name of a table in FROM for references to it.
    fn short_name(&self, factor: &TableFactor) -> String {
        match factor {
            TableFactor::Table { name, args: None, .. } => match self.names.table(name) {
                Some(at) => self.relation(at),
                None => name.to_string(),
            },
            TableFactor::Derived { alias: Some(alias), .. } | TableFactor::NestedJoin { alias: Some(alias), .. } => {
                alias.name.value.clone()
            }
            _ => "a match".to_owned(),
        }
    }
}

fn add_alias(text: String, alias: Option<&TableAlias>) -> String {
    match alias {
        Some(alias) => format!("{text} as {}", alias.name.value),
        None => text,
    }
}
