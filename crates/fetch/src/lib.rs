//! One guarded fetcher for every URL that Prospector opens.
//!
//! A [`Fetcher`] speaks HTTP with public addresses only, but for the hosts that its [`Policy`] names. It resolves names
//! itself and connects to the very address that it judged, follows redirects by hand and judges each hop anew, and bounds
//! size (as sent and unpacked) and time (to connect, between two reads, in all). [`cache::HttpCache`] keeps copies in a folder, asks
//! again with their validators, and falls back on them where a server is not there.
//!
//! ```
//! use prospector_fetch::{FetchError, Fetcher, Policy, Request};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let fetcher = Fetcher::new(Policy { public: true, ..Policy::default() });
//! // However it is spelled, this is the machine itself.
//! for url in ["http://127.0.0.1/", "http://2130706433/", "http://[::ffff:7f00:1]/", "http://localhost/"] {
//!     let error = fetcher.fetch(&Request::get(url)).await.unwrap_err();
//!     assert!(matches!(error, FetchError::Address { .. }), "{error}");
//! }
//! # }
//! ```
//!
//! What it is not: a browser or a crawler. It has no cookies, no proxies and no scripts, and never follows a link. Drop
//! the future to cancel: the connection closes with it.

mod address;
mod body;
pub mod cache;
mod error;
mod fetcher;
mod limits;
mod media;
mod policy;
mod resolve;

pub use error::FetchError;
pub use fetcher::{Fetched, Fetcher, Request, Validators};
pub use limits::Limits;
pub use policy::{Policy, Rule};
pub use resolve::Resolver;
