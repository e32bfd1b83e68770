//! Extraction of the parts from the syntax tree.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use prospector_connect::query::Aggregation;
use prospector_connect::table::Table;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    Ident, Join, JoinConstraint, JoinOperator, ObjectName, OrderByKind, Query, Select, SelectItem, SetExpr, Spanned,
    TableFactor, UnaryOperator, Value, Visit, Visitor,
};
use sqlparser::tokenizer::Location;

use super::guards::Guards;
use super::merge::merge;
use super::{Aggregate, Bound, Call, Comparison, Key, Literal, Operator, Part, TableUse, find_column, split_name};
use crate::plan::Plan;
use crate::syntax::{count_of, last_part, value_at, value_of};

/// The maximum number of examined SELECTs.
const MAX_PARTS: usize = 20;

/// Returns the SELECTs of a query that read tables.
pub(in crate::warning) fn parts(plan: &Plan) -> Vec<Part<'_>> {
    let tables = plan.reads().map(|(name, table)| (name.span().start, table)).collect();
    let mut reader = Reader { tables, parts: Vec::new() };
    reader.query(plan.query());
    reader.parts
}

struct Reader<'a> {
    /// The table at each position of a name.
    tables: HashMap<Location, &'a Table>,
    parts: Vec<Part<'a>>,
}

impl<'a> Reader<'a> {
    fn query(&mut self, query: &Query) {
        for common in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.query(&common.query);
        }
        let sorts = match &query.order_by {
            Some(order) if query.limit_clause.is_some() || query.fetch.is_some() => match &order.kind {
                OrderByKind::Expressions(all) => all.iter().map(|sort| sort.expr.clone()).collect(),
                OrderByKind::All(_) => Vec::new(),
            },
            Some(_) | None => Vec::new(),
        };
        self.body(&query.body, sorts);
    }

    fn body(&mut self, body: &SetExpr, sorts: Vec<Expr>) {
        match body {
            SetExpr::Select(select) => self.select(select, sorts, false),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, Vec::new());
                self.body(right, Vec::new());
            }
            _ => {}
        }
    }

    fn select(&mut self, select: &Select, sorts: Vec<Expr>, is_merged: bool) {
        if self.parts.len() >= MAX_PARTS {
            return;
        }
        if let Some(merged) = merge(select) {
            return self.select(&merged, sorts, true);
        }
        let mut draft = Draft::new(sorts, select);
        draft.part.is_merged = is_merged;
        for from in &select.from {
            self.factor(&mut draft, &from.relation, false);
            for join in &from.joins {
                self.join(&mut draft, join);
            }
        }
        if let Some(condition) = &select.selection {
            draft.require(condition, true);
        }
        let Draft { part, conjuncts, seen } = draft;
        let groups = part.groups.clone();
        let mut finder = Finder { part, conjuncts, guards: Guards::default(), nested: Vec::new(), depth: 0 };
        for expr in select.projection.iter().filter_map(value_of) {
            let _ = expr.visit(&mut finder);
        }
        for expr in seen.iter().chain(&select.selection).chain(&select.having).chain(&groups) {
            let _ = expr.visit(&mut finder);
        }
        let Finder { part, nested, .. } = finder;
        self.parts.push(part);
        for query in nested {
            self.query(&query);
        }
    }

    fn factor(&mut self, draft: &mut Draft<'a>, factor: &TableFactor, is_optional: bool) {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let Some(table) = self.tables.get(&name.span().start) else {
                    draft.part.is_plain = false;
                    return;
                };
                let called = alias.as_ref().map(|alias| &alias.name).or(last_part(name));
                draft.part.tables.push(TableUse {
                    table,
                    written: factor.to_string(),
                    name: called.map(|name| name.value.clone()).unwrap_or_default(),
                    is_optional,
                    is_renamed: alias.is_some(),
                });
            }
            TableFactor::Derived { subquery, .. } => {
                draft.part.is_plain = false;
                self.query(subquery);
            }
            _ => draft.part.is_plain = false,
        }
    }

    fn join(&mut self, draft: &mut Draft<'a>, join: &Join) {
        let (constraint, is_optional) = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::StraightJoin(constraint) => (constraint, false),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (constraint, true),
            JoinOperator::CrossJoin(constraint) => {
                draft.part.is_crossed = true;
                (constraint, false)
            }
            _ => {
                draft.part.is_plain = false;
                return;
            }
        };
        let before = draft.part.tables.len();
        self.factor(draft, &join.relation, is_optional);
        match constraint {
            JoinConstraint::On(condition) => {
                draft.seen.push(condition.clone());
                draft.require(condition, false);
            }
            JoinConstraint::Using(names) => names.iter().for_each(|name| draft.use_name(before, name)),
            JoinConstraint::Natural => draft.part.is_plain = false,
            JoinConstraint::None => {}
        }
    }
}

/// A part under construction.
struct Draft<'a> {
    part: Part<'a>,
    /// The conditions that every row of the answer matches.
    conjuncts: Vec<Expr>,
    /// The conditions of joins.
    seen: Vec<Expr>,
}

/// Returns the expression of the projection that an item of GROUP BY or ORDER BY refers to by number or alias; otherwise the
/// item.
pub(in crate::warning) fn resolve_item(item: &Expr, select: &Select) -> Expr {
    let projected = |expr: &Expr| match expr {
        Expr::Value(_) => value_at(&select.projection, count_of(expr)?).cloned(),
        Expr::Identifier(name) => select.projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if alias.value.eq_ignore_ascii_case(&name.value) => {
                Some(expr.clone())
            }
            _ => None,
        }),
        _ => None,
    };
    projected(item).unwrap_or_else(|| item.clone())
}

impl Draft<'_> {
    fn new(sorts: Vec<Expr>, select: &Select) -> Self {
        let groups = match &select.group_by {
            GroupByExpr::Expressions(groups, _) => groups.iter().map(|group| resolve_item(group, select)).collect(),
            GroupByExpr::All(_) => Vec::new(),
        };
        let part = Part {
            is_plain: true,
            groups,
            is_distinct: select.distinct.is_some(),
            sorts,
            from: select.from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            selection: select.selection.clone(),
            ..Part::default()
        };
        Draft { part, conjuncts: Vec::new(), seen: Vec::new() }
    }

    /// Splits a condition at its ANDs and assigns the parts to the tables that they name.
    fn require(&mut self, condition: &Expr, is_where: bool) {
        match condition {
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.require(left, is_where);
                self.require(right, is_where);
            }
            Expr::Nested(inner) => self.require(inner, is_where),
            other => {
                let Some(tables) = tables_of(&self.part.tables, other) else { return };
                match (other, tables.as_slice()) {
                    (_, [table]) => {
                        // Conditions on other tables in the ON of an optional table drop no rows.
                        self.part.required.push((*table, other.clone(), is_where));
                        self.conjuncts.push(other.clone());
                    }
                    (Expr::BinaryOp { left, op: BinaryOperator::Eq, right }, [_, _]) => {
                        let of = |side: &Expr| Some((table_of(&self.part.tables, side)?, side.clone()));
                        if let (Some(left), Some(right)) = (of(left), of(right)) {
                            self.part.keys.push(Key { left, right });
                        }
                    }
                    _ => {}
                }
                self.part.links.push(tables);
            }
        }
    }

    /// Adds the key of a USING column: between the joined table and one before it.
    fn use_name(&mut self, joined: usize, name: &ObjectName) {
        let Some(name) = last_part(name) else { return };
        let tables = &self.part.tables;
        let has = |table: &TableUse<'_>| table.table.column(&name.value).is_some();
        let Some(right) = tables.get(joined).filter(|table| has(table)) else { return };
        let Some(first) = tables[..joined].iter().position(has) else { return };
        let column =
            |table: &TableUse<'_>| Expr::CompoundIdentifier(vec![Ident::with_quote('"', &table.name), name.clone()]);
        let key = Key { left: (first, column(&tables[first])), right: (joined, column(right)) };
        self.part.links.push(vec![first, joined]);
        self.part.keys.push(key);
    }
}

/// Returns the tables whose columns an expression names, in order; `None` if it contains other names, or a query.
fn tables_of(tables: &[TableUse<'_>], expr: &Expr) -> Option<Vec<usize>> {
    struct Owners<'a, 'b> {
        tables: &'a [TableUse<'b>],
        found: BTreeSet<usize>,
    }
    impl Visitor for Owners<'_, '_> {
        type Break = ();

        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let Some((owner, name)) = split_name(expr) else { return ControlFlow::Continue(()) };
            match find_column(self.tables, owner, name) {
                Some((at, _)) => {
                    self.found.insert(at);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            }
        }
    }
    let mut owners = Owners { tables, found: BTreeSet::new() };
    let is_known = expr.visit(&mut owners).is_continue();
    is_known.then(|| owners.found.into_iter().collect())
}

/// Returns the table whose columns an expression names, if it names those of one table only.
fn table_of(tables: &[TableUse<'_>], expr: &Expr) -> Option<usize> {
    <[usize; 1]>::try_from(tables_of(tables, expr)?).ok().map(|[table]| table)
}

/// Collects the relevant expressions of one SELECT, and the queries inside it.
struct Finder<'a> {
    part: Part<'a>,
    conjuncts: Vec<Expr>,
    guards: Guards,
    nested: Vec<Query>,
    depth: usize,
}

impl Finder<'_> {
    fn compare(&mut self, whole: &Expr, subject: &Expr, (operator, bound): (Operator, Bound), literals: &[&Expr]) {
        let literals: Option<Vec<Literal>> = literals.iter().map(|expr| literal(expr)).collect();
        let Some(literals) = literals.filter(|all| !all.is_empty()) else { return };
        let Some(table) = table_of(&self.part.tables, subject) else { return };
        let is_required = self.conjuncts.contains(whole);
        let (subject, whole) = (subject.clone(), whole.to_string());
        self.part.comparisons.push(Comparison { table, subject, operator, bound, literals, whole, is_required });
    }

    fn binary(&mut self, whole: &Expr, left: &Expr, op: &BinaryOperator, right: &Expr) {
        if is_null(left) || is_null(right) {
            self.part.null_comparisons.push(whole.to_string());
            return;
        }
        let turn = literal(left).is_some();
        let (subject, other) = if turn { (right, left) } else { (left, right) };
        let limits = match (op, turn) {
            (BinaryOperator::Eq, _) => (Operator::Equal, Bound::Neither),
            (BinaryOperator::NotEq, _) => (Operator::Unequal, Bound::Neither),
            (BinaryOperator::LtEq, false) | (BinaryOperator::GtEq, true) => {
                (Operator::UpTo, Bound::Upper { is_included: true })
            }
            (BinaryOperator::Lt, false) | (BinaryOperator::Gt, true) => {
                (Operator::Order, Bound::Upper { is_included: false })
            }
            (BinaryOperator::Gt | BinaryOperator::GtEq | BinaryOperator::Lt | BinaryOperator::LtEq, _) => {
                (Operator::Order, Bound::Lower)
            }
            _ => return,
        };
        self.compare(whole, subject, limits, &[other]);
    }

    fn function(&mut self, function: &Function) {
        let name = function.name.to_string().to_lowercase();
        let FunctionArguments::List(list) = &function.args else { return };
        let mut arguments = list.args.iter().map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        });
        if Aggregation::find(&name).is_none() {
            // The format of a date is the first argument.
            if let Some(argument) = arguments.flatten().find(|expr| literal(expr).is_none()) {
                let (argument, written) = (argument.clone(), function.to_string());
                self.part.calls.push(Call { name, argument, written, guards: Vec::new() });
            }
            return;
        }
        let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        if function.over.is_some() || list.args.len() != 1 || is_distinct {
            return;
        }
        let first = arguments.next().flatten();
        let tables = first.and_then(|expr| tables_of(&self.part.tables, expr)).unwrap_or_default();
        let (argument, written) = (first.cloned(), function.to_string());
        self.part.aggregates.push(Aggregate { name, argument, tables, written });
    }
}

impl Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.nested.push(query.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => {
                self.part.quotients.push((left.as_ref().clone(), right.as_ref().clone()));
            }
            Expr::BinaryOp { left, op, right } => self.binary(expr, left, op, right),
            Expr::InList { expr: subject, list, negated } => {
                let operator = if *negated { Operator::Unequal } else { Operator::Equal };
                let (nulls, list): (Vec<&Expr>, Vec<&Expr>) = list.iter().partition(|item| is_null(item));
                if *negated && !nulls.is_empty() {
                    self.part.null_lists.push(expr.to_string());
                }
                self.compare(expr, subject, (operator, Bound::Neither), &list);
            }
            Expr::Between { expr: subject, negated: false, low, high } => {
                self.compare(expr, subject, (Operator::UpTo, Bound::Both), &[low, high]);
            }
            Expr::Like { expr: subject, negated, pattern, .. }
            | Expr::ILike { expr: subject, negated, pattern, .. } => {
                let operator = if *negated { Operator::Unlike } else { Operator::Like };
                self.compare(expr, subject, (operator, Bound::Neither), &[pattern]);
            }
            Expr::InSubquery { negated: true, subquery, .. } => self.part.exclusions.push(subquery.as_ref().clone()),
            Expr::Case { operand, conditions, else_result, .. } => {
                self.guards.add(operand.as_deref(), conditions, else_result.as_deref());
            }
            Expr::Cast { expr: inner, data_type, .. } => {
                let name = format!("cast {}", data_type.to_string().to_lowercase());
                let guards = (self.guards.of(expr))
                    .filter_map(|(condition, text)| Some((table_of(&self.part.tables, condition)?, text)))
                    .collect();
                let (argument, written) = (inner.as_ref().clone(), expr.to_string());
                self.part.calls.push(Call { name, argument, written, guards });
            }
            Expr::Function(function) => {
                if !is_examined(function) {
                    self.part.others.push(expr.clone());
                }
                self.function(function);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns whether an aggregate is among the examined ones, or does not depend on the number of equal rows.
pub(in crate::warning) fn is_examined(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let is_known = Aggregation::find(&function.name.to_string()).is_some();
    is_known && function.over.is_none() && (is_distinct || list.args.len() == 1)
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Null))
}

/// Returns the literal of an expression.
pub(in crate::warning) fn literal(expr: &Expr) -> Option<Literal> {
    let (value, is_text) = match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::NationalStringLiteral(text) | Value::DoubleQuotedString(text) => {
                (text.clone(), true)
            }
            Value::Number(number, _) => (number.clone(), false),
            _ => return None,
        },
        Expr::TypedString(typed) => match &typed.value.value {
            Value::SingleQuotedString(text) => (text.clone(), true),
            _ => return None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => (format!("-{}", literal(expr)?.value), false),
        Expr::Nested(inner) => return literal(inner),
        _ => return None,
    };
    Some(Literal { written: expr.to_string(), value, is_text })
}
