//! `planner init`

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
};

use anyhow::Context as _;
use serde_json::json;

use crate::{Exit, cli::InitArgs, output};

/// The catalog that it writes: valid as it stands, and a lesson in the format.
const CATALOG: &str = r#"# What planner may discover. Paths are relative to this file; `*` and `**` match many files;
# ${NAME} is taken from the environment. Remove the `#` before what you need.

databases: []
#  - path: databases/*.sqlite       # one database a file, named after the file
#  - name: web_metrics
#    path: files/web_metrics.csv    # .csv .tsv .json .jsonl .parquet .arrow .sqlite .sql
#    description: Daily visits by country and channel.
#  - name: warehouse
#    type: ddl                      # CREATE TABLE statements: a schema without its server; or dbt, with its manifest.json
#    path: schema/warehouse.sql
#    tables: [orders, customers]    # only these
#  - name: crm                      # postgres:// mysql:// mariadb:// mongodb:// dynamodb:// cassandra://
#    url: "postgres://reader:${CRM_PASSWORD}@localhost:5432/crm"
#    schemas: [public]
#  - {name: logs, elasticsearch: "https://search.example:9200", api_key: "${ES_KEY}", indices: ["logs-*"]}
#  - {name: sales, bigquery: {project: acme, datasets: [sales], credentials: key.json}}

apis: []
#  - name: shop
#    path: apis/shop.openapi.yaml   # OpenAPI 3, Swagger 2, GraphQL, or a list of MCP tools; or `url:` instead
#    invoke: true                   # lets a model send its GETs and GraphQL queries

documents:
  - name: about_this_catalog
    content: |
      # About this catalog
      It was written by `planner init`. Replace this document by your own business rules.
#  - path: documents/*.md           # Markdown, MDX, reStructuredText, AsciiDoc, Org, text, HTML, PDF, DOCX, XLSX, PPTX
#  - url: https://example.com/rules.html
#  - {confluence: https://wiki.example, space: OPS, token: '${WIKI_TOKEN}'}

facts: []
#  - term: fiscal year
#    definition: The fiscal year is the calendar year.

skills: []
#  - path: skills                   # a folder with one folder a skill, each with a SKILL.md

context_preload: []
#  - warehouse.orders               # tables worth pinning in the prompt

# fetch: {allow: [wiki.local, '127.0.0.1:8080']}   # hosts on your own network that may be asked
# web_search: {url: 'https://searx.example/search'}   # a SearXNG server, for facts that nothing here holds
"#;

/// Writes it, unless there is one.
pub(crate) fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot create the folder {}", args.folder.display()))?;
    let path = args.folder.join("catalog.yaml");
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    if file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        anyhow::bail!(
            "there is a {} already; nothing was changed: name another folder, or remove it first",
            path.display()
        );
    }
    file.and_then(|mut file| file.write_all(CATALOG.as_bytes()))
        .with_context(|| format!("cannot write {}; nothing was changed", path.display()))?;
    output::json(&json!({"created": path}))?;
    output::say("next: name your sources in it, then `planner refresh`");
    Ok(Exit::Good)
}
