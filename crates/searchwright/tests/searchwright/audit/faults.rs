//! Faults that only show when more than pages is asked for, or when a site is looked at twice.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::{Auditor, Findings, singles};

/// Status, headers and body by path.
type Answers = HashMap<String, (u16, String, Vec<u8>)>;

const GERMAN: &str = "Die Reparatur von Rasenmähern ist nicht schwierig, wenn man das richtige Werkzeug und ein wenig Geduld hat. \
    Beginnen Sie mit der Zündkerze, die leicht zu erreichen ist, und sehen Sie sich ihre Farbe an, bevor Sie sie wieder in den \
    Motor einsetzen. Wenn sie schwarz ist, ist das Gemisch zu fett; ist sie weiß, so läuft der Motor zu heiß, und dann sollten \
    Sie sich den Filter ansehen, der unter dem Deckel liegt.";

fn page(title: &str, head: &str, body: &str) -> (u16, String, Vec<u8>) {
    let html = format!("<!doctype html><html lang=en><title>{title}</title>{head}<h1>{title}</h1>{body}");
    (
        200,
        "content-type: text/html; charset=utf-8\r\n".into(),
        html.into(),
    )
}

/// The main text of a page.
fn text(word: &str) -> String {
    (0..200).map(|i| format!("w{i} ")).collect::<String>() + word
}

fn site() -> Answers {
    let file = |kind: &str, body: &[u8]| (200, format!("content-type: {kind}\r\n"), body.to_vec());
    let moved = |status, to: &str| (status, format!("location: {to}\r\n"), Vec::new());
    let markup =
        r#"<script type=application/ld+json>{"@context":"https://schema.org","@type":"Produkt"}</script>"#;
    let links = ["/a", "/b", "/c", "/away", "/gone-for-good", "/silent"]
        .map(|to| format!("<a href={to}>to {to}</a>"));
    [
        (
            "/",
            page(
                "Home of the mowers",
                &(markup.to_owned() + "<meta property=og:site_name content=Mowers>"),
                &links.concat(),
            ),
        ),
        (
            "/a",
            page(
                "Mowers of the north",
                "<meta property=og:image content=/card.gif>",
                &text("north"),
            ),
        ),
        (
            "/b",
            page(
                "Rakes for every garden",
                "<link rel=stylesheet href=/s.css>",
                &text("garden"),
            ),
        ),
        (
            "/c",
            page(
                "Reparatur",
                "",
                &format!("<p>{GERMAN}<p><img src=/lost.png alt=x>"),
            ),
        ),
        ("/away", moved(302, "/a")),
        // hangs up
        ("/silent", (0, String::new(), Vec::new())),
        ("/gone-for-good", moved(301, "/b")),
        ("/card.gif", file("image/gif", b"GIF89a\x10\x00\x20\x00\x00")),
        ("/s.css", file("text/css", b"p{}")),
        ("/robots.txt", file("text/plain", b"")),
        (
            "/llms.txt",
            file(
                "text/plain",
                b"# Mowers\n\n- [Guide](/guide.md): how to repair them, step by step\n",
            ),
        ),
    ]
    .map(|(path, answer)| (path.to_owned(), answer))
    .into()
}

/// Serves for the rest of the process; the origin.
fn serve(answers: &Arc<Mutex<Answers>>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let answers = answers.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answers = answers.clone();
            std::thread::spawn(move || answer(&stream, &answers));
        }
    });
    origin
}

fn answer(stream: &TcpStream, answers: &Mutex<Answers>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            (reader.read_line(&mut request).ok()? > 0).then_some(())?;
        }
        let mut words = request.split(' ');
        let is_head = words.next()? == "HEAD";
        let missing = (404, String::new(), b"not here".to_vec());
        let answer = answers.lock().unwrap().get(words.next()?).cloned();
        let (status, head, body) = answer.unwrap_or(missing);
        (status > 0).then_some(())?;
        let head = format!(
            "HTTP/1.1 {status} .\r\ncontent-length: {}\r\n{head}\r\n",
            body.len()
        );
        let body = if is_head { &[][..] } else { &body };
        let mut writer = stream;
        writer.write_all(&[head.as_bytes(), body].concat()).ok()?;
    }
}

fn on(found: &Findings, check: &str) -> Vec<String> {
    let places = found.get(check).into_iter().flat_map(|places| places.keys());
    places
        .map(|url| format!("/{}", url.rsplit('/').next().unwrap_or_default()))
        .collect()
}

#[test]
fn what_pages_need_and_what_lasts_is_seen() {
    let answers = Arc::new(Mutex::new(site()));
    let origin = serve(&answers);
    let auditor = Auditor::of(&origin);
    let server = auditor.serve();
    auditor.start(&server);
    assert_eq!(auditor.ended(&server)["status"], "completed");
    let first = auditor.findings(&server);
    for (check, pages) in [
        ("image-broken", &["/c"][..]),
        ("og-image-small", &["/a"]),
        ("og-image-broken", &[]),
        // a server on a private network
        ("no-cache-header", &[]),
        ("llms-txt-broken-link", &["/"]),
        ("duplicate-near", &["/a", "/b"]),
        ("language-detected-mismatch", &["/c"]),
        ("schema-unknown-type", &["/"]),
        ("cannibalisation", &[]),
        // nobody knows yet whether it stays
        ("redirect-temporary", &[]),
        ("http-no-response", &["/silent"]),
        ("entity-inconsistent", &[]),
    ] {
        assert_eq!(on(&first, check), pages, "{check}");
    }
    let card = &first["og-image-small"][&format!("{origin}/a")];
    assert_eq!((&card["width"], &card["height"]), (&json!(16), &json!(32)));
    let near = &first["duplicate-near"][&format!("{origin}/a")];
    // of 201 runs of words of each, 196 are in both, which is a share of 0.95
    assert_eq!(
        (&near["similarity"], &near["similarityIs"]),
        (&json!(0.94), &json!("estimated"))
    );
    assert!(
        near["standardError"].as_f64().is_some_and(|error| error < 0.03),
        "{near}"
    );

    // one of two claims is true
    let claim = |check: &str| {
        let issues = auditor.list(&server, "/issues");
        let issue = issues.iter().find(|issue| issue["checkId"] == check).unwrap();
        let path = format!("/issues/{}/occurrences", issue["id"].as_str().unwrap());
        let found = auditor.list(&server, &path)[0].clone();
        let pair = json!({"issue_id": found["issue_id"], "page_id": found["page_id"]});
        let claims = json!({ "occurrences": [pair] }).to_string();
        auditor.call(&server, "POST", "/occurrences/done", &claims);
        path
    };
    let [image, card] = ["image-broken", "og-image-small"].map(claim);
    let there = answers.lock().unwrap()["/card.gif"].clone();
    answers.lock().unwrap().insert("/lost.png".into(), there);
    let recheck = || {
        let recheck = auditor.call(&server, "POST", "/rechecks", "{}")["recheck"]["id"].clone();
        let path = format!("/rechecks/{}", recheck.as_str().unwrap());
        let mut asked = (0..100_000).map(|_| auditor.call(&server, "GET", &path, ""));
        let ended = asked.find(|recheck| recheck["status"] != "queued" && recheck["status"] != "running");
        assert_eq!(ended.unwrap()["status"], "completed");
    };
    recheck();
    let states = |path: &str| -> Vec<Value> {
        let left = auditor.list(&server, path);
        left.iter()
            .map(|occurrence| occurrence["state"].clone())
            .collect()
    };
    assert_eq!(states(&image), [Value::Null; 0], "what is resolved is not listed");
    assert_eq!(states(&card), ["still_present"]);

    auditor.call(&server, "PATCH", "/brand", r#"{"name": "Mowers and Sons"}"#);
    let before = auditor.current(&server, |_| true);
    auditor.start(&server);
    auditor.current(&server, |audit| audit["id"] != before["id"]);
    let after = auditor.ended(&server);
    let second = auditor.findings(&server);
    assert_eq!(
        on(&second, "entity-inconsistent").len(),
        1,
        "brand data has another name"
    );
    let silent =
        |found: &Findings| found["http-no-response"][&format!("{origin}/silent")]["inconclusive"].clone();
    assert_eq!((silent(&first), silent(&second)), (json!(true), json!(false)));
    let scored = |audit: &Value| audit["pagesScored"].as_u64().unwrap();
    assert_eq!(scored(&after), scored(&before) + 1, "what is silent twice counts");
    let stays: &Value = &second["redirect-temporary"][&format!("{origin}/away")];
    assert_eq!(
        (&stays["status"], &stays["location"]),
        (&json!(302), &json!("/a"))
    );
    assert_eq!(stays["since"].as_str().map(str::len), Some(10));
    assert_eq!(
        super::places(&second, "redirect-temporary"),
        singles(&[format!("{origin}/away")])
    );
    assert_eq!(on(&second, "og-image-small"), ["/a"], "what was found stays");

    // that it has been so for two audits is known to a recheck too, and so is that it is so no longer
    let away = claim("redirect-temporary");
    recheck();
    assert_eq!(states(&away), ["still_present"]);
    // the text of a page as it is now is compared with the sketch that was kept of another
    for (name, title, own) in [
        ("/a", "Mowers of the north", "north"),
        ("/b", "Rakes for every garden", "garden"),
    ] {
        let changed = text(own).replace("w50 ", "w20 ");
        let changed = page(title, "", &changed);
        answers.lock().unwrap().insert(name.into(), changed);
    }
    let near = claim("duplicate-near");
    recheck();
    let claimed = auditor.list(&server, &near).into_iter();
    let claimed: Vec<Value> = claimed
        .filter(|place| place["state"] == "still_present")
        .collect();
    let evidence = &claimed[0]["evidence"];
    // one of both is fetched again: five more runs of each are in one of them only, and 0.91 of all in both
    assert_eq!(
        (claimed.len(), &evidence["similarity"], &evidence["similarityIs"]),
        (1, &json!(0.9), &json!("estimated"))
    );
    let moved = (301, "location: /a\r\n".into(), Vec::new());
    answers.lock().unwrap().insert("/away".into(), moved);
    claim("redirect-temporary");
    recheck();
    assert_eq!(states(&away), [Value::Null; 0]);
}
