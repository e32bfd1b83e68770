## What may not be run over files and over several sources, beside common.sql.
COPY people TO '/tmp/prospector-stolen'
COPY (SELECT * FROM people) TO '/tmp/prospector-stolen.parquet' STORED AS PARQUET
COPY people TO 's3://stolen/x'
CREATE EXTERNAL TABLE stolen STORED AS CSV LOCATION '/etc/passwd'
CREATE EXTERNAL TABLE stolen (a TEXT) STORED AS CSV LOCATION '/etc/passwd'
CREATE UNBOUNDED EXTERNAL TABLE stolen STORED AS CSV LOCATION '/etc'
CREATE TABLE stolen AS VALUES (1)
SET datafusion.execution.batch_size = 1
SET datafusion.catalog.location = '/etc'
RESET datafusion.execution.batch_size
SHOW datafusion.execution.batch_size
SHOW FUNCTIONS
SELECT * FROM '/etc/passwd'
SELECT * FROM '/etc/passwd.csv'
SELECT * FROM "/etc/passwd"
SELECT * FROM 's3://stolen/x.parquet'
SELECT * FROM 'http://127.0.0.1/x.csv'
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_parquet('/etc/x.parquet')
SELECT * FROM read_json('/etc/x.json')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM parquet_metadata('/etc/x.parquet')
SELECT * FROM datafusion.public.people
SELECT * FROM datafusion.information_schema.tables
SELECT * FROM information_schema.df_settings
SELECT * FROM source_0_0
SELECT * FROM files.secret
SELECT * FROM "files"."secret"
SELECT * FROM Secret
SELECT * FROM metadata_cache()
SELECT * FROM list_files_cache()
INSTALL httpfs
LOAD httpfs
ATTACH 'stolen.db' AS stolen
PRAGMA database_list
EXPORT DATABASE '/tmp/prospector-stolen'
IMPORT DATABASE '/tmp/prospector-stolen'
INSERT INTO people SELECT * FROM people
INSERT OVERWRITE people SELECT * FROM people
SELECT readfile('/etc/passwd') FROM people
SELECT file_read_stolen.f('x')
SELECT * FROM people PIVOT (count(id) FOR name IN ('a'))
SELECT * FROM people |> DROP name
FROM people |> SELECT *
