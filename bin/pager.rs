//! Shows long output in a pager, as `git` and `man` do: that of `PAGER`, or `less`.

use std::{
    io::{IsTerminal, Write},
    process::{Command, Stdio},
    sync::OnceLock,
};

use terminal_size::{Height, Width, terminal_size};
use unicode_width::UnicodeWidthStr;

/// Default options of `less`: quit if the text fits, show colours, keep the text on the screen, and decode UTF-8.
pub(crate) const USUAL: [(&str, &str); 2] = [("LESS", "FRX"), ("LESSCHARSET", "utf-8")];

/// The pager program, and its additional environment variables.
#[derive(Debug)]
pub(crate) struct Pager {
    /// The program with its arguments, separated by spaces.
    pub(crate) command: String,
    pub(crate) environment: Vec<(&'static str, &'static str)>,
}

static PAGER: OnceLock<Pager> = OnceLock::new();

/// Enables the pager for long texts.
pub(crate) fn choose(pager: Pager) {
    let _ = PAGER.set(pager);
}

/// Shows a text in the pager; returns whether it did. It does not if output is not a terminal, the text fits on the screen, or the pager is
/// missing.
pub(crate) fn show(text: &str) -> bool {
    let Some((Width(columns), Height(rows))) = terminal_size() else { return false };
    // The prompt takes one line.
    if !std::io::stdout().is_terminal() || count_lines(text, usize::from(columns)) < usize::from(rows) {
        return false;
    }
    let Some(pager) = PAGER.get() else { return false };
    let mut words = pager.command.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).envs(pager.environment.iter().copied()).stdin(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The user may close the pager early.
        let _ = input.write_all(text.as_bytes());
        let _ = input.write_all(b"\n");
    }
    child.wait().is_ok()
}

/// Returns the number of screen lines of a text.
fn count_lines(text: &str, columns: usize) -> usize {
    text.lines().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_they_are_broken() {
        for (text, columns, lines) in [("", 10, 0), ("a\n\nb", 10, 3), ("0123456789a", 10, 2), ("日本日本日本", 10, 2)]
        {
            assert_eq!(count_lines(text, columns), lines, "{text}");
        }
    }
}
