//! Steps that run verified queries, with what these read and say: somebody has checked that a query does what it is there for, and a
//! plan that uses it need not say it again.

use prospector_text::periods;

use super::vocabulary::{alike, stems};
use crate::{
    meaning::{Meanings, QueryMeaning},
    plan::{Draft, QueryCall, Step},
};

/// A verified query as a step runs it.
pub(super) struct UsedQuery {
    /// The tables that it reads, as `database.table`.
    pub(super) tables: Vec<String>,
    /// The stems of its name, of what it answers, of its SQL and of the values that it runs with.
    says: Vec<String>,
    /// The parts in which periods are said.
    parts: Vec<String>,
    sql: String,
}

impl UsedQuery {
    fn new(call: &QueryCall, meaning: QueryMeaning) -> UsedQuery {
        let QueryMeaning { tables, description, sql, defaults } = meaning;
        let given =
            call.parameters.values().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let is_left_out = |name: &String| !call.parameters.contains_key(name);
        let left_out = defaults.into_iter().filter(|(name, _)| is_left_out(name)).map(|(_, value)| value);
        let parts: Vec<String> = [description, sql.clone()].into_iter().chain(given).chain(left_out).collect();
        let text = format!("{} {}", call.name, parts.join(" "));
        UsedQuery { tables, says: stems(&text), parts, sql }
    }

    /// Whether it has a word anywhere.
    pub(super) fn says(&self, stem: &str) -> bool {
        self.says.iter().any(|said| alike(said, stem))
    }

    /// Whether its conditions, its values or its questions name days of a period.
    pub(super) fn is_of(&self, period: &periods::Period) -> bool {
        let mut said = self.parts.iter().flat_map(|part| periods::find(part));
        said.any(|said| period.overlaps(&said.from, &said.to))
    }

    /// Whether it leaves rows out.
    pub(super) fn excludes(&self) -> bool {
        ["not", "null", "except"].iter().any(|word| self.says.iter().any(|said| said == word))
    }

    /// Whether it takes a mean.
    pub(super) fn is_mean(&self) -> bool {
        crate::plan::formula::Formula::is_mean(&self.sql)
    }
}

/// The verified queries of a plan.
pub(super) fn list_used(steps: &[Step], meanings: &dyn Meanings) -> Vec<UsedQuery> {
    let calls = steps.iter().filter_map(|step| step.query.as_ref());
    calls.filter_map(|call| Some(UsedQuery::new(call, meanings.query(&call.name)?))).collect()
}

/// The plan with the tables and the columns that its verified queries read, where it has any.
pub(super) fn expand(draft: &Draft, meanings: &dyn Meanings) -> Option<Draft> {
    if draft.plan.steps.iter().all(|step| step.query.is_none()) {
        return None;
    }
    let mut expanded = draft.clone();
    for step in &mut expanded.plan.steps {
        let Some(read) = step.query.as_ref().and_then(|call| meanings.query(&call.name)) else { continue };
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = read.sql.split(|c| !is_part(c)).collect();
        for table in read.tables.iter().filter_map(|id| meanings.table(id)) {
            let is_read = |name: &str| words.iter().any(|word| word.eq_ignore_ascii_case(name));
            let columns = table.columns.iter().filter(|column| is_read(&column.name));
            step.columns.extend(columns.map(|column| format!("{}.{}", table.id, column.name)));
            if !step.tables.contains(&table.id) {
                step.tables.push(table.id);
            }
        }
    }
    Some(expanded)
}
