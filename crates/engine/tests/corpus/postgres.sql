## What PostgreSQL may not run, beside common.sql.
COPY people TO '/tmp/prospector-stolen'
COPY people FROM '/etc/passwd'
COPY people TO PROGRAM 'touch /tmp/prospector-stolen'
COPY (SELECT * FROM people) TO '/tmp/prospector-stolen'
COPY people FROM PROGRAM 'id'
DO $$ BEGIN DELETE FROM people; END $$
DO $x$ BEGIN PERFORM pg_sleep(10); END $x$
LISTEN stolen
NOTIFY stolen, 'x'
REINDEX TABLE people
CLUSTER people
REFRESH MATERIALIZED VIEW people
SECURITY LABEL ON TABLE people IS 'x'
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public
CREATE EXTENSION dblink
CREATE EXTENSION IF NOT EXISTS file_fdw
CREATE SERVER s FOREIGN DATA WRAPPER file_fdw
ALTER SYSTEM SET archive_command = 'id'
LOAD 'stolen'
CHECKPOINT
DISCARD ALL
RESET ALL
DECLARE c CURSOR FOR SELECT 1
DECLARE c CURSOR WITH HOLD FOR SELECT pg_sleep(10)
FETCH ALL FROM answer
CLOSE answer
MOVE ALL FROM answer
REASSIGN OWNED BY prospector TO postgres
SELECT t.n FROM unnest(array[pg_typeof(1), '1259', '16384']) AS t(n)
SELECT ts_headline('hidden.x', 'a', to_tsquery('a'))
SELECT to_tsvector(('hidden.x'), 'a')
SELECT to_tsquery(U&'hidden\002Ex', 'a')
SELECT pg_sleep_for('10 seconds')
SELECT pg_sleep_until(now() + interval '10 seconds')
SELECT pg_catalog.pg_sleep(10)
SELECT "pg_sleep"(10)
SELECT PG_SLEEP(10)
SELECT * FROM pg_sleep(10)
SELECT * FROM people, LATERAL pg_sleep(10)
SELECT * FROM people CROSS JOIN LATERAL pg_read_file('/etc/passwd') AS f
SELECT * FROM ROWS FROM (pg_sleep(10))
SELECT U&"pg\005fsleep"(10)
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT pg_ls_dir('/')
SELECT * FROM pg_ls_logdir()
SELECT pg_stat_file('/etc/passwd')
SELECT pg_file_write('/tmp/prospector-stolen', 'x', false)
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
SELECT pg_cancel_backend(1)
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_switch_wal()
SELECT pg_promote()
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_notify('a', 'b')
SELECT pg_create_restore_point('x')
SELECT pg_logical_emit_message(true, 'a', 'b')
SELECT pg_export_snapshot()
SELECT set_config('transaction_read_only', 'off', false)
SELECT pg_catalog.set_config('role', 'postgres', false)
SELECT current_setting('data_directory')
SELECT setval('people_id_seq', 1)
SELECT nextval('people_id_seq')
SELECT lo_create(0)
SELECT lo_export(1, '/tmp/prospector-stolen')
SELECT lo_from_bytea(0, 'x')
SELECT lo_put(1, 0, 'x')
SELECT lo_unlink(1)
SELECT loread(1, 10)
SELECT lowrite(1, 'x')
SELECT dblink_exec('host=127.0.0.1', 'DELETE FROM people')
SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t (a int)
SELECT query_to_xml('DELETE FROM people', true, true, '')
SELECT query_to_xml('SELECT * FROM secret', true, true, '')
SELECT table_to_xml('secret', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT cursor_to_xml('answer', 1, true, true, '')
SELECT ts_stat('SELECT to_tsvector(password) FROM secret')
SELECT * FROM ts_stat('SELECT pg_sleep(10)::text::tsvector')
SELECT * FROM crosstab('SELECT 1, 2, 3') AS t (a int, b int)
SELECT txid_current()
SELECT inet_server_addr()
SELECT cron.schedule('* * * * *', 'DELETE FROM people')
SELECT aws_s3.query_export_to_s3('SELECT 1', 'x')
SELECT public.stolen()
SELECT stolen(VARIADIC ARRAY[pg_sleep(10)])
SELECT array_agg(pg_sleep(10)) FILTER (WHERE true)
SELECT sum(1) OVER (ORDER BY pg_sleep(10))
SELECT * FROM people WHERE EXISTS (SELECT pg_sleep(10))
SELECT * FROM people LIMIT (SELECT length(pg_read_file('/etc/passwd')))
SELECT COALESCE(NULL, pg_sleep(10)::text)
SELECT (pg_stat_file('/etc/passwd')).size
SELECT ARRAY(SELECT pg_ls_dir('/'))
VALUES (pg_sleep(10))
SELECT * FROM (VALUES (pg_read_file('/etc/passwd'))) AS v
SELECT 1 WHERE pg_sleep(10) IS NULL
SELECT * FROM pg_shadow
SELECT * FROM pg_catalog.pg_authid
SELECT * FROM pg_stat_activity
SELECT rolpassword FROM pg_authid
SELECT * FROM pg_settings
SELECT * FROM pg_largeobject
SELECT * FROM public.secret
SELECT * FROM "secret"
source: SELECT * FROM "PEOPLE"
source: WITH "SECRET" AS (SELECT 1) SELECT * FROM secret
SELECT * FROM ONLY secret
SELECT * FROM secret TABLESAMPLE SYSTEM (100)
SELECT * FROM people FOR NO KEY UPDATE
SELECT * FROM people FOR KEY SHARE
SELECT 1 INTO TEMP stolen
SELECT * INTO UNLOGGED stolen FROM people
SELECT E'\'; DELETE FROM people; --'; DELETE FROM people
SELECT $$ ; $$; DELETE FROM people
SELECT $a$ $b$ $a$; DELETE FROM people
SELECT 1 /* /* */ ; DELETE FROM people */ ; DELETE FROM people
SELECT 'a\'; DELETE FROM people; --'
WITH t AS MATERIALIZED (INSERT INTO people VALUES (9, 'Eve') RETURNING *) TABLE t
