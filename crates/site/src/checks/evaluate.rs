//! Asks checks of pages and of the site. A check that stumbles says so, and costs nothing but itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Check, Context, Finding, Page, Site, Test};
use crate::{
    graph::flag,
    page::{PageFacts, UrlId},
};

/// Evaluates every check about pages that is not off on one page of the site. Checks that failed, which found nothing and
/// prove nothing, are returned.
pub fn evaluate(facts: &PageFacts, context: &Context<'_>, found: &mut Vec<Finding>) -> Vec<&'static Check> {
    if !context.index.has(facts.id, flag::INTERNAL) {
        return Vec::new();
    }
    let before = found.len();
    let page = Page::new(facts, context);
    let all = catch_unwind(AssertUnwindSafe(|| {
        for check in context.checks {
            found.extend(ask(check, &page));
        }
    }));
    if all.is_ok() {
        return Vec::new();
    }
    // one of them failed: which, is seen when each is asked alone
    found.truncate(before);
    let page = Page::new(facts, context);
    let failed = context.checks.iter().filter(|check| {
        let asked = guarded(check, &facts.url, || ask(check, &page));
        found.extend(asked.as_ref().ok().cloned().flatten());
        asked.is_err()
    });
    failed.copied().collect()
}

fn ask(check: &'static Check, page: &Page<'_>) -> Option<Finding> {
    let facts = page.facts;
    let evidence = match (check.test, facts.html_200()) {
        (Test::Html(_), Some(_)) if check.needs_whole && facts.cut.is_some() => None,
        (Test::Html(test), Some(html)) => test(page, html),
        (Test::Url(test), _) => test(page),
        (Test::Html(_), None) | (Test::Site(_), _) => None,
    }?;
    Some(Finding {
        check,
        page: facts.id,
        evidence,
    })
}

/// A check that stumbled.
#[derive(Clone, Copy, Debug)]
struct Failed;

/// A check that a page makes stumble must not cost an audit its result.
fn guarded<T>(check: &Check, url: &str, ask: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(ask)).map_err(|_| {
        tracing::error!(check = check.id, url, "a check panicked");
        Failed
    })
}

/// Evaluates every check about the site as a whole that is not off. `home` holds the facts of the page the start URL ends at.
/// Checks that failed are returned, as by [`evaluate`].
pub fn evaluate_site(
    home: Option<&PageFacts>,
    context: &Context<'_>,
    found: &mut Vec<Finding>,
) -> Vec<&'static Check> {
    let site = Site::new(home, context);
    let mut failed = Vec::new();
    for check in context.checks {
        let Test::Site(test) = check.test else { continue };
        match guarded(check, &context.origin.root, || test(&site)) {
            Ok(evidence) => found.extend(evidence.map(|evidence| Finding {
                check,
                page: UrlId(0),
                evidence,
            })),
            Err(Failed) => failed.push(*check),
        }
    }
    failed
}

/// What one check says of one page.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The problem is there.
    Present(Finding),
    /// It was not found; what that proves, [`Check::resolution`] says.
    Absent,
    /// The check failed.
    Failed,
}

/// Evaluates one check on a page, as a recheck does. For a check about the site, `facts` are those of its home page.
pub fn evaluate_one(check: &'static Check, facts: &PageFacts, context: &Context<'_>) -> Verdict {
    let asked = guarded(check, &facts.url, || match check.test {
        Test::Site(test) => test(&Site::new(Some(facts), context)).map(|evidence| Finding {
            check,
            page: UrlId(0),
            evidence,
        }),
        Test::Html(_) | Test::Url(_) => ask(check, &Page::new(facts, context)),
    });
    match asked {
        Ok(Some(finding)) => Verdict::Present(finding),
        Ok(None) => Verdict::Absent,
        Err(Failed) => Verdict::Failed,
    }
}
