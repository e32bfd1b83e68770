//! The vocabulary of `o200k_base`, as written by the build script: tokens and their ranks.

use super::hash::{SLOTS, slot};

/// The bytes of all tokens, concatenated by rank.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.bytes"));
/// The end offset of each token, as little-endian `u32`.
static ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.ends"));
/// A hash table with linear probing: ranks as little-endian `u32`, `u32::MAX` in a free slot.
static RANKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.slots"));

/// Returns the rank of the token with these bytes: lower ranks are merged first.
pub(crate) fn rank(token: &[u8]) -> Option<u32> {
    let mut at = slot(token);
    loop {
        let rank = number(RANKS, at);
        if rank == u32::MAX {
            return None;
        }
        if bytes(rank as usize) == token {
            return Some(rank);
        }
        at = (at + 1) % SLOTS;
    }
}

fn bytes(rank: usize) -> &'static [u8] {
    let start = if rank == 0 { 0 } else { number(ENDS, rank - 1) as usize };
    &BYTES[start..number(ENDS, rank) as usize]
}

fn number(table: &[u8], at: usize) -> u32 {
    let [a, b, c, d] = [table[4 * at], table[4 * at + 1], table[4 * at + 2], table[4 * at + 3]];
    u32::from_le_bytes([a, b, c, d])
}
