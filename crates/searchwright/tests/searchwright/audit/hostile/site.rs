//! The websites, answered as they are asked for.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use flate2::{Compression, write::GzEncoder};

const MIB: usize = 1024 * 1024;

/// Answer as sent over the connection.
pub enum Answer {
    /// Status, lines of headers, body.
    Is(u16, String, Vec<u8>),
    /// These bytes, then these again and again.
    Pours(Vec<u8>, Vec<u8>),
}
use Answer::{Is, Pours};

/// Answers a path; its own port and how many requests came before this one.
type Site = fn(path: &str, port: u16, before: usize) -> Option<Answer>;

/// A website on loopback, under two names.
pub struct Hostile {
    pub origin: String,
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Hostile {
    /// Serves for the rest of the process.
    pub fn start(site: Site) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<Mutex<HashMap<String, usize>>>::default();
        let (log, count) = (asked.clone(), Arc::<AtomicUsize>::default());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, count) = (log.clone(), count.clone());
                // a client that hangs up ends its thread, whatever it was told
                std::thread::spawn(move || serve(&stream, site, port, &log, &count));
            }
        });
        Self {
            origin: format!("http://127.0.0.1:{port}"),
            asked,
        }
    }

    /// Requests for a path.
    pub fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().get(path).copied().unwrap_or_default()
    }
}

fn serve(
    mut stream: &TcpStream,
    site: Site,
    port: u16,
    log: &Mutex<HashMap<String, usize>>,
    count: &AtomicUsize,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            (reader.read_line(&mut request).ok()? > 0).then_some(())?;
        }
        let mut words = request.split(' ');
        let is_head = words.next()? == "HEAD";
        let path = words.next()?;
        *log.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        let before = count.fetch_add(1, Ordering::Relaxed);
        match site(path, port, before).unwrap_or_else(|| Is(404, String::new(), Vec::new())) {
            Is(status, head, body) => {
                let length = body.len();
                let head = format!("HTTP/1.1 {status} .\r\ncontent-length: {length}\r\n{head}\r\n");
                let body = if is_head { &[][..] } else { &body };
                stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
            }
            Pours(first, then) => {
                stream.write_all(&first).ok()?;
                while !then.is_empty() {
                    stream.write_all(&then).ok()?;
                }
                return None;
            }
        }
    }
}

fn bytes(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
    Is(200, format!("content-type: {kind}\r\n"), body.into())
}

pub fn html(body: impl Into<Vec<u8>>) -> Answer {
    bytes("text/html; charset=utf-8", body)
}

fn moved(to: &str) -> Answer {
    Is(302, format!("location: {to}\r\n"), Vec::new())
}

pub fn links<T: AsRef<str>>(to: impl IntoIterator<Item = T>) -> String {
    let link = |to: T| format!("<a href=\"{0}\">To {0}</a> ", to.as_ref());
    to.into_iter().map(link).collect()
}

fn good(path: &str) -> Option<Answer> {
    let n = path.strip_prefix("/good/")?;
    let markup =
        r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"Thing"}</script>"#;
    Some(html(format!(
        "<!doctype html><html lang=en><title>Harmless page {n}</title>{markup}<h1>Page {n}</h1><p>Text"
    )))
}

/// Rest of a path that is a number.
fn number(path: &str, before: &str) -> Option<usize> {
    path.strip_prefix(before)?.parse().ok()
}

/// Ways without an end.
pub fn traps(path: &str, port: u16, _: usize) -> Option<Answer> {
    let there = format!("http://localhost:{port}");
    let here = format!("http://127.0.0.1:{port}");
    Some(match path {
        "/" => {
            let pages = [
                "/calendar/1",
                "/deeper/",
                "/circle/a",
                "/self",
                "/across/a",
                "/endless/0",
                "/canonical/a",
                "/canonical/b",
                "/canonical/across",
                "/languages",
                "/good/0",
                "/good/1",
                "/good/2",
            ];
            let all = pages
                .map(str::to_owned)
                .into_iter()
                .chain((0..20).map(|n| format!("/lists/{n}")));
            html(links(all))
        }
        "/circle/a" => moved("/circle/b"),
        "/circle/b" => moved("/circle/a"),
        "/self" => moved("/self"),
        "/across/a" => moved(&format!("{there}/across/b")),
        "/across/b" => moved(&format!("{here}/across/a")),
        "/canonical/a" => html("<title>A</title><link rel=canonical href=/canonical/b>"),
        "/canonical/b" => html("<title>B</title><link rel=canonical href=/canonical/a>"),
        "/canonical/across" => html(format!("<link rel=canonical href={there}/canonical/back>")),
        "/canonical/back" => html(format!("<link rel=canonical href={here}/canonical/across>")),
        "/languages" => {
            let link = |n| format!("<link rel=alternate hreflang=en href=/in/{n}>");
            html((0..1_000).map(link).collect::<String>())
        }
        _ if path.starts_with("/list?") => html(links((0..50).map(|n| format!("{path}&more={n}")))),
        _ if path.starts_with("/deeper/") => html("<title>Deeper</title><a href=\"deeper/deeper\">on</a>"),
        _ => {
            if let Some(month) = number(path, "/calendar/") {
                html(links([format!("/calendar/{}", month + 1)]))
            } else if let Some(n) = number(path, "/endless/") {
                moved(&format!("/endless/{}", n + 1))
            } else if let Some(n) = number(path, "/lists/") {
                html(links(
                    (n * 5_000..(n + 1) * 5_000).map(|n| format!("/list?color={n}")),
                ))
            } else {
                return good(path);
            }
        }
    })
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn sitemap(declarations: &str, urls: usize, more: &str) -> Answer {
    let url = |n| format!("<url><loc>http://127.0.0.1/{n}{more}</loc></url>");
    let urls: String = (0..urls).map(url).collect();
    let all = format!(
        "<?xml version=\"1.0\"?>{declarations}<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"
    );
    bytes("application/gzip", gzip(all.as_bytes()))
}

/// Every answer has links that nobody has seen before.
pub fn sessions(path: &str, port: u16, before: usize) -> Option<Answer> {
    Some(match path {
        "/robots.txt" => {
            let sitemap = |name| format!("Sitemap: http://127.0.0.1:{port}/{name}.xml.gz\n");
            bytes("text/plain", ["laughs", "fifty", "more"].map(sitemap).concat())
        }
        "/laughs.xml.gz" => {
            let entity = |n: usize| format!("<!ENTITY e{} \"{}\">", n + 1, format!("&e{n};").repeat(10));
            let entities: String = (0..10).map(entity).collect();
            let declarations = format!("<!DOCTYPE urlset [<!ENTITY e0 \"ha\">{entities}]>");
            sitemap(&declarations, 50_000, "&e10;")
        }
        "/fifty.xml.gz" => sitemap("", 50_000, ""),
        "/more.xml.gz" => sitemap("", 50_001, ""),
        _ if path == "/" || path.starts_with("/s/") => {
            let fresh = (0..3).map(|n| format!("/s/{before:06x}{n}/page"));
            html(links(fresh.chain(["/good/0".to_owned()])))
        }
        _ => return good(path),
    })
}

/// Answers that are too much.
pub fn floods(path: &str, _: u16, _: usize) -> Option<Answer> {
    Some(match path {
        "/" => html(links([
            "/huge",
            "/bomb",
            "/garbage",
            "/headers",
            "/links",
            "/deep",
            "/attributes",
            "/metadata",
            "/forbidden",
            "http://169.254.169.254/latest/meta-data/",
            "http://10.1.2.3/",
            "/good/0",
        ])),
        "/robots.txt" => {
            let mut rules = b"User-agent: *\nDisallow: /forbidden\n".to_vec();
            rules.resize(5 * MIB, b'#');
            bytes("text/plain", rules)
        }
        "/huge" => Pours(
            b"HTTP/1.1 200 .\r\ncontent-type: text/html\r\ncontent-length: 10737418240\r\n\r\n".to_vec(),
            vec![b'x'; 65_536],
        ),
        "/bomb" => Is(
            200,
            "content-type: text/html\r\ncontent-encoding: gzip\r\n".to_owned(),
            gzip(&vec![b' '; 50 * MIB]),
        ),
        "/garbage" => Pours(b"\x00\x01\x02 SSH-2.0-OpenSSH\r\n\r\n".to_vec(), Vec::new()),
        "/headers" => Pours(
            b"HTTP/1.1 200 .\r\n".to_vec(),
            b"X-A: 0123456789abcdef0123456789abcdef\r\n".repeat(1_000),
        ),
        "/links" => html(
            (0..1_000_000)
                .map(|n| format!("<a href=/l/{n}>"))
                .collect::<String>(),
        ),
        "/deep" => html("<div>".repeat(200_000)),
        "/attributes" => html(format!(
            "<div {}>",
            (0..500_000).map(|n| format!("a{n} ")).collect::<String>()
        )),
        "/metadata" => moved("http://169.254.169.254/latest/meta-data/"),
        _ => return good(path),
    })
}

/// Invalid JSON for blocks of JSON-LD.
pub const BROKEN_JSON_LD: &[&[u8]] = &[
    b"",
    b"{\"@type\":\"Product\"",
    b"{\"@type\":\"Product\",}",
    b"{'@type':'Product'}",
    b"{@type:Product}",
    b"{\"a\":1} // shop",
    b"/* shop */ {\"a\":1}",
    b"{\"a\":1}{\"b\":2}",
    b"{&quot;a&quot;:1}",
    b"{\"a\":NaN}",
    b"{\"a\":\"line\nbreak\"}",
    b"{\"a\":\"\\x41\"}",
    b"{\"a\":\"\x00\"}",
    b"{\"a\":01}",
    b"<b>{}</b>",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

const ARABIC: &str = "إصلاح جزازات العشب ليس صعبا إذا كانت لديك الأدوات المناسبة وقليل من الصبر في يوم هادئ. ";
const HEBREW: &str = "תיקון מכסחות דשא אינו קשה אם יש לכם כלים מתאימים ומעט סבלנות ביום שקט בבית. ";
const CHINESE: &str = "修理割草机并不困难,只要您有合适的工具和一点耐心,在安静的日子里慢慢来就可以了。";

fn page(language: &str, title: &str, text: &str) -> Answer {
    let direction = if matches!(language, "ar" | "he") {
        "rtl"
    } else {
        "ltr"
    };
    html(format!(
        "<!doctype html><html lang={language} dir={direction}><title>{title}</title><h1>{title}</h1><p>{text}"
    ))
}

/// Markup that is broken, and texts in every direction and encoding.
pub fn scripts(path: &str, _: u16, _: usize) -> Option<Answer> {
    let wide = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    Some(match path {
        "/" => {
            let pages = [
                "/latin", "/cyrillic", "/wide", "/japanese", "/mixed", "/undeclared", "/arabic", "/hebrew", "/chinese",
                "/chinese-long", "/chinese-thin", "/good/0",
            ];
            let broken = (0..BROKEN_JSON_LD.len()).map(|n| format!("/json-ld/{n}"));
            html(links(pages.map(str::to_owned).into_iter().chain(broken)))
        }
        "/latin" => bytes("text/html; charset=iso-8859-1", b"<title>Gr\xf6\xdfe und Ma\xdf der Dinge</title>"),
        "/cyrillic" => bytes(
            "text/html",
            b"<meta charset=windows-1251><title>\xd0\xe0\xe7\xec\xe5\xf0 \xe8 \xec\xe5\xf0\xe0 \xe2\xe5\xf9\xe5\xe9</title>",
        ),
        "/wide" => bytes("text/html", wide("<title>Größe 大きさ и размер</title>")),
        "/japanese" => bytes(
            "text/html; charset=Shift_JIS",
            b"<title>\x95\xa8\x82\xcc\x91\xe5\x82\xab\x82\xb3\x82\xc6\x90\xa1\x96@\x82\xc9\x82\xc2\x82\xa2\x82\xc4</title>",
        ),
        "/mixed" => html(b"<title>Gr\xf6\xc3\x9fe</title>"),
        "/undeclared" => bytes("text/html", b"<title>Gr\xf6\xdfe</title>"),
        "/arabic" => page("ar", "إصلاح جزازات العشب في البيت بلا تعب", &ARABIC.repeat(20)),
        "/hebrew" => page("he", "תיקון מכסחות דשא בבית ללא מאמץ רב", &HEBREW.repeat(20)),
        "/chinese" => page("zh", "在家里轻松修理割草机的完整指南和工具清单以及保养方法", &CHINESE.repeat(10)),
        "/chinese-long" => page("zh", &"修理割草机的完整指南".repeat(4), &CHINESE.repeat(10)),
        "/chinese-thin" => page("zh", "修理割草机", CHINESE),
        _ => match number(path, "/json-ld/") {
            Some(n) => {
                let (start, end) = (b"<script type=application/ld+json>".as_slice(), b"</script>".as_slice());
                html([start, BROKEN_JSON_LD.get(n)?, end].concat())
            }
            None => return good(path),
        },
    })
}
