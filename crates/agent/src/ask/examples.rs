//! Verified queries that are near a question, as a model is shown them before it.

use prospector_core::{mark::as_data, tokens};
use prospector_discovery::{DiscoveryTools, review::Candidate};

/// So many are shown at most.
const MAX_EXAMPLES: usize = 3;
/// The tokens of all of them, by the cheap estimate.
const MAX_TOKENS: usize = 600;
/// One that has less in common with the question is not shown.
const MIN_SIMILARITY: f64 = 0.3;

/// The examples, the nearest first, as far as they have room; none where nothing is near. A model with `tools` is told how one is
/// run.
pub(crate) fn render_examples(near: &[Candidate<'_>], tools: bool) -> Option<String> {
    let mut head = "\n\nQueries that a person has verified, near the question. ".to_owned();
    head += &match tools {
        true => format!(
            "One that answers it is run with {}; of the others, the way they compute is an example:",
            DiscoveryTools::RUN_VERIFIED_TOOL
        ),
        false => "The way they compute is an example:".to_owned(),
    };
    let (mut text, mut room) = (String::new(), MAX_TOKENS.saturating_sub(tokens::estimate(&head)));
    for candidate in near.iter().filter(|near| near.similarity >= MIN_SIMILARITY).take(MAX_EXAMPLES) {
        let query = candidate.query;
        let parameters: Vec<String> =
            query.parameters.iter().map(|one| format!("{} ({})", one.name, one.kind.as_str())).collect();
        let with = if parameters.is_empty() { String::new() } else { format!(" with {}", parameters.join(", ")) };
        let example = format!("`{}`{with}: {}\n{}\n", query.name, query.question, query.sql);
        let size = tokens::estimate(&example);
        if size > room {
            continue;
        }
        room -= size;
        text.push_str(&example);
    }
    (!text.is_empty()).then(|| format!("{head}\n{}", as_data(text.trim_end())))
}
