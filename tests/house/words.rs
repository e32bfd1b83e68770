//! Words that names must not have: what a reader who knows search, databases and language models would have to learn first.

/// Beginnings of constants that are limits: those begin with `MAX_` or `MIN_`.
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

/// Types whose name stands for something that the field has another word for.
pub(crate) const TYPES: &[&str] =
    &["Asked", "Desk", "Dialogue", "Kept", "Known", "Ran", "Said", "Seer", "Shelf", "Thing", "Things", "Told"];

/// Files of modules, likewise; the first of them say nothing of what is inside.
pub(crate) const MODULES: &[&str] = &[
    "utils", "util", "common", "manager", "helper", "helpers", "misc", "asking", "counted", "economy", "halves",
    "heard", "kept", "known", "mend", "seer", "shelf", "shown", "things", "told", "wanted", "written",
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

/// Whether a function is named by a single participle, such as `mended` or `told`, where a verb would say what it does.
pub(crate) fn is_participle(name: &str) -> bool {
    IRREGULAR.contains(&name) || name.ends_with("ed") && !name.contains('_') && !VERBS.contains(&name)
}

/// Whether the words of a constant contain these, one after the other.
pub(crate) fn has_words(constant: &str, words: &str) -> bool {
    format!("_{constant}_").contains(&format!("_{words}_"))
}
