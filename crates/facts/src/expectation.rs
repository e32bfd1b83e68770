//! What a question wants to be told: a number, a time, a person, a reason. A sentence that holds nothing of the kind does
//! not answer it, however many of its words it repeats.

use regex::Regex;

use crate::{
    quantity::{Bound, Quantity, quantities},
    words::{regex, stems, words},
};

/// What kind of thing an answer has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whatever covers the question: `which`, `is`, `may`.
    Any,
    /// A number: `how many`, `how much`.
    Amount,
    /// A sum of money: `how much does .. cost`.
    Money,
    /// A number of persons: `how many people`.
    People,
    /// A number that is aimed at or not to be passed: `what is the target for`.
    Bound,
    /// A stretch of time: `how long`, `how soon`.
    Duration,
    /// `How often`.
    Often,
    /// A point in time, since it is past or asked for as a day: `when was`, `on which day`.
    Date,
    /// A point in time or a condition: `when is`.
    Time,
    /// `Who`.
    Person,
    /// `Why`.
    Reason,
}

/// What a question wants, and the stems that only say so: no answer has to repeat them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) kind: Kind,
    pub(crate) said_by: Vec<String>,
    /// What is counted: the first stems after `how many`.
    counted: Vec<String>,
}

impl Wanted {
    pub(crate) fn by(question: &str) -> Wanted {
        let text = question.to_lowercase();
        for (kind, pattern) in ways() {
            let Some(found) = pattern.captures(&text) else { continue };
            let parts = ["only", "also"].into_iter().filter_map(|name| found.name(name));
            let parts: Vec<&str> = parts.map(|part| part.as_str()).collect();
            let parts = if parts.is_empty() { found[0].to_owned() } else { parts.join(" ") };
            let said_by = words(&parts).iter().flat_map(|word| stems(word)).collect();
            let counted = text.split_once("how many ").map(|(_, rest)| stems(rest)).unwrap_or_default();
            return Wanted { kind, said_by, counted: counted.into_iter().take(2).collect() };
        }
        Wanted { kind: Kind::Any, said_by: Vec::new(), counted: Vec::new() }
    }

    /// Whether a number is one of what is counted: `three reviews`, `the number of reviews is 3`.
    fn counts(&self, said: &str, quantity: &Quantity) -> bool {
        let is_counted = |word: &str| stems(word).iter().any(|stem| self.counted.contains(stem));
        let unit = self.counted.contains(&quantity.unit);
        let after = words(&said[quantity.span.start..]).into_iter().take(7).any(|word| is_counted(&word));
        let before = said[..quantity.span.start].trim_end();
        let is = ["is", "are", "have", "has"].iter().any(|verb| before.ends_with(&format!(" {verb}")));
        unit || after || (is && words(before).iter().any(|word| is_counted(word)))
    }

    /// Whether the part of `said` with the number that is wanted holds one of `about` too; where no number is wanted,
    /// whether `said` does.
    pub(crate) fn is_said_with(&self, said: &str, about: impl Fn(&str) -> bool) -> bool {
        let by_number = matches!(self.kind, Kind::Amount | Kind::Money | Kind::Bound | Kind::Duration);
        let found = quantities(said);
        if !by_number || found.is_empty() {
            return true;
        }
        let ends: Vec<usize> = regex!(r"[,;:]\s").find_iter(said).map(|mark| mark.start()).collect();
        found.iter().any(|quantity| {
            let start = ends.iter().rev().find(|end| **end < quantity.span.start).copied().unwrap_or(0);
            let end = ends.iter().find(|end| **end >= quantity.span.end).copied().unwrap_or(said.len());
            about(&said[start..end])
        })
    }

    /// Whether it can be told of a sentence that it does not hold what is wanted.
    pub(crate) fn is_strict(&self) -> bool {
        !matches!(self.kind, Kind::Any | Kind::Person)
    }

    /// Whether `said` holds what is wanted; `names` are the words of the question.
    pub(crate) fn is_in(&self, said: &str, names: &[String]) -> bool {
        let has = |pattern: &Regex| pattern.is_match(said);
        let found = || quantities(said).into_iter();
        match self.kind {
            Kind::Any => true,
            Kind::Amount if !self.counted.is_empty() => found().any(|q| self.counts(said, &q)),
            Kind::Amount => {
                found().next().is_some() || has(regex!(r"(?i)\b(?:once|twice|a single|none|exactly one|only one)\b"))
            }
            Kind::Money => {
                found().any(|q| ["usd", "eur", "gbp", "chf", "jpi", "cent"].contains(&q.unit.as_str()))
                    || has(regex!(r"\d\.\d\d\b"))
            }
            Kind::People => has(regex!(
                r"(?i)(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|nobody|no)\b)[^.;:]{0,30}?\b(?:persons?|people|representatives?|agents?|employees?|staff|colleagues?|members?|customers?|users?|managers?|volunteers?|guests?|\w{3,}(?:ers|ors|ists|ants))\b"
            )),
            Kind::Bound => {
                found().any(|q| q.bound != Bound::Exactly)
                    || (found().next().is_some()
                        && has(regex!(r"(?i)\b(?:expect|should|must|aim|target|goal|plan)\w*\b")))
            }
            Kind::Duration => {
                found().any(|q| ["day", "working day", "month", "hour", "minut", "second"].contains(&q.unit.as_str()))
                    || has(regex!(
                        r"(?i)\b(?:an?|one|next|same|\w+['’]s) (?:working |business )?(?:minute|hour|day|week|month|quarter|year)\b"
                    ))
            }
            Kind::Often => has(regex!(
                r"(?i)\b(?:once|twice|times|daily|weekly|monthly|quarterly|yearly|annually|hourly|always|never|(?:every|each|per|an?) (?:\w+ )?(?:minute|hour|day|night|week|month|quarter|year|time))\b"
            )),
            Kind::Date => is_dated(said),
            Kind::Time => {
                is_dated(said)
                    || found().any(|q| ["day", "working day", "month", "hour", "minut"].contains(&q.unit.as_str()))
                    || has(regex!(
                        r"(?i)\b(?:when|if|once|after|before|until|within|from|only for|as soon as|unless|each|every|at the (?:end|start|beginning)|on the)\b"
                    ))
            }
            Kind::Person => names_somebody(said, names),
            Kind::Reason => is_reason(said),
        }
    }
}

/// The first that a question says is what it wants.
fn ways() -> [(Kind, &'static Regex); 16] {
    [
        (Kind::Reason, regex!(r"\bwhy\b|\bfor (?:what|which) reason\b|\bwhat (?:is|was) the (?:reason|cause)\b")),
        (Kind::Often, regex!(r"\bhow (?:often|frequently)\b")),
        (
            Kind::Duration,
            regex!(
                r"\bhow (?:long|soon|quickly|fast|quick|late|old)\b(?: an? (?:pause|break|gap|wait|delay|period|time|while|notice)\b)?|\bhow (?:many|much) (?:more )?(?:seconds|minutes|hours|days|weeks|months|years|time|notice)\b|\b(?:what|which) (?:time limit|deadline|time ?frame)\b|\b(?:deadline|time limit|time ?frame|window)\b"
            ),
        ),
        (Kind::Date, regex!(r"\bhow far back\b")),
        // Whatever may be done with so many: the answer is a bound.
        (Kind::Bound, regex!(r"(?P<only>\bhow many)\b.*\b(?:can|may|could) be (?P<also>\w+ed)\b")),
        (Kind::Bound, regex!(r"(?P<only>\b(?:the )?(?:most|fewest|least))\b.*\b(?:can|may|could|allowed)\b")),
        (Kind::Money, regex!(r"\bwhat (?:does|do|did|would|will|must)\b.*\b(?P<also>costs?|pay|charge)\b")),
        (Kind::People, regex!(r"\bhow many (?:people|persons|employees|colleagues|staff)\b")),
        (Kind::Money, regex!(r"(?P<only>\bhow much)\b.*\b(?P<also>spend|costs?|pay|charged?|worth)\b")),
        (
            Kind::Amount,
            regex!(
                r"\bhow (?:many|much|high|low|big|large|expensive|far)\b|\bwhat (?:number|amount|percentage|share|price)\b"
            ),
        ),
        (
            Kind::Date,
            regex!(
                r"^(?:and )?when (?:was|were|did|has|have|had)\b|\b(?:on |in |since |until |from |by )?(?:which|what) (?:days?|dates?|months?|years?|quarters?)\b|\bsince when\b"
            ),
        ),
        (
            Kind::Date,
            regex!(
                r"\b(?P<only>(?:at |from |until |by )?(?:which|what) (?:time|hour)) (?:is|are|was|were|do|does|did|can|may|must|should|will|of)\b"
            ),
        ),
        (Kind::Time, regex!(r"^(?:and )?when\b")),
        (Kind::Person, regex!(r"^(?:by |to |from |with )?(?:who|whom|whose)\b")),
        (Kind::Bound, regex!(r"\b(?P<only>targets?|goals?|limits?|thresholds?|minimum|maximum|at least|at most)\b")),
        (Kind::Reason, regex!(r"\bwhat causes\b")),
    ]
}

fn is_dated(said: &str) -> bool {
    regex!(
        r"(?i)\b(?:january|february|march|april|may \d|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|yesterday|noon|midnight)\b|\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|o'clock)\b|\bQ[1-4]\b|\b(?:first|last) day\b"
    )
    .is_match(said)
}

fn is_reason(said: &str) -> bool {
    regex!(r"(?i)\b(?:because|since|so that|in order to|due to|owing to|therefore|thus|hence|that is why|the reason|as a result|thanks to|to (?:avoid|prevent|protect|keep|make sure)|otherwise)\b|, so\b")
        .is_match(said)
}

/// Whether somebody is named that the question does not name: with a capital within a sentence, or by what they do.
fn names_somebody(said: &str, names: &[String]) -> bool {
    let new = |word: &str| stems(word).iter().any(|stem| !names.contains(stem));
    let capitals = regex!(r"[\p{L}\p{N},|] +(?P<name>\p{Lu}[\p{Ll}]{2,}\w*)");
    let roles = regex!(
        r"(?i)\b(?:team|lead(?:er)?|head|manage(?:r|ment)|representative|agent|employee|staff|colleague|director|owner|board|committee|council|department|office|desk|officer|clerk|accountant|lawyer|doctor|nurse|engineer|assistant|supervisor|author|editor|members?|customers?|buyers?|sellers?|users?|visitors?|guests?|recipients?|senders?|holders?|schools?|librar(?:y|ies)|persons?|people|everybody|everyone|anyone|nobody|parents?|children|students?|teachers?|suppliers?|partners?|carriers?|banks?|company|companies|\p{L}{3,}(?:keeper|worker|holder|master|owner))\b"
    );
    capitals.captures_iter(said).any(|found| new(&found["name"]))
        || roles.find_iter(said).any(|found| new(found.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_what_kind_of_answer_it_wants() {
        fn check(question: &str, kind: Kind, answers: &str, does_not: &str) {
            let wanted = Wanted::by(question);
            let names = stems(question);
            assert_eq!(wanted.kind, kind, "{question}");
            assert!(wanted.is_in(answers, &names), "{question}: {answers}");
            assert!(!wanted.is_in(does_not, &names), "{question}: {does_not}");
        }
        check("How long may a book be kept?", Kind::Duration, "Books are lent for 3 weeks.", "A book has 3 authors.");
        check("How many books may be lent?", Kind::Amount, "At most 5 books.", "Books may be lent.");
        check("How often is the list read?", Kind::Often, "It is read once a week.", "The list is read aloud.");
        check("When did the branch open?", Kind::Date, "It opened in March 2019.", "It opens if it rains.");
        check("When is the branch open?", Kind::Time, "It is open if it rains.", "It is open.");
        check("On which day is it closed?", Kind::Date, "It is closed on Monday.", "It is closed for 2 days.");
        check("Who orders books?", Kind::Person, "The head of a branch orders.", "Books are ordered.");
        check("Who orders books?", Kind::Person, "They are ordered by Accounting.", "Ordered books are red.");
        check("Why is it shut?", Kind::Reason, "It is shut because of rain.", "It is shut.");
        check("What is the target for loans?", Kind::Bound, "Loans should reach 500.", "There were 500 loans.");
    }

    #[test]
    fn any_other_question_takes_any_answer() {
        assert_eq!(Wanted::by("Is the branch open?").kind, Kind::Any);
    }
}
