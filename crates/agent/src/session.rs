//! Conversations of several turns: the history sent to the model, and storage.
//! The current turn is sent in full. Of older turns the question and the answer are sent, without tool calls and results; beyond the token
//! limit, the oldest become one line each, and finally only a count. Every result has an id (`t2.Q1`: the first query of the second turn)
//! for `get_previous_results`.

mod store;

use std::path::Path;

use prospector_core::{Owner, tokens};
use prospector_llm::{
    Message,
    purpose::{Mode, PreviousTurn},
};
use serde::{Deserialize, Serialize};

pub use store::SessionError;
use store::Store;

use crate::{
    answer::{Answered, Condensed, DataQuestion},
    status::AnswerStatus,
};

/// Maximum number of characters of the question and of the answer in the line of a turn.
const MAX_LINE_CHARS: usize = 120;
/// Maximum number of characters of an earlier answer.
const MAX_ANSWER_CHARS: usize = 6_000;

/// Minimum number of turns per summary, and maximum size of their text in bytes: absolute, and per token of the limit.
const MIN_CONDENSED_TURNS: usize = 3;
const MAX_MATERIAL_BYTES: usize = 40_000;
const MATERIAL_BYTES_PER_TOKEN: usize = 3;

/// Turns to be summarised.
pub(crate) struct Unsummarised {
    /// The number of turns, from the first.
    pub(crate) turns: u32,
    /// Their text, after the previous summary.
    pub(crate) text: String,
}

/// A stored conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptSession {
    /// Its name.
    #[serde(rename = "session")]
    pub name: String,
    /// The number of turns.
    pub turns: u32,
    /// The first question.
    pub question: String,
    /// When its last turn was stored, in UTC.
    pub latest: String,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The number of the turn, from 1.
    pub number: u32,
    /// The answer, with the question and the rows.
    pub answered: Answered,
    /// The messages of the run, including tool calls and results.
    pub messages: Vec<Message>,
}

/// A conversation with its turns and its store.
#[derive(Debug)]
pub struct Session {
    name: String,
    turns: Vec<Turn>,
    store: Option<Store>,
}

impl Session {
    /// Returns a conversation that is not stored.
    pub fn unkept() -> Self {
        Session { name: String::new(), turns: Vec::new(), store: None }
    }

    /// Opens the conversation of this name and owner in `sessions.sqlite` in the state folder, or starts it. Names are separate per owner.
    ///
    /// # Errors
    /// [`SessionError`] if the file cannot be read or is not a session store.
    pub async fn open(state: &Path, owner: &Owner, name: &str) -> Result<Self, SessionError> {
        let store = Store::open(state, owner).await?;
        let turns = store.turns(name).await?;
        Ok(Session { name: name.to_owned(), turns, store: Some(store) })
    }

    /// Lists the stored conversations of this owner, the latest first.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn list(state: &Path, owner: &Owner) -> Result<Vec<KeptSession>, SessionError> {
        if !Store::exists(state) { Ok(Vec::new()) } else { Store::open(state, owner).await?.names().await }
    }

    /// Deletes a conversation of this owner. Returns whether it existed.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn remove(state: &Path, owner: &Owner, name: &str) -> Result<bool, SessionError> {
        if !Store::exists(state) { Ok(false) } else { Store::open(state, owner).await?.remove(name).await }
    }

    /// Renames a conversation of this owner. Returns `false` if it does not exist or the new name is taken.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn rename(state: &Path, owner: &Owner, from: &str, to: &str) -> Result<bool, SessionError> {
        if !Store::exists(state) { Ok(false) } else { Store::open(state, owner).await?.rename(from, to).await }
    }

    /// Checks the integrity of the session store in a state folder, if it exists.
    ///
    /// # Errors
    /// [`SessionError`] if it is damaged or cannot be read.
    pub async fn check_store(state: &Path) -> Result<(), SessionError> {
        if !Store::exists(state) { Ok(()) } else { Store::check(state).await }
    }

    /// Returns the name; empty if the conversation is not stored.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the turns, the first one first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Infers the mode of a question: that of the turn that it repeats, or that of its trigger phrases.
    pub fn mode(&self, question: &str) -> Mode {
        let redo = self.turns.last().and_then(|turn| Mode::of_redo(question, turn.answered.mode));
        redo.unwrap_or_else(|| Mode::of(question))
    }

    /// Adds a turn and stores it.
    ///
    /// # Errors
    /// [`SessionError`] if it cannot be written; the turn is still added.
    pub async fn keep(&mut self, answered: &Answered, messages: Vec<Message>) -> Result<(), SessionError> {
        let number = u32::try_from(self.turns.len() + 1).unwrap_or(u32::MAX);
        self.turns.push(Turn { number, answered: answered.clone(), messages });
        match (&self.store, self.turns.last()) {
            (Some(store), Some(turn)) => store.keep(&self.name, turn).await,
            _ => Ok(()),
        }
    }

    /// Returns the turns so far as messages, within `limit` tokens (o200k). `condensed` is the summary of the first turns, for those that
    /// do not fit in full.
    pub fn history(&self, limit: u32, condensed: Option<&Condensed>) -> Vec<Message> {
        let limit = limit as usize;
        let (first, used) = self.find_first_in_full(limit);
        let mut messages = Vec::new();
        if first > 0 {
            messages.push(Message::User { text: self.summary(first, limit - used.min(limit), condensed) });
            messages.push(Message::Assistant { text: "I know.".into(), calls: Vec::new() });
        }
        messages.extend(self.turns[first..].iter().flat_map(to_messages));
        messages
    }

    /// Returns the index of the first turn that is sent in full, and the tokens of these turns: the latest ones, as many as leave a quarter
    /// of the limit for the others.
    fn find_first_in_full(&self, limit: usize) -> (usize, usize) {
        let size = |turn: &Turn| to_messages(turn).iter().map(|message| message.size(tokens::count)).sum();
        let sizes: Vec<usize> = self.turns.iter().map(size).collect();
        let total: usize = sizes.iter().sum();
        let room = if total <= limit { limit } else { limit * 3 / 4 };
        let (mut first, mut used) = (self.turns.len(), 0);
        while first > 0 && used + sizes[first - 1] <= room {
            first -= 1;
            used += sizes[first];
        }
        (first, used)
    }

    /// Returns the latest summary of earlier turns.
    pub(crate) fn find_condensed(&self) -> Option<&Condensed> {
        self.turns.iter().rev().find_map(|turn| turn.answered.condensed.as_ref())
    }

    /// Returns the turns that are not sent in full within `limit` tokens and that the summary `known` does not include, with that summary;
    /// `None` while there are few.
    pub(crate) fn list_unsummarised(&self, limit: u32, known: Option<&Condensed>) -> Option<Unsummarised> {
        let (first, _) = self.find_first_in_full(limit as usize);
        let before = known.map_or(0, |known| known.turns as usize);
        if first < before + MIN_CONDENSED_TURNS {
            return None;
        }
        let mut text = known.map(|known| known.text.clone()).unwrap_or_default();
        for turn in &self.turns[before..first] {
            for message in to_messages(turn) {
                if let Message::User { text: said } | Message::Assistant { text: said, .. } = message {
                    text.push_str(&format!("\n\n{said}"));
                }
            }
        }
        // The latest turns are the most relevant ones.
        let most = MAX_MATERIAL_BYTES.min(limit as usize * MATERIAL_BYTES_PER_TOKEN);
        let begin = text.ceil_char_boundary(text.len().saturating_sub(most));
        Some(Unsummarised { turns: u32::try_from(first).unwrap_or(u32::MAX), text: text.split_off(begin) })
    }

    /// Summarises the first turns: the summary `condensed`, and one line for each turn after it; the latest lines are kept first.
    fn summary(&self, turns: usize, room: usize, condensed: Option<&Condensed>) -> String {
        const HEAD: &str = "Earlier in this conversation (get_previous_results returns a result by its id):";
        let mut used = tokens::count(HEAD) + 40;
        let known = condensed
            .map(|known| (known.turns as usize, known.text.as_str(), tokens::count(&known.text)))
            .filter(|(count, _, size)| *count <= turns && used + size <= room);
        let (begin, text) = known.map_or((0, ""), |(count, text, _)| (count, text));
        used += known.map_or(0, |(_, _, size)| size);
        let mut lines: Vec<String> = Vec::new();
        for turn in self.turns[begin..turns].iter().rev() {
            let line = line(turn);
            used += tokens::count(&line) + 1;
            if used > room {
                break;
            }
            lines.push(line);
        }
        let left = turns - begin - lines.len();
        lines.reverse();
        if left > 0 {
            lines.insert(0, format!("- {left} earlier turns; get_previous_results lists their results"));
        }
        if !text.is_empty() {
            lines.insert(0, text.to_owned());
        }
        format!("{HEAD}\n{}", lines.join("\n"))
    }

    /// Returns the last turn in the form that the built-in planner uses.
    pub(crate) fn previous(&self) -> Option<PreviousTurn> {
        self.turns.last().map(to_previous)
    }

    /// Returns the last turn that was answered, in the same form.
    pub(crate) fn last_answered(&self) -> Option<PreviousTurn> {
        let is_answered = |turn: &&Turn| turn.answered.status != AnswerStatus::Unanswered;
        self.turns.iter().rev().find(is_answered).map(to_previous)
    }

    /// Returns the successful queries of the session, with the ids by which later turns cite them: `t2.Q1`.
    pub(crate) fn list_queries(&self) -> Vec<DataQuestion> {
        let of_turn = |turn: &Turn| -> Vec<DataQuestion> {
            let with_rows = turn.answered.questions.iter().filter(|one| one.error.is_none());
            with_rows.map(|one| DataQuestion { id: format!("t{}.{}", turn.number, one.id), ..one.clone() }).collect()
        };
        self.turns.iter().flat_map(of_turn).collect()
    }

    /// Returns these queries without repetitions, for `get_previous_results`.
    pub(crate) fn results(&self) -> Vec<DataQuestion> {
        let own = self.list_queries().into_iter().filter(|one| one.reused.is_none());
        own.map(|one| DataQuestion { verified: None, ..one }).collect()
    }
}

fn to_previous(turn: &Turn) -> PreviousTurn {
    let Answered { question, answer, questions, .. } = &turn.answered;
    let has_data = questions.iter().any(|question| question.error.is_none());
    PreviousTurn { question: question.clone(), answer: answer.clone(), has_data }
}

/// Returns a turn as messages: the question, and the answer with the session ids of its results.
fn to_messages(turn: &Turn) -> [Message; 2] {
    let answered = &turn.answered;
    let mut text: String = answered.answer.chars().take(MAX_ANSWER_CHARS).collect();
    let results: Vec<String> = (answered.questions.iter().filter(|one| one.error.is_none()))
        .map(|one| {
            let id = one.reused.clone().unwrap_or_else(|| format!("t{}.{}", turn.number, one.id));
            format!("{} is {id} ({} rows)", one.id, one.rows.len())
        })
        .collect();
    if !results.is_empty() {
        text.push_str(&format!("\n(Results: {})", results.join(", ")));
    }
    if text.trim().is_empty() {
        text = format!("(no answer: {})", answered.ended.reason());
    }
    [Message::User { text: answered.question.clone() }, Message::Assistant { text, calls: Vec::new() }]
}

fn line(turn: &Turn) -> String {
    let cut = |text: &str| -> String {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let short: String = first.chars().take(MAX_LINE_CHARS).collect();
        if short.len() < first.len() { format!("{short}…") } else { short }
    };
    let ids: Vec<String> = (turn.answered.questions.iter())
        .filter(|one| one.error.is_none() && one.reused.is_none())
        .map(|one| format!("t{}.{}", turn.number, one.id))
        .collect();
    let ids = if ids.is_empty() { String::new() } else { format!(" ({})", ids.join(", ")) };
    format!("- turn {}: {} -> {}{ids}", turn.number, cut(&turn.answered.question), cut(&turn.answered.answer))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::DataQuestion;

    fn answered(n: u32) -> Answered {
        let question = DataQuestion {
            id: "Q1".into(),
            question: format!("what {n}"),
            sql: "SELECT 1".into(),
            columns: vec!["n".into()],
            rows: vec![vec![json!(n)]],
            ..DataQuestion::default()
        };
        Answered {
            question: format!("Question number {n}?"),
            answer: format!("It is {n} [Q1]. {}", "And so on. ".repeat(60)),
            questions: vec![question],
            ..Answered::default()
        }
    }

    /// Checks the history of a session within a token limit, of which `whole` turns are in full.
    async fn check(turns: u32, limit: u32, whole: usize) -> Vec<Message> {
        let mut session = Session::unkept();
        for n in 1..=turns {
            session.keep(&answered(n), Vec::new()).await.unwrap();
        }
        let history = session.history(limit, None);
        let size: usize = history.iter().map(|message| message.size(tokens::count)).sum();
        assert!(size <= limit as usize, "{size} > {limit}");
        let in_full = history.iter().filter(|message| matches!(message, Message::User { text } if text.ends_with('?')));
        assert_eq!(in_full.count(), whole);
        history
    }

    #[tokio::test]
    async fn keeps_latest_turns_in_full() {
        assert!(check(0, 1_000, 0).await.is_empty());
        assert_eq!(check(3, 2_000, 3).await.len(), 6);
        let history = check(50, 3_000, 8).await;
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.contains("turn 42: Question number 42? -> It is 42 [Q1].") && text.contains("(t42.Q1)"), "{text}");
        assert!(text.contains("earlier turns"), "{text}");
    }

    #[tokio::test]
    async fn earlier_turns_are_summarised() {
        let mut session = Session::unkept();
        for n in 1..=50 {
            session.keep(&answered(n), Vec::new()).await.unwrap();
        }
        assert!(session.list_unsummarised(1_000_000, None).is_none(), "all turns are in full");
        let pending = session.list_unsummarised(3_000, None).unwrap();
        assert!(pending.turns == 42 && pending.text.contains("It is 42 [Q1].") && pending.text.contains("t42.Q1"));
        assert!(pending.text.len() <= MAX_MATERIAL_BYTES);
        let condensed = Condensed { turns: 42, text: "It was about numbers (t1.Q1 to t42.Q1).".into() };
        assert!(session.list_unsummarised(3_000, Some(&condensed)).is_none());
        let history = session.history(3_000, Some(&condensed));
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.ends_with(&condensed.text), "{text}");
        session.keep(&Answered { condensed: Some(condensed.clone()), ..answered(51) }, Vec::new()).await.unwrap();
        assert_eq!(session.find_condensed(), Some(&condensed));
        // The turn after the summary is in a line.
        let history = session.history(3_000, Some(&condensed));
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.contains(&condensed.text) && text.contains("turn 43:") && !text.contains("turn 42:"), "{text}");
    }

    #[tokio::test]
    async fn stores_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let call = prospector_llm::message::ToolCall { id: "1".into(), name: "think".into(), arguments: json!({}) };
        let messages = vec![
            Message::User { text: "Question number 1?".into() },
            Message::Assistant { text: String::new(), calls: vec![call] },
        ];
        for n in 1..=2 {
            let mut session = Session::open(folder.path(), &Owner::local(), "mine").await.unwrap();
            assert_eq!(session.turns().len(), n - 1);
            session.keep(&answered(n as u32), messages.clone()).await.unwrap();
        }
        let session = Session::open(folder.path(), &Owner::local(), "mine").await.unwrap();
        assert_eq!(session.turns()[0].messages, messages);
        assert_eq!(session.turns()[1].answered, answered(2));
        assert_eq!(session.results()[1].id, "t2.Q1");
        assert!(Session::open(folder.path(), &Owner::local(), "other").await.unwrap().turns().is_empty());
        let local = Owner::local();
        let kept = Session::list(folder.path(), &local).await.unwrap();
        assert_eq!(
            (kept[0].name.as_str(), kept[0].turns, kept[0].question.as_str()),
            ("mine", 2, "Question number 1?")
        );
        assert!(Session::rename(folder.path(), &local, "mine", "yours").await.unwrap());
        assert!(!Session::rename(folder.path(), &local, "mine", "ours").await.unwrap(), "it was renamed");
        assert!(!Session::rename(folder.path(), &local, "yours", "yours").await.unwrap(), "the name is taken");
        assert!(!Session::remove(folder.path(), &Owner::new("0a", "ann"), "yours").await.unwrap(), "it is not hers");
        assert!(Session::remove(folder.path(), &local, "yours").await.unwrap());
        assert!(Session::list(folder.path(), &local).await.unwrap().is_empty());
        #[cfg(unix)]
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            use std::os::unix::fs::PermissionsExt;
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        }
    }

    #[tokio::test]
    async fn sessions_are_separate_per_owner() {
        let folder = tempfile::tempdir().unwrap();
        let (ann, ben) = (Owner::new("0a", "ann"), Owner::new("0b", "ben"));
        let open = async |owner: &Owner| Session::open(folder.path(), owner, "mine").await.unwrap();
        open(&ann).await.keep(&answered(1), Vec::new()).await.unwrap();
        assert!(open(&ben).await.turns().is_empty() && open(&Owner::local()).await.turns().is_empty());
        open(&ben).await.keep(&answered(2), Vec::new()).await.unwrap();
        assert_eq!(open(&ann).await.turns()[0].answered, answered(1));
        assert_eq!(open(&ben).await.turns()[0].answered, answered(2));
        for (owner, count) in [(&ann, 1), (&ben, 1), (&Owner::local(), 0)] {
            assert_eq!(Session::list(folder.path(), owner).await.unwrap().len(), count);
        }
    }

    #[tokio::test]
    async fn reports_damaged_file_and_keeps_it() {
        let good = tempfile::tempdir().unwrap();
        Session::check_store(good.path()).await.unwrap();
        Session::open(good.path(), &Owner::local(), "mine")
            .await
            .unwrap()
            .keep(&answered(1), Vec::new())
            .await
            .unwrap();
        Session::check_store(good.path()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.sqlite");
        std::fs::write(&path, "this is no database, whatever its name says".repeat(100)).unwrap();
        for error in [
            Session::open(folder.path(), &Owner::local(), "mine").await.unwrap_err(),
            Session::list(folder.path(), &Owner::local()).await.unwrap_err(),
            Session::check_store(folder.path()).await.unwrap_err(),
        ] {
            assert!(error.to_string().contains("sessions.sqlite: the session store is damaged"), "{error}");
        }
        assert!(std::fs::read(&path).unwrap().starts_with(b"this is no database"));
    }

    #[tokio::test]
    async fn sessions_without_owner_belong_to_local_user() {
        use sqlx::ConnectOptions;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.sqlite");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut old = options.connect().await.unwrap();
        sqlx::raw_sql(
            "CREATE TABLE turns (
                 session TEXT NOT NULL, number INTEGER NOT NULL, recorded_at TEXT NOT NULL DEFAULT (datetime('now')),
                 question TEXT NOT NULL, answered TEXT NOT NULL, messages TEXT NOT NULL, PRIMARY KEY (session, number));
             PRAGMA application_id = 1347642739; PRAGMA user_version = 1;",
        )
        .execute(&mut old)
        .await
        .unwrap();
        sqlx::query("INSERT INTO turns VALUES ('mine', 1, '2026-01-01 00:00:00', 'q', ?, '[]')")
            .bind(serde_json::to_string(&answered(1)).unwrap())
            .execute(&mut old)
            .await
            .unwrap();
        sqlx::Connection::close(old).await.unwrap();
        let session = Session::open(folder.path(), &Owner::local(), "mine").await.unwrap();
        assert_eq!(session.turns()[0].answered, answered(1));
        let other = Session::open(folder.path(), &Owner::new("0a", "ann"), "mine").await.unwrap();
        assert!(other.turns().is_empty());
    }
}
