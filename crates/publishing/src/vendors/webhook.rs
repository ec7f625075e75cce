//! Any receiver of a signed POST (Standard Webhooks 1.0.0). It cannot be asked what it has; the same message sent again has the same
//! `webhook-id`, by which a receiver knows that it has it already.

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use searchwright_contract::integrations::{Capabilities, Field, FieldType, Place, PostField, Provider};
use searchwright_outbound::webhook_signature::signatures;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use url::Url;

use super::{ALL, Input, Vendor};
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    http::{Answer, Server},
    publisher::{Account, Connection, Item, Publisher, Remote, Visible, Wanted},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Webhook,
    name: "Webhook",
    inputs: &[
        Input::open(
            "targetUrl",
            "Address of the receiver",
            "https address that is sent a POST for every post, such as https://example.com/publish",
        ),
        Input::secret(
            "secret",
            "Secret",
            "whsec_ and base64 of 24 to 64 random bytes; the receiver verifies signatures with it (Standard Webhooks)",
        ),
    ],
    capabilities: Capabilities {
        images: false,
        lookup: false,
        ..ALL
    },
    marks: false,
    repeats: true,
    open: |context, connection| Ok(Box::new(Receiver::new(context, connection)?)),
};

/// The version of everything there: nobody can tell whether it was changed.
const UNKNOWN: &str = "-";

/// Members of a post that are sent, by the field of the post.
const FIELDS: &[(PostField, FieldType)] = &[
    (PostField::Title, FieldType::Text),
    (PostField::Content, FieldType::Richtext),
    (PostField::Slug, FieldType::Slug),
    (PostField::Excerpt, FieldType::Text),
    (PostField::MetaTitle, FieldType::Text),
    (PostField::MetaDescription, FieldType::Text),
    (PostField::FeaturedImage, FieldType::Image),
    (PostField::Author, FieldType::Text),
    (PostField::Tags, FieldType::List),
    (PostField::PublishedAt, FieldType::Date),
    (PostField::CanonicalUrl, FieldType::Text),
];

#[derive(Debug)]
struct Receiver {
    server: Server,
    context: Context,
    connection: Connection,
}

impl Receiver {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let target = connection.setting("targetUrl");
        Url::parse(target).map_err(|_| Trouble::refused(Why::Address))?;
        Ok(Self {
            server: Server::at(context.client.clone(), target),
            context: context.clone(),
            connection,
        })
    }

    /// Sends a message, signed.
    async fn send(&self, event: &str, data: Value) -> Result<Answer, Trouble> {
        let at = self.context.clock.now();
        let id = format!("msg_{}", self.context.delivery.simple());
        let seconds = at.millis().div_euclid(1_000);
        // Sent again it is the same to the byte; when it was sent is in the header.
        let body = json!({ "type": event, "data": data }).to_string();
        let secret = SecretString::from(self.connection.secret("secret").to_owned());
        let signature = signatures(&[secret], &id, seconds, &body)
            .map_err(|_| Trouble::because(Why::Credential, "secret: is not whsec_ and base64"))?;
        let text = |text: String| HeaderValue::from_str(&text).map_err(|_| Trouble::refused(Why::Credential));
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (HeaderName::from_static("webhook-id"), text(id)?),
            (HeaderName::from_static("webhook-timestamp"), seconds.into()),
            (HeaderName::from_static("webhook-signature"), text(signature)?),
        ];
        self.server
            .write_bytes(Method::POST, "", headers, Bytes::from(body))
            .await
    }

    async fn publish(&self, remote: Option<&Remote>, item: &Item) -> Result<Remote, Trouble> {
        let event = if item.live { "post.publish" } else { "post.draft" };
        let data = json!({
            "postId": item.marker.post,
            "externalId": remote.map(|remote| &remote.id),
            "post": post(item),
            "mapping": self.connection.map,
        });
        let answer = self.send(event, data).await?;
        let visible = match (item.live, answer.body.get("live") == Some(&Value::Bool(false))) {
            (true, false) => Visible::Live,
            (true, true) => Visible::Waiting,
            (false, _) => Visible::Draft,
        };
        Ok(read(&answer.body, remote, &item.marker, visible))
    }
}

/// All of a post, whatever the mapping names.
fn post(item: &Item) -> Value {
    json!({
        "title": item.title,
        "slug": item.slug,
        "content": item.html,
        "contentMarkdown": item.markdown,
        "excerpt": item.excerpt,
        "metaTitle": item.meta_title,
        "metaDescription": item.meta_description,
        "featuredImage": item.picture.as_ref().map(|picture| json!({ "url": picture.url, "alt": picture.alt })),
        "author": item.author,
        "tags": item.tags,
        "categories": item.categories,
        "language": item.language,
        "canonicalUrl": item.canonical_url,
        "publishedAt": item.published_at,
    })
}

/// Reads the optional members `externalId` and `url` of a receiver's answer; `live` is read before.
fn read(body: &Value, remote: Option<&Remote>, marker: &Marker, visible: Visible) -> Remote {
    let text = |name: &str| {
        let text = body.get(name)?.as_str()?;
        (!text.is_empty() && text.len() <= 2_048).then(|| text.to_owned())
    };
    let url =
        text("url").filter(|url| Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")));
    Remote {
        id: text("externalId")
            .or_else(|| remote.map(|remote| remote.id.clone()))
            .unwrap_or_else(|| marker.post.to_string()),
        slug: None,
        url: url.or_else(|| remote.and_then(|remote| remote.url.clone())),
        visible,
        reason: (visible == Visible::Waiting).then(|| {
            "the receiver took the post and keeps it from readers (live: false): approve it there, then publish it again"
                .to_owned()
        }),
        version: UNKNOWN.to_owned(),
        marker: None,
        etag: None,
    }
}

#[async_trait]
impl Publisher for Receiver {
    /// Checks the secret and the address without sending anything: a receiver would have to know that a test message
    /// means nothing.
    async fn check(&self) -> Result<Account, Trouble> {
        let target = self.connection.setting("targetUrl");
        let secret = SecretString::from(self.connection.secret("secret").to_owned());
        if !self.connection.secret("secret").starts_with("whsec_")
            || signatures(&[secret], "", 0, "").is_err()
        {
            return Err(Trouble::because(
                Why::Credential,
                "secret: has to be whsec_ and base64",
            ));
        }
        let url = Url::parse(target).map_err(|_| Trouble::refused(Why::Address))?;
        let port = url.port_or_known_default().unwrap_or(443);
        let host = url.host().ok_or_else(|| Trouble::refused(Why::Address))?;
        let reached = self.context.client.address_of(&host, port).await;
        reached.map_err(|error| Trouble::from_request(&error.into(), false, &[]))?;
        Ok(Account {
            name: url.host_str().map(str::to_owned),
            site: target.to_owned(),
        })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let target = self.connection.setting("targetUrl").to_owned();
        Ok(vec![Place {
            id: target.clone(),
            name: target,
        }])
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let field =
            |(field, kind): &(PostField, FieldType)| Field::new(field.as_str(), field.as_str(), *kind);
        Ok(FIELDS.iter().map(field).collect())
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let known = wanted.id.map(|id| Remote {
            id: id.to_owned(),
            slug: None,
            url: None,
            visible: Visible::Live,
            reason: None,
            version: UNKNOWN.to_owned(),
            marker: None,
            etag: None,
        });
        Ok(known.into_iter().collect())
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        self.publish(None, item).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        self.publish(Some(remote), item).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let mut data = Map::new();
        data.insert("externalId".to_owned(), json!(remote.id));
        self.send("post.unpublish", Value::Object(data)).await?;
        Ok(Remote {
            visible: Visible::Draft,
            ..remote.clone()
        })
    }
}
