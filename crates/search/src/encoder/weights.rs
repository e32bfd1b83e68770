//! The weights of the transformer, as written by `model/make/make_encoder.py`.

use crate::safetensors::{Damaged, Tensors};

static MODEL: &[u8] = include_bytes!("../../model/encoder.safetensors");

/// Number of layers.
const LAYERS: usize = 6;

/// Number of dimensions of a token.
pub(super) const WIDTH: usize = 384;

/// Maximum number of inputs of a linear layer.
pub(super) const MAX_INPUTS: usize = 4 * WIDTH;

/// A linear layer: int8 rows, one per output.
pub(super) struct Linear {
    pub(super) rows: &'static [u8],
    pub(super) inputs: usize,
    /// The scale of each row.
    pub(super) scales: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// One layer: attention, then two linear layers.
pub(super) struct Layer {
    /// Query, key and value projections.
    pub(super) asked: Linear,
    pub(super) attended: Linear,
    pub(super) attended_norm: Vec<f32>,
    pub(super) inner: Linear,
    pub(super) outer: Linear,
    pub(super) outer_norm: Vec<f32>,
}

/// All weights of the model.
pub(super) struct Weights {
    /// Word embeddings, in the order of the static table, followed by the start and end tokens.
    pub(super) words: &'static [u8],
    pub(super) word_scales: Vec<f32>,
    /// Position embeddings.
    pub(super) positions: Vec<f32>,
    pub(super) embedded_norm: Vec<f32>,
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Parses the shipped weights; the matrices are used in place.
    ///
    /// # Errors
    /// If the file is malformed.
    pub(super) fn read() -> Result<Weights, Damaged> {
        let tensors = Tensors::read("encoder.safetensors", MODEL)?;
        let (words, rows) = tensors.bytes("words", WIDTH)?;
        let linear = |name: &str, outputs: usize, inputs: usize| -> Result<Linear, Damaged> {
            let (rows, _) = tensors.bytes(name, inputs)?;
            let scales = tensors.numbers(&format!("{name}.scales"), outputs)?;
            let bias = tensors.numbers(&format!("{name}.bias"), outputs)?;
            match rows.len() == inputs * outputs && inputs <= MAX_INPUTS {
                true => Ok(Linear { rows, inputs, scales, bias }),
                false => Err(tensors.refuse(name)),
            }
        };
        let layer = |at: usize| -> Result<Layer, Damaged> {
            Ok(Layer {
                asked: linear(&format!("{at}.asked"), 3 * WIDTH, WIDTH)?,
                attended: linear(&format!("{at}.attended"), WIDTH, WIDTH)?,
                attended_norm: tensors.numbers(&format!("{at}.attended.norm"), 2 * WIDTH)?,
                inner: linear(&format!("{at}.inner"), 4 * WIDTH, WIDTH)?,
                outer: linear(&format!("{at}.outer"), WIDTH, 4 * WIDTH)?,
                outer_norm: tensors.numbers(&format!("{at}.outer.norm"), 2 * WIDTH)?,
            })
        };
        Ok(Weights {
            words,
            word_scales: tensors.numbers("words.scales", rows)?,
            positions: tensors.numbers("positions", super::MAX_TOKENS * WIDTH)?,
            embedded_norm: tensors.numbers("embedded.norm", 2 * WIDTH)?,
            layers: (0..LAYERS).map(layer).collect::<Result<_, _>>()?,
        })
    }
}
