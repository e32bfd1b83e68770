//! Google's Gemini API: `POST models/NAME:streamGenerateContent?alt=sse`
//! (<https://ai.google.dev/api/generate-content>).

mod ask;
mod read;

pub(super) use ask::body;
pub(super) use read::read;

use reqwest::Url;

/// Returns the address of a model. The name is escaped, so that it cannot leave the path.
pub(super) fn address(base: &Url, name: &str) -> Url {
    let mut url = base.clone();
    // Tuned models have a name that includes their folder.
    let folder = (!name.contains('/')).then_some("models");
    let action = format!("{name}:streamGenerateContent");
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(folder.into_iter().chain(action.split('/')));
    }
    url.query_pairs_mut().append_pair("alt", "sse");
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_holds_the_name() {
        let check = |base: &str, name: &str, expected: &str| {
            assert_eq!(address(&Url::parse(base).unwrap(), name).as_str(), expected);
        };
        check("https://h/v1beta/", "gemini-3", "https://h/v1beta/models/gemini-3:streamGenerateContent?alt=sse");
        check("http://h/?a=b", "m", "http://h/models/m:streamGenerateContent?a=b&alt=sse");
        check("http://h/", "tunedModels/mine", "http://h/tunedModels/mine:streamGenerateContent?alt=sse");
        check("http://h/v1/", "a?b#c%2F", "http://h/v1/models/a%3Fb%23c%252F:streamGenerateContent?alt=sse");
        check("http://h/v1/", "../../x", "http://h/v1/x:streamGenerateContent?alt=sse");
    }
}
