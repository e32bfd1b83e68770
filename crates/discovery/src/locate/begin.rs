//! The catalog file of somebody who begins: what was found, with comments, and an example of every kind that was not.

use std::path::Path;

use prospector_core::Problem;

use super::{
    finding::{Address, Finding, FindingKind},
    yaml::{Section, sections},
};

/// So many reasons why something was left out are written.
const MAX_LEFT_OUT: usize = 30;

const HEAD: &str =
    "# What planner may discover. Paths are relative to this file; `*` and `**` match many files; ${NAME} is taken from
# the environment. `planner doctor` says what cannot be reached; `planner add SOURCE` adds a source.
";

/// What stands under the key of a section, as comments, where nothing was found for it.
const EXAMPLES: [(&str, &str); 4] = [
    (
        "databases",
        r#"#  - path: databases/*.sqlite       # one database a file, named after the file
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
"#,
    ),
    (
        "apis",
        r"#  - name: shop
#    path: apis/shop.openapi.yaml   # OpenAPI 3, Swagger 2, GraphQL, or a list of MCP tools; or `url:` instead
#    invoke: true                   # lets a model send its GETs and GraphQL queries
",
    ),
    (
        "documents",
        r"#  - path: documents/*.md           # Markdown, MDX, reStructuredText, AsciiDoc, Org, text, HTML, PDF, DOCX, XLSX, PPTX
#  - url: https://example.com/rules.html
#  - {confluence: https://wiki.example, space: OPS, token: '${WIKI_TOKEN}'}
",
    ),
    ("skills", "#  - path: skills                   # a folder with one folder a skill, each with a SKILL.md\n"),
];

/// A document, so that a catalog without anything else answers something.
const ABOUT: &str = "documents:
  - name: about_this_catalog
    content: |
      # About this catalog
      It was written by `planner init`. Replace this document by your own business rules.
";

const TAIL: &str = "
facts: []
#  - term: fiscal year
#    definition: The fiscal year is the calendar year.

context_preload: []
#  - warehouse.orders               # tables worth pinning in the prompt

# fetch: {allow: [wiki.local, '127.0.0.1:8080']}   # hosts on your own network that may be asked
# web_search: {url: 'https://searx.example/search'}   # a SearXNG server, for facts that nothing here holds
";

/// The text of a catalog file in `base`. `schema` is where its JSON Schema is, for editors.
pub fn begin(findings: &[Finding], left_out: &[Problem], base: &Path, schema: &str) -> String {
    let mut text = format!("# yaml-language-server: $schema={schema}\n{HEAD}");
    let found = Section::of(findings);
    for key in sections() {
        text.push('\n');
        let example = EXAMPLES.iter().find(|(of, _)| *of == key).map(|(_, example)| *example).unwrap_or_default();
        match found.iter().find(|section| section.key == key) {
            Some(section) => {
                text += &format!("{key}:\n");
                for finding in &section.findings {
                    text += &entry(finding, base);
                }
            }
            None if key == "documents" && findings.is_empty() => text += &format!("{ABOUT}{example}"),
            None => text += &format!("{key}: []\n{example}"),
        }
    }
    text += TAIL;
    if !left_out.is_empty() {
        text += "\n# Left out:\n";
        for problem in left_out.iter().take(MAX_LEFT_OUT) {
            let reason = problem.reason.strip_prefix("left out ").unwrap_or(&problem.reason);
            text += &comment(&format!("{}: {reason}", problem.place));
            text += &problem.advice.as_ref().map(|advice| comment(&format!("  {advice}"))).unwrap_or_default();
        }
        let more = left_out.len().saturating_sub(MAX_LEFT_OUT);
        if more > 0 {
            text += &comment(&format!("and {more} more; `planner init` tells them"));
        }
    }
    text
}

/// An entry on one line, with what it stands for behind it.
fn entry(finding: &Finding, base: &Path) -> String {
    let note = match (&finding.kind, &finding.address) {
        (FindingKind::Databases(kind), Address::Variable(_)) => {
            format!("   # {kind}, as {} says; set the variable before you start planner", finding.source)
        }
        (FindingKind::Databases(_), _) if finding.files > 1 => format!("   # {} files, one table each", finding.files),
        (FindingKind::Documents, _) if finding.files > 1 => format!("   # {} documents", finding.files),
        (FindingKind::Skills, _) => format!("   # {} skills", finding.files),
        _ => String::new(),
    };
    format!("  - {}{}\n", finding.entry(Some(base)), note.replace(char::is_control, " "))
}

fn comment(text: &str) -> String {
    format!("#  {}\n", text.replace(char::is_control, " "))
}
