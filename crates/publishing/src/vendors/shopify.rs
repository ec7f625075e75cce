//! The blogs of a Shopify shop, by its GraphQL Admin API. An article is marked by a metafield that only the shop's staff sees.
//! What is sent was held against Shopify's own schema, see `cargo xtask peers vendors`.

mod graphql;
mod queries;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use graphql::unreadable;
use searchwright_contract::integrations::{Capabilities, Field, FieldType, Place, Provider};
use searchwright_outbound::Guarded;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::Server,
    publisher::{Account, Connection, Item, Publisher, Remote, Visible, Wanted},
    values::{Member, address, host, kept, list, members, text, version},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Shopify,
    name: "Shopify",
    inputs: &[
        Input::open(
            "siteUrl",
            "Address of the shop",
            "the one that ends in myshopify.com, in Shopify under Settings, Domains",
        ),
        Input::secret(
            "token",
            "Admin API access token",
            "of an app that was made in the shop and may read and write content; leave it empty for an app of the Dev Dashboard",
        )
        .optional(),
        Input::open(
            "clientId",
            "Client ID",
            "of an app of the Dev Dashboard that is installed in the shop and may read and write content: under Settings of the app",
        )
        .optional(),
        Input::secret(
            "clientSecret",
            "Client secret",
            "of the same app, at the same place",
        )
        .optional(),
    ],
    // Shopify fetches an image from its address.
    capabilities: Capabilities { images: false, ..ALL },
    marks: true,
    repeats: false,
    open: |context, connection| Ok(Box::new(Shopify::new(context, connection)?)),
};

/// Prefix of the ids of metafields among the fields.
const METAFIELD: &str = "metafield.";
/// The metafield that holds our mark.
const MARK: &str = "searchwright.post";

struct Shopify {
    client: Guarded,
    base: String,
    connection: Connection,
    server: OnceCell<Server>,
}

impl std::fmt::Debug for Shopify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shopify({})", self.base)
    }
}

/// Facts about the shop.
struct Shop {
    name: String,
    /// Address at which readers find it, without a slash at its end.
    page: String,
}

impl Shopify {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let entered = match connection.setting("apiUrl") {
            "" => connection.setting("siteUrl").trim(),
            other => other,
        };
        let base = match entered.rsplit_once("/store/") {
            Some((_, name)) => format!(
                "https://{}.myshopify.com",
                name.split('/').next().unwrap_or_default()
            ),
            None if !entered.contains(['.', ':']) => format!("https://{entered}.myshopify.com"),
            None => address(entered, &["/admin"])?,
        };
        Ok(Self {
            client: context.client.clone(),
            base,
            connection,
            server: OnceCell::new(),
        })
    }

    async fn shop(&self) -> Result<Shop, Trouble> {
        let data = self.ask(queries::SHOP, json!({})).await?;
        let page = text(&data, "/shop/primaryDomain/url").ok_or(Trouble::refused(Why::Unreadable))?;
        Ok(Shop {
            name: text(&data, "/shop/name").unwrap_or(&self.base).to_owned(),
            page: page.trim_end_matches('/').to_owned(),
        })
    }

    fn blog(&self) -> Result<&str, Trouble> {
        let blog = self.connection.collection.as_deref();
        blog.ok_or(Trouble::because(Why::Schema, "no blog is chosen"))
    }

    /// Names of the mapped metafields.
    fn mapped(&self) -> impl Iterator<Item = &str> {
        let mapped = self.connection.map.values();
        mapped.filter_map(|field| field.strip_prefix(METAFIELD))
    }

    /// Names of the metafields that are read.
    fn keys(&self) -> Vec<&str> {
        self.mapped().chain([MARK]).collect()
    }

    fn remote(&self, shop: &Shop, article: &Value) -> Option<Remote> {
        let (visible, reason) = match (
            article.get("isPublished")?.as_bool()?,
            text(article, "/publishedAt"),
        ) {
            (true, _) => (Visible::Live, None),
            (false, Some(at)) => {
                let at: String = at.chars().take(40).collect();
                (
                    Visible::Waiting,
                    Some(format!(
                        "Shopify keeps the article until its date (publishedAt {at}), and shows it then by itself; if that is not meant, publish it there"
                    )),
                )
            }
            (false, None) => (Visible::Draft, Some(kept("Shopify", "isPublished: false"))),
        };
        let is_live = visible == Visible::Live;
        let slug = text(article, "/handle")?.to_owned();
        let blog = text(article, "/blog/handle").unwrap_or_default();
        let metafield = |wanted: &str| {
            let mut all = list(article, "/metafields/nodes").iter();
            let it = all.find(|one| name_of(one).as_deref() == Some(wanted))?;
            text(it, "/value")
        };
        let mut parts: Map<String, Value> = ["title", "body", "summary", "tags", "author"]
            .into_iter()
            .map(|name| (name.to_owned(), json!(article.get(name))))
            .collect();
        parts.insert("handle".to_owned(), json!(slug));
        let mapped = self
            .mapped()
            .map(|name| (format!("{METAFIELD}{name}"), json!(metafield(name))));
        parts.extend(mapped);
        Some(Remote {
            id: text(article, "/id")?.to_owned(),
            url: is_live.then(|| format!("{}/blogs/{blog}/{slug}", shop.page)),
            visible,
            reason,
            version: version(&Value::Object(parts)),
            slug: Some(slug),
            marker: metafield(MARK).and_then(Marker::in_text),
            etag: None,
        })
    }

    fn article(&self, item: &Item, usual_author: Option<&str>) -> Value {
        let mark = json!({ "namespace": "searchwright", "key": "post", "type": "single_line_text_field",
            "value": item.marker.to_string() });
        let mut metafields = vec![mark];
        let mut article = json!({
            "title": item.title, "handle": item.slug, "body": item.html, "isPublished": item.live,
        });
        if let Some(author) = usual_author {
            article["author"] = json!({ "name": author });
        }
        for (field, member) in members(&self.connection, item) {
            match (field, member) {
                ("title" | "handle" | "body", _) => {}
                ("author", Member::Text(Some(name))) => article["author"] = json!({ "name": name }),
                ("author", _) => {}
                ("tags", Member::Names(names)) => article["tags"] = json!(names),
                ("image", Member::Picture(Some(picture))) => {
                    article["image"] = json!({ "url": picture.url, "altText": picture.alt });
                }
                ("image", _) => {}
                // A day on which an article is not published is a contradiction to Shopify.
                ("publishDate", _) if !item.live => {}
                _ => match field
                    .strip_prefix(METAFIELD)
                    .and_then(|name| name.split_once('.'))
                {
                    // Metafields cannot be empty.
                    Some((namespace, key)) => metafields.extend(member.plain().map(|value| {
                        let kind = match member {
                            Member::When(_) => "date_time",
                            _ if value.contains('\n') => "multi_line_text_field",
                            _ => "single_line_text_field",
                        };
                        let mut metafield = json!({ "namespace": namespace, "key": key, "value": value });
                        // Those of the search results are no definitions of the shop, so their type has to be told.
                        if namespace == "global" {
                            metafield["type"] = json!(kind);
                        }
                        metafield
                    })),
                    None => article[field] = json!(member.plain()),
                },
            }
        }
        article["metafields"] = json!(metafields);
        article
    }

    async fn update_article(&self, id: &str, article: Value) -> Result<Remote, Trouble> {
        let shop = self.shop().await?;
        let variables = json!({ "keys": self.keys(), "id": id, "article": article });
        let data = self.write(queries::UPDATE, variables).await?;
        self.done(&shop, &data, "articleUpdate").await
    }

    /// Reads the result of a mutation, or the reason why Shopify did not carry it out.
    async fn done(&self, shop: &Shop, data: &Value, name: &str) -> Result<Remote, Trouble> {
        let Some(payload) = data.get(name).filter(|payload| payload.is_object()) else {
            return Err(unreadable());
        };
        if let Some(error) = list(payload, "/userErrors").first() {
            let why = match text(error, "/code") {
                Some("NOT_FOUND") => Why::Missing,
                _ => Why::Invalid,
            };
            let said = text(error, "/message").unwrap_or("it is not said why");
            return Err(self.server().await?.refusal(why, said));
        }
        let made = payload
            .get("article")
            .and_then(|article| self.remote(shop, article));
        made.ok_or_else(unreadable)
    }
}

/// Namespace and key of a metafield, or of its definition. Who asks for metafields by `keys` is told keys "in the same format", with
/// the namespace in them.
fn name_of(metafield: &Value) -> Option<String> {
    let namespace = text(metafield, "/namespace")?;
    let key = text(metafield, "/key")?;
    let bare = key
        .strip_prefix(namespace)
        .and_then(|rest| rest.strip_prefix('.'));
    Some(format!("{namespace}.{}", bare.unwrap_or(key)))
}

fn defined(definition: &Value) -> Option<Field> {
    let kind = match text(definition, "/type/name")? {
        "single_line_text_field" | "multi_line_text_field" | "url" => FieldType::Text,
        "date" | "date_time" => FieldType::Date,
        _ => return None,
    };
    let name = name_of(definition).filter(|name| name != MARK)?;
    let label = text(definition, "/name").unwrap_or(&name);
    Some(Field::new(format!("{METAFIELD}{name}"), label, kind))
}

#[async_trait]
impl Publisher for Shopify {
    async fn check(&self) -> Result<Account, Trouble> {
        let data = self.ask(queries::CHECK, json!({})).await?;
        let scopes = list(&data, "/currentAppInstallation/accessScopes");
        let may = |scope: &Value| {
            matches!(
                text(scope, "/handle"),
                Some("write_content" | "write_online_store_pages")
            )
        };
        if !scopes.iter().any(may) {
            return Err(Trouble::because(
                Why::Permission,
                "the app lacks the scope write_content",
            ));
        }
        let site = text(&data, "/shop/myshopifyDomain").unwrap_or(host(&self.base));
        Ok(Account {
            name: text(&data, "/shop/name").map(str::to_owned),
            site: site.to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        Ok(vec![Place {
            id: host(&self.base).to_owned(),
            name: self.shop().await?.name,
        }])
    }

    async fn collections(&self, _: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let data = self.ask(queries::BLOGS, json!({})).await?;
        let place = |blog: &Value| {
            Some(Place {
                id: text(blog, "/id")?.to_owned(),
                name: text(blog, "/title")?.to_owned(),
            })
        };
        Ok(list(&data, "/blogs/nodes").iter().filter_map(place).collect())
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let mut fields: Vec<Field> = queries::FIELDS
            .iter()
            .map(|(id, name, kind)| Field {
                required: matches!(*id, "title" | "body"),
                ..Field::new(*id, *name, *kind)
            })
            .collect();
        let data = self.ask(queries::METAFIELDS, json!({})).await?;
        for field in list(&data, "/metafieldDefinitions/nodes")
            .iter()
            .filter_map(defined)
        {
            if fields.iter().all(|known| known.id != field.id) {
                fields.push(field);
            }
        }
        Ok(fields)
    }

    /// The newest articles hold what was just made; the search by handle learns of it later.
    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let shop = self.shop().await?;
        let blog = self.blog()?;
        let number = blog.rsplit('/').next().unwrap_or_default();
        let variables = json!({
            "keys": self.keys(), "blog": blog, "id": wanted.id.unwrap_or("gid://shopify/Article/0"),
            "query": format!("blog_id:{number} AND handle:'{}'", wanted.slug.replace('\'', "")),
        });
        let data = self.ask(queries::FIND, variables).await?;
        if data.get("blog").is_none_or(Value::is_null) {
            return Err(Trouble::refused(Why::Schema));
        }
        let all = data.get("article").into_iter().filter(|one| !one.is_null());
        let all = all
            .chain(list(&data, "/articles/nodes"))
            .chain(list(&data, "/blog/articles/nodes"));
        let mut found: Vec<Remote> = Vec::new();
        for article in all {
            let remote = self
                .remote(&shop, article)
                .ok_or(Trouble::refused(Why::Unreadable))?;
            let is_it = wanted.id == Some(remote.id.as_str())
                || remote.slug.as_deref() == Some(wanted.slug)
                || remote
                    .marker
                    .as_ref()
                    .is_some_and(|mark| mark.post == wanted.marker.post);
            if is_it && found.iter().all(|known| known.id != remote.id) {
                found.push(remote);
            }
        }
        Ok(found)
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let shop = self.shop().await?;
        let mut article = self.article(item, Some(&shop.name));
        article["blogId"] = json!(self.blog()?);
        let data = self
            .write(
                queries::CREATE,
                json!({ "keys": self.keys(), "article": article }),
            )
            .await?;
        self.done(&shop, &data, "articleCreate").await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let mut article = self.article(item, None);
        // Who follows an old link finds the article all the same.
        let is_renamed = remote.slug.as_deref() != Some(&*item.slug);
        article["redirectNewHandle"] = json!(is_renamed && remote.visible == Visible::Live);
        self.update_article(&remote.id, article).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        self.update_article(&remote.id, json!({ "isPublished": false }))
            .await
    }
}
