//! Servers that tests need.

use std::io::Write;

/// Returns the URL of a server that `.ci/services` started, from the environment variable that names it. Tests that
/// call this are `#[ignore = "needs a server: .ci/services"]`, and run with `--include-ignored`.
///
/// Without the variable it returns `None` and reports on standard error that the test was skipped.
///
/// # Panics
/// If the variable is missing and `CI` is `true`, or if it contains no URL.
pub fn server(variable: &str) -> Option<url::Url> {
    match std::env::var(variable) {
        Ok(url) => Some(url.parse().unwrap()),
        Err(_) => {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "{variable} is not set; run `.ci/services cargo test --workspace -- --include-ignored`");
            let name = std::thread::current().name().unwrap_or("a test").to_owned();
            // Bypasses the capture of output, which is only shown for failed tests.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: {name} needs a server; run `.ci/services cargo test --workspace -- --include-ignored`"
            );
            None
        }
    }
}
