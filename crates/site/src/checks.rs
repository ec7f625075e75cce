//! Checks of pages and sites: one table, one function per check.
//!
//! A check is a pure function over the facts of a page, the [`SiteGraph`](crate::graph::SiteGraph) of a crawl and what is known of the
//! site as a whole. Audits and rechecks call the same function, so that a problem that an audit
//! found cannot look solved to a recheck for any other reason than that it is.

mod ai;
mod canonicals;
mod catalogue;
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
pub use dependencies::{Dependencies, is_cut, urls};

/// Version of the conditions below. The major number rises when a check's condition changes its meaning, the minor one when
/// checks are added or see more, the last one when a check no longer sees what is not there. Ids are retired, never reused.
pub const RULESET_VERSION: &str = "2.3.0";

/// Severity.
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

/// Function of a check, by how much of a site it looks at.
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

/// Pages that a recheck must fetch to tell whether a problem is gone.
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
    /// Category it is listed in.
    pub category: Category,
    /// Severity.
    pub severity: Severity,
    /// Function, by how much of a site it looks at.
    pub scope: Scope,
    /// Only a full crawl can tell that it is gone.
    pub needs_audit: bool,
    /// Asked only of pages that were read to their end: what is not there may be in the part that is missing.
    pub needs_whole: bool,
    /// Facts that it needs beside the page, so that finding nothing is a proof.
    pub(crate) rests_on: &'static [Prerequisite],
    /// Severity of one finding by its evidence, where it is not the same for all.
    pub(crate) degree: Option<Degree>,
    /// Counts for the health score.
    pub scored: bool,
    /// Stays out of the score however bad a project finds it: an opinion, or something that nobody can tell from outside.
    pub(crate) never_scored: bool,
    /// Counts only on a page where the audit before found it too.
    pub counts_if_repeated: bool,
    /// Finds pages that are not there, so that such a page proves nothing.
    pub(crate) finds_missing_pages: bool,
    /// Whether a page was measured, if only a browser can tell.
    pub is_measured: Option<fn(&Vitals) -> bool>,
    /// Lists that it reads and of which a page may have more than is kept: bits of [`cut`].
    pub(crate) reads: u8,
    /// Version of the ruleset since which its condition is another one, its thresholds aside. Whoever changes a condition sets
    /// it, so that what it no longer finds is not taken for fixed.
    pub(crate) changed_in: Version,
    /// The condition.
    pub description: &'static str,
    /// Cost of the problem.
    pub why_it_matters: &'static str,
    /// Recommendation.
    pub recommendation: &'static str,
    /// Source, a URL.
    pub source: &'static str,
    pub(crate) test: Test,
    /// Its place in the registry, which knows it.
    place: u16,
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

/// Severity of a finding with this evidence.
type Degree = fn(&Value, &Thresholds) -> Severity;

impl Check {
    /// Its place in the registry.
    pub const fn place(&self) -> usize {
        self.place as usize
    }

    /// Whether its findings are not all equally bad.
    pub const fn has_degrees(&self) -> bool {
        self.degree.is_some()
    }

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

    /// Defaults of the tables below: a notice about one page.
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

/// Lists that checks of a category read, unless they say otherwise.
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
    /// The check that failed.
    pub check: &'static Check,
    /// Where; the start URL for problems of the site as a whole.
    pub page: UrlId,
    /// Evidence: keys by check, in camelCase; lists are cut to 20 beside a `total`.
    pub evidence: Value,
}
