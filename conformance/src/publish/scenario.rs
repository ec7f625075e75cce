//! A few posts at one CMS, step by step. After each step the CMS is asked, not the product.

mod failures;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    cms::{Cms, Item, ItemStatus, list, scalar, text},
    http::HttpClient,
    product::{CmsProduct, PublishOutcome},
    proxy::Proxy,
    step_results::StepResults,
};

const TITLE: &str = "Desks & chairs: “how high?” für Anfänger";
const TEXT: &str = "A desk should *fit* you.\n\n## How high?\n\n- elbows\n- eyes\n\n| part | height |\n|---|---|\n| desk | 72 cm |\n\n\
                    [More](https://example.com/more?a=1&b=2)\n";

/// Everything a step needs.
pub(super) struct CmsFixture<'a> {
    pub(super) product: &'a CmsProduct,
    pub(super) cms: &'a mut dyn Cms,
    pub(super) proxy: &'a Proxy,
    /// Host and port of a server of pictures.
    pub(super) images: &'a str,
}

type CmsStep = (&'static str, fn(&mut CmsFixture<'_>) -> Result<String>);

/// Steps in their order; a step may use the posts of earlier ones.
const STEPS: [CmsStep; 21] = [
    ("connect", connect_cms),
    ("fields", list_fields),
    ("mapping of an unknown field", reject_unknown_field),
    ("mapping", save_mapping),
    ("draft", publish_draft),
    ("live", publish_live),
    ("again without a change", publish_unchanged_post),
    ("update in place", update_post),
    ("image and tags", publish_image_and_tags),
    ("unpublish and publish again", unpublish_post),
    ("asked twice at once", failures::publish_twice),
    ("changed by somebody else", failures::detect_remote_edit),
    ("deleted by somebody else", failures::detect_remote_deletion),
    ("slug of somebody else's post", failures::report_slug_conflict),
    ("new post that never arrives", failures::lose_request),
    ("new post that arrives late", failures::find_late_post),
    ("lost answer to a new post", failures::lose_answers),
    ("500 after an update", failures::lose_answer_to_update),
    ("permissions lowered", failures::report_missing_permission),
    ("credentials revoked", failures::report_revoked_secret),
    ("events", count_events),
];

/// Runs every step and adds its result to the table. Returns false if the CMS could not be connected.
pub(super) fn run_steps(fixture: &mut CmsFixture<'_>, table: &mut StepResults) -> bool {
    for (what, step) in STEPS {
        let outcome = step(fixture);
        let lost = outcome.is_err() && what == "connect";
        table.add(fixture.cms.name(), what, outcome);
        if lost {
            return false;
        }
    }
    true
}

/// Runs the step that takes ten minutes.
pub(super) fn run_slow_step(fixture: &mut CmsFixture<'_>, table: &mut StepResults) {
    let outcome = failures::give_up_lost_request(fixture);
    table.add(fixture.cms.name(), "new post that never arrived", outcome);
}

/// Runs the steps that change a CMS for ever; after the last one nothing can be published there any more.
pub(super) fn run_destructive_steps(fixture: &mut CmsFixture<'_>, table: &mut StepResults) {
    let steps: [CmsStep; 2] = [
        ("a mapped field is removed", failures::report_removed_field),
        ("a field that must be filled", failures::report_required_field),
    ];
    for (what, step) in steps {
        let outcome = step(fixture);
        table.add(fixture.cms.name(), what, outcome);
    }
}

impl CmsFixture<'_> {
    fn url(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    fn status(&self) -> Result<String> {
        text(&self.product.integration(self.cms.provider())?, "/status")
    }

    fn integration_path(&self, what: &str) -> String {
        format!("/integrations/{}/{what}", self.cms.provider())
    }

    /// Creates a post with a text and returns its id.
    fn create_post(&self, title: &str, slug: &str) -> Result<String> {
        self.product
            .create_post(&json!({ "title": title, "slug": slug, "content": TEXT }))
    }

    /// Publishes a post live, which has to go well.
    fn publish_live(&self, id: &str) -> Result<()> {
        self.expect_outcome(id, json!({ "mode": "live" }), &PublishOutcome::Published)
    }

    fn expect_failure(&self, id: &str, code: &str) -> Result<()> {
        self.expect_outcome(
            id,
            json!({ "mode": "live" }),
            &PublishOutcome::Failed(code.to_owned()),
        )
    }

    fn expect_outcome(&self, id: &str, body: Value, expected: &PublishOutcome) -> Result<()> {
        let ended = self.product.publish(id, &body)?;
        if ended != *expected {
            let post = self.product.get(&format!("/posts/{id}"))?;
            let shown = post.pointer("/publications/0").unwrap_or(&Value::Null);
            bail!("{ended:?}, not {expected:?}: {shown}");
        }
        Ok(())
    }

    fn post_id(&self, title: &str) -> Result<String> {
        // After a storm there are more posts than a page holds. Percent-encoding of every byte is right for any title.
        let q: String = title.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let all = self.product.get(&format!("/posts?limit=100&q={q}"))?;
        let found = list(&all, "/data").iter().find(|post| post["title"] == title);
        text(
            found.with_context(|| format!("no post is called {title}"))?,
            "/id",
        )
    }

    /// True if the product has the capability to unpublish there.
    fn can_unpublish(&self) -> Result<bool> {
        let integration = self.product.integration(self.cms.provider())?;
        let can = integration.pointer("/capabilities/unpublish");
        can.and_then(Value::as_bool).context("no capability unpublish")
    }

    /// Number of requests so far that wrote.
    fn count_writes(&self) -> usize {
        let log = self.proxy.log();
        let reads = ["GET ", "HEAD ", "OPTIONS "];
        log.iter()
            .filter(|entry| !reads.iter().any(|method| entry.request.starts_with(method)))
            .count()
    }
}

fn connect_cms(fixture: &mut CmsFixture<'_>) -> Result<String> {
    ensure!(
        fixture.status()? == "not_connected",
        "it is {} before",
        fixture.status()?
    );
    let link = fixture.product.post(
        &fixture.integration_path("connect-url"),
        &json!({ "siteUrl": fixture.url() }),
    )?;
    text(&link, "/url")?;
    let refused = fixture.product.connect_with(
        fixture.cms.provider(),
        &spoil_secret(fixture.cms.secret())?,
        &fixture.url(),
    );
    ensure!(refused.is_err(), "a wrong secret connects it");
    let status = fixture.status()?;
    ensure!(
        status != "ready" && status != "needs_mapping",
        "it is {status} with a wrong secret"
    );
    fixture.product.connect(&*fixture.cms, &fixture.url())?;
    Ok(format!("{}, by {}", fixture.status()?, scalar(&link, "/kind")))
}

/// Returns a secret of the same form that is wrong.
fn spoil_secret(mut secret: Value) -> Result<Value> {
    for (name, value) in secret.as_object_mut().context("no secret")? {
        if name != "username" {
            let mut word = value.as_str().context("no text")?.to_owned();
            let last = word.pop();
            word.push(if last == Some('0') { '1' } else { '0' });
            *value = word.into();
        }
    }
    Ok(secret)
}

fn list_fields(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let mapping = fixture.cms.mapping();
    let collection = scalar(&mapping, "/collectionId");
    let mut path = fixture.integration_path("fields");
    if !collection.is_empty() {
        path.push_str(&format!("?collectionId={collection}"));
    }
    let found = fixture.product.get(&path)?;
    let ids: Vec<String> = list(&found, "/data")
        .iter()
        .map(|field| scalar(field, "/id"))
        .collect();
    let wanted = mapping["fieldMap"].as_object().context("no field map")?;
    for field in wanted.values() {
        ensure!(ids.iter().any(|id| field == id), "{field} is not among {ids:?}");
    }
    Ok(format!("{} fields", ids.len()))
}

fn reject_unknown_field(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let mut mapping = fixture.cms.mapping();
    mapping["fieldMap"]["excerpt"] = json!("no-such-field");
    let answer =
        fixture
            .product
            .request("POST", &fixture.integration_path("mapping"), &[], Some(&mapping))?;
    let problem = answer.json();
    ensure!(answer.status() == 422, "{} {problem}", answer.status());
    let pointer = scalar(&problem, "/errors/0/pointer");
    ensure!(pointer == "/fieldMap/excerpt", "{problem}");
    Ok(pointer)
}

fn save_mapping(fixture: &mut CmsFixture<'_>) -> Result<String> {
    fixture
        .product
        .post(&fixture.integration_path("mapping"), &fixture.cms.mapping())?;
    let status = fixture.status()?;
    ensure!(status == "ready", "it is {status}");
    Ok(status)
}

fn publish_draft(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let post = json!({
        "title": TITLE, "slug": "desks-and-chairs", "content": TEXT, "excerpt": "What fits you.",
        "tags": ["Desks", "Chairs & more"],
    });
    let id = fixture.product.create_post(&post)?;
    fixture.expect_outcome(&id, json!({ "mode": "draft" }), &PublishOutcome::Published)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    check_content(&item, &fixture.cms.mapping())?;
    ensure!(item.status == ItemStatus::Draft, "it is {:?}", item.status);
    Ok(item.id)
}

fn check_content(item: &Item, mapping: &Value) -> Result<()> {
    ensure!(item.slug == "desks-and-chairs", "its slug is {}", item.slug);
    ensure!(
        item.excerpt.contains("What fits you."),
        "its excerpt is {:?}",
        item.excerpt
    );
    for part in ["How high?", "elbows", "72 cm", "https://example.com/more?a=1"] {
        ensure!(item.content.contains(part), "{part} is not in {}", item.content);
    }
    if mapping.pointer("/fieldMap/tags").is_some() {
        for tag in ["Desks", "Chairs"] {
            ensure!(
                item.tags.iter().any(|own| own.starts_with(tag)),
                "tags are {:?}",
                item.tags
            );
        }
    }
    Ok(())
}

fn publish_live(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let before = fixture.cms.find_only_post(TITLE)?;
    let id = fixture.post_id(TITLE)?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    check_content(&item, &fixture.cms.mapping())?;
    ensure!(item.status == ItemStatus::Live, "it is {:?}", item.status);
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    let post = fixture.product.get(&format!("/posts/{id}"))?;
    ensure!(post["status"] == "published", "the post is {}", post["status"]);
    let Some(url) = post["publishedUrl"].as_str() else {
        return Ok("no page".to_owned());
    };
    let (host, path) = url
        .trim_start_matches("http://")
        .split_once('/')
        .with_context(|| format!("no address: {url}"))?;
    let page = HttpClient::new(format!("http://{host}")).request("GET", &format!("/{path}"), None)?;
    let says = String::from_utf8_lossy(&page.body).contains("How high?");
    ensure!(page.status() == 200 && says, "{url}: {}", page.start);
    Ok(format!("/{path}"))
}

fn publish_unchanged_post(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let before = fixture.count_writes();
    fixture.publish_live(&fixture.post_id(TITLE)?)?;
    let wrote = fixture.count_writes() - before;
    ensure!(wrote == 0, "{wrote} requests wrote");
    Ok("nothing is sent".to_owned())
}

fn update_post(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let before = fixture.cms.find_only_post(TITLE)?;
    let id = fixture.post_id(TITLE)?;
    fixture.product.change_post(
        &id,
        json!({ "content": format!("{TEXT}\nSecond edition.\n"), "slug": "desks-or-chairs" }),
    )?;
    let post = fixture.product.get(&format!("/posts/{id}"))?;
    ensure!(post["hasUnpublishedChanges"] == true, "no change is known");
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    ensure!(item.slug == "desks-or-chairs", "its slug is {}", item.slug);
    ensure!(
        item.content.contains("Second edition."),
        "it says {}",
        item.content
    );
    Ok(item.id)
}

fn publish_image_and_tags(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    let before = fixture.cms.count_files()?;
    let url = format!("http://{}/desk.png", fixture.images);
    let members = json!({ "featuredImage": { "url": url, "alt": "A desk" }, "tags": ["Desks", "Lamps"] });
    fixture.product.change_post(&id, members)?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    let image = item.image.context("it has no image")?;
    if fixture.cms.mapping().pointer("/fieldMap/tags").is_some() {
        ensure!(
            item.tags.len() == 2 && item.tags.iter().any(|tag| tag == "Lamps"),
            "tags are {:?}",
            item.tags
        );
    }
    fixture
        .product
        .change_post(&id, json!({ "excerpt": "What fits you. Third edition." }))?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.excerpt.contains("Third"),
        "its excerpt is {:?}",
        item.excerpt
    );
    ensure!(
        item.image.as_ref() == Some(&image),
        "{image} became {:?}",
        item.image
    );
    let files = fixture.cms.count_files()? - before;
    ensure!(files == 1, "it was uploaded {files} times");
    fixture
        .product
        .change_post(&id, json!({ "featuredImage": null }))?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(item.image.is_none(), "it still has {:?}", item.image);
    Ok(image)
}

fn unpublish_post(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let before = fixture.cms.find_only_post(TITLE)?;
    let id = fixture.post_id(TITLE)?;
    if !fixture.can_unpublish()? {
        let path = format!("/posts/{id}/unpublish");
        let answer = fixture.product.request("POST", &path, &[], Some(&json!({})))?;
        ensure!(answer.status() == 409, "{}", answer.start);
        return Ok(format!("refused: {}", scalar(&answer.json(), "/detail")));
    }
    let ended = fixture.product.unpublish(&id)?;
    ensure!(ended == PublishOutcome::Published, "{ended:?}");
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(item.status == ItemStatus::Draft, "it is {:?}", item.status);
    let post = fixture.product.get(&format!("/posts/{id}"))?;
    ensure!(post["status"] == "draft", "the post is {}", post["status"]);
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.status == ItemStatus::Live && item.id == before.id,
        "{item:?}"
    );
    Ok("same item".to_owned())
}

fn count_events(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let published = fixture.product.events("post.published")?;
    let all = fixture.product.get("/posts?limit=100&status=published")?;
    let posts = list(&all, "/data");
    let takes_back = fixture.can_unpublish()?;
    for post in posts {
        let own = |event: &&Value| event.pointer("/data/postId") == post.get("id");
        let count = published.iter().filter(own).count();
        // the one that was taken back was published twice
        let expected = if takes_back && post["title"] == TITLE {
            2
        } else {
            1
        };
        ensure!(
            count == expected,
            "{}: {count} events post.published",
            post["title"]
        );
    }
    Ok(format!("{} posts", posts.len()))
}
