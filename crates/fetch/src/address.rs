//! Classifies addresses: public, private, or never allowed.
//!
//! Based on the IANA registries of special-purpose addresses (RFC 6890 and its updates). In IPv6, only the global unicast space
//! `2000::/3` without its special ranges is public; an embedded IPv4 address is classified as IPv4.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A public address.
    Public,
    /// This machine or a private network: reachable if the catalog allows the host.
    Own(&'static str),
    /// Never reachable by name, even if the name is allowed: link-local (where clouds serve credentials), multicast, reserved.
    Special(&'static str),
}

pub(crate) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

fn v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        [127, ..] => Reach::Own("loopback"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Reach::Own("private"),
        [100, 64..=127, ..] => Reach::Own("carrier-grade NAT"),
        [0, ..] => Reach::Special("unspecified"),
        [169, 254, ..] => Reach::Special("link-local"),
        [192, 0, 0, _] => Reach::Special("protocol assignment"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Reach::Special("documentation"),
        [192, 88, 99, _] => Reach::Special("6to4 relay"),
        [198, 18..=19, ..] => Reach::Special("benchmarking"),
        [224..=239, ..] => Reach::Special("multicast"),
        [240..=255, ..] => Reach::Special("reserved"),
        _ => Reach::Public,
    }
}

fn v6(address: Ipv6Addr) -> Reach {
    let embedded = |high: u16, low: u16| v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Special("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Own("loopback"),
        // IPv4-mapped, and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, ..] => Reach::Special("6to4"),
        // IETF protocol assignments, including Teredo, benchmarking and ORCHID.
        [0x2001, 0..=0x1ff, ..] => Reach::Special("protocol assignment"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Reach::Special("documentation"),
        [0x2000..=0x3fff, ..] => Reach::Public,
        [0xfc00..=0xfdff, ..] => Reach::Own("unique-local"),
        [0xfe80..=0xfebf, ..] => Reach::Special("link-local"),
        [0xff00..=0xffff, ..] => Reach::Special("multicast"),
        _ => Reach::Special("reserved"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], expected: &str) {
        for text in addresses {
            let found = match reach(text.parse().unwrap()) {
                Reach::Public => "public".to_owned(),
                Reach::Own(kind) => format!("own {kind}"),
                Reach::Special(kind) => format!("special {kind}"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn classifies_public_addresses() {
        check(&["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1"], "public");
        check(&["192.0.1.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "169.253.0.1"], "public");
        check(&["2606:4700::1111", "2001:200::1", "2a00:1450:4001::5", "3ffe::1"], "public");
        check(&["::ffff:8.8.8.8", "64:ff9b::808:808"], "public");
    }

    #[test]
    fn classifies_private_networks() {
        check(&["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"], "own loopback");
        check(&["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::ffff:10.0.0.1"], "own private");
        check(&["64:ff9b::a00:1"], "own private");
        check(&["100.64.0.1", "100.127.255.255"], "own carrier-grade NAT");
        check(&["fc00::1", "fdff::1"], "own unique-local");
    }

    #[test]
    fn classifies_special_addresses() {
        check(&["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "febf::1"], "special link-local");
        check(&["0.0.0.0", "0.1.2.3", "::"], "special unspecified");
        check(&["224.0.0.1", "239.1.1.1", "ff02::1"], "special multicast");
        check(&["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"], "special documentation");
        check(&["198.18.0.1", "198.19.255.255"], "special benchmarking");
        check(&["240.0.0.1", "255.255.255.255", "::2", "::127.0.0.1", "100::1", "fec0::1"], "special reserved");
        check(&["64:ff9b:1::7f00:1", "5f00::1", "4000::1"], "special reserved");
        check(&["2002:7f00:1::", "2002:808:808::1"], "special 6to4");
        check(&["192.0.0.1", "2001::1", "2001:20::1"], "special protocol assignment");
        check(&["192.88.99.1"], "special 6to4 relay");
    }
}
