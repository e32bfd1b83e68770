//! Means and medians over questions.

use serde::Serialize;

/// A mean and a median.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Average {
    pub(crate) mean: f64,
    pub(crate) median: f64,
}

impl Average {
    /// Computes both; the median of an even number of values is the midpoint of the middle two.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Average {
        let mut values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return Average::default();
        }
        values.sort_by(f64::total_cmp);
        let (middle, count) = (values.len() / 2, values.len());
        let median = if count % 2 == 0 { (values[middle - 1] + values[middle]) / 2.0 } else { values[middle] };
        Average { mean: round(values.iter().sum::<f64>() / count as f64), median: round(median) }
    }
}

/// Rounds to four decimals.
pub(crate) fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Returns the mean.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    Average::of(values).mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], mean: f64, median: f64) {
        assert_eq!(Average::of(values.iter().copied()), Average { mean, median }, "{values:?}");
    }

    #[test]
    fn computes_the_median() {
        check(&[], 0.0, 0.0);
        check(&[10.0, 1.0, 1.0], 4.0, 1.0);
        check(&[1.0, 2.0, 4.0, 100.0], 26.75, 3.0);
    }
}
