//! Webflow CMS by its Data API v2. An item has a staged copy, which people edit, and perhaps a live one, which readers see.
//! There is no place for a mark: Webflow takes comments out of texts.
//!
//! Requests were checked against Webflow's own document of its interface, see `cargo xtask peers vendors`.

mod fields;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use fields::{Collection, field, image};
use http::Method;
use searchwright_contract::integrations::{Capabilities, Field, Place, Provider};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context,
    error::{Cause, Trouble, Why},
    http::{Server, escaped},
    publisher::{Account, Connection, Item, Publisher, Remote, Visible, Wanted},
    values::{Member, id, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Webflow,
    name: "Webflow",
    inputs: &[Input::secret(
        "token",
        "Site token",
        "in Webflow under Site settings, Apps & integrations, API access: generate a token that may read sites and read and write the CMS",
    )],
    // Webflow fetches an image from its address.
    capabilities: Capabilities { images: false, ..ALL },
    marks: false,
    repeats: false,
    open: |context, connection| Ok(Box::new(Webflow::new(context, connection)?)),
};

const HOME: &str = "https://api.webflow.com";

#[derive(Debug)]
struct Webflow {
    server: Server,
    connection: Connection,
    chosen: OnceCell<Collection>,
}

impl Webflow {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let home = match connection.setting("apiUrl") {
            "" => HOME,
            other => other,
        };
        let server = Server::new(context.client.clone(), &format!("{home}/v2"))
            .with_bearer(connection.secret("token").trim())?;
        Ok(Self {
            server,
            connection,
            chosen: OnceCell::new(),
        })
    }

    async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.server.get(path).await?.json()
    }

    /// Sends a change. Webflow's 409 is no edit conflict but something that it cannot do as things stand, such as
    /// publishing to a site that was never published, so it becomes [`Why::Invalid`].
    async fn write(&self, method: Method, path: &str, body: &Value) -> Result<Value, Trouble> {
        match self.server.write(method, path, body).await {
            Err(Trouble::Refused {
                why: Why::Conflict,
                said,
            }) => Err(Trouble::Refused {
                why: Why::Invalid,
                said,
            }),
            answer => Ok(answer?.body),
        }
    }

    fn items(&self) -> Result<String, Trouble> {
        let collection = self.connection.collection.as_deref();
        let collection = collection.ok_or(Trouble::because(Why::Schema, "no collection is chosen"))?;
        Ok(format!("/collections/{}/items", escaped(collection)))
    }

    async fn fields_of(&self, collection: &str) -> Result<Value, Trouble> {
        match self.get(&format!("/collections/{}", escaped(collection))).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => Err(Trouble::refused(Why::Schema)),
            answer => answer,
        }
    }

    async fn chosen(&self) -> Result<&Collection, Trouble> {
        self.chosen
            .get_or_try_init(|| async {
                let collection = self.connection.collection.as_deref().unwrap_or_default();
                let described = self.fields_of(collection).await?;
                let page = match (self.connection.site.as_deref(), text(&described, "/slug")) {
                    (Some(site), Some(slug)) => {
                        let site = self.get(&format!("/sites/{}", escaped(site))).await?;
                        let own = text(&site, "/customDomains/0/url").map(str::to_owned);
                        let usual = || text(&site, "/shortName").map(|name| format!("{name}.webflow.io"));
                        own.or_else(usual).map(|host| format!("https://{host}/{slug}"))
                    }
                    _ => None,
                };
                Ok(Collection {
                    fields: list(&described, "/fields").to_vec(),
                    page,
                })
            })
            .await
    }

    fn remote(&self, chosen: &Collection, item: &Value) -> Option<Remote> {
        let data = item.get("fieldData")?;
        let held = held(item);
        let is_live = text(item, "/lastPublished").is_some() && held.is_none();
        let slug = text(data, "/slug").map(str::to_owned);
        // An image is a copy of Webflow's own, and its address changes by itself.
        let mut parts = self.connection.held(|field| match chosen.kind(field) {
            "" | "Image" | "MultiImage" => None,
            _ => Some(json!(data.get(field))),
        });
        parts.insert("name".to_owned(), json!(data.get("name")));
        parts.insert("slug".to_owned(), json!(slug));
        let page = chosen.page.as_ref().filter(|_| is_live);
        Some(Remote {
            id: id(item, "/id")?,
            url: page
                .zip(slug.as_ref())
                .map(|(page, slug)| format!("{page}/{slug}")),
            visible: if is_live { Visible::Live } else { Visible::Draft },
            reason: (!is_live).then(|| kept("Webflow", held.unwrap_or("not published yet"))),
            version: version(&Value::Object(parts)),
            slug,
            marker: None,
            etag: None,
        })
    }

    async fn by_id(&self, id: &str) -> Result<Option<Remote>, Trouble> {
        let chosen = self.chosen().await?;
        let path = format!("{}/{}", self.items()?, escaped(id));
        let Some(answer) = self.server.get_if_there(&path).await? else {
            return Ok(None);
        };
        let found = self.remote(chosen, &answer.json()?);
        found.map(Some).ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn body(&self, item: &Item) -> Result<Value, Trouble> {
        let chosen = self.chosen().await?;
        let mut data = Map::new();
        for (field, member) in members(&self.connection, item) {
            let value = match (chosen.kind(field), member) {
                ("", _) => {
                    return Err(Trouble::because(
                        Why::Schema,
                        format!("{field}: there is no such field"),
                    ));
                }
                (_, Member::Content) => json!(item.html),
                ("Image", Member::Picture(picture)) => json!(picture.map(image)),
                ("Reference", Member::Text(Some(name))) => match self.named(chosen, field, name).await? {
                    Some(id) => json!(id),
                    None => continue,
                },
                ("MultiReference", Member::Names(names)) => {
                    let mut ids = Vec::new();
                    for name in names {
                        ids.extend(self.named(chosen, field, name).await?);
                    }
                    json!(ids)
                }
                ("MultiReference", Member::Text(Some(name))) => {
                    json!(Vec::from_iter(self.named(chosen, field, name).await?))
                }
                ("Reference" | "MultiReference", _) => continue,
                // One that is not among them cannot be chosen.
                ("Option", member) => match member.plain() {
                    Some(name) => match chosen.option(field, &name) {
                        Some(id) => json!(id),
                        None => continue,
                    },
                    None => Value::Null,
                },
                _ => json!(member.plain()),
            };
            data.insert(field.to_owned(), value);
        }
        data.insert("name".to_owned(), json!(item.title));
        data.insert("slug".to_owned(), json!(item.slug));
        Ok(json!({ "isArchived": false, "isDraft": !item.live, "fieldData": data }))
    }

    /// The item of this name that a field can refer to; none is made.
    async fn named(&self, chosen: &Collection, field: &str, name: &str) -> Result<Option<String>, Trouble> {
        let Some(target) = chosen.target(field) else {
            return Ok(None);
        };
        let path = format!(
            "/collections/{}/items?limit=1&name={}",
            escaped(target),
            escaped(name)
        );
        Ok(id(&self.get(&path).await?, "/items/0/id"))
    }

    /// Returns an item with the address and visibility that readers see now; answers to writes describe the staged
    /// copy.
    fn shown(&self, chosen: &Collection, remote: Remote, is_live: bool) -> Remote {
        let page = chosen.page.as_ref().filter(|_| is_live);
        let url = page
            .zip(remote.slug.as_ref())
            .map(|(page, slug)| format!("{page}/{slug}"));
        let visible = if is_live { Visible::Live } else { Visible::Draft };
        Remote {
            url,
            visible,
            reason: remote.reason.filter(|_| !is_live),
            ..remote
        }
    }

    async fn show(&self, id: &str) -> Result<(), Trouble> {
        let path = format!("{}/publish", self.items()?);
        let sent = self
            .write(Method::POST, &path, &json!({ "itemIds": [id] }))
            .await?;
        match list(&sent, "/publishedItemIds").iter().any(|done| done == id) {
            true => Ok(()),
            false => match text(&sent, "/errors/0") {
                Some(error) => Err(self.server.refusal(Why::Invalid, error)),
                None => Err(unreadable()),
            },
        }
    }

    async fn hide(&self, id: &str) -> Result<(), Trouble> {
        let path = format!("{}/{}/live", self.items()?, escaped(id));
        let answer = self.server.exchange(Method::DELETE, &path, None, true).await?;
        self.server.judged(answer, true).map(drop)
    }
}

/// The state of an item that readers are not shown whatever is published.
fn held(item: &Value) -> Option<&'static str> {
    let is = |name: &str| item[name] == Value::Bool(true);
    match (is("isArchived"), is("isDraft")) {
        (true, _) => Some("isArchived: true"),
        (_, true) => Some("isDraft: true"),
        _ => None,
    }
}

fn unreadable() -> Trouble {
    Trouble::Unclear {
        cause: Cause::Unreadable,
        status: None,
    }
}

fn places(answer: &Value, pointer: &str) -> Vec<Place> {
    let place = |one: &Value| {
        let id = id(one, "/id")?;
        let name = text(one, "/displayName").unwrap_or(&id).to_owned();
        Some(Place { id, name })
    };
    list(answer, pointer).iter().filter_map(place).collect()
}

#[async_trait]
impl Publisher for Webflow {
    async fn check(&self) -> Result<Account, Trouble> {
        let sites = places(&self.get("/sites").await?, "/sites");
        let ids: Vec<&str> = sites.iter().map(|site| site.id.as_str()).collect();
        Ok(Account {
            name: sites.first().map(|site| site.name.clone()),
            site: ids.join(","),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        Ok(places(&self.get("/sites").await?, "/sites"))
    }

    async fn collections(&self, site: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let Some(site) = site else { return Ok(Vec::new()) };
        let path = format!("/sites/{}/collections", escaped(site));
        Ok(places(&self.get(&path).await?, "/collections"))
    }

    async fn fields(&self, _: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let Some(collection) = collection else {
            return Ok(Vec::new());
        };
        let described = self.fields_of(collection).await?;
        Ok(list(&described, "/fields").iter().filter_map(field).collect())
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let mut found = match wanted.id {
            Some(id) => Vec::from_iter(self.by_id(id).await?),
            None => Vec::new(),
        };
        let chosen = self.chosen().await?;
        let path = format!("{}?limit=100&slug={}", self.items()?, escaped(wanted.slug));
        let others = self.get(&path).await?;
        let others = others.get("items").and_then(Value::as_array);
        for other in others.ok_or(Trouble::refused(Why::Unreadable))? {
            let other = self
                .remote(chosen, other)
                .ok_or(Trouble::refused(Why::Unreadable))?;
            if found.iter().all(|known| known.id != other.id) {
                found.push(other);
            }
        }
        Ok(found)
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let chosen = self.chosen().await?;
        let path = format!("{}{}", self.items()?, if item.live { "/live" } else { "" });
        let body = self.body(item).await?;
        let sent = self.write(Method::POST, &path, &body).await?;
        let made = self.remote(chosen, &sent);
        made.map(|made| self.shown(chosen, made, item.live && held(&sent).is_none()))
            .ok_or_else(unreadable)
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let chosen = self.chosen().await?;
        let path = format!("{}/{}", self.items()?, escaped(&remote.id));
        let body = self.body(item).await?;
        let sent = self.write(Method::PATCH, &path, &body).await?;
        let changed = self.remote(chosen, &sent).ok_or_else(unreadable)?;
        if item.live {
            self.show(&remote.id).await.map_err(Trouble::midway)?;
        } else if remote.visible == Visible::Live {
            self.hide(&remote.id).await.map_err(Trouble::midway)?;
        }
        Ok(self.shown(chosen, changed, item.live && held(&sent).is_none()))
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        self.hide(&remote.id).await?;
        let left = self.by_id(&remote.id).await.map_err(Trouble::midway)?;
        let left = left.ok_or(Trouble::refused(Why::Missing))?;
        Ok(self.shown(self.chosen().await?, left, false))
    }
}
