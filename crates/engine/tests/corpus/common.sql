## Statements that no source may run. One a line; `\n` is a new line.
## data
INSERT INTO people VALUES (9, 'Eve')
INSERT INTO people (id, name) SELECT id + 100, name FROM people
INSERT INTO people DEFAULT VALUES
INSERT OR REPLACE INTO people VALUES (1, 'Eve')
REPLACE INTO people VALUES (1, 'Eve')
UPDATE people SET name = 'Eve'
UPDATE people SET name = 'Eve' WHERE id = 1
DELETE FROM people
DELETE FROM people WHERE id = 1
TRUNCATE TABLE people
TRUNCATE people
MERGE INTO people USING secret ON people.id = secret.id WHEN MATCHED THEN DELETE
insert into people values (9, 'Eve')
  DeLeTe   FrOm people
(DELETE FROM people)
-- harmless?\nDELETE FROM people
/* SELECT */ DELETE FROM people
## what tables are
DROP TABLE people
DROP TABLE IF EXISTS people CASCADE
DROP VIEW people
DROP INDEX people_id
DROP SCHEMA public CASCADE
DROP DATABASE shop
CREATE TABLE stolen AS SELECT * FROM people
CREATE TABLE stolen (a INTEGER)
CREATE TEMPORARY TABLE stolen (a INTEGER)
CREATE TEMP TABLE stolen AS SELECT * FROM people
CREATE VIEW stolen AS SELECT * FROM people
CREATE OR REPLACE VIEW people AS SELECT 1
CREATE INDEX stolen ON people (id)
CREATE UNIQUE INDEX stolen ON people (name)
CREATE TRIGGER stolen AFTER INSERT ON people BEGIN DELETE FROM people; END
CREATE DATABASE stolen
CREATE SCHEMA stolen
CREATE FUNCTION stolen() RETURNS int AS 'SELECT 1' LANGUAGE sql
CREATE PROCEDURE stolen() DELETE FROM people
CREATE USER eve
CREATE ROLE eve
CREATE SEQUENCE stolen
ALTER TABLE people ADD COLUMN stolen INTEGER
ALTER TABLE people RENAME TO stolen
ALTER TABLE people DROP COLUMN name
ALTER USER prospector WITH SUPERUSER
GRANT ALL ON people TO PUBLIC
GRANT SELECT ON secret TO eve
REVOKE ALL ON people FROM prospector
RENAME TABLE people TO stolen
COMMENT ON TABLE people IS 'stolen'
## the session
BEGIN
BEGIN; DELETE FROM people; COMMIT
START TRANSACTION
START TRANSACTION READ WRITE
COMMIT
ROLLBACK
SAVEPOINT a
RELEASE SAVEPOINT a
SET TRANSACTION READ WRITE
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
SET ROLE postgres
SET statement_timeout = 0
USE secret
PREPARE stolen AS DELETE FROM people
EXECUTE stolen
DEALLOCATE stolen
CALL stolen()
LOCK TABLE people
LOCK TABLES people WRITE
UNLOCK TABLES
KILL 1
ANALYZE people
ANALYZE TABLE people
EXPLAIN DELETE FROM people
EXPLAIN ANALYZE DELETE FROM people
EXPLAIN SELECT * FROM people
SHOW ALL
VACUUM
FLUSH TABLES
## two statements
SELECT 1; DELETE FROM people
SELECT 1; SELECT 2
SELECT 1;; DELETE FROM people
SELECT * FROM people; DROP TABLE people; --
SELECT 1;\nDELETE FROM people;
SELECT 1 /* ; */ ; DELETE FROM people -- ;
SELECT ';' ; UPDATE people SET name = ';'
SELECT 1 -- \n; DELETE FROM people
## inside of a query
WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone
WITH new AS (INSERT INTO people VALUES (9, 'Eve') RETURNING *) SELECT * FROM new
WITH new AS (UPDATE people SET name = 'Eve' RETURNING *) SELECT * FROM new
WITH a AS (SELECT 1), b AS (DELETE FROM people RETURNING id) SELECT * FROM a, b
WITH a AS (WITH b AS (DELETE FROM people RETURNING id) SELECT * FROM b) SELECT * FROM a
SELECT * FROM (DELETE FROM people RETURNING id) AS gone
SELECT (DELETE FROM people RETURNING id)
SELECT * FROM people WHERE id IN (DELETE FROM people RETURNING id)
WITH a AS (SELECT 1) DELETE FROM people
WITH a AS (SELECT 1) INSERT INTO people SELECT 9, 'Eve'
WITH a AS (SELECT 1) UPDATE people SET name = 'Eve'
SELECT 1 UNION DELETE FROM people
SELECT * INTO stolen FROM people
SELECT id, name INTO stolen FROM people WHERE id = 1
SELECT 1 UNION SELECT id INTO stolen FROM people
## locks
SELECT * FROM people FOR UPDATE
SELECT * FROM people FOR SHARE
SELECT * FROM people WHERE id = 1 FOR UPDATE NOWAIT
SELECT * FROM people FOR UPDATE SKIP LOCKED
SELECT * FROM (SELECT * FROM people FOR UPDATE) AS p
WITH a AS (SELECT * FROM people FOR UPDATE) SELECT * FROM a
## functions that do more than compute
SELECT pg_sleep(10)
SELECT sleep(10)
SELECT SLEEP ( 10 )
SELECT * FROM people WHERE sleep(10) = 0
SELECT * FROM people ORDER BY sleep(10)
SELECT id FROM people GROUP BY id HAVING sleep(10) = 0
SELECT CASE WHEN 1 = 1 THEN sleep(10) ELSE 0 END
SELECT (SELECT sleep(10))
SELECT count(*) FROM people AS p JOIN people AS q ON sleep(10) = 0
SELECT benchmark(1000000000, 1)
SELECT load_file('/etc/passwd')
SELECT upper(load_file('/etc/passwd'))
SELECT readfile('/etc/passwd')
SELECT writefile('/tmp/stolen', 'x')
SELECT load_extension('/tmp/stolen.so')
SELECT lo_import('/etc/passwd')
SELECT dblink('host=127.0.0.1', 'SELECT 1')
SELECT sys_exec('id')
SELECT sys_eval('id')
SELECT http_get('http://127.0.0.1/')
WITH a AS (SELECT load_file('/etc/passwd') AS b) SELECT * FROM a
SELECT "load_extension"('x')
SELECT 1 UNION SELECT readfile('/etc/passwd')
## what is not in the catalog
SELECT * FROM secret
SELECT * FROM people JOIN secret ON people.id = secret.id
SELECT * FROM people WHERE id IN (SELECT id FROM secret)
WITH secret AS (SELECT * FROM secret) SELECT * FROM secret
WITH a AS (SELECT * FROM b), b AS (SELECT 1 AS id) SELECT * FROM secret
SELECT (SELECT password FROM secret LIMIT 1)
SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret) AS a, secret
SELECT * FROM people UNION ALL SELECT * FROM secret
SELECT * FROM people, LATERAL (SELECT * FROM secret) AS s
SELECT EXISTS (SELECT * FROM secret)
SELECT * FROM nothing
TABLE secret
## what two parsers read differently
SELECT /*! load_file('/etc/passwd') */ 1
SELECT 1 /*!50000 UNION SELECT password FROM secret */
/*! DELETE FROM people */
SELECT 1 /*M! , sleep(10) */
SELECT 1 /* */ /*!99999 ; DELETE FROM people */
## what is no statement
SELEC * FROM people
SELECT * FORM people
SELECT 'not closed FROM people
SELECT /* not closed FROM people
SELECT * FROM people WHERE (id = 1
;
## the end
