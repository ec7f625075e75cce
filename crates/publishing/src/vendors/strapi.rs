//! Strapi 5 by its REST interface. A document has a draft, which people edit, and perhaps a published version, which readers
//! see; nothing but its own pages can take the latter away.

mod schema;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use async_trait::async_trait;
use http::Method;
use schema::{Kind, Type};
use searchwright_contract::integrations::{Capabilities, Field, Place, Provider};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::{Server, escaped, form_body},
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
    values::{address, below, host, id, kept, list, marked, members, text, unmarked, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Strapi,
    name: "Strapi",
    inputs: &[
        Input::open("siteUrl", "Address of Strapi", "such as https://cms.example.com"),
        Input::secret(
            "token",
            "API token",
            "in Strapi under Settings, API Tokens: create one of type Full access, or a custom one that may find, create and update the content type, upload files, and read types of the Content-Type Builder",
        ),
        Input::base_url(),
    ],
    capabilities: Capabilities {
        unpublish: false,
        ..ALL
    },
    marks: true,
    repeats: false,
    open: |context, connection| Ok(Box::new(Strapi::new(context, connection)?)),
};

const TYPES: &str = "/api/content-type-builder/content-types";

#[derive(Debug)]
struct Strapi {
    server: Server,
    connection: Connection,
    chosen: OnceCell<Type>,
}

impl Strapi {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let base = address(connection.setting("siteUrl"), &["/admin", "/api"])?;
        let server =
            Server::new(context.client.clone(), &base).with_bearer(connection.secret("token").trim())?;
        Ok(Self {
            server,
            connection,
            chosen: OnceCell::new(),
        })
    }

    async fn types(&self, path: &str) -> Result<Value, Trouble> {
        match self.server.get(path).await {
            Err(Trouble::Refused {
                why: Why::Permission, ..
            }) => Err(Trouble::because(
                Why::Permission,
                "the token may not read content types; give it Content-Type Builder, or full access",
            )),
            answer => answer?.json(),
        }
    }

    async fn described(&self, uid: &str) -> Result<Type, Trouble> {
        let path = format!("{TYPES}/{}", escaped(uid));
        match self.types(&path).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => Err(Trouble::refused(Why::Schema)),
            answer => Type::read(&answer?).ok_or(Trouble::refused(Why::Unreadable)),
        }
    }

    async fn chosen(&self) -> Result<&Type, Trouble> {
        let uid = self.connection.collection.as_deref();
        let uid = uid.ok_or(Trouble::because(Why::Schema, "no content type is chosen"))?;
        self.chosen.get_or_try_init(|| self.described(uid)).await
    }

    fn content<'a>(&self, entry: &'a Value) -> Option<&'a str> {
        entry.get(self.connection.field("content")?)?.as_str()
    }

    /// An entry as it was sent or read, live where it is the published version.
    fn remote(&self, entry: &Value, is_live: bool) -> Option<Remote> {
        // An empty field is null.
        let parts = self.connection.held(|field| match entry.get(field)? {
            // An image changes with its file, not with what Strapi notes of the file.
            file if file.get("id").is_some() => Some(file["id"].clone()),
            value => Some(unmarked(value)),
        });
        let slug = self.connection.field("slug");
        let slug = slug
            .and_then(|field| entry.get(field)?.as_str())
            .map(str::to_owned);
        Some(Remote {
            id: text(entry, "/documentId")?.to_owned(),
            url: below(&self.connection, slug.as_deref()).filter(|_| is_live),
            slug,
            visible: if is_live { Visible::Live } else { Visible::Draft },
            reason: (!is_live).then(|| kept("Strapi", "the entry has no published version")),
            version: version(&Value::Object(parts)),
            marker: self.content(entry).and_then(Marker::in_text),
            etag: None,
        })
    }

    /// Entries of one status.
    async fn entries(&self, status: &str, filters: &str) -> Result<Vec<Value>, Trouble> {
        let chosen = self.chosen().await?;
        let path = format!(
            "/api/{}?status={status}&pagination[pageSize]=100{filters}{}",
            escaped(&chosen.plural),
            self.files(chosen)
        );
        let body = self.server.get(&path).await?.json()?;
        let entries = body.get("data").and_then(Value::as_array);
        entries.cloned().ok_or(Trouble::refused(Why::Unreadable))
    }

    /// The mapped fields with files, which are left out of answers otherwise.
    fn files(&self, chosen: &Type) -> String {
        let mapped = self.connection.map.values();
        let files = mapped.filter(|field| matches!(chosen.kind(field), Some(Kind::Files { .. })));
        files.enumerate().fold(String::new(), |mut query, (at, field)| {
            let _ = write!(query, "&populate[{at}]={}", escaped(field));
            query
        })
    }

    fn body(&self, chosen: &Type, item: &Item) -> Result<Value, Trouble> {
        let mut data = Map::new();
        for (field, member) in members(&self.connection, item) {
            let Some(kind) = chosen.kind(field) else {
                return Err(Trouble::because(
                    Why::Schema,
                    format!("{field}: there is no such field"),
                ));
            };
            data.insert(field.to_owned(), kind.value(member, item)?);
        }
        if let Some(content) = self.connection.field("content")
            && let Some(Value::String(text)) = data.get_mut(content)
        {
            *text = marked(text, &item.marker);
        }
        Ok(json!({ "data": data }))
    }

    async fn write(&self, method: Method, path: &str, item: &Item) -> Result<Remote, Trouble> {
        let chosen = self.chosen().await?;
        if !chosen.has_drafts && !item.live {
            return Err(Trouble::because(
                Why::Unsupported,
                "the content type has no drafts: everything in it is live",
            ));
        }
        let status = if item.live { "published" } else { "draft" };
        let path = format!(
            "/api/{}{path}?status={status}{}",
            escaped(&chosen.plural),
            self.files(chosen)
        );
        let body = self.body(chosen, item)?;
        let sent = self.server.write(method, &path, &body).await?;
        sent.made(|body| {
            let entry = body.get("data")?;
            // Types without drafts do not say when an entry was published.
            let is_held = chosen.has_drafts && entry.get("publishedAt").is_some_and(Value::is_null);
            self.remote(entry, item.live && !is_held)
        })
    }
}

#[async_trait]
impl Publisher for Strapi {
    async fn check(&self) -> Result<Account, Trouble> {
        self.types(TYPES).await?;
        Ok(Account {
            name: None,
            site: host(self.server.base()).to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        Ok(vec![Place {
            id: self.server.base().to_owned(),
            name: host(self.server.base()).to_owned(),
        }])
    }

    async fn collections(&self, _: Option<&str>) -> Result<Vec<Place>, Trouble> {
        Ok(schema::places(&self.types(TYPES).await?))
    }

    async fn fields(&self, _: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        match collection {
            Some(uid) => Ok(self.described(uid).await?.fields()),
            None => Ok(Vec::new()),
        }
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let either = |at: u8, field: &str, how: &str, what: &str| {
            format!("&filters[$or][{at}][{}][{how}]={}", escaped(field), escaped(what))
        };
        let mut filters = String::new();
        if let Some(id) = wanted.id {
            filters.push_str(&either(0, "documentId", "$eq", id));
        }
        if let Some(content) = self.connection.field("content") {
            filters.push_str(&either(1, content, "$contains", &wanted.marker.start()));
        }
        if let Some(slug) = self.connection.field("slug") {
            filters.push_str(&either(2, slug, "$eq", wanted.slug));
        }
        let drafts = self.entries("draft", &filters).await?;
        let has_drafts = self.chosen().await?.has_drafts;
        let live = match drafts.len() {
            0 => Vec::new(),
            _ if !has_drafts => drafts.clone(),
            _ => {
                let ids = drafts.iter().filter_map(|entry| text(entry, "/documentId"));
                let filters = ids.enumerate().fold(String::new(), |mut filters, (at, id)| {
                    let _ = write!(filters, "&filters[documentId][$in][{at}]={}", escaped(id));
                    filters
                });
                self.entries("published", &filters).await?
            }
        };
        let seen = |draft: &Value| {
            let published = live
                .iter()
                .find(|entry| entry["documentId"] == draft["documentId"]);
            let remote = self.remote(draft, published.is_some())?;
            // What readers see says which state was published, the draft says what people changed since.
            let marker = match published.and_then(|entry| self.content(entry)) {
                Some(content) => Marker::in_text(content),
                None => remote.marker.clone(),
            };
            Some(Remote { marker, ..remote })
        };
        let found: Option<_> = drafts.iter().map(seen).collect();
        found.ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        self.write(Method::POST, "", item).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        if remote.visible == Visible::Live && !item.live {
            return Err(unsupported());
        }
        let path = format!("/{}", escaped(&remote.id));
        self.write(Method::PUT, &path, item).await
    }

    async fn unpublish(&self, _: &Remote) -> Result<Remote, Trouble> {
        Err(unsupported())
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let uploaded = |file: &Value| {
            let url = text(file, "/url")?;
            Some(Uploaded {
                reference: id(file, "/id")?,
                url: Some(if url.starts_with('/') {
                    format!("{}{url}", self.server.base())
                } else {
                    url.to_owned()
                }),
                alt: text(file, "/alternativeText").map(str::to_owned),
            })
        };
        let path = format!("/api/upload/files?filters[name][$eq]={}", escaped(&picture.name));
        match self.server.get(&path).await {
            // A token may be let upload and not look.
            Err(Trouble::Refused { .. }) => {}
            answer => {
                if let Some(known) = list(&answer?.json()?, "").first().and_then(uploaded) {
                    return Ok(known);
                }
            }
        }
        let about = json!({ "name": picture.name, "alternativeText": picture.alt }).to_string();
        let (headers, body) = form_body(&[("fileInfo", &about)], "files", picture)?;
        let sent = self
            .server
            .write_bytes(Method::POST, "/api/upload", headers, body)
            .await?;
        sent.made(|files| uploaded(files.get(0)?))
    }
}

fn unsupported() -> Trouble {
    Trouble::because(
        Why::Unsupported,
        "Strapi takes entries back in its own pages only: choose Unpublish there",
    )
}
