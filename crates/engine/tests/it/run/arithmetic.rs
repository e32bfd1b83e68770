//! Arithmetic in this process fails on overflow, and never returns another number.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, UInt64Array};
use datafusion::parquet::arrow::ArrowWriter;
use prospector_connect::{Connector, open, source::Source as Place, source::SourceKind};
use prospector_engine::{Engine, FailureCode};
use serde_json::{Value, json};

use crate::support::source;

/// Rows with the extreme values of their types, and small ones, distinguished by `part`.
fn extremes(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("t.parquet");
    let part: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2, 2, 3, 3]));
    let big: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX, 1, i64::MIN, -1, 2, 3]));
    let small: ArrayRef = Arc::new(Int32Array::from(vec![i32::MAX, 1, i32::MIN, -1, 2, 3]));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 1, 0, 0, 2, 3]));
    let most = 9 * 10_i128.pow(37);
    let digits = Decimal128Array::from(vec![most, most, -most, -most, 2, 3]).with_precision_and_scale(38, 0).unwrap();
    let columns: [(&str, ArrayRef); 5] =
        [("part", part), ("big", big), ("small", small), ("unsigned", unsigned), ("digits", Arc::new(digits))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    open(&Place::files(SourceKind::Parquet, vec![path])).unwrap()
}

async fn engine(folder: &Path) -> Arc<Engine> {
    super::over(vec![source("f", extremes(folder)).await])
}

async fn rejects(engine: &Engine, select: &str) {
    let sql = format!("SELECT {select}");
    let failure = match engine.run(&sql, None, 50).await {
        Err(failure) => failure,
        Ok(outcome) => panic!("{sql}: {:?}", outcome.rows.rows),
    };
    assert_eq!(failure.code, FailureCode::TypeMismatch, "{sql}: {failure:?}");
    let advice = failure.suggestion.unwrap_or_default();
    assert!(advice.contains("DECIMAL(38, 0)") && advice.contains("DOUBLE"), "{sql}: {advice}");
}

/// A condition may be computed over wider numbers; its result is then correct, and not an error.
async fn rejects_or_gives(engine: &Engine, select: &str, expected: Value) {
    match engine.run(&format!("SELECT {select}"), None, 50).await {
        Ok(outcome) => assert_eq!(json!(outcome.rows.rows), expected, "{select}"),
        Err(_) => rejects(engine, select).await,
    }
}

async fn gives(engine: &Engine, select: &str, expected: Value) {
    let sql = format!("SELECT {select}");
    let outcome = engine.run(&sql, None, 50).await.unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    assert_eq!(json!(outcome.rows.rows), expected, "{sql}");
}

#[tokio::test]
async fn rejects_results_that_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for select in [
        "big + 1 FROM f.t",
        "9223372036854775807 + big FROM f.t WHERE part = 3",
        "big + big FROM f.t",
        "big - 1 FROM f.t",
        "0 - big FROM f.t",
        "big * 2 FROM f.t",
        "big * big FROM f.t",
        "-big FROM f.t",
        "small * small * small FROM f.t WHERE part < 3",
        "9223372036854775807 + 1 FROM f.t",
        "9223372036854775807 * 9223372036854775807 FROM f.t",
        "-9223372036854775807 - 2 FROM f.t",
        "part FROM f.t ORDER BY big * 2",
        "big + 1, count(*) FROM f.t GROUP BY big + 1",
        "a.part FROM f.t a JOIN f.t b ON a.big + 1 = b.big",
        "CASE WHEN big > 5 THEN big + 1 ELSE 0 END FROM f.t",
        "coalesce(big + 1, 0) FROM f.t",
        "(SELECT max(big) + 1 FROM f.t) FROM f.t",
        "part FROM f.t WHERE part IN (SELECT big + 1 FROM f.t)",
        "max(big + 1) FROM f.t",
        "sum(big * 2) FROM f.t",
    ] {
        rejects(&engine, select).await;
    }
}

#[tokio::test]
async fn rejects_sums_that_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for select in [
        "sum(big) FROM f.t WHERE part = 1",
        "sum(big) FROM f.t WHERE part = 2",
        "sum(digits) FROM f.t WHERE part = 1",
        "sum(digits) FROM f.t WHERE part = 2",
        "part, sum(big) FROM f.t GROUP BY part",
        "part, sum(big) FROM f.t GROUP BY ROLLUP (part)",
        "sum(DISTINCT big) FROM f.t WHERE part = 1",
        "sum(big) FILTER (WHERE part = 1) FROM f.t",
        "sum(big) OVER (PARTITION BY part) FROM f.t",
        "sum(big) OVER (PARTITION BY part ORDER BY big ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM f.t",
        "part FROM f.t GROUP BY part ORDER BY sum(big)",
        "sum(big) + 1 FROM f.t WHERE part = 1",
    ] {
        rejects(&engine, select).await;
    }
}

#[tokio::test]
async fn keeps_results_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (select, expected) in [
        ("big - 1 FROM f.t WHERE big > 5", json!([[i64::MAX - 1]])),
        (
            "big + big, big * 3, -big, small + 1, small * 2 FROM f.t WHERE part = 3 ORDER BY big",
            json!([[4, 6, -2, 3, 4], [6, 9, -3, 4, 6]]),
        ),
        // The total fits, although partial sums may not.
        ("sum(big) FROM f.t", json!([[4]])),
        (
            "sum(DISTINCT big), sum(small), sum(unsigned) FROM f.t WHERE part > 1",
            json!([[i64::MIN + 4, i32::MIN as i64 + 4, 5]]),
        ),
        ("part, sum(big) AS s FROM f.t WHERE part = 3 GROUP BY part", json!([[3, 5]])),
        (
            "part, count(*), sum(big) FROM f.t WHERE part > 2 GROUP BY ROLLUP (part) ORDER BY part NULLS LAST",
            json!([[3, 2, 5], [null, 2, 5]]),
        ),
        ("big, sum(big) OVER (ORDER BY big) FROM f.t WHERE part = 3 ORDER BY big", json!([[2, 2], [3, 5]])),
        (
            "sum(big) OVER (ORDER BY big ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM f.t WHERE part = 3 ORDER BY s",
            json!([[2], [5]]),
        ),
        ("x.s + 1 FROM (SELECT part, sum(big) AS s FROM f.t GROUP BY part HAVING part = 3) x", json!([[6]])),
        ("sum(digits) FROM f.t WHERE part = 3", json!([[5]])),
        // These are decimals here.
        ("sum(unsigned) FROM f.t WHERE part = 1", json!([["18446744073709551616"]])),
        ("avg(small), avg(big) FROM f.t WHERE part = 3", json!([[2.5, 2.5]])),
        ("avg(big) > 4600000000000000000 AND avg(big) < 4620000000000000000 FROM f.t WHERE part = 1", json!([[true]])),
        ("sum(part) / count(*), sum(big) * 100 / sum(part) FROM f.t WHERE part = 3", json!([[3, 83]])),
        ("CAST(big AS DOUBLE) * 2 > 1e19 FROM f.t WHERE big > 5", json!([[true]])),
        ("CAST(big AS DECIMAL(38, 0)) + 1 > 9223372036854775807 FROM f.t WHERE big > 5", json!([[true]])),
    ] {
        gives(&engine, select, expected).await;
    }
}

#[tokio::test]
async fn overflow_in_conditions_is_never_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (select, expected) in [
        ("count(*) FROM f.t WHERE big + 1 > 0", json!([[4]])),
        ("count(*) FROM f.t WHERE 0 - big > 5", json!([[1]])),
        ("part FROM f.t GROUP BY part HAVING sum(big) > 0 ORDER BY part", json!([[1], [3]])),
        ("-(-big) FROM f.t WHERE part = 2 ORDER BY big", json!([[i64::MIN], [-1]])),
    ] {
        rejects_or_gives(&engine, select, expected).await;
    }
}

/// The names and types of an answer are those of the plain query.
#[tokio::test]
async fn keeps_names_and_types_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let sql = "SELECT part + 1, sum(big), sum(big) AS s, sum(part) OVER () AS w FROM f.t WHERE part = 3 GROUP BY part";
    let columns = engine.run(sql, None, 50).await.unwrap().rows.columns;
    assert_eq!(columns, ["part + 1", "sum(t.big)", "s", "w"]);
}
