//! Shared setup of HTTP clients and TLS connections: one TLS implementation, the certificates of the operating system,
//! and no redirects, which could leak a key to another host. Limits on time and size are up to the caller.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = "http://127.0.0.1:11434".parse()?;
//! let client = prospector_net::client_for(&server).user_agent(prospector_net::USER_AGENT).build()?;
//! # let _: reqwest::Client = client;
//! # Ok(()) }
//! ```
//!
//! This crate sends no requests and does not check addresses; for URLs from a catalog, `prospector-fetch` does.

use std::{iter, net::IpAddr, sync::Once};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;

/// The `User-Agent` of clients that identify themselves.
pub const USER_AGENT: &str = concat!("prospector/", env!("CARGO_PKG_VERSION"));

/// Returns a client builder for any server. Redirects are not followed.
pub fn client() -> ClientBuilder {
    install_tls();
    Client::builder().redirect(Policy::none())
}

/// Returns a client builder for one server. Without TLS in the URL, no certificates are loaded; a server on this
/// machine is reached without a proxy.
pub fn client_for(server: &Url) -> ClientBuilder {
    let mut client = client();
    if server.scheme() == "http" {
        client = client.tls_certs_only(iter::empty());
    }
    if is_loopback(server) {
        client = client.no_proxy();
    }
    client
}

/// Returns the TLS settings for protocols other than HTTP, with certificate verification by the operating system.
///
/// # Errors
/// If the certificates of the operating system cannot be loaded.
pub fn tls_config() -> Result<ClientConfig, rustls::Error> {
    install_tls();
    ClientConfig::with_platform_verifier()
}

/// Selects one of the two cryptography implementations that are compiled in, as rustls requires.
fn install_tls() {
    static INSTALLED: Once = Once::new();
    // Fails harmlessly if another one is already installed.
    INSTALLED.call_once(|| {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_local_host_names() {
        let check = |url: &str, expected: bool| assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        check("http://localhost:1", true);
        check("http://127.3.2.1/", true);
        check("http://[::1]:8080/", true);
        check("https://localhost.example.com/", false);
        check("https://10.0.0.1/", false);
    }

    #[test]
    fn builds_clients_and_settings() {
        assert!(client_for(&"http://127.0.0.1/".parse().unwrap()).build().is_ok());
        assert!(tls_config().is_ok());
    }
}
