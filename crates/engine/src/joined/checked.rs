//! Integer arithmetic that fails on overflow. DataFusion wraps around instead in `+`, `-`, `*`, unary minus and `sum`.
//!
//! Operands are cast to a decimal that holds every result, and the result is cast back, which fails on overflow. The rule
//! rewrites the logical plan with built-in operators only, so that constant folding computes the same. A `sum` fails only if its total overflows, regardless of the order of the rows.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DECIMAL256_MAX_PRECISION, DataType};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, Projection, Window, cast,
};
use datafusion::optimizer::AnalyzerRule;

/// Holds every integer. The product of two fits a decimal of 38 digits, and so does a sum of 10^18 of them.
const WIDE: DataType = DataType::Decimal128(20, 0);

/// A sum of 10^9 decimals with at most this many digits fits 128 bits.
const MAX_NARROW_DIGITS: u8 = 29;

/// The rule. It runs after type coercion, when both operands of an operator have the same type.
#[derive(Debug)]
pub(super) struct CheckedArithmetic;

impl AnalyzerRule for CheckedArithmetic {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(check_plan)?.data)
    }
}

fn check_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    // The filters of a scan were rewritten in the plan above it; the row counts of a limit are constants.
    if matches!(plan, LogicalPlan::TableScan(_) | LogicalPlan::Limit(_)) {
        return Ok(Transformed::no(plan));
    }
    let schema = merge_schema(&plan.inputs());
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let checked = expr.transform_up(|expr| check_operator(expr, &schema))?;
        Ok(checked.update_data(|expr| name.restore(expr)))
    })?
    .transform_data(|plan| match plan {
        LogicalPlan::Aggregate(aggregate) => check_aggregate(aggregate),
        LogicalPlan::Window(window) => check_window(window),
        plan => Ok(Transformed::no(plan)),
    })?
    .map_data(LogicalPlan::recompute_schema)
}

/// Rewrites an integer operator to decimals.
fn check_operator(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_integer = |expr: &Expr| expr.get_type(schema).map(|data_type| data_type.is_integer());
    let wraps = match &expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Plus | Operator::Minus | Operator::Multiply, right }) => {
            is_integer(left)? && is_integer(right)?
        }
        Expr::Negative(inner) => is_integer(inner)?,
        _ => false,
    };
    if !wraps {
        return Ok(Transformed::no(expr));
    }
    let data_type = expr.get_type(schema)?;
    let wide = |operand: Box<Expr>| Box::new(cast(*operand, WIDE));
    let widened = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            Expr::BinaryExpr(BinaryExpr { left: wide(left), op, right: wide(right) })
        }
        Expr::Negative(inner) => Expr::Negative(wide(inner)),
        other => other,
    };
    Ok(Transformed::yes(cast(widened, data_type)))
}

/// Returns the type in which values of a type are summed without overflow; `None` if its own type suffices.
fn sum_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Int64 | DataType::UInt64 => Some(WIDE),
        DataType::Decimal128(digits, scale) if *digits > MAX_NARROW_DIGITS => {
            Some(DataType::Decimal256(DECIMAL256_MAX_PRECISION, *scale))
        }
        _ => None,
    }
}

/// Returns a call of `sum` over wider values with the same name, and the original result type; `None` for any other call.
fn widen_sum(expr: &Expr, schema: &DFSchema) -> Result<Option<(Expr, DataType)>> {
    let mut call = expr;
    while let Expr::Alias(alias) = call {
        call = &alias.expr;
    }
    let argument = match call {
        Expr::AggregateFunction(sum) if sum.func.name() == "sum" => sum.params.args.first(),
        Expr::WindowFunction(window) if window.fun.name() == "sum" => window.params.args.first(),
        _ => None,
    };
    let Some(argument) = argument else { return Ok(None) };
    let Some(wide) = sum_type(&argument.get_type(schema)?) else { return Ok(None) };
    let args = vec![cast(argument.clone(), wide)];
    let widened = match call.clone() {
        Expr::AggregateFunction(AggregateFunction { func, mut params }) => {
            params.args = args;
            Expr::AggregateFunction(AggregateFunction { func, params })
        }
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, mut params } = *window;
            params.args = args;
            Expr::WindowFunction(Box::new(WindowFunction { fun, params }))
        }
        other => other,
    };
    Ok(Some((widened.alias(expr.qualified_name().1), call.get_type(schema)?)))
}

/// Calls, and the original type of each widened one.
type WidenedSums = (Vec<Expr>, Vec<Option<DataType>>);

/// Widens the calls of `sum` in an aggregate or a window.
fn widen_sums(calls: &[Expr], schema: &DFSchema) -> Result<Option<WidenedSums>> {
    let (mut widened, mut types) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
    for call in calls {
        match widen_sum(call, schema)? {
            Some((wide, data_type)) => {
                widened.push(wide);
                types.push(Some(data_type));
            }
            None => {
                widened.push(call.clone());
                types.push(None);
            }
        }
    }
    Ok(types.iter().any(Option::is_some).then_some((widened, types)))
}

fn check_aggregate(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let Some((calls, types)) = widen_sums(&aggregate.aggr_expr, aggregate.input.schema())? else {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    };
    let widened = Aggregate::try_new(aggregate.input, aggregate.group_expr, calls)?;
    narrow_sums(LogicalPlan::Aggregate(widened), &types).map(Transformed::yes)
}

fn check_window(window: Window) -> Result<Transformed<LogicalPlan>> {
    let Some((calls, types)) = widen_sums(&window.window_expr, window.input.schema())? else {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    };
    let widened = Window::try_new(calls, window.input)?;
    narrow_sums(LogicalPlan::Window(widened), &types).map(Transformed::yes)
}

/// Returns the columns of the plan; the last ones are cast to these types where one is given.
fn narrow_sums(plan: LogicalPlan, types: &[Option<DataType>]) -> Result<LogicalPlan> {
    let schema = plan.schema().clone();
    let first = schema.fields().len() - types.len();
    let columns = schema.iter().enumerate().map(|(at, (qualifier, field))| {
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        match at.checked_sub(first).and_then(|at| types[at].clone()) {
            Some(data_type) => cast(column, data_type).alias_qualified(qualifier.cloned(), field.name()),
            None => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}
