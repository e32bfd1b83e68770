//! Names of hosts to addresses.

use std::{io, net::IpAddr};

use async_trait::async_trait;

/// Finds the addresses of a host. The system's own is used unless a fetcher is given another.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name; none is an error too.
    ///
    /// # Errors
    /// What kept the name from being resolved.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
