//! Changes of pages between two audits.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, page},
    post_generation::until_ended,
};

on_both!(
    what_changed_about_pages_is_told,
    pages_that_are_taken_away_leave_the_score_at_once,
);

/// The last parts of the addresses that are named, and that all are.
fn named(pages: &Value, what: &str) -> Vec<String> {
    let urls = pages[what]["urls"].as_array().unwrap();
    assert_eq!(pages[what]["count"], urls.len(), "{what}");
    let mut named: Vec<String> = urls
        .iter()
        .map(|url| url.as_str().unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    named.sort_unstable();
    named
}

async fn pages_that_are_taken_away_leave_the_score_at_once(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/", 200, &page("", &["/a", "/b"]));
    for path in ["/a", "/b"] {
        site.put(path, 200, &page("", &["/"]));
    }
    site.put("/c", 404, "gone");
    assert_eq!(audit(&bench).await["pagesScored"], 3);
    site.put("/", 200, &page("", &["/a"]));
    site.put("/b", 404, "gone");
    // what was asked for once more, and what is not asked for any more, are one site
    let (gone, forgotten) = (audit(&bench).await, audit(&bench).await);
    for audit in [&gone, &forgotten] {
        assert_eq!(
            (&audit["pagesScored"], &audit["healthScore"]),
            (&json!(2), &gone["healthScore"])
        );
    }
}

async fn what_changed_about_pages_is_told(database: &str) {
    let (bench, site) = bench(database).await;
    let home = |links: &[&str]| page("<title>The home of all the desks there are</title>", links);
    let titled = |of: &str, head: &str| {
        page(
            &format!("<title>All there is to say of {of}</title>{head}"),
            &["/"],
        )
    };
    let all = ["/a", "/b", "/c", "/d", "/e"];
    site.put("/", 200, &home(&all));
    for path in all {
        site.put(path, 200, &titled(path, ""));
    }
    let first = audit(&bench).await;

    site.put("/a", 200, &titled("/a", "<link rel=canonical href=/a>"));
    site.put("/b", 200, &titled("/b", "<meta name=robots content=noindex>"));
    site.put("/c", 410, "gone");
    site.put("/d", 200, &titled("something else", ""));
    site.put("/f", 200, &titled("/f", ""));
    site.put("/", 200, &home(&["/a", "/b", "/c", "/d", "/e", "/f"]));
    let second = audit(&bench).await;
    let compared = async |now: &Value, before: &Value| {
        let [now, before] = [now, before].map(|audit| audit["id"].as_str().unwrap().to_owned());
        let path = format!("P/audits/{now}/diff?against={before}");
        bench.get(&path).await.json()
    };
    let kinds = [
        "added",
        "gone",
        "statusChanged",
        "titleChanged",
        "canonicalChanged",
        "indexabilityChanged",
    ];
    let diff = compared(&second, &first).await;
    assert_eq!(diff["comparable"], true, "{diff:#}");
    let told = kinds.map(|kind| named(&diff["pages"], kind));
    // the audit before the first knew /gone, which no page leads to any more and which was not there then
    let expected: [&[&str]; 6] = [&["f"], &["gone"], &["c"], &["c", "d"], &["a"], &["b", "c"]];
    assert_eq!(told, expected, "{diff:#}");
    // the other way round
    let back = compared(&first, &second).await;
    let told = kinds.map(|kind| named(&back["pages"], kind));
    let expected: [&[&str]; 6] = [&["gone"], &["f"], &["c"], &["c", "d"], &["a"], &["b", "c"]];
    assert_eq!(told, expected, "{back:#}");

    // a page that an audit leaves out is gone, and that the audits are not alike is said
    let narrow = json!({ "exclude": ["/e"] });
    let narrow = bench.post("P/audits", narrow).await.json();
    until_ended(&bench, narrow["job"]["id"].as_str().unwrap()).await;
    let diff = compared(&narrow["audit"], &second).await;
    assert_eq!(diff["reasons"], json!(["config"]), "{diff:#}");
    let told = kinds.map(|kind| named(&diff["pages"], kind));
    let expected: [&[&str]; 6] = [&[], &["e"], &[], &[], &[], &[]];
    assert_eq!(told, expected, "{diff:#}");
}
