//! Qualified names that are columns, and those that may be functions of PostgreSQL.

use super::*;
use crate::FailureCode;
use crate::guard::examine;

/// Functions of one argument that a row could be passed to, and a type that a value could be cast to.
const FUNCTIONS: [&str; 12] = [
    "nap",
    "computed",
    "regclass",
    "regtype",
    "pg_sleep",
    "pg_advisory_lock",
    "pg_get_functiondef",
    "pg_read_file",
    "pg_ls_dir",
    "lower",
    "count",
    "\"Nap\"",
];

const TABLES: [(&str, &str, &[&str]); 4] = [
    ("public", "customers", &["id", "name", "country"]),
    ("public", "orders", &["id", "customer_id", "total"]),
    ("other", "customers", &["id", "code"]),
    ("public", "odd.one", &["id", "nap"]),
];

/// Verifies the statement in the form in which it is sent to PostgreSQL.
fn resolve(sql: &str) -> Result<BTreeSet<String>, Failure> {
    // A function that the catalog allows may have the name of a built-in one.
    let functions = Vec::from(if sql.contains("own.") { ["own.generate_series".to_owned()] } else { [String::new()] });
    let checked = examine(Dialect::Postgres, &functions, sql)?;
    let mut sent = String::new();
    for piece in &checked.rewritten.pieces {
        match piece {
            crate::rewrite::Piece::Text(text) => sent += text,
            crate::rewrite::Piece::Column(parts) => {
                let quoted = parts.iter().map(|part| match part.value.as_str() {
                    "*" => "*".to_owned(),
                    _ => Dialect::Postgres.quote(&Dialect::Postgres.name_of(part)),
                });
                sent += &quoted.collect::<Vec<_>>().join(".");
            }
            crate::rewrite::Piece::Table { at, alias } => {
                let Place { schema, name } = Place::of(&checked.rewritten.reads[*at]);
                let schema = schema.unwrap_or_else(|| "public".to_owned());
                let quote = |name: &str| Dialect::Postgres.quote(name);
                sent += &format!("{}.{}", quote(&schema), quote(&name));
                sent += &alias.as_ref().map_or_else(String::new, |alias| format!(" AS {alias}"));
            }
        }
    }
    let sent = examine(Dialect::Postgres, &functions, &sent)?;
    let columns_of = |schema: &str, name: &str| {
        let table = TABLES.iter().find(|table| (table.0, table.1) == (schema, name))?;
        Some(table.2.iter().map(|column| (*column).to_owned()).collect())
    };
    super::check(&sent.query, &columns_of)
}

/// Returns whether it is rejected because of a qualified name.
fn is_unknown(sql: &str) -> bool {
    matches!(resolve(sql), Err(failure) if failure.code == FailureCode::UnknownColumn)
}

/// `{f}` is the function; each statement defines its name elsewhere than in the relation of the row.
const REFUSED: &[&str] = &[
    "SELECT a.{f} AS {f} FROM generate_series(1, 2) a",
    "SELECT a.{f} FROM generate_series(1, 2) a ORDER BY a.{f}",
    "SELECT (c).{f} FROM customers c, (SELECT 1 AS {f}) b",
    "SELECT c.{f} FROM customers c (x), (SELECT 1) b ({f})",
    "SELECT c.{f} FROM customers c, (SELECT 1 AS {f}) b",
    "SELECT t.{f} AS {f} FROM unnest(ARRAY['/etc/passwd']) t",
    "SELECT {f}.{f} FROM unnest(ARRAY(SELECT name FROM customers)) {f}",
    "WITH {f} AS (SELECT 1 AS {f}) SELECT c.{f} FROM customers c, {f}",
    "WITH w ({f}) AS (SELECT 1) SELECT c.{f} FROM customers c, w",
    "WITH w AS (SELECT id FROM customers) SELECT w.{f}, 1 AS {f} FROM w",
    "SELECT c.{f} FROM customers c JOIN (SELECT 1 AS {f}) b ON true",
    "SELECT c.id FROM customers c JOIN (SELECT 1 AS {f}) b ON c.{f} = b.{f}",
    "SELECT c.id FROM customers c, LATERAL (SELECT c.{f} AS {f}) b",
    "SELECT (SELECT c.{f} FROM (SELECT 1 AS {f}) b) FROM customers c",
    "SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 AS {f} FROM orders o WHERE c.{f} = 1)",
    "SELECT c.id FROM customers c GROUP BY c.id, c.{f}",
    "SELECT c.id FROM customers c GROUP BY c.id HAVING max(c.{f}) = 1",
    "SELECT sum(1) OVER {f} AS x, c.{f} FROM customers c WINDOW {f} AS (PARTITION BY c.id)",
    "SELECT v.{f} FROM (VALUES (1)) v, (SELECT 1 AS {f}) b",
    "SELECT customers.{f} FROM customers, (SELECT 1 AS {f}) b",
    "SELECT public.customers.{f} FROM public.customers",
    "SELECT c.id AS {f} FROM customers c UNION SELECT c.{f} FROM customers c",
    "SELECT c.id AS {f} FROM customers c UNION SELECT 1 ORDER BY c.{f}",
    "SELECT d.{f} FROM (SELECT * FROM customers JOIN orders USING (id)) d (a, b)",
    "SELECT c.{f} FROM customers c NATURAL JOIN (SELECT 1 AS {f}) b",
    "SELECT (SELECT b.id FROM orders b LIMIT b.{f}) FROM customers c",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.{f} FROM r) SELECT 1 AS {f} FROM r",
    "SELECT (SELECT o FROM orders o LIMIT 1).{f}",
    "SELECT (ARRAY[c])[1].{f} FROM customers c",
    "SELECT f.{f} FROM json_each('{}') f",
    "SELECT count(*) FILTER (WHERE c.{f} = 1) FROM customers c",
    "SELECT (SELECT public.customers.{f} FROM (SELECT 1 AS {f}) customers) FROM public.customers",
    "SELECT x.{f} FROM customers c, (SELECT 1 AS {f}) b",
    // ORDER BY after parentheses belongs to the inner query, whose names take precedence.
    "SELECT 1 FROM (SELECT 1 AS {f}) a WHERE EXISTS ((SELECT a.id FROM customers a) ORDER BY a.{f} LIMIT 1)",
    "SELECT 1 FROM (SELECT 1 AS {f}) a WHERE EXISTS (((SELECT a.id FROM customers a)) ORDER BY a.{f})",
    "SELECT 1 FROM (SELECT 1 AS {f}) a WHERE 1 IN ((SELECT a.id FROM customers a) LIMIT a.{f})",
    "SELECT l.id FROM (SELECT 1 AS {f}) a, LATERAL ((SELECT a.id FROM customers a) ORDER BY a.{f} LIMIT 1) l",
    "SELECT (WITH w AS ((SELECT a.id FROM customers a) ORDER BY a.{f}) SELECT 1) FROM (SELECT 1 AS {f}) a",
    "SELECT ARRAY((SELECT a.id FROM customers a) ORDER BY a.{f}) FROM (SELECT 1 AS {f}) a",
    // A query under WITH RECURSIVE sees later ones, which shadow outer names.
    "WITH b AS (SELECT 1 AS {f}) SELECT * FROM (WITH RECURSIVE a AS (SELECT b.{f} FROM b), b AS (SELECT id FROM customers) \
     SELECT * FROM a) x",
    "WITH r AS (SELECT 1 AS {f}) SELECT * FROM (WITH RECURSIVE r AS (WITH x AS (SELECT 1) SELECT 1 AS n UNION ALL \
     SELECT r.{f} FROM r) SELECT * FROM r) y",
    "WITH r AS (SELECT 1 AS {f}) SELECT * FROM (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL \
     SELECT r.{f} FROM r) SELECT * FROM r) y",
    "WITH customers AS (SELECT 1 AS {f}), w AS (SELECT c.{f} FROM public.customers c) SELECT * FROM w",
    // After a schema, and in `.*`, the name is that of a table and not an alias.
    "SELECT (SELECT x.{f} FROM (SELECT public.customers.* FROM (SELECT 1 AS {f}) customers) x) FROM public.customers",
    "SELECT public.customers.{f} FROM public.customers, LATERAL (SELECT 1 AS {f}) customers2",
    "SELECT other.customers.{f} FROM other.customers, (SELECT 1 AS {f}) b",
    "SELECT x.{f} FROM (SELECT c.* FROM customers c, (SELECT 1 AS {f}) d) x",
    // The row of a function that returns scalars is the scalar, regardless of its column name.
    "SELECT (g).{f} FROM generate_series(1, 2) AS g ({f})",
    "SELECT (c).{f} FROM customers c, (SELECT 'x' AS a, 'y' AS c) q (z)",
    "SELECT (c).{f} FROM customers c, unnest(ARRAY['x']) WITH ORDINALITY q (c, {f})",
    "SELECT (ctid).{f} FROM customers ctid",
    "SELECT ((c)).{f} FROM customers c",
    "SELECT (c).id.{f} FROM customers c",
    "SELECT (c.name).{f} FROM customers c",
    "SELECT (c.*).{f} FROM customers c",
    "SELECT (ROW(1, 2)).{f}",
    "SELECT (c.id::text).{f} FROM customers c",
    "SELECT (lower(c.name)).{f} FROM customers c",
    // A function of that name that the catalog allows may return any columns.
    "SELECT generate_series.{f} FROM own.generate_series(1, 2)",
    "SELECT g.g, g.{f} FROM own.generate_series(1, 2) g",
    // The scope of LATERAL, names that an alias of a join hides, and names outside of the condition of a join.
    "SELECT j.{f} FROM (customers c JOIN orders o ON o.id = c.id) j, (SELECT 1 AS {f}) b",
    "SELECT c.id FROM (SELECT 1 AS {f}) a, customers c JOIN orders o ON c.{f} = 1",
    "SELECT x.v FROM customers c, LATERAL (SELECT c.{f} AS v FROM (SELECT 1 AS {f}) d) x",
    "SELECT x.v FROM customers c, LATERAL (SELECT y.v FROM (SELECT c.{f} AS v) y) x",
    "SELECT u.v FROM customers c, unnest(ARRAY[c.{f}]) AS u (v)",
    "SELECT u.v FROM customers c, generate_series(1, c.{f}) AS u (v)",
    "SELECT u.v FROM customers c CROSS JOIN LATERAL generate_series(1, c.{f}) AS u (v)",
    // Every clause of every kind of query.
    "SELECT DISTINCT ON (c.{f}) c.id FROM customers c",
    "SELECT c.id FROM customers c ORDER BY c.{f} DESC NULLS LAST",
    "SELECT c.id FROM customers c OFFSET c.{f}",
    "SELECT c.id FROM customers c GROUP BY ROLLUP (c.{f})",
    "SELECT c.id FROM customers c GROUP BY GROUPING SETS ((c.id), (c.{f}))",
    "SELECT sum(c.id) OVER (PARTITION BY c.{f}) FROM customers c",
    "SELECT sum(c.id) OVER (ORDER BY c.id ROWS BETWEEN c.{f} PRECEDING AND CURRENT ROW) FROM customers c",
    "SELECT sum(c.id) OVER w FROM customers c WINDOW w AS (ORDER BY c.{f})",
    "SELECT string_agg(c.name, ',' ORDER BY c.{f}) FROM customers c",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY c.{f}) FROM customers c",
    "SELECT ARRAY(SELECT c.{f} FROM customers c)",
    "SELECT CASE WHEN c.id = 1 THEN c.{f} END FROM customers c",
    "SELECT extract(year FROM c.{f}) FROM customers c",
    "SELECT substring(c.name FROM c.{f}) FROM customers c",
    "SELECT c.id FROM customers c WHERE c.id IN (SELECT c.{f} FROM orders o)",
    "SELECT c.id FROM customers c WHERE c.id = ANY (SELECT c.{f} FROM orders o)",
    "SELECT c.id FROM customers c WHERE c.id BETWEEN 1 AND c.{f}",
    "SELECT (ARRAY[1, 2])[c.{f}] FROM customers c",
    "SELECT v.a FROM customers c, LATERAL (VALUES (c.{f})) v (a)",
    "SELECT v.{f} FROM (VALUES (1, 2)) v (a)",
    "SELECT v.{f} FROM (VALUES (1), (2)) v",
    "SELECT o.{f} FROM \"odd.one\" o (a, b)",
];

#[test]
fn rejects_functions_after_a_dot_in_every_scope() {
    let all = REFUSED.iter().flat_map(|place| FUNCTIONS.map(|function| place.replace("{f}", function)));
    let wrong: Vec<String> =
        all.filter(|sql| !is_unknown(sql)).map(|sql| format!("{sql}: {:?}", resolve(&sql))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn accepts_columns_of_every_kind_of_relation() {
    for sql in [
        "SELECT c.id, c.name FROM customers c ORDER BY c.country",
        "SELECT customers.id FROM customers",
        "SELECT public.customers.id FROM public.customers",
        "SELECT c.* FROM customers c",
        "SELECT c.ctid FROM customers c",
        "SELECT c.x, c.y FROM customers c (x, y)",
        "SELECT d.n FROM (SELECT name AS n FROM customers) d",
        "SELECT d.name FROM (SELECT customers.name FROM customers) d",
        "SELECT d.count FROM (SELECT count(*) FROM customers) d",
        "SELECT d.id FROM (SELECT id::text FROM customers) d",
        "SELECT d.country FROM (SELECT * FROM customers) d",
        "SELECT d.total FROM (SELECT o.* FROM orders o) d",
        "WITH w AS (SELECT id, total FROM orders) SELECT w.total FROM w",
        "WITH w (a) AS (SELECT id FROM orders), v AS (SELECT a FROM w) SELECT v.a FROM v",
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r WHERE r.n < 5) SELECT r.n FROM r",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n + 1 FROM r WHERE r.n < 5) SELECT r.n FROM r",
        "SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
        "SELECT (SELECT sum(o.total) FROM orders o WHERE o.customer_id = c.id) FROM customers c",
        "SELECT a.id, b.id FROM customers a JOIN customers b ON a.country = b.country",
        "SELECT c.name, l.total FROM customers c, LATERAL (SELECT o.total FROM orders o WHERE o.customer_id = c.id) l",
        "SELECT c.name, l.t FROM customers c LEFT JOIN LATERAL (SELECT c.id AS t) l ON true",
        "SELECT g.g FROM generate_series(1, 3) g",
        "SELECT generate_series.generate_series FROM generate_series(1, 3)",
        "SELECT g.n FROM generate_series(1, 3) AS g (n)",
        "SELECT u.x, u.ordinality FROM unnest(ARRAY[1]) WITH ORDINALITY AS u (x, ordinality)",
        "SELECT e.key, e.value FROM json_each('{}') e",
        "SELECT v.column1 FROM (VALUES (1), (2)) v",
        "SELECT v.a, v.b FROM (VALUES (1, 2)) v (a, b)",
        "SELECT c.id, o.id FROM customers c FULL JOIN orders o USING (id)",
        "SELECT j.total FROM (customers c JOIN orders o ON o.customer_id = c.id) j",
        "SELECT c.id FROM (customers c JOIN orders o ON o.customer_id = c.id) WHERE o.total > 1",
        "SELECT sum(o.total) OVER (PARTITION BY o.customer_id ORDER BY o.id) FROM orders o",
        "SELECT d.id FROM (SELECT id FROM customers UNION SELECT id FROM orders) d",
        "SELECT (c).name FROM customers c",
        "SELECT (c).name, (o).total FROM customers c JOIN orders o ON o.customer_id = c.id",
        "SELECT s.count FROM (SELECT count(*) AS count FROM orders) s",
        "SELECT s.date, s.text FROM (SELECT 1 AS date, 2 AS text) s",
        "SELECT 1 FROM orders o WHERE EXISTS ((SELECT a.id FROM customers a) ORDER BY a.name LIMIT 1)",
        "(SELECT a.id FROM customers a) ORDER BY a.name",
        "SELECT other.customers.code, public.customers.name FROM other.customers, public.customers",
        "SELECT o.nap FROM \"odd.one\" o",
        "SELECT public.\"odd.one\".nap FROM public.\"odd.one\"",
        "WITH RECURSIVE r AS (WITH x AS (SELECT 1 AS a) SELECT x.a AS n FROM x UNION ALL SELECT r.n + 1 FROM r) SELECT r.n FROM r",
        "WITH w AS (SELECT 1 AS a) SELECT x.a FROM (WITH w AS (SELECT w.a FROM w) SELECT w.a FROM w) x",
        "SELECT x.v FROM customers c, LATERAL (SELECT y.v FROM (SELECT c.id AS v) y) x",
    ] {
        assert!(resolve(sql).is_ok(), "{sql}: {:?}", resolve(sql));
    }
}

#[test]
fn asks_the_server_about_names_that_the_statement_does_not_define() {
    let check = |sql: &str, expected: &[&str]| {
        let asked = resolve(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        assert_eq!(asked.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{sql}");
    };
    check("SELECT s.count FROM (SELECT count(*) AS count FROM orders) s", &[]);
    check("SELECT s.count FROM (SELECT count(*) FROM orders) s", &[]);
    check("SELECT s.a, s.b FROM (SELECT 1, 2) s (a, b)", &[]);
    check("WITH w (name) AS (SELECT 1) SELECT w.name FROM w", &[]);
    check("SELECT s.text FROM (SELECT d.text FROM (SELECT 1 AS text) d) s", &[]);
    // A description may be older than the table.
    check("SELECT c.id, c.name FROM customers c", &["id", "name"]);
    check("SELECT d.name FROM (SELECT * FROM customers) d", &["name"]);
    check("SELECT c.ctid FROM customers c", &["ctid"]);
    // Generated column names of PostgreSQL.
    check("SELECT s.id FROM (SELECT id::text FROM customers) s", &["id"]);
    check("SELECT g.g FROM generate_series(1, 2) g", &["g"]);
    check("SELECT u.ordinality, u.key FROM json_each('{}') WITH ORDINALITY u", &["key", "ordinality"]);
    check("SELECT v.column1 FROM (VALUES (1)) v", &["column1"]);
}
