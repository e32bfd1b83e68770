//! Packages: manifests agree with `Cargo.toml` and with each other, the skill equals the guide, and guides name existing tools.
//! `.ci/packages` builds and installs the packages.

use std::{fs, path::Path};

use crate::support::{self, Estate, Ran, items};
use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_manifest_has_the_version_of_the_crates() {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut add = |place: &str, version: &Value| found.push((place.into(), version.as_str().unwrap_or("none").into()));
    for path in
        ["packages/mcpb/manifest.json", "packages/npm/package.json", "packages/plugin/.claude-plugin/plugin.json"]
    {
        add(path, &json(path)["version"]);
    }
    for (name, version) in json("packages/npm/package.json")["optionalDependencies"].as_object().unwrap() {
        add(name, version);
    }
    let entry = json("packages/registry/server.json");
    add("packages/registry/server.json", &entry["version"]);
    for package in items(&entry["packages"]).iter().filter(|package| package["registryType"] != "oci") {
        add(package["identifier"].as_str().unwrap(), &package["version"]);
    }
    let manifest = read("Cargo.toml");
    for line in manifest.lines().filter(|line| line.starts_with("prospector-") && line.contains("version = ")) {
        let version = line.split("version = \"").nth(1).and_then(|rest| rest.split('"').next());
        add(line, &version.unwrap().into());
    }
    assert!(found.len() > 30, "{found:?}");
    let wrong: Vec<_> = found.iter().filter(|(_, version)| version != VERSION).collect();
    assert!(wrong.is_empty(), "not {VERSION}: {wrong:#?}");
}

/// Returns the value of a key of `[workspace.package]`.
fn workspace_value(key: &str) -> String {
    let manifest = read("Cargo.toml");
    let start = format!("{key} = \"");
    manifest.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('"')).unwrap().to_owned()
}

/// Collects every text file in a folder, with its path relative to the repository.
fn files_below(folder: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files_below(&path, found);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            found.push((path, text));
        }
    }
}

#[test]
fn the_owner_of_the_repository_is_stated_in_the_manifest_alone() {
    let repository = workspace_value("repository");
    assert_eq!(workspace_value("homepage"), repository);
    let owner =
        repository.strip_prefix("https://github.com/").and_then(|rest| rest.strip_suffix("/prospector")).unwrap();
    // dist has its own settings for the tap, and writes it into its workflow.
    let tap = format!("\"{owner}/homebrew-tap\"");
    assert!(read("dist-workspace.toml").contains(&format!("tap = {tap}")));
    assert!(read(".github/workflows/release.yml").contains(&tap));
    let mut files = Vec::new();
    for folder in ["packages", ".claude-plugin", ".ci", ".github", "docs/src"] {
        files_below(folder, &mut files);
    }
    for name in ["Dockerfile", "README.md", "CONTRIBUTING.md"] {
        files.push((name.to_owned(), read(name)));
    }
    let named = files.iter().filter(|(path, text)| text.contains(owner) && path != ".github/workflows/release.yml");
    let named: Vec<_> = named.map(|(path, _)| path).collect();
    assert!(named.is_empty(), "derive the owner {owner} from Cargo.toml in {named:?}");
}

#[test]
fn the_image_is_built_from_files_that_exist() {
    let dockerfile = read("Dockerfile");
    let minimum = workspace_value("rust-version");
    assert!(dockerfile.contains(&format!("FROM rust:{minimum}-alpine AS build\n")), "not with Rust {minimum}");
    let ignored = read(".dockerignore");
    for name in ["Cargo.lock", "Cargo.toml", "LICENSE", "NOTICE", "bin", "benches", "crates", "packages/image.py"] {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(name).exists(), "there is no {name}");
        assert!(!ignored.lines().any(|line| line == name), "{name} is ignored");
    }
    let compose = read("packages/image/compose.yaml");
    assert!(compose.contains("    build: ../..\n"), "{compose}");
    // The last stage copies the files that the script prepares.
    let script = read("packages/image.py");
    for folder in ["root", "own"] {
        assert!(dockerfile.contains(&format!(" /image/{folder}/ /\n")), "{folder} is not copied");
        assert!(script.contains(&format!("\"{folder}")), "{folder} is not written");
    }
    let mounts = compose.lines().filter_map(|line| line.trim().strip_prefix("- ./")?.split(':').next());
    for file in mounts {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/image").join(file).is_file(), "no {file}");
    }
}

#[test]
fn the_skill_of_the_plugin_is_the_guide() {
    let skill = read("packages/plugin/skills/prospector/SKILL.md");
    let (header, body) = skill.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n\n")).unwrap();
    assert!(header.starts_with("name: prospector\ndescription: "), "{header}");
    let guide = Ran::of(Estate::new("").bare().arg("guide"));
    assert_eq!(guide.code, Some(0), "{}", guide.err);
    assert_eq!(body.trim_end(), guide.out.trim_end());
    assert!(skill.lines().count() <= 50, "a skill is read whole each time");
}

#[test]
fn guides_name_existing_tools() {
    let estate = Estate::copy();
    let mut tools = Vec::new();
    for flags in [["--profile", "full"], ["--profile", "compact"]] {
        let ran = Ran::of(estate.planner().args(["tools", "--queries"]).args(flags));
        let listed: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        tools.extend(items(&listed).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
    }
    // Tools that a server adds.
    tools.extend(["plan", "ask"].map(str::to_owned));
    let guide = Ran::of(estate.bare().args(["guide", "tools"])).out;
    let code = guide.split('`').skip(1).step_by(2);
    let named: Vec<&str> = code.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect();
    // The guide also names fields of results and arguments.
    let fields =
        ["kinds", "relevance", "weak", "matched_values", "truncated", "max_tokens", "warnings", "needs_clarification"];
    let unknown: Vec<_> =
        named.iter().filter(|name| !fields.contains(name) && !tools.iter().any(|tool| tool == *name)).collect();
    assert!(unknown.is_empty(), "the guide names {unknown:?}, which are no tools");
    assert!(named.len() > 10, "{named:?}");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let estate = Estate::new("");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Ran::of(estate.bare().args(["completions", shell]));
        assert_eq!(ran.code, Some(0), "{shell}: {}", ran.err);
        assert!(ran.out.contains("reconcile") && ran.out.contains("max-rounds"), "{shell}: {}", ran.out);
        assert!(!ran.out.contains("query-worker"), "{shell} offers what is not for people");
    }
    let pages = estate.path("man");
    let ran = Ran::of(estate.bare().arg("man").arg(&pages));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let names: Vec<String> =
        fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["planner.1", "planner-plan.1", "planner-facts-list.1", "planner-guide.1"] {
        assert!(names.iter().any(|page| page == name), "{name} is not among {names:?}");
    }
    let ran = Ran::of(estate.bare().arg("man"));
    assert!(ran.out.contains(".TH planner 1"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn health_command_checks_the_server() {
    let estate = Estate::sample();
    let server = support::serving::Server::new(&estate, &[], &[]);
    let ran = Ran::of(estate.bare().args(["health", &server.address]));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let address = server.address.clone();
    drop(server);
    let ran = Ran::of(estate.bare().args(["health", &address]));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains(&format!("{address} is not ready")), "{}", ran.err);
}
