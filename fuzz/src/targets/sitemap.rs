//! A sitemap says the same whether it is compressed or not.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use searchwright_site::sitemap::read;

use crate::NOW;

/// Reads one input.
pub fn run(data: &[u8]) {
    let root = "https://example.com/".parse().expect("a URL");
    let plain = read(data, &root, NOW);
    assert!(plain.urls.len() <= 50_000 && plain.facts.urls as usize >= plain.urls.len());
    if data.starts_with(&[0x1f, 0x8b]) || data.len() > 4096 {
        return;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory is written");
    let zipped = read(&encoder.finish().expect("memory is written"), &root, NOW);
    assert_eq!((plain.urls, plain.facts), (zipped.urls, zipped.facts));
}
