//! Writes the vocabulary of `o200k_base` as a lookup table that is embedded in the binary, so that counting tokens loads nothing at run
//! time.
use std::path::PathBuf;
use std::{env, fs};

#[path = "src/tokens/hash.rs"]
mod hash;

use hash::{SLOTS, slot};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/hash.rs");
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| tokenizer.decode_bytes(&[rank]).ok()).collect();
    let (mut bytes, mut ends, mut slots) = (Vec::new(), Vec::new(), vec![u32::MAX; SLOTS]);
    for (rank, token) in (0..).zip(&tokens) {
        bytes.extend_from_slice(token);
        ends.push(u32::try_from(bytes.len()).expect("the vocabulary has less than 4 GiB"));
        let mut at = slot(token);
        while slots[at] != u32::MAX {
            at = (at + 1) % SLOTS;
        }
        slots[at] = rank;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for (name, content) in [("bytes", bytes), ("ends", little_endian(&ends)), ("slots", little_endian(&slots))] {
        fs::write(folder.join(format!("o200k.{name}")), content).expect("the output folder can be written");
    }
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
