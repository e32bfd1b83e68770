//! How the sources of a catalog are: whether each is reached, and whether its role may do more than it should.

use std::time::Duration;

use futures::{StreamExt, stream};
use prospector_connect::source::SourceKind;
use serde::Serialize;

use super::Catalog;

/// How many sources are asked at once.
const MAX_CHECKED: usize = 8;

/// A source that takes longer does not answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How one database is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceHealth {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SourceKind,
    /// How many tables are known of it.
    pub tables: usize,
    /// Why it cannot be reached now; nothing where it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// What its role may do besides reading, where the source says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_rights: Vec<String>,
}

impl Catalog {
    /// How each database is, in the order of the catalog. Those that were never described are not among them: they are
    /// problems of [`Catalog::open`].
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
                    Err(_) => (Some(format!("it has not answered for {} s", TIMEOUT.as_secs())), None),
                };
                Some(SourceHealth { name, kind, tables, fault, other_rights: rights.unwrap_or_default() })
            }
        };
        let checks = self.schema.databases().zip(&self.connectors).map(check);
        stream::iter(checks).buffered(MAX_CHECKED).filter_map(std::future::ready).collect().await
    }
}
