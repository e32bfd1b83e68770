//! Currencies in a question: one that the data are in is only their unit, any other takes the rates.

use prospector_text::codes::find_currency;

use super::{
    SenseCode, SenseFinding,
    question::{Concept, Question},
    view::{PlanView, UsedTerm, list_fields},
    vocabulary::{alike, stems},
};
use crate::meaning::{ColumnMeaning, TableMeaning};

/// An amount in a currency takes the rates, where there are some and the data are not known to be in it.
pub(super) fn check(view: &PlanView<'_>) -> Option<SenseFinding> {
    let concept = view.question.concepts.iter().find(|concept| find_currency(&concept.text).is_some())?;
    if is_own(view, concept) {
        return None;
    }
    let homes = view.meanings.homes("exchang");
    if homes.is_empty() || view.tables().next().is_none() {
        return None;
    }
    let tables: Vec<&TableMeaning> =
        view.tables().map(|(_, table)| table).filter(|table| homes.contains(&table.id)).collect();
    if tables.is_empty() {
        let message = format!("`{}` of the question takes exchange rates, and no step reads them", concept.text);
        return Some(SenseFinding::new(SenseCode::NotCovered, None, message).near(homes));
    }
    // Where a step says which columns it reads, the rate is one of them.
    let named = view.steps.iter().flat_map(|step| {
        let names = step.columns.iter().map(String::as_str).chain(list_fields(step));
        names.filter_map(move |name| view.find_column(step, name))
    });
    let mut named = named.filter(|found| homes.contains(&found.table.id)).map(|found| found.column).peekable();
    let is_rate = |column: &ColumnMeaning| column.column_type.is_numeric() && !column.primary_key;
    let rates = || tables.iter().flat_map(|table| &table.columns).filter(|column| is_rate(column));
    let mut formulas = view.steps.iter().flat_map(|step| &step.compute).filter_map(|one| one.expression.as_deref());
    let in_formula = formulas.any(|formula| rates().any(|column| formula.contains(column.name.as_str())));
    if named.peek().is_none() || in_formula || named.any(is_rate) {
        return None;
    }
    let message = format!("`{}` of the question takes the rate, and no step names its column", concept.text);
    let nearest = rates().map(|column| column.name.clone()).collect();
    Some(SenseFinding::new(SenseCode::WrongMeasure, None, message).near(nearest))
}

/// Whether a word is the currency that the data are in: the catalog defines what amounts are in, or the tables say so that they are
/// read from.
pub(super) fn is_own(view: &PlanView<'_>, concept: &Concept) -> bool {
    let Some(code) = find_currency(&concept.text) else { return false };
    let of_amounts = stems("amounts");
    let is_about = |term: &&UsedTerm| {
        let is_word = term.stems.iter().any(|stem| is_word_for_currency(stem));
        is_word && stems(&term.term.definition).iter().any(|stem| of_amounts.contains(stem))
    };
    let mut terms = view.defined.iter().chain(&view.related).filter(is_about);
    let is_named = |text: &str| find_first(text) == Some(code);
    // Of several that a definition names, the first is what the others are told in.
    if terms.any(|term| is_named(&term.term.definition)) {
        return true;
    }
    let rates = view.meanings.homes("exchang");
    let mut tables = view.tables().map(|(_, table)| table).filter(|table| !rates.contains(&table.id));
    tables.any(|table| {
        is_named(&table.description)
            || table.columns.iter().any(|column| {
                column.column_type.is_numeric() && (is_named(&column.name) || is_named(&column.description))
            })
    })
}

/// Whether a currency is the unit of a number before it: `more than 10 dollars`.
pub(super) fn is_unit(question: &Question, concept: &Concept) -> bool {
    let before = concept.at.checked_sub(1).and_then(|at| question.words.get(at));
    let is_number = before.is_some_and(|word| word.chars().next().is_some_and(|c| c.is_ascii_digit()));
    is_number && find_currency(&concept.text).is_some()
}

/// Whether the question names a currency, and the term says what holds of these.
pub(super) fn is_asked(view: &PlanView<'_>, term: &UsedTerm) -> bool {
    let names_currency = view.question.concepts.iter().any(|concept| find_currency(&concept.text).is_some());
    names_currency && term.stems.iter().any(|stem| is_word_for_currency(stem))
}

fn is_word_for_currency(stem: &str) -> bool {
    ["currency", "currencies"].iter().any(|word| stems(word).iter().any(|known| alike(known, stem)))
}

/// The code of the first currency that a text names, in words or as a code.
fn find_first(text: &str) -> Option<&'static str> {
    let mut words = prospector_text::identifiers::words(text).into_iter();
    words.find_map(|word| find_currency(&word.to_lowercase()).or_else(|| find_code(&word)))
}

fn find_code(word: &str) -> Option<&'static str> {
    const CODES: [&str; 12] = ["USD", "EUR", "GBP", "JPY", "CNY", "INR", "CHF", "SEK", "NOK", "PLN", "BRL", "CAD"];
    CODES.into_iter().find(|code| code.eq_ignore_ascii_case(word))
}
