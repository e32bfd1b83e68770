//! Size and time limits.

use std::time::Duration;

/// Size and time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a body in bytes, as transferred and decompressed.
    pub bytes: usize,
    /// The total time over all hops, from name resolution to the last byte.
    pub total: Duration,
    /// The time to establish a connection.
    pub connect: Duration,
    /// The time until the server responds, and between two reads of the body.
    pub stall: Duration,
    /// The maximum number of redirects.
    pub redirects: usize,
}

impl Default for Limits {
    /// 32 MB; 60 s in total, 10 s to connect, 15 s between two reads; 5 redirects.
    fn default() -> Self {
        Limits {
            bytes: 32 << 20,
            total: Duration::from_secs(60),
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(15),
            redirects: 5,
        }
    }
}
