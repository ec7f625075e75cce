//! Impact of an issue: one number by which the findings of an audit are put in order, the most urgent first.
//!
//! A professional asks three things of a finding, one after the other. Is it a fault at all? A notice never comes before an error or
//! a warning. What does it cost: does it keep pages out of search, break something for visitors, weaken pages in results, or
//! is it advice? Then: how bad is it, and how much of the site is concerned? So the range from 0 to 100 is cut into bands:
//!
//! | from | to | severity | consequence |
//! |---:|---:|---|---|
//! | 80 | 100 | error, warning | keeps pages out of search |
//! | 60 | 80 | error, warning | breaks something for visitors |
//! | 40 | 60 | error, warning | weakens pages in results |
//! | 20 | 40 | error, warning | advice |
//! | 15 | 20 | notice | keeps pages out of search |
//! | 10 | 15 | notice | breaks something for visitors |
//! | 5 | 10 | notice | weakens pages in results |
//! | 0 | 5 | notice | advice |
//!
//! The place within a band is the weight of the severity (error 1, warning 0.3, notice 1) times the damped share of the
//! site's link score that the pages concerned have. The damping takes the logarithm: ten times as many pages add a quarter
//! of the band. From a tenth of the site on, more pages add next to nothing: then the template is at fault, which is one cause and is
//! mended once.

use crate::checks::{Check, Consequence, Scope, Severity};

/// Share of 1.0 in the integer sums, so that the order of pages does not change them.
const UNIT: f64 = (1_u64 << 40) as f64;
/// Share of a URL without link score, such as one that responds with an error: that of a page among two thousand.
const UNRANKED: f64 = 0.000_5;
/// Share from which more pages add little.
const TEMPLATE: f64 = 0.1;
/// Least place within a band, so that every finding has an impact.
const LEAST: f64 = 0.02;
/// Lower end and height of the band of a consequence, for notices and for the rest.
const NOTICES: [f64; 2] = [0.0, 5.0];
const FAULTS: [f64; 2] = [20.0, 20.0];

/// Share of the site's link score that is concerned by an issue, by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affected([u64; 3]);

impl Affected {
    /// Adds an occurrence on a page of the given share of the site's link score, which is 0 for URLs that have none. A finding
    /// about the site as a whole concerns all of it.
    pub fn add(&mut self, check: &Check, severity: Severity, rank: f64) {
        let share = match check.scope {
            // an opinion about the site, such as llms.txt, comes last
            Scope::Site if check.never_scored => UNRANKED,
            Scope::Site => 1.0,
            _ if rank > 0.0 => rank,
            _ => UNRANKED,
        };
        self.0[severity as usize] += ((share * UNIT).round() as u64).max(1);
    }

    /// Adds the sums of other pages.
    pub fn merge(&mut self, other: Self) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum += other;
        }
    }

    /// Returns the highest severity of the occurrences; `None` if there are none.
    pub fn severity(&self) -> Option<Severity> {
        [Severity::Error, Severity::Warning, Severity::Notice]
            .into_iter()
            .find(|severity| self.0[*severity as usize] > 0)
    }

    /// Returns the impact of the issue, 0 to 100 with three decimals; 0 without occurrences.
    pub fn impact(&self, check: &Check) -> f64 {
        let (mut share, mut most) = (0.0, 0.0_f64);
        for severity in [Severity::Error, Severity::Warning, Severity::Notice] {
            // errors are warnings too
            let own = self.0[severity as usize];
            share += own as f64 / UNIT;
            if own > 0 {
                most = most.max(impact(check.consequence(), severity, share));
            }
        }
        most
    }
}

/// Returns the impact of a problem by its consequence, its severity, and the share of the site's link score that it concerns.
pub fn impact(consequence: Consequence, severity: Severity, share: f64) -> f64 {
    let [start, height] = match severity {
        Severity::Notice => NOTICES,
        Severity::Error | Severity::Warning => FAULTS,
    };
    let weight = match severity {
        Severity::Error | Severity::Notice => 1.0,
        Severity::Warning => 0.3,
    };
    let place = (weight * damped(share)).max(LEAST);
    let impact = (f64::from(consequence as u8) + place).mul_add(height, start);
    (impact * 1000.0).round() / 1000.0
}

/// Returns the damped share, 0 to 1.
fn damped(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    let saturated = share * (1.0 + TEMPLATE) / (share + TEMPLATE);
    (saturated.log10() / 4.0 + 1.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Affected, impact};
    use crate::checks::{Consequence, Rules, Severity, find, registry};

    /// Returns the ids of findings (check, and ranks of the pages concerned), the most urgent first.
    fn in_order(found: &[(&'static str, &[f64])]) -> Vec<&'static str> {
        let rules = Rules::default();
        let mut issues: Vec<_> = found
            .iter()
            .map(|(id, ranks)| {
                let check = find(id).unwrap();
                let mut affected = Affected::default();
                for rank in *ranks {
                    affected.add(check, rules.severity(check), *rank);
                }
                (affected.impact(check), *id)
            })
            .collect();
        issues.sort_by(|a, b| b.0.total_cmp(&a.0));
        issues.into_iter().map(|(_, id)| id).collect()
    }

    const ALL: [f64; 100] = [0.01; 100];

    #[test]
    fn a_shop_is_mended_in_the_order_of_a_professional() {
        let order = [
            // kept out of search
            "homepage-not-indexable",
            "http-5xx",
            "canonical-noindex",
            "js-dependent-content",
            // broken for visitors
            "broken-internal-link",
            "image-broken",
            "viewport-missing",
            "broken-external-link",
            // weaker in results
            "title-missing",
            "duplicate-exact",
            "description-missing",
            "title-long",
            // a warning, though of no great cost
            "url-space",
            // notices, those with a cost first
            "noindex",
            "broken-fragment",
            "h1-multiple",
            "title-short",
            "nosniff-missing",
            "og-incomplete",
            "llms-txt-missing",
        ];
        let found: [(&str, &[f64]); 20] = [
            ("llms-txt-missing", &[0.0]),
            ("nosniff-missing", &[0.0]),
            ("og-incomplete", &ALL[..90]),
            ("title-short", &ALL[..2]),
            ("h1-multiple", &ALL),
            ("broken-fragment", &ALL[..1]),
            ("noindex", &ALL[..1]),
            ("url-space", &ALL),
            ("title-long", &ALL[..10]),
            ("description-missing", &ALL),
            ("duplicate-exact", &ALL[..2]),
            ("title-missing", &ALL[..5]),
            ("broken-external-link", &ALL[..3]),
            ("viewport-missing", &ALL),
            ("image-broken", &ALL[..1]),
            ("broken-internal-link", &ALL[..8]),
            ("js-dependent-content", &ALL[..4]),
            ("canonical-noindex", &ALL[..1]),
            ("http-5xx", &[0.0; 30]),
            ("homepage-not-indexable", &[0.0]),
        ];
        assert_eq!(in_order(&found), order);
    }

    #[test]
    fn a_notice_is_never_above_a_fault() {
        let consequences = [
            Consequence::Advice,
            Consequence::Results,
            Consequence::Visitors,
            Consequence::Search,
        ];
        for of_notice in consequences {
            let notice = impact(of_notice, Severity::Notice, 1.0);
            for of_fault in consequences {
                for severity in [Severity::Warning, Severity::Error] {
                    assert!(notice < impact(of_fault, severity, 0.0));
                }
            }
        }
        for check in registry() {
            let most = impact(check.consequence(), Severity::Error, 1.0);
            let least = impact(check.consequence(), Severity::Notice, 0.0);
            assert!(0.0 < least && most <= 100.0, "{}", check.id);
        }
    }

    #[test]
    fn more_pages_weigh_more_and_a_template_little_more_than_a_tenth_of_the_site() {
        let of = |share| impact(Consequence::Results, Severity::Error, share);
        let grow: Vec<f64> = [0.001, 0.01, 0.1, 0.5, 1.0].map(of).to_vec();
        assert!(grow.is_sorted_by(|a, b| a < b), "{grow:?}");
        assert!(grow[1] - grow[0] > 4.0 && grow[4] - grow[2] < 1.5, "{grow:?}");
    }

    #[test]
    fn the_worst_occurrences_decide() {
        let check = find("redirect-chain").unwrap();
        let of = |found: &[(Severity, f64)]| {
            let mut affected = Affected::default();
            found
                .iter()
                .for_each(|(severity, rank)| affected.add(check, *severity, *rank));
            (affected.severity(), affected.impact(check))
        };
        assert_eq!(of(&[]), (None, 0.0));
        let warnings = of(&[(Severity::Warning, 0.5)]);
        let both = of(&[(Severity::Warning, 0.5), (Severity::Error, 0.1)]);
        assert_eq!(both.0, Some(Severity::Error));
        assert!(both.1 > warnings.1);
    }
}
