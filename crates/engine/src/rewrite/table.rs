//! FROM: tables, joins, subqueries and functions that return rows.

use sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, ObjectName, Spanned, TableAlias, TableFactor, TableWithJoins,
};

use super::{CommonTable, MAX_READS, Piece, WriteResult, Writer, reject};
use crate::functions::returns_rows;
use crate::{Dialect, Failure, FailureCode};

impl Writer<'_> {
    pub(super) fn from(&mut self, tables: &[TableWithJoins]) -> WriteResult {
        if tables.is_empty() {
            return Ok(());
        }
        self.list(" FROM ", tables, "", Self::factor_and_joins)
    }

    fn factor_and_joins(&mut self, table: &TableWithJoins) -> WriteResult {
        self.deeper(|writer| {
            writer.factor(&table.relation)?;
            table.joins.iter().try_for_each(|join| writer.join(join))
        })
    }

    fn join(&mut self, join: &Join) -> WriteResult {
        let Join { relation, global, join_operator } = join;
        let (words, constraint) = match join_operator {
            JoinOperator::Join(constraint) => ("JOIN", constraint),
            JoinOperator::Inner(constraint) => ("INNER JOIN", constraint),
            JoinOperator::Left(constraint) => ("LEFT JOIN", constraint),
            JoinOperator::LeftOuter(constraint) => ("LEFT OUTER JOIN", constraint),
            JoinOperator::Right(constraint) => ("RIGHT JOIN", constraint),
            JoinOperator::RightOuter(constraint) => ("RIGHT OUTER JOIN", constraint),
            JoinOperator::FullOuter(constraint) => ("FULL JOIN", constraint),
            JoinOperator::CrossJoin(constraint) => ("CROSS JOIN", constraint),
            JoinOperator::StraightJoin(constraint) if self.dialect == Dialect::Mysql => ("STRAIGHT_JOIN", constraint),
            JoinOperator::LeftSemi(constraint) if self.dialect == Dialect::Joined => ("LEFT SEMI JOIN", constraint),
            JoinOperator::LeftAnti(constraint) if self.dialect == Dialect::Joined => ("LEFT ANTI JOIN", constraint),
            _ => {
                let advice = "use JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN with ON or USING";
                return reject(
                    format!("this form of JOIN is not supported in {}", self.dialect.as_str()),
                    relation.span(),
                    advice,
                );
            }
        };
        if *global {
            return self.refuse_form("a GLOBAL join", relation);
        }
        self.push(if matches!(constraint, JoinConstraint::Natural) { " NATURAL " } else { " " });
        self.push(words);
        self.push(" ");
        self.factor(relation)?;
        match constraint {
            JoinConstraint::On(condition) => self.prefix(" ON ", condition),
            JoinConstraint::Using(columns) => {
                self.list(" USING (", columns, ")", |writer, column| match writer.parts(column)?.as_slice() {
                    [name] => writer.ident(name),
                    _ => writer.refuse_form("a qualified column in USING", column),
                })
            }
            JoinConstraint::Natural | JoinConstraint::None => Ok(()),
        }
    }

    fn factor(&mut self, factor: &TableFactor) -> WriteResult {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version: None,
                with_ordinality,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => match args {
                None if !with_ordinality => self.table(name, alias.as_ref()),
                Some(args) if args.settings.is_none() => {
                    self.table_function(name, &args.args, *with_ordinality, alias.as_ref())
                }
                _ => self.refuse_form("this form of a table", factor),
            },
            TableFactor::Function { lateral, name, args, with_ordinality, alias } => {
                if *lateral {
                    self.push("LATERAL ");
                }
                self.table_function(name, args, *with_ordinality, alias.as_ref())
            }
            TableFactor::Derived { lateral, subquery, alias, sample: None } => {
                if *lateral {
                    self.push("LATERAL ");
                }
                self.subquery(subquery)?;
                self.alias(alias.as_ref())
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset, with_offset_alias, with_ordinality } => {
                self.list("UNNEST(", array_exprs, ")", Self::expr)?;
                if *with_ordinality {
                    self.push(" WITH ORDINALITY");
                }
                self.alias(alias.as_ref())?;
                if *with_offset {
                    self.push(" WITH OFFSET");
                }
                if let Some(name) = with_offset_alias {
                    self.push(" AS ");
                    self.ident(name)?;
                }
                Ok(())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.push("(");
                self.factor_and_joins(table_with_joins)?;
                self.push(")");
                self.alias(alias.as_ref())
            }
            other => self.refuse_form("this form of a table", other),
        }
    }

    /// Renders a table of the source, or a query under `WITH`.
    fn table(&mut self, name: &ObjectName, alias: Option<&TableAlias>) -> WriteResult {
        let parts = self.parts(name)?;
        if let [name] = parts.as_slice()
            && let Some(common) = self.common_table(name)?
        {
            self.add_cost(common.cost)?;
            self.push(&self.dialect.quote(&common.written));
            // Columns are qualified by the name in the query.
            return match alias {
                Some(_) => self.alias(alias),
                None => {
                    self.push(" AS ");
                    self.ident(name)
                }
            };
        }
        for part in &parts {
            self.quote(part)?;
        }
        self.add_cost(1)?;
        let at = self.done.reads.len();
        self.done.reads.push(name.clone());
        let own = alias.map(|alias| self.quote(&alias.name)).transpose()?;
        self.piece(Piece::Table { at, alias: own });
        alias.map_or(Ok(()), |alias| self.alias_columns(alias))
    }

    /// Returns the query under `WITH` that the name refers to, if any.
    ///
    /// # Errors
    /// In MySQL, if the names differ in case only: whether they match depends on the server.
    fn common_table(&self, name: &sqlparser::ast::Ident) -> Result<Option<CommonTable>, Box<Failure>> {
        let folded = self.dialect.fold(name);
        let visible = self.scopes.last().into_iter().flatten().rev();
        let Some(found) = visible.clone().find(|table| table.name == folded) else { return Ok(None) };
        if self.dialect == Dialect::Mysql && !self.written_names.contains(&name.value) {
            reject(
                format!("`{}` differs in case from its name under WITH", name.value),
                name.span,
                "use the same case everywhere",
            )?;
        }
        Ok(Some(found.clone()))
    }

    /// Adds to the number of tables that are read.
    fn add_cost(&mut self, tables: u64) -> WriteResult {
        self.cost = self.cost.saturating_add(tables);
        if self.cost > MAX_READS {
            let message =
                format!("the query reads more than {MAX_READS} tables, counting each WITH once per reference");
            let failure = Failure::new(FailureCode::TooLarge, message)
                .advise("reference each query under WITH only once or twice");
            return Err(Box::new(failure));
        }
        Ok(())
    }

    fn table_function(
        &mut self,
        name: &ObjectName,
        arguments: &[sqlparser::ast::FunctionArg],
        with_ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> WriteResult {
        let parts = self.parts(name)?;
        let lower = parts[parts.len() - 1].value.to_ascii_lowercase();
        let is_own = self.functions.iter().any(|own| own.rsplit('.').next() == Some(lower.as_str()));
        if !returns_rows(self.dialect, &lower) && !is_own {
            let message = format!("`{}` cannot be read as a table", name.to_string().escape_debug());
            let failure =
                Failure::new(FailureCode::UnknownFunction, message).advise("use a described table, or a subquery");
            return Err(Box::new(failure));
        }
        self.function_name(name)?;
        self.list("(", arguments, ")", Self::argument)?;
        if with_ordinality {
            self.push(" WITH ORDINALITY");
        }
        self.alias(alias)
    }

    fn alias(&mut self, alias: Option<&TableAlias>) -> WriteResult {
        let Some(alias) = alias else { return Ok(()) };
        self.push(" AS ");
        self.ident(&alias.name)?;
        self.alias_columns(alias)
    }

    /// Renders the column list of an alias, with types where a function of PostgreSQL requires them.
    pub(super) fn alias_columns(&mut self, alias: &TableAlias) -> WriteResult {
        let TableAlias { explicit: _, name, columns, at } = alias;
        if at.is_some() {
            return self.unsupported_at("AT after an alias", name.span);
        }
        if columns.is_empty() {
            return Ok(());
        }
        self.list(" (", columns, ")", |writer, column| {
            writer.ident(&column.name)?;
            match &column.data_type {
                Some(data_type) => {
                    writer.push(" ");
                    writer.data_type(data_type)
                }
                None => Ok(()),
            }
        })
    }
}
