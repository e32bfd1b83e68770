//! Runs the real binary with its own state folder, an empty home and none of the user's environment.

// Each test binary uses a part of this module.
#![allow(dead_code)]

#[cfg(unix)]
pub(crate) mod serving;

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The main question of the tests.
pub(crate) const VIP: &str = "Show me VIP customer spending trends by quarter";

/// A catalog, a folder for the state, and an empty home.
pub(crate) struct Estate {
    folder: TempDir,
    catalog: PathBuf,
}

impl Estate {
    /// Returns the sample catalog, in place.
    pub(crate) fn sample() -> Self {
        Self::with_catalog(|_| root().join("catalog/catalog.yaml"))
    }

    /// Returns a copy of the sample catalog that can be changed.
    pub(crate) fn copy() -> Self {
        Self::with_catalog(|folder| {
            copy_all(&root().join("catalog"), &folder.join("catalog"));
            copy_all(&root().join("skills"), &folder.join("skills"));
            folder.join("catalog/catalog.yaml")
        })
    }

    /// Returns a new catalog.
    pub(crate) fn new(yaml: &str) -> Self {
        Self::with_catalog(|folder| {
            let catalog = folder.join("catalog/catalog.yaml");
            fs::create_dir(folder.join("catalog")).unwrap();
            fs::write(&catalog, yaml).unwrap();
            catalog
        })
    }

    fn with_catalog(make: impl FnOnce(&Path) -> PathBuf) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let catalog = make(folder.path());
        Estate { folder, catalog }
    }

    /// Adds a file next to the catalog.
    pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Writes a file next to the catalog.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns a path next to the catalog.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.catalog.parent().unwrap().join(path)
    }

    /// Returns the state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Returns the binary without arguments and variables, in an empty folder.
    pub(crate) fn bare(&self) -> Command {
        let home = self.folder.path().join("home");
        let mut command = Command::new(env!("CARGO_BIN_EXE_planner"));
        command.env_clear().env("HOME", &home).current_dir(&home).timeout(std::time::Duration::from_secs(100));
        command
    }

    /// Returns the binary with this catalog.
    pub(crate) fn planner(&self) -> Command {
        let mut command = self.bare();
        command.env("PROSPECTOR_CATALOG", &self.catalog).env("PROSPECTOR_STATE", self.state());
        command
    }

    /// Runs it with these arguments.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(self.planner().args(args))
    }

    /// Plans a question; the plan must be verified.
    pub(crate) fn plan(&self, question: &str) -> Value {
        let ran = self.run(["plan", question]);
        let plan = ran.json(0);
        assert_eq!(plan["question"], question);
        assert_sound(&plan);
        plan
    }

    /// Calls a tool.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.run(["call", tool, &arguments.to_string()])
    }
}

/// Sends a request on a new connection; `headers` are lines that end with `\r\n`.
pub(crate) fn send(address: &str, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{headers}\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

/// Returns the status and the body of the response.
pub(crate) fn receive(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

/// The outcome of a run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// Returns standard output, which must be one JSON value, and checks the exit status.
    #[track_caller]
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{}\n{}", self.err, self.out);
        assert!(self.out.ends_with('\n'), "{}", self.out);
        self.sane();
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.out))
    }

    /// Returns standard error, and checks the exit status and that standard output is empty.
    #[track_caller]
    pub(crate) fn complaint(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{}\n{}", self.err, self.out);
        assert_eq!(self.out, "");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        self.sane();
        &self.err
    }

    /// Checks that neither a panic nor a Rust value is printed.
    #[track_caller]
    fn sane(&self) {
        for word in ["panicked", "RUST_BACKTRACE", "Some(", "Err(", "\u{1b}["] {
            assert!(!self.err.contains(word), "{}", self.err);
        }
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

/// Checks the invariants of a verified plan: its end, the number of checks, and the order of its steps.
#[track_caller]
pub(crate) fn assert_sound(plan: &Value) {
    assert_eq!(plan["ended"], "completed", "{plan:#}");
    assert_eq!(plan["verification"]["ok"], true, "{plan:#}");
    assert_eq!(plan["verification"]["failed"], Value::Array(vec![]), "{plan:#}");
    let mut available: Vec<&str> = Vec::new();
    for (at, step) in items(&plan["plan"]["steps"]).iter().enumerate() {
        assert_eq!(step["number"], at + 1, "{plan:#}");
        assert!(step["goal"].as_str().is_some_and(|goal| !goal.is_empty()), "{plan:#}");
        for input in texts(&step["inputs"]) {
            assert!(available.contains(&input), "step {} takes `{input}` from nowhere: {plan:#}", at + 1);
        }
        available.extend(texts(&step["outputs"]));
    }
}

/// Returns a list; empty if it is missing.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a list of strings; empty if it is missing.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    items(value).iter().filter_map(Value::as_str).collect()
}

/// Checks that a list contains these strings.
#[track_caller]
pub(crate) fn assert_holds(found: &Value, expected: &[&str]) {
    let found = texts(found);
    for name in expected {
        assert!(found.contains(name), "`{name}` is not among {found:?}");
    }
}

/// Reads a file of the sample catalog.
pub(crate) fn sample_file(path: &str) -> Vec<u8> {
    fs::read(root().join("catalog").join(path)).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        // The state folder of a developer is not copied.
        if entry.file_name() == ".prospector" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
