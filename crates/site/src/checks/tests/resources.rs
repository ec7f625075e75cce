//! Checks of resources that pages need.

use super::{Case, World};
use crate::{
    fetch::FetchError,
    resources::{Resource, purpose},
};

fn case(id: &'static str, body: &str, bad: fn(&mut Resource), good: fn(&mut Resource)) -> Case {
    let world = |change: fn(&mut Resource)| {
        let url = "https://www.example.com/x";
        let mut resource = Resource::new(url, 0, Err(FetchError::Timeout));
        (resource.status, resource.error) = (Some(200), None);
        (resource.max_age, resource.purposes) = (Some(u32::MAX), purpose::LLMS);
        change(&mut resource);
        World::new().page("/p", body).resource(resource)
    };
    Case {
        id,
        bad: world(bad),
        good: world(good),
    }
}

/// An image on another host with these statuses.
fn elsewhere(bad: u16, good: u16) -> Case {
    let world = |status| {
        let url = "https://cdn.example/x";
        let mut resource = Resource::new(url, 0, Err(FetchError::Timeout));
        (resource.status, resource.error) = (Some(status), None);
        World::new()
            .page("/p", &format!("<p>x<img src={url}>"))
            .resource(resource)
    };
    Case {
        id: "image-broken",
        bad: world(bad),
        good: world(good),
    }
}

pub(super) fn cases() -> Vec<Case> {
    let image = "<base href=/y/><p>x<img src=../x#part>";
    let card = "<meta property=og:image content=/x>";
    let heavy: fn(&mut Resource) = |r| (r.content_type, r.bytes) = (Some("image/png".into()), Some(100_001));
    vec![
        case(
            "image-broken",
            image,
            |r| r.status = Some(404),
            |r| r.status = Some(403),
        ),
        case(
            "image-broken",
            image,
            |r| r.status = Some(500),
            |r| r.status = Some(302),
        ),
        elsewhere(404, 403),
        elsewhere(500, 503),
        case(
            "image-broken",
            image,
            |r| (r.status, r.error) = (None, Some(FetchError::Dns)),
            |r| (r.status, r.error) = (None, Some(FetchError::Timeout)),
        ),
        case(
            "image-large",
            image,
            |r| r.bytes = Some(500_001),
            |r| r.bytes = Some(500_000),
        ),
        case("image-legacy-format", image, heavy, |r| {
            (r.content_type, r.bytes) = (Some("image/webp".into()), Some(100_001));
        }),
        Case {
            good: case(
                "image-legacy-format",
                "<picture><source type=image/avif srcset=/x.avif><img src=/x></picture>",
                heavy,
                heavy,
            )
            .good,
            ..case(
                "image-legacy-format",
                "<picture><source srcset=/z.png><img src=/x></picture>",
                heavy,
                heavy,
            )
        },
        case(
            "no-cache-header",
            "<link rel=stylesheet href=/x>",
            |r| r.max_age = Some(7 * 86_400 - 1),
            |r| r.max_age = Some(7 * 86_400),
        ),
        case(
            "no-cache-header",
            "<script src=/x></script>",
            |r| r.max_age = None,
            |r| (r.max_age, r.validator) = (None, true),
        ),
        case(
            "og-image-broken",
            card,
            |r| r.status = Some(410),
            |r| r.status = Some(429),
        ),
        case(
            "og-image-broken",
            card,
            |r| r.content_type = Some("text/html".into()),
            |r| r.content_type = Some("image/avif".into()),
        ),
        case(
            "og-image-small",
            card,
            |r| r.size = Some((1200, 629)),
            |r| r.size = Some((1200, 630)),
        ),
        case("og-image-small", card, |r| r.size = Some((100, 100)), |_| {}),
        case(
            "llms-txt-broken-link",
            "x",
            |r| r.status = Some(404),
            |r| r.status = Some(401),
        ),
    ]
}
