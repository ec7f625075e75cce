//! Directus by its REST interface. Whether readers see an item is a field of the collection like any other.

mod schema;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use http::Method;
use schema::Schema;
use searchwright_contract::integrations::{Field, Place, Provider};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::{Server, escaped, form_body},
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
    values::{Member, address, below, host, id, kept, list, marked, members, text, unmarked, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Directus,
    name: "Directus",
    inputs: &[
        Input::open(
            "siteUrl",
            "Address of Directus",
            "such as https://cms.example.com",
        ),
        Input::secret(
            "token",
            "Static token",
            "in Directus in the User Directory: open the user, create a Token at the end of the page, copy it and save; the user's policy has to let it read, create and update the collection and files",
        ),
        Input::base_url(),
        Input::open(
            "statusField",
            "Field that says whether readers see an item",
            "its key, if it is not status",
        )
        .optional(),
        Input::open(
            "liveValue",
            "Value of that field for what readers see",
            "if it is not published",
        )
        .optional(),
        Input::open(
            "draftValue",
            "Value of that field for drafts",
            "if it is not draft",
        )
        .optional(),
    ],
    capabilities: ALL,
    marks: true,
    repeats: false,
    open: |context, connection| Ok(Box::new(Directus::new(context, connection)?)),
};

#[derive(Debug)]
struct Directus {
    server: Server,
    connection: Connection,
    schema: OnceCell<Schema>,
}

impl Directus {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let base = address(connection.setting("siteUrl"), &["/admin"])?;
        let server =
            Server::new(context.client.clone(), &base).with_bearer(connection.secret("token").trim())?;
        Ok(Self {
            server,
            connection,
            schema: OnceCell::new(),
        })
    }

    fn setting<'a>(&'a self, name: &str, usual: &'a str) -> &'a str {
        match self.connection.setting(name).trim() {
            "" => usual,
            set => set,
        }
    }

    fn status(&self) -> &str {
        self.setting("statusField", "status")
    }

    fn collection(&self) -> Result<&str, Trouble> {
        let collection = self.connection.collection.as_deref();
        collection.ok_or(Trouble::because(Why::Schema, "no collection is chosen"))
    }

    async fn described(&self, collection: &str) -> Result<Schema, Trouble> {
        let path = format!("/fields/{}", escaped(collection));
        let fields = match self.server.get(&path).await {
            Err(Trouble::Refused {
                why: Why::Permission | Why::Missing,
                ..
            }) => {
                return Err(Trouble::because(
                    Why::Permission,
                    format!("the token's user may not read the collection {collection}"),
                ));
            }
            answer => answer?.json()?,
        };
        Schema::read(&fields).ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn schema(&self) -> Result<&Schema, Trouble> {
        let collection = self.collection()?;
        self.schema.get_or_try_init(|| self.described(collection)).await
    }

    fn items(&self) -> Result<String, Trouble> {
        Ok(format!("/items/{}", escaped(self.collection()?)))
    }

    /// The fields that are read of an item.
    fn query(&self, schema: &Schema) -> String {
        let mut fields: Vec<&str> = self.connection.map.values().map(String::as_str).collect();
        fields.push(&schema.key);
        fields.extend(schema.has(self.status()).then_some(self.status()));
        fields.sort_unstable();
        fields.dedup();
        let fields: Vec<String> = fields.into_iter().map(escaped).collect();
        format!("fields={}", fields.join(","))
    }

    /// Value of the status field for a post that is live or not; `None` if the collection has no such field.
    fn state(&self, schema: &Schema, is_live: bool) -> Option<Value> {
        let field = self.status();
        if schema.is_boolean(field) {
            return Some(json!(is_live));
        }
        let name = if is_live { "liveValue" } else { "draftValue" };
        let usual = if is_live { "published" } else { "draft" };
        schema.has(field).then(|| json!(self.setting(name, usual)))
    }

    fn remote(&self, schema: &Schema, item: &Value) -> Option<Remote> {
        let live = self.state(schema, true);
        let is_live = live.is_none_or(|live| match item.get(self.status()) {
            // Databases without booleans.
            Some(Value::Number(number)) => live == json!(number.as_u64() == Some(1)),
            state => state == Some(&live),
        });
        let member = |name| item.get(self.connection.field(name)?)?.as_str();
        let slug = member("slug").map(str::to_owned);
        // An empty field is null.
        let parts = self.connection.held(|field| item.get(field).map(unmarked));
        Some(Remote {
            id: id(item, &format!("/{}", schema.key))?,
            url: below(&self.connection, slug.as_deref()).filter(|_| is_live),
            slug,
            visible: if is_live { Visible::Live } else { Visible::Draft },
            reason: (!is_live).then(|| {
                let state = item.get(self.status()).unwrap_or(&Value::Null);
                let state = state.as_str().map_or_else(|| state.to_string(), str::to_owned);
                kept("Directus", &format!("{}: {state}", self.status()))
            }),
            version: version(&Value::Object(parts)),
            marker: member("content").and_then(Marker::in_text),
            etag: None,
        })
    }

    fn body(&self, schema: &Schema, item: &Item) -> Result<Map<String, Value>, Trouble> {
        let mut body = Map::new();
        match self.state(schema, item.live) {
            Some(state) => {
                body.insert(self.status().to_owned(), state);
            }
            None if item.live => {}
            None => return Err(no_status()),
        }
        for (field, member) in members(&self.connection, item) {
            if !schema.has(field) {
                return Err(Trouble::because(
                    Why::Schema,
                    format!("{field}: there is no such field"),
                ));
            }
            let value = match member {
                Member::Content if schema.is_markdown(field) => json!(marked(&item.markdown, &item.marker)),
                Member::Content => json!(marked(&item.html, &item.marker)),
                Member::Picture(picture) if schema.is_file(field) => {
                    json!(picture.map(|picture| &picture.reference))
                }
                Member::Names(names) if schema.is_list(field) => json!(names),
                member => json!(member.plain()),
            };
            body.insert(field.to_owned(), value);
        }
        Ok(body)
    }

    async fn write(&self, method: Method, path: &str, body: Map<String, Value>) -> Result<Remote, Trouble> {
        let schema = self.schema().await?;
        let path = format!("{}{path}?{}", self.items()?, self.query(schema));
        let sent = self.server.write(method, &path, &Value::Object(body)).await?;
        sent.made(|body| self.remote(schema, body.get("data")?))
    }
}

fn no_status() -> Trouble {
    Trouble::because(
        Why::Unsupported,
        "the collection has no field that says whether readers see an item: everything in it is live",
    )
}

/// Directus says of a field that is gone what it says of one that the account may not see: either way the mapping is not that of the
/// fields any more.
fn of_field(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Refused {
            why: Why::Permission,
            said: Some(said),
        } if said.contains("access field") => Trouble::because(Why::Schema, said),
        other => other,
    }
}

#[async_trait]
impl Publisher for Directus {
    async fn check(&self) -> Result<Account, Trouble> {
        let user = self
            .server
            .get("/users/me?fields=id,first_name,last_name,email")
            .await?
            .json()?;
        let names: Vec<&str> = ["/data/first_name", "/data/last_name"]
            .into_iter()
            .filter_map(|name| text(&user, name))
            .collect();
        id(&user, "/data/id").ok_or(Trouble::refused(Why::Unreadable))?;
        Ok(Account {
            name: (!names.is_empty()).then(|| names.join(" ")),
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
        let found = self.server.get("/collections").await?.json()?;
        let place = |collection: &Value| {
            let id = text(collection, "/collection").filter(|id| !id.starts_with("directus_"))?;
            let is_folder = collection["schema"].is_null();
            let is_single = collection["meta"]["singleton"] == Value::Bool(true);
            (!is_folder && !is_single).then(|| Place {
                id: id.to_owned(),
                name: id.to_owned(),
            })
        };
        Ok(list(&found, "/data").iter().filter_map(place).collect())
    }

    async fn fields(&self, _: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        match collection {
            Some(collection) => Ok(self.described(collection).await?.fields(self.status())),
            None => Ok(Vec::new()),
        }
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let schema = self.schema().await?;
        let mut any = Vec::new();
        if let Some(id) = wanted.id {
            any.push(json!({ &schema.key: { "_eq": id } }));
        }
        if schema.is_uuid {
            any.push(json!({ &schema.key: { "_eq": wanted.marker.post } }));
        }
        if let Some(content) = self.connection.field("content") {
            any.push(json!({ content: { "_contains": wanted.marker.start() } }));
        }
        if let Some(slug) = self.connection.field("slug") {
            any.push(json!({ slug: { "_eq": wanted.slug } }));
        }
        let filter = json!({ "_or": any }).to_string();
        let path = format!(
            "{}?limit=100&{}&filter={}",
            self.items()?,
            self.query(schema),
            escaped(&filter)
        );
        let found = self.server.get(&path).await.map_err(of_field)?.json()?;
        let found = found.get("data").and_then(Value::as_array);
        let found = found.ok_or(Trouble::refused(Why::Unreadable))?;
        let found: Option<_> = found.iter().map(|item| self.remote(schema, item)).collect();
        found.ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let schema = self.schema().await?;
        let mut body = self.body(schema, item)?;
        if schema.is_uuid {
            body.insert(schema.key.clone(), json!(item.marker.post));
        }
        self.write(Method::POST, "", body).await.map_err(of_field)
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let body = self.body(self.schema().await?, item)?;
        let path = format!("/{}", escaped(&remote.id));
        self.write(Method::PATCH, &path, body).await.map_err(of_field)
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let state = self.state(self.schema().await?, false).ok_or_else(no_status)?;
        let body = Map::from_iter([(self.status().to_owned(), state)]);
        let path = format!("/{}", escaped(&remote.id));
        self.write(Method::PATCH, &path, body).await
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let uploaded = |file: &Value| {
            let reference = id(file, "/id")?;
            Some(Uploaded {
                url: Some(format!("{}/assets/{reference}", self.server.base())),
                reference,
                alt: text(file, "/description").map(str::to_owned),
            })
        };
        const FIELDS: &str = "fields=id,description";
        let filter = json!({ "filename_download": { "_eq": picture.name } }).to_string();
        let path = format!("/files?limit=1&{FIELDS}&filter={}", escaped(&filter));
        let known = self.server.get(&path).await?.json()?;
        if let Some(known) = known.pointer("/data/0").and_then(uploaded) {
            return Ok(known);
        }
        let alt = picture.alt.as_deref().unwrap_or_default();
        let fields = [("title", alt), ("description", alt)];
        let (headers, body) = form_body(&fields, "file", picture)?;
        let sent = self
            .server
            .write_bytes(Method::POST, &format!("/files?{FIELDS}"), headers, body)
            .await?;
        sent.made(|body| uploaded(body.get("data")?))
    }
}
