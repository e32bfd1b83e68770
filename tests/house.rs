//! The rules of the house that a machine can check: levels, headers, file sizes, names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Every crate and its level; a crate may use those on lower levels only.
const LEVELS: &[(&str, u32)] = &[
    ("core", 0),
    ("state", 0),
    ("text", 0),
    ("net", 0),
    ("search", 1),
    ("connect", 1),
    ("llm", 1),
    ("fetch", 1),
    ("schema", 2),
    ("api", 2),
    ("documents", 2),
    ("skills", 2),
    ("engine", 2),
    ("facts", 3),
    ("discovery", 4),
    ("agent", 5),
    ("test-support", 2),
    ("serve", 6),
    ("bench", 6),
];

/// A file of more lines is a room to divide.
const LONGEST: usize = 800;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "manager", "helper", "helpers", "misc"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the project.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "bin", "tests", "benches"].iter().map(|name| root().join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 50, "the sources were not found");
    found
}

/// The crates of the workspace that a manifest depends on, those for its tests apart.
fn dependencies(manifest: &Path) -> Vec<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let mut section = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && let Some(rest) = line.strip_prefix("prospector-")
        {
            found.push(rest.split(['.', ' ', '=']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

#[test]
fn arrows_run_down_only() {
    let levels: BTreeMap<&str, u32> = LEVELS.iter().copied().collect();
    let mut crates: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    crates.sort();
    let mut known: Vec<&str> = levels.keys().copied().collect();
    known.sort_unstable();
    assert_eq!(crates, known, "every crate has a level");
    for name in &crates {
        for used in dependencies(&root().join("crates").join(name).join("Cargo.toml")) {
            assert!(
                levels[used.as_str()] < levels[name.as_str()],
                "{name} (level {}) uses {used} (level {})",
                levels[name.as_str()],
                levels[used.as_str()]
            );
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} has no header", path.display());
    }
}

#[test]
fn no_file_is_crowded() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines", path.display());
    }
}

#[test]
fn names_say_what_is_inside() {
    for path in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{}", path.display());
    }
}

#[test]
fn only_the_settings_read_the_environment() {
    for path in sources() {
        let is_settings = path.ends_with("bin/settings.rs");
        let is_test = path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "test-support");
        let text = fs::read_to_string(&path).unwrap();
        assert!(is_settings || is_test || !text.contains("env::var"), "{} reads the environment", path.display());
    }
}

#[test]
fn the_architecture_page_has_a_room_for_every_crate() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (name, _) in LEVELS {
        assert!(page.contains(&format!("crates/{name}")), "ARCHITECTURE.md does not mention crates/{name}");
    }
}
