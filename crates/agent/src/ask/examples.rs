//! Verified queries similar to a question, as examples in the prompt.

use prospector_core::{mark::as_data, tokens};
use prospector_discovery::{DiscoveryTools, review::VerifiedQuery};

/// Maximum number of examples.
pub(crate) const MAX_EXAMPLES: usize = 3;
/// Maximum number of tokens of all examples, estimated.
const MAX_TOKENS: usize = 600;

/// Returns the examples, the most relevant first, within the token limit; `None` without any. With `tools`, the text says how to run one.
pub(crate) fn render_examples(near: &[&VerifiedQuery], tools: bool) -> Option<String> {
    let mut head = "\n\nVerified queries similar to the question. ".to_owned();
    head += &match tools {
        true => format!(
            "If one answers it, run it with {}; use the others as examples of how values are computed:",
            DiscoveryTools::RUN_VERIFIED_TOOL
        ),
        false => "Use them as examples of how values are computed:".to_owned(),
    };
    let (mut text, mut room) = (String::new(), MAX_TOKENS.saturating_sub(tokens::estimate(&head)));
    for query in near {
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
