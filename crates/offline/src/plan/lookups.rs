//! Operations that give what others are called with: a question names a show, and its pictures are asked for by an identifier.

use prospector_agent::plan::sense::question::{Question, stems};
use prospector_text::identifiers;

use super::choice::{Choice, Lookup};
use super::evidence::{Evidence, RequiredIdentifier};

/// The words that an identifier ends in.
const IDENTIFIERS: [&str; 5] = ["id", "uuid", "guid", "slug", "key"];

/// A token of so many characters with a digit in it may be an identifier, unless it is a year.
const MIN_LENGTH: usize = 5;

/// The operations that give the identifiers which the operations of a choice require, where neither the question tells them nor
/// another of the choice can give them.
pub(super) fn find_lookups(evidence: &Evidence, choice: &Choice<'_>) -> Vec<Lookup> {
    let requires = |api: &str, name: &str| {
        let id = format!("{api}.{name}");
        evidence.read_operations.iter().find(|read| read.id == id).map_or(&[][..], |read| &read.requires)
    };
    let mut lookups: Vec<Lookup> = Vec::new();
    for hit in &choice.operations {
        let feeds = choice.operations.iter().any(|other| {
            other.parent == hit.parent && other.name != hit.name && requires(&other.parent, &other.name).is_empty()
        });
        if feeds {
            continue;
        }
        for required in requires(&hit.parent, &hit.name) {
            let is_known = |name: &String| {
                choice.operations.iter().any(|other| other.parent == hit.parent && other.name == *name)
                    || lookups.iter().any(|known| known.api == hit.parent && known.operation == *name)
            };
            if required.given_by.iter().any(is_known) || tells_identifier(&evidence.question, &required.parameter) {
                continue;
            }
            if let Some(giver) = choose_giver(&evidence.question, required) {
                let (api, parameter) = (hit.parent.clone(), required.parameter.clone());
                lookups.push(Lookup { api, operation: giver.clone(), parameter });
            }
        }
    }
    lookups
}

/// A name is searched for; without one, there is nothing to search for, and a list is read.
fn choose_giver<'a>(question: &str, required: &'a RequiredIdentifier) -> Option<&'a String> {
    let has_name =
        question.contains(['"', '“']) || Question::parse(question).concepts.iter().any(|concept| concept.is_name);
    let is_search = |name: &&String| {
        let said = identifiers::words(name);
        said.iter().any(|word| matches!(word.as_str(), "search" | "find" | "lookup" | "query"))
    };
    if has_name { required.given_by.first() } else { required.given_by.iter().find(|name| !is_search(name)) }
}

/// Whether a question has a token that may be the identifier: behind its noun or `id`, or too odd to be anything else.
fn tells_identifier(question: &str, parameter: &str) -> bool {
    let nouns = identifiers::words(parameter).into_iter().filter(|word| !IDENTIFIERS.contains(&word.as_str()));
    let nouns: Vec<String> = nouns.flat_map(|noun| stems(&noun)).collect();
    let tokens: Vec<&str> = question.split_whitespace().map(|token| token.trim_matches(is_mark)).collect();
    (0..tokens.len()).filter(|at| tokens[*at].contains(|c: char| c.is_ascii_digit())).any(|at| {
        let before = at.checked_sub(1).map(|before| tokens[before].to_lowercase()).unwrap_or_default();
        let is_named = IDENTIFIERS.contains(&before.as_str()) || stems(&before).iter().any(|stem| nouns.contains(stem));
        is_named || tokens[at].len() >= MIN_LENGTH && tokens[at].chars().all(|c| c.is_ascii_alphanumeric())
    })
}

fn is_mark(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '.' | ',' | '?' | '!' | ':' | ';' | '(' | ')' | '#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::evidence::{NamedHit, ReadOperation};

    fn check(question: &str, chosen: &[&str], expected: &[&str]) {
        let read = |id: &str, requires: &[(&str, &[&str])]| ReadOperation {
            id: id.into(),
            writes: Some(false),
            requires: (requires.iter())
                .map(|(parameter, given_by)| RequiredIdentifier {
                    parameter: (*parameter).into(),
                    given_by: given_by.iter().map(|name| (*name).to_owned()).collect(),
                })
                .collect(),
        };
        let evidence = Evidence {
            question: question.into(),
            read_operations: vec![
                read("tv.images", &[("show_id", &["search_shows", "list_shows"])]),
                read("tv.reviews", &[("show_id", &["search_shows", "list_shows"])]),
                read("tv.popular", &[]),
            ],
            ..Evidence::default()
        };
        let hit = |name: &&str| NamedHit {
            parent: "tv".into(),
            name: (*name).into(),
            relevance: 0.5,
            description: String::new(),
        };
        let hits: Vec<NamedHit> = chosen.iter().map(hit).collect();
        let choice = Choice { operations: hits.iter().collect(), ..Choice::default() };
        let found: Vec<String> = find_lookups(&evidence, &choice).into_iter().map(|lookup| lookup.operation).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn what_is_named_is_looked_up_before_it_is_asked_for() {
        check("Give me pictures of Breaking Bad", &["images"], &["search_shows"]);
        check("Pictures and reviews of \"dark\"", &["images", "reviews"], &["search_shows"]);
        check("Give me season 2 of the show in 2024", &["images"], &["list_shows"]);
    }

    #[test]
    fn what_is_told_or_given_already_is_not_looked_up() {
        check("Give me pictures of show 4711", &["images"], &[]);
        check("Pictures of the one with the id 9", &["images"], &[]);
        check("Pictures of tt0903747", &["images"], &[]);
        check("Pictures of the most popular show on Netflix", &["popular", "images"], &[]);
    }
}
