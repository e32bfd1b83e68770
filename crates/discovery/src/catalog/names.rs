//! Resolution of names in a catalog.

use prospector_connect::table::Table;
use prospector_core::name::{nearest, normalize};
use prospector_core::record::ResourceKind;
use prospector_schema::Database;

use super::Catalog;

impl Catalog {
    /// Returns the name of an entry as spelled in the catalog, if it exists.
    pub fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        match kind {
            ResourceKind::Database => self.schema.database(id).map(|database| database.name.clone()),
            ResourceKind::Table => self.schema.resolve_table(id),
            ResourceKind::Column => self.schema.resolve_column(id),
            ResourceKind::Api => self.apis.api(id).ok().map(|api| api.name.clone()),
            ResourceKind::Operation => self.apis.resolve_operation(id),
            ResourceKind::Document if self.documents.is_resource(id) => Some(id.to_owned()),
            ResourceKind::Document => self.documents.resolve_id(id).map(|(document, _)| document.name.clone()),
            ResourceKind::Skill => self.skills.resolve(id).map(|skill| skill.name.clone()),
            ResourceKind::Metric => {
                let segment = || self.metrics.segment(id).map(|segment| segment.name.clone());
                self.metrics.metric(id).map(|metric| metric.name.clone()).or_else(segment)
            }
            ResourceKind::Query => self.verified.resolve(id).map(|query| query.name.clone()),
            ResourceKind::Fact => {
                let wanted = normalize(id);
                self.facts.records().into_iter().map(|fact| fact.id).find(|term| normalize(term) == wanted)
            }
        }
    }

    /// Returns the tables whose id or name matches a pattern with `*`, ignoring case.
    pub(crate) fn tables_like(&self, pattern: &str) -> Vec<(&Database, &Table)> {
        let glob = globset::GlobBuilder::new(pattern).case_insensitive(true).build();
        let matcher = glob.map(|glob| glob.compile_matcher());
        let matches = |database: &Database, table: &Table| {
            let id = format!("{}.{}", database.name, table.name);
            match &matcher {
                Ok(matcher) => matcher.is_match(&id) || matcher.is_match(&table.name),
                Err(_) => id.eq_ignore_ascii_case(pattern),
            }
        };
        let tables =
            self.schema.databases().flat_map(|database| database.tables.iter().map(move |table| (database, table)));
        tables.filter(|(database, table)| matches(database, table)).collect()
    }

    /// Returns up to three closest names of a kind.
    pub fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String> {
        let databases = || self.schema.databases();
        match kind {
            ResourceKind::Database => near(id, databases().map(|database| database.name.as_str())),
            ResourceKind::Table => {
                let ids: Vec<String> = databases()
                    .flat_map(|database| {
                        database.tables.iter().map(|table| format!("{}.{}", database.name, table.name))
                    })
                    .collect();
                near(id, ids.iter().map(String::as_str))
            }
            ResourceKind::Column => {
                // A large catalog has too many columns to compare all: only those of the named or closest table are compared.
                let table = id.rsplit_once('.').map_or(id, |(table, _)| table);
                let table = self
                    .schema
                    .resolve_table(table)
                    .or_else(|| self.nearest(ResourceKind::Table, table).into_iter().next());
                let ids: Vec<String> = databases()
                    .flat_map(|database| {
                        let table = table.as_deref();
                        database.tables.iter().filter_map(move |candidate| {
                            let full = format!("{}.{}", database.name, candidate.name);
                            (Some(full.as_str()) == table).then_some((full, candidate))
                        })
                    })
                    .flat_map(|(full, table)| {
                        table.columns.iter().map(move |column| format!("{full}.{}", column.name)).collect::<Vec<_>>()
                    })
                    .collect();
                near(id, ids.iter().map(String::as_str))
            }
            ResourceKind::Api => near(id, self.apis.apis().iter().map(|api| api.name.as_str())),
            ResourceKind::Operation => {
                let ids: Vec<String> = self.apis.operation_ids().collect();
                near(id, ids.iter().map(String::as_str))
            }
            ResourceKind::Document => {
                near(id, self.documents.documents().iter().map(|document| document.name.as_str()))
            }
            ResourceKind::Skill => near(id, self.skills.skills().iter().map(|skill| skill.name.as_str())),
            ResourceKind::Metric => {
                let metrics = self.metrics.metrics().iter().map(|metric| metric.name.as_str());
                near(id, metrics.chain(self.metrics.segments().iter().map(|segment| segment.name.as_str())))
            }
            ResourceKind::Query => near(id, self.verified.queries().iter().map(|query| query.name.as_str())),
            ResourceKind::Fact => {
                let terms: Vec<String> = self.facts.records().into_iter().map(|fact| fact.name).collect();
                near(id, terms.iter().map(String::as_str))
            }
        }
    }
}

/// Returns up to three closest `names`.
fn near<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    nearest(name, names, 3)
}
