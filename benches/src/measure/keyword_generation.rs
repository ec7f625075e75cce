//! Keywords found in an audited site: what the job computes from its start to its end, by the server's processor time.
//!
//! The site is the generated one, whose sentences follow a few patterns with 280 different words. A real site of this
//! size has thousands, so a quarter of the long words in the text of each page is replaced by made-up ones out of
//! 16,000, the frequent ones much more often than the rare (Zipf): 1,200 words a page, 350 different ones, as
//! documentation has them.

use std::{fs, path::Path, thread, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::{
    process::free_port,
    random::Random,
    website::{self, Order},
};

use super::crawl::audited;
use crate::{
    Effort, cpu,
    product::{Api, Database, Installation, text},
    report::{Figure, Report, Target},
};

/// Pages of the site.
const PAGES: u32 = 1_000;
/// Letters from which a word may be replaced.
const LONG: usize = 5;

/// Audits the site once, then finds keywords in it in rounds.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = xtask::target().join("bench/site-words");
    fs::create_dir_all(&folder)?;
    let order = Order {
        pages: PAGES,
        seed: 2,
        port: free_port()?,
    };
    let site = website::generate(&order, &folder)?;
    vary_all(&folder.join("root"), &mut Random::new(order.seed, 0))?;
    let _nginx = website::serve(&site, &folder)?;
    let mut installation = Installation::new("keyword-generation", Database::Folder)?;
    installation.allow_crawl(site.port);
    let mut server = installation.start()?;
    let api = Api::new(installation.origin(), installation.project(&site.origin)?)?;
    audited(&api, &mut server, site.pages)?;
    let mut seconds = Vec::new();
    for _ in 0..effort.rounds {
        let before = cpu::seconds(server.id())?;
        let started = api.post("keywords/generate", &json!({ "count": 200 }))?;
        let job = format!("jobs/{}", text(&started["job"], "id")?);
        let done = loop {
            thread::sleep(Duration::from_millis(20));
            server.check()?;
            let job = api.get(&job)?;
            match text(&job, "status")?.as_str() {
                "queued" | "running" => {}
                "succeeded" => break job,
                _ => bail!("the job ended as {job}"),
            }
        };
        seconds.push(cpu::seconds(server.id())? - before);
        let looked = done.pointer("/result/looked/pages").and_then(Value::as_u64);
        let looked = looked.with_context(|| format!("no pages in {done}"))?;
        if looked < u64::from(PAGES) {
            bail!("the job read {looked} of {PAGES} pages");
        }
    }
    report.add(Figure {
        name: format!("keywords found in {PAGES} pages, processor time of the server"),
        unit: "s",
        baseline: Vec::new(),
        product: seconds,
        target: Target::Below(10.0),
    });
    Ok(())
}

/// Replaces words in all pages below a folder.
fn vary_all(folder: &Path, random: &mut Random) -> Result<()> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    // the same words in the same pages, whatever the order of the file system
    paths.sort();
    for path in paths {
        if path.is_dir() {
            vary_all(&path, random)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            fs::write(&path, vary(&fs::read_to_string(&path)?, random))?;
        }
    }
    Ok(())
}

/// A page with other words in its paragraphs.
fn vary(html: &str, random: &mut Random) -> String {
    let mut out = String::with_capacity(html.len() * 2);
    let mut inside = false;
    for (at, part) in html.split('<').enumerate() {
        let Some((tag, text)) = part.split_once('>').filter(|_| at > 0) else {
            out.push_str(part);
            continue;
        };
        inside = (inside && tag != "/p") || tag == "p";
        out.push('<');
        out.push_str(tag);
        out.push('>');
        for word in text.split_inclusive(' ') {
            let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b == b' ');
            if inside && plain && word.len() > LONG && random.below(4) == 0 {
                out.push_str(&made_up(random));
                out.push(' ');
            } else {
                out.push_str(word);
            }
        }
    }
    out
}

/// A word that looks like one. Each doubling of the rank is equally probable, as in a text.
fn made_up(random: &mut Random) -> String {
    const SYLLABLES: [&str; 16] = [
        "ta", "ben", "lor", "mi", "sko", "ran", "del", "fu", "gri", "pon", "hes", "wal", "tis", "ke", "vor",
        "nu",
    ];
    let magnitude = 1 << random.below(14);
    let mut rank = magnitude + random.below(magnitude);
    let mut word = String::new();
    for _ in 0..4 {
        word += SYLLABLES[rank % 16];
        rank /= 16;
    }
    word
}

#[cfg(test)]
mod tests {
    use xtask::random::Random;

    #[test]
    fn only_words_of_paragraphs_change() {
        let page = "<title>harbour lantern</title><p>The harbour lantern orchard meadow workshop, <b>kept</b> as it is.</p><p class=x>meadow meadow </p>";
        let varied = super::vary(page, &mut Random::new(1, 0));
        assert!(
            varied.starts_with("<title>harbour lantern</title><p>The "),
            "{varied}"
        );
        assert!(
            varied.ends_with(" workshop, <b>kept</b> as it is.</p><p class=x>meadow meadow </p>"),
            "{varied}"
        );
        assert_ne!(varied, page);
        assert_eq!(varied, super::vary(page, &mut Random::new(1, 0)));
    }
}
