//! Data files, valid and damaged.

use std::fs;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, Date32Array, Decimal128Array, DictionaryArray, DurationSecondArray, Float64Array,
    Int32Array, Int64Array, ListArray, NullArray, StringArray, StructArray, TimestampMillisecondArray, UInt64Array,
};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::arrow::ipc::writer::{FileWriter, StreamWriter};
use datafusion::parquet::arrow::ArrowWriter;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::filter::FilterOp;

/// Creates a folder with these files, and a connector for them.
fn made(kind: SourceKind, files: &[(&str, &[u8])]) -> (TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        paths.push(path);
    }
    let files = Files::new(kind, &paths, false);
    (folder, files)
}

/// Returns `name type=first sample, ...` of each column, and the problems.
async fn described(files: &dyn Connector) -> (Vec<String>, Vec<String>) {
    let (tables, problems) = files.describe().await.unwrap();
    let mut found = Vec::new();
    for table in &tables {
        let columns: Vec<String> = table.columns.iter().map(|c| format!("{} {}", c.name, c.data_type)).collect();
        found.push(format!("{}[{}]: {}", table.name, table.row_count.unwrap(), columns.join(", ")));
    }
    let name = |place: &str| place.rsplit('/').next().unwrap().to_owned();
    (found, problems.iter().map(|p| format!("{}: {}", name(&p.place), p.reason)).collect())
}

async fn check(kind: SourceKind, file: (&str, &str), table: &str, problem: Option<&str>) -> (TempDir, Files) {
    let (folder, files) = made(kind, &[(file.0, file.1.as_bytes())]);
    let (tables, problems) = described(&files).await;
    assert_eq!(tables, [table]);
    assert_eq!(problems.iter().map(String::as_str).collect::<Vec<_>>(), Vec::from_iter(problem));
    (folder, files)
}

async fn check_broken(kind: SourceKind, bytes: &[u8], part: &str) {
    let (_folder, files) = made(kind, &[("broken", bytes)]);
    let error = files.describe().await.unwrap_err();
    assert!(matches!(error, ConnectError::Open { .. }) && error.to_string().contains(part), "{kind:?}: {error}");
    let request = SampleRequest { contains: None, limit: 1 };
    assert!(files.sample("broken", "a", &request).await.is_err());
    assert!(files.statistics("broken", &[]).await.is_err());
}

async fn values_of(files: &Files, column: &str, contains: Option<&str>) -> Value {
    let request = SampleRequest { contains: contains.map(str::to_owned), limit: 10 };
    let samples = files.sample(files.files[0].table(), column, &request).await.unwrap();
    assert!(samples.complete);
    assert_eq!(samples.distinct, samples.values.len() as u64);
    Value::from(samples.values)
}

async fn statistics_of(files: &Files, column: &str) -> Value {
    let columns = [column.to_owned()];
    let mut statistics = files.statistics(files.files[0].table(), &columns).await.unwrap();
    let Statistics { cardinality, min, max, nulls, .. } = statistics.remove(0);
    json!([cardinality, min, max, nulls])
}

#[tokio::test]
async fn a_csv_file_is_a_table() {
    let text = "id,when,\"Full \"\"Name\"\"\",share,ok\n1,2024-01-31,\"Smith, J\",0.5,true\n2,2024-02-01,\"a\nb\",1,false\n3,,,,\n";
    let table = "people 2[3]: id Int64, when Date32, Full \"Name\" Utf8, share Float64, ok Boolean";
    let (_folder, files) = check(SourceKind::Csv, ("a %[?]#/people 2.csv", text), table, None).await;
    assert_eq!(values_of(&files, "Full \"Name\"", None).await, json!(["Smith, J", "a\nb"]));
    assert_eq!(values_of(&files, "WHEN", Some("-02-")).await, json!(["2024-02-01"]));
    assert_eq!(values_of(&files, "ok", None).await, json!([false, true]));
    assert_eq!(statistics_of(&files, "share").await, json!([2, 0.5, 1.0, 1]));
    assert_eq!(statistics_of(&files, "when").await, json!([2, "2024-01-31", "2024-02-01", 1]));
}

#[tokio::test]
async fn detects_the_separator() {
    let table = "t[1]: a Int64, b Utf8";
    check(SourceKind::Csv, ("t.tsv", "a\tb\n1\tx,y,z\n"), table, None).await;
    check(SourceKind::Csv, ("t.csv", "a;b\n1;x\n"), table, None).await;
    check(SourceKind::Csv, ("t.csv", "a,\"b\"\n1,\"x;;\"\n"), table, None).await;
    check(SourceKind::Csv, ("t.csv", "a,\"b;;\"\n1,x\n"), "t[1]: a Int64, b;; Utf8", None).await;
}

/// Checks the columns of a file, and the cells that are examples of its issues.
async fn check_cells(text: &str, columns: &str, examples: &[&str]) {
    let (_folder, files) = made(SourceKind::Csv, &[("t.csv", text.as_bytes())]);
    assert_eq!(described(&files).await.0, [columns], "{text:?}");
    let issues = files.describe().await.unwrap().0.remove(0).issues;
    let found: Vec<&str> = issues.iter().flat_map(|issue| &issue.examples).map(|cell| cell.value.as_str()).collect();
    assert_eq!(found, examples, "{text:?}");
}

#[tokio::test]
async fn thousands_with_points_are_open_in_files_with_semicolons() {
    let open = ["1.234", "2.500", "12.000"];
    check_cells("a;b\n1.234;M\n2.500;G\n12.000;H\n", "t[3]: a Utf8, b Utf8", &open).await;
    check_cells("a;b\n1.234 €;M\n500 €;G\n", "t[2]: a Utf8, b Utf8", &["1.234 €"]).await;
    // Other cells and columns decide.
    check_cells("a;b\n1.234;0,5\n2.500;7,25\n", "t[2]: a Int64, b Float64", &[]).await;
    check_cells("a;b\n1.234;0.5\n2.500;7.25\n", "t[2]: a Float64, b Float64", &[]).await;
    check_cells("a;b\n1.234;M\n2.500.000;G\n", "t[2]: a Int64, b Utf8", &[]).await;
    check_cells("a;b\n1.234;M\n0.125;G\n", "t[2]: a Float64, b Utf8", &[]).await;
    check_cells("a,b\n1.234,M\n2.500,G\n", "t[2]: a Float64, b Utf8", &[]).await;
}

#[tokio::test]
async fn lines_are_counted_with_mixed_line_ends() {
    let (_folder, files) = made(
        SourceKind::Csv,
        &[("t.csv", b"Report\n\nmonth;amount\r\nJan;1\r\n\r\n\"Feb\nMar\";2\r\nApr;n/a\r\nMay;4\r\n")],
    );
    let issues = files.describe().await.unwrap().0.remove(0).issues;
    assert_eq!(issues[0].examples[0].line, 8);
}

#[tokio::test]
async fn header_names_are_made_usable() {
    let table = "t[1]: a Int64, a_2 Int64, column_3 Int64";
    check(SourceKind::Csv, ("t.csv", "\u{feff}a,a,\n1,2,3\n"), table, None).await;
    check(SourceKind::Csv, ("t.csv", "a,b\n"), "t[0]: a Utf8, b Utf8", None).await;
}

#[tokio::test]
async fn later_rows_may_contradict_the_first_ones() {
    let ones = "1,1,,2024-01-01\n".repeat(1200);
    let text = format!("a,b,c,d\n{ones}0.5,x,late,2024-13-77\n");
    let table = "t[1201]: a Float64, b Int64, c Utf8, d Date32";
    let (folder, files) = check(SourceKind::Csv, ("t.csv", &text), table, None).await;
    assert_eq!(values_of(&files, "b", None).await, json!([1]));
    assert_eq!(values_of(&files, "c", None).await, json!(["late"]));
    // The same without a preceding description.
    let files = Files::new(SourceKind::Csv, &[folder.path().join("t.csv")], false);
    assert_eq!(statistics_of(&files, "a").await, json!([2, 0.5, 1.0, 0]));
}

#[tokio::test]
async fn ragged_rows_are_read_and_reported() {
    let text = "a,b\n1,2\n3\n4,5\n6\n";
    let note = "t.csv:3: 2 rows have fewer fields than the header; the missing fields are null";
    let (_folder, files) = check(SourceKind::Csv, ("t.csv", text), "t[4]: a Int64, b Int64", Some(note)).await;
    assert_eq!(statistics_of(&files, "b").await, json!([2, 2, 5, 2]));
    let note = "t.csv:2: 1 row has more fields than the header; the extra fields are ignored";
    check(SourceKind::Csv, ("t.csv", "a,b\n1,2,3\n4,5\n"), "t[2]: a Int64, b Int64", Some(note)).await;
}

#[tokio::test]
async fn text_in_other_encodings_is_read_and_reported() {
    let (_folder, files) = made(SourceKind::Csv, &[("t.csv", b"name\nJos\xe9\n")]);
    let (tables, problems) = described(&files).await;
    assert_eq!((tables[0].as_str(), problems.len()), ("t[1]: name Utf8", 1));
    assert_eq!(values_of(&files, "name", Some("JOSÉ")).await, json!(["José"]));
}

#[tokio::test]
async fn json_in_any_layout_is_a_table() {
    let table = "t[2]: a Int64, b Utf8";
    for text in [
        r#"[{"a": 1, "b": "x"}, {"a": 2}]"#,
        "{\"a\": 1, \"b\": \"x\"}\n{\"a\": 2}\n",
        "\u{feff}[{\"a\": 1, \"b\": \"x\"}, {\"a\": 2}]",
        "{\n\"a\": 1,\n\"b\": \"x\"\n}\n{\n\"a\": 2\n}",
    ] {
        for kind in [SourceKind::Json, SourceKind::Jsonl] {
            let (_folder, files) = check(kind, ("t.json", text), table, None).await;
            assert_eq!(values_of(&files, "a", None).await, json!([1, 2]));
        }
    }
    check(SourceKind::Json, ("t.json", "{\n\"a\": 1\n}"), "t[1]: a Int64", None).await;
    check(SourceKind::Json, ("t.json", "[1, \"x\"]"), "t[2]: value Utf8", None).await;
}

#[tokio::test]
async fn nested_values_are_shown_as_json() {
    let text = r#"{"a": {"x": 1, "y": ["p", null]}, "b": [1, 2]}
        {"a": {"x": 1, "y": ["p", null]}, "b": null}"#;
    let table = "t[2]: a Struct(x Int64, y List(Utf8)), b List(Int64)";
    let (_folder, files) = check(SourceKind::Jsonl, ("t.jsonl", text), table, None).await;
    assert_eq!(values_of(&files, "a", Some("\"P\"")).await, json!([{"x": 1, "y": ["p", null]}]));
    assert_eq!(values_of(&files, "b", None).await, json!([[1, 2]]));
    assert_eq!(statistics_of(&files, "b").await, json!([1, null, null, 1]));
}

#[tokio::test]
async fn json_of_mixed_types_is_text() {
    let text = r#"[{"a": 1, "b": {"x": 1}, "c": 1}, {"a": "x", "b": 2, "c": 2.5}, {"d": 18446744073709551615}]"#;
    let table = "t[3]: a Utf8, b Utf8, c Float64, d Utf8";
    let (_folder, files) = check(SourceKind::Json, ("t.json", text), table, None).await;
    assert_eq!(values_of(&files, "b", None).await, json!(["2", "{\"x\":1}"]));
    assert_eq!(values_of(&files, "d", None).await, json!(["18446744073709551615"]));
}

#[tokio::test]
async fn keeps_the_valid_records_of_invalid_json() {
    let note = "t.jsonl:2: 1 line was skipped because of invalid JSON: expected `,` or `}`";
    let text = "{\"a\": 1}\n{\"a\": 2\n{\"a\": 3}\n";
    check(SourceKind::Jsonl, ("t.jsonl", text), "t[2]: a Int64", Some(note)).await;
    let note = "t.json:2: the records from here on are skipped: EOF while parsing an object";
    check(SourceKind::Json, ("t.json", "[{\"a\": 1},\n{\"a\": 2"), "t[1]: a Int64", Some(note)).await;
    let note = "t.json:2: the records from here on are skipped: the list does not end";
    for text in ["[{\"a\": 1},\n", "[{\"a\": 1}\n"] {
        check(SourceKind::Json, ("t.json", text), "t[1]: a Int64", Some(note)).await;
    }
    let note = "t.json:2: the records from here on are skipped: text follows the end of the list";
    for text in ["[{\"a\": 1}]\nend", "[{\"a\": 1}]\n[{\"a\": 2}]"] {
        check(SourceKind::Json, ("t.json", text), "t[1]: a Int64", Some(note)).await;
    }
    let text = "[{\"a\": \"]\\\"[\", \"b\": {\"c\": [1]}}]\n";
    check(SourceKind::Json, ("t.json", text), "t[1]: a Utf8, b Struct(c List(Int64))", None).await;
}

#[tokio::test]
async fn a_skipped_total_is_in_no_query() {
    let text = "id,hours\n1,1.5\n2,2.5\n3,3\nTotal,7\n";
    let (_folder, files) = check(SourceKind::Csv, ("t.csv", text), "t[3]: id Int64, hours Float64", None).await;
    assert_eq!(values_of(&files, "hours", None).await, json!([1.5, 2.5, 3.0]));
    assert_eq!(statistics_of(&files, "id").await, json!([3, 1, 3, 0]));
}

#[tokio::test]
async fn invalid_files_report_why() {
    let kinds = [SourceKind::Csv, SourceKind::Json, SourceKind::Jsonl, SourceKind::Parquet, SourceKind::Arrow];
    for kind in kinds {
        check_broken(kind, b"", "the file is empty").await;
        let missing = Files::new(kind, &["/nowhere/x".into()], false).describe().await.unwrap_err();
        assert!(missing.to_string().contains("no such file"), "{missing}");
    }
    check_broken(SourceKind::Json, b"hello", "it is not JSON: line 1: expected value").await;
    check_broken(SourceKind::Json, b"[]", "no records").await;
    check_broken(SourceKind::Parquet, b"PAR1 cut off", "Parquet").await;
    check_broken(SourceKind::Arrow, b"ARROW1\0\0 cut off", "truncated").await;
    check_broken(SourceKind::Arrow, b"some other text", "neither an Arrow file nor").await;
    check_broken(SourceKind::Arrow, b"FEA1 and so on", "version 1").await;
}

#[tokio::test]
async fn one_invalid_file_does_not_affect_others() {
    let (_folder, files) = made(SourceKind::Json, &[("a.json", b"[{\"x\": 1}]"), ("b.json", b"?"), ("c.json", b"")]);
    let (tables, problems) = described(&files).await;
    assert_eq!(tables, ["a[1]: x Int64"]);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("b.json: ") && problems[1].starts_with("c.json: "), "{problems:?}");
}

/// Columns of every type with a layout of its own.
fn typed() -> RecordBatch {
    let structs = StructArray::from(vec![(
        Arc::new(datafusion::arrow::datatypes::Field::new("x", DataType::Int32, true)),
        Arc::new(Int32Array::from(vec![1, 2, 1])) as ArrayRef,
    )]);
    let decimals = |digits: [i128; 3], precision| {
        Arc::new(Decimal128Array::from(digits.to_vec()).with_precision_and_scale(precision, 2).unwrap()) as ArrayRef
    };
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    let dictionary: DictionaryArray<Int32Type> = vec!["b", "a", "b"].into_iter().collect();
    RecordBatch::try_from_iter_with_nullable([
        ("number", Arc::new(UInt64Array::from(vec![u64::MAX, 1, 1])) as ArrayRef, true),
        ("price", decimals([1230, -5, 1230], 10), true),
        ("huge", decimals([12_345_678_901_234_567_890_123, 0, 0], 38), true),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 1])), true),
        ("moment", Arc::new(TimestampMillisecondArray::from(vec![0, 1_500, 1_500]).with_timezone("UTC")), true),
        ("bytes", Arc::new(BinaryArray::from(vec![b"abc".as_slice(), b"", b""])), true),
        ("word", Arc::new(dictionary), true),
        ("nothing", Arc::new(NullArray::new(3)), true),
        ("lasts", Arc::new(DurationSecondArray::from(vec![1, 60, 60])), true),
        ("thing", Arc::new(structs), true),
        ("list", Arc::new(list), true),
        ("real", Arc::new(Float64Array::from(vec![f64::INFINITY, 0.1, 0.1])), true),
    ])
    .unwrap()
}

async fn check_typed(files: &Files) {
    assert_eq!(values_of(files, "number", None).await, json!([1, u64::MAX]));
    assert_eq!(values_of(files, "price", None).await, json!([12.3, -0.05]));
    assert_eq!(values_of(files, "huge", None).await, json!([0.0, "123456789012345678901.23"]));
    assert_eq!(values_of(files, "day", None).await, json!(["1970-01-02", "1970-01-01"]));
    assert_eq!(values_of(files, "moment", None).await, json!(["1970-01-01T00:00:01.500Z", "1970-01-01T00:00:00Z"]));
    assert_eq!(values_of(files, "bytes", None).await, json!(["<blob 0 bytes>", "<blob 3 bytes>"]));
    assert_eq!(values_of(files, "bytes", Some("a")).await, json!([]));
    assert_eq!(values_of(files, "word", None).await, json!(["b", "a"]));
    assert_eq!(values_of(files, "nothing", None).await, json!([]));
    assert_eq!(values_of(files, "lasts", None).await, json!(["PT60S", "PT1S"]));
    assert_eq!(values_of(files, "thing", None).await, json!([{"x": 1}, {"x": 2}]));
    assert_eq!(values_of(files, "list", Some("1")).await, json!([[1, null]]));
    assert_eq!(values_of(files, "real", None).await, json!([0.1, "inf"]));

    assert_eq!(statistics_of(files, "number").await, json!([2, 1, u64::MAX, 0]));
    assert_eq!(statistics_of(files, "huge").await, json!([2, 0.0, "123456789012345678901.23", 0]));
    assert_eq!(statistics_of(files, "bytes").await, json!([2, "<blob 0 bytes>", "<blob 3 bytes>", 0]));
    assert_eq!(statistics_of(files, "word").await, json!([2, "a", "b", 0]));
    assert_eq!(statistics_of(files, "nothing").await, json!([0, null, null, 3]));
    assert_eq!(statistics_of(files, "thing").await, json!([2, null, null, 0]));
    assert_eq!(files.statistics("T", &[]).await.unwrap().len(), 12);
}

#[tokio::test]
async fn arrow_files_and_streams_keep_their_types() {
    let batch = typed();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let (file, stream) = (file.into_inner().unwrap(), stream.into_inner().unwrap());
    check_broken(SourceKind::Arrow, &file[..file.len() / 2], "truncated").await;
    check_broken(SourceKind::Arrow, &stream[..stream.len() / 2], "").await;
    for bytes in [file, stream] {
        let (_folder, files) = made(SourceKind::Arrow, &[("t.arrow", &bytes)]);
        let (tables, problems) = described(&files).await;
        assert_eq!(problems, [""; 0]);
        let types = "t[3]: number UInt64, price Decimal128(10, 2), huge Decimal128(38, 2), day Date32, \
             moment Timestamp(ms, \"UTC\"), bytes Binary, word Utf8, nothing Null, lasts Duration(s), \
             thing Struct(x Int32), list List(Int32), real Float64";
        assert_eq!(tables, [types]);
        check_typed(&files).await;
    }
}

#[tokio::test]
async fn parquet_files_keep_their_types_and_descriptions() {
    let batch = typed();
    let mut schema = datafusion::arrow::datatypes::Schema::clone(&batch.schema());
    schema.metadata.insert("comment".into(), "All types.".into());
    let mut fields = schema.fields.to_vec();
    let day = datafusion::arrow::datatypes::Field::clone(&fields[3]);
    fields[3] = Arc::new(day.with_metadata([("Description".to_owned(), "The day.".to_owned())].into()));
    schema.fields = fields.into();
    let schema = Arc::new(schema);
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
    writer.write(&batch.with_schema(schema).unwrap()).unwrap();
    let bytes = writer.into_inner().unwrap();

    let (_folder, files) =
        made(SourceKind::Parquet, &[("t.parquet", &bytes), ("cut.parquet", &bytes[..bytes.len() / 2])]);
    let (tables, problems) = files.describe().await.unwrap();
    assert_eq!(tables[0].description, "All types.");
    assert_eq!(tables[0].columns[3].description, "The day.");
    assert_eq!(problems.len(), 1, "{problems:?}");
    check_typed(&files).await;
}

#[tokio::test]
async fn samples_are_ordered_by_frequency_and_report_completeness() {
    let (_folder, files) = made(SourceKind::Csv, &[("t.csv", b"c\nb\na\nc\nc\n")]);
    let sample = |limit| {
        let request = SampleRequest { contains: None, limit };
        let files = &files;
        async move { files.sample("t", "c", &request).await.unwrap() }
    };
    assert_eq!(sample(2).await, Samples { values: vec![json!("c"), json!("a")], distinct: 3, complete: false });
    assert_eq!(sample(0).await, Samples { values: Vec::new(), distinct: 3, complete: false });
}

#[tokio::test]
async fn searches_case_insensitively_and_escapes_wildcards() {
    let (_folder, files) = made(SourceKind::Csv, &[("t.csv", "c\n50%\n500\nA_b\nÉa\n".as_bytes())]);
    assert_eq!(values_of(&files, "c", Some("50%")).await, json!(["50%"]));
    assert_eq!(values_of(&files, "c", Some("a_B")).await, json!(["A_b"]));
    assert_eq!(values_of(&files, "c", Some("éA")).await, json!(["Éa"]));
    assert_eq!(values_of(&files, "c", Some("'")).await, json!([]));
}

#[tokio::test]
async fn rejects_unknown_names() {
    let (_folder, files) = made(SourceKind::Csv, &[("t.csv", b"c\n1\n")]);
    let request = SampleRequest { contains: None, limit: 1 };
    for (table, column, part) in [("t", "d", "no column d"), ("u", "c", "no such table")] {
        for error in [
            files.sample(table, column, &request).await.unwrap_err(),
            files.statistics(table, &[column.to_owned()]).await.unwrap_err(),
        ] {
            assert!(matches!(error, ConnectError::Read { .. }) && error.to_string().contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn reads_the_current_state_of_a_growing_file() {
    let (folder, files) = made(SourceKind::Csv, &[("t.csv", b"c\n1\n")]);
    assert_eq!(described(&files).await.0, ["t[1]: c Int64"]);
    fs::write(folder.path().join("t.csv"), "c\n1\n2\n").unwrap();
    assert_eq!(values_of(&files, "c", None).await, json!([1, 2]));
    assert_eq!(described(&files).await.0, ["t[2]: c Int64"]);
}

#[tokio::test]
async fn a_file_that_is_removed_is_an_error() {
    for (kind, name, text) in [(SourceKind::Csv, "t.csv", "c\n1\n"), (SourceKind::Json, "t.json", "[{\"c\": 1}]")] {
        let (folder, files) = made(kind, &[(name, text.as_bytes())]);
        assert_eq!(values_of(&files, "c", None).await, json!([1]));
        fs::remove_file(folder.path().join(name)).unwrap();
        let request = SampleRequest { contains: None, limit: 1 };
        let errors = [files.sample("t", "c", &request).await.err(), files.plan_scan("t").await.err()];
        for error in errors.map(Option::unwrap) {
            assert!(error.to_string().contains("there is no such file"), "{error}");
        }
    }
}

#[tokio::test]
async fn wide_tables_are_measured_in_parts() {
    let names: Vec<String> = (0..130).map(|n| format!("c{n}")).collect();
    let row: Vec<String> = (0..130).map(|n| n.to_string()).collect();
    let (_folder, files) =
        made(SourceKind::Csv, &[("t.csv", format!("{}\n{}\n", names.join(","), row.join(",")).as_bytes())]);
    let statistics = files.statistics("t", &[]).await.unwrap();
    assert_eq!(statistics.len(), 130);
    assert_eq!((statistics[129].column.as_str(), &statistics[129].max), ("c129", &Some(json!(129))));
}

#[tokio::test]
async fn integers_keep_all_their_digits() {
    let batch = RecordBatch::try_from_iter([("i", Arc::new(Int64Array::from(vec![i64::MIN])) as ArrayRef)]).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let (_folder, files) = made(SourceKind::Arrow, &[("t.arrow", &file.into_inner().unwrap())]);
    assert_eq!(values_of(&files, "i", Some("-922")).await, json!([i64::MIN]));
    assert_eq!(values_of(&files, "i", Some("x")).await, json!([]));
    let text = StringArray::from(vec!["ä".repeat(300)]);
    let batch = RecordBatch::try_from_iter([("s", Arc::new(text) as ArrayRef)]).unwrap();
    assert_eq!(values(batch.column(0), &DataType::Utf8)[0].as_str().unwrap().chars().count(), 200);
}

/// Returns a Parquet file with one column of numbers.
fn numbers(name: &str, values: &[i64]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([(name, Arc::new(Int64Array::from(values.to_vec())) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn partitioned_files_are_one_table() {
    let (first, second, third) = (numbers("n", &[1, 2]), numbers("n", &[3]), numbers("m", &[4]));
    let paths = [
        ("sales/year=2023/day=2023-01-31/by=a%2Fb/x.parquet", first.as_slice()),
        ("sales/year=2024/day=2024-02-01/by=__HIVE_DEFAULT_PARTITION__/x.parquet", second.as_slice()),
        // A file may have more or fewer columns.
        ("sales/year=2024/day=2024-02-02/by=c/x y#.parquet", third.as_slice()),
    ];
    let (folder, files) = made(SourceKind::Parquet, &paths);
    let (tables, problems) = described(&files).await;
    assert_eq!(tables, ["sales[4]: n Int64, m Int64, year Int64, day Date32, by Utf8"]);
    assert_eq!(problems, [] as [&str; 0]);
    assert_eq!(values_of(&files, "by", None).await, json!(["a/b", "c"]));
    assert_eq!(statistics_of(&files, "day").await, json!([3, "2023-01-31", "2024-02-02", 0]));

    let year = FilterCondition { column: "year".into(), op: FilterOp::Eq, value: json!(2024) };
    let rows = files.rows("sales", &["n".into(), "m".into(), "by".into()], &[year], 10).await.unwrap();
    let mut found = rows.rows;
    found.sort_by_key(|row| format!("{row:?}"));
    assert_eq!(json!(found), json!([[null, 4, "c"], [3, null, null]]));

    // Another process opens the same table.
    let handed = files.data_files().unwrap();
    assert_eq!(handed.files.len(), 1);
    assert_eq!(described(handed.open().as_ref()).await.0, tables);

    // A damaged file is named.
    fs::write(folder.path().join(paths[1].0), "PAR1").unwrap();
    let files = Files::new(SourceKind::Parquet, &paths.map(|(path, _)| folder.path().join(path)), false);
    let error = files.describe().await.unwrap_err().to_string();
    assert!(error.contains("HIVE_DEFAULT_PARTITION__/x.parquet"), "{error}");
}
