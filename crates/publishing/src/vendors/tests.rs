//! Fixtures that the tests of all vendors share: a post, an image, and connections to a server of the tests.

use std::{sync::LazyLock, time::Duration};

pub(super) use searchwright_contract::integrations::Provider;
use searchwright_contract::{
    Clock, Instant,
    integrations::{Field, FieldType},
};
pub(super) use searchwright_outbound::test_server::{Asked, Fake, Script};
use searchwright_outbound::{Guarded, test_server::client};
use secrecy::SecretString;
use uuid::Uuid;

use super::find;
use crate::{
    Context, Marker,
    error::{Trouble, Why},
    publisher::{Connection, Item, Picture, Publisher, Remote, Uploaded, Visible, Wanted},
};

/// 2026-11-21T10:00:00Z.
pub(super) const NOON: i64 = 1_795_255_200_000;

/// Id of the post of [`item`].
pub(super) const POST: &str = "00000000-0000-0000-0000-000000000007";

static MARKER: LazyLock<Marker> = LazyLock::new(|| Marker::new(Uuid::from_u128(7), &[0xab; 32]));

/// The mark of [`item`].
pub(super) fn marker() -> Marker {
    MARKER.clone()
}

/// Pairs of names and values.
pub(super) type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A vendor connected to a server of the tests.
#[derive(Clone, Copy)]
pub(super) struct Connected<'a> {
    pub provider: Provider,
    /// Setting that holds the address of the server.
    pub address: &'a str,
    pub settings: Pairs<'a>,
    pub secrets: Pairs<'a>,
    pub site: Option<&'a str>,
    pub collection: Option<&'a str>,
    pub map: Pairs<'a>,
}

impl Connected<'_> {
    /// Opens the vendor at the address of a server.
    pub fn open(&self, url: &str) -> Box<dyn Publisher> {
        self.open_with(url, client(Duration::from_secs(60)))
    }

    /// Opens the vendor at the address of a server, to be reached by this client.
    pub fn open_with(&self, url: &str, client: Guarded) -> Box<dyn Publisher> {
        let settings = [&[(self.address, url)], self.settings].concat();
        let connection = Connection {
            site: self.site.map(str::to_owned),
            collection: self.collection.map(str::to_owned),
            ..connection(&settings, self.secrets, self.map)
        };
        open_with(self.provider, connection, client)
    }
}

/// A connection with these settings and secrets, and with this mapping.
pub(super) fn connection(settings: Pairs<'_>, secrets: Pairs<'_>, map: Pairs<'_>) -> Connection {
    let pairs = |list: Pairs<'_>| {
        list.iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    };
    Connection {
        settings: pairs(settings),
        secrets: secrets
            .iter()
            .map(|(n, v)| ((*n).to_owned(), SecretString::from(*v)))
            .collect(),
        site: None,
        collection: None,
        map: pairs(map),
    }
}

/// Opens a connection.
pub(super) fn open(provider: Provider, connection: Connection) -> Box<dyn Publisher> {
    open_with(provider, connection, client(Duration::from_secs(60)))
}

fn open_with(provider: Provider, connection: Connection, client: Guarded) -> Box<dyn Publisher> {
    let context = Context {
        client,
        clock: Clock::fixed(Instant::from_millis(NOON)),
        folder: std::path::PathBuf::new(),
        scratch: std::path::PathBuf::new(),
        visits: std::sync::Arc::default(),
        project: Uuid::nil(),
        delivery: Uuid::from_u128(1),
    };
    (find(provider).unwrap().open)(&context, connection).unwrap()
}

/// A live post with everything a post can have.
pub(super) fn item() -> Item {
    Item {
        marker: marker(),
        live: true,
        title: "A & B".to_owned(),
        slug: "a-b".to_owned(),
        html: "<p>One</p>\n<p>Two</p>\n".to_owned(),
        markdown: "One\n\nTwo\n".to_owned(),
        excerpt: Some("Short".to_owned()),
        meta_title: Some("Meta title".to_owned()),
        meta_description: Some("Meta description".to_owned()),
        tags: vec!["Red".to_owned(), "Green".to_owned()],
        categories: Vec::new(),
        author: Some("Ann".to_owned()),
        language: "en".to_owned(),
        canonical_url: Some("https://example.com/a-b".to_owned()),
        published_at: Instant::from_millis(NOON),
        picture: Some(Uploaded {
            reference: "12".to_owned(),
            url: Some("https://example.com/i.jpg".to_owned()),
            alt: Some("An image".to_owned()),
        }),
    }
}

pub(super) fn picture() -> Picture {
    Picture {
        name: "searchwright-0a1b.png".to_owned(),
        media_type: "image/png",
        bytes: bytes::Bytes::from_static(b"\x89PNG"),
        alt: Some("An image".to_owned()),
    }
}

/// A remote item that is about to be changed.
pub(super) fn remote(id: &str) -> Remote {
    Remote {
        id: id.to_owned(),
        slug: Some("a-b".to_owned()),
        url: None,
        visible: Visible::Live,
        reason: None,
        version: "1".to_owned(),
        marker: None,
        etag: None,
    }
}

/// Criteria by which the post of [`item`] is looked for.
pub(super) fn wanted(id: Option<&str>) -> Wanted<'_> {
    Wanted {
        id,
        marker: &MARKER,
        slug: "a-b",
    }
}

/// Methods and targets of requests, without the part that takes them past caches.
pub(super) fn lines(asked: &[Asked]) -> Vec<&str> {
    let whole = |asked: &Asked| asked.line.find("&_=").unwrap_or(asked.line.len());
    asked.iter().map(|asked| &asked.line[..whole(asked)]).collect()
}

/// Ids and types of fields, and whether they are required.
pub(super) fn kinds(fields: &[Field]) -> Vec<(&str, FieldType, bool)> {
    fields
        .iter()
        .map(|field| (field.id.as_str(), field.kind, field.required))
        .collect()
}

/// Fails unless a request was refused for this reason.
pub(super) fn assert_refused<T: std::fmt::Debug>(answer: &Result<T, Trouble>, expected: Why) {
    assert!(
        matches!(answer, Err(Trouble::Refused { why, .. }) if *why == expected),
        "{answer:?} instead of {expected:?}"
    );
}

#[test]
fn guide_of_each_vendor_names_what_a_person_enters() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers");
    for vendor in super::VENDORS {
        let name = vendor.provider.as_str();
        let guide = std::fs::read_to_string(docs.join(format!("{name}.md"))).unwrap_or_default();
        assert!(guide.contains(&format!("--provider {name}")), "{name}");
        for input in vendor.inputs.iter().filter(|input| input.asked) {
            assert!(guide.contains(input.name), "{name}.md lacks {}", input.name);
        }
    }
}
