//! Words that say by what something is the most: `cheapest`, `best rated`.

/// What has the most or the least of something, whether it is the most, and words that columns of it are called by, as stems.
pub(super) const SUPERLATIVES: [(&[&str], bool, &[&str]); 13] = [
    (&["most", "expensive"], true, PRICE),
    (&["priciest"], true, PRICE),
    (&["costliest"], true, PRICE),
    (&["least", "expensive"], false, PRICE),
    (&["cheapest"], false, PRICE),
    (&["longest"], true, LENGTH),
    (&["shortest"], false, LENGTH),
    (&["heaviest"], true, &["weight", "mass"]),
    (&["lightest"], false, &["weight", "mass"]),
    (&["tallest"], true, &["height"]),
    (&["best", "rated"], true, &["rate", "score"]),
    (&["worst", "rated"], false, &["rate", "score"]),
    (&["most", "populous"], true, &["popul"]),
];
const PRICE: &[&str] = &["price", "cost"];
const LENGTH: &[&str] = &["durat", "dur", "length", "runtim", "playtim"];

/// Whether a word stands before what is ranked: `the 3 longest songs`, `the top 5 artists`.
pub(super) fn ranks(word: &str) -> bool {
    matches!(word, "top" | "best" | "bottom") || SUPERLATIVES.iter().any(|(phrase, ..)| phrase.last() == Some(&word))
}
