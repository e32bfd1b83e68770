## What MySQL and MariaDB may not run, beside common.sql.
SELECT * FROM people INTO OUTFILE '/tmp/prospector-stolen'
SELECT * INTO OUTFILE '/tmp/prospector-stolen' FROM people
SELECT name FROM people LIMIT 1 INTO DUMPFILE '/tmp/prospector-stolen'
SELECT name INTO DUMPFILE '/tmp/prospector-stolen' FROM people LIMIT 1
SELECT 1 INTO @a
SELECT id INTO @a FROM people LIMIT 1
SELECT @a := 1
SELECT @a := sleep(10)
SELECT @@global.secure_file_priv
SELECT @@version
SELECT @@datadir
SET GLOBAL max_connections = 1
SET SESSION transaction_read_only = 0
SET @@global.general_log = 1
SET @a = 1
SET PASSWORD = 'x'
SET NAMES latin1
LOAD DATA INFILE '/etc/passwd' INTO TABLE people
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE people
LOAD XML INFILE '/etc/passwd' INTO TABLE people
LOAD INDEX INTO CACHE people
HANDLER people OPEN
HANDLER people READ FIRST
DO sleep(10)
DO release_all_locks()
OPTIMIZE TABLE people
REPAIR TABLE people
CHECK TABLE people
CHECKSUM TABLE people
INSTALL PLUGIN stolen SONAME 'stolen.so'
UNINSTALL PLUGIN stolen
CREATE FUNCTION sys_exec RETURNS INTEGER SONAME 'stolen.so'
CREATE EVENT stolen ON SCHEDULE EVERY 1 DAY DO DELETE FROM people
CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')
PURGE BINARY LOGS TO 'x'
RESET MASTER
RESET QUERY CACHE
CHANGE MASTER TO MASTER_HOST = '127.0.0.1'
START SLAVE
STOP SLAVE
SHUTDOWN
KILL QUERY 1
KILL CONNECTION 1
XA START 'x'
BINLOG 'x'
CACHE INDEX people IN hot
SHOW GRANTS
SHOW PROCESSLIST
SHOW VARIABLES
SIGNAL SQLSTATE '45000'
GET DIAGNOSTICS @a = NUMBER
INSERT IGNORE INTO people VALUES (9, 'Eve')
INSERT DELAYED INTO people VALUES (9, 'Eve')
INSERT INTO people VALUES (1, 'Eve') ON DUPLICATE KEY UPDATE name = 'Eve'
INSERT INTO people SET id = 9
DELETE LOW_PRIORITY QUICK IGNORE FROM people
DELETE people FROM people JOIN people AS q ON people.id = q.id
UPDATE IGNORE people SET name = 'Eve' ORDER BY id LIMIT 1
BEGIN NOT ATOMIC DELETE FROM people; END
EXECUTE IMMEDIATE 'DELETE FROM people'
PREPARE s FROM 'DELETE FROM people'
SELECT get_lock('a', 10)
SELECT release_lock('a')
SELECT release_all_locks()
SELECT is_free_lock('a')
SELECT is_used_lock('a')
SELECT master_pos_wait('x', 1, 10)
SELECT master_gtid_wait('x', 10)
SELECT wait_for_executed_gtid_set('x', 10)
SELECT `sleep`(10)
SELECT SlEeP(10)
SELECT sleep/**/(10)
SELECT sleep\n(10)
SELECT IF(1, sleep(10), 0)
SELECT IFNULL(NULL, benchmark(1000000000, md5('a')))
SELECT * FROM people WHERE name = 'x' OR sleep(10)
SELECT * FROM people LIMIT 1 PROCEDURE ANALYSE()
SELECT extractvalue(1, concat(0x7e, (SELECT password FROM secret)))
SELECT updatexml(1, concat(0x7e, 'x'), 1)
SELECT nextval(stolen)
SELECT NEXT VALUE FOR stolen
SELECT last_insert_id(5)
SELECT name_const('a', 1)
SELECT mysql.stolen()
SELECT sys.ps_kill(1)
SELECT LOAD_FILE(0x2f6574632f706173737764)
SELECT CONVERT(load_file('/etc/passwd') USING utf8)
SELECT * FROM people WHERE name LIKE load_file('/etc/passwd')
SELECT group_concat(load_file('/etc/passwd'))
SELECT * FROM people LOCK IN SHARE MODE
SELECT * FROM people WHERE id = 1 LOCK IN SHARE MODE
SELECT * FROM mysql.user
SELECT User, authentication_string FROM mysql.user
SELECT * FROM information_schema.processlist
SELECT * FROM performance_schema.threads
SELECT * FROM sys.session
SELECT * FROM `secret`
SELECT * FROM `prospector_corpus`.`secret`
source: SELECT * FROM People
source: WITH `SECRET` AS (SELECT 1) SELECT * FROM secret
SELECT 'a\'; DELETE FROM people; -- '; DELETE FROM people
SELECT "a\"; DELETE FROM people; -- "; DELETE FROM people
SELECT '\\'; DELETE FROM people; -- '
SELECT 1 # comment\n; DELETE FROM people
SELECT 1 --; \n; DELETE FROM people
SELECT 1 /*+ SET_VAR(sql_mode = 'x') */; DELETE FROM people
SELECT 1 /*!, (SELECT password FROM secret) */
SELECT/*!50000 sleep*/(10)
SELECT 1 FROM people /*!UNION*/ /*!SELECT*/ password FROM secret
DELIMITER //
SELECT 1 \G DELETE FROM people
SELECT SQL_CALC_FOUND_ROWS * FROM secret
SELECT 1 INTO OUTFILE '/tmp/prospector-stolen' UNION SELECT 2
(SELECT 1 INTO OUTFILE '/tmp/prospector-stolen')
VALUES ROW(sleep(10))
SELECT * FROM JSON_TABLE(load_file('/etc/passwd'), '$[*]' COLUMNS (a INT PATH '$')) AS j
