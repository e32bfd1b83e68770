//! Cutting an answer to a number of tokens so that it stays valid JSON and says what was cut.

use serde_json::{Map, Value, json};

use crate::tokens::estimate;

/// Texts up to this many bytes may be names.
const NAME: usize = 80;

/// `value`, or as much of it as fits `max_tokens`. A list keeps its first items; an object keeps its short fields and
/// gives the room that is left to its longest one. What was cut says `truncated`, the total, and `more`: how to get the
/// rest.
pub fn cap(value: Value, max_tokens: usize, more: &str) -> Value {
    if size(&value) <= max_tokens {
        return value;
    }
    match value {
        Value::Array(items) => page(items, Map::new(), max_tokens, more),
        Value::Object(mut map) if map.get("items").is_some_and(Value::is_array) => {
            let items = match map.remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            page(items, map, max_tokens, more)
        }
        Value::Object(map) => object(map, max_tokens, more),
        Value::String(text) => Value::String(cut_text(&text, max_tokens.saturating_sub(4))),
        other => other,
    }
}

fn size(value: &Value) -> usize {
    estimate(&value.to_string())
}

fn page(items: Vec<Value>, rest: Map<String, Value>, max_tokens: usize, more: &str) -> Value {
    let total = rest.get("total").cloned().unwrap_or_else(|| json!(items.len()));
    let mut out = Map::new();
    out.insert("items".into(), json!([]));
    out.insert("truncated".into(), json!(true));
    out.insert("total".into(), total);
    out.insert("next".into(), json!(more));
    for (key, value) in rest {
        if !out.contains_key(&key) {
            out.insert(key, value);
        }
    }
    let room = max_tokens.saturating_sub(size(&Value::Object(out.clone())));
    let count = items.len();
    let (mut kept, mut used) = (Vec::new(), 0);
    for item in items {
        let cost = size(&item) + 1;
        if used + cost > room {
            // Even the first one is too large: shorten its texts rather than show nothing, but no name.
            if kept.is_empty() && item.is_object() {
                let short = cap(item, room, more);
                if size(&short) <= room && short.as_object().is_some_and(|fields| fields.len() > 2) {
                    kept.push(short);
                }
            } else if kept.is_empty()
                && let Value::String(text) = &item
                && text.len() > NAME
            {
                kept.push(Value::String(cut_text(text, room.saturating_sub(4))));
            }
            break;
        }
        used += cost;
        kept.push(item);
    }
    if kept.len() == count && out.get("total") == Some(&json!(count)) {
        out.remove("total");
    }
    out.insert("items".into(), Value::Array(kept));
    Value::Object(out)
}

fn object(mut map: Map<String, Value>, max_tokens: usize, more: &str) -> Value {
    map.insert("truncated".into(), json!(true));
    map.insert("next".into(), json!(more));
    // Halving the largest field ends: each turn takes at least a token from it. A short text may be a name, which is
    // shown whole or not at all.
    let can_be_cut = |value: &Value| match value {
        Value::String(text) => text.len() > NAME,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    for _ in 0..64 {
        let over = size(&Value::Object(map.clone()));
        if over <= max_tokens {
            break;
        }
        let Some((key, largest)) = map
            .iter()
            .filter(|(key, value)| *key != "next" && *key != "truncated" && can_be_cut(value))
            .map(|(key, value)| (key.clone(), size(value)))
            .max_by_key(|(_, size)| *size)
        else {
            break;
        };
        let target = largest.saturating_sub(over - max_tokens).max(largest / 8);
        let Some(value) = map.get_mut(&key) else { break };
        match std::mem::take(value) {
            Value::String(text) => *value = Value::String(cut_text(&text, target.max(NAME / 3))),
            Value::Array(items) => {
                let total = items.len();
                let (mut kept, mut used) = (Vec::new(), 0);
                for item in items {
                    used += size(&item) + 1;
                    if used > target {
                        break;
                    }
                    kept.push(item);
                }
                map.entry(format!("{key}_total")).or_insert(json!(total));
                map.insert(key, Value::Array(kept));
            }
            Value::Object(inner) if !inner.is_empty() => {
                let total = inner.len();
                let mut used = 0;
                let kept: Map<String, Value> = inner
                    .into_iter()
                    .take_while(|(key, item)| {
                        used += estimate(key) + size(item) + 2;
                        used <= target
                    })
                    .collect();
                map.entry(format!("{key}_total")).or_insert(json!(total));
                map.insert(key, Value::Object(kept));
            }
            other => {
                *value = other;
                break;
            }
        }
    }
    let cut = Value::Object(map);
    if size(&cut) <= max_tokens { cut } else { json!({"truncated": true, "next": more}) }
}

/// The first part of `text` that fits, cut between characters and, where one is near, at white space.
fn cut_text(text: &str, max_tokens: usize) -> String {
    let mut bytes = max_tokens.saturating_mul(3);
    // Escapes make the JSON longer than the text: take the room for them from the start.
    while bytes > 0 {
        let mut end = bytes.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let part = &text[..end];
        if serde_json::to_string(part).map_or(0, |json| json.len()) <= max_tokens.saturating_mul(3) {
            let word = part.rfind(char::is_whitespace).filter(|at| end - at < 40 && end < text.len());
            return part[..word.unwrap_or(end)].trim_end().to_owned();
        }
        bytes = bytes * 7 / 8;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, max_tokens: usize) -> Value {
        let capped = cap(value, max_tokens, "ask for less");
        assert!(size(&capped) <= max_tokens, "{} > {max_tokens}: {capped}", size(&capped));
        capped
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(check(json!({"a": [1, 2]}), 50), json!({"a": [1, 2]}));
    }

    #[test]
    fn a_long_text_field_is_cut_and_the_rest_kept() {
        let capped = check(json!({"name": "rules", "content": "word ".repeat(1000)}), 100);
        assert_eq!(capped["name"], "rules");
        assert_eq!(capped["truncated"], true);
        assert!(capped["content"].as_str().unwrap().len() > 100);
    }

    #[test]
    fn a_long_list_field_keeps_its_first_items_and_says_how_many_there_are() {
        let columns: Vec<Value> = (0..500).map(|n| json!({"name": format!("column_{n}")})).collect();
        let capped = check(json!({"table": "wide", "columns": columns}), 200);
        assert_eq!(capped["columns_total"], 500);
        assert_eq!(capped["columns"][0]["name"], "column_0");
    }

    #[test]
    fn text_of_escapes_and_wide_characters_stays_within_the_cap() {
        check(json!({"content": "\"\\\n\u{1}".repeat(2000)}), 100);
        check(json!({"content": "日本語".repeat(2000)}), 100);
        check(json!(["x".repeat(10_000)]), 100);
        check(json!({"a": {"b": "x".repeat(9_000), "c": 1}}), 100);
    }
}
