//! What the words of a request say of what is wanted, whatever it is about: whether a change is asked for, and which words are
//! about nothing in a catalog.

mod changes;

pub use changes::{Change, asks_for_change, change_of, list_changes};

use crate::{
    periods::{self, is_time_word},
    stop_words,
};

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
    // What is converted or summed is what something is worth.
    "worth",
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

/// Words that join what is said, and say nothing themselves.
const CONNECTIVES: &[&str] = &[
    "although",
    "though",
    "because",
    "unless",
    "whereas",
    "while",
    "despite",
    "instead",
    "however",
    "therefore",
    "otherwise",
    "except",
    "besides",
    "nor",
    "yet",
    "even",
    "through",
    "throughout",
    "onto",
    "via",
    "toward",
    "towards",
    "away",
    "anybody",
    "somebody",
    "everybody",
    "nobody",
];

/// Words that deny what follows, without their apostrophe: people leave it out.
const DENIALS: &[&str] = &[
    "isnt", "arent", "wasnt", "werent", "aint", "dont", "doesnt", "didnt", "hasnt", "havent", "hadnt", "cant",
    "cannot", "couldnt", "wont", "wouldnt", "shouldnt", "mustnt", "mightnt", "neednt", "shant",
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

/// Whether a lower-case word says nothing of what a question is about.
pub fn is_about_nothing(word: &str) -> bool {
    let lists = [
        stop_words::OF_QUERIES,
        stop_words::OF_TABLE_QUERIES,
        stop_words::OF_TERMS,
        LIGHT_VERBS,
        ASKING,
        OF_CATALOGS,
        CONNECTIVES,
    ];
    let is_listed = |word: &str| lists.iter().any(|list| list.contains(&word)) || is_time_word(word) || word.len() < 2;
    is_listed(word) || denies(word) || is_listed(strip_ending(word))
}

/// Whether a lower-case word denies what follows: `isn't`, `cannot`.
///
/// ```
/// use prospector_text::requests::denies;
///
/// assert!(denies("haven't") && denies("didn’t") && denies("cannot"));
/// assert!(!denies("tent"));
/// ```
pub fn denies(word: &str) -> bool {
    DENIALS.contains(&word.replace(APOSTROPHES, "").as_str())
}

/// Whether a text denies something: `Nothing here books flights`, `It isn't open`.
///
/// ```
/// use prospector_text::requests::is_denied;
///
/// assert!(is_denied("No operation cancels orders") && is_denied("It can't be changed"));
/// assert!(!is_denied("Which order is to be cancelled?"));
/// ```
pub fn is_denied(text: &str) -> bool {
    periods::words(text).iter().any(|word| {
        let lower = word.to_lowercase();
        NEGATIONS.contains(&lower.as_str()) || denies(&lower)
    })
}

/// Words that deny, beside those that are written together with a verb.
const NEGATIONS: &[&str] = &["no", "not", "none", "never", "nothing", "nobody", "nowhere", "without", "neither", "nor"];

const APOSTROPHES: [char; 2] = ['\'', '’'];

/// A lower-case word without what is written together with it: `they're` is `they`, `Ada's` is `Ada`.
pub fn strip_ending(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["s", "re", "ve", "ll", "d", "m"];
    match word.rsplit_once(APOSTROPHES) {
        Some((base, ending)) if ENDINGS.contains(&ending) => base,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_and_connectives_are_about_nothing() {
        for word in ["doesn't", "wouldn’t", "shouldnt", "they're", "who've", "although", "unless", "nobody"] {
            assert!(is_about_nothing(word), "{word}");
        }
        for word in ["tent", "o'hara", "plant", "invoice's"] {
            assert!(!is_about_nothing(word), "{word}");
        }
    }
}
