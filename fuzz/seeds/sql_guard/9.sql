WITH RECURSIVE r (n) AS (WITH x AS (SELECT 1 AS a) SELECT x.a FROM x UNION ALL SELECT r.n + 1 FROM r WHERE r.n < 5)
SELECT p.name, (p).id, s.nap, l.v, g.g, public.people.id, count(p.*) FROM r, public.people, people p (id, name)
JOIN (VALUES (1, 'x')) AS s (id, nap) USING (id), LATERAL ((SELECT q.id AS v FROM people q) ORDER BY q.name LIMIT 1) l,
generate_series(1, r.n) g WHERE EXISTS ((SELECT a.id FROM people a) ORDER BY a.name) AND (n.home).street = 'x'
