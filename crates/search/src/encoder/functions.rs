//! The non-linear functions, without platform functions or fused operations, so that results are reproducible on every
//! machine.

/// Number of lanes, for vectorisation.
const LANES: usize = 16;

/// Returns the sum of `of` over all values.
#[inline(always)]
pub(super) fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

/// Returns the maximum of `of` over all values.
#[inline(always)]
pub(super) fn largest(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::MIN; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let value = of(*value);
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.into_iter().chain(rest.iter().map(|value| of(*value))).fold(f32::MIN, f32::max)
}

/// ln 2 in two parts: multiples of the first by small integers are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Adding this to a number of less than 22 bits and subtracting it rounds to the nearest integer; before the
/// subtraction, the integer is in the lowest bits.
pub(super) const ROUNDING: f32 = 12_582_912.0;

/// Returns e^x for x <= 0, to six digits; values below -87 are clamped.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = if x > -87.0 { x } else { -87.0 };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = shifted - ROUNDING;
    // The remainder is within half of ln 2; evaluates its series.
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    let series = 1.0
        + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0)))));
    let power = shifted.to_bits().wrapping_sub(ROUNDING.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(power)
}

/// GELU, <https://arxiv.org/abs/1606.08415>, with the error function from Abramowitz and Stegun, 7.1.26.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = series * exp(-z * z);
    let share = if x < 0.0 { tail } else { 2.0 - tail };
    0.5 * x * share
}

/// Softmax, in place.
#[inline(always)]
pub(super) fn softmax(values: &mut [f32]) {
    let largest = largest(values, |value| value);
    for value in values.iter_mut() {
        *value = exp(*value - largest);
    }
    let inverse = 1.0 / sum(values, |value| value);
    for value in values.iter_mut() {
        *value *= inverse;
    }
}

/// Adds `x` to the rows of `sums` and applies layer normalisation (<https://arxiv.org/abs/1607.06450>) with the weights
/// and biases in `norm`, in this order.
#[inline(always)]
pub(super) fn add_and_norm(sums: &mut [f32], x: &[f32], norm: &[f32]) {
    let width = norm.len() / 2;
    let (weights, shifts) = norm.split_at(width);
    for (row, more) in sums.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        for (value, more) in row.iter_mut().zip(more) {
            *value += more;
        }
        let mean = sum(row, |value| value) / width as f32;
        let variance = sum(row, |value| (value - mean) * (value - mean)) / width as f32;
        let inverse = 1.0 / (variance + 1e-12).sqrt();
        for ((value, weight), shift) in row.iter_mut().zip(weights).zip(shifts) {
            *value = (*value - mean) * inverse * weight + shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_exact_to_six_digits() {
        for at in 0..2_000 {
            let x = -f64::from(at) / 50.0;
            let (got, expected) = (f64::from(exp(x as f32)), f64::from(x as f32).exp());
            assert!((got - expected).abs() < 1e-6 * expected + 1e-37, "exp({x}) is {got}, not {expected}");
        }
        // Reference values: x times the standard normal distribution function at x.
        for (x, expected) in
            [(-3.0, -0.004_049_7), (-1.0, -0.158_655_3), (0.0, 0.0), (0.5, 0.345_731_2), (4.0, 3.999_873_3)]
        {
            assert!((gelu(x) - expected).abs() < 2e-6, "gelu({x}) is {}, not {expected}", gelu(x));
        }
    }

    #[test]
    fn softmax_and_norm_are_correct() {
        let mut values: Vec<f32> = (0..37).map(|i| (i * 7 % 13) as f32).collect();
        softmax(&mut values);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-6 && values[1] > values[0]);
        let mut rows = vec![1.0, 2.0, 3.0, 4.0];
        add_and_norm(&mut rows, &[0.0, 0.0, 0.0, 6.0], &[1.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 5.0]);
        assert!((rows[0] + 0.848_5).abs() < 1e-3 && (rows[3] - 6.697).abs() < 1e-2, "{rows:?}");
    }
}
