//! Checks of pages and sites: one table, one function per check.
//!
//! A check is a pure function over the facts of a page, the [`SiteGraph`](crate::graph::SiteGraph) of a crawl and the
//! facts of the site as a whole. Audits and rechecks call the same function, so a problem that an audit found is only
//! resolved by a recheck if it is fixed.

mod ai;
mod canonicals;
mod catalogue;
mod consequence;
mod content;
mod context;
mod crawlability;
mod dependencies;
mod evaluate;
mod evidence;
mod external_links;
mod fetch_verdict;
mod headings;
mod images;
mod indexability;
mod inlinks;
mod international;
mod languages;
mod links;
mod mobile;
mod near_duplicates;
mod performance;
mod prerequisite;
mod questions;
mod redirects;
mod resolution;
mod resources;
mod robots;
mod schema;
mod security;
mod settings;
mod sitemaps;
mod social;
mod structured_data;
mod titles;
mod url_hygiene;
mod url_parts;
mod vitals;
mod vocabulary;
mod word_lists;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    consequence::Consequence,
    context::{Context, Page, Site},
    evaluate::{Evaluated, TOGETHER, Verdict, evaluate, evaluate_one, evaluate_site},
    fetch_verdict::FetchVerdict,
    resolution::Resolution,
    settings::{Level, Rules, Settings},
};
use self::{prerequisite::Prerequisite, settings::Version};
pub use crate::thresholds::{Threshold, Thresholds};
use crate::{
    page::{HtmlFacts, UrlId, cut},
    vitals::Vitals,
};
pub use catalogue::markdown;
pub(crate) use crawlability::is_missing;
pub use dependencies::{Dependencies, is_cut, urls};

/// Version of the conditions below. The major number rises when the meaning of a condition changes, the minor number
/// when checks are added or find more, the patch number when a check loses false positives. Ids are retired, never
/// reused.
pub const RULESET_VERSION: &str = "2.7.0";

/// Severity of a problem.
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

/// Category of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Whether URLs can be fetched.
    Crawlability,
    /// Whether pages may be indexed.
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
    /// All categories, in the order of the catalogue.
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

/// Part of a site that a check examines.
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

/// Data that a recheck must fetch to tell whether a problem is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecheckMode {
    /// The page.
    Page,
    /// The page and the targets named in the evidence.
    Targets,
    /// The page, compared with what the last audit stored of the others.
    Snapshot,
    /// robots.txt, sitemaps and the home page.
    Site,
    /// None: only another audit can tell.
    Audit,
}

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Permanent id.
    pub id: &'static str,
    /// Title of a few words.
    pub title: &'static str,
    /// Category under which the check is listed.
    pub category: Category,
    /// Usual severity.
    pub severity: Severity,
    /// Part of the site that the check examines.
    pub scope: Scope,
    /// Whether only a full crawl can tell that the problem is gone.
    pub needs_audit: bool,
    /// Whether the check skips incomplete pages, because an absent element may be in the missing part.
    pub needs_whole: bool,
    /// Facts beside the page without which the absence of a finding proves nothing.
    pub(crate) rests_on: &'static [Prerequisite],
    /// Severity of a finding by its evidence, if it varies.
    pub(crate) degree: Option<Degree>,
    /// Whether findings count for the health score.
    pub scored: bool,
    /// Whether findings never count, whatever severity a project sets: an opinion, or a problem that cannot be verified
    /// from outside.
    pub(crate) never_scored: bool,
    /// Whether a finding counts only on a page where the previous audit found it too.
    pub counts_if_repeated: bool,
    /// Whether the check finds missing pages, so that a missing page does not resolve the problem.
    pub(crate) finds_missing_pages: bool,
    /// Whether a page was measured, for checks that need a browser.
    pub is_measured: Option<fn(&Vitals) -> bool>,
    /// Lists that the check reads and that may be cut: bits of [`cut`].
    pub(crate) reads: u8,
    /// Version of the ruleset in which the condition last changed, apart from thresholds. Set it with every change of a
    /// condition, so that problems that are no longer found do not count as fixed.
    pub(crate) changed_in: Version,
    /// Condition of the check.
    pub description: &'static str,
    /// Cost of the problem.
    pub why_it_matters: &'static str,
    /// Recommended fix.
    pub recommendation: &'static str,
    /// URL of the source.
    pub source: &'static str,
    pub(crate) test: Test,
    /// Index in the registry, set by the registry.
    place: u16,
}

/// Function of a check, which returns evidence if the problem is there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// Called for pages whose response is HTML with status 200.
    Html(fn(&Page<'_>, &HtmlFacts) -> Option<Value>),
    /// Called for every URL of the site that was fetched, failed or is blocked.
    Url(fn(&Page<'_>) -> Option<Value>),
    /// Called once for the site.
    Site(fn(&Site<'_>) -> Option<Value>),
}

/// Returns the severity of a finding with this evidence.
type Degree = fn(&Value, &Thresholds) -> Severity;

impl Check {
    /// Returns the index in the registry.
    pub const fn place(&self) -> usize {
        self.place as usize
    }

    /// Whether the severity varies between findings.
    pub const fn has_degrees(&self) -> bool {
        self.degree.is_some()
    }

    /// Returns the data that a recheck must fetch.
    pub const fn recheck_mode(&self) -> RecheckMode {
        match self.scope {
            _ if self.needs_audit => RecheckMode::Audit,
            Scope::Page => RecheckMode::Page,
            Scope::Targets => RecheckMode::Targets,
            Scope::Graph => RecheckMode::Snapshot,
            Scope::Site => RecheckMode::Site,
        }
    }

    /// Creates the defaults of the tables below: a notice about one page.
    const fn notice(category: Category, test: Test) -> Self {
        Self {
            id: "",
            title: "",
            category,
            severity: Severity::Notice,
            scope: Scope::Page,
            needs_audit: false,
            needs_whole: false,
            rests_on: &[],
            degree: None,
            scored: false,
            never_scored: false,
            counts_if_repeated: false,
            finds_missing_pages: false,
            is_measured: None,
            reads: lists_read(category),
            changed_in: [0; 3],
            description: "",
            why_it_matters: "",
            recommendation: "",
            source: "",
            test,
            place: 0,
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

/// Returns the lists that checks of a category read by default.
const fn lists_read(category: Category) -> u8 {
    match category {
        Category::Headings => cut::HEADINGS,
        Category::Images => cut::IMAGES,
        Category::StructuredData => cut::MARKUP,
        Category::International => cut::ALTERNATES,
        Category::Links => cut::LINKS,
        _ => 0,
    }
}

static REGISTRY: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let mut checks = [
        crawlability::CHECKS,
        url_hygiene::CHECKS,
        indexability::CHECKS,
        canonicals::CHECKS,
        links::CHECKS,
        external_links::CHECKS,
        redirects::CHECKS,
        content::CHECKS,
        near_duplicates::CHECKS,
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
    .concat();
    (0..)
        .zip(&mut checks)
        .for_each(|(place, check)| check.place = place);
    checks
});

static BY_ID: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    REGISTRY
        .iter()
        .enumerate()
        .map(|(i, check)| (check.id, i))
        .collect()
});

/// Returns all checks, in the order of the catalogue.
pub fn registry() -> &'static [Check] {
    &REGISTRY
}

/// Returns the check with an id.
pub fn find(id: &str) -> Option<&'static Check> {
    BY_ID.get(id).map(|i| &REGISTRY[*i])
}

/// A problem at the place where it was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The check that failed.
    pub check: &'static Check,
    /// Page of the problem; the start URL for problems of the site as a whole.
    pub page: UrlId,
    /// Evidence: keys depend on the check, in camelCase; lists are cut to 20 entries beside a `total`.
    pub evidence: Value,
}
