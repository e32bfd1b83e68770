//! Automated code conventions: dependencies between crates, sizes of crates, files and functions, module cycles, names, errors, and waits
//! in tests.
//! Known violations are listed with exact counts, see [`ratchet`].

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod modules;
mod ratchet;
mod sources;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use ratchet::{Finding, check};
use sources::{Name, Source, root, sources};

/// Maximum number of public names in the `lib.rs` of a crate.
const MAX_EXPORTS: usize = 10;

/// Maximum number of lines of a file.
const MAX_FILE_LINES: usize = 500;

/// Maximum number of lines of a function, from `fn` to the closing brace.
const MAX_FUNCTION_LINES: usize = 80;

/// A row of the table in ARCHITECTURE.md.
struct Room {
    level: u32,
    name: String,
    may_use: BTreeSet<String>,
}

/// Parses the table of crates in ARCHITECTURE.md: level, folder, contents, allowed dependencies, and what it must not know.
fn rooms() -> Vec<Room> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [level, folder, _, may_use, _] = cells[..] else { return None };
        let name = folder.strip_prefix("`crates/")?.strip_suffix('`')?.to_owned();
        let named = may_use.split([',', ' ']).filter(|name| !name.is_empty() && *name != "-").map(str::to_owned);
        Some(Room { level: level.parse().unwrap(), name, may_use: named.collect() })
    });
    rows.collect()
}

/// Returns the workspace crates that a manifest depends on, without dev-dependencies.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let mut is_used = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_used = line == "[dependencies]" || line.starts_with("[target.") && line.ends_with(".dependencies]");
            assert!(!line.contains("dependencies.prospector"), "{}: write it as a line", manifest.display());
        } else if is_used && let Some(rest) = line.strip_prefix("prospector-") {
            found.insert(rest.split(['.', ' ', '=']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[test]
fn dependencies_match_the_architecture_page() {
    let rooms = rooms();
    let levels: BTreeMap<&str, u32> = rooms.iter().map(|room| (room.name.as_str(), room.level)).collect();
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let crates: BTreeSet<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = levels.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(crates, known, "every crate has a row in the table of ARCHITECTURE.md");
    let mut wrong = Vec::new();
    for room in &rooms {
        let used = dependencies(&root().join("crates").join(&room.name).join("Cargo.toml"));
        if used != room.may_use {
            wrong.push(format!("`{}` may use: {}; it uses: {}", room.name, listed(&room.may_use), listed(&used)));
        }
        for name in used.iter().filter(|name| levels[name.as_str()] >= room.level) {
            wrong.push(format!("`{}` (level {}) uses {name} (level {})", room.name, room.level, levels[name.as_str()]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_header() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "{} has no header", source.path.display());
    }
}

#[test]
fn only_the_settings_read_the_environment() {
    for source in sources() {
        let is_settings = source.path.ends_with("bin/settings.rs");
        // Build scripts get their output folder from the environment.
        let is_settings = is_settings || source.path.ends_with("build.rs") && !source.path.ends_with("src/build.rs");
        let reads = source.text.contains("env::var");
        assert!(is_settings || source.is_test || !reads, "{} reads the environment", source.path.display());
    }
}

fn finding(source: &Source, line: usize, what: impl std::fmt::Display) -> Finding {
    Finding { krate: source.krate().to_owned(), what: format!("{}:{line} {what}", source.path.display()) }
}

#[test]
fn a_crate_exports_few_names() {
    let roots = sources().iter().filter(|source| !source.exports.is_empty());
    let beyond = roots.flat_map(|source| {
        source.exports.iter().skip(MAX_EXPORTS).map(|name| finding(source, 1, format!("exports {name}")))
    });
    check("exports", beyond.collect());
}

#[test]
fn files_are_short() {
    let long = sources().iter().filter_map(|source| {
        let lines = source.text.lines().count();
        (lines > MAX_FILE_LINES).then(|| finding(source, lines, "is too long"))
    });
    check("long-file", long.collect());
}

#[test]
fn functions_are_short() {
    let mut found = Vec::new();
    for source in sources() {
        for function in source.functions.iter().filter(|function| function.lines > MAX_FUNCTION_LINES) {
            found.push(finding(source, function.line, format!("{} has {} lines", function.name, function.lines)));
        }
    }
    check("long-function", found);
}

#[test]
fn modules_have_no_cycles() {
    let crates: BTreeSet<&str> = sources().iter().filter(|source| !source.is_test).map(Source::krate).collect();
    let mut found = Vec::new();
    for krate in crates {
        let inside = sources().iter().filter(|source| !source.is_test && source.krate() == krate);
        for circle in modules::circles(inside) {
            let all = circle.join(", ");
            let what = |module: &String| format!("{module} is in the circle of {all}");
            found.extend(circle.iter().map(|module| Finding { krate: krate.to_owned(), what: what(module) }));
        }
    }
    check("circle", found);
}

#[test]
fn tool_names_are_used_only_in_their_crate() {
    // Names of one word are common words too: `search`, `list`, `describe`, `sample`.
    let mut home: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources() {
        for name in source.tools.iter().filter(|name| name.contains('_')) {
            home.entry(name).or_default().insert(source.krate());
        }
    }
    assert!(home.len() > 20, "the tools were not found: {home:?}");
    let mut found = Vec::new();
    for source in sources() {
        for Name { name, line, .. } in &source.literals {
            if home.get(name.as_str()).is_some_and(|crates| !crates.contains(source.krate())) {
                found.push(finding(source, *line, name));
            }
        }
    }
    check("tool-name", found);
}

#[test]
fn limits_begin_with_max_or_min() {
    let mut found = Vec::new();
    for source in sources() {
        for Name { name, line, .. } in &source.constants {
            let first = name.split('_').next().unwrap_or_default();
            if words::LIMITS.contains(&first) {
                found.push(finding(source, *line, name));
            }
        }
    }
    check("limit", found);
}

#[test]
fn names_are_words_of_the_field() {
    let mut found = Vec::new();
    for source in sources() {
        for Name { name, line, .. } in &source.constants {
            if words::CONSTANTS.iter().any(|word| words::has_words(name, word)) {
                found.push(finding(source, *line, name));
            }
        }
        for Name { name, line, is_test } in &source.types {
            if !is_test && words::TYPES.contains(&name.as_str()) {
                found.push(finding(source, *line, name));
            }
        }
        let stem = source.path.file_stem().unwrap().to_string_lossy();
        if words::MODULES.contains(&&*stem) {
            found.push(finding(source, 1, format!("the module `{stem}`")));
        }
    }
    check("word", found);
}

#[test]
fn texts_and_comments_use_terms_of_the_field() {
    let mut found = Vec::new();
    // This list names them.
    for source in sources().iter().filter(|source| !source.path.ends_with("house/words.rs")) {
        for (at, line) in source.text.lines().enumerate() {
            found.extend(words::find_dialect(line).into_iter().map(|phrase| finding(source, at + 1, phrase)));
        }
    }
    check("dialect", found);
}

#[test]
fn documents_and_pages_use_terms_of_the_field() {
    let mut folders = vec![root().join("docs/src"), root().join("crates/serve/src/page")];
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    let mut files: Vec<PathBuf> = pages.iter().map(|name| root().join(name)).collect();
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("README.md"));
    files.extend(crates.filter(|path| path.exists()));
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("md" | "js" | "html" | "css") => files.push(path),
                None if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    assert!(files.len() > 40, "the documents were not found: {files:?}");
    let phrases = files.iter().flat_map(|path| {
        let found = words::find_dialect(&fs::read_to_string(path).unwrap());
        found.into_iter().map(move |phrase| format!("{}: {phrase}", path.display()))
    });
    let phrases: Vec<String> = phrases.collect();
    assert!(phrases.is_empty(), "{phrases:#?}");
}

#[test]
fn functions_are_verbs() {
    let mut found = Vec::new();
    for source in sources() {
        for function in source.functions.iter().filter(|function| !function.is_test && !function.is_of_trait) {
            if words::is_participle(&function.name) {
                found.push(finding(source, function.line, &function.name));
            }
        }
    }
    check("participle", found);
}

#[test]
fn errors_are_types() {
    let mut found = Vec::new();
    for source in sources() {
        found.extend(source.string_errors.iter().map(|line| finding(source, *line, "Result<_, String>")));
    }
    check("string-error", found);
}

#[test]
fn a_test_that_waits_gives_up_in_time() {
    let mut found = Vec::new();
    for source in sources() {
        found.extend(source.endless_waits.iter().map(|line| finding(source, *line, "sleeps in a loop without end")));
    }
    check("endless-wait", found);
}

#[test]
fn a_seed_of_chance_is_printed() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.is_test) {
        let random = ["SystemTime::now", "UNIX_EPOCH", "RandomState", "rand::", "getrandom"];
        let is_random = random.iter().any(|word| source.text.contains(word)) && source.text.contains("seed");
        let is_printed = source.text.lines().any(|line| line.contains("print") && line.contains("seed"));
        if is_random && !is_printed && source.krate() != "tests" {
            found.push(finding(source, 1, "makes a seed by chance and does not print it"));
        }
    }
    check("silent-seed", found);
}

#[test]
fn the_list_of_known_violations_names_rules_and_crates_that_exist() {
    let text = fs::read_to_string(root().join("tests/house/exceptions.txt")).unwrap();
    let rules = fs::read_to_string(root().join("tests/house/main.rs")).unwrap();
    let crates: BTreeSet<&str> = sources().iter().map(Source::krate).collect();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split_whitespace();
        let (rule, krate) = (parts.next().unwrap(), parts.next().unwrap());
        assert!(rules.contains(&format!("check(\"{rule}\"")), "there is no rule `{rule}`");
        assert!(crates.contains(krate), "there is no crate `{krate}`");
    }
}
