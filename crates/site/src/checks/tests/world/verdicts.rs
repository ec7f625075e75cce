//! Findings of a site. No check may stumble over one, though an audit would go on without it.

use std::{collections::BTreeSet, slice};

use super::{
    super::super::{
        Asking, Check, Context, Early, Finding, Scope, Test, Verdict, evaluate, evaluate_one, evaluate_site,
    },
    Built, World,
};
use crate::page::{PageFacts, UrlId};

fn ids(checks: &[&Check]) -> Vec<&'static str> {
    checks.iter().map(|check| check.id).collect()
}

fn evaluated(page: &PageFacts, early: &[Option<Early>], context: &Context<'_>) -> (Vec<Finding>, bool) {
    let evaluated = evaluate(slice::from_ref(page), early, context).remove(0);
    assert_eq!(ids(&evaluated.failed), [""; 0]);
    (evaluated.findings, evaluated.early)
}

impl World {
    /// Findings on `/p` and on the site as a whole.
    pub fn findings(&self) -> Vec<Finding> {
        let built = self.build();
        let context = built.context();
        let mut found = Vec::new();
        if let Some(page) = self.at_p(&built) {
            found = evaluated(page, &[], &context).0;
            // the same with what was found while the crawl went on
            let (early, noticed) = Asking::new(built.rules.clone(), super::NOW).evaluate([page].into_iter());
            assert!(early[0].is_some());
            let (late, is_early) = evaluated(page, &early, &context);
            let said = |found: &[Finding]| -> BTreeSet<(&str, String)> {
                let said = found.iter().map(|f| (f.check.id, f.evidence.to_string()));
                said.collect()
            };
            let mut both = said(&late);
            let checks = early
                .iter()
                .flatten()
                .flat_map(Early::checks)
                .map(|check| check.id);
            assert!(checks.eq(noticed.iter().map(|noticed| noticed.check.id)));
            if is_early {
                both.extend(
                    noticed
                        .into_iter()
                        .map(|noticed| (noticed.check.id, noticed.evidence)),
                );
            }
            assert_eq!(both, said(&found));
        }
        let failed = evaluate_site(home(&built), &context, &mut found);
        assert_eq!(ids(&failed), [""; 0]);
        found
    }

    fn at_p<'b>(&self, built: &'b Built) -> Option<&'b PageFacts> {
        let is_p = |path: &str| path.starts_with("/p") || path.starts_with("/P") || path.starts_with("//");
        built.pages.iter().find(|page| is_p(&page.url[self.root.len()..]))
    }

    /// Verdict of one check on `/p`, or of the site.
    pub fn recheck(&self, check: &'static Check) -> Verdict {
        let built = self.build();
        let context = built.context();
        let site = check.scope == Scope::Site || matches!(check.test, Test::Site(_));
        let page = if site { home(&built) } else { self.at_p(&built) };
        let verdict = page.map_or(Verdict::Absent, |page| evaluate_one(check, page, &context));
        assert!(!matches!(verdict, Verdict::Failed), "{}", check.id);
        verdict
    }
}

fn home(built: &Built) -> Option<&PageFacts> {
    built.pages.iter().find(|page| page.id == UrlId(0))
}
