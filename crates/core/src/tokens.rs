//! Counting tokens with `o200k_base`, the yardstick for every model (no valid offline tokenizer exists for some).

/// So much of a text is handed to the tokenizer at once, in bytes: it gives up, and panics, over a word of a million
/// letters.
const MAX_PART: usize = 64 << 10;

/// The number of `o200k_base` tokens of `text`. The vocabulary is loaded on first use (about half a second). Of a text
/// without white space for 64 kB, it may be a few tokens too high.
pub fn count(text: &str) -> usize {
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    let (mut rest, mut counted) = (text, 0);
    while rest.len() > MAX_PART {
        let (part, after) = rest.split_at(end_of_part(rest));
        counted += tokenizer.encode_ordinary(part).len();
        rest = after;
    }
    counted + tokenizer.encode_ordinary(rest).len()
}

/// Where a longer text can be divided with no token on both sides: before a word and the blank that belongs to it, or
/// after the end of a line. Anywhere, where there is no such place.
fn end_of_part(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace() && byte.is_ascii());
    (MAX_PART / 2..MAX_PART)
        .rev()
        .find(|at| match bytes[*at] {
            b' ' => is_word(at - 1) && is_word(at + 1),
            _ => bytes[at - 1] == b'\n' && is_word(*at),
        })
        .unwrap_or_else(|| text.floor_char_boundary(MAX_PART))
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
    fn runs_of_any_length_are_counted() {
        for run in ["A", "a", " ", "é", "名", "1", "!", "\n", "\u{301}", "Aa", "A "] {
            let text = run.repeat(1_200_000 / run.len());
            assert!(count(&text) > 1_000, "{run:?}");
        }
    }

    #[test]
    fn a_long_text_has_as_many_tokens_as_in_one_part() {
        let prose = "The total of an invoice, é.g. 45.00, is (net) of VAT.\n\n- InvoiceLine | `x_1`  two  blanks\n";
        for text in [prose.repeat(3_000), prose.replace('\n', " ").repeat(3_000)] {
            let whole = tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len();
            assert!(text.len() > 3 * MAX_PART);
            assert_eq!(count(&text), whole);
        }
    }

    #[test]
    fn special_tokens_in_data_are_counted_as_text() {
        assert!(count("<|endoftext|>") > 1);
    }
}
