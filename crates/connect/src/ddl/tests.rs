//! Scripts in many dialects.

use super::*;
use crate::rows::SampleRequest;

/// Formats each table as one line: `name: column TYPE! "description", ...; column -> table.column`, with `*` for a column
/// of the primary key and `!` for a non-null column.
fn written(tables: &[Table]) -> Vec<String> {
    let quoted = |text: &str| if text.is_empty() { String::new() } else { format!(" {text:?}") };
    tables
        .iter()
        .map(|table| {
            let columns: Vec<String> = table
                .columns
                .iter()
                .map(|c| {
                    let mark = if c.primary_key {
                        "*"
                    } else if c.nullable {
                        ""
                    } else {
                        "!"
                    };
                    format!("{} {}{mark}{}", c.name, c.data_type, quoted(&c.description)).trim().to_owned()
                })
                .collect();
            let keys: String = table
                .foreign_keys
                .iter()
                .map(|k| format!("; {} -> {}.{}", k.columns.join("+"), k.table, k.references.join("+")))
                .collect();
            format!("{}{}: {}{keys}", table.name, quoted(&table.description), columns.join(", "))
        })
        .collect()
}

fn check_all(script: &str, wanted: &[&str], wanted_problems: &[&str]) {
    let (tables, problems) = describe_scripts(&[("x.sql".to_owned(), script.to_owned())], "x.sql");
    assert_eq!(written(&tables), wanted, "{problems:?}");
    assert_eq!(problems.len(), wanted_problems.len(), "{problems:?}");
    for (problem, wanted) in problems.iter().zip(wanted_problems) {
        let text = format!("{}: {}", problem.place, problem.reason);
        assert!(text.contains(wanted), "{text}");
    }
}

fn check(script: &str, wanted: &[&str]) {
    check_all(script, wanted, &[]);
}

#[test]
fn tables_have_columns_and_keys() {
    check(
        "SET x = 1; INSERT INTO a VALUES (1);
         CREATE TABLE IF NOT EXISTS artist (id INT PRIMARY KEY, name varchar(40) NOT NULL);
         create table album (a int, b text, artist int references Artist, primary key (a, b),
            constraint c foreign key (artist) references artist (ID) on delete cascade);
         CREATE TABLE track (a INT, b TEXT, note, FOREIGN KEY (a, b) REFERENCES album);",
        &[
            "artist: id INT*, name VARCHAR(40)!",
            "album: a INT*, b TEXT*, artist INT; artist -> artist.id",
            "track: a INT, b TEXT, note; a+b -> album.a+b",
        ],
    );
}

#[test]
fn parses_postgresql_dumps() {
    check(
        r#"CREATE TABLE public.artist (id integer DEFAULT nextval('s'::regclass) NOT NULL, tags text[] DEFAULT '{}'::text[],
             at timestamp without time zone DEFAULT now(), kind public.mpaa, "Fülle" numeric(5,2));
           ALTER TABLE public.artist OWNER TO postgres;
           COMMENT ON TABLE public.artist IS 'Who''s playing; a list.';
           COMMENT ON COLUMN public.artist."Fülle" IS 'How much.';
           CREATE TABLE sales.album (id integer, artist_id integer);
           COPY public.artist (id) FROM stdin;
1	it's; (x
\.
           CREATE FUNCTION f() RETURNS void AS $_$ BEGIN; CREATE TABLE no (x int); END; $_$ LANGUAGE plpgsql;
           ALTER TABLE ONLY public.artist ADD CONSTRAINT artist_pkey PRIMARY KEY (id);
           ALTER TABLE ONLY sales.album ADD CONSTRAINT fk FOREIGN KEY (artist_id) REFERENCES public.artist(id);"#,
        &[
            r#"artist "Who's playing; a list.": id INTEGER*, tags TEXT[], at TIMESTAMP WITHOUT TIME ZONE, kind public.mpaa, Fülle NUMERIC(5,2) "How much.""#,
            "sales.album: id INTEGER, artist_id INTEGER; artist_id -> artist.id",
        ],
    );
}

#[test]
fn parses_mysql_dumps() {
    check(
        "# A dump\n/*!40101 SET NAMES utf8 */;
         CREATE TABLE /*!32312 IF NOT EXISTS*/ `artist` (
           `id` int(11) unsigned NOT NULL AUTO_INCREMENT COMMENT 'The artist\\'s id; really',
           `kind` enum('a','b;c') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'a',
           PRIMARY KEY (`id`), KEY `k` (`kind`(10)), FULLTEXT KEY `f` (`kind`)
         ) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8 COMMENT='Who plays';
         CREATE TABLE `album` (`artist` int(11), CONSTRAINT `c` FOREIGN KEY (`artist`) REFERENCES `artist` (`id`));
         DELIMITER ;;
         CREATE TRIGGER x BEFORE INSERT ON artist FOR EACH ROW BEGIN SET @a = 1; END ;;
         DELIMITER ;
         CREATE TABLE `after` (`id` int);",
        &[
            "artist \"Who plays\": id INT(11) UNSIGNED* \"The artist's id; really\", kind ENUM('a', 'b;c')",
            "album: artist INT(11); artist -> artist.id",
            "after: id INT",
        ],
    );
}

#[test]
fn parses_other_dialects() {
    check(
        "CREATE TABLE [dbo].[Artist] ([Id] INT IDENTITY(1,1) NOT NULL, [N;ame] NVARCHAR(max) NULL,
           CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([Id] ASC)) ON [PRIMARY]\nGO\nCREATE TABLE [x].[y].[Album] ([Id] INT)\nGO",
        &["Artist: Id INT*, N;ame NVARCHAR(MAX)", "y.Album: Id INT"],
    );
    check(
        "CREATE TABLE `p-1.sales.orders` (id INT64 NOT NULL OPTIONS(description='The id'), tags ARRAY<STRING>,
           who STRUCT<name STRING, age INT64>) PARTITION BY DATE(_PARTITIONTIME) OPTIONS(description=\"All orders\");",
        &["sales.orders \"All orders\": id INT64! \"The id\", tags ARRAY<STRING>, who STRUCT<name STRING, age INT64>"],
    );
    check(
        "CREATE TABLE t (a, b INTEGER PRIMARY KEY AUTOINCREMENT, c TEXT GENERATED ALWAYS AS (a || b) STORED) STRICT;
         CREATE VIRTUAL TABLE words USING fts5(title, body); CREATE TEMP TABLE gone (x);",
        &["t: a, b INTEGER*, c TEXT", "words: title, body"],
    );
    check(
        "CREATE OR REPLACE TRANSIENT TABLE t (id NUMBER(38,0) NOT NULL COMMENT 'The id', v VARIANT) COMMENT='All';",
        &["t \"All\": id NUMBER(38, 0)! \"The id\", v VARIANT"],
    );
}

#[test]
fn derived_tables_have_the_columns_of_their_sources() {
    check(
        "CREATE VIEW late AS SELECT * FROM v;
         CREATE VIEW v AS SELECT a.id, b.name AS who, count(*) AS n FROM t a JOIN u AS b ON a.id = b.id GROUP BY 1, 2;
         CREATE VIEW w (x, y) AS SELECT id, id + 1 FROM t;
         CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE u (id INT, name TEXT COMMENT 'Who');
         CREATE TABLE copy LIKE u; CREATE TABLE chosen AS SELECT name FROM u;",
        &[
            "t: id INT*",
            "u: id INT, name TEXT \"Who\"",
            "copy: id INT, name TEXT \"Who\"",
            "chosen: name TEXT \"Who\"",
            "v: id INT!, who TEXT \"Who\", n",
            "w: x INT!, y",
            "late: id INT!, who TEXT \"Who\", n",
        ],
    );
    check_all("CREATE VIEW v AS SELECT count(*) FROM t;", &[], &["x.sql:1: the columns of the view v"]);
}

#[test]
fn an_invalid_statement_does_not_affect_others() {
    check_all(
        "CREATE TABLE a (x INT);\n\nCREATE TABLE b AS\n  WHATEVER THIS IS;\nCREATE TABLE c (y INT);",
        &["a: x INT", "c: y INT"],
        &["x.sql:4: cannot parse the table: Expected"],
    );
    check_all(
        "INSERT INTO a VALUES ('it's');\nCREATE TABLE a (x INT DEFAULT 'y');\nCREATE TABLE b (x INT",
        &["a: x INT", "b: x INT"],
        &[],
    );
}

#[test]
fn salvages_columns_with_unknown_options() {
    check_all(
        "CREATE TABLE a (\n id INT NOT NULL,\n b BLOB SUB_TYPE TEXT NOT NULL,\n \"c d\" NUMBER(5) FROBNICATE 3,\n
           CONSTRAINT x FROBNICATE (id), FOREIGN KEY (id) REFERENCES a\n) FROBNICATED 'a;b' COMMENT = 'It''s';",
        &["a \"It's\": id INT!, b BLOB SUB_TYPE TEXT!, c d NUMBER(5) FROBNICATE 3"],
        &["x.sql:1: only name and type were parsed of b, c d; 1 of 5 items were skipped", "which has 0 columns"],
    );
}

#[test]
fn salvages_unknown_names_and_constraints() {
    check_all(
        "CREATE TABLE a (qty(kg) REAL, Unnamed: 2 TEXT, -- x, y
           größe/m REAL, table TEXT, iata character varchar(3) -- z
         );",
        &["a: qty(kg) REAL, Unnamed: 2 TEXT, größe/m REAL, table TEXT, iata character varchar(3)"],
        &["only name and type were parsed of qty(kg), Unnamed: 2, größe/m, iata"],
    );
}

#[test]
fn constraints_need_no_commas() {
    check(
        "CREATE TABLE t (id INT PRIMARY KEY);
         CREATE TABLE u (a INT DEFAULT (1), b INT FOREIGN KEY (a) REFERENCES t (id)
           CONSTRAINT c FOREIGN KEY (b) REFERENCES t (id) PRIMARY KEY (a));",
        &["t: id INT*", "u: a INT*, b INT; a -> t.id; b -> t.id"],
    );
}

#[test]
fn keeps_the_first_of_two_tables_with_one_name() {
    check_all(
        "CREATE TABLE a (x INT);\nCREATE TABLE a (y INT);",
        &["a: x INT"],
        &["x.sql:2: the table a is created more than once"],
    );
}

#[test]
fn reports_changes_of_unknown_tables() {
    check_all(
        "ALTER TABLE gone ADD PRIMARY KEY (x); ALTER TABLE gone FROBNICATE; CREATE TABLE a (x INT);
         ALTER TABLE a ADD COLUMN y TEXT, ADD CONSTRAINT c FOREIGN KEY (x) REFERENCES gone (x);",
        &["a: x INT, y TEXT"],
        &["the table gone, which is not created", "the table gone, which does not exist"],
    );
}

#[tokio::test]
async fn a_script_has_no_data_and_a_missing_one_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sql");
    let ddl = Ddl::new(vec![path.clone(), folder.path().join("b.sql")]);
    assert!(ddl.describe().await.unwrap_err().to_string().contains("no such file"));
    std::fs::write(&path, "CREATE TABLE a (x INT);").unwrap();
    let (tables, problems) = ddl.describe().await.unwrap();
    assert_eq!((tables.len(), tables[0].row_count, problems.len()), (1, None, 1));
    let request = SampleRequest { contains: None, limit: 1 };
    assert!(matches!(ddl.sample("a", "x", &request).await, Err(ConnectError::NoData { .. })));
    assert!(matches!(ddl.statistics("a", &[]).await, Err(ConnectError::NoData { .. })));
    assert!(!ddl.has_data());
}

#[test]
fn splits_scripts_in_linear_time() {
    // A quadratic implementation would not finish.
    let script = "-- x\n/* y\n".to_owned()
        + &"-- comment with 'quotes' and (parentheses)\n".repeat(100_000)
        + "*/"
        + &"INSERT INTO t VALUES (1, 'a;b', \"c\", $x);\n".repeat(100_000)
        + "CREATE TABLE t (x INT);";
    check(&script, &["t: x INT"]);
}

/// A file has one budget for all its statements, dialects and attempts: statements that exceed it cost little, and the
/// tables around them are parsed.
#[test]
fn statements_over_budget_do_not_affect_others() {
    let forms = [
        ("CONVERT(", ")"),
        ("CAST(", " AS INT)"),
        ("POSITION(", ")"),
        ("ARRAY[", "]"),
        ("CEIL/**/(", ")"),
        ("CASE WHEN ", ""),
        ("TRIM(", ")"),
        ("f(x => ", ")"),
    ];
    let hostile: Vec<String> = forms
        .iter()
        .flat_map(|(open, close)| [26, 40].map(|times| format!("{} 1 1{}", open.repeat(times), close.repeat(times))))
        .enumerate()
        .map(|(at, default)| format!("CREATE TABLE t{at} (a int DEFAULT {default});"))
        .collect();
    let script = format!("CREATE TABLE before (a int);\n{}\nCREATE TABLE after (b text);", hostile.join("\n"));
    let (tables, problems) = describe_scripts(&[("x.sql".to_owned(), script.clone())], "x.sql");
    let read: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert!(read.contains(&"before") && read.contains(&"after"), "{read:?} {problems:#?}");
    assert_eq!(problems.len(), hostile.len(), "{problems:?}");

    // The steps of the file limit the total work, whatever the number of statements.
    let text = &hostile[0];
    let mut budget = Budget::of_bytes(text.len());
    let mut attempts = 0;
    while !budget.is_spent() && attempts < 1_000 {
        assert!(parse(text, Meaning::Table, &mut budget).is_ok_and(|read| read.warning.is_some()) || attempts > 0);
        attempts += 1;
    }
    assert!((2..1_000).contains(&attempts), "{attempts}");
}
