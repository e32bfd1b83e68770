//! Traces one sentence of an answer: its citations, the values that it names, and its numbers.

mod period;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use prospector_text::periods::{Days, find_cited};

use super::{
    Basis, TABLE,
    citations::{Citation, choose_citations, find_citations, find_unread},
    columns::Stated,
    decimals::find_decimal_separator,
    figures::{Figure, Judge, TableRow, Value, Verdict},
    labels::{Label, find_key, find_label, is_label},
    lookup::{find_sum, is_in_result},
    mentions::{Mention, Names, find_period},
    numbers::{Values, Written, find_numbers},
    reference::{Filled, Reference, ReferenceError, fill, find_references},
    sentences::{split_cells, starts_with_number},
    source::Source,
    wording::{has_column, has_period, is_same_name, quotes},
};
use crate::answer::{Claim, DataQuestion};

/// Minimum length of a cell value that is recognized in a sentence, in characters; shorter ones match by chance.
const MIN_NAME_CHARS: usize = 4;

/// The context of a sentence.
pub(super) struct Place<'a> {
    /// The citations of the line before its list or table.
    pub(super) inherited: &'a [String],
    /// The header of its table.
    pub(super) head: Option<&'a [String]>,
    /// Its row in the table, from 1.
    pub(super) row: usize,
}

/// The outcome for a sentence.
pub(super) struct Checked {
    pub(super) claim: Claim,
    /// The number of citations and numbers checked.
    pub(super) checked: usize,
    /// Whether it states something from data.
    pub(super) factual: bool,
    /// The sentence with its references filled in.
    pub(super) filled: String,
    /// The columns whose values it states.
    pub(super) stated: Stated,
}

/// The results and texts that an answer is compared with.
pub(super) struct Tracer<'a> {
    basis: Basis<'a>,
    /// The results of this run, and those of earlier turns that the answer cites.
    pub(super) sources: Vec<Source<'a>>,
    /// The number of results of this run.
    current: usize,
    names: Names,
    /// The years in their rows and conditions.
    years: BTreeSet<i32>,
    /// The decimal separator of the answer.
    decimal: char,
    question: Values,
    texts: Values,
    knowledge: Values,
}

/// The parsed parts of a sentence.
struct Parts<'s> {
    sentence: &'s str,
    references: Vec<(Range<usize>, Filled, usize)>,
    citations: Vec<Citation>,
    /// The spans of references and citations.
    masked: Vec<Range<usize>>,
    /// The indexes of the results that it may be based on.
    cited: BTreeSet<usize>,
    inherited: BTreeSet<usize>,
    /// The texts of the cited entries.
    entries: String,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(basis: &Basis<'a>, answer: &str) -> Self {
        let basis = *basis;
        let has_rows = |query: &&DataQuestion| query.error.is_none();
        let mut sources: Vec<Source<'a>> = basis.queries.iter().filter(has_rows).map(Source::read).collect();
        let current = sources.len();
        let is_cited = |query: &&DataQuestion| answer.contains(&query.id);
        sources.extend(basis.earlier.iter().filter(has_rows).filter(is_cited).map(Source::read));
        for source in &mut sources {
            source.is_shown = TABLE.captures_iter(answer).any(|found| found[1] == source.query.id);
        }
        let names = Names::read(&sources);
        let days = sources
            .iter()
            .flat_map(|source| source.rows.iter().flatten().filter_map(|cell| cell.days.as_ref()).chain(&source.scope));
        let years = days.filter_map(Days::year).collect();
        let [question, texts, knowledge] = [basis.question, basis.texts, &basis.entries.knowledge].map(Values::read);
        let decimal = find_decimal_separator(answer, &sources);
        Tracer { basis, sources, current, names, years, decimal, question, texts, knowledge }
    }

    pub(super) fn check(&self, sentence: &str, place: &Place<'_>) -> Checked {
        let mut claim = Claim::default();
        let references = find_references(sentence);
        let citations = find_citations(sentence, self.basis.entries);
        let mut filled = String::with_capacity(sentence.len());
        let mut done: Vec<(Range<usize>, Filled, usize)> = Vec::new();
        let mut end = 0;
        for reference in &references {
            filled.push_str(&sentence[end..reference.span.start]);
            match self.fill(reference) {
                Ok((value, source)) => {
                    filled.push_str(&value.text);
                    done.push((reference.span.clone(), value, source));
                }
                Err(error) => {
                    let written = &sentence[reference.span.clone()];
                    filled.push_str(written);
                    claim.problems.push(format!("{written}: {error}"));
                }
            }
            end = reference.span.end;
        }
        filled.push_str(&sentence[end..]);
        let of_citations = citations.iter().flat_map(|citation| citation.queries.iter().chain(&citation.entries));
        for id in of_citations.chain(references.iter().map(|reference| &reference.query)) {
            if !claim.references.contains(id) {
                claim.references.push(id.clone());
            }
        }
        let queries = citations.iter().flat_map(|citation| &citation.queries);
        claim.problems.extend(queries.collect::<BTreeSet<_>>().into_iter().filter_map(|id| self.find_failure(id)));
        claim.problems.extend(self.check_tables(sentence));
        let parts = self.read_parts(sentence, done, citations, &references, place);
        let mut stated = Stated::default();
        stated.add_tables(sentence, &self.sources);
        let mut checked = Checked { checked: claim.references.len(), claim, factual: false, filled, stated };
        match (parts.cited.is_empty() && parts.inherited.is_empty(), parts.entries.is_empty()) {
            (false, _) => self.check_cited(&parts, place, &mut checked),
            (true, false) => self.check_entries(&parts, &mut checked),
            (true, true) => self.check_uncited(&parts, &mut checked),
        }
        checked
    }

    fn find_source(&self, id: &str) -> Option<usize> {
        self.sources.iter().position(|source| source.query.id == id)
    }

    /// Returns why a query cannot be cited.
    fn find_failure(&self, id: &str) -> Option<String> {
        match self.basis.queries.iter().chain(self.basis.earlier).find(|query| query.id == *id) {
            None => Some(format!("unknown query {id}")),
            Some(DataQuestion { error: Some(error), .. }) => Some(format!("{id} failed: {error}")),
            Some(_) => None,
        }
    }

    /// Computes a reference; also returns the index of its result.
    fn fill(&self, reference: &Reference) -> Result<(Filled, usize), ReferenceError> {
        if let Some(failure) = self.find_failure(&reference.query) {
            return Err(ReferenceError::Failed(failure));
        }
        let value = fill(reference, &self.sources, self.decimal)?;
        let source = value.rows.iter().next().map(|(source, _)| *source).or_else(|| self.find_source(&reference.query));
        Ok((value, source.unwrap_or_default()))
    }

    /// Returns the problems of the table references of a sentence.
    fn check_tables(&self, sentence: &str) -> Vec<String> {
        let check = |found: regex::Captures<'_>| {
            let id = &found[1];
            let Some(source) = self.find_source(id) else {
                return Some(format!("unknown result {id}"));
            };
            let columns = found.get(2).map_or("", |columns| columns.as_str());
            let is_known = |name: &&str| has_column(&self.sources[source], name);
            let unknown =
                columns.split(',').map(str::trim).filter(|name| !name.is_empty()).find(|name| !is_known(name))?;
            Some(format!(
                "{id} has no column `{unknown}`; its columns are {}",
                self.sources[source].query.columns.join(", ")
            ))
        };
        TABLE.captures_iter(sentence).filter_map(check).collect()
    }

    fn read_parts<'s>(
        &self,
        sentence: &'s str,
        references: Vec<(Range<usize>, Filled, usize)>,
        citations: Vec<Citation>,
        all: &[Reference],
        place: &Place<'_>,
    ) -> Parts<'s> {
        let find = |id: &String| self.find_source(id);
        let queries = citations.iter().flat_map(|citation| &citation.queries);
        let cited = queries.chain(all.iter().map(|reference| &reference.query)).filter_map(find).collect();
        let inherited = place.inherited.iter().filter_map(find).collect();
        let entries = citations.iter().flat_map(|citation| &citation.entries).chain(place.inherited);
        let texts: Vec<String> = entries.filter_map(|id| self.basis.entries.find(id)).collect();
        let tables = TABLE.find_iter(sentence).map(|table| table.range());
        let of_citations = citations.iter().map(|citation| citation.span.clone());
        let masked = of_citations.chain(all.iter().map(|one| one.span.clone())).chain(tables).collect();
        Parts { sentence, references, citations, masked, cited, inherited, entries: texts.join("\n") }
    }

    /// Checks a sentence that cites queries.
    fn check_cited(&self, parts: &Parts<'_>, place: &Place<'_>, checked: &mut Checked) {
        let sentence = parts.sentence;
        let all: BTreeSet<usize> = parts.cited.union(&parts.inherited).copied().collect();
        let mut mentions = self.names.find(sentence, &parts.masked, &self.sources);
        let mut masked = parts.masked.clone();
        let mut figures: Vec<Figure> = Vec::new();
        for period in find_cited(sentence, &self.years) {
            self.read_period(parts, period, &all, &mut mentions, &mut masked, &mut figures, checked);
        }
        mentions.sort_by_key(|mention| mention.span.start);
        masked.extend(mentions.iter().map(|mention| mention.span.clone()));
        let entries = Values::read(&parts.entries);
        let first = figures.iter().map(|figure| figure.span.start).min();
        let numbers = self.list_numbers(sentence, &masked, &all, &entries, place);
        let first = numbers.iter().map(|number| number.span.start).chain(first).min().unwrap_or_default();
        for (span, value, source) in &parts.references {
            let text = value.text.clone();
            let sources = BTreeSet::from([*source]).into_iter().chain(value.rows.iter().map(|(of, _)| *of)).collect();
            let value = Value::Filled(value.clone());
            figures.push(Figure { span: span.clone(), text, value, sources, is_said: false, is_scope: false });
        }
        let mut labelled: Option<Label> = None;
        for number in numbers {
            let sources = self.choose_sources(parts, first, number.span.end, &all);
            let label = find_label(sentence, &number, labelled.as_ref());
            let mention = label.as_ref().and_then(|label| find_key(label, &number, &self.sources, &all));
            let is_said = |label: &Label| all.iter().any(|at| is_label(label, &number, &self.sources[*at]));
            labelled = label.filter(|label| mention.is_some() || is_said(label));
            if let Some(mention) = mention {
                let (span, text) = (number.span.clone(), number.text.clone());
                let value = Value::Named { rows: mention.rows.clone(), keys: mention.keys.clone() };
                figures.push(Figure { span, text, value, sources, is_said: false, is_scope: false });
                mentions.push(mention);
                continue;
            }
            if labelled.is_some() {
                continue;
            }
            let is_quoted = self.is_quoted(sentence, &number.span, &sources);
            let is_said = is_quoted || entries.has_rounded(&number) || self.question.has(&number);
            let is_scope = self.knowledge.has(&number) || sources.iter().any(|at| self.sources[*at].says(&number));
            let (span, text) = (number.span.clone(), number.text.clone());
            figures.push(Figure { span, text, value: Value::Number(number), sources, is_said, is_scope });
        }
        figures.sort_by_key(|figure| figure.span.start);
        let table = self.read_row(sentence, place, &all, &mut mentions);
        let borders = parts.citations.iter().map(|citation| citation.span.clone()).collect();
        let judge = Judge { sources: &self.sources, sentence, mentions, figures, borders, table };
        for (figure, verdict) in judge.figures.iter().zip(judge.judge()) {
            let is_date = matches!(figure.value, Value::Named { .. });
            checked.checked += usize::from(verdict != Verdict::Said);
            checked.factual |= verdict != Verdict::Said;
            checked.stated.add_figure(figure, &verdict, &judge);
            match verdict {
                Verdict::Traced | Verdict::Said => {}
                Verdict::Derived(how) => checked.claim.derived.push(how),
                // An unknown period is reported already.
                Verdict::Wrong(_) if is_date && !checked.claim.problems.is_empty() => {}
                Verdict::Wrong(problem) => checked.claim.problems.push(problem),
            }
        }
        checked.factual |= !judge.mentions.is_empty();
        checked.stated.add_mentions(&judge, &all);
        // Headers and delimiters of tables state nothing themselves.
        let inherited = Some(&parts.inherited).filter(|_| checked.factual && (place.head.is_none() || place.row > 0));
        checked.stated.close(&parts.cited, inherited.unwrap_or(&BTreeSet::new()));
    }

    /// Returns whether the number is quoted with its words from a definition or from the question of a query.
    fn is_quoted(&self, sentence: &str, span: &Range<usize>, sources: &BTreeSet<usize>) -> bool {
        let questions = sources.iter().map(|at| self.sources[*at].query.question.as_str());
        questions.chain([self.basis.entries.knowledge.as_str()]).any(|known| quotes(known, sentence, span))
    }

    /// Returns the results that a number may be based on, by its position among the citations.
    fn choose_sources(&self, parts: &Parts<'_>, first: usize, place: usize, all: &BTreeSet<usize>) -> BTreeSet<usize> {
        let with_queries: Vec<Citation> =
            parts.citations.iter().filter(|citation| !citation.queries.is_empty()).cloned().collect();
        if with_queries.len() < 2 {
            return all.clone();
        }
        let chosen = choose_citations(&with_queries, first, place);
        let ids = chosen.iter().flat_map(|at| &with_queries[*at].queries);
        let of_references = parts.references.iter().map(|(_, _, source)| *source);
        ids.filter_map(|id| self.find_source(id)).chain(of_references).chain(parts.inherited.iter().copied()).collect()
    }

    /// Returns the numbers of a sentence, except list item and row numbers.
    fn list_numbers(
        &self,
        sentence: &str,
        masked: &[Range<usize>],
        sources: &BTreeSet<usize>,
        entries: &Values,
        place: &Place<'_>,
    ) -> Vec<Written> {
        let mut masked = masked.to_vec();
        let begin = sentence.len() - sentence.trim_start().len();
        if starts_with_number(&sentence[begin..]) {
            masked.push(0..sentence.find(['.', ')']).map_or(0, |at| at + 1));
        }
        if let Some(cell) = split_cells(sentence).into_iter().next().filter(|_| place.row > 0)
            && sentence[cell.clone()] == place.row.to_string()
        {
            masked.push(cell);
        }
        let exists = |number: &Written| {
            let is_value = |at: &usize| is_in_result(number, &self.sources, *at);
            let is_total = |at: &usize| {
                find_sum(number, &self.sources, &BTreeMap::from([(*at, self.sources[*at].all_rows())])).is_some()
            };
            let mut places = sources.iter();
            entries.has(number) || self.question.has(number) || places.any(|at| is_value(at) || is_total(at))
        };
        find_numbers(sentence, &masked, &exists)
    }

    /// Returns the cells of a table row, with the values and columns that its header names.
    fn read_row(
        &self,
        sentence: &str,
        place: &Place<'_>,
        cited: &BTreeSet<usize>,
        mentions: &mut Vec<Mention>,
    ) -> Option<TableRow> {
        let cells = split_cells(sentence);
        let head = place.head.filter(|_| place.row > 0 && !cells.is_empty())?;
        let (mut heads, mut columns) = (Vec::new(), Vec::new());
        for text in head {
            let text = text.replace(['*', '`'], "");
            let mut found = self.names.find(&text, &[], &self.sources);
            let periods = find_cited(&text, &self.years);
            found.extend(periods.iter().filter_map(|period| find_period(period, &self.sources, cited)));
            found.retain(|mention| !mention.rows.is_empty());
            heads.push((mentions.len()..mentions.len() + found.len()).collect());
            mentions.extend(found.into_iter().map(|mention| Mention { span: 0..0, ..mention }));
            let of = |at: &usize| {
                let names = self.sources[*at].query.columns.iter().enumerate();
                let at = *at;
                names
                    .filter(|(_, name)| is_same_name(name, &text))
                    .map(move |(column, _)| (at, column))
                    .collect::<Vec<_>>()
            };
            columns.push(cited.iter().flat_map(of).collect());
        }
        Some(TableRow { cells, heads, columns })
    }

    /// Checks a sentence that cites only catalog entries.
    fn check_entries(&self, parts: &Parts<'_>, checked: &mut Checked) {
        let values = Values::read(&parts.entries);
        let mut masked = parts.masked.clone();
        for period in find_cited(parts.sentence, &self.years) {
            let text = &parts.sentence[period.span.clone()];
            let is_there = has_period(&parts.entries, text, &period) || has_period(self.basis.question, text, &period);
            if period.is_year && !is_there
                || masked.iter().any(|mask| mask.start < period.span.end && period.span.start < mask.end)
            {
                continue;
            }
            checked.checked += 1;
            masked.push(period.span.clone());
            if !is_there && period.is_whole {
                checked.claim.problems.push(format!("{text} is not in the cited entries"));
            }
        }
        let place = Place { inherited: &[], head: None, row: 0 };
        for number in self.list_numbers(parts.sentence, &masked, &BTreeSet::new(), &values, &place) {
            checked.checked += 1;
            let is_there = parts.entries.contains(&number.text) && number.is_literal() || values.has_rounded(&number);
            if !is_there && !self.question.has(&number) {
                checked.claim.problems.push(format!("{} is not in the cited entries", number.text));
            }
        }
        checked.factual = true;
    }

    /// Checks a sentence without citations, which must not state values of results.
    fn check_uncited(&self, parts: &Parts<'_>, checked: &mut Checked) {
        let sources: BTreeSet<usize> = (0..self.current).collect();
        let mut masked = parts.masked.clone();
        let problems = &mut checked.claim.problems;
        for period in find_cited(parts.sentence, &self.years).into_iter().filter(|period| period.is_whole) {
            let text = &parts.sentence[period.span.clone()];
            let is_selected = sources.iter().any(|at| period.days.iter().any(|days| self.sources[*at].selects(days)));
            let is_said = is_selected
                || [self.basis.question, self.basis.texts].iter().any(|known| has_period(known, text, &period));
            if period.is_year && !is_said {
                continue;
            }
            masked.push(period.span.clone());
            let is_there =
                find_period(&period, &self.sources, &sources).is_some_and(|mention| !mention.rows.is_empty());
            checked.factual |= is_there && !is_said;
            if !is_there && !is_said {
                problems.push(format!("{text} is in no result"));
            }
        }
        let place = Place { inherited: &[], head: None, row: 0 };
        for number in self.list_numbers(parts.sentence, &masked, &sources, &Values::default(), &place) {
            let is_there = sources.iter().any(|at| is_in_result(&number, &self.sources, *at));
            let is_said = self.question.has(&number)
                || self.texts.has(&number)
                || sources.iter().any(|at| self.sources[*at].says(&number));
            if !is_there && is_said {
                continue;
            }
            checked.checked += 1;
            checked.factual = true;
            if !is_there {
                problems.push(format!("{} is in no result", number.text));
            }
        }
        checked.factual |= self.names_a_value(parts.sentence);
        if checked.factual && !self.basis.queries.is_empty() && problems.is_empty() {
            let unread = find_unread(parts.sentence, self.basis.entries);
            problems.push(unread.map_or_else(
                || "no query is cited".to_owned(),
                |id| format!("no tool returned `{id}` in this conversation: describe it before citing it"),
            ));
        }
    }

    /// Returns whether the sentence names a value of a result that the question does not name.
    fn names_a_value(&self, sentence: &str) -> bool {
        let question = self.basis.question.to_lowercase();
        self.names.find(sentence, &[], &self.sources[..self.current]).iter().any(|mention| {
            let text = &sentence[mention.span.clone()];
            text.chars().count() >= MIN_NAME_CHARS
                && !mention.rows.is_empty()
                && !mention.is_condition
                && !question.contains(&text.to_lowercase())
        })
    }
}
