//! Tests of the documentation: commands run, names of commands, flags and files exist, links resolve, and generated pages are up to date.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod commands;
mod console;
mod markdown;
mod readme;
mod reference;
#[path = "../it/support/mod.rs"]
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use commands::Commands;
use markdown::{Page, pages};
use support::Estate;

/// Maximum number of lines of README.md.
const MAX_README_LINES: usize = 150;

/// Maximum number of words of ARCHITECTURE.md; details are in the documentation of modules.
const MAX_ARCHITECTURE_WORDS: usize = 1_500;

/// Maximum number of lines of CHANGELOG.md; each entry is one line.
const MAX_CHANGELOG_LINES: usize = 200;

/// Tags of blocks that are not run, as in "sh,server": the tag, the number of blocks, and the reason.
const NOT_RUN: [(&str, usize, &str); 5] = [
    ("build", 10, "compiles or installs"),
    ("data", 4, "needs sets of questions that are not in the repository"),
    ("key", 2, "needs the key of a provider, or a server of models"),
    ("server", 4, "needs other servers, or installs other programs"),
    ("serves", 4, "runs until it is stopped"),
];

/// The number of blocks that are run.
const RUN: usize = 24;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_command_runs_or_has_a_reason_not_to() {
    let mut not_run: BTreeMap<&str, usize> = BTreeMap::new();
    let mut run = 0;
    let pages = pages();
    for page in &pages {
        for block in &page.blocks {
            match (block.language(), block.tag()) {
                ("sh", Some(tag)) => *not_run.entry(tag).or_default() += 1,
                ("sh" | "console", None) => run += 1,
                ("bash" | "shell" | "", _) => panic!("{}: write ```sh or ```text", block.place(page)),
                _ => {}
            }
        }
    }
    let expected: BTreeMap<&str, usize> = NOT_RUN.iter().map(|(tag, count, _)| (*tag, *count)).collect();
    assert_eq!(not_run, expected, "the blocks that are not run");
    assert_eq!(run, RUN, "the blocks that are run");
    std::thread::scope(|scope| {
        for page in &pages {
            scope.spawn(move || console::run(page));
        }
    });
}

#[test]
fn commands_and_flags_exist() {
    let commands = Commands::of(&Estate::new(""));
    let mut wrong = Vec::new();
    for page in pages() {
        for (line, text) in page.command_lines() {
            wrong.extend(commands.check(&text).map(|reason| format!("{}:{line}: {reason}", page.path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_that_are_named_exist() {
    let crates: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut wrong = Vec::new();
    for page in pages() {
        for (line, name) in page.paths() {
            let (path, test) = name.split_once("::").map_or((name.as_str(), None), |(path, test)| (path, Some(test)));
            let first = path.split('/').next().unwrap_or_default();
            let below = if crates.contains(first) && !root().join(path).exists() { "crates" } else { "" };
            let whole = root().join(below).join(path);
            let is_there = match path.split_once('*') {
                Some((before, _)) => {
                    root().join(below).join(before.rsplit_once('/').map_or("", |(dir, _)| dir)).is_dir()
                }
                None => whole.exists(),
            };
            if !is_there {
                wrong.push(format!("{}:{line}: {name} does not exist", page.path.display()));
            } else if let Some(test) = test
                && !fs::read_to_string(&whole).is_ok_and(|text| text.contains(&format!("fn {test}(")))
            {
                wrong.push(format!("{}:{line}: {path} has no test {test}", page.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_resolve() {
    let pages = pages();
    let anchors: BTreeMap<&Path, &BTreeSet<String>> =
        pages.iter().map(|page| (page.path.as_path(), &page.anchors)).collect();
    let mut wrong = Vec::new();
    for page in &pages {
        for (line, target) in page.links.iter().filter(|(_, target)| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let base = page.path.parent().unwrap_or(Path::new(""));
            let path = if file.is_empty() { page.path.clone() } else { markdown::normal(&base.join(file)) };
            let lead = match anchors.get(path.as_path()) {
                Some(known) => anchor.is_empty() || known.contains(anchor),
                None => anchor.is_empty() && root().join(&path).exists(),
            };
            if !lead {
                wrong.push(format!("{}:{line}: {target} does not resolve", page.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_lists_every_page_of_the_book() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> =
        summary.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect();
    let files = fs::read_dir(root().join("docs/src")).unwrap().map(|entry| entry.unwrap().file_name());
    let there: BTreeSet<String> = files.filter_map(|name| name.into_string().ok()).collect();
    let there = there.into_iter().filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}

#[test]
fn readme_and_its_images_are_small() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= MAX_README_LINES, "README.md has {lines} lines");
    for name in ["page.png", "plan.png", "tables.png"] {
        let bytes = fs::metadata(root().join("docs/src/images").join(name)).unwrap().len();
        assert!(bytes < 150_000, "{name} has {bytes} bytes");
    }
}

#[test]
fn overview_pages_are_short() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(words <= MAX_ARCHITECTURE_WORDS, "ARCHITECTURE.md has {words} words");
    let lines = read("CHANGELOG.md").lines().count();
    assert!(lines <= MAX_CHANGELOG_LINES, "CHANGELOG.md has {lines} lines");
}

#[test]
fn catalog_examples_have_only_valid_keys() {
    let pages = pages();
    let blocks: Vec<(&Page, &markdown::Block)> = pages
        .iter()
        .flat_map(|page| page.blocks.iter().map(move |block| (page, block)))
        .filter(|(_, block)| block.language() == "yaml")
        .collect();
    assert!(blocks.len() > 6, "the examples were not found");
    for (page, block) in blocks {
        let estate = Estate::new(&block.text);
        let mut planner = estate.planner();
        planner.args(["--embedder", "none", "refresh"]);
        // No server is started.
        planner.env("PATH", "/nowhere");
        for name in ["CRM_PASSWORD", "ES_KEY", "SHOP_KEY", "SEARX_TOKEN", "TRACKER_TOKEN", "WIKI_TOKEN"] {
            planner.env(name, "7d1c0a94f2");
        }
        let ran = support::Ran::of(&mut planner);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        // The sources of the examples do not exist; only their keys are checked.
        let absent = ["cannot ", "no such ", "there is no ", "no dbt manifest ", "no file ", "no table matches "];
        for problem in support::items(&report["problems"]) {
            let reason = problem["reason"].as_str().unwrap();
            let is_absent = absent.iter().any(|start| reason.starts_with(start))
                || ["No such file", "there is no file", "cannot be reached"].iter().any(|part| reason.contains(part));
            assert!(is_absent, "{}: {problem:#}", block.place(page));
        }
    }
}

#[test]
fn cli_reference_is_up_to_date() {
    check_file("docs/src/cli.md", &reference::command_line(&Commands::of(&Estate::new(""))));
}

#[test]
fn tools_reference_is_up_to_date() {
    let estate = Estate::copy();
    // With a callable operation, every tool is listed.
    let catalog = fs::read_to_string(estate.path("catalog.yaml")).unwrap();
    let api = "    path: apis/shop.openapi.yaml\n";
    assert!(catalog.contains(api));
    estate.write("catalog.yaml", catalog.replace(api, &format!("{api}    invoke: true\n")));
    check_file("docs/src/tools.md", &reference::tools(&estate));
}

#[test]
fn crate_readmes_match_crate_docs() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    // The crate for tests is not published.
    for name in crates.filter_map(|name| name.into_string().ok()).filter(|name| name != "test-support") {
        check_file(&format!("crates/{name}/README.md"), &readme::readme(&name));
    }
}

/// Checks that a generated page is up to date, or writes it with `UPDATE_EXPECT`.
#[track_caller]
fn check_file(path: &str, expected: &str) {
    let file = root().join(path);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, expected).unwrap();
        return;
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    let differs = expected.lines().zip(found.lines()).position(|(a, b)| a != b);
    assert!(
        found == expected,
        "{path} is stale from line {}: `UPDATE_EXPECT=1 cargo test --test docs` updates it",
        differs.unwrap_or(expected.lines().count().min(found.lines().count())) + 1
    );
}
