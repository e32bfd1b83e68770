//! Whether a sentence defines something, what it defines, and how plainly.
//!
//! The term has to be the subject of the sentence, or what the sentence says a subject counts as; a term that is only
//! mentioned is never what a sentence defines. Each pattern has a strength, the share of sentences of that form that
//! really are definitions:
//!
//! | pattern | example | strength |
//! |---|---|---|
//! | explicit | `Churn is defined as ..`, `AOV stands for ..`, `x = y` | 0.95 |
//! | label | `**Churn**: ..`, `Churn - ..`, `Churn: ..` | 0.7 to 0.95 |
//! | row | a table row whose first cell is the term | 0.8 to 0.92 |
//! | copula | `A VIP customer is a customer whose ..` | 0.55 to 0.93 |
//! | condition | `An invoice is overdue when ..`, `.. counts as a VIP` | 0.9 |
//! | marked | `A **full refund** returns ..`, `.. is **reactivated**` | 0.65 to 0.85 |
//! | code | `P paid, O open` | 0.85 |
//! | heading | the first sentence under the term, or under a question for it | 0.4 to 0.9 |
//! | threshold, unit, short | `Discounts may not exceed 30 %`, `Totals are in USD`, `.. (AOV)` | only where asked for |
//!
//! A past tense, a negation, or an example costs a part of it.

use crate::{
    quantity::quantities,
    question::{Question, Shape},
    sentences::{Form, MAX_SENTENCE_BYTES, Unit, plain},
    term::{Definition, Name, Pattern, definition, is_remark, name, without_determiners},
    verbs::{apposition, complement, core, equality, in_unit, threshold, verb, we_say},
    words::{is_stop_word, regex, same, stems, within, words},
};

/// A bold term that is less plainly defined than this is only stressed.
const MIN_MARKED: f64 = 0.6;

/// Everything that a unit defines, in no order.
pub(crate) fn definitions(unit: &Unit) -> Vec<Definition> {
    if unit.plain.ends_with('?') || unit.plain.len() > MAX_SENTENCE_BYTES {
        return Vec::new();
    }
    let mut out = match &unit.form {
        Form::Row(cells) => row(cells).into_iter().chain(codes(unit)).collect(),
        Form::Code => equality(&unit.plain).into_iter().collect(),
        Form::Prose | Form::Item => prose(unit),
    };
    let doubt = doubt(&unit.plain);
    for found in &mut out {
        if found.pattern != Pattern::Row {
            found.strength *= doubt;
        }
        if !unit.list.is_empty() {
            found.gloss = format!("{} {}", found.gloss, unit.list.join("; ")).trim().to_owned();
        }
    }
    out.retain(|found| !found.gloss.is_empty());
    out
}

fn prose(unit: &Unit) -> Vec<Definition> {
    let mut out: Vec<Definition> = shorts(&unit.plain).collect();
    if let Some(found) = label(unit) {
        out.push(found);
        return out;
    }
    if unit.plain.split_once(':').is_some_and(|(label, _)| is_remark(label)) {
        return out;
    }
    out.extend(codes(unit));
    let core = core(&unit.plain);
    let mut main = choose(equality(core).or_else(|| we_say(core)).or_else(|| verb(core)), parse_bold_term(unit));
    if let (Some(main), Some(bold)) = (main.as_mut(), regex!(r"^(?:\w+\s+)?\*\*([^*]{2,60})\*\*").captures(&unit.text))
    {
        // The author marked the term: `The **churn rate** of a quarter is ..`
        let rest = main.term.to_lowercase().strip_prefix(&bold[1].to_lowercase()).map(str::len);
        if let Some(name) = rest.filter(|rest| *rest > 0).and_then(|_| name(&bold[1])) {
            main.heads.extend(name.heads);
            main.term = name.term;
        }
    }
    if let Some(main) = &mut main {
        name_as_heading(main, unit);
    }
    out.extend(under_heading(unit, core, main.as_ref()));
    out.extend(main);
    out.extend(apposition(core));
    out.extend(threshold(core));
    out.extend(in_unit(core));
    out
}

/// Of what a sentence says and what its author marked: the mark says which term `A customer is an **active customer** if ..` is about.
fn choose(said: Option<Definition>, bold: Option<Definition>) -> Option<Definition> {
    let (Some(said), Some(bold)) = (&said, &bold) else { return said.or(bold) };
    // `The **churn rate** of a quarter is ..` is about the mark already.
    let is_of_other = said.pattern == Pattern::Copula
        && said.heads.first().is_some_and(|subject| !bold.heads.iter().any(|head| within(head, subject)));
    let is_marked = bold.strength >= MIN_MARKED && is_of_other;
    Some(if is_marked || bold.strength >= said.strength { bold.clone() } else { said.clone() })
}

/// `A shipment is on time if ..` under `On-time shipment` says what the heading means, and not what a shipment is.
fn name_as_heading(found: &mut Definition, unit: &Unit) {
    let heading = stems(&unit.heading);
    let is_part = found.heads.first().is_some_and(|head| head.len() < heading.len() && within(head, &heading));
    let says_so = matches!(found.pattern, Pattern::Copula | Pattern::Condition) && !unit.text.contains("**");
    if unit.first && says_so && is_part && !unit.heading.ends_with('?') {
        found.term.clone_from(&unit.heading);
        found.heads = vec![heading];
    }
}

/// Past tense, negation and examples make a definition doubtful.
fn doubt(plain: &str) -> f64 {
    let mut doubt = 1.0;
    if regex!(r"(?i)\b(?:was|were|used to be|formerly|previously|no longer|obsolete|deprecated|superseded|until (?:end of )?(?:19|20)\d\d|before (?:19|20)\d\d)\b").is_match(plain)
        && !regex!(r"(?i)\b(?:who|that|which|whose|if|when|once|after|for)\b.*\b(?:was|were)\b").is_match(plain)
    {
        doubt *= 0.6;
    }
    if regex!(r"(?i)\b(?:is|are) not (?:an?|the|just|only|simply|defined|considered|counted|regarded|treated)\b")
        .is_match(plain)
    {
        doubt *= 0.5;
    }
    if regex!(r"(?i)^(?:for example|e\.g\.|for instance|example)\b|\b(?:might|maybe|perhaps|proposal|proposed|to be decided|tbd)\b").is_match(plain) {
        doubt *= 0.6;
    }
    doubt
}

/// `**Churn**: ..`, `**Churn.** ..`, `Churn - ..`, `Churn: ..`
fn label(unit: &Unit) -> Option<Definition> {
    let bold = regex!(
        r"^(?:\*\*(?P<a>[^*]{1,80}?)\*\*|__(?P<b>[^_]{1,80}?)__|`(?P<c>[^`]{1,80})`|\*(?P<d>[^*\s][^*]{0,80}?)\*)(?P<alias>\s*\([^)]{1,60}\))?\s*(?P<mark>:|[-–—→]\s)?\s*(?P<rest>.*)$"
    );
    if let Some(found) = bold.captures(&unit.text) {
        let inner =
            ["a", "b", "c", "d"].iter().find_map(|n| found.name(n)).map(|m| m.as_str().trim()).unwrap_or_default();
        let closed = inner.ends_with([':', '.']);
        let term = inner.trim_end_matches([':', '.']);
        if (closed || found.name("mark").is_some()) && !is_remark(term) {
            let alias = found.name("alias").map_or("", |m| m.as_str());
            let gloss = plain(&found["rest"]);
            return name(&format!("{term}{alias}")).map(|name| definition(name, &gloss, Pattern::Label, 0.95));
        }
    }
    let found =
        regex!(r"^(?P<term>[^:.!?]{1,70}?)(?P<mark>\s*:(?:\s|$)|\s+[-–—]\s+)(?P<rest>.*)$").captures(&unit.plain)?;
    let (term, mark) = (&found["term"], found["mark"].trim());
    let short = words(term).len() <= if mark == ":" { 6 } else { 5 };
    if !short
        || is_remark(term)
        || regex!(
            r"(?i)\b(?:means?|equals?|refers?|defined|follow(?:s|ing)|includes?|stands? for|counts?|consists?)\b|="
        )
        .is_match(term)
    {
        return None;
    }
    // An address, not a meaning.
    if regex!(r"^\S*(?:@|://)\S*$").is_match(&found["rest"]) {
        return None;
    }
    let strength = match (mark, &unit.form) {
        (":", _) => 0.88,
        (_, Form::Item) => 0.88,
        _ => 0.7,
    };
    name(term).map(|name| definition(name, &found["rest"], Pattern::Label, strength))
}

/// `A **full refund** returns ..`, `.. is **reactivated**`: a term in bold as the subject, or as what is said of it.
fn parse_bold_term(unit: &Unit) -> Option<Definition> {
    let found = regex!(r"^(?P<before>[^*]*?)\s*\*\*(?P<term>[^*]{2,60})\*\*").captures(&unit.text)?;
    let (before, term) = (found["before"].trim(), &found["term"]);
    if without_determiners(&format!("{before} ")).trim().is_empty() && !is_remark(term) {
        let rest = plain(&unit.text[found[0].len()..]);
        let perk =
            regex!(r"(?i)^(?:also |always )?(?:gets?|receives?|enjoys?|have|has|may|can|must|should|will|are|is)\b")
                .is_match(&rest);
        let strength = match (perk, before.is_empty()) {
            (true, _) => 0.35,
            (false, true) => 0.65,
            (false, false) => 0.8,
        };
        return name(term)
            .filter(|_| words(&rest).len() >= 2 && !term.contains(','))
            .map(|name| definition(name, &unit.plain, Pattern::Copula, strength));
    }
    let is = regex!(r"(?i)\s(?:is|are|called|named|as|considered|becomes?)(?:\s+(?:then|also|again))?(?:\s+an?)?$")
        .find(before)?;
    complement(&unit.plain, core(&before[..is.start()]), term, 0.85)
}

/// `P paid, O open, V void`: codes in capitals, each with its meaning, two or more in a list.
fn codes(unit: &Unit) -> Vec<Definition> {
    let list = regex!(
        r"(?:^|[,;:(|]\s*)`?(?P<code>[A-Z][A-Z0-9_]{0,7})`?(?:\s+(?:is|for|means)|\s*[=:–-])?\s+(?P<gloss>[a-z][a-z -]{1,40})"
    );
    let found: Vec<_> = list.captures_iter(&unit.text).collect();
    if found.len() < 2 {
        return Vec::new();
    }
    let names = found.into_iter().filter_map(|one| Some((name(&one["code"])?, one["gloss"].to_owned())));
    names.map(|(name, gloss)| definition(name, &gloss, Pattern::Code, 0.85)).collect()
}

/// A row whose term column names something: the column called so, else the first.
fn row(cells: &[(String, String)]) -> Option<Definition> {
    let is_term = regex!(
        r"(?i)^(?:term|name|metric|measure|abbreviation|acronym|code|status|segment|tier|kpi|concept|word|label|expression|field|column|class|category|level)s?\b"
    );
    let is_meaning = regex!(
        r"(?i)\b(?:definition|meaning|means|description|explanation|rule|condition|formula|calculation|criteri(?:a|on)|stands for)\b"
    );
    let at = cells.iter().position(|(header, _)| is_term.is_match(header)).unwrap_or(0);
    let (header, term) = cells.get(at)?;
    let mut name = name(term)?;
    name.heads.extend(term.split(',').skip(usize::from(!term.contains(','))).map(stems));
    let rest: Vec<&(String, String)> =
        cells.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, cell)| cell).collect();
    let meaning = rest.iter().find(|(header, _)| is_meaning.is_match(header));
    let gloss = match rest.as_slice() {
        [] => return None,
        [(header, only)] if header.is_empty() || is_meaning.is_match(header) => only.clone(),
        many => many.iter().map(|(header, cell)| format!("{header}: {cell}")).collect::<Vec<_>>().join("; "),
    };
    // `gold tier` as well as `gold`.
    let mut with_header = name.heads[0].clone();
    with_header.extend(stems(header));
    name.heads.push(with_header);
    Some(definition(name, &gloss, Pattern::Row, if meaning.is_some() { 0.92 } else { 0.8 }))
}

/// What the first sentence under a heading says of it.
fn under_heading(unit: &Unit, core: &str, main: Option<&Definition>) -> Option<Definition> {
    if !unit.first || unit.heading.is_empty() {
        return None;
    }
    let asked = Question::parse(&unit.heading);
    let is_question = unit.heading.ends_with('?');
    let mut name = if is_question {
        let mut heads: Vec<_> = asked.alternatives.iter().map(|(stems, _)| stems.clone()).collect();
        heads.push(asked.content.clone());
        // Only a question for a term has one.
        let term = if asked.shape == Shape::Define { asked.term.clone() } else { String::new() };
        Name { term, heads }
    } else {
        name(&unit.heading)?
    };
    name.heads.retain(|head| !head.is_empty());
    if main.is_some_and(|main| main.heads.iter().any(|a| name.heads.iter().any(|b| same(a, b)))) {
        return None;
    }
    let refers = regex!(r"(?i)^(?:it|this|that|these|those|they)\s+(?:is|are|means?|refers? to|describes?|denotes?|comprises?|consists? of|counts?)\s+(?:an?|the|any|those|all|customers|orders|when|\w+s who)?\b").is_match(core);
    let gloss = regex!(r"(?i)^(?:an?|the|any|every|each|all|one)?\s*(?:[\w'’-]+\s+){1,4}(?:of|who|whose|that|which|with|without|minus|plus|divided|times|in|for|from|between|where|when|per|\w+ed|\w+ing)\b").find(core);
    let finite = regex!(
        r"(?i)\b(?:is|are|was|were|has|have|had|do|does|can|could|may|might|must|shall|should|will|would|gets?|receives?)\b"
    );
    let fragment = gloss.is_some_and(|found| !finite.is_match(found.as_str()))
        && !name.heads.iter().any(|head| stems(core).starts_with(head));
    let strength = if is_question {
        0.9
    } else if refers {
        0.88
    } else if fragment {
        0.8
    } else if quantities(core).iter().any(|q| q.bound != crate::quantity::Bound::Exactly)
        && !name.heads.iter().any(|head| stems(core).starts_with(head))
    {
        0.65
    } else {
        0.4
    };
    Some(definition(name, core, Pattern::Heading, strength))
}

/// `average order value (AOV)`, `AOV (average order value)`, `(AOV, average order value)`: the short form is the term.
pub(crate) fn shorts(plain: &str) -> impl Iterator<Item = Definition> {
    regex!(r"\(([^()]{2,})\)").captures_iter(plain).filter_map(|found| {
        let (whole, inside) = (found.get(0)?, found.get(1)?.as_str());
        let before = plain[..whole.start()].trim_end();
        let last = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '&').next()?;
        let is_apart = before.len() < whole.start();
        let (short, long) = match inside.split_once(", ") {
            Some((short, long)) if is_short_form(short) && is_long_form(long) => (short, long),
            _ if is_apart && is_short_form(inside) => (inside, phrase_at_end(before)),
            _ if is_apart && is_short_form(last) && is_long_form(inside) => (last, inside),
            _ => return None,
        };
        Some(Definition {
            heads: vec![stems(short)],
            term: short.to_owned(),
            gloss: spelled_out(long, short)?,
            pattern: Pattern::Short,
            strength: 0.95,
        })
    })
}

/// The longest phrase that a short form stands for, in bytes.
const MAX_PHRASE: usize = 80;

fn is_short_form(text: &str) -> bool {
    regex!(r"^[A-Z][A-Za-z0-9&]{1,7}$").is_match(text)
}

fn is_long_form(text: &str) -> bool {
    (4..=MAX_PHRASE).contains(&text.len()) && text.starts_with(char::is_alphabetic) && text.chars().all(is_of_phrase)
}

/// The words at the end of `text`, up to the first sign that no phrase has.
fn phrase_at_end(text: &str) -> &str {
    let start = text.floor_char_boundary(text.len().saturating_sub(MAX_PHRASE));
    let end = &text[start..];
    end.rsplit(|c| !is_of_phrase(c)).next().unwrap_or(end)
}

fn is_of_phrase(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '\'' | '’' | ' ' | '-')
}

/// The last words of `text` whose initials are `short`; small words in between may be skipped.
fn spelled_out(text: &str, short: &str) -> Option<String> {
    let letters: Vec<char> = short.chars().filter(|c| c.is_uppercase()).flat_map(char::to_lowercase).collect();
    let words: Vec<regex::Match<'_>> = regex!(r"[\p{L}'’]+").find_iter(text).collect();
    let mut left = letters.len();
    if left < 2 {
        return None;
    }
    for word in words.iter().rev() {
        if word.as_str().chars().flat_map(char::to_lowercase).next() == Some(letters[left - 1]) {
            left -= 1;
            if left == 0 {
                return Some(text[word.start()..].trim().to_owned());
            }
        } else if !is_stop_word(&word.as_str().to_lowercase()) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::units;

    /// The best definition of the last unit, if it is one at all.
    fn best(text: &str) -> Option<Definition> {
        let units = units(text, "");
        let always = |d: &Definition| !matches!(d.pattern, Pattern::Short | Pattern::Unit | Pattern::Threshold);
        let found = units.last().into_iter().flat_map(definitions).filter(always);
        found.filter(|d| d.strength >= 0.5).max_by(|a, b| a.strength.total_cmp(&b.strength))
    }

    #[test]
    fn the_subject_is_what_is_defined() {
        fn check(text: &str, term: &str) {
            let found = best(text);
            assert_eq!(found.as_ref().map(|d| d.term.as_str()), Some(term), "{text}: {found:?}");
        }
        for (text, term) in [
            ("A VIP customer is a customer whose spending is at least 45.", "VIP customer"),
            ("VIP customers are those with five orders.", "VIP customers"),
            ("Note that, by default, churn is defined as the loss of a customer.", "churn"),
            ("For reporting purposes, an order refers to a paid basket.", "order"),
            ("The term \"bounce\" means a visit of one page.", "bounce"),
            ("Net revenue (net sales) is gross revenue minus refunds.", "Net revenue"),
            ("Churn, also called attrition, is the share of customers who left.", "Churn"),
            ("Customers who spend more than 45.00 are VIP customers.", "VIP customers"),
            ("Customers with ten orders count as regulars.", "regulars"),
            ("A member is said to be in good standing as long as nothing is due.", "good standing member"),
            ("Minors, that is persons under 16, may not buy.", "Minors"),
            ("A bulk order contains 50 units or more.", "bulk order"),
            ("An invoice becomes overdue after 30 days.", "overdue invoice"),
            ("We call a customer dormant if there was no visit.", "dormant customer"),
            ("Finance defines churn as the loss of a customer.", "churn"),
            ("The VAT rate is 19 %.", "VAT rate"),
            ("Churn is when a customer leaves.", "Churn"),
            ("- `net_total`: the sum of all lines", "net_total"),
            ("Churn\n: a customer who left", "Churn"),
            ("## Churn\n\nThis is the share of customers who left.", "Churn"),
            ("## Churn\n\nThe share of customers who left.", "Churn"),
            ("### What is a seat?\n\nOne user pays for it.", "seat"),
            ("The **churn rate** of a quarter is the share of customers who left.", "churn rate"),
            ("A **full refund** returns the whole price.", "full refund"),
            ("A customer who comes back is **reactivated** at once.", "reactivated customer"),
        ] {
            check(text, term);
        }
    }

    #[test]
    fn a_mention_is_no_definition() {
        for text in [
            "VIP customers receive free shipping.",
            "VIP customers are a priority for the support team.",
            "We ship to VIP customers first.",
            "This means that customers wait.",
            "It is the best of all.",
            "Is a VIP customer a customer with an account?",
            "Important: VIP customers are asked first.",
            "A VIP customer is not a customer with a large order.",
            "## VIP customers\n\nVIP customers receive free shipping.",
            "**VIP customers** get free shipping.",
            "There are two kinds of customers.",
        ] {
            assert_eq!(best(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_once_so_counts_for_less() {
        let strength = |text: &str| best(text).map_or(0.0, |d| d.strength);
        let now = strength("A VIP customer is a customer who paid 45.");
        assert!(strength("Until 2020, a VIP customer was a customer who paid 99.") < now - 0.2);
        assert!(strength("For example, a VIP customer is a customer who paid 99.") < now - 0.2);
    }
}
