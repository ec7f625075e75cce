//! Address ranges of agents, as their vendors publish them.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
};

use ipnet::IpNet;
use serde::Deserialize;

use super::Verification;
use crate::agents::agents;

/// Largest number of networks of a file.
const MAX_NETWORKS: usize = 100_000;

/// File of a vendor, as OpenAI, Google, Microsoft and Perplexity publish it.
#[derive(Deserialize)]
struct PublishedRanges {
    prefixes: Vec<PublishedPrefix>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublishedPrefix {
    ipv4_prefix: Option<String>,
    ipv6_prefix: Option<String>,
}

/// Parses the address ranges that a vendor publishes: JSON with `prefixes`, each with an `ipv4Prefix` or an `ipv6Prefix`; or a
/// network or an address a line, with comments behind `#`.
pub fn parse_networks(text: &str) -> Result<Vec<IpNet>, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let networks: Vec<String> = if text.starts_with('{') {
        let published: PublishedRanges =
            serde_json::from_str(text).map_err(|e| format!("is no list of prefixes: {e}"))?;
        let prefixes = published.prefixes.into_iter();
        prefixes
            .flat_map(|prefix| [prefix.ipv4_prefix, prefix.ipv6_prefix])
            .flatten()
            .collect()
    } else {
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    if networks.is_empty() {
        return Err("has no network".to_owned());
    }
    if networks.len() > MAX_NETWORKS {
        return Err(format!("has more than {MAX_NETWORKS} networks"));
    }
    let parse = |network: &String| {
        let shown = || format!("{:?} is no network", network.chars().take(50).collect::<String>());
        let parsed = network.parse::<IpNet>().ok();
        parsed
            .or_else(|| network.parse::<IpAddr>().ok().map(IpNet::from))
            .ok_or_else(shown)
    };
    networks.iter().map(parse).collect()
}

/// Addresses from a first to a last one, IPv4 as mapped IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AddressRange {
    first: u128,
    last: u128,
}

/// Address ranges by agent.
#[derive(Clone, Debug, Default)]
pub struct AgentRanges {
    /// Sorted and without overlaps.
    ranges: HashMap<usize, Vec<AddressRange>>,
}

impl AgentRanges {
    /// Sets the ranges of an agent by its name; returns whether the agent is known.
    pub fn insert(&mut self, agent: &str, networks: &[IpNet]) -> bool {
        let Some(place) = agents()
            .iter()
            .position(|known| known.name.eq_ignore_ascii_case(agent))
        else {
            return false;
        };
        let mut ranges: Vec<AddressRange> = networks.iter().map(range).collect();
        ranges.sort_unstable();
        let mut merged: Vec<AddressRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut().filter(|last| last.last >= range.first) {
                Some(last) => last.last = last.last.max(range.last),
                None => merged.push(range),
            }
        }
        self.ranges.insert(place, merged);
        true
    }

    /// Verifies the address of a visit.
    pub fn verify(&self, agent: usize, address: &[u8]) -> Verification {
        let Some(ranges) = self.ranges.get(&agent) else {
            return Verification::Unknown;
        };
        let address = std::str::from_utf8(address)
            .ok()
            .and_then(|text| text.parse::<IpAddr>().ok());
        let Some(address) = address.map(number) else {
            return Verification::Unknown;
        };
        let at = ranges.partition_point(|range| range.last < address);
        match ranges.get(at) {
            Some(range) if range.first <= address => Verification::Verified,
            _ => Verification::Forged,
        }
    }
}

fn number(address: IpAddr) -> u128 {
    let mapped: Ipv6Addr = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    mapped.to_bits()
}

fn range(network: &IpNet) -> AddressRange {
    AddressRange {
        first: number(network.network()),
        last: number(network.broadcast()),
    }
}
