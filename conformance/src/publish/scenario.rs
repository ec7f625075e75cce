//! The life of a few posts at one CMS, step by step; after each step the CMS is asked, not the product.

mod trouble;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    cms::{Cms, Item, Status, list, loose, text},
    http::Site,
    product::{Ended, Product},
    proxy::Proxy,
    table::Table,
};

const TITLE: &str = "Desks & chairs: “how high?” für Anfänger";
const TEXT: &str = "A desk should *fit* you.\n\n## How high?\n\n- elbows\n- eyes\n\n| part | height |\n|---|---|\n| desk | 72 cm |\n\n\
                    [More](https://example.com/more?a=1&b=2)\n";

/// Everything a step needs.
pub(super) struct Stage<'a> {
    pub(super) product: &'a Product,
    pub(super) cms: &'a mut dyn Cms,
    pub(super) proxy: &'a Proxy,
    /// Host and port of a server of pictures.
    pub(super) images: &'a str,
}

type Step = (&'static str, fn(&mut Stage<'_>) -> Result<String>);

/// In this order; what one leaves behind the next may use.
const STEPS: [Step; 21] = [
    ("connect", connect),
    ("fields", fields),
    ("mapping of an unknown field", wrong_mapping),
    ("mapping", mapping),
    ("draft", draft),
    ("live", live),
    ("again without a change", unchanged),
    ("update in place", update),
    ("image and tags", image),
    ("unpublish and publish again", unpublish),
    ("asked twice at once", trouble::twice),
    ("changed by somebody else", trouble::remote_edit),
    ("deleted by somebody else", trouble::remote_delete),
    ("slug of somebody else's post", trouble::slug_conflict),
    ("new post that never arrives", trouble::never_arrived),
    ("new post that arrives late", trouble::late),
    ("lost answer to a new post", trouble::lost_answers),
    ("500 after an update", trouble::lost_update),
    ("permissions lowered", trouble::lowered),
    ("credentials revoked", trouble::revoked),
    ("events", events),
];

/// Does every step, and notes what came of each; false where nothing could be connected.
pub(super) fn play(stage: &mut Stage<'_>, table: &mut Table) -> bool {
    for (what, step) in STEPS {
        let outcome = step(stage);
        let lost = outcome.is_err() && what == "connect";
        table.add(stage.cms.name(), what, outcome);
        if lost {
            return false;
        }
    }
    true
}

/// What takes ten minutes.
pub(super) fn wait(stage: &mut Stage<'_>, table: &mut Table) {
    let outcome = trouble::given_up(stage);
    table.add(stage.cms.name(), "new post that never arrived", outcome);
}

/// What changes a CMS for ever; after the last of it nothing can be published there any more.
pub(super) fn end(stage: &mut Stage<'_>, table: &mut Table) {
    let steps: [Step; 2] = [
        ("a mapped field is removed", trouble::removed_field),
        ("a field that must be filled", trouble::required_field),
    ];
    for (what, step) in steps {
        let outcome = step(stage);
        table.add(stage.cms.name(), what, outcome);
    }
}

impl Stage<'_> {
    fn url(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    fn status(&self) -> Result<String> {
        text(&self.product.integration(self.cms.provider())?, "/status")
    }

    fn path(&self, what: &str) -> String {
        format!("/integrations/{}/{what}", self.cms.provider())
    }

    /// A new post with a text.
    fn write(&self, title: &str, slug: &str) -> Result<String> {
        self.product
            .write(&json!({ "title": title, "slug": slug, "content": TEXT }))
    }

    /// Publishes a post live, which has to go well.
    fn live(&self, id: &str) -> Result<()> {
        self.ends(id, json!({ "mode": "live" }), &Ended::Done)
    }

    fn fails(&self, id: &str, code: &str) -> Result<()> {
        self.ends(id, json!({ "mode": "live" }), &Ended::Failed(code.to_owned()))
    }

    fn ends(&self, id: &str, body: Value, expected: &Ended) -> Result<()> {
        let ended = self.product.publish(id, &body)?;
        if ended != *expected {
            let post = self.product.get(&format!("/posts/{id}"))?;
            let shown = post.pointer("/publications/0").unwrap_or(&Value::Null);
            bail!("{ended:?}, not {expected:?}: {shown}");
        }
        Ok(())
    }

    fn post(&self, title: &str) -> Result<String> {
        // After a storm there are more posts than a page holds. Percent-encoding of every byte is right for any title.
        let q: String = title.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let all = self.product.get(&format!("/posts?limit=100&q={q}"))?;
        let found = list(&all, "/data").iter().find(|post| post["title"] == title);
        text(
            found.with_context(|| format!("no post is called {title}"))?,
            "/id",
        )
    }

    /// Whether the product says that it can take a post back there.
    fn takes_back(&self) -> Result<bool> {
        let integration = self.product.integration(self.cms.provider())?;
        let can = integration.pointer("/capabilities/unpublish");
        can.and_then(Value::as_bool).context("no capability unpublish")
    }

    /// Requests that wrote, so far.
    fn writes(&self) -> usize {
        let log = self.proxy.log();
        let reads = ["GET ", "HEAD ", "OPTIONS "];
        log.iter()
            .filter(|entry| !reads.iter().any(|method| entry.request.starts_with(method)))
            .count()
    }
}

fn connect(stage: &mut Stage<'_>) -> Result<String> {
    ensure!(
        stage.status()? == "not_connected",
        "it is {} before",
        stage.status()?
    );
    let link = stage
        .product
        .post(&stage.path("connect-url"), &json!({ "siteUrl": stage.url() }))?;
    text(&link, "/url")?;
    let refused = stage
        .product
        .connect_with(stage.cms.provider(), &wrong(stage.cms.secret())?, &stage.url());
    ensure!(refused.is_err(), "a wrong secret connects it");
    let status = stage.status()?;
    ensure!(
        status != "ready" && status != "needs_mapping",
        "it is {status} with a wrong secret"
    );
    stage.product.connect(&*stage.cms, &stage.url())?;
    Ok(format!("{}, by {}", stage.status()?, loose(&link, "/kind")))
}

/// A secret of the same form that is not it.
fn wrong(mut secret: Value) -> Result<Value> {
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

fn fields(stage: &mut Stage<'_>) -> Result<String> {
    let mapping = stage.cms.mapping();
    let collection = loose(&mapping, "/collectionId");
    let mut path = stage.path("fields");
    if !collection.is_empty() {
        path.push_str(&format!("?collectionId={collection}"));
    }
    let found = stage.product.get(&path)?;
    let ids: Vec<String> = list(&found, "/data")
        .iter()
        .map(|field| loose(field, "/id"))
        .collect();
    let wanted = mapping["fieldMap"].as_object().context("no field map")?;
    for field in wanted.values() {
        ensure!(ids.iter().any(|id| field == id), "{field} is not among {ids:?}");
    }
    Ok(format!("{} fields", ids.len()))
}

fn wrong_mapping(stage: &mut Stage<'_>) -> Result<String> {
    let mut mapping = stage.cms.mapping();
    mapping["fieldMap"]["excerpt"] = json!("no-such-field");
    let answer = stage
        .product
        .ask("POST", &stage.path("mapping"), &[], Some(&mapping))?;
    let problem = answer.json();
    ensure!(answer.status() == 422, "{} {problem}", answer.status());
    let pointer = loose(&problem, "/errors/0/pointer");
    ensure!(pointer == "/fieldMap/excerpt", "{problem}");
    Ok(pointer)
}

fn mapping(stage: &mut Stage<'_>) -> Result<String> {
    stage.product.post(&stage.path("mapping"), &stage.cms.mapping())?;
    let status = stage.status()?;
    ensure!(status == "ready", "it is {status}");
    Ok(status)
}

fn draft(stage: &mut Stage<'_>) -> Result<String> {
    let post = json!({
        "title": TITLE, "slug": "desks-and-chairs", "content": TEXT, "excerpt": "What fits you.",
        "tags": ["Desks", "Chairs & more"],
    });
    let id = stage.product.write(&post)?;
    stage.ends(&id, json!({ "mode": "draft" }), &Ended::Done)?;
    let item = stage.cms.only(TITLE)?;
    as_written(&item, &stage.cms.mapping())?;
    ensure!(item.status == Status::Draft, "it is {:?}", item.status);
    Ok(item.id)
}

fn as_written(item: &Item, mapping: &Value) -> Result<()> {
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

fn live(stage: &mut Stage<'_>) -> Result<String> {
    let before = stage.cms.only(TITLE)?;
    let id = stage.post(TITLE)?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    as_written(&item, &stage.cms.mapping())?;
    ensure!(item.status == Status::Live, "it is {:?}", item.status);
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    let post = stage.product.get(&format!("/posts/{id}"))?;
    ensure!(post["status"] == "published", "the post is {}", post["status"]);
    let Some(url) = post["publishedUrl"].as_str() else {
        return Ok("no page".to_owned());
    };
    let (host, path) = url
        .trim_start_matches("http://")
        .split_once('/')
        .with_context(|| format!("no address: {url}"))?;
    let page = Site::new(format!("http://{host}")).ask("GET", &format!("/{path}"), None)?;
    let says = String::from_utf8_lossy(&page.body).contains("How high?");
    ensure!(page.status() == 200 && says, "{url}: {}", page.start);
    Ok(format!("/{path}"))
}

fn unchanged(stage: &mut Stage<'_>) -> Result<String> {
    let before = stage.writes();
    stage.live(&stage.post(TITLE)?)?;
    let wrote = stage.writes() - before;
    ensure!(wrote == 0, "{wrote} requests wrote");
    Ok("nothing is sent".to_owned())
}

fn update(stage: &mut Stage<'_>) -> Result<String> {
    let before = stage.cms.only(TITLE)?;
    let id = stage.post(TITLE)?;
    stage.product.change(
        &id,
        json!({ "content": format!("{TEXT}\nSecond edition.\n"), "slug": "desks-or-chairs" }),
    )?;
    let post = stage.product.get(&format!("/posts/{id}"))?;
    ensure!(post["hasUnpublishedChanges"] == true, "no change is known");
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    ensure!(item.slug == "desks-or-chairs", "its slug is {}", item.slug);
    ensure!(
        item.content.contains("Second edition."),
        "it says {}",
        item.content
    );
    Ok(item.id)
}

fn image(stage: &mut Stage<'_>) -> Result<String> {
    let id = stage.post(TITLE)?;
    let before = stage.cms.files()?;
    let url = format!("http://{}/desk.png", stage.images);
    let members = json!({ "featuredImage": { "url": url, "alt": "A desk" }, "tags": ["Desks", "Lamps"] });
    stage.product.change(&id, members)?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    let image = item.image.context("it has no image")?;
    if stage.cms.mapping().pointer("/fieldMap/tags").is_some() {
        ensure!(
            item.tags.len() == 2 && item.tags.iter().any(|tag| tag == "Lamps"),
            "tags are {:?}",
            item.tags
        );
    }
    stage
        .product
        .change(&id, json!({ "excerpt": "What fits you. Third edition." }))?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
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
    let files = stage.cms.files()? - before;
    ensure!(files == 1, "it was uploaded {files} times");
    stage.product.change(&id, json!({ "featuredImage": null }))?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(item.image.is_none(), "it still has {:?}", item.image);
    Ok(image)
}

fn unpublish(stage: &mut Stage<'_>) -> Result<String> {
    let before = stage.cms.only(TITLE)?;
    let id = stage.post(TITLE)?;
    if !stage.takes_back()? {
        let path = format!("/posts/{id}/unpublish");
        let answer = stage.product.ask("POST", &path, &[], Some(&json!({})))?;
        ensure!(answer.status() == 409, "{}", answer.start);
        return Ok(format!("refused: {}", loose(&answer.json(), "/detail")));
    }
    let ended = stage.product.unpublish(&id)?;
    ensure!(ended == Ended::Done, "{ended:?}");
    let item = stage.cms.only(TITLE)?;
    ensure!(item.status == Status::Draft, "it is {:?}", item.status);
    let post = stage.product.get(&format!("/posts/{id}"))?;
    ensure!(post["status"] == "draft", "the post is {}", post["status"]);
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(item.status == Status::Live && item.id == before.id, "{item:?}");
    Ok("same item".to_owned())
}

fn events(stage: &mut Stage<'_>) -> Result<String> {
    let published = stage.product.events("post.published")?;
    let all = stage.product.get("/posts?limit=100&status=published")?;
    let posts = list(&all, "/data");
    let takes_back = stage.takes_back()?;
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
