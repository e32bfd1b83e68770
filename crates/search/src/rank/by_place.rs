//! Numbers by the place of a record, for some of the records of a kind.

/// A number for each of some places. It is as long as there are records, since a look-up among all of them is what most of the
/// time would go to.
pub(super) struct ByPlace(Vec<f32>);

impl ByPlace {
    /// The numbers of these places, of so many records.
    pub(super) fn new(records: usize, numbers: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let mut all = vec![f32::NAN; records];
        numbers.into_iter().for_each(|(place, number)| all[place] = number);
        ByPlace(all)
    }

    /// That of a place; `None` where there is none.
    pub(super) fn get(&self, place: usize) -> Option<f32> {
        Some(self.0[place]).filter(|number| !number.is_nan())
    }
}
