//! A crawl that died after any batch and went on ends as one that never did.

use std::sync::Arc;

use proptest::prelude::*;
use searchwright_site::crawl::{Config, Resume, ResumeError, Termination};

use super::fake::{Answer, Memory, Site, config, html, picture, redirect, run_with, site};

/// What a page of the made-up site is.
#[derive(Clone, Debug)]
pub enum Kind {
    Page {
        links: Vec<(usize, bool)>,
        canonical: Option<usize>,
        hreflang: Option<usize>,
    },
    Redirect(usize),
    Missing,
}

fn name(i: usize) -> String {
    match i {
        0 => "/".into(),
        i if i % 4 == 3 => format!("/list?p={i}"),
        i => format!("/p{i}"),
    }
}

pub fn build(kinds: &[Kind], listed: &[usize], shuffle: u64) -> Site {
    let mut site = site();
    site.shuffle = shuffle;
    let urls: String = listed
        .iter()
        .map(|i| {
            let day = i + 1;
            format!(
                "<url><loc>https://example.com{}</loc><lastmod>2024-05-{day:02}</lastmod></url>",
                name(*i)
            )
        })
        .collect();
    let map = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>");
    site = site.with("/sitemap.xml", Answer::Is(200, Vec::new(), map));
    site = site.with(
        "/robots.txt",
        Answer::Is(200, Vec::new(), "User-agent: *\nDisallow: /p5".into()),
    );
    let abroad = "<html lang=fr><link rel=canonical href=/fr><link rel=alternate hreflang=de href=https://example.com/p1>";
    site = site.with("https://autre.example/", html(abroad));
    for (i, kind) in kinds.iter().enumerate() {
        site = match kind {
            Kind::Missing => site,
            Kind::Redirect(to) => site.with(&name(i), redirect(301, &name(*to))),
            Kind::Page {
                links,
                canonical,
                hreflang,
            } => {
                let mut body = format!("<title>Page {i}</title>");
                for (rel, target) in [
                    ("rel=canonical", canonical),
                    ("rel=alternate hreflang=de", hreflang),
                ] {
                    if let Some(target) = target {
                        body.push_str(&format!(
                            "<link {rel} href=\"https://example.com{}\">",
                            name(*target)
                        ));
                    }
                }
                for (to, follow) in links {
                    let rel = if *follow { "" } else { " rel=nofollow" };
                    body.push_str(&format!("<a href=\"{}\"{rel}>x</a>", name(*to)));
                }
                body.push_str("<a href=https://other.example/a>x</a>");
                if hreflang.is_some() {
                    body.push_str("<link rel=alternate hreflang=fr href=https://autre.example/>");
                }
                body.push_str(&format!("<img src=/i{}.png>", i % 3));
                site.with(&name(i), html(body))
            }
        };
    }
    site
}

pub fn kind() -> impl Strategy<Value = Kind> {
    let page = || 0_usize..16;
    prop_oneof![
        6 => (proptest::collection::vec((page(), proptest::bool::weighted(0.8)), 0..5), proptest::option::weighted(0.2, page()), proptest::option::weighted(0.2, page()))
            .prop_map(|(links, canonical, hreflang)| Kind::Page { links, canonical, hreflang }),
        2 => page().prop_map(Kind::Redirect),
        1 => Just(Kind::Missing),
    ]
}

async fn all_deaths(kinds: &[Kind], listed: &[usize], config: Config) -> Result<(), TestCaseError> {
    let mut whole = Memory::default();
    let ending = run_with(
        &Arc::new(build(kinds, listed, 0)),
        config.clone(),
        &mut whole,
        None,
    )
    .await
    .unwrap();
    let expected = picture(&whole, &ending);
    for batches in 0..whole.batches.len() {
        let mut memory = Memory {
            dies_after: Some(batches),
            ..Memory::default()
        };
        let site = Arc::new(build(kinds, listed, batches as u64 + 1));
        if run_with(&site, config.clone(), &mut memory, None).await.is_ok() {
            // Other batches than in the first run: this one was done before it could die.
            continue;
        }
        memory.dies_after = None;
        let resume = memory.resume(&config);
        let site = Arc::new(build(kinds, listed, batches as u64 + 100));
        let ending = run_with(&site, config.clone(), &mut memory, Some(resume))
            .await
            .unwrap();
        prop_assert_eq!(
            &picture(&memory, &ending),
            &expected,
            "died after {} batches",
            batches
        );
        let mut ids: Vec<_> = memory.pages.iter().map(|p| p.facts.id).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), memory.pages.len(), "each page is saved once");
    }
    Ok(())
}

pub fn block_on(run: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn a_death_changes_nothing(
        kinds in proptest::collection::vec(kind(), 16),
        listed in proptest::collection::vec(0_usize..16, 0..5),
        max_pages in prop_oneof![2 => Just(1_000_u32), 1 => 1_u32..16],
        max_depth in prop_oneof![2 => Just(20_u16), 1 => 0_u16..4],
        max_query_variants in prop_oneof![2 => Just(50_u32), 1 => 1_u32..4],
        batch_pages in 1_usize..4,
    ) {
        let config = Config { max_pages, max_depth, max_query_variants, batch_pages, ..config() };
        block_on(all_deaths(&kinds, &listed, config))?;
    }
}

#[test]
fn rows_that_do_not_belong_together_are_refused() {
    let config = config();
    let mut memory = Memory::default();
    let site = build(
        &[Kind::Page {
            links: vec![(1, true)],
            canonical: None,
            hreflang: None,
        }],
        &[],
        0,
    );
    block_on(async {
        run_with(&Arc::new(site), config.clone(), &mut memory, None)
            .await
            .unwrap();
        Ok(())
    })
    .unwrap();
    let mut resume = Resume::new(&config, None, std::time::Duration::ZERO);
    assert_eq!(
        resume.page(&memory.pages[0].facts),
        Err(ResumeError::Page(memory.pages[0].facts.id))
    );
    assert_eq!(
        resume.url(&memory.urls[1]),
        Err(ResumeError::Order(memory.urls[1].id))
    );
    resume.url(&memory.urls[0]).unwrap();
    assert_eq!(
        resume.url(&memory.urls[0]),
        Err(ResumeError::Order(memory.urls[0].id))
    );
}

#[test]
fn the_time_before_a_death_counts() {
    let page = |to| Kind::Page {
        links: vec![(to, true)],
        canonical: None,
        hreflang: None,
    };
    let kinds: Vec<Kind> = (1..16).map(page).collect();
    block_on(async {
        let config = Config {
            batch_pages: 1,
            ..config()
        };
        let mut memory = Memory {
            dies_after: Some(3),
            ..Memory::default()
        };
        let site = Arc::new(build(&kinds, &[], 0));
        assert!(run_with(&site, config.clone(), &mut memory, None).await.is_err());
        memory.dies_after = None;
        let saved = memory.pages.len();
        let mut resume = Resume::new(&config, memory.origin.clone(), config.max_duration);
        memory.urls.iter().for_each(|url| resume.url(url).unwrap());
        memory
            .pages
            .iter()
            .for_each(|page| resume.page(&page.facts).unwrap());
        let ending = run_with(&site, config, &mut memory, Some(resume)).await.unwrap();
        assert_eq!(ending.termination, Termination::MaxDuration);
        assert!(
            memory.pages.len() <= saved + 1,
            "what was under way, and nothing more"
        );
        Ok(())
    })
    .unwrap();
}
