//! Fields of structs, `device['type']`: rewritten to the call `get_field(device, 'type')`.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Query, Subscript, Value, ValueWithSpan, VisitMut, VisitorMut,
};

/// The function that returns a field.
pub(crate) const GET_FIELD: &str = "get_field";

/// Replaces each field access by a call of [`GET_FIELD`].
pub(super) fn call_fields(query: &mut Query) {
    let _ = query.visit(&mut FieldCalls);
}

struct FieldCalls;

impl VisitorMut for FieldCalls {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundFieldAccess { root, access_chain } = expr {
            let mut chain = std::mem::take(access_chain).into_iter().peekable();
            let mut name = as_name(root);
            while let Some(parts) = &mut name
                && let Some(AccessExpr::Dot(Expr::Identifier(part))) =
                    chain.next_if(|access| matches!(access, AccessExpr::Dot(Expr::Identifier(_))))
            {
                parts.push(part);
            }
            let mut value = match name {
                Some(parts) if parts.len() > 1 => Expr::CompoundIdentifier(parts),
                _ => std::mem::replace(root.as_mut(), Expr::Value(Value::Null.into())),
            };
            let mut keys = Vec::new();
            while let Some(key) = chain.peek().and_then(as_key) {
                keys.push(Expr::Value(key.clone()));
                chain.next();
            }
            if !keys.is_empty() {
                value = call(std::iter::once(value).chain(keys));
            }
            let rest: Vec<AccessExpr> = chain.collect();
            *expr = match rest.is_empty() {
                true => value,
                false => Expr::CompoundFieldAccess { root: Box::new(value), access_chain: rest },
            };
        }
        ControlFlow::Continue(())
    }
}

fn as_name(expr: &Expr) -> Option<Vec<Ident>> {
    match expr {
        Expr::Identifier(name) => Some(vec![name.clone()]),
        Expr::CompoundIdentifier(parts) => Some(parts.clone()),
        _ => None,
    }
}

/// Returns the key in brackets.
fn as_key(access: &AccessExpr) -> Option<&ValueWithSpan> {
    match access {
        AccessExpr::Subscript(Subscript::Index { index: Expr::Value(key) })
            if matches!(key.value, Value::SingleQuotedString(_)) =>
        {
            Some(key)
        }
        _ => None,
    }
}

fn call(arguments: impl Iterator<Item = Expr>) -> Expr {
    let args = arguments.map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(GET_FIELD)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use crate::Dialect;
    use crate::guard::examine;

    #[test]
    fn rewrites_fields_to_calls() {
        for (written, expected) in [
            ("SELECT device['type'] FROM c", "SELECT get_field(device, 'type') FROM c"),
            ("SELECT c.device['type'] FROM c", "SELECT get_field(c.device, 'type') FROM c"),
            ("SELECT d.c.device['a']['b'] FROM d.c", "SELECT get_field(d.c.device, 'a', 'b') FROM d.c"),
            ("SELECT x[1] FROM c WHERE y['Os'] = 'a'", "SELECT x[1] FROM c WHERE get_field(y, 'Os') = 'a'"),
        ] {
            let checked = examine(Dialect::Joined, &[], written).unwrap();
            assert_eq!(checked.query.to_string(), expected);
        }
    }
}
