## What MySQL and MariaDB and another parser may read differently. How a line is read: tests/it/differences/corpus.rs.
## Two hyphens begin a comment only before a blank or a control character; for others before anything.
SELECT 5--1
SELECT 5--(SELECT count(*) FROM secret)
SELECT 5 --⟦ ¦\t¦\n¦\r¦\f¦\v¦\u{1}¦\u{1f}¦\u{7f}¦\u{a0}¦\u{85}¦\u{2028}¦\u{200b}¦\u{feff}¦'¦"¦(¦*¦-⟧(SELECT count(*) FROM secret)
SELECT 'a' ⟦||¦=¦<>¦+¦*¦<¦>¦&&¦|¦^¦<=>¦%⟧-- '\n(SELECT password FROM secret LIMIT 1) -- '
SELECT 'a' ⟦||¦=¦<>¦+¦*¦<¦>¦&&¦|¦^¦<=>¦%⟧--'\n(SELECT password FROM secret LIMIT 1) --'
SELECT 'a' ⟦||¦=¦<>¦+¦*¦<¦>¦&&¦|¦^¦<=>¦%⟧/* '*/ (SELECT password FROM secret LIMIT 1) -- '
SELECT 'a' ⟦||¦=¦<>¦+¦*¦<¦>¦&&¦|¦^¦<=>¦%⟧# '\n(SELECT password FROM secret LIMIT 1) # '
SELECT 1 -- a⟦\r¦\r\n¦\v¦\f¦\u{85}¦\u{2028}¦\u{2029}¦\n⟧, (SELECT password FROM secret LIMIT 1)
SELECT 1 # a⟦\r¦\r\n¦\v¦\f¦\u{85}¦\u{2028}¦\u{2029}¦\n⟧, (SELECT password FROM secret LIMIT 1)
SELECT 1 --⟦\r¦\r\n¦\u{85}⟧, (SELECT password FROM secret LIMIT 1)
SELECT 1#\n, (SELECT password FROM secret LIMIT 1)
SELECT 1 #' \n, (SELECT password FROM secret LIMIT 1) #'
SELECT id#>name\nFROM people
SELECT id #- 1\n, (SELECT password FROM secret LIMIT 1) FROM people
## Comments that are run, and how deep a comment is.
SELECT 1 /*⟦!¦!0¦!5¦!50000¦!999999¦!099999¦!100000¦!999999999¦M!¦m!¦M!100000¦M!999999¦ !¦+¦*¦-¦'¦"¦`⟧ , (SELECT password FROM secret LIMIT 1) */
SELECT 1 /*⟦!¦!50000¦!999999¦M!¦+¦ ⟧ , 2 */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*! /* */ , (SELECT password FROM secret LIMIT 1) */
SELECT 1 /* /*! */ , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /* /* */ , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /*/**/*/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*/*/ , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /**//**/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* -- */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* # */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* ' */ , (SELECT password FROM secret LIMIT 1) /* ' */
SELECT 1 -- /*\n , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 # /*\n , (SELECT password FROM secret LIMIT 1) # */
SELECT '/*', (SELECT password FROM secret LIMIT 1), '*/'
SELECT "/*", (SELECT password FROM secret LIMIT 1), "*/"
SELECT `/*`, (SELECT password FROM secret LIMIT 1), `*/`
SELECT '/*!', id FROM people
SELECT /*!999999 ' */ (SELECT password FROM secret LIMIT 1) /*' */
SELECT /*!50000 (SELECT password FROM secret LIMIT 1) */
SELECT 1 /*!UNION*//*!SELECT*/ password FROM secret
SELECT/**/id/**/FROM/**/people
SELECT/*!*/id FROM people
SELECT 1 */ , (SELECT password FROM secret LIMIT 1) /*
SELECT 1 /* unfinished , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*! unfinished , (SELECT password FROM secret LIMIT 1)
SELECT /*+ SET_VAR(sql_mode='ANSI_QUOTES') */ "id" FROM people
SELECT /*+ MAX_EXECUTION_TIME(1) */ id FROM people
SELECT 1⟦;¦\0;¦;\0¦;#¦;-- \n¦;/**/¦\g¦\G¦$$¦//⟧ SELECT password FROM secret
## What is white space.
SELECT name⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}¦\u{1c}¦\u{1}⟧FROM people
WITH secret⟦ ¦\t¦\v¦\f¦\u{a0}¦\u{85}¦\u{1680}¦\u{180e}¦\u{2000}¦\u{200b}¦\u{2028}¦\u{202f}¦\u{3000}¦\u{feff}¦\u{1c}¦\u{1}⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}⟧secret AS (SELECT 1 AS password) SELECT * FROM secret
SELECT * FROM people⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}⟧, secret
SELECT sleep⟦ ¦\n¦\t¦/**/¦-- \n¦#\n¦\u{a0}⟧(0.1)
## Texts: whether a backslash is one, which quotes make a text, and whether two are one.
SELECT ⟦'¦N'¦n'¦_utf8'¦_latin1'¦_binary'¦_utf8mb4 '¦X'¦x'¦B'¦b'¦E'¦U&'⟧⟦a\' , (SELECT password FROM secret LIMIT 1) -- '¦\\' , (SELECT password FROM secret LIMIT 1) -- '¦\\\' , (SELECT password FROM secret LIMIT 1) -- '¦''' , (SELECT password FROM secret LIMIT 1) -- '¦' 'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦'\n'b\\' , (SELECT password FROM secret LIMIT 1) -- '⟧
SELECT "⟦a\" , (SELECT password FROM secret LIMIT 1) -- "¦\\" , (SELECT password FROM secret LIMIT 1) -- "¦\\\" , (SELECT password FROM secret LIMIT 1) -- "¦"" , (SELECT password FROM secret LIMIT 1) -- "¦a'" , (SELECT password FROM secret LIMIT 1) -- '"⟧
SELECT 'a\' INTO OUTFILE "@DIR@/stolen" -- '
SELECT "a\" INTO OUTFILE '@DIR@/stolen' -- "
SELECT 'a\\' INTO OUTFILE '@DIR@/stolen' -- '
SELECT '\'', "\"", '\\', '\%', '\_', '\Z', '\a', '\u{5c}n', '\u{5c}0', '\u{5c}t', '\u{5c}r', '\b'
SELECT 'a' 'b', 'a'\n'b', 'a' "b", "a" 'b', 'a'/**/'b', 'a'-- \n'b', N'a' 'b', _utf8'a' 'b'
SELECT 'a' 'b\' , (SELECT password FROM secret LIMIT 1) -- '
SELECT 'it''s', "a""b", 'a"b', "a'b", '', "", ''''
SELECT "it's -- a", 'a "quoted" -- b', '#', "/* */"
SELECT "name" FROM people
SELECT 'name' FROM people
SELECT `name`, "name", 'name' FROM people
SELECT "id" + 1, 'id' + 1 FROM people
SELECT people."name", "people".name FROM people
SELECT * FROM ⟦"secret"¦'secret'¦`secret`¦[secret]¦"people"¦'people'¦[people]¦`people`¦`people`.`people`¦{secret}¦@secret¦:secret¦N'secret'¦_utf8'secret'¦`secret``¦```secret`⟧
SELECT [password] FROM [secret]
SELECT [id] FROM people
SELECT "password" FROM secret
SELECT 1 AS "a", 2 AS 'b', 3 AS `c`, 4 "d", 5 'e'
SELECT 1 AS 'a\' , (SELECT password FROM secret LIMIT 1) -- '
SELECT 1 AS `a\` , (SELECT password FROM secret LIMIT 1) -- `
SELECT 1 AS `a``b`, 2 AS `a"b`, 3 AS `a'b`
SELECT _latin1'é', _utf8mb4'é', _binary'a', _utf8 0x61, _latin1 X'e9', N'é', _ucs2'ab', _utf16 0x0061
SELECT _nosuch'a', (SELECT password FROM secret LIMIT 1)
SELECT _secret, (SELECT 1)
SELECT _latin1'a' COLLATE latin1_bin = 'A', 'a' COLLATE utf8mb4_bin = 'A', BINARY 'a' = 'A', 'a' = 'A'
SELECT x'6162', X'61', 0x6162, 0X61, b'1', B'101', 0b11, x'', b''
SELECT 0x61 + 0, x'61' + 0, 0x6162 = 'ab', b'1' + 0, CONCAT(0x61, 'b'), HEX(0xff), LENGTH(0x00)
SELECT x'6' , (SELECT password FROM secret LIMIT 1) -- '
SELECT $$a$$, (SELECT password FROM secret LIMIT 1)
SELECT $a$' , (SELECT password FROM secret LIMIT 1) -- $a$'
SELECT 1 AS $a$, '$a$' , (SELECT password FROM secret LIMIT 1) AS $b
SELECT q'[a' , (SELECT password FROM secret LIMIT 1) -- ]'
SELECT 'a⟦\u{2019}¦\u{bc}¦\u{ff07}¦\u{bf5c}⟧' , (SELECT password FROM secret LIMIT 1) -- '
SELECT DATE'2024-01-01', DATE '2024-01-01', DATE "2024-01-01", TIME'10:00:00', TIMESTAMP'2024-01-01 00:00:00', TIMESTAMP '2024-01-01'
SELECT {d '2024-01-01'}, {t '10:00:00'}, {ts '2024-01-01 00:00:00'}
## Numbers, and names that begin with digits.
SELECT ⟦1_000¦0x1F¦0X1F¦0x1G¦0xG¦0x¦0b12¦0b¦0b2¦1e5¦1E+5¦1e¦1ee¦1e5e¦1.¦.5¦1.e2¦1..2¦1.2.3¦1a¦1$¦1é¦00012¦1e400¦99999999999999999999¦-0¦1.10¦1e0¦.1e-1¦1.0e¦5a.b¦0o17¦1::char⟧ FROM people
SELECT 1⟦FROM¦.FROM¦e1FROM¦ FROM¦.5FROM¦\u{a0}FROM⟧ secret
SELECT id AS 1a, id AS `1`, id AS 2b FROM people
SELECT people.1a FROM (SELECT 1 AS 1a) people
SELECT 1.secret, 1 .secret
SELECT id FROM people LIMIT ⟦1.5¦1e0¦0x1¦'1'¦NULL¦ALL¦(1)¦-1¦1,1¦1 OFFSET 1¦@a¦?¦18446744073709551615¦1+1⟧
SELECT -9223372036854775808, 9223372036854775808, 18446744073709551615, 18446744073709551616, 0.1 + 0.2, 1/3, 10/4, 7 DIV 2, -7 DIV 2, -7 % 3
## Variables and parameters.
SELECT ⟦@a¦@A¦@`a`¦@'a'¦@"a"¦@a.b¦@$¦@@version¦@@global.datadir¦@@session.sql_mode¦@@`version`¦@@ version¦@ a¦@@local.sql_mode¦@a := 1¦@a:=(SELECT password FROM secret)¦a := 1¦(@a := 1) + 1¦?¦:a¦:1¦$1¦%s¦id@a¦@¦@@¦@@default.key_buffer_size¦@@secret⟧ FROM people
SELECT id FROM people WHERE @a IS NULL OR @a := id
SELECT id FROM people ORDER BY @a := id
SELECT $1::y(') , (SELECT password FROM secret LIMIT 1) -- ')
SELECT ⟦id INTO @a¦id INTO @a, @b¦id INTO a¦* INTO @a¦1 INTO @`a`⟧ FROM people LIMIT 1
## Operators: words that others take for signs, and how tight they bind. Re-rendering must not change an answer.
SELECT ⟦1 || 0¦0 || 0¦1 && 0¦'a' || 'b'¦1 OR 0 AND 0¦(1 OR 0) AND 0¦1 || 0 && 0¦1 XOR 1 OR 1¦1 XOR 1 AND 0¦NOT 1 = 2¦NOT (1 = 2)¦! 1 = 2¦!(1 = 2)¦NOT 1 + 1¦! 1 + 1¦NOT NOT 1¦!!1¦- - 1¦- -1¦-(-1)¦1 - -1¦1--1¦~1 + 1¦~(1 + 1)¦-2 ^ 2¦2 ^ 3 * 2¦2 ^ (3 * 2)¦-2 ^ 2 * 3¦1 | 2 & 3¦(1 | 2) & 3¦1 << 1 + 1¦1 << (1 + 1)¦(1 << 1) + 1¦5 DIV 2 * 2¦5 DIV (2 * 2)¦5 MOD 3 * 2¦MOD(5, 3)¦5 % 3¦2 - 1 - 1¦2 - (1 - 1)¦8 / 4 / 2¦8 / (4 / 2)¦1 = 2 = 0¦1 = (2 = 0)¦3 > 2 > 1¦3 > (2 > 1)¦1 <=> NULL¦NULL <=> NULL¦1 <> 2¦1 != 2¦1 = 1 IS TRUE¦(1 = 2) IS NOT TRUE¦1 IS NULL = 0¦NULL IS UNKNOWN¦1 IN (1) = 1¦1 NOT IN (2, 3)¦1 BETWEEN 0 AND 2 AND 1¦1 BETWEEN 0 AND 1 + 1¦NOT 1 BETWEEN 2 AND 3¦1 NOT BETWEEN 2 AND 3 = 1¦'a' LIKE 'A'¦'a' LIKE 'a' = 1¦'a' LIKE 'a' LIKE '1'¦'a' NOT LIKE 'b' OR 0¦'a' SOUNDS LIKE 'b'¦'a' REGEXP 'b' = 0¦'a' RLIKE '^a'¦BINARY 'a' = 'A'¦BINARY('a') = 'A'¦'a' = BINARY 'A'¦1 := 1¦1 == 1¦1 ** 2¦5 ! 1¦5 -> 1⟧
SELECT ⟦'2024-01-31' + INTERVAL 1 MONTH¦DATE '2024-01-31' + INTERVAL 1 MONTH¦INTERVAL 1 DAY + '2024-01-01'¦DATE '2024-01-01' - INTERVAL 1 + 1 DAY¦DATE '2024-01-01' - INTERVAL -1 DAY¦'2024-01-01' + INTERVAL '1:30' HOUR_MINUTE¦'2024-01-01' + INTERVAL 1 DAY = '2024-01-02'¦DATE_ADD('2024-01-01', INTERVAL 1 WEEK)¦DATE_SUB('2024-01-01', INTERVAL '1 1' DAY_HOUR)¦ADDDATE('2024-01-01', 1)¦INTERVAL(2, 1, 2, 3)¦EXTRACT(YEAR_MONTH FROM '2024-05-06')¦TIMESTAMPDIFF(MONTH, '2024-01-01', '2024-03-01')¦TIMESTAMPADD(DAY, 1, '2024-01-01')¦DATE_FORMAT('2024-05-06', '%Y-%m')¦STR_TO_DATE('06.05.2024', '%d.%m.%Y')¦DATEDIFF('2024-01-02', '2024-01-01')¦LAST_DAY('2024-02-01')¦QUARTER('2024-05-06')¦WEEK('2024-05-06', 1)¦YEARWEEK('2024-05-06')¦DAYNAME('2024-05-06')¦UNIX_TIMESTAMP('2024-05-06') > 0¦FROM_UNIXTIME(0) IS NOT NULL¦CONVERT_TZ('2024-01-01', '+00:00', '+01:00')¦MAKEDATE(2024, 32)¦SEC_TO_TIME(3661)¦TIME_TO_SEC('01:01:01')⟧
SELECT ⟦CASE WHEN 1 THEN 'a' ELSE 'b' END¦CASE 1 WHEN 1 THEN 'a' END¦IF(1 > 2, 'a', 'b')¦IFNULL(NULL, 1)¦NULLIF(1, 1)¦COALESCE(NULL, 2)¦GREATEST(1, 2) - LEAST(1, 2)¦CAST('12' AS SIGNED) + 1¦CAST(1.5 AS DECIMAL(3, 1))¦CAST('a' AS CHAR(1))¦CAST('a' AS CHAR CHARACTER SET latin1)¦CAST('2024-01-01' AS DATE)¦CAST(-1 AS UNSIGNED)¦CAST('1' AS DOUBLE)¦CAST('{}' AS JSON)¦CAST('a' AS BINARY)¦CONVERT('12', SIGNED)¦CONVERT('a' USING latin1)¦CONVERT('a', CHAR(1))¦CHAR(97, 98 USING utf8mb4)¦CHAR(97)¦SUBSTRING('abc' FROM 2 FOR 1)¦SUBSTRING('abc', 2)¦SUBSTR('abc' FROM 2)¦MID('abc', 2, 1)¦TRIM(BOTH 'a' FROM 'aba')¦TRIM(LEADING FROM ' a')¦TRIM(' a ')¦TRIM('x' FROM 'xax')¦POSITION('b' IN 'abc')¦LOCATE('b', 'abc')¦INSERT('abc', 2, 1, 'x')¦REPLACE('abc', 'b', 'x')¦REPEAT('a', 2)¦LEFT('abc', 1)¦RIGHT('abc', 1)¦CONCAT_WS('-', 'a', NULL, 'b')¦FORMAT(1234.5, 1)¦ELT(2, 'a', 'b')¦FIELD('b', 'a', 'b')¦FIND_IN_SET('b', 'a,b')¦WEIGHT_STRING('a') IS NOT NULL¦HEX('a')¦UNHEX('61')¦MD5('a')¦SHA2('a', 256)¦CRC32('a')¦ROUND(1.25, 1)¦TRUNCATE(1.29, 1)¦CEILING(1.1)¦POW(2, 3)¦JSON_EXTRACT('{"a": 1}', '$.a')¦JSON_UNQUOTE(JSON_EXTRACT('{"a": "b"}', '$.a'))¦JSON_VALUE('{"a": 1}', '$.a')¦JSON_OBJECT('a', 1)¦JSON_ARRAY(1, 2)¦'{"a":1}' -> '$.a'¦REGEXP_REPLACE('abc', 'b', 'x')¦1 MEMBER OF ('[1]')⟧
SELECT name LIKE 'A!%' ESCAPE '!', name LIKE 'a\%', name LIKE '%\\%', name LIKE BINARY 'a%', name NOT REGEXP 'a' FROM people
SELECT MATCH (body) AGAINST ('hello'), MATCH (body) AGAINST ('+hello -x' IN BOOLEAN MODE), MATCH body AGAINST ('hello' WITH QUERY EXPANSION) FROM notes
SELECT id FROM notes WHERE MATCH (body) AGAINST (⟦(SELECT password FROM secret LIMIT 1)¦@a¦peek()¦'hello'¦'hello' IN NATURAL LANGUAGE MODE⟧)
## Names: case, letters, quotes, and what stands between their parts.
WITH ⟦\u{212a}eys¦KEYS¦Keys¦`KEYS`¦kEyS¦ke\u{200b}ys¦\u{feff}keys¦`keys `¦k\u{435}ys¦keys\u{301}¦`k``eys`⟧ AS (SELECT 1 AS token) SELECT * FROM `keys`
WITH ⟦\u{17f}ecret¦SECRET¦Secret¦`SECRET`¦\u{ff53}ecret¦s\u{435}cret¦sec\u{ad}ret¦secre\u{301}t¦s\u{e9}cret¦`secret\u{a0}`¦sEcret⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦GEHÄLTER¦`GEHÄLTER`¦Gehälter¦gehÄlter¦geha\u{308}lter¦gehalter⟧ AS (SELECT 1 AS betrag) SELECT * FROM ⟦gehälter¦`gehälter`⟧
SELECT * FROM ⟦\u{212a}eys¦KEYS¦SECRET¦Secret¦\u{17f}ecret¦GEHÄLTER¦gehälter¦`gehälter`¦gehalter¦secret\u{200b}¦`secret `¦`secret\u{a0}`¦peep¦PEEP¦People¦PEOPLE⟧
SELECT ⟦Name¦NAME¦`NAME`¦nam\u{e9}¦people.NAME¦`people`.`name`¦People.name¦shop.people.name¦prospector_differences.people.name¦`prospector_differences`.`people`.`name`¦.people.name¦people . name¦people./**/name¦nAmE¦`na``me`⟧ FROM people
SELECT * FROM ⟦people¦.people¦ .people¦shop.people¦SHOP.people¦`shop`.`people`¦shop . people¦shop/**/./**/people¦prospector_differences.people¦`prospector_differences.people`¦PROSPECTOR_DIFFERENCES.people¦def.prospector_differences.people¦people.¦`people`p¦people`p`¦shop.`people`AS p⟧
SELECT * FROM ⟦shop.secret¦.secret¦`shop`.secret¦shop . secret¦shop/**/./**/secret¦prospector_differences.secret¦prospector_differences . secret¦`prospector_differences`.`secret`¦PROSPECTOR_DIFFERENCES.secret¦`prospector_differences.secret`¦people.secret¦mysql.user¦mysql . user¦`mysql`.`user`¦MYSQL.user¦performance_schema.threads¦sys.version¦counter¦prospector_differences.counter¦mysql.global_priv¦information_schema.processlist¦information_schema.user_privileges⟧
SELECT ⟦secret.password¦secret.*¦`secret`.*¦secret . *¦shop.secret.password¦prospector_differences.secret.password¦.secret.password¦people.*, secret.*¦password¦`password`⟧ FROM people
SELECT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab FROM people
WITH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab AS (SELECT 1 AS x) SELECT * FROM aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
SELECT ⟦user¦current_user¦session_user¦user()¦current_user()¦system_user()¦database()¦schema()¦version()¦connection_id()¦current_role¦current_role()¦utc_date¦utc_date()¦localtime¦curdate()¦now()¦sysdate()¦last_insert_id()¦row_count()¦found_rows()¦uuid() IS NULL¦uuid_short() IS NULL¦rownum()¦rownum⟧
SELECT id AS ⟦value¦name¦user¦`order`¦year¦`key`¦'x'¦"x"¦`a b`¦`a.b`¦ä¦日本¦😀¦$x¦x$¦_⟧ FROM people
SELECT p.id ⟦value¦name¦type¦year¦day¦text¦date¦at¦over¦end¦begin¦offset⟧ FROM people p
SELECT N, x, b, _utf8 FROM (SELECT 1 AS N, 2 AS x, 3 AS b, 4 AS _utf8) t
## Every place of a query where an expression stands, with what reads or does what it may not.
SELECT ⟦(SELECT count(password) FROM secret)¦length(peek())¦sleep(0.1)¦length(load_file('/etc/passwd'))¦get_lock('stolen', 0)¦{fn sleep(0.1)}¦{x (SELECT count(*) FROM secret)}¦benchmark(1, 1)¦nextval(counter)⟧
SELECT id FROM people WHERE ⟦(SELECT count(password) FROM secret)¦length(peek())¦sleep(0.1)¦length(load_file('/etc/passwd'))¦get_lock('stolen', 0)⟧ > 0
SELECT id FROM people ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())¦sleep(0.1)⟧
SELECT id FROM people GROUP BY ⟦(SELECT count(password) FROM secret)¦length(peek())¦sleep(0.1)⟧
SELECT id FROM people GROUP BY id WITH ROLLUP HAVING ⟦(SELECT count(password) FROM secret)¦length(peek())¦sleep(0.1)⟧ > 0
SELECT id FROM people LIMIT ⟦(SELECT count(password) FROM secret)¦length(peek())⟧
SELECT count(DISTINCT id, ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT sum(id) OVER (PARTITION BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ ORDER BY id) FROM people
SELECT sum(id) OVER (ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT sum(id) OVER w FROM people WINDOW w AS (ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT group_concat(name ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ SEPARATOR ',') FROM people
SELECT group_concat(DISTINCT name ORDER BY id DESC SEPARATOR ⟦';'¦"\\"¦peek()⟧ LIMIT 1) FROM people
SELECT p.id FROM people p JOIN people q ON ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ > 0
SELECT p.id FROM people p STRAIGHT_JOIN people q ON ⟦(SELECT count(password) FROM secret)¦length(peek())¦1⟧ > 0
SELECT * FROM (SELECT ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) t
VALUES (1), (⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT CASE ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ WHEN 1 THEN 2 END
SELECT 1 IN (⟦(SELECT count(password) FROM secret)¦length(peek())⟧), 1 BETWEEN ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ AND 2
SELECT ⟦INTERVAL(length(peek()), 1)¦'2024-01-01' + INTERVAL length(peek()) DAY¦INTERVAL length(peek()) DAY + '2024-01-01'¦CONVERT(peek() USING latin1)¦CONVERT(peek(), CHAR)¦CAST(peek() AS CHAR)¦BINARY peek()¦peek() COLLATE utf8mb4_bin¦SUBSTRING(peek() FROM 1)¦TRIM(BOTH 'x' FROM peek())¦POSITION('a' IN peek())¦EXTRACT(YEAR FROM peek())¦CHAR(length(peek()) USING utf8mb4)¦peek() LIKE 'a' ESCAPE peek()¦peek() REGEXP 'a'¦'a' SOUNDS LIKE peek()¦MATCH (body) AGAINST (peek())¦TIMESTAMPDIFF(DAY, peek(), peek())¦JSON_EXTRACT(peek(), '$')¦DATE_FORMAT(peek(), '%Y')¦{fn concat(peek(), 'a')}¦{d peek()}¦ROW(1, peek()) = ROW(1, 2)¦(1, peek()) = (1, 2)¦DEFAULT(id)¦VALUES(id)¦VALUE(id)¦name_const('a', peek())¦weight_string(peek() AS CHAR(2))⟧ FROM notes
## Functions that do more than compute, however their names are written.
SELECT ⟦sleep(0.1)¦SLEEP(0.1)¦`sleep`(0.1)¦sleep (0.1)¦sleep/**/(0.1)¦{fn sleep(0.1)}¦{ fn sleep(0.1) }¦{a sleep(0.1)}¦{sleep sleep(0.1)}¦{`x` (sleep(0.1))}¦(sleep(0.1))¦-sleep(0.1)¦!sleep(0.1)¦mysql.sleep(0.1)¦.sleep(0.1)¦prospector_differences.sleep(0.1)¦sleep((0.1))¦"sleep"(0.1)¦'sleep'(0.1)¦[sleep](0.1)¦slee\u{ff50}(0.1)¦\u{17f}leep(0.1)¦sleep(0.1) OVER ()¦sleep(DISTINCT 0.1)⟧
SELECT ⟦peek()¦PEEK()¦`peek`()¦peek ()¦shop.peek()¦prospector_differences.peek()¦`prospector_differences`.`peek`()¦.peek()¦{fn peek()}¦nap(0)¦nap(1)¦prospector_differences.nap(0)⟧
SELECT ⟦load_file('/etc/passwd')¦load_file(0x2f6574632f706173737764)¦load_file(CONCAT('/etc/', 'passwd'))¦benchmark(10, md5('a'))¦get_lock('stolen', 1)¦release_lock('a')¦release_all_locks()¦is_free_lock('a')¦is_used_lock('a')¦master_pos_wait('a', 1, 1)¦master_gtid_wait('a', 1)¦last_insert_id(5)¦name_const('a', 1)¦extractvalue(1, concat(0x7e, 'a'))¦extractvalue('<a/>', '/a')¦updatexml('<a/>', '/a', 'b')¦NEXT VALUE FOR counter¦NEXTVAL(counter)¦counter.nextval¦counter.NEXTVAL¦counter.currval¦PREVIOUS VALUE FOR counter¦LASTVAL(counter)¦SETVAL(counter, 5)¦sys.version_major()¦sys_exec('id')¦ps_thread_id(1)¦wsrep_last_seen_gtid()¦encrypt('a')¦des_encrypt('a')¦random_bytes(4) IS NULL¦sformat('{}', 1)¦column_get(column_create('a', 1), 'a' AS INT)¦column_json(column_create('a', 1))¦decode('a', 'b')¦decode(1, 1, 2)¦password('a')¦old_password('a')¦session_user()¦coercibility('a')¦collation('a')¦charset('a')¦ST_AsText(ST_GeomFromText('POINT(1 1)'))¦kdf('a', 'b', 'c')¦default(id)¦sys_guid()¦trim_oracle('a')¦binlog_gtid_pos('a', 1)⟧ FROM people
## What is written, locked, or read by something that is no table.
SELECT ⟦1 INTO OUTFILE '@DIR@/stolen'¦1 INTO DUMPFILE '@DIR@/stolen'¦id INTO OUTFILE '@DIR@/stolen' FROM people¦id FROM people INTO OUTFILE '@DIR@/stolen'¦id FROM people LIMIT 1 INTO OUTFILE '@DIR@/stolen'¦id FROM people LIMIT 1 INTO DUMPFILE '@DIR@/stolen'¦id FROM people ORDER BY id INTO OUTFILE '@DIR@/stolen'¦id FROM people FOR UPDATE INTO OUTFILE '@DIR@/stolen'¦id FROM people INTO OUTFILE '@DIR@/stolen' FOR UPDATE¦id FROM people INTO OUTFILE '@DIR@/stolen' CHARACTER SET utf8¦id FROM people INTO OUTFILE '@DIR@/stolen' FIELDS TERMINATED BY ','¦id FROM people INTO OUTFILE "@DIR@/stolen"¦1 INTO/**/OUTFILE '@DIR@/stolen'¦1 INTO OUTFILE'@DIR@/stolen'¦1 UNION SELECT 2 INTO OUTFILE '@DIR@/stolen'¦1 INTO OUTFILE '@DIR@/stolen' UNION SELECT 2¦* FROM (SELECT 1 INTO OUTFILE '@DIR@/stolen') t¦(SELECT 1 INTO OUTFILE '@DIR@/stolen')¦1 /*!INTO OUTFILE '@DIR@/stolen'*/¦1 INTO stolen¦* INTO stolen FROM people¦id FROM people PROCEDURE ANALYSE()¦id FROM people PROCEDURE ANALYSE(1, (SELECT 1 FROM secret))¦id FROM people LIMIT 1 PROCEDURE analyse(1)⟧
(SELECT 1) INTO OUTFILE '@DIR@/stolen'
(SELECT 1 UNION SELECT 2) INTO @a
WITH a AS (SELECT 1) SELECT * FROM a INTO OUTFILE '@DIR@/stolen'
VALUES (1) INTO OUTFILE '@DIR@/stolen'
SELECT id FROM people ⟦FOR UPDATE¦LOCK IN SHARE MODE¦FOR SHARE¦FOR UPDATE NOWAIT¦FOR UPDATE SKIP LOCKED¦FOR UPDATE WAIT 1¦LOCK IN SHARE MODE NOWAIT¦LIMIT 1 FOR UPDATE¦FOR UPDATE LIMIT 1¦WHERE id IN (SELECT id FROM people FOR UPDATE)⟧
⟦DO sleep(0.1)¦DO (SELECT 1 FROM secret)¦HANDLER secret OPEN¦HANDLER secret READ FIRST¦PREPARE a FROM 'SELECT 1'¦EXECUTE a¦EXECUTE IMMEDIATE 'SELECT password FROM secret'¦DEALLOCATE PREPARE a¦EXPLAIN SELECT * FROM secret¦EXPLAIN EXTENDED SELECT 1¦EXPLAIN FORMAT=JSON SELECT 1¦ANALYZE SELECT 1¦ANALYZE FORMAT=JSON DELETE FROM people¦ANALYZE TABLE secret¦DESCRIBE secret¦DESC secret¦SHOW CREATE TABLE secret¦SHOW COLUMNS FROM secret¦SHOW VARIABLES¦SHOW WARNINGS¦SHOW GRANTS¦SET @a = 1¦SET sql_mode = ''¦SET NAMES gbk¦SET STATEMENT max_statement_time=0 FOR SELECT sleep(0.1)¦USE mysql¦CALL peek()¦LOCK TABLES people WRITE¦UNLOCK TABLES¦FLUSH TABLES¦KILL 1¦TABLE secret¦TABLE people¦(TABLE secret)¦VALUES ROW(1)¦VALUES ROW(1), ROW(2)¦LOAD DATA INFILE '/etc/passwd' INTO TABLE people¦CHECK TABLE secret¦CHECKSUM TABLE secret¦HELP 'a'¦BEGIN NOT ATOMIC SELECT 1; END¦XA BEGIN 'a'¦SIGNAL SQLSTATE '45000'¦GET DIAGNOSTICS @a = NUMBER¦SAVEPOINT a¦CREATE TEMPORARY TABLE stolen SELECT 1¦DELETE FROM people RETURNING *¦INSERT INTO people VALUES (9, 'x') RETURNING id¦REPLACE people VALUES (9, 'x') RETURNING id¦UPDATE people SET name = 'x'¦WITH a AS (SELECT 1) DELETE FROM people¦SELECT 1; SELECT 2¦BACKUP STAGE START¦INSTALL SONAME 'x'¦SHUTDOWN¦RESET MASTER¦PURGE BINARY LOGS TO 'a'⟧
## Names of WITH.
WITH secret AS (SELECT * FROM secret) SELECT * FROM secret
WITH RECURSIVE secret AS (SELECT 1 AS password) SELECT * FROM secret
WITH RECURSIVE secret(id, password) AS (SELECT 1, 'a' UNION ALL SELECT id + 1, password FROM secret WHERE id < 3) SELECT * FROM secret
WITH a AS (SELECT * FROM secret), secret AS (SELECT 1) SELECT * FROM a
WITH RECURSIVE a AS (SELECT * FROM secret), secret AS (SELECT 1 AS b) SELECT * FROM a
WITH secret AS (SELECT 1 AS a) SELECT * FROM ⟦shop.secret¦prospector_differences.secret¦.secret¦`secret`¦Secret⟧
SELECT * FROM (WITH secret AS (SELECT 1 AS a) SELECT * FROM secret) s CROSS JOIN secret
SELECT (WITH secret AS (SELECT 1 AS a) SELECT a FROM secret), (SELECT password FROM secret LIMIT 1)
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a, secret
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a
WITH secret AS (SELECT 1 AS id, 2 AS x) SELECT * FROM people UNION SELECT * FROM secret
(WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) UNION SELECT id FROM secret
WITH secret AS (SELECT 1), secret AS (SELECT 2) SELECT * FROM secret
WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a, A
WITH people AS (SELECT 7 AS id) SELECT id FROM people
WITH people AS (SELECT id + 1 AS id FROM people) SELECT id FROM people
WITH People AS (SELECT 7 AS id) SELECT id FROM people
WITH people AS (SELECT 7 AS id) SELECT id FROM People
WITH a(x, y) AS (SELECT id, name FROM people) SELECT x FROM a
WITH a AS (VALUES (1), (2)) SELECT * FROM a
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t
WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n % 3 + 1 FROM t) CYCLE n RESTRICT SELECT n FROM t
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a
WITH dual AS (SELECT 1 AS x) SELECT * FROM dual
WITH t AS (SELECT 1 AS x) SELECT * FROM (SELECT * FROM t) t, t AS u
## Forms that only these engines have.
SELECT ⟦SQL_CALC_FOUND_ROWS id¦SQL_NO_CACHE id¦SQL_CACHE id¦HIGH_PRIORITY id¦STRAIGHT_JOIN id¦SQL_SMALL_RESULT id¦SQL_BIG_RESULT id¦SQL_BUFFER_RESULT id¦DISTINCTROW id¦ALL id¦DISTINCT SQL_CALC_FOUND_ROWS id¦SQL_CALC_FOUND_ROWS DISTINCT id¦SQL_CALC_FOUND_ROWS * FROM secret, people;¦TOP 1 id¦id id¦* EXCEPT (id)⟧ FROM people
SELECT 1 FROM DUAL
SELECT 1 FROM dual WHERE 1
SELECT 1 FROM DUAL, secret
SELECT 1 FROM `dual`
SELECT 1 WHERE 1
SELECT * FROM people ⟦PARTITION (p0)¦USE INDEX (PRIMARY)¦USE INDEX ()¦FORCE INDEX (PRIMARY)¦IGNORE INDEX FOR ORDER BY (PRIMARY)¦USE KEY (a)¦AS p USE INDEX (PRIMARY)¦FOR SYSTEM_TIME ALL¦FOR SYSTEM_TIME AS OF NOW()¦FOR SYSTEM_TIME AS OF (SELECT 1 FROM secret)¦FOR SYSTEM_TIME BETWEEN 1 AND 2¦FOR PORTION OF a FROM 1 TO 2¦TABLESAMPLE (10)¦NATURAL JOIN secret¦STRAIGHT_JOIN secret¦CROSS JOIN secret USING (id)¦NATURAL LEFT JOIN notes¦LEFT OUTER JOIN notes USING (id)¦JOIN notes¦INNER JOIN notes¦JOIN (notes, people q) ON q.id = people.id¦, (secret)¦, (notes)¦, LATERAL (SELECT 1) l¦LIMIT 1, 1¦LIMIT 1 OFFSET 1¦LIMIT ROWS EXAMINED 10¦LIMIT 1 ROWS EXAMINED 100¦OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY¦FETCH FIRST 1 ROWS WITH TIES¦ORDER BY NULL¦GROUP BY id ASC¦GROUP BY name WITH ROLLUP¦HAVING id > 1¦WHERE name = 'Ada' HAVING id¦QUALIFY 1¦WINDOW w AS ()¦SAMPLE (1)⟧
SELECT * FROM { oj people LEFT OUTER JOIN notes ON people.id = notes.person }
SELECT * FROM {oj people LEFT OUTER JOIN secret ON true}
SELECT * FROM JSON_TABLE(⟦(SELECT password FROM secret)¦peek()¦'[{"a": 1}, {"a": 2}]'¦load_file('/etc/passwd')⟧, '$[*]' COLUMNS (a INT PATH '$.a', n FOR ORDINALITY, NESTED PATH '$.b' COLUMNS (c INT PATH '$'))) AS j
SELECT j.* FROM notes, JSON_TABLE(notes.more, '$' COLUMNS (a VARCHAR(40) PATH '$.a.b' DEFAULT 'x' ON EMPTY NULL ON ERROR)) AS j
SELECT * FROM ⟦secret()¦people('a')¦seq_1_to_10¦`seq_1_to_3`¦seq_1_to_3 s¦prospector_differences.seq_1_to_3¦seq_1_to_10_step_2¦peek()¦TABLE(peek())¦unnest('[1]')¦LATERAL peek()⟧
SELECT id FROM people UNION SELECT 9 ORDER BY id DESC LIMIT 2
(SELECT id FROM people ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM people ORDER BY id DESC LIMIT 1)
(SELECT id FROM people ORDER BY id LIMIT 1) UNION ALL (SELECT 9) ORDER BY id DESC LIMIT 1
SELECT id FROM people EXCEPT (SELECT 1 UNION SELECT 2)
SELECT id FROM people EXCEPT SELECT 1 EXCEPT SELECT 2
SELECT id FROM people EXCEPT (SELECT 1 EXCEPT SELECT 1)
SELECT 1 UNION ALL SELECT 1 UNION SELECT 1
SELECT 1 UNION SELECT 1 UNION ALL SELECT 1
SELECT 1 UNION ALL (SELECT 1 UNION SELECT 1)
SELECT 1 INTERSECT SELECT 1 UNION SELECT 2
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2
SELECT 1 UNION SELECT 2 MINUS SELECT 1
SELECT 1 EXCEPT ALL SELECT 2
((SELECT 1)) UNION ((SELECT 2))
(((SELECT id FROM people))) LIMIT 1
(SELECT id FROM people LIMIT 2) LIMIT 1
(SELECT id FROM people ORDER BY id) ORDER BY id DESC
VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1
SELECT 1 UNION VALUES (2)
SELECT * FROM (VALUES (1, 2), (3, 4)) v
SELECT id FROM people UNION SELECT count(*) FROM secret ORDER BY 1
SELECT ⟦name || 'x'¦'x' || name¦name || ''¦concat(name, 'x')¦name + 0¦id || name¦(SELECT password FROM secret) || 'a'⟧ FROM people
SELECT id (+) FROM people
SELECT p.id FROM people p, notes n WHERE p.id = n.person(+)
SELECT id, ROWNUM FROM people
SELECT name AS id, id AS name FROM people ORDER BY id, name
SELECT people.name FROM people p
SELECT * FROM people secret
SELECT secret.name FROM people AS secret ORDER BY id
SELECT secret.password FROM people secret
SELECT id, (SELECT body FROM notes n WHERE n.person = people.id) FROM people ORDER BY id
SELECT name FROM people WHERE id IN (SELECT id FROM notes WHERE name = 'Ada')
SELECT name FROM people WHERE (id, name) IN (SELECT id, name FROM people) AND ROW(id, 1) = (1, 1)
SELECT name FROM people WHERE id = ANY (SELECT 1) OR id >= ALL (SELECT id FROM people) OR id = SOME (SELECT 2) ORDER BY id
SELECT count(*), count(DISTINCT name), sum(DISTINCT id), avg(id), min(name), group_concat(name ORDER BY id DESC SEPARATOR '-'), bit_or(id), json_arrayagg(id), std(id), var_pop(id) FROM people
SELECT id, row_number() OVER (ORDER BY id DESC), lag(id, 1) OVER (ORDER BY id), first_value(name) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), percent_rank() OVER w, ntile(2) OVER w FROM people WINDOW w AS (ORDER BY id) ORDER BY id
SELECT id % 2, count(*) FROM people GROUP BY id % 2 WITH ROLLUP
SELECT id div 2, id mod 2, id xor 1, not id, !id, -id, ~id & 3, id <=> null FROM people
SELECT name, written > '2024-05-31', year(written), date(written) + interval 1 day, body like '%it''s -- a /* note */%' FROM people JOIN notes ON notes.person = people.id ORDER BY 1
SELECT IF(name = "Ada", 'it''s', "say \"x\""), CASE name WHEN 'Bob' THEN "b" ELSE 'c\\d' END FROM people ORDER BY id
SELECT '10' + 1, 'a' + 1, '1a' = 1, 'a' = 0, NULL + 1, TRUE + TRUE, 1 = TRUE, '' = 0, 'a ' = 'a', 'a' < 'B', 0.1 + 0.2 = 0.3, 1e0 / 3
## Words that one tokenizer takes for a name and another one does not.
SELECT 1 ⟦INTO@a¦INTO@`a`¦INTO@'a'¦FROM@a¦AS@a⟧
SELECT⟦ 1.id¦ 1.`id`¦\n1.FROM¦ 1e.id¦ 1.0id¦ 0x1.id¦ .5id¦ a.1¦ people.1¦ `people`.1¦ people.1id⟧ FROM people
SELECT SQL_CACHE ⟦id¦DISTINCT id¦*¦(SELECT password FROM secret LIMIT 1)⟧ FROM people
SELECT shop.people.id, people.shop.id, shop.shop.people.id FROM people
SELECT ⟦'¦"¦N'¦_utf8mb4'⟧\⟦a¦f¦v¦b¦e¦Z¦z¦0¦x41¦N¦%¦_¦/⟧⟦'¦"⟧
