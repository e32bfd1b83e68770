//! The tools that run queries in a session of an engine: SQL, metrics, and queries that somebody has checked.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::{
    Kind,
    record::{Hit, ValueMatch},
    tool::Toolset,
};
use prospector_engine::Engine;
use prospector_queries::VerifiedQueries;
use prospector_search::{Index, Query};
use prospector_semantics::{NamedValue, SemanticModel, ValueIndex};

use crate::Catalog;

/// The tables that are looked at for values.
const MAX_VALUE_TABLES: usize = 20;

/// What is run beside SQL.
#[derive(Clone)]
pub(crate) struct QueryTools {
    metrics: Arc<SemanticModel>,
    values: Arc<dyn ValueIndex>,
    verified: Arc<VerifiedQueries>,
    /// What the caller adds.
    pub(crate) more: Option<SessionTools>,
}

/// Makes tools that work in a session of an engine.
pub(crate) type SessionTools = Arc<dyn Fn(&Arc<Engine>) -> Toolset + Send + Sync>;

impl QueryTools {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        QueryTools {
            metrics: catalog.metrics.clone(),
            values: Arc::new(IndexedValues(catalog.index.clone())),
            verified: catalog.verified.clone(),
            more: None,
        }
    }

    /// Those that the catalog has something for, in a session of an engine with sources, and the others.
    pub(crate) fn split(&self, engine: &Arc<Engine>) -> (Toolset, Toolset) {
        let (mut present, mut absent) = (Toolset::new(), Toolset::new());
        for (is_there, tools) in [
            (true, prospector_engine::tools(engine)),
            (!self.metrics.metrics().is_empty(), self.metrics.query_tools(engine, &self.values)),
            (!self.verified.queries().is_empty(), self.verified.running(engine)),
            (self.more.is_some(), self.more.as_ref().map_or_else(Toolset::new, |tools| tools(engine))),
        ] {
            if is_there && !engine.is_empty() {
                present = present.merge(tools);
            } else {
                absent = absent.merge(tools);
            }
        }
        (present, absent)
    }
}

/// Those of the present ones that the tools of the compact profile do not stand for.
pub(crate) fn keep_compact(present: Toolset, engine: &Arc<Engine>) -> Toolset {
    present.without(&prospector_engine::tools(engine)).merge(engine.sql_tools())
}

impl Catalog {
    /// The tools that run queries in a session of its engine, compute its metrics and run its verified queries.
    pub fn query_tools(&self, session: &Arc<Engine>) -> Toolset {
        QueryTools::of(self).split(session).0
    }

    /// Those of [`Catalog::query_tools`] that are listed beside the tools of the compact profile, which stand for the others.
    pub fn compact_query_tools(&self, session: &Arc<Engine>) -> Toolset {
        keep_compact(self.query_tools(session), session)
    }
}

/// The values of the catalog, as its index knows them.
struct IndexedValues(Index);

#[async_trait]
impl ValueIndex for IndexedValues {
    async fn find(&self, question: &str) -> Vec<NamedValue> {
        let text = Query::fitting(question).to_owned();
        let query = Query { text, kinds: vec![Kind::Table], limit: MAX_VALUE_TABLES, ..Query::default() };
        let found = match self.0.find(query).await {
            Ok(found) => found.hits,
            Err(error) => {
                tracing::warn!(%error, "the values of a question could not be looked up");
                Vec::new()
            }
        };
        let named = |hit: Hit| {
            let Hit { parent, values, .. } = hit;
            values.into_iter().map(move |ValueMatch { table, column, value }| NamedValue {
                table: format!("{parent}.{table}"),
                column,
                value,
            })
        };
        found.into_iter().flat_map(named).collect()
    }
}
