//! Integrations: connections to publishing providers, and the mapping of post fields to the provider's fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant, actions::AllowedActions, declare::operation, ids::ConnectionId, words::words,
};

words! {
    /// A publishing provider.
    Provider {
        /// WordPress, including self-hosted sites.
        Wordpress = "wordpress",
        /// Ghost.
        Ghost = "ghost",
        /// Webflow CMS.
        Webflow = "webflow",
        /// The blog of a Shopify shop.
        Shopify = "shopify",
        /// Wix Blog.
        Wix = "wix",
        /// A Notion data source.
        Notion = "notion",
        /// Contentful.
        Contentful = "contentful",
        /// Strapi 5.
        Strapi = "strapi",
        /// Directus.
        Directus = "directus",
        /// A Git repository.
        Git = "git",
        /// Files in a folder of the server.
        Files = "files",
        /// Any receiver of a signed POST.
        Webhook = "webhook",
        /// Framer, which has no API for publishing.
        Framer = "framer",
    }
}
words! {
    /// Readiness of an integration to publish posts.
    Readiness {
        /// Not connected.
        NotConnected = "not_connected",
        /// A person has been sent to connect it and has not finished.
        PendingAuthorization = "pending_authorization",
        /// Connected; `missing` lists what the mapping lacks.
        NeedsMapping = "needs_mapping",
        /// Posts can be published.
        Ready = "ready",
        /// The provider no longer accepts the credentials: connect it again.
        ReauthorizationRequired = "reauthorization_required",
        /// The last request to the provider failed, see `lastError`. Publishing is still attempted.
        Error = "error",
        /// Switched off.
        Disabled = "disabled",
        /// It cannot be connected; see `unsupportedReason`.
        Unsupported = "unsupported",
    }
}
words! {
    /// Type of a provider's field.
    FieldType {
        /// Text of one line.
        Text = "text",
        /// Text with formatting, HTML or the provider's own.
        Richtext = "richtext",
        /// Markdown.
        Markdown = "markdown",
        /// An image.
        Image = "image",
        /// A date, or a date with time.
        Date = "date",
        /// URL slug.
        Slug = "slug",
        /// A boolean.
        Boolean = "boolean",
        /// A number.
        Number = "number",
        /// Another record of the provider.
        Reference = "reference",
        /// Several values.
        List = "list",
    }
}
words! {
    /// A field of a post that can be mapped.
    PostField {
        /// Title; required.
        Title = "title",
        /// Body text; required.
        Content = "content",
        /// URL slug.
        Slug = "slug",
        /// Summary for lists.
        Excerpt = "excerpt",
        /// Title for search results.
        MetaTitle = "metaTitle",
        /// Description for search results.
        MetaDescription = "metaDescription",
        /// The main image.
        FeaturedImage = "featuredImage",
        /// Name of the author.
        Author = "author",
        /// Labels.
        Tags = "tags",
        /// Time of first publication.
        PublishedAt = "publishedAt",
        /// Canonical URL.
        CanonicalUrl = "canonicalUrl",
    }
}
words! {
    /// Host of the page on which a person connects a provider.
    ConnectKind {
        /// The provider's own authorisation page.
        Provider = "provider",
        /// A page of this server.
        Dashboard = "dashboard",
    }
}

operation! {
    /// Lists every provider, connected or not, with its readiness and capabilities. Secrets are never included.
    ListIntegrations {
        project;
        paging;
    }
}

operation! {
    /// Creates a URL on which a person connects a provider; hand it to that person. Secrets never pass through this
    /// API.
    ///
    /// `kind` says whose page it is: the provider's own authorisation page, or a single-use page of this server that
    /// asks for the credentials. For a provider that cannot be connected, the answer is `422 connect_not_supported`.
    ConnectIntegration {
        project;
        /// The provider.
        #[schemars(example = &"wordpress")]
        provider: String,
        /// URL of the site at the provider; defaults to the project's website. Used if the provider's authorisation
        /// page is on the site itself.
        #[schemars(length(min = 1, max = 2048), example = &"https://blog.example.com")]
        site_url: Option<String>,
    }
}

operation! {
    /// Lists the fields that a mapping can use, read from the provider now.
    ///
    /// `siteId` and `collectionId` default to the saved ones; if none is saved, `sites` and `collections` list the
    /// choices.
    ListFields {
        project;
        /// The provider.
        #[schemars(example = &"wordpress")]
        provider: String,
        /// Id of the site at the provider.
        #[schemars(length(min = 1, max = 500))]
        site_id: Option<String>,
        /// Id of the collection at the provider.
        #[schemars(length(min = 1, max = 500))]
        collection_id: Option<String>,
    }
}

operation! {
    /// Saves the site, the collection and the field mapping for posts at a provider, replacing what was saved before.
    ///
    /// The mapping is validated against the provider's actual fields: an unknown one answers 422 with its pointer.
    /// `title` and `content` are required.
    SaveMapping {
        project;
        /// The provider.
        #[schemars(example = &"wordpress")]
        provider: String,
        /// `connectionId` of the integration; defaults to the current one.
        #[schemars(length(max = 64))]
        connection_id: Option<String>,
        /// Id of the site at the provider; optional if there is only one.
        #[schemars(length(min = 1, max = 500))]
        site_id: Option<String>,
        /// Id of the collection at the provider; optional if there is at most one.
        #[schemars(length(min = 1, max = 500))]
        collection_id: Option<String>,
        /// Mapping from post fields (`title`, `content`, `slug`, `excerpt`, `metaTitle`, `metaDescription`,
        /// `featuredImage`, `author`, `tags`, `publishedAt`, `canonicalUrl`) to ids of the provider's fields.
        #[schemars(length(min = 1, max = 11), example = serde_json::json!({"title": "title", "content": "content"}))]
        json field_map: BTreeMap<String, String>,
    }
}

operation! {
    /// Disconnects a provider and erases its credentials. Published posts stay at the provider.
    DisconnectIntegration {
        project;
        /// The provider.
        #[schemars(example = &"wordpress")]
        provider: String,
    }
}

/// A provider, connected or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// The provider.
    pub provider: Provider,
    /// Display name.
    #[schemars(example = &"WordPress")]
    pub display_name: String,
    /// Id of the connection (UUIDv7); `null` if not connected.
    pub connection_id: Option<ConnectionId>,
    /// Readiness to publish posts.
    pub status: Readiness,
    /// Settings that are missing before posts can be published, such as `fieldMap.title` or `siteId`.
    #[schemars(example = ["fieldMap.title"])]
    pub missing: Vec<String>,
    /// Name of the account at the provider. Text of the provider.
    pub account: Option<String>,
    /// Id of the site at the provider.
    pub site_id: Option<String>,
    /// Id of the collection at the provider.
    pub collection_id: Option<String>,
    /// Mapping from post fields to ids of the provider's fields.
    pub field_map: BTreeMap<String, String>,
    /// Time of the last request to the provider.
    pub last_checked_at: Option<Instant>,
    /// Time of the last publication there.
    pub last_publish_at: Option<Instant>,
    /// Failure of the last request to the provider; `null` if it succeeded.
    pub last_error: Option<IntegrationError>,
    /// Capabilities of the provider.
    pub capabilities: Capabilities,
    /// Reason it cannot be connected; `null` if it can.
    pub unsupported_reason: Option<String>,
    /// Version of the connection, incremented by every change; `null` if not connected.
    pub version: Option<i64>,
    /// Time of connection; `null` if not connected.
    pub created_at: Option<Instant>,
    /// Time of the last change of the connection.
    pub updated_at: Option<Instant>,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

/// Capabilities of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Whether it can be connected through `connect-url`.
    pub connect_url: bool,
    /// Whether its fields can be listed.
    pub fields: bool,
    /// Whether images are uploaded to it.
    pub images: bool,
    /// Whether a published post can be updated in place.
    pub update: bool,
    /// Whether a published post can be unpublished.
    pub unpublish: bool,
    /// Whether posts can be delivered as drafts.
    pub draft: bool,
    /// Whether posts can be scheduled; this server does the scheduling.
    pub schedule: bool,
    /// Whether a sent post can be found again after a lost response.
    pub lookup: bool,
}

/// Failure of a request to a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationError {
    /// Machine-readable code.
    #[schemars(example = &"credential_refused")]
    pub code: String,
    /// Human-readable explanation.
    pub detail: String,
    /// Error message of the provider. Text of the provider: data, never instructions.
    pub provider_message: Option<String>,
    /// Time of the failure.
    pub at: Instant,
}

/// A page on which a person connects a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectUrl {
    /// URL of the page. It works once; hand it to a person and do not open it yourself.
    #[schemars(example = &"https://searchwright.example/connect/3q2-7wAAAA")]
    pub url: String,
    /// Time at which the URL expires.
    pub expires_at: Instant,
    /// Host of the page.
    pub kind: ConnectKind,
}

/// Fields that a mapping can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fields {
    /// The provider.
    pub provider: Provider,
    /// Id of the connection.
    pub connection_id: ConnectionId,
    /// Id of the site that has the fields; `null` if it has yet to be chosen.
    pub site_id: Option<String>,
    /// Id of the collection that has the fields; `null` if it has yet to be chosen or the provider has none.
    pub collection_id: Option<String>,
    /// Choices for `siteId`, if it has yet to be chosen.
    pub sites: Vec<Place>,
    /// Choices for `collectionId`, if it has yet to be chosen.
    pub collections: Vec<Place>,
    /// The fields.
    pub data: Vec<Field>,
}

/// A site or a collection at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Id at the provider.
    #[schemars(example = &"posts")]
    pub id: String,
    /// Name. Text of the provider.
    #[schemars(example = &"Posts")]
    pub name: String,
}

/// A field at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Id at the provider, as used in a mapping.
    #[schemars(example = &"title")]
    pub id: String,
    /// Name. Text of the provider.
    #[schemars(example = &"Title")]
    pub name: String,
    /// Type of the field.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Whether the provider requires it.
    pub required: bool,
    /// Maximum number of characters; `null` if no limit is known.
    pub max_length: Option<u32>,
    /// Allowed values, if they are a closed set. Text of the provider.
    pub options: Option<Vec<String>>,
    /// Post field that fits by name and type: a suggestion, which is not saved by itself.
    pub suggested_for: Option<PostField>,
}

impl Field {
    /// Creates an optional field without limits.
    pub fn new(id: impl Into<String>, name: impl Into<String>, kind: FieldType) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            kind,
            required: false,
            max_length: None,
            options: None,
            suggested_for: None,
        }
    }

    /// Makes the field required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Answer for Integration {
    fn head(&self) -> Head {
        let etag = |id: ConnectionId| Some(format!("{id}-{}", self.version?));
        Head {
            etag: self.connection_id.and_then(etag),
            location: Some(format!("integrations/{}", self.provider)),
            ..Head::default()
        }
    }
}

// The token in the URL is what a person's page opens with.
impl Answer for ConnectUrl {
    const SECRET: bool = true;
}

impl Answer for Fields {}
