//! Files of a site beside its pages: sitemaps, robots.txt, an icon; and the list of its URLs.

use std::{fmt::Write, fs, path::Path};

use anyhow::Result;

use super::{
    Expected,
    plan::{Fault, Plan, fault},
};

/// URLs in one sitemap file; the protocol allows 50,000.
const SITEMAP_URLS: usize = 25_000;

const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
                    <path fill=\"#1f5d4c\" d=\"M8 1c4 3 6 6 6 9a6 6 0 0 1-12 0c0-3 2-6 6-9z\"/></svg>\n";

/// Writes everything but the pages into the served folder.
pub fn write(plan: &Plan, root: &Path) -> Result<()> {
    let parts = (1..=parts(plan)).map(part_name);
    let names = ["favicon.svg", "robots.txt", "sitemap.xml"].map(str::to_owned);
    for name in names.into_iter().chain(parts) {
        if let Some((_, text)) = file(plan, &name) {
            fs::write(root.join(name), text)?;
        }
    }
    Ok(())
}

/// Media type and text of a file that is no page. Writing to a string cannot fail, so results of `writeln!` are dropped.
pub fn file(plan: &Plan, name: &str) -> Option<(&'static str, String)> {
    const XML: &str = "application/xml";
    let origin = plan.origin();
    match name {
        "favicon.svg" => Some(("image/svg+xml", ICON.to_owned())),
        "robots.txt" => Some((
            "text/plain",
            format!("User-agent: *\nDisallow: /private/\n\nSitemap: {origin}/sitemap.xml\n"),
        )),
        "sitemap.xml" if parts(plan) == 0 => Some((XML, url_set(plan, listed(plan)))),
        "sitemap.xml" => Some((XML, sitemap_index(&origin, parts(plan)))),
        _ => {
            let part = (1..=parts(plan)).find(|part| name == part_name(*part))?;
            let pages = listed(plan).skip((part - 1) * SITEMAP_URLS).take(SITEMAP_URLS);
            Some((XML, url_set(plan, pages)))
        }
    }
}

/// Pages that a sitemap lists.
fn listed(plan: &Plan) -> impl Iterator<Item = usize> {
    (0..plan.len()).filter(|page| fault(*page) != Some(Fault::NoIndex))
}

/// Sitemap files behind an index; none when one file holds everything.
fn parts(plan: &Plan) -> usize {
    match listed(plan).count() {
        listed if listed <= SITEMAP_URLS => 0,
        listed => listed.div_ceil(SITEMAP_URLS),
    }
}

fn part_name(number: usize) -> String {
    format!("sitemap-{number}.xml")
}

fn sitemap_index(origin: &str, parts: usize) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for part in 1..=parts {
        let _ = writeln!(out, "<sitemap><loc>{origin}/{}</loc></sitemap>", part_name(part));
    }
    out.push_str("</sitemapindex>\n");
    out
}

fn url_set(plan: &Plan, pages: impl Iterator<Item = usize>) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for page in pages {
        // dates in the past that differ, as a real site has them
        let (month, day) = (page / 28 % 12 + 1, page % 28 + 1);
        let _ = writeln!(
            out,
            "<url><loc>{}</loc><lastmod>2024-{month:02}-{day:02}</lastmod></url>",
            plan.url(page)
        );
    }
    out.push_str("</urlset>\n");
    out
}

/// Every URL that an audit of the site fetches because a page links to it or a sitemap lists it.
pub fn urls(plan: &Plan, expected: &Expected) -> Vec<String> {
    let pages = (0..plan.len()).map(|page| plan.url(page));
    let redirects = expected.redirects.iter().map(|redirect| redirect.url.clone());
    let missing = expected.broken_links.iter().map(|link| link.target.clone());
    pages.chain(redirects).chain(missing).collect()
}
