//! `planner sql`: read-only queries over the databases of the catalog, from the command line, standard input, or a shell at a terminal.
//! Rows are printed as they are read.

mod rows;
mod shell;

use std::{
    io::{IsTerminal, Read},
    sync::Arc,
};

use anyhow::Context as _;
use prospector_core::tool::ToolError;
use prospector_discovery::{Catalog, DiscoveryTools, Profile};
use prospector_engine::{
    Engine, Failure,
    query::{Outcome, split_script},
};
use serde_json::json;

use super::{Opening, open};
use crate::{
    Exit,
    cli::{ReportFormat, SqlArgs},
    output,
    settings::Settings,
};
use rows::RowPrinter;

/// `planner sql`
pub(crate) async fn sql(args: SqlArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let is_script = args.sql.as_deref().is_none_or(|sql| sql == "-");
    if args.sql.is_none() && std::io::stdin().is_terminal() {
        return shell::run(&args, settings).await;
    }
    let text = match args.sql {
        Some(sql) if !is_script => sql,
        _ => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read statements from standard input")?;
            text
        }
    };
    let (catalog, _) = open(settings, Opening::Use).await?;
    let session = SqlSession::new(&catalog, args.database);
    let mut printer = RowPrinter::new(args.format, args.limit);
    if !is_script {
        let done = session.print(&text, &mut printer).await?;
        printer.end()?;
        return Ok(done.map_or(Exit::NotVerified, |()| Exit::Good));
    }
    anyhow::ensure!(!is_comment(&text), "standard input contains no statement; end each with `;`");
    for (line, piece) in shell::split_commands(&text) {
        if piece.starts_with('.') {
            let done = shell::command(piece, &session, &mut printer).await;
            match done.with_context(|| format!("line {}", line + 1))? {
                shell::Done::Answered => continue,
                shell::Done::Quit => break,
                shell::Done::Failed => {
                    output::say(&format!("line {}: stopped at this command", line + 1));
                    return Ok(Exit::NotVerified);
                }
            }
        }
        for statement in split_script(piece).iter().filter(|one| !is_comment(one.text)) {
            if session.print(statement.text, &mut printer).await?.is_none() {
                printer.end()?;
                output::say(&format!("line {}: stopped at this statement", line + statement.line));
                return Ok(Exit::NotVerified);
            }
        }
    }
    printer.end()?;
    Ok(Exit::Good)
}

/// Whether a text consists only of comments.
fn is_comment(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let next = match rest {
            "" => return true,
            _ if rest.starts_with("--") => rest.split_once('\n').map_or("", |(_, next)| next),
            _ if rest.starts_with("/*") => rest.split_once("*/").map_or("", |(_, next)| next),
            _ => return false,
        };
        rest = next.trim_start();
    }
}

/// The context of statements.
struct SqlSession<'a> {
    catalog: &'a Catalog,
    engine: Arc<Engine>,
    /// The default database for tables named without one.
    database: Option<String>,
}

impl<'a> SqlSession<'a> {
    fn new(catalog: &'a Catalog, database: Option<String>) -> Self {
        SqlSession { catalog, engine: catalog.engine(), database }
    }

    /// Runs a statement and prints its rows; `None` if it failed, which was printed.
    async fn print(&self, sql: &str, printer: &mut RowPrinter) -> anyhow::Result<Option<()>> {
        if printer.format() == ReportFormat::Text {
            return self.print_as_tool(sql).await;
        }
        match self.stream(sql, printer).await? {
            Ok(outcome) => {
                let sample = printer.sample();
                let warnings = self.engine.warnings(sql, self.database.as_deref(), Some(&sample)).await;
                let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
                printer.finish(&outcome, &warnings)?;
                Ok(Some(()))
            }
            Err(failure) => {
                printer.fail(&failure)?;
                Ok(None)
            }
        }
    }

    /// Prints rows while they are read.
    async fn stream(&self, sql: &str, printer: &mut RowPrinter) -> anyhow::Result<Result<Outcome, Failure>> {
        let limit = printer.limit();
        super::rows::stream(&self.engine, sql, self.database.as_deref(), limit, |block| printer.print(block)).await
    }

    /// Prints the answer in the form sent to models.
    async fn print_as_tool(&self, sql: &str) -> anyhow::Result<Option<()>> {
        let tools = DiscoveryTools::new(self.catalog, Profile::DEFAULT).with_engine(&self.engine);
        let mut query = json!({"question": "", "sql": sql});
        if let Some(database) = &self.database {
            query["database"] = database.as_str().into();
        }
        let answer = match tools.call(Engine::QUERY_TOOL, json!({"queries": [query]})).await {
            Ok(answer) => answer,
            Err(error @ ToolError::Respond { .. }) => {
                output::json(&error.to_json())?;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        output::text(&answer.text())?;
        let has_failed = answer.map_queries(|query| query.rows.is_err());
        Ok((!has_failed.contains(&true)).then_some(()))
    }
}
