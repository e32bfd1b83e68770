//! Selection of the connector for a kind of source.

use std::sync::Arc;

use crate::connector::Connector;
use crate::error::ConnectError;
use crate::source::Source;
use crate::source_kind::SourceKind;
use crate::{dbt, ddl, files, mysql, postgres, sqlite};

/// Opens a source with a connector that depends on a feature.
macro_rules! open_with_feature {
    ($feature:literal, $open:path, $source:expr) => {{
        #[cfg(feature = $feature)]
        {
            $open($source)
        }
        #[cfg(not(feature = $feature))]
        {
            Err(not_compiled($source))
        }
    }};
}

/// Returns a connector for `source`. Nothing is read until the connector is used.
///
/// # Errors
/// If the number of paths does not fit the kind, the URL has an unknown parameter, or the connector is not part of this
/// build.
pub fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    match source.kind() {
        SourceKind::Sqlite => sqlite::open(source),
        SourceKind::Csv
        | SourceKind::Json
        | SourceKind::Jsonl
        | SourceKind::Parquet
        | SourceKind::Arrow
        | SourceKind::Xlsx => files::open(source),
        SourceKind::Ddl => ddl::open(source),
        SourceKind::Dbt => dbt::open(source),
        SourceKind::Postgres => postgres::open(source),
        SourceKind::Mysql => mysql::open(source),
        SourceKind::Mongodb => open_with_feature!("mongodb", crate::mongo::open, source),
        SourceKind::Dynamodb => open_with_feature!("dynamodb", crate::dynamo::open, source),
        SourceKind::Cassandra => open_with_feature!("cassandra", crate::cassandra::open, source),
        SourceKind::Elasticsearch => open_with_feature!("elasticsearch", crate::elastic::open, source),
        SourceKind::Bigquery => open_with_feature!("bigquery", crate::bigquery::open, source),
    }
}

/// Returns the error of a source whose connector is not part of this build.
#[allow(dead_code, reason = "a build with all features leaves no connector out")]
fn not_compiled(source: &Source) -> ConnectError {
    ConnectError::Unsupported { place: source.to_string(), act: "be read: its connector is not part of this build" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;
    use crate::service::{Access, BigquerySource, ElasticsearchSource};

    /// Returns a source of that kind, at `x`.
    fn source(kind: SourceKind) -> Source {
        match kind.schemes().first() {
            None if kind == SourceKind::Elasticsearch => {
                Source::Elasticsearch(ElasticsearchSource::new("http://x", Access::Open, &[]).unwrap())
            }
            None if kind == SourceKind::Bigquery => {
                Source::Bigquery(BigquerySource::new("x", &[], Access::Open).unwrap())
            }
            Some(scheme) => Source::Server(Server::new(&format!("{scheme}://x/y"), &[]).unwrap()),
            None => Source::files(kind, vec!["x".into()]),
        }
    }

    #[test]
    fn rejects_a_wrong_number_of_paths() {
        for kind in SourceKind::ALL {
            assert!(open(&Source::files(kind, Vec::new())).is_err(), "{kind}");
            let made = source(kind);
            assert_eq!(made.kind(), kind);
            match open(&made) {
                Ok(connector) => assert_eq!((connector.kind(), kind.is_compiled()), (kind, true)),
                Err(error) => assert!(!kind.is_compiled(), "{error}"),
            }
        }
        assert!(open(&Source::files(SourceKind::Sqlite, vec!["a.db".into(), "b.db".into()])).is_err());
        assert!(open(&Source::files(SourceKind::Mysql, vec!["x".into()])).is_err());
        assert!(open(&Source::files(SourceKind::Bigquery, vec!["x".into()])).is_err());
    }

    #[test]
    fn only_schema_sources_have_no_data() {
        for kind in SourceKind::ALL {
            let Ok(connector) = open(&source(kind)) else { continue };
            assert_eq!(connector.has_data(), ![SourceKind::Ddl, SourceKind::Dbt].contains(&kind));
        }
    }
}
