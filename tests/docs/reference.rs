//! Generates the reference pages of the book from the help and the tools of the program.

use serde_json::Value;

use crate::{
    commands::Commands,
    support::{Estate, Ran, items, texts},
};

/// Flags that every command takes; they are described once.
const GLOBAL: [&str; 5] = ["--catalog", "--on", "--state", "--embedder", "-h"];

/// Flags that many commands take; they are described once, and listed for each command.
const SHARED: [&str; 5] = ["--profile", "--max-rounds", "--max-calls", "--max-seconds", "--calls-at-once"];

const NOTE: &str = "<!-- Generated from the program by `UPDATE_EXPECT=1 cargo test --test docs`. -->\n";

/// docs/src/cli.md
pub(crate) fn command_line(commands: &Commands) -> String {
    let mut page = format!(
        "# The command line\n\n{NOTE}\nEvery command takes the options of `planner` itself. `planner COMMAND --help` prints more.\n"
    );
    for name in &commands.names {
        let help = &commands.help[name];
        if name.is_empty() {
            page += &format!("\n## planner\n\n```text\n{}\n```\n", help.trim_end());
            let shared = options(&commands.help["plan"], |flag| SHARED.contains(&flag));
            page += &format!("\n## Shared options\n\n```text\n{}\n```\n", shared.trim_end());
            continue;
        }
        let level = if name.contains(' ') { "###" } else { "##" };
        let own = options(help, |flag| !GLOBAL.contains(&flag) && !SHARED.contains(&flag));
        let own = without_empty_section(&own);
        page += &format!("\n{level} planner {name}\n\n```text\n{}\n```\n", own.trim_end());
        let shared: Vec<String> = SHARED
            .iter()
            .filter(|flag| !options(help, |found| found == **flag).is_empty())
            .map(|flag| format!("`{flag}`"))
            .collect();
        if !shared.is_empty() {
            page += &format!("\n[Shared options](#shared-options): {}.\n", shared.join(", "));
        }
    }
    page
}

/// Returns the lines of a help text that describe the options to keep, and the other lines if the empty name is kept.
fn options(help: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let keeps_text = is_kept("");
    let mut kept: Vec<&str> = Vec::new();
    let mut keeps = keeps_text;
    for line in help.lines() {
        let flag = line.trim_start();
        let indent = line.len() - flag.len();
        if flag.starts_with('-') && indent <= 6 {
            keeps = is_kept(flag.split([' ', ',']).next().unwrap_or_default());
        } else if line.is_empty() || indent <= 6 {
            keeps = keeps_text;
        }
        if keeps {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// Removes the title of an empty section of options.
fn without_empty_section(help: &str) -> &str {
    help.trim_end().strip_suffix("\nOptions:").unwrap_or(help)
}

/// docs/src/tools.md
pub(crate) fn tools(estate: &Estate) -> String {
    let listed = |args: &[&str]| estate.run([&["tools"], args].concat()).json(0);
    let compact = listed(&["--profile", "compact"]);
    let full = listed(&["--profile", "full"]);
    let with_queries = listed(&["--profile", "full", "--queries"]);
    let names = |tools: &Value| items(tools).iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    let of_engine: Vec<Value> =
        items(&with_queries).iter().filter(|tool| !names(&full).contains(&tool["name"])).cloned().collect();
    let of_server: Vec<Value> =
        served(estate).into_iter().filter(|tool| !names(&compact).contains(&tool["name"])).collect();
    let mut page = format!(
        "# Tools\n\n{NOTE}\nThe arguments of each tool, from their types. A model sees the same names, descriptions and schemas. \
         Every tool also takes `max_tokens`, the maximum size of its result; a truncated result reports how to get the rest. \
         Tools for kinds of entries that a catalog does not have are not listed to models.\n"
    );
    let sections = [
        (
            "Compact profile",
            "The default: six tools that take ids of any kind, and `invoke_operation` if the catalog allows calls.",
            items(&compact),
        ),
        ("Full profile", "One tool per action and kind of entry: `--profile full`.", items(&full)),
        (
            "Queries",
            "Tools that run queries, for `planner ask`, `planner chat` and clients that may run SQL: `planner tools --profile full --queries`.",
            &of_engine,
        ),
        ("Over MCP", "What `planner mcp` and `planner serve` list in addition.", &of_server),
    ];
    for (title, text, tools) in sections {
        page += &format!("\n## {title}\n\n{text}\n");
        for tool in tools {
            let schema = if tool["input_schema"].is_null() { &tool["inputSchema"] } else { &tool["input_schema"] };
            page += &format!("\n### {}\n\n{}\n", tool["name"].as_str().unwrap(), one_line(&tool["description"]));
            let mut rows = Vec::new();
            arguments(schema, "", &mut rows);
            if !rows.is_empty() {
                page += &format!("\n| argument | type | |\n|---|---|---|\n{}\n", rows.join("\n"));
            }
        }
    }
    page
}

/// Returns the tools that an MCP client gets.
fn served(estate: &Estate) -> Vec<Value> {
    let messages = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let input = messages.map(|message| format!("{message}\n")).concat();
    let ran = Ran::of(estate.planner().arg("mcp").write_stdin(input));
    let answers = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let listed = answers.into_iter().find(|answer| answer["id"] == 2).unwrap_or_else(|| panic!("{}", ran.err));
    items(&listed["result"]["tools"]).to_vec()
}

/// Adds a row for each argument; arguments of nested objects have paths.
fn arguments(schema: &Value, before: &str, rows: &mut Vec<String>) {
    let required = texts(&schema["required"]);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        let path = format!("{before}{name}");
        let mut text = one_line(&property["description"]).replace('|', "\\|");
        let choices = choices(property);
        if !choices.is_empty() {
            text += &format!(" One of {}.", choices.join(", "));
        }
        match &property["default"] {
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            default => text += &format!(" Default: `{default}`."),
        }
        let needed = if is_required { ", required" } else { "" };
        rows.push(format!("| `{path}` | {}{needed} | {} |", type_of(property), text.trim()));
        arguments(property, &format!("{path}."), rows);
        arguments(&property["items"], &format!("{path}[]."), rows);
    }
}

fn type_of(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("array of {}", type_of(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if !schema["oneOf"].is_null() => "string".to_owned(),
        _ => "any".to_owned(),
    }
}

/// Returns the allowed values of an argument or of its items.
fn choices(schema: &Value) -> Vec<String> {
    let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
    let listed = items(&schema["enum"]).iter().filter(|value| !value.is_null()).cloned();
    let described = items(&schema["oneOf"]).iter().map(|choice| choice["const"].clone());
    listed
        .chain(described)
        .map(|value| format!("`{}`", value.as_str().map_or(value.to_string(), str::to_owned)))
        .collect()
}

fn one_line(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
