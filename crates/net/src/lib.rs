//! How every HTTP client and TLS connection of the workspace is set up: one TLS implementation, the certificates of the
//! operating system, and no redirects, since a key must not follow one to another host. Limits of time and size are set by
//! whoever connects.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = "http://127.0.0.1:11434".parse()?;
//! let client = prospector_net::client_for(&server).user_agent(prospector_net::USER_AGENT).build()?;
//! # let _: reqwest::Client = client;
//! # Ok(()) }
//! ```
//!
//! What it is not: it sends nothing, and judges no address; `prospector-fetch` does for URLs that a catalog names.

use std::{iter, net::IpAddr, sync::Once};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;

/// What clients call themselves where the server should know.
pub const USER_AGENT: &str = concat!("prospector/", env!("CARGO_PKG_VERSION"));

/// A client for any server, still to be built. It follows no redirect.
pub fn client() -> ClientBuilder {
    install_tls();
    Client::builder().redirect(Policy::none())
}

/// [`client`] for one server: where its URL has no TLS no certificates are loaded, and a server on this machine is reached
/// without a proxy.
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

/// The TLS settings for protocols other than HTTP: certificates are verified as the operating system does.
///
/// # Errors
/// When the certificates of the operating system cannot be loaded.
pub fn tls_config() -> Result<ClientConfig, rustls::Error> {
    install_tls();
    ClientConfig::with_platform_verifier()
}

/// Two implementations of cryptography are compiled in, so that rustls must be told which to use.
fn install_tls() {
    static INSTALLED: Once = Once::new();
    // That another was installed before is fine.
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
    fn this_machine_is_known_by_its_names() {
        let check = |url: &str, expected: bool| assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        check("http://localhost:1", true);
        check("http://127.3.2.1/", true);
        check("http://[::1]:8080/", true);
        check("https://localhost.example.com/", false);
        check("https://10.0.0.1/", false);
    }

    #[test]
    fn clients_and_settings_can_be_made() {
        assert!(client_for(&"http://127.0.0.1/".parse().unwrap()).build().is_ok());
        assert!(tls_config().is_ok());
    }
}
