//! Which databases and collections there are, and what they are called here.

use futures::TryStreamExt;
use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};

use super::Mongo;
use crate::ConnectError;
use crate::server::STATEMENT_TIMEOUT;

/// What the server keeps for itself.
const OWN: [&str; 3] = ["admin", "config", "local"];

/// A collection, or a view of one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its name here: with its database where that is not the one of the URL.
    pub(super) name: String,
    pub(super) database: String,
    pub(super) collection: String,
    /// `collection`, `view` or `timeseries`.
    pub(super) kind: String,
    /// What it was made with.
    pub(super) options: Document,
}

impl Place {
    pub(super) fn of(&self, client: &Client) -> Collection<Document> {
        client.database(&self.database).collection(&self.collection)
    }
}

impl Mongo {
    /// The database whose collections go by their names alone. Users may be kept in `admin`, which is why a URL may name it.
    fn own_database(&self) -> Option<&str> {
        self.server.database().filter(|name| !OWN.contains(name))
    }

    /// The databases that are read.
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

    /// The collections of a database that `filter` names, but for the server's own.
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

    /// All collections.
    pub(super) async fn places(&self) -> Result<Vec<Place>, ConnectError> {
        let mut places = Vec::new();
        for database in self.databases().await? {
            places.extend(self.collections(&database, Document::new()).await?);
        }
        Ok(places)
    }

    /// The collection of that name: as it is spelled, or else the only one whatever its case.
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
        let mut alike = self.places().await?;
        alike.retain(|place| place.name.to_lowercase() == table.to_lowercase());
        match alike.len() {
            1 => Ok(alike.remove(0)),
            _ => Err(ConnectError::unknown_table(self.server.to_string(), table)),
        }
    }
}
