//! The engines over the databases of a catalog.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_engine::{Engine, Source, options::EngineOptions};
use prospector_schema::SchemaDiscovery;

use super::Catalog;

impl Catalog {
    /// An engine that runs read-only queries over its databases. Nothing of it is among the tools unless the caller adds
    /// them with [`DiscoveryTools::with_engine`].
    pub fn engine(&self) -> Arc<Engine> {
        engine_over(&self.schema, &self.connectors, self.engine.clone())
    }

    /// An engine over all databases that are described, for resolving the names of statements. It runs nothing: some of its
    /// databases have no rows.
    pub fn described_engine(&self) -> Arc<Engine> {
        let described = self.schema.databases().zip(self.connectors.iter());
        let sources = described.filter_map(|(database, connector)| {
            Some(Source {
                name: database.name.clone(),
                tables: database.tables.clone(),
                functions: database.functions.clone(),
                connector: connector.clone()?,
            })
        });
        Engine::new(sources.collect())
    }
}

/// An engine over what has rows; of the others it knows that they are only described.
pub(super) fn engine_over(
    schema: &SchemaDiscovery,
    connectors: &[Option<Arc<dyn Connector>>],
    mut options: EngineOptions,
) -> Arc<Engine> {
    let mut sources = Vec::new();
    for (database, connector) in schema.databases().zip(connectors) {
        match connector.clone().filter(|connector| connector.has_data()) {
            Some(connector) => sources.push(Source {
                name: database.name.clone(),
                tables: database.tables.clone(),
                functions: database.functions.clone(),
                connector,
            }),
            None => {
                let names = database.tables.iter().map(|table| format!("{}.{}", database.name, table.name));
                options.described.extend(names);
            }
        }
    }
    Engine::with(sources, options)
}
