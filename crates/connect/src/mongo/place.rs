//! Databases and collections, and their displayed names.

use futures::TryStreamExt;
use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};

use super::Mongo;
use crate::ConnectError;
use crate::server::STATEMENT_TIMEOUT;

/// The server's internal databases.
const OWN: [&str; 3] = ["admin", "config", "local"];

/// A collection or view.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The displayed name: prefixed by the database unless the URL names it.
    pub(super) name: String,
    pub(super) database: String,
    pub(super) collection: String,
    /// `collection`, `view` or `timeseries`.
    pub(super) kind: String,
    /// Its creation options.
    pub(super) options: Document,
}

impl Place {
    pub(super) fn of(&self, client: &Client) -> Collection<Document> {
        client.database(&self.database).collection(&self.collection)
    }
}

impl Mongo {
    /// Returns the database whose collections have unprefixed names. A URL may name `admin` for authentication only.
    fn own_database(&self) -> Option<&str> {
        self.server.database().filter(|name| !OWN.contains(name))
    }

    /// Returns the databases to read.
    async fn databases(&self) -> Result<Vec<String>, ConnectError> {
        if !self.server.schemas().is_empty() {
            return Ok(self.server.schemas().to_vec());
        }
        if let Some(own) = self.own_database() {
            return Ok(vec![own.to_owned()]);
        }
        let client = self.client().await?;
        let asked = async { client.list_database_names().await };
        let mut names = self.within("the list of databases", STATEMENT_TIMEOUT, asked).await?;
        names.retain(|name| !OWN.contains(&name.as_str()));
        names.sort();
        Ok(names)
    }

    /// Returns the collections of a database that match `filter`, without the server's internal ones.
    async fn collections(&self, database: &str, filter: Document) -> Result<Vec<Place>, ConnectError> {
        let client = self.client().await?;
        let asked = async {
            let command = doc! { "listCollections": 1, "filter": filter };
            let cursor = client.database(database).run_cursor_command(command).await?;
            cursor.try_collect::<Vec<Document>>().await
        };
        let listed = self.within("the list of collections", STATEMENT_TIMEOUT, asked).await?;
        let place = |mut listed: Document| {
            let collection = listed.get_str("name").ok().filter(|name| !name.starts_with("system."))?.to_owned();
            let name = match self.own_database() == Some(database) {
                true => collection.clone(),
                false => format!("{database}.{collection}"),
            };
            let kind = listed.get_str("type").unwrap_or("collection").to_owned();
            let options = match listed.remove("options") {
                Some(mongodb::bson::Bson::Document(options)) => options,
                _ => Document::new(),
            };
            Some(Place { name, database: database.to_owned(), collection, kind, options })
        };
        let mut places: Vec<Place> = listed.into_iter().filter_map(place).collect();
        places.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(places)
    }

    /// Returns all collections.
    pub(super) async fn places(&self) -> Result<Vec<Place>, ConnectError> {
        let mut places = Vec::new();
        for database in self.databases().await? {
            places.extend(self.collections(&database, Document::new()).await?);
        }
        Ok(places)
    }

    /// Finds a collection by name: an exact match, or else the only case-insensitive one.
    pub(super) async fn place(&self, table: &str) -> Result<Place, ConnectError> {
        let databases = self.databases().await?;
        for database in &databases {
            let within = match self.own_database() == Some(database) {
                true => Some(table),
                false => table.strip_prefix(database.as_str()).and_then(|rest| rest.strip_prefix('.')),
            };
            let Some(name) = within else { continue };
            let named = self.collections(database, doc! { "name": { "$eq": name } }).await?;
            if let Some(place) = named.into_iter().find(|place| place.name == table) {
                return Ok(place);
            }
        }
        let mut similar = self.places().await?;
        similar.retain(|place| place.name.to_lowercase() == table.to_lowercase());
        match similar.len() {
            1 => Ok(similar.remove(0)),
            _ => Err(ConnectError::unknown_table(self.server.to_string(), table)),
        }
    }
}
