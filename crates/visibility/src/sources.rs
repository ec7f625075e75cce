//! Classes of sources and types of pages.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::{brands::BrandMatcher, citations::Citation, lists::sections, normal::key};

/// Relation of a source to the brands of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceClass {
    /// A domain of the project.
    Owned,
    /// A domain of a competitor.
    Competitor,
    /// Any other domain.
    ThirdParty,
}

/// Type of a source of third parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    /// Newspapers, magazines and blogs with an editorial office.
    Editorial,
    /// Reviews and comparisons of products and companies.
    Reviews,
    /// Shops and marketplaces.
    Ecommerce,
    /// Social networks, forums and videos.
    Social,
    /// Sites for developers.
    Developer,
    /// Press releases.
    Pr,
    /// Encyclopedias, dictionaries and data.
    Reference,
    /// Authorities, universities and associations.
    Institutional,
    /// Anything else.
    Other,
}

/// Type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageType {
    /// Start page of a site.
    Homepage,
    /// Article.
    Article,
    /// List of products or companies.
    Listicle,
    /// Instructions.
    Howto,
    /// Comparison.
    Comparison,
    /// Review.
    Review,
    /// Page of a product.
    Product,
    /// Documentation.
    Docs,
    /// Discussion.
    Forum,
    /// Video.
    Video,
    /// Anything else.
    Other,
}

static TYPES: LazyLock<HashMap<&'static str, SourceType>> = LazyLock::new(|| {
    let entries = sections(include_str!("../data/domains.txt"));
    let pairs = entries.flat_map(|entry| {
        let kind = match entry.section {
            "editorial" => SourceType::Editorial,
            "reviews" => SourceType::Reviews,
            "ecommerce" => SourceType::Ecommerce,
            "social" => SourceType::Social,
            "developer" => SourceType::Developer,
            "pr" => SourceType::Pr,
            "reference" => SourceType::Reference,
            "institutional" => SourceType::Institutional,
            _ => SourceType::Other,
        };
        entry.text.split_whitespace().map(move |domain| (domain, kind))
    });
    pairs.collect()
});

/// Suffixes of authorities and universities.
const INSTITUTIONAL: [&str; 9] = [
    ".gov",
    ".edu",
    ".mil",
    ".int",
    ".gov.uk",
    ".ac.uk",
    ".europa.eu",
    ".gouv.fr",
    ".gob.es",
];
/// Labels before the country of authorities and universities, as in `nsw.gov.au`.
const INSTITUTIONAL_LABELS: [&str; 6] = ["gov", "edu", "ac", "go", "gob", "govt"];

/// Returns the type of a source by its host: the listed domain that equals it or is above it.
pub fn source_type(host: &str) -> SourceType {
    let mut rest = host;
    loop {
        if let Some(kind) = TYPES.get(rest) {
            return *kind;
        }
        match rest.split_once('.') {
            Some((_, parent)) => rest = parent,
            None => break,
        }
    }
    let labels: Vec<&str> = host.rsplit('.').take(3).collect();
    let has_country = labels.first().is_some_and(|country| country.len() == 2);
    let is_institutional = INSTITUTIONAL.iter().any(|suffix| host.ends_with(suffix))
        || has_country && labels.len() > 2 && INSTITUTIONAL_LABELS.contains(&labels[1]);
    if is_institutional {
        SourceType::Institutional
    } else {
        SourceType::Other
    }
}

/// A source, classified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassifiedSource {
    /// Relation to the brands.
    pub class: SourceClass,
    /// Type, of a third party.
    pub source_type: Option<SourceType>,
    /// Type of the page.
    pub page_type: PageType,
    /// Id of the brand that owns it.
    pub brand: Option<String>,
}

impl BrandMatcher {
    /// Returns whether a host, in lower case, is a domain of the own brand or below one.
    pub fn owns_host(&self, host: &str) -> bool {
        let mut owners = self.domain_owners(host).iter();
        owners.any(|owner| self.brands[*owner].is_own)
    }

    /// Classifies a source.
    pub fn classify_source(&self, citation: &Citation) -> ClassifiedSource {
        let owners = self.domain_owners(&citation.domain);
        let owner = owners
            .iter()
            .map(|owner| &self.brands[*owner])
            .max_by_key(|brand| brand.is_own);
        let class = match owner {
            Some(brand) if brand.is_own => SourceClass::Owned,
            Some(_) => SourceClass::Competitor,
            None => SourceClass::ThirdParty,
        };
        let third_party = class == SourceClass::ThirdParty;
        ClassifiedSource {
            class,
            source_type: third_party.then(|| source_type(&citation.domain)),
            page_type: page_type(&citation.url_key, citation.title.as_deref()),
            brand: owner.map(|brand| brand.id.clone()),
        }
    }
}

/// Words of paths and titles that show the type of a page, the strongest first.
const RULES: [(PageType, &[&str]); 8] = [
    (
        PageType::Comparison,
        &[
            " vs ",
            " versus ",
            " alternatives ",
            " alternative ",
            " compare ",
            " comparison ",
            " vergleich ",
            " comparatif ",
            " comparativa ",
            "对比",
            "比較",
        ],
    ),
    (
        PageType::Listicle,
        &[
            " best ",
            " top ",
            " beste ",
            " besten ",
            " meilleurs ",
            " meilleures ",
            " mejores ",
            " migliori ",
            " melhores ",
            " najlepsze ",
            "おすすめ",
            "排行",
            "推荐",
        ],
    ),
    (
        PageType::Howto,
        &[
            " how to ",
            " guide ",
            " tutorial ",
            " howto ",
            " anleitung ",
            " ratgeber ",
            " comment ",
            " como ",
            " come ",
            " poradnik ",
            " handleiding ",
        ],
    ),
    (
        PageType::Review,
        &[
            " review ",
            " reviews ",
            " test ",
            " testbericht ",
            " erfahrungen ",
            " avis ",
            " opiniones ",
            " recensione ",
            " recensioni ",
            " opinie ",
        ],
    ),
    (
        PageType::Forum,
        &[
            " forum ",
            " forums ",
            " community ",
            " thread ",
            " discussion ",
            " questions ",
        ],
    ),
    (
        PageType::Docs,
        &[
            " docs ",
            " documentation ",
            " api ",
            " reference ",
            " help ",
            " support ",
            " hilfe ",
            " manual ",
        ],
    ),
    (
        PageType::Product,
        &[
            " product ",
            " products ",
            " shop ",
            " store ",
            " pricing ",
            " dp ",
            " item ",
            " produkt ",
            " produkte ",
            " produit ",
        ],
    ),
    (
        PageType::Article,
        &[
            " blog ",
            " news ",
            " article ",
            " articles ",
            " post ",
            " posts ",
            " story ",
            " magazin ",
            " magazine ",
            " wiki ",
        ],
    ),
];
/// Hosts of videos.
const VIDEO_HOSTS: [&str; 5] = [
    "youtube.com",
    "youtu.be",
    "vimeo.com",
    "dailymotion.com",
    "bilibili.com",
];
/// Hosts of discussions.
const FORUM_HOSTS: [&str; 7] = [
    "reddit.com",
    "quora.com",
    "stackoverflow.com",
    "stackexchange.com",
    "news.ycombinator.com",
    "zhihu.com",
    "gutefrage.net",
];

/// Returns the type of a page by its URL and title.
pub fn page_type(url: &str, title: Option<&str>) -> PageType {
    let Ok(url) = Url::parse(url) else {
        return PageType::Other;
    };
    let host = url.host_str().unwrap_or_default();
    let is_below =
        |domain: &&str| host == *domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    if VIDEO_HOSTS.iter().any(&is_below) {
        return PageType::Video;
    }
    if FORUM_HOSTS.iter().any(is_below) {
        return PageType::Forum;
    }
    let depth = url.path().split('/').filter(|part| !part.is_empty()).count();
    if depth == 0 && url.query().is_none() {
        return if host.starts_with("docs.") {
            PageType::Docs
        } else {
            PageType::Homepage
        };
    }
    let words = |text: &str| {
        let spaced: String = text
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { ' ' })
            .collect();
        format!(" {} ", searchwright_text::squeeze(&spaced.to_lowercase()))
    };
    let both = words(url.path()) + &words(title.unwrap_or_default());
    for (kind, signs) in RULES {
        if signs.iter().any(|sign| both.contains(sign)) {
            return kind;
        }
    }
    match host.split('.').next() {
        Some("docs" | "help" | "support" | "developer" | "developers") => PageType::Docs,
        Some("blog" | "news") => PageType::Article,
        Some("forum" | "community") => PageType::Forum,
        _ if is_slug(&url) || title.is_some_and(|title| key(title).words >= 5) => PageType::Article,
        _ => PageType::Other,
    }
}

/// Whether the last part of the path is a title of several words.
fn is_slug(url: &Url) -> bool {
    let last = url
        .path()
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    last.split(['-', '_']).filter(|word| word.len() > 1).count() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brands::Brand;

    #[test]
    fn types_of_sources() {
        for (host, kind) in [
            ("g2.com", SourceType::Reviews),
            ("old.reddit.com", SourceType::Social),
            ("en.wikipedia.org", SourceType::Reference),
            ("nih.gov", SourceType::Institutional),
            ("health.nsw.gov.au", SourceType::Institutional),
            ("ox.ac.uk", SourceType::Institutional),
            ("amazon.de", SourceType::Ecommerce),
            ("acme.example", SourceType::Other),
            ("notreddit.com", SourceType::Other),
        ] {
            assert_eq!(source_type(host), kind, "{host}");
        }
        assert!(TYPES.len() >= 300, "{}", TYPES.len());
    }

    #[test]
    fn types_of_pages() {
        for (url, title, kind) in [
            ("https://a.example/", None, PageType::Homepage),
            ("https://a.example/best-desks", None, PageType::Listicle),
            ("https://a.example/x", Some("Acme vs Bolt"), PageType::Comparison),
            (
                "https://a.example/x",
                Some("How to build a desk"),
                PageType::Howto,
            ),
            ("https://www.youtube.com/watch?v=1", None, PageType::Video),
            ("https://www.reddit.com/r/desks", None, PageType::Forum),
            ("https://a.example/products/desk", None, PageType::Product),
            ("https://docs.a.example/x", None, PageType::Docs),
            (
                "https://a.example/why-we-built-this-desk",
                None,
                PageType::Article,
            ),
            ("https://a.example/about", None, PageType::Other),
            ("https://a.example/contest", None, PageType::Other),
        ] {
            assert_eq!(page_type(url, title), kind, "{url} {title:?}");
        }
    }

    #[test]
    fn classes_by_owner() {
        let brand = |id: &str, domain: &str, is_own| Brand {
            id: id.to_owned(),
            name: id.to_owned(),
            is_own,
            domains: vec![domain.to_owned()],
            ..Brand::default()
        };
        let matcher = BrandMatcher::new(&[
            brand("acme", "acme.example", true),
            brand("zolt", "zolt.example", false),
        ]);
        let class = |url: &str| {
            let link = crate::citations::SourceLink {
                url: url.to_owned(),
                title: None,
                used: crate::citations::CitationUse::Cited,
            };
            matcher
                .classify_source(&crate::citations::Citations::from_links([&link]).items[0])
                .class
        };
        assert_eq!(class("https://www.acme.example/a"), SourceClass::Owned);
        assert_eq!(class("https://shop.zolt.example/a"), SourceClass::Competitor);
        assert_eq!(class("https://notacme.example/a"), SourceClass::ThirdParty);
    }
}
