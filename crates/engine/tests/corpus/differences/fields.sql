## Every place in which a statement can name something behind a point. `{f}` is a function or a type of PostgreSQL, and
## `{rows}` gives rows that it takes; see tests/it/differences/fields.rs.
## refused: the row has no such column, and the name is made elsewhere
SELECT a.{f} AS {f} FROM {rows} a
SELECT 1 AS {f} FROM {rows} a ORDER BY a.{f}
SELECT 1 AS {f} FROM {rows} a WHERE a.{f} IS NULL
SELECT a.{f} FROM {rows} a, (SELECT 1 AS {f}) b
SELECT (a).{f} FROM {rows} a, (SELECT 1) b ({f})
SELECT (a).{f} FROM {rows} AS a (of_row), (SELECT 1) b ({f})
SELECT (a.of_row).{f} FROM {rows} AS a (of_row), (SELECT 1) b ({f})
SELECT (SELECT a.{f} FROM (SELECT 1 AS {f}) b) FROM {rows} a
SELECT b.{f} FROM {rows} a, LATERAL (SELECT a.{f}) b ({f})
SELECT {f}.{f} AS {f} FROM (SELECT a.of_row FROM {rows} AS a (of_row)) {f}
WITH {f} AS (SELECT 1 AS {f}) SELECT a.{f} FROM {f}, {rows} a
SELECT count(a.{f}) AS {f} FROM {rows} a
SELECT 1 FROM (SELECT 1 AS {f}) b JOIN {rows} a ON a.{f} IS NULL
SELECT 1 FROM (SELECT 1 AS {f}) a WHERE EXISTS ((SELECT 1 FROM {rows} a) ORDER BY a.{f})
SELECT a.{f} AS {f} FROM unnest(ARRAY['people'], ARRAY[1]) a
SELECT {f}.{f} FROM unnest(ARRAY(SELECT name FROM people)) {f}
SELECT a.{f} AS {f} FROM json_each('{"a": 1}') a
SELECT a.{f} AS {f} FROM json_array_elements('[1]') a
SELECT a.{f} AS {f} FROM regexp_matches('a', 'a') a
SELECT (a).{f} AS {f} FROM generate_series(1, 2) AS a ({f})
SELECT (a).{f} FROM unnest(ARRAY['x']) AS a ({f})
SELECT p.{f} AS {f} FROM people p
SELECT p.{f} FROM people p (of_row), (SELECT 1) b ({f})
SELECT p.{f} FROM people p, (SELECT 1 AS {f}) b
SELECT (p).{f} FROM people p, (SELECT 1 AS {f}) b
SELECT people.{f} FROM people, (SELECT 1 AS {f}) b
SELECT public.people.{f} FROM public.people
SELECT shop.people.{f} FROM shop.people, (SELECT 1 AS {f}) b
SELECT b.{f} FROM (SELECT 1 AS of_row) b, (SELECT 1 AS {f}) c
SELECT (b).{f} AS {f} FROM (SELECT 1 AS of_row) b
SELECT b.{f} AS {f} FROM (SELECT id::text AS of_row FROM people) b (of_b)
SELECT b.{f} AS {f} FROM (VALUES (1, 'x')) b
SELECT b.{f} AS {f} FROM (VALUES (1)) b (of_row)
SELECT j.{f} AS {f} FROM (people p JOIN notes n ON n.person = p.id) j
SELECT j.{f} AS {f} FROM (people p NATURAL JOIN notes n) j
SELECT p.{f} FROM people p JOIN (SELECT 1 AS {f}) b ON true
SELECT p.id FROM people p JOIN (SELECT 1 AS {f}) b ON p.{f} = b.{f}
SELECT p.id FROM people p LEFT JOIN notes n USING (id) WHERE n.{f} IS NULL
SELECT p.{f} FROM people p NATURAL JOIN (SELECT 1 AS {f}, 1 AS id) b
SELECT p.id FROM people p, LATERAL (SELECT p.{f} AS {f}) b
SELECT p.id FROM people p, LATERAL (SELECT q.{f} AS {f} FROM people q) b
SELECT p.id FROM people p CROSS JOIN LATERAL unnest(ARRAY[p.{f}]) AS u ({f})
SELECT p.id FROM people p, LATERAL (SELECT y.v FROM (SELECT p.{f} AS v) y) x
WITH {f} AS (SELECT 1 AS {f}) SELECT p.{f} FROM people p, {f}
WITH w ({f}) AS (SELECT 1) SELECT p.{f} FROM people p, w
WITH w AS (SELECT id FROM people) SELECT w.{f}, 1 AS {f} FROM w
WITH w AS (SELECT p.{f} AS {f} FROM people p) SELECT w.{f} FROM w
WITH people AS (SELECT 1 AS {f}) SELECT p.{f} FROM public.people p
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 2 FROM r WHERE r.{f} IS NULL) SELECT 1 AS {f} FROM r
WITH b AS (SELECT 1 AS {f}) SELECT * FROM (WITH RECURSIVE a AS (SELECT b.{f} FROM b), b AS (SELECT id FROM people) SELECT * FROM a) x
WITH r AS (SELECT 1 AS {f}) SELECT 1 FROM (WITH RECURSIVE r AS (WITH x AS (SELECT 1) SELECT 1 AS n UNION ALL SELECT 2 FROM r WHERE r.{f} IS NULL) SELECT * FROM r) y
SELECT 1 FROM (SELECT 1 AS {f}) a WHERE EXISTS ((SELECT a.id FROM people a) ORDER BY a.{f} LIMIT 1)
SELECT l.id FROM (SELECT 1 AS {f}) a, LATERAL ((SELECT a.id FROM people a) ORDER BY a.{f} LIMIT 1) l
SELECT ARRAY((SELECT a.id FROM people a) ORDER BY a.{f}) FROM (SELECT 1 AS {f}) a
SELECT (WITH w AS ((SELECT a.id FROM people a) ORDER BY a.{f}) SELECT 1) FROM (SELECT 1 AS {f}) a
(SELECT p.id AS {f} FROM people p) ORDER BY p.{f}
SELECT p.id AS {f} FROM people p UNION ALL SELECT 1 FROM notes n WHERE n.{f} IS NULL
SELECT (SELECT x.{f} FROM (SELECT public.people.* FROM (SELECT 1 AS {f}) people) x LIMIT 1) FROM public.people
SELECT (SELECT p.{f} FROM (SELECT 1 AS {f}) b) FROM people p
SELECT (SELECT public.people.{f} FROM (SELECT 1 AS {f}) people LIMIT 1) FROM public.people
SELECT p.id FROM people p WHERE EXISTS (SELECT 1 AS {f} FROM notes n WHERE p.{f} IS NULL)
SELECT p.id FROM people p WHERE p.id IN (SELECT n.id AS {f} FROM notes n ORDER BY n.{f})
SELECT p.id AS {f} FROM people p ORDER BY p.{f}
SELECT p.id FROM people p GROUP BY p.id, p.{f}
SELECT count(*) FROM people p GROUP BY GROUPING SETS ((p.{f}), ())
SELECT 1 AS {f} FROM people p GROUP BY p.id HAVING max(p.{f}) IS NULL
SELECT DISTINCT ON (p.{f}) p.id AS {f} FROM people p
SELECT sum(p.id) OVER (PARTITION BY p.{f}) AS {f} FROM people p
SELECT sum(p.id) OVER w FROM people p WINDOW w AS (ORDER BY p.{f})
SELECT count(*) FILTER (WHERE p.{f} IS NULL) AS {f} FROM people p
SELECT string_agg(p.name, ',' ORDER BY p.{f}) AS {f} FROM people p
SELECT CASE WHEN p.{f} IS NULL THEN 1 END AS {f} FROM people p
SELECT p.{f}::text AS {f} FROM people p
SELECT ROW(p.{f}) AS {f} FROM people p
SELECT (n.home).{f} FROM notes n
SELECT (n.body).{f} FROM notes n
SELECT (n.tags)[1].{f} FROM notes n
SELECT (n).home.{f} FROM notes n
SELECT (p.*).{f} FROM people p
SELECT ((p)).{f} FROM people p
SELECT (SELECT q FROM people q LIMIT 1).{f}
SELECT (ARRAY[p])[1].{f} FROM people p
SELECT (p.id).{f} FROM people p
SELECT (p.name || 'x').{f} FROM people p
SELECT ('x'::text).{f} AS {f}
SELECT (id).{f} FROM people
SELECT (ROW(1, 2)).{f} AS {f}
SELECT (p).{f} FROM people p, (SELECT 'x' AS a, 'y' AS p) q (z)
SELECT (ctid).{f} FROM people ctid
## columns: the row has such a column by what the statement says of it
SELECT s.{f} FROM (SELECT 1 AS {f}) s
SELECT s.{f} FROM (SELECT id AS {f} FROM people) s ORDER BY s.{f}
SELECT s.{f} FROM (SELECT id AS {f} FROM people UNION SELECT 1) s
SELECT s.{f} FROM (SELECT 1) s ({f})
SELECT s.{f} FROM (VALUES (1, 'a'), (2, 'b')) s (x, {f})
SELECT s.{f} FROM generate_series(1, 3) AS s ({f})
SELECT {f}.{f} FROM generate_series(1, 3) {f}
SELECT s.{f} FROM unnest(ARRAY['a']) WITH ORDINALITY AS s ({f}, n)
SELECT p.{f} FROM people p ({f}, y)
WITH w AS (SELECT 1 AS {f}) SELECT w.{f} FROM w
WITH w ({f}) AS (SELECT id FROM people) SELECT x.{f} FROM w x WHERE x.{f} > 1
WITH {f} AS (SELECT 1 AS {f}) SELECT {f}.{f} FROM {f}
WITH RECURSIVE r AS (SELECT 1 AS {f} UNION ALL SELECT r.{f} + 1 FROM r WHERE r.{f} < 5) SELECT r.{f} FROM r
WITH RECURSIVE r ({f}) AS (WITH x AS (SELECT 1 AS a) SELECT x.a FROM x UNION ALL SELECT r.{f} + 1 FROM r WHERE r.{f} < 5) SELECT r.{f} FROM r
SELECT l.{f} FROM people p, LATERAL (SELECT p.id AS {f}) l
SELECT p.id, l.{f} FROM people p LEFT JOIN LATERAL (SELECT n.body AS {f} FROM notes n WHERE n.person = p.id) l ON l.{f} IS NOT NULL
SELECT (SELECT max(s.{f}) FROM (SELECT p.id AS {f}) s) FROM people p
SELECT s.{f} FROM (SELECT * FROM (SELECT 1 AS {f}) t) s
SELECT s.{f} FROM (SELECT t.* FROM (SELECT 1 AS {f}) t, people) s
SELECT j.{f} FROM (people p CROSS JOIN (SELECT 1 AS {f}) b) j
SELECT {f}.id FROM people {f}
SELECT s.{f} FROM (SELECT t.{f} FROM (SELECT 1 AS {f}) t GROUP BY t.{f} HAVING max(t.{f}) = 1) s
SELECT sum(s.{f}) OVER (PARTITION BY s.{f} ORDER BY s.{f}) FROM (SELECT 1 AS {f}) s
SELECT s.{f} FROM (SELECT 1 AS {f}) s WHERE EXISTS ((SELECT s.id FROM people s) ORDER BY s.id)
