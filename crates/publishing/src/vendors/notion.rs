//! Notion: pages of a data source, their text as Markdown. Whether readers see a page is a property of the data source.
//!
//! A text property called `Searchwright` holds our mark where people made one; without it a page is found by its slug.
//!
//! Requests were checked against Notion's own document and the types of its own client, see `cargo xtask peers
//! vendors`.

mod properties;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use http::{HeaderName, Method};
use properties::Properties;
use searchwright_contract::integrations::{Capabilities, Field, Place, Provider};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Cause, Trouble, Why},
    http::{Server, escaped},
    publisher::{Account, Connection, Item, Publisher, Remote, Visible, Wanted},
    values::{Member, below, id, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Notion,
    name: "Notion",
    inputs: &[
        Input::secret(
            "token",
            "Integration secret",
            "in Notion under Settings, Connections, Develop or manage integrations: make an internal integration that may read, insert and update content; then open your database and add the integration under Connections",
        ),
        Input::base_url(),
        Input::open(
            "statusField",
            "Property that says whether readers see a page",
            "a status, a select or a checkbox, if it is not called Status",
        )
        .optional(),
        Input::open(
            "liveValue",
            "Value of that property for what readers see",
            "if it is not Published",
        )
        .optional(),
        Input::open(
            "draftValue",
            "Value of that property for drafts",
            "if it is not Draft",
        )
        .optional(),
    ],
    // Notion shows an image from its address.
    capabilities: Capabilities { images: false, ..ALL },
    marks: false,
    repeats: false,
    open: |context, connection| Ok(Box::new(Notion::new(context, connection)?)),
};

const HOME: &str = "https://api.notion.com";
const VERSION: HeaderName = HeaderName::from_static("notion-version");
/// The field that is no property: the text of the page.
const CONTENT: &str = "page content";
/// The field that is no property: the image above the page.
const COVER: &str = "page cover";
/// The property that holds our mark, where there is one.
const MARK: &str = "Searchwright";

#[derive(Debug)]
struct Notion {
    server: Server,
    connection: Connection,
    properties: OnceCell<Properties>,
}

impl Notion {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let home = match connection.setting("apiUrl") {
            "" => HOME,
            other => other,
        };
        let server = Server::new(context.client.clone(), &format!("{home}/v1"))
            .with(VERSION, "2026-03-11")
            .with_bearer(connection.secret("token").trim())?;
        Ok(Self {
            server,
            connection,
            properties: OnceCell::new(),
        })
    }

    async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.server.get(path).await?.json()
    }

    /// A conflict at Notion is two changes at once, neither of which has to give way for good.
    async fn write(&self, method: Method, path: &str, body: &Value) -> Result<Value, Trouble> {
        match self.server.write(method, path, body).await {
            Err(Trouble::Refused {
                why: Why::Conflict, ..
            }) => Err(Trouble::NotNow {
                cause: Cause::Status,
                after: None,
            }),
            answer => answer?.made(|body| body.is_object().then(|| body.clone())),
        }
    }

    fn source(&self) -> Result<&str, Trouble> {
        let source = self.connection.collection.as_deref();
        source.ok_or(Trouble::because(Why::Schema, "no data source is chosen"))
    }

    async fn described(&self, source: &str) -> Result<Properties, Trouble> {
        let path = format!("/data_sources/{}", escaped(source));
        let described = match self.get(&path).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => {
                return Err(Trouble::because(
                    Why::Permission,
                    "the database is gone, or it is not shared with the integration",
                ));
            }
            answer => answer?,
        };
        Properties::read(&described).ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn properties(&self) -> Result<&Properties, Trouble> {
        let source = self.source()?;
        self.properties.get_or_try_init(|| self.described(source)).await
    }

    fn setting<'a>(&'a self, name: &str, usual: &'a str) -> &'a str {
        match self.connection.setting(name).trim() {
            "" => usual,
            set => set,
        }
    }

    fn status(&self) -> &str {
        self.setting("statusField", "Status")
    }

    /// The property that says whether readers see a page, with what it says then.
    fn state(&self, properties: &Properties, is_live: bool) -> Option<Value> {
        let word = if is_live {
            self.setting("liveValue", "Published")
        } else {
            self.setting("draftValue", "Draft")
        };
        properties.state(self.status(), is_live, word)
    }

    fn remote(&self, properties: &Properties, page: &Value, markdown: &Value) -> Option<Remote> {
        let values = page.get("properties")?;
        let value = |name: &str| values.get(name).map(properties::plain);
        let live = self.state(properties, true);
        let is_live = live.is_none_or(|live| value(self.status()) == Some(properties::plain(&live)));
        let known = |name: &str| value(self.connection.field(name)?)?.as_str().map(str::to_owned);
        let slug = known("slug");
        // A page has every property of its data source.
        let parts = self.connection.held(|field| match field {
            CONTENT => Some(markdown.clone()),
            COVER => Some(json!(page.pointer("/cover/external/url"))),
            name => value(name),
        });
        let public = text(page, "/public_url").map(str::to_owned);
        let url = public.or_else(|| below(&self.connection, slug.as_deref()));
        Some(Remote {
            id: id(page, "/id")?,
            url: url.filter(|_| is_live),
            slug,
            visible: if is_live { Visible::Live } else { Visible::Draft },
            reason: (!is_live).then(|| {
                let state = value(self.status()).unwrap_or_default();
                let state = state.as_str().map_or_else(|| state.to_string(), str::to_owned);
                kept("Notion", &format!("{}: {state}", self.status()))
            }),
            version: version(&Value::Object(parts)),
            marker: value(MARK).and_then(|mark| Marker::in_text(mark.as_str()?)),
            etag: None,
        })
    }

    /// The text of a page; `null` where the integration may not read it.
    async fn markdown(&self, id: &str) -> Result<Value, Trouble> {
        match self.get(&format!("/pages/{}/markdown", escaped(id))).await {
            Err(Trouble::Refused {
                why: Why::Permission, ..
            }) => Ok(Value::Null),
            answer => Ok(answer?["markdown"].clone()),
        }
    }

    async fn whole(&self, page: &Value) -> Result<Remote, Trouble> {
        let unreadable = || Trouble::refused(Why::Unreadable);
        let markdown = self.markdown(text(page, "/id").ok_or_else(unreadable)?).await?;
        let remote = self.remote(self.properties().await?, page, &markdown);
        remote.ok_or_else(unreadable)
    }

    fn body(&self, properties: &Properties, item: &Item) -> Result<Map<String, Value>, Trouble> {
        let mut values = Map::new();
        let mut body = Map::new();
        for (field, member) in members(&self.connection, item) {
            match (field, member) {
                (CONTENT, _) => {}
                (COVER, Member::Picture(picture)) => {
                    let url = picture.and_then(|picture| picture.url.as_deref());
                    let cover = url.map(|url| json!({ "type": "external", "external": { "url": url } }));
                    body.insert("cover".to_owned(), json!(cover));
                }
                _ => {
                    let Some(value) = properties.value(field, member) else {
                        return Err(Trouble::because(
                            Why::Schema,
                            format!("{field}: there is no such property"),
                        ));
                    };
                    values.insert(field.to_owned(), value);
                }
            }
        }
        if properties.has(MARK) {
            values.insert(MARK.to_owned(), properties::rich_text(&item.marker.to_string()));
        }
        match self.state(properties, item.live) {
            Some(state) => {
                values.insert(self.status().to_owned(), state);
            }
            None if item.live => {}
            None => return Err(no_status()),
        }
        body.insert("properties".to_owned(), Value::Object(values));
        Ok(body)
    }

    /// Reads the page after a change. An answer that is lost or unreadable leaves open whether the change happened.
    async fn after(&self, page: &Value) -> Result<Remote, Trouble> {
        self.whole(page).await.map_err(|trouble| match trouble.midway() {
            Trouble::Refused {
                why: Why::Unreadable, ..
            } => Trouble::Unclear {
                cause: Cause::Unreadable,
                status: Some(200),
            },
            other => other,
        })
    }
}

fn no_status() -> Trouble {
    Trouble::because(
        Why::Unsupported,
        "the database has no property that says whether readers see a page: everything in it is live",
    )
}

#[async_trait]
impl Publisher for Notion {
    async fn check(&self) -> Result<Account, Trouble> {
        let bot = self.get("/users/me").await?;
        let site = id(&bot, "/bot/workspace_id").or_else(|| id(&bot, "/id"));
        let name = text(&bot, "/bot/workspace_name").or_else(|| text(&bot, "/name"));
        Ok(Account {
            name: name.map(str::to_owned),
            site: site.ok_or(Trouble::refused(Why::Unreadable))?,
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let account = self.check().await?;
        Ok(vec![Place {
            name: account.name.unwrap_or_else(|| account.site.clone()),
            id: account.site,
        }])
    }

    async fn collections(&self, _: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let body = json!({ "filter": { "property": "object", "value": "data_source" }, "page_size": 100 });
        let found = self.server.ask("/search", &body).await?.json()?;
        let place = |source: &Value| {
            let id = id(source, "/id")?;
            let name = properties::joined(source.get("title")?);
            let name = if name.is_empty() { id.clone() } else { name };
            Some(Place { id, name })
        };
        Ok(list(&found, "/results").iter().filter_map(place).collect())
    }

    async fn fields(&self, _: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        match collection {
            Some(source) => Ok(self.described(source).await?.fields(self.status())),
            None => Ok(Vec::new()),
        }
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let properties = self.properties().await?;
        let mut pages: Vec<Value> = Vec::new();
        if let Some(id) = wanted.id {
            let path = format!("/pages/{}", escaped(id));
            if let Some(answer) = self.server.get_if_there(&path).await? {
                pages.push(answer.json()?);
            }
        }
        let mut any = Vec::new();
        if properties.has(MARK) {
            any.push(json!({ "property": MARK, "rich_text": { "starts_with": wanted.marker.start() } }));
        }
        if let Some(slug) = self.connection.field("slug") {
            let kind = properties.kind(slug).unwrap_or("rich_text");
            any.push(json!({ "property": slug, kind: { "equals": wanted.slug } }));
        }
        if !any.is_empty() {
            let path = format!("/data_sources/{}/query", escaped(self.source()?));
            let body = json!({ "filter": { "or": any }, "page_size": 100 });
            let found = self.server.ask(&path, &body).await?.json()?;
            let found = found.get("results").and_then(Value::as_array);
            for page in found.ok_or(Trouble::refused(Why::Unreadable))? {
                if pages.iter().all(|known| known["id"] != page["id"]) {
                    pages.push(page.clone());
                }
            }
        }
        let mut found = Vec::new();
        for page in pages {
            if page["in_trash"] != Value::Bool(true) && page["archived"] != Value::Bool(true) {
                found.push(self.whole(&page).await?);
            }
        }
        Ok(found)
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let mut body = self.body(self.properties().await?, item)?;
        let parent = json!({ "type": "data_source_id", "data_source_id": self.source()? });
        body.insert("parent".to_owned(), parent);
        body.insert("markdown".to_owned(), json!(item.markdown));
        let page = self.write(Method::POST, "/pages", &Value::Object(body)).await?;
        self.after(&page).await
    }

    /// The text first, so that readers are not shown a new status with an old text.
    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let body = self.body(self.properties().await?, item)?;
        let path = format!("/pages/{}", escaped(&remote.id));
        let replaced = json!({ "type": "replace_content", "replace_content": { "new_str": item.markdown } });
        self.write(Method::PATCH, &format!("{path}/markdown"), &replaced)
            .await?;
        let sent = self.write(Method::PATCH, &path, &Value::Object(body)).await;
        self.after(&sent.map_err(Trouble::midway)?).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let state = self.state(self.properties().await?, false);
        let state = state.ok_or_else(no_status)?;
        let path = format!("/pages/{}", escaped(&remote.id));
        let body = json!({ "properties": { self.status(): state } });
        let page = self.write(Method::PATCH, &path, &body).await?;
        self.after(&page).await
    }
}
