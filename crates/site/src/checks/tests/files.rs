//! Files beside the pages as proof of a resolution.

use super::{World, find};
use crate::{origin::Origin, sitemap::Sitemap};

/// A file that cannot be read temporarily does not resolve problems of its contents.
#[test]
fn files_beside_pages_that_cannot_be_read_prove_nothing() {
    let index = World::new().page("/", "x").build().index;
    let checks = ["sitemap-lastmod-bad", "llms-txt-missing", "sitemap-missing"].map(|id| find(id).unwrap());
    let silent = |made_up: u16, status: Option<u16>, declared: bool, error: Option<&str>| {
        let mut origin = Origin {
            probe_status: Some(made_up),
            ..Origin::default()
        };
        origin.robots.status = Some(200);
        (origin.llms_txt.status, origin.favicon_status) = (status, Some(200));
        origin.sitemaps.push(Sitemap {
            status,
            declared,
            error: error.map(Into::into),
            ..Sitemap::default()
        });
        checks.map(|check| check.unmet_prerequisite(None, &origin, &index).is_some())
    };
    let (page, cut) = (
        Some("an HTML page, not a sitemap"),
        Some("the XML ends after 9 bytes"),
    );
    for (made_up, status, declared, error, expected) in [
        (404, Some(200), true, None, [false, false, false]),
        (404, Some(200), true, Some("no namespace"), [false, false, false]),
        // it exists, whatever it contains
        (404, Some(200), true, cut, [true, false, false]),
        (404, Some(200), false, page, [true, false, false]),
        (200, Some(200), false, page, [false, false, false]),
        (200, Some(200), true, page, [true, false, false]),
        (404, Some(404), true, Some("status 404"), [false, false, false]),
        (404, Some(403), true, Some("status 403"), [true, true, true]),
        (403, Some(403), false, Some("status 403"), [false, false, false]),
        (404, Some(503), true, Some("status 503"), [true, true, true]),
        (404, None, true, Some("no answer"), [true, true, true]),
    ] {
        let what = format!("{made_up} {status:?} {declared} {error:?}");
        assert_eq!(silent(made_up, status, declared, error), expected, "{what}");
    }
}
