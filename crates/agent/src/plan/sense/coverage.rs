//! Whether everything that the question names is in something that the plan uses.

use prospector_connect::{
    query::{Aggregation, Group},
    table::ColumnType,
};

use super::{
    Report, SenseCode, SenseFinding, currencies,
    queries::UsedQuery,
    question::{Concept, Grouping},
    view::{PlanView, computes},
    vocabulary::{Cover, alike},
};
use crate::{
    meaning::ColumnMeaning,
    plan::{Step, formula::Formula},
};

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    check_words(view, report);
    report.check(check_count(view));
    report.check(check_average(view));
    report.check(check_amount(view));
    report.check(check_data(view));
    report.check(currencies::check(view));
    report.check(check_subject(view));
    check_named_tables(view, report);
    // What is ranked by is a measure.
    let is_group = |grouping: &&Grouping| matches!(grouping, Grouping::Unit(_)) || view.question.ranks.is_none();
    for grouping in view.question.groupings.iter().filter(is_group).filter(|grouping| !is_divisor(view, grouping)) {
        report.check(check_grouping(view, grouping));
    }
}

/// Whether something is divided by what the question names after `per`: the sessions of `revenue per session` are no groups.
fn is_divisor(view: &PlanView<'_>, grouping: &Grouping) -> bool {
    let Grouping::Of(stems) = grouping else { return false };
    let names_it = |name: &String| {
        let said = super::vocabulary::stems(name.rsplit('.').next().unwrap_or(name));
        said.iter().any(|word| stems.iter().any(|stem| alike(word, stem)))
    };
    let divides = |formula: &str| formula.split('/').skip(1).any(|part| Formula::read(part).names.iter().any(names_it));
    view.steps.iter().flat_map(|step| &step.compute).filter_map(|one| one.expression.as_deref()).any(divides)
}

/// What the question is about is covered. A word that says nothing of that, and that nothing in the catalog is called by, is passed
/// over where the plan covers more than half of the others.
fn check_words(view: &PlanView<'_>, report: &mut Report) {
    let concepts = &view.question.concepts;
    let (covered, open): (Vec<&Concept>, Vec<&Concept>) =
        concepts.iter().partition(|concept| is_covered(view, concept));
    let is_near = covered.len() * 2 > concepts.len();
    report.checked += covered.len();
    for concept in open {
        let is_told = !is_near || is_essential(concept) || is_known(view, concept);
        if is_told {
            report.not_covered.push(concept.text.clone());
        }
        report.check(is_told.then(|| tell_missing(view, concept)));
    }
}

/// Whether a plan that does without the word is about something else.
fn is_essential(concept: &Concept) -> bool {
    concept.is_subject || concept.is_name || concept.code.is_some() || !concept.parts.is_empty()
}

/// Whether something in the catalog is called by the word; where not all of it is known, something may be.
fn is_known(view: &PlanView<'_>, concept: &Concept) -> bool {
    let mut terms = view.terms.iter().chain(&view.defined).chain(&view.related);
    !view.meanings.is_whole()
        || !view.meanings.homes(&concept.stem).is_empty()
        || terms.any(|term| names(term, concept))
}

/// A plan without steps has to be right in that: something of the question is nowhere.
pub(super) fn check_declined(view: &PlanView<'_>, report: &mut Report) {
    let concepts = &view.question.concepts;
    let homes: Vec<Vec<String>> = concepts.iter().map(|concept| view.meanings.homes(&concept.stem)).collect();
    let database = |id: &str| id.split('.').next().unwrap_or_default().to_owned();
    // Words that are held here and there have no answer in common.
    let is_in = |wanted: &String| {
        concepts.iter().zip(&homes).all(|(concept, homes)| {
            homes.iter().any(|home| database(home) == *wanted)
                || concept.code.is_some()
                || view.defined.iter().any(|term| names(term, concept))
        })
    };
    let mut databases: Vec<String> = homes.iter().flatten().map(|home| database(home)).collect();
    databases.sort();
    databases.dedup();
    let found = databases.iter().find(|database| is_in(database));
    let is_there = !concepts.is_empty() && (found.is_some() || databases.is_empty() && is_in(&String::new()));
    let is_near = |home: &String| found.is_none_or(|found| database(home) == *found);
    let nearest: Vec<String> = homes.iter().flatten().filter(|home| is_near(home)).take(3).cloned().collect();
    report.check(is_there.then(|| {
        let message =
            "the plan declines, but everything that the question names is there: look at these, and plan with them";
        SenseFinding::new(SenseCode::Declined, None, message).near(nearest)
    }));
}

/// Whether a table of the plan has texts and nothing is known of any of its values.
fn has_unknown_texts(view: &PlanView<'_>) -> bool {
    view.tables().any(|(_, table)| {
        let is_text = |column: &ColumnMeaning| matches!(column.column_type, ColumnType::Text | ColumnType::Other);
        table.columns.iter().any(is_text)
            && table.columns.iter().all(|column| column.values.is_empty() && column.span.is_none())
    })
}

fn names(term: &super::view::UsedTerm, concept: &Concept) -> bool {
    term.stems.iter().any(|stem| alike(stem, &concept.stem)) || term.short.as_ref() == Some(&concept.stem)
}

/// A word of several parts (`o'hara`, `b2b`) is covered where all of them are.
fn is_covered(view: &PlanView<'_>, concept: &Concept) -> bool {
    let mut parts = concept.parts.iter().filter(|part| part.chars().count() > 1).peekable();
    covers(view, concept, &concept.stem) || (parts.peek().is_some() && parts.all(|part| covers(view, concept, part)))
}

fn covers(view: &PlanView<'_>, concept: &Concept, stem: &str) -> bool {
    if view.cover(stem) > Cover::None || view.filters_hold(stem) {
        return true;
    }
    // Whether something makes the change that a verb asks for is checked by itself.
    if view.question.verbs.iter().any(|verb| verb == stem) {
        return true;
    }
    // A name is a value. What an operation is called with is said nowhere before the call, and what a table holds only where its
    // values are known.
    if concept.is_name && (view.sources.iter().any(|source| source.operation.is_some()) || has_unknown_texts(view)) {
        return true;
    }
    // A term that the plan uses, and its short form.
    let is_of = |term: &super::view::UsedTerm| {
        names(term, concept)
            || term.place(&view.question).is_some_and(|(at, count)| (at..at + count).contains(&concept.at))
    };
    if view.terms.iter().any(is_of) {
        return true;
    }
    let reads = |source: &str| {
        let name = source.split('#').next().unwrap_or_default();
        view.sources.iter().any(|used| used.id == name)
    };
    if view.defined.iter().any(|term| reads(&term.term.source) && is_of(term)) {
        return true;
    }
    // What a change is asked for with is passed to the operation that makes it.
    let changes = |source: &super::view::Source| {
        let writes = source.operation.as_ref().is_some_and(|operation| operation.writes == Some(true));
        writes && view.question.concepts.iter().any(|concept| source.words.is_called(&concept.stem))
    };
    if view.question.asks_for_change && view.sources.iter().any(changes) {
        return true;
    }
    // Where only texts are read, what they say counts.
    if view.tables().next().is_none() && view.sources.iter().any(|used| view.meanings.mentions(&used.id, stem)) {
        return true;
    }
    if currencies::is_own(view, concept) || currencies::is_unit(&view.question, concept) {
        return true;
    }
    if let Some(code) = concept.code {
        let code = code.to_lowercase();
        let holds = |table: &crate::meaning::TableMeaning| {
            table.columns.iter().any(|column| column.values.iter().any(|value| value.eq_ignore_ascii_case(&code)))
        };
        return view.filters_hold(&code) || view.tables().any(|(_, table)| holds(table)) || view.says(stem);
    }
    // A name may be a value that nobody has read.
    if concept.is_name && !view.tables().all(|(_, table)| table.columns.is_empty()) && view.says(stem) {
        return true;
    }
    // What a step computes is called so, or a step says it together with the words beside it: as home runs.
    if view.named.iter().any(|named| alike(named, stem)) || is_said_with_neighbour(view, concept, stem) {
        return true;
    }
    // Nothing where the plan looks is called so: a step that says the word says what stands for it, as doctors for physicians.
    let is_here = |id: &String| view.tables().any(|(_, table)| is_of_database(id, &table.database));
    view.said.iter().any(|said| alike(said, stem)) && !list_homes(view, concept, stem).iter().any(is_here)
}

fn is_of_database(id: &str, database: &str) -> bool {
    id.strip_prefix(database).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a goal has the word beside a word that the question has it beside too.
fn is_said_with_neighbour(view: &PlanView<'_>, concept: &Concept, stem: &str) -> bool {
    let neighbours = view.question.concepts.iter().filter(|other| other.at.abs_diff(concept.at) == 1);
    let mut pairs = neighbours.map(|other| match other.at < concept.at {
        true => (other.stem.as_str(), stem),
        false => (stem, other.stem.as_str()),
    });
    pairs.any(|(first, second)| view.said.windows(2).any(|said| alike(&said[0], first) && alike(&said[1], second)))
}

/// The tables that hold a word and fit the question: called by it alone, or holding more of what the question is about. The
/// game of `home_game` is no home of `home runs`.
fn list_homes(view: &PlanView<'_>, concept: &Concept, stem: &str) -> Vec<String> {
    let mut homes = view.homes_near(stem);
    let others: Vec<&Concept> = view.question.concepts.iter().filter(|other| other.at != concept.at).collect();
    homes.retain(|id| {
        let knows = |table: crate::meaning::TableMeaning| {
            let words = super::vocabulary::Vocabulary::of_table(&table);
            others.iter().any(|other| words.cover(&other.stem) > Cover::None)
        };
        others.is_empty() || is_home(id, stem) || view.meanings.table(id).is_none_or(knows)
    });
    homes
}

fn tell_missing(view: &PlanView<'_>, concept: &Concept) -> SenseFinding {
    let nearest = list_homes(view, concept, &concept.stem);
    let advice = match nearest.is_empty() {
        true => "say in a step's goal what stands for it, or decline",
        false => "use what holds it",
    };
    let message = format!("no source of the plan holds `{}` of the question: {advice}", concept.text);
    SenseFinding::new(SenseCode::NotCovered, None, message).near(nearest)
}

/// What is counted is counted in its own table, or by a key of it.
fn check_count(view: &PlanView<'_>) -> Option<SenseFinding> {
    let counts = view.question.counts.as_ref()?;
    let called = |homes: Vec<String>| homes.into_iter().filter(|id| is_home(id, counts)).collect::<Vec<_>>();
    let homes = called(view.homes_near(counts));
    // A table of another database is meant where nothing of the plan is called so.
    let is_elsewhere = || view.cover(counts) < Cover::Value && !called(view.meanings.homes(counts)).is_empty();
    if view.tables().next().is_none() || (homes.is_empty() && !is_elsewhere()) {
        return None;
    }
    let is_there = view.tables().any(|(_, table)| is_home(&table.id, counts) || homes.contains(&table.id));
    let by_key = view.steps.iter().any(|step| {
        step.compute.iter().any(|measure| {
            let distinct = measure.aggregation == Some(Aggregation::CountDistinct);
            let column = measure.column.as_deref().and_then(|name| view.find_column(step, name));
            distinct && column.is_some_and(|found| super::vocabulary::stems(&found.column.name).contains(counts))
        })
    });
    let from_earlier = view.steps.iter().any(|step| computes(step) && super::view::reads_input(step));
    if is_there || by_key || (from_earlier && view.steps.len() > 1) {
        return None;
    }
    let message = format!(
        "the question counts `{}`, and the plan does not use the table that holds them, one a row",
        view.word(counts)
    );
    Some(SenseFinding::new(SenseCode::WrongMeasure, None, message).near(homes))
}

/// Who has the most of an amount is not found by counting rows.
fn check_amount(view: &PlanView<'_>) -> Option<SenseFinding> {
    const AMOUNTS: [&str; 8] = ["revenue", "sale", "spend", "amount", "turnover", "income", "profit", "money"];
    let counts = view.question.counts.as_deref()?;
    let is_amount = AMOUNTS.iter().any(|word| super::vocabulary::stems(word).iter().any(|stem| alike(stem, counts)));
    let mut measures = view.steps.iter().flat_map(|step| &step.compute).peekable();
    let only_counts = measures.peek().is_some()
        && measures.all(|measure| matches!(measure.aggregation, Some(Aggregation::Count | Aggregation::CountDistinct)));
    (is_amount && only_counts && view.question.ranks.is_some()).then(|| {
        let message = format!(
            "the question ranks by `{}`, and the plan only counts rows: sum what it is made of",
            view.word(counts)
        );
        SenseFinding::new(SenseCode::WrongMeasure, None, message)
    })
}

/// Whether a table is called by this word alone.
fn is_home(id: &str, stem: &str) -> bool {
    let name = id.rsplit('.').next().unwrap_or(id);
    matches!(super::vocabulary::stems(name).as_slice(), [only] if alike(only, stem))
}

/// A question that counts, ranks, groups or compares is answered by tables, where there are some for what it names; one about a
/// period by anything that reads data.
fn check_data(view: &PlanView<'_>) -> Option<SenseFinding> {
    use prospector_core::record::ResourceKind;
    let has = |kind| view.sources.iter().any(|source| source.kind == kind);
    let question = &view.question;
    let homes: Vec<String> =
        question.concepts.iter().flat_map(|concept| view.meanings.homes(&concept.stem)).take(3).collect();
    // A rate of a period is computed.
    let is_figure = !question.periods.is_empty() && view.defined.iter().any(|term| term.is_formula);
    let computes = (question.computes() || is_figure) && !homes.is_empty() && !question.asks_for_change;
    // An operation may be the only one that has it.
    let is_only = question.concepts.iter().any(|concept| {
        let mut operations = view.sources.iter().filter(|source| source.operation.is_some());
        view.meanings.homes(&concept.stem).is_empty()
            && operations.any(|source| source.words.cover(&concept.stem) == Cover::Name)
    });
    let reads = has(ResourceKind::Table)
        || has(ResourceKind::Metric)
        || is_only
        || (!computes && (has(ResourceKind::Operation) || has(ResourceKind::Skill)));
    if (question.wants_data() || computes) && !reads {
        let message =
            "the question is answered by data, and no step reads any: name the tables and what is computed of them";
        return Some(SenseFinding::new(SenseCode::WrongMeasure, None, message).near(homes));
    }
    let is_measured = |step: &Step| !step.compute.is_empty() || !step.order.is_empty() || step.query.is_some();
    let measures = view.steps.iter().any(is_measured);
    (question.ranks.is_some() && view.is_structured && !measures && !limits_place(view)).then(|| {
        let message =
            "the question asks for the first by something, and no step computes it: say it in `compute` and `order`";
        SenseFinding::new(SenseCode::WrongMeasure, None, message)
    })
}

/// Whether a condition keeps the first places: `rank <= 10` for the top ten.
fn limits_place(view: &PlanView<'_>) -> bool {
    use prospector_connect::filter::FilterOp;
    let is_place = |name: &str| {
        const PLACES: [&str; 5] = ["rank", "place", "position", "seed", "standing"];
        let words = super::vocabulary::stems(name);
        words.iter().any(|word| PLACES.iter().any(|place| super::vocabulary::stems(place).concat() == *word))
    };
    view.filters().any(|(_, filter, _)| {
        let is_upper = matches!(filter.op, FilterOp::Lt | FilterOp::Lte | FilterOp::Between | FilterOp::Eq);
        let says = || filter.value.as_i64().is_some_and(|value| view.question.counted.contains(&value));
        is_upper && (is_place(&filter.column) || says())
    })
}

/// What is ranked or grouped by has to be known to each step that computes; where it has a table of its own, a number that stands
/// for it is no answer.
fn check_subject(view: &PlanView<'_>) -> Option<SenseFinding> {
    let ranked = view.question.ranked.as_ref().map(|concept| vec![concept.stem.clone()]);
    let grouped = view.question.groupings.iter().filter_map(|grouping| match grouping {
        Grouping::Of(stems) if view.question.ranks.is_none() && !is_divisor(view, grouping) => Some(stems.clone()),
        Grouping::Of(_) | Grouping::Unit(_) => None,
    });
    for stems in ranked.into_iter().chain(grouped) {
        let Some(stem) = stems.last() else { continue };
        let homes: Vec<String> = view.homes_near(stem).into_iter().filter(|id| is_home(id, stem)).collect();
        let is_there = view.tables().any(|(_, table)| is_home(&table.id, stem));
        let by_number = view.tables().any(|(_, table)| {
            let leads = |column: &ColumnMeaning| column.refers.as_ref().is_some_and(|(to, _)| is_home(to, stem));
            table.columns.iter().any(|column| leads(column) && column.column_type.is_numeric())
        });
        if by_number && !is_there {
            let message = format!(
                "the question wants `{}` by name, and the plan has only a key to it: join its table",
                view.word(stem)
            );
            return Some(SenseFinding::new(SenseCode::MissingGroup, None, message).near(homes));
        }
        let knows = |step: &crate::plan::Step| {
            let mut own = view.sources.iter().filter(|source| step.tables.contains(&source.id));
            own.any(|source| stems.iter().any(|stem| source.words.cover(stem) > Cover::None))
        };
        let strange = view.steps.iter().find(|step| {
            !step.compute.is_empty() && !super::view::reads_input(step) && !step.tables.is_empty() && !knows(step)
        });
        let is_known =
            || view.cover(stem) > Cover::None || view.meanings.homes(stem).iter().any(|id| is_home(id, stem));
        if let Some(step) = strange.filter(|_| is_known()) {
            let message = format!(
                "the step computes over tables that know no `{}`, which the question wants to be told apart",
                view.word(stem)
            );
            return Some(SenseFinding::new(SenseCode::MissingGroup, Some(step.number), message).near(homes));
        }
    }
    None
}

/// A table that the question calls a table is the one that is meant.
fn check_named_tables(view: &PlanView<'_>, report: &mut Report) {
    for concept in view.question.concepts.iter().filter(|_| view.question.names_tables) {
        let homes: Vec<String> =
            view.meanings.homes(&concept.stem).into_iter().filter(|id| is_home(id, &concept.stem)).collect();
        let is_there = homes.is_empty() || view.tables().any(|(_, table)| is_home(&table.id, &concept.stem));
        report.check((!is_there).then(|| {
            let message = format!("the question names the table `{}`, and no step uses it", concept.text);
            SenseFinding::new(SenseCode::NotCovered, None, message).near(homes)
        }));
    }
}

fn check_average(view: &PlanView<'_>) -> Option<SenseFinding> {
    let mut measures = view.steps.iter().flat_map(|step| &step.compute).peekable();
    let asked = view.question.wants_average && measures.peek().is_some();
    let is_average = measures.any(|measure| {
        measure.aggregation == Some(Aggregation::Avg) || measure.expression.as_deref().is_some_and(Formula::is_mean)
    });
    let is_average = is_average || view.queries.iter().any(UsedQuery::is_mean);
    let divides_later = view.steps.iter().any(|step| step.compute.is_empty() && super::view::reads_input(step));
    (asked && !is_average && !divides_later).then(|| {
        let message =
            "the question asks for an average, and no step computes one: use avg(..), or divide a sum by a count";
        SenseFinding::new(SenseCode::WrongMeasure, None, message)
    })
}

fn check_grouping(view: &PlanView<'_>, grouping: &Grouping) -> Option<SenseFinding> {
    if view.steps.iter().all(|step| step.compute.is_empty()) {
        return None;
    }
    let words_of = |name: &str| super::vocabulary::stems(name);
    let (is_made, wanted) = match grouping {
        Grouping::Unit(unit) => {
            let fits = |group: &Group, step| match group.part {
                Some(part) => part.as_str().split('_').any(|word| word == unit) || part.as_str() == "date",
                None => view.find_column(step, &group.column).is_none_or(|found| {
                    found.column.is_date() || words_of(&found.column.name).iter().any(|word| alike(word, unit))
                }),
            };
            let in_query = view.queries.iter().any(|query| query.says(unit));
            (
                in_query || view.steps.iter().any(|step| step.group_by.iter().any(|group| fits(group, step))),
                unit.clone(),
            )
        }
        Grouping::Of(stems) => {
            let is_called = |found: &super::view::Found<'_>| {
                // What refers to a table says what its rows are there for: `support_rep_id`.
                let refers = view
                    .tables()
                    .flat_map(|(_, table)| &table.columns)
                    .filter(|column| column.refers.as_ref().is_some_and(|(table, _)| *table == found.table.name));
                let names = [&found.column.name, &found.table.name, &found.column.description];
                let names = names.into_iter().chain(refers.map(|column| &column.name));
                let told: Vec<String> = names.flat_map(|name| words_of(name)).collect();
                stems.iter().any(|stem| told.iter().any(|word| alike(word, stem)))
            };
            let measured = view.steps.iter().flat_map(|step| &step.compute).any(|measure| {
                let name = measure.name.as_deref().unwrap_or_default();
                words_of(name).iter().any(|word| stems.iter().any(|stem| alike(word, stem)))
            });
            let defined = view.terms.iter().any(|term| stems.iter().any(|stem| term.stems.contains(stem)));
            // The fields of a step that calls an operation name no columns of tables.
            let mut groups = view.steps.iter().flat_map(|step| &step.group_by);
            let is_named = groups.any(|group| {
                let told = words_of(&format!("{} {}", group.column, group.name.as_deref().unwrap_or_default()));
                stems.iter().any(|stem| told.iter().any(|word| alike(word, stem)))
            });
            let words: Vec<&str> = stems.iter().map(|stem| view.word(stem)).collect();
            let in_query = view.queries.iter().any(|query| stems.iter().any(|stem| query.says(stem)));
            (in_query || measured || defined || is_named || view.fields().iter().any(is_called), words.join(" "))
        }
    };
    (!is_made).then(|| {
        let message = format!("the question wants groups by `{wanted}`, and no step has it in `group_by`");
        SenseFinding::new(SenseCode::MissingGroup, None, message)
    })
}
