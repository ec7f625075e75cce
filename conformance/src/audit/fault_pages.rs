//! A few pages with faults that the packaged websites never have.

use std::{fs, path::Path};

use anyhow::Result;

/// Name, language, what is in the head besides title and viewport, what is in the body.
const PAGES: [(&str, &str, &str, &str); 8] = [
    ("index", "en", "", ""),
    (
        "code",
        "en",
        "<link rel=alternate hreflang=english href=ORIGINindex.html>",
        "",
    ),
    (
        "relative",
        "en",
        "<link rel=alternate hreflang=de href=index.html>",
        "",
    ),
    (
        "picture",
        "en",
        "",
        "<img src=data:image/gif;base64,R0lGODlhAQABAAAAACw= width=9 height=9>",
    ),
    ("language", "notalanguage", "", ""),
    (
        "script",
        "en",
        "",
        "<a href='javascript:void(0)'>Open the catalogue</a>",
    ),
    (
        "zoom",
        "en",
        "<meta name=viewport content='width=device-width, user-scalable=no'>",
        "",
    ),
    ("titles", "en", "<title>Another title of this page</title>", ""),
];

/// Writes the pages below `root`, each with links to all.
pub(super) fn write(root: &Path, origin: &str) -> Result<()> {
    fs::create_dir_all(root)?;
    let links = PAGES.map(|(name, ..)| format!("<li><a href={name}.html>The page about {name}</a></li>\n"));
    for (name, lang, head, body) in PAGES {
        let head = head.replace("ORIGIN", origin);
        let viewport = if name == "zoom" {
            ""
        } else {
            "<meta name=viewport content='width=device-width, initial-scale=1'>"
        };
        fs::write(
            root.join(format!("{name}.html")),
            format!(
                "<!doctype html>\n<html lang={lang}>\n<head>\n<meta charset=utf-8>\n<title>What there is to know about {name}</title>\n\
                 {viewport}\n{head}\n</head>\n<body>\n<h1>About {name}</h1>\n{body}\n<ul>\n{}</ul>\n</body>\n</html>\n",
                links.concat()
            ),
        )?;
    }
    Ok(())
}
