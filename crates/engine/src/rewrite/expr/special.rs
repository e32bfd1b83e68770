//! Casts, and functions with special syntax: those of texts, of dates, and of rounding.

use sqlparser::ast::{
    CastKind, CeilFloorKind, DataType, DateTimeField, Expr, ExtractSyntax, Interval, ObjectName, SearchModifier,
    Spanned, TrimWhereField, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

use crate::Dialect;
use crate::rewrite::literal::digits_of;
use crate::rewrite::{WriteResult, Writer, reject};

/// The maximum length of an expression that is repeated in a suggestion, in bytes.
const MAX_REPEATED: usize = 60;

/// Returns an expression as it is repeated in a suggestion.
fn short(expr: &Expr) -> String {
    let text = expr.to_string();
    if text.len() > MAX_REPEATED { "x".to_owned() } else { text }
}

/// Returns the `strftime` format of a part of a date.
fn sqlite_format(field: &DateTimeField) -> &'static str {
    match field {
        DateTimeField::Month | DateTimeField::Months => "%m",
        DateTimeField::Day | DateTimeField::Days => "%d",
        DateTimeField::Hour | DateTimeField::Hours => "%H",
        DateTimeField::Minute | DateTimeField::Minutes => "%M",
        DateTimeField::Week(_) | DateTimeField::Weeks => "%W",
        DateTimeField::Dow | DateTimeField::DayOfWeek => "%w",
        DateTimeField::Doy | DateTimeField::DayOfYear => "%j",
        _ => "%Y",
    }
}

/// Renders a type as in CAST of the dialect.
fn plain_type(dialect: Dialect, data_type: &DataType) -> String {
    let written = data_type.to_string();
    let lower = written.to_ascii_lowercase();
    let is_any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let (integer, decimal, float, text) = match dialect {
        Dialect::Sqlite => ("INTEGER", "REAL", "REAL", "TEXT"),
        Dialect::Mysql => ("SIGNED", "DECIMAL(20, 4)", "DOUBLE", "CHAR"),
        Dialect::Bigquery => ("INT64", "NUMERIC", "FLOAT64", "STRING"),
        Dialect::Postgres | Dialect::Joined => return written,
    };
    if is_any(&["interval", "point"]) {
        written
    } else if is_any(&["int", "serial"]) {
        integer.to_owned()
    } else if is_any(&["numeric", "decimal"]) {
        decimal.to_owned()
    } else if is_any(&["float", "double", "real"]) {
        float.to_owned()
    } else if is_any(&["char", "text", "string"]) {
        text.to_owned()
    } else {
        written
    }
}

impl Writer<'_> {
    pub(super) fn special_form(&mut self, expr: &Expr) -> WriteResult {
        match expr {
            Expr::Convert { is_try: false, expr, data_type, charset, target_before_value: false, styles }
                if self.dialect == Dialect::Mysql && styles.is_empty() =>
            {
                self.prefix("CONVERT(", expr)?;
                match (data_type, charset) {
                    (Some(data_type), None) => {
                        self.push(", ");
                        self.data_type(data_type)?;
                    }
                    (None, Some(charset)) => {
                        self.push(" USING ");
                        self.word(&charset.to_string(), "character set")?;
                    }
                    _ => return self.refuse_form("this form of CONVERT", expr.as_ref()),
                }
                self.end(")")
            }
            Expr::Cast { kind, expr, data_type, array: false, format: None } => self.cast(kind, expr, data_type),
            Expr::AtTimeZone { timestamp, time_zone } => self.infix(timestamp, " AT TIME ZONE ", time_zone),
            Expr::Extract { field, syntax: ExtractSyntax::From, expr } => self.extract(field, expr),
            Expr::Ceil { expr, field } => self.round("ceil", expr, field),
            Expr::Floor { expr, field } => self.round("floor", expr, field),
            Expr::Position { expr, r#in } => {
                self.push("POSITION(");
                self.infix(expr, " IN ", r#in)?;
                self.end(")")
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
                self.push("OVERLAY(");
                self.infix(expr, " PLACING ", overlay_what)?;
                self.prefix(" FROM ", overlay_from)?;
                if let Some(length) = overlay_for {
                    self.prefix(" FOR ", length)?;
                }
                self.end(")")
            }
            Expr::Collate { expr, collation } => self.collate(expr, collation),
            Expr::Prefixed { prefix, value }
                if self.dialect == Dialect::Mysql
                    && matches!(prefix.value.to_ascii_lowercase().as_str(), "_utf8mb4" | "_utf8" | "_binary") =>
            {
                self.prefix_charset(&prefix.value.to_ascii_lowercase(), value)
            }
            Expr::TypedString(typed) => {
                self.data_type(&typed.data_type)?;
                self.push(" ");
                self.value(&typed.value)
            }
            Expr::Interval(interval) => self.interval(interval),
            Expr::MatchAgainst { columns, match_value, opt_search_modifier } if self.dialect == Dialect::Mysql => {
                self.match_against(columns, match_value, opt_search_modifier.as_ref())
            }
            other => self.refuse_form("this form of expression", other),
        }
    }

    fn extract(&mut self, field: &DateTimeField, expr: &Expr) -> WriteResult {
        if self.dialect == Dialect::Sqlite {
            let advice = format!("use CAST(strftime('{}', {}) AS INTEGER)", sqlite_format(field), short(expr));
            return reject("EXTRACT is not supported in SQLite", expr.span(), &advice);
        }
        self.push("EXTRACT(");
        self.date_part(field)?;
        self.prefix(" FROM ", expr)?;
        self.end(")")
    }

    fn cast(&mut self, kind: &CastKind, inner: &Expr, data_type: &DataType) -> WriteResult {
        let name = match (kind, self.dialect) {
            (CastKind::DoubleColon, Dialect::Postgres | Dialect::Joined) => {
                self.expr(inner)?;
                self.push("::");
                return self.data_type(data_type);
            }
            (CastKind::Cast, _) => "CAST(",
            (CastKind::TryCast, Dialect::Joined) => "TRY_CAST(",
            (CastKind::SafeCast, Dialect::Bigquery) => "SAFE_CAST(",
            (CastKind::DoubleColon, Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery)
            | (CastKind::TryCast, Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery)
            | (CastKind::SafeCast, Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined) => {
                let advice = format!("use CAST({} AS {})", short(inner), plain_type(self.dialect, data_type));
                return reject(
                    format!("this form of CAST is not supported in {}", self.dialect.as_str()),
                    inner.span(),
                    &advice,
                );
            }
        };
        self.prefix(name, inner)?;
        self.push(" AS ");
        self.data_type(data_type)?;
        self.end(")")
    }

    fn match_against(
        &mut self,
        columns: &[ObjectName],
        match_value: &ValueWithSpan,
        modifier: Option<&SearchModifier>,
    ) -> WriteResult {
        self.list("MATCH (", columns, ") AGAINST (", |writer, name| {
            let parts: Vec<_> = writer.parts(name)?.into_iter().cloned().collect();
            writer.column(&parts)
        })?;
        self.value(match_value)?;
        self.end(match modifier {
            None => ")",
            Some(SearchModifier::InNaturalLanguageMode) => " IN NATURAL LANGUAGE MODE)",
            Some(SearchModifier::InNaturalLanguageModeWithQueryExpansion) => {
                " IN NATURAL LANGUAGE MODE WITH QUERY EXPANSION)"
            }
            Some(SearchModifier::InBooleanMode) => " IN BOOLEAN MODE)",
            Some(SearchModifier::WithQueryExpansion) => " WITH QUERY EXPANSION)",
        })
    }

    /// Renders a literal of MySQL with its character set.
    fn prefix_charset(&mut self, prefix: &str, value: &Expr) -> WriteResult {
        self.push(prefix);
        self.push(" ");
        match value {
            Expr::Value(ValueWithSpan {
                value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text),
                ..
            }) => self.end(&format!("X'{}'", digits_of(text.as_bytes()))),
            Expr::Value(value @ ValueWithSpan { value: Value::HexStringLiteral(_), .. }) => self.value(value),
            other => self.refuse_form("a character set before a value that is not a text", other),
        }
    }

    fn date_part(&mut self, field: &DateTimeField) -> WriteResult {
        match field {
            DateTimeField::Custom(word) => self.word(&word.value, "part of a date"),
            DateTimeField::Week(Some(day)) => {
                self.push("WEEK(");
                self.word(&day.value, "day of the week")?;
                self.end(")")
            }
            DateTimeField::NoDateTime => Ok(()),
            known => self.word(&known.to_string(), "part of a date"),
        }
    }

    fn interval(&mut self, interval: &Interval) -> WriteResult {
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

    fn round(&mut self, name: &str, expr: &Expr, field: &CeilFloorKind) -> WriteResult {
        self.builtin(name);
        self.expr(expr)?;
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
            CeilFloorKind::Scale(scale) => {
                self.push(", ");
                self.value(scale)?;
            }
            CeilFloorKind::DateTimeField(_) => return self.refuse_form("rounding to a part of a date", expr),
        }
        self.end(")")
    }

    fn substring(
        &mut self,
        expr: &Expr,
        from: Option<&Expr>,
        length: Option<&Expr>,
        with_commas: bool,
        is_short: bool,
    ) -> WriteResult {
        if with_commas {
            self.builtin(if is_short { "substr" } else { "substring" });
        } else {
            self.push("SUBSTRING(");
        }
        self.expr(expr)?;
        for (part, word) in [(from, " FROM "), (length, " FOR ")] {
            if let Some(part) = part {
                self.prefix(if with_commas { ", " } else { word }, part)?;
            }
        }
        self.end(")")
    }

    fn trim(
        &mut self,
        side: Option<&TrimWhereField>,
        what: Option<&Expr>,
        expr: &Expr,
        characters: Option<&[Expr]>,
    ) -> WriteResult {
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
            self.list(", ", characters, "", Self::expr)?;
        }
        self.end(")")
    }

    fn collate(&mut self, expr: &Expr, collation: &ObjectName) -> WriteResult {
        self.expr(expr)?;
        let parts = self.parts(collation)?;
        let [name] = parts.as_slice() else {
            return reject(
                format!("`{collation}` is not a plain collation"),
                Span::empty(),
                "use the name of a collation",
            );
        };
        self.push(" COLLATE ");
        match self.dialect {
            Dialect::Postgres => self.ident(name),
            Dialect::Mysql | Dialect::Sqlite => self.word(&name.value, "collation"),
            Dialect::Bigquery | Dialect::Joined => self.refuse_form("COLLATE", expr),
        }
    }
}
