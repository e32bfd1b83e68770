//! Splits a long text into pages.

use crate::error::Refusal;

/// Page size, in characters.
const PAGE: usize = 12_000;

/// A long answer as text.
pub(crate) struct Long {
    text: String,
    /// Start of each page, and the end of the last one.
    cuts: Vec<usize>,
}

impl Long {
    pub(crate) fn new(text: String) -> Self {
        let mut cuts = vec![0];
        let mut at = 0;
        while text.len() - at > PAGE {
            let end = text.floor_char_boundary(at + PAGE);
            // Break at the end of a nearby line if there is one.
            let line = text[at..end].rfind('\n').map(|line| at + line + 1).filter(|line| line - at > PAGE / 2);
            at = line.unwrap_or(end);
            cuts.push(at);
        }
        cuts.push(text.len());
        Long { text, cuts }
    }

    pub(crate) fn pages(&self) -> usize {
        self.cuts.len() - 1
    }

    /// Returns a page, from 1.
    pub(crate) fn page(&self, number: usize) -> Result<&str, Refusal> {
        if number == 0 || number > self.pages() {
            let message = format!("there is no page {number}");
            return Err(Refusal::invalid(message).advise(format!("pages are 1 to {}", self.pages())));
        }
        Ok(&self.text[self.cuts[number - 1]..self.cuts[number]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pages: usize) {
        let long = Long::new(text.to_owned());
        assert_eq!(long.pages(), pages);
        let all: String = (1..=pages).map(|page| long.page(page).unwrap_or_default()).collect();
        assert_eq!(all, text, "nothing is lost");
        assert!(long.page(0).is_err() && long.page(pages + 1).is_err());
    }

    #[test]
    fn pages_hold_everything_and_break_no_letter() {
        check("", 1);
        check("short", 1);
        check(&"ä".repeat(PAGE), 2);
        check(&"a line\n".repeat(4_000), 3);
    }
}
