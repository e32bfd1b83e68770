//! The hash function of the token table, shared by the build script and the program.

/// The number of slots of the token table: a power of two, three quarters full.
pub(crate) const SLOTS: usize = 1 << 18;

/// Returns the first slot to probe for a token: FNV-1a, with the upper bits mixed into the lower ones.
pub(crate) fn slot(bytes: &[u8]) -> usize {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash ^ (hash >> 32)) as usize % SLOTS
}
