//! The addresses that the outside world may make us connect to: a pure table, because a hole in it is
//! a way into the operator's network (server-side request forgery).
//!
//! Source: the IANA IPv4 and IPv6 special-purpose address registries (RFC 6890), plus the transition
//! mechanisms that carry an IPv4 address inside an IPv6 one, plus the metadata services of clouds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reason why an address may not be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Not globally reachable: private, loopback, link-local, documentation, multicast, reserved, or a
    /// transition mechanism that could hide such an address.
    NotGlobal,
    /// The metadata service of a cloud: hands out credentials to whoever asks from inside.
    Metadata,
}

/// A range of addresses: the first `bits` of `base` count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    base: IpAddr,
    bits: u8,
}

impl Block {
    /// A range; `None` when `bits` is more than the address has (32 or 128).
    pub fn new(base: IpAddr, bits: u8) -> Option<Self> {
        let most = if base.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Self { base, bits })
    }

    /// Whether the address lies in the range; IPv4 and IPv6 never contain each other.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => same_prefix(
                u128::from(base.to_bits()) << 96,
                u128::from(address.to_bits()) << 96,
                self.bits,
            ),
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                same_prefix(base.to_bits(), address.to_bits(), self.bits)
            }
            _ => false,
        }
    }
}

fn same_prefix(a: u128, b: u128, bits: u8) -> bool {
    bits == 0 || (a ^ b) >> (128 - u32::from(bits)) == 0
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Block {
    Block {
        base: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        bits,
    }
}

const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Block {
    Block {
        base: IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)),
        bits,
    }
}

const METADATA: [Block; 6] = [
    // AWS, GCP, Azure, Oracle, DigitalOcean, OpenStack, and the credentials of ECS and EKS.
    v4(169, 254, 0, 0, 16),
    // Alibaba Cloud.
    v4(100, 100, 100, 200, 32),
    // Oracle Cloud, classic.
    v4(192, 0, 0, 192, 32),
    // Azure's wire server: a public address that only answers from inside.
    v4(168, 63, 129, 16, 32),
    // AWS over IPv6, all services.
    v6(0xfd00, 0x0ec2, 0, 32),
    // GCP over IPv6 (fd20:ce::254).
    v6(0xfd20, 0x00ce, 0, 32),
];

const NOT_GLOBAL: [Block; 29] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
    // Unspecified, loopback, the deprecated "IPv4-compatible" addresses and IPv4-translated ones.
    v6(0, 0, 0, 64),
    // NAT64, well-known and local prefix.
    v6(0x64, 0xff9b, 0, 96),
    v6(0x64, 0xff9b, 1, 48),
    // Discard-only, dummy.
    v6(0x100, 0, 0, 64),
    v6(0x100, 0, 0, 48),
    // Teredo, benchmarking, ORCHID and the rest of the IETF's protocol assignments.
    v6(0x2001, 0, 0, 23),
    v6(0x2001, 0x0db8, 0, 32),
    // 6to4.
    v6(0x2002, 0, 0, 16),
    v6(0x3fff, 0, 0, 20),
    v6(0x5f00, 0, 0, 16),
    v6(0xfc00, 0, 0, 7),
    v6(0xfe80, 0, 0, 10),
    // Site-local, deprecated.
    v6(0xfec0, 0, 0, 10),
    v6(0xff00, 0, 0, 8),
    // Outside what IANA has handed out as global unicast (2000::/3) there is nothing to reach.
    v6(0x4000, 0, 0, 2),
];

/// Judges an address. IPv4 addresses in IPv6 clothing (`::ffff:7f00:1`) are judged as IPv4.
pub fn denied(address: IpAddr) -> Option<Denied> {
    let address = address.to_canonical();
    if METADATA.iter().any(|block| block.contains(address)) {
        Some(Denied::Metadata)
    } else if NOT_GLOBAL.iter().any(|block| block.contains(address)) || embeds_v4(address) {
        Some(Denied::NotGlobal)
    } else {
        None
    }
}

/// ISATAP hides an IPv4 address in the last half of any IPv6 address.
fn embeds_v4(address: IpAddr) -> bool {
    match address {
        IpAddr::V6(v6) => v6.segments()[4] & 0xfdff == 0 && v6.segments()[5] == 0x5efe,
        IpAddr::V4(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_for_the_outside_are_denied() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:7f00:1",
            "::ffff:10.0.0.1",
            "::ffff:192.168.1.1",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:0808:0808::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "7fff::1",
            "2a00:1450::5efe:a00:1",
            "2a00:1450::200:5efe:a00:1",
        ] {
            assert_eq!(
                denied(address.parse().unwrap()),
                Some(Denied::NotGlobal),
                "{address}"
            );
        }
    }

    #[test]
    fn metadata_services_are_told_apart() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "::ffff:a9fe:a9fe",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
        ] {
            assert_eq!(
                denied(address.parse().unwrap()),
                Some(Denied::Metadata),
                "{address}"
            );
        }
    }

    #[test]
    fn neighbours_of_denied_ranges_are_reachable() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "223.255.255.255",
            "168.63.129.15",
            "::ffff:8.8.8.8",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450:4001:81b::200e",
            "3ffe:ffff::1",
        ] {
            assert_eq!(denied(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn a_block_holds_its_first_and_last_address() {
        let block = Block::new("192.168.4.0".parse().unwrap(), 22).unwrap();
        for (address, inside) in [
            ("192.168.3.255", false),
            ("192.168.4.0", true),
            ("192.168.7.255", true),
            ("192.168.8.0", false),
            ("::ffff:192.168.4.0", false),
        ] {
            assert_eq!(block.contains(address.parse().unwrap()), inside, "{address}");
        }
        assert_eq!(Block::new("10.0.0.0".parse().unwrap(), 33), None);
        assert!(
            Block::new("::".parse().unwrap(), 0)
                .unwrap()
                .contains("::1".parse().unwrap())
        );
    }
}
