//! The verbs that make a sentence a definition: `is`, `means`, `counts as`, `= ..`, and what they make of it.

use crate::{
    quantity::quantities,
    term::{Definition, Pattern, definition, name},
    words::{regex, within, words},
};

/// The sentence without what only leads in to it: `For reporting purposes, `, `Note that `.
pub(crate) fn core(plain: &str) -> &str {
    let lead = regex!(
        r"(?i)^(?:(?:for|in|at|by|since|as of|within|on|under|throughout|from|to|if|when|whenever|once|after|as soon as|where)\b[^,]{2,160},\s+(?:then\s+)?|(?:please )?(?:note|remember|recall|keep in mind) that[,\s]+|(?:here|internally|usually|generally|formally|today|also|thus|therefore|however|in short|similarly|likewise|conversely|for example|e\.g\.),?\s+)"
    );
    let mut rest = plain;
    while let Some(found) = lead.find(rest).filter(|found| found.end() < rest.len()) {
        rest = &rest[found.end()..];
    }
    rest
}

pub(crate) fn equality(core: &str) -> Option<Definition> {
    let found = regex!(r"^(?P<term>[^=:<>!]{2,60}?)\s+(?::=|=)\s+(?P<rest>[^=].*)$").captures(core)?;
    // An assignment in a program is no formula.
    if regex!(r#"["'\[{;]|\w\.\w+\(|,$"#).is_match(&found["rest"]) {
        return None;
    }
    let name = name(&found["term"])?;
    Some(definition(name, &found["rest"], Pattern::Equality, 0.95))
}

/// `We define churn as ..`, `By churn we mean ..`, `We call a customer lost if ..`
pub(crate) fn we_say(core: &str) -> Option<Definition> {
    let explicit = [
        regex!(
            r"(?i)^(?:\S+\s+){1,4}?(?:defines?|understands?)\s+(?P<term>[^,.;]{2,60}?)\s+(?:as|to be|to mean)\s+(?P<rest>.+)$"
        ),
        regex!(r"(?i)\bby\s+(?P<term>[^,.;]{2,60}?),?\s+(?:we|the \w+) (?:mean|means|understand)\s+(?P<rest>.+)$"),
        regex!(
            r"(?i)^(?:we|the \w+) (?:calculates?|computes?|measures?|determines?)\s+(?P<term>[^,.;]{2,60}?)\s+(?:as|by|from|to be)\s+(?P<rest>.+)$"
        ),
    ];
    for pattern in explicit {
        if let Some(found) = pattern.captures(core)
            && let Some(name) = name(&found["term"])
        {
            return Some(definition(name, &found["rest"], Pattern::Explicit, 0.95));
        }
    }
    let called = regex!(
        r"(?i)^(?:we|the [\w ]{2,30}?|finance|marketing|sales|support|\w+ team) (?:calls?|considers?|counts?|treats?|regards?|class(?:es|ify|ifies)?|classif(?:y|ies)|flags?|marks?|labels?)\s+(?P<term>[^,.;]{2,70}?)\s+(?:if|when|once|after|whenever|as soon as)\b"
    );
    let found = called.captures(core)?;
    let whole = found["term"].trim();
    let (subject, what) = whole.split_once(" as ").or_else(|| whole.rsplit_once(' ')).unwrap_or(("", whole));
    complement(core, subject, what, 0.9)
}

/// The verb that makes a definition, the first with a subject that can be a term.
pub(crate) fn verb(core: &str) -> Option<Definition> {
    let verbs = regex!(concat!(
        r"(?i)(?P<explicit>\b(?:is|are|was|were|be|been)\s+(?:\w+ly\s+|here\s+|then\s+|always\s+)?(?:defined|understood|calculated|computed|measured|determined|derived|obtained|expressed|worked out)\s+(?:as|by|from|to be|to mean|when|if|using|in|over|per|on|with|once|only|for)\b",
        r"|\b(?:means?|refers? to|denotes?|stands? for|signif(?:y|ies)|is short for|(?:is|are) (?:an |the )?(?:abbreviation|acronym|short form) (?:for|of)|equals?|(?:is|are) equal to|(?:is|are) the same as|consists? of|comprises?|is made up of|corresponds? to)\b)",
        r"|(?P<dated>\b(?:(?:starts?|begins?|runs?|ends?)\s+(?:on|from|in|at|with|until|to|after)|lasts)\b)",
        r"|(?P<assign>\b(?:(?:is|are|was|were|gets?)\s+(?:\w+ly\s+|then\s+|also\s+)?(?:considered|called|named|termed|classified as|categori[sz]ed as|treated as|regarded as|deemed|labell?ed(?: as)?|flagged(?: as)?|marked(?: as)?|known as|referred to as|counted as|said to be)(?:\s+to be)?|counts? as|qualif(?:y|ies) (?:as|for)|becomes?)\b)",
        r"|(?P<does>\b(?:contains?|groups?|measures?|counts|tracks?|compares?|indicates?|describes?|represents?|records?)\b)",
        r"|(?P<has>\b(?:has|have)\b)|(?P<copula>\b(?:is|are|was|were)\b)",
    ));
    for found in verbs.captures_iter(core).take(4) {
        let whole = found.get(0)?;
        let (subject, rest) = (core[..whole.start()].trim(), core[whole.end()..].trim());
        let kind = ["explicit", "dated", "assign", "does", "has", "copula"]
            .into_iter()
            .find(|kind| found.name(kind).is_some());
        let got = match kind {
            Some("explicit") => name(subject).map(|name| definition(name, rest, Pattern::Explicit, 0.95)),
            Some("dated") => {
                let says_when = !quantities(rest).is_empty() || rest.chars().any(|c| c.is_ascii_digit());
                name(subject).filter(|_| says_when).map(|name| definition(name, rest, Pattern::Copula, 0.8))
            }
            Some("assign") => parse_complement(core, subject, rest),
            Some("does") => name(subject).map(|name| definition(name, core, Pattern::Copula, 0.65)),
            Some("has") => condition(core, subject, rest),
            _ => condition(core, subject, rest)
                .or_else(|| parse_inversion(core, subject, rest))
                .or_else(|| copula(subject, rest)),
        };
        if got.is_some() {
            return got;
        }
    }
    None
}

/// `[A customer] counts as [a VIP] when ..`: what is defined is the complement, with or without the subject.
fn parse_complement(core: &str, subject: &str, rest: &str) -> Option<Definition> {
    let rest = rest.trim_start_matches("in ");
    let end = regex!(r"(?i)\s*(?:\b(?:when|whenever|if|once|after|as soon as|as long as|until|unless|only|from|for|who|whose|that|which|because|since|where|in|at|on|by|with|upon)\b|[,.;:(–—])")
        .find(rest)
        .map_or(rest.len(), |m| m.start());
    complement(core, subject, &rest[..end], 0.9)
}

/// `[An invoice] is [overdue] when ..`
fn condition(core: &str, subject: &str, rest: &str) -> Option<Definition> {
    let found = regex!(r"(?i)^(?:only\s+|in\s+)?(?P<what>[\w'’-]+(?:\s+[\w'’-]+){0,2}?)\s+(?:only\s+)?(?:when|whenever|if|once|after|as soon as|as long as|provided)\s+(?P<then>\S.*)$").captures(rest)?;
    let what = found.name("what")?.as_str();
    // `once a quarter` says how often; a complement with a preposition is no term.
    let often = regex!(r"(?i)^(?:a|per|every|each)\s+(?:day|week|month|quarter|year)\b").is_match(&found["then"]);
    if often
        || regex!(r"(?i)^(?:not|no|been|that|the day|those|when|only)\b|\b(?:by|to|in|at|on|from|with|of|for)\b")
            .is_match(what)
    {
        return None;
    }
    complement(core, subject, what, 0.88)
}

/// `[A customer whose spend exceeds 45] is [a VIP customer].`
fn parse_inversion(core: &str, subject: &str, rest: &str) -> Option<Definition> {
    if !regex!(r"(?i)^(?:an?|the|any|every|all|those)?\s*[\w'’-]+(?:\s+[\w'’-]+){0,2}?\s+(?:who|whose|that|which|with|without|of|in|for)\s").is_match(subject) {
        return None;
    }
    let what = regex!(r"(?i)^(?:an?\s+)?([\w'’-]+(?:\s+[\w'’-]+){0,3})\.?$").captures(rest)?;
    let noun = regex!(r"(?i)\b(?:who|whose|that|which|with|without|of|in|for)\b").find(subject)?;
    // Only a clause with a condition tells what the complement is; `Orders of today are late.` does not.
    let clause = regex!(r"(?i)\b(?:who|whose|that|which)\b").is_match(subject) || !quantities(subject).is_empty();
    if !clause
        || words(subject).len() > 25
        || regex!(r"(?i);|\b(?:though|although|because|so|but|while)\b").is_match(subject)
    {
        return None;
    }
    complement(core, &subject[..noun.start()], what.get(1)?.as_str(), 0.85)
}

pub(crate) fn complement(core: &str, subject: &str, what: &str, strength: f64) -> Option<Definition> {
    // `counts as much as`, `is shown without`: no term.
    if regex!(r"(?i)^(?:as|much|many|well|often|soon|long|one|if)\b|\b(?:by|without|at|from|with)\b")
        .is_match(what.trim())
    {
        return None;
    }
    let article = regex!(r"(?i)^(?:an?|the)\s").is_match(what.trim());
    let plural = |text: &str| regex!(r"\w{3}[^s\W]s$").is_match(text.trim());
    let mut complement = name(what)?;
    if words(&complement.term).len() > 5 {
        return None;
    }
    // The noun of a long subject is enough: `customers with ten orders`.
    let noun = regex!(r"(?i)\s+(?:who|whose|that|which|with|without|of|in|for|from)\b")
        .find(subject)
        .map_or(subject, |m| &subject[..m.start()]);
    if let Some(subject) = name(noun) {
        let whole = complement.heads[0].clone();
        if !within(&subject.heads[0], &whole) {
            let both = [whole, subject.heads[0].clone()].concat();
            complement.heads.push(both);
            // `classified as gold members` names a thing; `deemed lapsed` only a quality of one.
            let thing = article || (plural(what) && plural(&subject.term));
            if !thing {
                complement.term = format!("{} {}", complement.term, subject.term.to_lowercase());
            }
        }
    }
    Some(definition(complement, core, Pattern::Condition, strength))
}

/// `[X] is ..`: how much of a definition it is depends on what follows.
fn copula(subject: &str, rest: &str) -> Option<Definition> {
    let name = name(subject)?;
    let has = |pattern: &regex::Regex| pattern.is_match(rest);
    let praise = has(regex!(
        r"(?i)^(?:an?|the|our|one of (?:the|our))\s+(?:\w+ly\s+)?(?:priority|important|key|good|great|major|big|biggest|largest|best|essential|central|part|example|focus|reason|problem|topic|goal|challenge|must|target|most|main|highest|lowest|strong|common|popular|heart|backbone)\b"
    ));
    let (pattern, strength) = if has(regex!(
        r"(?i)^(?:an?|the|any)?\s*[^,;]{0,80}?\b(?:minus|plus|divided by|times|multiplied by|net of|less)\b|\s[-+*/÷×−]\s"
    )) && !has(regex!(r"(?i)\bless than\b"))
    {
        (Pattern::Equality, 0.93)
    } else if praise {
        (Pattern::Copula, 0.4)
    } else if has(regex!(
        r"(?i)^(?:an?|the|any|every|one|those|each|anyone|anybody|everyone|someone|somebody|whoever|whatever|when|how|where)\b"
    )) {
        // Without anything that sets it apart from its kind it says little: `Churn is a metric.`
        let apart = has(regex!(
            r"(?i)\b(?:who|whose|that|which|with|without|where|when|if|in|of|for|from|between|after|before|until|per|to|within|made|placed|by|\w+ed|\w+ing)\b"
        ));
        (Pattern::Copula, if apart { 0.9 } else { 0.6 })
    } else if has(regex!(
        r"(?i)^(?:all )?(?:[\w'’-]+\s+){0,3}[\w'’-]+\s+(?:who|whose|that|which|with|without|in which|having)\b"
    )) && !has(regex!(r"(?i)^(?:\w+ly\s+)?\w+ed\b"))
    {
        (Pattern::Copula, 0.87)
    } else if has(regex!(
        r"(?i)^(?:currently |now |set (?:at|to) |fixed at |exactly |about |approximately |always |limited to |capped at |due |from |valid (?:for )?)*(?:(?:at least|at most|more than|less than|up to|no more than|not more than|between|over|under|above|below|within)\s+)?(?:[€$£]\s?)?\d"
    )) || (has(regex!(
        r"(?i)^(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|sixty|ninety)\b"
    ))) {
        (Pattern::Copula, 0.88)
    } else if has(regex!(r"(?i)^(?:only )?for\s")) {
        (Pattern::Copula, 0.75)
    } else if has(regex!(
        r"(?i)^all\b|^(?:[\w'’-]+\s+){0,2}[\w'’-]{3,}[^s\W]s\s+(?:in|of|from|above|below|between|placed|made|older|younger|over|under)\b"
    )) {
        (Pattern::Copula, 0.7)
    } else {
        (Pattern::Copula, 0.35)
    };
    Some(definition(name, rest, pattern, strength))
}

/// `Minors, that is persons under 16, may ..`, `Large parcels (those above 30 kg) are ..`
pub(crate) fn apposition(core: &str) -> Option<Definition> {
    let found = regex!(r"^(?P<term>[^,;:(]{2,60}?)\s*[,(]\s*(?:that is|i\.e\.|namely|meaning|those|these are)[,\s]\s*(?P<rest>[^,;:()]{4,160})[,)]").captures(core)?;
    name(&found["term"]).map(|name| definition(name, &found["rest"], Pattern::Copula, 0.85))
}

/// `Discounts may not exceed 30 %.`
pub(crate) fn threshold(core: &str) -> Option<Definition> {
    let found = regex!(r"(?i)^(?P<subject>[^,;:]{2,80}?)\s+(?:must|should|may|can|shall|will|needs? to|ha(?:s|ve) to|is|are|cannot|apply|applies|requires?|never)\b(?P<rest>.*)$").captures(core)?;
    if quantities(&found["rest"]).is_empty() {
        return None;
    }
    name(&found["subject"]).map(|name| definition(name, core, Pattern::Threshold, 0.85))
}

/// `Totals are stored in USD.`
pub(crate) fn in_unit(core: &str) -> Option<Definition> {
    let found = regex!(concat!(
        r"^(?P<subject>[^,;:]{2,80}?)\s+(?i:is|are)\s+(?:\w+\s+){0,2}?(?P<rest>(?i:US dollars|euros|pounds sterling)\b.*|(?i:in|as)\s+(?:\w+\s+)?(?:[A-Z]{3}\b|€|\$|£",
        r"|(?i:US dollars?|dollars|euros?|cents|pounds|percent|per cent|%|milliseconds|seconds|minutes|hours|days|weeks|months|years",
        r"|kilograms?|grams?|kg|bytes|units|pieces|met(?:re|er)s|kilomet(?:re|er)s|km|local time)\b).*)$"
    ))
    .captures(core)?;
    let whole = &found["subject"];
    let end =
        regex!(r"(?i)\s+(?:in|of|on|for)\s+(?:the|all|every|this)\b").find(whole).map_or(whole.len(), |m| m.start());
    name(&whole[..end]).map(|name| definition(name, &found["rest"], Pattern::Unit, 0.9))
}
