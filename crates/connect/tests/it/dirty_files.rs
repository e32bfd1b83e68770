//! Files as written by people and spreadsheets: the type of each column, the totals of its values, and the problems
//! reported for cells that do not fit.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use flate2::{Compression, write::GzEncoder};
use prospector_connect::rows::SampleRequest;
use prospector_connect::source::{Source, SourceKind};
use prospector_connect::table::{IssueEffect, Table};
use prospector_connect::{Connector, open};
use serde_json::{Value, json};
use tempfile::TempDir;

fn made(name: &str, bytes: &[u8]) -> (TempDir, Source) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let kind = SourceKind::from_path(&path).unwrap();
    (folder, Source::files(kind, vec![path]))
}

async fn read(source: &Source) -> (Arc<dyn Connector>, Table, Vec<String>) {
    let files = open(source).unwrap();
    let (mut tables, problems) = files.describe().await.unwrap();
    let problems = problems.iter().map(|problem| problem.reason.clone()).collect();
    (files, tables.remove(0), problems)
}

/// Returns every column as `name type total`: the sum of numbers, else the number of values.
async fn totals(files: &dyn Connector, table: &Table) -> Vec<String> {
    let rows = files.rows(&table.name, &[], &[], 10_000).await.unwrap();
    assert_eq!(rows.rows.len() as u64, table.row_count.unwrap());
    let total = |at: usize| {
        let values: Vec<&Value> = rows.rows.iter().map(|row| &row[at]).filter(|value| !value.is_null()).collect();
        let sum: f64 = values.iter().filter_map(|value| value.as_f64()).sum();
        if table.columns[at].column_type.is_numeric() { format!("{:.2}", sum) } else { values.len().to_string() }
    };
    let column = |at: usize| format!("{} {} {}", table.columns[at].name, table.columns[at].data_type, total(at));
    (0..table.columns.len()).map(column).collect()
}

async fn check_bytes(name: &str, bytes: &[u8], columns: &[&str], issues: &[&str], problems: &[&str]) {
    let (_folder, source) = made(name, bytes);
    let (files, table, found) = read(&source).await;
    assert_eq!(totals(files.as_ref(), &table).await, columns, "{name}");
    let said: Vec<String> = table.issues.iter().map(|issue| format!("{}: {issue}", issue.column)).collect();
    assert_eq!((said, found), (strings(issues), strings(problems)), "{name}");
    // Every null beyond the empty cells is reported.
    for issue in table.issues.iter().filter(|issue| issue.effect == IssueEffect::Null) {
        let statistics = files.statistics(&table.name, std::slice::from_ref(&issue.column)).await.unwrap();
        assert_eq!(
            statistics[0].nulls,
            table.row_count.unwrap() - issue.values + issue.count,
            "{name}: {}",
            issue.column
        );
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn check(name: &str, text: &str, columns: &[&str], issues: &[&str]) {
    check_bytes(name, text.as_bytes(), columns, issues, &[]).await;
}

/// Returns a file of one column with these cells, padded to 40 rows with the numbers from 1.
fn column(name: &str, cells: &[&str]) -> String {
    let rest: Vec<String> = (1..=40 - cells.len()).map(|n| n.to_string()).collect();
    let all: Vec<&str> = cells.iter().copied().chain(rest.iter().map(String::as_str)).collect();
    file(name, &all)
}

/// Returns a file of one column with these cells.
fn file(name: &str, cells: &[&str]) -> String {
    let quoted = cells.iter().map(|cell| format!("\"{cell}\"\n"));
    format!("{name}\n{}", quoted.collect::<String>())
}

#[tokio::test]
async fn placeholders_are_null_in_typed_columns() {
    check(
        "shop.csv",
        "region,amount\nNorth,10\nSouth,n/a\nNorth,\nSouth,-\nNorth,5\n",
        &["region Utf8 5", "amount Int64 15.00"],
        &["amount: 2 of 4 values are not numbers and count as missing (NULL): line 3 'n/a', line 5 '-'"],
    )
    .await;
    check("nulls.csv", "a,b\n1,NULL\n\\N,2.5\nNaN,\n", &["a Int64 1.00", "b Float64 2.50"], &[]).await;
    check(
        "sheet.csv",
        "share\n0.5\n#N/A\n#DIV/0!\n0.25\n",
        &["share Float64 0.75"],
        &["share: 2 of 4 values are not numbers and count as missing (NULL): line 3 '#N/A', line 4 '#DIV/0!'"],
    )
    .await;
    check("text.csv", "note\nn/a\nNULL\nfine\n", &["note Utf8 3"], &[]).await;
    check("nothing.csv", "a\nn/a\nn/a\n", &["a Utf8 2"], &[]).await;
}

#[tokio::test]
async fn tolerates_one_outlier_in_twenty() {
    check(
        "few.csv",
        &column("amount", &["12", "abc", "12 pcs"]),
        &["amount Int64 715.00"],
        &["amount: 2 of 40 values are not numbers and count as missing (NULL): line 3 'abc', line 4 '12 pcs'"],
    )
    .await;
    check(
        "many.csv",
        &column("amount", &["a", "b", "c", "d"]),
        &["amount Utf8 40"],
        &["amount: the column is text, because 4 of 40 values are not numbers: line 2 'a', line 3 'b', line 4 'c' and 1 more"],
    )
    .await;
    check("mixed.csv", "size\n1\n2\nlarge\nsmall\n", &["size Utf8 4"], &[]).await;
    let flags = ["true"; 30].into_iter().chain(["maybe"]).collect::<Vec<_>>();
    check(
        "flags.csv",
        &file("is_paid", &flags),
        &["is_paid Boolean 30"],
        &["is_paid: 1 of 31 values is not true or false and counts as missing (NULL): line 32 'maybe'"],
    )
    .await;
}

#[tokio::test]
async fn parses_thousands_and_decimal_separators() {
    check("us.csv", "a\n\"1,200.50\"\n12.5\n\"1,000\"\n", &["a Float64 2213.00"], &[]).await;
    check("whole.csv", "a\n\"1,200\"\n7\n\"12,345,678\"\n", &["a Int64 12346885.00"], &[]).await;
    check("eu.csv", "a;b\n1.234,50;x\n12,5;y\n1.000;z\n", &["a Float64 2247.00", "b Utf8 3"], &[]).await;
    check("space.csv", "a;b\n1 200,50;1 000\n2,5;20 000\n", &["a Float64 1203.00", "b Int64 21000.00"], &[]).await;
    check("swiss.csv", "a\n1'200.50\n2.5\n", &["a Float64 1203.00"], &[]).await;
    check("india.csv", "a\n\"12,34,567\"\n\"1,00,000.50\"\n", &["a Float64 1334567.50"], &[]).await;
    check("nbsp.csv", "a\n1\u{a0}200\n12\u{202f}000\n5\n", &["a Int64 13205.00"], &[]).await;
    check("negative.csv", "a\n(1200.50)\n-3\n4-\n\u{2212}5\n", &["a Float64 -1212.50"], &[]).await;
    // Other columns show the meaning of the comma.
    check("habit.csv", "a;b\n1,234;0,5\n2,500;7,25\n", &["a Float64 3.73", "b Float64 7.75"], &[]).await;
    check("point.csv", "a\n1.234\n2.500\n", &["a Float64 3.73"], &[]).await;
    check(
        "unclear.csv",
        "a;b\n1,234;x\n2,500;y\n",
        &["a Utf8 2", "b Utf8 2"],
        &["a: the column is text, because its numbers can be read with a decimal point or a decimal comma: \
           line 2 '1,234', line 3 '2,500'"],
    )
    .await;
    check(
        "both.csv",
        "a\n\"1.234,50\"\n\"1,234.50\"\n12\n",
        &["a Utf8 3"],
        &["a: the column is text, because some of its numbers have a decimal point and some a decimal comma: \
           line 2 '1.234,50', line 3 '1,234.50'"],
    )
    .await;
}

#[tokio::test]
async fn parses_currencies_and_percent_signs() {
    let (_folder, source) = made("dollars.csv", b"price\n\"$1,200.50\"\n$3\n-$2.50\n7\n");
    let (files, table, _) = read(&source).await;
    assert_eq!(totals(files.as_ref(), &table).await, ["price Float64 1208.00"]);
    assert_eq!(table.columns[0].description, "in USD");
    check("euros.csv", "price;n\n45 €;1\n1.200,50 €;2\n9,99€;3\n", &["price Float64 1255.49", "n Int64 6.00"], &[])
        .await;
    check("code.csv", "price\nCHF 5\nCHF 1'000\n", &["price Int64 1005.00"], &[]).await;
    check("percent.csv", "share\n12.5 %\n7%\n", &["share Float64 19.50"], &[]).await;
    check(
        "shares.csv",
        "share\n12.5%\n0.07\n3%\n0.5\n",
        &["share Utf8 4"],
        &["share: the column is text, because some of its numbers have a percent sign and some have none: \
           line 2 '12.5%', line 4 '3%'"],
    )
    .await;
    check(
        "currencies.csv",
        "price\n$5\n5 €\n$7\n",
        &["price Utf8 3"],
        &["price: the column is text, because its numbers are in several currencies: line 2 '$5', line 3 '5 €', line 4 '$7'"],
    )
    .await;
}

#[tokio::test]
async fn decides_one_date_order_per_column() {
    check("us.csv", "day\n3/1/2025\n3/25/2025\n12/31/2024\n", &["day Date32 3"], &[]).await;
    check("de.csv", "day;n\n01.03.2025;1\n02.03.2025;2\n", &["day Date32 2", "n Int64 3.00"], &[]).await;
    check("uk.csv", "day\n25/03/2025\n1/4/2025\n", &["day Date32 2"], &[]).await;
    check(
        "iso.csv",
        "day,at\n2025/03/01,2025-03-01 10:15\n2025-3-2,2025-03-01T10:15:30.5\n",
        &["day Date32 2", "at Timestamp(ms) 2"],
        &[],
    )
    .await;
    check("times.csv", "at\n3/13/2025 3:15 PM\n3/14/2025 11:00:00 AM\n", &["at Timestamp(s) 2"], &[]).await;
    // The second column shows the date order of the first.
    check("habit.csv", "a,b\n3/1/2025,3/25/2025\n4/1/2025,4/26/2025\n", &["a Date32 2", "b Date32 2"], &[]).await;
    check(
        "unclear.csv",
        "day\n3/1/2025\n4/5/2025\n",
        &["day Utf8 2"],
        &["day: the column is text, because its dates can be read with the day or the month first: \
           line 2 '3/1/2025', line 3 '4/5/2025'"],
    )
    .await;
    check(
        "both.csv",
        "day\n25/3/2025\n3/25/2025\n",
        &["day Utf8 2"],
        &["day: the column is text, because some of its dates have the day first and some the month: \
           line 2 '25/3/2025', line 3 '3/25/2025'"],
    )
    .await;
    let days: Vec<String> = (1..=28).map(|day| format!("2025-02-{day:02}")).collect();
    let days: Vec<&str> = days.iter().map(String::as_str).chain(["2025-02-30", "soon"]).collect();
    check(
        "late.csv",
        &file("day", &days[1..]),
        &["day Utf8 29"],
        &["day: the column is text, because 2 of 29 values are not dates: line 29 '2025-02-30', line 30 'soon'"],
    )
    .await;
    check(
        "bad.csv",
        &file("day", &days[..29]),
        &["day Date32 28"],
        &["day: 1 of 29 values is not a date and counts as missing (NULL): line 30 '2025-02-30'"],
    )
    .await;
    let (_folder, source) = made("order.csv", b"day\n13/02/2025\n01/02/2025\n");
    let files = open(&source).unwrap();
    let samples = files.sample("order", "day", &SampleRequest { contains: None, limit: 5 }).await.unwrap();
    assert_eq!(json!(samples.values), json!(["2025-02-01", "2025-02-13"]));
}

#[tokio::test]
async fn codes_stay_text() {
    check("zip.csv", &column("zip", &["02139", "00501"]), &["zip Utf8 40"], &[]).await;
    check("phone.csv", "phone\n+49301234567\n030 1234567\n555-1234\n", &["phone Utf8 3"], &[]).await;
    check("siren.csv", "company\n123 456 789\n987 654 321\n", &["company Utf8 2"], &[]).await;
    check("order.csv", &column("order_id", &["10050-A"]), &["order_id Utf8 40"], &[]).await;
    check("article.csv", &column("article", &["A1", "B2", "C3"]), &["article Utf8 40"], &[]).await;
    check("long.csv", "card\n99999999999999999999\n12345678901234567890\n", &["card Utf8 2"], &[]).await;
    check("address.csv", "ip\n10.0.0.1\n192.168.1.20\n", &["ip Utf8 2"], &[]).await;
    check(
        "typing.csv",
        &column("amount", &["0123"]),
        &["amount Utf8 40"],
        &["amount: the column is text, because 1 of 40 values looks like an identifier: line 2 '0123'"],
    )
    .await;
}

#[tokio::test]
async fn rows_and_encodings_may_be_irregular() {
    check("blanks.csv", "a,b\n 1 , x\n\n2,y\n\n\nabc,z\n", &["a Utf8 3", "b Utf8 3"], &[]).await;
    let text = "name;price\r\nJos\u{e9};5\u{20ac}\r\n\r\nAda;n/a\r\n";
    let windows: Vec<u8> = text.chars().map(|c| if c == '€' { 0x80 } else { c as u8 }).collect();
    let issue = "price: 1 of 2 values is not a number and counts as missing (NULL): line 4 'n/a'";
    let columns = ["name Utf8 2", "price Int64 5.00"];
    check_bytes("windows.csv", &windows, &columns, &[issue], &["it is not UTF-8; it was read as Windows-1252"]).await;
    let utf_16: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    check_bytes("utf16.csv", &utf_16, &columns, &[issue], &["it is not UTF-8; it was read as UTF-16"]).await;
    check_bytes(
        "ragged.csv",
        b"a,b\n1,2\n3\n4,5,6\n",
        &["a Int64 8.00", "b Int64 7.00"],
        &[],
        &[
            "1 row has fewer fields than the header; the missing fields are null",
            "1 row has more fields than the header; the extra fields are ignored",
        ],
    )
    .await;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"a,b\n1,n/a\n2,5\n").unwrap();
    let packed = packed.finish().unwrap();
    let issue = "b: 1 of 2 values is not a number and counts as missing (NULL): line 2 'n/a'";
    check_bytes("packed.csv.gz", &packed, &["a Int64 3.00", "b Int64 5.00"], &[issue], &[]).await;
    let (_folder, source) = made("packed.tsv.gz", &packed);
    assert_eq!(read(&source).await.1.name, "packed");
    for (name, text) in [("list.json.gz", "[{\"a\": 1}, {\"a\": 2}]"), ("lines.jsonl.gz", "{\"a\": 1}\n{\"a\": 2}\n")] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        check_bytes(name, &packed.finish().unwrap(), &["a Int64 3.00"], &[], &[]).await;
    }
}

#[tokio::test]
async fn skips_title_lines_above_the_header() {
    let columns = ["month Utf8 3", "revenue Float64 26.50"];
    let issue = "revenue: 1 of 3 values is not a number and counts as missing (NULL): line 5 'n/a'";
    let problem = "its table starts in line 3; the lines above are skipped";
    let comma = "Sales report 2025\n\nmonth,revenue\nJan,20.5\nFeb,n/a\nMar,6\n";
    for text in [comma.to_owned(), comma.replace(',', ";"), comma.replace(',', "\t"), comma.replace('\n', "\r\n")] {
        check_bytes("report.csv", text.as_bytes(), &columns, &[issue], &[problem]).await;
    }
    let windows = comma.replace("Mar", "M\u{e4}r").chars().map(|c| c as u8).collect::<Vec<_>>();
    check_bytes("old.csv", &windows, &columns, &[issue], &["it is not UTF-8; it was read as Windows-1252", problem])
        .await;
    // Exported by a spreadsheet: all lines have the width of the table, and years are columns.
    check_bytes(
        "years.csv",
        b"Sales,,\n,,\nregion,2024,2025\nNorth,1,2\nSouth,3,4\n",
        &["region Utf8 2", "2024 Int64 4.00", "2025 Int64 6.00"],
        &[],
        &[problem],
    )
    .await;
    let (_folder, source) = made("report.csv", comma.as_bytes());
    let (files, table, _) = read(&source).await;
    // Another process reads the same table.
    assert_eq!(files.data_files().unwrap().open().describe().await.unwrap().0[0].columns, table.columns);
}

#[tokio::test]
async fn keeps_a_first_line_that_may_be_a_header() {
    check_bytes(
        "narrow.csv",
        b"a\nNorth,2,3\nSouth,5,6\n",
        &["a Utf8 2"],
        &[],
        &["2 rows have more fields than the header; the extra fields are ignored"],
    )
    .await;
    check("one.csv", "note\n\nwell\nfine\n", &["note Utf8 2"], &[]).await;
}

#[tokio::test]
async fn infers_types_from_all_rows() {
    let rows: String = (0..30_000).map(|n| format!("{n},2025-01-01\n")).collect();
    let text = format!("a,b\n{rows}0.5,n/a\nx,y\n");
    let (_folder, source) = made("late.csv", text.as_bytes());
    let (files, table, _) = read(&source).await;
    let types: Vec<&str> = table.columns.iter().map(|column| column.data_type.as_str()).collect();
    assert_eq!(types, ["Float64", "Date32"]);
    let said: Vec<String> = table.issues.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "1 of 30002 values is not a number and counts as missing (NULL): line 30003 'x'",
            "2 of 30002 values are not dates and count as missing (NULL): line 30002 'n/a', line 30003 'y'",
        ]
    );
    let statistics = files.statistics("late", &["a".to_owned()]).await.unwrap();
    assert_eq!((statistics[0].cardinality, statistics[0].max.clone()), (30_001, Some(json!(29_999.0))));
}

#[tokio::test]
async fn strict_sources_type_only_uniform_columns() {
    let text = "id,amount,day,plain\n1,10,2025-03-01,1.5\n2,n/a,2025-03-02,\n3,\"1,000\",2025-03-03,2\n";
    let (_folder, source) = made("strict.csv", text.as_bytes());
    let (files, table, _) = read(&source.strict()).await;
    let columns = ["id Int64 6.00", "amount Utf8 3", "day Date32 3", "plain Float64 3.50"];
    assert_eq!(totals(files.as_ref(), &table).await, columns);
    assert!(table.issues.is_empty());
}

#[tokio::test]
async fn surveys_changed_files_again() {
    let (folder, source) = made("grows.csv", b"a\n1\n2\n");
    let (files, table, _) = read(&source).await;
    assert_eq!(totals(files.as_ref(), &table).await, ["a Int64 3.00"]);
    fs::write(folder.path().join("grows.csv"), "a\nx\ny\nz\n").unwrap();
    let rows = files.rows("grows", &[], &[], 10).await.unwrap();
    assert_eq!(rows.rows, [[json!("x")], [json!("y")], [json!("z")]]);
}

#[tokio::test]
async fn reports_an_unclosed_quote() {
    let mut text = b"a,b\n1,\"2\n".to_vec();
    text.resize(80 << 20, b'x');
    let (_folder, source) = made("open.csv", &text);
    let error = open(&source).unwrap().describe().await.unwrap_err();
    assert!(error.to_string().contains("check for an unclosed quote"), "{error}");
}

/// Returns a workbook of these sheets, each given as rows of cells in XML.
fn workbook(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |name: &str, text: &str| {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    };
    let each = |show: &dyn Fn(usize, &str) -> String| {
        sheets.iter().enumerate().map(|(at, (name, _))| show(at + 1, name)).collect::<String>()
    };
    let types = "http://schemas.openxmlformats.org";
    add(
        "[Content_Types].xml",
        &format!(
            "<Types xmlns=\"{types}/package/2006/content-types\"><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
        ),
    );
    add(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{types}/package/2006/relationships\"><Relationship Id=\"r\" \
             Type=\"{types}/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    let relations = each(&|at, _| {
        format!(
            "<Relationship Id=\"r{at}\" Type=\"{types}/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet{at}.xml\"/>"
        )
    });
    add(
        "xl/_rels/workbook.xml.rels",
        &format!("<Relationships xmlns=\"{types}/package/2006/relationships\">{relations}</Relationships>"),
    );
    let list = each(&|at, name| format!("<sheet name=\"{name}\" sheetId=\"{at}\" r:id=\"r{at}\"/>"));
    add(
        "xl/workbook.xml",
        &format!(
            "<workbook xmlns=\"{types}/spreadsheetml/2006/main\" xmlns:r=\"{types}/officeDocument/2006/relationships\"><sheets>{list}</sheets></workbook>"
        ),
    );
    // The second style is a date format.
    add(
        "xl/styles.xml",
        &format!(
            "<styleSheet xmlns=\"{types}/spreadsheetml/2006/main\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
        ),
    );
    for (at, (_, rows)) in sheets.iter().enumerate() {
        let cell = |row: usize, column: usize, cell: &str| {
            let place = format!("{}{}", (b'A' + column as u8) as char, row + 1);
            match (cell.parse::<f64>(), cell.strip_prefix("day ")) {
                _ if cell.is_empty() => String::new(),
                // A value with a leading zero is a text.
                (Ok(number), _) if number.to_string() == *cell => format!("<c r=\"{place}\"><v>{number}</v></c>"),
                (_, Some(day)) => format!("<c r=\"{place}\" s=\"1\"><v>{day}</v></c>"),
                _ => format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>"),
            }
        };
        let row = |(at, cells): (usize, &&[&str])| {
            let cells: String = cells.iter().enumerate().map(|(column, text)| cell(at, column, text)).collect();
            format!("<row r=\"{}\">{cells}</row>", at + 1)
        };
        let rows: String = rows.iter().enumerate().map(row).collect();
        let text =
            format!("<worksheet xmlns=\"{types}/spreadsheetml/2006/main\"><sheetData>{rows}</sheetData></worksheet>");
        add(&format!("xl/worksheets/sheet{}.xml", at + 1), &text);
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn every_sheet_of_a_workbook_is_a_table() {
    let orders: &[&[&str]] = &[
        &["Orders of spring"],
        &[],
        &["id", "day", "amount"],
        &["1", "day 45717", "10.5"],
        &[],
        &["2", "day 45718", "n/a"],
        &["3", "day 45719.5", "1,200.50"],
    ];
    let people: &[&[&str]] = &[&["name", "zip"], &["Ada", "02139"], &["Bob", ""]];
    let bytes = workbook(&[("Orders", orders), ("People", people), ("Empty", &[])]);
    let (_folder, source) = made("shop.xlsx", &bytes);
    let files = open(&source).unwrap();
    let (tables, problems) = files.describe().await.unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["Orders", "People"]);
    assert_eq!(
        totals(files.as_ref(), &tables[0]).await,
        ["id Int64 6.00", "day Timestamp(s) 3", "amount Float64 1211.00"]
    );
    assert_eq!(totals(files.as_ref(), &tables[1]).await, ["name Utf8 2", "zip Utf8 1"]);
    let issue = "1 of 3 values is not a number and counts as missing (NULL): row 6 'n/a'";
    assert_eq!(tables[0].issues.iter().map(ToString::to_string).collect::<Vec<_>>(), [issue]);
    let problems: Vec<String> = problems.into_iter().map(|problem| problem.reason).collect();
    assert_eq!(problems, ["its table starts in row 3; the rows above are skipped"]);
    let samples = files.sample("Orders", "day", &SampleRequest { contains: None, limit: 1 }).await.unwrap();
    assert_eq!(json!(samples.values), json!(["2025-03-01T00:00:00"]));
    // Another process reads the same tables.
    assert_eq!(files.data_files().unwrap().open().describe().await.unwrap().0, tables);
}

#[tokio::test]
async fn the_only_sheet_has_the_name_of_its_file() {
    let bytes = workbook(&[("Sheet1", &[&["a", "b"], &["1", "x"]])]);
    let (_folder, source) = made("sales.xlsx", &bytes);
    let (files, table, _) = read(&source).await;
    assert_eq!(
        (table.name.as_str(), totals(files.as_ref(), &table).await),
        ("sales", strings(&["a Int64 1.00", "b Utf8 1"]))
    );
    let (_folder, source) = made("broken.xlsx", b"PK and so on");
    let error = open(&source).unwrap().describe().await.unwrap_err();
    assert!(error.to_string().contains("it is not an XLSX workbook"), "{error}");
}
