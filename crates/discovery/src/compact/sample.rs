//! `sample`: the most frequent values of a column.

use std::sync::Arc;

use prospector_core::tool::{Answer, Effect, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::CompactTool;
use crate::target::{MAX_ID_BYTES, TargetResolver, shorten};

pub(crate) const NAME: &str = "sample";

/// The tool.
pub(super) struct Sample(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// database.table.column
    #[serde(alias = "id", alias = "name")]
    column: String,
    /// Accepted instead of the first parts of `column`.
    #[schemars(skip)]
    table: Option<String>,
    #[serde(alias = "db", alias = "datasource")]
    #[schemars(skip)]
    database: Option<String>,
    contains: Option<String>,
    limit: Option<usize>,
}

impl CompactTool for Sample {
    const NAME: &'static str = NAME;
    type Args = Args;

    fn describe(&self) -> ToolSpec {
        ToolSpec::new::<Args>(NAME, "Returns the distinct values of a table column, most frequent first.")
    }

    fn effect(&self) -> Effect {
        self.0.effect("get_sample_values")
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let parts = [args.database.as_deref(), args.table.as_deref(), Some(args.column.as_str())];
        let id =
            parts.into_iter().flatten().map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        let id = id.as_str();
        let not_a_column = || {
            let advice = "pass database.table.column".to_owned();
            ToolError::invalid(format!("`{}` is not a column", shorten(id)), Some(advice))
        };
        if id.len() > MAX_ID_BYTES {
            return Err(not_a_column());
        }
        let cuts = || id.match_indices('.').map(|(at, _)| (&id[..at], &id[at + 1..]));
        // An existing table with this column; otherwise the last existing table, or the parts of the id.
        let tables: Vec<((String, String), &str)> =
            cuts().filter_map(|(table, column)| Some((self.0.table(table)?, column))).collect();
        let has = |((database, table), column): &&((String, String), &str)| {
            self.0.catalog.schema.resolve_column(&format!("{database}.{table}.{column}")).is_some()
        };
        let found = tables.iter().find(has).or_else(|| tables.last());
        let (database, table, column) = match found {
            Some(((database, table), column)) => (database.clone(), table.clone(), (*column).to_owned()),
            None => {
                let mut parts = id.splitn(3, '.').map(str::to_owned);
                let (Some(database), Some(table), Some(column)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err(not_a_column());
                };
                (database, table, column)
            }
        };
        let fields = json!({"database": database, "table": table, "column": column, "contains": args.contains,
                            "limit": args.limit});
        self.0.call("get_sample_values", fields, max_tokens).await
    }
}
