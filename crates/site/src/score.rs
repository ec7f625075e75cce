//! The health score: one number for a site, open, monotone, and about pages only.
//!
//! A page begins with 100; every error halves what is left, every warning takes a twentieth of it. The
//! score is the mean of the pages, times 0.8 for every error and 0.97 for every warning of the site as a
//! whole. Notices never count. An occurrence counts until it is verified as resolved, or ignored: that
//! somebody says it is done changes nothing, so states do not enter here.

use crate::{
    checks::{Category, Check, Severity},
    page::{Outcome, PageFacts},
};

/// Errors and warnings of a page beyond these change nothing.
const MOST: [u32; 2] = [6, 20];
/// Scores are summed as integers of this fraction, so that the order of pages does not matter.
const UNIT: f64 = 1e9;

/// Adds pages up, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    sum: u128,
    pages: u32,
    error_free: u32,
}

/// What the pages add up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// 0 (worst) to 100; `None` when no page could be scored.
    pub score: Option<u8>,
    /// Share of pages without an error, percent, one decimal.
    pub error_free_pages_pct: Option<f64>,
    /// Pages the score is computed from.
    pub pages_scored: u32,
}

impl Health {
    /// See [`band`].
    pub fn band(&self) -> Option<&'static str> {
        self.score.map(band)
    }
}

impl Score {
    /// One page with its distinct scored checks that found something.
    pub fn add(&mut self, errors: u32, warnings: u32) {
        let power = |base: f64, n: u32, most: u32| base.powi(i32::try_from(n.min(most)).unwrap_or(0));
        let score = 100.0 * power(0.5, errors, MOST[0]) * power(0.95, warnings, MOST[1]);
        self.sum += (score * UNIT).round() as u128;
        self.pages += 1;
        self.error_free += u32::from(errors == 0);
    }

    /// Pages that were added up elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.pages += other.pages;
        self.error_free += other.error_free;
    }

    /// The score, with the scored errors and warnings of the site as a whole.
    pub fn finish(&self, site_errors: u32, site_warnings: u32) -> Health {
        if self.pages == 0 {
            return Health {
                score: None,
                error_free_pages_pct: None,
                pages_scored: 0,
            };
        }
        let pages = f64::from(self.pages);
        let site = 0.8f64.powf(site_errors.into()) * 0.97f64.powf(site_warnings.into());
        // a half is rounded up, whatever the product's last bit says
        let score = (self.sum as f64 / UNIT / pages * site + 1e-9)
            .round()
            .clamp(0.0, 100.0);
        Health {
            score: Some(score as u8),
            error_free_pages_pct: Some((f64::from(self.error_free) / pages * 1000.0).round() / 10.0),
            pages_scored: self.pages,
        }
    }
}

/// `excellent` from 91, `good` from 71, `fair` from 31, else `weak` (the bands of Ahrefs' health score).
pub const fn band(score: u8) -> &'static str {
    match score {
        91.. => "excellent",
        71..=90 => "good",
        31..=70 => "fair",
        _ => "weak",
    }
}

const CATEGORIES: usize = Category::ALL.len();

/// The same formula, over one category at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategoryScores {
    pages: [Score; CATEGORIES],
    site: [[u32; 2]; CATEGORIES],
}

fn count(counts: &mut [[u32; 2]; CATEGORIES], check: &Check) {
    let place = match check.severity {
        Severity::Error if check.scored => 0,
        Severity::Warning if check.scored => 1,
        _ => return,
    };
    counts[check.category as usize][place] += 1;
}

impl CategoryScores {
    /// One page with the distinct checks that found something on it.
    pub fn add<'c>(&mut self, found: impl IntoIterator<Item = &'c Check>) {
        let mut counts = [[0; 2]; CATEGORIES];
        found.into_iter().for_each(|check| count(&mut counts, check));
        for (score, [errors, warnings]) in self.pages.iter_mut().zip(counts) {
            score.add(errors, warnings);
        }
    }

    /// A check that found something on the site as a whole; each is added once.
    pub fn add_site(&mut self, check: &Check) {
        count(&mut self.site, check);
    }

    /// The score of each category, in the order of the catalogue; `None` without pages.
    pub fn finish(&self) -> impl Iterator<Item = (Category, Option<u8>)> + '_ {
        let scores = self.pages.iter().zip(self.site);
        let scores = scores.map(|(score, [errors, warnings])| score.finish(errors, warnings).score);
        Category::ALL.into_iter().zip(scores)
    }
}

/// Files that are no pages, by the end of their names: what answers 404 under such a name was none.
const FILES: [&str; 27] = [
    "jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "ico", "bmp", "css", "js", "mjs", "json", "xml",
    "txt", "pdf", "zip", "gz", "mp3", "mp4", "webm", "ogg", "woff", "woff2", "ttf", "otf", "csv",
];

/// Whether a URL of the site is one of the pages that are scored: HTML that answered, or an error where a page
/// should have been. Redirects, what robots.txt forbids and what gave no answer say nothing about quality.
pub fn is_scored(page: &PageFacts) -> bool {
    match page.outcome {
        Outcome::Status(_) if page.html.is_some() => true,
        Outcome::Status(400..) => {
            let path = page.url.split(['?', '#']).next().unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or_default();
            let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
            !end.is_some_and(|end| FILES.contains(&end.as_str()))
        }
        Outcome::Status(_) | Outcome::Redirect { .. } | Outcome::Failed(_) | Outcome::Blocked(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};
    use url::Url;

    use super::{CategoryScores, Score, band, is_scored};
    use crate::{
        checks::{Category, Check, Severity, find, registry},
        fetch::FetchError,
        page::{At, HtmlFacts, Outcome, PageFacts},
    };

    fn score(pages: &[(u32, u32)], site: (u32, u32)) -> (u8, f64) {
        let mut score = Score::default();
        for (errors, warnings) in pages {
            score.add(*errors, *warnings);
        }
        let health = score.finish(site.0, site.1);
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
        assert_eq!(Score::default().finish(3, 3).score, None);
        assert_eq!(Score::default().finish(3, 3).band(), None);
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

    fn checks(ids: &[&str]) -> Vec<&'static Check> {
        ids.iter().filter_map(|id| find(id)).collect()
    }

    #[test]
    fn categories_are_scored_alone() {
        let mut scores = CategoryScores::default();
        scores.add(checks(&[
            "title-missing",
            "h1-missing",
            "title-short",
            "http-no-response",
        ]));
        scores.add_site(find("sitemap-missing").unwrap());
        let of = |wanted| {
            scores
                .finish()
                .find(|(category, _)| *category == wanted)
                .unwrap()
                .1
        };
        assert_eq!(
            (of(Category::Titles), of(Category::Headings)),
            (Some(50), Some(95))
        );
        assert_eq!(
            (of(Category::Sitemaps), of(Category::Crawlability)),
            (Some(97), Some(100))
        );
        assert!(
            CategoryScores::default()
                .finish()
                .all(|(_, score)| score.is_none())
        );
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
        assert!(is_scored(&page("/a", Outcome::Status(200), true)));
        assert!(is_scored(&page("/a", Outcome::Status(404), false)));
        assert!(is_scored(&page("/v1.2/a", Outcome::Status(500), false)));
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
            assert!(!is_scored(&page(path, outcome, false)), "{path}");
        }
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
                let mut scores = CategoryScores::default();
                scores.add(found.iter().copied());
                scores.finish().map(|(_, score)| score).collect::<Vec<_>>()
            };
            let fixed = scores(&found[1..]);
            assert!(fixed.iter().zip(scores(&found)).all(|(fixed, before)| *fixed >= before));
            if found[0].severity == Severity::Notice {
                assert_eq!(fixed, scores(&found));
            }
        }

        #[test]
        fn an_image_is_never_scored(name in "[a-z.]{1,8}", end in "(jpg|PNG|svg|webp)", query in "(\\?v=1)?", status in 200_u16..600) {
            assert!(!is_scored(&page(&format!("/x/{name}.{end}{query}"), Outcome::Status(status), false)));
        }
    }
}
