//! Validates a well-formed workflow: names, transitions and prerequisites.

use std::collections::{BTreeMap, BTreeSet};

use prospector_core::Problem;
use prospector_core::name::nearest;
use serde_saphyr::{Location, Spanned};

use crate::{
    definition::{ADVANCE, ContextItem, END, Each, Phase, Policy, Product, Then, USER, Way, Workflow},
    file::{Amounts, Written, WrittenPhase, WrittenThen},
};

/// Default number of failures in a row before the policy applies.
const DEFAULT_RETRIES: u32 = 2;

/// Limit on the tokens of a product shown to a phase.
const MAX_PRODUCT_TOKENS: usize = 4_000;

struct Checker<'a> {
    file: &'a str,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn wrong(&mut self, at: &Location, reason: impl Into<String>, advice: impl Into<String>) {
        let place = format!("{}:{}:{}", self.file, at.line(), at.column());
        self.problems.push(Problem::error(place, reason).advise(advice));
    }

    fn unknown<'n>(&mut self, at: &Location, what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) {
        let known: Vec<&str> = known.into_iter().collect();
        let advice = match nearest(name, known.iter().copied(), 3).as_slice() {
            [] if known.is_empty() => format!("there are no {what}s"),
            [] => format!("the {what}s are {}", known.join(", ")),
            near => format!("did you mean {}?", near.join(", ")),
        };
        self.wrong(at, format!("unknown {what} `{name}`"), advice);
    }
}

/// Resolves a workflow, or returns all of its problems.
pub(crate) fn resolve(file: &str, written: Written, known: &[&str]) -> Result<Workflow, Vec<Problem>> {
    let mut checker = Checker { file, problems: Vec::new() };
    let names: Vec<String> = written.phases.iter().map(|phase| phase.name.value.clone()).collect();
    for (at, phase) in written.phases.iter().enumerate() {
        let name = &phase.name.value;
        if names[..at].contains(name) || name == END || name.trim().is_empty() {
            let advice = "give each phase a unique name; `end` is reserved";
            checker.wrong(&phase.name.referenced, format!("invalid or duplicate phase name `{name}`"), advice);
        }
    }
    let products = products(&mut checker, &written, known);
    let begin = names.iter().position(|name| *name == written.begin.value);
    if begin.is_none() {
        let at = written.begin.referenced;
        checker.unknown(&at, "phase", &written.begin.value, names.iter().map(String::as_str));
    }
    let makers = Makers::new(&products, &written);
    let scope = Scope { phases: &names, tools: known, makers: &makers };
    let phases: Vec<Phase> = written.phases.iter().map(|phase| resolve_phase(&mut checker, phase, &scope)).collect();
    for (gives, place) in products.iter().zip(written.products.iter().map(|product| product.tool.referenced)) {
        if !phases.iter().any(|phase| phase.tools.contains(&gives.tool)) && known.contains(&gives.tool.as_str()) {
            let advice = "add the tool to a phase, or remove the product";
            checker.wrong(&place, format!("no phase has the tool `{}`", gives.tool), advice);
        }
    }
    let workflow = Workflow {
        name: written.workflow.clone(),
        role: written.role.clone(),
        products,
        phases,
        begin: begin.unwrap_or(0),
    };
    // Transitions are checked only if all names resolve.
    if checker.problems.is_empty() {
        ways(&mut checker, &workflow, &written);
    }
    if checker.problems.is_empty() { Ok(workflow) } else { Err(checker.problems) }
}

fn products(checker: &mut Checker<'_>, written: &Written, known: &[&str]) -> Vec<Product> {
    let mut found: Vec<Product> = Vec::new();
    for product in &written.products {
        let (name, tool) = (&product.name, &product.tool);
        if found.iter().any(|other| other.name == name.value) || name.value == USER {
            let advice = "rename it; `user` is reserved for messages of the user";
            checker.wrong(&name.referenced, format!("duplicate product `{}`", name.value), advice);
        }
        if !known.contains(&tool.value.as_str()) {
            checker.unknown(&tool.referenced, "tool", &tool.value, known.iter().copied());
        }
        for pointer in [&product.each, &product.holds].into_iter().flatten() {
            if !pointer.value.starts_with('/') {
                let advice = "start it with a slash: /alias";
                checker.wrong(&pointer.referenced, format!("`{}` is not a JSON pointer", pointer.value), advice);
            }
        }
        found.push(Product {
            name: name.value.clone(),
            tool: tool.value.clone(),
            each: product.each.as_ref().map(|pointer| each(&pointer.value)),
            holds: product.holds.as_ref().map(|pointer| pointer.value.clone()),
            forgets: product.forgets.iter().map(|name| name.value.clone()).collect(),
        });
    }
    let names = || written.products.iter().map(|product| product.name.value.as_str());
    for forgotten in written.products.iter().flat_map(|product| &product.forgets) {
        if !names().any(|name| name == forgotten.value) {
            checker.unknown(&forgotten.referenced, "product", &forgotten.value, names());
        }
    }
    found
}

/// Parses `/list/*` as the items of a list, and `/field` as a value.
fn each(pointer: &str) -> Each {
    match pointer.strip_suffix("/*") {
        Some(list) => Each::Item(list.to_owned()),
        None => Each::Value(pointer.to_owned()),
    }
}

/// The defined products, and whether there may be several instances of one.
struct Makers(BTreeMap<String, bool>);

impl Makers {
    fn new(products: &[Product], written: &Written) -> Self {
        let notes = written.phases.iter().flat_map(|phase| &phase.advance).filter_map(|way| way.note.as_ref());
        let notes = notes.map(|note| (note.value.clone(), false));
        let given = products.iter().map(|product| (product.name.clone(), product.each.is_some()));
        Makers(notes.chain(given).chain([(USER.to_owned(), true)]).collect())
    }

    fn amounts(&self, checker: &mut Checker<'_>, amounts: &Amounts, may_be_user: bool) -> BTreeMap<String, usize> {
        for (name, amount) in amounts {
            let at = &amount.referenced;
            match self.0.get(name) {
                _ if name == USER && !may_be_user => {
                    checker.wrong(
                        at,
                        "`user` cannot be needed: a phase has no messages before it is entered",
                        "use `user` in a `when`",
                    );
                }
                None => checker.unknown(at, "product", name, self.0.keys().map(String::as_str)),
                Some(_) if amount.value == 0 => {
                    checker.wrong(at, format!("0 of `{name}` is not a condition"), "remove it")
                }
                Some(false) if amount.value > 1 => {
                    let advice = "write 1, or give the product `each`";
                    checker.wrong(at, format!("`{name}` has at most one instance"), advice);
                }
                Some(_) => {}
            }
        }
        amounts.iter().map(|(name, amount)| (name.clone(), amount.value)).collect()
    }
}

/// The names in scope of a phase.
struct Scope<'a> {
    phases: &'a [String],
    tools: &'a [&'a str],
    makers: &'a Makers,
}

fn resolve_phase(checker: &mut Checker<'_>, written: &WrittenPhase, scope: &Scope<'_>) -> Phase {
    let tools = resolve_tools(checker, written, scope);
    let advance = resolve_ways(checker, written, scope);
    let context = resolve_context(checker, written, scope);
    let on_error = resolve_policy(checker, written, scope, &advance);
    Phase {
        name: written.name.value.clone(),
        needs: scope.makers.amounts(checker, &written.needs, false),
        tools,
        user: written.user,
        instructions: written.instructions.trim().to_owned(),
        context,
        advance,
        on_error,
    }
}

/// Returns the tools of a phase, sorted, with patterns expanded.
fn resolve_tools(checker: &mut Checker<'_>, written: &WrittenPhase, scope: &Scope<'_>) -> Vec<String> {
    let mut tools = BTreeSet::new();
    for tool in &written.tools {
        let matched: Vec<&str> = scope.tools.iter().copied().filter(|name| matches(&tool.value, name)).collect();
        if tool.value == ADVANCE {
            checker.wrong(&tool.referenced, "`advance` is available in every phase", "remove it");
        } else if matched.is_empty() {
            checker.unknown(&tool.referenced, "tool", &tool.value, scope.tools.iter().copied());
        }
        tools.extend(matched.into_iter().map(str::to_owned));
    }
    tools.into_iter().collect()
}

/// Returns the index of a phase; `None` for the end, and for an unknown name.
fn find_phase(checker: &mut Checker<'_>, to: &Spanned<String>, scope: &Scope<'_>) -> Option<usize> {
    let place = scope.phases.iter().position(|name| *name == to.value);
    if place.is_none() && to.value != END {
        let known = scope.phases.iter().map(String::as_str).chain([END]);
        checker.unknown(&to.referenced, "phase", &to.value, known);
    }
    place
}

fn resolve_ways(checker: &mut Checker<'_>, written: &WrittenPhase, scope: &Scope<'_>) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for way in &written.advance {
        let at = &way.to.referenced;
        let to = find_phase(checker, &way.to, scope);
        if ways.iter().any(|other| other.to == to) {
            checker.wrong(at, format!("duplicate transition to `{}`", way.to.value), "remove one");
        }
        let when = scope.makers.amounts(checker, &way.when, true);
        if way.automatic && (way.note.is_some() || when.is_empty()) {
            let advice = "give it a `when` and no `note`, or remove `automatic`";
            checker.wrong(at, "an automatic transition needs a condition, and cannot have a note", advice);
        }
        if way.when.contains_key(USER) && !written.user {
            let at = &way.when[USER].referenced;
            checker.wrong(at, "this phase has no user", "set `user: true`, or remove the condition");
        }
        let note = way.note.as_ref().map(|note| note.value.clone());
        ways.push(Way { to, when, note, automatic: way.automatic });
    }
    if ways.is_empty() {
        checker.wrong(&written.name.referenced, "this phase has no transition", "add one to `advance`");
    }
    ways
}

/// Resolves the products shown to a phase.
fn resolve_context(checker: &mut Checker<'_>, written: &WrittenPhase, scope: &Scope<'_>) -> Vec<ContextItem> {
    let mut context = Vec::new();
    let products = &scope.makers.0;
    for item in &written.context {
        let (product, max_tokens) = (&item.product, &item.max_tokens);
        if !products.contains_key(&product.value) || product.value == USER {
            checker.unknown(&product.referenced, "product", &product.value, products.keys().map(String::as_str));
        }
        if !(1..=MAX_PRODUCT_TOKENS).contains(&max_tokens.value) {
            let advice = format!("write a number from 1 to {MAX_PRODUCT_TOKENS}");
            checker.wrong(&max_tokens.referenced, format!("invalid limit {}", max_tokens.value), advice);
        }
        context.push(ContextItem { product: product.value.clone(), max_tokens: max_tokens.value });
    }
    context
}

/// Resolves the failure policy; `ways` are the transitions of the phase.
fn resolve_policy(checker: &mut Checker<'_>, written: &WrittenPhase, scope: &Scope<'_>, ways: &[Way]) -> Policy {
    let policy = &written.on_error;
    let to = policy.to.as_ref().map(|to| (to.value == END, find_phase(checker, to, scope), to.referenced));
    let then = match (policy.then, to) {
        (WrittenThen::Stop, None) => Then::Stop,
        (WrittenThen::Tell, None) if written.user => Then::Tell,
        (WrittenThen::Tell, None) => {
            let advice = "say `user: true`, or `then: stop`, `back` or `skip`";
            checker.wrong(&written.name.referenced, "`then: tell` needs a phase with the user", advice);
            Then::Stop
        }
        (WrittenThen::Back, Some((false, Some(place), _))) => Then::Back(place),
        (WrittenThen::Skip, Some((_, place, _))) => Then::Skip(place),
        (WrittenThen::Skip, None) => Then::Skip(ways.first().and_then(|way| way.to)),
        (WrittenThen::Stop | WrittenThen::Tell, Some((_, _, at))) => {
            checker.wrong(&at, "`to` has no effect here", "remove `to`, or set `then: back` or `then: skip`");
            Then::Stop
        }
        (WrittenThen::Back, Some((true, _, at))) => {
            checker.wrong(&at, "`then: back` cannot go to the end", "name a phase, or set `then: skip`");
            Then::Stop
        }
        (WrittenThen::Back, Some(_)) => Then::Stop,
        (WrittenThen::Back, None) => {
            checker.wrong(&written.name.referenced, "`then: back` needs a phase", "add `to: PHASE`");
            Then::Stop
        }
    };
    Policy { retry: policy.retry.unwrap_or(DEFAULT_RETRIES), then }
}

/// Whether a name matches a pattern in which `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

/// Checks that every phase is reachable, leads to the end, and can have its prerequisites.
fn ways(checker: &mut Checker<'_>, workflow: &Workflow, written: &Written) {
    let count = workflow.phases.len();
    let onward: Vec<Vec<Option<usize>>> = (workflow.phases.iter())
        .map(|phase| {
            let skip = match phase.on_error.then {
                Then::Skip(to) => Some(to),
                _ => None,
            };
            phase.advance.iter().map(|way| way.to).chain(skip).collect()
        })
        .collect();
    let back = |at: usize| match workflow.phases[at].on_error.then {
        Then::Back(to) => Some(to),
        _ => None,
    };
    let all = |at: usize| onward[at].iter().copied().flatten().chain(back(at));
    let reached = from(count, workflow.begin, all);
    for at in 0..count {
        let name = &written.phases[at].name;
        if !reached.contains(&at) {
            let advice = "add a transition to it, or remove it";
            checker.wrong(&name.referenced, format!("unreachable phase `{}`", name.value), advice);
            continue;
        }
        let ahead = from(count, at, |at| onward[at].iter().copied().flatten());
        if !ahead.iter().any(|at| onward[*at].contains(&None)) {
            let advice = "add a transition to `end` from it or a later phase";
            checker.wrong(&name.referenced, format!("the phase `{}` never leads to the end", name.value), advice);
        }
    }
    for at in 0..count {
        let makes = |at: usize, product: &str| {
            let phase = &workflow.phases[at];
            let mut given = workflow.products.iter().filter(|gives| gives.name == product);
            given.any(|gives| phase.tools.contains(&gives.tool))
                || phase.advance.iter().any(|way| way.note.as_deref() == Some(product))
        };
        let before = |product: &str, itself: bool| {
            // Products of later phases are dropped when an earlier phase is entered again.
            let mut makers = (0..=at).filter(|maker| reached.contains(maker) && makes(*maker, product));
            makers.any(|maker| if maker == at { itself } else { from(count, maker, all).contains(&at) })
        };
        let phase = &written.phases[at];
        let needed = phase.needs.iter().map(|(name, amount)| (name, amount, false));
        let conditions = phase.advance.iter().flat_map(|way| &way.when).map(|(name, amount)| (name, amount, true));
        for (name, amount, itself) in needed.chain(conditions) {
            if name != USER && !before(name, itself) {
                let advice = "add a tool that makes it to an earlier phase, or remove it";
                checker.wrong(&amount.referenced, format!("no earlier phase makes `{name}`"), advice);
            }
        }
    }
}

/// Returns the phases reachable from one, including itself.
fn from<I: Iterator<Item = usize>>(count: usize, begin: usize, next: impl Fn(usize) -> I) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![begin]);
    while let Some(at) = open.pop() {
        if at < count && reached.insert(at) {
            open.extend(next(at));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name, expected) in [
            ("search", "search", true),
            ("search", "search_tables", false),
            ("search*", "search_tables", true),
            ("*_tables", "search_tables", true),
            ("*", "anything", true),
            ("get_*_schema", "get_table_schema", true),
            ("get_*_schema", "get_schema", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
