//! What can be wrong with a page or a site: one table, one function per check.
//!
//! A check is a pure function over the facts of a page, the [`Index`](crate::graph::Index) of a crawl and what is known of the
//! site as a whole. Audits and rechecks call the same function, so that a problem that an audit
//! found cannot look solved to a recheck for any other reason than that it is.

mod addresses;
mod ai;
mod canonicals;
mod content;
mod context;
mod crawlability;
mod dates;
mod document;
mod evidence;
mod external_links;
mod headings;
mod images;
mod indexability;
mod international;
mod languages;
mod links;
mod mobile;
mod performance;
mod phrases;
mod redirects;
mod resources;
mod robots;
mod schema;
mod security;
mod settings;
mod sitemaps;
mod social;
mod structured_data;
mod texts;
mod thresholds;
mod titles;
mod told;
mod vitals;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::told::Rest;
pub use self::{
    context::{Context, Page, Site},
    document::markdown,
    settings::{Level, Rules, Settings},
    thresholds::{Threshold, Thresholds},
    told::{Resolution, Told},
};
use crate::{
    graph::flag,
    page::{HtmlFacts, PageFacts, UrlId},
};

/// Version of the conditions below. The major number rises when a check's condition changes its meaning,
/// the minor one when checks are added. Ids are retired, never reused.
pub const RULESET_VERSION: &str = "2.0.0";

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; never scored.
    Notice,
    /// Costs something.
    Warning,
    /// Breaks something.
    Error,
}

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Can URLs be fetched.
    Crawlability,
    /// May pages be indexed.
    Indexability,
    /// Links between pages.
    Links,
    /// Redirects.
    Redirects,
    /// Text and duplicates.
    Content,
    /// Titles and descriptions.
    Titles,
    /// Headings.
    Headings,
    /// Images.
    Images,
    /// Languages.
    International,
    /// schema.org markup.
    StructuredData,
    /// Size and speed.
    Performance,
    /// Encryption and headers.
    Security,
    /// Small screens.
    Mobile,
    /// Cards in social networks.
    Social,
    /// Sitemaps and robots.txt.
    Sitemaps,
    /// Answer engines.
    Ai,
}

impl Category {
    /// All of them, in the order of the catalogue.
    pub const ALL: [Self; 16] = [
        Self::Crawlability,
        Self::Indexability,
        Self::Links,
        Self::Redirects,
        Self::Content,
        Self::Titles,
        Self::Headings,
        Self::Images,
        Self::International,
        Self::StructuredData,
        Self::Performance,
        Self::Security,
        Self::Mobile,
        Self::Social,
        Self::Sitemaps,
        Self::Ai,
    ];
}

/// How much of a site a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One response.
    Page,
    /// A page and the targets of its links.
    Targets,
    /// The whole crawl.
    Graph,
    /// The site, once.
    Site,
}

/// What a recheck must fetch to tell whether a problem is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecheckMode {
    /// The page.
    Page,
    /// The page and the targets named in the evidence.
    Targets,
    /// The page, compared with what the last audit stored of the others.
    Snapshot,
    /// robots.txt, sitemaps, the home page.
    Site,
    /// Only another audit can tell.
    Audit,
}

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name for ever.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// Where it is listed.
    pub category: Category,
    /// How bad it is.
    pub severity: Severity,
    /// How much it looks at.
    pub scope: Scope,
    /// Only a full crawl can tell that it is gone.
    pub needs_audit: bool,
    /// Asked only of pages that were read to their end: what is not there may be in the part that is missing.
    pub needs_whole: bool,
    /// What it needs to know beside the page, so that finding nothing is a proof.
    pub(crate) rests: &'static [Rest],
    /// Counts for the health score.
    pub scored: bool,
    /// The condition.
    pub description: &'static str,
    /// What it costs.
    pub why_it_matters: &'static str,
    /// What to do.
    pub recommendation: &'static str,
    /// Who says so: a URL.
    pub source: &'static str,
    pub(crate) test: Test,
}

/// A check's function: evidence when the problem is there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// Asked of pages that answered 200 with HTML.
    Html(fn(&Page<'_>, &HtmlFacts) -> Option<Value>),
    /// Asked of every URL of the site that was fetched or refused.
    Url(fn(&Page<'_>) -> Option<Value>),
    /// Asked once.
    Site(fn(&Site<'_>) -> Option<Value>),
}

impl Check {
    /// See [`RecheckMode`].
    pub const fn recheck_mode(&self) -> RecheckMode {
        match self.scope {
            _ if self.needs_audit => RecheckMode::Audit,
            Scope::Page => RecheckMode::Page,
            Scope::Targets => RecheckMode::Targets,
            Scope::Graph => RecheckMode::Snapshot,
            Scope::Site => RecheckMode::Site,
        }
    }

    /// What the tables below leave out: a notice about one page.
    const fn notice(category: Category, test: Test) -> Self {
        Self {
            id: "",
            title: "",
            category,
            severity: Severity::Notice,
            scope: Scope::Page,
            needs_audit: false,
            needs_whole: false,
            rests: &[],
            scored: false,
            description: "",
            why_it_matters: "",
            recommendation: "",
            source: "",
            test,
        }
    }

    const fn warning(category: Category, test: Test) -> Self {
        Self {
            severity: Severity::Warning,
            scored: true,
            ..Self::notice(category, test)
        }
    }

    const fn error(category: Category, test: Test) -> Self {
        Self {
            severity: Severity::Error,
            scored: true,
            ..Self::notice(category, test)
        }
    }
}

static REGISTRY: LazyLock<Vec<Check>> = LazyLock::new(|| {
    [
        crawlability::CHECKS,
        addresses::CHECKS,
        indexability::CHECKS,
        canonicals::CHECKS,
        links::CHECKS,
        external_links::CHECKS,
        redirects::CHECKS,
        content::CHECKS,
        texts::CHECKS,
        titles::CHECKS,
        headings::CHECKS,
        images::CHECKS,
        international::CHECKS,
        structured_data::CHECKS,
        vocabulary::CHECKS,
        performance::CHECKS,
        vitals::CHECKS,
        security::CHECKS,
        mobile::CHECKS,
        social::CHECKS,
        resources::CHECKS,
        sitemaps::CHECKS,
        robots::CHECKS,
        ai::CHECKS,
    ]
    .concat()
});

static BY_ID: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    REGISTRY
        .iter()
        .enumerate()
        .map(|(i, check)| (check.id, i))
        .collect()
});

/// Every check, in the order of the catalogue.
pub fn registry() -> &'static [Check] {
    &REGISTRY
}

/// The check of an id.
pub fn find(id: &str) -> Option<&'static Check> {
    BY_ID.get(id).map(|i| &REGISTRY[*i])
}

/// A problem where it was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub check: &'static Check,
    /// Where; the start URL for problems of the site as a whole.
    pub page: UrlId,
    /// What was seen: keys by check, in camelCase; lists are cut to 20 beside a `total`.
    pub evidence: Value,
}

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
