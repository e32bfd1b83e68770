//! `planner sql`: one read-only query over the databases of the catalog.

use prospector_core::tool::{Answer, ToolError, finding::QueryFailure};
use prospector_discovery::{DiscoveryTools, Profile};
use prospector_engine::Engine;
use serde_json::json;

use super::{Opening, open};
use crate::{
    Exit,
    cli::{ReportFormat, SqlArgs},
    output,
    report::Report,
    settings::Settings,
    table::Table,
};

/// `planner sql`
pub(crate) async fn sql(args: SqlArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let tools = DiscoveryTools::new(&catalog, Profile::DEFAULT).with_engine(&catalog.engine());
    let mut query = json!({"question": "", "sql": args.sql});
    if let Some(database) = args.database {
        query["database"] = database.into();
    }
    let answer = match tools.call(Engine::QUERY_TOOL, json!({"queries": [query]})).await {
        Ok(answer) => answer,
        Err(error @ ToolError::Respond { .. }) => {
            output::json(&error.to_json())?;
            return Ok(Exit::NotVerified);
        }
        Err(error) => return Err(error.into()),
    };
    if args.format == Some(ReportFormat::Text) {
        output::text(&answer.text())?;
        return Ok(if rows(&answer).is_ok() { Exit::Good } else { Exit::NotVerified });
    }
    match rows(&answer) {
        Ok((table, has_more)) => {
            let (count, more) = (table.rows.len(), if has_more { ", and there are more" } else { "" });
            let note = format!("{count} row{}{more}", if count == 1 { "" } else { "s" });
            Report::new(answer.json(), table)?.in_rows().with_note(note).print(args.format)?;
            Ok(Exit::Good)
        }
        Err(failure) => {
            Report::new(answer.json(), Table::default())?.print(args.format.or(Some(ReportFormat::Json)))?;
            output::say(&format!("error: {failure}"));
            Ok(Exit::NotVerified)
        }
    }
}

/// The rows of the one query, and whether there are more.
fn rows(answer: &Answer) -> Result<(Table, bool), QueryFailure> {
    let mut found = Ok((Table::default(), false));
    // Nothing is edited: it is the way to the rows.
    let _ = answer.edit_queries(&mut |queries| {
        if let Some(query) = queries.into_iter().next() {
            found = query
                .rows
                .map(|rows| (Table { columns: rows.columns.to_vec(), rows: rows.rows.to_vec() }, rows.has_more));
        }
    });
    found
}
