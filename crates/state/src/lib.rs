//! Files of the state folder: private to their owner, replaced atomically, with damage detection.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("notes.json");
//! prospector_state::replace(&file, &prospector_state::checksum::seal(b"{}"))?;
//! let bytes = std::fs::read(&file)?;
//! assert_eq!(prospector_state::checksum::unseal(&bytes)?, b"{}");
//!
//! let mut damaged = bytes.clone();
//! damaged[73] ^= 1;
//! assert!(prospector_state::checksum::unseal(&damaged).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is stored, and where the state folder is, is up to the caller. The feature `sqlite` adds databases that several
//! processes use concurrently.

pub mod checksum;
pub mod folder;
mod obstacle;
mod private;
mod replace;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use obstacle::Obstacle;
pub use private::{create_file, create_folder, options};
pub use replace::{Replacement, remove_leftovers, replace};
