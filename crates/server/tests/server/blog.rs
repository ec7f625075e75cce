//! A blog that speaks as much of WordPress's REST interface as publishing needs, keeps what it is sent, and fails as it is told.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::{Method, StatusCode};
use serde_json::{Value, json};

/// Fault of the next request that writes a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is carried out, and its answer is lost.
    LosesAnswer,
    /// It is lost before anything happens.
    LosesRequest,
    /// It is carried out and answered with 500.
    Breaks,
    /// It is carried out and never answered.
    Hangs,
    /// It is answered with this status and not carried out.
    Refuses(u16),
    /// A firewall before the blog answers with a page and this status, and the blog hears nothing of it.
    Blocks(u16),
    /// It is carried out, and the post gets this status, whatever was asked for.
    Turns(&'static str),
    /// It is answered with 429 and so many seconds to wait.
    Busy(u32),
}

#[derive(Debug, Default)]
struct Inner {
    posts: BTreeMap<u64, Value>,
    faults: VecDeque<Fault>,
    /// Requests that wrote a post, carried out or not.
    writes: usize,
    password: String,
    base: String,
    /// Address that it gives its posts, if it is known by another one.
    public: Option<String>,
    /// Once a post was written, nothing is read.
    is_silent: bool,
    /// Number of requests that stay without any answer, once that began.
    unanswered: Option<usize>,
    /// Texts that stand before and behind each of its answers.
    around: (&'static str, &'static str),
    /// Answers of a cache before it, by their addresses, if there is one.
    cache: Option<BTreeMap<String, Value>>,
    /// A field that its posts do not have.
    lacks: Option<&'static str>,
    /// Text in the names that it gives and in what it says when it refuses.
    says: Option<String>,
}

/// The blog. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Blog(Arc<Mutex<Inner>>);

pub const USER: &str = "ada";
pub const PASSWORD: &str = "canary canary canary";

impl Blog {
    pub async fn start() -> (Self, SocketAddr) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let blog = Self::default();
        {
            let mut inner = blog.0.lock().unwrap();
            inner.password = PASSWORD.to_owned();
            inner.base = format!("http://{address}");
        }
        let router = axum::Router::new().fallback(answer).with_state(blog.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (blog, address)
    }

    /// Its address.
    pub fn base(&self) -> String {
        self.0.lock().unwrap().base.clone()
    }

    /// Gives posts links at another address.
    pub fn is_known_as(&self, base: &str) {
        self.0.lock().unwrap().public = Some(base.to_owned());
    }

    pub fn fails(&self, faults: &[Fault]) {
        self.0.lock().unwrap().faults.extend(faults);
    }

    pub fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    pub fn posts(&self) -> Vec<Value> {
        self.0.lock().unwrap().posts.values().cloned().collect()
    }

    /// Edits the posts at the blog itself.
    pub fn edit(&self, change: impl FnOnce(&mut BTreeMap<u64, Value>)) {
        change(&mut self.0.lock().unwrap().posts);
    }

    /// Takes a field out of its posts.
    pub fn lacks(&self, field: Option<&'static str>) {
        self.0.lock().unwrap().lacks = field;
    }

    /// Puts a text into its names and its refusals.
    pub fn says(&self, text: &str) {
        self.0.lock().unwrap().says = Some(text.to_owned());
    }

    /// Answers no questions any more once a post was written.
    pub fn is_silent(&self, silent: bool) {
        self.0.lock().unwrap().is_silent = silent;
    }

    /// Leaves every request without an answer from now on, or answers again.
    pub fn hangs(&self, hangs: bool) {
        self.0.lock().unwrap().unanswered = hangs.then_some(0);
    }

    /// Waits until so many requests have come that stay without an answer.
    pub async fn until_unanswered(&self, count: usize) {
        while self.0.lock().unwrap().unanswered.unwrap() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Puts texts before and behind each of its answers.
    pub fn surrounds(&self, before: &'static str, behind: &'static str) {
        self.0.lock().unwrap().around = (before, behind);
    }

    /// Puts a cache before it that answers what it was asked before as it did then, whatever a request says.
    pub fn is_cached(&self) {
        self.0.lock().unwrap().cache = Some(BTreeMap::new());
    }

    pub fn change_password(&self) {
        self.0.lock().unwrap().password = "another".to_owned();
    }

    pub fn restore_password(&self) {
        self.0.lock().unwrap().password = PASSWORD.to_owned();
    }
}

fn plain(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

fn refusal(status: u16, code: &str) -> Response {
    plain(status, &json!({ "code": code, "message": format!("no: {code}") }))
}

/// The page of a firewall.
fn blocked(status: u16) -> Response {
    let page = "<!DOCTYPE html><title>Access Denied - Sucuri Website Firewall</title><h1>Denied</h1>";
    (StatusCode::from_u16(status).unwrap(), axum::response::Html(page)).into_response()
}

/// Half an answer, and then the connection ends.
fn lost() -> Response {
    let broken = futures_util::stream::iter([Ok(Bytes::from_static(b"{\"id\":")), Err("gone")]);
    Body::from_stream(broken).into_response()
}

/// Another post somebody else wrote.
pub fn foreign(id: u64, slug: &str) -> Value {
    json!({
        "id": id, "slug": slug, "status": "publish", "link": "http://elsewhere", "title": { "raw": "Theirs" },
        "content": { "raw": "<p>theirs</p>" }, "excerpt": { "raw": "" }, "featured_media": 0, "tags": [], "categories": [],
    })
}

async fn answer(State(blog): State<Blog>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Value = serde_json::from_slice(&to_bytes(body, 1 << 20).await.unwrap()).unwrap_or_default();
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let path = parts
        .uri
        .path()
        .strip_prefix("/wp-json")
        .unwrap_or_default()
        .trim_end_matches('/');
    let (answer, (before, behind), says) = {
        let mut inner = blog.0.lock().unwrap();
        let answer = answer_now(&mut inner, &parts, path, &query, &body);
        (answer, inner.around, inner.says.clone())
    };
    let Some(mut answer) = answer else {
        return std::future::pending().await;
    };
    if let Some(text) = says {
        answer = says_so(answer, &text).await;
    }
    if before.is_empty() && behind.is_empty() {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let mut answer = [before.as_bytes(), &body, behind.as_bytes()]
        .concat()
        .into_response();
    *answer.status_mut() = head.status;
    answer
}

/// Puts a text where an answer has the names of people, kinds and fields, or the reason of a refusal.
async fn says_so(answer: Response, text: &str) -> Response {
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else {
        return (head, body).into_response();
    };
    for place in ["/message", "/name", "/post/name"] {
        if let Some(said) = value.pointer_mut(place) {
            *said = text.into();
        }
    }
    if let Some(Value::Object(fields)) = value.pointer_mut("/schema/properties") {
        let field = json!({ "type": "string", "context": ["edit"], "title": text, "description": text });
        fields.insert("extra".to_owned(), field);
        let meta = json!({ "type": "object", "context": ["edit"], "properties": { text: { "type": "string", "context": ["edit"] } } });
        fields.insert("meta".to_owned(), meta);
    }
    plain(head.status.as_u16(), &value)
}

/// `None` is silence.
fn answer_now(
    inner: &mut Inner,
    parts: &http::request::Parts,
    path: &str,
    query: &BTreeMap<String, String>,
    body: &Value,
) -> Option<Response> {
    if let Some(count) = &mut inner.unanswered {
        *count += 1;
        return None;
    }
    if inner.is_silent && inner.writes > 0 {
        return Some(refusal(503, "busy"));
    }
    if path.is_empty() {
        let page = format!("{}/wp-admin/authorize-application.php", inner.base);
        return Some(plain(
            200,
            &json!({
                "name": "A blog", "home": inner.base, "namespaces": ["wp/v2"],
                "authentication": { "application-passwords": { "endpoints": { "authorization": page } } },
            }),
        ));
    }
    use base64::Engine as _;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{USER}:{}", inner.password));
    if parts.headers.get("authorization").map(|v| v.to_str().unwrap()) != Some(&format!("Basic {pair}")) {
        return Some(refusal(401, "rest_not_logged_in"));
    }
    Some(match (&parts.method, path) {
        (&Method::GET, "/wp/v2/users/me") => plain(
            200,
            &json!({ "id": 1, "name": "Ada", "slug": "ada", "capabilities": { "edit_posts": true, "publish_posts": true } }),
        ),
        (&Method::GET, "/wp/v2/types") => plain(
            200,
            &json!({ "post": { "rest_base": "posts", "rest_namespace": "wp/v2", "name": "Posts", "viewable": true,
                               "supports": { "title": true, "editor": true } } }),
        ),
        (&Method::OPTIONS, "/wp/v2/posts") => {
            let of = |kind: &str| json!({ "type": kind, "context": ["edit"] });
            let rendered =
                json!({ "type": "object", "context": ["edit"], "properties": { "raw": of("string") } });
            let mut fields = json!({
                "title": rendered, "content": rendered, "excerpt": rendered, "slug": of("string"), "status": of("string"),
            });
            if let Some(field) = inner.lacks {
                fields.as_object_mut().unwrap().remove(field);
            }
            plain(200, &json!({ "schema": { "properties": fields } }))
        }
        (&Method::GET, "/wp/v2/posts") => {
            let is_meant = |post: &&Value| match (query.get("search"), query.get("slug")) {
                (Some(text), _) => post["content"]["raw"].as_str().unwrap().contains(text),
                (_, Some(slug)) => post["slug"] == *slug,
                _ => true,
            };
            let found = json!(inner.posts.values().filter(is_meant).collect::<Vec<_>>());
            match &mut inner.cache {
                Some(cache) => plain(200, cache.entry(parts.uri.to_string()).or_insert(found)),
                None => plain(200, &found),
            }
        }
        (&Method::GET, path) => match number(path).and_then(|id| inner.posts.get(&id)) {
            Some(post) => plain(200, post),
            None => refusal(404, "rest_post_invalid_id"),
        },
        (&Method::POST, path) => {
            inner.writes += 1;
            let fault = inner.faults.pop_front();
            match fault {
                Some(Fault::LosesRequest) => return Some(lost()),
                Some(Fault::Blocks(status)) => return Some(blocked(status)),
                Some(Fault::Refuses(status)) => return Some(refusal(status, "rest_refused")),
                Some(Fault::Busy(seconds)) => {
                    let mut busy = refusal(429, "busy");
                    busy.headers_mut().insert("retry-after", seconds.into());
                    return Some(busy);
                }
                _ => {}
            }
            let id = number(path).unwrap_or_else(|| inner.posts.keys().max().map_or(1, |last| last + 1));
            if number(path).is_some() && !inner.posts.contains_key(&id) {
                return Some(refusal(404, "rest_post_invalid_id"));
            }
            let base = inner.public.as_ref().unwrap_or(&inner.base);
            let link = format!("{base}/{}/", body["slug"].as_str().unwrap_or("x"));
            let post = inner.posts.entry(id).or_insert_with(|| foreign(id, ""));
            for (name, value) in body.as_object().unwrap() {
                match name.as_str() {
                    "title" | "content" | "excerpt" => post[name] = json!({ "raw": value }),
                    _ => post[name] = value.clone(),
                }
            }
            if body["slug"].is_string() {
                post["link"] = json!(link);
            }
            if let Some(Fault::Turns(status)) = fault {
                post["status"] = json!(status);
            }
            let made = post.clone();
            match fault {
                Some(Fault::Hangs) => return None,
                Some(Fault::LosesAnswer) => lost(),
                Some(Fault::Breaks) => refusal(500, "internal"),
                _ => plain(if number(path).is_some() { 200 } else { 201 }, &made),
            }
        }
        _ => refusal(404, "rest_no_route"),
    })
}

fn number(path: &str) -> Option<u64> {
    path.strip_prefix("/wp/v2/posts/")?.parse().ok()
}
