//! The tools `build_query` and `query_datasource`.

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use serde::Serialize;

use crate::Engine;
use crate::answer::{MAX_CHARACTERS, MAX_ROWS, ShownRows, cut_to_show, tables};
use crate::build::{AskedQuery, BuiltQuery, build};

pub(super) struct BuildQuery(pub(super) Arc<Engine>);

impl Tool for BuildQuery {
    const NAME: &'static str = "build_query";
    const DESCRIPTION: &'static str = "Builds the SQL for measures, dimensions, filters, calculations and top N over a \
        table and the tables that its keys connect to; nothing is run.";
    const EFFECT: Effect = Effect::Reads;
    type Args = AskedQuery;
    type Output = BuiltQuery;

    async fn call(&self, AskedQuery(request): AskedQuery) -> Result<BuiltQuery, ToolError> {
        let built = build(&self.0, &request)?;
        // Checks that the built query passes the guard.
        self.0.plan(&built.sql, Some(&built.query.database)).await?;
        Ok(built)
    }
}

pub(super) struct QueryDatasource(pub(super) Arc<Engine>);

/// The answer to a built query.
#[derive(Clone, Serialize)]
pub(super) struct BuiltAnswer {
    databases: Vec<String>,
    tables: Vec<String>,
    sql: String,
    #[serde(flatten)]
    shown: ShownRows,
    /// Evidence from the data that the query does not compute what it appears to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for QueryDatasource {
    const NAME: &'static str = "query_datasource";
    const DESCRIPTION: &'static str = "Builds a query as build_query does, runs it, and returns up to 50 rows.";
    const MORE: &'static str = "use fewer dimensions or a top, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = AskedQuery;
    type Output = BuiltAnswer;

    async fn call(&self, AskedQuery(request): AskedQuery) -> Result<BuiltAnswer, ToolError> {
        let built = build(&self.0, &request)?;
        let mut outcome = self.0.run(&built.sql, Some(&built.query.database), MAX_ROWS).await?;
        let warnings = self.0.warning_texts(&built.sql, Some(&built.query.database), Some(&outcome.rows)).await;
        if outcome.rows.columns.len() == built.columns.len() {
            outcome.rows.columns = built.columns;
        }
        let mut shown = cut_to_show(outcome.rows, MAX_CHARACTERS);
        if shown.has_more {
            shown.next = Some("more rows exist: add filters or a top, or use fewer dimensions".to_owned());
        }
        Ok(BuiltAnswer { databases: outcome.databases, tables: outcome.tables, sql: built.sql, shown, warnings })
    }
}

impl ToolOutput for BuiltQuery {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("sql", Part::Text(&mut self.sql))]
    }
}

impl ToolOutput for BuiltAnswer {
    fn reveals(&self) -> Vec<Resource> {
        tables(&self.databases, &self.tables)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![("sql", Part::Text(&mut self.sql))];
        parts.extend(self.shown.parts());
        parts.push(("warnings", Part::entries(&mut self.warnings)));
        parts
    }
}
