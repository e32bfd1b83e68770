CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE IF NOT EXISTS public."Order Lines" (id bigserial PRIMARY KEY, m mood[], total numeric(10,2) DEFAULT 0 CHECK (total > 0),
  doc jsonb NOT NULL, CONSTRAINT u UNIQUE (m)) PARTITION BY RANGE (id);
CREATE FUNCTION f() RETURNS void AS $body$ BEGIN CREATE TABLE no (x int); END; $body$ LANGUAGE plpgsql;
ALTER TABLE ONLY public."Order Lines" ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES orders(id);
COMMENT ON TABLE public."Order Lines" IS 'the lines';
COMMENT ON COLUMN public."Order Lines".total IS E'in euro\n';
CREATE VIEW v AS SELECT id, total AS "sum" FROM "Order Lines" WHERE id IN (SELECT id FROM x);
CREATE MATERIALIZED VIEW mv (a, b) AS WITH c AS (SELECT 1 a, 2 b) SELECT * FROM c;
COPY public.x (a, b) FROM stdin;
1	a;b
\.
CREATE UNLOGGED TABLE y (LIKE x INCLUDING ALL, z tsvector GENERATED ALWAYS AS (to_tsvector('english', q)) STORED);
