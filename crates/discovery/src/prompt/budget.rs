//! The maximum size of metadata in the prompt.

use prospector_llm::models::ModelInfo;

/// Tokens that a discovery run adds to its fixed prompt: the map, the calls and their results. The median over the workloads in
/// `benches/estates`, measured by `planner bench tokens` with the compact tools; the full set is similar.
const FOUND: f64 = 1_200.0;

/// Tokens that a discovery run reads again in the rounds after its first: the median of the same measurement.
const READ_AGAIN: f64 = 2_750.0;

/// Divisor of the model's context: question, tool results and plan need room too.
const SHARE: u32 = 8;

/// Returns the tokens of metadata that cost no more than discovering them. A planner with the metadata in its prompt reads it once; with
/// discovery, it reads its results, and the growing conversation again in each round at the provider's price for cached input. Without a
/// known price, cached input counts in full.
///
/// Only the first question is considered: several questions within the lifetime of the cache would justify a larger prompt, but neither
/// number is known here.
pub(super) fn budget(model: &ModelInfo) -> usize {
    let again = model.price.map_or(1.0, |price| price.cached_input / price.input.max(f64::MIN_POSITIVE));
    let even = (FOUND + again.clamp(0.0, 1.0) * READ_AGAIN) as usize;
    even.min((model.context / SHARE) as usize)
}

#[cfg(test)]
mod tests {
    use prospector_llm::models::capability;

    use super::*;

    fn check(model: &str, expected: f64) {
        assert_eq!(budget(capability(model)), expected as usize, "{model}");
    }

    #[test]
    fn a_cheap_cache_lowers_the_budget() {
        check("claude-sonnet-4-5", FOUND + 0.1 * READ_AGAIN);
        check("gpt-4o", FOUND + 0.5 * READ_AGAIN);
        check("llama3.1", FOUND + READ_AGAIN);
    }

    #[test]
    fn a_small_context_is_not_filled_with_metadata() {
        check("gpt-4", 8_192.0 / 8.0);
        check("llama2", 4_096.0 / 8.0);
    }
}
