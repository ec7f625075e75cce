//! Pages as the newest audit saw them, and their list by URL.

use searchwright_contract::{ids::PageId, pages::Page};
use searchwright_store::{
    Error,
    access::ProjectScope,
    page_names,
    pages::{self, PageNumber, PageQuery, PageRow},
};

use crate::{
    harness::{Place, Store, id, later},
    issues::seen,
};

on_both!(
    newest_audit_replaces_the_page,
    each_of_many_pages_keeps_its_columns,
    filters,
    a_filter_lists_its_pages_few_or_many,
    pages_are_found_by_name,
    list_is_in_byte_order,
    changed_url_is_listed_once,
    every_order_walks_each_page_once,
);

/// Records pages of an audit, and inserts them into the list.
async fn record(store: &Store, scope: ProjectScope, all: Vec<PageRow>) {
    let urls: Vec<(String, PageId)> = all.iter().map(|seen| (seen.page.url.clone(), seen.id)).collect();
    commit!(store.db, |tx| {
        pages::upsert(tx, scope, id(), all).await?;
        pages::insert_urls(tx, scope, urls).await
    })
    .unwrap();
}

async fn newest_audit_replaces_the_page(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, page) = (store.project().await, store.project().await, id());
    let first = seen(page, "https://example.com/a", Some(200));
    let wanted = Page {
        last_crawled_at: later(3),
        ..first.page.clone()
    };
    commit!(store.db, |tx| pages::upsert(tx, scope, id(), vec![first]).await).unwrap();
    assert_eq!(
        pages::get(&mut store.read().await, scope, page).await.unwrap(),
        wanted
    );
    assert!(matches!(
        pages::get(&mut store.read().await, foreign, page).await,
        Err(Error::Missing)
    ));
    let bare = Page {
        final_url: None,
        status_code: None,
        failure: Some("dns".to_owned()),
        depth: None,
        link_score: None,
        indexable: false,
        non_indexable_reason: Some("no_answer".to_owned()),
        title: None,
        word_count: None,
        outlinks: None,
        last_crawled_at: later(8),
        ..wanted
    };
    let second = PageRow {
        id: page,
        page: bare.clone(),
        crawled_at: later(8),
        scored: true,
        rank: 0.25,
    };
    commit!(store.db, |tx| pages::upsert(tx, scope, id(), vec![second]).await).unwrap();
    assert_eq!(
        pages::get(&mut store.read().await, scope, page).await.unwrap(),
        bare
    );
}

async fn each_of_many_pages_keeps_its_columns(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let ids: Vec<PageId> = (0..70).map(|_| id()).collect();
    for round in 0..2_u32 {
        let of = |at: usize| {
            let mut page = seen(ids[at], &format!("https://example.com/{round}/{at}"), Some(200));
            page.page.word_count = (!at.is_multiple_of(3)).then_some(round * 100 + at as u32);
            page.page.outlinks = page.page.word_count.map(|_| 3);
            page.page.title = (!at.is_multiple_of(5)).then(|| format!("{round} {at}"));
            page
        };
        let all: Vec<PageRow> = (0..ids.len()).map(of).collect();
        let expected: Vec<Page> = all
            .iter()
            .map(|seen| Page {
                last_crawled_at: later(3),
                ..seen.page.clone()
            })
            .collect();
        commit!(store.db, |tx| pages::upsert(tx, scope, id(), all).await).unwrap();
        for (id, expected) in ids.iter().zip(expected) {
            let page = pages::get(&mut store.read().await, scope, *id).await.unwrap();
            assert_eq!(page, expected);
        }
    }
}

async fn pages_are_found_by_name(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, audit, newer) = (store.project().await, store.project().await, id(), id());
    let (first, second) = (id(), id());
    let all = vec![
        seen(second, "https://example.com/b", Some(200)),
        seen(first, "https://example.com/a", Some(200)),
    ];
    let mut names = vec![(-8, second), (7, first), (7, second)];
    names.sort_unstable();
    commit!(store.db, |tx| pages::upsert(tx, scope, audit, all).await).unwrap();
    // once more, as after an interruption
    for names in [names.clone(), names] {
        commit!(store.db, |tx| page_names::insert(tx, scope, audit, names).await).unwrap();
    }
    let both = &["https://example.com/a", "https://example.com/b"][..];
    for (scope, audit, key, wanted) in [
        (scope, audit, 7, both),
        (scope, audit, -8, &both[1..]),
        (scope, audit, 10, &[]),
        (scope, newer, 7, &[]),
        (foreign, audit, 7, &[]),
    ] {
        let found = page_names::find_urls(&mut store.read().await, scope, audit, key)
            .await
            .unwrap();
        assert_eq!(found, wanted, "{key}");
    }
    // with other names the second time: what the first noted is gone
    let others = vec![(5, first), (7, first), (9, second)];
    commit!(store.db, |tx| {
        page_names::delete(tx, scope, audit).await?;
        page_names::insert(tx, scope, audit, others).await
    })
    .unwrap();
    for (key, pages) in [(5, 1), (7, 1), (9, 1), (-8, 0)] {
        let found = page_names::find_urls(&mut store.read().await, scope, audit, key).await;
        assert_eq!(found.unwrap().len(), pages, "{key}");
    }
    commit!(store.db, |tx| page_names::delete(tx, scope, audit).await).unwrap();
    // more than one leaf, the first of which ends in the middle of a name
    let many: Vec<_> = (0..700)
        .map(|n| (n / 7 * 3, [first, second][n as usize % 2]))
        .collect();
    let all = many.clone();
    commit!(store.db, |tx| page_names::insert(tx, scope, audit, all).await).unwrap();
    for (key, _) in &many {
        for (key, pages) in [(*key, 7), (key + 1, 0)] {
            let found = page_names::find_urls(&mut store.read().await, scope, audit, key).await;
            assert_eq!(found.unwrap().len(), pages, "{key}");
        }
    }
    // those of the newer audit stay, and those of other projects
    let kept = vec![(7, first)];
    commit!(store.db, |tx| page_names::insert(tx, scope, newer, kept).await).unwrap();
    for forgotten in [2, 1, 0] {
        let leaves = commit!(store.db, |tx| page_names::delete_older(tx, scope, newer, 2).await);
        assert_eq!(leaves.unwrap(), forgotten);
        let foreign = commit!(store.db, |tx| page_names::delete_older(tx, foreign, newer, 2)
            .await);
        assert_eq!(foreign.unwrap(), 0);
    }
    for (audit, wanted) in [(audit, &[][..]), (newer, &both[..1])] {
        let found = page_names::find_urls(&mut store.read().await, scope, audit, 7).await;
        assert_eq!(found.unwrap(), wanted);
    }
}

async fn filters(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let all: Vec<PageRow> = [
        ("/Ferns", Some(200)),
        ("/ferns", Some(404)),
        ("/a%20b", Some(200)),
        ("/a_b", None),
    ]
    .map(|(path, status)| seen(id(), &format!("https://example.com{path}"), status))
    .to_vec();
    record(&store, scope, all).await;
    let list = async |query: PageQuery| -> Vec<String> {
        let rows = pages::list(&mut store.read().await, scope, PageQuery { limit: 9, ..query })
            .await
            .unwrap();
        rows.into_iter()
            .map(|p| p.url.replace("https://example.com", ""))
            .collect()
    };
    let text = |text: &str| PageQuery {
        contains: Some(text.to_owned()),
        ..PageQuery::default()
    };
    assert_eq!(
        list(PageQuery {
            status_code: Some(200),
            ..PageQuery::default()
        })
        .await,
        ["/Ferns", "/a%20b"]
    );
    assert_eq!(
        list(PageQuery {
            indexable: Some(false),
            ..PageQuery::default()
        })
        .await,
        ["/a_b", "/ferns"]
    );
    assert_eq!(
        list(PageQuery {
            indexable: Some(true),
            ..text("a")
        })
        .await,
        ["/Ferns", "/a%20b"]
    );
    assert_eq!(list(text("%20")).await, ["/a%20b"]);
    assert_eq!(list(text("a_b")).await, ["/a_b"]);
    assert_eq!(list(text("_")).await, ["/a_b"]);
    assert_eq!(
        list(text("ferns")).await,
        ["/ferns"],
        "the case of a path matters"
    );
    assert_eq!(list(text("\\")).await, [] as [&str; 0]);
}

/// A database that sorts by the rules of a language puts `/B` between `/a` and `/c`, and a cursor made by
/// comparing bytes would then lose rows.
async fn list_is_in_byte_order(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let mut urls: Vec<String> = [
        "/", "/a", "/B", "/c", "/a-b", "/a_b", "/ab", "/É", "/%C3%89", "/~x", "/A",
    ]
    .map(|path| format!("https://example.com{path}"))
    .to_vec();
    let all = urls.iter().map(|url| seen(id(), url, Some(200))).collect();
    record(&store, scope, all).await;
    urls.sort();
    for limit in [1, 3, 100] {
        let (mut walked, mut after) = (Vec::new(), None);
        loop {
            let page = pages::list(
                &mut store.read().await,
                scope,
                PageQuery {
                    after: after.take(),
                    limit,
                    ..PageQuery::default()
                },
            )
            .await
            .unwrap();
            let Some(last) = page.last() else { break };
            after = Some((last.url.clone(), last.id));
            walked.extend(page.into_iter().map(|p| p.url));
        }
        assert_eq!(walked, urls, "{limit} at a time");
    }
}

async fn changed_url_is_listed_once(place: &Place) {
    let store = place.store().await;
    let (scope, foreign, first, second) = (store.project().await, store.project().await, id(), id());
    let list = async |scope: ProjectScope| -> Vec<(String, PageId)> {
        let query = PageQuery {
            limit: 9,
            ..PageQuery::default()
        };
        let rows = pages::list(&mut store.read().await, scope, query).await.unwrap();
        rows.into_iter().map(|page| (page.url, page.id)).collect()
    };
    let entry = |url: &str, page: PageId| (url.to_owned(), page);
    let (a, b) = ("https://example.com/a", "https://example.com/b");
    record(
        &store,
        scope,
        vec![seen(first, b, Some(200)), seen(second, a, Some(200))],
    )
    .await;
    // once more, as after an interruption
    record(&store, scope, vec![seen(first, b, Some(200))]).await;
    assert_eq!(list(scope).await, [entry(a, second), entry(b, first)]);
    // the same page, spelled in another way
    let spelled = "https://example.com/?b";
    record(&store, scope, vec![seen(first, spelled, Some(200))]).await;
    assert_eq!(list(scope).await, [entry(spelled, first), entry(a, second)]);
    record(&store, scope, vec![seen(first, b, Some(200))]).await;
    assert_eq!(list(scope).await, [entry(a, second), entry(b, first)]);
    assert_eq!(list(foreign).await, []);
}

async fn a_filter_lists_its_pages_few_or_many(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let url = |n: u16| format!("https://example.com/{n:04}");
    let status = |n: u16| if n % 100 == 3 { 500 } else { 200 };
    let all: Vec<PageRow> = (0..1_200).map(|n| seen(id(), &url(n), Some(status(n)))).collect();
    record(&store, scope, all).await;
    let passes = |n: u16, (wanted, indexable): (Option<u16>, Option<bool>)| {
        wanted.is_none_or(|wanted| status(n) == wanted)
            && indexable.is_none_or(|indexable| (status(n) == 200) == indexable)
    };
    for wanted in [
        (Some(200), None),
        (Some(500), None),
        (Some(404), None),
        (None, Some(true)),
        (None, Some(false)),
        (Some(200), Some(false)),
        (Some(500), Some(false)),
    ] {
        let expected: Vec<String> = (0..1_200).filter(|n| passes(*n, wanted)).map(url).collect();
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let query = PageQuery {
                status_code: wanted.0,
                indexable: wanted.1,
                after,
                limit: 7,
                ..PageQuery::default()
            };
            let page = pages::list(&mut store.read().await, scope, query).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some((last.url.clone(), last.id));
            found.extend(page.into_iter().map(|page| page.url));
        }
        assert_eq!(found, expected, "{wanted:?}");
    }
}

async fn every_order_walks_each_page_once(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let all: Vec<PageRow> = (0..1_300_u16)
        .map(|n| {
            let url = format!(
                "https://example.com/{}/{n:04}",
                if n % 400 == 1 { "rare" } else { "page" }
            );
            let status = match n % 100 {
                3 => Some(500),
                4 => None,
                _ => Some(200),
            };
            let mut row = seen(id(), &url, status);
            row.page.depth = (n % 7 != 0).then_some(n % 5);
            row.page.inlinks = u32::from(n % 11);
            row.page.indexable = n % 3 != 0;
            row
        })
        .collect();
    record(&store, scope, all.clone()).await;
    record(
        &store,
        foreign,
        vec![seen(id(), "https://example.com/foreign", Some(503))],
    )
    .await;
    // Fetched by an audit that has no results: it is in no list.
    let hidden = seen(id(), "https://example.com/page/hidden", Some(599));
    commit!(store.db, |tx| pages::upsert(tx, scope, id(), vec![hidden]).await).unwrap();
    let value = |number: PageNumber, page: &Page| match number {
        PageNumber::StatusCode => page.status_code.map_or(-1, i64::from),
        PageNumber::Depth => page.depth.map_or(-1, i64::from),
        PageNumber::Inlinks => i64::from(page.inlinks),
    };
    let none = PageQuery::default();
    let filters = [
        none.clone(),
        PageQuery {
            status_code: Some(200),
            ..none.clone()
        },
        PageQuery {
            status_code: Some(500),
            ..none.clone()
        },
        PageQuery {
            indexable: Some(true),
            ..none.clone()
        },
        PageQuery {
            contains: Some("/rare/".to_owned()),
            ..none.clone()
        },
        PageQuery {
            contains: Some("/page/".to_owned()),
            indexable: Some(true),
            ..none.clone()
        },
    ];
    for number in [PageNumber::StatusCode, PageNumber::Depth, PageNumber::Inlinks] {
        for filter in &filters {
            let passes = |page: &Page| {
                filter
                    .status_code
                    .is_none_or(|code| page.status_code == Some(code))
                    && filter.indexable.is_none_or(|is| page.indexable == is)
                    && filter
                        .contains
                        .as_ref()
                        .is_none_or(|text| page.url.contains(text))
            };
            let mut expected: Vec<(i64, PageId)> = all
                .iter()
                .filter(|row| passes(&row.page))
                .map(|row| (value(number, &row.page), row.id))
                .collect();
            expected.sort_unstable();
            if number != PageNumber::Inlinks {
                expected.reverse();
            }
            let (mut walked, mut after) = (Vec::new(), None);
            loop {
                let query = PageQuery {
                    limit: 97,
                    ..filter.clone()
                };
                let rows = pages::list_by_number(&mut store.read().await, scope, &query, number, after).await;
                let rows = rows.unwrap();
                let Some(last) = rows.last() else { break };
                after = Some((value(number, last), last.id));
                walked.extend(rows.iter().map(|page| (value(number, page), page.id)));
            }
            assert_eq!(walked, expected, "{number:?} {filter:?}");
        }
    }
}
