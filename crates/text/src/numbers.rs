//! Words for numbers.

/// Words for small numbers. `one` is more often a pronoun than a number.
const NUMBER_WORDS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
];

/// The number that a lower-case word says.
pub fn parse_word(word: &str) -> Option<u32> {
    NUMBER_WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_known_by_their_words() {
        assert_eq!([parse_word("seven"), parse_word("hundred"), parse_word("many")], [Some(7), Some(100), None]);
    }
}
