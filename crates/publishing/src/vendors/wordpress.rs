//! WordPress by its REST interface and an application password.

mod fields;
mod interface;
mod media;
mod names;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{Method, header};
use interface::Interface;
use searchwright_contract::integrations::{Field, Place, Provider};
use serde_json::{Map, Value, json};

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::{Server, escaped, json_body},
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
    values::{Member, address, host, id, kept, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Wordpress,
    name: "WordPress",
    inputs: &[
        Input::open(
            "siteUrl",
            "Address of the site",
            "where visitors find it, such as https://example.com",
        ),
        Input::open(
            "username",
            "User name",
            "of an account that may publish posts: an author, an editor or an administrator",
        ),
        Input::secret(
            "password",
            "Application password",
            "in WordPress under Users, Profile, Application Passwords: enter a name, choose Add, and copy the password that is shown; it is not the password you log in with",
        ),
    ],
    capabilities: ALL,
    marks: true,
    repeats: false,
    open: |context, connection| Ok(Box::new(WordPress::new(context, connection)?)),
};

/// Paths that people copy along with the address of their site.
const ENTRANCES: &[&str] = &["/wp-admin", "/wp-login.php", "/wp-json", "/index.php"];
/// Route of posts, unless another post type is chosen.
const POSTS: &str = "posts";
/// Members that are read of a post, besides the mapped ones.
const MEMBERS: &[&str] = &[
    "id",
    "slug",
    "status",
    "link",
    "title",
    "content",
    "excerpt",
    "featured_media",
    "tags",
    "categories",
];
/// Statuses in which posts are looked for; the bin is left out.
const STATUSES: &str = "status=publish,future,draft,pending,private";

#[derive(Debug)]
struct WordPress {
    interface: Interface,
    connection: Connection,
}

impl WordPress {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let base = address(connection.setting("siteUrl"), ENTRANCES)?;
        let password = connection.secret("password").trim();
        let pair = BASE64_STANDARD.encode(format!("{}:{password}", connection.setting("username").trim()));
        let server = Server::new(context.client.clone(), &base)
            .with_secret(header::AUTHORIZATION, &format!("Basic {pair}"), &pair)?
            .hiding(password);
        Ok(Self {
            interface: Interface::new(server, context.clock.clone()),
            connection,
        })
    }

    fn route(&self) -> String {
        let collection = self.connection.collection.as_deref().unwrap_or(POSTS);
        format!("/wp/v2/{}", escaped(collection))
    }

    /// Query that is sent with every request for posts.
    fn query(&self) -> String {
        let mapped = self.connection.map.values();
        let mut names: Vec<&str> = mapped
            .filter_map(|field| field.split('.').next())
            .filter(|name| !MEMBERS.contains(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        let all: Vec<String> = MEMBERS.iter().chain(&names).map(|name| escaped(name)).collect();
        format!("context=edit&_fields={}", all.join(","))
    }

    fn remote(&self, post: &Value) -> Option<Remote> {
        let raw = |name: &str| post.pointer(&format!("/{name}/raw")).and_then(Value::as_str);
        let content = raw("content")?;
        let slug = text(post, "/slug").map(str::to_owned);
        let (visible, reason) = seen(text(post, "/status")?);
        let mut parts: Map<String, Value> = ["featured_media", "tags", "categories"]
            .into_iter()
            .map(|name| (name.to_owned(), json!(post.get(name))))
            .collect();
        parts.insert("title".to_owned(), json!(raw("title")));
        parts.insert("content".to_owned(), json!(Marker::without(content)));
        parts.insert("excerpt".to_owned(), json!(raw("excerpt")));
        parts.insert("slug".to_owned(), json!(slug));
        parts.extend(self.connection.held(|field| match field {
            member if MEMBERS.contains(&member) => None,
            _ => post.pointer(&format!("/{}", field.replace('.', "/"))).cloned(),
        }));
        let link = || text(post, "/link").map(str::to_owned);
        Some(Remote {
            id: id(post, "/id")?,
            url: (visible == Visible::Live).then(link).flatten(),
            visible,
            reason,
            version: version(&Value::Object(parts)),
            slug,
            marker: Marker::in_text(content),
            etag: None,
        })
    }

    /// Returns the posts that match a query.
    async fn posts(&self, query: &str) -> Result<Vec<Remote>, Trouble> {
        let query = format!("{query}&{STATUSES}&per_page=100&{}", self.query());
        let posts = self.interface.get(&self.route(), &query).await?;
        let posts = posts.as_array().ok_or(Trouble::refused(Why::Unreadable))?;
        let posts = posts.iter().map(|post| self.remote(post));
        posts
            .collect::<Option<_>>()
            .ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn by_id(&self, id: &str) -> Result<Option<Remote>, Trouble> {
        let route = format!("{}/{}", self.route(), escaped(id));
        match self.interface.get(&route, &self.query()).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => Ok(None),
            Err(trouble) => Err(trouble),
            Ok(post) if text(&post, "/status") == Some("trash") => Ok(None),
            Ok(post) => self
                .remote(&post)
                .map(Some)
                .ok_or(Trouble::refused(Why::Unreadable)),
        }
    }

    async fn body(&self, item: &Item) -> Result<Value, Trouble> {
        let mut body = json!({
            "title": item.title,
            "slug": item.slug,
            "status": if item.live { "publish" } else { "draft" },
            "content": marked(&item.html, &item.marker),
        });
        for (field, member) in members(&self.connection, item) {
            let (field, value) = match (field, member) {
                ("title" | "slug" | "content", _) => continue,
                ("featured_media", Member::Picture(picture)) => {
                    let number = picture.map_or(Ok(0), |picture| picture.reference.parse::<u64>());
                    (field, json!(number.map_err(|_| Trouble::refused(Why::Invalid))?))
                }
                ("author", Member::Text(Some(name))) => match self.author(name).await? {
                    Some(author) => (field, author),
                    None => continue,
                },
                ("author", _) => continue,
                ("date", Member::When(at)) => ("date_gmt", json!(at.to_string()[..19])),
                (_, Member::Names(names)) if !field.contains('.') && field != "excerpt" => {
                    (field, json!(self.terms(field, names).await?))
                }
                _ => (field, json!(member.plain().unwrap_or_default())),
            };
            match field.split_once('.') {
                Some((outer, inner)) => body[outer][inner] = value,
                None => body[field] = value,
            }
        }
        Ok(body)
    }

    async fn write(&self, route: &str, body: &Value) -> Result<Remote, Trouble> {
        let sent = self
            .interface
            .send(Method::POST, (route, &self.query()), Some(json_body(body)), true)
            .await?;
        sent.made(|post| self.remote(post))
    }

    /// Capabilities that a user needs for the chosen post type.
    async fn rights(&self) -> Result<Vec<String>, Trouble> {
        let rights = ["create_posts", "publish_posts"];
        let Some(collection) = self.connection.collection.as_deref().filter(|c| *c != POSTS) else {
            return Ok(vec!["edit_posts".to_owned(), "publish_posts".to_owned()]);
        };
        let types = self.interface.get("/wp/v2/types", "context=edit").await?;
        let types = types.as_object().into_iter().flatten();
        let chosen = types
            .map(|(_, kind)| kind)
            .find(|kind| text(kind, "/rest_base") == Some(collection))
            .ok_or(Trouble::refused(Why::Schema))?;
        let right = |name| text(chosen, &format!("/capabilities/{name}")).map(str::to_owned);
        Ok(rights.into_iter().filter_map(right).collect())
    }
}

/// Reads a status: whether readers see the post, and if not, the reason.
fn seen(status: &str) -> (Visible, Option<String>) {
    match status {
        "publish" => (Visible::Live, None),
        "pending" => (
            Visible::Waiting,
            Some("WordPress holds the post for review (status pending): the account may not publish, or a plugin has posts reviewed. Approve it there, or give the account the role Editor".to_owned()),
        ),
        "future" => (
            Visible::Waiting,
            Some("WordPress keeps the post until its date (status future), and shows it then by itself. If that is not meant, publish it there, and look at the clock of the site and at plugins that schedule posts".to_owned()),
        ),
        other => (Visible::Draft, Some(kept("WordPress", &format!("status {other}")))),
    }
}

/// The text with its mark inside the last element: WordPress puts what stands behind it into a paragraph, which readers see
/// as a gap.
fn marked(html: &str, marker: &Marker) -> String {
    let html = html.trim_end();
    let end = html.rfind('<').filter(|at| html[*at..].starts_with("</"));
    let (text, end) = html.split_at(end.unwrap_or(html.len()));
    format!("{text}{}{end}", marker.comment())
}

#[async_trait]
impl Publisher for WordPress {
    async fn check(&self) -> Result<Account, Trouble> {
        let front = self.interface.front().await?;
        let query = "context=edit&_fields=id,name,slug,capabilities";
        let user = match self.interface.get("/wp/v2/users/me", query).await {
            Err(Trouble::Refused {
                why: Why::Credential, ..
            }) if !front.passwords => {
                return Err(Trouble::because(
                    Why::Unreadable,
                    "application passwords are switched off on this site; they need https, and plugins can forbid them",
                ));
            }
            user => user?,
        };
        for right in self.rights().await? {
            if user["capabilities"][&right] != Value::Bool(true) {
                return Err(Trouble::because(
                    Why::Permission,
                    format!("the account lacks the right {right}"),
                ));
            }
        }
        let site = front.home.as_deref().unwrap_or(self.interface.base());
        Ok(Account {
            name: text(&user, "/name").map(str::to_owned),
            site: host(site).to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let id = self.interface.base().to_owned();
        let name = self.interface.front().await?.name.clone();
        Ok(vec![Place {
            name: name.unwrap_or_else(|| id.clone()),
            id,
        }])
    }

    async fn collections(&self, _: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let types = self.interface.get("/wp/v2/types", "context=edit").await?;
        let has = |kind: &Value, name: &str| kind["supports"][name] == Value::Bool(true);
        let fits = |kind: &&Value| {
            has(kind, "title")
                && has(kind, "editor")
                && kind["viewable"] != Value::Bool(false)
                && text(kind, "/rest_namespace").is_none_or(|name| name == "wp/v2")
        };
        let place = |kind: &Value| {
            Some(Place {
                id: text(kind, "/rest_base")?.to_owned(),
                name: text(kind, "/name")?.to_owned(),
            })
        };
        let types = types.as_object().into_iter().flatten().map(|(_, kind)| kind);
        Ok(types.filter(fits).filter_map(place).collect())
    }

    async fn fields(&self, _: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let route = format!("/wp/v2/{}", escaped(collection.unwrap_or(POSTS)));
        let answer = self
            .interface
            .send(Method::OPTIONS, (&route, ""), None, false)
            .await?;
        let body = answer.json()?;
        let schema = body.get("schema").ok_or(Trouble::refused(Why::Unreadable))?;
        Ok(fields::fields(schema))
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let mut found = match wanted.id {
            Some(id) => Vec::from_iter(self.by_id(id).await?),
            None => Vec::new(),
        };
        let by_mark = format!("search={}", escaped(&wanted.marker.start()));
        let by_slug = format!("slug={}", escaped(wanted.slug));
        for query in [by_mark, by_slug] {
            for post in self.posts(&query).await? {
                if found.iter().all(|known| known.id != post.id) {
                    found.push(post);
                }
            }
        }
        Ok(found)
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        self.write(&self.route(), &self.body(item).await?).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let route = format!("{}/{}", self.route(), escaped(&remote.id));
        self.write(&route, &self.body(item).await?).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let route = format!("{}/{}", self.route(), escaped(&remote.id));
        self.write(&route, &json!({ "status": "draft" })).await
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        match self.find_image(picture).await? {
            Some(known) => Ok(known),
            None => self.send_image(picture).await,
        }
    }
}
