//! Images of posts: what the checks and the structured data say of them.

use serde_json::{Value, json};

use crate::{
    harness::Bench,
    post_generation::{create, path},
};

/// Address and caption of each image that structured data tell of.
fn images(post: &Value) -> Vec<(&str, Option<&str>)> {
    let images = post["structuredData"]["@graph"][0]["image"].as_array();
    let told = images.into_iter().flatten();
    told.map(|image| (image["url"].as_str().unwrap(), image["caption"].as_str()))
        .collect()
}

fn outcome(post: &Value) -> &Value {
    let checks = post["seoChecks"].as_array().unwrap();
    &checks.iter().find(|check| check["id"] == "images").unwrap()["outcome"]
}

#[tokio::test]
async fn an_image_counts_as_far_as_it_is_described() {
    let bench = Bench::start().await;
    let post = create(&bench, json!({ "title": "Desks", "content": "No image." })).await;
    assert_eq!((outcome(&post), images(&post)), (&json!("fail"), Vec::new()));
    let mut version = 1;
    let mut change = async |mut body: Value| -> Value {
        body["ifVersion"] = json!(version);
        let changed = bench.call("PATCH", &path(&post)).json(&body).send().await;
        assert_eq!(changed.status, 200, "{changed:?}");
        version += 1;
        changed.json()
    };
    let bare = change(json!({ "featuredImage": { "url": "https://example.com/a.png" } })).await;
    assert_eq!(
        (outcome(&bare), images(&bare)),
        (&json!("partial"), vec![("https://example.com/a.png", None)])
    );
    let whole = json!({ "url": "https://example.com/a.png", "alt": "A desk", "width": 1200, "height": 630, "credit": "Ada" });
    let described = change(json!({ "featuredImage": whole })).await;
    assert_eq!(outcome(&described), "pass");
    assert_eq!(
        described["structuredData"]["@graph"][0]["image"],
        json!([{ "@type": "ImageObject", "url": "https://example.com/a.png", "caption": "A desk", "width": 1200, "height": 630, "creditText": "Ada" }])
    );
    // Those of the text follow, once each; where a relative one will be depends on where the post will be.
    let text = "![Oak](/oak.png) ![](/line.png) ![Oak again](https://example.com/oak.png) ![Near](near.png) \
        <img src=\"https://cdn.example/b.png\" alt=\"Pine\" width=\"800\">";
    let of_text = change(json!({ "content": text })).await;
    assert_eq!(
        images(&of_text),
        [
            ("https://example.com/a.png", Some("A desk")),
            ("https://example.com/oak.png", Some("Oak")),
            ("https://cdn.example/b.png", Some("Pine")),
        ]
    );
    assert_eq!(of_text["structuredData"]["@graph"][0]["image"][2]["width"], 800);
    let placed =
        change(json!({ "featuredImage": null, "canonicalUrl": "https://example.com/blog/desks" })).await;
    assert_eq!(
        outcome(&placed),
        "pass",
        "the text has images with alternative text"
    );
    assert_eq!(
        images(&placed)[1],
        ("https://example.com/blog/near.png", Some("Near"))
    );
    let read = bench.get(&path(&post)).await.json();
    assert_eq!(read["structuredData"], placed["structuredData"]);
}
