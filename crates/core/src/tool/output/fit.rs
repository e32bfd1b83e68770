//! Truncates a result to a number of tokens, and records what was omitted. Lists keep their first items; objects keep short fields, and
//! divide the remaining space among the longest.

use std::io::{self, Write};

use serde::Serialize;

use super::{Budget, Cut, Part, ToolOutput};

/// Longer texts are not names.
pub(crate) const MAX_NAME_BYTES: usize = 80;

/// The maximum number of truncation rounds, each of which removes at least one token.
const MAX_TURNS: usize = 64;

/// Counts written bytes.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the size of a JSON value in bytes.
fn bytes<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut counter = Counter(0);
    // Writing to a counter cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Returns the size of a JSON value in tokens: see [`crate::tokens::estimate`].
pub(crate) fn size<T: Serialize + ?Sized>(value: &T) -> usize {
    bytes(value).div_ceil(3)
}

/// Truncates the largest parts of a result until it fits.
pub(crate) fn fields<T: ToolOutput>(output: &mut T, budget: Budget<'_>) -> Cut {
    let mut cut = Cut::with_next(budget.more);
    for _ in 0..MAX_TURNS {
        let total = size(&cut.json(output));
        if total <= budget.tokens {
            return cut;
        }
        let parts = output.parts().into_iter().filter_map(|(field, part)| Some((field, measure(&part)?, part)));
        let Some((field, largest, part)) = parts.max_by_key(|(_, size, _)| *size) else { break };
        let room = largest.saturating_sub(total - budget.tokens).max(largest / 8);
        match part {
            Part::Text(long) => *long = text(long, room.max(MAX_NAME_BYTES / 3)),
            Part::Entries(entries) => {
                let sizes = entries.sizes();
                let kept = fitting(&sizes, room);
                let field = field.to_owned();
                entries.keep(kept);
                if cut.totals.iter().all(|(known, _)| *known != field) {
                    cut.totals.push((field, sizes.len()));
                }
            }
        }
    }
    cut.is_empty = size(&cut.json(output)) > budget.tokens;
    cut
}

/// Returns the size of a part in tokens; `None` if it cannot be truncated. Short texts may be names, which are never truncated.
fn measure(part: &Part<'_>) -> Option<usize> {
    match part {
        Part::Text(text) => (text.len() > MAX_NAME_BYTES).then(|| size(text.as_str())),
        Part::Entries(entries) => (!entries.sizes().is_empty()).then(|| entries.size()),
    }
}

/// Returns how many of the first entries fit.
fn fitting(sizes: &[usize], room: usize) -> usize {
    let mut used = 0;
    sizes
        .iter()
        .take_while(|size| {
            used += **size;
            used <= room
        })
        .count()
}

/// Returns the first items of a list that fit; if not even the first does, it is truncated.
pub(crate) fn items<T: ToolOutput>(mut items: Vec<T>, budget: Budget<'_>) -> (Vec<T>, Option<Cut>) {
    let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
    let kept = fitting(&sizes, budget.tokens);
    if kept > 0 || items.is_empty() {
        items.truncate(kept);
        return (items, None);
    }
    // A truncated item is better than none.
    items.truncate(1);
    match items[0].fit_as_item(budget) {
        Some(cut) => (items, Some(cut)),
        None => (Vec::new(), None),
    }
}

/// Truncates the only item of a list. Returns `None` if nothing useful would remain.
pub(crate) fn only_item<T: ToolOutput>(output: &mut T, budget: Budget<'_>) -> Option<Cut> {
    let cut = if size(output) <= budget.tokens { Cut::default() } else { output.fit(budget) };
    (!cut.is_empty && size(&cut.json(output)) <= budget.tokens).then_some(cut)
}

/// Returns the start of a text whose JSON fits, truncated between characters and, if possible, at white space.
pub(crate) fn text(text: &str, max_tokens: usize) -> String {
    let mut most = max_tokens.saturating_mul(3);
    // Escapes make the JSON longer than the text.
    while most > 0 {
        let end = text.floor_char_boundary(most);
        let part = &text[..end];
        if bytes(part) <= max_tokens.saturating_mul(3) {
            let word = part.rfind(char::is_whitespace).filter(|at| end - at < 40 && end < text.len());
            return part[..word.unwrap_or(end)].trim_end().to_owned();
        }
        most = most * 7 / 8;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(mut value: Value, max_tokens: usize) -> Value {
        let cut = match size(&value) <= max_tokens {
            true => Cut::default(),
            false => value.fit(Budget { tokens: max_tokens, more: "ask for less" }),
        };
        let capped = cut.json(&value);
        assert!(size(&capped) <= max_tokens, "{} > {max_tokens}: {capped}", size(&capped));
        capped
    }

    #[test]
    fn leaves_fitting_results_unchanged() {
        assert_eq!(check(json!({"a": [1, 2]}), 50), json!({"a": [1, 2]}));
    }

    #[test]
    fn truncates_only_the_long_text_field() {
        let capped = check(json!({"name": "rules", "content": "word ".repeat(1000)}), 100);
        assert_eq!(capped["name"], "rules");
        assert_eq!(capped["truncated"], true);
        assert!(capped["content"].as_str().unwrap().len() > 100);
    }

    #[test]
    fn truncates_a_long_list_field_and_records_its_length() {
        let columns: Vec<Value> = (0..500).map(|n| json!({"name": format!("column_{n}")})).collect();
        let capped = check(json!({"table": "wide", "columns": columns}), 200);
        assert_eq!(capped["columns_total"], 500);
        assert_eq!(capped["columns"][0]["name"], "column_0");
    }

    #[test]
    fn truncates_escapes_and_wide_characters_within_the_limit() {
        check(json!({"content": "\"\\\n\u{1}".repeat(2000)}), 100);
        check(json!({"content": "日本語".repeat(2000)}), 100);
        check(json!(["x".repeat(10_000)]), 100);
        check(json!({"a": {"b": "x".repeat(9_000), "c": 1}}), 100);
    }
}
