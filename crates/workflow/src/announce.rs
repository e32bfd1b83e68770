//! Announces phases to the model.

use prospector_core::mark::as_data;
use prospector_core::tokens;
use prospector_core::tool::compact;
use serde_json::Value;

use crate::{
    definition::{ContextItem, Each, USER, Workflow},
    product::Made,
};

/// Renders the instructions of a phase, its tools, its transitions, and the products shown to it. Without a phase: that the workflow has
/// ended.
pub(crate) fn announce(workflow: &Workflow, phase: Option<usize>, made: &[Made], reason: Option<&str>) -> String {
    let why = reason.map(|reason| format!("Note: {reason}.\n")).unwrap_or_default();
    let Some(at) = phase else {
        return format!(
            "{why}The workflow has ended. Tell the user the outcome in a few sentences, without calling a tool."
        );
    };
    let phase = &workflow.phases[at];
    let mut text =
        format!("{why}Phase `{}` ({} of {}).\n{}\n", phase.name, at + 1, workflow.phases.len(), phase.instructions);
    let tools = if phase.tools.is_empty() { "none but advance".to_owned() } else { phase.tools.join(", ") };
    text.push_str(&format!("Tools of this phase: {tools}.\n"));
    for way in &phase.advance {
        let mut conditions: Vec<String> = (way.when.iter())
            .map(|(name, amount)| match (name.as_str(), amount) {
                (USER, _) => "the user has answered".to_owned(),
                (name, 1) => name.to_owned(),
                (name, amount) => format!("{amount} {name}"),
            })
            .collect();
        conditions.extend(way.note.iter().map(|note| format!("the {note} as its `note`")));
        let how = if way.automatic { "starts automatically with" } else { "starts with `advance`, which requires" };
        let next = workflow.name_of(way.to);
        match conditions.is_empty() {
            true => text.push_str(&format!("`{next}` starts with `advance`.\n")),
            false => text.push_str(&format!("`{next}` {how} {}.\n", conditions.join(" and "))),
        }
    }
    for injection in &phase.context {
        text.push_str(&render_product(workflow, made, injection));
    }
    text
}

/// Renders the instances of a product, truncated to its limit and marked as data.
fn render_product(workflow: &Workflow, made: &[Made], injection: &ContextItem) -> String {
    let values: Vec<&Value> =
        made.iter().filter(|made| made.name == injection.product).map(|made| &made.value).collect();
    if values.is_empty() {
        return String::new();
    }
    let product = workflow.products.iter().find(|product| product.name == injection.product);
    let whole = match product.and_then(|product| product.each.as_ref()) {
        Some(Each::Item(_)) => compact::render(&Value::from_iter(values.into_iter().cloned())),
        Some(Each::Value(_)) | None => values.into_iter().map(compact::render).collect::<Vec<_>>().join("\n---\n"),
    };
    let cut = cut(&whole, injection.max_tokens);
    format!("{}: {}\n", injection.product, as_data(&cut))
}

/// Truncates a text to a number of tokens, and says so.
fn cut(text: &str, max_tokens: usize) -> String {
    const MARK: &str = " ... (cut)";
    if tokens::estimate(text) <= max_tokens {
        return text.to_owned();
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    // The number of tokens grows with the text.
    let (mut fits, mut too_long) = (0, ends.len());
    while fits + 1 < too_long {
        let middle = (fits + too_long) / 2;
        match tokens::estimate(&format!("{}{MARK}", &text[..ends[middle]])) <= max_tokens {
            true => fits = middle,
            false => too_long = middle,
        }
    }
    format!("{}{MARK}", &text[..ends[fits]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_injected_has_its_limit() {
        let long = "words and wörds ".repeat(500);
        for limit in [10, 100, 1_000] {
            let cut = cut(&long, limit);
            assert!(tokens::estimate(&cut) <= limit && cut.ends_with("(cut)"), "{limit}: {cut}");
        }
        assert_eq!(cut("short", 10), "short");
    }
}
