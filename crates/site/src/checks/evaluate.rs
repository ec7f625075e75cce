//! Asks checks of pages and of the site. A check that stumbles says so, and costs nothing but itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Check, Context, Early, Finding, Page, Site, Test};
use crate::{
    graph::PageFlags,
    page::{PageFacts, UrlId},
};

/// Pages that each check is asked about one after the other, while its code is in the processor's caches. Of more pages the facts
/// are no longer there when the next check asks.
pub const TOGETHER: usize = 8;

/// Findings on one page.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// In the order of the registry.
    pub findings: Vec<Finding>,
    /// Findings of the crawl are to be used.
    pub early: bool,
    /// Checks that failed, which found nothing and prove nothing.
    pub failed: Vec<&'static Check>,
}

/// Evaluates every check about pages that is not off on some pages, at best [`TOGETHER`]; nothing is found on pages of other
/// sites. Of pages for which `early` knows what was found while the crawl went on, the rest is asked.
pub fn evaluate(pages: &[PageFacts], early: &[Option<Early>], context: &Context<'_>) -> Vec<Evaluated> {
    context.index.warm(pages.iter().map(|facts| facts.id));
    let prepared: Vec<Option<Page<'_>>> = pages
        .iter()
        .map(|facts| {
            let ours = context.index.has(facts.id, PageFlags::INTERNAL);
            ours.then(|| Page::new(facts, context))
        })
        .collect();
    let known = |(at, page): (usize, &Option<Page<'_>>)| {
        let early = early.get(at)?.as_ref()?;
        let same = page
            .as_ref()
            .is_some_and(|page| page.indexable == early.indexable);
        same.then_some(early)
    };
    let early: Vec<Option<&Early>> = prepared.iter().enumerate().map(known).collect();
    let all = catch_unwind(AssertUnwindSafe(|| {
        let evaluated = |early: &Option<&Early>| Evaluated {
            early: early.is_some(),
            ..Evaluated::default()
        };
        let mut all: Vec<Evaluated> = early.iter().map(evaluated).collect();
        let is_known =
            |(page, early): (&Option<Page<'_>>, &Option<&Early>)| page.is_none() || early.is_some();
        let checks = if prepared.iter().zip(&early).all(is_known) {
            &context.late
        } else {
            context.checks
        };
        for check in checks {
            for ((page, early), of) in prepared.iter().zip(&early).zip(&mut all) {
                if early.is_none_or(|early| early.leaves(check)) {
                    of.findings
                        .extend(page.as_ref().and_then(|page| ask(check, page, *early)));
                }
            }
        }
        all
    }));
    // one of them failed: which, is seen when each is asked alone
    all.unwrap_or_else(|_| {
        let each = pages.iter().zip(&early);
        each.map(|(facts, early)| evaluate_each(facts, *early, context))
            .collect()
    })
}

/// The same of one page, where some check may fail.
fn evaluate_each(facts: &PageFacts, early: Option<&Early>, context: &Context<'_>) -> Evaluated {
    let mut evaluated = Evaluated {
        early: early.is_some(),
        ..Evaluated::default()
    };
    if !context.index.has(facts.id, PageFlags::INTERNAL) {
        return evaluated;
    }
    let page = Page::new(facts, context);
    let left = context
        .checks
        .iter()
        .filter(|check| early.is_none_or(|early| early.leaves(check)));
    for check in left {
        match guarded(check, &facts.url, || ask(check, &page, early)) {
            Ok(found) => evaluated.findings.extend(found),
            Err(Failed) => evaluated.failed.push(check),
        }
    }
    evaluated
}

fn ask(check: &'static Check, page: &Page<'_>, early: Option<&Early>) -> Option<Finding> {
    let facts = page.facts;
    let html = || {
        facts
            .html_200()
            .filter(|_| !check.needs_whole || facts.cut.is_none())
    };
    let evidence = match check.test {
        Test::Html(test) => test(page, html()?),
        Test::Answer(test) => test(page, html()?),
        Test::Screened(_, test) => test(page, html()?),
        Test::Noted(note, test) => match early {
            Some(early) => test(page, early.noted(check)?),
            None => test(page, &note(page, html()?)?.to_string()),
        },
        Test::Url(test) => test(page),
        Test::Site(_) => None,
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

/// Verdict of one check on one page.
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
        _ => ask(check, &Page::new(facts, context), None),
    });
    match asked {
        Ok(Some(finding)) => Verdict::Present(finding),
        Ok(None) => Verdict::Absent,
        Err(Failed) => Verdict::Failed,
    }
}
