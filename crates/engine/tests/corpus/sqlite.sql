## What SQLite may not run, beside common.sql.
ATTACH 'stolen.db' AS stolen
ATTACH DATABASE 'stolen.db' AS stolen
ATTACH ':memory:' AS stolen
DETACH main
VACUUM INTO 'stolen.db'
VACUUM main INTO 'stolen.db'
PRAGMA writable_schema = 1
PRAGMA journal_mode = DELETE
PRAGMA query_only = 0
PRAGMA user_version = 5
PRAGMA schema_version
PRAGMA table_info(secret)
PRAGMA database_list
PRAGMA wal_checkpoint
PRAGMA temp_store_directory = '/tmp'
PRAGMA trusted_schema = 1
PRAGMA cache_size = -1000000
PRAGMA integrity_check
PRAGMA incremental_vacuum
PRAGMA optimize
REINDEX
REINDEX people
ANALYZE
BEGIN IMMEDIATE
BEGIN EXCLUSIVE
END
CREATE VIRTUAL TABLE stolen USING fts5(a)
CREATE VIRTUAL TABLE stolen USING csv(filename = '/etc/passwd')
CREATE VIRTUAL TABLE temp.stolen USING dbstat
CREATE TABLE IF NOT EXISTS stolen (a) STRICT
CREATE TABLE stolen (a) WITHOUT ROWID
CREATE TEMP TRIGGER stolen AFTER UPDATE ON people BEGIN SELECT 1; END
CREATE TEMP VIEW stolen AS SELECT 1
DROP TRIGGER stolen
INSERT OR IGNORE INTO people VALUES (9, 'Eve')
INSERT OR ROLLBACK INTO people VALUES (9, 'Eve')
INSERT INTO people VALUES (1, 'Eve') ON CONFLICT DO UPDATE SET name = 'Eve'
INSERT INTO people VALUES (9, 'Eve') RETURNING *
UPDATE OR REPLACE people SET id = 1
UPDATE people SET name = 'Eve' RETURNING *
DELETE FROM people RETURNING *
DELETE FROM sqlite_master
UPDATE sqlite_master SET sql = 'x'
INSERT INTO sqlite_master VALUES ('table', 'a', 'a', 0, 'x')
SELECT * FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT * FROM main.sqlite_master
SELECT * FROM sqlite_temp_master
SELECT * FROM sqlite_sequence
SELECT * FROM sqlite_stat1
SELECT * FROM sqlite_dbpage
SELECT * FROM dbstat
SELECT * FROM pragma_table_info('secret')
SELECT * FROM pragma_database_list
SELECT * FROM pragma_database_list()
SELECT * FROM pragma_table_list
SELECT * FROM pragma_journal_mode('DELETE')
SELECT * FROM people, pragma_table_info(people.name)
SELECT * FROM fsdir('/')
SELECT * FROM zipfile('/tmp/a.zip')
SELECT * FROM bytecode('SELECT 1')
SELECT * FROM tables_used('SELECT 1')
SELECT * FROM sqlite_stmt
SELECT * FROM main.secret
SELECT * FROM "secret"
SELECT * FROM [secret]
SELECT * FROM `secret`
SELECT * FROM SECRET
SELECT * FROM 'secret'
SELECT * FROM temp.people
SELECT load_extension('a', 'b')
SELECT LOAD_EXTENSION('a')
SELECT [load_extension]('a')
SELECT `load_extension`('a')
SELECT 'load_extension'('a')
SELECT fts3_tokenizer('a')
SELECT fts3_tokenizer('a', x'00')
SELECT edit('a')
SELECT edit('a', 'vi')
SELECT writefile('stolen', name) FROM people
SELECT name FROM people WHERE writefile('stolen', name)
SELECT zeroblob(1000000000)
SELECT hex(zeroblob(1000000000))
SELECT randomblob(1000000000)
SELECT replace(hex(zeroblob(100000000)), '00', 'xxxxxxxx')
SELECT sqlite_compileoption_get(0)
SELECT sqlite_source_id()
SELECT sqlite_log(1, 'x')
SELECT last_insert_rowid()
SELECT changes()
SELECT total_changes()
SELECT eval('DELETE FROM people')
SELECT eval('SELECT password FROM secret')
SELECT shell('id')
SELECT getenv('HOME')
SELECT define('a', '1')
SELECT main.load_extension('a')
SELECT 1 FROM people WHERE name MATCH readfile('/etc/passwd')
SELECT count(readfile('/etc/passwd')) FILTER (WHERE 1) OVER ()
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE readfile('x') IS NULL) SELECT * FROM r
SELECT iif(1, readfile('/etc/passwd'), 0)
SELECT quote(readfile('/etc/passwd'))
SELECT json_group_array(readfile('/etc/passwd'))
SELECT * FROM json_each(readfile('/etc/passwd'))
SELECT * FROM people JOIN json_each(readfile('x')) ON 1
VALUES (readfile('/etc/passwd'))
EXPLAIN QUERY PLAN DELETE FROM people
.read /etc/passwd
.shell id
SELECT 'a\'; DELETE FROM people; --'
SELECT 1 /* unfinished ; */ */ ; DELETE FROM people
SELECT 1 --\r\n; DELETE FROM people
