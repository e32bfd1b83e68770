//! Function calls, which must be on the allow-list, and windows.

use prospector_core::name::nearest;
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause,
    FunctionArguments, HavingBound, HavingBoundKind, Ident, JsonNullClause, ListAggOnOverflow, NullTreatment,
    ObjectName, OrderByExpr, Spanned, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::{WriteResult, Writer, reject};
use crate::functions::{self, is_allowed};
use crate::{Dialect, Failure, FailureCode};

/// Forms of PostgreSQL that look like functions but are part of its grammar: they have no schema.
const POSTGRES_GRAMMAR: &[&str] = &[
    "array",
    "coalesce",
    "current_date",
    "current_time",
    "current_timestamp",
    "greatest",
    "grouping",
    "least",
    "localtime",
    "localtimestamp",
    "nullif",
    "row",
];

/// Returns the index of the argument that is a part of a date and not a column.
pub(crate) fn unit_argument(dialect: Dialect, function: &str) -> Option<usize> {
    match dialect {
        Dialect::Mysql => match function {
            "timestampadd" | "timestampdiff" | "get_format" => Some(0),
            _ => None,
        },
        Dialect::Bigquery => match function {
            "last_day" => Some(1),
            name if name.ends_with("_trunc") => Some(1),
            name if name.ends_with("_diff") => Some(2),
            _ => None,
        },
        Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => None,
    }
}

/// Returns whether the argument at that position, counted from 1, is a Unicode normal form, which is unquoted in PostgreSQL.
fn is_normal_form(dialect: Dialect, function: &str, at: usize, word: &Ident) -> bool {
    (dialect, function, at) == (Dialect::Postgres, "normalize", 2)
        && word.quote_style.is_none()
        && ["NFC", "NFD", "NFKC", "NFKD"].iter().any(|form| word.value.eq_ignore_ascii_case(form))
}

impl Writer<'_> {
    pub(super) fn function(&mut self, function: &Function) -> WriteResult {
        let Function { name, uses_odbc_syntax: _, parameters, args, filter, null_treatment, over, within_group } =
            function;
        if !matches!(parameters, FunctionArguments::None) {
            return self.refuse_form("a function with two argument lists", function);
        }
        let known = self.function_name(name)?;
        self.check_configuration(&known, args)?;
        match args {
            // `CURRENT_DATE` has no parentheses.
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) if known == "array" => self.subquery(query)?,
            FunctionArguments::Subquery(_) => return self.refuse_form("a query in place of arguments", function),
            FunctionArguments::List(list) => {
                let before = match list.duplicate_treatment {
                    None => "(",
                    Some(DuplicateTreatment::Distinct) => "(DISTINCT ",
                    Some(DuplicateTreatment::All) => "(ALL ",
                };
                let unit = unit_argument(self.dialect, &known);
                let mut at = 0;
                self.list(before, &list.args, "", |writer, argument| {
                    at += 1;
                    match (unit == Some(at - 1), argument) {
                        (true, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(word))))
                            if word.quote_style.is_none() =>
                        {
                            writer.word(&word.value, "part of a date")
                        }
                        (_, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(word))))
                            if is_normal_form(writer.dialect, &known, at, word) =>
                        {
                            // With its schema, the function takes it as a text.
                            writer.end(&format!("'{}'", word.value.to_ascii_uppercase()))
                        }
                        _ => writer.argument(argument),
                    }
                })?;
                for clause in &list.clauses {
                    self.argument_clause(clause)?;
                }
                self.push(")");
            }
        }
        if !within_group.is_empty() {
            self.list(" WITHIN GROUP (ORDER BY ", within_group, ")", Self::order_by_expr)?;
        }
        if let Some(filter) = filter {
            self.prefix(" FILTER (WHERE ", filter)?;
            self.push(")");
        }
        if let Some(treatment) = null_treatment {
            self.null_treatment(treatment);
        }
        match over {
            None => Ok(()),
            Some(WindowType::NamedWindow(name)) => {
                self.push(" OVER ");
                self.ident(name)
            }
            Some(WindowType::WindowSpec(spec)) => {
                self.push(" OVER ");
                self.window(spec)
            }
        }
    }

    /// Rejects a text search configuration with a schema: errors of PostgreSQL show whether the schema exists.
    fn check_configuration(&self, function: &str, args: &FunctionArguments) -> WriteResult {
        let FunctionArguments::List(list) = args else { return Ok(()) };
        // With fewer arguments, the first is not a configuration.
        let least = match function {
            "ts_headline" => 3,
            "phraseto_tsquery" | "plainto_tsquery" | "to_tsquery" | "to_tsvector" | "websearch_to_tsquery" => 2,
            _ => return Ok(()),
        };
        let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = list.args.first() else { return Ok(()) };
        let mut inner = first;
        while let Expr::Nested(expr) | Expr::Collate { expr, .. } = inner {
            inner = expr;
        }
        let Expr::Value(value) = inner else { return Ok(()) };
        match value.value.clone().into_string() {
            Some(text) if list.args.len() >= least && text.contains('.') => reject(
                "a text search configuration with a schema is not allowed",
                first.span(),
                "name the configuration without its schema; write a text as CAST('...' AS text)",
            ),
            _ => Ok(()),
        }
    }

    /// Renders the name of an allowed function up to its parenthesis, and returns it in lower case.
    ///
    /// # Errors
    /// A [`Failure`] with the code `unknown_function`, whether or not such a function exists.
    pub(super) fn function_name(&mut self, name: &ObjectName) -> Result<String, Box<Failure>> {
        let parts = self.parts(name)?;
        let lower: Vec<String> = parts.iter().map(|part| part.value.to_ascii_lowercase()).collect();
        let path = lower.join(".");
        let mut own = self.functions.iter();
        if let Some(listed) = own.find(|listed| {
            let listed = listed.to_ascii_lowercase();
            listed == path || lower.len() == 1 && listed.rsplit('.').next() == Some(path.as_str())
        }) {
            let quoted: Vec<String> = listed.split('.').map(|part| self.dialect.quote(part)).collect();
            // SQLite and DataFusion have no schemas of functions, and MySQL does not quote its own.
            let text = match self.dialect {
                Dialect::Postgres | Dialect::Bigquery => quoted.join("."),
                Dialect::Mysql | Dialect::Sqlite | Dialect::Joined if quoted.len() > 1 => quoted.join("."),
                Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => listed.clone(),
            };
            self.push(&text);
            return Ok(path);
        }
        let bare = match lower.as_slice() {
            [name] => Some(name),
            [schema, name] => match self.dialect {
                Dialect::Postgres => (schema == "pg_catalog").then_some(name),
                Dialect::Bigquery => functions::BIGQUERY_FAMILIES.contains(&schema.as_str()).then_some(&path),
                Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => None,
            },
            _ => None,
        };
        match bare.filter(|name| is_allowed(self.dialect, name)) {
            Some(name) => {
                let name = name.clone();
                self.name_of_builtin(&name);
                Ok(name)
            }
            None => {
                let shown = path.escape_debug().to_string();
                let message = match name.span().start.line {
                    0 => format!("function `{shown}` is unknown or not allowed"),
                    line => format!("function `{shown}` is unknown or not allowed, in line {line}"),
                };
                if let Some(other) = functions::equivalent(self.dialect, &path) {
                    return Err(Box::new(
                        Failure::new(FailureCode::UnknownFunction, message).advise(format!("use {other}")),
                    ));
                }
                // Less similar names are unrelated functions.
                let is_near = |name: &String| strsim::osa_distance(name, &path) <= (path.len() / 4).max(1);
                let mut near = nearest(&path, functions::list_allowed(self.dialect), 3);
                near.retain(is_near);
                let advice = match near.as_slice() {
                    [] => "use a function of the source's SQL that only computes".to_owned(),
                    near => format!("did you mean {}?", near.join(", ")),
                };
                Err(Box::new(Failure::new(FailureCode::UnknownFunction, message).advise(advice)))
            }
        }
    }

    /// Renders the name of a built-in function. In PostgreSQL, no user-defined function can be meant; for others, the name is
    /// recorded.
    fn name_of_builtin(&mut self, name: &str) {
        if self.dialect == Dialect::Postgres && !POSTGRES_GRAMMAR.contains(&name) {
            self.push("pg_catalog.");
            self.push(&self.dialect.quote(name));
        } else {
            self.done.functions.insert(name.to_owned());
            self.push(name);
        }
    }

    /// Renders the name of a built-in function and the opening parenthesis.
    pub(super) fn builtin(&mut self, name: &str) {
        self.name_of_builtin(name);
        self.push("(");
    }

    pub(super) fn argument(&mut self, argument: &FunctionArg) -> WriteResult {
        match argument {
            FunctionArg::Unnamed(value) => self.argument_value(value),
            FunctionArg::Named { name, arg, operator } => {
                let sign = match (operator, self.dialect) {
                    (FunctionArgOperator::RightArrow, Dialect::Postgres | Dialect::Bigquery | Dialect::Joined) => {
                        " => "
                    }
                    (FunctionArgOperator::Assignment, Dialect::Postgres) => " := ",
                    _ => return self.unsupported_at("this form of a named argument", name.span),
                };
                self.word(&name.value, "name of an argument")?;
                self.push(sign);
                self.argument_value(arg)
            }
            FunctionArg::ExprNamed { name, .. } => self.refuse_form("this form of a named argument", name),
        }
    }

    fn argument_value(&mut self, value: &FunctionArgExpr) -> WriteResult {
        match value {
            FunctionArgExpr::Expr(expr) => self.expr(expr),
            FunctionArgExpr::QualifiedWildcard(name) => self.all_columns(name),
            FunctionArgExpr::Wildcard => self.end("*"),
            FunctionArgExpr::WildcardWithOptions(options) => {
                self.refuse_form("a restricted wildcard as an argument", options)
            }
        }
    }

    fn argument_clause(&mut self, clause: &FunctionArgumentClause) -> WriteResult {
        match clause {
            FunctionArgumentClause::IgnoreOrRespectNulls(treatment) => {
                self.null_treatment(treatment);
                Ok(())
            }
            FunctionArgumentClause::OrderBy(order) => self.list(" ORDER BY ", order, "", Self::order_by_expr),
            FunctionArgumentClause::Limit(limit) => self.prefix(" LIMIT ", limit),
            FunctionArgumentClause::OnOverflow(ListAggOnOverflow::Error) => self.end(" ON OVERFLOW ERROR"),
            FunctionArgumentClause::Having(HavingBound(HavingBoundKind::Min, bound)) => {
                self.prefix(" HAVING MIN ", bound)
            }
            FunctionArgumentClause::Having(HavingBound(HavingBoundKind::Max, bound)) => {
                self.prefix(" HAVING MAX ", bound)
            }
            FunctionArgumentClause::Separator(separator) => {
                self.push(" SEPARATOR ");
                self.value(separator)
            }
            FunctionArgumentClause::JsonNullClause(JsonNullClause::NullOnNull) => self.end(" NULL ON NULL"),
            FunctionArgumentClause::JsonNullClause(JsonNullClause::AbsentOnNull) => self.end(" ABSENT ON NULL"),
            FunctionArgumentClause::OnOverflow(ListAggOnOverflow::Truncate { .. })
            | FunctionArgumentClause::JsonReturningClause(_) => Err(Box::new(
                crate::Failure::refuse("this clause of a function is not supported").advise("remove the clause"),
            )),
        }
    }

    fn null_treatment(&mut self, treatment: &NullTreatment) {
        self.push(match treatment {
            NullTreatment::IgnoreNulls => " IGNORE NULLS",
            NullTreatment::RespectNulls => " RESPECT NULLS",
        });
    }

    pub(super) fn window(&mut self, spec: &WindowSpec) -> WriteResult {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
        self.push("(");
        if let Some(name) = window_name {
            self.ident(name)?;
        }
        if !partition_by.is_empty() {
            self.list(" PARTITION BY ", partition_by, "", Self::expr)?;
        }
        if !order_by.is_empty() {
            self.list(" ORDER BY ", order_by, "", Self::order_by_expr)?;
        }
        if let Some(frame) = window_frame {
            self.frame(frame)?;
        }
        self.end(")")
    }

    fn frame(&mut self, frame: &WindowFrame) -> WriteResult {
        self.push(match frame.units {
            WindowFrameUnits::Rows => " ROWS",
            WindowFrameUnits::Range => " RANGE",
            WindowFrameUnits::Groups => " GROUPS",
        });
        match &frame.end_bound {
            None => {
                self.push(" ");
                self.frame_bound(&frame.start_bound)
            }
            Some(end) => {
                self.push(" BETWEEN ");
                self.frame_bound(&frame.start_bound)?;
                self.push(" AND ");
                self.frame_bound(end)
            }
        }
    }

    fn frame_bound(&mut self, bound: &WindowFrameBound) -> WriteResult {
        let (rows, word) = match bound {
            WindowFrameBound::CurrentRow => return self.end("CURRENT ROW"),
            WindowFrameBound::Preceding(rows) => (rows, " PRECEDING"),
            WindowFrameBound::Following(rows) => (rows, " FOLLOWING"),
        };
        match rows {
            Some(rows) => self.expr(rows)?,
            None => self.push("UNBOUNDED"),
        }
        self.end(word)
    }

    pub(super) fn order_by_expr(&mut self, order: &OrderByExpr) -> WriteResult {
        let OrderByExpr { expr, options, with_fill } = order;
        if with_fill.is_some() {
            return self.refuse_form("WITH FILL", expr);
        }
        self.expr(expr)?;
        match options.asc {
            None => {}
            Some(true) => self.push(" ASC"),
            Some(false) => self.push(" DESC"),
        }
        self.end(match options.nulls_first {
            None => "",
            Some(true) => " NULLS FIRST",
            Some(false) => " NULLS LAST",
        })
    }
}
