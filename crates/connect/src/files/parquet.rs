//! Export of rows as a Parquet file.

use std::io;

use datafusion::parquet::{arrow::ArrowWriter, file::properties::WriterProperties};

use super::{loaded, narrow::MAX_COLUMNS};
use crate::rows::Rows;

impl Rows {
    /// Returns the rows as a Parquet file: a column contains integers, floats or booleans if all its values do, else
    /// texts; nested values become JSON. Duplicate column names are numbered.
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
    /// If there are no columns, more than can be read back, or a row has more cells than there are columns.
    pub fn to_parquet(&self) -> io::Result<Vec<u8>> {
        let width = self.columns.len();
        if width > MAX_COLUMNS {
            return Err(io::Error::other(format!(
                "there are {width} columns, and at most {MAX_COLUMNS} can be written"
            )));
        }
        if let Some((at, row)) = self.rows.iter().enumerate().find(|(_, row)| row.len() > width) {
            let reason = format!("row {} has {} cells, and there are {width} columns", at + 1, row.len());
            return Err(io::Error::other(reason));
        }
        let batch = loaded::rows(&self.columns, &self.rows).map_err(io::Error::other)?;
        // The buffers of each column are sized by the number of rows.
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(self.rows.len() > 100)
            .set_write_batch_size(self.rows.len().clamp(1, 1024))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
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

    #[test]
    fn rejects_what_does_not_fit_and_says_where() {
        let message = |columns: usize, rows: &[usize]| {
            let rows = rows.iter().map(|cells| vec![json!(1); *cells]).collect();
            Rows { columns: vec!["c".to_owned(); columns], rows, has_more: false }.to_parquet().unwrap_err().to_string()
        };
        assert_eq!(message(2, &[2, 1, 3]), "row 3 has 3 cells, and there are 2 columns");
        assert_eq!(message(10_001, &[1]), "there are 10001 columns, and at most 10000 can be written");
    }

    fn bytes(file: &[u8]) -> std::fs::File {
        let mut kept = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut kept, file).unwrap();
        kept
    }
}
