//! `planner sql`: one read-only query over the databases of the catalog.

use prospector_core::tool::ToolError;
use prospector_discovery::{DiscoveryTools, Profile};
use serde_json::json;

use super::{Opening, open};
use crate::{
    Exit,
    cli::{FormatName, SqlArgs},
    output,
    settings::Settings,
};

/// `planner sql`
pub(crate) async fn sql(args: SqlArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let tools = DiscoveryTools::new(&catalog, Profile::DEFAULT).with_engine(&catalog.engine());
    let mut query = json!({"question": "", "sql": args.sql});
    if let Some(database) = args.database {
        query["database"] = database.into();
    }
    let answer = match tools.call("execute_sql", json!({"queries": [query]})).await {
        Ok(answer) => answer,
        Err(error @ ToolError::Respond { .. }) => {
            output::json(&error.to_json())?;
            return Ok(Exit::NotVerified);
        }
        Err(error) => return Err(error.into()),
    };
    match args.format {
        FormatName::Json => output::json(answer.json())?,
        FormatName::Text => output::text(&answer.text())?,
    }
    let failed = answer.json().pointer("/0/error").is_some();
    Ok(if failed { Exit::NotVerified } else { Exit::Good })
}
