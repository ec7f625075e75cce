//! Ghost by its Admin API.

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderName, Method, header};
use searchwright_contract::{
    Instant,
    integrations::{Field, FieldType, Place, Provider},
};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::{Answer, Body, Server, escaped, form_body, json_body},
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
    values::{Member, address, host, id, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Ghost,
    name: "Ghost",
    inputs: &[
        Input::open(
            "siteUrl",
            "Address of the site",
            "under which its Ghost Admin is found, such as https://example.com or https://example.ghost.io",
        ),
        Input::secret(
            "key",
            "Admin API key",
            "in Ghost Admin under Settings, Integrations, Add custom integration: the Admin API key, two long codes with a colon between them",
        ),
    ],
    capabilities: ALL,
    marks: true,
    repeats: false,
    open: |context, connection| Ok(Box::new(Ghost::new(context, connection)?)),
};

/// Seconds that a token is good for, the most that Ghost accepts.
const TOKEN_SECONDS: i64 = 300;
/// Most characters of the description of an image.
const MAX_ALT: usize = 125;
/// Fields that members of a post can go into: id, label, type, most characters.
const FIELDS: &[(&str, &str, FieldType, Option<u32>)] = &[
    ("title", "Title", FieldType::Text, Some(255)),
    ("html", "Content", FieldType::Richtext, None),
    ("slug", "Slug", FieldType::Slug, Some(191)),
    ("custom_excerpt", "Excerpt", FieldType::Text, Some(300)),
    ("meta_title", "Meta title", FieldType::Text, Some(300)),
    ("meta_description", "Meta description", FieldType::Text, Some(500)),
    ("feature_image", "Feature image", FieldType::Image, Some(2000)),
    ("authors", "Authors", FieldType::Reference, None),
    ("tags", "Tags", FieldType::List, None),
    ("published_at", "Publish date", FieldType::Date, None),
    ("canonical_url", "Canonical URL", FieldType::Text, Some(2000)),
];

#[derive(Debug)]
struct Ghost {
    server: Server,
    connection: Connection,
}

impl Ghost {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let base = address(connection.setting("siteUrl"), &["/ghost"])?;
        let key = connection.secret("key").trim();
        let token = token(key, context.clock.now())?;
        let server = Server::new(context.client.clone(), &format!("{base}/ghost/api/admin"))
            .with(HeaderName::from_static("accept-version"), "v6.0")
            .with_secret(header::AUTHORIZATION, &format!("Ghost {token}"), &token)?
            .hiding(key);
        Ok(Self { server, connection })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Body>,
        writes: bool,
    ) -> Result<Answer, Trouble> {
        let answer = self.server.exchange(method, path, body, writes).await?;
        // A token it cannot read is a bad request to Ghost.
        if answer.status == 400 && text(&answer.body, "/errors/0/code") == Some("INVALID_JWT") {
            return Err(Trouble::refused(Why::Credential));
        }
        self.server.judged(answer, writes)
    }

    async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.send(Method::GET, path, None, false).await?.json()
    }

    fn remote(post: &Value) -> Option<Remote> {
        let (visible, reason) = match text(post, "/status")? {
            "published" => (Visible::Live, None),
            "scheduled" => (
                Visible::Waiting,
                Some("Ghost keeps the post until its date (status scheduled), and shows it then by itself; if that is not meant, publish it there".to_owned()),
            ),
            "sent" => (
                Visible::Draft,
                Some("Ghost sent the post to members and has no page of it (status sent): publish it there".to_owned()),
            ),
            other => (Visible::Draft, Some(kept("Ghost", &format!("status {other}")))),
        };
        let slug = text(post, "/slug")?.to_owned();
        let foot = text(post, "/codeinjection_foot").unwrap_or_default();
        let names = |pointer| -> Vec<&str> {
            let all = list(post, pointer).iter();
            all.filter_map(|one| text(one, "/name")).collect()
        };
        let parts = json!([
            post.get("title"),
            post.get("lexical"),
            slug,
            post.get("custom_excerpt"),
            post.get("meta_title"),
            post.get("meta_description"),
            post.get("feature_image"),
            post.get("canonical_url"),
            names("/tags"),
            names("/authors"),
        ]);
        let url = || text(post, "/url").map(str::to_owned);
        Some(Remote {
            id: id(post, "/id")?,
            slug: Some(slug),
            url: (visible == Visible::Live).then(url).flatten(),
            visible,
            reason,
            version: version(&parts),
            marker: Marker::in_text(foot),
            etag: Some(text(post, "/updated_at")?.to_owned()),
        })
    }

    async fn body(&self, item: &Item, foot: &str) -> Result<Value, Trouble> {
        let foot = format!("{}\n{}", Marker::without(foot).trim_end(), item.marker.comment());
        let mut body = json!({
            "title": item.title,
            "slug": item.slug,
            "html": item.html,
            "status": if item.live { "published" } else { "draft" },
            "codeinjection_foot": foot.trim_start(),
        });
        for (field, member) in members(&self.connection, item) {
            let value = match (field, member) {
                ("title" | "slug" | "html", _) => continue,
                ("feature_image", Member::Picture(picture)) => {
                    let alt = picture.and_then(|picture| picture.alt.as_deref());
                    body["feature_image_alt"] =
                        json!(alt.map(|alt| alt.chars().take(MAX_ALT).collect::<String>()));
                    json!(member.plain())
                }
                ("tags", Member::Names(names)) => names.iter().map(|name| json!({ "name": name })).collect(),
                ("authors", Member::Text(Some(name))) => match self.author(name).await? {
                    Some(author) => json!([{ "id": author }]),
                    None => continue,
                },
                ("authors", _) => continue,
                _ => json!(member.plain()),
            };
            body[field] = value;
        }
        Ok(body)
    }

    /// The member of the staff with this name.
    async fn author(&self, name: &str) -> Result<Option<String>, Trouble> {
        let filter = format!("name:{}", quoted(name));
        let found = self
            .get(&format!("/users/?limit=1&filter={}", escaped(&filter)))
            .await?;
        Ok(id(&found, "/users/0/id"))
    }

    async fn write(&self, method: Method, path: &str, post: &Value) -> Result<Remote, Trouble> {
        let body = json_body(&json!({ "posts": [post] }));
        let sent = self.send(method, path, Some(body), true).await?;
        sent.made(|body| Self::remote(body.pointer("/posts/0")?))
    }
}

/// The token of a moment, made of a key of the form `id:secret`.
fn token(key: &str, now: Instant) -> Result<String, Trouble> {
    let wrong = || {
        Trouble::because(
            Why::Credential,
            "the Admin API key is two codes with a colon between them; copy all of it",
        )
    };
    let (id, secret) = key.split_once(':').ok_or_else(wrong)?;
    let digits = |at: usize| u8::from_str_radix(secret.get(at..at + 2)?, 16).ok();
    let secret: Option<Vec<u8>> = (0..secret.len()).step_by(2).map(digits).collect();
    let secret = secret.filter(|secret| !secret.is_empty()).ok_or_else(wrong)?;
    let now = now.millis() / 1000;
    let head = json!({ "alg": "HS256", "typ": "JWT", "kid": id }).to_string();
    let claims = json!({ "iat": now, "exp": now + TOKEN_SECONDS, "aud": "/admin/" }).to_string();
    let signed = format!(
        "{}.{}",
        BASE64_URL_SAFE_NO_PAD.encode(head),
        BASE64_URL_SAFE_NO_PAD.encode(claims)
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret).map_err(|_| wrong())?;
    mac.update(signed.as_bytes());
    let signature = BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    Ok(format!("{signed}.{signature}"))
}

/// A text in a filter of Ghost.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[async_trait]
impl Publisher for Ghost {
    async fn check(&self) -> Result<Account, Trouble> {
        let site = self.get("/site/").await?;
        let url = text(&site, "/site/url").ok_or(Trouble::refused(Why::Unreadable))?;
        // The site is shown to everybody.
        self.get("/posts/?limit=1&fields=id").await?;
        Ok(Account {
            name: text(&site, "/site/title").map(str::to_owned),
            site: host(url.trim_end_matches('/')).to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let site = self.get("/site/").await?;
        let id = text(&site, "/site/url").ok_or(Trouble::refused(Why::Unreadable))?;
        Ok(vec![Place {
            id: id.trim_end_matches('/').to_owned(),
            name: text(&site, "/site/title").unwrap_or(id).to_owned(),
        }])
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let field = |(id, name, kind, max_length): &(&str, &str, FieldType, Option<u32>)| Field {
            required: matches!(*id, "title" | "html"),
            max_length: *max_length,
            ..Field::new(*id, *name, *kind)
        };
        Ok(FIELDS.iter().map(field).collect())
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let mut filter = format!(
            "codeinjection_foot:~{},slug:{}",
            quoted(&wanted.marker.start()),
            quoted(wanted.slug)
        );
        if let Some(id) = wanted.id {
            filter = format!("{filter},id:{}", quoted(id));
        }
        let path = format!(
            "/posts/?limit=100&order={}&filter={}",
            escaped("created_at desc"),
            escaped(&filter)
        );
        let found = self.get(&path).await?;
        let posts = found.get("posts").and_then(Value::as_array);
        let posts = posts.ok_or(Trouble::refused(Why::Unreadable))?;
        let found: Option<_> = posts.iter().map(Self::remote).collect();
        found.ok_or(Trouble::refused(Why::Unreadable))
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let body = self.body(item, "").await?;
        self.write(Method::POST, "/posts/?source=html", &body).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let path = format!("/posts/{}/", escaped(&remote.id));
        let there = self.get(&format!("{path}?fields=id,codeinjection_foot")).await?;
        let foot = text(&there, "/posts/0/codeinjection_foot").unwrap_or_default();
        let mut body = self.body(item, foot).await?;
        body["updated_at"] = json!(remote.etag);
        self.write(Method::PUT, &format!("{path}?source=html"), &body)
            .await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let body = json!({ "status": "draft", "updated_at": remote.etag });
        let path = format!("/posts/{}/", escaped(&remote.id));
        self.write(Method::PUT, &path, &body).await
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let fields = [("purpose", "image"), ("ref", &*picture.name)];
        let body = form_body(&fields, "file", picture)?;
        let sent = self
            .send(Method::POST, "/images/upload/", Some(body), true)
            .await?;
        let url = sent.made(|body| text(body, "/images/0/url").map(str::to_owned))?;
        Ok(Uploaded {
            reference: url.clone(),
            url: Some(url),
            alt: picture.alt.clone(),
        })
    }
}
