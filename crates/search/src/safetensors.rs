//! Parses the safetensors format: eight bytes of header length, the header as JSON, the data.
//! Source: <https://github.com/huggingface/safetensors#format>

use std::collections::HashMap;

use serde::Deserialize;

/// A shipped model file is malformed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{file} is damaged: {what}")]
pub(crate) struct Damaged {
    file: &'static str,
    what: String,
}

/// Named tensors of a file in memory.
pub(crate) struct Tensors {
    file: &'static str,
    header: HashMap<String, Tensor>,
    data: &'static [u8],
}

#[derive(Deserialize)]
struct Tensor {
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    /// Parses the header of a file, which is named `file` in errors.
    ///
    /// # Errors
    /// If the header is malformed.
    pub(crate) fn read(file: &'static str, bytes: &'static [u8]) -> Result<Tensors, Damaged> {
        let damaged = |what: &str| Damaged { file, what: what.to_owned() };
        let split = || {
            let length = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
            bytes[8..].split_at_checked(usize::try_from(length).ok()?)
        };
        let (header, data) = split().ok_or_else(|| damaged("it has no header"))?;
        let header = serde_json::from_slice(header).map_err(|error| damaged(&error.to_string()))?;
        Ok(Tensors { file, header, data })
    }

    /// Returns the error for an invalid tensor.
    pub(crate) fn refuse(&self, name: &str) -> Damaged {
        Damaged { file: self.file, what: format!("the tensor `{name}` is missing or has another shape") }
    }

    /// Returns the rows of a matrix of bytes with this width, and their number.
    ///
    /// # Errors
    /// If it is missing or has another width.
    pub(crate) fn bytes(&self, name: &str, width: usize) -> Result<(&'static [u8], usize), Damaged> {
        let found = self.header.get(name).and_then(|tensor| match tensor.shape[..] {
            [rows, columns] if columns == width => Some((self.slice(tensor)?, rows)),
            _ => None,
        });
        found.filter(|(bytes, rows)| rows.checked_mul(width) == Some(bytes.len())).ok_or_else(|| self.refuse(name))
    }

    /// Returns a tensor of `count` float32 numbers.
    ///
    /// # Errors
    /// If it is missing or has another length.
    pub(crate) fn numbers(&self, name: &str, count: usize) -> Result<Vec<f32>, Damaged> {
        let bytes = self.header.get(name).and_then(|tensor| self.slice(tensor)).ok_or_else(|| self.refuse(name))?;
        let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.len() == count && bytes.len() == 4 * count { Ok(numbers) } else { Err(self.refuse(name)) }
    }

    /// Returns the width of a matrix.
    ///
    /// # Errors
    /// If it is missing or not a matrix.
    pub(crate) fn width(&self, name: &str) -> Result<usize, Damaged> {
        match self.header.get(name).map(|tensor| &tensor.shape[..]) {
            Some([_, width]) => Ok(*width),
            _ => Err(self.refuse(name)),
        }
    }

    fn slice(&self, tensor: &Tensor) -> Option<&'static [u8]> {
        self.data.get(tensor.data_offsets.0..tensor.data_offsets.1)
    }
}
