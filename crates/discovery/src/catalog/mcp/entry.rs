//! The entries of `mcp`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use prospector_mcp::{
    Definition,
    import::Client,
    spec::{Headers, OAuth},
};

use crate::catalog::{
    entry::{Fields, is_match},
    environment::environment,
    file_schema::{self, CommandEntry, InvokeTools, OAuthEntry},
};

/// Timeout of the handshake, a list or a call, in seconds, if the entry has none.
const DEFAULT_TIMEOUT: u64 = 30;
/// Maximum length of the name of a server, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// An entry of `mcp`.
#[derive(Debug)]
pub(in crate::catalog) struct McpEntry {
    pub(super) line: u64,
    pub(super) origin: Origin,
    /// How to sign in to a remote server.
    pub(super) oauth: Option<OAuth>,
    /// The available tools, each with its line; all if empty.
    pub(super) tools: Vec<(String, u64)>,
    pub(super) invoke: Permission,
    pub(super) description: String,
    pub(super) timeout: Duration,
}

impl McpEntry {
    /// Returns the endpoint of a remote server.
    pub(in crate::catalog) fn url(&self) -> Option<&str> {
        match &self.origin {
            Origin::Url { url, .. } => Some(url),
            Origin::Command { .. } | Origin::Import { .. } => None,
        }
    }
}

/// How an entry defines its servers.
#[derive(Debug)]
pub(in crate::catalog) enum Origin {
    /// A process.
    Command { name: String, program: String, args: Secret<Vec<String>>, environment: Secret<Pairs>, folder: String },
    /// Streamable HTTP.
    Url { name: String, url: String, headers: Headers },
    /// Configurations of clients.
    Import { from: ImportSource, servers: Vec<String> },
}

/// Names and values.
pub(in crate::catalog) type Pairs = Vec<(String, String)>;

/// Values from the environment, hidden in debug output.
pub(in crate::catalog) struct Secret<T>(pub(super) T);

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The configurations to import.
#[derive(Debug, Clone)]
pub(in crate::catalog) enum ImportSource {
    /// The usual files of a client.
    Client(Client),
    /// A file.
    File(String),
}

impl ImportSource {
    /// Returns the files, those of the project first, whether they exist or not.
    pub(super) fn files(&self, base: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        match self {
            ImportSource::Client(client) => client.files(base, home),
            ImportSource::File(file) => vec![base.join(file)],
        }
    }

    /// Returns its name in messages.
    pub(super) fn as_str(&self) -> &str {
        match self {
            ImportSource::Client(client) => client.as_str(),
            ImportSource::File(file) => file,
        }
    }
}

/// Which tools of a server may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::catalog) enum Permission {
    /// None.
    #[default]
    Nothing,
    /// Tools that the server annotates as read-only and that `tools` names without a pattern.
    Reading,
    /// All available tools.
    Everything,
    /// These names and patterns.
    Named(Vec<String>),
}

impl Permission {
    /// Returns whether a tool may be called. An annotation alone is not sufficient.
    pub(super) fn allows(&self, tool: &Definition, listed: &[(String, u64)]) -> bool {
        match self {
            Permission::Nothing => false,
            Permission::Everything => true,
            Permission::Reading => tool.claims_read_only() && listed.iter().any(|(name, _)| name == tool.name()),
            Permission::Named(names) => names.iter().any(|name| is_match(name, tool.name())),
        }
    }
}

/// Returns whether a text is a valid server name, which is part of the ids of its tools.
pub(super) fn is_name(text: &str) -> bool {
    let accepts = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=MAX_NAME_BYTES).contains(&text.len()) && text.chars().all(accepts)
}

/// Checks an entry.
pub(in crate::catalog) fn check(fields: &mut Fields<'_>, written: file_schema::McpEntry) -> Option<McpEntry> {
    let line = fields.line();
    let origins = ["command", "url", "import"];
    if origins.iter().filter(|key| fields.has(key)).count() != 1 {
        fields.fail(
            line,
            format!("{} needs exactly one of `command`, `url` and `import`", fields.what),
            "write one of them",
        );
        return None;
    }
    let oauth = match written.oauth {
        Some(OAuthEntry::Client(client)) => {
            Some(OAuth { client_id: client.client_id, scopes: client.scopes.unwrap_or_default() })
        }
        Some(OAuthEntry::Registered(true)) => Some(OAuth::default()),
        Some(OAuthEntry::Registered(false)) | None => None,
    };
    if oauth.is_some() && !fields.has("url") {
        let line = fields.line_of("oauth");
        fields.fail(line, format!("`oauth` of {} needs `url`", fields.what), "remove it, or write `url`");
    }
    let origin = match (written.command, written.import) {
        (Some(command), _) => read_command(fields, written.name, command, written.args, written.env, written.folder),
        (None, Some(import)) => Some(read_import(import, written.servers)),
        (None, None) => read_url(fields, written.name, written.url, written.headers),
    };
    Some(McpEntry {
        line,
        origin: origin?,
        oauth,
        tools: fields.with_lines("tools", written.tools),
        invoke: read_permission(fields, written.invoke),
        description: written.description.unwrap_or_default(),
        timeout: Duration::from_secs(written.timeout.map_or(DEFAULT_TIMEOUT, u64::from)),
    })
}

fn read_command(
    fields: &mut Fields<'_>,
    name: Option<String>,
    command: CommandEntry,
    args: Option<Vec<String>>,
    env: Option<Vec<String>>,
    folder: Option<String>,
) -> Option<Origin> {
    let name = read_name(fields, name)?;
    let mut words = match command {
        CommandEntry::Program(program) => vec![program],
        CommandEntry::Words(words) => words,
    };
    words.extend(args.unwrap_or_default());
    let mut filled: Vec<String> = words.into_iter().filter_map(|word| fields.expand("command", Some(word))).collect();
    let mut environment = Vec::new();
    for (written, line) in fields.with_lines("env", env) {
        environment.extend(read_variable(fields, &written, line));
    }
    if filled.first().is_none_or(|program| program.is_empty()) {
        fields.fail(fields.line(), "`command` is empty", "write `command: [npx, -y, some-server]`");
        return None;
    }
    let program = filled.remove(0);
    let (args, environment, folder) = (Secret(filled), Secret(environment), folder.unwrap_or_default());
    Some(Origin::Command { name, program, args, environment, folder })
}

/// Parses `NAME`, whose value is that of the current environment, or `NAME=value`.
fn read_variable(fields: &mut Fields<'_>, written: &str, line: u64) -> Option<(String, String)> {
    let found = match written.split_once('=') {
        Some((name, value)) => environment(value, fields.reader.lookup).map(|value| (name.to_owned(), value)),
        None => environment(&format!("${{{written}}}"), fields.reader.lookup).map(|value| (written.to_owned(), value)),
    };
    found.map_err(|error| fields.fail(line, format!("`env`: {error}"), "set it, or write `NAME=value`")).ok()
}

fn read_url(
    fields: &mut Fields<'_>,
    name: Option<String>,
    url: Option<String>,
    headers: Option<Vec<String>>,
) -> Option<Origin> {
    let name = read_name(fields, name)?;
    let url = fields.address("url", url)?;
    Some(Origin::Url { name, url, headers: Headers(fields.headers(headers)) })
}

fn read_import(written: String, servers: Option<Vec<String>>) -> Origin {
    let client = Client::ALL.into_iter().find(|client| client.as_str() == written);
    let from = client.map_or(ImportSource::File(written), ImportSource::Client);
    Origin::Import { from, servers: servers.unwrap_or_default() }
}

fn read_name(fields: &mut Fields<'_>, name: Option<String>) -> Option<String> {
    let name = fields.require("name", "the name of the server in plans", name)?;
    if !is_name(&name) {
        let reason = format!("invalid server name `{name}`: use 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ -");
        fields.fail(fields.line(), reason, "write another `name`");
        return None;
    }
    Some(name)
}

fn read_permission(fields: &mut Fields<'_>, invoke: Option<InvokeTools>) -> Permission {
    match invoke {
        Some(InvokeTools::Names(names)) => Permission::Named(names),
        Some(InvokeTools::All(true)) => Permission::Everything,
        Some(InvokeTools::All(false)) | None => Permission::Nothing,
        Some(InvokeTools::Word(word)) if word == "read" => Permission::Reading,
        Some(InvokeTools::Word(_)) => {
            let advice = "write `invoke: read`, `invoke: true` or `invoke: [first_tool, 'get_*']`";
            fields.fail(fields.line_of("invoke"), "`invoke` must be `read`, true, false or a list of tools", advice);
            Permission::Nothing
        }
    }
}
