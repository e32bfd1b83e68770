//! Splits GraphQL SDL into its definitions: `graphql-parser` rejects a text as a whole, so each definition is parsed
//! separately, and an invalid one does not affect others.

/// One definition with its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Line of its start, from 1.
    pub(crate) line: usize,
    /// The text.
    pub(crate) text: &'a str,
    /// `type`, `extend`, ...; empty for text outside definitions.
    pub(crate) keyword: &'a str,
}

/// Keywords that start a definition.
const KEYWORDS: [&str; 9] = ["schema", "type", "interface", "union", "enum", "input", "scalar", "directive", "extend"];

/// Splits a schema into definitions. A keyword in the first column starts a definition even if a bracket is open, so
/// a missing bracket invalidates one definition and not the rest of the file.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start: Option<usize> = None;
    let mut keyword = "";
    let mut depth = 0usize;
    let mut previous = "";
    for token in (Tokens { text, at: 0 }) {
        let word = &text[token.0..token.1];
        let described = depth == 0 && word.starts_with('"');
        let begins =
            KEYWORDS.contains(&word) && if depth == 0 { !expects_name(previous) } else { in_first_column(text, token) };
        if (described || begins) && !(begins && keyword.is_empty() && previous.starts_with('"')) {
            if let Some(start) = start {
                pieces.push((start, token.0, keyword));
            }
            start = Some(token.0);
            keyword = "";
            depth = 0;
        }
        if begins {
            keyword = word;
        }
        start.get_or_insert(token.0);
        match word {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A keyword used as a name is not a boundary.
        let named = KEYWORDS.contains(&word) && !begins && previous != "extend";
        previous = if named { "" } else { word };
    }
    if let Some(start) = start {
        pieces.push((start, text.len(), keyword));
    }
    let mut line = 1;
    let mut counted = 0;
    pieces
        .into_iter()
        .map(|(start, end, keyword)| {
            line += text[counted..start].matches('\n').count();
            counted = start;
            Piece { line, text: &text[start..end], keyword }
        })
        .collect()
}

/// Returns whether a text of unknown format is GraphQL SDL: a keyword after descriptions and comments, not followed
/// by `:` as in YAML.
pub(crate) fn begins_a_schema(text: &str) -> bool {
    let words = Tokens { text, at: 0 }.map(|(start, end)| &text[start..end]);
    let mut words = words.skip_while(|word| word.starts_with('"'));
    words.next().is_some_and(|word| KEYWORDS.contains(&word)) && words.next() != Some(":")
}

/// Returns whether a keyword after this token is a name, as in `type input` or `union A = type | B`.
fn expects_name(previous: &str) -> bool {
    KEYWORDS.contains(&previous) || matches!(previous, "=" | "|" | "&" | "@" | "implements" | "on" | ":")
}

/// Returns whether a keyword in the first column starts a definition; a field of that name is followed by a colon or
/// a bracket.
fn in_first_column(text: &str, (start, end): (usize, usize)) -> bool {
    let first = start == 0 || text.as_bytes()[start - 1] == b'\n';
    first && !text[end..].trim_start().starts_with([':', '(', '}'])
}

/// Byte ranges of names, strings and punctuation; white space and comments are skipped.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let length = match first {
                '#' => {
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                _ if first.is_whitespace() || first == ',' || first == '\u{feff}' => {
                    self.at += first.len_utf8();
                    continue;
                }
                '"' => string_length(rest),
                _ if first.is_ascii_alphanumeric() || first == '_' => {
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                _ => first.len_utf8(),
            };
            let start = self.at;
            self.at += length;
            return Some((start, self.at));
        }
    }
}

fn string_length(text: &str) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let closing = block.match_indices("\"\"\"").find(|(at, _)| !block[..*at].ends_with('\\'));
        return closing.map_or(text.len(), |(at, _)| at + 6);
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            // An unterminated string ends with its line.
            '\n' => return at,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the pieces, each as `line keyword last-character`.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = pieces(text)
            .iter()
            .map(|p| format!("{} {} {}", p.line, p.keyword, p.text.trim_end().chars().next_back().unwrap_or(' ')))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn splits_definitions() {
        check("type A { a: Int }\nscalar B\nunion C = A | B", &["1 type }", "2 scalar B", "3 union B"]);
        check("\"\"\"type { of \"\"\"\ntype A { a: Int }\n# type }\n\"b\" enum B { X }", &["1 type }", "4 enum }"]);
        check("extend type A { b(x: Int = 1): Int }\nschema { query: A }", &["1 extend }", "2 schema }"]);
    }

    #[test]
    fn keyword_can_be_a_name() {
        check(
            "type input { type: String, enum: Int }\nscalar type scalar x",
            &["1 type }", "2 scalar e", "2 scalar x"],
        );
        check("union U = type | input\ntype T implements interface & B { a: Int }", &["1 union t", "2 type }"]);
        check("type T {\ntype: Int\ninput(a: Int): Int\n}", &["1 type }"]);
    }

    #[test]
    fn missing_bracket_invalidates_one_definition() {
        check("type A { a: Int\ntype B { b: Int }", &["1 type t", "2 type }"]);
        check("type A { a: \"x\ntype B { b: Int }", &["1 type x", "2 type }"]);
        check("} } nonsense { \"\"\" never closed", &["1  d"]);
    }
}
