//! Which of the hits the plan uses. Relevance is a probability, and the search answers nothing where nothing fits, so the
//! rules are short:
//!
//! - the best table is used, where being named by the question or by the definition counts as [`NAME_BONUS`];
//! - of the others of its database, those that are named or [`MIN_RELEVANCE`]; of other databases, those that are
//!   [`MIN_OTHER_DATABASE_RELEVANCE`], and named if the best one is;
//! - one more table of the best one's database is used for each value of the question that no used table holds;
//! - operations, documents and skills are used where they are likely, and nearly as likely as the best of their kind.

use super::evidence::{Evidence, NamedHit, TableHit};

/// A hit is used from here on: what maximises the expected F1 of a choice whose F1 is about 0.7.
const MIN_RELEVANCE: f64 = 0.33;

/// What it adds to the relevance of a table that the question or the definition says its name.
const NAME_BONUS: f64 = 0.5;

/// A table of another database than the best one's is used from here on.
const MIN_OTHER_DATABASE_RELEVANCE: f64 = 0.5;

/// A table is used for a value that it holds from here on.
const MIN_HOLDER_RELEVANCE: f64 = 0.1;

/// An operation is used beside tables from here on: it may change something.
const MIN_OPERATION_RELEVANCE: f64 = 0.7;

/// A skill is used from here on: following one that does not fit costs more than working without.
const MIN_SKILL_RELEVANCE: f64 = 0.58;

/// An operation, document or skill is used if it is this near to the best one.
const MAX_GAP_TO_BEST: f64 = 0.15;

/// At most this many tables.
const MAX_TABLES: usize = 5;

/// What the plan uses.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) tables: Vec<&'a TableHit>,
    pub(super) operations: Vec<&'a NamedHit>,
    pub(super) documents: Vec<&'a NamedHit>,
    pub(super) skills: Vec<&'a NamedHit>,
}

/// Decides.
pub(super) fn choose(evidence: &Evidence) -> Choice<'_> {
    let refused = |id: &str| evidence.refused.iter().any(|name| name == id);
    let tables: Vec<&TableHit> = tables(evidence).into_iter().filter(|hit| !refused(&hit.id())).collect();
    let mut operations = best(&evidence.operations, 2);
    operations.retain(|hit| !refused(&format!("{}.{}", hit.parent, hit.name)));
    let mut documents = best(&evidence.documents, 1);
    documents.retain(|hit| !refused(&hit.parent));
    // Where there is data to look at, only a question that asks for the operation wants it.
    let wanted = if tables.is_empty() { MIN_RELEVANCE } else { MIN_OPERATION_RELEVANCE };
    operations.retain(|hit| hit.relevance >= wanted);
    let mut skills = best(&evidence.skills, 1);
    skills.retain(|hit| hit.relevance >= MIN_SKILL_RELEVANCE);
    skills.retain(|hit| !refused(&hit.name));
    Choice { tables, operations, documents, skills }
}

/// Up to `limit` hits that are likely, or nearly as likely as the best.
fn best(hits: &[NamedHit], limit: usize) -> Vec<&NamedHit> {
    let top = hits.iter().map(|hit| hit.relevance).fold(0.0, f64::max);
    hits.iter()
        .filter(|hit| hit.relevance >= MIN_RELEVANCE && hit.relevance >= top - MAX_GAP_TO_BEST)
        .take(limit)
        .collect()
}

fn tables(evidence: &Evidence) -> Vec<&TableHit> {
    let hits = &evidence.tables;
    let said = words(&format!("{} {}", evidence.question, evidence.fact.as_ref().map_or("", |fact| &fact.definition)));
    let named = |hit: &TableHit| words(&hit.table).iter().all(|word| said.contains(word));
    let weight = |hit: &TableHit| hit.relevance + if named(hit) { NAME_BONUS } else { 0.0 };
    let own: Vec<&TableHit> = hits.iter().filter(|hit| !hit.via).collect();
    // Of equals the one that the search put first.
    let best = own.iter().rev().copied().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    let Some(top) = best else { return Vec::new() };
    if weight(top) < MIN_RELEVANCE {
        return Vec::new();
    }
    let mut chosen: Vec<&TableHit> = own
        .iter()
        .copied()
        .filter(|hit| match hit.database == top.database {
            true => hit.id() == top.id() || hit.relevance >= MIN_RELEVANCE || named(hit),
            false => hit.relevance >= MIN_OTHER_DATABASE_RELEVANCE && (named(hit) || !named(top)),
        })
        .collect();
    add_holders(&mut chosen, own.iter().copied().filter(|hit| hit.database == top.database));
    chosen.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    chosen.truncate(MAX_TABLES);
    // Bridges only where two chosen tables need one.
    let bridges = hits.iter().filter(|hit| hit.via && hit.database == top.database).filter(|bridge| {
        let joined = |join: &String| {
            chosen.iter().filter(|hit| mentions(join, &hit.table)).count() > 0 && mentions(join, &bridge.table)
        };
        bridge.joins.iter().filter(|join| joined(join)).count() > 1
    });
    let bridges: Vec<&TableHit> = bridges.collect();
    chosen.extend(bridges);
    chosen
}

/// Adds the first table that holds a value which none of the chosen ones holds.
fn add_holders<'a>(chosen: &mut Vec<&'a TableHit>, hits: impl Iterator<Item = &'a TableHit>) {
    for hit in hits.filter(|hit| hit.relevance >= MIN_HOLDER_RELEVANCE) {
        let is_new =
            |value: &String| !chosen.iter().any(|other| other.values.iter().any(|own| literal(own) == literal(value)));
        if !chosen.iter().any(|other| other.id() == hit.id()) && hit.values.iter().any(is_new) {
            chosen.push(hit);
        }
    }
}

/// The value of a condition such as `countries.name = 'Brazil'`, in small letters.
pub(super) fn literal(condition: &str) -> String {
    condition.split_once(" = ").map_or(condition, |(_, value)| value).to_lowercase()
}

/// Words, lower case, without the plural.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(|word| word.to_lowercase().trim_end_matches('s').to_owned())
        .collect()
}

/// Whether a join such as `invoices.customer_id = customers.id` is one of this table.
pub(super) fn mentions(join: &str, table: &str) -> bool {
    join.split('=').any(|side| side.trim().rsplit_once('.').is_some_and(|(name, _)| name == table))
}
