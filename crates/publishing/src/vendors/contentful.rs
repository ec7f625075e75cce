//! Contentful by its Content Management API. The id of an entry is the post's, so it is found at once and cannot be made twice;
//! there is no place for a mark, which would also say what state of the post it is.

mod fields;
mod rich_text;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use searchwright_contract::integrations::{Capabilities, Field, Place, Provider};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Cause, Trouble, Why},
    http::{Body, Server, escaped},
    publisher::{Account, Connection, Item, Publisher, Remote, Visible, Wanted},
    values::{Member, below, id, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Contentful,
    name: "Contentful",
    inputs: &[
        Input::secret(
            "token",
            "Content management token",
            "in Contentful under Settings, CMA tokens: create a personal access token",
        ),
        Input::base_url(),
    ],
    // An asset is made in several steps, of which one takes its time.
    capabilities: Capabilities { images: false, ..ALL },
    marks: false,
    repeats: false,
    open: |context, connection| Ok(Box::new(Contentful::new(context, connection)?)),
};

const HOME: &str = "https://api.contentful.com";
const VERSION: HeaderName = HeaderName::from_static("x-contentful-version");
const TYPE: HeaderName = HeaderName::from_static("x-contentful-content-type");

#[derive(Debug)]
struct Contentful {
    server: Server,
    connection: Connection,
    chosen: OnceCell<ContentType>,
}

/// The content type of posts, and the language that its fields are written in.
#[derive(Debug)]
struct ContentType {
    fields: Vec<Value>,
    locale: String,
}

impl ContentType {
    fn field(&self, id: &str) -> Option<&Value> {
        self.fields.iter().find(|field| text(field, "/id") == Some(id))
    }
}

impl Contentful {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let home = match connection.setting("apiUrl") {
            "" => HOME,
            other => other,
        };
        let server =
            Server::new(context.client.clone(), home).with_bearer(connection.secret("token").trim())?;
        Ok(Self {
            server,
            connection,
            chosen: OnceCell::new(),
        })
    }

    async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.server.get(path).await?.json()
    }

    fn home(&self) -> Result<String, Trouble> {
        let site = self.connection.site.as_deref();
        place(site.ok_or(Trouble::because(Why::Schema, "no space is chosen"))?)
    }

    fn collection(&self) -> Result<&str, Trouble> {
        let collection = self.connection.collection.as_deref();
        collection.ok_or(Trouble::because(Why::Schema, "no content type is chosen"))
    }

    async fn described(&self, home: &str, collection: &str) -> Result<Vec<Value>, Trouble> {
        let path = format!("{home}/content_types/{}", escaped(collection));
        match self.get(&path).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => Err(Trouble::refused(Why::Schema)),
            answer => Ok(list(&answer?, "/fields").to_vec()),
        }
    }

    async fn chosen(&self) -> Result<&ContentType, Trouble> {
        self.chosen
            .get_or_try_init(|| async {
                let home = self.home()?;
                let fields = self.described(&home, self.collection()?).await?;
                let locales = self.get(&format!("{home}/locales?limit=1000")).await?;
                let usual = list(&locales, "/items")
                    .iter()
                    .find(|locale| locale["default"] == Value::Bool(true))
                    .and_then(|locale| text(locale, "/code"));
                let locale = usual.ok_or(Trouble::refused(Why::Unreadable))?.to_owned();
                Ok(ContentType { fields, locale })
            })
            .await
    }

    fn remote(&self, chosen: &ContentType, entry: &Value) -> Option<Remote> {
        let value = |field: &str| entry["fields"][field].get(&chosen.locale);
        let slug = self.connection.field("slug");
        let slug = slug.and_then(|field| value(field)?.as_str()).map(str::to_owned);
        let is_live = entry
            .pointer("/sys/publishedVersion")
            .is_some_and(Value::is_number);
        // An empty field is left out of an entry, so that the type has to say what there is.
        let parts = self
            .connection
            .held(|field| chosen.field(field).map(|_| json!(value(field))));
        let id = text(entry, "/sys/id")?.to_owned();
        // The id says whose it is, and nothing of the state.
        let post = id.parse().ok();
        let marker = post.map(|post| Marker {
            post,
            digest: String::new(),
        });
        Some(Remote {
            id,
            url: below(&self.connection, slug.as_deref()).filter(|_| is_live),
            slug,
            visible: if is_live { Visible::Live } else { Visible::Draft },
            reason: (!is_live).then(|| kept("Contentful", "the entry has no published version")),
            version: version(&Value::Object(parts)),
            marker,
            etag: Some(entry.pointer("/sys/version")?.as_u64()?.to_string()),
        })
    }

    /// The fields as they are to be: those of the entry, for whatever is not sent is emptied, with ours in their places.
    fn fields_of(&self, chosen: &ContentType, entry: &Value, item: &Item) -> Result<Value, Trouble> {
        let mut fields = entry
            .get("fields")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        for (field, member) in members(&self.connection, item) {
            let Some(described) = chosen.field(field) else {
                return Err(Trouble::because(
                    Why::Schema,
                    format!("{field}: there is no such field"),
                ));
            };
            let value = match (text(described, "/type").unwrap_or_default(), member) {
                ("RichText", Member::Content) => rich_text::document(&item.markdown),
                (_, Member::Content) => json!(item.markdown),
                ("Array", Member::Names(names)) => json!(names),
                (_, member) => json!(member.plain()),
            };
            let locales = fields.entry(field).or_insert_with(|| json!({}));
            match (value, locales.as_object_mut()) {
                (Value::Null, Some(locales)) => {
                    locales.remove(&chosen.locale);
                }
                (value, Some(locales)) => {
                    locales.insert(chosen.locale.clone(), value);
                }
                (value, None) => *locales = json!({ &chosen.locale: value }),
            }
        }
        Ok(json!({ "fields": fields, "metadata": entry.get("metadata").unwrap_or(&json!({})) }))
    }

    async fn write(
        &self,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Option<&Value>,
    ) -> Result<Value, Trouble> {
        let (own, body) = packed(headers, body)?;
        let sent = self.server.write_bytes(Method::PUT, path, own, body).await?;
        sent.made(|entry| entry.pointer("/sys/version").map(|_| entry.clone()))
    }

    /// Brings the visibility of an entry that was just written to what is wanted.
    async fn show(&self, entry: Value, is_live: bool) -> Result<Value, Trouble> {
        let path = format!(
            "{}/entries/{}",
            self.home()?,
            escaped(text(&entry, "/sys/id").unwrap_or_default())
        );
        if is_live {
            let seen = id(&entry, "/sys/version").unwrap_or_default();
            let path = format!("{path}/published");
            return self.write(&path, &[(VERSION, &seen)], None).await;
        }
        if entry["sys"]["publishedVersion"].is_number() {
            return self.hide(&path).await;
        }
        Ok(entry)
    }

    async fn hide(&self, path: &str) -> Result<Value, Trouble> {
        let path = format!("{path}/published");
        let answer = self.server.exchange(Method::DELETE, &path, None, true).await?;
        let answer = self.server.judged(answer, true)?;
        answer.made(|entry| entry.pointer("/sys/version").map(|_| entry.clone()))
    }

    async fn put(
        &self,
        id: &str,
        headers: &[(HeaderName, &str)],
        entry: &Value,
        item: &Item,
    ) -> Result<Remote, Trouble> {
        let chosen = self.chosen().await?;
        let body = self.fields_of(chosen, entry, item)?;
        let path = format!("{}/entries/{}", self.home()?, escaped(id));
        let put = self.write(&path, headers, Some(&body)).await?;
        let shown = self.show(put, item.live).await.map_err(Trouble::midway)?;
        self.remote(chosen, &shown).ok_or(Trouble::Unclear {
            cause: Cause::Unreadable,
            status: Some(200),
        })
    }
}

/// The path of a space, or of one of its environments: `space` or `space/environment`.
fn place(site: &str) -> Result<String, Trouble> {
    let (space, environment) = site.split_once('/').unwrap_or((site, "master"));
    Ok(format!(
        "/spaces/{}/environments/{}",
        escaped(space),
        escaped(environment)
    ))
}

fn packed(headers: &[(HeaderName, &str)], body: Option<&Value>) -> Result<Body, Trouble> {
    let kind = HeaderValue::from_static("application/vnd.contentful.management.v1+json");
    let mut own = vec![(header::CONTENT_TYPE, kind)];
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).map_err(|_| Trouble::refused(Why::Schema))?;
        own.push((name.clone(), value));
    }
    Ok((
        own,
        body.map(|body| Bytes::from(body.to_string())).unwrap_or_default(),
    ))
}

fn places(answer: &Value) -> Vec<Place> {
    let place = |one: &Value| {
        let id = text(one, "/sys/id")?.to_owned();
        let name = text(one, "/name").unwrap_or(&id).to_owned();
        Some(Place { id, name })
    };
    list(answer, "/items").iter().filter_map(place).collect()
}

#[async_trait]
impl Publisher for Contentful {
    async fn check(&self) -> Result<Account, Trouble> {
        let spaces = places(&self.get("/spaces?limit=100").await?);
        let ids: Vec<&str> = spaces.iter().map(|space| space.id.as_str()).collect();
        Ok(Account {
            name: spaces.first().map(|space| space.name.clone()),
            site: ids.join(","),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        Ok(places(&self.get("/spaces?limit=100").await?))
    }

    async fn collections(&self, site: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let Some(site) = site else { return Ok(Vec::new()) };
        let path = format!("{}/content_types?limit=1000", place(site)?);
        Ok(places(&self.get(&path).await?))
    }

    async fn fields(&self, site: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let (Some(site), Some(collection)) = (site, collection) else {
            return Ok(Vec::new());
        };
        let described = self.described(&place(site)?, collection).await?;
        Ok(described.iter().filter_map(fields::field).collect())
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let chosen = self.chosen().await?;
        let home = self.home()?;
        let own = wanted.marker.post.to_string();
        let ids = wanted
            .id
            .into_iter()
            .chain([own.as_str()].into_iter().filter(|own| wanted.id != Some(own)));
        let mut entries = Vec::new();
        for id in ids {
            let path = format!("{home}/entries/{}", escaped(id));
            if let Some(answer) = self.server.get_if_there(&path).await? {
                entries.push(answer.json()?);
            }
        }
        if let Some(slug) = self.connection.field("slug") {
            let path = format!(
                "{home}/entries?content_type={}&fields.{}={}&limit=100",
                escaped(self.collection()?),
                escaped(slug),
                escaped(wanted.slug)
            );
            for entry in list(&self.get(&path).await?, "/items") {
                if entries
                    .iter()
                    .all(|known| known["sys"]["id"] != entry["sys"]["id"])
                {
                    entries.push(entry.clone());
                }
            }
        }
        let found: Option<_> = entries.iter().map(|entry| self.remote(chosen, entry)).collect();
        found.ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let id = item.marker.post.to_string();
        let headers = [(TYPE, self.collection()?)];
        let nothing = Value::Object(Map::new());
        self.put(&id, &headers, &nothing, item).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let path = format!("{}/entries/{}", self.home()?, escaped(&remote.id));
        let entry = self.get(&path).await?;
        let seen = remote.etag.as_deref().unwrap_or_default();
        if id(&entry, "/sys/version").as_deref() != Some(seen) {
            return Err(Trouble::refused(Why::Conflict));
        }
        self.put(&remote.id, &[(VERSION, seen)], &entry, item).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let chosen = self.chosen().await?;
        let path = format!("{}/entries/{}", self.home()?, escaped(&remote.id));
        let entry = self.hide(&path).await?;
        self.remote(chosen, &entry).ok_or(Trouble::Unclear {
            cause: Cause::Unreadable,
            status: Some(200),
        })
    }
}
