//! `planner sql` at a terminal: statements that end with `;`, and commands that start with a dot.

use std::collections::BTreeSet;

use clap::ValueEnum;
use prospector_core::name::suggest;
use prospector_engine::query::split_script;

use super::{RowPrinter, SqlSession, is_comment};
use crate::{
    Exit,
    cli::{ReportFormat, SqlArgs},
    commands::{
        Opening,
        chat::interruptible,
        line::{Lines, Prompt},
        open,
    },
    output,
    settings::Settings,
    visible::visible,
};

/// The commands with their descriptions.
const COMMANDS: [(&str, &str); 6] = [
    (".databases", "list the databases"),
    (".format", ".format FORMAT prints results as table, csv, csv-safe, json, jsonl or md"),
    (".help", "list the commands"),
    (".quit", "end"),
    (".schema", "list the columns of all tables; .schema TABLE those of one"),
    (".tables", "list the tables"),
];

/// SQL keywords for completion.
const KEYWORDS: [&str; 40] = [
    "SELECT",
    "DISTINCT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT JOIN",
    "INNER JOIN",
    "CROSS JOIN",
    "UNION ALL",
    "INTERSECT",
    "EXCEPT",
    "WITH",
    "BETWEEN",
    "EXISTS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "LIKE",
    "IS NULL",
    "IS NOT NULL",
    "COUNT(*)",
    "SUM(",
    "AVG(",
    "MIN(",
    "MAX(",
    "COALESCE(",
    "CAST(",
    "OVER (",
    "PARTITION BY",
    "ASC",
    "DESC",
    "SHOW TABLES",
    "SHOW DATABASES",
    "DESCRIBE",
];

const PROMPT: Prompt = Prompt { text: "sql> ", history: "sql_history.txt", is_complete };

/// Reads and runs statements until the input ends.
pub(super) async fn run(args: &SqlArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let session = SqlSession::new(&catalog, args.database.clone());
    let mut printer = RowPrinter::new(args.format, args.limit);
    let mut lines = Lines::open(PROMPT, &settings.state_folder()?, names(&session))?;
    let tables: usize = session.engine.sources().iter().map(|source| source.tables.len()).sum();
    output::say(&format!(
        "{} databases, {tables} tables; end a statement with `;`; .help lists the commands",
        session.engine.databases().len()
    ));
    while let Some(text) = lines.next()? {
        let text = text.trim();
        if let Some(line) = as_command(text) {
            match command(&line, &session, &mut printer).await {
                Ok(Done::Quit) => break,
                Ok(Done::Answered | Done::Failed) => {}
                Err(error) => output::error(&error),
            }
            continue;
        }
        for statement in split_script(text).iter().filter(|one| !is_comment(one.text)) {
            if !run_one(statement.text, &session, &mut printer).await? {
                break;
            }
        }
    }
    Ok(Exit::Good)
}

/// Runs a statement until it is done or interrupted; returns whether it succeeded.
async fn run_one(sql: &str, session: &SqlSession<'_>, printer: &mut RowPrinter) -> anyhow::Result<bool> {
    let done = interruptible(async |cancel| {
        tokio::select! {
            done = session.print(sql, printer) => Some(done),
            () = cancel.cancelled() => None,
        }
    })
    .await;
    let Some(done) = done else {
        printer.abandon();
        output::say("interrupted");
        return Ok(false);
    };
    let is_answered = done?.is_some();
    printer.end()?;
    Ok(is_answered)
}

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Answered,
    /// Its statement failed, which was printed.
    Failed,
    /// It ends the shell.
    Quit,
}

/// Runs a command.
pub(super) async fn command(line: &str, session: &SqlSession<'_>, printer: &mut RowPrinter) -> anyhow::Result<Done> {
    let line = line.trim_end_matches(';').trim_end();
    let (name, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(name, rest)| (name, rest.trim()));
    let statement = match name {
        ".quit" | ".exit" => return Ok(Done::Quit),
        ".help" => {
            let lines: Vec<String> = COMMANDS.iter().map(|(name, what)| format!("{name:11} {what}")).collect();
            output::reply(&lines.join("\n"))?;
            return Ok(Done::Answered);
        }
        ".databases" => "SHOW DATABASES".to_owned(),
        ".tables" => "SHOW TABLES".to_owned(),
        ".schema" if rest.is_empty() => {
            let all = "SELECT table_schema AS database, table_name AS \"table\", column_name AS \"column\", \
                       data_type AS \"type\" FROM information_schema.columns ORDER BY 1, 2, ordinal_position";
            all.to_owned()
        }
        ".schema" => format!("DESCRIBE {rest}"),
        ".format" => {
            let format = ReportFormat::from_str(rest, true).map_err(|_| {
                anyhow::anyhow!("unknown format `{rest}`; use table, csv, csv-safe, json, jsonl, md or text")
            })?;
            printer.set_format(format);
            return Ok(Done::Answered);
        }
        _ => {
            let near = suggest(name, COMMANDS.iter().map(|(name, _)| *name));
            anyhow::bail!("unknown command `{name}`; {}", near.as_deref().unwrap_or("`.help` lists the commands"));
        }
    };
    Ok(if run_one(&statement, session, printer).await? { Done::Answered } else { Done::Failed })
}

/// Returns the command of a line: one with a dot, or the exit or help word of other shells.
fn as_command(text: &str) -> Option<String> {
    match text.trim_end_matches(';').trim_end().to_lowercase().as_str() {
        "quit" | "exit" | "\\q" => Some(".quit".to_owned()),
        "help" | "\\h" | "\\?" => Some(".help".to_owned()),
        _ => text.starts_with('.').then(|| text.to_owned()),
    }
}

/// Splits a script into commands with a dot, each on a line of its own, and the SQL between them, with the number of lines before each.
pub(super) fn split_commands(text: &str) -> Vec<(usize, &str)> {
    let (mut pieces, mut begin, mut lines_before, mut at) = (Vec::new(), 0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_command = line.trim_start().starts_with('.') && is_complete(&text[begin..at]);
        if is_command {
            pieces.push((lines_before, &text[begin..at]));
            pieces.push((number, line.trim()));
            (begin, lines_before) = (at + line.len(), number + 1);
        }
        at += line.len();
    }
    pieces.push((lines_before, &text[begin..]));
    pieces.retain(|(_, piece)| !piece.trim().is_empty());
    pieces
}

/// Whether the text is a command, empty, or complete statements.
fn is_complete(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || as_command(text).is_some() {
        return true;
    }
    // What is open: a quote, a line comment, or a block comment.
    let (mut open, mut is_ended) = (None, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (open, c, chars.peek()) {
            (Some('*'), '*', Some('/')) => (_, open) = (chars.next(), None),
            (Some('\n'), '\n', _) => open = None,
            (Some(quote @ ('\'' | '"' | '`')), c, _) if c == quote => open = None,
            (Some(_), _, _) => {}
            (None, '-', Some('-')) => open = Some('\n'),
            (None, '/', Some('*')) => (_, open) = (chars.next(), Some('*')),
            (None, '\'' | '"' | '`', _) => (open, is_ended) = (Some(c), false),
            (None, c, _) => is_ended = c == ';' || is_ended && c.is_whitespace(),
        }
    }
    is_ended && matches!(open, None | Some('\n'))
}

/// Returns the words for completion: commands, keywords, databases, tables and columns.
fn names(session: &SqlSession<'_>) -> BTreeSet<String> {
    let words = COMMANDS.iter().map(|(name, _)| *name).chain(KEYWORDS);
    let mut names: BTreeSet<String> = words.map(str::to_owned).collect();
    for source in session.engine.sources() {
        names.insert(source.name.clone());
        for table in &source.tables {
            names.insert(table.name.clone());
            names.insert(format!("{}.{}", source.name, table.name));
            names.extend(table.columns.iter().map(|column| column.name.clone()));
        }
    }
    // The terminal echoes completed names verbatim.
    names.retain(|name| visible(name) == name.as_str());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_may_contain_commands() {
        let text = ".tables\nselect 1\n.5;\n.format csv\nselect 2";
        assert_eq!(split_commands(text), [(0, ".tables"), (1, "select 1\n.5;\n"), (3, ".format csv"), (4, "select 2")]);
        assert!(split_commands(" \n").is_empty());
    }

    #[test]
    fn a_statement_is_complete_at_its_semicolon() {
        for (text, expected) in [
            ("", true),
            (".tables", true),
            ("exit", true),
            ("quit;", true),
            ("SELECT 1", false),
            ("SELECT 1;", true),
            ("SELECT ';", false),
            ("SELECT ';'\n;", true),
            ("SELECT 1 -- all;", false),
            ("SELECT 1; -- all", true),
            ("SELECT '--';", true),
            ("SELECT /* ;", false),
            ("SELECT /* ; */ 1 - 1;", true),
            ("SELECT 1; SELECT 2", false),
        ] {
            assert_eq!(is_complete(text), expected, "{text}");
        }
    }
}
