//! What a question asks for: a term, or an answer in which terms occur.

use std::sync::LazyLock;

use regex::Regex;

use crate::words::{is_stop_word, regex, stem, stems, words};

/// How a question asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For the meaning of one term: `what is a VIP customer`, `churn`.
    Define,
    /// For something else that may be written down: `who approves refunds?`
    Ask,
    /// For data or work, with terms in it that may need their meaning: `show me VIP customer spending by quarter`.
    Request,
}

/// A question, read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) shape: Shape,
    /// The term as the question spells it; the whole question where it asks for none.
    pub(crate) term: String,
    /// The stems that the term may go by, and how well each stands for it; none but for [`Shape::Define`].
    pub(crate) alternatives: Vec<(Vec<String>, f64)>,
    /// The stems of the question that an answer has to cover, in order.
    pub(crate) content: Vec<String>,
    /// A number is wanted.
    pub(crate) value: bool,
    /// A unit or a currency is wanted.
    pub(crate) unit: bool,
    /// What an abbreviation stands for is wanted.
    pub(crate) short: bool,
    /// A time or a condition is wanted.
    pub(crate) when: bool,
    /// Data is wanted, which need the meaning of their terms: `which`, `how many`, `how much`.
    pub(crate) data: bool,
    /// It tells to do something: `show me ..`.
    pub(crate) order: bool,
    /// It is the term alone, and nothing asks for its meaning.
    pub(crate) is_bare: bool,
}

/// Words of questions that no answer needs to repeat.
const LIGHT: &[&str] = &[
    "bring",
    "calculate",
    "call",
    "class",
    "classify",
    "compare",
    "compute",
    "consider",
    "count",
    "define",
    "definition",
    "describe",
    "determine",
    "display",
    "exactly",
    "explain",
    "find",
    "get",
    "give",
    "identify",
    "include",
    "includes",
    "list",
    "long",
    "make",
    "many",
    "mean",
    "meaning",
    "means",
    "measure",
    "much",
    "often",
    "please",
    "qualify",
    "refer",
    "show",
    "stand",
    "tell",
    "term",
    "treat",
    "use",
    "used",
    "want",
    "word",
    "need",
    "become",
    "happen",
    "happens",
    "instead",
    "before",
    "after",
    "between",
    "part",
    "ask",
    "know",
    "say",
    "company",
    "business",
    "start",
    "begin",
    "end",
    "most",
    "more",
    "least",
    "less",
    "last",
    "over",
    "per",
    "regard",
    "decide",
];

/// Words for a property of a term: `threshold for VIP`, `churn criteria`. The term itself is what is left.
const ATTRIBUTES: &str = "thresholds?|limits?|minimum|maximum|min|max|cut-?offs?|criteri(?:a|on)|conditions?|rules?|requirements?|formulas?|definitions?|meanings?|values?|level|boundary|number|figure|calculation|explanation|description|unit|currency|abbreviation|acronym|full form|concept|term|word|metric|kpi|policy|segment|status|category";

impl Question {
    /// Reads a question; any text is one.
    pub(crate) fn parse(question: &str) -> Question {
        let text = question.trim().trim_end_matches(['?', '.', '!', ' ', '"']).trim();
        let text = regex!(r"(?i)^(?:(?:please|hi|hello|so|and|ok|hey)[,\s]+)*(?:(?:can|could|would) you (?:please )?)?(?:tell me |let me know |do you know |i (?:want|need|would like) to know )?(?:about )?").replace(text, "");
        let text = text.trim();
        let lower = question.to_lowercase();
        let mut asked = Question {
            shape: Shape::Request,
            term: text.to_owned(),
            alternatives: Vec::new(),
            content: content(text),
            value: regex!(r"\b(?:how (?:much|many|long|often|high|low|big|large|old|far|soon|late)|threshold|limit|minimum|maximum|cut-?off|at what|from what|what (?:value|amount|number|percentage|level|spend))\b").is_match(&lower),
            unit: regex!(r"\b(?:currenc(?:y|ies)|units?|denominated|measured in)\b").is_match(&lower),
            short: regex!(r"\b(?:stands? for|short for|abbreviat\w*|acronym|full form|spelled out)\b").is_match(&lower),
            when: regex!(r"(?i)^when\b").is_match(text),
            is_bare: false,
            order: is_order(text),
            data: regex!(r"^(?:which|how much|how many)\b").is_match(&text.to_lowercase())
                && !regex!(r"^how many (?:days|hours|weeks|months|years|minutes|times|percent)\b").is_match(&text.to_lowercase()),
        };
        if let Some((term, is_bare)) = term(text) {
            asked.is_bare = is_bare;
            let whole = stems(&term);
            let term = trim_term(&term);
            let size = stems(&term).len();
            // `When does a refund need the agreement of ..` asks for more than a term.
            let most = if regex!(r"(?i)^(?:when|who|how)\b").is_match(text) { 3 } else { 7 };
            if (1..=most).contains(&size) && !term.contains(['?', ';']) {
                asked.shape = Shape::Define;
                asked.alternatives = alternatives(&term);
                // `the term deposit` may be a deposit or a term deposit.
                if !asked.alternatives.iter().any(|(stems, _)| *stems == whole) {
                    asked.alternatives.push((whole, 1.0));
                }
                asked.term = term;
                return asked;
            }
        }
        let asks = regex!(
            r"(?i)^(?:what|who|whose|whom|when|where|why|which|how|is|are|do|does|did|can|could|may|must|should|will|has|have|(?:at|from|in|by|since|until|under|on|for) (?:what|which|when))\b"
        );
        if asks.is_match(text) || (question.trim().ends_with('?') && !is_order(text)) {
            asked.shape = Shape::Ask;
        }
        asked
    }

    /// Whether data is asked for, and not what is written down: `average age of singers` is no term.
    pub(crate) fn asks_for_data(&self) -> bool {
        match self.shape {
            Shape::Request => true,
            Shape::Ask => self.data,
            Shape::Define => regex!(
                r"(?i)\b(?:average|total|sum|number|count|highest|lowest|most|least|top|largest|smallest|biggest|oldest|youngest|longest|shortest|latest|earliest|newest|names|which|whose|where|between|each|than|with)\b"
            )
            .is_match(&self.term),
        }
    }

    /// The question without what only makes it up, as a query for a search.
    pub(crate) fn content_words(&self) -> String {
        let counts = |word: &String| !is_stop_word(word) && !Question::is_light(&stem(word));
        words(&self.term).into_iter().filter(counts).collect::<Vec<_>>().join(" ")
    }

    /// Whether a stem of the question carries little of what is asked.
    pub(crate) fn is_light(stem_of_question: &str) -> bool {
        static STEMS: LazyLock<Vec<String>> = LazyLock::new(|| LIGHT.iter().map(|word| stem(word)).collect());
        STEMS.iter().any(|light| light == stem_of_question)
    }
}

/// The stems that an answer has to cover: neither stop words nor what only makes up the question.
fn content(text: &str) -> Vec<String> {
    let light: Vec<String> = words(text)
        .into_iter()
        .filter(|word| !is_stop_word(word) && !ATTRIBUTE.is_match(word))
        .map(|word| stem(&word))
        .filter(|word| !Question::is_light(word))
        .collect();
    if light.is_empty() { stems(text) } else { light }
}

/// The term that `text` asks the meaning of, if it asks for that; and whether it is the term alone.
fn term(text: &str) -> Option<(String, bool)> {
    let patterns = [
        regex!(
            r"(?i)^what (?:do|does|did) (?:we|you|they|one|the company|people) (?:mean by|call|understand by|understand as|consider(?: to be| as)?|count as|treat as|define as|refer to as) (?P<t>.+)$"
        ),
        regex!(
            r"(?i)^what (?:do|does|is|are|did) (?:the )?(?:(?:term|word|abbreviation|acronym|letters|phrase|expression) )?(?P<t>.+?) (?:mean|means|stand for|stands for|refer to|denote|represent|signify|consist of|comprise|short for)$"
        ),
        regex!(r"(?i)^what (?:is|are) (?:meant|understood) (?:by|with|under) (?P<t>.+)$"),
        regex!(
            r"(?i)^what (?:counts?|qualif(?:y|ies)|is considered|are considered|is regarded|is classified|is treated|is defined|is called|is known)(?: as| to be| by| for)? (?P<t>.+)$"
        ),
        regex!(r"(?i)^what makes? (?P<t>.+)$"),
        regex!(
            r"(?i)^(?:what(?:'s|’s| is| are| was)?|give(?: me)?|state|explain|describe|show(?: me)?|find)? ?(?:the |a |our )?(?:\w+ )?(?:definition|meaning)s?(?: used)? (?:of|for|behind) (?P<t>.+)$"
        ),
        regex!(r"(?i)^(?:define|explain|describe) (?P<t>.+)$"),
        regex!(
            r"(?i)^how (?:is|are|was|were|does one|do we|do you|do they|do i|does the company|should we|should i|can i|can we|would you|to)(?: usually| exactly)? (?:calculate|compute|define|measure|determine|derive|identify|classify|count|work out|get|recogni[sz]e) (?P<t>.+)$"
        ),
        regex!(
            r"(?i)^how (?:is|are|was|were|do|does|should|can) (?P<t>.+?)(?: be)? (?:calculated|computed|defined|measured|determined|derived|worked out|counted|obtained|classified|identified|decided|recogni[sz]ed|understood|calculate|expressed)(?: .*)?$"
        ),
        regex!(
            r"(?i)^who (?:is|are|counts? as|qualif(?:y|ies)(?: as| for)?|is considered(?: to be)?|are considered(?: to be)?) (?P<t>.+)$"
        ),
        regex!(r"(?i)^when (?:is|are|does|do|did|has|have|will|can|should) (?P<t>.+)$"),
        regex!(r"(?i)^what(?:'s|’s| is| are| was| were|'re) (?P<t>.+)$"),
        regex!(r"(?i)^what (?P<t>.+) (?:is|are)$"),
        regex!(r"(?i)^how (?P<t>.+?) (?:is|are) (?:calculated|computed|defined|measured|determined|derived)$"),
        regex!(r"(?i)^(?P<t>.+?),? (?:definition|meaning|defined|explained|means what|formula|criteria|threshold)$"),
    ];
    if let Some(found) = patterns.into_iter().find_map(|pattern| pattern.captures(text)) {
        return Some((found["t"].to_owned(), false));
    }
    // A bare term.
    let all = words(text);
    let asks =
        regex!(r"(?i)^(?:which|who|whose|where|why|how|what|when|is|are|do|does|did|can|could|should|will|has|have)\b");
    let bare =
        (1..=4).contains(&all.len()) && !asks.is_match(text) && !is_order(text) && !all.iter().all(|w| is_stop_word(w));
    bare.then(|| (text.to_owned(), true))
}

/// Whether `text` tells to do something with data.
fn is_order(text: &str) -> bool {
    regex!(r"(?i)^(?:show|list|find|get|give|compare|count|calculate|compute|plot|rank|sum|analy[sz]e|report|display|create|make|build|return|fetch|retrieve|identify|determine)\b").is_match(text)
}

/// A term without what only surrounds it: articles, quotes, `in our company`.
fn trim_term(term: &str) -> String {
    let tail = regex!(
        r"(?i)[,\s]+(?:in (?:our|this|the|these|your) (?:company|business|shop|store|context|catalog|documents?|data|organi[sz]ation|reports?|glossary|rules|handbook)|here|exactly|mean|please|for us|to us|again|actually|called|considered|defined|according to .+|as (?:per|defined) .+)$"
    );
    let head = regex!(
        r#"(?i)^(?:an?|the|any|our|your|exactly|considered|counted as|called|meant by|the (?:term|word|phrase|abbreviation|acronym)|(?:term|word|phrase|abbreviation|acronym))\s+"#
    );
    let mut term = term.trim().to_owned();
    loop {
        let next = tail.replace(&term, "");
        let next = head.replace(&next, "");
        let next = next.trim().trim_matches(['"', '“', '”', '‘', '’', '`', '\'', '*', ',']).trim().to_owned();
        if next == term {
            return term;
        }
        term = next;
    }
}

static LEADING: LazyLock<Regex> = LazyLock::new(|| {
    let link = r"(?: used)? (?:of|for|to be|to count as|to become|behind|in|to qualify (?:as|for)) (?:an?|the|being an?|all|our)? ?";
    let exact =
        "exact|precise|official|current|lower|upper|full|required|general|usual|valid|present|common|minimum|maximum";
    Regex::new(&format!(r"(?i)^(?:(?:{exact}) )?(?:{ATTRIBUTES}){link}")).expect("constant")
});
static TRAILING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)\s+(?:{ATTRIBUTES})$")).expect("constant"));
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!("^(?:{ATTRIBUTES})$")).expect("constant"));

/// The stems that a term may go by: as asked, without a property, without words of questions, by its short form.
fn alternatives(term: &str) -> Vec<(Vec<String>, f64)> {
    let mut out = vec![(stems(term), 1.0)];
    let mut add = |stems: Vec<String>, weight: f64| {
        if !stems.is_empty() && !out.iter().any(|(known, _)| *known == stems) {
            out.push((stems, weight));
        }
    };
    if let Some((before, inside)) = term.split_once('(') {
        add(stems(before), 1.0);
        add(stems(inside), 1.0);
    }
    let bare = LEADING.replace(term, "");
    add(stems(&bare), 0.97);
    let bare = TRAILING.replace(&bare, "");
    add(stems(&bare), 0.95);
    add(content(&bare), 0.95);
    let kind = regex!(
        r"(?i)^(?:status|code|segment|reason|type|tier|channel|priority|class|category|level|value|column|field|table|flag)\s+"
    );
    add(stems(&kind.replace(term, "")), 0.93);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, shape: Shape, term: &str) {
        let asked = Question::parse(question);
        assert_eq!((asked.shape, asked.term.as_str()), (shape, term), "{question}: {asked:?}");
    }

    #[test]
    fn finds_the_term_that_is_asked_for() {
        for (question, term) in [
            ("what is a VIP customer", "VIP customer"),
            ("What's a VIP customer?", "VIP customer"),
            ("definition of net revenue", "net revenue"),
            ("What is the exact definition of net revenue?", "net revenue"),
            ("define churn", "churn"),
            ("how is bounce rate calculated", "bounce rate"),
            ("How do we calculate the net revenue?", "net revenue"),
            ("VIP customer", "VIP customer"),
            ("What does AOV stand for?", "AOV"),
            ("What do we mean by \"active customer\"?", "active customer"),
            ("Who counts as a VIP customer in our company?", "VIP customer"),
            ("Can you tell me what an overdue invoice is?", "overdue invoice"),
            ("net revenue definition", "net revenue"),
            ("please explain churn", "churn"),
            ("When is an invoice overdue?", "invoice overdue"),
        ] {
            check(question, Shape::Define, term);
        }
    }

    #[test]
    fn tells_requests_and_other_questions_from_terms() {
        check(
            "Show me VIP customer spending trends by quarter",
            Shape::Request,
            "Show me VIP customer spending trends by quarter",
        );
        check("Which customers are VIP customers?", Shape::Ask, "Which customers are VIP customers");
        check("Who approves refunds above 500?", Shape::Ask, "Who approves refunds above 500");
    }

    #[test]
    fn a_property_is_told_from_its_term() {
        let asked = Question::parse("What is the threshold for a VIP customer?");
        assert!(asked.value);
        assert!(asked.alternatives.iter().any(|(stems, _)| *stems == ["vip", "custom"]), "{asked:?}");
    }

    #[test]
    fn a_term_may_begin_like_a_question_for_one() {
        let asked = Question::parse("What is a term deposit?");
        assert!(asked.alternatives.iter().any(|(stems, _)| *stems == ["term", "deposit"]), "{asked:?}");
    }

    #[test]
    fn nothing_is_a_question_too() {
        assert!(Question::parse("  ?").content.is_empty());
        check("日本語", Shape::Define, "日本語");
    }
}
