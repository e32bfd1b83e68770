//! Valid entries of a catalog file, and the problems of invalid ones.

use super::*;

fn read(text: &str) -> (CatalogFile, Vec<String>) {
    let lookup = |name: &str| (name == "DATA").then(|| "/data".to_owned());
    let (file, problems) = parse(Path::new("catalog.yaml"), text, &lookup).unwrap();
    (file, problems.iter().map(ToString::to_string).collect())
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(read(text).1, expected);
}

#[test]
fn parses_every_kind_of_entry() {
    let (file, problems) = read(
        "databases:\n- path: ${DATA}/shop.sqlite\n  tables: [a, b]\napis:\n- {path: shop.yaml, url: 'https://x/${KEY}'}\n\
         documents:\n- name: hours\n  content: |\n    Open from 9.\nfacts:\n- {term: VIP, definition: important, confidence: 0.5}\n\
         skills:\n- path: skills\ncontext_preload: [shop.a]\n\
         instructions: |\n  Amounts are in euro.\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(file.databases[0].path, "/data/shop.sqlite");
    assert_eq!(file.databases[0].tables, ["a", "b"]);
    assert_eq!(file.apis[0].url.as_deref(), Some("https://x/${KEY}"), "possible secrets are not expanded");
    assert_eq!(file.documents[0].content.as_deref(), Some("Open from 9.\n"));
    assert_eq!(file.facts[0].confidence, Some(0.5));
    assert_eq!(file.skills[0].path, "skills");
    assert_eq!(file.context_preload.preload.names, ["shop.a"]);
    assert_eq!(file.instructions, "Amounts are in euro.");
}

#[test]
fn parses_pinned_tables() {
    let (file, problems) =
        read("context_preload:\n  seed_patterns: [sales, customer]\n  similarity_threshold: 0.5\n  max_tables: 7\n");
    assert!(problems.is_empty(), "{problems:?}");
    let preload = file.context_preload.preload;
    assert_eq!((preload.seeds.len(), preload.threshold, preload.max_tables), (2, 0.5, 7));
    check(
        "context_preload: {seed_patterns: [a], max_tables: 0}\ninstructions: [a]\n",
        &[
            "error: catalog.yaml:1: `max_tables` of context_preload must be an integer from 1 to 10000, not the number 0 \
             (write such a number, or remove the key)",
            "error: catalog.yaml:2: `instructions` must be a text (write `instructions: |` and the text below it)",
        ],
    );
    let (file, problems) = read(&format!("instructions: {}\n", "x".repeat(9_000)));
    assert!(file.instructions.len() == 8_000 && problems[0].contains("more than 8000 characters"), "{problems:?}");
}

#[test]
fn reports_invalid_entries_with_their_line_and_keeps_others() {
    let text = "databases:\n- pth: a.sqlite\n- path: b.sqlite\n";
    check(
        text,
        &["error: catalog.yaml:2: databases[0] has an unknown key `pth` \
           (did you mean `path`? the keys are path, name, type, description, descriptions, tables, functions, values, personal, strict, url, schemas, \
           bigquery, elasticsearch, indices, token, api_key, user, password)"],
    );
    assert_eq!(read(text).0.databases.len(), 1);
}

#[test]
fn ignores_misspelt_keys_unless_they_may_limit_what_is_shown() {
    let text = "databases:\n- {path: a.sqlite, nmae: shop}\n- path: b.sqlite\n  descripton: The shop.\n";
    check(
        text,
        &[
            "warning: catalog.yaml:2: databases[0] has an unknown key `nmae`, which is ignored (did you mean `name`?)",
            "warning: catalog.yaml:4: databases[1] has an unknown key `descripton`, which is ignored (did you mean `description`?)",
        ],
    );
    assert_eq!(read(text).0.databases.len(), 2);
    for key in ["tabels: [a]", "personl: [a.b]", "schema: [a]", "vlues: false", "redact: [a.b]", "read_only: true"] {
        let (file, problems) = read(&format!("databases:\n- path: a.sqlite\n  {key}\n"));
        assert!(file.databases.is_empty() && problems.len() == 1, "{key}: {problems:?}");
        assert!(problems[0].starts_with("error: catalog.yaml:3: databases[0] has an unknown key"), "{problems:?}");
    }
}

#[test]
fn encodes_and_hides_passwords_in_urls() {
    let lookup = |name: &str| match name {
        "PASSWORD" => Some("p@ss/w#rd".to_owned()),
        "URL" => Some("postgres://ada:p%40ss@db/crm".to_owned()),
        _ => None,
    };
    let read = |text: &str| parse(Path::new("catalog.yaml"), text, &lookup).unwrap();
    let (file, problems) = read(
        "databases:\n- {name: crm, url: 'postgres://ada:${PASSWORD}@db:5433/crm', schemas: [a, b]}\n- {url: '${URL}'}\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    let shown: Vec<_> = file.databases.iter().filter_map(|d| d.server.as_ref()).map(ToString::to_string).collect();
    assert_eq!(shown, ["postgres://ada@db:5433/crm", "postgres://ada@db/crm"]);
    assert!(!format!("{file:?}").contains("ss"), "{file:?}");

    for text in [
        "databases:\n- url: oracle://ada:${PASSWORD}@db/crm\n",
        "databases:\n- url: postgres://ada:${PASSWORD}@db:x/crm\n",
        "databases:\n- url: postgres://ada:${PASSWORD}@db/crm\n  path: a.db\n",
        "databases:\n- url: postgres://ada:${NONE}@db/crm\n",
    ] {
        let (file, problems) = read(text);
        assert!(file.databases.is_empty() && problems.len() == 1, "{problems:?}");
        assert!(!problems[0].to_string().contains("p@ss") && !problems[0].to_string().contains("p%40"), "{problems:?}");
    }
}

#[test]
fn reports_wrong_types_missing_values_and_unknown_sections() {
    check(
        "databses: []\n",
        &["error: catalog.yaml:1: the catalog has an unknown key `databses` (did you mean `databases`? \
           the keys are databases, apis, mcp, documents, facts, skills, entities, joins, dimensions, metrics, segments, fiscal_year_starts, \
           time_zone, verified_queries, context_preload, instructions, queries, fetch, web_search)"],
    );
    check(
        "fiscal_year_starts: apirl\n",
        &["error: catalog.yaml:1: `fiscal_year_starts: apirl` is not a month (write its name, such as `april`)"],
    );
    check(
        "fiscal_year_starts: 4\n",
        &[
            "error: catalog.yaml:1: `fiscal_year_starts` must be a month (write `fiscal_year_starts: april`, for example)",
        ],
    );
    check(
        "time_zone: 1\n",
        &["error: catalog.yaml:1: `time_zone` must be a name (write `time_zone: Europe/Berlin`, for example)"],
    );
    check(
        "databases: shop.sqlite\n",
        &["error: catalog.yaml:1: `databases` must be a list, not the text `shop.sqlite` \
           (start each entry with `- ` under `databases:`)"],
    );
    check(
        "facts:\n- term: VIP\n  definition: x\n  confidence: very\n",
        &["error: catalog.yaml:4: `confidence` of facts[0] must be a number from 0 to 1, not the text `very` \
           (write `confidence: 0.9`)"],
    );
    check(
        "skills:\n- path: ${HOMES}/skills\n",
        &[
            "error: catalog.yaml:2: `path`: the environment variable `HOMES` is not set (set it, or write the value itself)",
        ],
    );
    check(
        "databases:\n- name: ''\n  path: shop.sqlite\n",
        &["error: catalog.yaml:2: `name` of databases[0] is empty (write a name, or remove it)"],
    );
    check(
        "documents:\n- name:\n  content: text\n",
        &["error: catalog.yaml:2: `name` of documents[0] must be a text, not nothing (write `name: some text`)"],
    );
    check(
        "entities:\n- name: visit\n  table: ''\n",
        &[
            "error: catalog.yaml:2: `table` is missing: table with one row per entity: database.table (write `table: ...`)",
        ],
    );
    check(
        "segments:\n- name: big\n  entity: visit\n  filter:\n",
        &["error: catalog.yaml:4: `filter` of segments[0] must be a text or a list of names, not nothing \
           (write `filter: some text`)"],
    );
    check(
        "apis:\n- name: x\n",
        &["error: catalog.yaml:2: `path` is missing: the file that describes the API (write `path: ...`)"],
    );
}

#[test]
fn parses_urls_and_allowed_hosts() {
    let (file, problems) = read(
        "documents:\n- url: https://example.com${DATA}/a.md\napis:\n- url: https://example.com/openapi.json\n\
         fetch: {allow: [wiki.local, '127.0.0.1:8080'], public: true}\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(file.documents[0].url.as_deref(), Some("https://example.com/data/a.md"));
    assert_eq!(file.apis[0].fetched.as_deref(), Some("https://example.com/openapi.json"));
    assert_eq!((file.fetch.allow.len(), file.fetch.public), (2, true));
    check(
        "fetch: {allow: ['https://x'], public: sometimes}\n",
        &[
            "error: catalog.yaml:1: `public` of fetch must be true or false, not the text `sometimes` \
             (write `public: false`)",
            "error: catalog.yaml:1: `allow` of fetch: `https://x` is not a host or host:port \
             (write `allow: [wiki.local, 'host:8080']`)",
        ],
    );
    check(
        "documents:\n- url: /etc/passwd\n",
        &["error: catalog.yaml:2: `url`: unsupported URL scheme (write a URL that starts with https:// or http://)"],
    );
}

#[test]
fn reports_invalid_yaml_with_its_line() {
    let error = parse(Path::new("c.yaml"), "databases:\n  - path: [a\nx: {", &|_| None).unwrap_err();
    assert_eq!(error.to_string(), "c.yaml:3: not valid YAML: illegal placement of ':' indicator");
    let error = parse(Path::new("c.yaml"), "databases:\n- path: a.db\n  description: a: b\n", &|_| None).unwrap_err();
    assert!(error.to_string().ends_with("put a text that contains `: ` in quotes"), "{error}");
    let error = parse(Path::new("c.yaml"), "- a\n", &|_| None).unwrap_err();
    assert_eq!(error.to_string(), "c.yaml:1: the catalog must be a mapping, not a list");
    let (file, problems) = read("# only a comment\n");
    assert!(file.databases.is_empty() && problems.is_empty());
}

#[test]
fn messages_do_not_repeat_urls_and_parameters() {
    let lookup = |name: &str| (name == "URL").then(|| "postgres://ada:s3cret@db/crm".to_owned());
    let read = |text: &str| parse(Path::new("catalog.yaml"), text, &lookup).unwrap();
    for entry in [
        "databases:\n- path: postgres://ada:s3cret@db/crm\n",
        "databases:\n- path: ${URL}\n",
        "apis:\n- path: https://ada:s3cret@api/openapi.json\n",
        "documents:\n- path: https://wiki/page?token=s3cret\n",
        "skills:\n- path: https://ada:s3cret@host/skills\n",
    ] {
        let (_, problems) = read(entry);
        let reported = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(reported.contains("catalog.yaml:2: `path` is a URL") && problems.len() == 1, "{reported}");
        assert!(!reported.contains("s3cret"), "{reported}");
    }
    for entry in [
        "databases: postgres://ada:s3cret@db/crm\n",
        "databases:\n- postgres://ada:s3cret@db/crm\n",
        "databases:\n- {path: a.db, tables: 'postgres://ada:s3cret@db/crm'}\n",
        "databases:\n- {path: a.db, 'postgres://ada:s3cret@db/crm': 1}\n",
        "fetch: {allow: ['https://ada:s3cret@host/']}\n",
    ] {
        let (_, problems) = read(entry);
        let reported = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(!problems.is_empty() && !reported.contains("s3cret"), "{reported}");
    }
    let (file, problems) = read("databases:\n- url: postgres://ada@db/crm?api_key=s3cret&sslmode=require\n");
    assert_eq!(file.databases.len(), 1);
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["warning: catalog.yaml:2: `url`: the parameters `api_key` are ignored (remove them from the URL)"]
    );
}
