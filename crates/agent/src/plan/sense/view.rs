//! A plan as it is compared with a question: the sources that it uses and what they mean, and what its steps say.

use prospector_connect::{filter::FilterCondition, query::Measure};
use prospector_core::record::ResourceKind;
use prospector_semantics::SemanticModel;
use prospector_text::periods;

use super::{
    queries::{UsedQuery, list_used},
    question::Question,
    vocabulary::{Cover, Vocabulary, alike, stems},
};
use crate::{
    meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, TableMeaning},
    plan::{Draft, QueryCall, Step, formula},
};

/// So many characters of a question are looked up for what they define.
const MAX_QUESTION_CHARS: usize = 1_000;

/// A table, an operation, a document or a skill that steps use.
pub(super) struct Source {
    pub(super) kind: ResourceKind,
    pub(super) id: String,
    pub(super) words: Vocabulary,
    pub(super) table: Option<TableMeaning>,
    pub(super) operation: Option<OperationMeaning>,
    /// The number of the first step that uses it.
    pub(super) step: u32,
}

/// A definition that the plan rests on.
pub(super) struct UsedTerm {
    pub(super) term: DefinedTerm,
    pub(super) stems: Vec<String>,
    /// Its short form, where the definition gives one: `(ROAS)`.
    pub(super) short: Option<String>,
    /// The stems of the words of the definition that say something, in order.
    pub(super) says: Vec<String>,
    /// Whether the definition says how to compute something.
    pub(super) is_formula: bool,
}

/// A column as a structured field names it.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) table: &'a TableMeaning,
    pub(super) column: &'a ColumnMeaning,
}

pub(super) struct PlanView<'a> {
    pub(super) question: Question,
    pub(super) steps: &'a [Step],
    pub(super) sources: Vec<Source>,
    pub(super) terms: Vec<UsedTerm>,
    /// What the catalog defines of what the question names, whether the plan uses it or not.
    pub(super) defined: Vec<UsedTerm>,
    /// What else it defines that may be about it.
    pub(super) related: Vec<UsedTerm>,
    /// The verified queries that steps run.
    pub(super) queries: Vec<UsedQuery>,
    /// Whether the plan speaks of the change that is asked for among what it asks back.
    pub(super) admits_no_change: bool,
    /// Whether it says there that nothing makes the change.
    pub(super) declines_change: bool,
    pub(super) meanings: &'a dyn Meanings,
    /// The joins that are declared beside keys: the table that refers, and the one that it refers to.
    joins: Vec<(String, String)>,
    /// Whether any step says in fields what it computes.
    pub(super) is_structured: bool,
    /// The stems of the goals of steps that use a source or compute something.
    pub(super) said: Vec<String>,
    /// The stems of what steps call what they compute.
    pub(super) named: Vec<String>,
}

impl<'a> PlanView<'a> {
    pub(super) fn new(text: &str, draft: &'a Draft, meanings: &'a dyn Meanings) -> Self {
        let today = meanings.metrics().map_or_else(periods::today, SemanticModel::today);
        let question = Question::parse_on(text, today);
        let steps = draft.plan.steps.as_slice();
        let facts = draft.discovered_context.facts.iter();
        let terms = facts.map(|fact| UsedTerm::new(&fact.term, &fact.definition, &fact.source)).collect();
        let known = if text.trim().is_empty() {
            Vec::new()
        } else {
            meanings.definitions(prospector_text::cut::line(text, MAX_QUESTION_CHARS).as_str())
        };
        let known = known.iter().map(|known| UsedTerm::new(&known.term, &known.definition, &known.source));
        let (defined, related) = known.partition(|term| term.place(&question).is_some());
        let joins = meanings.metrics().map(SemanticModel::table_joins).unwrap_or_default();
        let works = steps.iter().filter(|step| uses_sources(step) || computes(step));
        PlanView {
            sources: list_sources(steps, meanings),
            queries: list_used(steps, meanings),
            admits_no_change: draft.clarifications.iter().any(|said| names_change(said, &question)),
            declines_change: draft.clarifications.iter().any(|said| declines_change(said, &question)),
            terms,
            defined,
            related,
            is_structured: steps.iter().any(computes),
            said: works.flat_map(|step| stems(&step.goal)).collect(),
            named: (steps.iter())
                .flat_map(|step| step.compute.iter().filter_map(|measure| measure.name.as_deref()))
                .flat_map(stems)
                .collect(),
            joins: joins.into_iter().map(|join| (join.from, join.to)).collect(),
            steps,
            meanings,
            question,
        }
    }

    /// What the catalog defines of what the question names, and the plan does not use; without what another definition that it uses
    /// speaks of: who computes the cost of acquisition has said what the `new customer` of the question is.
    pub(super) fn unused_terms(&self) -> impl Iterator<Item = &UsedTerm> {
        self.defined.iter().filter(|term| !self.terms.iter().any(|used| used.settles(term, &self.question)))
    }

    /// The best that the sources of the plan do for a word.
    pub(super) fn cover(&self, stem: &str) -> Cover {
        self.sources.iter().map(|source| source.words.cover(stem)).max().unwrap_or(Cover::None)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (&Source, &TableMeaning)> {
        self.sources.iter().filter_map(|source| Some((source, source.table.as_ref()?)))
    }

    /// The tables that hold a word in the databases that the plan reads; where it reads none, in any.
    pub(super) fn homes_near(&self, stem: &str) -> Vec<String> {
        let mut databases: Vec<&str> = self.tables().map(|(_, table)| table.database.as_str()).collect();
        databases.sort_unstable();
        databases.dedup();
        match databases.as_slice() {
            [] => self.meanings.homes(stem),
            own => self.meanings.homes_in(own, stem),
        }
    }

    /// Whether a source of the plan is called so, or what it is part of: its database, its API.
    pub(super) fn names_source(&self, stem: &str) -> bool {
        self.sources.iter().any(|source| {
            let parent = match (&source.table, &source.operation) {
                (Some(table), _) => &table.database,
                (None, Some(operation)) => &operation.api,
                (None, None) => &source.id,
            };
            stems(parent).iter().any(|word| word == stem)
        })
    }

    /// A stem as the question writes it.
    pub(super) fn word<'w>(&'w self, stem: &'w str) -> &'w str {
        let concept = self.question.concepts.iter().find(|concept| concept.stem == stem);
        concept.map_or(stem, |concept| concept.text.as_str())
    }

    /// The column that a structured field names: in full, with its table, or alone where only one table of the step has it; also
    /// within a function, as in `month(db.table.day)`.
    pub(super) fn find_column(&self, step: &Step, name: &str) -> Option<Found<'_>> {
        let name = argument_of(name).map_or(name, |(_, inner)| inner);
        let named = self.tables().filter_map(|(source, table)| {
            let full = strip_prefix(name, &format!("{}.", source.id));
            let column = full.or_else(|| strip_prefix(name, &format!("{}.", table.name)))?;
            Some(Found { table, column: table.column(column)? })
        });
        if let Some(found) = named.max_by_key(|found| (step.tables.contains(&found.table.id), found.table.id.len())) {
            return Some(found);
        }
        let mut own = self.tables().filter(|(source, _)| step.tables.contains(&source.id));
        own.find_map(|(_, table)| Some(Found { table, column: table.column(name)? }))
    }

    /// The column that a condition is on; none where it is on what is computed.
    pub(super) fn find_compared(&self, step: &Step, filter: &FilterCondition) -> Option<Found<'_>> {
        let is_computed = Measure::read_aggregate(&filter.column).is_some();
        if is_computed { None } else { self.find_column(step, &filter.column) }
    }

    /// The conditions of all steps, with the column where it is one.
    pub(super) fn filters(&self) -> impl Iterator<Item = (&Step, &FilterCondition, Option<Found<'_>>)> {
        let all = self.steps.iter().flat_map(|step| step.conditions().map(move |filter| (step, filter)));
        all.map(|(step, filter)| (step, filter, self.find_compared(step, filter)))
    }

    /// Whether a join is declared that leads from a row of one table to one of the other.
    pub(super) fn leads(&self, from: &TableMeaning, to: &TableMeaning) -> bool {
        self.joins.iter().any(|(a, b)| a.eq_ignore_ascii_case(&from.id) && b.eq_ignore_ascii_case(&to.id))
    }

    /// The columns that structured fields name.
    pub(super) fn fields(&self) -> Vec<Found<'_>> {
        let of = |step: &'a Step| {
            let computed = [formula::list_named(step), formula::list_compared(step)].concat();
            let names = list_fields(step).into_iter().chain(computed.iter().map(String::as_str));
            names.filter_map(|name| self.find_column(step, name)).collect::<Vec<_>>()
        };
        self.steps.iter().flat_map(of).collect()
    }

    /// Whether a step says a word in its goal, or a condition holds it as a value.
    pub(super) fn says(&self, stem: &str) -> bool {
        self.said.iter().any(|said| said == stem) || self.filters_hold(stem)
    }

    /// Whether a condition has a code for the word: capitals that it begins with and goes on with, as `CA` for California.
    pub(super) fn filters_abbreviate(&self, word: &str) -> bool {
        let is_code = |value: &str| {
            let mut letters = word.chars().flat_map(char::to_lowercase);
            (2..=4).contains(&value.len())
                && value.chars().all(|c| c.is_ascii_uppercase())
                && word.to_lowercase().starts_with(&value[..1].to_lowercase())
                && value.chars().all(|c| letters.any(|letter| letter == c.to_ascii_lowercase()))
        };
        self.filters().any(|(_, filter, _)| filter.value.as_str().is_some_and(is_code))
    }

    /// Whether a condition has the word in its value.
    pub(super) fn filters_hold(&self, stem: &str) -> bool {
        self.queries.iter().any(|query| query.says(stem))
            || self.filters().any(|(_, filter, _)| stems(&filter.value.to_string()).iter().any(|value| value == stem))
    }
}

impl UsedTerm {
    pub(super) fn new(term: &str, definition: &str, source: &str) -> Self {
        let term = DefinedTerm { term: term.to_owned(), definition: definition.to_owned(), source: source.to_owned() };
        let lower = definition.to_lowercase();
        let short = definition.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(short, _)| short);
        let short =
            short.filter(|short| short.len() > 1 && short.chars().all(|c| c.is_alphabetic() && c.is_uppercase()));
        UsedTerm {
            stems: stems(&term.term),
            short: short.map(|short| stems(short).concat()),
            says: stems_of_content(strip_subject(&term.definition)),
            is_formula: FORMULAS.iter().any(|word| lower.contains(word)),
            term,
        }
    }

    /// A stem of the definition as it is written there.
    pub(super) fn word<'w>(&'w self, stem: &'w str) -> &'w str {
        let mut words = periods::words(&self.term.definition).into_iter();
        words.find(|word| stems(word).concat() == stem).unwrap_or(stem)
    }

    /// Whether it is the other term, or is what the question means where it names that: where the question has it side by side, at
    /// that place; else by a word that both have.
    fn settles(&self, other: &UsedTerm, question: &Question) -> bool {
        if self.stems == other.stems {
            return true;
        }
        match (self.place(question), other.place(question)) {
            (Some((own, count)), Some((at, length))) => own < at + length && at < own + count,
            _ => self.stems.iter().any(|stem| other.stems.iter().any(|word| alike(word, stem))),
        }
    }

    /// Where a question names the term: all of its words side by side, or its initials. A single word that is no
    /// abbreviation names nothing for certain.
    pub(super) fn place(&self, question: &Question) -> Option<(usize, usize)> {
        let count = self.stems.len();
        let is_short = self.term.term.chars().filter(|c| c.is_uppercase()).count() > 1;
        if count == 0 {
            return None;
        }
        if count > 1 || is_short {
            let mut windows = question.words.windows(count);
            let is_term = |window: &[String]| self.stems.iter().all(|stem| window.contains(stem));
            if let Some(at) = windows.position(is_term) {
                return Some((at, count));
            }
        }
        let short = self.short.as_ref()?;
        let is_own = self.stems.iter().filter_map(|stem| stem.chars().next()).eq(short.chars());
        let at = question.words.iter().position(|word| word == short).filter(|_| is_own || short.len() > 2)?;
        Some((at, 1))
    }
}

/// What definitions say that tell how something is computed.
const FORMULAS: [&str; 8] =
    ["divided by", "sum of", "number of", "average of", "mean of", " less ", " minus ", "share of"];

/// A definition without what it defines: `the number of ..` of `The refund rate is the number of ..`.
fn strip_subject(definition: &str) -> &str {
    const VERBS: [&str; 5] = [" is ", " are ", " means ", " = ", ": "];
    let cut = VERBS.iter().filter_map(|verb| definition.find(verb).map(|at| at + verb.len())).min();
    cut.filter(|at| *at < 80).map_or(definition, |at| &definition[at..])
}

/// The stems of the words that say something.
pub(super) fn stems_of_content(text: &str) -> Vec<String> {
    let words = periods::words(text).into_iter();
    let lower = words.map(str::to_lowercase).filter(|word| !prospector_text::requests::is_about_nothing(word));
    lower.flat_map(|word| stems(prospector_text::requests::strip_ending(&word))).collect()
}

/// Whether a step says in fields what it computes.
pub(super) fn computes(step: &Step) -> bool {
    !(step.compute.is_empty() && step.filter.is_empty() && step.group_by.is_empty())
}

/// Whether a step reads what an earlier one left: a condition or a column that names one of its inputs.
pub(super) fn reads_input(step: &Step) -> bool {
    let names_input = |text: &str| step.inputs.iter().any(|input| text.starts_with(input.as_str()));
    step.tables.is_empty() && !step.inputs.is_empty()
        || step.conditions().filter_map(name_output).any(names_input)
        || list_fields(step).into_iter().any(names_input)
}

/// The text that a condition compares with, which may be a column of an earlier output; `not in` has a list of it.
pub(super) fn name_output(filter: &FilterCondition) -> Option<&str> {
    let alone = filter.value.as_array().and_then(|values| values.first().filter(|_| values.len() == 1));
    filter.reference().or_else(|| alone.unwrap_or(&filter.value).as_str())
}

pub(super) fn uses_sources(step: &Step) -> bool {
    let Step { tables, operations, documents, skills, metrics, .. } = step;
    step.query.is_some() || [tables, operations, documents, skills, metrics].into_iter().any(|names| !names.is_empty())
}

/// Whether what is asked back names the change that the question asks for.
fn names_change(said: &str, question: &Question) -> bool {
    let change = stems("change");
    let mut verbs = question.verbs.iter().chain(&change);
    let said = stems(said);
    verbs.any(|stem| said.iter().any(|word| alike(word, stem) || is_form_of(word, stem)))
}

/// Whether what is asked back says that there is nothing which makes the change, or that it cannot be made.
fn declines_change(said: &str, question: &Question) -> bool {
    let operation = stems("operation");
    let speaks = names_change(said, question) || stems(said).iter().any(|word| operation.contains(word));
    speaks && prospector_text::requests::is_denied(said)
}

/// Whether two stems may be forms of one verb, as `approv` and `approval`.
fn is_form_of(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.len() >= 4 && long.starts_with(short)
}

/// The names of columns and measures in the structured fields of a step.
pub(super) fn list_fields(step: &Step) -> Vec<&str> {
    let measures = step.compute.iter().filter_map(|measure| measure.column.as_deref());
    let filters = step.conditions().map(|filter| filter.column.as_str());
    let groups = step.group_by.iter().map(|group| group.column.as_str());
    let orders = step.order.iter().map(|order| order.by.as_str());
    measures.chain(filters).chain(groups).chain(orders).collect()
}

/// The function and its argument, where a name is a call: `month(db.table.day)`.
pub(super) fn argument_of(name: &str) -> Option<(&str, &str)> {
    let (function, inner) = name.trim().strip_suffix(')')?.split_once('(')?;
    let is_plain = !function.trim().is_empty() && !inner.contains(['(', ')', ',']);
    is_plain.then(|| (function.trim(), inner.trim()))
}

fn strip_prefix<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|_| &name[prefix.len()..])
}

fn list_sources(steps: &[Step], meanings: &dyn Meanings) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for step in steps {
        let kinds = [
            (ResourceKind::Table, &step.tables),
            (ResourceKind::Operation, &step.operations),
            (ResourceKind::Document, &step.documents),
            (ResourceKind::Skill, &step.skills),
            (ResourceKind::Metric, &step.metrics),
        ];
        for (kind, name) in kinds.into_iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, name))) {
            if sources.iter().any(|known| known.kind == kind && known.id.eq_ignore_ascii_case(name)) {
                continue;
            }
            sources.extend(read_source(kind, name, step.number, meanings));
        }
        if let Some(call) = &step.query {
            sources.extend(read_query(call, step.number, meanings));
        }
    }
    sources
}

/// A verified query is known by its name, and by all that it says.
fn read_query(call: &QueryCall, step: u32, meanings: &dyn Meanings) -> Option<Source> {
    let meaning = meanings.query(&call.name)?;
    let words = Vocabulary::of_subject(&call.name, &format!("{} {}", meaning.description, meaning.sql));
    let (kind, id) = (ResourceKind::Query, call.name.clone());
    Some(Source { kind, id, words, table: None, operation: None, step })
}

fn read_source(kind: ResourceKind, name: &str, step: u32, meanings: &dyn Meanings) -> Option<Source> {
    let (mut table, mut operation) = (None, None);
    let (id, words) = match kind {
        ResourceKind::Table => {
            let found = meanings.table(name)?;
            let words = Vocabulary::of_table(&found).told_by(&found.database);
            let id = found.id.clone();
            table = Some(found);
            (id, words)
        }
        ResourceKind::Operation => {
            let found = meanings.operation(name)?;
            let words = Vocabulary::of_operation(&found).told_by(&found.api);
            operation = Some(found);
            (name.to_owned(), words)
        }
        ResourceKind::Document | ResourceKind::Skill | ResourceKind::Metric => {
            (name.to_owned(), Vocabulary::of_subject(name, &meanings.subject(name)?))
        }
        ResourceKind::Database
        | ResourceKind::Column
        | ResourceKind::Api
        | ResourceKind::Fact
        | ResourceKind::Query => return None,
    };
    Some(Source { kind, id, words, table, operation, step })
}
