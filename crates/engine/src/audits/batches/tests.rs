use searchwright_site::{
    checks::{Rules, Settings},
    origin::Probe,
    page::{At, HtmlFacts, MarkupMismatch, Object, Outcome},
};
use searchwright_text::shingles::Tokens;
use url::Url;

use super::*;

fn batch() -> Batch {
    let url = Url::parse("https://example.com/").unwrap();
    let page = |html: Option<HtmlFacts>| CrawledPage {
        facts: PageFacts {
            html: html.map(Box::new),
            ..PageFacts::without_answer(&url, At::default(), Outcome::Status(200))
        },
        depth: None,
    };
    let more = More {
        unseen: vec![MarkupMismatch {
            property: "price".into(),
            value: "5".into(),
        }],
        ..More::default()
    };
    let html = HtmlFacts {
        more,
        words: 7,
        dated: Some(1_700_000_000_000),
        strange: UnknownTerms {
            types: vec!["Produkt".into()],
            properties: Vec::new(),
        },
        objects: Some(Box::new(Objects {
            list: vec![Object {
                source: r#"{"@type":["Product"]}"#.into(),
                is_whole: true,
            }],
            cut: false,
            elsewhere: vec!["Person".into()],
        })),
        ..HtmlFacts::default()
    };
    let mut origin = Origin::default();
    origin.more.http1_only = true;
    origin.probes = vec![Probe {
        sketch: Sketch::from_text("what a made-up URL answers"),
        ..Probe::default()
    }];
    let url = |id: u32, day: u16| Discovered {
        id: UrlId(id),
        key: "https://example.com/".into(),
        url: "https://example.com/".into(),
        depth: None,
        provenance: 2,
        internal: true,
        day,
    };
    Batch {
        discovered: vec![url(0, 0), url(1, 20_000)],
        origin: Some(origin),
        resources: Some(Vec::new()),
        pages: vec![page(None), page(Some(html)), page(Some(HtmlFacts::default()))],
        ..Batch::default()
    }
}

#[test]
fn what_goes_in_comes_out() {
    let expected: Vec<PageFacts> = batch().pages.into_iter().map(|page| page.facts).collect();
    let asking = Asking::new(Rules::default(), 0);
    let data = pack(batch(), None, &mut Rooms::default()).unwrap().data;
    let again = unpack_whole(&data, &asking).unwrap();
    assert!(again.noticed.is_empty());
    let (origin, discovered, pages) = again.saved;
    assert_eq!((origin, pages), (batch().origin, expected));
    assert_eq!(discovered, batch().discovered);
    assert_eq!(again.resources, Some(Vec::new()));
}

/// All pages, read two at a time.
fn in_pairs(data: &[u8], by: u64, room: &mut Vec<u8>) -> (Vec<PageFacts>, Vec<Option<Early>>) {
    let (mut batch, mut all) = (Few::open(data, by, room).unwrap(), (Vec::new(), Vec::new()));
    loop {
        let (pages, early) = batch.next(2).unwrap();
        assert_eq!(pages.len(), early.len());
        if pages.is_empty() {
            return all;
        }
        all.0.extend(pages);
        all.1.extend(early);
    }
}

#[test]
fn what_was_found_early_is_known_to_the_same_rules() {
    let asking = Asking::new(Rules::default(), 1_700_000_000_000);
    let pages: Vec<PageFacts> = batch().pages.into_iter().map(|page| page.facts).collect();
    let (asked, noticed) = EarlyAnswers::evaluate(&asking, pages.iter());
    let data = pack(batch(), Some(asked), &mut Rooms::default()).unwrap().data;
    // where another was before
    let mut room = vec![7; 1 << 20];
    let (read, early) = in_pairs(&data, asking.fingerprint(), &mut room);
    assert_eq!((&early, &read), (&asking.evaluate(pages.iter()).0, &pages));
    // who goes on with the crawl sees the same
    let said = |noticed: &[Noticed]| -> Vec<(&str, UrlId, bool, String)> {
        let said = noticed
            .iter()
            .map(|n| (n.check.id, n.page, n.indexable, n.evidence.clone()));
        said.collect()
    };
    let again = |asking: &Asking| said(&unpack_whole(&data, asking).unwrap().noticed);
    assert_eq!(again(&asking), said(&noticed));
    // a page without HTML has nothing to find, one without a title has
    let found = |at: usize| -> Vec<&str> {
        let early = early[at].as_ref().unwrap();
        early.checks().map(|check| check.id).collect()
    };
    assert!(found(0).is_empty() && found(1).contains(&"title-missing"));
    let mut stricter = Settings::default();
    stricter.set("title-min", "31").unwrap();
    let other = Asking::new(stricter.rules(), 0);
    assert!(again(&other).is_empty());
    let other = other.fingerprint();
    let mut early = |data: &[u8], by| in_pairs(data, by, &mut room).1;
    assert_eq!(early(&data, other), [None, None, None]);
    let without = pack(batch(), None, &mut Rooms::default()).unwrap().data;
    assert_eq!(early(&without, asking.fingerprint()), [None, None, None]);
}

/// Returns the stored form from before microdata was kept.
fn without_objects(plain: &[u8]) -> Vec<u8> {
    let all = places::split(plain).0;
    let before = placed::split(all).unwrap().0;
    assert!(before.len() < all.len());
    [before, &plain[all.len()..]].concat()
}

#[test]
fn batches_without_objects_are_read() {
    let asking = Asking::new(Rules::default(), 0);
    let pages: Vec<PageFacts> = batch().pages.into_iter().map(|page| page.facts).collect();
    let (asked, _) = EarlyAnswers::evaluate(&asking, pages.iter());
    let data = pack(batch(), Some(asked), &mut Rooms::default()).unwrap().data;
    let old = without_objects(&lz4_flex::decompress_size_prepended(&data).unwrap());
    let old = lz4_flex::compress_prepend_size(&old);
    let mut expected = pages;
    expected[1].html.as_mut().unwrap().objects = None;
    assert_eq!(unpack(&old).unwrap().2, expected);
    let (read, early) = in_pairs(&old, asking.fingerprint(), &mut Vec::new());
    assert_eq!(read, expected);
    assert!(early[1].is_some(), "what was found early is read too");
}

#[test]
fn tokens_are_read_with_their_pages_or_alone() {
    let mut batch = batch();
    let bytes = postcard::to_stdvec(&vec![7_u8, 0, 9, 1, 7, 0, 8, 0, 3, 0]).unwrap();
    let tokens: Tokens = postcard::from_bytes(&bytes).unwrap();
    batch.pages[1].facts.html.as_mut().unwrap().tokens = Some(Box::new(tokens.clone()));
    let pages: Vec<PageFacts> = batch.pages.iter().map(|page| page.facts.clone()).collect();
    let data = pack(batch, None, &mut Rooms::default()).unwrap().data;
    assert_eq!(unpack(&data).unwrap().2, pages);
    let second = pages[1].id;
    assert_eq!(
        unpack_tokens(&data, |id| id == second).unwrap(),
        [(second, tokens)]
    );
    assert_eq!(unpack_tokens(&data, |id| id != second).unwrap(), []);
    // an evaluation has no use for them
    let (read, _) = in_pairs(&data, 0, &mut Vec::new());
    let mut expected = pages;
    expected[1].html.as_mut().unwrap().tokens = None;
    assert_eq!(read, expected);
}

#[test]
fn runs_of_words_that_were_stored_for_some_days_are_left_alone() {
    let pages: Vec<PageFacts> = batch().pages.into_iter().map(|page| page.facts).collect();
    let data = pack(batch(), None, &mut Rooms::default()).unwrap().data;
    let plain = lz4_flex::decompress_size_prepended(&data).unwrap();
    let all = places::split(&plain).0;
    let runs = [&[9, 9, 9][..], &3_u32.to_le_bytes(), b"\0runs\0\0\0"].concat();
    let old = [all, &runs, &plain[all.len()..]].concat();
    assert_eq!(unpack(&lz4_flex::compress_prepend_size(&old)).unwrap().2, pages);
}

/// Such batches end in the offsets of pages, which are no part of the facts after the pages.
#[test]
fn batches_without_dates_are_read() {
    let data = pack(batch(), None, &mut Rooms::default()).unwrap().data;
    let plain = lz4_flex::decompress_size_prepended(&data).unwrap();
    let mut plain = without_objects(&plain);
    let dates = postcard::to_stdvec(&Dates {
        dated: vec![(1, 1_700_000_000_000)],
    });
    let end = places::split(&plain).0.len();
    let begin = end - dates.unwrap().len();
    plain.drain(begin..end);
    let (_, _, pages) = unpack(&lz4_flex::compress_prepend_size(&plain)).unwrap();
    let html = pages[1].html.as_ref().unwrap();
    assert_eq!((html.dated, html.strange.types.len()), (None, 1));
}

/// Results of early checks are the last part, and other builds may store them in another form.
#[test]
fn what_others_found_is_of_no_form() {
    let asking = Asking::new(Rules::default(), 0);
    let asked = EarlyAnswers {
        by: asking.fingerprint() ^ 1,
        early: Vec::new(),
    };
    let data = pack(batch(), Some(asked), &mut Rooms::default()).unwrap().data;
    let mut plain = lz4_flex::decompress_size_prepended(&data).unwrap();
    let end = placed::split(places::split(&plain).0).unwrap().0.len();
    plain[end - 1] = u8::MAX;
    let data = lz4_flex::compress_prepend_size(&plain);
    assert_eq!(unpack(&data).unwrap().2.len(), 3);
    assert!(unpack_whole(&data, &asking).unwrap().noticed.is_empty());
    let (pages, early) = in_pairs(&data, asking.fingerprint(), &mut Vec::new());
    assert_eq!((pages.len(), early), (3, vec![None; 3]));
    let of_them = Few::open(&data, asking.fingerprint() ^ 1, &mut Vec::new()).map(|_| ());
    assert!(of_them.is_err(), "damaged");
}

#[test]
fn some_pages_are_read_alone() {
    let mut batch = batch();
    for (id, page) in (5..).zip(&mut batch.pages) {
        page.facts.id = UrlId(id);
    }
    let pages: Vec<PageFacts> = batch.pages.iter().map(|page| page.facts.clone()).collect();
    let old = postcard::to_stdvec(&(None::<Origin>, Vec::<Discovered>::new(), &pages)).unwrap();
    let old = lz4_flex::compress_prepend_size(&old);
    let data = pack(batch, None, &mut Rooms::default()).unwrap().data;
    for (data, wanted) in [&data, &old]
        .into_iter()
        .flat_map(|data| [(data, 6), (data, 7), (data, 9)])
    {
        let some = unpack_some(data, |id| id.0 >= wanted).unwrap();
        let expected: Vec<&PageFacts> = pages.iter().filter(|page| page.id.0 >= wanted).collect();
        assert_eq!(some.len(), expected.len());
        for (page, expected) in some.iter().zip(expected) {
            let words = |page: &PageFacts| page.html.as_ref().map(|html| html.words);
            assert_eq!((page.id, words(page)), (expected.id, words(expected)));
        }
    }
}

#[test]
fn a_batch_of_the_first_form_is_read() {
    let pages: Vec<PageFacts> = batch().pages.into_iter().map(|page| page.facts).collect();
    let plain = postcard::to_stdvec(&(None::<Origin>, Vec::<Discovered>::new(), &pages)).unwrap();
    let data = lz4_flex::compress_prepend_size(&plain);
    let (_, _, read) = unpack(&data).unwrap();
    assert_eq!(read.len(), 3);
    assert_eq!(in_pairs(&data, 0, &mut Vec::new()), (read.clone(), vec![None; 3]));
    let html = read[1].html.as_ref().unwrap();
    assert_eq!((html.words, &html.more), (7, &More::default()));
}

#[test]
fn a_batch_of_the_form_before_is_read() {
    let batch = batch();
    let pages: Vec<&PageFacts> = batch.pages.iter().map(|page| &page.facts).collect();
    let later = Later {
        pages: vec![None; 3],
        origin: batch.origin.as_ref().map(|origin| origin.more.clone()),
        resources: None,
    };
    let plain = postcard::to_stdvec(&(&batch.origin, Vec::<Discovered>::new(), pages));
    let plain = [plain.unwrap(), postcard::to_stdvec(&later).unwrap()].concat();
    let (origin, _, _) = unpack(&lz4_flex::compress_prepend_size(&plain)).unwrap();
    let origin = origin.unwrap();
    assert!(origin.more.http1_only && origin.probes[0].sketch.is_none());
}
