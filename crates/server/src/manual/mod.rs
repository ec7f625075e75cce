//! The manual: the Markdown files in `docs` and the reference of the API, as pages of a server or as files in a folder.
//!
//! The order of the pages is that of `docs/SUMMARY.md`; the reference comes from the table behind every surface.

mod chapters;
mod examples;
mod markdown;
mod reference;
mod schema_text;
#[cfg(test)]
mod tests;
mod website;

use std::{fs, io, path::Path};

pub use self::website::{Location, Website};
use crate::dashboard::page;

/// Writes the manual into a folder, as a website that needs no server: with `sitemap.xml`, `robots.txt` and canonical links if its URL
/// is given.
pub fn write_files(folder: &Path, url: Option<&str>) -> io::Result<usize> {
    let endpoints = searchwright_engine::endpoint::all().map_err(io::Error::other)?;
    let url = url.map(|url| url.trim_end_matches('/').to_owned());
    let website = Website::new(&endpoints, &Location::Folder { url: url.clone() });
    let write = |name: &str, content: &[u8]| {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, content)
    };
    for page in &website.pages {
        write(&format!("{}.html", file_stem(&page.path)), page.html.as_bytes())?;
    }
    for image in chapters::IMAGES {
        write(image.name, image.content)?;
    }
    write("pages.css", page::STYLE_TEXT.as_bytes())?;
    write("manual.css", page::MANUAL_STYLE_TEXT.as_bytes())?;
    write("openapi.json", &serde_json::to_vec_pretty(&website.openapi)?)?;
    if let Some(url) = url {
        let addresses: Vec<String> = website
            .pages
            .iter()
            .map(|page| format!("<url><loc>{}</loc></url>\n", absolute(&url, &page.path)))
            .collect();
        let sitemap = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</urlset>\n",
            addresses.concat()
        );
        write("sitemap.xml", sitemap.as_bytes())?;
        let robots = format!("User-agent: *\nAllow: /\n\nSitemap: {url}/sitemap.xml\n");
        write("robots.txt", robots.as_bytes())?;
    }
    Ok(website.pages.len())
}

/// Returns an image of the manual.
pub(crate) fn image(name: &str) -> Option<&'static [u8]> {
    let image = chapters::IMAGES.iter().find(|image| image.name == name)?;
    Some(image.content)
}

/// Name of the file of a page, without its extension.
fn file_stem(path: &str) -> &str {
    if path.is_empty() { "index" } else { path }
}

/// URL of a page of the website that is written to files.
fn absolute(url: &str, path: &str) -> String {
    if path.is_empty() {
        format!("{url}/")
    } else {
        format!("{url}/{path}.html")
    }
}
