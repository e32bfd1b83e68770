//! A project of BigQuery, which of its datasets are described, and what a query may cost.

use std::fmt;

use super::{Access, Endpoint};
use crate::error::AddressError;

/// Where BigQuery is, unless a catalog says otherwise.
const URL: &str = "https://bigquery.googleapis.com/";

/// The bytes that one query may read, unless a catalog says otherwise: 10 GiB.
const DEFAULT_MAX_BYTES_BILLED: u64 = 10 << 30;

/// A project of BigQuery, which of its datasets are described, and how much one query may read. It is shown without
/// secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BigquerySource {
    endpoint: Endpoint,
    project: String,
    datasets: Vec<String>,
    location: Option<String>,
    max_bytes_billed: u64,
}

impl BigquerySource {
    /// The datasets of a project; all of them if `datasets` is empty. One query may read 10 GiB unless
    /// [`BigquerySource::with_max_bytes_billed`] says otherwise.
    ///
    /// # Errors
    /// The name of a project or dataset that is not valid.
    pub fn new(project: &str, datasets: &[String], access: Access) -> Result<BigquerySource, AddressError> {
        // The names go between backticks.
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        };
        if let Some(wrong) = std::iter::once(project).chain(datasets.iter().map(String::as_str)).find(|n| !is_name(n)) {
            return Err(AddressError::Name { name: wrong.to_owned(), of: "name of a project or dataset" });
        }
        Ok(BigquerySource {
            endpoint: Endpoint::new(URL, access)?,
            project: project.to_owned(),
            datasets: datasets.to_vec(),
            location: None,
            max_bytes_billed: DEFAULT_MAX_BYTES_BILLED,
        })
    }

    /// The same project at another address, such as a private endpoint or an emulator.
    ///
    /// # Errors
    /// What is wrong with the URL, without showing it.
    pub fn at(self, url: &str) -> Result<BigquerySource, AddressError> {
        let endpoint = Endpoint::new(url, self.endpoint.access)?;
        Ok(BigquerySource { endpoint, ..self })
    }

    /// The same project with the location of its datasets, such as `EU`. Without it, BigQuery finds the location
    /// itself.
    pub fn in_location(self, location: Option<String>) -> BigquerySource {
        BigquerySource { location, ..self }
    }

    /// The same project with a limit to the bytes that one query may read: BigQuery refuses a query that would read more,
    /// and bills nothing for it.
    pub fn with_max_bytes_billed(self, bytes: u64) -> BigquerySource {
        BigquerySource { max_bytes_billed: bytes.max(1), ..self }
    }

    /// The id of the project.
    pub fn project(&self) -> &str {
        &self.project
    }
}

#[cfg(feature = "bigquery")]
impl BigquerySource {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The datasets that are described; all where it is empty.
    pub(crate) fn datasets(&self) -> &[String] {
        &self.datasets
    }

    pub(crate) fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    pub(crate) fn max_bytes_billed(&self) -> u64 {
        self.max_bytes_billed
    }
}

/// `bigquery:PROJECT`.
impl fmt::Display for BigquerySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bigquery:{}", self.project)
    }
}

impl fmt::Debug for BigquerySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BigquerySource { endpoint, location, datasets, max_bytes_billed, .. } = self;
        write!(f, "BigquerySource({self}, {endpoint:?}, {location:?}, {datasets:?}, {max_bytes_billed})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_shown_without_its_secrets() {
        let source = BigquerySource::new("shop-1", &[], Access::Token("s3cr t".into())).unwrap();
        assert_eq!(source.to_string(), "bigquery:shop-1");
        assert!(!format!("{source:?}").contains("s3cr"), "{source:?}");
    }

    #[test]
    fn a_name_cannot_end_its_quotes() {
        assert!(BigquerySource::new("p` WHERE", &[], Access::Open).is_err());
        assert!(BigquerySource::new("p", &["d`".into()], Access::Open).is_err());
    }
}
