//! A small website with real faults, served on loopback for a person who tries the product without one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::State};
use http::{HeaderValue, Request, Response, StatusCode, header};
use tokio_util::sync::CancellationToken;

use crate::{
    http::memory::MemoryPool,
    listen::{self, Connections, Patience, Rules},
    open::OpenError,
};

const PATIENCE: Patience = Patience {
    headers: Duration::from_secs(10),
    idle: Duration::from_secs(75),
    write: Duration::from_secs(30),
};
/// Most connections.
const CONNECTIONS: usize = 128;
/// Most bytes of answers under way.
const ANSWER_BYTES: usize = 16 << 20;
const STYLE: &str = "body{font:16px system-ui;max-width:40rem;margin:2rem auto}nav a{margin-right:1rem}";

/// Begins to serve the sample on a free port of loopback; its address.
pub async fn start(stop: CancellationToken) -> Result<SocketAddr, OpenError> {
    let failed = |e| OpenError::File("sample site".to_owned(), e);
    let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0)), "sample site")
        .await
        .map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let router = Router::new()
        .fallback(page)
        .with_state(format!("http://{address}"));
    let rules = Rules {
        patience: PATIENCE,
        proxies: Arc::from([]),
        connections: Arc::new(Connections::new(CONNECTIONS, CONNECTIONS, 0)),
        answers: Arc::new(MemoryPool::new(ANSWER_BYTES, ANSWER_BYTES)),
        refusal: Arc::new(|problem| {
            let mut response = Response::new(Body::from(problem.detail));
            *response.status_mut() = StatusCode::from_u16(problem.status).unwrap_or_default();
            response
        }),
    };
    tokio::spawn(listen::serve(listener, router, rules, stop));
    Ok(address)
}

/// A page: its head beyond the title, its title, its body.
struct Sheet {
    path: &'static str,
    title: &'static str,
    description: &'static str,
    body: &'static str,
}

const SHEETS: &[Sheet] = &[
    Sheet {
        path: "/",
        title: "Fern & Fir: house plants for dark rooms",
        description: "Fern & Fir grows and ships house plants that do well with little light, with care guides written by the people who grow them.",
        body: "<h1>House plants for dark rooms</h1><p>We grow ferns, aspidistras and other plants that are content with a north window. Every plant has spent a winter in a room like yours before it is sold, so what arrives is used to little light.</p><p>Read the <a href=\"/guides/ferns\">fern guide</a>, the <a href=\"/guides/watering\">watering guide</a>, or see our <a href=\"/plants\">plants</a>. The <a href=\"/spring-sale\">spring sale</a> is on. News is in the <a href=\"/blog\">blog</a>.</p><img src=\"/fern.jpg\" width=\"600\" height=\"400\">",
    },
    Sheet {
        path: "/plants",
        title: "Plants",
        description: "Plants for rooms with little light, grown slowly and shipped in paper.",
        body: "<h1>Plants</h1><ul><li><a href=\"/plants/boston-fern\">Boston fern</a></li><li><a href=\"/plants/aspidistra\">Aspidistra</a></li><li><a href=\"/plants/zz-plant\">ZZ plant</a></li><li><a href=\"/old-catalogue\">Last year's catalogue</a></li></ul>",
    },
    Sheet {
        path: "/plants/boston-fern",
        title: "Boston fern care and price",
        description: "A Boston fern for a cool, dim room: how much light and water it needs, how large it grows, and what it costs with us.",
        body: "<h1>Boston fern</h1><p>It likes cool air and an evenly moist soil, and it forgives a dim corner. Twelve euros in a 12 cm pot.</p><p><a href=\"/plants\">All plants</a> <a href=\"/guides/ferns\">Fern guide</a></p>",
    },
    Sheet {
        path: "/plants/aspidistra",
        title: "Boston fern care and price",
        description: "",
        body: "<h1>Aspidistra</h1><h4>Nearly indestructible</h4><p>It has stood in hallways since 1850. Eighteen euros.</p><p><a href=\"/plants\">click here</a></p>",
    },
    Sheet {
        path: "/plants/zz-plant",
        title: "",
        description: "The ZZ plant stores water in its stems and lives for weeks without any.",
        body: "<p>It stores water in its stems. Fifteen euros.</p><p><a href=\"/plants\">All plants</a></p>",
    },
    Sheet {
        path: "/guides/ferns",
        title: "How to care for ferns in a room with little light",
        description: "How much light, water and air a fern needs indoors, what brown tips mean, and when to repot, from people who grow ferns.",
        body: "<h1>Ferns in a room with little light</h1><h2>Light</h2><p>A fern does best a few steps from a north or east window.</p><h2>Water</h2><p>Keep the soil evenly moist. See the <a href=\"/guides/watring\">watering guide</a>.</p><h2>Air</h2><p>Dry air makes tips brown. <a href=\"/\">Home</a></p>",
    },
    Sheet {
        path: "/guides/watering",
        title: "When to water house plants",
        description: "When to water house plants, how to tell from the soil and the weight of the pot, and why most plants die of too much water.",
        body: "<h1>When to water house plants</h1><p>Lift the pot: a light pot is a dry pot. Most house plants die of too much water.</p><p><a href=\"/guides/ferns\">Fern guide</a> <a href=\"/\">Home</a></p>",
    },
    Sheet {
        path: "/blog",
        title: "Blog",
        description: "News from the greenhouse.",
        body: "<h1>Blog</h1><h1>News</h1><p>Lorem ipsum dolor sit amet, consectetur adipiscing elit.</p><p><a href=\"/\">Home</a></p>",
    },
    Sheet {
        path: "/forgotten",
        title: "Repotting: the one page nobody links to",
        description: "How and when to repot a house plant, which soil to take, and what to do with the roots; listed in the sitemap and linked from nowhere.",
        body: "<h1>Repotting</h1><p>In spring, one size up. <a href=\"/\">Home</a></p>",
    },
];

async fn page(State(root): State<String>, request: Request<Body>) -> Response<Body> {
    let path = request.uri().path();
    let moved = |to: &str| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
        if let Ok(to) = HeaderValue::from_str(to) {
            response.headers_mut().insert(header::LOCATION, to);
        }
        response
    };
    let (status, kind, body) = match path {
        "/spring-sale" => return moved("/sale"),
        "/sale" => return moved("/plants"),
        "/robots.txt" => (200, "text/plain", format!("User-agent: *\nDisallow: /cart\nSitemap: {root}/sitemap.xml\n")),
        "/sitemap.xml" => {
            let urls: String = SHEETS.iter().map(|s| format!("<url><loc>{root}{}</loc></url>", s.path)).collect();
            (200, "application/xml", format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"))
        }
        path => match SHEETS.iter().find(|s| s.path == path) {
            Some(sheet) => (200, "text/html; charset=utf-8", html(&root, sheet)),
            None => (404, "text/html; charset=utf-8", "<!doctype html><html lang=\"en\"><title>Not found</title><h1>Not found</h1><p>There is no such page.</p></html>".to_owned()),
        },
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn html(root: &str, sheet: &Sheet) -> String {
    let title = if sheet.title.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", sheet.title.replace('&', "&amp;"))
    };
    let description = if sheet.description.is_empty() {
        String::new()
    } else {
        format!(
            "<meta name=\"description\" content=\"{}\">",
            sheet.description.replace('&', "&amp;")
        )
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">{title}{description}<link rel=\"canonical\" href=\"{root}{}\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head><body><nav><a href=\"/\">Fern &amp; Fir</a><a href=\"/plants\">Plants</a><a href=\"/guides/ferns\">Ferns</a></nav><main>{}</main></body></html>",
        sheet.path, sheet.body
    )
}
