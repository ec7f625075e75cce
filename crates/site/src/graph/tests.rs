use url::Url;

use super::{rank::percentiles, *};
use crate::{
    origin::{Origin, Probe},
    page::{At, HtmlFacts, Link, LinkRel, Meta, Outcome, PageFacts, REL_NOFOLLOW},
    urls::{UrlTable, provenance},
};

fn page(id: u32, outcome: Outcome) -> PageFacts {
    let url = Url::parse(&format!("https://example.com/{id}")).unwrap();
    PageFacts::without_answer(
        &url,
        At {
            id: UrlId(id),
            ..At::default()
        },
        outcome,
    )
}

fn html(id: u32, links: &[u32]) -> PageFacts {
    let links = links.iter().map(|t| link(*t, 0)).collect();
    PageFacts {
        html: Some(Box::new(HtmlFacts {
            links,
            main_words: 500,
            ..HtmlFacts::default()
        })),
        ..page(id, Outcome::Status(200))
    }
}

fn link(target: u32, flags: u8) -> Link<'static> {
    Link {
        href: "",
        target: Some(UrlId(target)),
        anchor: "",
        flags,
        line: 1,
    }
}

fn facts(page: &mut PageFacts) -> &mut HtmlFacts {
    page.html.as_mut().unwrap()
}

fn ends(origin: &Origin) -> CrawlSummary<'_> {
    CrawlSummary {
        depths: vec![0],
        origin,
        traps: Vec::new(),
        complete: true,
    }
}

fn index_with(pages: &[PageFacts], probes: &[Probe]) -> SiteGraph {
    let mut table = UrlTable::new(100);
    let mut builder = GraphBuilder::default();
    let last = pages.iter().map(|p| p.id.0).max().unwrap_or(0);
    for id in 0..=last {
        table.insert(&format!("https://example.com/{id}"), None).unwrap();
        builder.set_internal(UrlId(id));
    }
    pages.iter().for_each(|p| builder.add(p));
    table.mark(UrlId(0), provenance::SITEMAP);
    let origin = Origin {
        probes: probes.to_vec(),
        ..Origin::default()
    };
    builder.finish(table, ends(&origin))
}

fn index(pages: &[PageFacts]) -> SiteGraph {
    index_with(pages, &[])
}

fn ranks(index: &SiteGraph) -> Vec<f64> {
    (0..index.len())
        .map(|id| (f64::from(index.rank(UrlId(id as u32))) * 10_000.0).round() / 10_000.0)
        .collect()
}

#[test]
fn the_three_page_example() {
    let index = index(&[html(0, &[1, 2]), html(1, &[2]), html(2, &[0])]);
    assert_eq!(ranks(&index), [0.3878, 0.2148, 0.3974]);
    assert_eq!(
        [0, 1, 2].map(|id| index.link_score(UrlId(id))),
        [Some(50), Some(0), Some(100)]
    );
}

#[test]
fn links_to_redirects_and_copies_count_for_where_they_end() {
    // 1 redirects to 2, 3 names 4 as canonical; so 0 links to 2 and 4 in effect, each perhaps twice
    let redirect = page(
        1,
        Outcome::Redirect {
            status: 301,
            location: None,
            target: Some(UrlId(2)),
        },
    );
    let mut copy = html(3, &[0]);
    facts(&mut copy).canonicals = vec![LinkRel {
        rel: "".into(),
        href: "".into(),
        target: Some(UrlId(4)),
        in_head: true,
    }];
    let pages = [
        html(0, &[1, 2, 3, 0]),
        redirect,
        html(2, &[0]),
        copy,
        html(4, &[0]),
    ];
    let index = index(&pages);
    let ranks = ranks(&index);
    assert!(ranks[2] == ranks[4] && ranks[3] < ranks[2]);
    // the redirect has the rank that its one inlink passes on, outside the sum of 1
    assert!(ranks[1] > ranks[3] && ranks[1] <= ranks[2], "{ranks:?}");
    assert!((ranks.iter().sum::<f64>() - ranks[1] - 1.0).abs() < 1e-3);
    assert_eq!(
        (
            index.link_score(UrlId(1)),
            index.redirect(UrlId(1)),
            index.canonical(UrlId(3))
        ),
        (None, Some(UrlId(2)), Some(UrlId(4)))
    );
    assert!(index.has(UrlId(3), PageFlags::CANONICALISED) && !index.has(UrlId(3), PageFlags::INDEXABLE));
}

#[test]
fn nofollow_and_dangling_pages_pass_no_rank_on() {
    let mut start = html(0, &[]);
    facts(&mut start).links = [link(1, REL_NOFOLLOW), link(2, 0), link(2, REL_NOFOLLOW)]
        .into_iter()
        .collect();
    let index = index(&[start, html(1, &[]), html(2, &[])]);
    let ranks = ranks(&index);
    assert!(ranks[1] < ranks[2] && ranks[0] == ranks[1]);
    let inlinks = |id| index.inlinks(UrlId(id)).collect::<Vec<_>>();
    assert_eq!(
        (inlinks(1), inlinks(2), inlinks(0)),
        (vec![(UrlId(0), true)], vec![(UrlId(0), false)], vec![])
    );
}

#[test]
fn robots_nofollow_makes_every_link_nofollow() {
    let mut start = html(0, &[1]);
    facts(&mut start).metas = vec![Meta {
        name: "robots".into(),
        content: "nofollow".into(),
        in_head: true,
    }];
    let index = index(&[start, html(1, &[1])]);
    assert!(index.has(UrlId(0), PageFlags::NOFOLLOW));
    assert_eq!(
        index.inlinks(UrlId(1)).collect::<Vec<_>>(),
        [(UrlId(0), true)],
        "a link to itself is none"
    );
}

#[test]
fn duplicates_are_grouped_among_indexable_pages() {
    let titled = |id, title: &str| {
        let mut page = html(id, &[]);
        facts(&mut page).titles = vec!["".into(), title.into()];
        page
    };
    let mut hidden = titled(4, "Same");
    hidden.headers.robots_tags = vec!["noindex".into()];
    let index = index(&[
        titled(0, "Same"),
        titled(1, "Other"),
        titled(2, " same "),
        html(3, &[]),
        hidden,
    ]);
    let same = |id| {
        index
            .same(UrlId(id), Same::Title)
            .map(|UrlId(id)| id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (same(0), same(2), same(1), same(3)),
        (vec![0, 2], vec![0, 2], vec![], vec![])
    );
    assert!(index.has(UrlId(4), PageFlags::NOINDEX));
}

#[test]
fn states_tell_how_a_fetch_ended() {
    let failed = page(1, Outcome::Failed(crate::fetch::FetchError::Timeout));
    let index = index(&[
        html(0, &[]),
        failed,
        page(2, Outcome::Blocked("Disallow: /".into())),
        page(4, Outcome::Status(200)),
    ]);
    let states = [0, 1, 2, 3, 4].map(|id| index.state(UrlId(id)));
    assert_eq!(
        states,
        [
            State::Html,
            State::Failed,
            State::Blocked,
            State::Known,
            State::Other
        ]
    );
    assert_eq!(
        (
            index.status(UrlId(0)),
            index.status(UrlId(1)),
            index.depth(UrlId(0)),
            index.depth(UrlId(3))
        ),
        (Some(200), None, Some(0), None)
    );
    assert!(index.has(UrlId(0), PageFlags::IN_SITEMAP) && index.complete());
}

#[test]
fn soft_404s_are_told_by_words_and_by_probe() {
    let with = |id, title: &str, words: u32, text: u64| {
        let mut page = html(id, &[]);
        *facts(&mut page) = HtmlFacts {
            titles: vec![title.into()],
            main_words: words,
            text_hash: text,
            ..HtmlFacts::default()
        };
        page
    };
    let pages = [
        with(0, "Home", 300, 7),
        with(1, "Error 404", 20, 8),
        with(2, "Error 404 explained", 900, 9),
        with(3, "Seite nicht gefunden", 20, 10),
        with(4, "Whatever", 900, 11),
        with(5, "Peugeot 4048", 10, 12),
        with(6, "404 Area Code", 10, 13),
        with(7, "The Peugeot 404 | Cars", 10, 14),
        with(8, "Example – 404", 10, 15),
        with(9, "404", 10, 16),
        with(10, "Error: 404!", 10, 17),
        with(11, "404 page of Example", 10, 18),
        with(12, "Rooms: 404 of them", 10, 19),
        with(13, "Erreur HTTP 404", 10, 20),
        with(14, "Peugeot 404", 10, 21),
    ];
    let soft = |probes: &[Probe]| {
        let index = index_with(&pages, probes);
        (0..15)
            .filter(|id| index.has(UrlId(*id), PageFlags::SOFT_404))
            .collect::<Vec<_>>()
    };
    assert_eq!(soft(&[]), [1, 3, 8, 9, 10, 11, 13]);
    let probe = |text, status| Probe {
        text,
        status,
        ..Probe::default()
    };
    assert_eq!(soft(&[probe(11, 200)]), [1, 3, 4, 8, 9, 10, 11, 13]);
    assert_eq!(soft(&[probe(11, 404)]), soft(&[]));
    assert_eq!(
        soft(&[probe(7, 200)]),
        soft(&[]),
        "a site that answers everything with its home page"
    );
}

#[test]
fn text_of_most_pages_is_no_soft_404() {
    // texts with words that all pages share, and some of their own
    let with = |id: u32, own: usize| {
        let text: String = (0..200)
            .map(|i| {
                if i < own {
                    format!("own{id}x{i} ")
                } else {
                    format!("word{i} ")
                }
            })
            .collect();
        let mut page = html(id, &[]);
        facts(&mut page).text_hash = u64::from(id) + 1;
        facts(&mut page).sketch = Sketch::from_text(&text);
        page
    };
    let probe = Probe {
        status: 200,
        text: 99,
        sketch: facts(&mut with(99, 2)).sketch,
        ..Probe::default()
    };
    let soft = |home: usize, alike: u32, unlike: u32| {
        let pages: Vec<_> = std::iter::once(with(0, home))
            .chain((1..=alike).map(|id| with(id, 2)))
            .chain((alike + 1..=alike + unlike).map(|id| with(id, 150)))
            .collect();
        let index = index_with(&pages, std::slice::from_ref(&probe));
        let soft = (0..pages.len() as u32).map(UrlId);
        let soft: Vec<u32> = soft
            .filter(|id| index.has(*id, PageFlags::SOFT_404))
            .map(|id| id.0)
            .collect();
        assert!(soft.iter().all(|id| {
            index
                .like_not_found(UrlId(*id))
                .is_some_and(|percent| (90..100).contains(&percent))
        }));
        soft
    };
    assert_eq!(soft(150, 2, 3), [1, 2]);
    assert_eq!(soft(150, 2, 0), [1, 2], "few pages prove no template");
    assert_eq!(
        soft(150, 6, 3),
        [] as [u32; 0],
        "most pages are alike whatever they are called"
    );
    assert_eq!(soft(2, 2, 3), [] as [u32; 0], "the home page is the same too");
}

#[test]
fn percentiles_count_the_smaller_ones() {
    assert_eq!(percentiles(&[0.2, 0.1, 0.2, 0.5]), [33, 0, 33, 100]);
    assert_eq!((percentiles(&[1.0]), percentiles(&[])), (vec![100], vec![]));
}
