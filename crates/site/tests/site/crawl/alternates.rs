//! Language alternates on other hosts: read to their end, judged, and nothing else of them kept.

use std::{collections::HashSet, sync::Arc, time::Duration};

use searchwright_site::{
    checks::{Context, FetchVerdict, Rules, evaluate, find},
    crawl::{Config, Ending, PartialRecrawl, Resume, Termination},
    fetch::FetchError,
    graph::{PageFlags, State},
    page::{PageFacts, UrlId},
};
use serde_json::Value;

use crate::fake::{Answer, CUT, Memory, Site, config, html, links, redirect, run, run_with, site, status};

const DE: &str = "https://example.de/";

fn alternate(code: &str, href: &str) -> String {
    format!("<link rel=alternate hreflang={code} href=\"{href}\">")
}

/// Whether it is known what an alternate of the start page says.
fn is_read(ending: &Ending, id: UrlId) -> bool {
    let index = &ending.index;
    index.is_answered(id) && !index.is_unread_of(UrlId(0), index.key(id))
}

/// A start page that names another host's as its German version.
fn home(to: &[&str]) -> Answer {
    let named: String = to.iter().map(|href| alternate("de", href)).collect();
    html(format!(
        "<html lang=en><title>Home</title>{}{named}<p>Some words",
        alternate("en", "https://example.com/")
    ))
}

/// A German page with this in its head.
fn german(head: &str) -> Answer {
    html(format!(
        "<!doctype html><html lang=de><head><title>Start</title>{head}</head><body><h1>Start</h1><a href=/mehr>mehr</a>"
    ))
}

fn back() -> String {
    alternate("en", "https://example.com/") + &alternate("de", DE)
}

fn answer(headers: &[(&'static str, &str)], body: &str) -> Answer {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let html = ("content-type", "text/html; charset=utf-8".to_owned());
    Answer::Is(200, std::iter::once(html).chain(headers).collect(), body.into())
}

/// What is found on the start page, of these checks.
fn found(memory: &Memory, ending: &Ending) -> Vec<(&'static str, Value)> {
    let rules = Rules::default();
    let context = Context::new(&ending.index, &ending.origin, &rules, 0);
    let facts: Vec<PageFacts> = memory.pages.iter().map(|page| page.facts.clone()).collect();
    let (mut all, mut elsewhere) = (Vec::new(), 0);
    for (facts, of) in facts.iter().zip(evaluate(&facts, &context)) {
        if ending.index.has(facts.id, PageFlags::INTERNAL) {
            let findings = of.findings.into_iter();
            all.extend(findings.map(|finding| (finding.check.id, finding.evidence)));
        } else {
            elsewhere += of.findings.len();
        }
    }
    assert_eq!(elsewhere, 0, "nothing is found on pages of other sites");
    let about = [
        "hreflang-no-return",
        "hreflang-non-200",
        "hreflang-redirect",
        "hreflang-not-indexable",
        "hreflang-lang-mismatch",
    ];
    all.retain(|(id, _)| about.contains(id));
    all
}

fn id(memory: &Memory, url: &str) -> UrlId {
    memory.urls.iter().find(|known| *known.key == *url).unwrap().id
}

#[tokio::test]
async fn alternates_are_judged_on_whichever_host() {
    let no_return = &["hreflang-no-return"][..];
    let hidden = &["hreflang-not-indexable"][..];
    let noindex = "<meta name=robots content=noindex>".to_owned() + &back();
    let many: String = (0..2_000)
        .map(|i| alternate("de", &format!("https://example.de/{i}")))
        .collect();
    // what it answers, what is found, and whether that it is not found would prove anything
    for (what, answer, expected, told) in [
        ("names the page", german(&back()), &[][..], true),
        ("names others", german(&alternate("de", DE)), no_return, true),
        ("names none", german(""), &[], true),
        ("names more than are kept", german(&many), &[], true),
        ("noindex", german(&noindex), hidden, true),
        (
            "noindex by its headers",
            answer(
                &[("x-robots-tag", "noindex")],
                &("<html lang=de><p>x".to_owned() + &back()),
            ),
            hidden,
            true,
        ),
        (
            "canonicalised",
            german(&("<link rel=canonical href=/start>".to_owned() + &back())),
            hidden,
            true,
        ),
        (
            "its own canonical",
            german(&("<link rel=canonical href=https://example.de/>".to_owned() + &back())),
            &[],
            true,
        ),
        (
            "another language",
            html("<html lang=nl-BE><title>x</title>".to_owned() + &back()),
            &["hreflang-lang-mismatch"],
            true,
        ),
        (
            "redirects",
            redirect(301, "https://www.example.de/"),
            &["hreflang-redirect"],
            true,
        ),
        (
            "gone",
            Answer::Is(404, vec![("content-type", "text/html".into())], noindex.clone()),
            &["hreflang-non-200"],
            true,
        ),
        ("refuses", status(403), &[], false),
        ("busy", status(429), &[], false),
        ("ill", status(500), &["hreflang-non-200"], false),
        ("silent", Answer::Fails(FetchError::Timeout), &[], false),
        (
            "cut",
            answer(
                &[(CUT, "")],
                "<html lang=de><link rel=alternate hreflang=de href=/>",
            ),
            &[],
            false,
        ),
        ("empty", answer(&[("x-robots-tag", "noindex")], ""), &[], false),
        (
            "a shell",
            html("<html><script src=/app.js></script><div id=root></div>"),
            &[],
            false,
        ),
        (
            "a firewall's challenge",
            answer(
                &[("x-robots-tag", "noindex")],
                "<html lang=en-US><title>Just a moment...</title><meta name=robots content=noindex><p>x",
            ),
            &[],
            false,
        ),
        (
            "a challenge by its headers",
            answer(
                &[("cf-mitigated", "challenge")],
                "<html lang=en-US><meta name=robots content=noindex><p>Wait",
            ),
            &[],
            false,
        ),
        (
            "no HTML",
            Answer::Is(
                200,
                vec![("content-type", "application/pdf".into())],
                "%PDF".into(),
            ),
            &[],
            true,
        ),
    ] {
        let site = site().with("/", home(&[DE])).with(DE, answer);
        let (_, memory, ending) = run(site, config()).await;
        let found = found(&memory, &ending);
        let ids: Vec<&str> = found.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected, "{what}: {found:?}");
        let de = id(&memory, DE);
        assert_eq!(is_read(&ending, de), told, "{what}");
        assert_eq!(
            (ending.termination, ending.index.complete()),
            (Termination::Complete, true),
            "{what}"
        );
    }
}

#[tokio::test]
async fn of_a_sitemap_elsewhere_nothing_is_known() {
    let check = find("hreflang-no-return").unwrap();
    let evidence = serde_json::json!({"alternates": [{"code": "de", "from": "https://example.com/", "to": DE}], "total": 1});
    let cut = serde_json::json!({"alternates": [], "total": 30});
    let mute = async |head: &str, evidence: &Value| {
        let site = site().with("/", home(&[DE])).with(DE, german(head));
        let (memory, ending) = {
            let (_, memory, ending) = run(site, config()).await;
            (memory, ending)
        };
        let mute = check.mute_alternate(evidence, memory.id("/"), &ending.index);
        let other = find("hreflang-lang-mismatch").unwrap();
        assert_eq!(
            other.mute_alternate(evidence, memory.id("/"), &ending.index),
            None
        );
        mute.map(|id| ending.index.key(id).to_owned())
    };
    assert_eq!(mute("", &evidence).await.as_deref(), Some(DE));
    assert_eq!(mute("", &cut).await.as_deref(), Some(DE));
    assert_eq!(mute(&back(), &evidence).await, None);
    assert_eq!(mute(&alternate("de", DE), &cut).await, None);
}

#[tokio::test]
async fn alternates_are_asked_for_once_and_share_places_with_links() {
    let both = "https://other.example/both";
    let start = html(
        alternate("de", DE)
            + &alternate("nl", both)
            + "<a href=https://a.example/>x</a><a href=https://other.example/both>y</a>",
    );
    let shop = || {
        site()
            .with("/", start.clone())
            .with(both, status(404))
            .with(DE, german(""))
    };
    let asked = |site: &Site| {
        let mut log = site.log.lock().unwrap().clone();
        log.retain(|line| !line.contains("//example.com") && !line.contains("www."));
        log.sort();
        log
    };
    let (site, _, ending) = run(shop(), config()).await;
    assert_eq!(
        asked(&site),
        [
            "GET https://a.example/",
            "GET https://example.de/",
            "GET https://other.example/both",
            "HEAD https://a.example/"
        ]
    );
    assert_eq!(ending.progress.fetched, 1, "counters are the site's own");
    let few = |max_external| Config {
        max_external,
        ..config()
    };
    let (site, ..) = run(shop(), few(2)).await;
    assert_eq!(
        asked(&site),
        [
            "GET https://a.example/",
            "GET https://example.de/",
            "HEAD https://a.example/"
        ]
    );
    // what the others do not need they get
    let (site, ..) = run(shop(), few(3)).await;
    assert_eq!(asked(&site).len(), 4);
    // whom a server fails is asked twice, as links are
    let ill = self::site()
        .with("/", home(&[DE]))
        .with(DE, status(502))
        .with(DE, german(&back()));
    let (site, memory, ending) = run(ill, config()).await;
    assert_eq!(
        (site.asked(DE), ending.index.status(id(&memory, DE))),
        (2, Some(200))
    );
}

#[tokio::test]
async fn little_is_kept_of_another_site() {
    let rich = german(
        &(back()
            + "<meta name=description content=Seite><link rel=next href=/2>"
            + &alternate("fr", "https://example.fr/")
            + &alternate("it", "https://example.com/no-page")
            + "<script type=application/ld+json>{\"@type\":\"Organization\"}</script><img src=/x.png><p>Viele Worte"),
    );
    let site = site()
        .with("/", home(&[DE]))
        .with(DE, rich)
        .with("https://example.com/b", links(&[]));
    let (_, memory, ending) = run(site, config()).await;
    let keys: Vec<&str> = memory.urls.iter().map(|url| &*url.key).collect();
    assert_eq!(
        keys,
        ["https://example.com/", DE],
        "its URLs are no URLs of the site"
    );
    let facts = &memory.page(DE).facts;
    let kept = facts.html.as_deref().unwrap();
    let (home, de) = (memory.id("/"), id(&memory, DE));
    let mut named: Vec<UrlId> = kept.hreflangs.iter().filter_map(|link| link.target).collect();
    named.sort();
    assert_eq!(named, [home, de]);
    assert_eq!(kept.lang.as_deref(), Some("de"));
    assert!(
        kept.titles.is_empty() && kept.headings.is_empty() && kept.links.is_empty() && kept.metas.is_empty()
    );
    assert!(
        kept.images.is_empty() && kept.json_ld.is_empty() && kept.text_hash == 0 && kept.sketch.is_none()
    );
    assert_eq!(
        (facts.validators.as_ref(), FetchVerdict::from_facts(facts)),
        (None, FetchVerdict::Whole)
    );
    let index = &ending.index;
    assert_eq!(
        (index.state(de), index.link_score(de), index.rank(de)),
        (State::Html, None, 0.0)
    );
    assert!(!index.has(de, PageFlags::INTERNAL) && index.has(de, PageFlags::READ));
    assert_eq!(index.inlinks(home).count(), 0);
    // an alternate of the other page is no reason to know this one
    assert_eq!(index.provenance(home), 0);
}

/// Facts as they are saved, read back.
fn resumed(memory: &Memory, config: &Config) -> Resume {
    let mut resume = Resume::new(config, memory.origin.clone(), Duration::ZERO);
    memory.urls.iter().for_each(|url| resume.url(url).unwrap());
    for page in &memory.pages {
        let stored = postcard::to_stdvec(&page.facts).unwrap();
        resume.page(&postcard::from_bytes(&stored).unwrap()).unwrap();
    }
    resume
}

#[tokio::test]
async fn alternates_survive_a_restart() {
    let fr = "https://example.fr/";
    let start = || {
        site()
            .with("/", home(&[DE, fr]))
            .with(DE, german(&back()))
            .with(fr, german(&alternate("fr", fr)))
    };
    let (_, whole, ending) = run(start(), config()).await;
    let expected = found(&whole, &ending);
    assert_eq!(expected[0].0, "hreflang-no-return");
    assert_eq!(expected[0].1["alternates"][0]["to"], fr);
    assert_eq!(expected[0].1["total"], 1);
    for pages in 1..whole.pages.len() {
        let mut memory = whole.clone();
        memory.pages.truncate(pages);
        let site = Arc::new(start());
        let resume = resumed(&memory, &config());
        let ending = run_with(&site, config(), &mut memory, Some(resume))
            .await
            .unwrap();
        assert_eq!(found(&memory, &ending), expected, "{pages}");
        assert_eq!(site.asked(DE) + site.asked(fr), whole.pages.len() - pages);
    }
}

#[tokio::test]
async fn a_recheck_reads_alternates_again() {
    let fr = "https://example.fr/";
    let before = site()
        .with("/", home(&[DE, fr]))
        .with(DE, german(&alternate("de", DE)))
        .with(fr, german(&back()));
    let (_, memory, ending) = run(before, config()).await;
    assert_eq!(found(&memory, &ending).len(), 1);
    for (answer, expected, told) in [
        (german(&back()), 0, true),
        (german(&alternate("de", DE)), 1, true),
        (Answer::Fails(FetchError::Timeout), 0, false),
    ] {
        let start = "https://example.com/".to_owned();
        let config = Config {
            again: Some(PartialRecrawl {
                pages: HashSet::from([start.clone(), DE.to_owned()]),
                with_targets: HashSet::from([start]),
                complete: true,
            }),
            // only what is asked again takes a place
            max_external: 1,
            ..config()
        };
        let after = Arc::new(site().with("/", home(&[DE, fr])).with(DE, answer));
        let resume = resumed(&memory, &config);
        let mut again = Memory {
            urls: memory.urls.clone(),
            ..Memory::default()
        };
        let ending = run_with(&after, config, &mut again, Some(resume)).await.unwrap();
        assert_eq!(found(&again, &ending).len(), expected);
        let de = id(&again, DE);
        assert_eq!((is_read(&ending, de), after.asked(fr)), (told, 0));
    }
}
