//! Evaluates checks on pages and on the site. A check that panics is reported and does not affect the others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Check, Context, Finding, Page, Site, Test};
use crate::{
    graph::PageFlags,
    page::{PageFacts, UrlId},
};

/// Number of pages that are evaluated together. Each check examines all of them before the next check does, while its
/// code is in the processor caches; the facts of more pages would not stay there.
pub const TOGETHER: usize = 8;

/// Findings on one page.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// Findings in the order of the registry.
    pub findings: Vec<Finding>,
    /// Checks that panicked, which prove nothing.
    pub failed: Vec<&'static Check>,
}

/// Evaluates every enabled check about pages on some pages, ideally [`TOGETHER`]. Pages of other sites have no
/// findings.
pub fn evaluate(pages: &[PageFacts], context: &Context<'_>) -> Vec<Evaluated> {
    let prepared: Vec<Option<Page<'_>>> = pages.iter().map(|facts| internal(facts, context)).collect();
    let all = catch_unwind(AssertUnwindSafe(|| {
        let mut all = vec![Evaluated::default(); pages.len()];
        for check in context.checks {
            for (page, evaluated) in prepared.iter().zip(&mut all) {
                let found = page.as_ref().and_then(|page| ask(check, page));
                evaluated.findings.extend(found);
            }
        }
        all
    }));
    // a check panicked; evaluating each one separately shows which
    all.unwrap_or_else(|_| pages.iter().map(|facts| evaluate_each(facts, context)).collect())
}

fn internal<'a>(facts: &'a PageFacts, context: &'a Context<'a>) -> Option<Page<'a>> {
    let is_internal = context.index.has(facts.id, PageFlags::INTERNAL);
    is_internal.then(|| Page::new(facts, context))
}

/// Evaluates every check on one page, each guarded against panics.
fn evaluate_each(facts: &PageFacts, context: &Context<'_>) -> Evaluated {
    let mut evaluated = Evaluated::default();
    let Some(page) = internal(facts, context) else {
        return evaluated;
    };
    for check in context.checks {
        match guarded(check, &facts.url, || ask(check, &page)) {
            Ok(found) => evaluated.findings.extend(found),
            Err(Failed) => evaluated.failed.push(check),
        }
    }
    evaluated
}

fn ask(check: &'static Check, page: &Page<'_>) -> Option<Finding> {
    let facts = page.facts;
    let html = || {
        facts
            .html_200()
            .filter(|_| !check.needs_whole || facts.cut.is_none())
    };
    let evidence = match check.test {
        Test::Html(test) => test(page, html()?),
        Test::Url(test) => test(page),
        Test::Site(_) => None,
    }?;
    Some(Finding {
        check,
        page: facts.id,
        evidence,
    })
}

/// Marker of a check that panicked.
#[derive(Clone, Copy, Debug)]
struct Failed;

/// Catches a panic of a check, so that one page cannot cost an audit its result.
fn guarded<T>(check: &Check, url: &str, ask: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(ask)).map_err(|_| {
        tracing::error!(check = check.id, url, "a check panicked");
        Failed
    })
}

/// Evaluates every enabled check about the site as a whole. `home` holds the facts of the page where the start URL
/// ends. Returns the checks that panicked.
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

/// Verdict of one check on one page.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The problem is there.
    Present(Finding),
    /// The problem was not found; [`Check::resolution`] tells what that proves.
    Absent,
    /// The check panicked.
    Failed,
}

/// Evaluates one check on a page for a recheck. For a check about the site, `facts` are those of the home page.
pub fn evaluate_one(check: &'static Check, facts: &PageFacts, context: &Context<'_>) -> Verdict {
    let asked = guarded(check, &facts.url, || match check.test {
        Test::Site(test) => test(&Site::new(Some(facts), context)).map(|evidence| Finding {
            check,
            page: UrlId(0),
            evidence,
        }),
        _ => ask(check, &Page::new(facts, context)),
    });
    match asked {
        Ok(Some(finding)) => Verdict::Present(finding),
        Ok(None) => Verdict::Absent,
        Err(Failed) => Verdict::Failed,
    }
}
