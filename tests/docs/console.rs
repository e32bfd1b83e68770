//! Runs the commands of a page in order, on a copy of the sample catalog.
//! Every command of an `sh` block must succeed. In a `console` block the lines after a command (`$ ...`) are its standard output; `...`
//! matches any text in a line, and any lines if it is a separate line.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use crate::{
    markdown::{Block, Page},
    support::Estate,
};

/// `cargo run -- ARGUMENTS` is the program itself.
const CARGO: &str = "#!/bin/sh\n[ \"$1 $2\" = 'run --' ] || { echo \"cargo $*: not in a test\" >&2; exit 9; }\n\
                     shift 2\nexec planner \"$@\"\n";

/// Runs the blocks of a page, except those with a tag.
pub(crate) fn run(page: &Page) {
    let is_run = |block: &&Block| matches!(block.language(), "sh" | "console") && block.tag().is_none();
    let mut blocks = page.blocks.iter().filter(is_run).peekable();
    if blocks.peek().is_none() {
        return;
    }
    let estate = Estate::copy();
    let folder = estate.path("").parent().unwrap().to_owned();
    let programs = folder.join("programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_planner"), programs.join("planner")).unwrap();
    fs::write(programs.join("cargo"), CARGO).unwrap();
    fs::set_permissions(programs.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    for block in blocks {
        let place = block.place(page);
        if block.language() == "sh" {
            shell(&folder, &block.text, &place);
            continue;
        }
        let mut rest = block.text.lines().peekable();
        while let Some(line) = rest.next() {
            let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{place}: {line} is not after a command"));
            let mut expected = Vec::new();
            while let Some(line) = rest.next_if(|line| !line.starts_with("$ ")) {
                expected.push(line);
            }
            let out = shell(&folder, command, &place);
            let found: Vec<&str> = out.trim_end().lines().collect();
            assert!(
                lines_match(&expected, &found),
                "{place}: {command} prints\n{out}\ninstead of\n{}",
                expected.join("\n")
            );
        }
    }
}

/// Standard output of commands that must succeed.
fn shell(folder: &Path, commands: &str, place: &str) -> String {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.join("programs").display());
    let mut shell = assert_cmd::Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", commands]).env_clear().env("PATH", path).env("HOME", folder.join("home"));
    let output = shell.current_dir(folder).timeout(std::time::Duration::from_secs(200)).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{place}: {commands}\n{err}\n{out}");
    out
}

fn lines_match(expected: &[&str], found: &[&str]) -> bool {
    match expected {
        [] => found.is_empty(),
        ["...", rest @ ..] => (0..=found.len()).any(|at| lines_match(rest, &found[at..])),
        [first, rest @ ..] => {
            found.first().is_some_and(|line| line_matches(first, line)) && lines_match(rest, &found[1..])
        }
    }
}

fn line_matches(expected: &str, found: &str) -> bool {
    let parts: Vec<&str> = expected.trim_end().split("...").collect();
    let [first, middle @ .., last] = parts.as_slice() else { return expected.trim_end() == found.trim_end() };
    let Some(mut rest) = found.trim_end().strip_prefix(first) else { return false };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn dots_match_any_text_and_any_lines() {
    let check = |expected: &str, found: &str, matches: bool| {
        let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
        assert_eq!(lines_match(&a, &b), matches, "{expected} / {found}");
    };
    check("a\n...\nd", "a\nb\nc\nd", true);
    check("a\n...", "a", true);
    check("a ... 3", "a b c 3", true);
    check("a ... 3", "a b c 4", false);
    check("a", "a\nb", false);
}
