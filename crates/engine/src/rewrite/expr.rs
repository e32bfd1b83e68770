//! Expressions.

use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, CeilFloorKind, DateTimeField, Expr, ExtractSyntax, Interval, ObjectName,
    Query, SearchModifier, Subscript, TrimWhereField, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

use super::literal::digits_of;
use super::operator::{binary, unary};
use super::{Writer, Written, no};
use crate::Dialect;

impl Writer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Written {
        self.deeper(|writer| writer.expr_here(expr))
    }

    fn expr_here(&mut self, expr: &Expr) -> Written {
        match expr {
            Expr::Identifier(name) => self.ident(name),
            Expr::CompoundIdentifier(parts) => self.column(parts),
            Expr::QualifiedWildcard(name, _) => self.all_columns(name),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::IsFalse(inner) => self.postfix(inner, " IS FALSE"),
            Expr::IsNotFalse(inner) => self.postfix(inner, " IS NOT FALSE"),
            Expr::IsTrue(inner) => self.postfix(inner, " IS TRUE"),
            Expr::IsNotTrue(inner) => self.postfix(inner, " IS NOT TRUE"),
            Expr::IsNull(inner) => self.postfix(inner, " IS NULL"),
            Expr::IsNotNull(inner) => self.postfix(inner, " IS NOT NULL"),
            Expr::IsUnknown(inner) => self.postfix(inner, " IS UNKNOWN"),
            Expr::IsNotUnknown(inner) => self.postfix(inner, " IS NOT UNKNOWN"),
            Expr::IsDistinctFrom(left, right) => self.infix(left, " IS DISTINCT FROM ", right),
            Expr::IsNotDistinctFrom(left, right) => self.infix(left, " IS NOT DISTINCT FROM ", right),
            Expr::InList { expr, list, negated } => {
                self.expr(expr)?;
                self.push(if *negated { " NOT IN (" } else { " IN (" });
                self.list(list, Self::expr)?;
                self.push(")");
                Ok(())
            }
            Expr::InSubquery { expr, subquery, negated } => {
                self.expr(expr)?;
                self.push(if *negated { " NOT IN " } else { " IN " });
                self.subquery(subquery)
            }
            Expr::InUnnest { expr, array_expr, negated } if self.dialect == Dialect::Bigquery => {
                self.expr(expr)?;
                self.push(if *negated { " NOT IN UNNEST(" } else { " IN UNNEST(" });
                self.expr(array_expr)?;
                self.push(")");
                Ok(())
            }
            Expr::Between { expr, negated, low, high } => {
                self.expr(expr)?;
                self.push(if *negated { " NOT BETWEEN " } else { " BETWEEN " });
                self.infix(low, " AND ", high)
            }
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::UnaryOp { op, expr } => match unary(self.dialect, op) {
                Some(sign) => self.prefix(&format!("{sign} "), expr),
                None => self.unsupported(&format!("the operator `{op}`"), expr.as_ref()),
            },
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, *negated, "LIKE", pattern, escape_char.as_ref())
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, *negated, "ILIKE", pattern, escape_char.as_ref())
            }
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                self.like(expr, *negated, "SIMILAR TO", pattern, escape_char.as_ref())
            }
            Expr::RLike { negated, expr, pattern, regexp } => {
                self.like(expr, *negated, if *regexp { "REGEXP" } else { "RLIKE" }, pattern, None)
            }
            Expr::AnyOp { left, compare_op, right, is_some } => {
                self.quantified(left, compare_op, if *is_some { "SOME" } else { "ANY" }, right)
            }
            Expr::AllOp { left, compare_op, right } => self.quantified(left, compare_op, "ALL", right),
            Expr::Convert { is_try: false, expr, data_type, charset, target_before_value: false, styles }
                if self.dialect == Dialect::Mysql && styles.is_empty() =>
            {
                self.push("CONVERT(");
                self.expr(expr)?;
                match (data_type, charset) {
                    (Some(data_type), None) => {
                        self.push(", ");
                        self.data_type(data_type)?;
                    }
                    (None, Some(charset)) => {
                        self.push(" USING ");
                        self.word(&charset.to_string(), "character set")?;
                    }
                    _ => return self.unsupported("this form of CONVERT", expr.as_ref()),
                }
                self.push(")");
                Ok(())
            }
            Expr::Cast { kind, expr: inner, data_type, array: false, format: None } => {
                let name = match (kind, self.dialect) {
                    (CastKind::DoubleColon, Dialect::Postgres | Dialect::Joined) => {
                        self.expr(inner)?;
                        self.push("::");
                        return self.data_type(data_type);
                    }
                    (CastKind::Cast, _) => "CAST(",
                    (CastKind::TryCast, Dialect::Joined) => "TRY_CAST(",
                    (CastKind::SafeCast, Dialect::Bigquery) => "SAFE_CAST(",
                    _ => return self.unsupported("this form of CAST", inner.as_ref()),
                };
                self.push(name);
                self.expr(inner)?;
                self.push(" AS ");
                self.data_type(data_type)?;
                self.push(")");
                Ok(())
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.infix(timestamp, " AT TIME ZONE ", time_zone),
            Expr::Extract { field, syntax: ExtractSyntax::From, expr } => {
                self.done.made.insert("extract".to_owned());
                self.push("EXTRACT(");
                self.date_part(field)?;
                self.push(" FROM ");
                self.expr(expr)?;
                self.push(")");
                Ok(())
            }
            Expr::Ceil { expr, field } => self.rounded("ceil", expr, field),
            Expr::Floor { expr, field } => self.rounded("floor", expr, field),
            Expr::Position { expr, r#in } => {
                self.done.made.insert("position".to_owned());
                self.push("POSITION(");
                self.infix(expr, " IN ", r#in)?;
                self.push(")");
                Ok(())
            }
            Expr::Substring { expr, substring_from, substring_for, special, shorthand } => {
                self.substring(expr, substring_from.as_deref(), substring_for.as_deref(), *special, *shorthand)
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                self.trim(trim_where.as_ref(), trim_what.as_deref(), expr, trim_characters.as_deref())
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for }
                if matches!(self.dialect, Dialect::Postgres | Dialect::Joined) =>
            {
                self.done.made.insert("overlay".to_owned());
                self.push("OVERLAY(");
                self.infix(expr, " PLACING ", overlay_what)?;
                self.prefix(" FROM ", overlay_from)?;
                if let Some(length) = overlay_for {
                    self.prefix(" FOR ", length)?;
                }
                self.push(")");
                Ok(())
            }
            Expr::Collate { expr, collation } => self.collate(expr, collation),
            Expr::Nested(inner) => self.enclosed(inner),
            Expr::Value(value) => self.value(value),
            Expr::Prefixed { prefix, value }
                if self.dialect == Dialect::Mysql
                    && matches!(prefix.value.to_ascii_lowercase().as_str(), "_utf8mb4" | "_utf8" | "_binary") =>
            {
                self.prefixed(&prefix.value.to_ascii_lowercase(), value)
            }
            Expr::TypedString(typed) => {
                self.data_type(&typed.data_type)?;
                self.push(" ");
                self.value(&typed.value)
            }
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.done.made.insert("case".to_owned());
                self.push("CASE");
                if let Some(operand) = operand {
                    self.prefix(" ", operand)?;
                }
                for when in conditions {
                    self.prefix(" WHEN ", &when.condition)?;
                    self.prefix(" THEN ", &when.result)?;
                }
                if let Some(otherwise) = else_result {
                    self.prefix(" ELSE ", otherwise)?;
                }
                self.push(" END");
                Ok(())
            }
            Expr::Exists { subquery, negated } => {
                self.done.made.insert("exists".to_owned());
                self.push(if *negated { "NOT EXISTS " } else { "EXISTS " });
                self.subquery(subquery)
            }
            Expr::Subquery(query) => self.subquery(query),
            Expr::GroupingSets(sets) => self.grouping("GROUPING SETS", sets),
            Expr::Cube(sets) => self.grouping("CUBE", sets),
            Expr::Rollup(sets) => self.grouping("ROLLUP", sets),
            Expr::Tuple(items) => {
                self.push("(");
                self.list(items, Self::expr)?;
                self.push(")");
                Ok(())
            }
            Expr::Struct { values, fields } if self.dialect == Dialect::Bigquery && fields.is_empty() => {
                self.push("STRUCT(");
                self.list(values, Self::expr)?;
                self.push(")");
                Ok(())
            }
            Expr::Named { expr, name } if self.dialect == Dialect::Bigquery => {
                self.expr(expr)?;
                self.push(" AS ");
                self.new_name(name)
            }
            Expr::Array(array) if matches!(self.dialect, Dialect::Postgres | Dialect::Bigquery | Dialect::Joined) => {
                self.done.made.insert("array".to_owned());
                self.push(if array.named { "ARRAY[" } else { "[" });
                self.list(&array.elem, Self::expr)?;
                self.push("]");
                Ok(())
            }
            Expr::Interval(interval) => self.interval(interval),
            Expr::MatchAgainst { columns, match_value, opt_search_modifier } if self.dialect == Dialect::Mysql => {
                self.push("MATCH (");
                self.list(columns, |writer, name| {
                    let parts: Vec<_> = writer.parts(name)?.into_iter().cloned().collect();
                    writer.column(&parts)
                })?;
                self.push(") AGAINST (");
                self.value(match_value)?;
                self.push(match opt_search_modifier {
                    None => ")",
                    Some(SearchModifier::InNaturalLanguageMode) => " IN NATURAL LANGUAGE MODE)",
                    Some(SearchModifier::InNaturalLanguageModeWithQueryExpansion) => {
                        " IN NATURAL LANGUAGE MODE WITH QUERY EXPANSION)"
                    }
                    Some(SearchModifier::InBooleanMode) => " IN BOOLEAN MODE)",
                    Some(SearchModifier::WithQueryExpansion) => " WITH QUERY EXPANSION)",
                });
                Ok(())
            }
            Expr::MemberOf(member) if self.dialect == Dialect::Mysql => {
                self.infix(&member.value, " MEMBER OF (", &member.array)?;
                self.push(")");
                Ok(())
            }
            other => self.unsupported("this form of expression", other),
        }
    }

    /// A literal of MySQL behind the name of its character set.
    fn prefixed(&mut self, prefix: &str, value: &Expr) -> Written {
        self.push(prefix);
        self.push(" ");
        match value {
            Expr::Value(ValueWithSpan {
                value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text),
                ..
            }) => {
                self.push(&format!("X'{}'", digits_of(text.as_bytes())));
                Ok(())
            }
            Expr::Value(value @ ValueWithSpan { value: Value::HexStringLiteral(_), .. }) => self.value(value),
            other => self.unsupported("a character set before what is not a text", other),
        }
    }

    /// Text before an expression.
    pub(super) fn prefix(&mut self, text: &str, expr: &Expr) -> Written {
        self.push(text);
        self.expr(expr)
    }

    fn postfix(&mut self, expr: &Expr, text: &str) -> Written {
        self.expr(expr)?;
        self.push(text);
        Ok(())
    }

    fn infix(&mut self, left: &Expr, text: &str, right: &Expr) -> Written {
        self.expr(left)?;
        self.prefix(text, right)
    }

    fn enclosed(&mut self, expr: &Expr) -> Written {
        self.prefix("(", expr)?;
        self.push(")");
        Ok(())
    }

    /// A query in parentheses.
    pub(super) fn subquery(&mut self, query: &Query) -> Written {
        self.push("(");
        self.query(query)?;
        self.push(")");
        Ok(())
    }

    /// Chains grow on the left and are long where brackets are not deep: they are walked, not recursed into.
    fn binary(&mut self, left: &Expr, operator: &BinaryOperator, right: &Expr) -> Written {
        let mut chain = vec![(operator, right)];
        let mut first = left;
        while let Expr::BinaryOp { left, op, right } = first {
            chain.push((op, right.as_ref()));
            first = left;
        }
        self.expr(first)?;
        for (operator, right) in chain.into_iter().rev() {
            self.operator(operator, right)?;
            self.prefix(" ", right)?;
        }
        Ok(())
    }

    fn operator(&mut self, operator: &BinaryOperator, near: &Expr) -> Written {
        match (binary(self.dialect, operator), operator, self.dialect) {
            (Some(sign), _, _) => {
                self.push(" ");
                self.push(sign);
                Ok(())
            }
            (None, BinaryOperator::StringConcat, Dialect::Mysql) => no(
                "`||` is OR in MySQL, or puts texts together, by the settings of the server",
                Span::empty(),
                "write OR, or concat(...)",
            ),
            (None, BinaryOperator::Assignment, _) => {
                no("the query sets a variable", Span::empty(), "leave the variable out")
            }
            _ => self.unsupported(&format!("the operator `{}`", operator.to_string().escape_debug()), near),
        }
    }

    fn like(
        &mut self,
        expr: &Expr,
        negated: bool,
        word: &str,
        pattern: &Expr,
        escape: Option<&ValueWithSpan>,
    ) -> Written {
        self.expr(expr)?;
        self.push(if negated { " NOT " } else { " " });
        self.push(word);
        self.prefix(" ", pattern)?;
        if let Some(escape) = escape {
            self.push(" ESCAPE ");
            self.value(escape)?;
        }
        Ok(())
    }

    fn quantified(&mut self, left: &Expr, operator: &BinaryOperator, word: &str, right: &Expr) -> Written {
        self.expr(left)?;
        self.operator(operator, right)?;
        self.push(" ");
        self.push(word);
        self.push(" ");
        match right {
            Expr::Subquery(query) => self.subquery(query),
            Expr::Nested(inner) => self.enclosed(inner),
            other => self.enclosed(other),
        }
    }

    /// `row.*` in the place of an expression.
    pub(super) fn all_columns(&mut self, name: &ObjectName) -> Written {
        let mut parts: Vec<_> = self.parts(name)?.into_iter().cloned().collect();
        parts.push(sqlparser::ast::Ident::new("*"));
        self.column(&parts)
    }

    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) -> Written {
        if !matches!(self.dialect, Dialect::Postgres | Dialect::Bigquery | Dialect::Joined) {
            return self.unsupported("a field or an element of a value", root);
        }
        self.expr(root)?;
        for access in chain {
            match access {
                AccessExpr::Dot(Expr::Identifier(name)) => {
                    self.done.attributes.push((None, name.clone()));
                    self.push(".");
                    self.ident(name)?;
                }
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    self.prefix("[", index)?;
                    self.push("]");
                }
                AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
                    self.push("[");
                    if let Some(bound) = lower_bound {
                        self.expr(bound)?;
                    }
                    self.push(":");
                    if let Some(bound) = upper_bound {
                        self.expr(bound)?;
                    }
                    self.push("]");
                }
                AccessExpr::Dot(_) | AccessExpr::Subscript(_) => {
                    return self.unsupported("this access to a part of a value", root);
                }
            }
        }
        Ok(())
    }

    fn date_part(&mut self, field: &DateTimeField) -> Written {
        match field {
            DateTimeField::Custom(word) => self.word(&word.value, "part of a date"),
            DateTimeField::Week(Some(day)) => {
                self.push("WEEK(");
                self.word(&day.value, "day of the week")?;
                self.push(")");
                Ok(())
            }
            DateTimeField::NoDateTime => Ok(()),
            known => self.word(&known.to_string(), "part of a date"),
        }
    }

    fn interval(&mut self, interval: &Interval) -> Written {
        let Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision } = interval;
        self.prefix("INTERVAL ", value)?;
        if let Some(field) = leading_field {
            self.push(" ");
            self.date_part(field)?;
        }
        if let Some(precision) = leading_precision {
            self.push(&format!(" ({precision})"));
        }
        if let Some(field) = last_field {
            self.push(" TO ");
            self.date_part(field)?;
        }
        if let Some(precision) = fractional_seconds_precision {
            self.push(&format!(" ({precision})"));
        }
        Ok(())
    }

    fn rounded(&mut self, name: &str, expr: &Expr, field: &CeilFloorKind) -> Written {
        self.builtin(name);
        self.expr(expr)?;
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
            CeilFloorKind::Scale(scale) => {
                self.push(", ");
                self.value(scale)?;
            }
            CeilFloorKind::DateTimeField(_) => return self.unsupported("rounding to a part of a date", expr),
        }
        self.push(")");
        Ok(())
    }

    fn substring(
        &mut self,
        expr: &Expr,
        from: Option<&Expr>,
        length: Option<&Expr>,
        with_commas: bool,
        is_short: bool,
    ) -> Written {
        if with_commas {
            self.builtin(if is_short { "substr" } else { "substring" });
        } else {
            self.done.made.insert("substring".to_owned());
            self.push("SUBSTRING(");
        }
        self.expr(expr)?;
        for (part, word) in [(from, " FROM "), (length, " FOR ")] {
            if let Some(part) = part {
                self.prefix(if with_commas { ", " } else { word }, part)?;
            }
        }
        self.push(")");
        Ok(())
    }

    fn trim(
        &mut self,
        side: Option<&TrimWhereField>,
        what: Option<&Expr>,
        expr: &Expr,
        characters: Option<&[Expr]>,
    ) -> Written {
        self.done.made.extend(["btrim", "ltrim", "rtrim", "trim"].map(str::to_owned));
        self.push("TRIM(");
        match side {
            None => {}
            Some(TrimWhereField::Both) => self.push("BOTH "),
            Some(TrimWhereField::Leading) => self.push("LEADING "),
            Some(TrimWhereField::Trailing) => self.push("TRAILING "),
        }
        if let Some(what) = what {
            self.expr(what)?;
            self.push(" FROM ");
        } else if side.is_some() {
            self.push("FROM ");
        }
        self.expr(expr)?;
        if let Some(characters) = characters {
            self.push(", ");
            self.list(characters, Self::expr)?;
        }
        self.push(")");
        Ok(())
    }

    fn collate(&mut self, expr: &Expr, collation: &ObjectName) -> Written {
        self.expr(expr)?;
        let parts = self.parts(collation)?;
        let [name] = parts.as_slice() else {
            return no(format!("`{collation}` is not a plain collation"), Span::empty(), "name a collation");
        };
        self.push(" COLLATE ");
        match self.dialect {
            Dialect::Postgres => self.ident(name),
            Dialect::Mysql | Dialect::Sqlite => self.word(&name.value, "collation"),
            Dialect::Bigquery | Dialect::Joined => self.unsupported("COLLATE", expr),
        }
    }

    fn grouping(&mut self, word: &str, sets: &[Vec<Expr>]) -> Written {
        self.push(word);
        self.push(" (");
        self.list(sets, |writer, set| match set.as_slice() {
            [one] if word != "GROUPING SETS" => writer.expr(one),
            set => {
                writer.push("(");
                writer.list(set, Self::expr)?;
                writer.push(")");
                Ok(())
            }
        })?;
        self.push(")");
        Ok(())
    }
}
