//! Language alternates on another host, through the doors: found, claimed as fixed, and proven or not.

use serde_json::{Value, json};

use crate::audited::{Website, audit, bench_reaching, occurrence, page, pair, recheck, say, serve};

on_both!(
    alternates_on_other_hosts_are_judged,
    a_target_on_another_site_is_back,
);

fn named(own: &str, abroad: &str) -> String {
    format!(
        "<title>The same desks in two languages</title><link rel=alternate hreflang=en href=\"{own}\">\
         <link rel=alternate hreflang=de href=\"{abroad}\">"
    )
}

async fn alternates_on_other_hosts_are_judged(database: &str) {
    let abroad = Website::default();
    let address = serve(&abroad).await;
    let (bench, site) = bench_reaching(database, &format!(",\"crawl={address}\"")).await;
    let there = format!("http://{address}/");
    let here = bench.get("P/pages?limit=1").await.json()["data"][0]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let german = |head: &str| page(head, &["/mehr"]).replace("lang=en", "lang=de");
    let lonely = german(&format!("<link rel=alternate hreflang=de href=\"{there}\">"));
    abroad.put("/", 200, &lonely);
    site.put("/", 200, &page(&named(&here, &there), &["/a"]));
    audit(&bench).await;
    let seen = async || occurrence(&bench, "hreflang-no-return", "/").await;
    let found = seen().await;
    assert_eq!(
        found["evidence"]["alternates"],
        json!([{ "code": "de", "from": here, "to": there }])
    );
    let pages = bench.get("P/pages?limit=100").await.json();
    let pages = pages["data"].as_array().unwrap();
    assert!(pages.iter().all(|page| page["url"] != there), "{pages:#?}");
    assert_eq!(abroad.asked(), ["/"], "once, and nothing that it links to");

    let claimed = async || {
        say(&bench, "done", &[pair(&found)]).await;
        let done = recheck(&bench).await;
        let text = |name: &str| done["items"][0][name].as_str().unwrap_or_default().to_owned();
        (text("outcome"), text("detail"))
    };
    let back = named(&here, &there);
    for (status, body, expected, why) in [
        (200, &lonely, "still_present", ""),
        (429, &lonely, "inconclusive", "the server answered 429"),
        (200, &german(""), "inconclusive", "its sitemap is not read"),
        (
            200,
            &String::new(),
            "inconclusive",
            "could not be read to its end",
        ),
        (200, &german(&back), "resolved", ""),
    ] {
        abroad.put("/", status, body);
        let (outcome, detail) = claimed().await;
        assert_eq!(outcome, expected, "{detail}");
        assert!(detail.contains(why), "{detail}");
        let asked = abroad.asked();
        assert!(asked.iter().all(|asked| asked == "/ fresh"), "{asked:?}");
    }

    // an audit goes by the same rules
    for (status, body, state, stale) in [
        (200, &lonely, "reopened", false),
        (503, &lonely, "reopened", true),
        (200, &german(""), "reopened", true),
        (200, &german(&back), "resolved", false),
    ] {
        abroad.put("/", status, body);
        audit(&bench).await;
        let found = seen().await;
        assert_eq!(
            (&found["state"], &found["stale"]),
            (&json!(state), &json!(stale)),
            "{status} {found:#}"
        );
    }
}

async fn a_target_on_another_site_is_back(database: &str) {
    let abroad = Website::default();
    let address = serve(&abroad).await;
    let (bench, site) = bench_reaching(database, &format!(",\"crawl={address}\"")).await;
    let there = format!("http://{address}/gone");
    site.put("/a", 200, &page("", &[&there, "/"]));
    audit(&bench).await;
    let link = occurrence(&bench, "broken-external-link", "/a").await;
    for (status, expected) in [(403, "inconclusive"), (200, "resolved")] {
        abroad.put("/gone", status, &page("", &[]));
        say(&bench, "done", &[pair(&link)]).await;
        let done = recheck(&bench).await;
        let item: &Value = &done["items"][0];
        assert_eq!(item["outcome"], expected, "{item:#}");
    }
}
