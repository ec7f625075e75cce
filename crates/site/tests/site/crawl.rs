//! A whole crawl of a site.

mod alternates;
mod asking;
mod order;
mod refused;
mod sitemaps;
mod surveying;

use searchwright_site::crawl::Config;

use super::fake::{Answer, config};

fn text(body: &str) -> Answer {
    Answer::Is(200, vec![("content-type", "text/plain".into())], body.into())
}

fn sitemap(paths: &[&str]) -> Answer {
    let urls: String = paths
        .iter()
        .map(|p| format!("<url><loc>https://example.com{p}</loc></url>"))
        .collect();
    Answer::Is(
        200,
        Vec::new(),
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"),
    )
}

/// One connection, so that the order of saving is the order of fetching.
fn in_order() -> Config {
    Config {
        connections: 1,
        ..config()
    }
}
