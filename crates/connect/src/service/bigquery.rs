//! BigQuery sources: the project, the described datasets, and the cost limit of a query.

use std::fmt;

use super::{Access, Endpoint};
use crate::error::AddressError;

/// The default address of BigQuery.
const URL: &str = "https://bigquery.googleapis.com/";

/// The default limit of bytes read by one query: 10 GiB.
const DEFAULT_MAX_BYTES_BILLED: u64 = 10 << 30;

/// A BigQuery project, its described datasets, and the number of bytes that one query may read. Displayed without
/// secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BigquerySource {
    pub(crate) endpoint: Endpoint,
    project: String,
    /// The described datasets; empty means all.
    pub(crate) datasets: Vec<String>,
    pub(crate) location: Option<String>,
    pub(crate) max_bytes_billed: u64,
}

impl BigquerySource {
    /// Creates a source for the datasets of a project; for all of them if `datasets` is empty. One query may read 10 GiB unless changed
    /// with [`BigquerySource::with_max_bytes_billed`].
    ///
    /// # Errors
    /// If the name of a project or dataset is invalid.
    pub fn new(project: &str, datasets: &[String], access: Access) -> Result<BigquerySource, AddressError> {
        // The names are quoted with backticks.
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

    /// Sets another address, such as a private endpoint or an emulator.
    ///
    /// # Errors
    /// If the URL is invalid; the error does not show it.
    pub fn at(self, url: &str) -> Result<BigquerySource, AddressError> {
        let endpoint = Endpoint::new(url, self.endpoint.access)?;
        Ok(BigquerySource { endpoint, ..self })
    }

    /// Sets the location of the datasets, such as `EU`. Without it, BigQuery determines the location.
    pub fn in_location(self, location: Option<String>) -> BigquerySource {
        BigquerySource { location, ..self }
    }

    /// Limits the bytes that one query may read: BigQuery rejects a query that would read more, without billing it.
    pub fn with_max_bytes_billed(self, bytes: u64) -> BigquerySource {
        BigquerySource { max_bytes_billed: bytes.max(1), ..self }
    }

    /// Returns the id of the project.
    pub fn project(&self) -> &str {
        &self.project
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
    fn rejects_names_that_escape_their_quotes() {
        assert!(BigquerySource::new("p` WHERE", &[], Access::Open).is_err());
        assert!(BigquerySource::new("p", &["d`".into()], Access::Open).is_err());
    }
}
