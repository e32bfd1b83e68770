//! Query engines over the databases of a catalog.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_engine::{Engine, Source, options::EngineOptions};
use prospector_schema::{Database, SchemaDiscovery};

use super::Catalog;

impl Catalog {
    /// Returns an engine for read-only queries over the databases. Its tools are available only after [`DiscoveryTools::with_engine`].
    pub fn engine(&self) -> Arc<Engine> {
        engine_over(&self.schema, &self.connectors, self.engine.clone())
    }

    /// Returns an engine over all described databases, for resolving names in statements. It cannot run queries, since some databases have
    /// no rows.
    pub fn described_engine(&self) -> Arc<Engine> {
        let described = self.schema.databases().zip(self.connectors.iter());
        let sources = described.filter_map(|(database, connector)| Some(source_of(database, connector.clone()?)));
        Engine::new(sources.collect())
    }
}

/// Returns an engine over the databases with rows; the others are registered as described only.
pub(super) fn engine_over(
    schema: &SchemaDiscovery,
    connectors: &[Option<Arc<dyn Connector>>],
    mut options: EngineOptions,
) -> Arc<Engine> {
    let mut sources = Vec::new();
    for (database, connector) in schema.databases().zip(connectors) {
        match connector.clone().filter(|connector| connector.has_data()) {
            Some(connector) => sources.push(source_of(database, connector)),
            None => {
                let names = database.tables.iter().map(|table| format!("{}.{}", database.name, table.name));
                options.described.extend(names);
            }
        }
    }
    Engine::with(sources, options)
}

fn source_of(database: &Database, connector: Arc<dyn Connector>) -> Source {
    let Database { name, mut tables, functions, .. } = database.clone();
    for table in &mut tables {
        for column in &mut table.columns {
            column.is_personal = database.is_personal(&table.name, &column.name);
        }
    }
    Source { name, tables, functions, connector }
}
