//! Findings of a site. No check may panic, although an audit would survive that.

use std::slice;

use super::{
    super::super::{Check, Context, Finding, Scope, Test, Verdict, evaluate, evaluate_one, evaluate_site},
    Built, World,
};
use crate::page::{PageFacts, UrlId};

fn ids(checks: &[&Check]) -> Vec<&'static str> {
    checks.iter().map(|check| check.id).collect()
}

fn evaluated(page: &PageFacts, context: &Context<'_>) -> Vec<Finding> {
    let evaluated = evaluate(slice::from_ref(page), context).remove(0);
    assert_eq!(ids(&evaluated.failed), [""; 0]);
    evaluated.findings
}

impl World {
    /// Returns findings on `/p` and on the site as a whole.
    pub fn findings(&self) -> Vec<Finding> {
        let built = self.build();
        let context = built.context();
        let mut found = Vec::new();
        if let Some(page) = self.at_p(&built) {
            found = evaluated(page, &context);
        }
        let failed = evaluate_site(home(&built), &context, &mut found);
        assert_eq!(ids(&failed), [""; 0]);
        found
    }

    fn at_p<'b>(&self, built: &'b Built) -> Option<&'b PageFacts> {
        let is_p = |path: &str| path.starts_with("/p") || path.starts_with("/P") || path.starts_with("//");
        built.pages.iter().find(|page| is_p(&page.url[self.root.len()..]))
    }

    /// Returns the verdict of one check on `/p`, or on the site.
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
