//! Whether definitions are needed, and what they speak of is there.

use super::{
    Report, SenseCode, SenseFinding, currencies,
    view::{PlanView, UsedTerm},
    vocabulary::{Cover, Vocabulary, alike, stems},
};
use crate::meaning::ColumnMeaning;

/// A definition that names more things than this is a text.
const MAX_NAMES: usize = 12;

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    let needed = list_needed(view);
    for (at, term) in view.terms.iter().enumerate() {
        report.check((!needed[at]).then(|| {
            let message = format!(
                "neither the question nor another definition speaks of `{}`: take the definition out",
                term.term.term
            );
            SenseFinding::new(SenseCode::DefinitionNotNeeded, None, message)
        }));
        if needed[at] {
            check_needs(view, term, report);
        }
    }
    check_kinds(view, report);
    // What the catalog defines counts whether the plan says so or not; but whoever made the plan may mean something else by the words.
    let mut unused = Report::default();
    for term in view.unused_terms() {
        check_needs(view, term, &mut unused);
    }
    report.checked += unused.checked - unused.findings.len();
    for finding in unused.findings {
        report.check(Some(SenseFinding { code: SenseCode::NotCovered, ..finding }));
    }
}

/// A word that the catalog defines in several kinds (`gross revenue`, `net revenue`) is meant as one of them: what they are made
/// of wins over another table that has a column of that name.
fn check_kinds(view: &PlanView<'_>, report: &mut Report) {
    for concept in &view.question.concepts {
        let before = concept.at.checked_sub(1);
        if view.question.concepts.iter().any(|other| Some(other.at) == before) {
            continue;
        }
        let is_kind = |term: &&UsedTerm| {
            // `average rating` is no kind of rating.
            let first = term.term.term.split_whitespace().next().unwrap_or_default().to_lowercase();
            let is_own_kind = !prospector_text::requests::is_about_nothing(&first);
            // A rating is no rate, though both have one stem.
            let is_same_word = term_head(term).eq_ignore_ascii_case(&concept.text);
            term.stems.len() == 2 && is_same_word && is_own_kind && term.is_formula
        };
        let kinds: Vec<&UsedTerm> = view.related.iter().filter(is_kind).collect();
        let mut homes: Vec<String> = Vec::new();
        for (table, _) in kinds.iter().flat_map(|term| read_columns(&term.term.definition)) {
            let known = view.meanings.homes(&stems(&table).pop().unwrap_or_default());
            homes.extend(known.into_iter().filter(|id| id.rsplit('.').next() == Some(table.as_str())));
        }
        homes.dedup();
        let is_there = homes.is_empty() || view.tables().any(|(_, table)| homes.contains(&table.id));
        let kind = kinds.first().filter(|_| !is_there && view.tables().next().is_some());
        report.check(kind.map(|term| {
            let message = format!(
                "`{}` of the question is defined, as in `{}` ({}), and no step uses what it is made of",
                concept.text, term.term.term, term.term.source
            );
            SenseFinding::new(SenseCode::NotCovered, None, message).near(homes.iter().take(3).cloned().collect())
        }));
    }
}

/// Which of the plan's definitions the question needs, or a definition that it needs.
fn list_needed(view: &PlanView<'_>) -> Vec<bool> {
    let mut needed: Vec<bool> = view.terms.iter().map(|term| is_asked(view, term)).collect();
    for _ in 0..view.terms.len() {
        for at in 0..view.terms.len() {
            let term = &view.terms[at];
            let is_named = view.terms.iter().zip(&needed).any(|(other, is_needed)| {
                let is_said = || term.stems.iter().all(|stem| other.says.iter().any(|said| alike(said, stem)));
                *is_needed && (is_said() || stands_in(view, term, other))
            });
            needed[at] |= is_named;
        }
    }
    needed
}

/// Whether a term stands in the definition of another as it is written, in the words of the plan or of the catalog: `reporting date`.
fn stands_in(view: &PlanView<'_>, term: &UsedTerm, other: &UsedTerm) -> bool {
    let count = term.stems.len();
    let in_catalog = view.defined.iter().chain(&view.related).filter(|known| known.stems == other.stems);
    let mut definitions = in_catalog.chain([other]).map(|known| stems(&known.term.definition));
    count > 0 && term.stems != other.stems && definitions.any(|said| said.windows(count).any(|part| part == term.stems))
}

/// Whether the question speaks of a term: of all its words, or of its last ones where the question says nothing else before
/// them: `revenue` may be gross revenue, `bounce rate` is no refund rate.
fn is_asked(view: &PlanView<'_>, term: &UsedTerm) -> bool {
    let question = &view.question;
    if !term.stems.is_empty() && term.stems.iter().all(|stem| view.said.contains(stem)) {
        return true;
    }
    if currencies::is_asked(view, term) {
        return true;
    }
    // Or a step does what it says.
    let done = term.says.iter().filter(|stem| view.said.contains(stem)).count();
    if done > 1 && done * 3 >= term.says.len() * 2 {
        return true;
    }
    if term.place(question).is_some()
        || term.stems.iter().all(|stem| question.words.iter().any(|word| alike(word, stem)))
    {
        return !term.stems.is_empty();
    }
    let Some(head) = term.stems.last() else { return false };
    question.concepts.iter().any(|concept| {
        let before = concept.at.checked_sub(1).and_then(|at| question.concepts.iter().find(|other| other.at == at));
        let fits = before.is_none_or(|before| term.stems.iter().any(|stem| alike(stem, &before.stem)));
        // The first word of a term of two may be what it is about: `churned` of `churned customer`.
        (alike(&concept.stem, head) && fits)
            || term.stems.first().is_some_and(|first| alike(first, &concept.stem)) && term.stems.len() > 1 && fits
    })
}

/// What a definition names has to be in the plan: columns as `table.column`, tables by their names, and words that only
/// other tables are called by.
fn check_needs(view: &PlanView<'_>, term: &UsedTerm, report: &mut Report) {
    let about_data = view.tables().next().is_some();
    // A verified query that speaks of the term does what its definition says.
    let is_done =
        !term.stems.is_empty() && view.queries.iter().any(|query| term.stems.iter().all(|stem| query.says(stem)));
    if !about_data || is_done {
        return;
    }
    for (table, column) in read_columns(&term.term.definition) {
        let mut named = view.tables().filter(|(_, used)| used.name.eq_ignore_ascii_case(&table)).peekable();
        let known = view.meanings.homes(&stems(&table).pop().unwrap_or_default());
        let home = known.iter().find(|id| id.rsplit('.').next().is_some_and(|name| name.eq_ignore_ascii_case(&table)));
        if named.peek().is_none() {
            report.check(home.map(|home| tell(term, &format!("the table `{table}`")).near(vec![home.clone()])));
            continue;
        }
        let is_column = named.any(|(_, used)| used.column(&column).is_some());
        let uses = |name: &str| name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(&column));
        let said = view.steps.iter().any(|step| {
            let fields = super::view::list_fields(step);
            fields.iter().any(|name| uses(name))
                || step.columns.iter().any(|name| uses(name))
                || step
                    .compute
                    .iter()
                    .filter_map(|measure| measure.expression.as_deref())
                    .any(|text| text.contains(&column))
        });
        let missing = is_column && view.is_structured && !said;
        report.check(missing.then(|| tell(term, &format!("the column `{table}.{column}`"))));
    }
    // A kind of customer is known by the table of customers.
    if let Some(head) = term.stems.last().filter(|_| term.stems.len() > 1) {
        let homes: Vec<String> = view.meanings.homes(head).into_iter().filter(|id| is_called(id, head)).collect();
        let is_there = homes.is_empty()
            || view.tables().any(|(_, table)| homes.contains(&table.id))
            || view.fields().iter().any(|field| is_key_to(field.column, &homes, head));
        report.check(
            (!is_there).then(|| tell(term, &format!("the table of {head}", head = term_head(term))).near(homes)),
        );
    }
    for stem in list_names(view, term) {
        let homes = view.meanings.homes(&stem);
        let Some(first) = homes.first().cloned() else { continue };
        let is_there = view.cover(&stem) > Cover::None && is_reached(view, &stem, term, &homes);
        report.check(
            (!is_there).then(|| tell(term, &format!("`{}`, which is in {first}", term.word(&stem))).near(homes)),
        );
    }
}

/// A word that a table is called by alone needs that table, or a key to it; after a word for one of its values (`paid
/// invoices`) the table itself.
fn is_reached(view: &PlanView<'_>, stem: &str, term: &UsedTerm, homes: &[String]) -> bool {
    let exact: Vec<&String> = homes.iter().filter(|id| is_called(id, stem)).collect();
    if exact.is_empty() || view.tables().any(|(_, table)| exact.iter().any(|id| **id == table.id)) {
        return true;
    }
    let mut before = term.says.windows(2).filter(|pair| alike(&pair[1], stem)).map(|pair| &pair[0]);
    if before.any(|word| is_value_of(view, word, stem)) {
        return false;
    }
    view.tables().any(|(_, table)| {
        let leads = |to: &str| exact.iter().any(|id| id.rsplit('.').next() == Some(to));
        table.columns.iter().any(|column| column.refers.as_ref().is_some_and(|(to, _)| leads(to)))
    })
}

/// Whether a column that a step computes with is a key to one of these, as its schema declares it or as it is called:
/// `customer_id`.
fn is_key_to(column: &ColumnMeaning, homes: &[String], head: &str) -> bool {
    let leads = |to: &str| homes.iter().any(|id| id.rsplit('.').next() == Some(to));
    let words = stems(&column.name);
    let is_called = words.len() > 1 && alike(&words[0], head) && is_key_word(&words[words.len() - 1]);
    is_called || column.refers.as_ref().is_some_and(|(to, _)| leads(to))
}

fn is_key_word(stem: &str) -> bool {
    ["id", "code", "cd", "key", "no", "number"].iter().any(|word| stems(word).concat() == stem)
}

/// The last word of a term, as it is written.
fn term_head(term: &UsedTerm) -> &str {
    term.term.term.split_whitespace().next_back().unwrap_or_default()
}

/// Whether a word is a value of the table that another word names.
fn is_value_of(view: &PlanView<'_>, word: &str, thing: &str) -> bool {
    view.meanings.homes(thing).iter().filter(|id| is_called(id, thing)).any(|id| {
        let table = view.meanings.table(id);
        table.is_some_and(|table| !Vocabulary::of_table(&table).columns_with(word).is_empty())
    })
}

/// Whether a table is called by this word alone.
fn is_called(id: &str, stem: &str) -> bool {
    matches!(stems(id.rsplit('.').next().unwrap_or_default()).as_slice(), [only] if alike(only, stem))
}

/// The words of a definition that may be names, beside those of the term.
fn list_names(view: &PlanView<'_>, term: &UsedTerm) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, stem) in term.says.iter().enumerate().filter(|(_, stem)| stem.len() > 3) {
        // What is no formula needs only what it names after a value: `without any paid invoice`.
        let of_value = at > 0 && is_value_of(view, &term.says[at - 1], stem);
        if (term.is_formula || of_value) && !found.contains(stem) {
            found.push(stem.clone());
        }
    }
    found.truncate(MAX_NAMES);
    found.retain(|stem| !view.terms.iter().any(|other| other.stems.contains(stem) && other.stems.len() == 1));
    found
}

/// `table.column` in a text.
fn read_columns(text: &str) -> Vec<(String, String)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c) && c != '.').map(|word| word.trim_matches('.'));
    let pairs = words.filter_map(|word| word.rsplit_once('.'));
    let pairs = pairs.filter(|(table, column)| {
        let is_name = |part: &str| part.chars().next().is_some_and(char::is_alphabetic);
        is_name(table) && is_name(column)
    });
    let table = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    pairs.map(|(name, column)| (table(name), column.to_owned())).take(MAX_NAMES).collect()
}

fn tell(term: &UsedTerm, what: &str) -> SenseFinding {
    let message = format!("the definition of `{}` needs {what}, and no step uses it", term.term.term);
    SenseFinding::new(SenseCode::DefinitionNotMet, None, message)
}
