//! Microdata is judged like JSON-LD, unless something else on the page makes up for it.

use serde_json::Value;

use super::{Case, json_ld, page};
use crate::checks::{
    FetchVerdict, Resolution, find,
    tests::{evidence, world::World},
};

/// Returns an element that is an object.
fn item(kind: &str, inner: &str) -> String {
    format!("<div itemscope itemtype=https://schema.org/{kind}>{inner}</div>")
}

/// Returns an element that is an object and the value of a property.
fn value(property: &str, kind: &str, inner: &str) -> String {
    format!("<div itemprop={property} itemscope itemtype=https://schema.org/{kind}>{inner}</div>")
}

const OFFER: &str =
    "<div itemprop=offers itemscope itemtype=https://schema.org/Offer><b itemprop=price>5</b></div>";
const NAME: &str = "<h1 itemprop=name>Oak desk</h1>";
const ARTICLE: &str = "<h1 itemprop=headline>x</h1><img itemprop=image data-src=/i><time itemprop=datePublished datetime=2026-01-01>today</time>\
    <meta itemprop=dateModified content=2026-01-02>";
const ANN: &str = "<p itemprop=author itemscope itemtype=https://schema.org/Person><a itemprop=url href=/ann><b itemprop=name>Ann</b></a></p>";

pub(super) fn required() -> Vec<Case> {
    let bare = item("Product", NAME);
    let page = |bad: &str, good: &str| page("schema-required-missing", bad, good);
    let crumb = |position: &str, name: &str| {
        format!(
            "<li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem>\
            <a itemprop=item href=/{name}><span itemprop=name>{name}</span></a>{position}</li>"
        )
    };
    let crumbs = |last: &str| {
        let position = |n: u8| format!("<meta itemprop=position content={n}>");
        let first = crumb(&position(1), "a");
        item("BreadcrumbList", &format!("<ol>{first}{}</ol>", crumb(last, "b")))
    };
    vec![
        page(&bare, &item("Product", &(NAME.to_owned() + OFFER))),
        page(&bare, &item("Thing", NAME)),
        // names of other vocabularies, outside objects or in objects without a type are not schema.org's
        page(&bare, &bare.replace("schema.org", "other.example")),
        page(&bare, &bare.replace(" itemscope", "")),
        page(&bare, &bare.replace("itemtype", "x")),
        page(
            &item(
                "WebPage",
                &value(
                    "mainEntity",
                    "Product",
                    &format!("{NAME}<img itemprop=image src=/i>"),
                ),
            ),
            &item("WebPage", &value("mainEntity", "Product", NAME)),
        ),
        page(
            &item(
                "MusicEvent",
                "<b itemprop=name>x</b><b itemprop=startDate content=2026-01-01>x</b>",
            ),
            &item(
                "MusicEvent",
                "<b itemprop=name>x</b><b itemprop=startDate content=2026-01-01>x</b><a itemprop=location href=/l>y</a>",
            ),
        ),
        page(&crumbs(""), &crumbs("<meta itemprop=position content=2>")),
        // a lazily loaded image counts, one without any source does not
        page(
            &item("Recipe", &(NAME.to_owned() + "<img itemprop=image>")),
            &item(
                "Recipe",
                &(NAME.to_owned() + "<img itemprop=image data-lazy-src=/i>"),
            ),
        ),
        // another syntax describes it
        page(
            &bare,
            &(bare.clone() + &json_ld(r#"{"@type": "Product", "name": "x", "offers": {"price": 1}}"#)),
        ),
        page(
            &(bare.clone()
                + &json_ld(r#"{"@type": "Event", "name": "x", "startDate": "2026-01-01", "location": "y"}"#)),
            &(bare.clone() + "<p typeof=schema:Product>"),
        ),
        // its end is uncertain, or a part of it is elsewhere
        page(&bare, &(bare.clone() + OFFER)),
        page(&bare, &(bare.clone() + "</div>")),
        page(&bare, &bare.replace("</div>", "")),
        page(&bare, &bare.replace("itemscope", "itemscope itemref=x")),
        page(&bare, &format!("{}{}", bare, item("Thing", "").repeat(1_001))),
    ]
}

pub(super) fn others() -> Vec<Case> {
    let article = |inner: &str| item("BlogPosting", &(ARTICLE.to_owned() + inner));
    let dated = |published: &str, modified: &str| {
        item(
            "Article",
            &format!(
                "<time itemprop=datePublished datetime='{published}'></time><time itemprop=dateModified>{modified}</time>"
            ),
        )
    };
    let in_ld = json_ld(
        r#"{"@type": "Article", "headline": "x", "image": "x", "datePublished": "2026-01-01", "dateModified": "2026-01-01",
            "author": {"name": "Ann", "url": "/ann"}}"#,
    );
    let in_ld_old = in_ld.replace("2026-01-01", "2023-01-01");
    let bare = item("Article", "<b itemprop=name>x</b>");
    let twice = item("Organization", NAME) + &item("Organization", NAME);
    vec![
        page(
            "schema-recommended-missing",
            &article("<b itemprop=author>Ann</b>"),
            &article(ANN),
        ),
        page(
            "schema-recommended-missing",
            &item("Article", ANN),
            &article("<a itemprop=author rel=author href=/ann>Ann</a>"),
        ),
        page("schema-recommended-missing", &bare, &(in_ld.clone() + &bare)),
        // teasers in a list
        page("schema-recommended-missing", &bare, &bare.repeat(2)),
        page("date-missing", &bare, &article("")),
        page("date-missing", &bare, &(in_ld.clone() + &bare)),
        page("date-missing", &bare, &bare.repeat(2)),
        page("author-missing", &article(""), &article(ANN)),
        page(
            "author-missing",
            &article(""),
            &(article("") + "<p class=byline>Ann</p>"),
        ),
        page(
            "schema-date-invalid",
            &dated("1. Mai 2024", ""),
            &dated("2024-05-01", "2024-05-01"),
        ),
        page(
            "schema-date-invalid",
            &dated("2030-05-01", ""),
            &dated("2024-05-01 10:00:00", ""),
        ),
        page(
            "schema-date-invalid",
            &dated("2024-05-03", "2024-05-01"),
            &dated("2024-05-01", "2024-05-03"),
        ),
        page(
            "content-stale",
            &dated("2023-01-01", ""),
            &dated("2023-01-01", "2026-06-01"),
        ),
        page(
            "content-stale",
            &(in_ld_old.clone() + &dated("2023-01-01", "")),
            &(in_ld_old
                + &dated(
                    "2023-01-01",
                    "2026-06-01</time><time itemprop=dateModified>2026-06-02",
                )),
        ),
        page("schema-singleton-duplicate", &twice, &item("Organization", NAME)),
        page(
            "schema-singleton-duplicate",
            &twice,
            &(item("Organization", NAME) + &json_ld(r#"{"@type": "Organization", "name": "x"}"#)),
        ),
        page(
            "schema-singleton-duplicate",
            &twice,
            &twice.replace("itemscope", "itemscope itemid=https://www.example.com/#us"),
        ),
    ]
}

/// Templates of themes around the text of every page, and parts that they leave out.
#[test]
fn templates_are_not_told_to_be_incomplete() {
    use super::super::World;
    let silent = |body: &str| {
        let found = World::new().page("/p", body).findings();
        let of = |id: &str| id.starts_with("schema-") || matches!(id, "author-missing" | "date-missing");
        let ids: Vec<&str> = found
            .iter()
            .map(|finding| finding.check.id)
            .filter(|id| of(id))
            .collect();
        assert!(ids.is_empty(), "{ids:?} {body}");
    };
    let header = "<header itemscope itemtype=https://schema.org/WPHeader><p itemprop=headline><a href=/>Site</a></p></header>";
    let in_page = |article: &str| {
        format!(
            "<body itemscope itemtype=https://schema.org/WebPage>{header}<main>{article}</main>\
             <footer itemscope itemtype=https://schema.org/WPFooter>(c)</footer></body></html>"
        )
    };
    silent(&in_page(
        "<article class=entry itemscope itemtype=https://schema.org/CreativeWork><h1 itemprop=headline>x</h1>\
         <time itemprop=datePublished datetime=2026-01-01T08:00:00+00:00>today</time><div itemprop=text><p>y</div></article>",
    ));
    let article =
        format!("<article itemscope itemtype=https://schema.org/BlogPosting>{ARTICLE}{ANN}</article>");
    silent(&in_page(&article));
    // one end tag too many, one missing, or the wrong order
    for (from, to) in [
        ("</h1>", "</h1></div></article>"),
        ("</article>", ""),
        ("<h1", "<div><p></span></section></div><h1"),
        ("</time>", ""),
        ("</a></p>", "</p></a>"),
    ] {
        silent(&in_page(&article).replace(from, to));
    }
    // microformats of a theme, and an object without a type
    silent(&in_page(
        "<article class='hentry h-entry'><h1 class='entry-title p-name'>x</h1><b itemprop=name itemscope>y</b></article>",
    ));
    let shop = item(
        "Product",
        &(NAME.to_owned() + OFFER + &value("brand", "Brand", "<b itemprop=name>x</b>")),
    );
    silent(&in_page(&shop));
    silent(&in_page(
        &(shop + &json_ld(r#"{"@type": "WebSite", "publisher": {"@type": "Organization", "name": "x"}}"#)),
    ));
}

/// A product without an offer is reported as long as its end is certain. Once it is uncertain, the absence of the
/// finding proves nothing about the product, except for findings about JSON-LD.
#[test]
fn uncertain_object_does_not_resolve_a_finding() {
    let bare = item("Product", NAME);
    let check = find("schema-required-missing").unwrap();
    let seen = |world: &World| evidence(&world.findings(), check.id);
    let of_microdata = seen(&World::new().page("/p", &bare)).unwrap();
    let of_json = World::new().page("/p", &json_ld(r#"{"@type": "Product", "name": "x"}"#));
    let of_json = seen(&of_json).unwrap();
    let silence = |html: &str, evidence: &Value| {
        let world = World::new().page("/p", html);
        assert_eq!(seen(&world), None, "{html}");
        let built = world.build();
        let told = FetchVerdict::from_facts(world.facts("/p").as_ref().unwrap());
        let told = check.unmet_beside(evidence, told, &built.origin);
        assert_eq!(check.resolution(FetchVerdict::Whole), Some(Resolution::Fixed));
        told.is_some()
    };
    let unsure = bare.replace("itemscope", "itemscope itemref=more");
    assert!(silence(&unsure, &of_microdata));
    assert!(!silence(&unsure, &of_json));
    let mended = item("Product", &(NAME.to_owned() + OFFER));
    assert!(!silence(&mended, &of_microdata));
}
