//! The pages as readers meet them: links that lead somewhere, words for search results, nothing from other hosts.

use std::collections::{BTreeMap, BTreeSet};

use searchwright_engine::endpoint;

use super::{Location, Website, write_files};

/// Values of an attribute in a page.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let marker = format!(" {name}=\"");
    html.split(marker.as_str())
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

fn between<'a>(html: &'a str, before: &str, after: &str) -> &'a str {
    let rest = html.split_once(before).unwrap_or_default().1;
    rest.split(after).next().unwrap_or_default()
}

fn website() -> Website {
    let endpoints = endpoint::all().expect("endpoints");
    let origin = "https://seo.example".to_owned();
    Website::new(&endpoints, &Location::Server { origin })
}

#[test]
fn every_link_leads_to_a_page_and_to_its_part() {
    let website = website();
    let ids: BTreeMap<String, BTreeSet<&str>> = website
        .pages
        .iter()
        .map(|page| {
            let address = format!("/docs/{}", page.path);
            (
                address.trim_end_matches('/').to_owned(),
                attributes(&page.html, "id").into_iter().collect(),
            )
        })
        .collect();
    let mut broken = Vec::new();
    for page in &website.pages {
        let own = format!("/docs/{}", page.path);
        for href in attributes(&page.html, "href") {
            let (address, fragment) = href.split_once('#').unwrap_or((href, ""));
            if address.starts_with("http") || address.starts_with("/assets/") || address == "/" {
                continue;
            }
            let address = if address.is_empty() {
                own.trim_end_matches('/')
            } else {
                address
            };
            let is_there = address == "/v1/openapi.json"
                || ids
                    .get(address)
                    .is_some_and(|ids| fragment.is_empty() || ids.contains(fragment));
            if !is_there {
                broken.push(format!("{own}: {href}"));
            }
        }
        let list = attributes(&page.html, "id");
        assert_eq!(
            list.len(),
            ids[own.trim_end_matches('/')].len(),
            "{own}: an id twice: {list:?}"
        );
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn pages_have_titles_descriptions_and_nothing_from_elsewhere() {
    let website = website();
    let (mut titles, mut descriptions) = (BTreeSet::new(), BTreeSet::new());
    for page in &website.pages {
        let html = page.html.as_str();
        let title = between(html, "<title>", "</title>");
        let description = between(html, "<meta name=\"description\" content=\"", "\"");
        assert!(titles.insert(title), "{title}: a second page");
        assert!(descriptions.insert(description), "{}: {description}", page.path);
        let length = description.chars().count();
        assert!(
            (50..=170).contains(&length),
            "{}: {length}: {description}",
            page.path
        );
        assert_eq!(html.matches("<h1").count(), 1, "{}", page.path);
        let canonical = format!("href=\"https://seo.example/docs/{}", page.path);
        assert!(html.contains(canonical.trim_end_matches('/')), "{}", page.path);
        for forbidden in ["<script", " style=", " src=\"http", "<iframe"] {
            assert!(!html.contains(forbidden), "{}: {forbidden}", page.path);
        }
        assert!(!html.contains("href=\"{"), "{}", page.path);
    }
    assert!(website.pages.len() > 60, "{} pages", website.pages.len());
}

#[test]
fn every_operation_has_its_place_in_the_reference() {
    let website = website();
    for endpoint in endpoint::all().expect("endpoints") {
        let name = endpoint.meta.name;
        let resource = name.split('.').next().unwrap_or_default();
        let path = format!("reference/{resource}");
        let page = website.pages.iter().find(|page| page.path == path);
        let html = page.map(|page| page.html.as_str()).unwrap_or_default();
        let section = between(html, &format!("<section id=\"{name}\">"), "</section>");
        for part in [
            "<dt>Scope</dt>",
            "<h3>Errors</h3>",
            "curl ",
            "await fetch(",
            "urllib.request.urlopen",
            endpoint.meta.path,
        ] {
            assert!(section.contains(part), "{name}: {part}");
        }
    }
}

#[test]
fn files_link_to_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = write_files(folder.path(), Some("https://docs.example/")).expect("files");
    let sitemap = std::fs::read_to_string(folder.path().join("sitemap.xml")).expect("a sitemap");
    assert_eq!(sitemap.matches("<loc>https://docs.example/").count(), count);
    let robots = std::fs::read_to_string(folder.path().join("robots.txt")).expect("robots.txt");
    assert!(
        robots.contains("Sitemap: https://docs.example/sitemap.xml"),
        "{robots}"
    );
    let endpoints = endpoint::all().expect("endpoints");
    for page in &Website::new(&endpoints, &Location::Folder { url: None }).pages {
        let file = folder
            .path()
            .join(format!("{}.html", super::file_stem(&page.path)));
        let html = std::fs::read_to_string(&file).expect("a page");
        for target in [attributes(&html, "href"), attributes(&html, "src")].concat() {
            let address = target.split('#').next().unwrap_or_default();
            if address.starts_with("http") || address.is_empty() {
                continue;
            }
            if ["./", "../"].contains(&address) {
                continue;
            }
            let to = file
                .parent()
                .map(|folder| folder.join(address))
                .unwrap_or_default();
            assert!(to.is_file(), "{}: {target}", page.path);
        }
        assert!(!page.html.contains("rel=\"canonical\""), "{}", page.path);
    }
}
