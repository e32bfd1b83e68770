//! The metadata in system prompts.

use std::path::Path;

use prospector_discovery::{
    Catalog, CatalogOptions, DiscoveryTools, Profile,
    prompt::{Instructions, PromptBuilder, PromptForm},
};
use prospector_llm::models::UNLISTED;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const CATALOG: &str = "databases:\n- {name: clinic, path: clinic.db, type: sqlite, personal: [animals.owner]}\n";

async fn write(path: &Path) {
    let sql = "CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT, species TEXT, owner TEXT, insured BOOLEAN); \
               INSERT INTO animals VALUES (1, 'Rex', 'Dog', 'Ada', 1), (2, 'Tom', 'Cat', 'Ada', 0), \
               (3, 'Bo', 'Dog', 'Ben', 1), (4, 'Mia', 'Cat', 'Ben', 0);";
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Values of categories are shown; those that name rows, or are personal, are not.
#[tokio::test(flavor = "multi_thread")]
async fn metadata_shows_the_values_of_columns_with_few() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("clinic.db")).await;
    std::fs::write(folder.path().join("catalog.yaml"), CATALOG).unwrap();
    let (catalog, problems) =
        Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let tools = DiscoveryTools::new(&catalog, Profile::Compact);
    let instructions = Instructions { with_tools: "", without_terms: "", without_tools: "", form: "" };
    for form in [PromptForm::FullWithTools, PromptForm::Full] {
        let prompt = PromptBuilder::new(&catalog, &tools, instructions).form(Some(form)).build(&UNLISTED, "");
        let text: String = prompt.system.into_iter().map(|block| block.text).collect();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for line in ["name TEXT", "species TEXT 'Cat' 'Dog'", "owner TEXT", "insured BOOLEAN 0 or 1"] {
            assert!(lines.contains(&line), "{line} is not in {text}");
        }
    }
}
