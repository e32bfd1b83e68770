//! CPU-intensive work and foreign input: separate threads, and panics that do not propagate.

mod compute;
mod panics;

pub use compute::compute;
pub use panics::catch_panic;
pub(crate) use panics::panic_message;
