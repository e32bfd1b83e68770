//! Servers from the configuration files of MCP clients: Claude Desktop, Claude Code, VS Code, Cursor and Codex.

use std::path::{Path, PathBuf};

use prospector_core::named_enum;
use serde_json::{Map, Value};

/// Maximum bytes of a configuration file.
const MAX_FILE_BYTES: u64 = 8 << 20;

named_enum! {
    /// A client whose configuration is read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Client {
        /// `claude_desktop_config.json`.
        ClaudeDesktop = "claude_desktop",
        /// `.mcp.json` of the project and `~/.claude.json`.
        ClaudeCode = "claude_code",
        /// `.vscode/mcp.json` of the project and `mcp.json` of the user.
        Vscode = "vscode",
        /// `.cursor/mcp.json` of the project and of the user.
        Cursor = "cursor",
        /// `.codex/config.toml` of the project and of the user.
        Codex = "codex",
    }
}

/// A server in the configuration of a client, with variables replaced.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Its name in the configuration.
    pub name: String,
    /// The program of a local server.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
    /// Its working folder.
    pub folder: Option<PathBuf>,
    /// The endpoint of a remote server.
    pub url: Option<String>,
    /// Headers of its requests.
    pub headers: Vec<(String, String)>,
}

/// Why a configuration, or one of its servers, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not valid JSON or TOML.
    #[error("{} is not {format}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        format: &'static str,
        /// The error of the parser.
        reason: String,
    },
    /// A server has neither a command nor a URL.
    #[error("`{name}` has neither a command nor a URL")]
    Empty {
        /// The server.
        name: String,
    },
    /// A variable has no value.
    #[error("`{name}`: the variable `{variable}` is not set")]
    NotSet {
        /// The server.
        name: String,
        /// The variable.
        variable: String,
    },
}

/// The values of variables in configurations.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The folder of the project.
    pub project: &'a Path,
    /// The home folder of the user.
    pub home: Option<&'a Path>,
    /// Environment variables.
    pub lookup: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

impl Client {
    /// Returns the possible paths of its configuration, those of the project first.
    pub fn files(self, project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let own: &[&str] = match self {
            Client::ClaudeDesktop => &[],
            Client::ClaudeCode => &[".mcp.json"],
            Client::Vscode => &[".vscode/mcp.json"],
            Client::Cursor => &[".cursor/mcp.json"],
            Client::Codex => &[".codex/config.toml"],
        };
        let users: &[&str] = match self {
            Client::ClaudeDesktop => &[
                ".config/Claude/claude_desktop_config.json",
                "Library/Application Support/Claude/claude_desktop_config.json",
                "AppData/Roaming/Claude/claude_desktop_config.json",
            ],
            Client::ClaudeCode => &[".claude.json"],
            Client::Vscode => &[
                ".config/Code/User/mcp.json",
                "Library/Application Support/Code/User/mcp.json",
                "AppData/Roaming/Code/User/mcp.json",
            ],
            Client::Cursor => &[".cursor/mcp.json"],
            Client::Codex => &[".codex/config.toml"],
        };
        let of_user = home.into_iter().flat_map(|home| users.iter().map(move |file| home.join(file)));
        let mut files: Vec<PathBuf> = own.iter().map(|file| project.join(file)).chain(of_user).collect();
        files.dedup();
        files
    }
}

/// Reads the servers of a configuration file; an invalid server is a separate error.
///
/// # Errors
/// [`ImportError`] if the file cannot be read or parsed.
pub fn read(path: &Path, around: Surroundings<'_>) -> Result<Vec<Result<Imported, ImportError>>, ImportError> {
    let failed = |source| ImportError::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_FILE_BYTES {
        return Err(failed(std::io::Error::other(format!("it is larger than {MAX_FILE_BYTES} bytes"))));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let invalid = |format, reason| ImportError::Format { path: path.to_owned(), format, reason };
    let root: Value = match path.extension().is_some_and(|extension| extension == "toml") {
        true => toml::from_str(&text).map_err(|error| invalid("TOML", error.message().to_owned()))?,
        false => serde_json::from_str(&remove_comments(&text)).map_err(|error| invalid("JSON", error.to_string()))?,
    };
    Ok(find_servers(&root, around.project).into_iter().filter_map(|(name, one)| convert(name, one, around)).collect())
}

/// Returns the servers of a configuration of any client.
fn find_servers<'a>(root: &'a Value, project: &Path) -> Vec<(&'a String, &'a Value)> {
    let of_project = root.get("projects").and_then(|all| all.get(project.to_string_lossy().as_ref()));
    let lists = [
        of_project.and_then(|own| own.get("mcpServers")),
        root.get("mcpServers"),
        root.get("mcp_servers"),
        root.get("servers"),
        root.pointer("/mcp/servers"),
    ];
    let mut found: Vec<(&String, &Value)> = Vec::new();
    for (name, server) in lists.into_iter().flatten().filter_map(Value::as_object).flatten() {
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, server));
        }
    }
    found
}

fn convert(name: &str, server: &Value, around: Surroundings<'_>) -> Option<Result<Imported, ImportError>> {
    let is_off =
        server.get("enabled") == Some(&Value::Bool(false)) || server.get("disabled") == Some(&Value::Bool(true));
    (!is_off).then(|| fill(name, server, around))
}

fn fill(name: &str, server: &Value, around: Surroundings<'_>) -> Result<Imported, ImportError> {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let list = |key: &str| server.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let pairs = |key: &str| server.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter);
    let expand = |written: &str| expand(name, written, around);
    let variable = |variable: &str| {
        let not_set = || ImportError::NotSet { name: name.to_owned(), variable: variable.to_owned() };
        (around.lookup)(variable).ok_or_else(not_set)
    };
    let mut imported = Imported { name: name.to_owned(), ..Imported::default() };
    imported.url = text("url").or_else(|| text("serverUrl")).map(expand).transpose()?;
    imported.program = text("command").map(expand).transpose()?;
    imported.folder = text("cwd").map(expand).transpose()?.map(|folder| around.project.join(folder));
    for arg in list("args") {
        imported.args.push(expand(arg)?);
    }
    for (key, value) in pairs("env") {
        let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        imported.environment.push((key.clone(), expand(&written)?));
    }
    for key in list("env_vars") {
        imported.environment.push((key.to_owned(), variable(key)?));
    }
    for (key, value) in pairs("headers").chain(pairs("http_headers")) {
        imported.headers.push((key.clone(), expand(value.as_str().unwrap_or_default())?));
    }
    for (key, value) in pairs("env_http_headers") {
        imported.headers.push((key.clone(), variable(value.as_str().unwrap_or_default())?));
    }
    if let Some(key) = text("bearer_token_env_var") {
        imported.headers.push(("Authorization".to_owned(), format!("Bearer {}", variable(key)?)));
    }
    match imported.url.is_some() || imported.program.is_some() {
        true => Ok(imported),
        false => Err(ImportError::Empty { name: name.to_owned() }),
    }
}

/// Replaces `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${workspaceFolder}` and `${userHome}`. A variable that the
/// client would prompt for (`${input:token}`) counts as not set.
fn expand(server: &str, text: &str, around: Surroundings<'_>) -> Result<String, ImportError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let (variable, default) = match inside.split_once(":-") {
            Some((variable, default)) => (variable, Some(default.to_owned())),
            None => (inside.strip_prefix("env:").unwrap_or(inside), None),
        };
        let value = match variable {
            "workspaceFolder" => Some(around.project.to_string_lossy().into_owned()),
            "userHome" => around.home.map(|home| home.to_string_lossy().into_owned()),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
            name => (around.lookup)(name),
        };
        let not_set = || ImportError::NotSet { name: server.to_owned(), variable: variable.to_owned() };
        out.push_str(&value.or(default).ok_or_else(not_set)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Removes comments and trailing commas, which editors allow in their settings.
fn remove_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut is_string = false;
    while let Some(next) = rest.chars().next() {
        let mut length = next.len_utf8();
        match next {
            '\\' if is_string => {
                length += rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
            }
            '"' => {
                is_string = !is_string;
                out.push(next);
            }
            '/' if !is_string && rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            '/' if !is_string && rest.starts_with("/*") => length = rest.find("*/").map_or(rest.len(), |end| end + 2),
            ']' | '}' if !is_string => {
                let kept = out.trim_end();
                if kept.ends_with(',') {
                    out.truncate(kept.len() - 1);
                }
                out.push(next);
            }
            other => out.push(other),
        }
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text.replace("PROJECT", &folder.path().to_string_lossy())).unwrap();
        let lookup = |name: &str| (name == "TOKEN").then(|| "t0k".to_owned());
        let around = Surroundings { project: folder.path(), home: Some(Path::new("/home/ada")), lookup: &lookup };
        let describe = |one: Result<Imported, ImportError>| match one {
            Ok(one) => format!(
                "{}: {} {:?} {:?} {:?}",
                one.name,
                one.program.or(one.url).unwrap_or_default(),
                one.args,
                one.environment,
                one.headers
            ),
            Err(error) => error.to_string(),
        };
        let found: Vec<String> = read(&path, around).unwrap().into_iter().map(describe).collect();
        assert_eq!(found, expected, "{file}");
    }

    #[test]
    fn reads_the_configurations_of_clients() {
        check(
            "claude_desktop_config.json",
            r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server", "/data"], "env": {"KEY": "v"}}}}"#,
            &[r#"files: npx ["-y", "server", "/data"] [("KEY", "v")] []"#],
        );
        check(
            ".mcp.json",
            r#"{"mcpServers": {"a": {"type": "http", "url": "${BASE:-https://a.example}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                "b": {"command": "x", "args": ["${GONE}"]}}}"#,
            &[
                r#"a: https://a.example/mcp [] [] [("Authorization", "Bearer t0k")]"#,
                "`b`: the variable `GONE` is not set",
            ],
        );
        check(
            ".claude.json",
            r#"{"projects": {"PROJECT": {"mcpServers": {"own": {"command": "o"}}}, "/other": {"mcpServers": {"no": {}}}},
                "mcpServers": {"all": {"command": "a"}}}"#,
            &["own: o [] [] []", "all: a [] [] []"],
        );
        check(
            ".vscode/mcp.json",
            "{\n// servers\n\"servers\": {\"a\": {\"command\": \"${userHome}/a\", \"env\": {\"T\": \"${env:TOKEN}\", \"u\": \"http://x\"},},\n/* no */ \"b\": {\"command\": \"b\", \"args\": [\"${input:key}\",]}}}",
            &[r#"a: /home/ada/a [] [("T", "t0k"), ("u", "http://x")] []"#, "`b`: the variable `input:key` is not set"],
        );
        check(
            ".codex/config.toml",
            "model = \"o\"\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\"]\nenv_vars = [\"TOKEN\"]\n[mcp_servers.a.env]\nK = \"v\"\n\
             [mcp_servers.b]\nurl = \"https://b.example\"\nbearer_token_env_var = \"TOKEN\"\n[mcp_servers.c]\ncommand = \"c\"\nenabled = false\n[mcp_servers.d]",
            &[
                r#"a: npx ["-y"] [("K", "v"), ("TOKEN", "t0k")] []"#,
                r#"b: https://b.example [] [] [("Authorization", "Bearer t0k")]"#,
                "`d` has neither a command nor a URL",
            ],
        );
    }

    #[test]
    fn names_the_files_of_each_client() {
        let files = Client::ClaudeCode.files(Path::new("/p"), Some(Path::new("/h")));
        assert_eq!(files, [Path::new("/p/.mcp.json"), Path::new("/h/.claude.json")]);
        assert_eq!(Client::Codex.files(Path::new("/p"), None), [Path::new("/p/.codex/config.toml")]);
    }
}
