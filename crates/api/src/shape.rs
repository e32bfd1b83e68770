//! Keeping the rendered shape of a body small: as deep as it fits, and it says where it was cut.

use serde_json::{Map, Value, json};

/// The most bytes of JSON that a shape may have, about 450 tokens.
const MAX_BYTES: usize = 1_800;

/// The most parts that are rendered before a depth is given up.
pub(crate) const MAX_PARTS: usize = 1_500;

/// The most values of an enumeration that are listed.
const MAX_VALUES: usize = 16;

/// The deepest rendering that is small enough. `render` takes the number of levels of objects to show.
pub(crate) fn fitted(deepest: usize, mut render: impl FnMut(usize) -> Value) -> Value {
    for depth in (2..=deepest).rev() {
        let value = render(depth);
        if bytes(&value) <= MAX_BYTES {
            return value;
        }
    }
    shrunk(render(1), MAX_BYTES)
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// What stands in the place of something that is not shown.
pub(crate) fn cut(what: &str) -> Value {
    json!({ "$cut": what })
}

/// What stands in the place of something that contains itself.
pub(crate) fn cycle(what: &str) -> Value {
    json!({ "$cycle": what })
}

/// The first fields, or items, that fit, and how many were left out.
fn shrunk(value: Value, room: usize) -> Value {
    /// What the remark on the cut itself takes.
    const REMARK: usize = 32;
    if bytes(&value) <= room {
        return value;
    }
    let room = room.saturating_sub(REMARK);
    match value {
        Value::Object(fields) => {
            let (mut kept, mut used, total) = (Map::new(), 0, fields.len());
            for (name, value) in fields {
                let (name_cost, cost) = (name.len() + 4, bytes(&value));
                if used + name_cost + cost > room {
                    if kept.is_empty() {
                        kept.insert(name, shrunk(value, room.saturating_sub(name_cost)));
                    }
                    break;
                }
                used += name_cost + cost;
                kept.insert(name, value);
            }
            if kept.len() < total {
                kept.insert("$cut".into(), json!(format!("{} more fields", total - kept.len())));
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let (mut kept, mut used, total) = (Vec::new(), 0, items.len());
            for item in items {
                let cost = bytes(&item) + 1;
                if used + cost > room {
                    if kept.is_empty() {
                        kept.push(shrunk(item, room));
                    }
                    break;
                }
                used += cost;
                kept.push(item);
            }
            if kept.len() < total {
                kept.push(cut(&format!("{} more", total - kept.len())));
            }
            Value::Array(kept)
        }
        Value::String(text) => Value::String(crate::prose::opening(&text, room / 4)),
        other => other,
    }
}

/// The values of an enumeration on one line.
pub(crate) fn enumeration(values: &[Value]) -> String {
    let words: Vec<String> = listed(values).iter().map(word).collect();
    format!("enum: {}", words.join(" | "))
}

/// The values that are listed, the last one saying how many are not.
pub(crate) fn listed(values: &[Value]) -> Vec<Value> {
    let mut shown: Vec<Value> = values.iter().take(MAX_VALUES).cloned().collect();
    if values.len() > shown.len() {
        shown.push(json!(format!("… {} more", values.len() - shown.len())));
    }
    shown
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => crate::prose::opening(text, 60),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value) -> Value {
        let small = fitted(3, |_| value.clone());
        assert!(bytes(&small) <= MAX_BYTES, "{}", bytes(&small));
        small
    }

    fn wide(count: usize) -> Value {
        (0..count).map(|n| (format!("field_{n}"), json!("string"))).collect::<Map<_, _>>().into()
    }

    #[test]
    fn the_deepest_rendering_that_fits_is_taken() {
        let at = |depth: usize| json!({ "depth": depth, "text": "x".repeat(depth * 700) });
        assert_eq!(fitted(5, at)["depth"], 2);
    }

    #[test]
    fn what_does_not_fit_is_cut_and_said() {
        let small = check(wide(500));
        assert_eq!(small["field_0"], "string");
        let shown = small.as_object().unwrap().len() - 1;
        assert_eq!(small["$cut"], format!("{} more fields", 500 - shown));

        let small = check(json!([{ "items": [wide(500)] }]));
        assert!(small[0]["items"][0]["$cut"].is_string(), "{small}");
        check(json!(["é".repeat(5_000)]));
        check(Value::Array(vec![json!("string"); 900]));
    }

    #[test]
    fn a_long_enumeration_says_how_many_values_it_has() {
        let values: Vec<Value> = (0..100).map(|n| json!(n)).collect();
        assert!(enumeration(&values).ends_with("15 | … 84 more"));
        assert_eq!(enumeration(&[json!("a"), Value::Null]), "enum: a | null");
    }
}
