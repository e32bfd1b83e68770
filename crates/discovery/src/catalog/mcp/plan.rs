//! Resolves the servers of entries: their names, how each is reached, and name collisions.

use std::{path::Path, time::Duration};

use prospector_core::{Problem, name::normalize};
use prospector_fetch::{Policy, Rule};
use prospector_mcp::{
    import::{self, Imported, Surroundings},
    spec::{Command, Headers, Reach},
};

use super::{
    Mcp,
    entry::{ImportSource, McpEntry, Origin, Permission, Secret, is_name},
};
use crate::catalog::{entry::is_match, section::Opening};

/// Maximum number of servers per catalog.
const MAX_SERVERS: usize = 1_000;

/// Variables passed to every process: package runners need them to find programs and caches. None is a secret.
const BASE_ENVIRONMENT: [&str; 10] = [
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    // Windows.
    "SYSTEMROOT",
    "TEMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
];

/// One server of the catalog.
pub(super) struct Planned {
    pub(super) name: String,
    /// The location of its entry, for problems.
    pub(super) place: String,
    pub(super) reach: Reach,
    pub(super) tools: Vec<(String, u64)>,
    pub(super) invoke: Permission,
    pub(super) description: String,
    pub(super) timeout: Duration,
}

/// Returns the servers of the entries. Rejects a name that collides with that of another server or API.
pub(super) fn plan(mcp: &Mcp<'_>, entries: Vec<McpEntry>, opening: &mut Opening<'_>) -> Vec<Planned> {
    let mut planned: Vec<Planned> = Vec::new();
    for entry in entries {
        for server in find_servers(&entry, mcp.allow, opening) {
            let key = normalize(&server.name);
            let api = mcp.apis.apis().iter().find(|api| normalize(&api.name) == key);
            let other = planned.iter().find(|known| normalize(&known.name) == key);
            let taken = match (api, other) {
                (Some(api), _) => Some(format!("the API `{}`", api.name)),
                (None, Some(other)) => Some(format!("the server `{}` of {}", other.name, other.place)),
                (None, None) => None,
            };
            match taken {
                Some(taken) => {
                    let reason = format!("the server `{}` has the same name as {taken}", server.name);
                    let advice = "rename one of them with `name`, or select imported ones with `servers`";
                    opening.problems.push(Problem::error(&server.place, reason).advise(advice));
                }
                None if planned.len() >= MAX_SERVERS => {
                    let reason =
                        format!("a catalog has at most {MAX_SERVERS} MCP servers; `{}` is skipped", server.name);
                    opening.problems.push(Problem::error(&server.place, reason));
                }
                None => planned.push(server),
            }
        }
    }
    planned
}

fn find_servers(entry: &McpEntry, allow: &[Rule], opening: &mut Opening<'_>) -> Vec<Planned> {
    let place = opening.place(entry.line);
    let planned = |name: &str, place: String, reach: Reach| Planned {
        name: name.to_owned(),
        place,
        reach,
        tools: entry.tools.clone(),
        invoke: entry.invoke.clone(),
        description: entry.description.clone(),
        timeout: entry.timeout,
    };
    let policy = Policy { allow: allow.to_vec(), public: true };
    match &entry.origin {
        Origin::Command { name, program, args: Secret(args), environment: Secret(own), folder } => {
            let command = Command {
                program: locate(program, opening.folders.base),
                args: args.clone(),
                environment: extend_environment(own, opening),
                folder: opening.folders.base.join(folder),
            };
            vec![planned(name, place, Reach::Command(command))]
        }
        Origin::Url { name, url, headers } => {
            let (url, headers, oauth) = (url.clone(), headers.clone(), entry.oauth.clone());
            let reach = Reach::Url { url, headers, policy, oauth };
            vec![planned(name, place, reach)]
        }
        Origin::Import { from, servers } => {
            let mut found = Vec::new();
            for imported in read_import(from, servers, &place, opening) {
                let reach = convert(&imported, policy.clone(), opening);
                let place = format!("{place} ({}: {})", from.as_str(), imported.name);
                let name: String = imported.name.trim().replace([' ', '.', '/', ':', '@'], "_");
                if is_name(&name) {
                    found.push(planned(&name, place, reach));
                } else {
                    let reason = "the name of the server contains other characters than letters, digits, `_` and `-`";
                    opening
                        .problems
                        .push(Problem::error(place, reason).advise("add the server manually with another `name`"));
                }
            }
            found
        }
    }
}

/// Returns the servers that an entry selects from client configurations; of two with one name the first is used, as the client does.
fn read_import(from: &ImportSource, servers: &[String], place: &str, opening: &mut Opening<'_>) -> Vec<Imported> {
    let base = std::path::absolute(opening.folders.base).unwrap_or_else(|_| opening.folders.base.to_owned());
    let around = Surroundings { project: &base, home: opening.folders.home, lookup: opening.lookup };
    let files = from.files(&base, opening.folders.home);
    let present: Vec<_> = files.iter().filter(|file| file.is_file()).collect();
    if present.is_empty() {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let reason = format!("no such file: {} for `import: {}`", names.join(" or "), from.as_str());
        opening.problems.push(Problem::error(place, reason).advise("specify the path of the configuration file"));
        return Vec::new();
    }
    let mut found: Vec<Imported> = Vec::new();
    for file in present {
        let read = match import::read(file, around) {
            Ok(read) => read,
            Err(error) => {
                opening.problems.push(Problem::error(place, error.to_string()).advise("correct the file"));
                continue;
            }
        };
        for one in read {
            match one {
                Ok(one) if !servers.is_empty() && !servers.iter().any(|wanted| is_match(wanted, &one.name)) => {}
                Ok(one) if found.iter().any(|known| known.name == one.name) => {}
                Ok(one) => found.push(one),
                Err(error) => {
                    let reason = format!("{}: {error}", file.display());
                    let advice = "set it, or select other servers with `servers`";
                    opening.problems.push(Problem::warning(place, reason).advise(advice));
                }
            }
        }
    }
    for wanted in servers.iter().filter(|wanted| !found.iter().any(|one| is_match(wanted, &one.name))) {
        let reason = format!("`import: {}` has no server `{wanted}`", from.as_str());
        opening.problems.push(Problem::warning(place, reason).advise("correct `servers`"));
    }
    found
}

fn convert(imported: &Imported, policy: Policy, opening: &Opening<'_>) -> Reach {
    match (&imported.program, &imported.url) {
        (Some(program), _) => Reach::Command(Command {
            program: locate(program, opening.folders.base),
            args: imported.args.clone(),
            environment: extend_environment(&imported.environment, opening),
            folder: imported.folder.clone().unwrap_or_else(|| opening.folders.base.to_owned()),
        }),
        (None, url) => Reach::Url {
            url: url.clone().unwrap_or_default(),
            headers: Headers(imported.headers.clone()),
            policy,
            oauth: None,
        },
    }
}

/// Resolves a program with a folder relative to the catalog; a plain name is looked up in the PATH.
fn locate(program: &str, base: &Path) -> String {
    let path = Path::new(program);
    let has_folder = path.components().count() > 1 || program.starts_with('.');
    match path.is_relative() && has_folder {
        true => std::path::absolute(base.join(path)).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned(),
        false => program.to_owned(),
    }
}

/// Adds the variables that every process receives to those of the entry.
fn extend_environment(own: &[(String, String)], opening: &Opening<'_>) -> Vec<(String, String)> {
    let mut all = own.to_vec();
    for name in BASE_ENVIRONMENT {
        if !all.iter().any(|(known, _)| known == name) {
            all.extend((opening.lookup)(name).map(|value| (name.to_owned(), value)));
        }
    }
    all
}
