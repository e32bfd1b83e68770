//! From a connector to a [`Database`]: what it describes, less what is not allowed, plus the descriptions beside it.

use std::path::Path;

use prospector_connect::Connector;
use prospector_connect::table::Table;
use prospector_core::Problem;
use prospector_core::name::nearest;

use crate::{Database, SchemaError, descriptions, naming::position_of};

/// Describes a database: reads its tables, and what lies beside it in a file of descriptions.
///
/// `allow` are the names of the tables that may be used, all of them where it is empty; it is applied first, so that
/// nothing of another table gets any further. `descriptions` is a JSON file,
/// `{table: {name?, description?, columns: {column: {name?, description?, value_description?}}}}`.
///
/// # Errors
/// [`SchemaError::Describe`] when nothing of the source can be read; whatever else is wrong is a [`Problem`].
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
    let mut database = Database {
        name: name.to_owned(),
        kind: connector.kind(),
        description: description.to_owned(),
        tables,
        withheld,
        functions: Vec::new(),
        personal: Vec::new(),
    };
    let dropped = database.settle_keys();
    if let Some(first) = dropped.first() {
        let more = if dropped.len() > 1 { format!(" and {} more", dropped.len() - 1) } else { String::new() };
        let reason = format!("foreign keys refer to what does not exist and are left out: {first}{more}");
        problems.push(Problem::warning(name, reason));
    }
    if let Some(path) = descriptions {
        let place = path.display().to_string();
        match tokio::fs::read_to_string(path).await {
            Ok(text) => {
                problems.extend(descriptions::merge(&text, &place, &mut database.tables, &database.withheld));
            }
            Err(error) => {
                let problem = Problem::error(place, format!("the descriptions cannot be read: {error}"));
                problems.push(problem.advise("the database is used without them"));
            }
        }
    }
    Ok((database, problems))
}

/// The tables that are allowed, and the names of the others.
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
        let problem =
            Problem::warning(format!("{database}: allow-list"), format!("there is no table `{entry}` to allow"));
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
    async fn everything_is_described_where_no_table_is_named() {
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
    async fn only_allowed_tables_are_known_and_no_key_leads_out_of_them() {
        let beside = r#"{"customers": {"description": "Who buys"}, "Lines": {"description": "secret"}}"#;
        let (database, problems) = check(&["INVOICES", "customer"], Some(beside), &["invoices"]).await;
        assert_eq!(database.withheld, ["customers", "lines", "products", "regions"]);
        assert!(database.tables[0].foreign_keys.is_empty());
        assert!(!serde_json::to_string(&database.tables).unwrap().contains("customers"));
        assert_eq!(
            problems,
            ["warning: shop: allow-list: there is no table `customer` to allow (did you mean `customers`?)"]
        );
    }

    #[tokio::test]
    async fn missing_descriptions_cost_nothing_else() {
        let fake = Fake::new(shop());
        let (database, problems) = describe("shop", "", &fake, Some(Path::new("/no/such.json")), &[]).await.unwrap();
        assert_eq!(database.tables.len(), 5);
        assert!(problems[0].reason.starts_with("the descriptions cannot be read"), "{problems:?}");
    }

    #[tokio::test]
    async fn a_source_that_cannot_be_read_is_an_error_that_names_the_database() {
        let error = describe("shop", "", &Fake::broken(), None, &[]).await.unwrap_err();
        assert_eq!(error.to_string(), "cannot describe database `shop`: cannot read all of fake: it is gone");
    }

    #[tokio::test]
    async fn what_was_described_survives_a_cache() {
        let (database, _) = check(&["invoices"], None, &["invoices"]).await;
        let json = serde_json::to_string(&database).unwrap();
        assert_eq!(serde_json::from_str::<Database>(&json).unwrap(), database);
    }
}
