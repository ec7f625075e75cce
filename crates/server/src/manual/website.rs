//! The pages around the articles: addresses, navigation, order.

use askama::Template;
use searchwright_engine::Endpoint;
use serde_json::Value;

use super::{
    absolute,
    chapters::{self, ChapterSource},
    file_stem,
    markdown::{self, Article},
    reference::Reference,
};
use crate::{config, dashboard::page, http::openapi};

/// Place at which the pages are read.
#[derive(Clone, Debug)]
pub enum Location {
    /// A server with this address.
    Server {
        /// `public_url` of the server.
        origin: String,
    },
    /// Files in a folder.
    Folder {
        /// URL at which the folder is published.
        url: Option<String>,
    },
}

/// A page of the manual.
#[derive(Debug)]
pub struct ManualPage {
    /// Path below `/docs`, without a slash at its beginning.
    pub path: String,
    /// The whole document.
    pub html: String,
}

/// The manual.
#[derive(Debug)]
pub struct Website {
    /// Pages in the order of reading.
    pub pages: Vec<ManualPage>,
    /// The OpenAPI document that the reference was made from.
    pub openapi: Value,
}

/// A page before it is put into the layout.
pub(super) struct Draft {
    pub path: String,
    /// Text in the navigation.
    pub label: String,
    pub article: Article,
}

/// Pages under one heading of the navigation.
struct DraftGroup {
    title: String,
    drafts: Vec<Draft>,
}

/// A link of the navigation.
struct NavLink<'a> {
    href: String,
    label: &'a str,
    is_current: bool,
}

/// A heading of the navigation with its links.
struct NavGroup<'a> {
    title: &'a str,
    is_open: bool,
    links: Vec<NavLink<'a>>,
}

#[derive(Template)]
#[template(path = "manual.html")]
struct ManualLayout<'a> {
    title: String,
    image: Option<String>,
    description: &'a str,
    canonical: Option<String>,
    styles: [String; 2],
    home: String,
    body: &'a str,
    previous: Option<NavLink<'a>>,
    next: Option<NavLink<'a>>,
    groups: Vec<NavGroup<'a>>,
    is_served: bool,
}

impl Website {
    /// Renders all pages.
    pub fn new(endpoints: &[Endpoint], location: &Location) -> Self {
        let origin = match location {
            Location::Server { origin } => origin.as_str(),
            Location::Folder { .. } => "http://127.0.0.1:8787",
        };
        let openapi = openapi::document(endpoints, &format!("{origin}/v1"));
        let groups = groups(endpoints, &openapi, location);
        let order: Vec<&Draft> = groups.iter().flat_map(|group| &group.drafts).collect();
        let pages = order.iter().enumerate().map(|(at, draft)| {
            let neighbour = |at: Option<usize>| {
                let other = order.get(at?)?;
                Some(NavLink {
                    href: location.href(&draft.path, &other.path),
                    label: &other.label,
                    is_current: false,
                })
            };
            let layout = ManualLayout {
                title: title(&draft.article.title),
                image: location.absolute_image(chapters::PREVIEW),
                description: &draft.article.description,
                canonical: location.canonical(&draft.path),
                styles: location.styles(&draft.path),
                home: location.href(&draft.path, ""),
                body: &draft.article.html,
                previous: neighbour(at.checked_sub(1)),
                next: neighbour(Some(at + 1)),
                groups: navigation(&groups, draft, location),
                is_served: matches!(location, Location::Server { .. }),
            };
            ManualPage {
                path: draft.path.clone(),
                html: layout.render().unwrap_or_default(),
            }
        });
        Self {
            pages: pages.collect(),
            openapi,
        }
    }
}

impl Location {
    /// Address of a page, as a link on another one.
    pub(super) fn href(&self, from: &str, to: &str) -> String {
        match self {
            Self::Server { .. } if to.is_empty() => "/docs".to_owned(),
            Self::Server { .. } => format!("/docs/{to}"),
            // At a URL the first page is the folder itself; opened from a disk, it is a file.
            Self::Folder { url: Some(_) } if to.is_empty() => match up(from).as_str() {
                "" => "./".to_owned(),
                way => way.to_owned(),
            },
            Self::Folder { .. } => format!("{}{}.html", up(from), file_stem(to)),
        }
    }

    /// Address of an image, as it stands in a page.
    fn image(&self, from: &str, name: &str) -> String {
        match self {
            Self::Server { .. } => format!("/docs/{name}"),
            Self::Folder { .. } => format!("{}{name}", up(from)),
        }
    }

    /// Address of the OpenAPI document, as a link on a page.
    pub(super) fn openapi(&self, from: &str) -> String {
        match self {
            Self::Server { .. } => "/v1/openapi.json".to_owned(),
            Self::Folder { .. } => format!("{}openapi.json", up(from)),
        }
    }

    fn styles(&self, from: &str) -> [String; 2] {
        match self {
            Self::Server { .. } => page::manual_styles(),
            Self::Folder { .. } => ["pages.css", "manual.css"].map(|name| format!("{}{name}", up(from))),
        }
    }

    /// URL of an image, for pages elsewhere that name this one.
    fn absolute_image(&self, name: &str) -> Option<String> {
        match self {
            Self::Server { origin } => Some(format!("{origin}/docs/{name}")),
            Self::Folder { url } => url.as_ref().map(|url| format!("{url}/{name}")),
        }
    }

    fn canonical(&self, path: &str) -> Option<String> {
        match self {
            Self::Server { origin } => Some(format!("{origin}{}", self.href("", path))),
            Self::Folder { url } => url.as_ref().map(|url| absolute(url, path)),
        }
    }

    fn article(&self, source: &ChapterSource) -> Article {
        let mut article = markdown::render(source.text, |target| self.resolve(source, target));
        // With its size, a picture does not move the text when it comes.
        for image in chapters::IMAGES {
            let address = format!(" src=\"{}\"", self.image(page_path(source.file), image.name));
            if let Some([width, height]) = image.size() {
                let sized = format!("{address} width=\"{width}\" height=\"{height}\" loading=\"lazy\"");
                article.html = article.html.replace(&address, &sized);
            }
        }
        article
    }

    /// Turns the target of a link of a chapter into one of its page. What is not in the manual is at the repository.
    fn resolve(&self, source: &ChapterSource, target: &str) -> String {
        let is_absolute = target.contains("://") || target.starts_with("mailto:");
        if is_absolute || target.starts_with('#') {
            return target.to_owned();
        }
        let (file, fragment) = target
            .split_once('#')
            .map_or((target, ""), |(file, rest)| (file, rest));
        let from = page_path(source.file);
        let mut way: Vec<&str> = vec!["docs"];
        way.extend(source.file.split('/'));
        way.pop();
        for step in file.split('/') {
            match step {
                ".." => {
                    way.pop();
                }
                step => way.push(step),
            }
        }
        let inside = way.join("/");
        let page = match inside.as_str() {
            "openapi.json" => return self.openapi(from),
            "config.default.toml" => SETTINGS,
            other => match other.strip_prefix("docs/") {
                Some(image) if super::image(image).is_some() => return self.image(from, image),
                Some(file) if chapters::SOURCES.iter().any(|source| source.file == file) => page_path(file),
                _ => return format!("{}/blob/HEAD/{other}", env!("CARGO_PKG_REPOSITORY")),
            },
        };
        let mut href = self.href(from, page);
        if !fragment.is_empty() {
            href = format!("{href}#{fragment}");
        }
        href
    }
}

/// Shortest title that is shown without more words, in characters.
const SHORT_TITLE: usize = 15;

/// Title of a page in tabs and search results.
fn title(heading: &str) -> String {
    if heading.chars().count() < SHORT_TITLE {
        format!("{heading} · Searchwright manual")
    } else {
        format!("{heading} · Searchwright")
    }
}

/// Page with the commented default of the configuration.
const SETTINGS: &str = "settings";

/// Path of the page of a file.
fn page_path(file: &str) -> &str {
    match file {
        "index.md" => "",
        file => file.trim_end_matches(".md"),
    }
}

/// Steps from a page to the root of the manual.
fn up(from: &str) -> String {
    "../".repeat(from.matches('/').count())
}

fn groups(endpoints: &[Endpoint], openapi: &Value, location: &Location) -> Vec<DraftGroup> {
    let mut groups = Vec::new();
    for part in chapters::parts() {
        let drafts = part.chapters.iter().map(|chapter| Draft {
            path: page_path(chapter.source.file).to_owned(),
            label: chapter.label.clone(),
            article: location.article(chapter.source),
        });
        groups.push(DraftGroup {
            title: part.title,
            drafts: drafts.collect(),
        });
    }
    if let Some(operations) = groups.iter_mut().find(|group| group.title == "Operation") {
        operations.drafts.push(settings());
    }
    let reference = Reference::new(endpoints, openapi, location);
    groups.push(DraftGroup {
        title: "API reference".to_owned(),
        drafts: reference.drafts(),
    });
    groups
}

fn settings() -> Draft {
    let text = format!(
        "# All settings\n\nEvery setting of the configuration with its default, as `searchwright config print --default` prints them: a file \
         that `--config` can name.\n\n```toml\n{}```\n",
        config::DEFAULT
    );
    Draft {
        path: SETTINGS.to_owned(),
        label: "All settings".to_owned(),
        article: markdown::render(&text, str::to_owned),
    }
}

fn navigation<'a>(groups: &'a [DraftGroup], current: &Draft, location: &Location) -> Vec<NavGroup<'a>> {
    let link = |draft: &'a Draft| NavLink {
        href: location.href(&current.path, &draft.path),
        label: &draft.label,
        is_current: draft.path == current.path,
    };
    let group = |group: &'a DraftGroup| {
        let links: Vec<NavLink<'a>> = group.drafts.iter().map(link).collect();
        NavGroup {
            title: &group.title,
            is_open: links.iter().any(|link| link.is_current),
            links,
        }
    };
    groups.iter().map(group).collect()
}
