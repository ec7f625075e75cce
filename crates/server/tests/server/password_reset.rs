//! A new password by a link in a mail, invitations by mail, and pages over plain HTTP.

use searchwright_contract::people::Role;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
};

use crate::{
    accounts::{code, with_second_factor},
    browser::Browser,
    harness::Bench,
    oauth::Agent,
    people::{PASSWORD, person},
};

on_both!(
    forgotten_password_is_replaced_by_a_mailed_link,
    mailed_link_does_not_replace_the_second_factor,
    requests_for_links_are_limited,
    invitation_is_mailed,
);

const NEW: &str = "seven purple kettles on a boat";

/// An SMTP server that takes every message.
struct MailServer {
    settings: [String; 2],
    messages: Receiver<String>,
}

impl MailServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (sender, messages) = channel(100);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receive(stream, sender.clone()));
            }
        });
        Self {
            settings: [
                format!("mail.smtp_url={url:?}"),
                "mail.from=\"Searchwright <sw@example.com>\"".to_owned(),
            ],
            messages,
        }
    }

    async fn bench(&self, database: &str) -> Bench {
        Bench::on(database, &self.settings.each_ref().map(String::as_str)).await
    }

    /// Path of the link in the next message to this address.
    async fn link(&mut self, to: &str, bench: &Bench) -> String {
        let message = self.messages.recv().await.unwrap();
        assert!(message.contains(&format!("To: {to}\r\n")), "{message}");
        let root = format!("{}/", bench.server.app.settings.public_url);
        // Lines are at most 76 characters long in quoted-printable.
        let message = message.replace("=\r\n", "");
        let mut lines = message.lines().filter_map(|line| line.strip_prefix(&root));
        format!("/{}", lines.next_back().unwrap_or_else(|| panic!("{message}")))
    }
}

async fn receive(stream: TcpStream, messages: Sender<String>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.write_all(b"220 ready\r\n").await.unwrap();
    loop {
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        let answer: &[u8] = match line.get(..4) {
            Some("DATA") => b"354 go on\r\n",
            Some("QUIT") => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer).await.unwrap();
        if line.starts_with("DATA") {
            let mut message = String::new();
            while !message.ends_with("\r\n.\r\n") {
                stream.read_line(&mut message).await.unwrap();
            }
            stream.write_all(b"250 taken\r\n").await.unwrap();
            let _ = messages.send(message).await;
        }
    }
}

async fn forgotten_password_is_replaced_by_a_mailed_link(database: &str) {
    let mut mail = MailServer::start().await;
    let bench = mail.bench(database).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let tokens = agent.tokens(&[]).await;
    let browser = Browser::new(&bench);
    let page = browser.open("/login").await;
    assert!(page.text.contains("/login/reset"), "{}", page.text);
    assert!(browser.open("/login/reset").await.text.contains("Mail the link"));
    let unknown = browser
        .send("/login/reset", &[("email", "nobody@example.com")])
        .await;
    let known = browser
        .send("/login/reset", &[("email", " Ann@example.com")])
        .await;
    assert_eq!((unknown.status, &unknown.text), (200, &known.text));
    let replaced = mail.link("ann@example.com", &bench).await;
    browser
        .send("/login/reset", &[("email", "ann@example.com")])
        .await;
    let link = mail.link("ann@example.com", &bench).await;
    assert_eq!(browser.open(&replaced).await.status, 404, "a newer one was sent");
    // The link of one purpose is none of another.
    let token = link.rsplit('/').next().unwrap();
    assert_eq!(browser.open(&format!("/login/{token}")).await.status, 404);
    assert_eq!(browser.open(&format!("/setup/{token}")).await.status, 404);
    let page = browser.open(&link).await;
    assert!(page.text.contains("ann@example.com"), "{}", page.text);
    assert!(!page.text.contains("name=\"code\""), "{}", page.text);
    let weak = browser.send(&link, &[("password", "short")]).await;
    assert!(
        weak.status == 422 && weak.text.contains("at least 15"),
        "{}",
        weak.text
    );
    let mut foreign = Browser::new(&bench);
    foreign.origin = vec![("sec-fetch-site", "cross-site".to_owned())];
    assert_eq!(foreign.send(&link, &[("password", NEW)]).await.status, 403);
    let done = browser.send(&link, &[("password", NEW)]).await;
    assert!(
        done.status == 200 && done.text.contains("ann@example.com"),
        "{}",
        done.text
    );
    assert_eq!(
        browser.send(&link, &[("password", NEW)]).await.status,
        404,
        "it works once"
    );
    // Whoever knew the former password keeps nothing.
    assert!(
        agent
            .browser
            .open("/account")
            .await
            .text
            .contains("name=\"password\"")
    );
    assert_eq!(agent.status(&tokens["access_token"]).await, 401);
    let other = Browser::new(&bench);
    assert_eq!(other.sign_in("ann@example.com", PASSWORD).await.status, 401);
    assert_eq!(other.sign_in("ann@example.com", NEW).await.status, 200);
    // An hour is over.
    browser
        .send("/login/reset", &[("email", "ann@example.com")])
        .await;
    let late = mail.link("ann@example.com", &bench).await;
    bench.clock.advance(3_600_000);
    assert_eq!(browser.open(&late).await.status, 404);
}

async fn mailed_link_does_not_replace_the_second_factor(database: &str) {
    let mut mail = MailServer::start().await;
    let bench = mail.bench(database).await;
    let (_, page, recovery) = with_second_factor(&bench, "ann@example.com").await;
    let browser = Browser::new(&bench);
    browser
        .send("/login/reset", &[("email", "ann@example.com")])
        .await;
    let link = mail.link("ann@example.com", &bench).await;
    let form = browser.open(&link).await;
    assert!(form.text.contains("name=\"code\""), "{}", form.text);
    for code in ["", "000000"] {
        let wrong = browser.send(&link, &[("password", NEW), ("code", code)]).await;
        assert_eq!(wrong.status, 401, "{}", wrong.text);
    }
    bench.clock.advance(60_000);
    let done = browser
        .send(&link, &[("password", NEW), ("code", &code(&page, &bench))])
        .await;
    assert_eq!(done.status, 200, "{}", done.text);
    browser
        .send("/login/reset", &[("email", "ann@example.com")])
        .await;
    let link = mail.link("ann@example.com", &bench).await;
    let done = browser
        .send(&link, &[("password", PASSWORD), ("code", &recovery[0])])
        .await;
    assert_eq!(done.status, 200, "{}", done.text);
}

async fn requests_for_links_are_limited(database: &str) {
    let mail = MailServer::start().await;
    let bench = mail.bench(database).await;
    let browser = Browser::new(&bench);
    for _ in 0..10 {
        let page = browser
            .send("/login/reset", &[("email", "nobody@example.com")])
            .await;
        assert_eq!(page.status, 200, "{}", page.text);
    }
    let page = browser
        .send("/login/reset", &[("email", "nobody@example.com")])
        .await;
    assert_eq!(page.status, 429, "{}", page.text);
    assert!(page.headers.contains_key("retry-after"));
    person(&bench, "ann@example.com", Role::Owner).await;
    let page = Browser::new(&bench).sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(page.status, 200, "signing in has a limit of its own");
}

async fn invitation_is_mailed(database: &str) {
    let mut mail = MailServer::start().await;
    let bench = mail.bench(database).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let browser = Browser::new(&bench);
    browser.sign_in("ann@example.com", PASSWORD).await;
    let members = format!("/projects/{}/settings/members", bench.project);
    let csrf = browser.open(&members).await.field("csrf");
    let form = [
        ("csrf", csrf.as_str()),
        ("role", "viewer"),
        ("email", "bob@example.com"),
    ];
    let page = browser.send(&format!("{members}/invite"), &form).await;
    assert!(
        page.text.contains("was mailed to bob@example.com"),
        "{}",
        page.text
    );
    let link = mail.link("bob@example.com", &bench).await;
    let page = Browser::new(&bench).open(&link).await;
    assert!(
        page.status == 200 && page.text.contains("viewer"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn without_a_mail_server_the_page_says_who_makes_a_link() {
    let bench = Bench::start().await;
    let page = Browser::new(&bench).open("/login/reset").await;
    assert!(page.text.contains("admin user sign-in-link"), "{}", page.text);
    assert!(!page.text.contains("<form"), "{}", page.text);
}

#[tokio::test]
async fn plain_http_is_warned_of_and_connects_no_programs() {
    let bench = Bench::with(&[
        "public_url=\"http://seo.example.com\"",
        "allow_insecure_http=true",
    ])
    .await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let root = format!("http://{}", bench.server.addresses.api);
    let signed_in = bench
        .http
        .post(format!("{root}/login"))
        .header("origin", "http://seo.example.com")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!(
            "email=ann%40example.com&password={}",
            PASSWORD.replace(' ', "+")
        ))
        .send()
        .await
        .unwrap();
    assert_eq!(signed_in.status(), 303);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.starts_with("session=") && !cookie.contains("Secure"),
        "{cookie}"
    );
    let account = bench
        .http
        .get(format!("{root}/account"))
        .header("cookie", cookie.split(';').next().unwrap())
        .send()
        .await
        .unwrap();
    let text = account.text().await.unwrap();
    assert!(
        text.contains("ann@example.com") && text.contains("No TLS"),
        "{text}"
    );
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/v1",
        "/oauth/authorize?client_id=cli",
    ] {
        let answer = bench.http.get(format!("{root}{path}")).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        assert!(answer.text().await.unwrap().contains("plain http"), "{path}");
    }
    let mcp = format!("http://{}/mcp", bench.server.addresses.mcp);
    let answer = bench.http.post(mcp).bearer_auth(&bench.key).send().await.unwrap();
    assert_eq!(answer.status(), 404);
    assert_eq!(bench.get("P").await.status, 200, "API keys work");
}
