//! How much is fetched, and how long that may take.

use std::time::Duration;

/// How much and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body, as it is sent and unpacked.
    pub bytes: usize,
    /// From the first name that is resolved to the last byte, over all hops.
    pub total: Duration,
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the server answers, and between two pieces of the body.
    pub stall: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
}

impl Default for Limits {
    /// 32 MB; 60 s in all, 10 s to connect, 15 s without anything; 5 redirects.
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
