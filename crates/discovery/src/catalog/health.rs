//! Health of the sources of a catalog: whether each can be reached, and whether its role has excessive privileges.

use std::time::Duration;

use futures::{StreamExt, stream};
use prospector_connect::source::SourceKind;
use serde::Serialize;

use super::Catalog;

/// Number of sources checked concurrently.
const MAX_CHECKED: usize = 8;

/// Maximum time to wait for a source.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The health of one database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceHealth {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SourceKind,
    /// Number of described tables.
    pub tables: usize,
    /// Why it cannot be reached; `None` if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Privileges of its role besides reading, if the source reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_rights: Vec<String>,
}

impl Catalog {
    /// Returns a note that entries are missing because of errors; `None` without any.
    pub fn describe_errors(&self) -> Option<String> {
        let errors = match self.errors {
            0 => return None,
            1 => "an error: one of its entries is".to_owned(),
            errors => format!("{errors} errors: some of its entries are"),
        };
        Some(format!(
            "the catalog has {errors} not loaded and cannot be found; `planner refresh` lists what to correct"
        ))
    }

    /// Checks each database, in the order of the catalog. Databases that were never described are omitted: they are problems of
    /// [`Catalog::open`].
    pub async fn check_sources(&self) -> Vec<SourceHealth> {
        let check = |(database, connector): (&prospector_schema::Database, &Option<_>)| {
            let (name, tables, connector) = (database.name.clone(), database.tables.len(), Option::clone(connector));
            async move {
                let connector: std::sync::Arc<dyn prospector_connect::Connector> = connector?;
                let kind = connector.kind();
                let ask = async {
                    connector.fingerprint().await?;
                    connector.other_rights().await
                };
                let (fault, rights) = match tokio::time::timeout(TIMEOUT, ask).await {
                    Ok(Ok(rights)) => (None, rights),
                    Ok(Err(error)) => (Some(error.to_string()), None),
                    Err(_) => (Some(format!("no response within {} s", TIMEOUT.as_secs())), None),
                };
                Some(SourceHealth { name, kind, tables, fault, other_rights: rights.unwrap_or_default() })
            }
        };
        let checks = self.schema.databases().zip(&self.connectors).map(check);
        stream::iter(checks).buffered(MAX_CHECKED).filter_map(std::future::ready).collect().await
    }
}
