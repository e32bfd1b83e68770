//! Splits scripts into statements, so that one that cannot be parsed does not affect others. Runs in linear time and
//! covers all dialects at once: text quoted in one dialect never starts a statement in another.

/// A statement with the line on which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The statement without its delimiter.
    pub text: &'a str,
    /// The line of the script on which it starts, from 1.
    pub line: usize,
}

/// Splits a script of any dialect into statements.
pub fn statements(script: &str) -> Vec<Statement<'_>> {
    let mut splitter = Splitter::new(script);
    splitter.split();
    splitter.found
}

/// Splits a statement at its first parenthesised list: the text before it, its items without comments, and the text after
/// it. An unclosed list ends with the statement.
pub(super) fn list(statement: &str) -> Option<(&str, Vec<String>, &str)> {
    let mut splitter = Splitter::new(statement);
    let (mut at, mut depth, mut open) = (0, 0, 0);
    let mut items = vec![Vec::new()];
    let mut tail = "";
    while let Some(byte) = splitter.bytes.get(at).copied() {
        let next = splitter.after(at, byte);
        let rest = &splitter.bytes[at..next];
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        match byte {
            b'(' if depth == 1 => open = at,
            b')' if depth == 0 => {
                tail = statement[next..].trim();
                break;
            }
            b',' if depth == 1 => items.push(Vec::new()),
            b'-' | b'/' | b'#' if rest.len() > 1 => {}
            _ if depth > 0 => items.last_mut().into_iter().for_each(|item| item.extend_from_slice(rest)),
            _ => {}
        }
        at = next;
    }
    let items = items.iter().map(|item| String::from_utf8_lossy(item).trim().to_owned());
    let items: Vec<String> = items.filter(|item| !item.is_empty()).collect();
    (!items.is_empty()).then(|| (statement[..open].trim(), items, tail))
}

struct Splitter<'a> {
    script: &'a str,
    bytes: &'a [u8],
    backslashes: bool,
    /// Whether nested comments are closed separately, as far as is known.
    nested_comments: bool,
    /// The statement delimiter; MySQL's client changes it around procedure bodies.
    delimiter: String,
    /// The start of the current statement.
    begin: usize,
    /// The offset up to which lines are counted, and the line there.
    counted: (usize, usize),
    found: Vec<Statement<'a>>,
}

impl<'a> Splitter<'a> {
    fn new(script: &'a str) -> Self {
        Splitter {
            script,
            bytes: script.as_bytes(),
            // Only MySQL and BigQuery use backslash escapes, and only they quote names with backticks.
            backslashes: script.contains('`'),
            nested_comments: true,
            delimiter: ";".to_owned(),
            begin: 0,
            counted: (0, 1),
            found: Vec::new(),
        }
    }

    fn split(&mut self) {
        let mut at = 0;
        while let Some(byte) = self.bytes.get(at).copied() {
            let begins = !byte.is_ascii_whitespace() && self.begins_line(at);
            if begins && let Some(next) = self.line(at) {
                at = next;
                continue;
            }
            if begins && begins_statement(&self.script[at..]) {
                self.end(at, at);
            }
            if self.bytes[at..].starts_with(self.delimiter.as_bytes()) {
                let next = at + self.delimiter.len();
                self.end(at, self.after_copied_rows(at).unwrap_or(next));
                at = self.begin;
                continue;
            }
            at = self.after(at, byte);
        }
        self.end(self.bytes.len(), self.bytes.len());
    }

    /// Returns the offset after the string, quoted name or comment that starts here, or after this byte.
    fn after(&mut self, at: usize, byte: u8) -> usize {
        match byte {
            b'\'' | b'"' => self.after_string(at, byte),
            b'`' => self.after_on_line(at, b'`').unwrap_or(at + 1),
            b'[' if self.bytes.get(at + 1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') => {
                self.after_on_line(at, b']').unwrap_or(at + 1)
            }
            b'-' if self.bytes[at..].starts_with(b"--") => self.line_end(at),
            b'#' if self.begins_line(at) => self.line_end(at),
            b'/' if self.bytes[at..].starts_with(b"/*") => self.after_comment(at),
            b'$' => self.after_dollars(at).unwrap_or(at + 1),
            _ => at + 1,
        }
    }

    /// Whether only blanks precede this offset on its line.
    fn begins_line(&self, at: usize) -> bool {
        let before = self.bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        before.is_none_or(|byte| *byte == b'\n')
    }

    /// Returns the offset after the rows that follow `COPY ... FROM stdin;`, if that statement ends here.
    fn after_copied_rows(&self, end: usize) -> Option<usize> {
        let text = &self.script[self.begin..end];
        let copies = words(text).next().is_some_and(|word| word.eq_ignore_ascii_case("copy"));
        if !copies || !text.to_ascii_lowercase().contains("stdin") {
            return None;
        }
        self.script[end..].find("\n\\.").map(|length| self.line_end(end + length + 1))
    }

    /// Ends the current statement at `end`; the next one starts at `next`.
    fn end(&mut self, end: usize, next: usize) {
        let text = &self.script[self.begin..end];
        let from = self.begin + text.len() - text.trim_start().len();
        if from < end {
            let (at, line) = self.counted;
            let line = line + self.bytes[at..from].iter().filter(|byte| **byte == b'\n').count();
            self.counted = (from, line);
            self.found.push(Statement { text: text.trim(), line });
        }
        self.begin = next;
    }

    /// Handles client commands, which end a statement but are not statements.
    fn line(&mut self, at: usize) -> Option<usize> {
        let end = self.line_end(at);
        let line = self.script[at..end].trim();
        let mut words = line.split_whitespace();
        match (words.next()?, words.next(), words.next()) {
            (word, Some(delimiter), None) if word.eq_ignore_ascii_case("delimiter") => {
                self.delimiter = delimiter.to_owned();
            }
            (word, None, None) if word.eq_ignore_ascii_case("go") || word == "/" => {}
            _ => return None,
        }
        self.end(at, end);
        Some(end)
    }

    fn line_end(&self, at: usize) -> usize {
        self.script[at..].find('\n').map_or(self.bytes.len(), |length| at + length)
    }

    /// Returns the offset after the quote that closes a name on the same line.
    fn after_on_line(&self, at: usize, quote: u8) -> Option<usize> {
        let line = &self.bytes[at + 1..self.line_end(at)];
        line.iter().position(|byte| *byte == quote).map(|length| at + 1 + length + 1)
    }

    /// Returns the offset after a string literal. A missing quote would swap strings and code, so a string that contains
    /// the start of a statement and continues after its end is rejected.
    fn after_string(&self, at: usize, quote: u8) -> usize {
        let escapes = self.backslashes || at > 0 && matches!(self.bytes[at - 1], b'e' | b'E');
        let mut end = at + 1;
        let mut statement = None;
        while let Some(byte) = self.bytes.get(end).copied() {
            match byte {
                b'\\' if escapes => end += 1,
                byte if byte == quote && self.bytes.get(end + 1) == Some(&quote) => end += 1,
                byte if byte == quote => {
                    return match (statement, self.bytes.get(end + 1)) {
                        (Some(statement), Some(next)) if next.is_ascii_alphanumeric() => statement,
                        _ => end + 1,
                    };
                }
                b'\n' if statement.is_none() => {
                    let next = self.script.get(end + 1..).unwrap_or_default();
                    let next = next.trim_start_matches([' ', '\t']);
                    if begins_statement(next) {
                        statement = Some(self.bytes.len() - next.len());
                    }
                }
                _ => {}
            }
            end += 1;
        }
        statement.unwrap_or(at + 1)
    }

    fn after_comment(&mut self, at: usize) -> usize {
        let (mut depth, mut end) = (1, at + 2);
        while depth > 0 && end + 1 < self.bytes.len() {
            match &self.bytes[end..end + 2] {
                b"*/" => {
                    depth -= 1;
                    end += 2;
                }
                b"/*" if self.nested_comments => {
                    depth += 1;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        if depth == 0 {
            return end;
        }
        // Most dialects do not nest comments. Nesting is tried only once, to stay linear.
        if std::mem::take(&mut self.nested_comments) { self.after_comment(at) } else { at + 2 }
    }

    /// Returns the offset after a dollar-quoted string, `$body$ ... $body$`.
    fn after_dollars(&self, at: usize) -> Option<usize> {
        if at > 0 && (self.bytes[at - 1].is_ascii_alphanumeric() || self.bytes[at - 1] == b'_') {
            return None;
        }
        let name = self.bytes[at + 1..].iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
        if self.bytes[at + 1 + name] != b'$' || self.bytes[at + 1].is_ascii_digit() {
            return None;
        }
        let tag = &self.script[at..=at + 1 + name];
        let begin = at + tag.len();
        self.script[begin..].find(tag).map(|length| begin + length + tag.len())
    }
}

/// Whether a line can only be the start of a new statement, even if the last one was not closed.
fn begins_statement(line: &str) -> bool {
    // Cheap check first: long comments are scanned line by line.
    if !line.starts_with(['a', 'A', 'c', 'C', 'd', 'D', 'i', 'I']) {
        return false;
    }
    let mut words = words(line);
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let is = |word: &str, wanted: &[&str]| wanted.iter().any(|w| word.eq_ignore_ascii_case(w));
    if is(first, &["create"]) {
        return is(
            second,
            &["table", "view", "or", "index", "unique", "materialized", "external", "function", "trigger"],
        ) || is(second, &["temp", "temporary", "global", "unlogged", "foreign", "virtual", "type", "sequence"]);
    }
    is(first, &["alter", "drop"]) && is(second, &["table"])
        || is(first, &["comment"]) && is(second, &["on"])
        || is(first, &["insert"]) && is(second, &["into"])
}

/// Returns the words and symbols of a statement without comments; MySQL hints are included.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    word_indices(text).map(|(_, word)| word)
}

/// Like [`words`], each with its offset.
pub(super) fn word_indices(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut line_begins = true;
    std::iter::from_fn(move || {
        loop {
            let code = rest.trim_start();
            line_begins |= rest[..rest.len() - code.len()].contains('\n');
            rest = code;
            let letter = rest.chars().next()?;
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let (length, is_code) = if rest.starts_with("--") || letter == '#' && line_begins {
                (rest.find('\n').unwrap_or(rest.len()), false)
            } else if let Some(hint) = rest.strip_prefix("/*!") {
                (3 + hint.bytes().take_while(u8::is_ascii_digit).count(), false)
            } else if rest.starts_with("*/") {
                (2, false)
            } else if rest.starts_with("/*") {
                (rest.find("*/").map_or(rest.len(), |length| length + 2), false)
            } else if is_word(letter) {
                (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true)
            } else {
                (letter.len_utf8(), true)
            };
            let (word, after) = rest.split_at(length);
            let at = text.len() - rest.len();
            rest = after;
            line_begins = false;
            if is_code {
                return Some((at, word));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, wanted: &[(usize, &str)]) {
        let found: Vec<(usize, &str)> = statements(script).iter().map(|s| (s.line, s.text)).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn statements_end_at_semicolons() {
        check("a;\n\nb\n;;c", &[(1, "a"), (3, "b"), (4, "c")]);
        check("", &[]);
    }

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_count() {
        for one in [
            "a 'x;''y' b",
            "a \"x;y\" b",
            "a `x;y` b",
            "a [x;y] b",
            "a -- x;\n b",
            "a /* x; /* y; */ z; */ b",
            "a $$ x; ' $$ b",
            "a $b_1$ x; $$ y; $b_1$ b",
            "a 'it\\'s;' `b`",
            "a E'it\\'s;' b",
            "a '\\' b",
            "# a;\n b",
        ] {
            check(&format!("{one};c"), &[(1, one), (1 + one.matches('\n').count(), "c")]);
        }
    }

    #[test]
    fn ends_unnested_comments_at_the_first_terminator() {
        check("a /* x /* y */; b", &[(1, "a /* x /* y */"), (1, "b")]);
        check("a /* x; b", &[(1, "a /* x"), (1, "b")]);
    }

    #[test]
    fn client_commands_end_statements() {
        check("a\nGO\nb\n/\nc", &[(1, "a"), (3, "b"), (5, "c")]);
        check("DELIMITER //\na; b; //\ndelimiter ;\nc; d", &[(2, "a; b;"), (4, "c"), (4, "d")]);
        check("copy a from stdin;\n1\tit's\n\\.\nb;", &[(1, "copy a from stdin"), (4, "b")]);
    }

    #[test]
    fn a_new_statement_ends_an_unterminated_one() {
        check(
            "create table a (\n  x int\nCreate  Table b (y int);",
            &[(1, "create table a (\n  x int"), (3, "Create  Table b (y int)")],
        );
        check("create table a (\n  create int, comment text)", &[(1, "create table a (\n  create int, comment text)")]);
    }

    #[test]
    fn a_missing_quote_loses_only_one_statement() {
        check(
            "insert 'it's';\ncreate table a ('x');\nb;",
            &[(1, "insert 'it's';"), (2, "create table a ('x')"), (3, "b")],
        );
        check("a 'x;\nb 'y", &[(1, "a 'x;\nb 'y")]);
    }

    #[test]
    fn string_literals_may_contain_statements() {
        check("a 'x;\ncreate table b (c);\n';d", &[(1, "a 'x;\ncreate table b (c);\n'"), (3, "d")]);
    }

    #[test]
    fn words_exclude_comments() {
        let found: Vec<_> = words("-- x\n/* y */ /*!50001 CREATE */ table a(b)").collect();
        assert_eq!(found, ["CREATE", "table", "a", "(", "b", ")"]);
    }
}
