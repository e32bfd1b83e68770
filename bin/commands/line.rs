//! Input lines: edited at a terminal, with history and completion, or read from a pipe.

use std::{
    collections::BTreeSet,
    io::{BufRead, IsTerminal},
    path::{Path, PathBuf},
};

use rustyline::{
    CompletionType, Config, Context, Editor, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use crate::output;

/// Limit on the history, in lines.
const MAX_HISTORY_LINES: usize = 1_000;

/// How lines are prompted for.
pub(super) struct Prompt {
    /// The prompt.
    pub(super) text: &'static str,
    /// The history file, in the state folder.
    pub(super) history: &'static str,
    /// Whether the text is complete; otherwise the next line continues it.
    pub(super) is_complete: fn(&str) -> bool,
}

impl Prompt {
    /// The prompt of a conversation, line by line.
    pub(super) const CHAT: Prompt = Prompt { text: "? ", history: "chat_history.txt", is_complete: |_| true };
}

/// The source of lines.
pub(super) enum Lines {
    /// A terminal.
    Edited(Box<Editor<Names, FileHistory>>, PathBuf, Prompt),
    /// A pipe or a file.
    Piped,
}

impl Lines {
    /// Opens standard input.
    pub(super) fn open(prompt: Prompt, state: &Path, names: BTreeSet<String>) -> anyhow::Result<Lines> {
        if !std::io::stdin().is_terminal() {
            return Ok(Lines::Piped);
        }
        let config = Config::builder()
            .max_history_size(MAX_HISTORY_LINES)?
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Names { names, is_complete: prompt.is_complete }));
        let path = state.join(prompt.history);
        // The file does not exist at first.
        let _ = editor.load_history(&path);
        Ok(Lines::Edited(Box::new(editor), path, prompt))
    }

    /// Whether the lines are typed at a terminal.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self, Lines::Edited(..))
    }

    /// Sets the names for completion.
    pub(super) fn complete(&mut self, names: BTreeSet<String>) {
        if let Lines::Edited(editor, _, prompt) = self {
            editor.set_helper(Some(Names { names, is_complete: prompt.is_complete }));
        }
    }

    /// Returns the next line; `None` at the end of the input.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<String>> {
        tokio::task::block_in_place(|| match self {
            Lines::Edited(editor, path, prompt) => {
                let mut interrupted = false;
                loop {
                    match editor.readline(prompt.text) {
                        Ok(line) => {
                            // Failing to write the history is not fatal; other processes may append to it too.
                            let _ = editor.append_history(path);
                            return Ok(Some(line));
                        }
                        // An interrupt clears the line. A second one exits.
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

/// Completes the word before the cursor, and decides whether the input is complete.
pub(super) struct Names {
    names: BTreeSet<String>,
    is_complete: fn(&str) -> bool,
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..cursor];
        let ends = |c: char| c.is_whitespace() || "(),=<>;".contains(c);
        let begin = before.char_indices().rev().find(|(_, c)| ends(*c)).map_or(0, |(at, c)| at + c.len_utf8());
        let word = before[begin..].to_lowercase();
        let is_fit = |name: &&String| !word.is_empty() && name.to_lowercase().starts_with(&word);
        Ok((begin, self.names.iter().filter(is_fit).cloned().collect()))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_complete = (self.is_complete)(context.input());
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Helper for Names {}
