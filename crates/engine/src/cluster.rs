//! The address of a cluster that computes queries.

use std::str::FromStr;

use crate::{Failure, FailureCode};

/// The scheduler of a [Ballista](https://datafusion.apache.org/ballista/) cluster, which must be of version 55, the version
/// that this crate is built with. It is parsed from `df://HOST` or `df://HOST:PORT`.
///
/// Its executors read data files and the scratch folder under the same paths as this process, so on several machines both must
/// be on a shared file system. Rows of other sources are read by this process, under the same rules as without a cluster, and
/// passed in the scratch folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    host: String,
    port: u16,
}

impl Cluster {
    /// The default port of the scheduler.
    pub const PORT: u16 = 50050;

    /// Returns the URL of the scheduler, `http://HOST:PORT`.
    #[cfg(feature = "ballista")]
    pub(crate) fn scheduler(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }
}

impl std::fmt::Display for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "df://{}:{}", self.host, self.port)
    }
}

impl FromStr for Cluster {
    type Err = Failure;

    /// Parses `df://HOST` or `df://HOST:PORT`; an IPv6 address is in brackets.
    fn from_str(url: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            let failure = Failure::new(FailureCode::InvalidArguments, format!("invalid engine `{url}`: {what}"));
            failure.advise(format!("pass the scheduler of a Ballista cluster, such as df://127.0.0.1:{}", Self::PORT))
        };
        if cfg!(not(feature = "ballista")) {
            let failure = Failure::new(FailureCode::InvalidArguments, "this program was built without Ballista");
            return Err(failure.advise("build it with the feature `ballista`"));
        }
        let place = url.strip_prefix("df://").ok_or_else(|| wrong("it does not start with df://"))?;
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong("the text after the colon is not a port"))?)
            }
            _ => (place, Self::PORT),
        };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        let is_named = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if !is_named && !is_bracketed {
            return Err(wrong("expected a host and an optional port"));
        }
        Ok(Cluster { host: host.to_owned(), port })
    }
}

#[cfg(all(test, feature = "ballista"))]
mod tests {
    use super::Cluster;

    #[test]
    fn a_cluster_is_a_host_and_a_port() {
        let check = |url: &str, expected: &str| {
            let said = url.parse::<Cluster>().map_or_else(|failure| failure.message, |cluster| cluster.to_string());
            assert_eq!(said, expected);
        };
        check("df://10.0.0.7:50060", "df://10.0.0.7:50060");
        check("df://scheduler/", "df://scheduler:50050");
        check("df://[::1]", "df://[::1]:50050");
        check("http://scheduler", "invalid engine `http://scheduler`: it does not start with df://");
        check("df://host:port", "invalid engine `df://host:port`: the text after the colon is not a port");
        check("df://", "invalid engine `df://`: expected a host and an optional port");
        check("df://a@b", "invalid engine `df://a@b`: expected a host and an optional port");
    }
}
