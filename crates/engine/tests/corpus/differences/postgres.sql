## What PostgreSQL and another parser may read differently. How a line is read: tests/it/differences/corpus.rs.
## A comment begins inside a run of operator signs: another lexer takes the signs as one operator, and the rest as a text.
SELECT 'a' ⟦||¦~¦<¦>¦<>¦<=¦>=¦!=¦=¦+¦-¦*¦/¦%¦^¦#¦&¦|¦@>¦<@¦->¦->>¦#>¦#>>¦?¦?|¦?&¦&&¦~*¦!~¦!~*¦<<¦>>¦@@¦^@¦~~¦!~~*¦-|-⟧⟦-- '\n(SELECT password FROM secret LIMIT 1) --'¦/* '*/ (SELECT password FROM secret LIMIT 1) --'⟧
SELECT 1 ⟦+¦-¦*¦=¦<>⟧⟦-- \n(SELECT count(*) FROM secret)¦/*\n--*/(SELECT count(*) FROM secret)¦/* /* */ */(SELECT count(*) FROM secret)⟧
SELECT 2--1\n, (SELECT password FROM secret LIMIT 1)
SELECT 2 - --1\n(SELECT count(*)::int FROM secret)
SELECT 'a'||--'\n(SELECT password FROM secret LIMIT 1)||'--'
SELECT 1+/*'*/(SELECT count(*) FROM secret)/*'*/
SELECT @--\n-5, '--\n', (SELECT password FROM secret LIMIT 1)
## What ends a comment of one line: PostgreSQL takes CR too, others LF alone, or whatever Unicode calls a line.
SELECT 1 -- a⟦\r¦\n¦\r\n¦\v¦\f¦\u{85}¦\u{2028}¦\u{2029}¦\u{1c}¦\u{1d}¦\u{1e}⟧, (SELECT password FROM secret LIMIT 1)
SELECT 1 -- a⟦\r¦\v¦\f¦\u{85}¦\u{2028}¦\u{2029}⟧FROM people --\nFROM secret
SELECT ⟦--\r¦-- '\r¦--\\\r¦--\\\n⟧(SELECT password FROM secret LIMIT 1) -- '
SELECT * FROM people --⟦\r¦\u{2028}¦\u{85}⟧, secret
## Comments in comments: nested for PostgreSQL, plain for others.
SELECT 1 /* /* */ , 2 */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* /* */ , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /*/**/*/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*/*/ , (SELECT password FROM secret LIMIT 1) --*/
SELECT 1 /*/*/ , 2 */*/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /**//**/ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* -- */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /* ' */ , (SELECT password FROM secret LIMIT 1) /* ' */
SELECT 1 -- /*\n , (SELECT password FROM secret LIMIT 1) -- */
SELECT 1 /* $$ */ , (SELECT password FROM secret LIMIT 1) /* $$ */
SELECT 1 /* " */ , (SELECT password FROM secret LIMIT 1) /* " */
SELECT '/*', (SELECT password FROM secret LIMIT 1), '*/'
SELECT "/*", (SELECT password FROM secret LIMIT 1), "*/"
SELECT $$/*$$, (SELECT password FROM secret LIMIT 1), $$*/$$
SELECT 1 /*⟦!¦!50000¦M!¦M!100000¦+⟧ , 2 */ , (SELECT password FROM secret LIMIT 1)
SELECT 1 /*⟦!¦!50000¦M!¦+⟧ , (SELECT password FROM secret LIMIT 1) */
SELECT /*⟦!¦+⟧ */ id FROM people
SELECT /* /* /* */ */ 1 */ FROM people
SELECT 1 */ , (SELECT password FROM secret LIMIT 1) /*
SELECT 1 # 2, (SELECT password FROM secret LIMIT 1) # \n
SELECT 5 # 3 -- #\n FROM people
SELECT 1 ⟦//¦--¦#¦;--¦\u{5c}⟧ (SELECT password FROM secret LIMIT 1)
SELECT 1;-- \n
SELECT 1 ;/* */; /* */
;SELECT password FROM secret
SELECT 1;\u{a0}SELECT password FROM secret
SELECT 1⟦;¦\0;¦;\0⟧SELECT password FROM secret
SELECT 1\0, (SELECT password FROM secret LIMIT 1)
## What is white space: PostgreSQL takes every letter beyond ASCII for a part of a name.
WITH secret⟦ ¦\t¦\n¦\v¦\f¦\r¦\u{a0}¦\u{85}¦\u{1680}¦\u{180e}¦\u{2000}¦\u{2007}¦\u{200b}¦\u{200d}¦\u{2028}¦\u{202f}¦\u{205f}¦\u{2060}¦\u{3000}¦\u{feff}¦\u{1c}¦\u{1f}⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦\v¦\f¦\u{a0}¦\u{85}¦\u{180e}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}¦\u{1c}⟧secret AS (SELECT 1 AS password) SELECT * FROM secret
SELECT name⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}¦\u{1c}⟧FROM people
SELECT * FROM people⟦\v¦\f¦\u{a0}¦\u{85}¦\u{200b}¦\u{2028}¦\u{3000}¦\u{feff}⟧, secret
SELECT * FROM people AS p⟦\u{a0}¦\u{200b}¦\u{feff}⟧CROSS JOIN secret
SELECT 1⟦\u{a0}¦\u{2028}¦\u{200b}⟧AS a, (SELECT password FROM secret LIMIT 1)
## Texts: which of them know a backslash, and whether they go on in the next line.
SELECT ⟦'¦E'¦e'¦N'¦n'¦U&'¦u&'¦B'¦b'¦X'¦x'⟧⟦a\' , (SELECT password FROM secret LIMIT 1) --'¦\\' , (SELECT password FROM secret LIMIT 1) --'¦\\\' , (SELECT password FROM secret LIMIT 1) --'¦''' , (SELECT password FROM secret LIMIT 1) --'¦'\n'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦' -- c\n'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦'\r'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦' 'b\'' , (SELECT password FROM secret LIMIT 1) -- '¦' /* c */ \n'b\'' , (SELECT password FROM secret LIMIT 1) -- '⟧
SELECT 'a'⟦\n¦\r¦\n\n¦ \n ¦\v¦\f¦\u{2028}¦\u{a0}\n¦ -- c\n¦/**/\n⟧'b', 1
SELECT E'a'⟦\n¦\r¦ \n -- c\n¦--\r⟧'\'' , (SELECT password FROM secret LIMIT 1) --'
SELECT U&'a'\n'b\'' , (SELECT password FROM secret LIMIT 1) --'
SELECT U&'\0061\u{5c}0062'
SELECT U&'d!0061t!+000061' UESCAPE '!'
SELECT U&'d!0061' UESCAPE '!' , (SELECT password FROM secret LIMIT 1)
SELECT U&'a' UESCAPE '''' , (SELECT password FROM secret LIMIT 1) --'
SELECT U&'a'' UESCAPE '!' , (SELECT password FROM secret LIMIT 1) --'
SELECT U& 'a', (SELECT password FROM secret LIMIT 1)
SELECT 'a'''\n'b'
SELECT 'a' 'b'
SELECT 'a'\n\n-- c\n'b'\n'c' AS d
SELECT E'\u0061\x62\143\\\''
SELECT E'\'' AS a, '\' AS b, E'\\' AS c
SELECT E'a\nb', E'\u{5c}n', 'a\u{5c}nb'
SELECT E'\U00000061', E'\u{5c}x', E'\8'
SELECT E '\'', (SELECT password FROM secret LIMIT 1) --'
SELECT e'\'', (SELECT password FROM secret LIMIT 1) --''
SELECT N'a', n'b', N 'c'
SELECT B'1010', b'01'::int, X'1F', x'ff'::int, B'', X''
SELECT X'1G' , (SELECT password FROM secret LIMIT 1)
SELECT _latin1'a', _utf8 'b'
SELECT q'[a']' , (SELECT password FROM secret LIMIT 1) --]'
SELECT R'a\' , (SELECT password FROM secret LIMIT 1) --'
SELECT '''a''' , (SELECT password FROM secret LIMIT 1) --'
SELECT """a"""
SELECT 'a"b', "name" FROM people
SELECT "name", 'x' "y" FROM people
SELECT "a\" , (SELECT password FROM secret LIMIT 1) --" FROM people
SELECT 1 AS "a\", (SELECT password FROM secret LIMIT 1) AS "b"
SELECT 'a⟦\u{2019}¦\u{2bc}¦\u{ff07}¦\u{301}⟧, (SELECT password FROM secret LIMIT 1) --'
SELECT `a`, (SELECT password FROM secret LIMIT 1)
SELECT [1], (SELECT password FROM secret LIMIT 1)
SELECT * FROM ⟦`secret`¦[secret]¦'secret'¦E'secret'¦$$secret$$¦{secret}¦<secret>¦@secret¦:secret¦#secret¦##secret⟧
## Dollar quotes: which letters make a tag, and where a name may hold a dollar.
SELECT $⟦😀¦é¦ß¦\u{a0}¦\u{212a}¦日本¦\u{200b}¦\u{301}¦\u{feff}¦_¦a1¦A¦a_b¦¦1¦a b¦a-b¦a.b⟧$,'$⟦1⟧$ , (SELECT password FROM secret LIMIT 1) -- '
SELECT $⟦é¦_¦a1¦\u{a0}¦¦1¦😀⟧$ ' $⟦1⟧$, (SELECT password FROM secret LIMIT 1), $⟦1⟧$ ' $⟦1⟧$
SELECT 1 AS a⟦$$¦$x$¦$é$¦$1$¦$_$⟧,(SELECT password FROM secret LIMIT 1) AS b⟦1⟧
SELECT id a$$ , (SELECT password FROM secret LIMIT 1) b$$ FROM people
SELECT 1$$, (SELECT password FROM secret LIMIT 1), $$
SELECT 1 AS é$$,(SELECT password FROM secret LIMIT 1) AS é$$
SELECT $a$ $A$ , (SELECT password FROM secret LIMIT 1) --$a$
SELECT $a$$b$$a$, $b$$a$$b$
SELECT $a$ $b$ $a$ , (SELECT password FROM secret LIMIT 1), $b$ $a$ $b$
SELECT $$ $a$ $$ , (SELECT password FROM secret LIMIT 1) --$a$
SELECT $$--$$ , (SELECT password FROM secret LIMIT 1)
SELECT $$'$$ , (SELECT password FROM secret LIMIT 1) --'
SELECT $$\$$ , (SELECT password FROM secret LIMIT 1) --$$
SELECT $$a$$$$b$$
SELECT $$a$$\n$$b$$, (SELECT password FROM secret LIMIT 1)
SELECT $a$x$a$$b$y$b$
SELECT $a$ $a $a$, 1
SELECT $a$ $aa$ $a$, (SELECT password FROM secret LIMIT 1)
SELECT '$$', (SELECT password FROM secret LIMIT 1), '$$'
SELECT '$$' AS "$$", $$"$$
SELECT $$a'b$$, $q$it's$q$, $$$$
SELECT $ $a$ $, (SELECT password FROM secret LIMIT 1)
SELECT a$b, (SELECT password FROM secret LIMIT 1) FROM people AS a$b
## Numbers: where one ends, and what a letter after it is.
SELECT ⟦1_000¦1__0¦0x1F¦0o17¦0b101¦1e5¦1e+5¦1E-2¦1.¦.5¦1.5e3¦1..2¦1.2.3¦1a¦1e¦1e+¦0x¦0b¦1_¦_1¦1.e¦1.5a¦00012¦1e400¦99999999999999999999¦0.1e-5¦.e1¦1::text⟧ FROM people
SELECT 1⟦FROM¦e FROM¦.FROM¦x FROM¦_ FROM¦e1FROM¦.5FROM¦\u{a0}FROM⟧ secret
SELECT ⟦1.⟧(SELECT password FROM secret LIMIT 1)
SELECT id FROM people LIMIT ⟦1.5¦1e0¦.9¦0x1¦1_0¦'1'¦NULL¦ALL¦1::bigint¦(1)¦-1¦+1⟧
SELECT -9223372036854775808, - 9223372036854775808, -(9223372036854775807), 9223372036854775808
SELECT 0.1 + 0.2, 1.0, 1.10, 100000000000000000000.5, 1e-7, 12345678901234567890
## Parameters and variables: what has no value, and where its name ends.
SELECT ⟦$1¦$1::text¦$1a¦$1 + 1¦$0¦$99999999999¦?¦?1¦:a¦:1¦@a¦@@a¦@@a.b¦:a::int¦$a¦${a}¦%s¦%(a)s¦{{a}}⟧ FROM people
SELECT $1::y(') , (SELECT password FROM secret LIMIT 1) -- ')
SELECT ⟦:¦@¦?¦$⟧a(') , (SELECT password FROM secret LIMIT 1) -- ')
SELECT @(SELECT count(*) FROM secret)
SELECT @ -5, |/ 25.0, ||/ 27.0, ~1, @id FROM people
SELECT ARRAY[1,2,3][1:2], ARRAY[1,2][:a], (SELECT password FROM secret LIMIT 1)
## Operators: those of users run functions, and signs make one word or two.
SELECT id === 1 FROM people
SELECT 1 OPERATOR(public.===) 1
SELECT 1 OPERATOR ( public . === ) id FROM people
SELECT 1 OPERATOR(===) 1
SELECT 1 OPERATOR(pg_catalog.+) 2, 1 operator(pg_catalog.=) 1
SELECT 'a' OPERATOR(pg_catalog.||) (SELECT password FROM secret LIMIT 1)
SELECT id "===" 1 FROM people
SELECT ⟦1=-1¦1<-1¦1>-1¦1<>-1¦1*-1¦1/-1¦3%-2¦2^-1¦1+-1¦1 - -1¦1- -1¦1-(-1)¦- -1¦- - -1¦~-1¦-~1¦@-1¦1!=-1¦1<=-1¦2-+1¦+-+1¦!!3¦3!¦1&-1¦1|-1¦1#-1¦1<<2¦-1>>1⟧
SELECT ⟦1 ** 2¦1 <=> 1¦1 && 1¦true && false¦1 == 1¦1 := 1¦1 =* 1¦1 ^= 2¦1 ~= 1¦1 DIV 2¦5 MOD 3¦1 XOR 0¦NOT NOT true¦! true¦1 -> 2¦1 => 2¦true || false¦1 || 2¦'a' || 1⟧
SELECT more -> 'a', more ->> 'a', more #> '{a,b}', more #>> '{a,b}', more ? 'a', more ?| ARRAY['a'], more ?& ARRAY['a'], more @> '{}', more <@ '{}' FROM notes
SELECT more -> 'a' -> 'b', more -> 'a' ->> 'b', (more -> 'a') ->> 'b', more->'a'->>'b' = '1', more ->> 'a' || 'x', more -> 'a' IS NULL FROM notes
SELECT more @? '$.a', more @@ '$.a.b == 1', more - 'a', more || '{"c":1}' FROM notes WHERE id = 1
SELECT tags && ARRAY['a'], tags @> ARRAY['a'], tags || 'c', 'a' = ANY(tags), 'a' = ALL (tags), tags[1], tags[1:2], (tags)[1] FROM notes
SELECT make_interval(days => 10), make_interval(days := 10, hours => 1)
SELECT name ~ '^A', name !~ 'b', name ~* 'a', name !~* 'a', name LIKE 'A%', name NOT LIKE 'A%', name ILIKE 'a%', name SIMILAR TO 'A%', name ^@ 'A' FROM people
SELECT name LIKE 'A!%' ESCAPE '!', name LIKE 'a\' ESCAPE '\', name LIKE E'\\%' FROM people
SELECT name LIKE ANY (ARRAY['A%']), id = SOME (ARRAY[1]), id <> ALL (ARRAY[1, 2]) FROM people
## How tight an operator binds: re-rendering must not change an answer.
SELECT ⟦NOT 1 = 2¦NOT 1 IN (2)¦NOT 1 IS NULL¦NOT 1 BETWEEN 2 AND 3¦NOT true AND false¦NOT (true AND false)¦NOT true OR true¦true OR true AND false¦(true OR true) AND false¦1 = 1 IS TRUE¦(1 = 1) = true¦1 < 2 = true¦1 IS NULL = false¦1 = 1 IS NOT DISTINCT FROM (2 = 2)¦1 IN (1) = true¦1 BETWEEN 0 AND 2 AND true¦1 BETWEEN 0 AND 1 + 1¦1 NOT BETWEEN 2 AND 3 OR false¦2 BETWEEN SYMMETRIC 3 AND 1¦'a' LIKE 'a' = true¦'a' || 'b' LIKE 'ab'¦'a' || 'b' = 'ab'¦1 + 2 || 'a'¦1 || 'a' || 2 + 3⟧
SELECT ⟦-2 ^ 2¦(-2) ^ 2¦-(2 ^ 2)¦2 ^ 3 ^ 2¦2 ^ (3 ^ 2)¦1 - 2 - 3¦1 - (2 - 3)¦8 / 4 / 2¦8 / (4 / 2)¦7 % 4 * 2¦7 % (4 * 2)¦2 * 3 + 4¦2 * (3 + 4)¦-1::text¦(-1)::text¦- 1::int2¦-32768::int2¦(-32768)::int2¦1 + 2::text::int¦'1'::int + 1¦2 + 3 * 4 ^ 2¦1 & 3 | 4¦1 | 2 # 3¦1 << 1 + 1¦~1 + 1¦5 - -3¦@ -5 + 1⟧
SELECT ⟦'a' COLLATE "C" || 'b'¦'a' || 'b' COLLATE "C"¦('a' || 'b') COLLATE "C"¦'a' < 'B' COLLATE "C"¦timestamp '2024-01-01' AT TIME ZONE 'UTC' AT TIME ZONE 'CET'¦timestamp '2024-01-01' + interval '1 day' * 2¦timestamp '2024-01-01' AT TIME ZONE 'UTC' > timestamp '2023-01-01' AT TIME ZONE 'UTC'¦interval '1 day' * 2 + interval '1 hour'¦interval '1' day¦interval '1-2' year to month¦interval(0) '1.6 s'¦date '2024-01-01' - 1¦date '2024-01-31' - date '2024-01-01'¦time '10:00' + interval '1 h'¦'2024-01-01'::date::text || 'x'¦CAST('1' AS int)::text || '2'¦- interval '1 day'⟧
SELECT ⟦ARRAY[1,2][1]¦(ARRAY[1,2])[2]¦ARRAY[[1,2],[3,4]][2][1]¦(ARRAY[1,2,3])[2:]¦ARRAY[1] || 2 || ARRAY[3]¦1 = ANY (ARRAY[1,2]) AND true¦(ROW(1, 2)).f1¦(1, 2) = (1, 2)¦(1, 2) < (1, 3)¦ROW(1, 2) IS NULL¦(1, NULL) IS NOT NULL¦ROW(1, NULL) IS DISTINCT FROM ROW(1, 2)¦(SELECT ROW(1, 'a'))¦ROW()¦ARRAY[]::int[]¦'{1,2}'::int[]¦ARRAY(SELECT id FROM people ORDER BY id)¦1 IN (1, 2) AND 3 NOT IN (4)¦(1, 'Ada') IN (SELECT id, name FROM people)¦1 = (SELECT 1)¦EXISTS (SELECT 1) AND NOT EXISTS (SELECT 1 WHERE false)⟧
SELECT ⟦CASE WHEN 1 = 1 THEN 'a' ELSE 'b' END || 'c'¦CASE 1 WHEN 1 THEN 'a' END¦CASE WHEN true THEN CASE WHEN false THEN 1 END ELSE 2 END IS NULL¦coalesce(NULL, 1) + 1¦nullif(1, 2) = 1¦greatest(1, 2) - least(1, 2)¦extract(year FROM date '2024-05-06')¦extract('month' FROM date '2024-05-06')¦date_part('day', date '2024-05-06')¦substring('abc' FROM 2 FOR 1)¦substring('abc', 2)¦substring('abc' FROM 'b.')¦substring('abc' SIMILAR 'a#"b#"c' ESCAPE '#')¦overlay('abc' PLACING 'x' FROM 2)¦position('b' IN 'abc')¦trim(BOTH 'a' FROM 'aba')¦trim(LEADING FROM ' a')¦trim('a ')¦trim(TRAILING 'x' FROM 'ax')¦'a' IS NFC NORMALIZED¦normalize('a', NFD)¦collation for ('a' COLLATE "C")¦'x' IS NOT DISTINCT FROM NULL¦true IS NOT UNKNOWN¦NULL IS UNKNOWN¦1 ISNULL¦1 NOTNULL¦(date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', date '2024-03-01')⟧
SELECT ⟦1::int4::int8::numeric(5,2)¦'1.5'::float::int¦1.5::decimal(3,1)¦'a'::char(3) || 'b'¦'abc'::varchar(2)¦'t'::bool¦CAST('2024-01-01' AS date)¦'1 day'::interval¦int '1' + 1¦numeric '1.5' * 2¦bool 't' AND true¦'\xff'::bytea¦'{"a":1}'::json ->> 'a'¦json '{"a":1}' -> 'a'¦'a'::text COLLATE "C"¦timestamptz '2024-01-01 00:00:00+00' = timestamp with time zone '2024-01-01 00:00:00+00'¦time without time zone '10:00'¦double precision '1.5'¦'a'::"char"¦'(1,2)'::point¦'192.168.0.1'::inet¦'[1,2)'::int4range¦1::bit(3)¦'101'::bit varying(2)¦'a'::name¦'x'::character varying¦'1'::"int4"¦'1'::pg_catalog.int4⟧
## Names: how they are folded, and which letters are the same.
WITH ⟦\u{212a}eys¦KEYS¦"Keys"¦"KEYS"¦kEyS¦ke\u{200b}ys¦\u{feff}keys¦"keys "¦" keys"¦"k""eys"¦k\u{435}ys¦keys\u{301}⟧ AS (SELECT 1 AS token) SELECT * FROM keys
WITH ⟦\u{17f}ecret¦SECRET¦"Secret"¦"SECRET"¦\u{ff53}\u{ff45}\u{ff43}\u{ff52}\u{ff45}\u{ff54}¦s\u{435}cret¦sec\u{ad}ret¦secre\u{301}t¦se\u{200d}cret¦"secret\u{a0}"⟧ AS (SELECT 1 AS password) SELECT * FROM secret
WITH ⟦GEHÄLTER¦"GEHÄLTER"¦Gehälter¦gehÄlter¦geha\u{308}lter¦GEHA\u{308}LTER¦"gehÄlter"⟧ AS (SELECT 1 AS betrag) SELECT * FROM ⟦gehälter¦"gehälter"¦GEHÄLTER⟧
SELECT * FROM ⟦\u{212a}eys¦"KEYS"¦SECRET¦"Secret"¦\u{17f}ecret¦GEHÄLTER¦gehälter¦"gehälter"¦sec"ret"¦"sec"ret¦"secret "¦secret\u{200b}⟧
SELECT * FROM ⟦U&"\u{5c}0073ecret"¦u&"\u{5c}0073ecret"¦U&"!0073ecret" UESCAPE '!'¦U&"s\u{5c}+000065cret"¦U& "secret"¦"\u{5c}0073ecret"¦public.U&"\u{5c}0073ecret"¦U&"people"⟧
WITH ⟦"secret"¦U&"secret"¦U&"\u{5c}0073ecret"¦U&"d!0073" UESCAPE '!'⟧ AS (SELECT 1 AS password) SELECT * FROM secret
SELECT ⟦"Name"¦NAME¦"NAME"¦name¦"name"¦nam\u{212a}¦people."name"¦PEOPLE.NAME¦"PEOPLE".name¦public.people.name¦"public"."people"."name"¦shop.people.name¦prospector_differences.public.people.name⟧ FROM people
SELECT * FROM ⟦people¦PEOPLE¦"people"¦"People"¦public.people¦PUBLIC.PEOPLE¦"public"."people"¦public . people¦public/**/./**/people¦public.\npeople¦shop.people¦SHOP.people¦shop.public.people¦"public.people"¦prospector_differences.public.people¦pg_temp.people¦pg_catalog.people¦people.people¦.people¦people.⟧
SELECT * FROM ⟦public.secret¦"public"."secret"¦public . secret¦public/**/./**/secret¦public.\nsecret¦shop.secret¦shop.public.secret¦"public.secret"¦prospector_differences.public.secret¦pg_temp.secret¦"$user".secret¦people.secret¦shop.people.secret¦secret.password⟧
WITH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab AS (SELECT 1), aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac AS (SELECT password FROM secret) SELECT * FROM aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
WITH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab AS (SELECT 1 AS a) SELECT * FROM aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
SELECT 1 AS aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab, 2 AS "äääääääääääääääääääääääääääääääää"
SELECT ⟦user¦current_user¦session_user¦current_role¦current_catalog¦current_schema¦current_date¦"user"¦"current_user"¦system_user¦localtime¦current_timestamp(0)¦current_user()¦current_schema()¦current_database()¦version()⟧
SELECT * FROM ⟦user¦current_user¦current_schema¦current_date¦session_user¦localtimestamp¦"user"¦coalesce(1)¦coalesce(peek())¦CAST('secret' AS regclass)¦CAST(1 AS text)¦extract(year FROM date '2024-01-01')¦nullif(1, 2)¦greatest(1, 2)¦xmlelement(name a, 'b')¦trim('a')⟧ AS t
SELECT ⟦select¦from¦"select"¦all¦"all"¦null¦true¦default¦"default"¦array¦row¦interval¦date¦values¦"values"⟧ FROM people
SELECT id AS ⟦select¦"select"¦from¦value¦name¦user¦"user"¦order¦year¦key¦'x'¦x$¦ä¦"ä b"¦"a.b"¦"a""b"¦_⟧ FROM people
SELECT p.id ⟦value¦name¦type¦order¦year¦day¦key¦text¦date¦over¦filter¦within¦as⟧ FROM people p
## A table is named where others see none: rows as values, fields as functions, types as tables.
⟦TABLE secret¦(TABLE secret)¦TABLE ONLY secret¦TABLE public.secret¦TABLE people¦TABLE people LIMIT 1¦WITH a AS (TABLE secret) TABLE a¦SELECT * FROM (TABLE secret) s¦SELECT ARRAY(TABLE secret)¦SELECT EXISTS (TABLE secret)¦SELECT id, name FROM people UNION TABLE secret¦VALUES (1, 'a') UNION TABLE secret¦(TABLE people) UNION (TABLE secret)¦TABLE secret UNION TABLE people¦SELECT 1 IN (TABLE secret)¦TABLE⟧
SELECT * FROM ⟦ONLY secret¦ONLY (secret)¦ONLY people¦ONLY (people)¦secret *¦people *¦people*, secret*¦ONLY public.secret¦only¦only only¦ONLY (people) p¦(secret)¦((secret))¦(people)¦(people CROSS JOIN secret)¦(people p)¦((people CROSS JOIN (SELECT 1) a))⟧
SELECT ⟦secret¦secret.*¦(secret).*¦(secret).password¦secret.password¦public.secret.password¦secret::text¦row_to_json(secret)¦to_jsonb(secret)¦ROW(secret.*)¦count(secret)⟧ FROM people
SELECT ⟦people¦people.*¦(people).*¦(people).name¦people::text¦row_to_json(people)¦to_jsonb(people.*)¦ROW(people.*)¦count(people)¦people IS NULL¦(people).id + 1¦(people.*).name¦people = people¦(people.name)¦ARRAY[people]¦to_json(people) ->> 'name'¦md5(people::text)⟧ FROM people ORDER BY 1
SELECT ⟦p¦p.*¦(p).*¦(p).name¦p::text¦to_jsonb(p) - 'id'¦p IS NOT NULL¦(p).peek¦p.peek¦peek(p)¦p.initcap¦initcap(p.name)¦pg_catalog.initcap(p.name)¦public.initcap(p.name)¦name(p)¦id(p)¦(p).nothing¦p.row_to_json¦p.to_json¦p.pg_typeof¦p.pg_column_size¦p.text¦p.count¦p.varchar¦p.secret¦p.name.name⟧ FROM people p
SELECT x.⟦pg_sleep FROM unnest(ARRAY[0.1::float8])¦pg_read_file FROM unnest(ARRAY['/etc/passwd'])¦pg_ls_dir FROM unnest(ARRAY['/'])¦pg_advisory_lock FROM generate_series(1, 1)¦pg_try_advisory_lock FROM generate_series(1, 1)¦current_setting FROM unnest(ARRAY['data_directory'])¦lo_get FROM unnest(ARRAY[424242::oid])¦nap FROM unnest(ARRAY[0.1::float8])¦to_regclass FROM unnest(ARRAY['secret'])¦regclass FROM unnest(ARRAY['secret'::text])¦pg_stat_file FROM unnest(ARRAY['/etc/passwd'])¦nextval FROM unnest(ARRAY['counter'::regclass])¦upper FROM unnest(ARRAY['a'])¦x FROM unnest(ARRAY['a'])¦lower FROM upper('A')¦gather FROM unnest(ARRAY['a', 'b'])¦sqrt FROM generate_series(1, 4)⟧ AS x
SELECT (x).pg_sleep FROM unnest(ARRAY[0.1::float8]) AS x
SELECT (SELECT x.pg_read_file) FROM unnest(ARRAY['/etc/passwd']) AS x
SELECT 1 FROM unnest(ARRAY['/etc/passwd']) AS x WHERE x.pg_read_file IS NOT NULL
SELECT 1 FROM unnest(ARRAY[0.1::float8]) AS x ORDER BY x.pg_sleep
SELECT ⟦NULL::secret¦(NULL::secret).password¦(NULL::keys).token¦(NULL::public.secret).password¦(NULL::"secret").password¦(NULL::_secret)[1]¦ROW(1, 'a')::secret¦(ROW(1, 'a')::secret).password¦CAST(ROW(1, 'a') AS secret)¦CAST(NULL AS secret)¦secret '(1,a)'¦public.secret '(1,a)'¦ARRAY[]::secret[]¦'{}'::secret[]¦pg_typeof(NULL::secret)¦json_populate_record(NULL::secret, '{}')¦jsonb_populate_record(NULL::secret, '{"id":1}')¦(NULL::people).name¦ROW(1, 'a')::people¦NULL::secret IS NULL¦NULL::mood¦'s'::mood¦enum_first(NULL::mood)¦enum_range(NULL::mood)⟧
SELECT * FROM ⟦json_populate_recordset(NULL::secret, '[]')¦jsonb_populate_recordset(NULL::keys, '[]')¦json_to_record('{}') AS x(a secret)¦json_to_recordset('[{"a":16384}]') AS x(a regclass)¦json_to_record('{"a":"secret"}') AS x(a regclass)¦jsonb_to_record('{"a":"1"}') AS x(a int)¦unnest(ARRAY[NULL::secret])¦unnest(NULL::secret[])¦peek_all()¦peek_all() AS t(a, b)¦ROWS FROM (peek_all())¦ROWS FROM (generate_series(1, 2), upper('a'))¦ROWS FROM (json_to_record('{"a":"secret"}') AS (a regclass))¦peek()¦public.peek()¦nap(0.1)¦LATERAL peek()¦generate_series(1, 2) WITH ORDINALITY¦generate_series(1, 2) WITH ORDINALITY AS g(a, b)¦unnest(ARRAY[1], ARRAY[2])¦secret()¦secret('a')¦people('a')¦"secret"()⟧
## Types that name things: what is hidden shows by its number, and what is not there fails otherwise.
SELECT ⟦'secret'::regclass¦'secret'::regclass::text¦'secret'::regclass::oid¦regclass 'secret'¦regclass('secret')¦CAST('secret' AS regclass)¦'secret'::pg_catalog.regclass¦'secret'::"regclass"¦pg_catalog.regclass 'secret'¦'secret'::REGCLASS¦'{secret}'::regclass[]¦ARRAY['secret']::regclass[]¦'{secret}'::_regclass¦to_regclass('secret')¦pg_catalog.to_regclass('secret')¦to_regclass('public.secret') IS NULL¦1259::regclass¦1259::oid::regclass¦'peek'::regproc¦'peek()'::regprocedure¦'prospector'::regrole¦'public'::regnamespace¦'secret'::regtype¦'+(int4,int4)'::regoperator¦'english'::regconfig¦'C'::regcollation¦to_regtype('secret')¦to_regproc('peek')¦to_regrole('prospector')¦regtype 'secret'¦'secret'::name::regclass¦E'secret'::regclass¦$$secret$$::regclass¦U&'secret'::regclass⟧
SELECT n::regclass::text FROM generate_series(16384, 16500) AS n
SELECT CAST(n AS regclass)::text FROM generate_series(16384, 16500) AS n
SELECT regclass(n)::text FROM generate_series(16384, 16500) AS n
SELECT n::oid::regclass || '' FROM generate_series(16384, 16500) AS n
SELECT ⟦tableoid¦tableoid::regclass¦tableoid::regclass::text¦ctid¦xmin¦xmax¦cmin¦people.tableoid¦p.ctid¦oid¦"ctid"¦CTID¦xmin::text⟧ FROM people p
SELECT ⟦ctid¦tableoid¦xmin⟧ FROM secret
SELECT ⟦'1'::oid¦'1'::xid¦'1'::cid¦'(0,1)'::tid¦'0/0'::pg_lsn¦'a'::cstring¦'a'::refcursor¦'prospector=r/prospector'::aclitem¦'1:1:'::txid_snapshot¦'1:1:'::pg_snapshot¦NULL::internal¦NULL::pg_class¦NULL::pg_authid¦(NULL::pg_authid).rolname¦NULL::record¦NULL::anyelement¦NULL::unknown¦NULL::void¦NULL::trigger¦'a'::citext¦'a'::public.mood⟧
SELECT obj_description('secret'::regclass), col_description('secret'::regclass, 2)
SELECT ⟦obj_description(1259, 'pg_class')¦obj_description(16384)¦shobj_description(1, 'pg_database')¦col_description(1259, 1)¦format_type(23, NULL)¦pg_get_viewdef('peep')¦pg_get_functiondef('peek'::regproc)¦pg_relation_size('secret')¦pg_table_is_visible(1259)¦has_table_privilege('secret', 'SELECT')¦has_column_privilege('secret', 'password', 'SELECT')¦pg_get_userbyid(10)¦pg_has_role('prospector', 'USAGE')¦to_regclass('secret')¦pg_describe_object(1259, 1259, 0)¦pg_identify_object(1259, 1259, 0)¦pg_get_constraintdef(1)¦pg_get_indexdef(1)¦pg_get_expr('x', 1)¦pg_indexam_has_property(1, 'a')¦row_security_active('secret')¦pg_get_serial_sequence('secret', 'id')¦currval('counter')¦pg_sequence_last_value('counter')¦pg_relation_filepath('secret')¦pg_client_encoding()¦getdatabaseencoding()¦current_schemas(true)¦inet_server_addr()¦pg_backend_pid()¦pg_postmaster_start_time()¦pg_conf_load_time()¦txid_current()¦pg_current_xact_id()¦pg_current_wal_lsn()¦pg_is_in_recovery()¦current_query()¦pg_trigger_depth()⟧
## Every place of a query where an expression stands, with what reads or does what it may not.
SELECT ⟦(SELECT count(password) FROM secret)¦length(peek())¦length(pg_read_file('/etc/passwd'))¦pg_advisory_lock(7)::text::int⟧
SELECT id FROM people WHERE ⟦(SELECT count(password) FROM secret)¦length(peek())¦length(pg_read_file('/etc/passwd'))¦pg_try_advisory_lock(7)::int⟧ > 0
SELECT id FROM people ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())¦length(pg_read_file('/etc/passwd'))⟧
SELECT id FROM people GROUP BY id, ⟦(SELECT count(password) FROM secret)¦length(peek())⟧
SELECT id FROM people GROUP BY GROUPING SETS ((id), (⟦(SELECT count(password) FROM secret)¦length(peek())⟧))
SELECT id FROM people GROUP BY ROLLUP (id, ⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT id FROM people GROUP BY id HAVING ⟦(SELECT count(password) FROM secret)¦length(peek())¦length(pg_read_file('/etc/passwd'))⟧ > 0
SELECT id FROM people LIMIT ⟦(SELECT count(password) FROM secret)¦length(peek())¦length(pg_read_file('/etc/passwd'))⟧
SELECT id FROM people OFFSET ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ ROWS
SELECT id FROM people FETCH FIRST (⟦(SELECT count(password) FROM secret)¦length(peek())⟧) ROWS ONLY
SELECT DISTINCT ON (⟦(SELECT count(password) FROM secret)¦length(peek())⟧) id FROM people
SELECT count(*) FILTER (WHERE ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ > 0) FROM people
SELECT sum(id) OVER (PARTITION BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT sum(id) OVER (ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT sum(id) OVER (ROWS ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ PRECEDING) FROM people
SELECT sum(id) OVER w FROM people WINDOW w AS (ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT string_agg(name, ',' ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ⟦(SELECT count(password) FROM secret)¦length(peek())⟧) FROM people
SELECT p.id FROM people p JOIN people q ON ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ > 0
SELECT p.id FROM people p, LATERAL (SELECT ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ + p.id) l
SELECT * FROM generate_series(1, ⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT * FROM (VALUES (⟦(SELECT count(password) FROM secret)¦length(peek())⟧)) v
VALUES (1), (⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT id FROM people TABLESAMPLE SYSTEM (⟦(SELECT count(password) FROM secret)¦length(peek())¦100⟧)
SELECT id FROM people TABLESAMPLE BERNOULLI (100) REPEATABLE (⟦(SELECT count(password) FROM secret)¦length(peek())¦1⟧)
SELECT ARRAY[⟦(SELECT count(password) FROM secret)¦length(peek())⟧], (ARRAY[1, 2])[⟦(SELECT count(password) FROM secret)¦length(peek())⟧]
SELECT (ARRAY[1, 2])[1:⟦(SELECT count(password) FROM secret)¦length(peek())⟧]
SELECT ROW(⟦(SELECT count(password) FROM secret)¦length(peek())⟧), (1, ⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT CASE ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ WHEN 1 THEN 2 END, CASE WHEN true THEN ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ END
SELECT coalesce(⟦(SELECT count(password) FROM secret)¦length(peek())⟧), greatest(⟦(SELECT count(password) FROM secret)¦length(peek())⟧)
SELECT 1 IN (⟦(SELECT count(password) FROM secret)¦length(peek())⟧), 1 = ANY (ARRAY[⟦(SELECT count(password) FROM secret)¦length(peek())⟧])
SELECT 1 BETWEEN ⟦(SELECT count(password) FROM secret)¦length(peek())⟧ AND 2, name LIKE ⟦(SELECT password FROM secret)¦peek()⟧ ESCAPE 'x' FROM people
SELECT ⟦substring('a' FROM 1 FOR length(peek()))¦overlay('a' PLACING peek() FROM 1)¦position(peek() IN 'a')¦trim(BOTH peek() FROM 'a')¦extract(year FROM date '2024-01-01' + length(peek()))¦'a' COLLATE "C" || peek()¦now() AT TIME ZONE peek()¦CAST(peek() AS text)¦peek()::text¦normalize(peek())¦xmlelement(name a, peek())¦xmlelement(name a, xmlattributes(peek() AS b))¦xmlforest(peek() AS a)¦xmlconcat(xmlelement(name a, peek()))¦xmlparse(CONTENT peek())¦xmlpi(name a, peek())¦xmlserialize(CONTENT xmlelement(name a, peek()) AS text)¦make_interval(days => length(peek()))¦concat(VARIADIC ARRAY[peek()])¦gather(name)¦(SELECT gather(token) FROM keys)⟧ FROM people
## Functions that do more than compute, however their names are written.
SELECT ⟦pg_sleep(0.1)¦PG_SLEEP(0.1)¦"pg_sleep"(0.1)¦pg_catalog.pg_sleep(0.1)¦pg_catalog."pg_sleep"(0.1)¦"pg_catalog".pg_sleep(0.1)¦pg_catalog . pg_sleep (0.1)¦pg_sleep/**/(0.1)¦pg_sleep\n(0.1)¦pg_sleep--\n(0.1)¦U&"pg\u{5c}005fsleep"(0.1)¦pg_sleep(VARIADIC ARRAY[0.1])¦(pg_sleep(0.1))¦pg_sleep(0.1) IS NULL¦pg_sleep(ALL 0.1)¦pg_sleep(DISTINCT 0.1)¦pg_sleep_for('0.1 s')¦pg_sleep_until(now())¦{fn pg_sleep(0.1)}¦pg_temp.pg_sleep(0.1)¦public.nap(0.1)¦nap(0.1)¦"nap"(0.1)¦shop.nap(0.1)¦prospector_differences.public.nap(0.1)¦prospector_differences.pg_catalog.pg_sleep(0.1)⟧
SELECT ⟦set_config('a.b', 'c', false)¦pg_catalog.set_config('role', 'none', false)¦current_setting('data_directory')¦nextval('counter')¦setval('counter', 5)¦lastval()¦lo_get(424242)¦loread(lo_open(424242, 262144), 10)¦lo_create(0)¦lo_import('/etc/passwd')¦lo_export(424242, '@DIR@/stolen')¦pg_ls_dir('@DIR@')¦pg_stat_file('/etc/passwd')¦pg_read_binary_file('/etc/passwd')¦pg_file_write('@DIR@/stolen', 'x', false)¦pg_notify('a', 'b')¦pg_advisory_lock(8)¦pg_advisory_xact_lock(8)¦pg_try_advisory_lock_shared(8)¦pg_terminate_backend(1)¦pg_cancel_backend(1)¦pg_reload_conf()¦pg_export_snapshot()¦pg_logical_emit_message(false, 'a', 'b')¦pg_create_restore_point('a')¦pg_stat_reset()¦dblink('host=127.0.0.1', 'SELECT 1')¦setseed(0.5)¦pg_log_backend_memory_contexts(1)¦pg_stat_get_activity(NULL)¦pg_lock_status()¦pg_show_all_settings()¦pg_hba_file_rules()¦pg_current_logfile()¦pg_control_system()¦pg_timezone_abbrevs()¦pg_event_trigger_dropped_objects()¦pg_import_system_collations('public')⟧
SELECT ⟦query_to_xml('SELECT password FROM secret', true, true, '')¦query_to_xml($$TABLE secret$$, true, true, '')¦query_to_xml('SELECT pg_sleep(0.1)', true, true, '')::text¦table_to_xml('secret', true, true, '')¦table_to_xml('secret'::regclass, true, true, '')¦schema_to_xml('public', true, true, '')¦database_to_xml(true, true, '')¦cursor_to_xml('answer', 1, true, true, '')¦query_to_xmlschema('TABLE secret', true, true, '')¦table_to_xml_and_xmlschema('secret', true, true, '')¦xpath('//password/text()', query_to_xml('TABLE secret', true, true, ''))¦ts_stat('SELECT to_tsvector(password) FROM secret')¦ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, to_tsquery(password) FROM secret')¦(SELECT word FROM ts_stat('SELECT to_tsvector(password) FROM secret') LIMIT 1)¦to_tsvector('public.english', 'a')¦ts_headline('english'::regconfig, 'a', 'a'::tsquery)¦xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>')⟧
SELECT * FROM XMLTABLE('//row' PASSING query_to_xml('TABLE secret', true, false, '') COLUMNS password text)
SELECT * FROM XMLTABLE('/a' PASSING xmlelement(name a, ⟦peek()¦(SELECT password FROM secret)¦'b'⟧) COLUMNS b text PATH '.')
SELECT * FROM JSON_TABLE(⟦(SELECT to_jsonb(secret) FROM secret)¦'{"a":1}'⟧, '$' COLUMNS (a int PATH '$.a'))
SELECT ⟦json_object('a' VALUE 1)¦json_object('a', 'b')¦json_array(1, 2)¦json_arrayagg(id)¦'{}' IS JSON¦json_value('{}', '$.a')¦json_exists('{}', '$')¦jsonb_path_query('{"a":1}', '$.a')¦json_build_object('a', id)⟧ FROM people
## Names of WITH: what they hide, where, and from when on.
WITH secret AS (SELECT * FROM secret) SELECT * FROM secret
WITH RECURSIVE secret AS (SELECT 1 AS password) SELECT * FROM secret
WITH RECURSIVE secret AS (SELECT * FROM secret) SELECT * FROM secret
WITH RECURSIVE secret(id, password) AS (SELECT 1, 'a' UNION ALL SELECT id + 1, password FROM secret WHERE id < 3) SELECT * FROM secret
WITH a AS (SELECT * FROM secret), secret AS (SELECT 1) SELECT * FROM a
WITH RECURSIVE a AS (SELECT * FROM secret), secret AS (SELECT 1 AS b) SELECT * FROM a
WITH secret AS (SELECT 1 AS a) SELECT * FROM public.secret
WITH secret AS (SELECT 1 AS a) SELECT * FROM shop.secret
WITH secret AS (SELECT 1 AS a) SELECT * FROM (WITH keys AS (SELECT 2 AS b) SELECT * FROM secret, keys) s, keys
SELECT * FROM (WITH secret AS (SELECT 1 AS a) SELECT * FROM secret) s CROSS JOIN secret
SELECT (WITH secret AS (SELECT 1 AS a) SELECT a FROM secret), (SELECT password FROM secret LIMIT 1)
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a, secret
WITH a AS (WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) SELECT * FROM a
WITH secret AS (SELECT 1 AS x) SELECT * FROM people UNION SELECT * FROM secret
(WITH secret AS (SELECT 1 AS x) SELECT * FROM secret) UNION SELECT * FROM secret
(WITH secret AS (SELECT 1 AS x) SELECT x FROM secret) UNION ALL SELECT id FROM people
SELECT 1 UNION (WITH secret AS (SELECT 2 AS x) SELECT x FROM secret)
WITH secret AS (SELECT 1), secret AS (SELECT 2) SELECT * FROM secret
WITH a AS (SELECT 1), A AS (SELECT 2) SELECT * FROM a
WITH "A" AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT * FROM "A", a
WITH people AS (SELECT 7 AS id) SELECT id FROM people
WITH people AS (SELECT id + 1 AS id FROM people) SELECT id FROM people
WITH people AS (SELECT 7 AS id) SELECT id FROM public.people
WITH people AS MATERIALIZED (SELECT id FROM people WHERE id > 1) SELECT * FROM people
WITH a AS NOT MATERIALIZED (SELECT id FROM people) SELECT * FROM a
WITH a(x, y) AS (SELECT id, name FROM people), b AS (TABLE a) SELECT x FROM b
WITH a AS (VALUES (1), (2)) SELECT * FROM a
WITH RECURSIVE t(n) AS (VALUES (1) UNION SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SEARCH DEPTH FIRST BY n SET o SELECT n FROM t ORDER BY o
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n % 3 + 1 FROM t) CYCLE n SET c USING p SELECT n FROM t
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a
WITH a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a
WITH a AS (DELETE FROM people RETURNING *) SELECT * FROM a
WITH a AS (SELECT 1) INSERT INTO people SELECT 9, 'x'
WITH a AS (INSERT INTO people VALUES (9, 'x') RETURNING id), b AS (SELECT 1) SELECT * FROM b
WITH pg_class AS (SELECT 1 AS relname) SELECT * FROM ⟦pg_class¦pg_catalog.pg_class⟧
WITH generate_series AS (SELECT 1 AS x) SELECT * FROM generate_series, generate_series(1, 2) g
## Catalogs and their views.
SELECT * FROM ⟦pg_class¦pg_catalog.pg_class¦"pg_class"¦PG_CLASS¦pg_authid¦pg_shadow¦pg_roles¦pg_settings¦pg_stat_activity¦pg_tables¦pg_proc¦pg_description¦pg_statistic¦pg_stats¦pg_largeobject¦pg_locks¦pg_file_settings¦pg_hba_file_rules¦pg_config¦pg_toast.pg_toast_2619¦peep¦public.peep¦counter¦public.counter⟧
SELECT ⟦rolpassword FROM pg_authid¦most_common_vals FROM pg_stats WHERE tablename = 'secret'¦last_value FROM counter¦relname FROM people, pg_class¦(SELECT relname FROM pg_class LIMIT 1)⟧
## Set operations, with what belongs to the whole at odd places.
SELECT id FROM people ORDER BY id LIMIT 1 UNION SELECT count(*) FROM secret
(SELECT id FROM people ORDER BY id LIMIT 1) UNION (SELECT id FROM people ORDER BY id DESC LIMIT 1) ORDER BY 1
SELECT id FROM people UNION SELECT 9 EXCEPT SELECT 1 INTERSECT SELECT 1 ORDER BY 1
(SELECT id FROM people UNION SELECT 9) EXCEPT SELECT 1 ORDER BY id DESC
SELECT id FROM people EXCEPT (SELECT 1 UNION SELECT 2)
SELECT id FROM people EXCEPT SELECT 1 EXCEPT SELECT 2
SELECT id FROM people EXCEPT (SELECT 1 EXCEPT SELECT 1) ORDER BY 1
SELECT 1 UNION ALL SELECT 1 UNION SELECT 1
SELECT 1 UNION SELECT 1 UNION ALL SELECT 1
SELECT 1 UNION ALL (SELECT 1 UNION SELECT 1)
SELECT 1 INTERSECT SELECT 1 UNION SELECT 2 ORDER BY 1
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2 ORDER BY 1
((SELECT 1)) UNION ((SELECT 2)) ORDER BY 1
(((SELECT id FROM people))) LIMIT 1
(SELECT id FROM people LIMIT 2) LIMIT 1
(SELECT id FROM people ORDER BY id) ORDER BY id DESC
VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y) ORDER BY x
SELECT 1 UNION VALUES (2) ORDER BY 1
SELECT 1 UNION DISTINCT SELECT 1
SELECT ALL id FROM people ORDER BY id
SELECT DISTINCT ALL id FROM people
SELECT
SELECT FROM people
SELECT WHERE true
SELECT * FROM (SELECT) s, people
SELECT id FROM people UNION SELECT id FROM people INTO stolen
SELECT 1 ⟦MINUS SELECT 2¦UNION BY NAME SELECT 2¦UNION ALL BY NAME SELECT 2¦EXCEPT ALL SELECT 2¦INTERSECT ALL SELECT 1¦EXCEPT DISTINCT SELECT 2⟧
## What writes, locks, or runs another statement.
SELECT ⟦1 INTO stolen¦id INTO stolen FROM people¦id INTO TEMP stolen FROM people¦id INTO TEMPORARY TABLE stolen FROM people¦* INTO UNLOGGED stolen FROM people¦id INTO STRICT stolen FROM people¦* FROM people INTO stolen⟧
SELECT id FROM people FOR ⟦UPDATE¦SHARE¦NO KEY UPDATE¦KEY SHARE¦UPDATE OF people¦UPDATE NOWAIT¦UPDATE SKIP LOCKED¦SHARE OF people NOWAIT¦UPDATE FOR SHARE¦XML¦JSON¦READ ONLY¦SYSTEM_TIME AS OF now()⟧
⟦COPY people TO '@DIR@/stolen'¦COPY (SELECT 1) TO PROGRAM 'touch @DIR@/stolen'¦DO 'BEGIN PERFORM pg_sleep(0.1); END'¦DO $$BEGIN DELETE FROM people; END$$¦PREPARE a AS SELECT 1¦EXECUTE a¦DEALLOCATE ALL¦EXPLAIN ANALYZE SELECT pg_sleep(0.1)¦EXPLAIN ANALYZE DELETE FROM people¦EXPLAIN (ANALYZE) SELECT peek()¦EXPLAIN SELECT * FROM secret¦EXPLAIN VERBOSE SELECT 1¦DECLARE a CURSOR FOR SELECT 1¦FETCH 1 FROM answer¦SHOW data_directory¦SHOW ALL¦SET search_path = secret¦RESET ALL¦LISTEN a¦NOTIFY a¦CALL peek()¦LOCK people¦TABLESPACE¦VACUUM¦ANALYZE secret¦MERGE INTO people USING keys ON true WHEN MATCHED THEN DELETE¦IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c¦COMMENT ON TABLE people IS 'x'¦REASSIGN OWNED BY a TO b¦VALUES (1); DELETE FROM people¦ABORT¦END¦COMMIT AND CHAIN¦CREATE TABLE stolen AS TABLE secret¦CREATE VIEW stolen AS SELECT 1¦DESCRIBE secret¦DESC secret¦PRAGMA table_info(secret)¦USE secret¦KILL 1¦HANDLER secret OPEN⟧
SELECT * FROM people WHERE CURRENT OF answer
SELECT 1; ⟦SELECT 2¦DELETE FROM people¦COMMIT¦--¦/* */¦;¦ \u{a0}⟧
## Forms of other engines.
SELECT ⟦{fn upper('a')}¦{fn pg_sleep(0.1)}¦{d '2024-01-01'}¦{x secret}¦{ts '2024-01-01 00:00:00'}¦{t '10:00:00'}¦{oj people}¦TOP 1 id¦STRAIGHT_JOIN id¦SQL_CALC_FOUND_ROWS id¦HIGH_PRIORITY id¦DISTINCTROW id¦id INTO OUTFILE '@DIR@/stolen'¦id INTO @a¦PRIOR id¦CONNECT_BY_ROOT id¦id(+)¦id:name¦id:name::text¦* EXCEPT (id)¦* EXCLUDE (id)¦* REPLACE (1 AS id)¦* ILIKE 'n%'¦COLUMNS('n.*')¦STRUCT(1)¦[1, 2]¦{'a': 1}¦id.name.x¦x -> x + 1¦CONVERT(id, CHAR)¦CONVERT(id USING utf8)¦CONVERT(int, id)¦TRY_CAST(id AS text)¦SAFE_CAST(id AS text)¦CAST(id AS text FORMAT 'x')¦CAST(id AS SIGNED)¦BINARY 'a'¦INTERVAL 1 DAY¦INTERVAL id DAY¦DATE(name)¦IF(1, 2, 3)¦IIF(1, 2, 3)¦id DIV 2¦CEIL(1.5 TO DAY)¦EXTRACT(DAY_HOUR FROM name)¦name RLIKE 'a'¦name REGEXP 'a'¦name GLOB 'a'¦MATCH (name) AGAINST ('a')¦name MATCH 'a'¦name COLLATE utf8_bin¦name COLLATE nocase¦VALUES(id)¦POSITION('a', 'b')¦LISTAGG(name, ',') WITHIN GROUP (ORDER BY id)¦GROUP_CONCAT(name ORDER BY id SEPARATOR ',')¦ARRAY_AGG(name IGNORE NULLS)¦FIRST_VALUE(id) IGNORE NULLS OVER ()⟧ FROM people
SELECT * FROM people ⟦PARTITION (p0)¦USE INDEX (a)¦FORCE INDEX (a)¦INDEXED BY a¦NOT INDEXED¦WITH (NOLOCK)¦AS OF TIMESTAMP now()¦FOR SYSTEM_TIME AS OF now()¦VERSION AS OF 1¦@dblink¦SAMPLE (10)¦PIVOT (sum(id) FOR name IN ('a'))¦UNPIVOT (a FOR b IN (id))¦MATCH_RECOGNIZE (PATTERN (a) DEFINE a AS true)¦LATERAL VIEW explode(a) b AS c¦CROSS APPLY secret¦OUTER APPLY secret¦STRAIGHT_JOIN secret¦ASOF JOIN secret MATCH_CONDITION (1 = 1)¦GLOBAL JOIN secret ON true¦SEMI JOIN secret ON true¦ANTI JOIN secret ON true¦NATURAL JOIN secret¦ARRAY JOIN a¦PREWHERE true¦QUALIFY row_number() OVER () = 1¦CONNECT BY PRIOR id = id¦START WITH id = 1 CONNECT BY PRIOR id = id¦CLUSTER BY id¦DISTRIBUTE BY id¦SORT BY id¦SETTINGS a = 1¦FORMAT JSON¦PROCEDURE ANALYSE()¦LIMIT 1, 2¦LIMIT 1 BY id¦LIMIT 10 PERCENT¦FETCH FIRST 1 ROWS WITH TIES¦FETCH NEXT ROW ONLY¦OFFSET 1 ROW FETCH FIRST 1 ROW ONLY¦ORDER BY ALL¦ORDER BY id WITH FILL¦ORDER BY id USING <¦ORDER BY id NULLS FIRST¦GROUP BY ALL¦GROUP BY id WITH ROLLUP¦WINDOW w AS ()¦|> WHERE id = 1¦|> SELECT id⟧
FROM ⟦people¦secret¦people SELECT id¦secret SELECT *⟧
## Joins and what their conditions see.
SELECT * FROM people p ⟦NATURAL JOIN people q¦JOIN people q USING (id)¦JOIN people q USING (id) AS u¦LEFT JOIN people q USING (id, name)¦FULL JOIN people q ON p.id = q.id + 1¦RIGHT OUTER JOIN people q ON q.id = p.id¦CROSS JOIN people q¦INNER JOIN (people q CROSS JOIN notes n) ON q.id = p.id¦JOIN notes n JOIN people q ON q.id = n.person ON n.person = p.id¦JOIN LATERAL (SELECT p.id AS x) l ON true¦LEFT JOIN LATERAL generate_series(1, p.id) g ON true, notes¦, notes n WHERE n.person = p.id⟧ ORDER BY 1, 2
SELECT p.id FROM people p WHERE EXISTS (SELECT 1 FROM notes WHERE person = p.id AND EXISTS (SELECT 1 FROM secret WHERE secret.id = p.id))
SELECT id, (SELECT body FROM notes n WHERE n.person = people.id) FROM people ORDER BY id
SELECT id, (SELECT id FROM notes WHERE id = people.id) FROM people ORDER BY 1
SELECT name FROM people WHERE id IN (SELECT id FROM notes WHERE name = 'Ada')
SELECT * FROM people secret
SELECT secret.password FROM people secret
SELECT secret.name FROM people AS secret
SELECT * FROM people AS secret(id, password)
SELECT secret.password FROM people AS secret(id, password) ORDER BY 1
SELECT people.name FROM people p
SELECT p.name FROM people p, notes p
SELECT public.people.name FROM people p
SELECT x.* FROM (people CROSS JOIN notes) AS x ORDER BY 1
SELECT * FROM people AS p(a, b) WHERE a = 1 AND p.b = 'Ada'
SELECT count(*), count(p.*), count(DISTINCT name), count(ALL id), sum(DISTINCT id) FROM people p
SELECT name, count(*) OVER (), rank() OVER (ORDER BY id DESC NULLS LAST), lag(id, 1, 0) OVER w, first_value(name) OVER (w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM people WINDOW w AS (ORDER BY id) ORDER BY id
SELECT id % 2, count(*), grouping(id % 2) FROM people GROUP BY CUBE (id % 2) ORDER BY 1
SELECT DISTINCT ON (id % 2) id, name FROM people ORDER BY id % 2, id DESC
SELECT name AS id, id AS name FROM people ORDER BY id, name
SELECT id FROM people ORDER BY -id, name COLLATE "C" DESC NULLS LAST
SELECT id + 1 AS id FROM people ORDER BY id + 1
SELECT string_agg(DISTINCT name, ',' ORDER BY name), array_agg(id ORDER BY id DESC) FILTER (WHERE id > 1), mode() WITHIN GROUP (ORDER BY id) FROM people
SELECT extract(epoch FROM written)::bigint, date_trunc('day', written), to_char(written, 'YYYY "Y" MM'), written::date + 1, written BETWEEN '2024-01-01' AND '2024-12-31' FROM notes ORDER BY id
SELECT body, body LIKE '%it''s -- a /* note */%', position('--' IN body), body ~ '/\*' FROM notes ORDER BY id
