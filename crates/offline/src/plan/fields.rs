//! What a step computes over its tables, as far as the words of the question and of the definitions say it: measures,
//! conditions, groups, an order.

use prospector_agent::{
    plan::meaning::{ColumnMeaning, TableMeaning},
    plan::{
        Step,
        sense::question::{Concept, Grouping, Question, alike, stems},
    },
};
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Aggregation, Condition, DatePart, Group, Measure, Order},
};
use prospector_text::periods;
use serde_json::{Value, json};

use super::evidence::Definition;

/// The stems of words in the names of columns that hold amounts, the plainest first; sales are what is sold.
const AMOUNTS: [&str; 12] =
    ["total", "revenue", "spend", "amount", "sell", "value", "price", "fee", "cost", "balance", "quantity", "qty"];

/// Words in the names of columns that hold rates, which have no sum.
const RATES: [&str; 7] = ["rate", "pct", "percent", "ratio", "share", "avg", "average"];

/// At most so many measures of one step.
const MAX_MEASURES: usize = 4;

/// Fills the structured fields of a step over these tables of one database.
pub(super) fn fill(text: &str, question: &Question, tables: Vec<&TableMeaning>, facts: &[&Definition]) -> Step {
    let filler = Filler { text: text.to_lowercase(), question, tables, facts };
    let mut step = Step::default();
    filler.measures(&mut step);
    filler.conditions(&mut step);
    filler.groups(&mut step);
    filler.order(&mut step);
    filler.columns(&mut step);
    step
}

struct Filler<'a> {
    text: String,
    question: &'a Question,
    tables: Vec<&'a TableMeaning>,
    facts: &'a [&'a Definition],
}

/// A column with its table.
type Place<'a> = (&'a TableMeaning, &'a ColumnMeaning);

fn id(place: Place<'_>) -> String {
    format!("{}.{}", place.0.id, place.1.name)
}

fn is_number((_, column): Place<'_>) -> bool {
    column.column_type.is_numeric()
        && !column.primary_key
        && column.refers.is_none()
        && !column.name.to_lowercase().ends_with("_id")
}

/// The words that a column is called by.
fn names(column: &ColumnMeaning) -> Vec<String> {
    let mut found = stems(&column.name);
    found.extend(stems(column.natural_name()));
    found
}

fn is_rate(column: &ColumnMeaning) -> bool {
    names(column).iter().any(|word| RATES.iter().any(|rate| alike(rate, word)))
}

impl<'a> Filler<'a> {
    fn places(&self) -> impl Iterator<Item = Place<'a>> {
        self.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (*table, column)))
    }

    fn has_word(&self, words: &[&str]) -> bool {
        self.text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
    }

    fn measures(&self, step: &mut Step) {
        for (aggregation, place) in self.find_measures() {
            let column = place.map(id);
            let bare = place.map_or("rows", |(_, column)| column.name.as_str());
            let name = Some(format!("{}_{bare}", aggregation.as_str()));
            let measure = Measure { aggregation: Some(aggregation), column, expression: None, name };
            if !step.compute.contains(&measure) && step.compute.len() < MAX_MEASURES {
                step.compute.push(measure);
            }
        }
    }

    fn find_measures(&self) -> Vec<(Aggregation, Option<Place<'a>>)> {
        let mut found: Vec<(Aggregation, Option<Place<'a>>)> = Vec::new();
        for fact in self.facts {
            found.extend(self.list_defined(&fact.definition));
        }
        if !found.is_empty() {
            return found;
        }
        if self.question.counts.is_some() {
            return vec![(Aggregation::Count, None)];
        }
        let numbers: Vec<Place<'a>> = self.places().filter(|place| is_number(*place)).collect();
        let asked = |place: &Place<'a>| {
            let words = names(place.1);
            self.question.concepts.iter().filter(|concept| words.iter().any(|word| alike(word, &concept.stem))).count()
        };
        // `total` is a word of asking and the name of a column too.
        let is_named = |place: &Place<'a>| asked(place) > 0 || self.has_word(&[place.1.name.to_lowercase().as_str()]);
        let mut named: Vec<Place<'a>> = numbers.iter().copied().filter(|place| is_named(place)).collect();
        named.sort_by_key(|place| {
            std::cmp::Reverse((self.has_word(&[place.1.name.to_lowercase().as_str()]), asked(place)))
        });
        let mut aggregations = Vec::new();
        if self.question.wants_average {
            aggregations.push(Aggregation::Avg);
        }
        if self.has_word(&["minimum", "smallest", "lowest", "min"]) {
            aggregations.push(Aggregation::Min);
        }
        if self.has_word(&["maximum", "largest", "highest", "max"]) && !named.is_empty() {
            aggregations.push(Aggregation::Max);
        }
        let wants_measure = self.question.wants_data() || self.has_word(&["compare", "more", "less", "total", "much"]);
        if let Some(first) = named.first() {
            let usual = if is_rate(first.1) { Aggregation::Avg } else { Aggregation::Sum };
            let all = if aggregations.is_empty() { vec![usual] } else { aggregations };
            return if wants_measure {
                all.into_iter().map(|aggregation| (aggregation, Some(*first))).collect()
            } else {
                Vec::new()
            };
        }
        let amount = || {
            let amounts = AMOUNTS.iter().find_map(|word| {
                numbers.iter().copied().find(|place| names(place.1).iter().any(|name| alike(name, word)))
            });
            amounts.filter(|_| self.speaks_of_money())
        };
        if let Some(place) = amount().filter(|_| wants_measure) {
            let aggregation = if self.question.wants_average { Aggregation::Avg } else { Aggregation::Sum };
            return vec![(aggregation, Some(place))];
        }
        let counts = self.question.ranks.is_some() || !self.question.groupings.is_empty();
        if counts && !self.question.wants_average { vec![(Aggregation::Count, None)] } else { Vec::new() }
    }

    /// Whether something of the question is in what is said of a table, but no column is called so: what it is about is
    /// then its amount.
    fn speaks_of_money(&self) -> bool {
        let told =
            |stem: &str| self.tables.iter().any(|table| stems(&table.description).iter().any(|word| alike(word, stem)));
        let is_column =
            |stem: &str| self.places().any(|(_, column)| names(column).iter().any(|word| alike(word, stem)));
        let is_table =
            |stem: &str| self.tables.iter().any(|table| stems(&table.name).iter().any(|word| alike(word, stem)));
        self.question
            .concepts
            .iter()
            .any(|concept| told(&concept.stem) && !is_column(&concept.stem) && !is_table(&concept.stem))
    }

    /// The columns that a definition names, and rows that it counts.
    fn list_defined(&self, definition: &str) -> Vec<(Aggregation, Option<Place<'a>>)> {
        let lower = definition.to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let words: Vec<&str> = lower.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.')).collect();
        let mut found: Vec<(Aggregation, Option<Place<'a>>)> = Vec::new();
        for place in self.places().filter(|place| is_number(*place)) {
            let full = format!("{}.{}", place.0.name, place.1.name).to_lowercase();
            if words.contains(&full.as_str()) {
                found.push((Aggregation::Sum, Some(place)));
            }
        }
        if lower.contains("number of") {
            found.push((Aggregation::Count, None));
        }
        // A formula over words: columns that are called so.
        let is_formula = lower.contains("divided by") || lower.contains("sum of");
        if found.iter().all(|(_, place)| place.is_none()) && is_formula {
            let said: Vec<String> = words.iter().flat_map(|word| stems(word)).collect();
            let named = self.places().filter(|place| is_number(*place) && !is_rate(place.1)).filter(|(_, column)| {
                stems(&column.name).iter().any(|word| word.len() > 3 && said.iter().any(|other| alike(other, word)))
            });
            found.extend(named.map(|place| (Aggregation::Sum, Some(place))));
            if found.is_empty()
                && let Some(place) = AMOUNTS.iter().find_map(|word| {
                    self.places()
                        .filter(|place| is_number(*place))
                        .find(|(_, column)| names(column).iter().any(|name| alike(name, word)))
                })
            {
                found.insert(0, (Aggregation::Sum, Some(place)));
            }
        }
        // A threshold of an amount: `invoices total at least 45.00`.
        if found.is_empty() && lower.contains("at least") {
            let amounts = self.places().filter(|place| is_number(*place)).find(|(_, column)| {
                words.contains(&column.name.to_lowercase().as_str())
                    || names(column).first().is_some_and(|name| AMOUNTS.contains(&name.as_str()))
            });
            found.extend(amounts.map(|place| (Aggregation::Sum, Some(place))));
        }
        found
    }

    fn conditions(&self, step: &mut Step) {
        if let Some(period) = self.question.periods.first() {
            for date in self.find_dates() {
                let add = |op, value: &str| FilterCondition { column: id(date), op, value: json!(value) };
                if !period.from.starts_with("0000") {
                    step.filter.push(add(FilterOp::Gte, &period.from).into());
                }
                if !period.to.starts_with("9999") {
                    step.filter.push(add(FilterOp::Lt, &period.to).into());
                }
            }
        }
        let wanted: Vec<String> = self.question.concepts.iter().map(|concept| concept.stem.clone()).collect();
        let mut defined: Vec<Vec<String>> = stems(&self.text).windows(2).map(<[String]>::to_vec).collect();
        for fact in self.facts {
            let said = stems(&fact.definition);
            // `paid invoices`: a value before what the table is called.
            let of_table = |thing: &String, value: &String| {
                self.tables.iter().any(|table| {
                    stems(&table.name).iter().any(|own| alike(own, thing))
                        && table.columns.iter().any(|column| find_value(column, std::slice::from_ref(value)).is_some())
                })
            };
            defined.extend(said.windows(2).filter(|pair| of_table(&pair[1], &pair[0])).map(<[String]>::to_vec));
        }
        let is_name =
            |stem: &String| self.places().any(|(_, column)| names(column).iter().any(|word| alike(word, stem)));
        let is_table =
            |stem: &String| self.tables.iter().any(|table| stems(&table.name).iter().any(|word| alike(word, stem)));
        let wanted: Vec<String> = wanted.into_iter().filter(|stem| !is_name(stem) && !is_table(stem)).collect();
        for place in self.places().filter(|(_, column)| !column.is_date() && !column.primary_key) {
            let of_table = |pair: &&Vec<String>| stems(&place.0.name).iter().any(|own| alike(own, &pair[1]));
            let by_definition = || {
                let mut values = defined.iter().filter(of_table).map(|pair| &pair[0]).filter(|word| word.len() > 2);
                values.find_map(|word| find_value(place.1, std::slice::from_ref(word)))
            };
            if let Some(value) = find_value(place.1, &wanted).or_else(by_definition) {
                let (column, value) = (id(place), json!(value));
                step.filter.push(FilterCondition { column, op: FilterOp::Eq, value }.into());
            }
        }
        self.codes(step);
        self.comparisons(step);
        self.negation(step);
    }

    /// What did not happen has no row in the table that refers to the one that is asked for.
    fn negation(&self, step: &mut Step) {
        if !self.question.negates {
            return;
        }
        let refers = |child: &TableMeaning, parent: &TableMeaning| {
            child.columns.iter().any(|column| column.refers.as_ref().is_some_and(|(table, _)| *table == parent.name))
        };
        let child = self.tables.iter().find(|child| self.tables.iter().any(|parent| refers(child, parent)));
        let key = child.and_then(|child| Some((*child, child.columns.iter().find(|column| column.primary_key)?)));
        let is_missing =
            |place| Condition::One(FilterCondition { column: id(place), op: FilterOp::Eq, value: Value::Null });
        step.filter.extend(key.map(is_missing));
    }

    /// Countries and currencies, on a column that is called so.
    fn codes(&self, step: &mut Step) {
        let of = |concept: &&Concept| concept.code.is_some();
        let named: Vec<&Concept> = self.question.concepts.iter().filter(of).collect();
        let Some(first) = named.first() else { return };
        let is_country = prospector_text::codes::find_currency(&first.text).is_none();
        let words: &[&str] = if is_country { &["countri", "cntri"] } else { &["quot", "currenc", "cci"] };
        let called =
            |(_, column): &Place<'a>| names(column).iter().any(|name| words.iter().any(|word| alike(word, name)));
        let measured = step
            .compute
            .iter()
            .find_map(|measure| measure.column.as_deref()?.rsplit_once('.'))
            .map(|(table, _)| table.to_owned());
        let mut fitting: Vec<Place<'a>> = self.places().filter(called).collect();
        // Amounts are not in the currency that somebody was charged in.
        if !is_country {
            fitting.retain(|(table, _)| {
                stems(&table.name).iter().any(|word| alike(word, "exchang") || alike(word, "rate"))
            });
        }
        fitting.sort_by_key(|(table, _)| measured.as_ref() != Some(&table.id));
        let lacks = |(_, column): &Place<'a>| {
            let has = |code: &str| column.values.iter().any(|value| value.eq_ignore_ascii_case(code));
            column.complete && !named.iter().filter_map(|concept| concept.code).any(has)
        };
        fitting.retain(|place| !lacks(place));
        let Some(place) = fitting.first() else { return };
        let mut values: Vec<&str> = named.iter().filter_map(|concept| concept.code).collect();
        // `United States` is one.
        values.dedup();
        let (op, value) = match values.as_slice() {
            [only] => (FilterOp::Eq, json!(only)),
            several => (FilterOp::In, json!(several)),
        };
        if values.len() > 1 {
            step.group_by.push(Group { column: id(*place), part: None, name: None });
        }
        step.filter.push(FilterCondition { column: id(*place), op, value }.into());
    }

    /// `below 3`, `more than 5`: on the number that is named before.
    fn comparisons(&self, step: &mut Step) {
        let words: Vec<String> = periods::words(&self.text).into_iter().map(str::to_owned).collect();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| self.question.numbers.contains(word)) {
            let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].as_str());
            let op = match (before(2), before(1)) {
                (_, "below" | "under") | ("less" | "fewer" | "lower", "than") => FilterOp::Lt,
                (_, "above" | "over") | ("more" | "greater" | "higher", "than") => FilterOp::Gt,
                ("at", "least") => FilterOp::Gte,
                ("at", "most") => FilterOp::Lte,
                _ => continue,
            };
            let named = self.question.concepts.iter().rev().filter(|concept| concept.at < at);
            let mut places = named.filter_map(|concept| {
                self.places()
                    .filter(|place| is_number(*place))
                    .find(|(_, column)| names(column).iter().any(|name| alike(name, &concept.stem)))
            });
            if let (Some(place), Ok(number)) = (places.next(), word.parse::<i64>()) {
                step.filter.push(FilterCondition { column: id(place), op, value: Value::from(number) }.into());
            }
        }
    }

    /// The dates that a period limits: the one that a verb of the question names, else the first of the table that is
    /// measured, else the first of each table that is not joined to one that has some.
    fn find_dates(&self) -> Vec<Place<'a>> {
        let dates: Vec<Place<'a>> = self.places().filter(|(_, column)| column.is_date()).collect();
        let named = dates.iter().copied().find(|(_, column)| {
            names(column)
                .iter()
                .any(|word| word.len() > 3 && self.question.concepts.iter().any(|concept| alike(&concept.stem, word)))
        });
        let holds = |(_, column): &Place<'a>| {
            column.span.as_ref().is_none_or(|(first, last)| {
                self.question.periods.iter().any(|period| period.overlaps(first, &format!("{last}~")))
            })
        };
        let main = || {
            let measured =
                self.find_measures().into_iter().find_map(|(_, place)| place).map(|(table, _)| table.id.clone());
            let own = dates.iter().copied().find(|(table, _)| measured.as_ref() == Some(&table.id));
            own.or_else(|| dates.iter().copied().find(holds)).or_else(|| dates.first().copied())
        };
        named.or_else(main).into_iter().collect()
    }

    fn groups(&self, step: &mut Step) {
        let mut groups: Vec<Group> = Vec::new();
        for grouping in &self.question.groupings {
            match grouping {
                Grouping::Unit(unit) => {
                    let is_long = self.question.periods.first().is_none_or(|period| period.from[..4] != period.to[..4]);
                    let part = match (unit.as_str(), is_long) {
                        ("quarter", _) => DatePart::YearQuarter,
                        ("month", _) => DatePart::YearMonth,
                        ("year", _) => DatePart::Year,
                        _ => DatePart::Date,
                    };
                    groups.extend(self.find_dates().into_iter().map(|place| Group {
                        column: id(place),
                        part: Some(part),
                        name: None,
                    }));
                }
                Grouping::Of(stems) => groups.extend(self.find_dimension(stems).map(|place| Group {
                    column: id(place),
                    part: None,
                    name: None,
                })),
            }
        }
        if groups.is_empty() && self.question.ranks.is_some() {
            let subject = self.question.concepts.iter().take(2).map(|concept| concept.stem.clone()).collect::<Vec<_>>();
            groups.extend(self.find_dimension(&subject).map(|place| Group {
                column: id(place),
                part: None,
                name: None,
            }));
        }
        for group in groups {
            if !step.group_by.contains(&group) {
                step.group_by.push(group);
            }
        }
    }

    /// The column that is called by the most of these words, or what names a row of a table that is.
    fn find_dimension(&self, wanted: &[String]) -> Option<Place<'a>> {
        let hits = |(_, column): &Place<'a>| {
            let words = names(column);
            wanted.iter().filter(|stem| words.iter().any(|word| alike(word, stem))).count()
        };
        let is_dimension = |place: &Place<'a>| !is_number(*place) && !place.1.is_date();
        let mut columns: Vec<Place<'a>> =
            self.places().filter(|place| is_dimension(place) && hits(place) > 0).collect();
        columns.sort_by_key(|place| (std::cmp::Reverse(hits(place)), place.1.primary_key, place.1.refers.is_some()));
        let own_column = columns.first().copied();
        let table = self
            .tables
            .iter()
            .find(|table| stems(&table.name).iter().any(|word| wanted.iter().any(|stem| alike(word, stem))));
        let label = table.and_then(|table| {
            let named = |word: &str| {
                table.columns.iter().find(|column| stems(&column.name).last().is_some_and(|last| last == word))
            };
            let label = named("name")
                .or_else(|| named("titl"))
                .or_else(|| table.columns.iter().find(|column| column.primary_key));
            label.map(|column| (*table, column))
        });
        match (own_column, label) {
            // `artist`: the artist's name, not the key to it.
            (Some(column), Some(label)) if column.1.refers.is_some() || column.1.primary_key => Some(label),
            (Some(column), _) => Some(column),
            (None, label) => label,
        }
    }

    fn order(&self, step: &mut Step) {
        let Some(highest) = self.question.ranks else { return };
        let Some(name) = step.compute.first().and_then(|measure| measure.name.clone()) else { return };
        if step.group_by.is_empty() {
            return;
        }
        step.order.push(Order { by: name, descending: highest });
        let number = self.question.numbers.iter().find_map(|number| number.parse::<usize>().ok());
        step.limit = number.filter(|number| (1..=1_000).contains(number));
    }

    /// The columns of the fields, and of what only the columns tell.
    fn columns(&self, step: &mut Step) {
        let fields = step.compute.iter().filter_map(|measure| measure.column.clone());
        let fields = fields.chain(step.conditions().map(|filter| filter.column.clone()));
        let mut columns: Vec<String> = fields.chain(step.group_by.iter().map(|group| group.column.clone())).collect();
        for place in self.places() {
            let words = names(place.1);
            if self.question.concepts.iter().any(|concept| words.contains(&concept.stem)) {
                columns.push(id(place));
            }
        }
        for column in columns {
            if !step.columns.contains(&column) {
                step.columns.push(column);
            }
        }
    }
}

/// The value of a column that most of these words stand for: the code of a meaning, or a value as it was sampled.
fn find_value(column: &ColumnMeaning, wanted: &[String]) -> Option<String> {
    let hits = |text: &str| stems(text).iter().filter(|word| wanted.contains(word)).count();
    let codes = column.codes().into_iter().map(|(code, meaning)| {
        let meaning = meaning.split([',', '(']).next().unwrap_or_default();
        (hits(meaning).max(hits(code)), stems(meaning).len(), code.split(',').next().unwrap_or(code).trim().to_owned())
    });
    let samples = column.values.iter().filter(|value| value.chars().any(char::is_alphabetic));
    let samples = samples.map(|value| (hits(value), stems(value).len(), value.clone()));
    let mut found: Vec<(usize, usize, String)> = codes.chain(samples).filter(|(hits, ..)| *hits > 0).collect();
    found.sort_by_key(|(hits, length, _)| (std::cmp::Reverse(*hits), *length));
    // A long value needs more than one word of it.
    found.into_iter().find(|(hits, length, _)| hits * 2 >= *length).map(|(_, _, value)| value)
}
