//! A sparse map from record positions to numbers.

/// A number for some of the positions. Dense storage makes lookups fast; untouched zero pages cost no memory. 0
/// represents no value, other entries are the bits of the number plus one.
pub(super) struct ByPlace(Vec<u32>);

impl ByPlace {
    /// Creates a map for this number of records.
    pub(super) fn new(records: usize, numbers: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let mut all = vec![0; records];
        numbers.into_iter().for_each(|(place, number)| all[place] = number.to_bits().saturating_add(1));
        ByPlace(all)
    }

    /// Returns the number of a position, if any.
    pub(super) fn get(&self, place: usize) -> Option<f32> {
        self.0[place].checked_sub(1).map(f32::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_numbers_up_by_position() {
        let numbers = [(1, 0.0), (3, -0.0), (4, -1.5), (5, f32::MAX)];
        let by_place = ByPlace::new(7, numbers);
        for place in 0..7 {
            let expected = numbers.iter().find(|(at, _)| *at == place).map(|(_, number)| *number);
            assert_eq!(by_place.get(place), expected, "{place}");
        }
    }
}
