//! schema.org markup and Google's requirements for it.

mod required;

use serde_json::{Value, json};

use super::{
    Category::StructuredData,
    Check, Page, Scope, Site, Test,
    evidence::{list, none},
    prerequisite::Prerequisite,
    schema::{Extent, Item, Markup, is_organization, markup, says_something, types},
};
use crate::{
    dates,
    json::{Json, Object},
    page::{HtmlFacts, PageFacts},
};

const GUIDE: &str =
    "https://developers.google.com/search/docs/appearance/structured-data/intro-structured-data";
const GALLERY: &str = "https://developers.google.com/search/docs/appearance/structured-data/search-gallery";
const ARTICLE: &str = "https://developers.google.com/search/docs/appearance/structured-data/article";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "jsonld-invalid",
        needs_whole: true,
        title: "Invalid JSON-LD",
        description: "A JSON-LD block is empty or not valid JSON.",
        why_it_matters: "Search engines ignore the whole block.",
        recommendation: "Correct the JSON at the line and column given.",
        source: "https://www.rfc-editor.org/rfc/rfc8259.html",
        ..Check::error(StructuredData, Test::Html(invalid))
    },
    Check {
        id: "schema-missing",
        needs_whole: true,
        title: "Missing structured data",
        description: "An indexable page has no JSON-LD, microdata or RDFa.",
        why_it_matters: "The page is not eligible for rich results, and search engines have only the text to understand it.",
        recommendation: "Add the structured data that fits the page, such as Article, Product, Organization or BreadcrumbList.",
        source: GUIDE,
        ..Check::notice(StructuredData, Test::Html(missing))
    },
    Check {
        id: "schema-required-missing",
        title: "Missing required structured data property",
        description: "A JSON-LD or microdata object lacks a property that Google requires for its type.",
        why_it_matters: "The page is not eligible for the rich result of that type.",
        recommendation: "Add the missing properties.",
        source: GALLERY,
        changed_in: [2, 5, 0],
        ..Check::warning(StructuredData, Test::Html(required::required))
    },
    Check {
        id: "schema-recommended-missing",
        title: "Missing recommended article property",
        description: "An article lacks headline, image, datePublished, dateModified, or the name or url of its author in its structured data.",
        why_it_matters: "Search engines have less to show in the search result.",
        recommendation: "Add the missing properties.",
        source: ARTICLE,
        changed_in: [2, 5, 0],
        ..Check::notice(StructuredData, Test::Html(recommended))
    },
    Check {
        id: "schema-date-invalid",
        rests_on: &[Prerequisite::ObjectEnds],
        title: "Invalid date in structured data",
        description: "A date in the structured data is not in ISO 8601 format, datePublished is in the future, or dateModified is before datePublished.",
        why_it_matters: "Search engines ignore the dates, or trust the page less.",
        recommendation: "Use ISO 8601 dates such as 2026-01-31T08:00:00+01:00.",
        source: "https://developers.google.com/search/docs/appearance/publication-dates",
        changed_in: [2, 5, 0],
        ..Check::warning(StructuredData, Test::Html(date_invalid))
    },
    Check {
        id: "schema-retired-feature",
        title: "Retired rich result type",
        description: "The structured data uses a type for which Google no longer shows a rich result, such as FAQPage, HowTo or ClaimReview.",
        why_it_matters: "It has no effect in Google; other services may still read it.",
        recommendation: "Keep it only if other services use it.",
        source: GALLERY,
        ..Check::notice(StructuredData, Test::Html(retired))
    },
    Check {
        id: "schema-singleton-duplicate",
        rests_on: &[Prerequisite::ObjectEnds],
        title: "Multiple Organization or WebSite objects",
        description: "The structured data of the page has more than one Organization or WebSite, with different @id values or without @id. A page may have several breadcrumb trails.",
        why_it_matters: "Search engines cannot tell which object describes the site.",
        recommendation: "Merge the objects, or give them the same @id.",
        source: GUIDE,
        changed_in: [2, 5, 0],
        ..Check::notice(StructuredData, Test::Html(duplicates))
    },
    Check {
        id: "breadcrumb-missing",
        needs_whole: true,
        title: "Missing breadcrumb markup",
        description: "An indexable page whose URL path has two or more segments has no BreadcrumbList.",
        why_it_matters: "Search results show the URL instead of a breadcrumb trail.",
        recommendation: "Add a BreadcrumbList.",
        source: "https://developers.google.com/search/docs/appearance/structured-data/breadcrumb",
        changed_in: [2, 2, 0],
        ..Check::notice(StructuredData, Test::Html(breadcrumb))
    },
    Check {
        id: "organization-missing",
        rests_on: &[Prerequisite::Home, Prerequisite::Owner],
        title: "Missing or incomplete Organization markup",
        scope: Scope::Site,
        description: "The home page has no markup of the type Organization, LocalBusiness or a subtype with name, url, logo and sameAs.",
        why_it_matters: "Search engines and AI assistants use it to identify the brand and its other profiles.",
        recommendation: "Add the markup, or its missing properties.",
        source: "https://developers.google.com/search/docs/appearance/structured-data/organization",
        changed_in: [2, 1, 0],
        ..Check::notice(StructuredData, Test::Site(organization))
    },
];

fn invalid(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let broken = html.json_ld.iter().enumerate().filter_map(|(i, block)| {
        let error = block.error.as_deref()?;
        Some(json!({"block": i + 1, "error": error, "line": block.line}))
    });
    list("blocks", broken)
}

fn missing(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if !page.indexable || html.microdata || !html.json_ld.is_empty() {
        return None;
    }
    none()
}

/// Whether the author has a property, also through a reference by `@id`.
fn author_has(markup: &Markup<'_>, author: &Json<'_>, name: &str) -> bool {
    match author {
        Json::Array(authors) => authors.iter().any(|author| author_has(markup, author, name)),
        Json::String(text) => name == "name" && !text.trim().is_empty(),
        Json::Object(properties) => {
            let there = |properties: &Object<'_>| properties.get(name).is_some_and(says_something);
            let id = properties.get("@id");
            there(properties)
                || id.is_some() && markup.unread
                || markup
                    .items
                    .iter()
                    .chain(&markup.nested)
                    .any(|item| id.is_some() && item.properties.get("@id") == id && there(&item.properties))
        }
        Json::Null | Json::Bool | Json::Number(_) => false,
    }
}

fn recommended(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let markup = page.markup();
    let mut articles = markup.items.iter().filter(|item| item.is_article());
    let article = articles.next().filter(|item| item.extent == Extent::Whole)?;
    let mut missing: Vec<&str> = ["headline", "image", "datePublished", "dateModified"]
        .into_iter()
        .filter(|name| !article.has(name))
        .collect();
    let author = article.properties.get("author").unwrap_or(&Json::Null);
    missing.extend(["author.name", "author.url"].into_iter().filter(|name| {
        let (_, property) = name.split_once('.').unwrap_or_default();
        !author_has(markup, author, property)
    }));
    (!missing.is_empty()).then(|| article.located(json!({"type": article.article(), "missing": missing})))
}

fn date_invalid(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    const DATES: [&str; 8] = [
        "datePublished",
        "dateModified",
        "uploadDate",
        "startDate",
        "endDate",
        "datePosted",
        "validThrough",
        "dateCreated",
    ];
    let now = page.now_ms;
    let mut wrong = Vec::new();
    for item in page.items() {
        // an empty element may be filled by a script
        let awaited = |text: &str| item.is_microdata && text.is_empty();
        for name in DATES {
            let said = item.text(name).filter(|text| !awaited(text));
            if let Some(text) = said.filter(|text| dates::iso_ms(text).is_none()) {
                wrong.push(json!({"property": name, "value": text, "problem": "format"}));
            }
        }
        let ms = |name: &str| item.text(name).and_then(dates::iso_ms);
        // a day of tolerance for clocks and time zones
        if let Some(text) = item
            .text("datePublished")
            .filter(|_| ms("datePublished").is_some_and(|ms| ms > now + 86_400_000))
        {
            wrong.push(json!({"property": "datePublished", "value": text, "problem": "future"}));
        }
        let span = |name: &str| item.text(name).and_then(dates::DateSpan::parse);
        if let (Some(published), Some(modified)) = (span("datePublished"), span("dateModified"))
            && item.extent != Extent::Unsure
            && modified.is_before(published)
        {
            wrong.push(json!({"property": "dateModified", "value": item.text("dateModified"), "problem": "before datePublished"}));
        }
    }
    list("dates", wrong)
}

fn retired(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    const RETIRED: [&str; 10] = [
        "FAQPage",
        "HowTo",
        "ClaimReview",
        "CourseInfo",
        "EstimatedSalary",
        "LearningVideo",
        "SpecialAnnouncement",
        "VehicleListing",
        "BookActions",
        "OccupationAggregationByEmployer",
    ];
    let marked = page
        .items()
        .iter()
        .flat_map(|item| item.types.iter().map(|name| &**name));
    let marked = marked.chain(html.item_types.iter().map(|name| &**name));
    let mut found: Vec<&str> = marked.filter(|name| RETIRED.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    list("types", found)
}

fn duplicates(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let items = page.items();
    let twice = ["Organization", "WebSite"].into_iter().filter(|name| {
        let mut ids: Vec<Option<&Json<'_>>> = items
            .iter()
            .filter(|item| item.is_top && item.is(name))
            .filter(|item| !item.is_microdata || item.extent == Extent::Whole)
            .map(|item| item.properties.get("@id"))
            .collect();
        // objects without an id are all distinct
        let unnamed = ids.iter().filter(|id| id.is_none()).count();
        ids.retain(Option::is_some);
        ids.dedup();
        ids.len() + unnamed > 1
    });
    list("types", twice)
}

fn breadcrumb(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let depth = page
        .path()
        .split('/')
        .filter(|segment| !segment.is_empty())
        .count();
    if !page.indexable || depth < 2 || html.item_types.iter().any(|name| &**name == "BreadcrumbList") {
        return None;
    }
    let nested = |item: &Item<'_>| {
        let trails = item.properties.get("breadcrumb").map_or(&[][..], Json::each);
        let mut trails = trails.iter().filter_map(Json::as_object);
        trails.any(|crumbs| types(crumbs).iter().any(|t| t == "BreadcrumbList"))
    };
    let markup = page.markup();
    let there = markup
        .items
        .iter()
        .chain(&markup.nested)
        .any(|item| item.is("BreadcrumbList") || nested(item));
    (!there && !markup.unread).then(|| json!({"pathDepth": depth}))
}

/// Whether the structured data about the owner on the home page may be incomplete, so that nothing counts as missing.
pub(super) fn is_owner_unsure(home: &PageFacts) -> bool {
    let Some(html) = home.html_200() else { return false };
    let markup = markup(html);
    let mut owners = markup.items.iter().chain(&markup.nested);
    let is_unsure = |item: &Item<'_>| {
        item.extent == Extent::Unsure && item.types.iter().any(|name| is_organization(name))
    };
    markup.unread || owners.any(is_unsure)
}

fn organization(site: &Site<'_>) -> Option<Value> {
    let (page, html) = site.home_html()?;
    let wanted = ["name", "url", "logo", "sameAs"];
    let markup = page.markup();
    // properties in RDFa are not kept
    let unkept = html
        .objects
        .as_ref()
        .map_or(&html.item_types, |objects| &objects.elsewhere);
    if markup.unread || unkept.iter().any(|name| is_organization(name)) {
        return None;
    }
    let organizations = markup
        .items
        .iter()
        .chain(&markup.nested)
        .filter(|item| item.types.iter().any(|name| is_organization(name)));
    let lacking = |item: &Item<'_>| {
        wanted
            .into_iter()
            .filter(|name| item.extent != Extent::Unsure && !item.says(name))
            .collect::<Vec<_>>()
    };
    let missing = organizations.map(lacking).min_by_key(Vec::len);
    match missing {
        Some(missing) if missing.is_empty() => None,
        Some(missing) => Some(json!({"missing": missing})),
        None => Some(json!({"missing": ["Organization"]})),
    }
}
