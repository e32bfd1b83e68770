//! A guarded HTTP client for every URL that Prospector opens.
//!
//! A [`Fetcher`] connects only to public addresses, except for hosts allowed by its [`Policy`]. It resolves names itself and
//! connects to the exact address that it validated, follows redirects itself and validates each hop, and limits the size
//! (as transferred and decompressed) and the time (to connect, between two reads, in total). [`cache::HttpCache`] stores copies in
//! a folder, revalidates them, and falls back to them when a server is unavailable.
//!
//! ```
//! use prospector_fetch::{FetchError, Fetcher, Policy, Request};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let fetcher = Fetcher::new(Policy { public: true, ..Policy::default() });
//! // All of these are the local machine.
//! for url in ["http://127.0.0.1/", "http://2130706433/", "http://[::ffff:7f00:1]/", "http://localhost/"] {
//!     let error = fetcher.fetch(&Request::get(url)).await.unwrap_err();
//!     assert!(matches!(error, FetchError::Address { .. }), "{error}");
//! }
//! # }
//! ```
//!
//! The crate is not a browser or a crawler: it has no cookies, proxies or scripts, and never follows links. Drop the future
//! to cancel a request, which closes the connection.

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
