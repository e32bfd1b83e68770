//! Lines of a conversation: edited at a terminal, with history and completion, or read from a pipe.

use std::{
    collections::BTreeSet,
    io::{BufRead, IsTerminal},
    path::{Path, PathBuf},
};

use rustyline::{
    CompletionType, Config, Context, Editor, Helper, completion::Completer, error::ReadlineError,
    highlight::Highlighter, hint::Hinter, history::FileHistory, validate::Validator,
};

use crate::output;

/// The file of the history, in the state folder.
const HISTORY: &str = "chat_history.txt";
/// How many lines of history are kept.
const MAX_HISTORY_LINES: usize = 1_000;

/// Where lines come from.
pub(in crate::commands) enum Lines {
    /// A person.
    Edited(Box<Editor<Names, FileHistory>>, PathBuf),
    /// A pipe or a file.
    Piped,
}

impl Lines {
    /// Lines from standard input.
    pub(in crate::commands) fn open(state: &Path, names: BTreeSet<String>) -> anyhow::Result<Lines> {
        if !std::io::stdin().is_terminal() {
            return Ok(Lines::Piped);
        }
        let config = Config::builder()
            .max_history_size(MAX_HISTORY_LINES)?
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Names(names)));
        let path = state.join(HISTORY);
        // There is none at first.
        let _ = editor.load_history(&path);
        Ok(Lines::Edited(Box::new(editor), path))
    }

    /// The names to complete, from now on.
    pub(in crate::commands) fn complete(&mut self, names: BTreeSet<String>) {
        if let Lines::Edited(editor, _) = self {
            editor.set_helper(Some(Names(names)));
        }
    }

    /// The next line; none at the end of the input.
    pub(in crate::commands) fn next(&mut self) -> anyhow::Result<Option<String>> {
        tokio::task::block_in_place(|| match self {
            Lines::Edited(editor, path) => {
                let mut interrupted = false;
                loop {
                    match editor.readline("? ") {
                        Ok(line) => {
                            // A history that cannot be written is no reason to stop; another conversation may add to it too.
                            let _ = editor.append_history(path);
                            return Ok(Some(line));
                        }
                        // An interrupt empties the line. Who interrupts again wants to leave.
                        Err(ReadlineError::Interrupted) => {
                            if interrupted {
                                output::say("Ctrl-D ends");
                            }
                            interrupted = true;
                        }
                        Err(ReadlineError::Eof) => return Ok(None),
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Lines::Piped => {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line)?;
                Ok((read > 0).then_some(line))
            }
        })
    }
}

/// Completes the word before the cursor.
pub(in crate::commands) struct Names(BTreeSet<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..cursor];
        let begin = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = before[begin..].to_lowercase();
        let is_fit = |name: &&String| !word.is_empty() && name.to_lowercase().starts_with(&word);
        Ok((begin, self.0.iter().filter(is_fit).cloned().collect()))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}
