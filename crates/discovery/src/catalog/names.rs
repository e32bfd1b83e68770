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

    /// Returns the names of all entries of a kind, except columns.
    pub(crate) fn list_names(&self, kind: ResourceKind) -> Vec<String> {
        let tables = |database: &Database| -> Vec<String> {
            database.tables.iter().map(|table| format!("{}.{}", database.name, table.name)).collect()
        };
        match kind {
            ResourceKind::Database => self.schema.databases().map(|database| database.name.clone()).collect(),
            ResourceKind::Table => self.schema.databases().flat_map(tables).collect(),
            ResourceKind::Column => Vec::new(),
            ResourceKind::Api => self.apis.apis().iter().map(|api| api.name.clone()).collect(),
            ResourceKind::Operation => self.apis.operation_ids().collect(),
            ResourceKind::Document => self.documents.documents().iter().map(|document| document.name.clone()).collect(),
            ResourceKind::Skill => self.skills.skills().iter().map(|skill| skill.name.clone()).collect(),
            ResourceKind::Metric => {
                let metrics = self.metrics.metrics().iter().map(|metric| &metric.name);
                metrics.chain(self.metrics.segments().iter().map(|segment| &segment.name)).cloned().collect()
            }
            ResourceKind::Query => self.verified.queries().iter().map(|query| query.name.clone()).collect(),
            ResourceKind::Fact => self.facts.records().into_iter().map(|fact| fact.name).collect(),
        }
    }

    /// Returns up to three closest names of a kind.
    pub fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String> {
        nearest(id, self.list_candidates(kind, id).iter().map(String::as_str), 3)
    }

    /// Returns the names of a kind that may be meant by an unknown one.
    pub(crate) fn list_candidates(&self, kind: ResourceKind, id: &str) -> Vec<String> {
        match kind {
            ResourceKind::Column => self.list_columns(id),
            kind => self.list_names(kind),
        }
    }

    /// Returns the columns of the table of a column id, or of the closest table: a large catalog has too many columns to compare all.
    fn list_columns(&self, id: &str) -> Vec<String> {
        let table = id.rsplit_once('.').map_or(id, |(table, _)| table);
        let near = || self.nearest(ResourceKind::Table, table).into_iter().next();
        let known = self.schema.resolve_table(table).or_else(near);
        let Some((database, table)) = known.and_then(|id| self.schema.find_table(&id)) else { return Vec::new() };
        table.columns.iter().map(|column| format!("{}.{}.{}", database.name, table.name, column.name)).collect()
    }
}
