//! Servers that tests need, or the word that they are not there.

use std::io::Write;

/// The URL of a server that `.ci/services` started, from the environment variable that names it. Tests that call this are
/// `#[ignore = "needs a server: .ci/services"]`, and run with `--include-ignored`.
///
/// Without the variable there is none, and standard error says that the test was skipped.
///
/// # Panics
/// Without the variable where `CI` is `true`, and when it holds no URL.
pub fn server(variable: &str) -> Option<url::Url> {
    match std::env::var(variable) {
        Ok(url) => Some(url.parse().unwrap()),
        Err(_) => {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "{variable} is not set; run `.ci/services cargo test --workspace -- --include-ignored`");
            let name = std::thread::current().name().unwrap_or("a test").to_owned();
            // Past the capture of output, which shows that of failed tests only.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: {name} needs a server; run `.ci/services cargo test --workspace -- --include-ignored`"
            );
            None
        }
    }
}
