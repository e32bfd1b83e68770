//! The weights of the transformer, as `model/make/make_encoder.py` writes them.

use crate::safetensors::{Damaged, Tensors};

static MODEL: &[u8] = include_bytes!("../../model/encoder.safetensors");

/// How many layers there are.
const LAYERS: usize = 6;

/// The length of the vector of a token.
pub(super) const WIDTH: usize = 384;

/// The most inputs of a linear layer.
pub(super) const MAX_INPUTS: usize = 4 * WIDTH;

/// A linear layer: rows of signed bytes, one for each output.
pub(super) struct Linear {
    pub(super) rows: &'static [u8],
    pub(super) inputs: usize,
    /// The scale of each row.
    pub(super) scales: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// One layer: attention, then two linear layers.
pub(super) struct Layer {
    /// To what a token asks, what it answers to, and what it says.
    pub(super) asked: Linear,
    pub(super) attended: Linear,
    pub(super) attended_norm: Vec<f32>,
    pub(super) inner: Linear,
    pub(super) outer: Linear,
    pub(super) outer_norm: Vec<f32>,
}

/// All weights.
pub(super) struct Weights {
    /// Rows of word pieces, in the order of the static table; behind them those that begin and end a text.
    pub(super) words: &'static [u8],
    pub(super) word_scales: Vec<f32>,
    /// One row for each place in a text.
    pub(super) positions: Vec<f32>,
    pub(super) embedded_norm: Vec<f32>,
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Reads those that ship with the crate; the matrices stay where they are.
    ///
    /// # Errors
    /// Where the file does not hold what it should.
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
