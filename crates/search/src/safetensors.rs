//! Reads the safetensors layout: eight bytes of header length, the header as JSON, the data.
//! <https://github.com/huggingface/safetensors#format>

use std::collections::HashMap;

use serde::Deserialize;

/// A file of a model that ships with the crate is not what it should be.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{file} is damaged: {what}")]
pub(crate) struct Damaged {
    file: &'static str,
    what: String,
}

/// Named tensors in a file that is in memory.
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
    /// The tensors of a file, which errors call `file`.
    ///
    /// # Errors
    /// Where it has no such header.
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

    /// Says that a tensor is not what it should be.
    pub(crate) fn refuse(&self, name: &str) -> Damaged {
        Damaged { file: self.file, what: format!("the tensor `{name}` is not there, or has another shape") }
    }

    /// The rows of a matrix of bytes, which are `width` long, and how many they are.
    ///
    /// # Errors
    /// Where it is not there, or has other rows.
    pub(crate) fn bytes(&self, name: &str, width: usize) -> Result<(&'static [u8], usize), Damaged> {
        let found = self.header.get(name).and_then(|tensor| match tensor.shape[..] {
            [rows, columns] if columns == width => Some((self.slice(tensor)?, rows)),
            _ => None,
        });
        found.filter(|(bytes, rows)| rows.checked_mul(width) == Some(bytes.len())).ok_or_else(|| self.refuse(name))
    }

    /// A tensor of so many float32.
    ///
    /// # Errors
    /// Where it is not there, or has more or fewer.
    pub(crate) fn numbers(&self, name: &str, count: usize) -> Result<Vec<f32>, Damaged> {
        let bytes = self.header.get(name).and_then(|tensor| self.slice(tensor)).ok_or_else(|| self.refuse(name))?;
        let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.len() == count && bytes.len() == 4 * count { Ok(numbers) } else { Err(self.refuse(name)) }
    }

    /// The length of the rows of a matrix.
    ///
    /// # Errors
    /// Where it is not there, or no matrix.
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
