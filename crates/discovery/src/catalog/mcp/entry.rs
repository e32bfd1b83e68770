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
    entry::{EntryReader, address, expand, is_match, plain, read_headers, require_plain},
    environment::{Environment, environment},
    file_schema,
    node::{Fields, Node, Placed},
};

/// Timeout of the handshake, a list or a call, in seconds, if the entry has none.
const DEFAULT_TIMEOUT: u64 = 30;
/// Maximum timeout of an entry, in seconds.
const MAX_TIMEOUT: usize = 600;
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

/// Parses an entry.
pub(super) fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<McpEntry> {
    let lookup = reader.lookup;
    let mut fields = reader.fields::<file_schema::McpEntry>(format!("mcp[{at}]"), entry)?;
    let line = fields.line();
    let origins = ["command", "url", "import"];
    if origins.iter().filter(|key| fields.has(key)).count() != 1 {
        fields.fail(line, format!("mcp[{at}] needs exactly one of `command`, `url` and `import`"), "write one of them");
        return None;
    }
    let origin = if fields.has("command") {
        read_command(&mut fields, lookup)
    } else if fields.has("url") {
        read_url(&mut fields, lookup)
    } else {
        read_import(&mut fields)
    };
    let oauth = fields.take("oauth").filter(|placed| placed.node != Node::Bool(false));
    if let (Some(placed), Some(Origin::Command { .. } | Origin::Import { .. })) = (&oauth, &origin) {
        fields.fail(placed.line, format!("`oauth` of mcp[{at}] needs `url`"), "remove it, or write `url`");
    }
    let timeout = fields.count("timeout", MAX_TIMEOUT).map_or(DEFAULT_TIMEOUT, |seconds| seconds as u64);
    let tools = fields.list_texts("tools");
    let invoke = read_permission(&mut fields);
    let description = plain(&mut fields, "description").unwrap_or_default();
    let has_failed = fields.has_failed();
    let oauth = match oauth {
        Some(placed) => Some(read_oauth(reader, at, placed)?),
        None => None,
    };
    let timeout = Duration::from_secs(timeout);
    let entry = McpEntry { line, tools, invoke, description, timeout, oauth, origin: origin? };
    (!has_failed).then_some(entry)
}

/// Parses `oauth`: `true`, or a mapping.
fn read_oauth(reader: &mut EntryReader<'_>, at: usize, placed: Placed) -> Option<OAuth> {
    if placed.node == Node::Bool(true) {
        return Some(OAuth::default());
    }
    let mut fields = reader.fields::<file_schema::OAuthClient>(format!("`oauth` of mcp[{at}]"), placed)?;
    let oauth = OAuth { client_id: plain(&mut fields, "client_id"), scopes: fields.texts("scopes") };
    (!fields.has_failed()).then_some(oauth)
}

fn read_command(fields: &mut Fields<'_>, lookup: Environment<'_>) -> Option<Origin> {
    let name = read_name(fields)?;
    let line = fields.line();
    let mut words = if fields.is_list("command") {
        fields.texts("command")
    } else {
        fields.text("command").map(|(text, _)| text).into_iter().collect()
    };
    words.extend(fields.texts("args"));
    let mut filled: Vec<String> =
        words.iter().filter_map(|word| expand(fields, "command", word, line, lookup)).collect();
    let mut environment = Vec::new();
    for (written, line) in fields.list_texts("env") {
        environment.extend(read_variable(fields, &written, line, lookup));
    }
    let folder = plain(fields, "folder").unwrap_or_default();
    if filled.first().is_none_or(|program| program.is_empty()) {
        fields.fail(line, "`command` is empty", "write `command: [npx, -y, some-server]`");
        return None;
    }
    let program = filled.remove(0);
    Some(Origin::Command { name, program, args: Secret(filled), environment: Secret(environment), folder })
}

/// Parses `NAME`, whose value is that of the current environment, or `NAME=value`.
fn read_variable(
    fields: &mut Fields<'_>,
    written: &str,
    line: u64,
    lookup: Environment<'_>,
) -> Option<(String, String)> {
    let found = match written.split_once('=') {
        Some((name, value)) => environment(value, lookup).map(|value| (name.to_owned(), value)),
        None => environment(&format!("${{{written}}}"), lookup).map(|value| (written.to_owned(), value)),
    };
    found.map_err(|error| fields.fail(line, format!("`env`: {error}"), "set it, or write `NAME=value`")).ok()
}

fn read_url(fields: &mut Fields<'_>, lookup: Environment<'_>) -> Option<Origin> {
    let name = read_name(fields)?;
    let (written, line) = fields.text("url")?;
    let url = address(fields, "url", &written, line, lookup)?;
    let headers = read_headers(fields, lookup);
    Some(Origin::Url { name, url, headers: Headers(headers) })
}

fn read_import(fields: &mut Fields<'_>) -> Option<Origin> {
    let (written, _) = fields.text("import")?;
    let client = Client::ALL.into_iter().find(|client| client.as_str() == written);
    let from = client.map_or(ImportSource::File(written), ImportSource::Client);
    Some(Origin::Import { from, servers: fields.texts("servers") })
}

fn read_name(fields: &mut Fields<'_>) -> Option<String> {
    let name = require_plain(fields, "name", "the name of the server in plans")?;
    if !is_name(&name) {
        let reason = format!("invalid server name `{name}`: use 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ -");
        fields.fail(fields.line(), reason, "write another `name`");
        return None;
    }
    Some(name)
}

fn read_permission(fields: &mut Fields<'_>) -> Permission {
    if fields.is_list("invoke") {
        return Permission::Named(fields.texts("invoke"));
    }
    let Some(Placed { line, node }) = fields.take("invoke") else { return Permission::Nothing };
    match node {
        Node::Bool(true) => Permission::Everything,
        Node::Bool(false) => Permission::Nothing,
        Node::Text(text) if text == "read" => Permission::Reading,
        _ => {
            let advice = "write `invoke: read`, `invoke: true` or `invoke: [first_tool, 'get_*']`";
            fields.fail(line, "`invoke` must be `read`, true, false or a list of tools", advice);
            Permission::Nothing
        }
    }
}
