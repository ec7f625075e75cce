//! URLs of pages, and responses with their headers.

use super::{Case, World, address, headers};

pub(super) fn addresses() -> Vec<Case> {
    vec![
        address(
            "url-long",
            &format!("/p{}", "x".repeat(114)),
            &format!("/p{}", "x".repeat(113)),
        ),
        address(
            "url-long",
            &format!("/p{}", "%D0%B6".repeat(114)),
            &format!("/p{}", "%D0%B6".repeat(113)),
        ),
        address("url-underscore", "/p_q", "/p-q?a_b"),
        address("url-uppercase", "/P", "/p%C3%A9"),
        address("url-space", "/p%20q", "/p-q"),
        address("url-double-slash", "/p//q", "/p/q"),
        address("url-non-ascii", "/p/é", "/p/e"),
        address("url-many-params", "/p?a=1&b=2&c=3&d=4", "/p?a=1&b=2&c=3"),
        address("url-repetitive-path", "/p/x/p/x/p", "/p/x/p/x"),
        Case {
            id: "url-non-ascii",
            bad: World::new().page("/p/%D0%B0", "<html lang=en>"),
            good: World::new().page("/p/%D0%B0", "<html lang=ru-RU>"),
        },
        Case {
            id: "url-non-ascii",
            bad: World::new().page("/p/%D0%B0", "<html lang=en_US>"),
            good: World::new().page("/p/%D0%B0", "<html lang=ru_RU>"),
        },
        Case {
            id: "https-missing",
            bad: World::new().insecure().page("/p", "<p>x"),
            good: World::new().page("/p", "<p>x"),
        },
        // nobody outside sees what is sent in a private network
        private("https-missing", World::new().insecure().page("/p", "<p>x")),
        private(
            "form-insecure",
            World::new()
                .insecure()
                .page("/p", "<form><input type=password></form>"),
        ),
        private("hsts-missing", World::new().page("/", "<p>x")),
        Case {
            id: "form-insecure",
            bad: World::new()
                .insecure()
                .page("/p", "<form><input type=password></form>"),
            good: World::new()
                .insecure()
                .page("/p", "<form><input type=text></form>"),
        },
    ]
}

/// The same site on the internet and in a private network.
fn private(id: &'static str, bad: World) -> Case {
    let good = bad
        .clone()
        .origin(|origin| origin.root = "http://192.168.1.2:8080".into());
    Case { id, bad, good }
}

pub(super) fn answers() -> Vec<Case> {
    let noindex = "<meta name=robots content=noindex>";
    let plain = |content_type: &str| {
        World::new().answer(
            "/p",
            200,
            &[("content-type", content_type)],
            "<!doctype html><p>x",
        )
    };
    let file = |path: &str, content_type: &str| {
        World::new().answer(path, 200, &[("content-type", content_type)], "%PDF")
    };
    let slow = |ms| {
        World::new()
            .page("/p", "<p>x")
            .with(|response| response.ttfb = std::time::Duration::from_millis(ms))
    };
    let status = |status| World::new().answer("/p", status, &[], "");
    vec![
        headers(
            "robots-directive-conflict",
            &[("x-robots-tag", "index")],
            &[("x-robots-tag", "noindex")],
            noindex,
        ),
        headers(
            "canonical-header-mismatch",
            &[("link", "</q>; rel=canonical")],
            &[("link", "</p>; rel=canonical")],
            "<link rel=canonical href=/p>",
        ),
        headers(
            "noindex",
            &[("x-robots-tag", "none")],
            &[("x-robots-tag", "otherbot: none")],
            "<p>x",
        ),
        headers(
            "no-compression",
            &[("content-encoding", "identity")],
            &[("content-encoding", "br")],
            &"x".repeat(2_000),
        ),
        Case {
            id: "charset-missing",
            bad: plain("text/html"),
            good: World::new().answer(
                "/p",
                200,
                &[("content-type", "text/html")],
                "<meta charset=utf-8>",
            ),
        },
        Case {
            id: "charset-missing",
            bad: World::new().answer(
                "/p",
                200,
                &[("content-type", "text/html")],
                "<?xml version='1.0'?><p>x",
            ),
            good: World::new().answer(
                "/p",
                200,
                &[("content-type", "text/html")],
                "<?xml version='1.0' encoding='ISO-8859-1'?><p>x",
            ),
        },
        Case {
            id: "content-type-mismatch",
            bad: plain("text/plain"),
            good: plain("text/html"),
        },
        Case {
            id: "content-type-mismatch",
            bad: plain("application/x-httpd-php"),
            good: plain("text/markdown; charset=utf-8"),
        },
        Case {
            id: "content-type-mismatch",
            bad: file("/p.css", "text/plain"),
            good: file("/p.css", "text/css"),
        },
        Case {
            id: "content-type-mismatch",
            bad: file("/p.pdf", "text/plain; charset=utf-8"),
            good: file("/p.pdf", "application/octet-stream"),
        },
        private("ttfb-slow", slow(801)),
        Case {
            id: "ttfb-slow",
            bad: slow(801),
            good: slow(800),
        },
        Case {
            id: "http-4xx",
            bad: status(404),
            good: status(429),
        },
        Case {
            id: "http-4xx",
            bad: status(410),
            good: status(401),
        },
        Case {
            id: "http-4xx",
            bad: status(404),
            good: World::new().page("/", "<p>no links").answer("/p", 404, &[], ""),
        },
        Case {
            id: "http-forbidden",
            bad: status(403),
            good: status(404),
        },
        Case {
            id: "http-forbidden",
            bad: status(401),
            // listed, which sitemap-url-error reports
            good: World::new()
                .page("/", "<p>no links")
                .answer("/p", 403, &[], "")
                .sitemap(&["/p"]),
        },
        Case {
            id: "http-5xx",
            bad: status(503),
            good: status(404),
        },
        Case {
            id: "http-no-response",
            bad: World::new().failed("/p"),
            good: status(500),
        },
        Case {
            id: "redirect-no-location",
            bad: status(302),
            good: World::new().redirect("/p", 302, "/q"),
        },
        Case {
            id: "redirect-no-location",
            bad: World::new().redirect("/p", 301, "mailto:x"),
            good: status(304),
        },
    ]
}
