//! The chapters: which Markdown files the program carries, and their order.

/// A Markdown file of `docs`.
#[derive(Debug)]
pub(super) struct ChapterSource {
    /// Path below `docs`.
    pub file: &'static str,
    pub text: &'static str,
}

/// An image of `docs`.
#[derive(Debug)]
pub(super) struct Image {
    /// Path below `docs`.
    pub name: &'static str,
    pub content: &'static [u8],
}

macro_rules! sources {
    ($($file:literal,)*) => {
        /// Every file that `SUMMARY.md` names. A test compares them.
        pub(super) const SOURCES: &[ChapterSource] = &[$(ChapterSource {
            file: $file,
            text: include_str!(concat!("../../../../docs/", $file)),
        },)*];
    };
}

sources! {
    "index.md",
    "tutorial.md",
    "installing.md",
    "dashboard.md",
    "audits.md",
    "checks.md",
    "visibility.md",
    "autopilot.md",
    "schedules.md",
    "notices.md",
    "webhooks.md",
    "api.md",
    "accounts.md",
    "integrations.md",
    "providers/wordpress.md",
    "providers/ghost.md",
    "providers/webflow.md",
    "providers/shopify.md",
    "providers/wix.md",
    "providers/notion.md",
    "providers/contentful.md",
    "providers/strapi.md",
    "providers/directus.md",
    "providers/git.md",
    "providers/files.md",
    "providers/webhook.md",
    "providers/models.md",
    "providers/google.md",
    "providers/dataforseo.md",
    "operating.md",
    "security.md",
    "threat-model.md",
    "proof.md",
    "what-leaves.md",
    "benchmarks.md",
    "developing.md",
    "design/audits.md",
    "design/events-and-publishing.md",
    "design/keywords-and-writing.md",
    "design/store.md",
}

/// Image of links to the pages, where others show one.
pub(super) const PREVIEW: &str = "report.png";

macro_rules! images {
    ($($name:literal,)*) => {
        /// Images that chapters show, as PNG.
        pub(super) const IMAGES: &[Image] = &[$(Image {
            name: $name,
            content: include_bytes!(concat!("../../../../docs/", $name)),
        },)*];
    };
}

images! {
    "report.png",
    "pictures/connect-contentful.png",
    "pictures/connect-directus.png",
    "pictures/connect-files.png",
    "pictures/connect-ghost.png",
    "pictures/connect-git.png",
    "pictures/connect-notion.png",
    "pictures/connect-shopify.png",
    "pictures/connect-strapi.png",
    "pictures/connect-webflow.png",
    "pictures/connect-webhook.png",
    "pictures/connect-wix.png",
    "pictures/connect-wordpress.png",
    "pictures/mapping.png",
}

impl Image {
    /// Width and height in pixels, from the header of the file (PNG, 11.2.2).
    pub(super) fn size(&self) -> Option<[u32; 2]> {
        let number = |at: usize| {
            let bytes = self.content.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        Some([number(16)?, number(20)?])
    }
}

const SUMMARY: &str = include_str!("../../../../docs/SUMMARY.md");

/// Chapters under one heading of the navigation.
#[derive(Debug)]
pub(super) struct SummaryPart {
    pub title: String,
    pub chapters: Vec<Chapter>,
}

/// A chapter in the navigation.
#[derive(Debug)]
pub(super) struct Chapter {
    pub label: String,
    pub source: &'static ChapterSource,
}

/// Reads the order of the chapters, which has the form of mdBook's summaries.
pub(super) fn parts() -> Vec<SummaryPart> {
    let mut parts: Vec<SummaryPart> = Vec::new();
    for line in SUMMARY.lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            parts.push(SummaryPart {
                title: title.to_owned(),
                chapters: Vec::new(),
            });
        }
        let link = line.trim_start().trim_start_matches("- ").strip_prefix('[');
        let Some((label, file)) = link.and_then(|link| link.strip_suffix(')')?.split_once("](")) else {
            continue;
        };
        if let Some(source) = SOURCES.iter().find(|source| source.file == file)
            && let Some(part) = parts.last_mut()
        {
            part.chapters.push(Chapter {
                label: label.to_owned(),
                source,
            });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::{IMAGES, SOURCES, parts};

    fn files(folder: &Path, below: &Path, all: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                files(&path, below, all);
            } else if let Ok(name) = path.strip_prefix(below) {
                all.insert(name.to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_manual_is_in_its_summary_and_in_the_program() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut on_disk = BTreeSet::new();
        files(&docs, &docs, &mut on_disk);
        on_disk.remove("SUMMARY.md");
        let known: BTreeSet<String> = SOURCES
            .iter()
            .map(|source| source.file)
            .chain(IMAGES.iter().map(|image| image.name))
            .map(str::to_owned)
            .collect();
        assert_eq!(on_disk, known);
        let parts = parts();
        let listed = parts.iter().flat_map(|part| &part.chapters);
        let listed: BTreeSet<&str> = listed.map(|chapter| chapter.source.file).collect();
        assert_eq!(listed.len(), SOURCES.len(), "chapters that SUMMARY.md lacks");
    }
}
