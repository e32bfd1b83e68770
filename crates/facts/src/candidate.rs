//! What may be the answer: a known fact or a unit of a passage, with how sure it makes the answer.

use crate::{
    definition::{Definition, Pattern, definitions, fact_heads},
    evidence::Passage,
    fit::{Asking, Said},
    model::{Fact, Origin, Source},
    quantity::quantities,
    question::Shape,
    sentences::{Form, LONGEST_SENTENCE, Unit},
    words::{regex, stems},
};

/// What is written down is never quite certain.
pub(crate) const MOST: f64 = 0.97;
const LONGEST_ANSWER: usize = 1_500;
const LONGEST_EXCERPT: usize = 400;

/// Something that may be the answer.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) term: Option<String>,
    /// The stems by which it was found.
    pub(crate) key: Vec<String>,
    pub(crate) answer: String,
    pub(crate) source: Source,
    pub(crate) fit: f64,
    /// The sentence covers the question, but does not define what is asked for.
    pub(crate) covers: bool,
    pub(crate) confidence: f64,
    pub(crate) origin: Option<Origin>,
    pub(crate) scope: String,
}

/// The best way in which a unit answers.
struct Best<'a> {
    confidence: f64,
    fit: f64,
    covers: bool,
    definition: Option<&'a Definition>,
    key: Vec<String>,
}

pub(crate) fn from_fact(asking: &Asking, fact: &Fact) -> Option<Candidate> {
    let own = [fact.term.as_str(), &fact.definition, &fact.scope].into_iter().flat_map(stems).collect();
    let text = Said::only(own);
    let (fit, key) = fact_heads(&fact.term)
        .into_iter()
        .filter_map(|head| asking.fit(&head, &text).map(|fit| (fit, head)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let confidence = fit * fact.confidence;
    let source = Source {
        source_type: fact.origin.as_str().to_owned(),
        name: if fact.source.is_empty() { fact.term.clone() } else { fact.source.clone() },
        excerpt: cut(&fact.definition, LONGEST_EXCERPT),
        confidence,
    };
    Some(Candidate {
        term: Some(fact.term.clone()),
        key,
        answer: cut(&fact.definition, LONGEST_ANSWER),
        source,
        fit,
        covers: false,
        confidence,
        origin: Some(fact.origin),
        scope: fact.scope.clone(),
    })
}

pub(crate) fn from_unit(asking: &Asking, passage: &Passage, unit: &Unit, text: &Said) -> Option<Candidate> {
    let asked = &asking.asked;
    let defined = definitions(unit);
    let trust = 0.9 + 0.1 * f64::from(passage.relevance.clamp(0.0, 1.0));
    let mut best: Option<Best<'_>> = None;
    let mut offer = |new| {
        let Best { confidence, .. } = new;
        if best.as_ref().is_none_or(|top| confidence > top.confidence) {
            best = Some(new);
        }
    };
    let has_value = !quantities(&unit.plain).is_empty() || unit.list.iter().any(|line| !quantities(line).is_empty());
    // What a data dictionary says of its tables and columns is not what a request turns on.
    let dictionary =
        matches!(&unit.form, Form::Row(cells) if cells.first().is_some_and(|(header, _)| is_dictionary(header)));
    for definition in &defined {
        if dictionary && asked.shape == Shape::Request {
            continue;
        }
        let strength = match definition.pattern {
            Pattern::Threshold if !asked.value => 0.4,
            Pattern::Unit if !asked.unit => 0.4,
            Pattern::Short if !asked.short => 0.58,
            // The sentence under the heading of the term that gives the number that is wanted.
            Pattern::Heading if asked.value && has_value => definition.strength.max(0.75),
            _ => definition.strength,
        };
        let missing = asked.value && !has_value;
        for head in &definition.heads {
            if let Some(fit) = asking.fit(head, text) {
                let fit = if missing { fit * 0.7 } else { fit };
                let confidence = fit * strength * trust;
                offer(Best { confidence, fit, covers: false, definition: Some(definition), key: head.clone() });
            }
        }
    }
    let looks_up = match asked.shape {
        Shape::Ask => !asked.value || has_value,
        Shape::Define if asked.when => {
            let tells = regex!(r"(?i)\b(?:when|if|once|after|before|at|on|within|until|from|by|each|every)\b");
            has_value || tells.is_match(&unit.plain)
        }
        Shape::Define => asked.content.len() >= 3 && asked.value && has_value,
        Shape::Request => false,
    };
    if looks_up && !unit.plain.ends_with('?') && unit.plain.len() <= LONGEST_SENTENCE && asked.content.len() >= 2 {
        let coverage = asking.coverage(text);
        // A list that says a bit of everything answers nothing.
        let lead = Said::only(stems(&unit.plain).into_iter().collect());
        if coverage >= 0.75 && (unit.list.is_empty() || asking.coverage(&lead) >= 0.5) {
            let plain =
                defined.iter().find(|d| d.strength >= 0.7 && !matches!(d.pattern, Pattern::Threshold | Pattern::Unit));
            // A point in time is easily mentioned in passing.
            let plainly = if asked.when { 0.7 } else { 0.85 };
            let confidence = plainly * coverage * coverage * trust;
            offer(Best { confidence, fit: coverage, covers: true, definition: plain, key: asked.content.clone() });
        }
    }
    let Best { confidence, fit, covers, definition, key } = best?;
    let source = Source {
        source_type: passage.source_type.clone(),
        name: passage.name.clone(),
        excerpt: cut(&with_list(&unit.text, &unit.list), LONGEST_EXCERPT),
        confidence: confidence.min(MOST),
    };
    let named = definition.filter(|d| !d.term.is_empty() && !matches!(d.pattern, Pattern::Threshold | Pattern::Unit));
    Some(Candidate {
        term: named.map(|d| d.term.clone()),
        key,
        answer: cut(&spoken(unit, definition), LONGEST_ANSWER),
        source,
        fit,
        covers,
        confidence: confidence.min(MOST),
        origin: None,
        scope: String::new(),
    })
}

fn is_dictionary(header: &str) -> bool {
    ["table", "column", "field", "file", "view"].contains(&header.to_lowercase().as_str())
}

/// A unit as an answer: the sentence with what belongs to it; a row with its headers.
fn spoken(unit: &Unit, definition: Option<&Definition>) -> String {
    match (&unit.form, definition) {
        (Form::Row(_), Some(definition)) if definition.pattern != Pattern::Code => {
            format!("{}: {}", definition.term, definition.gloss)
        }
        (Form::Row(cells), _) => {
            cells.iter().map(|(header, cell)| format!("{header}: {cell}")).collect::<Vec<_>>().join("; ")
        }
        _ if unit.before.is_empty() => with_list(&unit.plain, &unit.list),
        _ => format!("{} {}", unit.before, with_list(&unit.plain, &unit.list)),
    }
}

fn with_list(sentence: &str, list: &[String]) -> String {
    let lines = list.iter().map(|line| if line.starts_with('|') { format!("\n{line}") } else { format!("\n- {line}") });
    std::iter::once(sentence.to_owned()).chain(lines).collect()
}

/// `text` or its first part, cut between words.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(longest) else { return text.to_owned() };
    let end = text[..end].rfind(char::is_whitespace).unwrap_or(end);
    format!("{} ..", text[..end].trim_end())
}
