//! The operations of a place to publish. One file per vendor under `vendors/`; the order of calls is decided in
//! `engine/jobs/publish.rs`.

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;
use searchwright_contract::{
    Instant,
    integrations::{Field, Place},
};
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::{
    error::{Trouble, Why},
    marker::Marker,
};

/// Values that a connection was made with.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// Address, account and the like; nothing secret.
    pub settings: BTreeMap<String, String>,
    /// Credentials, by the name of the input.
    pub secrets: BTreeMap<String, SecretString>,
    /// The site at the provider, once it is chosen.
    pub site: Option<String>,
    /// The collection at the provider, once it is chosen.
    pub collection: Option<String>,
    /// Mapping from fields of a post to fields of the provider.
    pub map: BTreeMap<String, String>,
}

impl Connection {
    /// A setting; empty where it is not set.
    pub fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    /// A secret; an empty one where it is not set.
    pub fn secret(&self, name: &str) -> &str {
        use secrecy::ExposeSecret as _;
        self.secrets.get(name).map_or("", |secret| secret.expose_secret())
    }

    /// The provider's field for a field of a post.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.map.get(name).map(String::as_str)
    }

    /// Returns the values of an item's mapped fields. `now` returns `None` for a value that the provider keeps in a
    /// form of its own, and for a field that the provider no longer has: every item lost that field, so nobody changed
    /// this item.
    pub fn held(&self, now: impl Fn(&str) -> Option<Value>) -> Map<String, Value> {
        let fields = self.map.values();
        fields
            .filter_map(|field| Some((field.clone(), now(field)?)))
            .collect()
    }
}

/// Account that a credential belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Name of the account at the provider, to be shown.
    pub name: Option<String>,
    /// Value that identifies one site. If it changes, the posts published before are on another site.
    pub site: String,
}

/// A post as it is sent to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Mark by which the post is found again.
    pub marker: Marker,
    /// Whether readers are to see it.
    pub live: bool,
    /// Title.
    pub title: String,
    /// The part of its address that names it.
    pub slug: String,
    /// The text, sanitised HTML, without the marker.
    pub html: String,
    /// The text, Markdown, without the marker.
    pub markdown: String,
    /// Summary for lists.
    pub excerpt: Option<String>,
    /// Title for search results.
    pub meta_title: Option<String>,
    /// Description for search results.
    pub meta_description: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Sections of the blog.
    pub categories: Vec<String>,
    /// Name of the author.
    pub author: Option<String>,
    /// Language, BCP 47.
    pub language: String,
    /// Address that search engines are to take for it.
    pub canonical_url: Option<String>,
    /// Time of the first publication, or now.
    pub published_at: Instant,
    /// The main image, uploaded before.
    pub picture: Option<Uploaded>,
}

/// An image to be uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Name of the file, made of the digest of its bytes: `searchwright-{digest}.jpg`.
    pub name: String,
    /// Media type, by its bytes.
    pub media_type: &'static str,
    /// The file.
    pub bytes: bytes::Bytes,
    /// Alternative text.
    pub alt: Option<String>,
}

/// An image that a provider has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Uploaded {
    /// The provider's name for the image: an id, a path or an address.
    pub reference: String,
    /// Address of the image, if it is known.
    pub url: Option<String>,
    /// Alternative text.
    pub alt: Option<String>,
}

/// Whether readers see something at a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    /// Readers see it.
    Live,
    /// Readers do not see it.
    Draft,
    /// Readers do not see it yet: at the provider it waits for its date, or for somebody's consent.
    Waiting,
}

/// A post as it is at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The provider's id.
    pub id: String,
    /// Slug, if the provider has slugs.
    pub slug: Option<String>,
    /// Address at which readers find it.
    pub url: Option<String>,
    /// Whether readers see it.
    pub visible: Visible,
    /// Reason for which readers do not see it, with the provider's own word and the way out; `None` if the provider gives
    /// none.
    pub reason: Option<String>,
    /// Changes whenever somebody changes what we write: a digest of it, or the provider's own counter.
    pub version: String,
    /// Our mark on it.
    pub marker: Option<Marker>,
    /// A version the provider wants to hear with the next change, if that is not `version`.
    pub etag: Option<String>,
}

/// Criteria by which a post is looked for at a provider.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The provider's id, if we know it.
    pub id: Option<&'a str>,
    /// Our mark.
    pub marker: &'a Marker,
    /// The slug it has, or is to have.
    pub slug: &'a str,
}

/// A place to publish. Asks once: nothing is repeated here.
#[async_trait]
pub trait Publisher: Send + Sync + fmt::Debug {
    /// Asks whether the credential works, and whose it is.
    async fn check(&self) -> Result<Account, Trouble>;

    /// The sites the credential reaches; one that is fixed by the connection is listed too.
    async fn sites(&self) -> Result<Vec<Place>, Trouble>;

    /// The collections of a site; empty where a site has no such thing.
    async fn collections(&self, site: Option<&str>) -> Result<Vec<Place>, Trouble> {
        let _ = site;
        Ok(Vec::new())
    }

    /// The real fields of a collection.
    async fn fields(&self, site: Option<&str>, collection: Option<&str>) -> Result<Vec<Field>, Trouble>;

    /// Finds everything that has the id, our mark or the slug. Items in the provider's trash are left out.
    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble>;

    /// Creates the post, with its mark.
    async fn create(&self, item: &Item) -> Result<Remote, Trouble>;

    /// Brings `remote`, which was just found, to the state of `item`.
    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble>;

    /// Takes the post out of readers' sight, without deleting it.
    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble>;

    /// Uploads an image, or finds it at the provider by its name. [`Why::Unsupported`] where a provider takes an image
    /// from its address only.
    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let _ = picture;
        Err(Trouble::refused(Why::Unsupported))
    }
}
