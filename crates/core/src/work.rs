//! Work that takes its time, or reads what somebody else wrote: on threads of its own, and without a panic that spreads.

mod compute;
mod panics;

pub use compute::compute;
pub use panics::catch_panic;
