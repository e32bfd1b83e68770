//! Elasticsearch and OpenSearch sources: the address and the described indices.

use std::fmt;

use super::{Access, Endpoint};
use crate::error::AddressError;

/// The address of an Elasticsearch or OpenSearch cluster, and its described indices. Displayed without secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ElasticsearchSource {
    pub(crate) endpoint: Endpoint,
    /// The described names and patterns; empty means all.
    pub(crate) indices: Vec<String>,
}

impl ElasticsearchSource {
    /// Creates a source for the cluster at a URL such as `https://host:9200`. A user name and password in the URL are used if `access`
    /// is [`Access::Open`].
    ///
    /// `indices` lists names and patterns of indices and data streams to describe; if it is empty, all that are not
    /// hidden are described.
    ///
    /// # Errors
    /// If the URL or a pattern is invalid; the error does not show the URL.
    pub fn new(url: &str, access: Access, indices: &[String]) -> Result<ElasticsearchSource, AddressError> {
        let endpoint = Endpoint::new(url, access)?;
        if let Some(wrong) = indices.iter().find(|name| !is_pattern(name)) {
            return Err(AddressError::Name { name: wrong.clone(), of: "name or pattern of indices" });
        }
        Ok(ElasticsearchSource { endpoint, indices: indices.to_vec() })
    }
}

/// Whether it is safe in a request path.
fn is_pattern(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['_', '-', '+'])
        && !name.contains(['/', '\\', '?', '#', '"', '<', '>', '|', ' ', ',', '%', ':'])
}

/// Displays the URL without secrets.
impl fmt::Display for ElasticsearchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.endpoint.url.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for ElasticsearchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ElasticsearchSource({self}, {:?}, {:?})", self.endpoint, self.indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: ElasticsearchSource, shown: &str) {
        assert_eq!(source.to_string(), shown);
        for secret in ["s3cr t", "s3cr%20t"] {
            assert!(!format!("{source:?}").contains(secret), "{source:?}");
        }
    }

    #[test]
    fn a_cluster_is_shown_without_its_secrets() {
        let elastic = |url, access| ElasticsearchSource::new(url, access, &["logs-*".into()]).unwrap();
        let user = || Access::User("ada".into(), "s3cr t".into());
        check(elastic("https://es:9200", user()), "https://es:9200");
        check(elastic("https://es/a", Access::Token("s3cr t".into())), "https://es/a");
        check(elastic("https://ada:s3cr%20t@es", Access::Open), "https://es");
        assert_eq!(elastic("https://ada:s3cr%20t@es", Access::Open).endpoint.access, user());
    }

    #[test]
    fn errors_do_not_show_the_address() {
        for url in
            ["ftp://ada:s3cret@x", "https//ada:s3cret@x", "https://ada:s3cret@x/?a=s3cret", "https://ada:s3cret@:x/"]
        {
            let error = ElasticsearchSource::new(url, Access::Open, &[]).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
        assert!(ElasticsearchSource::new("https://x", Access::Open, &["a/_delete".into()]).is_err());
    }
}
