## What SQLite and another parser may read differently. How a line is read: tests/it/differences/corpus.rs.
## Comments: not nested, and one that is not closed ends with the text.
SELECT 1 -- a⟦\r¦\r\n¦\v¦\f¦\u{85}¦\u{2028}¦\u{2029}¦\n¦\u{1c}¦\0⟧, (SELECT password FROM secret LIMIT 1)
SELECT 1 --⟦\r¦\u{85}¦'¦"¦(¦-¦\t⟧, (SELECT password FROM secret LIMIT 1)
SELECT 5--1\n, (SELECT password FROM secret LIMIT 1)
SELECT 5 - -1, 5 - - 1, 5- -1, - -5
SELECT 'a' ⟦||¦=¦==¦<>¦!=¦+¦-¦*¦/¦%¦<¦>¦<=¦>=¦<<¦>>¦&¦|¦->¦->>¦~⟧-- '\n(SELECT password FROM secret LIMIT 1) -- '
SELECT 'a' ⟦||¦=¦==¦<>¦!=¦+¦-¦*¦/¦%¦<¦>¦<=¦>=¦<<¦>>¦&¦|¦->¦->>¦~⟧/* '*/ (SELECT password FROM secret LIMIT 1) -- '
SELECT 1 /* /* */ , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /* /* */ , 2 */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*/**/ , (SELECT password FROM secret LIMIT 1) --*/
SELECT 1 /*/*/ , (SELECT password FROM secret LIMIT 1) --*/
SELECT 1 /**//**/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*/ , (SELECT password FROM secret LIMIT 1) /*/
SELECT 1 /* -- */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* ' */ , (SELECT password FROM secret LIMIT 1) /* ' */
SELECT 1 -- /*\n , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /* not closed , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*
SELECT 1 /* a */ /* not closed
SELECT 1 /* a *
SELECT 1 /*!, (SELECT password FROM secret LIMIT 1) */
SELECT 1 /*⟦!¦!50000¦+¦M!⟧ , 2 */ , (SELECT password FROM secret LIMIT 1)
SELECT '/*', (SELECT password FROM secret LIMIT 1), '*/'
SELECT "/*", (SELECT password FROM secret LIMIT 1), "*/"
SELECT [/*], (SELECT password FROM secret LIMIT 1), [*/]
SELECT `/*`, (SELECT password FROM secret LIMIT 1), `*/`
SELECT 1 # 2\n, (SELECT password FROM secret LIMIT 1)
SELECT 1 */ , (SELECT password FROM secret LIMIT 1) /*
SELECT/**/id/**/FROM/**/people
SELECT 1⟦;¦\0;¦;\0¦;--\n¦;/**/¦\0¦;;¦; \u{a0}⟧ SELECT password FROM secret
SELECT 1;
SELECT 1; -- done
SELECT 1; /* not closed
;SELECT 1
;;;
## What is white space: the mark of byte order is, what Unicode calls so is a part of a name.
WITH secret⟦ ¦\t¦\n¦\v¦\f¦\r¦\u{a0}¦\u{85}¦\u{1680}¦\u{180e}¦\u{2000}¦\u{2007}¦\u{200b}¦\u{2028}¦\u{202f}¦\u{2060}¦\u{3000}¦\u{feff}¦\u{1c}⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦\v¦\f¦\u{a0}¦\u{85}¦\u{180e}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}¦\u{1c}⟧secret AS (SELECT 1 AS password) SELECT * FROM secret
WITH secret AS (SELECT 1 AS password) SELECT * FROM ⟦\u{feff}¦\u{a0}¦\u{200b}⟧secret
SELECT name⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}¦\u{1c}⟧FROM people
SELECT * FROM people⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}⟧, secret
⟦\u{feff}¦\u{a0}¦\u{200b}¦\f¦\v⟧SELECT 1
SELECT 1⟦\u{feff}¦\u{a0}¦\u{200b}¦\v⟧
SEL\u{feff}ECT 1
## Texts and names: four kinds of quotes, each of which may be the other where that makes sense.
SELECT ⟦'¦N'¦E'¦U&'¦_utf8'¦R'¦B'¦X'¦x'⟧⟦a\' , (SELECT password FROM secret LIMIT 1) -- '¦\\' , (SELECT password FROM secret LIMIT 1) -- '¦\\\' , (SELECT password FROM secret LIMIT 1) -- '¦''' , (SELECT password FROM secret LIMIT 1) -- '¦' 'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦'\n'b\'' , (SELECT password FROM secret LIMIT 1) -- '⟧
SELECT ⟦"¦`⟧⟦a\⟧⟦1⟧ , (SELECT password FROM secret LIMIT 1) --⟦1⟧
SELECT "a\" , (SELECT password FROM secret LIMIT 1) --"
SELECT [a\] , (SELECT password FROM secret LIMIT 1) --]
SELECT 1 AS [a]], (SELECT password FROM secret LIMIT 1) AS [b]
SELECT 1 AS [a]]b], (SELECT password FROM secret LIMIT 1)
SELECT 1 AS [a"b], 2 AS "a[b", 3 AS [a'b], 4 AS [a b], 5 AS [a`b]
SELECT 1 AS "a""b", 2 AS `a``b`, 3 AS 'a''b', 4 AS "a]b"
SELECT [a[b], (SELECT password FROM secret LIMIT 1), [a]b]
SELECT 'a' 'b', 'c' "d", 1 [e], 2 `f`, 3 g
SELECT 'it''s', '', '''', 'a"b', 'a[b', 'a`b', 'a--b', 'a/*b*/', 'a;b', 'a\b', 'a\u{5c}nb', 'a\nb'
SELECT "name", 'name', `name`, [name] FROM people
SELECT "nosuch", 'x' FROM people
SELECT `nosuch` FROM people
SELECT [nosuch] FROM people
SELECT "password" FROM people
SELECT "secret", "password", "s""x"
SELECT name FROM people WHERE name = "Ada"
SELECT name FROM people WHERE "name" = 'Ada' AND 'name' = "name"
SELECT id FROM people ORDER BY "name", 'name', 1
SELECT count(*) FROM people GROUP BY "nosuch"
SELECT people."name", "people"."name", 'people'.'name', [people].[name], `people`.`name` FROM people
SELECT * FROM ⟦"secret"¦'secret'¦`secret`¦[secret]¦SECRET¦"SECRET"¦main.secret¦main.'secret'¦"main"."secret"¦[main].[secret]¦'main'.'secret'¦MAIN.SECRET¦main . secret¦main/**/./**/secret¦main\n.\nsecret¦temp.secret¦shop.secret¦"main.secret"¦[main.secret]¦secret AS people¦secret people¦(secret)¦((secret))¦(secret, people)¦people, (secret)¦main.'SECRET'¦"secret "¦[secret ]¦'secret'.password⟧
SELECT * FROM ⟦"people"¦'people'¦`people`¦[people]¦PEOPLE¦"PEOPLE"¦main.people¦main.'people'¦"main"."people"¦main . people¦temp.people¦shop.people¦SHOP.people¦shop.main.people¦main.main.people¦"main.people"¦(people)¦((people))¦(people) AS p¦(people, notes)¦(people p)¦people 'p'¦people AS "p"¦people AS 'p'¦people [p]¦.people¦people.¦@people¦:people¦$people¦#people¦{people}⟧
SELECT x'6162', X'', x'ff', typeof(x'61'), hex(x'0a'), x'61' = 'a', cast(x'61' AS text)
SELECT x'6' , (SELECT password FROM secret LIMIT 1) -- '
SELECT x'6g' , (SELECT password FROM secret LIMIT 1) -- '
SELECT x '61', (SELECT 1)
SELECT $$a$$, (SELECT password FROM secret LIMIT 1)
SELECT 'a⟦\u{2019}¦\u{ff07}¦\u{2bc}¦\u{301}⟧, (SELECT password FROM secret LIMIT 1) --'
## Parameters: what a name of one may hold.
SELECT ⟦$¦:¦@¦#¦?⟧⟦1::y(') , (SELECT password FROM secret LIMIT 1) -- ')¦a(') , (SELECT password FROM secret LIMIT 1) -- ')¦a::b(') , (SELECT password FROM secret LIMIT 1) -- ')¦a::b::c(') , (SELECT password FROM secret LIMIT 1) -- ')¦a(") , (SELECT password FROM secret LIMIT 1) -- ")¦a([) , (SELECT password FROM secret LIMIT 1) -- ])¦a(/*) , (SELECT password FROM secret LIMIT 1) -- */)¦a(--) , (SELECT password FROM secret LIMIT 1)⟧
SELECT ⟦?¦?1¦?999¦?0¦??¦? 1¦:a¦: a¦@a¦@@a¦$a¦$1¦$a::b¦$a$b¦$é¦:é¦#a¦:1¦@1¦$_¦$a.b¦$a(b)¦$a(b c)¦:a:b¦::a¦1::int¦'1'::text⟧ FROM people
SELECT id FROM people WHERE id = ⟦?¦?1¦:a¦@a¦$a⟧ OR name = 'Ada'
SELECT id FROM people LIMIT ⟦?¦:a¦$1⟧
## Numbers.
SELECT ⟦1_000¦1__0¦1_¦_1¦0x1F¦0X1f¦0x¦0xG¦0b1¦0o7¦1e5¦1E+5¦1e¦1e+¦1.¦.5¦1.e2¦1..2¦1.2.3¦1a¦1e5a¦00012¦1e400¦99999999999999999999¦0x7fffffffffffffff¦0xffffffffffffffff¦0x10000000000000000¦1.5e-3¦.e1¦1.0¦1.10¦1$¦1é¦-0.0¦9223372036854775807¦-9223372036854775808¦9223372036854775808¦1_0.5_0⟧ FROM people
SELECT 1⟦FROM¦.FROM¦e1FROM¦ FROM¦.5FROM¦\u{a0}FROM¦\u{feff}FROM⟧ secret
SELECT id FROM people LIMIT ⟦1.5¦1e0¦0x1¦'1'¦NULL¦-1¦(1)¦1 + 1¦1, 1¦1 OFFSET 1¦1_0¦ALL⟧
SELECT 1/3, 1.0/3, 10/4, 7%3, -7%3, -7/2, 7.5%2, 1/0, 1e308*10, 0.1+0.2, typeof(1), typeof(1.0), typeof(1e0), typeof(9223372036854775808), typeof('1'), typeof(NULL)
## How tight an operator binds. Re-rendering must not change an answer.
SELECT ⟦NOT 1 = 2¦NOT (1 = 2)¦(NOT 1) = 2¦NOT 1 IN (2)¦NOT 1 IS NULL¦NOT 1 BETWEEN 2 AND 3¦NOT 1 AND 0¦NOT NOT 1¦1 OR 0 AND 0¦(1 OR 0) AND 0¦1 = 1 = 1¦2 = 2 = 2¦2 = (2 = 2)¦1 < 2 = 1¦1 < (2 = 1)¦3 > 2 > 1¦1 IS 1 IS 1¦1 IS NOT NULL = 1¦1 = 1 IS 1¦1 IS (1 = 1)¦1 == 1¦1 <> 2¦1 != 2¦1 IS NOT 2¦1 IS DISTINCT FROM 2¦1 IS NOT DISTINCT FROM 1¦NULL IS NULL¦NULL ISNULL¦1 NOTNULL¦1 NOT NULL¦1 IN (1) = 1¦1 NOT IN (2)¦1 IN ()¦1 NOT IN ()¦1 BETWEEN 0 AND 2 AND 1¦1 BETWEEN 0 AND 2 = 1¦1 NOT BETWEEN 2 AND 3 OR 0¦'a' LIKE 'A' = 1¦'a' LIKE 'b' LIKE 0¦'a' NOT LIKE 'b'¦'a%' LIKE 'a\%' ESCAPE '\'¦'a' GLOB 'a*'¦'a' NOT GLOB 'b'¦1 & 3 | 4¦1 | 2 & 3¦(1 | 2) & 3¦1 | (2 & 3)¦1 << 1 + 1¦1 << 1 | 1¦1 & 3 = 1¦8 >> 1 >> 1¦8 >> (1 >> 1)¦~1 + 1¦~(1 + 1)¦- 1 || 2¦-(1 || 2)¦-1 || 2¦1 || 2 * 3¦1 || (2 * 3)¦(1 || 2) * 3¦1 + 2 || 3¦~1 || 2¦+ 'a'¦+-1¦- -1¦-(-1)¦2 - 1 - 1¦2 - (1 - 1)¦8 / 4 / 2¦8 / (4 / 2)¦7 % 4 * 2¦7 % (4 * 2)¦1 - -1⟧
SELECT ⟦'a' COLLATE nocase = 'A'¦'a' = 'A' COLLATE nocase¦('a' = 'A') COLLATE nocase¦'a' || 'b' COLLATE nocase = 'AB'¦('a' || 'b') COLLATE nocase = 'AB'¦'A' COLLATE nocase IN ('a')¦'a' COLLATE nocase LIKE 'A'¦'a' COLLATE "nocase" = 'A'¦'a' COLLATE nosuch¦'{"a":1}' -> 'a'¦'{"a":{"b":1}}' -> 'a' -> 'b'¦'{"a":{"b":1}}' -> 'a' ->> 'b'¦'{"a":"x"}' ->> 'a' || 'y'¦'y' || '{"a":"x"}' ->> 'a'¦('{"a":1}' -> 'a') + 1¦'[1,2]' -> 1¦'[1,2]' ->> -1¦'{"a":1}' ->> '$.a' = 1¦-'[1]' ->> 0¦CASE WHEN 1 THEN 'a' ELSE 'b' END || 'c'¦CASE 1 WHEN 1 THEN 2 END + 1¦CASE WHEN 0 THEN 1 END IS NULL¦CAST('12abc' AS integer) + 1¦CAST(1 AS text) || '2'¦CAST('1' AS "int")¦CAST(1.5 AS decimal(10, 2))¦CAST('a' AS varchar(1))¦CAST(1 AS anything at all)¦CAST(1 AS blob)¦CAST('x' AS numeric) IS 0¦(1, 2) = (1, 2)¦(1, 2) < (1, 3)¦(1, 'Ada') IN (SELECT id, name FROM people)¦(SELECT 1, 2) = (1, 2)¦EXISTS (SELECT 1) + 1¦NOT EXISTS (SELECT 1)¦(SELECT 1) + (SELECT 2)¦iif(1, 2, 3)¦if(1, 2, 3)¦coalesce(NULL, 1)¦max(1, 2)¦min(1, 2)¦likely(1)¦nullif(1, 1)¦CURRENT_DATE IS NULL¦date('2024-01-31', '+1 month')¦strftime('%Y', '2024-05-06')¦unixepoch('2024-05-06')¦timediff('2024-01-02', '2024-01-01')¦printf('%d', 1)¦format('%s', 'a')¦substr('abc', 2)¦substring('abc', 2, 1)¦instr('abc', 'b')¦trim('xax', 'x')¦round(2.5)¦abs(-1)¦hex('a')¦quote('a''b')¦char(97)¦unicode('a')¦typeof(1)¦length('é')¦octet_length('é')¦sign(-2)¦pow(2, 3)¦ceil(1.2)¦trunc(1.9)¦concat('a', 1)¦concat_ws('-', 'a', 'b')¦json_array(1, 'a')¦json_object('a', 1)¦json_valid('{}')¦json_type('[]')¦json('{"a" : 1}')¦jsonb('{}') IS NULL¦json_extract('{"a":[1]}', '$.a[0]')¦json_set('{}', '$.a', 1)¦glob('a*', 'ab')¦like('a%', 'ab')¦unhex('61')¦soundex('a')⟧
## Names: SQLite folds the letters of ASCII alone.
WITH ⟦\u{212a}eys¦KEYS¦"Keys"¦kEyS¦[KEYS]¦'KEYS'¦ke\u{200b}ys¦\u{feff}keys¦"keys "¦k\u{435}ys¦keys\u{301}¦"k""eys"⟧ AS (SELECT 1 AS token) SELECT * FROM keys
WITH ⟦\u{17f}ecret¦SECRET¦"Secret"¦\u{ff53}ecret¦s\u{435}cret¦sec\u{ad}ret¦secre\u{301}t¦se\u{200d}cret¦"secret\u{a0}"¦[secret]¦'secret'⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦GEHÄLTER¦"GEHÄLTER"¦Gehälter¦gehÄlter¦geha\u{308}lter¦GEHA\u{308}LTER¦[GEHÄLTER]⟧ AS (SELECT 1 AS betrag) SELECT * FROM ⟦gehälter¦"gehälter"¦Gehälter¦GEHÄLTER¦GEHälTER⟧
SELECT * FROM ⟦\u{212a}eys¦KEYS¦\u{17f}ecret¦GEHÄLTER¦gehälter¦[gehälter]¦GEHälTER¦secret\u{200b}¦sec"ret"¦peep¦PEEP¦[peep]¦peep AS p⟧
SELECT ⟦Name¦NAME¦"NAME"¦[NAME]¦people.NAME¦PEOPLE.name¦main.people.name¦shop.people.name¦main."people".[name]¦temp.people.name¦people . name¦people./**/name¦.name¦"people.name"⟧ FROM people
SELECT ⟦rowid¦oid¦_rowid_¦ROWID¦"rowid"¦[oid]¦people.rowid¦people._rowid_¦rowid + 1¦"_ROWID_"¦main.people.rowid¦p.rowid¦secret.rowid⟧ FROM people
SELECT ⟦secret.password¦secret.*¦"secret".*¦main.secret.password¦password¦[password]¦people.*, secret.*¦shop.secret.*⟧ FROM people
SELECT id AS ⟦value¦name¦user¦"order"¦year¦"key"¦'x'¦[a b]¦"a.b"¦ä¦日本¦😀¦$x¦x$¦_¦rowid¦'a''b'⟧ FROM people
SELECT id ⟦value¦name¦'x'¦"x"¦[x]¦over¦filter¦window¦row¦key¦abort¦like¦match¦end¦'select'⟧ FROM people
SELECT ⟦current_date¦"current_date"¦current_time IS NULL¦current_timestamp IS NULL¦true¦"true"¦false + 1¦null¦"null"¦'null'¦TRUE IS 1¦x.true FROM (SELECT 1 AS "true") x¦infinity¦default¦rowid⟧
## A table is read where others see none.
SELECT ⟦'a' IN peep¦'a' IN secret¦'a' IN main.peep¦'a' IN "peep"¦'a' IN [peep]¦'a' IN 'peep'¦'a' NOT IN peep¦'a' IN (peep)¦'a' IN peep()¦1 IN json_each('[1]')¦1 IN generate_series(1, 3)¦'a' IN temp.peep¦'a' IN PEEP¦(SELECT 1) IN peep¦'a' IN (SELECT * FROM peep)¦'a' IN (TABLE peep)¦'a' IN sqlite_master¦1 IN (VALUES (1), (2))¦'a' IN secret_fts¦'hello world' IN notes_fts⟧
SELECT id FROM people WHERE name IN ⟦peep¦secret_fts¦notes_fts¦main.peep¦(peep)¦(SELECT body FROM notes_fts)⟧
SELECT * FROM ⟦notes_fts('hello')¦NOTES_FTS('hello')¦"notes_fts"('hello')¦main.notes_fts('hello')¦notes_fts('hello') AS n¦notes_fts((SELECT password FROM secret))¦secret_fts('s*')¦SECRET_FTS('s*')¦"secret_fts"('s*')¦[secret_fts]('s*')¦'secret_fts'('s*')¦main.secret_fts('s*')¦secret_fts()¦secret_fts ('s*')¦secret_fts/**/('s*')¦secret_fts¦secret_fts WHERE secret_fts MATCH 's*'¦secret_fts AS notes_fts¦people, secret_fts('s*')¦(secret_fts('s*'))¦secret()¦secret(1)¦"secret"(1)¦peep()¦people()¦people(1)¦gehälter(1)¦keys(1)¦secret_fts_data¦secret_fts_content¦secret_fts_content()¦secret_fts_idx¦secret_fts_docsize¦secret_fts_config¦notes_fts_content¦notes_fts_data¦notes_fts_config¦main.notes_fts_content¦json_each('[1]')¦json_each('{"a":1}', '$.a')¦json_tree('[1,[2]]')¦json_each((SELECT password FROM secret))¦json_each(secret)¦JSON_EACH('[1]')¦"json_each"('[1]')¦main.json_each('[1]')¦json_each¦json_each('[1]') AS j¦people, json_each(people.name)¦generate_series(1, 3)¦fts5vocab¦sqlite_stmt¦bytecode('SELECT 1')⟧
SELECT ⟦notes_fts¦rank¦bm25(notes_fts)¦highlight(notes_fts, 0, '[', ']')¦snippet(notes_fts, 0, '[', ']', '...', 5)¦body¦rowid¦"notes_fts"¦fts5(notes_fts)¦fts5_source_id()¦matchinfo(notes_fts)¦offsets(notes_fts)¦optimize(notes_fts)¦fts5_decode('a', 'b')¦fts5_locale('en', 'a')¦fts5_insttoken('a')⟧ FROM notes_fts WHERE notes_fts ⟦MATCH¦=⟧ 'hello'
SELECT body FROM notes_fts WHERE ⟦body MATCH 'hello'¦notes_fts MATCH '"hello world"'¦notes_fts MATCH 'body:hello'¦notes_fts MATCH (SELECT password FROM secret)¦notes_fts MATCH "hello"¦match('hello', notes_fts)¦notes_fts('hello')¦notes_fts MATCH 'hello' ORDER BY rank¦rank MATCH 'bm25(10.0)' AND notes_fts MATCH 'hello'¦rowid IN (SELECT rowid FROM secret_fts)¦secret_fts MATCH 's*'⟧
SELECT * FROM ⟦sqlite_master¦SQLITE_MASTER¦sqlite_schema¦"sqlite_master"¦[sqlite_master]¦'sqlite_master'¦main.sqlite_master¦temp.sqlite_schema¦sqlite_temp_master¦sqlite_temp_schema¦sqlite_sequence¦sqlite_stat1¦sqlite_stat4¦sqlite_autoindex_keys_1¦sqlite_dbpage¦dbstat¦dbstat('main')¦sqlite_dbdata¦pragma_table_info('secret')¦pragma_table_info('secret', 'main')¦pragma_table_list¦pragma_table_list()¦pragma_database_list¦pragma_index_list('secret')¦pragma_function_list¦pragma_compile_options¦PRAGMA_TABLE_INFO('secret')¦"pragma_table_info"('secret')¦main.pragma_table_info('secret')¦pragma_table_xinfo('secret')¦pragma_integrity_check¦pragma_user_version¦pragma_module_list¦pragma_data_version¦people, pragma_table_info(people.name)¦(SELECT sql FROM sqlite_master)¦notes_by_person¦sqlite_schema AS people⟧
SELECT ⟦sql FROM sqlite_master¦(SELECT sql FROM sqlite_schema LIMIT 1)¦group_concat(sql) FROM sqlite_master¦seq FROM sqlite_sequence¦stat FROM sqlite_stat1¦name FROM pragma_table_info('people')⟧
SELECT * FROM people ⟦INDEXED BY notes_by_person¦NOT INDEXED¦INDEXED BY nosuch¦AS p NOT INDEXED¦NATURAL JOIN secret¦, secret¦JOIN secret USING (id)¦CROSS JOIN secret¦LEFT NATURAL JOIN notes¦NATURAL LEFT OUTER JOIN notes¦RIGHT JOIN notes ON 1¦FULL JOIN notes ON people.id = notes.person¦JOIN notes¦JOIN notes, people q¦, notes ON person = people.id¦LEFT JOIN (notes JOIN people q ON q.id = notes.person) ON q.id = people.id¦INNER JOIN notes ON 1 WHERE 0¦OUTER JOIN notes¦NATURAL INNER JOIN notes¦CROSS JOIN notes USING (id)¦LEFT JOIN notes USING (id) WHERE notes.id IS NULL¦LIMIT 1, 1¦LIMIT 1 OFFSET 1¦LIMIT -1¦ORDER BY name COLLATE nocase DESC NULLS LAST¦ORDER BY NULL¦GROUP BY id % 2¦HAVING 1¦GROUP BY 1 HAVING count(*) > 0¦WHERE rowid = 1¦WHERE name LIKE 'a%'¦WINDOW w AS ()¦FOR UPDATE¦TABLESAMPLE (1)¦LIMIT (SELECT count(*) FROM secret)¦AS OF 1¦PARTITION (p0)¦USE INDEX (a)¦FETCH FIRST 1 ROWS ONLY¦QUALIFY 1⟧
SELECT * FROM notes ⟦INDEXED BY notes_by_person WHERE person = 1¦NOT INDEXED WHERE person = 1¦AS n INDEXED BY notes_by_person WHERE n.person = 1⟧
## Every place of a query where an expression stands, with what reads or does what it may not.
SELECT ⟦(SELECT count(password) FROM secret)¦length(readfile('/etc/passwd'))¦load_extension('a')¦length(zeroblob(100))¦EXISTS (SELECT 1 FROM secret)¦('a' IN peep)⟧
SELECT id FROM people WHERE ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧ > 0
SELECT id FROM people ORDER BY ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧
SELECT id FROM people GROUP BY ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧
SELECT id FROM people GROUP BY id HAVING ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧ > 0
SELECT id FROM people LIMIT ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧
SELECT id FROM people LIMIT 1 OFFSET ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧
SELECT count(*) FILTER (WHERE ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧ > 0) FROM people
SELECT sum(id) OVER (PARTITION BY ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧) FROM people
SELECT sum(id) OVER (ORDER BY ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧) FROM people
SELECT sum(id) OVER (ROWS ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧ PRECEDING) FROM people
SELECT sum(id) OVER w FROM people WINDOW w AS (ORDER BY ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧)
SELECT group_concat(name, ⟦(SELECT password FROM secret)¦load_extension('a')⟧) FROM people
SELECT group_concat(name, ',' ORDER BY ⟦(SELECT password FROM secret)¦load_extension('a')¦id DESC⟧) FROM people
SELECT p.id FROM people p JOIN people q ON ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧ > 0
SELECT * FROM (SELECT ⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧)
VALUES (1), (⟦(SELECT count(password) FROM secret)¦load_extension('a')¦('a' IN peep)⟧)
SELECT CASE ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧ WHEN 1 THEN ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧ END
SELECT 1 IN (⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧), 1 BETWEEN ⟦(SELECT count(password) FROM secret)¦load_extension('a')⟧ AND 2
SELECT name ⟦LIKE (SELECT password FROM secret)¦LIKE 'a' ESCAPE (SELECT password FROM secret)¦GLOB (SELECT password FROM secret)¦COLLATE nocase = (SELECT password FROM secret)¦-> (SELECT password FROM secret)¦|| (SELECT password FROM secret)¦IS (SELECT password FROM secret)¦MATCH (SELECT password FROM secret)¦REGEXP (SELECT password FROM secret)¦NOT NULL AND (SELECT count(*) FROM secret)⟧ FROM people
SELECT (⟦1, (SELECT password FROM secret)¦(SELECT count(*) FROM secret), 2⟧) = (1, 2), CAST((SELECT password FROM secret) AS text), -(SELECT count(*) FROM secret)
SELECT * FROM json_each(⟦(SELECT password FROM secret)¦load_extension('a')¦'[1]', (SELECT password FROM secret)⟧)
## Functions that do more than compute.
SELECT ⟦load_extension('a')¦LOAD_EXTENSION('a')¦"load_extension"('a')¦[load_extension]('a')¦`load_extension`('a')¦'load_extension'('a')¦load_extension ('a')¦load_extension/**/('a')¦load_extension('a', 'b')¦load_extension(DISTINCT 'a')¦load_extension('a') OVER ()¦load_extension('a') FILTER (WHERE 1)¦main.load_extension('a')¦{fn load_extension('a')}⟧
SELECT ⟦readfile('/etc/passwd')¦writefile('@DIR@/stolen', 'x')¦edit('a')¦fts3_tokenizer('simple')¦fts3_tokenizer('a', x'00')¦sqlite_version()¦sqlite_source_id()¦sqlite_compileoption_used('a')¦sqlite_compileoption_get(0)¦sqlite_log(1, 'a')¦sqlite_offset(id)¦last_insert_rowid()¦changes()¦total_changes()¦zeroblob(10)¦randomblob(4) IS NULL¦random() IS NULL¦subtype(1)¦unknown(1)¦likelihood(1, 0.5)¦eval('SELECT 1')¦raise(ABORT, 'x')¦RAISE(IGNORE)¦sha3('a')¦decimal('1')¦ieee754(1)¦uuid()¦regexp('a', 'b')¦rtreecheck('a')¦rtreenode(1, x'00')¦geopoly_area('a')¦sqlite_unsupported_offset_limit()¦hex(zeroblob(10))¦printf('%.*c', 10, 'x')¦icu_load_collation('a', 'b')¦spellfix1_scriptcode('a')¦load_extension()¦nosuch(1)¦sqlite_drop_column(1, 2, 3)¦sqlite_rename_table(1, 2, 3, 4, 5, 6, 7)¦sqlite_filestat(1)¦snapshot()¦json_group_array(name)¦json_group_object(id, name)¦total(id)¦median(id)¦percentile(id, 50)¦group_concat(DISTINCT name)¦string_agg(name, ',')¦count(DISTINCT id, name)¦count()¦count(*)⟧ FROM people
## Names of WITH.
WITH secret AS (SELECT * FROM secret) SELECT * FROM secret
WITH RECURSIVE secret AS (SELECT 1 AS password) SELECT * FROM secret
WITH RECURSIVE secret(id, password) AS (SELECT 1, 'a' UNION ALL SELECT id + 1, password FROM secret WHERE id < 3) SELECT * FROM secret
WITH secret(id, password) AS (SELECT 1, 'a' UNION ALL SELECT id + 1, password FROM secret WHERE id < 3) SELECT * FROM secret
WITH a AS (SELECT * FROM secret), secret AS (SELECT 1 AS b) SELECT * FROM a
WITH RECURSIVE a AS (SELECT * FROM secret), secret AS (SELECT 1 AS b) SELECT * FROM a
WITH a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a
WITH a AS (SELECT * FROM people), people AS (SELECT 7 AS id) SELECT * FROM a
WITH secret AS (SELECT 1 AS a) SELECT * FROM ⟦main.secret¦temp.secret¦shop.secret¦"secret"¦'secret'¦[secret]¦SECRET¦secret()¦secret('a')⟧
SELECT * FROM (WITH secret AS (SELECT 1 AS a) SELECT * FROM secret) s CROSS JOIN secret
SELECT (WITH secret AS (SELECT 1 AS a) SELECT a FROM secret), (SELECT password FROM secret LIMIT 1)
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a, secret
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a
WITH secret AS (SELECT 1 AS x, 2 AS y) SELECT * FROM people UNION SELECT * FROM secret
WITH secret AS (SELECT 1), secret AS (SELECT 2) SELECT * FROM secret
WITH secret AS (SELECT 1 AS x), SECRET AS (SELECT 2 AS x) SELECT * FROM secret
WITH people AS (SELECT 7 AS id) SELECT id FROM ⟦people¦main.people¦PEOPLE¦shop.people⟧
WITH people AS (SELECT id + 1 AS id FROM main.people) SELECT id FROM people
WITH people AS (SELECT id + 1 AS id FROM people) SELECT id FROM people
WITH a AS MATERIALIZED (SELECT id FROM people) SELECT * FROM a
WITH a AS NOT MATERIALIZED (SELECT id FROM people) SELECT * FROM a
WITH a(x, y) AS (SELECT id, name FROM people), b AS (SELECT x FROM a) SELECT * FROM b
WITH a AS (VALUES (1), (2)) SELECT * FROM a
WITH json_each AS (SELECT 1 AS value) SELECT * FROM json_each
WITH json_each AS (SELECT 1 AS value) SELECT * FROM json_each('[2]')
WITH notes_fts AS (SELECT 1 AS body) SELECT * FROM notes_fts('hello')
WITH secret_fts AS (SELECT 1 AS body) SELECT * FROM secret_fts('s*')
WITH secret_fts AS (SELECT 1 AS body) SELECT 1 FROM people WHERE secret_fts MATCH 's*'
WITH peep AS (SELECT 1 AS x) SELECT ⟦1 IN peep¦1 IN main.peep¦1 IN PEEP¦'a' IN (SELECT * FROM main.peep)⟧
WITH sqlite_master AS (SELECT 1 AS x) SELECT * FROM ⟦sqlite_master¦main.sqlite_master¦sqlite_schema⟧
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t
WITH RECURSIVE t(n) AS (VALUES (1) UNION SELECT n % 3 + 1 FROM t LIMIT 10) SELECT n FROM t
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t ORDER BY 1 LIMIT 3) SELECT n FROM t
WITH a AS (DELETE FROM people RETURNING *) SELECT * FROM a
WITH a AS (SELECT 1) INSERT INTO people SELECT 9, 'x'
## Set operations, values, and what belongs to the whole.
SELECT id FROM people UNION SELECT 9 EXCEPT SELECT 1 INTERSECT SELECT 2
SELECT id FROM people EXCEPT SELECT 1 UNION ALL SELECT 1
SELECT 1 UNION ALL SELECT 1 UNION SELECT 1
SELECT 1 UNION SELECT 1 UNION ALL SELECT 1
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2
SELECT 1 INTERSECT SELECT 1 UNION SELECT 2
(SELECT 1) UNION (SELECT 2)
SELECT 1 UNION (SELECT 2)
SELECT * FROM (SELECT 1 UNION SELECT 2) EXCEPT SELECT 1
SELECT id FROM people ORDER BY id LIMIT 1 UNION SELECT 2
SELECT id FROM people UNION SELECT name FROM people ORDER BY 1 LIMIT 2 OFFSET 1
SELECT id AS x FROM people UNION SELECT 9 ORDER BY x DESC
SELECT id FROM people UNION ALL SELECT id FROM secret
SELECT 1 EXCEPT ALL SELECT 1
SELECT 1 MINUS SELECT 1
VALUES (1, 'a'), (2, 'b')
VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1
SELECT * FROM (VALUES (1, 'a'), (2, 'b'))
SELECT column1, column2 FROM (VALUES (1, 'a'), (2, 'b'))
SELECT * FROM (VALUES (1, 2)) AS v(x, y)
SELECT 1 UNION VALUES (2)
VALUES (1) UNION VALUES (2)
SELECT ALL id FROM people
SELECT DISTINCT id % 2 FROM people
SELECT DISTINCT id, DISTINCT name FROM people
SELECT 1 FROM people WHERE 1 GROUP BY 1 HAVING 1 ORDER BY 1 LIMIT 1 OFFSET 0
SELECT
SELECT FROM people
SELECT * FROM
SELECT 1 WHERE 0
SELECT *
SELECT , 1
SELECT 1, FROM people
SELECT (1, 2)
SELECT ()
## What writes, and what runs something else.
⟦ATTACH '@DIR@/stolen' AS s¦DETACH main¦VACUUM INTO '@DIR@/stolen'¦PRAGMA table_info(secret)¦PRAGMA main.table_info('secret')¦PRAGMA user_version = 5¦PRAGMA writable_schema = 1¦PRAGMA query_only¦EXPLAIN SELECT * FROM secret¦EXPLAIN QUERY PLAN SELECT * FROM secret¦EXPLAIN QUERY PLAN SELECT 1¦TABLE secret¦TABLE people¦DESCRIBE secret¦INSERT INTO people VALUES (9, 'x') RETURNING *¦INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')¦INSERT INTO notes_fts (notes_fts, rank) VALUES ('automerge', 4)¦DELETE FROM people RETURNING *¦UPDATE people SET name = 'x' RETURNING *¦REPLACE INTO people VALUES (1, 'x')¦WITH a AS (SELECT 1) DELETE FROM people¦CREATE TEMP TABLE stolen AS SELECT 1¦CREATE VIRTUAL TABLE temp.stolen USING fts5vocab(main, secret_fts, row)¦DROP TABLE people¦ALTER TABLE people RENAME TO x¦REINDEX¦ANALYZE¦BEGIN¦COMMIT¦END TRANSACTION¦SAVEPOINT a¦RELEASE a¦ROLLBACK TO a¦SELECT * INTO stolen FROM people¦SELECT 1 INTO stolen¦SELECT 1 INTO OUTFILE '@DIR@/stolen'¦SELECT 1; DELETE FROM people¦SELECT 1; VALUES (1)¦.shell id¦.read /etc/passwd¦SELECT 1 ON CONFLICT DO NOTHING¦SELECT 1 RETURNING 1¦FROM secret¦FROM people SELECT id¦SELECT TOP 1 id FROM people¦SELECT id::text FROM people¦SELECT {fn upper('a')}¦SELECT {d '2024-01-01'}¦SELECT DATE '2024-01-01'¦SELECT INTERVAL 1 DAY¦SELECT TIMESTAMP '2024-01-01'¦SELECT ARRAY[1]¦SELECT EXTRACT(YEAR FROM '2024-01-01')¦SELECT SUBSTRING('abc' FROM 2)¦SELECT TRIM(BOTH 'a' FROM 'aba')¦SELECT POSITION('a' IN 'abc')¦SELECT CEIL(1.5 TO DAY)¦SELECT CONVERT('a', text)¦SELECT 'a' ILIKE 'A'¦SELECT 1 DIV 2¦SELECT 1 XOR 1¦SELECT 5 MOD 2¦SELECT 1 && 1¦SELECT !1¦SELECT 1 ^ 2¦SELECT 1 <=> 1¦SELECT 'a' ~ 'a'¦SELECT 'a' RLIKE 'a'¦SELECT 'a' SIMILAR TO 'a'¦SELECT 1 IS TRUE¦SELECT 1 IS NOT TRUE¦SELECT NULL IS UNKNOWN¦SELECT 1 = ANY (SELECT 1)¦SELECT 1 = ALL (SELECT 1)¦SELECT x -> x¦SELECT EXISTS (TABLE people)¦SELECT * EXCEPT (id) FROM people⟧
## What is answered, as it was.
SELECT name AS id, id AS name FROM people ORDER BY id, name
SELECT people.name FROM people p
SELECT * FROM people secret
SELECT secret.name FROM people AS secret ORDER BY id
SELECT secret.password FROM people secret
SELECT p.*, q.name FROM people p, people q WHERE q.id = p.id + 1
SELECT id, (SELECT body FROM notes n WHERE n.person = people.id) FROM people ORDER BY id
SELECT name FROM people WHERE id IN (SELECT id FROM notes WHERE name = 'Ada')
SELECT name FROM people WHERE EXISTS (SELECT 1 FROM notes WHERE person = people.id AND EXISTS (SELECT 1 FROM secret WHERE secret.id = people.id))
SELECT count(*), count(DISTINCT name), sum(DISTINCT id), avg(id), min(name), max(id), total(id), group_concat(name, '-') FROM people
SELECT id, row_number() OVER (ORDER BY id DESC), lag(id, 1, 0) OVER (ORDER BY id), first_value(name) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), ntile(2) OVER w, sum(id) OVER (w RANGE UNBOUNDED PRECEDING) FROM people WINDOW w AS (ORDER BY id) ORDER BY id
SELECT id, sum(id) FILTER (WHERE id > 1) OVER (PARTITION BY id % 2 ORDER BY id GROUPS CURRENT ROW) FROM people
SELECT name, max(id) FROM people
SELECT id, count(*) FROM people
SELECT id + 1 AS id FROM people ORDER BY id + 1 DESC
SELECT name FROM people ORDER BY name COLLATE nocase, id DESC NULLS FIRST
SELECT body, body LIKE '%it''s -- a /* note */%', instr(body, '--') FROM notes ORDER BY id
SELECT more -> '$.a', more ->> '$.a.b', json_extract(more, '$[1]'), json_type(more), json_array_length(more) FROM notes ORDER BY id
SELECT key, value, type, atom, fullkey, path FROM notes, json_tree(notes.more) WHERE notes.id = 1
SELECT j.value FROM notes n, json_each(n.more) j WHERE n.id = 2
SELECT strftime('%Y-%m', written), date(written, '+1 day', 'start of month'), julianday(written) - julianday('2024-01-01'), datetime(0, 'unixepoch') FROM notes ORDER BY id
SELECT '10' + 1, 'a' + 1, '1a' = 1, 1 = '1', 'a' = 0, NULL + 1, TRUE + TRUE, 'a' < 'B', x'61' < 'a', 2 < '1', 1.0 = 1
SELECT CASE name WHEN 'Ada' THEN 'it''s' WHEN "Bob" THEN 'b' ELSE 'c\d' END FROM people ORDER BY id
## What stands behind a value, and a mark of byte order.
SELECT name ⟦NOT NULL | id¦NOT NULL % id¦NOT NULL = 1¦NOT NULL¦IS NOT NULL | 1⟧ FROM people
SELECT⟦ ¦ --\n¦/**/⟧\u{feff}⟦*¦id¦1⟧ FROM people
