//! Name resolution.

use std::{io, net::IpAddr};

use async_trait::async_trait;

/// Resolves host names. By default, the resolver of the system is used.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Returns all addresses of a name; an empty list is an error as well.
    ///
    /// # Errors
    /// The reason why the name cannot be resolved.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
