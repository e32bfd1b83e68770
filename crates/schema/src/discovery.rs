//! All known databases, and table lookup by name.

use std::sync::{Arc, OnceLock};

use prospector_connect::Connector;
use prospector_connect::sql::Dialect;
use prospector_connect::table::{ForeignKey, Table};
use prospector_core::{mark::redact::Redactor, record::Record};
use tokio::sync::OnceCell;

use crate::{
    families::Families,
    joins::JoinGraph,
    model::Database,
    naming::position_of,
    profile::{MAX_COLUMNS, Profile, ProfileError, profile},
    render::{self, Brief},
};

/// A description with more words than this is more than a name.
const MAX_NAME_WORDS: usize = 5;

/// Maximum length of an id in bytes: names may contain dots, and each way to split an id is tried.
const MAX_ID_BYTES: usize = 2_000;

/// A database with its connector.
pub struct Entry {
    /// The description of the database.
    pub database: Database,
    /// Reads statistics and sample values on request; without it, they are not available.
    pub connector: Option<Arc<dyn Connector>>,
}

/// Discovery over databases. Names are matched case-insensitively, unless two differ only in case.
#[derive(Default)]
pub struct SchemaDiscovery {
    pub(crate) databases: Vec<PreparedDatabase>,
    redactor: OnceLock<Arc<Redactor>>,
}

/// A database with derived data.
pub(crate) struct PreparedDatabase {
    pub(crate) database: Database,
    pub(crate) connector: Option<Arc<dyn Connector>>,
    pub(crate) joins: JoinGraph,
    pub(crate) families: Families,
    /// The profiles of the tables, read on first use.
    pub(crate) profiles: Vec<OnceCell<Profile>>,
}

impl SchemaDiscovery {
    /// Returns discovery over these databases, in this order.
    pub fn new(entries: Vec<Entry>) -> Self {
        let known = |Entry { mut database, connector }: Entry| {
            // A database from a cache or written by hand may contain keys to removed tables.
            database.settle_keys();
            let families = Families::new(&database.tables);
            let joins = JoinGraph::new(&database.tables, &families);
            let profiles = database.tables.iter().map(|_| OnceCell::new()).collect();
            PreparedDatabase { database, connector, joins, families, profiles }
        };
        SchemaDiscovery { databases: entries.into_iter().map(known).collect(), redactor: OnceLock::new() }
    }

    /// Returns the same databases with further keys, such as those that a catalog declares: each is a database, a table and
    /// its key. Keys with unknown names are skipped, and keys that a table already has are not repeated.
    pub fn with_keys(&self, keys: Vec<(String, String, ForeignKey)>) -> Self {
        let entry =
            |known: &PreparedDatabase| Entry { database: known.database.clone(), connector: known.connector.clone() };
        let mut entries: Vec<Entry> = self.databases.iter().map(entry).collect();
        for (database, table, key) in keys {
            let Some(at) = position_of(&entries, &database, |entry| &entry.database.name) else { continue };
            let Some(own) = position_of(&entries[at].database.tables, &table, |table| &table.name) else { continue };
            let known = &mut entries[at].database.tables[own].foreign_keys;
            if !known.contains(&key) {
                known.push(key);
            }
        }
        SchemaDiscovery { redactor: self.redactor.clone(), ..SchemaDiscovery::new(entries) }
    }

    /// Sets the redactor for error messages of sources.
    pub fn redact_errors(&self, redactor: Arc<Redactor>) {
        // The first redactor is kept.
        let _ = self.redactor.set(redactor);
    }

    /// Redacts a message for the caller.
    pub(crate) fn redact(&self, message: String) -> String {
        self.redactor.get().map_or(message.clone(), |redactor| redactor.redact(&message).into_owned())
    }

    /// Iterates over the databases, in order.
    pub fn databases(&self) -> impl ExactSizeIterator<Item = &Database> {
        self.databases.iter().map(|known| &known.database)
    }

    /// Returns the summary of a table for a hit of a question.
    pub fn brief(&self, database: &str, table: &str, question: &str) -> Option<Brief> {
        let known = self.find(database)?;
        let at = known.table(table)?;
        Some(render::summarize(&known.database.tables[at], known.families.family(at), question))
    }

    /// Finds a database by name.
    pub fn database(&self, name: &str) -> Option<&Database> {
        self.find(name).map(|known| &known.database)
    }

    /// Returns the dialect in which the rows of a database are queried; `None` if it has no rows.
    pub fn dialect(&self, name: &str) -> Option<Dialect> {
        self.find(name)?.dialect()
    }

    /// Finds a table of a database by name.
    pub fn table(&self, database: &str, table: &str) -> Option<&Table> {
        let known = self.find(database)?;
        known.table(table).map(|at| &known.database.tables[at])
    }

    /// Returns the exact id of a table for an id that may differ in case: `chinook.invoices`. Names may contain dots, and
    /// may be quoted as in SQL.
    pub fn resolve_table(&self, id: &str) -> Option<String> {
        self.find_table_id(id).or_else(|| self.find_table_id(&without_quotes(id)?))
    }

    fn find_table_id(&self, id: &str) -> Option<String> {
        if id.len() > MAX_ID_BYTES {
            return None;
        }
        let found = splits(id).filter_map(|(database, table)| {
            let known = self.find(database)?;
            Some(known.id(known.table(table)?))
        });
        only(id, found)
    }

    /// Finds a table, with its database, by an id as for [`SchemaDiscovery::resolve_table`].
    pub fn find_table(&self, id: &str) -> Option<(&Database, &Table)> {
        let id = self.resolve_table(id)?;
        self.databases().find_map(|database| {
            let name = id.strip_prefix(database.name.as_str())?.strip_prefix('.')?;
            Some((database, database.tables.iter().find(|table| table.name == name)?))
        })
    }

    /// Returns the exact id of a column for an id that may differ in case: `chinook.invoices.total`.
    pub fn resolve_column(&self, id: &str) -> Option<String> {
        self.find_column_id(id).or_else(|| self.find_column_id(&without_quotes(id)?))
    }

    fn find_column_id(&self, id: &str) -> Option<String> {
        if id.len() > MAX_ID_BYTES {
            return None;
        }
        let found = splits(id).flat_map(|(database, rest)| {
            let known = self.find(database);
            splits(rest).filter_map(move |(table, column)| {
                let known = known?;
                let at = known.table(table)?;
                let columns = &known.database.tables[at].columns;
                let column = &columns[position_of(columns, column, |column| &column.name)?];
                Some(format!("{}.{}", known.id(at), column.name))
            })
        });
        only(id, found)
    }

    /// Whether any database has rows.
    pub fn has_data(&self) -> bool {
        self.databases.iter().any(|known| known.rows().is_some())
    }

    /// Whether any description is more than a name, so that it may define a term.
    pub fn has_notes(&self) -> bool {
        let all = self.databases().flat_map(|database| &database.tables);
        all.flat_map(|table| {
            std::iter::once(&table.description).chain(table.columns.iter().map(|one| &one.description))
        })
        .any(|text| text.contains([':', '=', '<', '>']) || text.split_whitespace().count() > MAX_NAME_WORDS)
    }

    /// Returns the records to index, one per table; date-sharded tables share the record of the latest one.
    pub fn records(&self) -> Vec<Record> {
        let tables = |known: &PreparedDatabase| -> Vec<Record> {
            known
                .representatives()
                .map(|at| render::record(&known.database, at, &known.joins, &known.families))
                .collect()
        };
        self.databases.iter().flat_map(tables).collect()
    }

    /// Finds a database by name, with its derived data.
    pub(crate) fn find(&self, name: &str) -> Option<&PreparedDatabase> {
        position_of(&self.databases, name, |known| &known.database.name).map(|at| &self.databases[at])
    }
}

impl PreparedDatabase {
    /// Returns the position of the table of that name.
    pub(crate) fn table(&self, name: &str) -> Option<usize> {
        position_of(&self.database.tables, name, |table| &table.name)
    }

    /// Returns the positions of the displayed tables; for date-sharded tables, the latest.
    pub(crate) fn representatives(&self) -> impl Iterator<Item = usize> {
        (0..self.database.tables.len()).filter(|at| self.families.is_shown(*at))
    }

    /// Returns the dialect in which its rows are queried; `None` if it has no rows.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.rows().map(|_| self.database.kind.dialect())
    }

    /// Returns its connector if it has rows.
    pub(crate) fn rows(&self) -> Option<&dyn Connector> {
        self.connector.as_deref().filter(|connector| connector.has_data())
    }

    /// Returns its connector if it has rows that can be scanned free of charge.
    pub(crate) fn free_rows(&self) -> Option<&dyn Connector> {
        self.rows().filter(|connector| !connector.kind().is_metered())
    }

    /// Returns the id of a table.
    pub(crate) fn id(&self, at: usize) -> String {
        format!("{}.{}", self.database.name, self.database.tables[at].name)
    }
}

/// Returns the profile of a table. It is read once and cached; failures are retried on the next call.
pub(crate) async fn read_profile(known: &PreparedDatabase, at: usize) -> Result<&Profile, ProfileError> {
    let table = &known.database.tables[at];
    let Some(connector) = known.connector.as_deref() else {
        return Err(ProfileError::NoConnector);
    };
    if !connector.has_data() {
        return Err(ProfileError::NoData);
    }
    if table.columns.len() > MAX_COLUMNS {
        return Err(ProfileError::TooWide { columns: table.columns.len() });
    }
    known.profiles[at].get_or_try_init(|| profile(connector, &known.database, table)).await
}

/// Removes SQL quotes around a name or its parts; `None` if it has no quotes.
pub(crate) fn without_quotes(name: &str) -> Option<String> {
    let quotes = ['"', '`'];
    name.contains(quotes).then(|| name.replace(quotes, ""))
}

/// Returns every way to split an id at a dot.
fn splits(id: &str) -> impl Iterator<Item = (&str, &str)> {
    id.match_indices('.').map(|(at, _)| (&id[..at], &id[at + 1..]))
}

/// Returns the intended id: the exact match, or else the only one.
fn only(id: &str, found: impl Iterator<Item = String>) -> Option<String> {
    let mut found: Vec<String> = found.collect();
    if let Some(exact) = found.iter().position(|found| found == id) {
        return Some(found.swap_remove(exact));
    }
    found.dedup();
    if found.len() == 1 { found.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;

    use super::*;
    use crate::testing::{key, shop, table};

    fn dotted() -> SchemaDiscovery {
        let database = |name: &str, tables: Vec<Table>| Entry {
            database: Database { tables, ..Database::new(name, SourceKind::Sqlite) },
            connector: None,
        };
        SchemaDiscovery::new(vec![
            database("data.world", vec![table("Sales.2020", &["Total.net", "id*"]), table("sales", &["id*"])]),
            database("data", vec![table("world.Sales", &["id*"]), table("user", &["id*"]), table("USER", &["id*"])]),
            database("shop", shop()),
        ])
    }

    fn check(id: &str, table: Option<&str>, column: Option<&str>) {
        let discovery = dotted();
        assert_eq!(discovery.resolve_table(id).as_deref(), table, "{id}");
        assert_eq!(discovery.resolve_column(id).as_deref(), column, "{id}");
    }

    #[test]
    fn resolves_names_with_dots() {
        check("shop.Invoices", Some("shop.invoices"), None);
        check("SHOP.invoices.TOTAL", None, Some("shop.invoices.total"));
        check("Data.World.sales.2020", Some("data.world.Sales.2020"), None);
        check("data.world.sales.2020.total.net", None, Some("data.world.Sales.2020.Total.net"));
        check("data.world.sales", Some("data.world.sales"), None);
        check("data.world.Sales", Some("data.world.Sales"), None);
        check("DATA.WORLD.SALES", None, None);
        check("data.User", None, None);
        check("data.USER", Some("data.USER"), None);
        check("invoices", None, None);
        check("shop.nothing", None, None);
        check("shop.\"Invoices\"", Some("shop.invoices"), None);
        check("`shop`.invoices.`TOTAL`", None, Some("shop.invoices.total"));
        check("\"\"", None, None);
        check("", None, None);
        check("...", None, None);
        // Each way to split it would be tried against each table.
        check(&format!("data{}", ".world".repeat(100_000)), None, None);
    }

    #[test]
    fn further_keys_join_tables_like_those_of_the_source() {
        let own =
            |table: &str, column: &str, target: &str| ("shop".to_owned(), table.to_owned(), key(column, target, "id"));
        let keys = vec![
            own("Products", "Region", "Regions"),
            own("invoices", "customer_id", "customers"),
            own("invoices", "customer_id", "nothing"),
            own("nothing", "id", "customers"),
        ];
        let mut tables = shop();
        tables[3].columns.push(table("", &["region"]).columns.remove(0));
        let database = Database { tables, ..Database::new("shop", SourceKind::Sqlite) };
        let discovery = SchemaDiscovery::new(vec![Entry { database, connector: None }]).with_keys(keys);
        let known = discovery.find("shop").unwrap();
        let [products, regions] = ["products", "regions"].map(|name| known.table(name).unwrap());
        let joins = known.joins.keys((products, "products"), (regions, "regions"));
        assert_eq!(joins.iter().map(ToString::to_string).collect::<Vec<_>>(), ["products.region = regions.id"]);
        assert_eq!(discovery.table("shop", "invoices").unwrap().foreign_keys.len(), 1);
    }

    #[test]
    fn finds_databases_and_tables_case_insensitively() {
        let discovery = dotted();
        assert_eq!(discovery.database("SHOP").map(|database| database.name.as_str()), Some("shop"));
        assert_eq!(discovery.table("Shop", "LINES").map(|table| table.name.as_str()), Some("lines"));
        assert_eq!(discovery.databases().len(), 3);
        assert_eq!(discovery.records().len(), 10);
    }
}
