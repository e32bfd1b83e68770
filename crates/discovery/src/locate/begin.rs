//! The text of a new catalog file: the findings, with comments, and an example of every section without any.

use std::path::Path;

use prospector_core::Problem;
use prospector_core::mark::one_line;

use super::finding::{Address, Finding, FindingKind};

/// Maximum number of skip reasons in the file.
const MAX_SKIPPED: usize = 30;

const HEAD: &str =
    "# Sources of planner. Paths are relative to this file; `*` and `**` are wildcards; ${NAME} is replaced from
# the environment. `planner doctor` diagnoses sources; `planner add SOURCE` adds one.
";

/// The sections in order, each with an example, as comments, for a section without findings.
pub(super) const EXAMPLES: [(&str, &str); 4] = [
    (
        "databases",
        r#"#  - path: databases/*.sqlite       # one database per file, named after it
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
    ("skills", "#  - path: skills                   # a folder with one subfolder per skill, each with a SKILL.md\n"),
];

/// A document, so that a catalog without any other entry can answer a question.
const ABOUT: &str = "documents:
  - name: about_this_catalog
    content: |
      # About this catalog
      It was written by `planner init`. Replace this document with your own business rules.
";

const TAIL: &str = "
facts: []
#  - term: fiscal year
#    definition: The fiscal year is the calendar year.

context_preload: []
#  - warehouse.orders               # tables to include in every prompt

# mcp:                             # MCP servers whose tools are searched, and called if `invoke` permits it
#  - {name: clock, command: [mcp-server-time], invoke: read}
#  - {import: claude_desktop}      # or claude_code, vscode, cursor, codex, or a configuration file

# fetch: {allow: [wiki.local, '127.0.0.1:8080']}   # hosts on your own network that may be contacted
# web_search: {url: 'https://searx.example/search'}   # a SearXNG server, for terms that this catalog does not define
";

/// Returns the text of a catalog file in `base`. `schema` is the path of its JSON Schema, for editors.
pub fn begin(findings: &[Finding], skipped: &[Problem], base: &Path, schema: &str) -> String {
    let mut text = format!("# yaml-language-server: $schema={schema}\n{HEAD}");
    for (key, example) in EXAMPLES {
        let found = findings.iter().filter(|finding| finding.section() == key);
        let entries: String = found.map(|finding| entry(finding, base)).collect();
        text += &match entries.as_str() {
            "" if key == "documents" && findings.is_empty() => format!("\n{ABOUT}{example}"),
            "" => format!("\n{key}: []\n{example}"),
            entries => format!("\n{key}:\n{entries}"),
        };
    }
    text += TAIL;
    if !skipped.is_empty() {
        text += "\n# Skipped:\n";
        for problem in skipped.iter().take(MAX_SKIPPED) {
            let reason = problem.reason.strip_prefix("skipped ").unwrap_or(&problem.reason);
            text += &comment(&format!("{}: {reason}", problem.place));
            text += &problem.advice.as_ref().map(|advice| comment(&format!("  {advice}"))).unwrap_or_default();
        }
        let more = skipped.len().saturating_sub(MAX_SKIPPED);
        if more > 0 {
            text += &comment(&format!("and {more} more; `planner init` lists them"));
        }
    }
    text
}

/// Returns an entry on one line, with a comment on its files.
fn entry(finding: &Finding, base: &Path) -> String {
    let note = match (&finding.kind, &finding.address) {
        (FindingKind::Databases(kind), Address::Variable(_)) => {
            format!("   # {kind}, from {}; set the variable before starting planner", finding.source)
        }
        (FindingKind::Databases(_), _) if finding.files > 1 => format!("   # {} files, one table each", finding.files),
        (FindingKind::Documents, _) if finding.files > 1 => format!("   # {} documents", finding.files),
        (FindingKind::Skills, _) => format!("   # {} skills", finding.files),
        _ => String::new(),
    };
    format!("  - {}{}\n", finding.entry(Some(base)), one_line(&note))
}

fn comment(text: &str) -> String {
    format!("#  {}\n", one_line(text))
}
