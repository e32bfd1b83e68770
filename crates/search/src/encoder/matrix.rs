//! Products of quantized activations with int8 matrices.

use super::{
    functions::{ROUNDING, largest},
    weights::Linear,
};

/// Maximum quantized activation: sums over the inputs of the widest layer fit into 32 bits.
const MAX_ACTIVATION: f32 = 8_191.0;

/// Rows of quantized activations, each with its scale.
#[derive(Default)]
pub(super) struct Activations {
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Activations {
    /// Quantizes the rows of `x`, each of length `width`.
    #[inline(always)]
    pub(super) fn quantize(&mut self, x: &[f32], width: usize) {
        self.values.clear();
        self.scales.clear();
        for row in x.chunks_exact(width) {
            let largest = largest(row, f32::abs);
            let scale = if largest > 0.0 { largest / MAX_ACTIVATION } else { 1.0 };
            let inverse = 1.0 / scale;
            self.scales.push(scale);
            let start = self.values.len();
            self.values.resize(start + width, 0);
            for (rounded, value) in self.values[start..].iter_mut().zip(row) {
                *rounded = (value * inverse + ROUNDING).to_bits().wrapping_sub(ROUNDING.to_bits()) as i16;
            }
        }
    }

    /// Applies a linear layer to the rows, writing to `out`.
    #[inline(always)]
    pub(super) fn pass(&self, linear: &Linear, out: &mut Vec<f32>) {
        let inputs = linear.inputs;
        let outputs = linear.scales.len();
        let tokens = self.scales.len();
        out.clear();
        out.resize(tokens * outputs, 0.0);
        for (at, row) in linear.rows.chunks_exact(inputs).enumerate() {
            let (scale, bias) = (linear.scales[at], linear.bias[at]);
            let mut put = |token: usize, sum: i32| {
                out[token * outputs + at] = sum as f32 * (self.scales[token] * scale) + bias;
            };
            let mut token = 0;
            // Each weight is widened once per four tokens.
            while token + 4 <= tokens {
                let x = std::array::from_fn::<_, 4, _>(|of| &self.values[(token + of) * inputs..][..inputs]);
                for (of, sum) in multiply(x, row).into_iter().enumerate() {
                    put(token + of, sum);
                }
                token += 4;
            }
            while token < tokens {
                let [sum] = multiply([&self.values[token * inputs..][..inputs]], row);
                put(token, sum);
                token += 1;
            }
        }
    }
}

/// Returns the dot products of rows of activations with a row of weights. Indexed loops are vectorised by the compiler;
/// iterators are not, which is three times as slow.
#[inline(always)]
fn multiply<const N: usize>(x: [&[i16]; N], weights: &[u8]) -> [i32; N] {
    let x = x.map(|row| &row[..weights.len()]);
    let mut sums = [0_i32; N];
    for at in 0..weights.len() {
        let weight = i32::from(weights[at] as i8);
        for of in 0..N {
            sums[of] = sums[of].wrapping_add(i32::from(x[of][at]) * weight);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{super::weights::MAX_INPUTS, *};

    #[test]
    fn products_match_exact_arithmetic() {
        let (tokens, inputs, outputs) = (7, 32, 5);
        let x: Vec<f32> = (0..tokens * inputs).map(|i| ((i * 37 % 101) as f32 - 50.0) / 17.0).collect();
        let rows: Vec<u8> = (0..outputs * inputs).map(|i| (i * 89 % 255) as u8).collect();
        let scales: Vec<f32> = (1..=outputs).map(|i| i as f32 / 300.0).collect();
        let bias: Vec<f32> = (0..outputs).map(|i| i as f32 - 2.0).collect();
        let mut activations = Activations::default();
        activations.quantize(&x, inputs);
        let mut out = Vec::new();
        let linear = Linear { rows: rows.leak(), inputs, scales: scales.clone(), bias: bias.clone() };
        activations.pass(&linear, &mut out);
        let rows = linear.rows;
        let exact = |token: usize, output: usize| {
            let of = |i: usize| f32::from(rows[output * inputs + i] as i8) * scales[output] * x[token * inputs + i];
            (0..inputs).map(of).sum::<f32>() + bias[output]
        };
        for (at, got) in out.iter().enumerate() {
            let expected = exact(at / outputs, at % outputs);
            assert!((got - expected).abs() < 0.01, "{at}: {got}, not {expected}");
        }
    }

    #[test]
    fn largest_sum_fits() {
        let x = vec![MAX_ACTIVATION as i16; MAX_INPUTS];
        let [sum] = multiply([&x], &[(-127_i8) as u8; MAX_INPUTS]);
        assert_eq!(i64::from(sum), -(MAX_ACTIVATION as i64) * 127 * MAX_INPUTS as i64);
    }
}
