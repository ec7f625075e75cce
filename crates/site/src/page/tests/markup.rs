//! Structured data.

use super::{html, texts};

#[test]
fn structured_data_in_both_forms() {
    let facts = html(
        "<script type=application/ld+json>{\"@type\": \"Article\", \"author\": 1}</script>\
         <script type='application/LD+json; x'>{\"a\":\n}</script><script type=application/ld+json></script><script>1</script>\
         <div itemscope itemtype='https://schema.org/Product'></div><div typeof='schema:Person'></div>",
    );
    let errors: Vec<_> = facts.json_ld.iter().map(|b| b.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            None,
            Some("expected value at line 2 column 1"),
            Some("empty block")
        ]
    );
    assert!(facts.microdata && !facts.byline);
    assert_eq!(texts(&facts.item_types), ["Product", "Person"]);
    let by = |kind: &str| {
        let markup = format!("<script type=application/ld+json>{{\"@type\": \"{kind}\"}}</script>");
        html(&format!("<p class=post-author>Me</p>{markup}")).byline
    };
    // the author matters on no other page
    assert!(by("NewsArticle") && !by("WebPage"));
}

#[test]
fn names_in_microdata_are_those_of_schema_org() {
    let strange = |body: &str| {
        let strange = html(body).strange;
        (
            texts(&strange.types).join(" "),
            texts(&strange.properties).join(" "),
        )
    };
    let item = |inner: &str| format!("<div itemscope itemtype='https://schema.org/Product'>{inner}</div>");
    let found = |types: &str, properties: &str| (types.to_owned(), properties.to_owned());
    assert_eq!(
        strange(&item("<b itemprop='name prize x:y'>x</b><b itemprop=prize>y</b>")),
        found("", "prize")
    );
    assert_eq!(
        strange("<p itemtype='http://www.schema.org/product https://schema.org/Thing/' itemscope>"),
        found("product", "")
    );
    // objects of other vocabularies or without a type make properties unknown
    for other in [
        "<p itemscope itemtype='https://other.example/Car'>",
        "<p itemscope itemprop=author>",
    ] {
        assert_eq!(strange(&(item("<b itemprop=prize>x</b>") + other)), found("", ""));
    }
    assert_eq!(strange("<b itemprop=prize>x</b>"), found("", ""));
}

#[test]
fn large_json_ld_is_kept_up_to_a_sum() {
    let block = |bytes: usize| {
        format!(
            "<script type=application/ld+json>\"{}\"</script>",
            "x".repeat(bytes)
        )
    };
    let kept = |source: &str| -> Vec<usize> {
        let facts = html(source);
        assert!(facts.json_ld.iter().all(|block| block.error.is_none()));
        facts
            .json_ld
            .iter()
            .map(|block| block.source.len() / 1_000)
            .collect()
    };
    assert_eq!(kept(&(block(30_000) + &block(70_000) + &block(100))), [30, 0, 0]);
    assert_eq!(kept(&(block(60_000).repeat(3) + &block(9_000))), [60, 60, 0, 9]);
}
