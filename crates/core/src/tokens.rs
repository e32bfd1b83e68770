//! Counting tokens with `o200k_base`, the yardstick for every model (no valid offline tokenizer exists for some).

/// The number of `o200k_base` tokens of `text`. The vocabulary is loaded on first use (about half a second).
pub fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// A cheap upper guess of the number of tokens: three bytes a token. JSON and prose have four or more, so what fits by
/// this guess fits by [`count`] too, but for text of rare symbols.
pub fn estimate(text: &str) -> usize {
    text.len().div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_above_the_count_for_json_and_prose() {
        for text in [
            "Show me VIP customer spending trends by quarter",
            r#"[{"database":"store","table":"invoices","relevance":0.93,"description":"One row per invoice."}]"#,
        ] {
            assert!(estimate(text) >= count(text), "{text}: {} < {}", estimate(text), count(text));
        }
    }

    #[test]
    fn special_tokens_in_data_are_counted_as_text() {
        assert!(count("<|endoftext|>") > 1);
    }
}
