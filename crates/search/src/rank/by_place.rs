//! Numbers by the place of a record, for some of the records of a kind.

/// A number for each of some places. It is as long as there are records, since a look-up among all of them is what most of the
/// time would go to. Memory that holds zeros costs nothing until it is written, so 0 stands for none, and a number for its bits
/// and one more.
pub(super) struct ByPlace(Vec<u32>);

impl ByPlace {
    /// The numbers of these places, of so many records.
    pub(super) fn new(records: usize, numbers: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let mut all = vec![0; records];
        numbers.into_iter().for_each(|(place, number)| all[place] = number.to_bits().saturating_add(1));
        ByPlace(all)
    }

    /// That of a place; `None` where there is none.
    pub(super) fn get(&self, place: usize) -> Option<f32> {
        self.0[place].checked_sub(1).map(f32::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_found_at_its_place_and_no_other() {
        let numbers = [(1, 0.0), (3, -0.0), (4, -1.5), (5, f32::MAX)];
        let by_place = ByPlace::new(7, numbers);
        for place in 0..7 {
            let expected = numbers.iter().find(|(at, _)| *at == place).map(|(_, number)| *number);
            assert_eq!(by_place.get(place), expected, "{place}");
        }
    }
}
