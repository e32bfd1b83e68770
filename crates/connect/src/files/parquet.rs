//! Rows as a Parquet file.

use std::io;

use datafusion::parquet::arrow::ArrowWriter;

use super::loaded;
use crate::rows::Rows;

impl Rows {
    /// The rows as a Parquet file: a column is one of whole numbers, numbers or truth values where all its values are, else of
    /// texts; what is nested is its JSON. Columns of one name are told apart by a number.
    ///
    /// ```
    /// # use prospector_connect::rows::Rows;
    /// # use serde_json::json;
    /// let rows = Rows { columns: vec!["city".into()], rows: vec![vec![json!("Lisboa")]], has_more: false };
    /// assert!(rows.to_parquet()?.starts_with(b"PAR1"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where there are no columns.
    pub fn to_parquet(&self) -> io::Result<Vec<u8>> {
        let batch = loaded::rows(&self.columns, &self.rows).map_err(io::Error::other)?;
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
        writer.write(&batch)?;
        Ok(writer.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_keep_their_types() {
        let columns = ["n", "n", "share", "is_open", "code", "tags"].map(str::to_owned).to_vec();
        let rows = vec![
            vec![json!(1), json!(2), json!(0.5), json!(true), json!("007"), json!(["a"])],
            vec![json!(null), json!(3), json!(2), json!(null), json!(7), json!(null)],
        ];
        let file = Rows { columns, rows, has_more: false }.to_parquet().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes(&file)).unwrap();
        let types: Vec<String> =
            reader.schema().fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type())).collect();
        assert_eq!(types, ["n: Int64", "n_2: Int64", "share: Float64", "is_open: Boolean", "code: Utf8", "tags: Utf8"]);
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 2);
        assert!(Rows::default().to_parquet().is_err());
    }

    fn bytes(file: &[u8]) -> std::fs::File {
        let mut kept = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut kept, file).unwrap();
        kept
    }
}
