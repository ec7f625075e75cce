//! Vendors that cannot be installed against servers that hold every request against the vendor's own document: `cargo xtask peers vendors`.
//!
//! The assertions here are about a vendor's reading of answers; the servers judge whether its requests are right.

use std::collections::BTreeMap;

use super::{
    Vendor, find,
    tests::{Provider, connection, item, open, picture},
};
use crate::{
    Marker,
    error::{Trouble, Why},
    mapping,
    publisher::{Connection, Item, Publisher, Remote, Uploaded, Visible, Wanted},
};

/// Environment variable with the addresses of the servers, as `NAME=URL NAME=URL`.
const PLACES: &str = "SEARCHWRIGHT_VENDORS";

/// Connection to a vendor.
struct Peer {
    name: &'static str,
    provider: Provider,
    settings: &'static [(&'static str, &'static str)],
    secrets: &'static [(&'static str, &'static str)],
    /// Every type of field is mapped by one of them.
    maps: &'static [&'static [(&'static str, &'static str)]],
    /// An id that nothing there has.
    absent: &'static str,
}

const PEERS: &[Peer] = &[
    Peer {
        name: "webflow",
        provider: Provider::Webflow,
        settings: &[],
        secrets: &[("token", "wf_secret")],
        maps: &[
            &[
                ("title", "name"),
                ("content", "body"),
                ("slug", "slug"),
                ("excerpt", "teaser"),
                ("featuredImage", "cover"),
                ("author", "writer"),
                ("tags", "labels"),
                ("publishedAt", "day"),
                ("canonicalUrl", "source"),
            ],
            &[
                ("title", "name"),
                ("content", "body"),
                ("author", "labels"),
                ("tags", "words"),
                ("featuredImage", "source"),
                ("publishedAt", "teaser"),
            ],
            &[("title", "name"), ("content", "body"), ("author", "section")],
        ],
        absent: "e00000000000000000009999",
    },
    Peer {
        name: "notion",
        provider: Provider::Notion,
        settings: &[("baseUrl", "https://example.com/blog")],
        secrets: &[("token", "ntn_secret")],
        maps: &[
            &[
                ("title", "Name"),
                ("content", "page content"),
                ("slug", "Path"),
                ("excerpt", "Teaser"),
                ("featuredImage", "page cover"),
                ("author", "Writer"),
                ("tags", "Labels"),
                ("publishedAt", "Day"),
                ("canonicalUrl", "Source"),
            ],
            &[
                ("title", "Name"),
                ("content", "page content"),
                ("slug", "Path"),
                ("author", "Labels"),
                ("featuredImage", "Picture"),
                ("tags", "Writer"),
                ("publishedAt", "Teaser"),
            ],
        ],
        absent: "00000000-0000-4000-9000-000000009999",
    },
    Peer {
        name: "shopify",
        provider: Provider::Shopify,
        settings: &[("clientId", "app")],
        secrets: &[("clientSecret", "shpss_secret")],
        maps: &[
            &[
                ("title", "title"),
                ("content", "body"),
                ("slug", "handle"),
                ("excerpt", "summary"),
                ("author", "author"),
                ("tags", "tags"),
                ("featuredImage", "image"),
                ("publishedAt", "publishDate"),
                ("metaTitle", "metafield.global.title_tag"),
                ("metaDescription", "metafield.custom.lead"),
            ],
            &[("title", "title"), ("content", "body")],
        ],
        absent: "gid://shopify/Article/9999",
    },
];

#[tokio::test]
#[ignore = "needs servers that stand in for the vendors: cargo xtask peers vendors"]
async fn requests_are_as_the_vendors_have_them() {
    let places = std::env::var(PLACES).unwrap();
    let mut plays = Vec::new();
    for place in places.split_whitespace() {
        let (name, url) = place.split_once('=').unwrap();
        let peer = PEERS.iter().find(|peer| peer.name == name).unwrap();
        let url = url.to_owned();
        plays.push((name, tokio::spawn(async move { peer.play(&url).await })));
    }
    let mut failed = Vec::new();
    for (name, play) in plays {
        if play.await.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

impl Peer {
    /// Sends everything that a vendor can be asked, with each mapping.
    async fn play(&self, url: &str) {
        let settings = [self.settings, &[("apiUrl", url)]].concat();
        let mut connection = connection(&settings, self.secrets, &[]);
        let reached = open(self.provider, connection.clone());
        reached.check().await.unwrap();
        let site = reached.sites().await.unwrap().remove(0).id;
        let collection = reached.collections(Some(&site)).await.unwrap().remove(0).id;
        let fields = reached.fields(Some(&site), Some(&collection)).await.unwrap();
        connection.site = Some(site);
        connection.collection = Some(collection);
        let no_upload = reached.upload(&picture()).await.unwrap_err();
        assert_eq!(no_upload, Trouble::refused(Why::Unsupported));
        for (number, map) in self.maps.iter().enumerate() {
            let map = map.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
            connection.map = map.collect::<BTreeMap<_, _>>();
            assert_eq!(
                mapping::faults(&connection.map, &fields),
                [],
                "{}: mapping {number}",
                self.name
            );
            self.publish(&connection, number).await;
        }
    }

    async fn publish(&self, connection: &Connection, number: usize) {
        let vendor = find(self.provider).unwrap();
        let stage = Stage {
            vendor,
            connection,
            absent: self.absent,
        };
        let full = Item {
            slug: format!("full-{number}"),
            author: Some("Ann".to_owned()),
            marker: Marker::new(uuid::Uuid::from_u128(100 + number as u128), &[1; 32]),
            ..item()
        };
        let bare = bare(&full);
        assert_eq!(stage.look(&full, None).await, []);

        let made = stage.reach().create(&bare).await.unwrap();
        let made = stage.seen(&bare, made, Visible::Draft).await;
        let shown = stage.reach().update(&made, &full).await.unwrap();
        let shown = stage.seen(&full, shown, Visible::Live).await;
        let renamed = Item {
            slug: format!("renamed-{number}"),
            picture: plain_picture(),
            ..full.clone()
        };
        let changed = stage.reach().update(&shown, &renamed).await.unwrap();
        let changed = stage.seen(&renamed, changed, Visible::Live).await;
        let hidden = stage.reach().unpublish(&changed).await.unwrap();
        let hidden = stage.seen(&renamed, hidden, Visible::Draft).await;
        let shown = stage.reach().update(&hidden, &renamed).await.unwrap();
        let shown = stage.seen(&renamed, shown, Visible::Live).await;
        let emptied = Item {
            slug: renamed.slug.clone(),
            ..bare
        };
        let withdrawn = stage.reach().update(&shown, &emptied).await.unwrap();
        stage.seen(&emptied, withdrawn, Visible::Draft).await;

        let other = Item {
            slug: format!("other-{number}"),
            marker: Marker::new(uuid::Uuid::from_u128(200 + number as u128), &[2; 32]),
            ..full
        };
        let live = stage.reach().create(&other).await.unwrap();
        stage.seen(&other, live, Visible::Live).await;
    }
}

/// A draft with nothing that a post can lack.
fn bare(full: &Item) -> Item {
    Item {
        live: false,
        excerpt: None,
        meta_title: None,
        meta_description: None,
        tags: Vec::new(),
        author: None,
        canonical_url: None,
        picture: None,
        ..full.clone()
    }
}

/// An image of which nobody said what it shows.
fn plain_picture() -> Option<Uploaded> {
    item().picture.map(|picture| Uploaded { alt: None, ..picture })
}

/// A place to publish at a vendor.
struct Stage<'a> {
    vendor: &'a Vendor,
    connection: &'a Connection,
    absent: &'a str,
}

impl Stage<'_> {
    /// Opened anew for every step, as by jobs.
    fn reach(&self) -> Box<dyn Publisher> {
        open(self.vendor.provider, self.connection.clone())
    }

    /// Finds a post; by its slug or mark only if no id is given.
    async fn look(&self, item: &Item, id: Option<&str>) -> Vec<Remote> {
        let wanted = Wanted {
            id: id.or(Some(self.absent)),
            marker: &item.marker,
            slug: &item.slug,
        };
        self.reach().find(&wanted).await.unwrap()
    }

    /// Checks what a change said of its outcome by looking, by id and without.
    async fn seen(&self, item: &Item, said: Remote, visible: Visible) -> Remote {
        assert_eq!(said.visible, visible, "{said:?}");
        assert_eq!(said.url.is_some(), visible == Visible::Live, "{said:?}");
        if self.vendor.marks {
            assert_eq!(said.marker.as_ref(), Some(&item.marker), "{said:?}");
        }
        let it = std::slice::from_ref(&said);
        assert_eq!(self.look(item, Some(&said.id)).await, it);
        assert_eq!(said.slug.as_deref(), Some(&*item.slug), "{said:?}");
        assert_eq!(self.look(item, None).await, it);
        said
    }
}
