//! What is longer than the screen is shown in a pager, as `git` and `man` do it: that of `PAGER`, or `less`.

use std::{
    io::{IsTerminal, Write},
    process::{Command, Stdio},
    sync::OnceLock,
};

use terminal_size::{Height, Width, terminal_size};
use unicode_width::UnicodeWidthStr;

/// How `less` is to behave where the user has not said it: it ends where everything fits, shows colours, leaves the text on the
/// screen, and takes what it gets for UTF-8.
pub(crate) const USUAL: [(&str, &str); 2] = [("LESS", "FRX"), ("LESSCHARSET", "utf-8")];

/// The program, and what its environment has besides ours.
#[derive(Debug)]
pub(crate) struct Pager {
    /// With its arguments, apart by blanks.
    pub(crate) command: String,
    pub(crate) environment: Vec<(&'static str, &'static str)>,
}

static PAGER: OnceLock<Pager> = OnceLock::new();

/// Has long texts shown by a pager from here on.
pub(crate) fn choose(pager: Pager) {
    let _ = PAGER.set(pager);
}

/// Shows a text in the pager; whether it did. It does not where nobody looks, where everything fits on the screen, and where
/// there is no pager.
pub(crate) fn show(text: &str) -> bool {
    let Some((Width(columns), Height(rows))) = terminal_size() else { return false };
    // The prompt takes a line.
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
        // Who has seen enough closes it.
        let _ = input.write_all(text.as_bytes());
        let _ = input.write_all(b"\n");
    }
    child.wait().is_ok()
}

/// The lines of a screen that a text takes.
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
