//! Where a text says something word for word, whatever white space and marks of a quotation its lines have.

/// A text to quote from.
pub(crate) struct Quotable<'a> {
    text: &'a str,
    /// In one line.
    flat: String,
    /// For each byte of `flat` the place of its character in `text`.
    places: Vec<usize>,
}

impl<'a> Quotable<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (flat, places) = flat(text);
        Quotable { text, flat, places }
    }

    /// The stretch of the text that says `said`, as it stands there; nothing where the text does not say it. Line ends,
    /// runs of white space, `>` before a line and the `: ` of a definition list make no difference.
    pub(crate) fn quote(&self, said: &str) -> Option<&'a str> {
        if said.trim().is_empty() {
            return None;
        }
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = self.flat.find(&said)?;
        let (start, last) = (*self.places.get(at)?, *self.places.get(at + said.len() - 1)?);
        let end = last + self.text.get(last..)?.chars().next().map_or(1, char::len_utf8);
        self.text.get(start..end)
    }
}

/// See the fields of [`Quotable`].
fn flat(text: &str) -> (String, Vec<usize>) {
    let (mut out, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut push = |c: char, at: usize, out: &mut String| {
        out.push(c);
        places.resize(out.len(), at);
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let shown = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace() || c == '\u{feff}');
        let mut space = !out.is_empty() && !shown.starts_with(": ");
        for (offset, c) in shown.char_indices() {
            let place = at + (line.len() - shown.len()) + offset;
            if c.is_whitespace() {
                space = true;
                continue;
            }
            if std::mem::take(&mut space) && !out.is_empty() {
                push(' ', place, &mut out);
            }
            push(c, place, &mut out);
        }
        at += line.len();
    }
    (out, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_found_as_it_stands() {
        fn check(text: &str, said: &str, expected: Option<&str>) {
            assert_eq!(Quotable::new(text).quote(said), expected, "{text:?}");
        }
        check("One. Churn means\n  loss. Two.", "Churn means loss.", Some("Churn means\n  loss."));
        check("> Churn\n> means loss.", "Churn means loss.", Some("Churn\n> means loss."));
        check("Basket\n: all of it", "Basket: all of it", Some("Basket\n: all of it"));
        check("größer als 5 €\r\nist groß", "als 5 € ist groß", Some("als 5 €\r\nist groß"));
        check("Churn means loss.", "Churn means gain.", None);
        check("Churn", " ", None);
        check("", "x", None);
    }
}
