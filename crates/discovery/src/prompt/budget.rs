//! Up to which size all metadata goes into the prompt.

use prospector_llm::models::ModelInfo;

/// What a run of discovery adds to its fixed prompt: the map, the calls and their results. The median over the estates of
/// `benches/estates` by `planner bench tokens` with the compact tools; with the full set it is as much.
const FOUND: f64 = 1_200.0;

/// What a run of discovery reads again in the rounds after its first, beyond what it reads for the first time: the median
/// of the same.
const READ_AGAIN: f64 = 2_750.0;

/// At most this share of the model's context: the question, the answers of tools and the plan need room too.
const SHARE: u32 = 8;

/// The tokens of metadata that cost no more than discovering them would. A planner that has the metadata in its prompt
/// reads it once; one that discovers reads what it finds, and its growing conversation again in each round, which costs
/// what the provider takes for input from its cache. Without a price nothing is known of a cache, and it counts in full.
///
/// It is the first question that is reckoned with: who asks many within the life of the cache would pay less for a larger
/// prompt too, but neither the number of questions nor the cache is known here.
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
    fn a_cheap_cache_makes_discovery_worth_it_earlier() {
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
