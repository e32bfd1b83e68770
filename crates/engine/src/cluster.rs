//! Where a cluster is that computes queries.

use std::str::FromStr;

use crate::{Failure, FailureCode};

/// The scheduler of a [Ballista](https://datafusion.apache.org/ballista/) cluster, which must be of version 55, the
/// version that this crate is built with. It is parsed from `df://HOST` or `df://HOST:PORT`.
///
/// Its executors read data files and the scratch folder under the same paths as this process, so on several machines
/// both have to be on a shared file system. Rows of other sources are read by this process, by the same rules as
/// without a cluster, and handed over in the scratch folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    host: String,
    port: u16,
}

impl Cluster {
    /// The port of the scheduler if the address names none.
    pub const PORT: u16 = 50050;

    /// `http://HOST:PORT`, as the scheduler is called.
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

    /// `df://HOST` or `df://HOST:PORT`; an address of IPv6 stands in brackets.
    fn from_str(url: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            let failure = Failure::new(FailureCode::InvalidArguments, format!("`{url}` is no engine: {what}"));
            failure.advise(format!("write the scheduler of a Ballista cluster, such as df://127.0.0.1:{}", Self::PORT))
        };
        if cfg!(not(feature = "ballista")) {
            let failure = Failure::new(FailureCode::InvalidArguments, "this program was built without Ballista");
            return Err(failure.advise("build it with the feature `ballista`"));
        }
        let place = url.strip_prefix("df://").ok_or_else(|| wrong("it does not begin with df://"))?;
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong("what follows the colon is no port"))?)
            }
            _ => (place, Self::PORT),
        };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        let is_named = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if !is_named && !is_bracketed {
            return Err(wrong("there is no host, or more than a host and a port"));
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
        check("http://scheduler", "`http://scheduler` is no engine: it does not begin with df://");
        check("df://host:port", "`df://host:port` is no engine: what follows the colon is no port");
        check("df://", "`df://` is no engine: there is no host, or more than a host and a port");
        check("df://a@b", "`df://a@b` is no engine: there is no host, or more than a host and a port");
    }
}
