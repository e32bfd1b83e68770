//! Files crafted to exhaust memory, stack or time: each is rejected or partially read, and reports it.

use std::{fs, future::Future, sync::Arc, time::Duration};

use datafusion::{
    arrow::{
        array::{ArrayRef, Int64Array, RecordBatch},
        ipc::writer::{FileWriter, StreamWriter},
    },
    parquet::arrow::ArrowWriter,
    prelude::{SessionConfig, SessionContext},
};
use prospector_connect::rows::SampleRequest;
use prospector_connect::source::SourceKind;
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector, open, source::Source};
use prospector_core::Problem;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Time limit per file, whatever its number of columns or fields; quadratic time would take minutes.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Maximum number of columns per table.
const MAX_COLUMNS: usize = 10_000;

/// Creates a table `t` of that file.
fn made(kind: SourceKind, bytes: &[u8]) -> (TempDir, Arc<dyn Connector>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.file");
    fs::write(&path, bytes).unwrap();
    (folder, open(&Source::files(kind, vec![path])).unwrap())
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIME_LIMIT, work).await.expect("it takes too long")
}

async fn read(kind: SourceKind, bytes: &[u8]) -> (TempDir, Arc<dyn Connector>, Table, Vec<Problem>) {
    let (folder, files) = made(kind, bytes);
    let (mut tables, problems) = in_time(files.describe()).await.unwrap();
    (folder, files, tables.remove(0), problems)
}

async fn check_refused(kind: SourceKind, bytes: &[u8], reason: &str) {
    let files = check_undescribed(kind, bytes, reason).await;
    assert!(in_time(files.1.rows("t", &[], &[], 1)).await.is_err());
}

async fn check_undescribed(kind: SourceKind, bytes: &[u8], reason: &str) -> (TempDir, Arc<dyn Connector>) {
    let (folder, files) = made(kind, bytes);
    let error = in_time(files.describe()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Open { .. }) && error.to_string().contains(reason), "{kind}: {error}");
    (folder, files)
}

async fn values(files: &Arc<dyn Connector>, column: &str) -> Vec<Value> {
    let request = SampleRequest { contains: None, limit: 3 };
    in_time(files.sample("t", column, &request)).await.unwrap().values
}

async fn check_wide(kind: SourceKind, text: &str, rows: u64) {
    let (_folder, files, table, problems) = read(kind, text.as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count), (MAX_COLUMNS, Some(rows)));
    let reasons: Vec<&str> = problems.iter().map(|problem| problem.reason.as_str()).collect();
    assert!(reasons.contains(&"it has 50000 columns, and only the first 10000 are used"), "{reasons:?}");
    for column in [&table.columns[0], &table.columns[MAX_COLUMNS - 1]] {
        assert!(!values(&files, &column.name).await.is_empty(), "{}", column.name);
    }
    let request = SampleRequest { contains: None, limit: 1 };
    assert!(files.sample("t", "c49999", &request).await.is_err());
}

#[tokio::test]
async fn limits_the_columns_of_a_csv_file() {
    let names: Vec<String> = (0..50_000).map(|n| format!("c{n}")).collect();
    let ones = vec!["1"; names.len()].join(",");
    check_wide(SourceKind::Csv, &format!("{}\n{ones}\n{ones}\n", names.join(",")), 2).await;
    // Every name must be made unique.
    check_wide(SourceKind::Csv, &format!("{}\n{ones}\n{ones},x\n", vec!["same"; names.len()].join(",")), 2).await;
}

#[tokio::test]
async fn limits_the_fields_of_a_json_file() {
    let record: Map<String, Value> = (0..50_000).map(|n| (format!("c{n}"), json!(1))).collect();
    let record = Value::from(record);
    check_wide(SourceKind::Jsonl, &format!("{record}\n{record}\n"), 2).await;
    // A later row has another type, so the whole file is loaded.
    check_wide(SourceKind::Jsonl, &format!("{}{{\"c0\": \"x\"}}\n", format!("{record}\n").repeat(2)), 3).await;
}

/// Returns an object with that many fields, each an object with that many fields.
fn nested_records(fields: usize, fields_of_each: usize) -> Value {
    let each: Map<String, Value> = (0..fields_of_each).map(|n| (format!("f{n}"), json!(n))).collect();
    (0..fields).map(|n| (format!("k{n}"), Value::from(each.clone()))).collect::<Map<_, _>>().into()
}

/// A reader allocates 8,192 rows of all nested fields at once: 7 GB for these.
#[tokio::test]
async fn limits_the_nested_fields_of_a_json_file() {
    let wide = nested_records(500, 100);
    // The only column is read as text.
    let (_folder, files, table, _) = read(SourceKind::Jsonl, format!("{}\n", json!({"a": wide})).as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count), (1, Some(1)));
    assert_eq!(table.columns[0].data_type, "Utf8");
    assert_eq!(in_time(files.rows("t", &[], &[], 1)).await.unwrap().rows.len(), 1);

    // So are those of a record with other columns.
    let text = format!("{}\n", json!({"a": wide, "b": {"c": 1}, "d": 2}));
    let (_folder, files, table, _) = read(SourceKind::Jsonl, text.as_bytes()).await;
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names, table.columns[0].data_type.as_str()), (vec!["a", "b", "d"], "Utf8"));
    assert_eq!(values(&files, "d").await, [json!(2)]);
    assert_eq!(in_time(files.statistics("t", &[])).await.unwrap().len(), 3);
}

/// The memory that is allocated for a batch depends on the nested fields of all columns that are read.
#[tokio::test]
async fn limits_the_rows_read_at_once_by_nested_fields() {
    let text = format!("{}\n", json!({"a": nested_records(90, 100), "b": 1})).repeat(150);
    let (_folder, files, table, problems) = read(SourceKind::Jsonl, text.as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count, problems.len()), (2, Some(150), 0));
    let plan = files.scan("t").await.unwrap().unwrap();
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    let batches = session.execute_logical_plan(plan).await.unwrap().collect().await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 150);
    assert!(batches.iter().all(|batch| batch.num_rows() <= (1 << 20) / 9_092), "{}", batches[0].num_rows());
}

#[tokio::test]
async fn reads_a_few_thousand_columns() {
    let names: Vec<String> = (0..3_000).map(|n| format!("c{n}")).collect();
    let row: Vec<String> = (0..3_000).map(|n| format!("{n}.5")).collect();
    let text = format!("{}\n{}\n", names.join(";"), row.join(";"));
    let (_folder, files, table, problems) = read(SourceKind::Csv, text.as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count, problems.len()), (3_000, Some(1), 0));
    assert_eq!(values(&files, "c2999").await, [json!(2999.5)]);
}

#[tokio::test]
async fn limits_the_memory_of_sparse_rows() {
    let names: Vec<String> = (0..9_000).map(|n| format!("c{n}")).collect();
    let text = format!("{}\n{}", names.join(","), "1\n".repeat(20_000));
    let (_folder, files, table, _) = read(SourceKind::Csv, text.as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count), (9_000, Some(20_000)));
    assert_eq!(values(&files, "c0").await, [json!(1)]);
    let value = |n: usize| if n > 11_000 { "\"x\"" } else { "1" };
    let records: String = (0..20_000).map(|n| format!("{{\"c{}\": {}}}\n", n % 9_000, value(n))).collect();
    check_undescribed(SourceKind::Jsonl, records.as_bytes(), "rows lack most of its 9000 columns").await;
}

#[tokio::test]
async fn rejects_an_endless_header() {
    check_refused(SourceKind::Csv, &b"a,".repeat(9 << 20), "a row or the header is too long").await;
}

#[tokio::test]
async fn limits_wide_rows_and_deep_records() {
    let long = format!("a,b\n1,2\n{}\n", vec!["3"; 1_000_000].join(","));
    let (_folder, files, table, problems) = read(SourceKind::Csv, long.as_bytes()).await;
    assert_eq!((table.columns.len(), table.row_count), (2, Some(2)));
    assert!(problems[0].reason.contains("more fields than the header"), "{problems:?}");
    assert_eq!(values(&files, "b").await.len(), 2);

    let deep = format!("{{\"a\": 1}}\n{{\"a\": {}1{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let (_folder, files) = made(SourceKind::Jsonl, deep.as_bytes());
    match in_time(files.describe()).await {
        Ok((tables, problems)) => {
            assert_eq!(tables[0].row_count, Some(1));
            assert!(problems[0].reason.contains("recursion limit"), "{problems:?}");
        }
        Err(error) => assert!(matches!(error, ConnectError::Open { .. }), "{error}"),
    }
}

fn batch() -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    RecordBatch::try_from_iter([("a", column)]).unwrap()
}

#[tokio::test]
async fn rejects_arrow_files_that_declare_a_terabyte() {
    let mut file = Vec::new();
    let mut writer = FileWriter::try_new(&mut file, &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    for good in [file, stream] {
        let (_folder, _, table, _) = read(SourceKind::Arrow, &good).await;
        assert_eq!(table.row_count, Some(1_000));
        // Covers every position of the length, with or without padding.
        let is_length = |at: &usize| {
            let eight = good.get(*at..*at + 8).and_then(|eight| eight.try_into().ok()).map(i64::from_le_bytes);
            eight.is_some_and(|length| (8_000..8_256).contains(&length))
        };
        let places: Vec<usize> = (0..good.len()).filter(is_length).collect();
        assert!(!places.is_empty());
        let mut refused = 0;
        for at in places {
            let mut bad = good.clone();
            bad[at..at + 8].copy_from_slice(&(1_i64 << 40).to_le_bytes());
            let (_folder, files) = made(SourceKind::Arrow, &bad);
            let rows = in_time(files.rows("t", &[], &[], 1)).await;
            refused += usize::from(rows.is_err_and(|error| error.to_string().contains("exceeds its size")));
        }
        assert!(refused > 0);
    }
}

/// Returns a Parquet file with only a schema of that nesting depth.
fn nested(depth: usize) -> Vec<u8> {
    // In Thrift's compact protocol: field 1, the version; field 2, a list of structs, each with a repetition (field 3), a
    // name (4) and one child (5).
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    let mut count = depth;
    while count > 0x7f {
        footer.push((count & 0x7f) as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    (0..depth).for_each(|_| footer.extend([0x35, 0x02, 0x18, 0x01, b'a', 0x15, 0x02, 0x00]));
    footer.push(0);
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1".as_slice(), &footer, &length, b"PAR1"].concat()
}

#[tokio::test]
async fn rejects_deeply_nested_parquet_schemas() {
    check_refused(SourceKind::Parquet, &nested(200_000), "nested more than 200 levels deep").await;
    // At the maximum depth, the file is rejected for other damage.
    check_refused(SourceKind::Parquet, &nested(150), "").await;
    let mut good = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut good, batch().schema(), None).unwrap();
    writer.write(&batch()).unwrap();
    writer.close().unwrap();
    assert_eq!(read(SourceKind::Parquet, &good).await.2.row_count, Some(1_000));
}
