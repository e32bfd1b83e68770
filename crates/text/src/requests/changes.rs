//! Whether a request asks for something to be changed, and by which verbs.

/// Verbs that ask for a change, wherever a request begins with them.
const CHANGES: &[&str] = &[
    "create",
    "add",
    "insert",
    "send",
    "modify",
    "rename",
    "cancel",
    "delete",
    "remove",
    "erase",
    "submit",
    "apply",
    "assign",
    "approve",
    "reject",
    "redeem",
    "upload",
    "publish",
    "save",
    "clear",
    "merge",
    "subscribe",
    "unsubscribe",
    "invite",
    "activate",
    "deactivate",
    "enable",
    "disable",
    "reschedule",
    "restore",
];

/// Of these only where an article or the like follows: each is a noun or an adjective too.
const CHANGES_OF_SOMETHING: &[&str] = &[
    "open", "order", "request", "record", "rate", "book", "set", "post", "put", "charge", "place", "start", "stop",
    "issue", "update", "change", "edit", "register", "reset", "block", "reserve", "schedule", "pay", "buy", "generate",
    "refund", "move", "transfer", "archive", "close", "report", "raise", "increase", "decrease", "reduce", "lower",
    "mark", "attach", "pin", "pause", "resume", "deploy", "install", "revoke", "lock", "unlock",
];

/// Verbs of sending something to somebody, where who it is follows: each is a noun too.
const SENDING: &[&str] = &["email", "mail", "notify", "message", "remind", "text", "forward", "alert", "inform"];

/// Whom something is sent to, beside what a determiner begins.
const RECIPIENTS: &[&str] = &["everybody", "everyone", "them", "him", "her", "me", "us"];

/// Words that a clause begins with which says when or for what, before what is to be done.
const LEADS: &[&str] =
    &["for", "when", "whenever", "if", "after", "once", "as", "in", "with", "before", "until", "from", "on"];

/// Of these a later clause may say how rows are shown, and asks for no change: `.. and order the rest by name`.
const OF_PRESENTATION: &[&str] = &["order", "rate", "set", "report", "start", "stop", "mark"];

/// Verbs that a request begins with which asks for something to be found or made out.
const FINDING: &[&str] = &[
    "find",
    "show",
    "get",
    "list",
    "tell",
    "search",
    "look",
    "check",
    "fetch",
    "give",
    "read",
    "pull",
    "collect",
    "compare",
    "calculate",
    "compute",
    "count",
    "summarize",
    "summarise",
    "translate",
    "convert",
    "detect",
    "take",
    "identify",
    "determine",
    "pick",
    "choose",
    "select",
    "see",
    "make",
    "write",
    "draft",
    "prepare",
    "download",
    "analyze",
    "analyse",
    "review",
    "go",
];

/// What a verb does to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is there afterwards.
    Make,
    /// It is gone afterwards.
    Remove,
}

impl Change {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Make => "make something",
            Change::Remove => "remove something",
        }
    }
}

/// What a lower-case verb does to a thing; `None` of any other word, and of verbs that change a thing which stays.
///
/// ```
/// use prospector_text::requests::{Change, change_of};
///
/// assert_eq!(change_of("delete"), Some(Change::Remove));
/// assert_eq!(change_of("generate"), Some(Change::Make));
/// assert_eq!(change_of("rename"), None);
/// ```
pub fn change_of(verb: &str) -> Option<Change> {
    const MAKES: [&str; 10] =
        ["create", "add", "insert", "generate", "issue", "open", "register", "subscribe", "upload", "publish"];
    const REMOVES: [&str; 9] =
        ["delete", "remove", "erase", "cancel", "revoke", "close", "unsubscribe", "destroy", "discard"];
    match verb {
        verb if MAKES.contains(&verb) => Some(Change::Make),
        verb if REMOVES.contains(&verb) => Some(Change::Remove),
        _ => None,
    }
}

const DETERMINERS: &[&str] = &["a", "an", "the", "my", "our", "this", "that", "these", "those", "all", "each", "every"];

/// Whether a request asks for something to be changed: it begins with a verb of changing, in the form of a command, or goes on
/// with one.
///
/// ```
/// use prospector_text::requests::asks_for_change;
///
/// assert!(asks_for_change("Please cancel order 1234"));
/// assert!(asks_for_change("Can you open a ticket for Ada?"));
/// assert!(asks_for_change("Look up the address and put a note into the file"));
/// assert!(!asks_for_change("Open tickets by agent"));
/// assert!(!asks_for_change("How many orders were cancelled?"));
/// assert!(!asks_for_change("Which roles can create and delete the folders?"));
/// ```
pub fn asks_for_change(request: &str) -> bool {
    !list_changes(request).is_empty()
}

/// The verbs, lower case, by which a request asks for something to be changed.
pub fn list_changes(request: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sentence in request.split(['.', '!', '?', ';', '\n']).take(MAX_SENTENCES) {
        let lower = sentence.to_lowercase();
        let mut clauses = drop_lead(&lower).split(" and ").map(split_words);
        let Some(first) = clauses.next() else { continue };
        let first = skip_openings(&first);
        found.extend(read_change(first));
        let begins = |list: &[&str]| first.first().is_some_and(|verb| list.contains(verb));
        // Only what is told to do something is told to do more: `who can create and delete ..` is about others.
        let is_command = begins(FINDING) || begins(CHANGES) || begins(CHANGES_OF_SOMETHING);
        let mut before = first.to_vec();
        for clause in clauses {
            let follows_verb = before.last().is_some_and(|last| CHANGES.contains(last) || change_of(last).is_some());
            found.extend(read_further_change(skip_openings(&clause), is_command && !follows_verb));
            before = clause;
        }
    }
    found
}

/// A sentence without what only says when or for what, where a verb of changing follows: `For every lead, create a task`.
fn drop_lead(sentence: &str) -> &str {
    let begins = sentence.split_whitespace().next().is_some_and(|word| LEADS.contains(&word));
    let rests = sentence.match_indices(", ").map(|(at, comma)| &sentence[at + comma.len()..]);
    let command = rests.filter(|_| begins).find(|rest| read_change(skip_openings(&split_words(rest))).is_some());
    command.unwrap_or(sentence)
}

/// So many sentences of a request are looked at.
const MAX_SENTENCES: usize = 20;

fn split_words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// The words after what a request is introduced by.
fn skip_openings<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    const OPENINGS: &[&[&str]] = &[
        &["can", "you"],
        &["could", "you"],
        &["would", "you"],
        &["i", "want", "to"],
        &["i", "want", "you", "to"],
        &["i", "would", "like", "to"],
        &["we", "need", "to"],
        &["i", "need", "to"],
        &["i", "d", "like", "to"],
        &["i", "have", "to"],
        &["help", "me"],
        &["let", "s"],
        &["please"],
        &["and"],
        &["also"],
        &["then"],
        &["additionally"],
        &["finally"],
        &["now"],
    ];
    let mut rest = words;
    while let Some(opening) = OPENINGS.iter().find(|opening| rest.starts_with(opening)) {
        rest = &rest[opening.len()..];
    }
    rest
}

fn begins_object(word: &str) -> bool {
    DETERMINERS.contains(&word) || word.chars().all(|c| c.is_ascii_digit())
}

/// The verb of changing that a request begins with.
fn read_change(words: &[&str]) -> Option<String> {
    let (verb, next) = (words.first()?, words.get(1));
    let sends = |next: &&str| SENDING.contains(verb) && (RECIPIENTS.contains(next) || begins_object(next));
    let is_change = CHANGES.contains(verb)
        || CHANGES_OF_SOMETHING.contains(verb) && next.is_some_and(|next| begins_object(next))
        || next.is_some_and(sends);
    is_change.then(|| (*verb).to_owned())
}

/// The verb of a clause after `and`: `.. and report it`; of a command also `.. and put a reminder into ..`. The object has to
/// be said, since `and` joins nouns too.
fn read_further_change(words: &[&str], of_command: bool) -> Option<String> {
    let (verb, object) = (words.first()?, words.get(1)?);
    let is_verb = [CHANGES, CHANGES_OF_SOMETHING, SENDING].iter().any(|verbs| verbs.contains(verb));
    let is_change =
        matches!(*object, "it" | "them") || (of_command && !OF_PRESENTATION.contains(verb) && begins_object(object));
    (is_verb && is_change).then(|| (*verb).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_after_and_asks_for_a_change_where_the_request_is_a_command() {
        let check = |request: &str, verbs: &[&str]| assert_eq!(list_changes(request), verbs, "{request}");
        check("Look up the opening hours and put a note into the shared calendar", &["put"]);
        check("Cancel the booking and open a case for the guest", &["cancel", "open"]);
        check("Find the draft and send it", &["send"]);
        check("Lower the rent of every flat in the old town", &["lower"]);
        check("Which roles can create and delete the folders?", &[]);
        check("List the add and remove events of a week", &[]);
        check("Group tickets by month and order the months by age", &[]);
        check("Show revenue and order the rest by name", &[]);
        check("What do members open and close the account for?", &[]);
        check("For every client without a visit, create a task", &["create"]);
        check("If the stock is low, please notify the buyer", &["notify"]);
        check("Email everybody whose plan ends", &["email"]);
        check("Email addresses of the members, sorted by name", &[]);
        check("In which year, by month, did members join?", &[]);
    }
}
