//! Finds remote databases of a project in environment variables, `.env` files and configurations of MCP clients. Only names of variables
//! are returned: values, which may contain passwords, are inspected but not stored.

use std::{collections::BTreeSet, path::Path};

use prospector_connect::source::SourceKind;
use prospector_core::Problem;
use serde_json::Value;

use super::{
    finding::{Address, Finding, FindingKind},
    naming,
};
use crate::environment::Environment;

/// Variables that commonly contain the URL of a database.
const VARIABLES: [&str; 10] = [
    "DATABASE_URL",
    "DB_URL",
    "POSTGRES_URL",
    "POSTGRESQL_URL",
    "PG_URL",
    "MYSQL_URL",
    "MARIADB_URL",
    "MONGODB_URI",
    "MONGODB_URL",
    "MONGO_URL",
];

/// Files with environment variables.
const ENV_FILES: [&str; 5] = [".env", ".env.local", ".env.development", ".env.example", ".env.sample"];

/// Configuration files of MCP clients within a project.
const MCP_FILES: [&str; 5] = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json", "mcp.json"];

/// Maximum size of a configuration file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the databases in the environment of a project, each by its variable, and problems with those that cannot be used.
pub fn surroundings(folder: &Path, environment: Environment<'_>) -> (Vec<Finding>, Vec<Problem>) {
    let mut noted = Noted::default();
    for name in VARIABLES {
        if let Some(value) = environment(name) {
            noted.variable(name, &value, "the environment");
        }
    }
    for file in ENV_FILES {
        let Some(text) = read(&folder.join(file)) else { continue };
        for (name, value) in text.lines().filter_map(assignment) {
            noted.variable(name, value, file);
        }
    }
    for file in MCP_FILES {
        let Some(text) = read(&folder.join(file)) else { continue };
        match serde_json::from_str(&text) {
            Ok(settings) => noted.servers(&settings, file),
            Err(error) => noted.problems.push(Problem::warning(file, format!("not valid JSON: {error}"))),
        }
    }
    (noted.findings, noted.problems)
}

#[derive(Default)]
struct Noted {
    findings: Vec<Finding>,
    problems: Vec<Problem>,
    names: BTreeSet<String>,
}

impl Noted {
    /// Adds a variable that contains the URL of a database.
    fn variable(&mut self, name: &str, value: &str, place: &str) {
        let Some((scheme, _)) = value.split_once("://") else { return };
        let scheme = scheme.to_ascii_lowercase();
        // SQLite files are found by the scan of the folder.
        if scheme.starts_with("sqlite") || self.names.contains(name) {
            return;
        }
        if let Some(kind) = SourceKind::from_scheme(&scheme) {
            self.names.insert(name.to_owned());
            self.findings.push(Finding {
                kind: FindingKind::Databases(kind),
                name: Some(database_name(name)),
                address: Address::Variable(name.to_owned()),
                files: 0,
                source: place.to_owned(),
            });
        } else if scheme.split_once('+').and_then(|(bare, _)| SourceKind::from_scheme(bare)).is_some() {
            self.names.insert(name.to_owned());
            let reason = format!("skipped {name}: its URL contains a driver (`{scheme}`)");
            let advice = "set another variable to the URL without the driver after the `+`, and use that";
            self.problems.push(Problem::warning(place, reason).advise(advice));
        }
    }

    /// Adds the databases of the servers in the configuration of an MCP client.
    fn servers(&mut self, settings: &Value, place: &str) {
        let mut skipped = Vec::new();
        let servers = ["mcpServers", "servers"].iter().filter_map(|key| settings[key].as_object()).flatten();
        for (name, server) in servers {
            for (variable, value) in server["env"].as_object().into_iter().flatten() {
                if let Some(value) = value.as_str() {
                    self.variable(variable, value, place);
                }
            }
            let database = server["args"].as_array().into_iter().flatten().filter_map(Value::as_str).find_map(|text| {
                let (scheme, _) = text.split_once("://")?;
                SourceKind::from_scheme(&scheme.to_ascii_lowercase())
            });
            match database {
                Some(kind) => {
                    let reason =
                        format!("skipped the {kind} database of the MCP server `{name}`: the file contains its URL");
                    let advice = "set a variable to the URL, and write `url: \"${NAME}\"` under `databases`";
                    self.problems.push(Problem::warning(place, reason).advise(advice));
                }
                None => skipped.push(format!("`{name}`")),
            }
        }
        if !skipped.is_empty() {
            let reason =
                format!("skipped MCP servers, which are not started or contacted here: {}", skipped.join(", "));
            let advice = format!("to search their tools, write `mcp: [{{import: {place}}}]` in the catalog");
            self.problems.push(Problem::warning(place, reason).advise(advice));
        }
    }
}

/// Derives a name: `CRM_DATABASE_URL` becomes `crm`.
fn database_name(variable: &str) -> String {
    let name = variable.to_lowercase();
    let ends = ["_url", "_uri", "_dsn", "_database", "_db"];
    let mut name = name.as_str();
    for end in ends {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    naming::plain(name)
}

/// Parses the name and the value in a line of an `.env` file.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches('#').trim_start();
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name, value.trim().trim_matches(['"', '\''])))
}

fn read(path: &Path) -> Option<String> {
    let small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES);
    small.then(|| std::fs::read(path).ok()).flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_variables_and_servers_without_values() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".env",
            "SECRET_KEY=s3cret\nexport CRM_DATABASE_URL=\"postgres://me:s3cret@db/crm\"\n\
             CACHE_URL=redis://me:s3cret@cache\nOLD_DB_URL=mysql+pymysql://me:s3cret@db/old\nLITE_URL=sqlite:///db.sqlite3\n",
        );
        write(
            ".mcp.json",
            r#"{"mcpServers": {"pg": {"command": "npx", "args": ["server", "postgresql://me:s3cret@db/app"]},
                              "tracker": {"url": "https://tracker.example/mcp"},
                              "m": {"env": {"MONGO_URL": "mongodb://me:s3cret@db/app"}}}}"#,
        );
        write(".vscode/mcp.json", "no JSON");
        let environment = |name: &str| (name == "DATABASE_URL").then(|| "mariadb://me:s3cret@db/shop".to_owned());
        let (findings, problems) = surroundings(folder.path(), &environment);
        let entries: Vec<String> = findings.iter().map(|finding| finding.entry(None)).collect();
        let expected = [
            "{name: database, url: \"${DATABASE_URL}\"}",
            "{name: crm, url: \"${CRM_DATABASE_URL}\"}",
            "{name: mongo, url: \"${MONGO_URL}\"}",
        ];
        assert_eq!(entries, expected);
        let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let reported = reported.join("\n");
        for part in
            ["OLD_DB_URL", "database of the MCP server `pg`", "`tracker`", "import: .mcp.json", ".vscode/mcp.json"]
        {
            assert!(reported.contains(part), "{part}: {reported}");
        }
        assert!(!reported.contains("s3cret") && !format!("{findings:?}").contains("s3cret"), "{reported} {findings:?}");
    }
}
