//! Words that names must not contain, because the field has a better term.

/// First words of constants that are limits, which must start with `MAX_` or `MIN_` instead.
pub(crate) const LIMITS: &[&str] = &["MOST", "LONGEST", "LARGEST", "FEWEST", "SHORTEST", "SMALLEST"];

/// Parts of constants, between underscores.
pub(crate) const CONSTANTS: &[&str] = &[
    "ACTED",
    "AWAKENING",
    "BREATH",
    "CERTAIN",
    "FAREWELL",
    "HELPFUL",
    "LAST_WORDS",
    "LIKELY",
    "NEARLY",
    "PATIENCE",
    "RAREST",
    "TELLING",
    "TOLD",
];

/// Names of types for which the field has another term.
pub(crate) const TYPES: &[&str] =
    &["Asked", "Desk", "Dialogue", "Kept", "Known", "Ran", "Said", "Seer", "Shelf", "Thing", "Things", "Told"];

/// Names of modules for which the field has another term; the first ones do not describe their contents.
pub(crate) const MODULES: &[&str] = &[
    "utils", "util", "common", "manager", "helper", "helpers", "misc", "asking", "counted", "economy", "halves",
    "heard", "kept", "known", "mend", "seer", "shelf", "shown", "things", "told", "wanted", "written",
];

/// Words and phrases in texts, comments and documents for which the field has a term: *reported* for `told`, *fix* for `mend`, *rebuild*
/// for `anew`, *clarification* for `asked back`, *the user* for `somebody`.
pub(crate) const DIALECT: &[&str] = &[
    "told",
    "tells",
    "mend",
    "mends",
    "mended",
    "anew",
    "asked back",
    "whoever",
    "somebody",
    "so many",
    "is none",
    "are none",
    "what there is",
    "costs only itself",
    "rests on",
    "has no counterpart",
    "told apart",
    "asks back",
    "sample estate",
];

/// Verbs that end like a participle.
const VERBS: &[&str] = &["embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"];

/// Participles that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "asked",
    "bound",
    "built",
    "chosen",
    "divided",
    "drawn",
    "found",
    "given",
    "grown",
    "heard",
    "held",
    "hidden",
    "kept",
    "known",
    "left",
    "lost",
    "made",
    "meant",
    "said",
    "seen",
    "sent",
    "shown",
    "spelt",
    "spoken",
    "taken",
    "thrown",
    "told",
    "torn",
    "understood",
    "unread",
    "worn",
    "written",
];

/// Returns whether the name of a function is a single participle, such as `parsed`, instead of a verb.
pub(crate) fn is_participle(name: &str) -> bool {
    IRREGULAR.contains(&name) || name.ends_with("ed") && !name.contains('_') && !VERBS.contains(&name)
}

/// Returns whether a constant contains these words in sequence.
pub(crate) fn has_words(constant: &str, words: &str) -> bool {
    format!("_{constant}_").contains(&format!("_{words}_"))
}

/// The words and phrases of [`DIALECT`] in a text, in lower case, as often as they occur.
pub(crate) fn find_dialect(text: &str) -> Vec<&'static str> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let counts = |phrase: &&&str| {
        let parts: Vec<&str> = phrase.split(' ').collect();
        words.windows(parts.len()).filter(|window| window.iter().eq(parts.iter())).count()
    };
    DIALECT.iter().flat_map(|phrase| std::iter::repeat_n(*phrase, counts(&phrase))).collect()
}
