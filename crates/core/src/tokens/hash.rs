//! Where a token lies in the table of tokens. The build script writes the table with it, and the program reads it.

/// The slots of the table of tokens: a power of two, three quarters of which are taken.
pub(crate) const SLOTS: usize = 1 << 18;

/// The slot where a token of these bytes is looked for first: FNV-1a, with its upper bits mixed into the lower ones.
pub(crate) fn slot(bytes: &[u8]) -> usize {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash ^ (hash >> 32)) as usize % SLOTS
}
