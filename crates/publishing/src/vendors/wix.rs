//! The blog of a Wix site. A post has a draft, which people edit, and perhaps a publication, which readers see. There is no place
//! for a mark.

mod app;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, Method, header};
use searchwright_contract::integrations::{Field, FieldType, Place, Provider};
use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub use self::app::installed;
use super::{ALL, Input, Vendor};
use crate::{
    Context,
    connection_input::API_URL,
    error::{Trouble, Why},
    http::{Server, escaped},
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
    values::{Member, id, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Wix,
    name: "Wix",
    inputs: &[
        Input::open(
            SITE_ID,
            "Site ID",
            "in the address of the site's dashboard at manage.wix.com, behind /dashboard/",
        ),
        Input::secret(
            KEY,
            "API key",
            "at manage.wix.com under Account settings, API keys: generate one for this site that may manage the blog, the media and rich content",
        ),
        Input::open(
            MEMBER,
            "Member ID of the author",
            "in the site's dashboard under Contacts, Site members; posts are written in that member's name",
        ),
        Input::unasked(CLIENT, "App ID", "of the app that is installed on the site"),
        Input::unasked(
            INSTANCE,
            "App instance ID",
            "of its installation; the API key is the app's secret then",
        ),
    ],
    capabilities: ALL,
    marks: false,
    repeats: false,
    open: |context, connection| Ok(Box::new(Wix::new(context, connection))),
};

const SITE_ID: &str = "siteId";
const KEY: &str = "key";
const MEMBER: &str = "memberId";
const CLIENT: &str = "clientId";
const INSTANCE: &str = "instanceId";
const HOME: &str = "https://www.wixapis.com";
const SITE: HeaderName = HeaderName::from_static("wix-site-id");
const DRAFTS: &str = "/blog/v3/draft-posts";
/// Field sets that have to be asked for; others are always in the answer.
const MORE: [&str; 2] = ["URL", "RICH_CONTENT"];
/// Fields that members of a post can go into: id, label, type, most characters.
const FIELDS: &[(&str, &str, FieldType, Option<u32>)] = &[
    ("title", "Title", FieldType::Text, Some(200)),
    ("richContent", "Content", FieldType::Richtext, None),
    ("seoSlug", "Slug", FieldType::Slug, Some(100)),
    ("excerpt", "Excerpt", FieldType::Text, Some(500)),
    ("media", "Cover image", FieldType::Image, None),
    ("tagIds", "Tags", FieldType::List, None),
    ("seoTitle", "SEO title", FieldType::Text, None),
    ("seoDescription", "SEO description", FieldType::Text, None),
    ("seoCanonical", "Canonical URL", FieldType::Text, None),
];

struct Wix {
    client: Guarded,
    connection: Connection,
    server: OnceCell<Server>,
}

impl std::fmt::Debug for Wix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wix({})", self.connection.setting(SITE_ID))
    }
}

impl Wix {
    fn new(context: &Context, connection: Connection) -> Self {
        Self {
            client: context.client.clone(),
            connection,
            server: OnceCell::new(),
        }
    }

    /// Returns the server, with the API key of a person or with the token that an installed app gets for its secret.
    async fn server(&self) -> Result<&Server, Trouble> {
        let setting = |name| self.connection.setting(name).trim();
        let home = Some(setting(API_URL)).filter(|url| !url.is_empty());
        let key = self.connection.secret(KEY).trim();
        self.server
            .get_or_try_init(|| async {
                let server = Server::new(self.client.clone(), home.unwrap_or(HOME));
                match setting(INSTANCE) {
                    "" => server.with_secret(header::AUTHORIZATION, key, key)?.with_secret(
                        SITE,
                        setting(SITE_ID),
                        key,
                    ),
                    instance => app::reached(server, setting(CLIENT), key, instance).await,
                }
            })
            .await
    }

    fn remote(&self, post: &Value) -> Option<Remote> {
        let (visible, reason) = match text(post, "/status")? {
            "PUBLISHED" => (Visible::Live, None),
            "IN_REVIEW" => (
                Visible::Waiting,
                Some("Wix holds the post for review (status IN_REVIEW): the member may not publish. Approve it there, in the dashboard of the blog, or give the member the role Blog Editor".to_owned()),
            ),
            "SCHEDULED" => (
                Visible::Waiting,
                Some("Wix keeps the post until its date (status SCHEDULED), and shows it then by itself; if that is not meant, publish it there".to_owned()),
            ),
            other => (Visible::Draft, Some(kept("Wix", &format!("status {other}")))),
        };
        let is_live = visible == Visible::Live;
        let slug = text(post, "/seoSlug")
            .or_else(|| text(post, "/slug"))
            .map(str::to_owned);
        // The address comes whole or in two parts.
        let url = match (text(post, "/url/base"), text(post, "/url/path")) {
            (Some(base), Some(path)) => Some(format!("{base}{path}")),
            _ => text(post, "/url").map(str::to_owned),
        };
        let mut tags = list(post, "/tagIds").to_vec();
        tags.sort_by_key(Value::to_string);
        let parts = json!([
            post.get("title"),
            post.get("excerpt"),
            slug,
            post.pointer("/richContent/nodes"),
            tags,
            post.pointer("/seoData/tags"),
        ]);
        Some(Remote {
            id: id(post, "/id")?,
            slug,
            url: url.filter(|_| is_live),
            visible,
            reason,
            version: version(&parts),
            marker: None,
            etag: None,
        })
    }

    async fn by_id(&self, id: &str) -> Result<Option<Remote>, Trouble> {
        let path = format!(
            "{DRAFTS}/{}?fieldsets={}&fieldsets={}",
            escaped(id),
            MORE[0],
            MORE[1]
        );
        let Some(answer) = self.server().await?.get_if_there(&path).await? else {
            return Ok(None);
        };
        let body = answer.json()?;
        match body.get("draftPost") {
            Some(post) if text(post, "/status") == Some("DELETED") => Ok(None),
            Some(post) => self
                .remote(post)
                .map(Some)
                .ok_or(Trouble::refused(Why::Unreadable)),
            None => Err(Trouble::refused(Why::Unreadable)),
        }
    }

    /// A text in the form that Wix keeps texts in; Wix itself converts it.
    async fn rich(&self, html: &str) -> Result<Value, Trouble> {
        let path = "/ricos/v1/ricos-document/convert/to-ricos";
        let answer = self
            .server()
            .await?
            .ask(path, &json!({ "html": html }))
            .await?
            .json()?;
        let document = answer.get("document").filter(|document| document.is_object());
        document.cloned().ok_or(Trouble::refused(Why::Unreadable))
    }

    /// Ids of labels. Wix makes a label only where there is none of its name, so asking again is harmless.
    async fn tags(&self, names: &[String]) -> Result<Vec<String>, Trouble> {
        let mut ids = Vec::new();
        for name in names {
            let path = format!("/blog/v3/tags/labels/{}", escaped(name));
            let answer = match self.server().await?.get_if_there(&path).await? {
                Some(answer) => answer,
                None => {
                    self.server()
                        .await?
                        .ask("/blog/v3/tags", &json!({ "label": name }))
                        .await?
                }
            };
            let tag = id(&answer.json()?, "/tag/id").ok_or(Trouble::refused(Why::Unreadable))?;
            if !ids.contains(&tag) {
                ids.push(tag);
            }
        }
        Ok(ids)
    }

    async fn draft(&self, item: &Item) -> Result<Value, Trouble> {
        let mut post = json!({
            "title": item.title, "seoSlug": item.slug, "richContent": self.rich(&item.html).await?,
            "memberId": self.connection.setting(MEMBER).trim(),
        });
        let mut head: Vec<Value> = Vec::new();
        for (field, member) in members(&self.connection, item) {
            let plain = member.plain().unwrap_or_default();
            match (field, member) {
                ("title" | "seoSlug" | "richContent", _) => {}
                ("tagIds", Member::Names(names)) => post["tagIds"] = json!(self.tags(names).await?),
                ("media", Member::Picture(Some(picture))) => {
                    post["media"] = json!({
                        "wixMedia": { "image": { "id": picture.reference } }, "displayed": true, "custom": true,
                        "altText": picture.alt,
                    });
                }
                ("media", _) => {}
                ("seoTitle" | "seoDescription" | "seoCanonical", _) if plain.is_empty() => {}
                ("seoTitle", _) => head.push(json!({ "type": "title", "children": plain })),
                ("seoDescription", _) => {
                    head.push(
                        json!({ "type": "meta", "props": { "name": "description", "content": plain } }),
                    );
                }
                ("seoCanonical", _) => {
                    head.push(json!({ "type": "link", "props": { "rel": "canonical", "href": plain } }));
                }
                _ => post[field] = json!(plain),
            }
        }
        if !head.is_empty() {
            post["seoData"] = json!({ "tags": head });
        }
        Ok(post)
    }

    async fn write(&self, method: Method, path: &str, body: &Value) -> Result<Remote, Trouble> {
        let sent = self.server().await?.write(method, path, body).await?;
        sent.made(|body| self.remote(body.get("draftPost")?))
    }

    /// Returns a post as it is once it is published: the answer to a change may be that of the draft before.
    async fn published(&self, remote: Remote, is_live: bool) -> Remote {
        if !is_live || remote.visible == Visible::Live {
            return remote;
        }
        let now = self.by_id(&remote.id).await;
        now.ok().flatten().unwrap_or(remote)
    }

    async fn patch_draft(&self, id: &str, mut post: Value, action: &str) -> Result<Remote, Trouble> {
        post["id"] = json!(id);
        let body = json!({ "draftPost": post, "action": action, "fieldsets": MORE });
        self.write(Method::PATCH, &format!("{DRAFTS}/{}", escaped(id)), &body)
            .await
    }
}

/// The newest post, which only a site with a blog can tell.
async fn newest(server: &Server) -> Result<Value, Trouble> {
    let found = server.get(&format!("{DRAFTS}?paging.limit=1")).await?.json()?;
    if !found.get("draftPosts").is_some_and(Value::is_array) {
        return Err(Trouble::because(
            Why::Unreadable,
            "the site has no Wix Blog; add it to the site first",
        ));
    }
    Ok(found)
}

#[async_trait]
impl Publisher for Wix {
    async fn check(&self) -> Result<Account, Trouble> {
        newest(self.server().await?).await?;
        Ok(Account {
            name: None,
            site: self.connection.setting(SITE_ID).trim().to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let id = self.connection.setting(SITE_ID).trim().to_owned();
        Ok(vec![Place { name: id.clone(), id }])
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let field = |(id, name, kind, max_length): &(&str, &str, FieldType, Option<u32>)| Field {
            required: matches!(*id, "title" | "richContent"),
            max_length: *max_length,
            ..Field::new(*id, *name, *kind)
        };
        Ok(FIELDS.iter().map(field).collect())
    }

    /// Drafts cannot be searched by slug: the newest are looked through, among which is what was just made, and readers' posts
    /// are asked for by it.
    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let body = json!({
            "query": { "sort": [{ "fieldName": "editedDate", "order": "DESC" }], "paging": { "limit": 100 } },
            "fieldsets": MORE,
        });
        let newest = self
            .server()
            .await?
            .ask(&format!("{DRAFTS}/query"), &body)
            .await?
            .json()?;
        let newest = newest.get("draftPosts").and_then(Value::as_array);
        let mut found = Vec::new();
        for post in newest.ok_or(Trouble::refused(Why::Unreadable))? {
            let remote = self.remote(post).ok_or(Trouble::refused(Why::Unreadable))?;
            let is_it = wanted.id == Some(&*remote.id) || remote.slug.as_deref() == Some(wanted.slug);
            if is_it && text(post, "/status") != Some("DELETED") {
                found.push(remote);
            }
        }
        let path = format!("/blog/v3/posts/slugs/{}", escaped(wanted.slug));
        let live = match self.server().await?.get_if_there(&path).await? {
            Some(answer) => id(&answer.json()?, "/post/id"),
            None => None,
        };
        for id in wanted.id.map(str::to_owned).into_iter().chain(live) {
            if found.iter().all(|known: &Remote| known.id != id) {
                found.extend(self.by_id(&id).await?);
            }
        }
        Ok(found)
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let post = self.draft(item).await?;
        let body = json!({ "draftPost": post, "publish": item.live, "fieldsets": MORE });
        let made = self.write(Method::POST, DRAFTS, &body).await?;
        Ok(self.published(made, item.live).await)
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let action = match (item.live, remote.visible) {
            (true, _) => "UPDATE_PUBLISH",
            (false, Visible::Live | Visible::Waiting) => "UPDATE_REVERT_TO_DRAFT",
            (false, Visible::Draft) => "UPDATE",
        };
        let changed = self
            .patch_draft(&remote.id, self.draft(item).await?, action)
            .await?;
        Ok(self.published(changed, item.live).await)
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        self.patch_draft(&remote.id, json!({}), "UPDATE_REVERT_TO_DRAFT")
            .await
    }

    /// An address to send the file to is asked for first; it is not told who we are.
    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let path = "/site-media/v1/files/generate-upload-url";
        let about = json!({ "mimeType": picture.media_type, "fileName": picture.name });
        let address = self.server().await?.ask(path, &about).await?.json()?;
        let address = text(&address, "/uploadUrl").ok_or(Trouble::refused(Why::Unreadable))?;
        let headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static(picture.media_type))];
        let sent = Server::at(self.client.clone(), address)
            .write_bytes(Method::PUT, "", headers, picture.bytes.clone())
            .await?;
        sent.made(|body| {
            Some(Uploaded {
                reference: id(body, "/file/id")?,
                url: text(body, "/file/url").map(str::to_owned),
                alt: picture.alt.clone(),
            })
        })
    }
}
