//! The functions between the matrices. They use no function of the platform and no fused operation, so that every machine makes
//! the same of a text.

/// Lanes that the compiler may keep in one register.
const LANES: usize = 16;

/// The sum over all values, of what `of` makes of each.
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

/// The largest of what `of` makes of the values.
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

/// The natural logarithm of 2 in two parts: a multiple of the first by a small integer is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Added to a number of less than 22 bits and taken off again, this leaves the nearest integer;
/// before it is taken off, it stands in the lowest bits.
pub(super) const ROUNDING: f32 = 12_582_912.0;

/// e to the power of a number that is at most 0, to six digits; what is below -87 counts as that.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = if x > -87.0 { x } else { -87.0 };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = shifted - ROUNDING;
    // The rest is within half of the logarithm; the terms of its series.
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    let series = 1.0
        + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0)))));
    let power = shifted.to_bits().wrapping_sub(ROUNDING.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(power)
}

/// The Gaussian error linear unit, <https://arxiv.org/abs/1606.08415>, with the error function as in Abramowitz and Stegun, 7.1.26.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = series * exp(-z * z);
    let share = if x < 0.0 { tail } else { 2.0 - tail };
    0.5 * x * share
}

/// Makes the values shares that sum to 1: the exponentials over their sum.
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

/// Adds `x` to the rows of `sums`, and gives each row the mean 0 and the deviation 1, then the weights and the shifts, which
/// follow each other in `norm`: <https://arxiv.org/abs/1607.06450>
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
        // By its definition: x times the share of the normal distribution below x.
        for (x, expected) in
            [(-3.0, -0.004_049_7), (-1.0, -0.158_655_3), (0.0, 0.0), (0.5, 0.345_731_2), (4.0, 3.999_873_3)]
        {
            assert!((gelu(x) - expected).abs() < 2e-6, "gelu({x}) is {}, not {expected}", gelu(x));
        }
    }

    #[test]
    fn shares_sum_to_one_and_rows_are_normed() {
        let mut values: Vec<f32> = (0..37).map(|i| (i * 7 % 13) as f32).collect();
        softmax(&mut values);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-6 && values[1] > values[0]);
        let mut rows = vec![1.0, 2.0, 3.0, 4.0];
        add_and_norm(&mut rows, &[0.0, 0.0, 0.0, 6.0], &[1.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 5.0]);
        assert!((rows[0] + 0.848_5).abs() < 1e-3 && (rows[3] - 6.697).abs() < 1e-2, "{rows:?}");
    }
}
