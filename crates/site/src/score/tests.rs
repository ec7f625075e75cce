use proptest::prelude::{ProptestConfig, any, proptest};
use url::Url;

use super::{Counts, Score, Scores, band, is_counted, is_scored};
use crate::{
    checks::{Category, Check, Rules, Settings, Severity, find, registry},
    fetch::FetchError,
    page::{At, HtmlFacts, Outcome, PageFacts},
};

fn score(pages: &[(u32, u32)], site: (u32, u32)) -> (u8, f64) {
    let mut score = Score::default();
    for (errors, warnings) in pages {
        score.add(*errors, *warnings);
    }
    let health = score.finish(site.into());
    (health.score.unwrap(), health.error_free_pages_pct.unwrap())
}

#[test]
fn the_examples_of_the_definition() {
    let mut pages = [(0, 0); 10];
    (pages[3], pages[7]) = ((1, 0), (1, 0));
    assert_eq!(score(&pages, (0, 0)), (90, 80.0));
    assert_eq!(score(&[(0, 1); 7], (0, 0)), (95, 100.0));
    assert_eq!(score(&[(0, 0); 3], (0, 0)), (100, 100.0));
    assert_eq!(score(&[(0, 0); 3], (1, 0)).0, 80);
    assert_eq!(score(&[(0, 0)], (1, 1)).0, 78);
    assert_eq!(score(&[(9, 40)], (0, 0)), score(&[(6, 20)], (0, 0)));
    assert_eq!(Score::default().finish([3, 3]).score, None);
    assert_eq!(Score::default().finish([3, 3]).band(), None);
    assert_eq!(
        [0, 30, 31, 70, 71, 90, 91, 100].map(band),
        [
            "weak",
            "weak",
            "fair",
            "fair",
            "good",
            "good",
            "excellent",
            "excellent"
        ]
    );
}

fn counts<'c>(checks: impl IntoIterator<Item = &'c Check>, rules: &Rules) -> Counts {
    let mut counts = Counts::default();
    checks
        .into_iter()
        .for_each(|check| counts.count(check, rules.severity(check), rules));
    counts
}

#[test]
fn categories_are_scored_alone() {
    let of = |rules: &Rules, wanted| {
        let found = |ids: &[&str]| counts(ids.iter().filter_map(|id| find(id)), rules);
        let mut scores = Scores::default();
        scores.add(&found(&[
            "title-missing",
            "h1-missing",
            "title-short",
            "external-link-unverified",
        ]));
        scores.set_site(found(&["sitemap-missing"]));
        let mut clean = Scores::default();
        clean.add_clean(1);
        scores.merge(&clean);
        let all: Vec<_> = scores.categories().collect();
        assert_eq!(
            all.iter().map(|(category, _)| *category).collect::<Vec<_>>(),
            Category::ALL
        );
        all.into_iter()
            .find(|(category, _)| *category == wanted)
            .unwrap()
            .1
    };
    let rules = Rules::default();
    assert_eq!(of(&rules, Category::Titles), 75);
    assert_eq!(of(&rules, Category::Headings), 98);
    assert_eq!(of(&rules, Category::Sitemaps), 97);
    assert_eq!(of(&rules, Category::Crawlability), 100);
    let mut own = Settings::default();
    own.set("severity.h1-missing", "error").unwrap();
    own.set("severity.title-missing", "notice").unwrap();
    assert_eq!(of(&own.rules(), Category::Titles), 100);
    assert_eq!(of(&own.rules(), Category::Headings), 75);
    assert_eq!(Scores::default().categories().count(), 0);
}

fn page(path: &str, outcome: Outcome, html: bool) -> PageFacts {
    let url = Url::parse("https://e.example").unwrap().join(path).unwrap();
    PageFacts {
        html: html.then(|| Box::new(HtmlFacts::default())),
        ..PageFacts::without_answer(&url, At::default(), outcome)
    }
}

#[test]
fn pages_are_what_visitors_would_read() {
    assert!(is_scored(&page("/a", Outcome::Status(200), true), false));
    assert!(is_scored(&page("/a", Outcome::Status(404), false), false));
    assert!(is_scored(&page("/v1.2/a", Outcome::Status(500), false), false));
    let redirect = Outcome::Redirect {
        status: 301,
        location: None,
        target: None,
    };
    for (path, outcome) in [
        ("/a", redirect),
        ("/a", Outcome::Failed(FetchError::Timeout)),
        ("/a", Outcome::Blocked("x".into())),
    ] {
        assert!(!is_scored(&page(path, outcome, false), false), "{path}");
    }
}

#[test]
fn no_answer_counts_when_there_was_none_before() {
    let silent = page("/a", Outcome::Failed(FetchError::Timeout), false);
    assert!(is_scored(&silent, true) && !is_scored(&silent, false));
    let blocked = page("/a", Outcome::Blocked("x".into()), false);
    assert!(!is_scored(&blocked, true));
    let [silence, title] = ["http-no-response", "title-missing"].map(|id| find(id).unwrap());
    assert!(is_counted(silence, true) && !is_counted(silence, false) && is_counted(title, false));
    let found = counts([silence], &Rules::default());
    let mut scores = Scores::default();
    scores.add(&found);
    assert_eq!(scores.health().score, Some(95));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn fixing_never_lowers_it(
        mut pages in proptest::collection::vec((0u32..10, 0u32..30), 1..40),
        at in any::<proptest::sample::Index>(),
        site in (0u32..5, 0u32..5),
    ) {
        let before = score(&pages, site);
        let page = at.get_mut(&mut pages);
        *page = (page.0.saturating_sub(1), page.1);
        let one = score(&pages, site);
        let page = at.get_mut(&mut pages);
        *page = (page.0, page.1.saturating_sub(1));
        let two = score(&pages, (site.0.saturating_sub(1), site.1));
        assert!(before <= one && one <= two, "{before:?} {one:?} {two:?}");
    }

    #[test]
    fn the_order_of_pages_does_not_matter(mut pages in proptest::collection::vec((0u32..10, 0u32..30), 1..40), site in (0u32..5, 0u32..5)) {
        let one = score(&pages, site);
        pages.reverse();
        assert_eq!(score(&pages, site), one);
    }

    #[test]
    fn fixing_a_check_never_lowers_its_category(found in proptest::collection::vec(any::<proptest::sample::Index>(), 1..30)) {
        let found: Vec<&Check> = found.iter().map(|at| at.get(registry())).collect();
        let scores = |found: &[&Check]| {
            let mut scores = Scores::default();
            scores.add(&counts(found.iter().copied(), &Rules::default()));
            (scores.health().score, scores.categories().map(|(_, score)| score).collect::<Vec<_>>())
        };
        let (fixed, before) = (scores(&found[1..]), scores(&found));
        assert!(fixed.0 >= before.0 && fixed.1.iter().zip(&before.1).all(|(fixed, before)| fixed >= before));
        if found[0].severity == Severity::Notice {
            assert_eq!(fixed, before);
        }
    }

    #[test]
    fn pages_are_clean_one_by_one_or_at_once(found in 0u32..20, clean in 0u32..50) {
        let (mut one, mut all) = (Scores::default(), Scores::default());
        let error = counts(find("title-missing"), &Rules::default());
        (0..found).for_each(|_| { one.add(&error); all.add(&error); });
        (0..clean).for_each(|_| one.add(&Counts::default()));
        all.add_clean(clean);
        assert_eq!(one, all);
    }

    #[test]
    fn an_image_is_never_scored(name in "[a-z.]{1,8}", end in "(jpg|PNG|svg|webp)", query in "(\\?v=1)?", status in 200_u16..600) {
        assert!(!is_scored(&page(&format!("/x/{name}.{end}{query}"), Outcome::Status(status), false), false));
        assert!(!is_scored(&page(&format!("/x/{name}.{end}{query}"), Outcome::Failed(FetchError::Timeout), false), true));
    }
}
