//! The health score: open, monotone, and about pages only. Every error halves a page, every warning takes a
//! twentieth; what is wrong with the site as a whole takes its share of all pages.

/// Adds pages up, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    sum: f64,
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

/// Errors and warnings of a page beyond these change nothing.
const MOST: [u32; 2] = [6, 20];

impl Score {
    /// One page with its distinct scored checks that found something.
    pub fn add(&mut self, errors: u32, warnings: u32) {
        let exponent = |n: u32, most: u32| i32::try_from(n.min(most)).unwrap_or(0);
        self.sum += 100.0 * 0.5f64.powi(exponent(errors, MOST[0])) * 0.95f64.powi(exponent(warnings, MOST[1]));
        self.pages += 1;
        self.error_free += u32::from(errors == 0);
    }

    /// The score, with the scored errors and warnings of the site as a whole.
    pub fn finish(&self, site_errors: u32, site_warnings: u32) -> Health {
        if self.pages == 0 {
            return Health { score: None, error_free_pages_pct: None, pages_scored: 0 };
        }
        let pages = f64::from(self.pages);
        let site = 0.8f64.powf(site_errors.into()) * 0.97f64.powf(site_warnings.into());
        // A site without a scored fault is 100, whatever the sum's last bit says.
        let score = (self.sum / pages * site + 1e-9).round().clamp(0.0, 100.0);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, proptest};

    use super::{Score, band};

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
        assert_eq!(Score::default().finish(3, 3).score, None);
        assert_eq!([0, 30, 31, 70, 71, 90, 91, 100].map(band), ["weak", "weak", "fair", "fair", "good", "good", "excellent", "excellent"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn fixing_never_lowers_it(
            mut pages in proptest::collection::vec((0u32..10, 0u32..30), 1..40),
            at in proptest::prelude::any::<proptest::sample::Index>(),
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
    }
}
