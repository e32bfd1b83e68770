//! Queries: WITH, set operations, SELECT and its clauses.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Cte, CteAsMaterialized, Distinct, Fetch, GroupByExpr, GroupByWithModifier, Ident, LimitClause,
    NamedWindowDefinition, NamedWindowExpr, Offset, OffsetRows, OrderBy, OrderByKind, OrderByOptions, Query, Select,
    SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, Spanned, Values,
    WildcardAdditionalOptions, With,
};
use sqlparser::tokenizer::Span;

use super::{CommonTable, TOP, WriteResult, Writer, labels, reject};
use crate::Dialect;

impl Writer<'_> {
    pub(super) fn query(&mut self, query: &Query) -> WriteResult {
        self.deeper(|writer| writer.query_here(query))
    }

    fn query_here(&mut self, query: &Query) -> WriteResult {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let nowhere = Span::empty();
        if !locks.is_empty() {
            return reject("the query locks rows (FOR UPDATE or FOR SHARE)", nowhere, "remove the locking clause");
        }
        if for_clause.is_some() || settings.is_some() || format_clause.is_some() || !pipe_operators.is_empty() {
            return reject("FOR XML, SETTINGS, FORMAT and pipes are not supported", nowhere, "write a plain SELECT");
        }
        let visible = self.scopes.last().cloned().unwrap_or_default();
        self.scopes.push(visible);
        if let Some(with) = with {
            self.with(with)?;
        }
        self.body(body)?;
        if let Some(order) = order_by {
            self.order_by(order)?;
        }
        if let Some(limit) = limit_clause {
            self.limit(limit)?;
        }
        if let Some(fetch) = fetch {
            self.fetch(fetch)?;
        }
        self.scopes.pop();
        Ok(())
    }

    fn with(&mut self, with: &With) -> WriteResult {
        let With { with_token: _, recursive, cte_tables } = with;
        // A query under WITH sees the names before it, and all names if the WITH may be recursive. SQLite lets every WITH be
        // recursive.
        let sees_all = *recursive || self.dialect == Dialect::Sqlite;
        let mut seen = BTreeSet::new();
        let mut own = Vec::with_capacity(cte_tables.len());
        for cte in cte_tables {
            let name = self.dialect.fold(&cte.alias.name);
            if !seen.insert(name.clone()) {
                return reject(
                    format!("`{}` is defined twice under WITH", cte.alias.name.value),
                    cte.alias.name.span,
                    "use a different name for each",
                );
            }
            self.common_tables += 1;
            self.written_names.insert(cte.alias.name.value.clone());
            own.push(CommonTable { name, written: format!("with_{}_of_query", self.common_tables), cost: 1 });
        }
        let before = self.scopes.last().cloned().unwrap_or_default();
        self.push(if *recursive { "WITH RECURSIVE " } else { "WITH " });
        for (at, cte) in cte_tables.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            // Without a recursive part a query cannot read itself: its name refers to something else.
            let is_recursive = matches!(cte.query.body.as_ref(), SetExpr::SetOperation { .. });
            let shown =
                own.iter().enumerate().filter(|(other, _)| *other < at || sees_all && (*other > at || is_recursive));
            let inside: Vec<CommonTable> = before.iter().chain(shown.map(|(_, table)| table)).cloned().collect();
            own[at].cost = self.common_table_body(cte, &own[at].written.clone(), inside)?;
        }
        self.push(" ");
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(own);
        }
        Ok(())
    }

    /// Renders a query under WITH and returns the number of tables that it reads.
    fn common_table_body(
        &mut self,
        cte: &Cte,
        name: &str,
        visible: Vec<CommonTable>,
    ) -> Result<u64, Box<crate::Failure>> {
        let Cte { alias, query, from, materialized, closing_paren_token: _ } = cte;
        if from.is_some() {
            self.unsupported_at("FROM after a name under WITH", alias.name.span)?;
        }
        self.push(&self.dialect.quote(name));
        self.alias_columns(alias)?;
        self.push(match materialized {
            None => " AS (",
            Some(CteAsMaterialized::Materialized) => " AS MATERIALIZED (",
            Some(CteAsMaterialized::NotMaterialized) => " AS NOT MATERIALIZED (",
        });
        let outside = std::mem::replace(&mut self.cost, 0);
        self.scopes.push(visible);
        self.query(query)?;
        self.scopes.pop();
        self.push(")");
        let cost = std::mem::replace(&mut self.cost, outside);
        Ok(cost.max(1))
    }

    fn body(&mut self, body: &SetExpr) -> WriteResult {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.subquery(query),
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation { .. } => self.set_operations(body),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => reject(
                "the query contains a statement that changes data",
                Span::empty(),
                "write one SELECT; access is read-only",
            ),
            SetExpr::Table(_) => reject("`TABLE name` is not supported", Span::empty(), "write SELECT * FROM name"),
        }
    }

    /// Chains of set operations grow on the left, so they are iterated instead of recursed into.
    fn set_operations(&mut self, body: &SetExpr) -> WriteResult {
        let (mut first, mut rest) = (body, Vec::new());
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = first {
            rest.push((op, set_quantifier, right));
            first = left;
        }
        self.body(first)?;
        for (operator, quantifier, right) in rest.into_iter().rev() {
            self.push(match operator {
                SetOperator::Union => " UNION",
                SetOperator::Except => " EXCEPT",
                SetOperator::Intersect => " INTERSECT",
                SetOperator::Minus => return reject("MINUS is not supported", right.span(), "use EXCEPT"),
            });
            self.push(match quantifier {
                SetQuantifier::None => " ",
                SetQuantifier::All => " ALL ",
                SetQuantifier::Distinct => " DISTINCT ",
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {
                    return self.refuse_form("BY NAME", right.as_ref());
                }
            });
            self.body(right)?;
        }
        Ok(())
    }

    fn values(&mut self, values: &Values) -> WriteResult {
        let Values { explicit_row, value_keyword: false, rows } = values else {
            return reject("VALUE is not supported", Span::empty(), "write VALUES");
        };
        let before = if *explicit_row { "ROW(" } else { "(" };
        self.list("VALUES ", rows, "", |writer, row| writer.list(before, &row.content, ")", Self::expr))
    }

    /// Rejects unsupported additions to a SELECT. Additions of future parser versions must be decided on here.
    fn check_plain(select: &Select) -> WriteResult {
        let Select {
            select_token,
            optimizer_hints,
            distinct: _,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection: _,
            exclude,
            into,
            from: _,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by: _,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window: _,
            qualify: _,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        let place = select_token.0.span;
        if into.is_some() {
            return reject("the query writes its answer somewhere (INTO)", place, "remove INTO");
        }
        let is_plain = optimizer_hints.is_empty()
            && select_modifiers.is_none()
            && top.is_none()
            && exclude.is_none()
            && lateral_views.is_empty()
            && prewhere.is_none()
            && connect_by.is_empty()
            && cluster_by.is_empty()
            && distribute_by.is_empty()
            && sort_by.is_empty()
            && value_table_mode.is_none()
            && *flavor == SelectFlavor::Standard;
        if !is_plain {
            return match (top, flavor) {
                (Some(_), _) => reject("TOP is not supported", place, TOP),
                (None, SelectFlavor::FromFirst | SelectFlavor::FromFirstNoSelect) => {
                    reject("FROM before SELECT is not supported", place, "write SELECT ... FROM ...")
                }
                (None, SelectFlavor::Standard) => reject(
                    "hints, LATERAL VIEW, CONNECT BY and other extensions of SELECT are not supported",
                    place,
                    "write a plain SELECT",
                ),
            };
        }
        Ok(())
    }

    fn select(&mut self, select: &Select) -> WriteResult {
        Self::check_plain(select)?;
        let place = select.select_token.0.span;
        self.push("SELECT ");
        self.distinct(select.distinct.as_ref())?;
        let labels = match self.dialect {
            // These dialects name an unnamed column by its text.
            Dialect::Mysql | Dialect::Sqlite => {
                labels::labels(self.dialect, &self.source, place, select.projection.len())
            }
            Dialect::Postgres | Dialect::Bigquery | Dialect::Joined => Vec::new(),
        };
        let mut labels = labels.into_iter();
        self.list("", &select.projection, "", |writer, item| {
            let label = labels.next();
            writer.item(item, label)
        })?;
        self.from(&select.from)?;
        if let Some(condition) = &select.selection {
            self.prefix(" WHERE ", condition)?;
        }
        self.group_by(&select.group_by)?;
        if let Some(condition) = &select.having {
            self.prefix(" HAVING ", condition)?;
        }
        if select.window_before_qualify {
            self.windows(&select.named_window)?;
        }
        if let Some(condition) = &select.qualify {
            self.prefix(" QUALIFY ", condition)?;
        }
        if !select.window_before_qualify {
            self.windows(&select.named_window)?;
        }
        Ok(())
    }

    fn distinct(&mut self, distinct: Option<&Distinct>) -> WriteResult {
        match distinct {
            None => Ok(()),
            Some(Distinct::All) => self.end("ALL "),
            Some(Distinct::Distinct) => self.end("DISTINCT "),
            Some(Distinct::On(columns)) => self.list("DISTINCT ON (", columns, ") ", Self::expr),
        }
    }

    fn windows(&mut self, named_window: &[NamedWindowDefinition]) -> WriteResult {
        if named_window.is_empty() {
            return Ok(());
        }
        self.list(" WINDOW ", named_window, "", |writer, window| {
            writer.ident(&window.0)?;
            writer.push(" AS ");
            match &window.1 {
                NamedWindowExpr::NamedWindow(name) => writer.ident(name),
                NamedWindowExpr::WindowSpec(spec) => writer.window(spec),
            }
        })
    }

    fn item(&mut self, item: &SelectItem, label: Option<String>) -> WriteResult {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                self.expr(expr)?;
                let has_name =
                    matches!(expr, sqlparser::ast::Expr::Identifier(_) | sqlparser::ast::Expr::CompoundIdentifier(_));
                match label.filter(|_| !has_name) {
                    Some(label) => {
                        self.push(" AS ");
                        self.ident(&Ident::with_quote('"', label))
                    }
                    None => Ok(()),
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                self.expr(expr)?;
                self.push(" AS ");
                self.ident(alias)
            }
            SelectItem::ExprWithAliases { expr, .. } => self.refuse_form("an alias of several names", expr),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                self.all_columns(name)?;
                self.wildcard_options(options)
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), options) => {
                self.expr(expr)?;
                self.push(".*");
                self.wildcard_options(options)
            }
            SelectItem::Wildcard(options) => {
                self.push("*");
                self.wildcard_options(options)
            }
        }
    }

    fn wildcard_options(&mut self, options: &WildcardAdditionalOptions) -> WriteResult {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike: None,
            opt_exclude: None,
            opt_except,
            opt_replace: None,
            opt_rename: None,
            opt_alias: None,
        } = options
        else {
            return self.refuse_form("a restricted wildcard", options);
        };
        if let Some(except) = opt_except {
            if !matches!(self.dialect, Dialect::Bigquery | Dialect::Joined) {
                return self.refuse_form("EXCEPT after *", options);
            }
            self.push(" EXCEPT (");
            self.ident(&except.first_element)?;
            for name in &except.additional_elements {
                self.push(", ");
                self.ident(name)?;
            }
            self.push(")");
        }
        Ok(())
    }

    fn group_by(&mut self, group_by: &GroupByExpr) -> WriteResult {
        let modifiers = match group_by {
            GroupByExpr::Expressions(columns, modifiers) => {
                if columns.is_empty() && modifiers.is_empty() {
                    return Ok(());
                }
                self.list(" GROUP BY ", columns, "", Self::expr)?;
                modifiers
            }
            GroupByExpr::All(modifiers) => {
                self.push(" GROUP BY ALL");
                modifiers
            }
        };
        for modifier in modifiers {
            match modifier {
                GroupByWithModifier::Rollup if self.dialect == Dialect::Mysql => self.push(" WITH ROLLUP"),
                GroupByWithModifier::GroupingSets(sets) => self.prefix(" ", sets)?,
                _ => {
                    return reject("this addition to GROUP BY is not supported", Span::empty(), "group by expressions");
                }
            }
        }
        Ok(())
    }

    fn order_by(&mut self, order: &OrderBy) -> WriteResult {
        let OrderBy { kind, interpolate: None } = order else {
            return reject("INTERPOLATE is not supported", Span::empty(), "remove it");
        };
        match kind {
            OrderByKind::Expressions(columns) => self.list(" ORDER BY ", columns, "", Self::order_by_expr),
            OrderByKind::All(OrderByOptions { .. }) => {
                reject("ORDER BY ALL is not supported", Span::empty(), "name the columns")
            }
        }
    }

    fn limit(&mut self, limit: &LimitClause) -> WriteResult {
        match limit {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                if let Some(first) = limit_by.first() {
                    return self.refuse_form("LIMIT BY", first);
                }
                if let Some(limit) = limit {
                    self.prefix(" LIMIT ", limit)?;
                }
                if let Some(Offset { value, rows }) = offset {
                    self.prefix(" OFFSET ", value)?;
                    self.push(match rows {
                        OffsetRows::None => "",
                        OffsetRows::Row => " ROW",
                        OffsetRows::Rows => " ROWS",
                    });
                }
                Ok(())
            }
            LimitClause::OffsetCommaLimit { offset, limit } => {
                self.prefix(" LIMIT ", limit)?;
                self.prefix(" OFFSET ", offset)
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch) -> WriteResult {
        let Fetch { with_ties, percent: false, quantity } = fetch else {
            return reject("FETCH of a percentage is not supported", Span::empty(), "fetch a number of rows");
        };
        self.push(" FETCH FIRST");
        if let Some(quantity) = quantity {
            self.prefix(" ", quantity)?;
        }
        self.end(if *with_ties { " ROWS WITH TIES" } else { " ROWS ONLY" })
    }
}
