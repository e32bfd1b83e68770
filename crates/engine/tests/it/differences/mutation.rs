//! Mutation of statements by their tokens.

use super::grammar::Grammar;
use super::random::Random;

/// The maximum length of a statement in characters.
const MAX_CHARS: usize = 2_000;

/// Splits a statement into words, texts, spaces and operators; joined, they are the statement.
pub(crate) fn tokens(sql: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut letters = sql.chars().peekable();
    while let Some(first) = letters.next() {
        let mut token = String::from(first);
        let goes_on: fn(char, char) -> bool = match first {
            '\'' | '"' | '`' => |first, next| next != first,
            c if c.is_alphanumeric() || c == '_' => |_, next| next.is_alphanumeric() || next == '_',
            _ => |_, _| false,
        };
        while let Some(next) = letters.next_if(|next| goes_on(first, *next)) {
            token.push(next);
        }
        if matches!(first, '\'' | '"' | '`') {
            token.extend(letters.next());
        }
        tokens.push(token);
    }
    tokens
}

/// Applies a few changes to a statement, some of which come from another one.
pub(crate) fn mutate(random: &mut Random, grammar: &Grammar, sql: &str, other: &str) -> String {
    let (mut parts, others) = (tokens(sql), tokens(other));
    for _ in 0..=random.below(4) {
        let at = random.below(parts.len() + 1);
        let end = (at + 1 + random.below(4)).min(parts.len());
        match random.below(10) {
            0 => drop(parts.drain(at.min(end)..end)),
            1 | 2 => parts.insert(at, grammar.piece(random).to_owned()),
            3 if at < parts.len() => parts[at] = grammar.piece(random).to_owned(),
            4 => {
                let with = random.below(parts.len().max(1));
                if at < parts.len() && with < parts.len() {
                    parts.swap(at, with);
                }
            }
            5 | 6 => {
                let from = random.below(others.len());
                let to = (from + 1 + random.below(12)).min(others.len());
                let taken = others.get(from..to).unwrap_or_default().to_vec();
                let _: Vec<String> = parts.splice(at.min(end)..end, taken).collect();
            }
            7 => parts.insert(at, format!("({})", grammar.statement(random))),
            8 if at < parts.len() => {
                // Changes within a token.
                let mut letters: Vec<char> = parts[at].chars().collect();
                let place = random.below(letters.len() + 1);
                let new = grammar.piece(random).chars().next().unwrap_or(' ');
                match random.below(3) {
                    0 if place < letters.len() => drop(letters.remove(place)),
                    1 if place < letters.len() => letters[place] = new,
                    _ => letters.insert(place, new),
                }
                parts[at] = letters.into_iter().collect();
            }
            _ => {
                if let Some(blank) = parts.iter().position(|part| part == " ") {
                    parts[blank] = random.pick(&["\n", "\t", "/**/", "  ", "\r\n", "-- a\n", "\u{c}"]).to_owned();
                }
            }
        }
    }
    let text = parts.concat();
    text.chars().take(MAX_CHARS).collect()
}
