//! Conversion of a connector to a [`Database`]: its description, limited to allowed tables and merged with the
//! description file.

use std::path::Path;

use prospector_connect::Connector;
use prospector_connect::table::Table;
use prospector_core::Problem;
use prospector_core::name::nearest;

use crate::{Database, SchemaError, descriptions, naming::position_of};

/// Describes a database: reads its tables and the description file next to it.
///
/// `allow` lists the names of the usable tables; empty means all. It is applied first, so that no other table is
/// processed further. `descriptions` is a JSON file, `{table: {name?, description?, columns: {column: {name?,
/// description?, value_description?, unit?}}}}`.
///
/// # Errors
/// [`SchemaError::Describe`] if the source cannot be read at all; everything else is a [`Problem`].
pub async fn describe(
    name: &str,
    description: &str,
    connector: &dyn Connector,
    descriptions: Option<&Path>,
    allow: &[String],
) -> Result<(Database, Vec<Problem>), SchemaError> {
    let (tables, mut problems) =
        (connector.describe().await).map_err(|source| SchemaError::Describe { database: name.to_owned(), source })?;
    let (tables, withheld) = split_allowed(name, tables, allow, &mut problems);
    let description = description.to_owned();
    let mut database = Database { description, tables, withheld, ..Database::new(name, connector.kind()) };
    let dropped = database.settle_keys();
    if let Some(first) = dropped.first() {
        let more = if dropped.len() > 1 { format!(" and {} more", dropped.len() - 1) } else { String::new() };
        let reason = format!("skipped foreign keys with unknown targets: {first}{more}");
        problems.push(Problem::warning(name, reason));
    }
    if let Some(path) = descriptions {
        let place = path.display().to_string();
        match tokio::fs::read_to_string(path).await {
            Ok(text) => {
                problems.extend(descriptions::merge(&text, &place, &mut database.tables, &database.withheld));
            }
            Err(error) => {
                let problem = Problem::error(place, format!("cannot read the descriptions: {error}"));
                problems.push(problem.advise("the database is used without them"));
            }
        }
    }
    Ok((database, problems))
}

/// Returns the allowed tables, and the names of the others.
fn split_allowed(
    database: &str,
    tables: Vec<Table>,
    allow: &[String],
    problems: &mut Vec<Problem>,
) -> (Vec<Table>, Vec<String>) {
    if allow.is_empty() {
        return (tables, Vec::new());
    }
    let mut keep = vec![false; tables.len()];
    for entry in allow {
        if let Some(at) = position_of(&tables, entry, |table| &table.name) {
            keep[at] = true;
            continue;
        }
        let problem = Problem::warning(format!("{database}: allow-list"), format!("there is no table `{entry}`"));
        let near = nearest(entry, tables.iter().map(|table| table.name.as_str()), 3);
        problems.push(match near.is_empty() {
            true => problem,
            false => problem.advise(format!("did you mean `{}`?", near.join("`, `"))),
        });
    }
    let (kept, left): (Vec<_>, Vec<_>) = tables.into_iter().zip(keep).partition(|(_, keep)| *keep);
    (kept.into_iter().map(|(table, _)| table).collect(), left.into_iter().map(|(table, _)| table.name).collect())
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;

    use super::*;
    use crate::testing::{Fake, shop};

    async fn check(allow: &[&str], descriptions: Option<&str>, tables: &[&str]) -> (Database, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("descriptions.json");
        if let Some(text) = descriptions {
            std::fs::write(&path, text).unwrap();
        }
        let allow: Vec<String> = allow.iter().map(ToString::to_string).collect();
        let fake = Fake::new(shop());
        let path = descriptions.map(|_| path.as_path());
        let (database, problems) = describe("shop", "A shop", &fake, path, &allow).await.unwrap();
        assert_eq!(database.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), tables);
        let place = folder.path().display().to_string() + "/";
        (database, problems.iter().map(|problem| problem.to_string().replace(&place, "")).collect())
    }

    #[tokio::test]
    async fn describes_all_tables_without_an_allow_list() {
        let (database, problems) = check(
            &[],
            Some(r#"{"regions": {"description": "Sales areas"}}"#),
            &["customers", "invoices", "lines", "products", "regions"],
        )
        .await;
        assert_eq!(database.kind, SourceKind::Sqlite);
        assert_eq!(database.description, "A shop");
        assert_eq!(database.tables[4].description, "Sales areas");
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[tokio::test]
    async fn allow_lists_hide_other_tables_and_their_keys() {
        let beside = r#"{"customers": {"description": "Who buys"}, "Lines": {"description": "secret"}}"#;
        let (database, problems) = check(&["INVOICES", "customer"], Some(beside), &["invoices"]).await;
        assert_eq!(database.withheld, ["customers", "lines", "products", "regions"]);
        assert!(database.tables[0].foreign_keys.is_empty());
        assert!(!serde_json::to_string(&database.tables).unwrap().contains("customers"));
        assert_eq!(problems, ["warning: shop: allow-list: there is no table `customer` (did you mean `customers`?)"]);
    }

    #[tokio::test]
    async fn missing_descriptions_do_not_affect_tables() {
        let fake = Fake::new(shop());
        let (database, problems) = describe("shop", "", &fake, Some(Path::new("/no/such.json")), &[]).await.unwrap();
        assert_eq!(database.tables.len(), 5);
        assert!(problems[0].reason.starts_with("cannot read the descriptions"), "{problems:?}");
    }

    #[tokio::test]
    async fn errors_name_the_database() {
        let error = describe("shop", "", &Fake::broken(), None, &[]).await.unwrap_err();
        assert_eq!(error.to_string(), "cannot describe database `shop`: cannot read all of fake: it is gone");
    }

    #[tokio::test]
    async fn descriptions_survive_serialization() {
        let (database, _) = check(&["invoices"], None, &["invoices"]).await;
        let json = serde_json::to_string(&database).unwrap();
        assert_eq!(serde_json::from_str::<Database>(&json).unwrap(), database);
    }
}
