//! Times ideas of 1,000 pages of 1,000 words and clusters of 10,000 keywords:
//! `cargo run --release --example keyword_ideas [pages] [keywords]`.
#![expect(clippy::print_stdout, reason = "a measurement is its output")]

use std::time::Instant;

use searchwright_keywords::{
    cluster::{Item, clusters},
    ideas::{MAX_IDEAS, Material, Page, ideas},
};

const STOP: [&str; 12] = [
    "the", "of", "a", "to", "and", "in", "is", "for", "with", "that", "on", "it",
];

/// Always the same numbers (the generator of Knuth's MMIX).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    /// A word that looks like one; small ranks come much more often than large ones, as in a text (Zipf).
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ta", "ben", "lor", "mi", "sko", "ran", "del", "fu", "gri", "pon", "hes", "wal", "tis", "ke",
            "vor", "nu",
        ];
        let magnitude = 1 << self.next(15);
        let mut rank = magnitude + self.next(magnitude);
        let mut word = String::new();
        for _ in 0..4 {
            word += SYLLABLES[rank % 16];
            rank /= 16;
        }
        word
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1000), |n| n.parse())?;
    let keywords: usize = arguments.next().map_or(Ok(10_000), |n| n.parse())?;
    let mut numbers = Numbers(1);
    let pages: Vec<(String, String)> = (0..count)
        .map(|_| {
            let title = format!("{} {} {}", numbers.word(), numbers.word(), numbers.word());
            let mut text = String::new();
            for n in 0..1000 {
                text += &match numbers.next(5) {
                    0 | 1 => STOP[numbers.next(STOP.len())].to_owned(),
                    _ => numbers.word(),
                };
                text += if n % 17 == 16 { ". The " } else { " " };
            }
            (title, text)
        })
        .collect();
    let material = Material {
        language: "en",
        pages: pages
            .iter()
            .map(|(title, text)| Page {
                url: "https://example.com/",
                title: Some(title),
                text,
                ..Page::default()
            })
            .collect(),
        most: MAX_IDEAS,
        ..Material::default()
    };
    let begin = Instant::now();
    let found = ideas(&material).ideas.len();
    let seconds = begin.elapsed().as_secs_f64();
    println!("{found} ideas of {count} pages in {seconds:.2} s");

    let texts: Vec<String> = (0..keywords)
        .map(|n| match n % 3 {
            // one word that very many share
            0 => format!("desk {} {}", numbers.word(), numbers.word()),
            1 => format!("best {} for {}", numbers.word(), numbers.word()),
            _ => format!("{} {} {}", numbers.word(), numbers.word(), numbers.word()),
        })
        .collect();
    let items: Vec<Item<'_>> = texts
        .iter()
        .map(|keyword| Item {
            keyword,
            language: "en",
            intent: None,
            volume: None,
        })
        .collect();
    let begin = Instant::now();
    let found = clusters(&items).len();
    let seconds = begin.elapsed().as_secs_f64();
    println!("{found} clusters of {keywords} keywords in {seconds:.2} s");
    Ok(())
}
