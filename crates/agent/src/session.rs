//! A conversation of several turns: what is told of the earlier ones, and where they are kept.
//!
//! The current turn is told whole. Of older turns the question and the answer are told, without their tool calls and
//! results; when even that is too long, the oldest become one line each, and at last only their number. Every result keeps
//! an id (`t2.Q1`: the first query of the second turn), with which `get_previous_results` shows it again.

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
    earlier::EarlierResult,
};

/// Characters of a turn's question and of its answer in its line.
const MAX_LINE_CHARS: usize = 120;
/// A longer answer is cut when it is told again, in characters.
const MAX_ANSWER_CHARS: usize = 6_000;

/// So many turns at least are summarised at once, and so many bytes of them at most; where there is little room, so many for
/// each token of it.
const MIN_CONDENSED_TURNS: usize = 3;
const MAX_MATERIAL_BYTES: usize = 40_000;
const MATERIAL_BYTES_PER_TOKEN: usize = 3;

/// Turns that are to be summarised.
pub(crate) struct Untold {
    /// How many turns, from the first.
    pub(crate) turns: u32,
    /// What is known of them.
    pub(crate) text: String,
}

/// A conversation that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptSession {
    /// Its name.
    #[serde(rename = "session")]
    pub name: String,
    /// How many turns it has.
    pub turns: u32,
    /// What was asked first.
    pub question: String,
    /// When its last turn was kept, in UTC.
    pub latest: String,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Which turn, from 1.
    pub number: u32,
    /// The answer, with the question and the rows.
    pub answered: Answered,
    /// What was said in the run, tool calls and results included.
    pub messages: Vec<Message>,
}

/// A conversation: its turns, and where it is kept.
#[derive(Debug)]
pub struct Session {
    name: String,
    turns: Vec<Turn>,
    store: Option<Store>,
}

impl Session {
    /// A conversation that is kept nowhere.
    pub fn unkept() -> Self {
        Session { name: String::new(), turns: Vec::new(), store: None }
    }

    /// The conversation of that name and that owner, from `sessions.sqlite` in the state folder; a new one where there is
    /// none yet. Two owners may use one name: each has a conversation of their own.
    ///
    /// # Errors
    /// [`SessionError`] when the file cannot be read, or is something else.
    pub async fn open(state: &Path, owner: &Owner, name: &str) -> Result<Self, SessionError> {
        let store = Store::open(state, owner).await?;
        let turns = store.turns(name).await?;
        Ok(Session { name: name.to_owned(), turns, store: Some(store) })
    }

    /// This owner's conversations that are kept, the latest first.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn list(state: &Path, owner: &Owner) -> Result<Vec<KeptSession>, SessionError> {
        if !Store::exists(state) { Ok(Vec::new()) } else { Store::open(state, owner).await?.names().await }
    }

    /// Forgets a conversation of this owner; whether there was one.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn remove(state: &Path, owner: &Owner, name: &str) -> Result<bool, SessionError> {
        if !Store::exists(state) { Ok(false) } else { Store::open(state, owner).await?.remove(name).await }
    }

    /// Gives a conversation of this owner another name; whether there was one, and none of that name.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub async fn rename(state: &Path, owner: &Owner, from: &str, to: &str) -> Result<bool, SessionError> {
        if !Store::exists(state) { Ok(false) } else { Store::open(state, owner).await?.rename(from, to).await }
    }

    /// Reads the whole file of conversations in a state folder, where there is one.
    ///
    /// # Errors
    /// [`SessionError`] where it is damaged or cannot be read.
    pub async fn check_store(state: &Path) -> Result<(), SessionError> {
        if !Store::exists(state) { Ok(()) } else { Store::check(state).await }
    }

    /// Its name; empty where it is kept nowhere.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The turns, the first one first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the mode of a question that says none: that of the turn which it repeats, or that of its trigger phrases.
    pub fn mode(&self, question: &str) -> Mode {
        let redo = self.turns.last().and_then(|turn| Mode::of_redo(question, turn.answered.mode));
        redo.unwrap_or_else(|| Mode::of(question))
    }

    /// Adds a turn, and keeps it.
    ///
    /// # Errors
    /// [`SessionError`] when it cannot be written; the turn is there all the same.
    pub async fn keep(&mut self, answered: &Answered, messages: Vec<Message>) -> Result<(), SessionError> {
        let number = u32::try_from(self.turns.len() + 1).unwrap_or(u32::MAX);
        self.turns.push(Turn { number, answered: answered.clone(), messages });
        match (&self.store, self.turns.last()) {
            (Some(store), Some(turn)) => store.keep(&self.name, turn).await,
            _ => Ok(()),
        }
    }

    /// What a model is told of the turns so far, within `limit` tokens (o200k); `condensed` says what the first of them were
    /// about, where they are not told whole.
    pub fn history(&self, limit: u32, condensed: Option<&Condensed>) -> Vec<Message> {
        let limit = limit as usize;
        let (first, used) = self.first_whole(limit);
        let mut messages = Vec::new();
        if first > 0 {
            messages.push(Message::User { text: self.summary(first, limit - used.min(limit), condensed) });
            messages.push(Message::Assistant { text: "I know.".into(), calls: Vec::new() });
        }
        messages.extend(self.turns[first..].iter().flat_map(retell));
        messages
    }

    /// The place of the first turn that is told whole, and the tokens of those that are: the latest ones, as many as leave a
    /// quarter for the others.
    fn first_whole(&self, limit: usize) -> (usize, usize) {
        let size = |turn: &Turn| retell(turn).iter().map(|message| message.size(tokens::count)).sum();
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

    /// What the turns so far say of those before them.
    pub(crate) fn find_condensed(&self) -> Option<&Condensed> {
        self.turns.iter().rev().find_map(|turn| turn.answered.condensed.as_ref())
    }

    /// The turns that are not told whole within `limit` tokens and that `known` does not hold, with it; none while they are
    /// few.
    pub(crate) fn list_untold(&self, limit: u32, known: Option<&Condensed>) -> Option<Untold> {
        let (first, _) = self.first_whole(limit as usize);
        let before = known.map_or(0, |known| known.turns as usize);
        if first < before + MIN_CONDENSED_TURNS {
            return None;
        }
        let mut text = known.map(|known| known.text.clone()).unwrap_or_default();
        for turn in &self.turns[before..first] {
            for message in retell(turn) {
                if let Message::User { text: said } | Message::Assistant { text: said, .. } = message {
                    text.push_str(&format!("\n\n{said}"));
                }
            }
        }
        // Of too much, the end is nearer to what will be asked.
        let most = MAX_MATERIAL_BYTES.min(limit as usize * MATERIAL_BYTES_PER_TOKEN);
        let begin = text.ceil_char_boundary(text.len().saturating_sub(most));
        Some(Untold { turns: u32::try_from(first).unwrap_or(u32::MAX), text: text.split_off(begin) })
    }

    /// The first turns: what `condensed` says of them, and those after it in one line each, the latest of them first to be
    /// kept.
    fn summary(&self, turns: usize, room: usize, condensed: Option<&Condensed>) -> String {
        const HEAD: &str = "Earlier in this conversation (get_previous_results shows a result by its id):";
        let mut used = tokens::count(HEAD) + 40;
        let told = condensed
            .map(|told| (told.turns as usize, told.text.as_str(), tokens::count(&told.text)))
            .filter(|(told, _, size)| *told <= turns && used + size <= room);
        let (begin, text) = told.map_or((0, ""), |(told, text, _)| (told, text));
        used += told.map_or(0, |(_, _, size)| size);
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
            lines.insert(0, format!("- {left} turns before these; get_previous_results lists their results"));
        }
        if !text.is_empty() {
            lines.insert(0, text.to_owned());
        }
        format!("{HEAD}\n{}", lines.join("\n"))
    }

    /// The last turn, as a program that plays the model reads it.
    pub(crate) fn previous(&self) -> Option<PreviousTurn> {
        let answered = &self.turns.last()?.answered;
        Some(PreviousTurn {
            question: answered.question.clone(),
            answer: answered.answer.clone(),
            has_data: answered.questions.iter().any(|question| question.error.is_none()),
        })
    }

    /// Every query of the session that gave rows, under the id that a later turn cites it by: `t2.Q1`.
    pub(crate) fn list_queries(&self) -> Vec<DataQuestion> {
        let of_turn = |turn: &Turn| -> Vec<DataQuestion> {
            let with_rows = turn.answered.questions.iter().filter(|one| one.error.is_none());
            with_rows.map(|one| DataQuestion { id: format!("t{}.{}", turn.number, one.id), ..one.clone() }).collect()
        };
        self.turns.iter().flat_map(of_turn).collect()
    }

    /// Every result of the session, oldest first, each with an id of its own.
    pub(crate) fn results(&self) -> Vec<EarlierResult> {
        let of_turn = |turn: &Turn| -> Vec<EarlierResult> {
            let shown = turn.answered.questions.iter().filter(|one| one.error.is_none() && one.reused.is_none());
            let result = |one: &DataQuestion| EarlierResult {
                title: one.title.clone(),
                units: one.units.clone(),
                warnings: one.warnings.clone(),
                id: format!("t{}.{}", turn.number, one.id),
                question: one.question.clone(),
                sql: one.sql.clone(),
                databases: one.databases.clone(),
                columns: one.columns.clone(),
                rows: one.rows.clone(),
                has_more: one.has_more,
                database: one.database.clone(),
            };
            shown.map(result).collect()
        };
        self.turns.iter().flat_map(of_turn).collect()
    }
}

/// A turn as it is told again: question and answer, and the ids of its results in place of the numbers.
fn retell(turn: &Turn) -> [Message; 2] {
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

    /// A session of so many turns, told within the limit.
    async fn check(turns: u32, limit: u32, whole: usize) -> Vec<Message> {
        let mut session = Session::unkept();
        for n in 1..=turns {
            session.keep(&answered(n), Vec::new()).await.unwrap();
        }
        let history = session.history(limit, None);
        let size: usize = history.iter().map(|message| message.size(tokens::count)).sum();
        assert!(size <= limit as usize, "{size} > {limit}");
        let told = history.iter().filter(|message| matches!(message, Message::User { text } if text.ends_with('?')));
        assert_eq!(told.count(), whole);
        history
    }

    #[tokio::test]
    async fn what_fits_is_told_and_the_rest_in_lines() {
        assert!(check(0, 1_000, 0).await.is_empty());
        assert_eq!(check(3, 2_000, 3).await.len(), 6);
        let history = check(50, 3_000, 8).await;
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.contains("turn 42: Question number 42? -> It is 42 [Q1].") && text.contains("(t42.Q1)"), "{text}");
        assert!(text.contains("turns before these"), "{text}");
    }

    #[tokio::test]
    async fn turns_that_are_too_long_are_told_as_a_model_put_them() {
        let mut session = Session::unkept();
        for n in 1..=50 {
            session.keep(&answered(n), Vec::new()).await.unwrap();
        }
        assert!(session.list_untold(1_000_000, None).is_none(), "all of it is told whole");
        let untold = session.list_untold(3_000, None).unwrap();
        assert!(untold.turns == 42 && untold.text.contains("It is 42 [Q1].") && untold.text.contains("t42.Q1"));
        assert!(untold.text.len() <= MAX_MATERIAL_BYTES);
        let told = Condensed { turns: 42, text: "It was about numbers (t1.Q1 to t42.Q1).".into() };
        assert!(session.list_untold(3_000, Some(&told)).is_none());
        let history = session.history(3_000, Some(&told));
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.ends_with(&told.text), "{text}");
        session.keep(&Answered { condensed: Some(told.clone()), ..answered(51) }, Vec::new()).await.unwrap();
        assert_eq!(session.find_condensed(), Some(&told));
        // A turn after those stands in a line.
        let history = session.history(3_000, Some(&told));
        let Message::User { text } = &history[0] else { panic!("no summary") };
        assert!(text.contains(&told.text) && text.contains("turn 43:") && !text.contains("turn 42:"), "{text}");
    }

    #[tokio::test]
    async fn a_session_is_there_again_with_everything() {
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
        assert!(!Session::rename(folder.path(), &local, "mine", "ours").await.unwrap(), "it is not there any more");
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
    async fn a_session_belongs_to_its_owner() {
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
    async fn a_damaged_file_is_named_and_kept() {
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
            assert!(matches!(error, SessionError::Damaged { .. }), "{error:?}");
            assert!(error.to_string().contains("sessions.sqlite are damaged"), "{error}");
        }
        assert!(std::fs::read(&path).unwrap().starts_with(b"this is no database"));
    }

    #[tokio::test]
    async fn what_was_kept_before_there_were_owners_is_the_local_users() {
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
