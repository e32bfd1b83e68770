//! Actions requested by questions and performed by operations: read, create, change or delete.

use crate::lexical::Outline;

/// An action on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Read,
    Create,
    Change,
    Remove,
}

/// Verbs and their actions. A verb for several actions, such as `set`, is listed under each.
const VERBS: &[(Action, &[&str])] = &[
    (
        Action::Read,
        &[
            "get",
            "list",
            "show",
            "find",
            "search",
            "fetch",
            "retrieve",
            "view",
            "display",
            "see",
            "tell",
            "what",
            "which",
            "who",
            "whose",
            "when",
            "where",
            "how",
            "look",
            "lookup",
            "check",
            "read",
            "query",
            "browse",
            "count",
            "give",
            "describe",
            "recommend",
            "suggest",
            "discover",
            "explore",
            "compare",
            "know",
            "download",
            "calculate",
            "compute",
            "convert",
            "translate",
            "analyze",
            "validate",
            "verify",
        ],
    ),
    (
        Action::Create,
        &[
            "create",
            "add",
            "new",
            "make",
            "post",
            "write",
            "insert",
            "register",
            "book",
            "send",
            "upload",
            "save",
            "submit",
            "order",
            "buy",
            "subscribe",
            "follow",
            "invite",
            "publish",
            "open",
            "start",
            "place",
            "schedule",
            "rate",
            "put",
        ],
    ),
    (
        Action::Change,
        &[
            "update",
            "edit",
            "change",
            "modify",
            "set",
            "rename",
            "mark",
            "replace",
            "move",
            "assign",
            "enable",
            "disable",
            "patch",
            "put",
            "rate",
            "configure",
            "adjust",
            "increase",
            "decrease",
        ],
    ),
    (
        Action::Remove,
        &[
            "delete",
            "remove",
            "cancel",
            "clear",
            "unsubscribe",
            "unfollow",
            "drop",
            "revoke",
            "destroy",
            "stop",
            "unset",
            "erase",
        ],
    ),
];

/// A set of actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Actions(u8);

impl Actions {
    fn of_word(word: &str) -> Actions {
        let named = VERBS.iter().filter(|(_, verbs)| verbs.contains(&word));
        named.fold(Actions::default(), |all, (action, _)| all.with(*action))
    }

    fn with(self, action: Action) -> Actions {
        Actions(self.0 | 1 << action as u8)
    }

    fn union(self, other: Actions) -> Actions {
        Actions(self.0 | other.0)
    }

    /// Returns the actions requested by the verbs of a question.
    pub(super) fn of_question(question: &str) -> Actions {
        words(question).map(|word| Actions::of_word(&word)).fold(Actions::default(), Actions::union)
    }

    /// Returns the actions of an operation: by its method if that is conclusive, otherwise by the first verb of its
    /// name or description.
    pub(super) fn of_operation(outline: &Outline) -> Actions {
        let route = outline.aliases.first().map_or("", String::as_str);
        let method = match route.split_once(' ').map(|(method, _)| method.to_uppercase()).as_deref() {
            Some("GET" | "HEAD" | "QUERY") => Some(Action::Read),
            Some("DELETE") => Some(Action::Remove),
            Some("PUT" | "PATCH" | "MUTATION") => Some(Action::Change),
            _ => None,
        };
        if let Some(method) = method {
            return Actions::default().with(method);
        }
        let by_name = prospector_text::identifiers::words(&outline.name)
            .into_iter()
            .map(|word| Actions::of_word(&word.to_lowercase()))
            .find(|actions| *actions != Actions::default());
        let by_text = || {
            words(&outline.description)
                .take(4)
                .map(|word| Actions::of_word(word.trim_end_matches('s')))
                .find(|actions| *actions != Actions::default())
        };
        let said = by_name.or_else(by_text).unwrap_or_default();
        let posts = route.to_uppercase().starts_with("POST ");
        if said == Actions::default() && posts { Actions::default().with(Action::Create) } else { said }
    }

    /// Returns 1 if the sets intersect, -1 if they are disjoint, 0 if one is empty.
    pub(super) fn agreement(self, offered: Actions) -> f32 {
        match (self.0, offered.0) {
            (0, _) | (_, 0) => 0.0,
            (asked, offered) if asked & offered != 0 => 1.0,
            _ => -1.0,
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, route: &str, name: &str, expected: f32) {
        let outline = Outline { aliases: vec![route.into()], name: name.into(), ..Outline::default() };
        let agreement = Actions::of_question(question).agreement(Actions::of_operation(&outline));
        assert_eq!(agreement, expected, "{question} {route}");
    }

    #[test]
    fn different_actions_disagree() {
        check("get the films on my watch list", "GET /account/{id}/watchlist", "watchlist", 1.0);
        check("get the films on my watch list", "POST /account/{id}/watchlist", "addToWatchlist", -1.0);
        check("add Dune to my watch list", "POST /account/{id}/watchlist", "addToWatchlist", 1.0);
        check("remove the rating", "DELETE /movie/{id}/rating", "unrate", 1.0);
        check("find cheap flights", "POST /flights/search", "searchFlights", 1.0);
        check("films of Villeneuve", "POST /films", "films", 0.0);
    }
}
