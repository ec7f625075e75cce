//! What a site has beside its pages: sitemaps, robots.txt, an icon; and the list of its URLs.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

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
    let origin = plan.origin();
    fs::write(root.join("favicon.svg"), ICON)?;
    fs::write(
        root.join("robots.txt"),
        format!("User-agent: *\nDisallow: /private/\n\nSitemap: {origin}/sitemap.xml\n"),
    )?;
    let listed: Vec<usize> = (0..plan.len())
        .filter(|page| fault(*page) != Some(Fault::NoIndex))
        .collect();
    if listed.len() <= SITEMAP_URLS {
        return url_set(plan, &listed, &root.join("sitemap.xml"));
    }
    let mut index = BufWriter::new(File::create(root.join("sitemap.xml"))?);
    writeln!(index, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        index,
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
    )?;
    for (number, part) in listed.chunks(SITEMAP_URLS).enumerate() {
        let name = format!("sitemap-{}.xml", number + 1);
        url_set(plan, part, &root.join(&name))?;
        writeln!(index, "<sitemap><loc>{origin}/{name}</loc></sitemap>")?;
    }
    writeln!(index, "</sitemapindex>")?;
    Ok(index.flush()?)
}

fn url_set(plan: &Plan, pages: &[usize], file: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
    )?;
    for page in pages {
        // dates in the past that differ, as a real site has them
        let (month, day) = (page / 28 % 12 + 1, page % 28 + 1);
        writeln!(
            out,
            "<url><loc>{}</loc><lastmod>2024-{month:02}-{day:02}</lastmod></url>",
            plan.url(*page)
        )?;
    }
    writeln!(out, "</urlset>")?;
    Ok(out.flush()?)
}

/// Every URL that an audit of the site fetches because a page links to it or a sitemap lists it.
pub fn urls(plan: &Plan, expected: &Expected) -> Vec<String> {
    let pages = (0..plan.len()).map(|page| plan.url(page));
    let redirects = expected.redirects.iter().map(|redirect| redirect.url.clone());
    let missing = expected.broken_links.iter().map(|link| link.target.clone());
    pages.chain(redirects).chain(missing).collect()
}
