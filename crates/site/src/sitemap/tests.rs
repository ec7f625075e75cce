mod feeds;

use std::io::Write;

use super::{faults::TOO_LARGE, *};

const NOW: i64 = 1_795_000_000_000;

fn of(text: &str) -> Listing {
    read(text.as_bytes(), &Url::parse("https://example.com/").unwrap(), NOW)
}

fn urlset(inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">{inner}</urlset>"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn urls_are_listed() {
    let text = urlset(
        "<url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2024-05-31</lastmod><image:image><image:loc>https://cdn.example.com/i.png</image:loc></image:image></url>\n<url><loc><![CDATA[https://example.com/b&c]]></loc></url><url><loc>https://example.com/&#252;&#x41;</loc></url><url/>",
    );
    let listing = of(&text);
    assert_eq!(
        listing.urls.iter().map(|u| &**u).collect::<Vec<_>>(),
        [
            "https://example.com/a?x=1&y=2",
            "https://example.com/b&c",
            "https://example.com/üA"
        ]
    );
    let facts = listing.facts;
    assert_eq!(
        (facts.index, facts.urls, facts.error, facts.lastmod),
        (false, 3, None, [1, 0, 0])
    );
    assert_eq!((facts.bytes, facts.foreign.len()), (text.len() as u64, 0));
}

#[test]
fn alternates_of_entries_are_kept() {
    let link =
        |code: &str, href: &str| format!("<xhtml:link rel='alternate' hreflang='{code}' href='{href}'/>");
    let text = urlset(
        &[
            "<url>",
            &link("de", "https://example.com/de?b=1&amp;a=2"),
            "<loc>https://example.com/en</loc>",
            &link("fr", "/fr"),
            "<xhtml:link rel='stylesheet' href='/s'/><xhtml:link rel='alternate' href='/m'/></url>",
            "<url><loc>https://example.com/fr</loc>",
            &link("en", "https://example.com/en#x"),
            "</url>",
            "<url>",
            &link("en", "/nobody"),
            "</url>",
        ]
        .concat(),
    );
    let listing = of(&text);
    assert_eq!((listing.facts.error, listing.urls.len()), (None, 2));
    let named = |page: &str, alternate: &str| {
        let url = |path: &str| format!("https://example.com/{path}");
        named(&url(page), &url(alternate))
    };
    assert_eq!(
        listing.alternates,
        [named("en", "de?a=2&b=1"), named("en", "fr"), named("fr", "en")]
    );
}

#[test]
fn days_are_those_of_their_urls() {
    let entry = |i: usize, date: &str| {
        format!("<url><loc>https://example.com/{i}</loc><lastmod>{date}</lastmod></url>")
    };
    let before = "<url><lastmod>1970-01-03</lastmod><loc>https://example.com/b</loc></url>";
    let wrong = entry(1, "soon") + &entry(2, "2099-01-01") + &entry(3, "1960-01-01");
    let bare = "<url><loc>https://example.com/c</loc></url>";
    let text = urlset(&[bare, before, &wrong, &entry(4, "2024-05-31T10:00:00Z"), bare].concat());
    let listing = of(&text);
    assert_eq!(
        (listing.urls.len(), listing.days),
        (7, vec![0, 2, 0, 0, 0, 19_874])
    );
    let many = |date: fn(usize) -> String| {
        let entries: String = (0..20).map(|i| entry(i, &date(i))).collect();
        of(&urlset(&entries)).days.len()
    };
    // the date of the file says nothing about its pages
    assert_eq!(many(|_| "2024-05-31".to_owned()), 0);
    assert_eq!(many(|i| format!("2024-05-{:02}", i + 1)), 20);
}

#[test]
fn an_index_lists_sitemaps() {
    let listing = of(
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>https://cdn.example.net/1.xml.gz</loc></sitemap></sitemapindex>",
    );
    assert_eq!(
        (
            listing.facts.index,
            listing.urls.len(),
            listing.facts.foreign.len(),
            listing.facts.error
        ),
        (true, 1, 0, None)
    );
}

#[test]
fn a_prefixed_root_and_a_text_file_are_read() {
    let listing = of(
        "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:url><s:loc>https://example.com/</s:loc></s:url></s:urlset>",
    );
    assert_eq!((listing.urls.len(), listing.facts.error), (1, None));
    let listing = of("\u{feff}https://example.com/a\r\n\r\nhttps://example.com/b\n");
    assert_eq!((listing.urls.len(), listing.facts.error), (2, None));
}

#[test]
fn gzip_is_undone() {
    let text = urlset("<url><loc>https://example.com/a</loc></url>");
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let members = [gzip(first), gzip(second)].concat();
    for (zipped, rest) in [
        (gzip(text.as_bytes()), &b""[..]),
        (members.clone(), b""),
        (members, b"\0\0\0"),
    ] {
        let zipped = [&zipped[..], rest].concat();
        let listing = read(&zipped, &Url::parse("https://example.com/").unwrap(), NOW);
        assert_eq!(
            (listing.urls.len(), listing.facts.bytes, listing.facts.error),
            (1, text.len() as u64, None),
            "{rest:?}"
        );
    }
}

#[test]
fn other_files_are_named_as_what_they_are() {
    for (text, error) in [
        ("", "empty"),
        (
            "<!DOCTYPE html>\n<html><head><title>404</title>",
            "an HTML page, not a sitemap",
        ),
        (
            "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>words",
            "an HTML page, not a sitemap",
        ),
        ("<!-- nothing -->", "no element"),
        ("<HTML>", "an HTML page, not a sitemap"),
        (
            "<opml version='2.0'></opml>",
            "root element is `opml`, not urlset, sitemapindex, rss or feed",
        ),
        ("not found", "neither XML nor a list of URLs"),
        (
            "<urlset><url><loc>https://example.com/</loc></url></urlset>",
            "no namespace",
        ),
        (
            "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'></urlset>",
            "unknown namespace `http://www.google.com/schemas/sitemap/0.84`",
        ),
        (
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>",
            "the XML ends after 65 bytes, before its root element does",
        ),
    ] {
        assert_eq!(of(text).facts.error.as_deref(), Some(error), "{text}");
    }
    let broken = of(&urlset("<url><loc>https://example.com/a</loc></url><url></loc>"));
    assert!(broken.facts.error.unwrap().starts_with("not well-formed at byte"));
    assert_eq!(broken.urls.len(), 1, "what was read before the fault counts");
}

#[test]
fn truncated_file_is_reported() {
    let root = Url::parse("https://example.com/").unwrap();
    let whole =
        urlset("<url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url>");
    let cut = |end: &str| of(&whole[..whole.find(end).unwrap() + end.len()]);
    let listing = cut("/a</loc");
    assert!(listing.facts.is_cut() && listing.urls.is_empty());
    let error = listing.facts.error.unwrap();
    assert!(
        error.starts_with("the XML ends after ") && error.contains(", within what begins at byte "),
        "{error}"
    );
    let listing = cut("/a</loc></url>");
    assert_eq!(listing.urls.len(), 1);
    assert!(
        listing
            .facts
            .error
            .unwrap()
            .ends_with(" bytes, before its root element does")
    );
    let zipped = gzip(whole.as_bytes());
    let error = read(&zipped[..zipped.len() - 9], &root, NOW).facts.error.unwrap();
    assert!(
        error.starts_with("compressed, and damaged or not whole"),
        "{error}"
    );
    let mut facts = of(&whole).facts;
    assert!(facts.error.is_none() && !facts.is_cut());
    facts.cut_off(Cut::Time);
    let why = format!("took too long: cut off after {} bytes", whole.len());
    assert!(facts.error.as_deref() == Some(&*why) && facts.is_cut());
}

#[test]
fn other_encodings_are_read_and_named() {
    let root = Url::parse("https://example.com/").unwrap();
    let told = |body: &[u8]| {
        let listing = read(body, &root, NOW);
        let last = listing.urls.last().map(|url| url.to_string());
        (
            last,
            listing.facts.error.as_deref().map(str::to_owned),
            listing.facts.is_cut(),
        )
    };
    let url = |url: &str| Some(url.to_owned());
    let wrong = |encoding: &str| Some(format!("encoded in {encoding}: {UTF_8_ONLY}"));
    let text = urlset("<url><loc>https://example.com/ü</loc></url>").replace("UTF-8", "UTF-16");
    let long = text.replace("<url>", &format!("<url>{}", "<!-- ü -->".repeat(20_000)));
    for text in [&text, &long, "\r\nhttps://example.com/ü"] {
        for mark in ["\u{feff}", ""] {
            let little: Vec<u8> = [mark, text]
                .concat()
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect();
            let big: Vec<u8> = little.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
            for (body, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
                if mark.is_empty() && !text.starts_with('<') {
                    continue;
                }
                assert_eq!(told(&body), (url("https://example.com/ü"), wrong(name), false));
                let zipped = gzip(&body);
                assert_eq!(told(&zipped), (url("https://example.com/ü"), wrong(name), false));
            }
        }
    }
    let latin = |inner: &str| {
        let text = urlset(inner).replace("UTF-8", "ISO-8859-1");
        text.chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    let declared = latin("<url><loc>https://example.com/ü</loc></url>");
    assert_eq!(
        told(&declared),
        (url("https://example.com/ü"), wrong("windows-1252"), false)
    );
    // ASCII is UTF-8, whatever encoding is declared
    let ascii = latin("<url><loc>https://example.com/u</loc></url>");
    assert_eq!(told(&ascii), (url("https://example.com/u"), None, false));
    let body = [
        b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://example.com/"
            .as_slice(),
        b"\xfc</loc></url></urlset>",
    ]
    .concat();
    let (_, error, is_cut) = told(&body);
    let error = error.unwrap();
    assert!(
        error.starts_with("not UTF-8 at byte ") && error.ends_with(UTF_8_ONLY) && is_cut,
        "{error}"
    );
    assert_eq!(
        told(b"https://example.com/\xfc\n").1,
        Some(format!("not UTF-8: {UTF_8_ONLY}"))
    );
    let both = told(
        &text
            .replace(" xmlns=", " x=")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    assert_eq!(
        both.1,
        Some(format!("no namespace; encoded in UTF-16LE: {UTF_8_ONLY}"))
    );
    assert!(!both.2);
}

#[test]
fn entities_of_the_document_are_not_expanded() {
    let mut laughs =
        "<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY lol0 \"https://example.com/\">".to_owned();
    for i in 1..10 {
        laughs.push_str(&format!(
            "<!ENTITY lol{i} \"{}\">",
            format!("&lol{};", i - 1).repeat(10)
        ));
    }
    laughs.push_str("]><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>&lol9;</loc></url></urlset>");
    let listing = of(&laughs);
    assert_eq!(
        (listing.facts.error.as_deref(), listing.urls.len()),
        (Some("unknown entity `lol9`"), 0)
    );
    let file = of(
        "<!DOCTYPE urlset [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>&x;</loc></url></urlset>",
    );
    assert_eq!(file.facts.error.as_deref(), Some("unknown entity `x`"));
}

#[test]
fn more_than_50_000_urls_are_counted_and_not_kept() {
    let listing = of(&urlset(
        &"<url><loc>https://example.com/</loc></url>".repeat(50_010),
    ));
    assert_eq!((listing.facts.urls, listing.urls.len()), (50_010, 50_000));
}

#[test]
fn size_and_ratio_are_bounded() {
    let root = Url::parse("https://example.com/").unwrap();
    let limit = 1_500_000;
    let long = urlset(&"<url><loc>https://example.com/</loc></url>".repeat(40_000));
    let listing = read_within(long.as_bytes(), &root, NOW, limit);
    assert_eq!(
        (listing.facts.error.as_deref(), listing.facts.bytes),
        (Some(TOO_LARGE), limit + 1)
    );
    let bomb = read(&gzip(urlset(&" ".repeat(4_000_000)).as_bytes()), &root, NOW);
    let why = format!(
        "inflates more than 100:1, as attacks do: cut off after {} bytes",
        bomb.facts.bytes
    );
    assert_eq!(bomb.facts.error.as_deref(), Some(&*why));
    assert!(bomb.facts.bytes < 2 * 1024 * 1024);
    let one_tag = urlset(&format!("<url {}", "a".repeat(2_000_000)));
    assert_eq!(
        read_within(one_tag.as_bytes(), &root, NOW, limit)
            .facts
            .error
            .as_deref(),
        Some(TOO_LARGE)
    );
}

#[test]
fn foreign_urls_are_kept_as_evidence() {
    let inner: String = (0..30)
        .map(|i| format!("<url><loc>http://example.com/{i}</loc></url>"))
        .collect();
    let listing = of(&urlset(&format!(
        "<url><loc>https://example.com/</loc></url><url><loc>/relative</loc></url>{inner}"
    )));
    assert_eq!(
        (
            listing.facts.foreign.len(),
            &*listing.facts.foreign[0],
            &*listing.facts.foreign[1]
        ),
        (20, "/relative", "http://example.com/0")
    );
}

#[test]
fn dates_are_judged() {
    let dates = |dates: &[&str]| {
        let inner: String = dates
            .iter()
            .map(|d| format!("<url><loc>https://example.com/</loc><lastmod>{d}</lastmod></url>"))
            .collect();
        let facts = of(&urlset(&inner)).facts;
        (facts.lastmod, facts.lastmod_identical)
    };
    assert_eq!(
        dates(&["2024-01-01", "yesterday", "2999-01-01", ""]),
        ([4, 2, 1], false)
    );
    assert_eq!(dates(&["2024-01-01"; 2]), ([2, 0, 0], true));
    assert_eq!(dates(&["2024-01-01"]), ([1, 0, 0], false));
    assert_eq!(dates(&["2024-01-01", "2024-01-02"]), ([2, 0, 0], false));
    for (text, ms) in [
        ("1970", Some(0)),
        ("1970-02", Some(2_678_400_000)),
        ("2000-03-01", Some(951_868_800_000)),
        ("2024-02-29", Some(1_709_164_800_000)),
        ("2023-02-29", None),
        ("2024-05-31T10:00Z", Some(1_717_149_600_000)),
        ("2024-05-31T10:00:00.25+02:00", Some(1_717_142_400_250)),
        ("2024-05-31T10:00:00-05:30", Some(1_717_169_400_000)),
        ("2024-05-31T10:00:00", None),
        ("2024-05T10:00Z", None),
        ("2024-13-01", None),
        ("2024-5-1", None),
        ("31.05.2024", None),
        ("2024-05-31 10:00", None),
        ("2024-05-31T25:00Z", None),
        ("2024-05-31T10:00:00.é+00:00", None),
    ] {
        assert_eq!(w3c_datetime_ms(text), ms, "{text}");
    }
}

/// An error that repeats is reported once.
#[test]
fn errors_do_not_add_up() {
    for (what, error) in [
        (
            "<?xml version='1.0'?>".repeat(100_000),
            format!("{LATE}; no element"),
        ),
        (
            "<urlset/>".repeat(100_000),
            "no namespace; not well-formed at byte 18: a second root element".into(),
        ),
    ] {
        assert_eq!(of(&what).facts.error.as_deref(), Some(&*error));
    }
}

#[test]
fn nothing_stands_before_the_declaration() {
    let url = "<url><loc>https://example.com/a</loc></url>";
    for (before, wrong) in [
        ("", false),
        ("\u{feff}", false),
        ("\n", true),
        (" ", true),
        ("<!-- x -->", true),
    ] {
        let listing = of(&format!("{before}{}", urlset(url)));
        assert_eq!(listing.urls.len(), 1, "{before:?}");
        assert_eq!(
            listing.facts.error.as_deref(),
            wrong.then_some(LATE),
            "{before:?}"
        );
        assert!(!listing.facts.is_cut());
    }
}
