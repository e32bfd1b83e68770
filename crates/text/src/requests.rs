//! What the words of a request say of what is wanted, whatever it is about: whether a change is asked for, and which words are
//! about nothing in a catalog.

use crate::{periods::is_time_word, stop_words};

/// Verbs that say of what is asked no more than that it is, was done or is had.
const LIGHT_VERBS: &[&str] = &[
    "bring",
    "brings",
    "brought",
    "take",
    "takes",
    "took",
    "taken",
    "make",
    "makes",
    "made",
    "get",
    "gets",
    "got",
    "go",
    "goes",
    "went",
    "come",
    "comes",
    "came",
    "happen",
    "happens",
    "happened",
    "need",
    "needs",
    "want",
    "wants",
    "know",
    "look",
    "looks",
    "sound",
    "sounds",
    "seem",
    "seems",
    "like",
    "say",
    "says",
    "think",
    "leave",
    "leaves",
    "left",
    "keep",
    "kept",
    "exist",
    "exists",
    "belong",
    "belongs",
    "earn",
    "earns",
    "earned",
    "develop",
    "develops",
    "developed",
    "evolve",
    "evolved",
    "change",
    "changed",
    "changes",
    "move",
    "moved",
    "grow",
    "grew",
    "grown",
    "did",
    "done",
    "doing",
    "being",
    "having",
    "use",
    "used",
    "using",
    "let",
    "help",
    "work",
    "works",
    "want",
    "would",
    "may",
    "might",
    "must",
    "fall",
    "falls",
    "fell",
    "hold",
    "holds",
    "held",
    "whether",
    "right",
    "according",
    "documentation",
];

/// Verbs and nouns of asking and of analysis.
const ASKING: &[&str] = &[
    "compare",
    "compared",
    "compares",
    "comparison",
    "analyse",
    "analyze",
    "analysis",
    "explain",
    "describe",
    "prepare",
    "write",
    "draft",
    "convert",
    "converted",
    "track",
    "follow",
    "check",
    "see",
    "question",
    "answer",
    "difference",
    "differences",
    "true",
    "false",
    "really",
    "breakdown",
    "break",
    "broken",
    "down",
    "split",
    "group",
    "grouped",
    "share",
    "overview",
    "summary",
    "summarise",
    "summarize",
    "across",
    "versus",
    "vs",
    "against",
    "than",
    "often",
    "never",
    "ever",
    "always",
    "usually",
    "currently",
    "common",
    "commonly",
    "main",
    "mainly",
    "either",
    "unique",
    "likely",
    "specific",
    "particular",
    "corresponding",
    "respective",
    "respectively",
    "located",
    "hey",
    "hi",
    "hello",
    "thanks",
    "still",
    "already",
    "yet",
    "long",
    "far",
    "fast",
    "soon",
    "time",
    "times",
    "period",
    "anything",
    "something",
    "nothing",
    "everything",
    "anyone",
    "someone",
    "everyone",
    "ones",
    "others",
    "rest",
    "kind",
    "kinds",
    "type",
    "types",
    "best",
    "worst",
    "better",
    "worse",
    "good",
    "bad",
    "big",
    "bigger",
    "biggest",
    "small",
    "smaller",
    "large",
    "larger",
    "high",
    "higher",
    "low",
    "lower",
    "less",
    "fewer",
    "few",
    "long",
    "longer",
    "longest",
    "short",
    "shorter",
    "shortest",
    "per",
    "by",
    "without",
    "please",
    "due",
    "out",
    "off",
    "back",
    "here",
    "six",
    "seven",
    "eight",
    "nine",
    "least",
    "until",
    "since",
    "before",
    "after",
    "during",
    "last",
    "next",
    "previous",
    "current",
    "full",
    "forecast",
    "predict",
    "similar",
    "own",
    "new",
    "old",
    "early",
    "late",
];

/// Words for the parts of any catalog.
const OF_CATALOGS: &[&str] = &[
    "table",
    "tables",
    "column",
    "columns",
    "field",
    "fields",
    "row",
    "rows",
    "record",
    "records",
    "database",
    "databases",
    "data",
    "dataset",
    "file",
    "files",
    "schema",
    "api",
    "operation",
    "figure",
    "figures",
    "amount",
    "amounts",
];

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
    "refund", "move", "transfer", "archive", "close", "report",
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

/// Whether a lower-case word says nothing of what a question is about.
pub fn is_about_nothing(word: &str) -> bool {
    [stop_words::OF_QUERIES, stop_words::OF_TABLE_QUERIES, stop_words::OF_TERMS, LIGHT_VERBS, ASKING, OF_CATALOGS]
        .iter()
        .any(|list| list.contains(&word))
        || is_time_word(word)
        || word.len() < 2
}

/// Whether a request asks for something to be changed: it begins with a verb of changing, in the form of a command.
///
/// ```
/// use prospector_text::requests::asks_for_change;
///
/// assert!(asks_for_change("Please cancel order 1234"));
/// assert!(asks_for_change("Can you open a ticket for Ada?"));
/// assert!(!asks_for_change("Open tickets by agent"));
/// assert!(!asks_for_change("How many orders were cancelled?"));
/// ```
pub fn asks_for_change(request: &str) -> bool {
    let mut sentences = request.split(['.', '!', '?', ';', '\n']).take(MAX_SENTENCES);
    sentences.any(|sentence| begins_with_change(sentence) || goes_on_with_change(sentence))
}

/// `.. and report it`: after what is found out, something is done to it.
fn goes_on_with_change(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    lower.split(" and ").skip(1).any(|clause| {
        let mut words = clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let (Some(verb), Some(object)) = (words.next(), words.next()) else { return false };
        let changes = CHANGES.contains(&verb) || CHANGES_OF_SOMETHING.contains(&verb) || verb == "report";
        changes && matches!(object, "it" | "them")
    })
}

/// So many sentences of a request are looked at.
const MAX_SENTENCES: usize = 20;

fn begins_with_change(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
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
    let mut rest = words.as_slice();
    while let Some(opening) = OPENINGS.iter().find(|opening| rest.starts_with(opening)) {
        rest = &rest[opening.len()..];
    }
    match rest {
        [verb, ..] if CHANGES.contains(verb) => true,
        [verb, next, ..] if CHANGES_OF_SOMETHING.contains(verb) => {
            DETERMINERS.contains(next) || next.chars().all(|c| c.is_ascii_digit())
        }
        _ => false,
    }
}
