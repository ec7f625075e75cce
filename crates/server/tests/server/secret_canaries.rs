//! Secrets of every kind, looked for in everything that the server says, sends to receivers of webhooks, chats and mailboxes, logs and
//! stores: as they are, and in base64, hex and percent form. A secret is in the answer that hands it out, once, and nowhere else.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::SocketAddr,
    sync::{LazyLock, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use searchwright_contract::{Clock, Method, people::Role};
use serde_json::{Value, json};
use tokio_postgres::NoTls;
use tracing_subscriber::{layer::SubscriberExt as _, util::SubscriberInitExt as _};
use uuid::Uuid;

use crate::{
    accounts::with_second_factor,
    audited::{Website, bench_set, page},
    blog::{self, Blog, Fault},
    browser::{Browser, Page},
    dashboard_audits::{address, submit},
    harness::{Bench, now},
    mail_server::{self, MailServer},
    mcp::tool,
    notices::{told, waits},
    oauth::{Agent, post_form},
    people::PASSWORD,
    post_generation::until_ended,
    publishing::{connect_blog, publish, settled, write},
    webhook_receivers::Receiver,
};

on_both!(secrets_are_shown_once_and_stored_sealed_or_hashed,);

/// Everything that was logged, as text and as JSON.
static LOG: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(Mutex::default);

struct LogWriter;

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs all that there is to log, in both formats.
fn log_everything() {
    let text = tracing_subscriber::fmt::layer()
        .with_writer(|| LogWriter)
        .with_ansi(false);
    let json = tracing_subscriber::fmt::layer()
        .with_writer(|| LogWriter)
        .json()
        .flatten_event(true);
    // The test of the other database may have begun it.
    let _ = tracing_subscriber::registry()
        .with(tracing_subscriber::filter::LevelFilter::TRACE)
        .with(text)
        .with(json)
        .try_init();
}

/// Secrets by what they are, in every form in which they are looked for.
#[derive(Default)]
struct Canaries {
    forms: Vec<(String, String)>,
    names: BTreeSet<String>,
}

impl Canaries {
    fn add(&mut self, name: &str, secret: &str) {
        assert!(
            secret.len() >= 10,
            "{name} is too short to be looked for: {secret}"
        );
        self.add_bytes(name, secret.as_bytes());
        let escaped: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let percent = encoded.replace('+', "%20");
        for form in [
            secret.to_owned(),
            escaped.clone(),
            escaped.to_lowercase(),
            encoded,
            percent,
        ] {
            self.forms.push((name.to_owned(), form));
        }
    }

    fn add_bytes(&mut self, name: &str, secret: &[u8]) {
        self.names.insert(name.to_owned());
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![hex.to_uppercase(), hex];
        // a secret within a longer text begins at any of three places of a base64 group
        for (before, cut) in [(0, 0), (1, 2), (2, 3)] {
            let text = [&[0; 2][..before], secret].concat();
            let encoded = STANDARD_NO_PAD.encode(&text);
            let inner = &encoded[cut..text.len() / 3 * 4];
            forms.extend([inner.to_owned(), inner.replace('+', "-").replace('/', "_")]);
        }
        self.forms
            .extend(forms.into_iter().map(|form| (name.to_owned(), form)));
    }

    fn find(&self, text: &str) -> Option<(&str, usize)> {
        self.forms
            .iter()
            .find_map(|(name, form)| Some((name.as_str(), text.find(form.as_str())?)))
    }

    #[track_caller]
    fn are_not_in(&self, place: &str, text: &str) {
        if let Some((name, at)) = self.find(text) {
            let (from, to) = (at.saturating_sub(300), (at + 200).min(text.len()));
            let around = String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned();
            panic!("{place} has the {name}: …{around}…");
        }
    }
}

#[test]
fn canaries_are_found_in_every_form() {
    let secret = "swk_canary+of/the mine?";
    let mut canaries = Canaries::default();
    canaries.add("secret", secret);
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut texts = vec![
        format!("a {secret} b"),
        format!("\\x00{hex}"),
        hex.to_uppercase(),
        percent,
    ];
    for before in ["", "a", "ab", "abc", "Basic "] {
        let around = format!("{before}{secret}; and more");
        texts.push(STANDARD_NO_PAD.encode(&around));
        texts.push(base64::engine::general_purpose::URL_SAFE.encode(&around));
    }
    for text in texts {
        assert!(canaries.find(&text).is_some(), "{text}");
    }
    assert_eq!(canaries.find(&secret[..12]), None, "a part that may be shown");
}

/// Text of the first element with this id.
fn element<'a>(page: &'a Page, id: &str) -> &'a str {
    let (_, rest) = page
        .text
        .split_once(&format!("id=\"{id}\">"))
        .unwrap_or_else(|| panic!("no {id}: {}", page.text));
    rest.split('<').next().unwrap()
}

/// Last part of a link that stands in a page.
fn token_after(text: &str, before: &str) -> String {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before}: {text}"));
    rest.chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect()
}

/// A server on which every kind of secret has been made.
struct Planted<'a> {
    canaries: Canaries,
    agent: Agent<'a>,
    access: String,
    mcp: String,
    ids: BTreeMap<&'static str, String>,
}

const PROVIDER_SECRET: &str = "sk-proj-canary-of-the-provider-4711";
/// Path of the webhook at the receiver.
const HOOK: &str = "/hook";
/// Path of the chat there, which is a secret.
const CHAT: &str = "/services/T0471/B0471/canaryofthechat";
const DAY: i64 = 86_400_000;

/// Places that the server sends to.
struct Receivers {
    blog: Blog,
    blog_address: SocketAddr,
    hooks: Receiver,
    hooks_address: SocketAddr,
    mail: MailServer,
}

impl Receivers {
    async fn start() -> Self {
        let (blog, blog_address) = Blog::start().await;
        let (hooks, hooks_address) = Receiver::start().await;
        Self {
            blog,
            blog_address,
            hooks,
            hooks_address,
            mail: MailServer::start().await,
        }
    }

    async fn bench(&self, database: &str) -> (Bench, Website) {
        let also = format!(
            ",\"publish={}\",\"webhook={}\"",
            self.blog_address, self.hooks_address
        );
        bench_set(database, &also, Clock::fixed(now()), &self.mail.settings()).await
    }
}

async fn plant<'a>(bench: &'a Bench, receivers: &Receivers) -> Planted<'a> {
    let mut canaries = Canaries::default();
    canaries.add("password of the mail server", mail_server::SECRET);
    canaries.add("API key of the operator", &bench.key);
    canaries.add("password", PASSWORD);
    let sealing = std::fs::read(bench.folder.path().join("sealing.key")).unwrap();
    canaries.add_bytes("sealing key", &sealing);

    plant_accounts(bench, &receivers.blog_address, &mut canaries).await;
    let at = receivers.hooks_address;
    let ids = plant_records(bench, &at, &mut canaries).await;
    let agent = Agent::new(bench, Role::Owner).await;
    plant_pages(bench, &agent.browser, &at, &mut canaries).await;
    let (access, mcp) = plant_oauth(bench, &agent, &mut canaries).await;
    Planted {
        canaries,
        agent,
        access,
        mcp,
        ids,
    }
}

/// Credentials of other services.
async fn plant_accounts(bench: &Bench, blog: &SocketAddr, canaries: &mut Canaries) {
    let model = BTreeMap::from([("model".to_owned(), "m-1".to_owned())]);
    bench.account("openai", model, PROVIDER_SECRET).await;
    canaries.add("secret of a provider", PROVIDER_SECRET);
    connect_blog(bench, blog).await;
    canaries.add("application password of a blog", blog::PASSWORD);
    let basic = format!("{}:{}", blog::USER, blog::PASSWORD);
    canaries.add_bytes("login of a blog", basic.as_bytes());
}

/// Records of the project, some of them with secrets.
async fn plant_records(
    bench: &Bench,
    hooks: &SocketAddr,
    canaries: &mut Canaries,
) -> BTreeMap<&'static str, String> {
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    let create = bench
        .call("POST", "P/webhooks")
        .header("idempotency-key", "once")
        .json(&json!({ "targetUrl": format!("http://{hooks}{HOOK}"), "event": "*" }));
    let webhook = create.send().await.json();
    let rotate = bench
        .call("POST", &format!("P/webhooks/{}/rotate-secret", id(&webhook)))
        .header("idempotency-key", "twice")
        .json(&json!({}));
    let rotated = rotate.send().await.json();
    for (name, record) in [("webhook secret", &webhook), ("new webhook secret", &rotated)] {
        let secret = record["secret"].as_str().unwrap();
        canaries.add(name, secret);
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(secret.trim_start_matches("whsec_"))
            .unwrap();
        canaries.add_bytes(name, &bytes);
    }
    let connect = bench
        .post(
            "P/integrations/ghost/connect-url",
            json!({ "siteUrl": "https://ghost.example" }),
        )
        .await;
    assert_eq!(connect.status, 201, "{connect:?}");
    let url = connect.json()["url"].as_str().unwrap().to_owned();
    canaries.add(
        "link to connect a site",
        url.rsplit('/').next().unwrap().split(['?', '#']).next().unwrap(),
    );

    let keyword = bench.keyword("standing desk").await;
    let post = write(bench, "Oak").await;
    publish(bench, &post, json!({ "provider": "wordpress" })).await;
    settled(bench, &post).await;
    let prompt = bench
        .post("P/visibility/prompts", json!({ "text": "Which oak desk?" }))
        .await;
    let item = async |resource: &str, item: Value| {
        let answer = bench
            .post(&format!("P/brand/{resource}"), json!({ "items": [item] }))
            .await;
        id(&answer.json()["data"][0]["item"])
    };
    let first = async |path: &str, name: &str| {
        let list = bench.get(path).await.json();
        list["data"][0][name].as_str().unwrap().to_owned()
    };
    BTreeMap::from([
        ("webhookId", id(&webhook)),
        ("keywordId", keyword),
        ("postId", post),
        ("promptId", id(&prompt.json())),
        ("productId", item("products", json!({ "name": "desk" })).await),
        (
            "competitorId",
            item("competitors", json!({ "name": "Elm", "domain": "elm.example" })).await,
        ),
        (
            "faqId",
            item("faqs", json!({ "question": "q", "answer": "a" })).await,
        ),
        (
            "ctaId",
            item("ctas", json!({ "label": "l", "url": "https://oak.example" })).await,
        ),
        ("auditId", first("P/audits", "id").await),
        ("issueId", first("P/issues", "id").await),
        ("pageId", first("P/pages", "id").await),
        ("jobId", first("P/jobs", "id").await),
        ("provider", "wordpress".to_owned()),
    ])
}

/// Secrets that pages of the dashboard hand out.
async fn plant_pages(bench: &Bench, ann: &Browser<'_>, chats: &SocketAddr, canaries: &mut Canaries) {
    canaries.add("session", ann.cookie.borrow().as_deref().unwrap());
    let keys = address(bench, "/settings/keys");
    let made = submit(ann, &ann.open(&keys).await, &keys, &[("name", "shown once")]).await;
    canaries.add("API key of a page", element(&made, "new-key"));

    let from = ann.open(&address(bench, "/visibility")).await;
    let shared = submit(ann, &from, &address(bench, "/settings/shares"), &[]).await;
    canaries.add(
        "share link",
        &token_after(element(&shared, "new-link"), "/share/"),
    );

    let members = address(bench, "/settings/members");
    let csrf = ann.open(&members).await.field("csrf");
    let form = [("csrf", &*csrf), ("role", "editor"), ("email", "")];
    let invited = ann.send(&format!("{members}/invite"), &form).await;
    canaries.add("invitation", &token_after(&invited.text, "/invitations/"));

    let notices = address(bench, "/settings/notices");
    let secret = format!("http://{chats}{CHAT}");
    let chat = [
        ("action", "chat"),
        ("secret", &*secret),
        ("kind", "audit_found"),
        ("kind", "publication_failed"),
        ("kind", "integration_lost"),
        ("kind", "approval_waits"),
        ("digest", "on"),
        ("weekday", "1"),
        ("hour", "9"),
    ];
    let page = ann.open(&notices).await;
    let saved = submit(ann, &page, &notices, &chat).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    canaries.add("address of a chat", "T0471/B0471/canaryofthechat");

    let (_, page, codes) = with_second_factor(bench, "sue@example.com").await;
    let secret = token_after(&page.text, "secret=");
    canaries.add("secret of the second factor", &secret);
    let bytes = totp_rs::Secret::try_from_base32(&secret).unwrap();
    canaries.add_bytes("secret of the second factor", bytes.as_bytes());
    for code in codes {
        canaries.add("recovery code", &code);
    }
    let people = &bench.server.app.people;
    let sue = people.find_user("sue@example.com").await.unwrap();
    let link = people.create_sign_in_link(sue).await.unwrap();
    canaries.add("sign-in link", &link);
}

async fn plant_oauth(bench: &Bench, agent: &Agent<'_>, canaries: &mut Canaries) -> (String, String) {
    let text = |tokens: &Value, name: &str| tokens[name].as_str().unwrap().to_owned();
    let every = "projects:read keywords:write posts:write integrations:read webhooks:read audits:read visibility:read \
                 brand:read autopilot:read";
    let code = agent.consent(&[("scope", every)]).await["code"].clone();
    canaries.add("authorization code", &code);
    let tokens = agent.redeem(&code, &[]).await.json();
    let renewed = agent.refresh(&tokens["refresh_token"]).await.json();
    let mcp_url = bench.server.app.settings.mcp_url.clone();
    let mcp = agent.tokens(&[("scope", every), ("resource", &mcp_url)]).await;
    for tokens in [&tokens, &renewed, &mcp] {
        canaries.add("access token", &text(tokens, "access_token"));
        canaries.add("refresh token", &text(tokens, "refresh_token"));
    }
    let device = post_form(
        bench,
        "/oauth/device",
        &[("client_id", "cli"), ("scope", "projects:read")],
    );
    canaries.add("device code", &text(&device.await.json(), "device_code"));
    let people = &bench.server.app.people;
    let client = people.create_oauth_client("Gateway", Vec::new()).await.unwrap();
    canaries.add("client secret", &client.client_secret);
    (text(&renewed, "access_token"), text(&mcp, "access_token"))
}

/// Answers of every operation that reads, by a key and by a token, and of tools that do the same.
async fn read_operations(bench: &Bench, planted: &Planted<'_>) {
    let reads = bench.endpoints().iter().filter(|e| e.meta.method == Method::GET);
    let mut found = 0;
    for endpoint in reads {
        let mut path = endpoint
            .meta
            .path
            .replace("{projectId}", &bench.project.to_string());
        let mut arguments = json!({ "projectId": bench.project });
        for name in endpoint
            .meta
            .path_parameters()
            .filter(|name| *name != "projectId")
        {
            let id = planted
                .ids
                .get(name)
                .cloned()
                .unwrap_or_else(|| Uuid::max().to_string());
            path = path.replace(&format!("{{{name}}}"), &id);
            arguments[name] = json!(id);
        }
        for credential in [&bench.key, &planted.access] {
            let answer = bench.call("GET", &path).key(credential).send().await;
            assert!(answer.status < 500, "{path}: {answer:?}");
            found += usize::from(answer.status == 200);
            let text = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.body));
            planted.canaries.are_not_in(&path, &text);
        }
        let name = endpoint.meta.name.replace('.', "_");
        let said = tool(bench, &name, arguments).await;
        planted.canaries.are_not_in(&name, &said.to_string());
    }
    assert!(found > 80, "{found} answers with records");
}

/// Answers to requests that are wrong in every way, made with credentials that are right.
async fn make_mistakes(bench: &Bench, planted: &Planted<'_>) {
    let key = &bench.key;
    for call in [
        bench.call("GET", &format!("/me?access_token={key}")),
        bench.call("GET", "/nothing"),
        bench.call("PUT", "/me"),
        bench.call("GET", "P/keywords?limit=0"),
        bench.call("GET", "P/keywords?cursor=x"),
        bench.call("POST", "P/keywords").body("application/json", "{"),
        bench.call("POST", "P/keywords").body("text/plain", "x"),
        bench
            .call("POST", "P/webhooks")
            .json(&json!({ "targetUrl": "https://127.0.0.1", "event": "*" })),
        bench
            .call("GET", "/me")
            .and_header("authorization", &format!("Bearer {key}")),
        bench.call("GET", "/me").key(&planted.mcp),
        bench.call("GET", "/me").header("authorization", key),
        bench.call("POST", "P/posts/x/publish").json(&json!({})),
        bench
            .call("POST", "P/integrations/wordpress/mapping")
            .json(&json!({ "fieldMap": { "a": "b" } })),
    ] {
        let answer = call.send().await;
        assert!(answer.status >= 400, "{answer:?}");
        let text = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.body));
        planted.canaries.are_not_in("a refusal", &text);
    }
}

/// Pages and files that links lead to, from the overview on, and what everybody may read.
async fn browse(bench: &Bench, planted: &Planted<'_>) {
    let browser = &planted.agent.browser;
    let metrics = format!("http://{}/metrics", bench.server.addresses.metrics.unwrap());
    let metrics = bench.http.get(metrics).send().await.unwrap();
    planted
        .canaries
        .are_not_in("/metrics", &metrics.text().await.unwrap());
    let mut waiting: Vec<String> = [
        "/",
        "/account",
        "/projects",
        "/docs",
        "/llms.txt",
        "/skill.md",
        "/bot",
        "/v1/openapi.json",
        "/healthz",
        "/readyz",
        "/.well-known/oauth-authorization-server",
        "/login/reset",
        "/device",
    ]
    .map(str::to_owned)
    .into();
    waiting.push(address(bench, ""));
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut files = 0;
    while let Some(path) = waiting.pop() {
        let page = browser.open(&path).await;
        assert!(page.status < 500, "{path}: {}", page.text);
        if path.starts_with("/projects") || path.starts_with("/account") {
            assert_eq!(page.headers["cache-control"], "no-store", "{path}");
        }
        let text = format!("{:?} {}", page.headers, page.text);
        planted.canaries.are_not_in(&path, &text);
        files += usize::from(path.contains(".csv"));
        for link in page.text.split("href=\"/").skip(1) {
            let link = link.split(['"', '#']).next().unwrap().replace("&amp;", "&");
            let link = format!("/{}", link.replace("&#38;", "&"));
            let is_new = seen.len() < 400 && !link.starts_with("/assets/") && !link.starts_with("/share/");
            if is_new && seen.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    for page in [
        "/settings/keys",
        "/settings/members",
        "/settings/providers",
        "/settings/notices",
        "/settings/shares",
        "/integrations",
        "/webhooks",
        "/activity",
    ] {
        assert!(seen.contains(&address(bench, page)), "{page} of {seen:#?}");
    }
    assert!(files >= 3, "{seen:#?}");
}

/// Causes what is told to people and receivers at once: a post that was refused, one whose connection is lost, one that waits for a
/// person, tests, an invitation and a link by mail.
async fn cause_events(bench: &Bench, planted: &Planted<'_>, receivers: &Receivers) {
    let (blog, ann) = (&receivers.blog, &planted.agent.browser);
    // the blog repeats the password that it was sent
    blog.says(&format!(
        "the password {} of {} is wrong",
        blog::PASSWORD,
        blog::USER
    ));
    blog.fails(&[Fault::Refuses(400)]);
    let refused = write(bench, "Elm").await;
    publish(bench, &refused, json!({})).await;
    assert_eq!(settled(bench, &refused).await["status"], "failed");
    blog.change_password();
    let lost = write(bench, "Yew").await;
    publish(bench, &lost, json!({})).await;
    assert_eq!(settled(bench, &lost).await["status"], "failed");
    waits(bench, "Oak").await;
    let tested = bench
        .post(
            &format!("P/webhooks/{}/test", planted.ids["webhookId"]),
            json!({}),
        )
        .await;
    assert_eq!(tested.status, 200, "{tested:?}");

    let notices = address(bench, "/settings/notices");
    for action in ["test-mail", "test-chat"] {
        let tried = submit(ann, &ann.open(&notices).await, &notices, &[("action", action)]).await;
        assert!(tried.text.contains("took the test"), "{}", tried.text);
    }
    let members = address(bench, "/settings/members");
    let csrf = ann.open(&members).await.field("csrf");
    let form = [("csrf", &*csrf), ("role", "editor"), ("email", "eve@example.com")];
    ann.send(&format!("{members}/invite"), &form).await;
    Browser::new(bench)
        .send("/login/reset", &[("email", "ann@example.com")])
        .await;
    told(bench).await;
    blog.restore_password();
    // it is the name of the account too, which is shown
    blog.says("Ada");
    connect_blog(bench, &receivers.blog_address).await;
}

/// Has an audit find something new, and lets two days pass: the digest of the week is due.
async fn cause_reports(bench: &Bench, site: &Website) {
    site.put(
        "/b",
        200,
        &page("<title>Another</title><h1></h1><h1></h1>", &["/nowhere"]),
    );
    let started = bench.post("P/audits", json!({})).await.json();
    until_ended(bench, started["job"]["id"].as_str().unwrap()).await;
    bench.clock.advance(2 * DAY);
    for _ in 0..2 {
        told(bench).await;
    }
}

/// Words that every reader of notices is told.
const TOLD: &[&str] = &["Elm", "Yew", "waits for", "Mention rate", "This is a test"];

/// Waits until everything has arrived that was caused.
async fn until_arrived(bench: &Bench, receivers: &Receivers) {
    let events = bench.get("P/events?limit=100").await.json();
    let events = events["data"].as_array().unwrap();
    // the audit was before the webhook
    let first = events
        .iter()
        .position(|event| event["type"] == "post.created")
        .unwrap();
    receivers.hooks.until(HOOK, events.len() - first).await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let chats = receivers.hooks.all().into_iter().filter(|came| came.path == CHAT);
        let chats: String = chats
            .map(|came| String::from_utf8(came.body.to_vec()).unwrap())
            .collect();
        let mails: String = receivers
            .mail
            .taken()
            .iter()
            .map(|mail| format!("{:?} {}", mail.head, mail.text))
            .collect();
        let to_people = ["/invitations/", "/login/reset/"].into_iter();
        let missing: Vec<&str> = TOLD
            .iter()
            .copied()
            .filter(|words| !chats.contains(words) || !mails.contains(words))
            .chain(to_people.filter(|words| !mails.contains(words)))
            .collect();
        if missing.is_empty() {
            return;
        }
        let is_late = tokio::time::Instant::now() > deadline;
        assert!(!is_late, "{missing:?} did not arrive: {chats} {mails}");
        tokio::task::yield_now().await;
    }
}

/// Everything that receivers were sent, with its headers.
fn search_deliveries(canaries: &Canaries, receivers: &Receivers) {
    let mut kinds = BTreeSet::new();
    for came in receivers.hooks.all() {
        let body = String::from_utf8_lossy(&came.body).into_owned();
        if came.path == HOOK {
            let event: Value = serde_json::from_str(&body).unwrap();
            kinds.insert(event["type"].as_str().unwrap().to_owned());
        }
        canaries.are_not_in(&came.path, &format!("{:?} {body}", came.headers));
    }
    for kind in [
        "approval.requested",
        "audit.completed",
        "integration.disconnected",
        "issue.opened",
        "post.publish_failed",
        "post.published",
        "webhook.test",
    ] {
        assert!(kinds.contains(kind), "{kind} of {kinds:?}");
    }
    for mail in receivers.mail.taken() {
        let text = format!("{}\n{:?}\n{}", mail.raw, mail.head, mail.text);
        canaries.are_not_in("a mail", &text);
    }
}

/// Every row of the database, and every file of the data folder but the sealing key.
async fn stored(bench: &Bench, database: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut folders = vec![bench.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("sealing.key") && !path.ends_with("reserve") {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                all.push((path.display().to_string(), text));
            }
        }
    }
    if database.is_empty() {
        assert!(!all.is_empty());
        return all;
    }
    let (client, connection) = tokio_postgres::connect(database, NoTls).await.unwrap();
    tokio::spawn(connection);
    let tables =
        "SELECT tablename::text FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let tables = client.query(tables, &[]).await.unwrap();
    assert!(tables.len() > 40, "{} tables", tables.len());
    for table in tables {
        let table: String = table.get(0);
        // bytes are written in hex
        let rows = format!("SELECT row_to_json(t)::text FROM \"{table}\" t");
        for row in client.query(&rows, &[]).await.unwrap() {
            all.push((table.clone(), row.get(0)));
        }
    }
    all
}

async fn secrets_are_shown_once_and_stored_sealed_or_hashed(database: &str) {
    log_everything();
    let receivers = Receivers::start().await;
    let (bench, site) = receivers.bench(database).await;
    let planted = plant(&bench, &receivers).await;
    assert!(
        planted.canaries.names.len() >= 22,
        "{:#?}",
        planted.canaries.names
    );
    let published = receivers.blog.posts().len();
    assert_eq!(published, 1, "what was published needed its password");
    cause_events(&bench, &planted, &receivers).await;

    read_operations(&bench, &planted).await;
    make_mistakes(&bench, &planted).await;
    browse(&bench, &planted).await;
    cause_reports(&bench, &site).await;
    until_arrived(&bench, &receivers).await;
    search_deliveries(&planted.canaries, &receivers);
    let stored = stored(&bench, database).await;
    let is_whole = stored.iter().any(|(_, text)| text.contains("Which oak desk?"));
    assert!(is_whole, "what is no secret is found there");
    for (place, text) in stored {
        planted.canaries.are_not_in(&place, &text);
    }

    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    assert!(log.contains("\"level\":\"TRACE\""), "everything is logged");
    // libraries of the tests' own clients and of the blog write here as well
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| planted.canaries.find(line).is_some())
        .collect();
    assert!(
        lines.is_empty(),
        "{} lines of the log: {:#?}",
        lines.len(),
        &lines[..lines.len().min(5)]
    );
}
